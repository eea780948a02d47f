/* SPDX-License-Identifier: GPL-3.0-or-later */
/* launches.by_rank: how many device activities have a known launch, and how long they waited. */
#include <traceanalyze/analysis.h>

enum { RANK, ACTIVITIES, LINKED, NEGATIVE, DELAY, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},    [ACTIVITIES] = {"activities", TA_FIELD_SUM},
    [LINKED] = {"linked", TA_FIELD_SUM}, [NEGATIVE] = {"negative", TA_FIELD_SUM},
    [DELAY] = {"delay", TA_FIELD_DIST},
};

static const struct ta_partial_def partials[] = {{"ranks", fields, FIELDS}, {0}};

enum {
    BY_RANK_RANK,
    BY_RANK_ACTIVITIES,
    BY_RANK_LINKED,
    BY_RANK_DELAY_P50,
    BY_RANK_DELAY_P95,
    BY_RANK_NEGATIVE
};
static const struct ta_column by_rank_table_columns[] = {
    [BY_RANK_RANK] = TA_RANK_COLUMN,
    [BY_RANK_ACTIVITIES] = {"activities", "Activities", TA_COUNT, .weight = 0.4,
                            .doc = "Kernels, copies and memory sets on the devices"},
    [BY_RANK_LINKED] = {"linked", "Linked", TA_COUNT, .better = TA_HIGHER,
                        .doc = "Activities whose launch call was recorded (same correlation id)"},
    [BY_RANK_DELAY_P50] =
        {"delay_p50_ns", "Delay p50", TA_NS_MEAN, .weight = 0.2,
         .doc =
             "Median time from the end of the launch call to the start of its activity, without "
             "negative ones. Short: the device waited for the host; long: work was queued ahead"},
    [BY_RANK_DELAY_P95] = {"delay_p95_ns", "Delay p95", TA_NS_MEAN, .weight = 0.1,
                           .doc = "95th percentile of the time from the end of the launch call to "
                                  "the start of its activity"},
    [BY_RANK_NEGATIVE] = {"negative", "Negative", TA_COUNT,
                          .doc = "Activities that start before their launch call returned: "
                                 "blocking calls, or clocks that differ"},
};

static const struct ta_table_def by_rank_table = {"launches.by_rank",
                                                  "Launches by rank",
                                                  TA_COLUMNS(by_rank_table_columns),
                                                  .doc = "One row per rank with device activities.",
                                                  .tier = TA_TIER_DETAIL,
                                                  .rank_words = "Kernel launches"};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans s = ta_trace_spans(trace);
    if (activities.n == 0)
        return TA_OK;
    int64_t *row = TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)));
    struct ta_dist *delays = ta_partial_dist(out[0], row, DELAY);
    int64_t linked = 0, negative = 0;
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->launch == TA_NO_ROW)
            continue;
        const int64_t delay = s.ts[a->span] - (s.ts[a->launch] + s.dur[a->launch]);
        linked++;
        if (delay < 0)
            negative++;
        else
            ta_dist_add(delays, delay);
    }
    ta_sum(&row[ACTIVITIES], (int64_t)activities.n);
    ta_sum(&row[LINKED], linked);
    ta_sum(&row[NEGATIVE], negative);
    return TA_OK;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *ranks = merged[0];

    for (size_t i = 0; i < ta_partial_rows(ranks); i++) {
        const int64_t *row = ta_partial_at(ranks, i);
        const struct ta_dist *delays = ta_partial_dist_at(ranks, row, DELAY);
        TA_ROW(
            out, by_rank_table, [BY_RANK_RANK] = ta_int(row[RANK]),
            [BY_RANK_ACTIVITIES] = ta_int(row[ACTIVITIES]), [BY_RANK_LINKED] = ta_int(row[LINKED]),
            [BY_RANK_DELAY_P50] = delays ? ta_num(ta_dist_quantile(delays, 50)) : ta_null(),
            [BY_RANK_DELAY_P95] = delays ? ta_num(ta_dist_quantile(delays, 95)) : ta_null(),
            [BY_RANK_NEGATIVE] = ta_int(row[NEGATIVE]));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_rank_table, NULL};

static const struct ta_analysis_ops ops = {
    .section = "launches", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, launches, &ops, .title = "Kernel launches",
          .summary = "Linked launches and launch delay by rank: launches.by_rank", .version = "1");
