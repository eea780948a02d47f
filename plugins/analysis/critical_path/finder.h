/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the activities of a trace are: on their streams, behind their calls, in the order of their
 * ends. */
#ifndef CRITICAL_PATH_FINDER_H
#define CRITICAL_PATH_FINDER_H

#include "model/launched.h"

struct finder {
    struct ta_spans spans;
    struct ta_tracks tracks;
    struct ta_activities activities;
    int64_t start; /* of the first one */
    /* 1 + index of an activity, 0 for none: by rows of the tracks that have any, which stand side
     * by side from `offsets` on; the first that a call launched, by its number among those calls.
     */
    uint32_t *of_rows, *of_calls;
    size_t *offsets, n_rows;
    const struct ta_launched *launched;
    uint32_t *by_end; /* NULL when activities are in the order of their ends */
    size_t n_ended;   /* of these that may have ended by now; the path goes back only */
};

/* False without memory; finder_close() all the same. */
bool finder_open(struct finder *finder, const struct ta_trace *trace);
void finder_close(struct finder *finder);

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

/* The activity that ended last, at `time` or earlier, which is no later than at the last call;
 * SIZE_MAX. */
static inline size_t finder_ended(struct finder *finder, int64_t time)
{
    for (; finder->n_ended; finder->n_ended--) {
        const size_t last = finder->n_ended - 1, i = finder->by_end ? finder->by_end[last] : last;
        if (finder_end_of(finder, i) <= time)
            return i;
    }
    return SIZE_MAX;
}

#endif
