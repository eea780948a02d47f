/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recording.overhead, recording.explained: what recording itself cost the host, as far as the spans
 * show, and how much of the devices' idle time that explains.
 *
 * What recording costs is estimated by plugins/lib/recording_cost.h.
 *
 * A device idles for it only where its thread is late for it.  Without the recorder each launch
 * would have come earlier by what recording took of its thread since the launch that ended the gap
 * before, plus what that gap was too short to use up: the lead.  A gap is shorter by the lead, or
 * gone.  What the host waits for ends no earlier: a wait for a busy device, for a data loader or
 * for other hosts ends the lead.  Rules about the host give no saving that is explained so. */
#include "lib/recording_cost.h"
#include "model/extent.h"
#include "model/idle/idle.h"
#include "model/program/window.h"
#include "model/track_rows.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <math.h>
#include <stdlib.h>

/* Between two kernels of a queue the recorder takes some of the device's own time. */
static const double between_ns = 1000;

/* Idle time that recording may explain: in which the host computes, and between kernels. */
enum kind { KIND_DISPATCH, KIND_UNTRACED, KIND_DATA, KIND_QUEUED, KIND_BEFORE, KIND_AFTER, KINDS };

static const char *const kind_names[KINDS] = {
    [KIND_DISPATCH] = "dispatch",
    [KIND_UNTRACED] = "host untraced",
    [KIND_DATA] = "data loading",
    [KIND_QUEUED] = "queued",
    [KIND_BEFORE] = "before the first work",
    [KIND_AFTER] = "after the last work",
};

/* Fields of the partial: counts of the parts come after these. */
enum { FACT_RANK, FACT_HOST, FACT_COUNTS, FACTS = FACT_COUNTS + TA_RECORDED_PARTS };

static const struct ta_field fields[FACTS] = {
    [FACT_RANK] = {"rank", TA_FIELD_RANK},
    [FACT_HOST] = {"host_ns", TA_FIELD_SUM},
    [FACT_COUNTS + TA_RECORDED_STACKS] = {"python_calls", TA_FIELD_SUM},
    [FACT_COUNTS + TA_RECORDED_SHAPES] = {"shaped", TA_FIELD_SUM},
    [FACT_COUNTS + TA_RECORDED_MEMORY] = {"allocations", TA_FIELD_SUM},
    [FACT_COUNTS + TA_RECORDED_SPANS] = {"operators", TA_FIELD_SUM},
    [FACT_COUNTS + TA_RECORDED_CALLS] = {"calls", TA_FIELD_SUM},
};

/* Fields of the partial of idle time. */
enum {
    PART_RANK,
    PART_DEVICE,
    PART_KIND,
    PART_IDLE,
    PART_BOUNDS,
    PART_FIELDS = PART_BOUNDS + TA_COST_BOUNDS
};

static const struct ta_field explained_fields[PART_FIELDS] = {
    [PART_RANK] = {"rank", TA_FIELD_RANK},
    [PART_DEVICE] = {"device", TA_FIELD_INT},
    [PART_KIND] = {"kind", TA_FIELD_INT},
    [PART_IDLE] = {"idle_ns", TA_FIELD_SUM},
    [PART_BOUNDS + TA_COST_LEAST] = {"low_ns", TA_FIELD_SUM},
    [PART_BOUNDS + TA_COST_ESTIMATE] = {"explained_ns", TA_FIELD_SUM},
    [PART_BOUNDS + TA_COST_MOST] = {"high_ns", TA_FIELD_SUM},
};

enum { PARTIAL_COUNTS, PARTIAL_EXPLAINED };
static const struct ta_partial_def partials[] = {
    [PARTIAL_COUNTS] = {"counts", fields, FACTS},
    [PARTIAL_EXPLAINED] = {"explained", explained_fields, PART_FIELDS},
    {0}};

