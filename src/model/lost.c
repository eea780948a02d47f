/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that launched a kernel which was not recorded. */
#include "model/lost.h"

#include "base/vec.h"
#include "model/fact.h"
#include "model/host.h"
#include "model/launched.h"
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

struct search {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    uint8_t *calls;                     /* enum call by name */
    bool *is_runtime;                   /* by category */
    const struct ta_launched *recorded; /* the calls that have an activity */
    bool all_linked; /* graphs of some profilers name no launch: then it cannot be told */
    int64_t first;   /* start of the first call whose activity was recorded */
    TA_VEC(struct ta_lost_call) found;
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
    if (is_recorded)
        s->first = ta_min_i64(s->first, start);
    if (call == CALL_BEGIN_CAPTURE && !t->captures)
        t->begun = start;
    if (call == CALL_END_CAPTURE && t->captures)
        ta_intervals_add(&lost->captures, t->begun, end);
    t->captures = call == CALL_BEGIN_CAPTURE || (t->captures && call != CALL_END_CAPTURE);
    if (t->captures || !(call == CALL_KERNEL || (call == CALL_GRAPH && s->all_linked)) ||
        is_part_of_launch(s, row))
        return true;
    lost->calls++;
    return is_recorded ||
           ta_vec_push(&s->found, ((struct ta_lost_call){start, end, s->spans.track[row]}));
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
    };
    const size_t n_activities = ta_trace_activities(trace).n;
    if (n_activities == 0)
        return true;
    if (!s.recorded)
        return false;
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
    ta_intervals_unite(&lost->captures);
    done = done && !lost->captures.failed;
    free(s.calls);
    free(s.is_runtime);
    return done;
}

static void free_lost(void *at)
{
    struct ta_lost *lost = at;
    free(lost->at);
    ta_intervals_free(&lost->captures);
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
