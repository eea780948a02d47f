/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/playback.h"

#include <math.h>

/* Waits shorter than this are rounding of the sums of frames over their rate. */
#define ROUNDING_NS 0.5

double ta_stall_free_start(const struct ta_ready_block *blocks, size_t n, double fps)
{
    double start = NAN, before = 0;
    for (size_t j = 0; j < n; j++) {
        const double needed = (double)blocks[j].ready_ns - before * 1e9 / fps;
        start = j == 0 ? needed : fmax(start, needed);
        before += (double)blocks[j].frames;
    }
    return start;
}

struct ta_playing ta_play(const struct ta_ready_block *blocks, size_t n, double fps,
                          double start_ns, double *shown_ns)
{
    struct ta_playing playing = {.end_ns = n ? fmax(start_ns, (double)blocks[0].ready_ns) : NAN};
    for (size_t j = 0; j < n; j++) {
        const double wait = (double)blocks[j].ready_ns - playing.end_ns;
        if (wait > ROUNDING_NS) {
            playing.stalls++;
            playing.stalled_ns += wait;
            playing.longest_ns = fmax(playing.longest_ns, wait);
            playing.end_ns = (double)blocks[j].ready_ns;
        }
        if (shown_ns)
            shown_ns[j] = playing.end_ns;
        playing.end_ns += (double)blocks[j].frames * 1e9 / fps;
    }
    return playing;
}

double ta_stall_free_rate(const struct ta_ready_block *blocks, size_t n, double start_ns)
{
    double rate = n ? INFINITY : NAN, before = 0;
    for (size_t j = 0; j < n; j++) {
        const double late = (double)blocks[j].ready_ns - start_ns;
        if (late > 0)
            rate = fmin(rate, before * 1e9 / late);
        before += (double)blocks[j].frames;
    }
    return rate;
}
