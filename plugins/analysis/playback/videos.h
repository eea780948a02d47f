/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The videos of a run: which blocks are of one video, how many frames each of them shows, and when
 * these can be shown. */
#ifndef TA_ANALYSIS_PLAYBACK_VIDEOS_H
#define TA_ANALYSIS_PLAYBACK_VIDEOS_H

#include "lib/playback.h"

#include <traceanalyze/analysis.h>

/* What the videos are made of, in the order of playback_reads[]. */
enum {
    BLOCKS_RANK,
    BLOCKS_VIDEO,
    BLOCKS_FRAMES,
    BLOCKS_TIME,
    BLOCKS_END,
    VALUES_RANK,
    VALUES_METRIC,
    VALUES_BASIS,
    VALUES_VALUE,
    STREAM_RANK,
    STREAM_FRAMES,
    STAGE_RANK,
    STAGE_NAME,
    STAGE_CALLS,
    STAGE_MEAN,
    EVENT_RANK,
    EVENT_NAME,
    EVENT_DATA,
    LOOP_RANK,
    LOOP_VIDEOS,
    LOOP_BLOCKS,
    LOOP_FRAMES,
    SIZES_RANK,
    SIZES_LATENTS,
    PART_RANK,
    PART_PHASE,
    PART_VIDEO,
    PART_GPU_START,
    PART_GPU_TIME,
    PART_HOST_START,
    PART_HOST_TIME,
    PLAYBACK_READS
};
extern const struct ta_ref playback_reads[PLAYBACK_READS];

/* What the times of a video are since. */
enum video_origin { SINCE_SESSION, SINCE_FIRST_BLOCK };

/* When the frames of a block can be shown. */
enum video_ready {
    READY_WITH_BLOCK, /* at the end of the block: no decoding of its own was recorded */
    READY_DECODED,    /* when the block is decoded, right after it */
    READY_WITH_VIDEO  /* when the whole video is decoded, after its last block */
};

struct video {
    int64_t rank, number; /* counted by rank, from 0 */
    struct ta_ready_block *blocks;
    int64_t *ends; /* of the blocks, before they are decoded */
    size_t n;
    int64_t frames;   /* of all blocks, as they are shown */
    int64_t ratio;    /* frames shown per recorded frame; TA_MISSING: taken to be the same */
    int64_t begin_ns; /* start of the first block */
    double decode_ns; /* of one call of the decoder; NAN: not known */
    enum video_origin origin;
    enum video_ready ready;
};

struct videos {
    struct video *at;
    size_t n;
    struct ta_ready_block *blocks; /* of all of them */
    int64_t *ends;
};

/* A block of latent frames is decoded into several frames of the video each.  Decoders of video
 * make `ratio` of a latent frame; causal ones make one of the very first. */
struct frames {
    int64_t ratio; /* TA_MISSING: not known */
    bool is_causal;
};

/* Frames of a video, or of a block of it, that anything can be made of. */
#define VIDEO_FRAMES_MOST INT64_C(1000000)

/* By `shown` frames of `n` videos with `recorded` frames together. */
struct frames video_ratio(int64_t shown, int64_t recorded, int64_t n);

/* Frames of the video that a block of `recorded` frames is; of the first one fewer. */
int64_t video_shown(struct frames frames, int64_t recorded, bool is_first);

/* The videos whose blocks all say their frames and times; `ratio` is the number of frames shown per
 * recorded frame, 0: as the records have it.  False without memory; free in either case. */
bool videos_find(const struct ta_refs *in, int64_t ratio, struct videos *out);
void videos_free(struct videos *videos);

/* From when on it would play without a stall if each block were decoded right after it, which holds
 * up the blocks after it; of a video that is decoded as a whole, else NAN.  False without memory.
 */
bool video_start_by_block(const struct video *video, double fps, double *start_ns);

/* Frames per second at which it is made: without the first block, where there are more. */
double video_rate(const struct video *video);

#endif
