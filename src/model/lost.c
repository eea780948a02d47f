/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that launched a kernel which was not recorded. */
#include "model/lost.h"

#include "base/vec.h"
#include "model/fact.h"
#include "model/host.h"
#include "model/launched.h"
#include "stat/interval.h"
#include "traceanalyze/model.h"

#include <stdlib.h>

/* What a call is to this search, by its name. */
enum call {
    CALL_UNKNOWN,
    CALL_OTHER,
    CALL_KERNEL,
    CALL_GRAPH,
    CALL_BEGIN_CAPTURE,
    CALL_END_CAPTURE
};

/* A launch of a graph that was recorded. */
struct replay {
    ta_row row;
    ta_str around; /* name of the span around it: steps of a kind replay graphs of a kind */
    int64_t kernels;
};

struct search {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    uint8_t *calls;                     /* enum call by name */
    bool *is_runtime;                   /* by category */
    const struct ta_launched *recorded; /* the calls that have an activity */
    bool any_linked;     /* else nothing says which launch a kernel belongs to */
    bool all_linked;     /* graphs of some profilers name no launch: then it cannot be told */
    int64_t first, last; /* starts of the first and last call whose activity was recorded */
    TA_VEC(struct ta_lost_call) found;
    TA_VEC(struct replay) replays;
};

static bool holds(struct ta_slice name, const char *text)
{
    return memmem(name.ptr, name.len, text, strlen(text)) != NULL;
}

static enum call call_of(struct search *s, ta_row row)
{
    uint8_t *call = &s->calls[s->spans.name[row]];
    if (*call != CALL_UNKNOWN)
        return (enum call) * call;
    const struct ta_slice name = ta_trace_text(s->trace, s->spans.name[row]);
    const enum ta_host_work work = ta_host_classify(TA_CLASS_RUNTIME, TA_LIT(""), name);
    *call = holds(name, "BeginCapture")                             ? CALL_BEGIN_CAPTURE
            : holds(name, "EndCapture")                             ? CALL_END_CAPTURE
            : work == TA_HOST_GRAPH                                 ? CALL_GRAPH
            : work == TA_HOST_LAUNCH && holds(name, "LaunchKernel") ? CALL_KERNEL
                                                                    : CALL_OTHER;
    return (enum call) * call;
}

/* What the driver does for a launch of the runtime is recorded by some profilers as a call of its
 * own within it; the activity is linked to the outer one. */
static bool is_part_of_launch(struct search *s, ta_row row)
{
    const ta_row around = s->spans.parent[row];
    return around != TA_NO_ROW && s->is_runtime[s->spans.cat[around]] &&
           (ta_launched_has(s->recorded, around) || call_of(s, around) == CALL_KERNEL);
}

/* Looks at the calls of the runtime one after the other, of one thread. */
struct thread {
    bool captures;
    int64_t begun; /* the capture */
};

/* Calls between the begin and the end of a capture on one thread launch nothing. */
static bool take_call(struct search *s, struct thread *t, ta_row row, struct ta_lost *lost)
{
    const enum call call = call_of(s, row);
    const int64_t start = s->spans.ts[row], end = start + s->spans.dur[row];
    const bool is_recorded = ta_launched_has(s->recorded, row);
    if (is_recorded) {
        s->first = ta_min_i64(s->first, start);
        s->last = ta_max_i64(s->last, start);
    }
    if (call == CALL_BEGIN_CAPTURE && !t->captures)
        t->begun = start;
    if (call == CALL_END_CAPTURE && t->captures)
        ta_intervals_add(&lost->captures, t->begun, end);
    t->captures = call == CALL_BEGIN_CAPTURE || (t->captures && call != CALL_END_CAPTURE);
    if (t->captures ||
        !((call == CALL_KERNEL && s->any_linked) || (call == CALL_GRAPH && s->all_linked)) ||
        is_part_of_launch(s, row))
        return true;
    lost->calls++;
    lost->graphs += call == CALL_GRAPH;
    const ta_row parent = s->spans.parent[row];
    const ta_str around = parent == TA_NO_ROW ? TA_STR_ABSENT : s->spans.name[parent];
    if (is_recorded)
        return call != CALL_GRAPH ||
               ta_vec_push(&s->replays, ((struct replay){.row = row, .around = around}));
    lost->lost_graphs += call == CALL_GRAPH;
    return ta_vec_push(&s->found, ((struct ta_lost_call){.start = start,
                                                         .end = end,
                                                         .kernels = 1,
                                                         .track = s->spans.track[row],
                                                         .around = around,
                                                         .is_graph = call == CALL_GRAPH}));
}

