/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds device activities by their span, by the call that launched them, and by when they end. */
#ifndef TA_CRITICAL_PATH_FINDER_H
#define TA_CRITICAL_PATH_FINDER_H

#include "model/launched.h"

#include <traceanalyze/model.h>

struct finder {
    struct ta_spans spans;
    struct ta_tracks tracks;
    struct ta_activities activities;
    int64_t start; /* of the first one */
    /* 1 + index of an activity, 0 for none: of_rows by row, for the tracks that have activities,
     * one track after the other from `offsets` on; of_calls, the first activity that a call
     * launched, by the number of that call. */
    uint32_t *of_rows, *of_calls;
    size_t *offsets, n_rows;
    const struct ta_launched *launched;
    uint32_t *by_end; /* NULL when activities are in the order of their ends */
    size_t n_ended;   /* number of these that may have ended by now; it only falls */
};

static inline int64_t finder_end_of(const struct finder *finder, size_t activity)
{
    const ta_row span = finder->activities.at[activity].span;
    return finder->spans.ts[span] + finder->spans.dur[span];
}

/* The activity of a span, on a track that has any; SIZE_MAX for none. */
static inline size_t finder_at(const struct finder *finder, ta_row row)
{
    const uint32_t track = finder->spans.track[row];
    const uint32_t *rows = finder->of_rows + finder->offsets[track];
    const uint32_t number = rows[row - finder->tracks.at[track].first];
    return number ? number - 1 : SIZE_MAX;
}

/* The first activity that a call launched; SIZE_MAX for none. */
static inline size_t finder_launched_by(const struct finder *finder, ta_row call)
{
    return ta_launched_has(finder->launched, call)
               ? finder->of_calls[ta_launched_place(finder->launched, call)] - 1
               : SIZE_MAX;
}

/* The activity that ended last, at `time` or earlier; SIZE_MAX for none.  `time` never exceeds
 * the one of the call before. */
static inline size_t finder_ended(struct finder *finder, int64_t time)
{
    for (; finder->n_ended; finder->n_ended--) {
        const size_t last = finder->n_ended - 1, i = finder->by_end ? finder->by_end[last] : last;
        if (finder_end_of(finder, i) <= time)
            return i;
    }
    return SIZE_MAX;
}

/* Indexes the activities of a trace.  False without memory; finder_free() in either case. */
TA_MUST_CHECK bool finder_open(struct finder *finder, const struct ta_trace *trace);
void finder_free(struct finder *finder);

#endif
