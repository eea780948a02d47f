/* SPDX-License-Identifier: GPL-3.0-or-later */
/* launches.graphs: calls that start many activities at once, mainly launches of CUDA and HIP
 * graphs.  Each of their kernels belongs to the call, and through it to the operator around it. */
#include "model/launched.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <stdlib.h>

enum { RANK, CALL, CALLS, LAUNCHES, ACTIVITIES, KERNELS, HOST_NS, DEVICE_NS, FIELDS };
enum { OF_RANK, ALL_NS, DELAY, RANK_FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [CALL] = {"call", TA_FIELD_TEXT},
    [CALLS] = {"calls", TA_FIELD_SUM},
    [LAUNCHES] = {"launches", TA_FIELD_SUM},
    [ACTIVITIES] = {"activities", TA_FIELD_SUM},
    [KERNELS] = {"kernels", TA_FIELD_SUM},
    [HOST_NS] = {"host_ns", TA_FIELD_SUM},
    [DEVICE_NS] = {"device_ns", TA_FIELD_SUM},
};

static const struct ta_field rank_fields[RANK_FIELDS] = {
    [OF_RANK] = {"rank", TA_FIELD_RANK},
    [ALL_NS] = {"all_ns", TA_FIELD_SUM},
    [DELAY] = {"delay", TA_FIELD_DIST},
};

static const struct ta_partial_def partials[] = {
    {"calls", fields, FIELDS}, {"ranks", rank_fields, RANK_FIELDS}, {0}};

enum {
    GRAPHS_RANK,
    GRAPHS_CALL,
    GRAPHS_CALLS,
    GRAPHS_LAUNCHES,
    GRAPHS_KERNELS,
    GRAPHS_KERNELS_PER_LAUNCH,
    GRAPHS_HOST,
    GRAPHS_DEVICE,
    GRAPHS_DEVICE_SHARE,
    GRAPHS_SAVED
};
static const struct ta_column graphs_columns[] = {
    [GRAPHS_RANK] = TA_RANK_COLUMN,
    [GRAPHS_CALL] =
        {"call", "Call", TA_TEXT,
         .doc =
             "Runtime call that launches a graph, or another call that started several activities"},
    [GRAPHS_CALLS] = {"calls", "Calls", TA_COUNT,
                      .doc = "Number of calls on the host; for calls other than graph launches, "
                             "only those with several activities"},
    [GRAPHS_LAUNCHES] = {"launches", "With activities", TA_COUNT,
                         .doc = "Calls whose device activities were recorded"},
    [GRAPHS_KERNELS] = {"kernels", "Kernels", TA_COUNT, .doc = "Kernels that these calls started"},
    [GRAPHS_KERNELS_PER_LAUNCH] = {"kernels_per_launch", "Kernels per launch", TA_NUMBER,
                                   .better = TA_HIGHER,
                                   .doc = "Kernels divided by the calls with activities"},
    [GRAPHS_HOST] = {"host_ns", "Host time", TA_NS, .better = TA_LOWER,
                     .doc = "Sum of the durations of the calls on the host"},
    [GRAPHS_DEVICE] = {"device_ns", "Device time", TA_NS,
                       .doc = "Sum of the durations of the activities that these calls started"},
    [GRAPHS_DEVICE_SHARE] = {"device_share", "Device %", TA_RATIO,
                             .doc =
                                 "Device time divided by the time of all activities of the rank"},
    [GRAPHS_SAVED] = {"saved_ns", "Launch cost saved", TA_NS_MEAN, .better = TA_HIGHER,
                      .doc =
                          "Number of activities without a launch of their own, times the shortest "
                          "delay of ordinary launches (5th percentile of activity start minus end "
                          "of call); empty if fewer than 20 ordinary launches are known"},
};

static const struct ta_table_def graphs = {
    "launches.graphs", "Graph launches", TA_COLUMNS(graphs_columns),
    .doc = "One row per rank and call that launches a graph, or that started several activities. "
           "Their kernels belong to the call, and in `ops.device_time` to the operator around it."};

enum { ORDINARY_MIN = 20 };

/* What is known of each runtime call, by its row; ONE is left out if no call has several
 * activities. */
enum { ONE = 1, MANY = 2, COUNTED = 4 };

struct work {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_partial *calls;
    struct ta_map rows; /* by name of the call */
    uint8_t *marks;     /* by span */
    struct ta_dist *delays;
};

static int64_t *row_of(struct work *w, ta_str name)
{
    return ta_partial_cached(w->calls, &w->rows, name,
                             (const struct ta_key[]){ta_key_int(ta_trace_rank(w->trace)),
                                                     ta_key_text(ta_trace_text(w->trace, name))});
}

static void count_call(struct work *w, ta_row call)
{
    int64_t *row = row_of(w, w->spans.name[call]);
    ta_sum(&row[CALLS], 1);
    ta_sum(&row[HOST_NS], w->spans.dur[call]);
}

