/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Follows the launching thread through each step.  Its time is work, except when it waits: the
 * part of a call that waits for the device, or copies, while a device works; a launch that takes
 * long while the device works all along, because its queue is full; and waits for other hosts. */
#include "measure.h"

#include "base/vec.h"
#include "model/busy.h"
#include "model/track_rows.h"
#include "stat/interval.h"

#include <stdlib.h>

struct device_time {
    bool is_met;
    int64_t device, reached, ns; /* the current device, and its end so far */
    int64_t last_launch;         /* end of the latest launch of the step */
};

struct walk {
    const struct ta_trace *trace;
    const struct ta_generation *found;
    const double *cost;
    struct ta_spans spans;
    struct ta_tracks tracks;
    struct ta_activities activities;
    const struct ta_intervals *busy;
    struct measured_step *steps;
    size_t n;
    struct device_time *devices; /* of the steps */
    TA_VEC(struct measured_name) names;
    struct ta_map name_of;
    bool failed;
};

/* ---- steps --------------------------------------------------------------------------------- */

/* From the first launch of a step's calls to the end of the last, if no mark shows its times. */
static void find_launches(struct walk *w, struct measured_step *steps)
{
    for (size_t i = 0; i < w->activities.n; i++) {
        const struct ta_activity *a = &w->activities.at[i];
        const uint32_t call = w->found->call_of ? w->found->call_of[i] : UINT32_MAX;
        if (call == UINT32_MAX || a->launch == TA_NO_ROW ||
            w->found->calls[call].step >= w->found->n_steps)
            continue;
        struct measured_step *step = &steps[w->found->calls[call].step];
        const int64_t start = w->spans.ts[a->launch], end = start + w->spans.dur[a->launch];
        if (w->found->steps[w->found->calls[call].step].time.host_start != TA_MISSING)
            continue;
        if (step->track == UINT32_MAX) {
            *step = (struct measured_step){
                .track = w->spans.track[a->launch], .start = start, .end = end};
        } else if (step->track == w->spans.track[a->launch]) {
            step->start = ta_min_i64(step->start, start);
            step->end = ta_max_i64(step->end, end);
        }
    }
}

