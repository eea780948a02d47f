/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk over the activities of each device: its gaps. */
#include "host_time.h"

#include <stdlib.h>

const struct idle_cause_info idle_causes[IDLE_CAUSES] = {
    [IDLE_OPERATOR] = {"operator dispatch", IDLE_GROUP_DISPATCH},
    [IDLE_PYTHON] = {"python", IDLE_GROUP_DISPATCH},
    [IDLE_LAUNCH_CALLS] = {"launch calls", IDLE_GROUP_DISPATCH},
    [IDLE_CALLS] = {"runtime calls", IDLE_GROUP_DISPATCH},
    [IDLE_UNTRACED] = {"host untraced", IDLE_GROUP_HOST},
    [IDLE_SYNC] = {"synchronization", IDLE_GROUP_SYNC},
    [IDLE_COPY] = {"blocking copy", IDLE_GROUP_SYNC},
    [IDLE_ALLOCATE] = {"memory allocation", IDLE_GROUP_SETUP},
    [IDLE_COMPILE] = {"compilation", IDLE_GROUP_SETUP},
    [IDLE_DATA] = {"data loading", IDLE_GROUP_INPUT},
    [IDLE_COLLECTIVE] = {"host collective", IDLE_GROUP_INPUT},
    [IDLE_PROFILER] = {"profiler", IDLE_GROUP_UNKNOWN},
    [IDLE_LATENCY] = {"launch latency", IDLE_GROUP_LATENCY},
    [IDLE_LATE_START] = {"late start", IDLE_GROUP_UNKNOWN},
    [IDLE_GRAPH] = {"within a graph", IDLE_GROUP_QUEUED},
    [IDLE_FRONT_END] = {"queued, same stream", IDLE_GROUP_QUEUED},
    [IDLE_DEPENDENCY] = {"queued, dependency", IDLE_GROUP_QUEUED},
    [IDLE_MICRO] = {"micro gap", IDLE_GROUP_QUEUED},
    [IDLE_UNLINKED] = {"launch not recorded", IDLE_GROUP_UNKNOWN},
};

struct gap {
    int64_t start, end;
    enum idle_cause cause;
    ta_row site, next;
};

struct walk {
    const struct ta_trace *trace;
    struct host_time host;
    struct ta_activities activities;
    struct ta_spans spans;
    struct ta_partial *const *out;
    struct gap longest[IDLE_LONGEST_KEPT];
    size_t n_longest;
    int64_t *causes[IDLE_CAUSES]; /* rows of the device in the partial, NULL before the first */
};

/* ---- one gap ------------------------------------------------------------------------------- */

static int64_t end_of(const struct walk *w, ta_row row)
{
    return w->spans.ts[row] + w->spans.dur[row];
}

static bool is_graph(const struct walk *w, ta_row launch)
{
    return w->host.work[launch] == TA_HOST_GRAPH;
}

/* Work that was in the queue before the gap began.  `before` ended last. */
static enum idle_cause queued_cause(const struct walk *w, const struct ta_activity *next,
                                    const struct ta_activity *before, int64_t length)
{
    if (next->launch == before->launch && is_graph(w, next->launch))
        return IDLE_GRAPH;
    const bool same_stream = w->spans.track[next->span] == w->spans.track[before->span];
    return same_stream && length <= TA_FRONT_END_NS ? IDLE_FRONT_END : IDLE_DEPENDENCY;
}

static void blame(struct walk *w, const struct ta_activity *next, const struct ta_activity *before,
                  int64_t a, int64_t b, struct idle_parts *parts)
{
    const ta_row launch = next->launch;
    if (b - a < IDLE_MICRO_NS) {
        host_time_piece(&w->host, IDLE_MICRO, b - a, TA_NO_ROW, parts);
    } else if (launch == TA_NO_ROW) {
        host_time_piece(&w->host, IDLE_UNLINKED, b - a, TA_NO_ROW, parts);
    } else if (end_of(w, launch) > a || w->spans.ts[launch] >= a) {
        const int64_t late = ta_max_i64(a, ta_min_i64(w->spans.ts[launch], b));
        const int64_t called = ta_min_i64(end_of(w, launch), b);
        if (late > a)
            host_time_blame(&w->host, launch, a, late, parts);
        if (called > late)
            host_time_within(&w->host, launch, late, called, parts);
        if (b > called)
            host_time_piece(&w->host, b - called > IDLE_LATENCY_NS ? IDLE_LATE_START : IDLE_LATENCY,
                            b - called, launch, parts);
    } else {
        host_time_piece(&w->host, queued_cause(w, next, before, b - a), b - a, next->span, parts);
    }
}

/* ---- the longest gaps ------------------------------------------------------------------------
 */

