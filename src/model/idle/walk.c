/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk over the activities of each device: its gaps. */
#include "model/busy.h"
#include "model/damage.h"
#include "model/extent.h"
#include "model/fact.h"
#include "model/idle/host_time.h"
#include "model/lost.h"
#include "model/program/window.h"
#include "stat/interval.h"

#include <stdlib.h>
#include <strings.h>

const struct ta_idle_cause_info ta_idle_causes[TA_IDLE_CAUSES] = {
    [TA_IDLE_OPERATOR] = {"operator dispatch", TA_IDLE_GROUP_DISPATCH, "launch"},
    [TA_IDLE_PYTHON] = {"python", TA_IDLE_GROUP_DISPATCH, "launch"},
    [TA_IDLE_LAUNCH_CALLS] = {"launch calls", TA_IDLE_GROUP_DISPATCH, "launch"},
    [TA_IDLE_CALLS] = {"runtime calls", TA_IDLE_GROUP_DISPATCH, "launch"},
    [TA_IDLE_UNTRACED] = {"host untraced", TA_IDLE_GROUP_HOST, "host"},
    [TA_IDLE_SYNC] = {"synchronization", TA_IDLE_GROUP_SYNC, "sync"},
    [TA_IDLE_COPY] = {"blocking copy", TA_IDLE_GROUP_SYNC, "sync"},
    [TA_IDLE_ALLOCATE] = {"memory allocation", TA_IDLE_GROUP_SETUP, "allocation"},
    [TA_IDLE_COMPILE] = {"compilation", TA_IDLE_GROUP_SETUP, "setup"},
    [TA_IDLE_FIRST_CALL] = {"first call", TA_IDLE_GROUP_SETUP, "setup"},
    [TA_IDLE_DATA] = {"data loading", TA_IDLE_GROUP_INPUT, "input"},
    [TA_IDLE_COLLECTIVE] = {"host collective", TA_IDLE_GROUP_INPUT, "input"},
    [TA_IDLE_PROFILER] = {"profiler", TA_IDLE_GROUP_UNKNOWN, "idle"},
    [TA_IDLE_LATENCY] = {"launch latency", TA_IDLE_GROUP_LATENCY, "launch"},
    [TA_IDLE_LATE_START] = {"late start", TA_IDLE_GROUP_UNKNOWN, "idle"},
    [TA_IDLE_GRAPH] = {"within a graph", TA_IDLE_GROUP_QUEUED, "dependency"},
    [TA_IDLE_FRONT_END] = {"queued, same stream", TA_IDLE_GROUP_QUEUED, "dependency"},
    [TA_IDLE_DEPENDENCY] = {"queued, dependency", TA_IDLE_GROUP_QUEUED, "dependency"},
    [TA_IDLE_MICRO] = {"micro gap", TA_IDLE_GROUP_QUEUED, "dependency"},
    [TA_IDLE_UNLINKED] = {"launch not recorded", TA_IDLE_GROUP_UNKNOWN, "idle"},
    [TA_IDLE_LOST] = {"kernels not recorded", TA_IDLE_GROUP_UNKNOWN, "idle"},
    [TA_IDLE_DISORDER] = {"out of order", TA_IDLE_GROUP_UNKNOWN, "idle"},
    [TA_IDLE_BEFORE] = {"began before the recording", TA_IDLE_GROUP_UNKNOWN,
                        "before the recording"},
    [TA_IDLE_COMPUTE] = {"host computation", TA_IDLE_GROUP_COMPUTE, "host computation"},
};

const struct ta_idle_cause_info *ta_idle_cause_find(struct ta_slice name)
{
    for (size_t i = 0; i < TA_IDLE_CAUSES; i++)
        if (ta_slice_equal(name, ta_slice_of(ta_idle_causes[i].name)))
            return &ta_idle_causes[i];
    return NULL;
}

struct walk {
    struct host_time host;
    struct idle_waits waits;
    struct ta_activities activities;
    struct ta_spans spans;
    const struct ta_lost *lost;
    const struct ta_damage *damage;
    struct ta_intervals unknown; /* when more than was recorded may have run */
    int64_t first_call;          /* start of the first call of the runtime; INT64_MIN without one */
    int64_t first_wait;          /* end of the first wait of the host for a device; INT64_MAX */
    uint8_t *met;                /* by track: an activity of the stream came already */
    bool begins_stream;          /* the next activity is the first of its stream */
    bool has_one_device;
    const struct ta_intervals *busy; /* where there are several devices */
    const struct ta_program_window *program;
    struct idle_record *record, *edges;
};

