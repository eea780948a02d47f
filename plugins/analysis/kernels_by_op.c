/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.by_op: which kernels each operator launches, and when it first did. */
#include "lib/places.h"

#include <traceanalyze/analysis.h>

static const struct ta_column by_op_columns[] = {
    TA_PLACE_COLUMNS(TA_AS_LAUNCHER, "op", "Operator",
                     "Innermost operator around the launch; empty if there is none, or if the "
                     "launch was not recorded",
                     "Kernel", "Name of the kernel")};

static const struct ta_table_def by_op = {
    "kernels.by_op",
    "Kernels by operator",
    TA_COLUMNS(by_op_columns),
    .doc =
        "One row per operator and kernel that it launches, all ranks, by their time. Comparisons "
        "put two runs side by side by the start of the first execution.",
    .tier = TA_TIER_DETAIL,
    .order = {&by_op_columns[TA_PLACE_TOTAL], TA_DESCENDING}};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_categories categories = ta_trace_categories(trace);
    const struct ta_spans spans = ta_trace_spans(trace);
    struct ta_places places;
    const bool opened = ta_places_open(&places, trace, out[0]);
    for (size_t i = 0; opened && i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        const bool of_op =
            a->op != TA_NO_ROW && ta_class_is_op(categories.at[spans.cat[a->op]].class);
        if (a->kernel != TA_NO_KERNEL)
            ta_place_add(&places, of_op ? a->op : TA_NO_ROW, a->span);
    }
    return ta_places_close(&places)
               ? TA_OK
               : ta_fail(ctx, TA_ERR_NOMEM, "Cannot index kernels by operator");
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx, (void)in;
    ta_place_rows(merged[0], out, &by_op);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_op, NULL};

static const struct ta_analysis_ops ops = {.section = "kernels",
                                           .partials = ta_place_partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, kernels_by_op, &ops, .title = "Kernels by operator",
          .summary = "Which kernels each operator launches, and for how long they run: "
                     "kernels.by_op",
          .version = "1");
