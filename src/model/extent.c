/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/extent.h"

#include "model/fact.h"

#include <stdlib.h>

static void *make_extents(const struct ta_trace *trace)
{
    const struct ta_spans spans = ta_trace_spans(trace);
    const size_t n = ta_trace_categories(trace).n;
    struct ta_extent *extents = malloc((n + 1) * sizeof *extents);
    for (size_t cat = 0; extents && cat < n; cat++)
        extents[cat] = TA_EXTENT_EMPTY;
    for (size_t row = 0; extents && row < spans.n; row++) {
        struct ta_extent *extent = &extents[spans.cat[row]];
        const int64_t start = spans.ts[row], end = start + spans.dur[row];
        extent->n++;
        if (start < extent->start) /* rarely, in the order of starts: nothing waits for a store */
            extent->start = start;
        if (end > extent->end)
            extent->end = end;
    }
    return extents;
}

const struct ta_extent *ta_trace_extents(const struct ta_trace *trace)
{
    return ta_trace_fact(trace, TA_FACT_EXTENTS, make_extents, free);
}
