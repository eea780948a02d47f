/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranges of the host by time. */
#include "kernels_by_phase.h"

#include <stdlib.h>

void phase_range_add(struct phase_ranges *ranges, const struct ta_spans *spans, ta_row span)
{
    if (ranges->n == ranges->max) {
        const size_t more = ranges->max ? ranges->max * 2 : 64;
        struct phase_range *grown = reallocarray(ranges->at, more, sizeof *grown);
        if (!grown) {
            ranges->failed = true;
            return;
        }
        ranges->at = grown;
        ranges->max = more;
    }
    ranges->at[ranges->n++] = (struct phase_range){
        .start = spans->ts[span], .end = spans->ts[span] + spans->dur[span], .span = span};
}

static int by_start(const void *left, const void *right)
{
    const struct phase_range *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->span > b->span) - (a->span < b->span);
}

void phase_ranges_order(struct phase_ranges *ranges)
{
    int64_t latest = INT64_MIN;
    if (ranges->n)
        qsort(ranges->at, ranges->n, sizeof *ranges->at, by_start);
    for (size_t i = 0; i < ranges->n; i++) {
        latest = ta_max_i64(latest, ranges->at[i].end);
        ranges->at[i].latest = latest;
    }
}

ta_row phase_range_at(struct phase_ranges *ranges, int64_t time)
{
    const size_t n = ranges->recent;
    if (!((n == 0 || ranges->at[n - 1].start <= time) &&
          (n == ranges->n || ranges->at[n].start > time))) {
        /* How many ranges start at `time` or earlier. */
        size_t low = 0, high = ranges->n;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (ranges->at[middle].start <= time)
                low = middle + 1;
            else
                high = middle;
        }
        ranges->recent = low;
    }
    for (size_t i = ranges->recent; i > 0 && ranges->at[i - 1].latest > time; i--)
        if (ranges->at[i - 1].end > time)
            return ranges->at[i - 1].span;
    return TA_NO_ROW;
}
