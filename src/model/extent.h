/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spans of a category: how many a trace has, from when to when they last, and where they are.
 */
#ifndef TA_MODEL_EXTENT_H
#define TA_MODEL_EXTENT_H

#include "traceanalyze/model.h"

struct ta_extent {
    size_t n;
    int64_t start, end; /* first start and last end; INT64_MAX and INT64_MIN without a span */
};

/* One for each category of a frozen trace; found once and kept with it, from any thread.  NULL
 * without memory. */
const struct ta_extent *ta_trace_extents(const struct ta_trace *trace);

/* Both together. */
static inline struct ta_extent ta_extent_join(struct ta_extent a, struct ta_extent b)
{
    return (struct ta_extent){a.n + b.n, ta_min_i64(a.start, b.start), ta_max_i64(a.end, b.end)};
}

#define TA_EXTENT_EMPTY ((struct ta_extent){0, INT64_MAX, INT64_MIN})

/* The first row of the category from `row` on; the number of spans without one.  Four rows are
 * looked at as one number: of four categories one is `cat` where the difference has a zero. */
static inline ta_row ta_category_next(const struct ta_spans *spans, size_t row, ta_cat cat)
{
    const uint64_t ones = UINT64_C(0x0001000100010001), same = ones * cat;
    for (uint64_t four; row + sizeof four / sizeof cat <= spans->n;
         row += sizeof four / sizeof cat) {
        memcpy(&four, spans->cat + row, sizeof four);
        if (((four ^ same) - ones) & ~(four ^ same) & ones << 15)
            break;
    }
    while (row < spans->n && spans->cat[row] != cat)
        row++;
    return (ta_row)row;
}

#endif