static int64_t end_of(const struct walk *w, ta_row row)
{
    return w->spans.ts[row] + w->spans.dur[row];
}

/* An activity began long after it could.  Work that was launched before the recording leaves no
 * activity, and may hold up the first activity of each stream, until the host has waited for a
 * device. */
static enum ta_idle_cause late_cause(const struct walk *w, ta_row launch)
{
    return w->begins_stream && w->spans.ts[launch] < w->first_wait ? TA_IDLE_BEFORE
                                                                   : TA_IDLE_LATE_START;
}

/* Work that was in the queue before the gap [a, b) began.  `before` ended last. */
static enum ta_idle_cause queued_cause(const struct walk *w, const struct ta_activity *next,
                                       const struct ta_activity *before, int64_t a, int64_t b)
{
    if (next->launch == before->launch && w->host.work[next->launch] == TA_HOST_GRAPH)
        return TA_IDLE_GRAPH;
    const bool same_stream = w->spans.track[next->span] == w->spans.track[before->span];
    if (same_stream && b - a <= TA_FRONT_END_NS)
        return TA_IDLE_FRONT_END;
    /* Nothing runs anywhere that it could depend on. */
    const bool waits = b - a <= TA_IDLE_LATENCY_NS ||
                       (!w->has_one_device && ta_intervals_within(w->busy, a, b) > 0);
    return waits ? TA_IDLE_DEPENDENCY : late_cause(w, next->launch);
}

/* A gap between two activities may be where a kernel ran that the trace has lost: then there is a
 * launch without a kernel between the launches of the two.  The first such launch; with several
 * devices only of the thread that launched the second activity.  NULL when there is none. */
static const struct ta_lost_call *lost_between(const struct walk *w, int64_t from, ta_row launch)
{
    for (size_t i = ta_lost_from(w->lost, from);
         i < w->lost->n && w->lost->at[i].start < w->spans.ts[launch]; i++)
        if (w->has_one_device || w->lost->at[i].track == w->spans.track[launch])
            return &w->lost->at[i];
    return NULL;
}

/* The next activity was launched in the gap [a, b), the one before by the call `before`. */
static void blame_host(struct walk *w, ta_row launch, ta_row before, int64_t a, int64_t b)
{
    w->host.other = before == TA_NO_ROW ? UINT32_MAX : w->spans.track[before];
    const int64_t late = ta_max_i64(a, ta_min_i64(w->spans.ts[launch], b));
    const int64_t called = ta_min_i64(end_of(w, launch), b);
    if (late > a)
        host_time_blame(&w->host, launch, a, late);
    w->host.track = w->spans.track[launch];
    if (called > late)
        host_time_within(&w->host, launch, late, called);
    if (b - called > TA_IDLE_LATENCY_NS)
        host_time_piece(&w->host, late_cause(w, launch), b - called, launch);
    else if (b > called)
        host_time_late(&w->host, TA_IDLE_LATENCY, called, b - called, launch);
}

/* A kernel of which only the launch is known ran in the gap [a, b), or may have. */
static void blame_lost(struct walk *w, const struct ta_lost_call *lost, ta_row launch, int64_t a,
                       int64_t b)
{
    const int64_t known = ta_max_i64(a, ta_min_i64(lost->end, ta_min_i64(w->spans.ts[launch], b)));
    w->host.other = UINT32_MAX;
    if (known > a)
        host_time_blame(&w->host, launch, a, known);
    if (b > known)
        host_time_piece(&w->host, TA_IDLE_LOST, b - known, TA_NO_ROW);
}

