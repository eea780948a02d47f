/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.by_name, .quantiles and .duration_ecdf: device time by kernel, over all ranks, and the
 * distribution of durations. */
#include "analyze/partial.h"
#include "model/kernel.h"
#include "stat/dist.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <stdlib.h>

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

enum {
    KERNEL_NAME,
    KERNEL_CLASS,
    KERNEL_CALLS,
    KERNEL_TOTAL,
    KERNEL_SHARE,
    KERNEL_BUSY,
    KERNEL_MEAN,
    KERNEL_ERROR = KERNEL_MEAN + TA_SPREAD,
    KERNEL_ROOFLINE,
    KERNEL_BOUND,
    KERNEL_ABOVE_ROOF,
    KERNEL_WAVES,
    KERNEL_WAVES_LOST,
    KERNEL_KIND,
    KERNEL_FAMILY
};
static const struct ta_column by_name_columns[] = {
    [KERNEL_NAME] = {"name", "Kernel", TA_TEXT, .read_as = TA_AS_KERNEL,
                     .doc = "Name of the kernel"},
    [KERNEL_CLASS] =
        {"class", "Class", TA_TEXT, .read_as = TA_AS_KERNEL_CLASS, .detail = true,
         .doc = "By its name: comm if the kernel moves data between ranks, otherwise compute"},
    [KERNEL_CALLS] = {"calls", "Calls", TA_COUNT, .read_as = TA_AS_KERNEL_CALLS,
                      .over_ranks = TA_OVER_CALLS, .doc = "Number of kernel executions"},
    [KERNEL_TOTAL] =
        {"total_ns", "Total", TA_NS, .better = TA_LOWER, .read_as = TA_AS_KERNEL_TIME,
         .over_ranks = TA_OVER_TIME,
         .doc = "Sum of the kernel durations, all ranks; kernels at the same time add up"},
    [KERNEL_SHARE] = {"share", "Share", TA_RATIO, .over_ranks = TA_OVER_SHARE, .detail = true,
                      .doc = "Total as a share of the time of all kernels"},
    [KERNEL_BUSY] = {"busy_share", "Share of busy", TA_RATIO, .role = TA_NOTE,
                     .from = {"gpu_time.by_name", "share"},
                     .doc = "Its share of the busy time of all ranks; kernels that overlap divide "
                            "the time evenly"},
    TA_SPREAD_COLUMNS(KERNEL_MEAN),
    [KERNEL_ERROR] = {"p50_error_ns", "p50 ±", TA_NS_MEAN, .better = TA_LOWER,
                      .doc =
                          "Half the width of the 95 % confidence interval of p50; none for fewer "
                          "than 6 executions"},
    [KERNEL_ROOFLINE] =
        {"efficiency", "Roofline", TA_RATIO, .better = TA_HIGHER, .role = TA_NOTE,
         .from = {"roofline.by_kernel", "efficiency"},
         .doc = "Shortest possible time by the peaks of the device, as a share of the actual time; "
                "for calls with known FLOPs and bytes that launched only this kernel"},
    [KERNEL_BOUND] = {"bound", "Bound by", TA_TEXT, .role = TA_NOTE, .detail = true,
                      .from = {"roofline.by_kernel", "bound"},
                      .doc = "What limits these calls: compute or memory bandwidth"},
    [KERNEL_ABOVE_ROOF] = {"above_roof_ns", "Above roof", TA_NS, .better = TA_LOWER,
                           .role = TA_NOTE, .from = {"roofline.by_kernel", "above_roof_ns"},
                           .doc = "Time of these calls minus the shortest possible time"},
    [KERNEL_WAVES] = {"wave_efficiency", "Wave fill", TA_RATIO, .better = TA_HIGHER,
                      .role = TA_NOTE, .from = {"kernels.waves", "efficiency"},
                      .doc = "Share of its time in which multiprocessors had a thread block"},
    [KERNEL_WAVES_LOST] = {"wave_lost_ns", "Lost in waves", TA_NS, .better = TA_LOWER,
                           .role = TA_NOTE, .detail = true, .from = {"kernels.waves", "lost_ns"},
                           .doc = "Time in which multiprocessors had no thread block: in the last "
                                  "wave, or because there were fewer blocks than multiprocessors"},
    [KERNEL_KIND] = {"kind", "What it does", TA_TEXT,
                     .doc = "What the kernel does, by its name: gemm, attention, norm and so on"},
    [KERNEL_FAMILY] =
        {"family", "Library or algorithm", TA_TEXT,
         .doc = "Library or algorithm, by the kernel name; empty if the class says it all"},
};

