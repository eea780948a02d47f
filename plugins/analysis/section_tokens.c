/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sections.tokens: tokens of sections and their rate, as sums over sums; sections.without_tokens:
 * those that stored none. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

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

enum {
    TOKENS_RANK,
    TOKENS_SECTION,
    TOKENS_CALLS,
    TOKENS_TOKENS,
    TOKENS_TOTAL,
    TOKENS_TOKENS_PER_S
};
static const struct ta_column tokens_table_columns[] = {
    [TOKENS_RANK] = TA_DUMP_RANK_COLUMN,
    [TOKENS_SECTION] = {"section", "Section", TA_TEXT, .doc = "Name of the section"},
    [TOKENS_CALLS] = {"calls", "Calls", TA_COUNT,
                      .doc = "Calls of the section that recorded tokens"},
    [TOKENS_TOKENS] = {"tokens", "Tokens", TA_COUNT, .weight = 0.5, .doc = "Tokens generated"},
    [TOKENS_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                      .doc = "Total time of these calls"},
    [TOKENS_TOKENS_PER_S] = {"tokens_per_s", "Rate", TA_TYPE_NUMBER, TA_UNIT_PER_S,
                             .better = TA_HIGHER, .weight = 0.6,
                             .doc = "Total tokens over total time"},
};

static const struct ta_table_def tokens_table = {
    "sections.tokens",
    "Tokens by section",
    TA_COLUMNS(tokens_table_columns),
    .doc = "One row per rank and section that recorded tokens. A call that stored 0 tokens counts "
           "as not recorded.",
    .order = {&tokens_table_columns[TOKENS_TOTAL], TA_DESCENDING},
    .rank_words = "Section"};

enum { WITHOUT_RANK, WITHOUT_SECTION, WITHOUT_CALLS, WITHOUT_TOTAL };
static const struct ta_column without_table_columns[] = {
    [WITHOUT_RANK] = TA_DUMP_RANK_COLUMN,
    [WITHOUT_SECTION] = {"section", "Section", TA_TEXT, .doc = "Name of the section"},
    [WITHOUT_CALLS] = {"calls", "Calls", TA_COUNT,
                       .doc = "Calls of the section that recorded no tokens"},
    [WITHOUT_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                       .doc = "Total time of these calls"},
};

static const struct ta_table_def without_table = {
    "sections.without_tokens", "Sections without tokens", TA_COLUMNS(without_table_columns),
    .doc = "One row per rank and section with calls that recorded no tokens: either nobody "
           "recorded any, or the recorder was called inside the section without a duration, which "
           "stores nothing.",
    .order = {&without_table_columns[WITHOUT_TOTAL], TA_DESCENDING}};

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
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *tokens = merged[0];

    for (size_t i = 0; i < ta_partial_rows(tokens); i++) {
        const int64_t *row = ta_partial_at(tokens, i);
        if (row[WITHOUT] > 0)
            TA_ROW(
                out, without_table, [WITHOUT_RANK] = ta_int(row[RANK]),
                [WITHOUT_SECTION] = ta_text(ta_partial_text(tokens, row, SECTION)),
                [WITHOUT_CALLS] = ta_int(row[WITHOUT]), [WITHOUT_TOTAL] = ta_int(row[WITHOUT_NS]));
        if (row[CALLS] == TA_MISSING)
            continue;
        TA_ROW(out, tokens_table, [TOKENS_RANK] = ta_int(row[RANK]),
               [TOKENS_SECTION] = ta_text(ta_partial_text(tokens, row, SECTION)),
               [TOKENS_CALLS] = ta_int(row[CALLS]), [TOKENS_TOKENS] = ta_int(row[TOKENS]),
               [TOKENS_TOTAL] = ta_int(row[DURATION]),
               [TOKENS_TOKENS_PER_S] =
                   row[DURATION] > 0 ? ta_num((double)row[TOKENS] * 1e9 / (double)row[DURATION])
                                     : ta_null());
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&tokens_table, &without_table, NULL};

static const struct ta_analysis_ops ops = {
    .section = "diffusion", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, section_tokens, &ops, .title = "Diffusion and throughput",
          .summary = "Tokens of sections and their rate: sections.tokens, sections.without_tokens",
          .version = "2");