static void blame(struct walk *w, const struct ta_activity *next, const struct ta_activity *before,
                  int64_t a, int64_t b)
{
    const ta_row launch = next->launch;
    if (launch == TA_NO_ROW) {
        host_time_piece(&w->host, b <= w->first_call ? TA_IDLE_BEFORE : TA_IDLE_UNLINKED, b - a,
                        TA_NO_ROW);
        return;
    }
    const int64_t from = before->launch == TA_NO_ROW ? a : w->spans.ts[before->launch];
    const struct ta_lost_call *lost = w->lost->n ? lost_between(w, from, launch) : NULL;
    if (lost)
        blame_lost(w, lost, launch, a, b);
    else if (end_of(w, launch) > a || w->spans.ts[launch] >= a)
        blame_host(w, launch, before->launch, a, b);
    else
        host_time_piece(&w->host, queued_cause(w, next, before, a, b), b - a, next->span);
}

/* What is known of a gap: nothing while activities without a time, out of order, or of a replay
 * that was not recorded may have run. */
static void blame_known(struct walk *w, const struct ta_activity *next,
                        const struct ta_activity *before, int64_t a, int64_t b)
{
    for (size_t i = w->unknown.n ? ta_intervals_behind(&w->unknown, a) : 0;
         i < w->unknown.n && w->unknown.at[i].start < b; i++) {
        const int64_t from = ta_max_i64(a, w->unknown.at[i].start);
        const int64_t to = ta_min_i64(b, w->unknown.at[i].end);
        const int64_t disorder = ta_intervals_within(&w->damage->disordered, from, to);
        if (from > a)
            blame(w, next, before, a, from);
        if (disorder)
            host_time_piece(&w->host, TA_IDLE_DISORDER, disorder, TA_NO_ROW);
        if (disorder < to - from)
            host_time_piece(&w->host, TA_IDLE_LOST, to - from - disorder, TA_NO_ROW);
        a = to;
    }
    if (b > a)
        blame(w, next, before, a, b);
}

/* ---- before the first activity and after the last ------------------------------------------- */

/* What a thread did in [from, to); where it has no spans yet, the one that begins the program. */
static void blame_thread(struct walk *w, uint32_t number, ta_row last, int64_t from, int64_t to)
{
    const struct ta_tracks tracks = ta_trace_tracks(w->host.trace);
    const uint32_t first = w->program->first_track;
    const int64_t begins = w->spans.ts[tracks.at[number].first];
    const int64_t until = ta_min_i64(begins, to);
    w->host.other = UINT32_MAX;
    if (first != UINT32_MAX && first != number && from < until) {
        host_time_of(&w->host, first, tracks.at[first].first + tracks.at[first].n, from, until);
        from = until;
    }
    if (from < to)
        host_time_of(&w->host, number, last, from, to);
}

static void blame_before(struct walk *w, const struct ta_activity *next, int64_t a, int64_t b)
{
    const struct ta_tracks tracks = ta_trace_tracks(w->host.trace);
    const ta_row launch = next->launch;
    const uint32_t first = w->program->first_track;
    if (launch == TA_NO_ROW && first == UINT32_MAX) {
        host_time_piece(&w->host, TA_IDLE_UNLINKED, b - a, TA_NO_ROW);
    } else if (launch == TA_NO_ROW) {
        blame_thread(w, first, tracks.at[first].first + tracks.at[first].n, a, b);
    } else {
        const int64_t late = ta_max_i64(a, ta_min_i64(w->spans.ts[launch], b));
        if (late > a)
            blame_thread(w, w->spans.track[launch], launch, a, late);
        if (b > late)
            blame_host(w, launch, TA_NO_ROW, late, b);
    }
}

static void blame_after(struct walk *w, const struct ta_activity *next, int64_t a, int64_t b)
{
    const struct ta_tracks tracks = ta_trace_tracks(w->host.trace);
    const uint32_t last = w->program->last_track;
    (void)next;
    if (last != UINT32_MAX)
        blame_thread(w, last, tracks.at[last].first + tracks.at[last].n, a, b);
    else
        host_time_piece(&w->host, TA_IDLE_UNLINKED, b - a, TA_NO_ROW);
}

/* What is known of [a, b) around the activities: nothing from a launch on whose kernel was not
 * recorded, nor while more than was recorded may have run. */
