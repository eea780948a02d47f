/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ops.by_caller: which operators each operator or range runs, in the order in which they first ran.
 */
#include <traceanalyze/analysis.h>
#include <traceanalyze/places.h>

static const struct ta_column columns[] = {TA_PLACE_COLUMNS(
    "caller", "Caller", "Innermost operator or annotated range around it; none without one",
    "Operator", "Name of the operator or range")};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_spans spans = ta_trace_spans(trace);
    const struct ta_category *categories = ta_trace_categories(trace).at;
    struct ta_map cache = {0};
    for (ta_row i = 0; i < spans.n; i++)
        if (categories[spans.cat[i]].class <= TA_CLASS_OP && ta_span_is_told(trace, i))
            ta_place_add(trace, ta_span_caller(trace, i), i, &cache, out[0]);
    const bool failed = cache.failed;
    ta_map_free(&cache);
    return failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot index operators by caller") : TA_OK;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)prior;
    if (!ta_partial_rows(merged[0]))
        return TA_OK;
    return ta_place_rows(ctx, merged[0],
                         ta_add_table(out, "ops.by_caller", "Operators by caller", columns,
                                      sizeof columns / sizeof *columns));
}

static const char *const behind[] = {"operators", "operator_sums", "ops_by_shape", NULL};

static const struct ta_analysis_ops ops = {.behind = behind,
                                           .section = "operators",
                                           .partials = ta_place_partials,
                                           .map = map,
                                           .finish = finish};

TA_PLUGIN(analysis, ops_by_caller, &ops, .title = "Operators by caller",
          .summary =
              "Which operators each operator or range runs, in the order of their first run: "
              "ops.by_caller",
          .version = "1");