static const struct ta_chart_def pareto = {
    .id = "kernels-pareto",
    .title = "Device time by kernel",
    .caption = "Device time by kernel, summed over all ranks; percentages are cumulative.",
    .kind = TA_CHART_PARETO,
    .label = {&by_name_columns[KERNEL_NAME]},
    .y = {{&by_name_columns[KERNEL_TOTAL], "Total", TA_INK_COMPUTE}},
    .group = &by_name_columns[KERNEL_KIND],
    .top = 20,
};

static const struct ta_table_def by_name = {
    "kernels.by_name",
    "Device time by kernel",
    TA_COLUMNS(by_name_columns),
    .doc = "One row per kernel name, all ranks together. `comm`: the name contains, in any letter "
           "case, `nccl…kernel`, `rccl`, `nvshmem`, `multimem_all_reduce`, `cross_device_reduce`, "
           "`one_shot_all_reduce` and its spellings, `hcom_`, or `deep_ep`. The list is part of "
           "`src/model/kernel_names.def`. Its columns repeat what `gpu_time.by_name`, "
           "`roofline.by_kernel` and `kernels.waves` say of the kernel. Chart `kernels-pareto`.",
    .joined_by = {&by_name_columns[KERNEL_NAME]},
    .chart = {&pareto},
    .order = {&by_name_columns[KERNEL_TOTAL], TA_DESCENDING},
    .joining = TA_JOIN_SUMS,
    .brief = &(const struct ta_brief){
        .place = 210,
        .rows = 8,
        .largest = &by_name_columns[KERNEL_TOTAL],
        .never = {&by_name_columns[KERNEL_SHARE]}}}; /* the share of busy time says more */

/* Rows of kernels.quantiles. */
enum { QUANTILES_MOST = 50 };
#define CONFIDENCE 0.95

static const char interval_doc[] =
    "End of the 95 % confidence interval of the quantile, assuming that executions do not depend "
    "on each other; empty if there are too few executions";

