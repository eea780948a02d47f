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

static const struct ta_column by_kind_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [PHASE] = {"phase", "Phase", TA_TEXT,
               .doc = "Phase of the trace event format: X complete, B/E begin and end, i instant, "
                      "C counter, M metadata, s/t/f flow"},
    [CATEGORY] = {"category", "Category", TA_TEXT, .read_as = TA_AS_EVENT_CATEGORY,
                  .doc = "Category of the events, as written in the trace"},
    [COUNT] = {"count", "Events", TA_COUNT, .doc = "Number of event records"},
};

static const struct ta_table_def by_kind = {
    "events.by_kind", "Events by kind", TA_COLUMNS(by_kind_columns),
    .doc = "One row per rank, phase and category. `category` is `\"\"` for events without one.",
    .tier = TA_TIER_DETAIL};

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
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *kinds = merged[0];

    for (size_t i = 0; i < ta_partial_rows(kinds); i++) {
        const int64_t *row = ta_partial_at(kinds, i);
        TA_ROW(out, by_kind, [RANK] = ta_int(row[RANK]),
               [PHASE] = ta_text(ta_partial_text(kinds, row, PHASE)),
               [CATEGORY] = ta_text(ta_partial_text(kinds, row, CATEGORY)),
               [COUNT] = ta_int(row[COUNT]));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_kind, NULL};

static const struct ta_analysis_ops ops = {
    .section = "run", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, event_kinds, &ops, .title = "Events by kind",
          .summary = "Event records by rank, phase and category: events.by_kind", .version = "1");
