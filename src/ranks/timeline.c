/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a timeline on one axis of time, by the clocks of their ranks. */
#include "ranks/ranks.h"

#include "traceanalyze/timeline.h"

#include <math.h>
#include <stdlib.h>

/* Offset of a clock from the reference in the middle of what was recorded: there half of its drift
 * is the largest error. */
static int64_t ahead_of(const struct ta_rank_clock *clock, const struct ta_timeline_file *file)
{
    const int64_t middle = file->clock_ns + file->end_ns / 2;
    if (!clock->corrected)
        return 0;
    return ta_add_sat(clock->offset,
                      ta_whole(round(clock->drift * (double)(middle - clock->origin))));
}

/* Where the zero of each file is on the axis of the reference; false when it is not known of all.
 */
static bool find_zeros(const struct ta_ranks *ranks, const struct ta_timeline_file *files, size_t n,
                       int64_t *zeros)
{
    int64_t axis = TA_MISSING;
    for (size_t i = 0; i < n; i++) {
        const struct ta_timeline_file *file = &files[i], *before = i ? file - 1 : file;
        const struct ta_rank_member *member =
            file->clock_ns == TA_MISSING
                ? NULL
                : ta_ranks_clock(ranks->members, ranks->n_members, file->rank, &axis);
        if (member)
            zeros[i] = file->clock_ns - ahead_of(&member->clock, file);
        else if (file->clock_ns == TA_MISSING && i && before->rank == file->rank)
            zeros[i] = zeros[i - 1] + file->offset_ns - before->offset_ns; /* a dump of the rank */
        else
            return false;
    }
    return true;
}

bool ta_ranks_align_timeline(const struct ta_ranks *ranks, struct ta_timeline *timeline,
                             struct ta_timeline_file *files)
{
    const size_t n = timeline->n_files;
    if (n == 0 || files[0].rank == TA_MISSING || files[0].rank == files[n - 1].rank)
        return true;
    int64_t *zeros = calloc(n, sizeof *zeros);
    if (zeros && find_zeros(ranks, files, n, zeros)) {
        int64_t first = INT64_MAX;
        for (size_t i = 0; i < n; i++)
            first = ta_min_i64(first, zeros[i]);
        for (size_t i = 0; i < n; i++)
            files[i].offset_ns = zeros[i] - first;
        timeline->clock = TA_TIMELINE_BY_COLLECTIVES;
    }
    const bool done = zeros;
    free(zeros);
    return done;
}