enum {
    QUANTILE_NAME,
    QUANTILE_CALLS,
    QUANTILE_P50,
    QUANTILE_P50_LOW,
    QUANTILE_P50_HIGH,
    QUANTILE_P95,
    QUANTILE_P95_LOW,
    QUANTILE_P95_HIGH
};
static const struct ta_column quantiles_columns[] = {
    [QUANTILE_NAME] = {"name", "Kernel", TA_TEXT, .doc = "Name of the kernel"},
    [QUANTILE_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Number of kernel executions"},
    [QUANTILE_P50] = {"p50_ns", "p50", TA_NS_MEAN, .better = TA_LOWER,
                      .doc = "Median kernel duration"},
    [QUANTILE_P50_LOW] = {"p50_low_ns", "p50 (low)", TA_NS, .better = TA_LOWER,
                          .doc = interval_doc},
    [QUANTILE_P50_HIGH] = {"p50_high_ns", "p50 (high)", TA_NS, .better = TA_LOWER,
                           .doc = interval_doc},
    [QUANTILE_P95] = {"p95_ns", "p95", TA_NS_MEAN, .better = TA_LOWER,
                      .doc = "95th percentile of the kernel duration (type 7)"},
    [QUANTILE_P95_LOW] = {"p95_low_ns", "p95 (low)", TA_NS, .better = TA_LOWER,
                          .doc = interval_doc},
    [QUANTILE_P95_HIGH] = {"p95_high_ns", "p95 (high)", TA_NS, .better = TA_LOWER,
                           .doc = interval_doc},
};

static const struct ta_table_def quantiles = {
    "kernels.quantiles", "Kernel durations with confidence intervals",
    TA_COLUMNS(quantiles_columns),
    .doc = "One row per kernel name, for the 50 that take longest: quantiles with 95 % confidence "
           "intervals from order statistics, which assume nothing about the distribution of "
           "durations. The median needs 6 executions, p95 needs 59.",
    .tier = TA_TIER_DETAIL};

enum { ECDF_CLASS, ECDF_DURATION, ECDF_SHARE, ECDF_KERNELS };
static const struct ta_column duration_ecdf_columns[] = {
    [ECDF_CLASS] = {"class", "Class", TA_TEXT, .doc = "Class of the kernels, by their names"},
    [ECDF_DURATION] = {"duration_ns", "Duration", TA_NS, .doc = "Duration of a kernel"},
    [ECDF_SHARE] = {"share", "Share of kernels", TA_RATIO,
                    .doc = "Share of the kernels of the class that take at most this long"},
    [ECDF_KERNELS] = {"kernels", "Kernels", TA_COUNT,
                      .doc = "Number of kernels of the class that take at most this long"},
};

static const struct ta_chart_def ecdf = {
    .id = "kernel-ecdf",
    .title = "Kernel durations",
    .caption = "Cumulative distribution of kernel duration by class, all ranks (log scale).",
    .kind = TA_CHART_ECDF,
    .x = &duration_ecdf_columns[ECDF_DURATION],
    .y = {{&duration_ecdf_columns[ECDF_SHARE], "Share of kernels", TA_INK_COMPUTE}},
    .group = &duration_ecdf_columns[ECDF_CLASS],
    .log_x = true,
};

static const struct ta_table_def duration_ecdf = {
    "kernels.duration_ecdf",
    "Kernel duration distribution",
    TA_COLUMNS(duration_ecdf_columns),
    .tier = TA_TIER_POINTS,
    .doc = "About 200 points per class of the cumulative distribution of kernel durations, for the "
           "chart `kernel-ecdf`.",
    .chart = {&ecdf}};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans s = ta_trace_spans(trace);
    const struct ta_kernels kernels = ta_trace_kernels(trace);
    struct ta_dist *class_times[TA_KERNEL_CLASS_COUNT] = {0};
    struct ta_dist **times = calloc(kernels.n + 1, sizeof(struct ta_dist *)); /* by kernel */
    for (size_t i = 0; times && i < activities.n; i++) {
        const uint32_t k = activities.at[i].kernel;
        if (k == TA_NO_KERNEL)
            continue;
        const int64_t dur = s.dur[activities.at[i].span];
        const enum ta_kernel_class class = kernels.at[k].facts.class;
        if (!times[k]) {
            const struct ta_key name = ta_key_text(ta_trace_text(trace, kernels.at[k].name));
            times[k] = ta_partial_dist(out[0], TA_PARTIAL_ROW(out[0], name), TIMES);
        }
        ta_dist_add(times[k], dur);
        if (!class_times[class])
            class_times[class] = ta_partial_dist(
                out[1], TA_PARTIAL_ROW(out[1], ta_key_int((int64_t) class)), CLASS_TIMES);
        ta_dist_add(class_times[class], dur);
    }
    free(times);
    return times ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot index kernels");
}

/* ---- the distribution ---------------------------------------------------------------------- */

/* Enough points for a smooth curve on paper. */
enum { ECDF_STEPS = 200 };

struct curve {
    struct ta_section_builder *out;
    struct ta_slice class;
    int64_t n;
};

static void add_step(void *user, int64_t value, int64_t at_or_below)
{
    const struct curve *curve = user;
    TA_ROW(curve->out,
           duration_ecdf, [ECDF_CLASS] = ta_text(curve->class), [ECDF_DURATION] = ta_int(value),
           [ECDF_SHARE] = ta_num((double)at_or_below / (double)curve->n),
           [ECDF_KERNELS] = ta_int(at_or_below));
}

/* ---- quantiles ----------------------------------------------------------------------------- */

struct heavy {
    const int64_t *row;
    int64_t total;
};

