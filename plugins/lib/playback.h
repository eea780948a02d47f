/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Playing a video while it is being made: blocks of frames that become ready one after another, and
 * a player that shows frames at a fixed rate.
 *
 * Playback that starts at S shows block j from S + F/fps on, F being the frames of the blocks
 * before it.  It never stalls when each block is ready by then: S >= ready(j) - F/fps for every j.
 */
#ifndef TA_LIB_PLAYBACK_H
#define TA_LIB_PLAYBACK_H

#include <traceanalyze/base.h>

/* Blocks of one video, in the order in which they are shown. */
struct ta_ready_block {
    int64_t ready_ns; /* when all of its frames can be shown */
    int64_t frames;   /* > 0 */
};

/* A player that waits for each block that is not ready when the one before it ends. */
struct ta_playing {
    size_t stalls;
    double stalled_ns, longest_ns;
    double end_ns; /* of the last frame */
};

/* The earliest start that needs no stall later; NAN of no blocks. */
double ta_stall_free_start(const struct ta_ready_block *blocks, size_t n, double fps);

/* Plays from `start_ns` on, or from the first block if that is ready later.  `shown_ns` takes when
 * each block begins to show; it may be NULL. */
struct ta_playing ta_play(const struct ta_ready_block *blocks, size_t n, double fps,
                          double start_ns, double *shown_ns);

/* The largest rate without a stall from that start on: INFINITY when all blocks are ready by then,
 * 0 when not even the first one is, NAN of no blocks. */
double ta_stall_free_rate(const struct ta_ready_block *blocks, size_t n, double start_ns);

#endif
