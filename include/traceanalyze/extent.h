/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many spans each category of a trace has, and from when to when they last. */
#ifndef TRACEANALYZE_EXTENT_H
#define TRACEANALYZE_EXTENT_H

#include "model.h"

TA_BEGIN_DECLS

struct ta_extent {
    size_t n;
    int64_t start, end; /* first start and last end; INT64_MAX and INT64_MIN without a span */
};

/* One for each category of a frozen trace; found once and kept with it, from any thread.  NULL
 * without memory. */
TA_API const struct ta_extent *ta_trace_extents(const struct ta_trace *trace);

/* Both together. */
static inline struct ta_extent ta_extent_join(struct ta_extent a, struct ta_extent b)
{
    return (struct ta_extent){a.n + b.n, ta_min_i64(a.start, b.start), ta_max_i64(a.end, b.end)};
}

#define TA_EXTENT_EMPTY ((struct ta_extent){0, INT64_MAX, INT64_MIN})

TA_END_DECLS

#endif