static int by_total(const void *left, const void *right)
{
    const struct heavy *a = left, *b = right;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Adds quantiles of the kernels that take most time. */
static bool finish_quantiles(const struct ta_partial *names, struct ta_section_builder *out)
{
    static const unsigned percents[] = {50, 95};
    const size_t n = ta_partial_rows(names);
    struct heavy *list = calloc(n + 1, sizeof *list);
    if (!list)
        return false;
    for (size_t i = 0; i < n; i++) {
        const int64_t *row = ta_partial_at(names, i);
        list[i] = (struct heavy){row, ta_dist_sum(ta_partial_dist_at(names, row, TIMES))};
    }
    qsort(list, n, sizeof *list, by_total);
    for (size_t i = 0; i < n && i < QUANTILES_MOST; i++) {
        const struct ta_slice name = ta_partial_text(names, list[i].row, NAME);
        const struct ta_dist *times = ta_partial_dist_at(names, list[i].row, TIMES);
        struct ta_cell ends[2][2] = {{ta_null(), ta_null()}, {ta_null(), ta_null()}};
        for (size_t k = 0; k < 2; k++) {
            int64_t low, high;
            if (!ta_dist_quantile_interval(times, percents[k], CONFIDENCE, &low, &high))
                continue;
            ends[k][0] = ta_int(low);
            ends[k][1] = ta_int(high);
        }
        TA_ROW(
            out, quantiles, [QUANTILE_NAME] = ta_text(name),
            [QUANTILE_CALLS] = ta_int(ta_dist_count(times)),
            [QUANTILE_P50] = ta_num(ta_dist_quantile(times, 50)), [QUANTILE_P50_LOW] = ends[0][0],
            [QUANTILE_P50_HIGH] = ends[0][1], [QUANTILE_P95] = ta_num(ta_dist_quantile(times, 95)),
            [QUANTILE_P95_LOW] = ends[1][0], [QUANTILE_P95_HIGH] = ends[1][1]);
    }
    free(list);
    return true;
}

/* Half the width of the interval of the median. */
static struct ta_cell error_of(const struct ta_dist *times)
{
    int64_t low, high;
    return ta_dist_quantile_interval(times, 50, CONFIDENCE, &low, &high)
               ? ta_num((double)(high - low) / 2)
               : ta_null();
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    const struct ta_partial *names = merged[0];
    int64_t all_ns = 0;
    for (size_t i = 0; i < ta_partial_rows(names); i++)
        ta_sum(&all_ns, ta_dist_sum(ta_partial_dist_at(names, ta_partial_at(names, i), TIMES)));
    for (size_t i = 0; i < ta_partial_rows(names); i++) {
        const int64_t *row = ta_partial_at(names, i);
        const struct ta_slice name = ta_partial_text(names, row, NAME);
        const struct ta_dist *times = ta_partial_dist_at(names, row, TIMES);
        const struct ta_kernel_facts facts = ta_kernel_describe(name);
        TA_ROW(out, by_name, [KERNEL_NAME] = ta_text(name),
               [KERNEL_CLASS] = ta_text(ta_slice_of(ta_kernel_class_name(facts.class))),
               [KERNEL_CALLS] = ta_int(ta_dist_count(times)),
               [KERNEL_TOTAL] = ta_int(ta_dist_sum(times)),
               [KERNEL_SHARE] = ta_share(ta_dist_sum(times), all_ns),
               TA_SPREAD_CELLS(KERNEL_MEAN, times), [KERNEL_ERROR] = error_of(times),
               [KERNEL_KIND] = ta_text(ta_slice_of(ta_kernel_kind_name(facts.kind))),
               [KERNEL_FAMILY] = ta_text(ta_slice_of(facts.known ? facts.family : "unknown")));
    }
    if (!finish_quantiles(names, out))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot order kernels");
    const struct ta_partial *classes = merged[1];
    for (size_t i = 0; i < ta_partial_rows(classes); i++) {
        const int64_t *row = ta_partial_at(classes, i);
        const struct ta_dist *times = ta_partial_dist_at(classes, row, CLASS_TIMES);
        const char *class = ta_kernel_class_name((enum ta_kernel_class)row[CLASS]);
        struct curve curve = {out, ta_slice_of(class), ta_dist_count(times)};
        ta_dist_steps(times, ECDF_STEPS, add_step, &curve);
    }
    if (ta_partial_rows(names) == 0 && !ta_report_run(in->report)->has_dumps)
        ta_add_missing(out, "No kernel was recorded: enable recording of device activities.");
    return TA_OK;
}

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{1, CLASS, TA_KERNEL_CLASS_COUNT}, TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&by_name, &quantiles, &duration_ecdf, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .section = "kernels",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, kernels_by_name, &ops, .title = "Kernels",
          .summary = "Device time by kernel name, and the spread of durations: kernels.by_name, "
                     "kernels.quantiles, kernels.duration_ecdf",
          .version = "1");
