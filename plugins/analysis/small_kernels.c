/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.small: how many kernels are short, and how many take less time than the call that
 * launched them, so that the host cannot keep the device busy with them. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

enum { BELOW };
static const struct ta_option options[] = {
    [BELOW] = {"below", TA_OPTION_INTEGER, 10e3, 1, 1e9, TA_OPTION_NS,
               "Kernels shorter than this are small"},
    TA_OPTIONS_END,
};

enum {
    FIELD_RANK,
    FIELD_KERNELS,
    FIELD_TOTAL,
    FIELD_SMALL,
    FIELD_SMALL_NS,
    FIELD_LAUNCHED,
    FIELD_UNDER,
    FIELD_UNDER_NS,
    FIELDS
};
static const struct ta_field fields[FIELDS] = {
    [FIELD_RANK] = {"rank", TA_FIELD_RANK},        [FIELD_KERNELS] = {"kernels", TA_FIELD_SUM},
    [FIELD_TOTAL] = {"total_ns", TA_FIELD_SUM},    [FIELD_SMALL] = {"small", TA_FIELD_SUM},
    [FIELD_SMALL_NS] = {"small_ns", TA_FIELD_SUM}, [FIELD_LAUNCHED] = {"launched", TA_FIELD_SUM},
    [FIELD_UNDER] = {"under", TA_FIELD_SUM},       [FIELD_UNDER_NS] = {"under_ns", TA_FIELD_SUM},
};
static const struct ta_partial_def partials[] = {{"ranks", fields, FIELDS}, {0}};

enum {
    RANK,
    KERNELS,
    TOTAL,
    SMALL,
    SMALL_SHARE,
    SMALL_TIME,
    SMALL_TIME_SHARE,
    UNDER,
    UNDER_SHARE,
    UNDER_TIME
};
static const struct ta_column small_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [KERNELS] = {"kernels", "Kernels", TA_COUNT, .doc = "Kernels executed"},
    [TOTAL] = {"total_ns", "Total", TA_NS, .doc = "Sum of the durations of all kernels"},
    [SMALL] = {"small", "Small", TA_COUNT, .better = TA_LOWER,
               .doc = "Kernels shorter than the option small_kernels.below (10 µs)"},
    [SMALL_SHARE] = {"small_share", "Small %", TA_RATIO, .better = TA_LOWER,
                     .doc = "Small kernels divided by all kernels"},
    [SMALL_TIME] = {"small_ns", "Small kernel time", TA_NS,
                    .doc = "Sum of the durations of small kernels"},
    [SMALL_TIME_SHARE] = {"small_time_share", "Time in small %", TA_RATIO, .better = TA_LOWER,
                          .doc = "Time in small kernels divided by the time of all kernels"},
    [UNDER] = {"under_launch", "Shorter than launch", TA_COUNT, .better = TA_LOWER,
               .doc = "Kernels that took less time than their launch call took on the host; empty "
                      "if no launch is known. Graph launches are left out"},
    [UNDER_SHARE] =
        {"under_launch_share", "Shorter than launch, share", TA_RATIO, .better = TA_LOWER,
         .doc = "Kernels shorter than their launch divided by all kernels with a known launch"},
    [UNDER_TIME] = {"under_launch_ns", "Time shorter than launch", TA_NS,
                    .doc = "Sum of the durations of these kernels"},
};

static const struct ta_table_def small = {
    "kernels.small", "Small kernels", TA_COLUMNS(small_columns),
    .doc = "One row per rank with kernels.", .tier = TA_TIER_DETAIL};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const int64_t below_ns = ta_whole(ta_ctx_option(ctx, BELOW));
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans s = ta_trace_spans(trace);
    if (ta_trace_kernels(trace).n == 0)
        return TA_OK;
    int64_t *row = TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)));
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->kernel == TA_NO_KERNEL)
            continue;
        const int64_t dur = s.dur[a->span];
        ta_sum(&row[FIELD_KERNELS], 1);
        ta_sum(&row[FIELD_TOTAL], dur);
        ta_sum(&row[FIELD_SMALL], dur < below_ns);
        ta_sum(&row[FIELD_SMALL_NS], dur < below_ns ? dur : 0);
        if (a->launch == TA_NO_ROW || s.work[a->launch] == TA_HOST_GRAPH)
            continue;
        const bool under = s.dur[a->span] < s.dur[a->launch];
        ta_sum(&row[FIELD_LAUNCHED], 1);
        ta_sum(&row[FIELD_UNDER], under);
        ta_sum(&row[FIELD_UNDER_NS], under ? s.dur[a->span] : 0);
    }
    return TA_OK;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;

    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        TA_ROW(out, small, [RANK] = ta_int(row[FIELD_RANK]), [KERNELS] = ta_int(row[FIELD_KERNELS]),
               [TOTAL] = ta_int(row[FIELD_TOTAL]), [SMALL] = ta_int(row[FIELD_SMALL]),
               [SMALL_SHARE] = ta_share(row[FIELD_SMALL], row[FIELD_KERNELS]),
               [SMALL_TIME] = ta_int(row[FIELD_SMALL_NS]),
               [SMALL_TIME_SHARE] = ta_share(row[FIELD_SMALL_NS], row[FIELD_TOTAL]),
               [UNDER] = ta_int(row[FIELD_UNDER]),
               [UNDER_SHARE] = ta_share(row[FIELD_UNDER], row[FIELD_LAUNCHED]),
               [UNDER_TIME] = ta_int(row[FIELD_UNDER_NS]));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&small, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .section = "kernels",
                                           .place = 6,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, small_kernels, &ops, .title = "Small kernels",
          .summary = "Kernels that are short, or shorter than their launch: kernels.small",
          .version = "1", .options = options);
