/* SPDX-License-Identifier: GPL-3.0-or-later */
/* events.by_kind: how many records of each phase and category. */
#include <traceanalyze/analysis.h>

enum { RANK, PHASE, CATEGORY, COUNT };

static const struct ta_field fields[] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [PHASE] = {"phase", TA_FIELD_TEXT},
    [CATEGORY] = {"category", TA_FIELD_TEXT},
    [COUNT] = {"count", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"kinds", fields, 4}, {0}};

static const struct ta_column columns[] = {
    TA_RANK_COLUMN,
    {"phase", "Phase", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Phase of the trace event format: X complete, B/E begin and end, i instant, C counter, M "
     "metadata, s/t/f flow"},
    {"category", "Category", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Category as written"},
    {"count", "Events", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Number of event records"},
};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    const struct ta_kind_counts kinds = ta_trace_kind_counts(trace);
    const struct ta_categories categories = ta_trace_categories(trace);
    for (size_t i = 0; i < kinds.n; i++) {
        const struct ta_kind_count *kind = &kinds.at[i];
        int64_t *row =
            TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)),
                           ta_key_text((struct ta_slice){&kind->phase, 1}),
                           ta_key_text(ta_trace_text(trace, categories.at[kind->cat].name)));
        ta_sum(&row[COUNT], kind->count);
    }
    return TA_OK;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    (void)prior;
    const struct ta_partial *kinds = merged[0];
    struct ta_table_builder *table =
        ta_add_table(out, "events.by_kind", "Events by kind", columns, 4);
    for (size_t i = 0; i < ta_partial_rows(kinds); i++) {
        const int64_t *row = ta_partial_at(kinds, i);
        TA_ROW(table, ta_int(row[RANK]), ta_text(ta_partial_text(kinds, row, PHASE)),
               ta_text(ta_partial_text(kinds, row, CATEGORY)), ta_int(row[COUNT]));
    }
    return TA_OK;
}

static const struct ta_analysis_ops ops = {
    .section = "run", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, event_kinds, &ops, .title = "Events by kind",
          .summary = "Event records by rank, phase and category: events.by_kind", .version = "1");