enum { RANK, PART, COUNT, COST, LOW, HIGH, SHARE, OPTION, WHAT };
static const struct ta_column by_part_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [PART] = {"part", "Part", TA_TEXT, .read_as = TA_AS_RECORDED_PART,
              .doc = "What the profiler recorded"},
    [COUNT] = {"count", "Count", TA_COUNT, .doc = "Number of records"},
    [COST] = {"cost_ns", "Estimate", TA_NS, .better = TA_LOWER, .read_as = TA_AS_RECORDED_COST,
              .doc = "Host time that recording them took, from the cost per record as measured"},
    [LOW] = {"low_ns", "At least", TA_NS, .better = TA_LOWER, .doc = "Half of the estimate"},
    [HIGH] = {"high_ns", "At most", TA_NS, .better = TA_LOWER, .doc = "Twice the estimate"},
    [SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
               .doc = "Estimate divided by the time span of the host's records"},
    [OPTION] = {"is_option", "Option", TA_FLAG, .read_as = TA_AS_RECORDED_OPTION,
                .doc = "Whether this is optional: the profiler can record without it"},
    [WHAT] = {"what", "Recorded item", TA_SENTENCE, .doc = "What was recorded and counted"},
};

static const struct ta_table_def by_part = {
    "recording.overhead", "Estimated cost of recording", TA_COLUMNS(by_part_columns),
    .doc = "One row per rank and kind of record, if Python stacks, shapes or memory were recorded. "
           "Scalar `recorder_cost_ns`: the sum of the estimates, averaged over ranks. "
           "`recording.explained` says how much of it the device waited for.",
    .tier = TA_TIER_DETAIL};

enum {
    EXPLAINED_RANK,
    EXPLAINED_DEVICE,
    EXPLAINED_KIND,
    EXPLAINED_IDLE,
    EXPLAINED_NS,
    EXPLAINED_LOW,
    EXPLAINED_HIGH,
    EXPLAINED_SHARE
};
static const struct ta_column explained_columns[] = {
    [EXPLAINED_RANK] = TA_RANK_COLUMN,
    [EXPLAINED_DEVICE] = TA_DEVICE_COLUMN,
    [EXPLAINED_KIND] = {"kind", "Host", TA_TEXT, .doc = "What the host did meanwhile"},
    [EXPLAINED_IDLE] = {"idle_ns", "Idle", TA_NS, .better = TA_LOWER,
                        .doc = "Idle time of the device"},
    [EXPLAINED_NS] = {"explained_ns", "Explained", TA_NS, .better = TA_LOWER,
                      .doc = "Idle time that would not exist without recording, estimated"},
    [EXPLAINED_LOW] = {"low_ns", "At least", TA_NS, .better = TA_LOWER,
                       .doc = "Explained idle time at half the cost of recording"},
    [EXPLAINED_HIGH] = {"high_ns", "At most", TA_NS, .better = TA_LOWER,
                        .doc = "Explained idle time at twice the cost of recording"},
    [EXPLAINED_SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
                         .doc = "Explained divided by idle time"},
};

static const struct ta_table_def explained = {
    "recording.explained",
    "Idle time that recording explains",
    TA_COLUMNS(explained_columns),
    .doc = "One row per rank, device and kind of host work, if Python stacks, shapes or memory "
           "were recorded: gaps while the host dispatches work (`dispatch`), is in ranges without "
           "further detail, or loads data; the program's time before the device's first activity "
           "and after its last; and gaps between queued activities, of which recording takes about "
           "1 µs each. Without recording, a launch would come earlier by the time that recording "
           "took on its thread since the last gap; what the host waits for would not. Findings "
           "about the host promise no saving that recording explains.",
    .not_of_ranks = true,
    .tier = TA_TIER_DETAIL};

/* ---- idle time that the cost explains -------------------------------------------------------- */

/* A thread that launches work, on the way through its spans. */
struct thread {
    ta_row next;
    int64_t loading;             /* end of the last span that loads data */
    double lead[TA_COST_BOUNDS]; /* how much earlier it would be */
    bool is_met;
};

struct walk {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_tracks tracks;
    struct ta_activities activities;
    const struct ta_program_window *program;
    struct ta_partial *out;
    double *cost; /* of a span, by category, in ns */
    struct thread *threads;
    int64_t begin; /* of the device: when the call returned that launched its first activity */
    int64_t idle[KINDS];
    double explained[KINDS][TA_COST_BOUNDS];
};

static int64_t end_of(const struct walk *w, ta_row row)
{
    return w->spans.ts[row] + w->spans.dur[row];
}

static double cost_of(const struct walk *w, uint32_t track, int64_t from, int64_t to)
{
    const struct ta_track *rows = &w->tracks.at[track];
    const ta_row end = ta_track_row_from(&w->spans, rows, to);
    double cost = 0;
    for (ta_row row = ta_track_row_from(&w->spans, rows, from); row < end; row++)
        cost += w->cost[w->spans.cat[row]];
    return cost;
}