static void count_activity(struct work *w, const struct ta_activity *a)
{
    const struct ta_spans *s = &w->spans;
    const bool graph = s->work[a->launch] == TA_HOST_GRAPH;
    if (!graph && !(w->marks[a->launch] & MANY)) {
        const int64_t delay = s->ts[a->span] - (s->ts[a->launch] + s->dur[a->launch]);
        if (delay >= 0)
            ta_dist_add(w->delays, delay);
        return;
    }
    int64_t *row = row_of(w, s->name[a->launch]);
    if (!(w->marks[a->launch] & COUNTED)) {
        w->marks[a->launch] |= COUNTED;
        ta_sum(&row[LAUNCHES], 1);
        if (!graph)
            count_call(w, a->launch);
    }
    ta_sum(&row[ACTIVITIES], 1);
    ta_sum(&row[KERNELS], a->kernel != TA_NO_KERNEL);
    ta_sum(&row[DEVICE_NS], s->dur[a->span]);
}

static void mark_launches(struct work *w, const struct ta_activities *activities)
{
    for (size_t i = 0; i < activities->n; i++) {
        const ta_row launch = activities->at[i].launch;
        if (launch != TA_NO_ROW)
            w->marks[launch] = w->marks[launch] ? MANY : ONE;
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_spans spans = ta_trace_spans(trace);
    const struct ta_activities activities = ta_trace_activities(trace);
    if (activities.n == 0)
        return TA_OK;
    const struct ta_launched *launched = ta_trace_launched(trace);
    int64_t *rank = TA_PARTIAL_ROW(out[1], ta_key_int(ta_trace_rank(trace)));
    struct work w = {.trace = trace,
                     .spans = spans,
                     .calls = out[0],
                     .marks = calloc(spans.n + 1, 1),
                     .delays = ta_partial_dist(out[1], rank, DELAY)};
    bool done = w.marks && launched;
    if (done) {
        /* Graph launches are counted whether or not their activities were recorded. */
        const struct ta_categories categories = ta_trace_categories(w.trace);
        for (ta_row row = 0; (row = ta_host_next(&w.spans, row, TA_HOST_GRAPH)) < w.spans.n; row++)
            if (categories.at[w.spans.cat[row]].class == TA_CLASS_RUNTIME)
                count_call(&w, row);
        if (launched->n < launched->n_activities)
            mark_launches(&w, &activities);
        int64_t sum = TA_MISSING;
        for (size_t i = 0; i < activities.n; i++) {
            const struct ta_activity *a = &activities.at[i];
            ta_sum(&sum, w.spans.dur[a->span]);
            if (a->launch != TA_NO_ROW)
                count_activity(&w, a);
        }
        ta_sum(&rank[ALL_NS], sum);
    }
    done &= !w.rows.failed;
    free(w.marks);
    ta_map_free(&w.rows);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot count launches: spans=%zu", spans.n);
}

/* The row of a rank; each rank with a call has one. */
static const int64_t *rank_row(const struct ta_partial *ranks, int64_t rank)
{
    for (size_t i = 0; i < ta_partial_rows(ranks); i++)
        if (ta_partial_at(ranks, i)[OF_RANK] == rank)
            return ta_partial_at(ranks, i);
    return NULL;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;

    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        const int64_t *rank = rank_row(merged[1], row[RANK]);
        const struct ta_dist *delays = rank ? ta_partial_dist_at(merged[1], rank, DELAY) : NULL;
        const bool launched = row[LAUNCHES] != TA_MISSING;
        const bool known = launched && delays && ta_dist_count(delays) >= ORDINARY_MIN;
        const double spared = launched ? (double)(row[ACTIVITIES] - row[LAUNCHES]) : 0;
        TA_ROW(out, graphs, [GRAPHS_RANK] = ta_int(row[RANK]),
               [GRAPHS_CALL] = ta_text(ta_partial_text(merged[0], row, CALL)),
               [GRAPHS_CALLS] = ta_int(row[CALLS]),
               [GRAPHS_LAUNCHES] = ta_int(launched ? row[LAUNCHES] : 0),
               [GRAPHS_KERNELS] = ta_int(row[KERNELS]),
               [GRAPHS_KERNELS_PER_LAUNCH] =
                   launched ? ta_num((double)row[KERNELS] / (double)row[LAUNCHES]) : ta_null(),
               [GRAPHS_HOST] = ta_int(row[HOST_NS]), [GRAPHS_DEVICE] = ta_int(row[DEVICE_NS]),
               [GRAPHS_DEVICE_SHARE] = ta_share(row[DEVICE_NS], rank ? rank[ALL_NS] : TA_MISSING),
               [GRAPHS_SAVED] = known ? ta_num(spared * ta_dist_quantile(delays, 5)) : ta_null());
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&graphs, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .section = "launches",
                                           .place = 1,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, graph_launches, &ops, .title = "Graph launches",
          .summary = "Calls that start many kernels, such as CUDA graph launches: launches.graphs",
          .version = "1");