static int by_place(const void *left, const void *right)
{
    const struct measured_step *a = left, *b = right;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

static bool list_steps(struct walk *w)
{
    const struct ta_generation *found = w->found;
    w->steps = calloc(found->n_steps + 1, sizeof *w->steps);
    w->devices = calloc(found->n_steps + 1, sizeof *w->devices);
    if (!w->steps || !w->devices)
        return false;
    for (size_t i = 0; i < found->n_steps; i++) {
        const struct ta_generation_step *step = &found->steps[i];
        const bool is_marked = step->time.host_start != TA_MISSING;
        w->steps[i] = (struct measured_step){
            .track = is_marked ? found->calls[step->first_call].track : UINT32_MAX,
            .start = step->time.host_start,
            .end = step->time.host_end};
    }
    find_launches(w, w->steps);
    for (size_t i = 0; i < found->n_steps; i++) {
        const struct ta_generation_step *step = &found->steps[i];
        struct measured_step *at = &w->steps[i], *next = &w->steps[i + 1];
        const bool goes_on = i + 1 < found->n_steps && step[1].image == step->image &&
                             step[1].block == step->block && next->track == at->track &&
                             next->start > at->start;
        at->end = goes_on ? next->start : at->end;
        at->kind = step->kind;
        if (at->track != UINT32_MAX && at->end > at->start)
            w->steps[w->n++] = *at;
    }
    if (w->n)
        qsort(w->steps, w->n, sizeof *w->steps, by_place);
    return true;
}

/* ---- devices ------------------------------------------------------------------------------- */

/* The step in which a thread launches something at a time; SIZE_MAX for none. */
static size_t step_at(const struct walk *w, uint32_t track, int64_t time)
{
    size_t low = 0, high = w->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct measured_step *step = &w->steps[middle];
        if (step->track < track || (step->track == track && step->start <= time))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return SIZE_MAX;
    const struct measured_step *step = &w->steps[low - 1];
    return step->track == track && time < step->end ? low - 1 : SIZE_MAX;
}

/* Activities come by device and start. */
static void add_activity(struct walk *w, const struct ta_activity *a)
{
    const size_t at = step_at(w, w->spans.track[a->launch], w->spans.ts[a->launch]);
    if (at == SIZE_MAX)
        return;
    struct measured_step *step = &w->steps[at];
    struct device_time *device = &w->devices[at];
    const int64_t start = w->spans.ts[a->span], end = start + w->spans.dur[a->span];
    const int64_t launched = w->spans.ts[a->launch] + w->spans.dur[a->launch];
    if (!device->is_met)
        *device = (struct device_time){true, a->device, INT64_MIN, 0, INT64_MIN};
    if (device->device != a->device) {
        device->device = a->device;
        device->reached = INT64_MIN;
        device->ns = 0;
    }
    device->ns += ta_max_i64(0, end - ta_max_i64(start, device->reached));
    device->reached = ta_max_i64(device->reached, end);
    step->device = ta_max_i64(step->device, device->ns);
    if (launched >= device->last_launch) {
        device->last_launch = launched;
        step->ahead = ta_max_i64(0, start - launched);
    }
}

/* ---- the host ------------------------------------------------------------------------------ */

/* A launch takes a few µs; a longer one while the device works waits for the queue. */
enum { LAUNCH_LONG_NS = 100000 };

static bool is_launch(enum ta_host_work work)
{
    return work == TA_HOST_LAUNCH || work == TA_HOST_GRAPH;
}

/* The part of a span, up to `end`, that is waiting. */
static int64_t wait_of(const struct walk *w, ta_row row, int64_t end)
{
    const enum ta_host_work work = w->spans.work[row];
    const int64_t start = w->spans.ts[row];
    const int64_t until = ta_min_i64(end, start + w->spans.dur[row]);
    if (work == TA_HOST_COLLECTIVE)
        return until - start;
    if (work == TA_HOST_SYNC || work == TA_HOST_COPY)
        return ta_intervals_within(w->busy, start, until);
    if (is_launch(work) && until - start > LAUNCH_LONG_NS &&
        ta_intervals_within(w->busy, start, until) == until - start)
        return until - start;
    return 0;
}

static void add_name(struct walk *w, uint32_t kind, ta_str name, int64_t ns, bool is_call)
{
    uint64_t *at = ta_map_at(&w->name_of, (uint64_t)kind << 32 | name, w->names.n);
    if (!at || (*at == w->names.n &&
                !ta_vec_push(&w->names, ((struct measured_name){.kind = kind, .name = name})))) {
        w->failed = true;
        return;
    }
    w->names.at[*at].self = ta_add_sat(w->names.at[*at].self, ns);
    w->names.at[*at].calls += is_call;
}

/* The name of the innermost span that is open at a time, before the next row begins. */
static ta_str open_at(const struct walk *w, const struct measured_step *step, ta_row next)
{
    const ta_row first = w->tracks.at[step->track].first;
    ta_row row = next > first ? next - 1 : TA_NO_ROW;
    while (row != TA_NO_ROW && w->spans.ts[row] + w->spans.dur[row] <= step->start)
        row = w->spans.parent[row];
    return row == TA_NO_ROW ? TA_STR_ABSENT : w->spans.name[row];
}

static void walk_step(struct walk *w, struct measured_step *step)
{
    const struct ta_track *track = &w->tracks.at[step->track];
    const ta_row first = ta_track_row_from(&w->spans, track, step->start);
    const ta_row end = track->first + track->n;
    int64_t waited = INT64_MIN, named = 0;
    for (ta_row row = first; row < end && w->spans.ts[row] < step->end; row++) {
        const int64_t start = w->spans.ts[row];
        const ta_row parent = w->spans.parent[row];
        const int64_t wait = start >= waited ? wait_of(w, row, step->end) : 0;
        if (start < waited) /* within a wait */
            continue;
        if (wait > 0) {
            step->waits += wait;
            waited = ta_min_i64(step->end, start + w->spans.dur[row]);
        }
        const bool in_launch = parent != TA_NO_ROW && is_launch(w->spans.work[parent]);
        const int64_t all =
            waited == INT64_MIN || wait == 0 ? w->spans.self[row] : waited - start - wait;
        const int64_t self = ta_min_i64(all, step->end - start);
        step->launches += is_launch(w->spans.work[row]) && !in_launch;
        step->recorder += w->cost[w->spans.cat[row]];
        add_name(w, step->kind, w->spans.name[row], self, true);
        named += self;
    }
    const int64_t rest = step->end - step->start - step->waits - named;
    if (rest > 0)
        add_name(w, step->kind, open_at(w, step, first), rest, false);
}

static int largest_first(const void *left, const void *right)
{
    const struct measured_name *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

bool measure(const struct ta_trace *trace, const struct ta_generation *found, const double *cost,
             struct measured *out)
{
    struct walk w = {.trace = trace,
                     .found = found,
                     .cost = cost,
                     .spans = ta_trace_spans(trace),
                     .tracks = ta_trace_tracks(trace),
                     .activities = ta_trace_activities(trace),
                     .busy = ta_trace_busy(trace)};
    const bool done = w.busy && list_steps(&w);
    for (size_t i = 0; done && i < w.activities.n; i++)
        if (w.activities.at[i].launch != TA_NO_ROW)
            add_activity(&w, &w.activities.at[i]);
    for (size_t i = 0; done && i < w.n && !w.failed; i++)
        walk_step(&w, &w.steps[i]);
    if (w.names.n)
        qsort(w.names.at, w.names.n, sizeof *w.names.at, largest_first);
    *out = (struct measured){w.steps, w.n, w.names.at, w.names.n};
    const bool is_whole = done && !w.failed && !w.name_of.failed;
    ta_map_free(&w.name_of);
    free(w.devices);
    return is_whole;
}

void measured_free(struct measured *measured)
{
    free(measured->steps);
    free(measured->names);
}
