/* SPDX-License-Identifier: GPL-3.0-or-later */
/* short_kernels.by_rank: kernels too short to be worth their launch, an example of an analysis
 * in a plugin of its own.
 *
 * map() sees one trace at a time and fills a keyed table, the partial.  traceanalyze merges the
 * partials of all ranks by the kinds of their fields, and finish() turns the merged one into a
 * table of the report: with units, so that every output can show it. */
#include <traceanalyze/analysis.h>

/* `--set short_kernels.below=20us`; read with ta_ctx_option() by its row. */
enum { BELOW };
static const struct ta_option options[] = {
    [BELOW] = {"below", TA_OPTION_INTEGER, 10e3, 1, 1e9, TA_OPTION_NS,
               "Kernels shorter than this are short"},
    TA_OPTIONS_END,
};

enum { RANK, KERNELS, SHORT, TOTAL, SHORT_TOTAL, FIELDS };
static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [KERNELS] = {"kernels", TA_FIELD_SUM},
    [SHORT] = {"short", TA_FIELD_SUM},
    [TOTAL] = {"total_ns", TA_FIELD_SUM},
    [SHORT_TOTAL] = {"short_total_ns", TA_FIELD_SUM},
};
static const struct ta_partial_def partials[] = {{"ranks", fields, FIELDS}, {0}};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const int64_t below_ns = (int64_t)ta_ctx_option(ctx, BELOW);
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_categories categories = ta_trace_categories(trace);
    const struct ta_spans spans = ta_trace_spans(trace);
    for (size_t i = 0; i < activities.n; i++) {
        const ta_row span = activities.at[i].span;
        if (categories.at[spans.cat[span]].class != TA_CLASS_KERNEL)
            continue;
        const bool is_short = spans.dur[span] < below_ns;
        int64_t *row = TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)));
        ta_sum(&row[KERNELS], 1);
        ta_sum(&row[SHORT], is_short);
        ta_sum(&row[TOTAL], spans.dur[span]);
        ta_sum(&row[SHORT_TOTAL], is_short ? spans.dur[span] : 0);
    }
    return TA_OK;
}

enum {
    BY_RANK_RANK,
    BY_RANK_KERNELS,
    BY_RANK_SHORT,
    BY_RANK_SHORT_SHARE,
    BY_RANK_SHORT_TOTAL,
    BY_RANK_TIME_SHARE
};
static const struct ta_column by_rank_table_columns[] = {
    [BY_RANK_RANK] = TA_RANK_COLUMN,
    [BY_RANK_KERNELS] = {"kernels", "Kernels", TA_COUNT, .doc = "Kernels executed"},
    [BY_RANK_SHORT] = {"short", "Short", TA_COUNT, .better = TA_LOWER,
                       .doc = "Kernels below the option short_kernels.below"},
    [BY_RANK_SHORT_SHARE] = {"short_share", "Share", TA_RATIO, .better = TA_LOWER,
                             .doc = "Short kernels divided by kernels"},
    [BY_RANK_SHORT_TOTAL] = {"short_total_ns", "Time in short", TA_NS, .better = TA_LOWER,
                             .doc = "Sum of the durations of short kernels"},
    [BY_RANK_TIME_SHARE] = {"time_share", "Share of time", TA_RATIO,
                            .doc = "Time in short kernels divided by time in kernels"},
};

static const struct ta_table_def by_rank_table = {"short_kernels.by_rank", "Short kernels",
                                                  TA_COLUMNS(by_rank_table_columns)};

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx, (void)in;

    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        TA_ROW(out, by_rank_table, [BY_RANK_RANK] = ta_int(row[RANK]),
               [BY_RANK_KERNELS] = ta_int(row[KERNELS]), [BY_RANK_SHORT] = ta_int(row[SHORT]),
               [BY_RANK_SHORT_SHARE] = ta_share(row[SHORT], row[KERNELS]),
               [BY_RANK_SHORT_TOTAL] = ta_int(row[SHORT_TOTAL]),
               [BY_RANK_TIME_SHARE] = ta_share(row[SHORT_TOTAL], row[TOTAL]));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_rank_table, NULL};

static const struct ta_analysis_ops ops = {
    .section = "kernels", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, short_kernels, &ops, .title = "Short kernels",
          .summary = "How many kernels are too short to be worth their launch", .version = "1.0",
          .options = options);