static void explain(struct walk *w, enum kind kind, int64_t idle, const double cost[TA_COST_BOUNDS])
{
    w->idle[kind] = ta_add_sat(w->idle[kind], idle);
    for (int i = 0; i < TA_COST_BOUNDS; i++)
        w->explained[kind][i] += fmin(cost[i], (double)idle);
}

static void explain_by(struct walk *w, enum kind kind, int64_t idle, double cost)
{
    double bounds[TA_COST_BOUNDS];
    for (int i = 0; i < TA_COST_BOUNDS; i++)
        bounds[i] = ta_cost_factors[i] * cost;
    explain(w, kind, idle, bounds);
}

/* Follows a thread through the spans that begin before `to`; what it costs to load data is
 * returned.  `busy_to`: until then the device was busy. */
static double follow(struct walk *w, struct thread *thread, ta_row end, int64_t busy_to, int64_t to)
{
    double loading = 0;
    for (; thread->next < end && w->spans.ts[thread->next] < to; thread->next++) {
        const ta_row row = thread->next;
        const enum ta_host_work work = w->spans.work[row];
        const double cost = w->cost[w->spans.cat[row]];
        const bool waits = work == TA_HOST_SYNC || work == TA_HOST_COPY;
        if (work == TA_HOST_DATA || work == TA_HOST_COLLECTIVE ||
            (waits && w->spans.ts[row] < busy_to))
            memset(thread->lead, 0, sizeof thread->lead);
        if (work == TA_HOST_DATA)
            thread->loading = ta_max_i64(thread->loading, end_of(w, row));
        if (w->spans.ts[row] < thread->loading) {
            loading += w->spans.ts[row] >= busy_to ? cost : 0;
            continue;
        }
        for (int i = 0; i < TA_COST_BOUNDS; i++)
            thread->lead[i] += ta_cost_factors[i] * cost;
    }
    return loading;
}

static void explain_gap(void *user, const struct ta_idle_gap *gap)
{
    struct walk *w = user;
    const ta_row launch = w->activities.at[gap->next].launch;
    int64_t dispatch = 0, untraced = 0, data = 0, queued = 0;
    for (size_t i = 0; i < gap->parts.n; i++) {
        const struct ta_idle_part *part = &gap->parts.at[i];
        dispatch += ta_idle_causes[part->cause].group == TA_IDLE_GROUP_DISPATCH ? part->ns : 0;
        untraced += part->cause == TA_IDLE_UNTRACED ? part->ns : 0;
        data += part->cause == TA_IDLE_DATA ? part->ns : 0;
        queued += ta_idle_causes[part->cause].group == TA_IDLE_GROUP_QUEUED ? part->ns : 0;
    }
    if (queued > 0)
        explain_by(w, KIND_QUEUED, queued, between_ns);
    if (launch == TA_NO_ROW)
        return;
    const uint32_t track = w->spans.track[launch];
    const ta_row end = w->tracks.at[track].first + w->tracks.at[track].n;
    struct thread *thread = &w->threads[track];
    if (!thread->is_met)
        *thread =
            (struct thread){.next = ta_track_row_from(&w->spans, &w->tracks.at[track], w->begin),
                            .loading = INT64_MIN,
                            .is_met = true};
    const double loading =
        follow(w, thread, end, gap->start, ta_min_i64(gap->end, end_of(w, launch)));
    if (dispatch == 0 && untraced == 0 && data == 0) /* most gaps */
        return;
    double late[TA_COST_BOUNDS], unknown[TA_COST_BOUNDS];
    for (int i = 0; i < TA_COST_BOUNDS; i++) {
        late[i] = fmin(thread->lead[i], (double)dispatch);
        unknown[i] = fmin(thread->lead[i] - late[i], (double)untraced);
        thread->lead[i] -= late[i] + unknown[i];
    }
    explain(w, KIND_DISPATCH, dispatch, late);
    explain(w, KIND_UNTRACED, untraced, unknown);
    explain_by(w, KIND_DATA, data, loading);
}