static void blame_edge(struct walk *w, const struct ta_activity *next, int64_t a, int64_t b,
                       void (*blame_part)(struct walk *, const struct ta_activity *, int64_t,
                                          int64_t))
{
    const size_t lost = ta_lost_from(w->lost, a);
    const int64_t known = lost < w->lost->n && w->lost->at[lost].start < b
                              ? ta_max_i64(a, ta_min_i64(w->lost->at[lost].end, b))
                              : b;
    idle_record_gap(w->edges);
    for (size_t i = a < known && w->unknown.n ? ta_intervals_behind(&w->unknown, a) : 0;
         i < w->unknown.n && w->unknown.at[i].start < known; i++) {
        const int64_t from = ta_max_i64(a, w->unknown.at[i].start);
        const int64_t to = ta_min_i64(known, w->unknown.at[i].end);
        if (from > a)
            blame_part(w, next, a, from);
        if (to > from)
            host_time_piece(&w->host, TA_IDLE_LOST, to - from, TA_NO_ROW);
        a = ta_max_i64(a, to);
    }
    if (known > a)
        blame_part(w, next, a, known);
    if (b > ta_max_i64(a, known))
        host_time_piece(&w->host, TA_IDLE_LOST, b - ta_max_i64(a, known), TA_NO_ROW);
}

/* The device works in [first, last); the first activity is `next`. */
static void record_edges(struct walk *w, const struct ta_activity *next, int64_t first,
                         int64_t last)
{
    w->host.record = w->edges;
    w->host.waits = NULL;
    w->begins_stream = true;
    blame_edge(w, next, w->program->start, first, blame_before);
    blame_edge(w, next, last, w->program->end, blame_after);
    w->host.record = w->record;
}

/* The activities [from, to) are on one device. */
static void walk_device(struct walk *w, size_t from, size_t to)
{
    const struct ta_activity *before = &w->activities.at[from];
    int64_t last = w->spans.ts[before->span];
    idle_waits_restart(&w->waits);
    w->host.waits = &w->waits;
    for (size_t i = from; i < to; i++) {
        const struct ta_activity *a = &w->activities.at[i];
        const int64_t start = w->spans.ts[a->span], end = start + w->spans.dur[a->span];
        uint8_t *met = &w->met[w->spans.track[a->span]];
        w->begins_stream = !*met;
        *met = true;
        const bool is_late = start - last >= TA_IDLE_MICRO_NS;
        if (is_late) {
            idle_record_gap(w->record);
            blame_known(w, a, before, last, start);
        }
        idle_waits_launched(&w->waits, a->launch,
                            is_late || a->launch == TA_NO_ROW ? 0 : start - end_of(w, a->launch));
        if (i == from || end > last) {
            last = end;
            before = a;
        }
    }
    record_edges(w, &w->activities.at[from], w->spans.ts[w->activities.at[from].span], last);
}

/* What was launched before it began before the recording. */
static int64_t find_first_call(const struct ta_trace *trace)
{
    const struct ta_categories categories = ta_trace_categories(trace);
    const struct ta_extent *extents = ta_trace_extents(trace);
    struct ta_extent calls = TA_EXTENT_EMPTY;
    for (size_t c = 0; extents && c < categories.n; c++)
        if (categories.at[c].class == TA_CLASS_RUNTIME)
            calls = ta_extent_join(calls, extents[c]);
    return calls.n ? calls.start : INT64_MIN;
}

/* cudaDeviceSynchronize, hipDeviceSynchronize, cuCtxSynchronize.  Who waits for one stream, or for
 * an event, knows nothing of the others. */
