/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/recording_cost.h"

#include "model/extent.h"

#include <stdlib.h>

const struct ta_recorded_part_info ta_recorded_parts[TA_RECORDED_PARTS] = {
    [TA_RECORDED_STACKS] = {"Python stacks", "calls of Python functions (with_stack)", 1300, true},
    [TA_RECORDED_SHAPES] = {"shapes of inputs", "operators with shapes (record_shapes)", 800, true},
    [TA_RECORDED_MEMORY] = {"memory", "allocations (profile_memory)", 100, true},
    [TA_RECORDED_SPANS] = {"operators", "operators", 1600, false},
    [TA_RECORDED_CALLS] = {"calls of the runtime", "calls of the runtime, and what they launch",
                           4000, false},
};

const double ta_cost_factors[TA_COST_BOUNDS] = {0.5, 1, 2};

/* The part that the spans of a category are; TA_RECORDED_PARTS for none. */
static enum ta_recorded_part part_of(const struct ta_trace *trace,
                                     const struct ta_category *category)
{
    if (ta_slice_equal(ta_trace_text(trace, category->name), TA_LIT("python_function")))
        return TA_RECORDED_STACKS;
    return category->class == TA_CLASS_OP        ? TA_RECORDED_SPANS
           : category->class == TA_CLASS_RUNTIME ? TA_RECORDED_CALLS
                                                 : TA_RECORDED_PARTS;
}

bool ta_recorded_counts(const struct ta_trace *trace, int64_t counts[TA_RECORDED_PARTS])
{
    const struct ta_categories categories = ta_trace_categories(trace);
    const struct ta_kind_counts kinds = ta_trace_kind_counts(trace);
    const struct ta_extent *extents = ta_trace_extents(trace);
    memset(counts, 0, TA_RECORDED_PARTS * sizeof *counts);
    if (!extents)
        return false;
    for (size_t c = 0; c < categories.n; c++) {
        const enum ta_recorded_part part = part_of(trace, &categories.at[c]);
        if (part < TA_RECORDED_PARTS)
            counts[part] += (int64_t)extents[c].n;
    }
    for (size_t i = 0; i < kinds.n; i++)
        if (kinds.at[i].phase == 'i' &&
            ta_slice_equal(ta_trace_text(trace, categories.at[kinds.at[i].cat].name),
                           TA_LIT("cpu_instant_event")))
            counts[TA_RECORDED_MEMORY] += kinds.at[i].count;
    if (ta_trace_args(trace, "Input Dims").n)
        counts[TA_RECORDED_SHAPES] = counts[TA_RECORDED_SPANS];
    return true;
}

bool ta_recorded_options(const int64_t counts[TA_RECORDED_PARTS])
{
    bool any = false;
    for (size_t p = 0; p < TA_RECORDED_PARTS; p++)
        any |= ta_recorded_parts[p].is_option && counts[p] > 0;
    return any;
}

double *ta_recorded_costs(const struct ta_trace *trace, const int64_t counts[TA_RECORDED_PARTS])
{
    const struct ta_categories categories = ta_trace_categories(trace);
    const double with_operators =
        ((double)counts[TA_RECORDED_SHAPES] * ta_recorded_parts[TA_RECORDED_SHAPES].ns +
         (double)counts[TA_RECORDED_MEMORY] * ta_recorded_parts[TA_RECORDED_MEMORY].ns) /
        (double)ta_max_i64(1, counts[TA_RECORDED_SPANS]);
    double *cost = calloc(categories.n + 1, sizeof *cost);
    for (size_t c = 0; cost && c < categories.n; c++) {
        const enum ta_recorded_part part = part_of(trace, &categories.at[c]);
        cost[c] = part < TA_RECORDED_PARTS ? ta_recorded_parts[part].ns : 0;
        cost[c] += part == TA_RECORDED_SPANS ? with_operators : 0;
    }
    return cost;
}