/* What the host does before the first of the activities [from, to) and after the last. */
static void explain_edges(struct walk *w, size_t from, size_t to)
{
    const ta_row launch = w->activities.at[from].launch;
    const int64_t start = w->spans.ts[w->activities.at[from].span];
    const uint32_t first = w->program->first_track, last = w->program->last_track;
    const uint32_t track = launch == TA_NO_ROW ? first : w->spans.track[launch];
    const int64_t begin = w->program->start, until = ta_min_i64(start, w->begin);
    int64_t end = start;
    double before = 0;
    for (size_t i = from; i < to; i++)
        end = ta_max_i64(end, end_of(w, w->activities.at[i].span));
    if (track != UINT32_MAX)
        before = cost_of(w, track, begin, until);
    if (track != UINT32_MAX && first != UINT32_MAX && first != track) {
        const int64_t begins = w->spans.ts[w->tracks.at[track].first];
        before += cost_of(w, first, begin, ta_min_i64(begins, until));
    }
    if (start > begin)
        explain_by(w, KIND_BEFORE, start - begin, before);
    if (last != UINT32_MAX && w->program->end > end)
        explain_by(w, KIND_AFTER, w->program->end - end, cost_of(w, last, end, w->program->end));
}

static void add_device(struct walk *w, int64_t device)
{
    for (int kind = 0; kind < KINDS; kind++) {
        if (w->idle[kind] == 0)
            continue;
        int64_t *row = TA_PARTIAL_ROW(w->out, ta_key_int(ta_trace_rank(w->trace)),
                                      ta_key_int(device), ta_key_int(kind));
        ta_sum(&row[PART_IDLE], w->idle[kind]);
        for (int i = 0; i < TA_COST_BOUNDS; i++)
            ta_sum(&row[PART_BOUNDS + i], ta_whole(w->explained[kind][i]));
    }
    memset(w->idle, 0, sizeof w->idle);
    memset(w->explained, 0, sizeof w->explained);
}

/* The device begins whose first activity is this one. */
static void begin_device(struct walk *w, size_t from)
{
    const struct ta_activity *first = &w->activities.at[from];
    memset(w->threads, 0, w->tracks.n * sizeof *w->threads);
    w->begin = first->launch == TA_NO_ROW ? w->spans.ts[first->span] : end_of(w, first->launch);
}

/* All gaps of a device have come. */
static void end_device(void *user, int64_t device)
{
    struct walk *w = user;
    size_t from = 0, to = 0;
    for (; from < w->activities.n; from = to) {
        to = ta_device_end(&w->activities, from);
        if (w->activities.at[from].device == device)
            break;
    }
    if (from < w->activities.n)
        explain_edges(w, from, to);
    add_device(w, device);
    if (to < w->activities.n)
        begin_device(w, to);
}

/* `cost` of a span, by category. */
static enum ta_status explain_trace(struct ta_ctx *ctx, const struct ta_trace *trace, double *cost,
                                    struct ta_partial *out)
{
    struct walk w = {.trace = trace,
                     .spans = ta_trace_spans(trace),
                     .tracks = ta_trace_tracks(trace),
                     .activities = ta_trace_activities(trace),
                     .program = ta_program_window(trace),
                     .out = out,
                     .cost = cost};
    const struct ta_idle_watcher watcher = {.user = &w, .gap = explain_gap, .device = end_device};
    if (w.activities.n == 0)
        return TA_OK;
    w.threads = calloc(w.tracks.n + 1, sizeof *w.threads);
    const bool done = w.program && w.threads;
    if (done)
        begin_device(&w, 0);
    const bool walked = done && ta_idle_walk(trace, &watcher);
    free(w.threads);
    return walked ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the threads of a trace");
}

/* ---- counts ---------------------------------------------------------------------------------- */