static bool waits_for_device(struct ta_slice name)
{
    static const char *const words[] = {"devicesynchr", "ctxsynchr", "synchronizedevice"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        for (size_t i = 0; i + strlen(words[k]) <= name.len; i++)
            if (strncasecmp(ta_slice_at(name, i), words[k], strlen(words[k])) == 0)
                return true;
    return false;
}

/* End of the first wait for a whole device; INT64_MAX without one. */
static int64_t find_first_wait(const struct ta_trace *trace)
{
    const struct ta_spans spans = ta_trace_spans(trace);
    int64_t first = INT64_MAX;
    for (ta_row row = 0; spans.work && (row = ta_host_next(&spans, row, TA_HOST_SYNC)) < spans.n;
         row++)
        if (spans.ts[row] + spans.dur[row] < first &&
            waits_for_device(ta_trace_text(trace, spans.name[row])))
            first = spans.ts[row] + spans.dur[row];
    return first;
}

/* The first launch that was recorded, with its work or without. */
static int64_t find_first_launch(const struct walk *w)
{
    int64_t first = w->lost->n ? w->lost->at[0].start : INT64_MAX;
    for (size_t i = 0; i < w->activities.n; i++)
        if (w->activities.at[i].launch != TA_NO_ROW)
            first = ta_min_i64(first, w->spans.ts[w->activities.at[i].launch]);
    return first;
}

/* Walks over the activities of each device, which stand together. */
static bool find_gaps(const struct ta_trace *trace, struct idle_record *record,
                      struct idle_record *edges)
{
    struct walk w = {.activities = ta_trace_activities(trace),
                     .spans = ta_trace_spans(trace),
                     .program = ta_program_window(trace),
                     .record = record,
                     .edges = edges};
    const size_t n = w.activities.n;
    w.has_one_device = n && w.activities.at[0].device == w.activities.at[n - 1].device;
    w.busy = w.has_one_device ? NULL : ta_trace_busy(trace);
    w.lost = ta_trace_lost(trace);
    w.first_call = find_first_call(trace);
    w.first_wait = find_first_wait(trace);
    w.met = calloc(ta_trace_tracks(trace).n + 1, sizeof *w.met);
    w.damage = ta_trace_damage(trace);
    idle_waits_open(&w.waits, trace);
    bool done = host_time_open(&w.host, trace, record) && w.lost && w.program && w.met;
    if (done) {
        host_time_loads(&w.host, &w.lost->captures);
        w.waits.first_launch = w.host.first_launch = find_first_launch(&w);
        w.host.busy = w.busy;
        ta_intervals_join(&w.unknown, &w.lost->unrecorded);
        ta_intervals_join(&w.unknown, &w.damage->unknown);
        ta_intervals_join(&w.unknown, &w.damage->disordered);
    }
    done = done && (w.has_one_device || w.busy) && !w.host.loading.failed && !w.unknown.failed;
    for (size_t from = 0, to; done && from < w.activities.n; from = to) {
        to = ta_device_end(&w.activities, from);
        walk_device(&w, from, to);
    }
    free(w.met);
    ta_intervals_free(&w.unknown);
    done &= host_time_close(&w.host) && !w.waits.failed;
    idle_waits_close(&w.waits);
    idle_record_fit(record);
    idle_record_fit(edges);
    return done && !record->failed && !edges->failed;
}

/* What the walk found. */
struct found {
    struct idle_record gaps, edges;
};

static void free_found(void *at)
{
    struct found *found = at;
    idle_record_free(&found->gaps);
    idle_record_free(&found->edges);
    free(found);
}

static void *make_found(const struct ta_trace *trace)
{
    struct found *found = calloc(1, sizeof *found);
    if (found)
        found->edges.names = ta_trace_spans(trace).name;
    if (found && find_gaps(trace, &found->gaps, &found->edges))
        return found;
    if (found)
        free_found(found);
    return NULL;
}

static const struct found *found_of(const struct ta_trace *trace)
{
    return ta_trace_fact(trace, TA_FACT_GAPS, make_found, free_found);
}

bool ta_idle_walk(const struct ta_trace *trace, const struct ta_idle_watcher *watcher)
{
    const struct found *found = found_of(trace);
    if (found)
        idle_record_tell(&found->gaps, trace, watcher);
    return found != NULL;
}

bool ta_idle_edges(const struct ta_trace *trace, void *user,
                   void (*take)(void *user, const struct ta_idle_edge_part *part))
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct found *found = found_of(trace);
    if (!found)
        return false;
    const struct idle_record *edges = &found->edges;
    size_t gap = 0, at = 0;
    for (size_t from = 0; from < activities.n; from = ta_device_end(&activities, from))
        for (int edge = TA_EDGE_BEFORE; edge < TA_EDGES; edge++, gap++)
            for (uint32_t n = edges->n_pieces[gap]; n > 0; n--, at++)
                take(user, &(struct ta_idle_edge_part){
                               .device = activities.at[from].device,
                               .edge = (enum ta_idle_edge)edge,
                               .cause = (enum ta_idle_cause)edges->cause[at],
                               .ns = edges->ns[at],
                               .times = edges->times[at],
                               .place = edges->place[at],
                           });
    return true;
}