/* Which spans are calls follows no pattern that a branch could be foretold by, so they are listed,
 * without one, before they are looked at. */
static bool search_track(struct search *s, const struct ta_track *track, struct ta_lost *lost)
{
    enum { AT_ONCE = 256 };
    const ta_row end = track->first + track->n;
    struct thread thread = {false, 0};
    bool done = true;
    for (ta_row row = track->first; done && row < end;) {
        ta_row calls[AT_ONCE];
        size_t n = 0;
        for (ta_row stop = end - row < AT_ONCE ? end : row + AT_ONCE; row < stop; row++) {
            calls[n] = row;
            n += s->is_runtime[s->spans.cat[row]];
        }
        for (size_t i = 0; done && i < n; i++)
            done = take_call(s, &thread, calls[i], lost);
    }
    return done;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static int by_kernels(const void *left, const void *right)
{
    const struct replay *a = left, *b = right;
    if (a->around != b->around)
        return a->around < b->around ? -1 : 1;
    return (a->kernels > b->kernels) - (a->kernels < b->kernels);
}

/* The median of the replays in [from, to), which are in order. */
static int64_t median(const struct replay *replays, size_t from, size_t to)
{
    return replays[from + (to - from) / 2].kernels;
}

/* Kernels that each replay has, then in order of what is around it. */
static bool count_replays(struct search *s)
{
    const struct ta_activities activities = ta_trace_activities(s->trace);
    int64_t *counts = calloc(s->recorded->n + 1, sizeof *counts);
    if (!counts)
        return false;
    for (size_t i = 0; i < activities.n; i++)
        if (activities.at[i].launch != TA_NO_ROW)
            counts[ta_launched_place(s->recorded, activities.at[i].launch)]++;
    for (size_t i = 0; i < s->replays.n; i++)
        s->replays.at[i].kernels = counts[ta_launched_place(s->recorded, s->replays.at[i].row)];
    free(counts);
    if (s->replays.n)
        qsort(s->replays.at, s->replays.n, sizeof *s->replays.at, by_kernels);
    return true;
}

/* A lost replay launched as many kernels as the median of those in a span of the same name, else of
 * all of them; one where none was recorded. */
static bool weigh_replays(struct search *s, struct ta_lost *lost)
{
    if (s->replays.n == 0)
        return true;
    if (!count_replays(s))
        return false;
    int64_t *all = calloc(s->replays.n, sizeof *all);
    if (!all)
        return false;
    for (size_t i = 0; i < s->replays.n; i++)
        all[i] = s->replays.at[i].kernels;
    ta_sort_times(all, s->replays.n);
    for (size_t i = 0; i < lost->n; i++) {
        struct ta_lost_call *call = &lost->at[i];
        size_t from = 0, to = s->replays.n;
        if (!call->is_graph)
            continue;
        while (from < to) {
            const size_t middle = from + (to - from) / 2;
            if (s->replays.at[middle].around < call->around)
                from = middle + 1;
            else
                to = middle;
        }
        for (to = from; to < s->replays.n && s->replays.at[to].around == call->around;)
            to++;
        call->kernels = from < to ? median(s->replays.at, from, to) : all[s->replays.n / 2];
    }
    free(all);
    return true;
}

/* What a lost replay launched may run until the host has waited for a device, or, where it never
 * waits, as long as anything was recorded. */
static void find_unrecorded(const struct search *s, struct ta_lost *lost)
{
    struct ta_intervals waits = {0};
    for (ta_row row = 0;
         s->spans.work && (row = ta_host_next(&s->spans, row, TA_HOST_SYNC)) < s->spans.n; row++)
        ta_intervals_add(&waits, s->spans.ts[row], s->spans.ts[row] + s->spans.dur[row]);
    ta_intervals_unite(&waits);
    const struct ta_activities activities = ta_trace_activities(s->trace);
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < activities.n; i++)
        last = ta_max_i64(last, s->spans.ts[activities.at[i].span]);
    for (size_t i = 0; i < lost->n; i++) {
        if (!lost->at[i].is_graph)
            continue;
        const size_t wait = ta_intervals_behind(&waits, lost->at[i].start);
        ta_intervals_add(&lost->unrecorded, lost->at[i].start,
                         wait < waits.n ? waits.at[wait].end : ta_max_i64(last, lost->at[i].end));
    }
    lost->unrecorded.failed |= waits.failed;
    ta_intervals_free(&waits);
    ta_intervals_unite(&lost->unrecorded);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int by_start(const void *left, const void *right)
{
    const struct ta_lost_call *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->track > b->track) - (a->track < b->track);
}

