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

static const struct ta_column columns[] = {
    TA_RANK_COLUMN,
    TA_COUNT_COLUMN("kernels", "Kernels", TA_NEUTRAL, "Kernels executed"),
    TA_COUNT_COLUMN("short", "Short", TA_LOWER, "Kernels below the option short_kernels.below"),
    TA_RATIO_COLUMN("short_share", "Share", TA_LOWER, "Short kernels divided by kernels"),
    TA_NS_COLUMN("short_total_ns", "Time in short", TA_LOWER,
                 "Sum of the durations of short kernels"),
    TA_RATIO_COLUMN("time_share", "Share of time", TA_NEUTRAL,
                    "Time in short kernels divided by time in kernels"),
};

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx, (void)prior;
    struct ta_table_builder *table = ta_add_table(out, "short_kernels.by_rank", "Short kernels",
                                                  columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        TA_ROW(table, ta_int(row[RANK]), ta_int(row[KERNELS]), ta_int(row[SHORT]),
               ta_share(row[SHORT], row[KERNELS]), ta_int(row[SHORT_TOTAL]),
               ta_share(row[SHORT_TOTAL], row[TOTAL]));
    }
    return TA_OK;
}

static const struct ta_analysis_ops ops = {
    .section = "kernels", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, short_kernels, &ops, .title = "Short kernels",
          .summary = "How many kernels are too short to be worth their launch", .version = "1.0",
          .options = options);
