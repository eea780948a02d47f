/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sections.tokens: tokens of sections and their rate, as sums over sums; sections.without_tokens:
 * those that stored none. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/rows.h>

enum { RANK, SECTION, CALLS, TOKENS, DURATION, WITHOUT, WITHOUT_NS, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [SECTION] = {"section", TA_FIELD_TEXT},
    [CALLS] = {"calls", TA_FIELD_SUM},
    [TOKENS] = {"tokens", TA_FIELD_SUM},
    [DURATION] = {"dur_ns", TA_FIELD_SUM},
    [WITHOUT] = {"without", TA_FIELD_SUM},
    [WITHOUT_NS] = {"without_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"tokens", fields, FIELDS}, {0}};

static const struct ta_column columns[] = {
    TA_DUMP_RANK_COLUMN,
    {"section", "Section", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Name of the section"},
    {"calls", "Calls", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL,
     "Calls of the section that recorded tokens"},
    {"tokens", "Tokens", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Tokens generated"},
    {"total_ns", "Total", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER, "Time of these calls"},
    {"tokens_per_s", "Rate", TA_TYPE_NUMBER, TA_UNIT_PER_S, TA_HIGHER,
     "Sum of tokens over sum of times, not a mean of rates"},
};

static const struct ta_column without_columns[] = {
    TA_DUMP_RANK_COLUMN,
    {"section", "Section", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Name of the section"},
    {"calls", "Calls", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL,
     "Calls of the section that stored no tokens"},
    {"total_ns", "Total", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER, "Time of these calls"},
};

/* Tokens of 0 were not recorded: the profiler writes the same. */
static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n;
    const struct ta_section_tokens *rows = ta_trace_section_tokens_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        if (rows[i].tokens == TA_MISSING || rows[i].tokens < 0)
            continue;
        int64_t *row = TA_PARTIAL_ROW(out[0], ta_row_rank(trace, rows[i].rank),
                                      ta_key_text(ta_trace_text(trace, rows[i].section)));
        if (rows[i].tokens == 0) {
            ta_sum(&row[WITHOUT], 1);
            ta_sum(&row[WITHOUT_NS], rows[i].dur_ns);
            continue;
        }
        ta_sum(&row[CALLS], 1);
        ta_sum(&row[TOKENS], rows[i].tokens);
        ta_sum(&row[DURATION], rows[i].dur_ns);
    }
    return TA_OK;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    (void)prior;
    const struct ta_partial *tokens = merged[0];
    struct ta_table_builder *table =
        ta_add_table(out, "sections.tokens", "Tokens by section", columns, 6);
    struct ta_table_builder *without =
        ta_add_table(out, "sections.without_tokens", "Sections without tokens", without_columns, 4);
    for (size_t i = 0; i < ta_partial_rows(tokens); i++) {
        const int64_t *row = ta_partial_at(tokens, i);
        if (row[WITHOUT] > 0)
            TA_ROW(without, ta_int(row[RANK]), ta_text(ta_partial_text(tokens, row, SECTION)),
                   ta_int(row[WITHOUT]), ta_int(row[WITHOUT_NS]));
        if (row[CALLS] == TA_MISSING)
            continue;
        TA_ROW(table, ta_int(row[RANK]), ta_text(ta_partial_text(tokens, row, SECTION)),
               ta_int(row[CALLS]), ta_int(row[TOKENS]), ta_int(row[DURATION]),
               row[DURATION] > 0 ? ta_num((double)row[TOKENS] * 1e9 / (double)row[DURATION])
                                 : ta_null());
    }
    ta_sort_rows(table, "total_ns", true);
    ta_sort_rows(without, "total_ns", true);
    return TA_OK;
}

static const struct ta_analysis_ops ops = {
    .section = "diffusion", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, section_tokens, &ops, .title = "Diffusion and throughput",
          .summary = "Tokens of sections and their rate: sections.tokens, sections.without_tokens",
          .version = "2");