static bool find(const struct ta_trace *trace, struct ta_lost *lost)
{
    const struct ta_tracks tracks = ta_trace_tracks(trace);
    struct search s = {
        .trace = trace,
        .spans = ta_trace_spans(trace),
        .categories = ta_trace_categories(trace),
        .recorded = ta_trace_launched(trace),
        .first = INT64_MAX,
        .last = INT64_MIN,
    };
    const size_t n_activities = ta_trace_activities(trace).n;
    if (n_activities == 0)
        return true;
    if (!s.recorded)
        return false;
    s.any_linked = s.recorded->n_activities > 0;
    s.all_linked = s.recorded->n_activities == n_activities;
    s.calls = calloc(ta_trace_string_count(trace) + 1, sizeof *s.calls);
    s.is_runtime = calloc(s.categories.n, sizeof *s.is_runtime);
    bool done = s.calls && s.is_runtime;
    for (size_t c = 0; done && c < s.categories.n; c++)
        s.is_runtime[c] = s.categories.at[c].class == TA_CLASS_RUNTIME;
    for (size_t t = 0; done && t < tracks.n; t++)
        done = search_track(&s, &tracks.at[t], lost);
    if (s.found.n)
        qsort(s.found.at, s.found.n, sizeof *s.found.at, by_start);
    lost->at = s.found.at;
    lost->n = s.found.n;
    while ((size_t)lost->head < lost->n && lost->at[lost->head].start < s.first)
        lost->head++;
    while ((size_t)(lost->head + lost->tail) < lost->n &&
           lost->at[lost->n - 1 - (size_t)lost->tail].start > s.last)
        lost->tail++;
    if (lost->lost_graphs) {
        done = done && weigh_replays(&s, lost);
        find_unrecorded(&s, lost);
    }
    for (size_t i = 0; i < lost->n; i++) {
        lost->at[i].before = lost->lost_kernels;
        lost->lost_kernels += lost->at[i].kernels;
    }
    lost->kernels = lost->lost_kernels + lost->calls - (int64_t)lost->n - (int64_t)s.replays.n;
    for (size_t i = 0; i < s.replays.n; i++) /* 0 where none was weighed */
        lost->kernels += ta_max_i64(1, s.replays.at[i].kernels);
    free(s.replays.at);
    ta_intervals_unite(&lost->captures);
    done = done && !lost->captures.failed && !lost->unrecorded.failed;
    free(s.calls);
    free(s.is_runtime);
    return done;
}

static void free_lost(void *at)
{
    struct ta_lost *lost = at;
    free(lost->at);
    ta_intervals_free(&lost->captures);
    ta_intervals_free(&lost->unrecorded);
    free(lost);
}

static void *make_lost(const struct ta_trace *trace)
{
    struct ta_lost *lost = calloc(1, sizeof *lost);
    if (lost && find(trace, lost))
        return lost;
    if (lost)
        free_lost(lost);
    return NULL;
}

const struct ta_lost *ta_trace_lost(const struct ta_trace *trace)
{
    return ta_trace_fact(trace, TA_FACT_LOST, make_lost, free_lost);
}

int64_t ta_lost_kernels(const struct ta_lost *lost, int64_t from, int64_t to)
{
    const size_t first = ta_lost_from(lost, from), end = ta_lost_from(lost, to);
    return (end < lost->n ? lost->at[end].before : lost->lost_kernels) -
           (first < lost->n ? lost->at[first].before : lost->lost_kernels);
}

size_t ta_lost_from(const struct ta_lost *lost, int64_t time)
{
    size_t low = 0, high = lost->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (lost->at[middle].start < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