static enum ta_status explain_costs(struct ta_ctx *ctx, const struct ta_trace *trace,
                                    const int64_t counts[TA_RECORDED_PARTS], struct ta_partial *out)
{
    double *cost = ta_recorded_costs(trace, counts);
    const enum ta_status status = cost
                                      ? explain_trace(ctx, trace, cost, out)
                                      : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the cost of spans");
    free(cost);
    return status;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_categories categories = ta_trace_categories(trace);
    const struct ta_extent *extents = ta_trace_extents(trace);
    struct ta_extent host = TA_EXTENT_EMPTY;
    int64_t counts[TA_RECORDED_PARTS];
    if (!extents || !ta_recorded_counts(trace, counts))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the extent of a trace");
    for (size_t c = 0; c < categories.n; c++)
        if (ta_class_is_host(categories.at[c].class))
            host = ta_extent_join(host, extents[c]);
    if (host.n == 0)
        return TA_OK;
    int64_t *row = TA_PARTIAL_ROW(out[PARTIAL_COUNTS], ta_key_int(ta_trace_rank(trace)));
    ta_sum(&row[FACT_HOST], host.end - host.start);
    for (size_t i = 0; i < TA_RECORDED_PARTS; i++)
        ta_sum(&row[FACT_COUNTS + i], counts[i]);
    return ta_recorded_options(counts) ? explain_costs(ctx, trace, counts, out[PARTIAL_EXPLAINED])
                                       : TA_OK;
}

static const struct ta_scalar_def recorder_cost = {
    "recorder_cost_ns",
    "Cost of recording",
    TA_UNIT_NS,
    TA_LOWER,
    .doc = "Estimated host time that recording takes (stacks, shapes, memory and everything else), "
           "mean over ranks; empty if stacks, shapes and memory were not recorded",
    .read_as = TA_AS_RECORDER_COST};

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    double all = 0;
    const struct ta_partial *counts = merged[PARTIAL_COUNTS], *idle = merged[PARTIAL_EXPLAINED];
    const size_t n = ta_partial_rows(counts);
    for (size_t i = 0; i < n; i++) {
        const int64_t *row = ta_partial_at(counts, i);
        const double most = (double)row[FACT_HOST];
        for (size_t p = 0; p < TA_RECORDED_PARTS && ta_recorded_options(&row[FACT_COUNTS]); p++) {
            const double ns = (double)row[FACT_COUNTS + p] * ta_recorded_parts[p].ns;
            if (ns <= 0)
                continue;
            all += fmin(ns, most);
            TA_ROW(
                out, by_part, [RANK] = ta_int(row[FACT_RANK]),
                [PART] = ta_text(ta_slice_of(ta_recorded_parts[p].name)),
                [COUNT] = ta_int(row[FACT_COUNTS + p]), [COST] = ta_int(ta_whole(fmin(ns, most))),
                [LOW] = ta_int(ta_whole(fmin(ta_cost_factors[TA_COST_LEAST] * ns, most))),
                [HIGH] = ta_int(ta_whole(fmin(ta_cost_factors[TA_COST_MOST] * ns, most))),
                [SHARE] = most > 0 ? ta_num(fmin(ns, most) / most) : ta_null(),
                [OPTION] = ta_bool(ta_recorded_parts[p].is_option),
                [WHAT] = ta_text(ta_slice_of(ta_recorded_parts[p].what)));
        }
    }
    for (size_t i = 0; i < ta_partial_rows(idle); i++) {
        const int64_t *row = ta_partial_at(idle, i), *bounds = &row[PART_BOUNDS];
        TA_ROW(out, explained, [EXPLAINED_RANK] = ta_int(row[PART_RANK]),
               [EXPLAINED_DEVICE] = ta_int(row[PART_DEVICE]),
               [EXPLAINED_KIND] = ta_text(ta_slice_of(kind_names[row[PART_KIND]])),
               [EXPLAINED_IDLE] = ta_int(row[PART_IDLE]),
               [EXPLAINED_NS] = ta_int(bounds[TA_COST_ESTIMATE]),
               [EXPLAINED_LOW] = ta_int(bounds[TA_COST_LEAST]),
               [EXPLAINED_HIGH] = ta_int(bounds[TA_COST_MOST]),
               [EXPLAINED_SHARE] =
                   ta_num((double)bounds[TA_COST_ESTIMATE] / (double)row[PART_IDLE]));
    }
    if (all > 0)
        ta_set_scalar(out, &recorder_cost, ta_int(ta_whole(all / (double)n)));
    return TA_OK;
}

static const char *const samples_op_args[] = {"Input Dims", NULL};

static const struct ta_table_def *const tables[] = {&by_part, &explained, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .samples_op_args = samples_op_args,
                                           .section = "health",
                                           .scalars = &recorder_cost,
                                           .n_scalars = 1,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, recording_overhead, &ops, .title = "Cost of recording",
          .summary = "Host time that recording stacks, shapes and memory takes: "
                     "recording.overhead, recording.explained",
          .version = "2");