/* Longer gaps count more; of equal ones the earlier. */
static bool is_less(const struct gap *a, const struct gap *b)
{
    const int64_t left = a->end - a->start, right = b->end - b->start;
    return left != right ? left < right : a->start > b->start;
}

static void keep_longest(struct walk *w, const struct gap *gap)
{
    if (w->n_longest < IDLE_LONGEST_KEPT) {
        w->longest[w->n_longest++] = *gap;
        return;
    }
    size_t least = 0;
    for (size_t i = 1; i < IDLE_LONGEST_KEPT; i++)
        if (is_less(&w->longest[i], &w->longest[least]))
            least = i;
    if (is_less(&w->longest[least], gap))
        w->longest[least] = *gap;
}

/* ---- partials ------------------------------------------------------------------------------ */

static struct ta_slice name_of(const struct walk *w, ta_row row)
{
    return row == TA_NO_ROW ? TA_LIT("")
                            : ta_host_place(ta_trace_text(w->trace, w->spans.name[row]));
}

static void count_cause(struct walk *w, int64_t device, enum idle_cause cause, int64_t ns)
{
    if (!w->causes[cause])
        w->causes[cause] =
            TA_PARTIAL_ROW(w->out[IDLE_PARTIAL_CAUSES], ta_key_int(ta_trace_rank(w->trace)),
                           ta_key_int(device), ta_key_text(ta_slice_of(idle_causes[cause].name)));
    int64_t *row = w->causes[cause];
    ta_sum(&row[CAUSE_GAPS], 1);
    ta_sum(&row[CAUSE_TOTAL], ns);
    ta_most(&row[CAUSE_LONGEST], ns);
}

static void take_gap(struct walk *w, const struct ta_activity *next,
                     const struct ta_activity *before, int64_t a)
{
    struct idle_parts parts = {0};
    struct gap gap = {.start = a, .end = w->spans.ts[next->span], .next = next->span};
    int64_t most = -1;
    blame(w, next, before, a, gap.end, &parts);
    for (int i = 0; i < IDLE_CAUSES; i++) {
        const enum idle_cause cause = (enum idle_cause)i;
        if (parts.ns[i] == 0)
            continue;
        count_cause(w, next->device, cause, parts.ns[i]);
        if (parts.ns[i] > most) {
            most = parts.ns[i];
            gap.cause = cause;
            gap.site = host_time_caller(&w->host, parts.site[i]);
        }
    }
    if (gap.end - a >= IDLE_MICRO_NS)
        keep_longest(w, &gap);
}

static void list_longest(struct walk *w, int64_t device)
{
    for (size_t i = 0; i < w->n_longest; i++) {
        const struct gap *gap = &w->longest[i];
        int64_t *row =
            TA_PARTIAL_ROW(w->out[IDLE_PARTIAL_GAPS], ta_key_int(ta_trace_rank(w->trace)),
                           ta_key_int(device), ta_key_int(gap->start - ta_trace_origin(w->trace)),
                           ta_key_text(ta_slice_of(idle_causes[gap->cause].name)),
                           ta_key_text(name_of(w, gap->site)), ta_key_text(name_of(w, gap->next)));
        ta_sum(&row[GAP_TOTAL], gap->end - gap->start);
    }
    w->n_longest = 0;
}

/* ---- one device ---------------------------------------------------------------------------- */

/* The activities [from, to) are those of one device. */
static void walk_device(struct walk *w, size_t from, size_t to)
{
    const int64_t device = w->activities.at[from].device;
    const struct ta_activity *before = &w->activities.at[from];
    const int64_t first = w->spans.ts[before->span];
    int64_t last = first;
    memset(w->causes, 0, sizeof w->causes);
    for (size_t i = from; i < to; i++) {
        const struct ta_activity *a = &w->activities.at[i];
        if (w->spans.ts[a->span] > last)
            take_gap(w, a, before, last);
        if (i == from || end_of(w, a->span) > last) {
            last = end_of(w, a->span);
            before = a;
        }
    }
    list_longest(w, device);
}

enum ta_status idle_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                        struct ta_partial *const *out)
{
    struct walk *w = calloc(1, sizeof *w);
    bool done = w && host_time_open(&w->host, trace, out[IDLE_PARTIAL_SITES]);
    if (done) {
        w->trace = trace;
        w->activities = ta_trace_activities(trace);
        w->spans = ta_trace_spans(trace);
        w->out = out;
    }
    for (size_t from = 0, to; done && from < w->activities.n; from = to) {
        for (to = from + 1;
             to < w->activities.n && w->activities.at[to].device == w->activities.at[from].device;)
            to++;
        walk_device(w, from, to);
    }
    if (w)
        host_time_free(&w->host);
    free(w);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the gaps of a device");
}
