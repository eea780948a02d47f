/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ops.by_caller: which operators each operator or range runs, and when it first did. */
#include "lib/places.h"

#include <traceanalyze/analysis.h>

static const struct ta_column by_caller_columns[] = {
    TA_PLACE_COLUMNS(TA_AS_CALLER, "caller", "Caller",
                     "Innermost operator or annotated range around it; empty if there is none",
                     "Operator", "Name of the operator or range")};

static const struct ta_table_def by_caller = {
    "ops.by_caller",
    "Operators by caller",
    TA_COLUMNS(by_caller_columns),
    .doc = "One row per operator or annotated range and its caller, all ranks together, by their "
           "time. Comparisons put two runs side by side by the start of the first execution.",
    .tier = TA_TIER_DETAIL,
    .order = {&by_caller_columns[TA_PLACE_TOTAL], TA_DESCENDING}};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_categories categories = ta_trace_categories(trace);
    struct ta_places places;
    const bool opened = ta_places_open(&places, trace, out[0]);
    for (ta_row i = 0; opened && i < places.spans.n; i++)
        if (ta_place_is_told(&places, i) &&
            !ta_class_is_captured(categories.at[places.spans.cat[i]].class))
            ta_place_add(&places, ta_place_caller(&places, i), i);
    return ta_places_close(&places)
               ? TA_OK
               : ta_fail(ctx, TA_ERR_NOMEM, "Cannot index operators by caller");
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx, (void)in;
    ta_place_rows(merged[0], out, &by_caller);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_caller, NULL};

static const struct ta_analysis_ops ops = {.section = "operators",
                                           .place = 3,
                                           .partials = ta_place_partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, ops_by_caller, &ops, .title = "Operators by caller",
          .summary = "Which operators each operator or range runs, and for how long: ops.by_caller",
          .version = "1");
