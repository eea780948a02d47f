/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "finder.h"

#include <stdlib.h>

enum { NO_OFFSET = 0 }; /* of a track without activities: the first place is left out */

static int by_end(const void *left, const void *right, void *user)
{
    const struct finder *finder = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const int64_t end = finder_end_of(finder, a), other = finder_end_of(finder, b);
    return end != other ? (end > other) - (end < other) : (a > b) - (a < b);
}

/* False without memory. */
static bool order_ends(struct finder *finder)
{
    const size_t n = finder->activities.n;
    finder->by_end = malloc(n * sizeof *finder->by_end);
    for (size_t i = 0; finder->by_end && i < n; i++)
        finder->by_end[i] = (uint32_t)i;
    if (finder->by_end)
        qsort_r(finder->by_end, n, sizeof *finder->by_end, by_end, finder);
    return finder->by_end != NULL;
}

static void place_call(struct finder *finder, uint32_t number, ta_row call)
{
    uint32_t *first = &finder->of_calls[ta_launched_place(finder->launched, call)];
    if (*first == 0)
        *first = number;
}

/* Indexes all activities, which are usually in the order of their ends.  False without memory. */
static bool place_all(struct finder *finder)
{
    const struct ta_spans *s = &finder->spans;
    bool ordered = true;
    int64_t before = INT64_MIN;
    for (size_t i = 0; i < finder->activities.n; i++) {
        const struct ta_activity *a = &finder->activities.at[i];
        const int64_t start = s->ts[a->span], end = start + s->dur[a->span];
        const uint32_t number = (uint32_t)i + 1;
        const uint32_t track = finder->spans.track[a->span];
        const struct ta_track *rows = &finder->tracks.at[track];
        size_t *offset = &finder->offsets[track];
        if (*offset == NO_OFFSET) {
            *offset = finder->n_rows;
            memset(finder->of_rows + *offset, 0, rows->n * sizeof *finder->of_rows);
            finder->n_rows += rows->n;
        }
        finder->of_rows[*offset + (a->span - rows->first)] = number;
        if (a->launch != TA_NO_ROW)
            place_call(finder, (uint32_t)i + 1, a->launch);
        finder->start = ta_min_i64(finder->start, start);
        ordered &= before <= end;
        before = end;
    }
    return ordered || order_ends(finder);
}

bool finder_open(struct finder *finder, const struct ta_trace *trace)
{
    *finder = (struct finder){
        .spans = ta_trace_spans(trace),
        .tracks = ta_trace_tracks(trace),
        .activities = ta_trace_activities(trace),
        .start = INT64_MAX,
        .n_rows = NO_OFFSET + 1,
        .launched = ta_trace_launched(trace),
    };
    finder->n_ended = finder->activities.n;
    finder->offsets = calloc(finder->tracks.n + 1, sizeof *finder->offsets);
    /* Untouched pages take no memory. */
    finder->of_rows = malloc((finder->spans.n + 1) * sizeof *finder->of_rows);
    finder->of_calls =
        finder->launched ? calloc(finder->launched->n + 1, sizeof *finder->of_calls) : NULL;
    return finder->offsets && finder->of_rows && finder->of_calls && place_all(finder);
}

void finder_free(struct finder *finder)
{
    free(finder->offsets);
    free(finder->of_rows);
    free(finder->of_calls);
    free(finder->by_end);
}
