/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Throughput of the run: all ranks together.
 *
 * Ranks that make videos of their own (data parallel) add up. Ranks that share the work on one
 * video (sequence or context parallel) all record the same frames, and the slowest of them says how
 * fast it is made. The settings tell which: ulysses_size × ring_size ranks, which follow each
 * other, share a video. Without these settings the ranks are taken to be independent. */
#include "throughput.h"

#include <math.h>
#include <stdio.h>

/* How the ranks work together. */
struct sharing {
    int64_t size; /* ranks on one video */
    bool known;
    size_t n, videos;
};

static int64_t size_of(const int64_t *row)
{
    if (!row || (row[ULYSSES] == TA_MISSING && row[RING] == TA_MISSING))
        return TA_MISSING;
    const int64_t ulysses = row[ULYSSES] == TA_MISSING ? 1 : row[ULYSSES];
    const int64_t ring = row[RING] == TA_MISSING ? 1 : row[RING];
    int64_t size; /* of a saved summary both may be anything */
    return __builtin_mul_overflow(ulysses, ring, &size) ? TA_MISSING : size;
}

static void count(struct sharing *sharing, const struct rank *ranks, size_t n, enum rate rate)
{
    sharing->n = sharing->videos = 0;
    int64_t before = -1;
    for (size_t i = 0; i < n; i++) {
        if (isnan(ranks[i].of[rate]))
            continue;
        sharing->n++;
        sharing->videos += ranks[i].rank / sharing->size != before;
        before = ranks[i].rank / sharing->size;
    }
}

/* The sum over videos of the slowest rate among the ranks that work on it. */
static double sum_of_slowest(const struct rank *ranks, size_t n, enum rate rate, int64_t size)
{
    double sum = 0, slowest = INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (!isnan(ranks[i].of[rate]))
            slowest = fmin(slowest, ranks[i].of[rate]);
        if (i + 1 == n || ranks[i + 1].rank / size != ranks[i].rank / size) {
            sum += isinf(slowest) ? 0 : slowest;
            slowest = INFINITY;
        }
    }
    return sum;
}

/* The frames or blocks of all videos over the longest session. */
static double over_wall(const struct rank *ranks, size_t n, bool frames, int64_t size)
{
    int64_t amount = 0, of_video = 0, longest = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t made = frames ? ranks[i].frames : ranks[i].blocks;
        of_video = ta_max_i64(of_video, made);
        if (ranks[i].row)
            longest = ta_max_i64(longest, ranks[i].row[WALL]);
        if (i + 1 == n || ranks[i + 1].rank / size != ranks[i].rank / size) {
            amount = ta_add_sat(amount, of_video);
            of_video = 0;
        }
    }
    return longest > 0 ? (double)amount * 1e9 / (double)longest : NAN;
}

void throughput_add_run(struct ta_section_builder *out, const struct rank *ranks, size_t n)
{
    struct sharing sharing = {.size = 1};
    for (size_t i = 0; i < n; i++) {
        const int64_t size = size_of(ranks[i].row);
        sharing.known |= size != TA_MISSING;
        sharing.size = ta_max_i64(sharing.size, size);
    }
    for (int rate = 0; rate < RATES; rate++) {
        char note[96];
        count(&sharing, ranks, n, (enum rate)rate);
        if (sharing.n < 2 || rate == RATE_FPS_CUT || rate == RATE_BPS_CUT)
            continue; /* reports are cut at different times */
        const bool wall = rate == RATE_FPS_WALL || rate == RATE_BPS_WALL;
        /* What is assumed, and why. */
        if (sharing.size == 1)
            snprintf(note, 96, "%zu ranks, each its own video%s: summed", sharing.n,
                     sharing.known ? "" : " (assumed: no tag says else)");
        else if (sharing.videos == 1)
            snprintf(note, 96, "%zu ranks on one video, by their tags: the slowest counts",
                     sharing.n);
        else
            snprintf(note, 96,
                     "%zu videos on %zu ranks, by their tags: the slowest of each, summed",
                     sharing.videos, sharing.n);
        throughput_add_rate(out, TA_MISSING, (enum rate)rate,
                            wall ? over_wall(ranks, n, rate == RATE_FPS_WALL, sharing.size)
                                 : sum_of_slowest(ranks, n, (enum rate)rate, sharing.size),
                            note);
    }
}
