/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.by_name: device time by kernel, over all ranks; and how durations are distributed. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/kernel.h>

enum { NAME, TIMES };
enum { CLASS, CLASS_TIMES };

static const struct ta_field name_fields[] = {
    [NAME] = {"name", TA_FIELD_TEXT},
    [TIMES] = {"times", TA_FIELD_DIST},
};

static const struct ta_field class_fields[] = {
    [CLASS] = {"class", TA_FIELD_INT},
    [CLASS_TIMES] = {"times", TA_FIELD_DIST},
};

static const struct ta_partial_def partials[] = {
    {"kernels", name_fields, 2}, {"classes", class_fields, 2}, {0}};

static const struct ta_column columns[] = {
    {"name", "Kernel", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Name of the kernel"},
    {"class", "Class", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "comm moves data between ranks, compute is all else; by the name"},
    {"calls", "Calls", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Number of executions"},
    {"total_ns", "Total", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Sum of durations over all ranks: work, not wall time"},
    TA_SPREAD_COLUMNS,
    {"kind", "What it does", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Class of the kernel, by the table of names"},
    {"family", "Library or algorithm", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Library or algorithm; empty when the class says it all"},
};

static const struct ta_chart pareto = {
    .id = "kernels-pareto",
    .title = "Device time by kernel",
    .caption = "Kernel durations summed over all ranks; the percentage is cumulative.",
    .kind = TA_CHART_PARETO,
    .label = {"name"},
    .y = {{"total_ns", "Total", TA_INK_COMPUTE}},
    .group = "class",
    .top = 20,
};

static const struct ta_column ecdf_columns[] = {
    {"class", "Class", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Class of the kernels"},
    {"duration_ns", "Duration", TA_TYPE_INTEGER, TA_UNIT_NS, TA_NEUTRAL, "Duration of a kernel"},
    {"share", "Share of kernels", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_NEUTRAL,
     "Share of the kernels of the class that take at most this long"},
    {"kernels", "Kernels", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL,
     "Number of kernels of the class that take at most this long"},
};

static const struct ta_chart ecdf = {
    .id = "kernel-ecdf",
    .title = "How long kernels take",
    .caption = "Share of kernels that take at most so long, by class, all ranks; logarithmic "
               "time.",
    .kind = TA_CHART_ECDF,
    .x = "duration_ns",
    .y = {{"share", "Share of kernels", TA_INK_COMPUTE}},
    .group = "class",
    .log_x = true,
};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans s = ta_trace_spans(trace);
    const struct ta_kernels kernels = ta_trace_kernels(trace);
    struct ta_map rows = {0};
    struct ta_dist *times[TA_KERNEL_CLASS_COUNT] = {0};
    for (size_t i = 0; i < activities.n; i++) {
        const ta_row span = activities.at[i].span;
        if (activities.at[i].kernel == TA_NO_KERNEL)
            continue;
        const struct ta_slice name = ta_trace_text(trace, s.name[span]);
        int64_t *row = ta_partial_cached(out[0], &rows, s.name[span],
                                         (const struct ta_key[]){ta_key_text(name)});
        ta_dist_add(ta_partial_dist(out[0], row, TIMES), s.dur[span]);
        const enum ta_kernel_class class = kernels.at[activities.at[i].kernel].facts.class;
        if (!times[class])
            times[class] = ta_partial_dist(
                out[1], TA_PARTIAL_ROW(out[1], ta_key_int((int64_t) class)), CLASS_TIMES);
        ta_dist_add(times[class], s.dur[span]);
    }
    const bool failed = rows.failed;
    ta_map_free(&rows);
    return failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot index kernels") : TA_OK;
}

/* ---- the distribution ---------------------------------------------------------------------- */

/* Enough for a smooth curve on paper. */
enum { ECDF_STEPS = 200 };

struct curve {
    struct ta_table_builder *table;
    struct ta_slice class;
    int64_t n;
};

static void add_step(void *user, int64_t value, int64_t at_or_below)
{
    const struct curve *curve = user;
    TA_ROW(curve->table, ta_text(curve->class), ta_int(value),
           ta_num((double)at_or_below / (double)curve->n), ta_int(at_or_below));
}

static void finish_ecdf(const struct ta_partial *classes, struct ta_section_builder *out)
{
    struct ta_table_builder *table = ta_add_table(
        out, "kernels.duration_ecdf", "Distribution of kernel durations", ecdf_columns, 4);
    for (size_t i = 0; i < ta_partial_rows(classes); i++) {
        const int64_t *row = ta_partial_at(classes, i);
        const struct ta_dist *times = ta_partial_dist_at(classes, row, CLASS_TIMES);
        const char *class = ta_kernel_class_name((enum ta_kernel_class)row[CLASS]);
        struct curve curve = {table, ta_slice_of(class), ta_dist_count(times)};
        ta_dist_steps(times, ECDF_STEPS, add_step, &curve);
    }
    ta_add_chart(table, &ecdf);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    const struct ta_partial *names = merged[0];
    struct ta_table_builder *table = ta_add_table(out, "kernels.by_name", "Device time by kernel",
                                                  columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < ta_partial_rows(names); i++) {
        const int64_t *row = ta_partial_at(names, i);
        const struct ta_slice name = ta_partial_text(names, row, NAME);
        const struct ta_dist *times = ta_partial_dist_at(names, row, TIMES);
        const struct ta_kernel_facts facts = ta_kernel_describe(name);
        TA_ROW(table, ta_text(name), ta_text(ta_slice_of(ta_kernel_class_name(facts.class))),
               ta_int(ta_dist_count(times)), ta_int(ta_dist_sum(times)), TA_SPREAD_CELLS(times),
               ta_text(ta_slice_of(ta_kernel_kind_name(facts.kind))),
               ta_text(ta_slice_of(facts.known ? facts.family : "unknown")));
    }
    ta_sort_rows(table, "total_ns", true);
    ta_add_chart(table, &pareto);
    finish_ecdf(merged[1], out);
    if (ta_partial_rows(names) == 0 && ta_report_is_of_traces(prior))
        ta_add_missing(out, "No kernel was recorded: profile with device activities on.");
    return TA_OK;
}

static const char *const after[] = {"files", NULL};

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{1, CLASS, TA_KERNEL_CLASS_COUNT}, TA_BOUNDS_END};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .after = after,
                                           .section = "kernels",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish};

TA_PLUGIN(analysis, kernels_by_name, &ops, .title = "Kernels",
          .summary = "Device time by kernel name and how durations spread: kernels.by_name, "
                     "kernels.duration_ecdf",
          .version = "1");
