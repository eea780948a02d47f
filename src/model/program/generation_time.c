/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was launched in the calls, steps and stages of a generation, and how long devices worked on
 * it.  An activity belongs to what is open on the thread of its launch, when it is launched. */
#include "model/program/generation.h"

#include <stdlib.h>

/* Something with a host time, on a thread. */
struct part {
    uint32_t track;
    int64_t start, end;
    struct ta_generation_time *time;
    size_t number;            /* of the call */
    int64_t last;             /* end of its activities so far, where all are of one device, or */
    struct ta_intervals busy; /* of several devices */
};

struct parts {
    struct part *at; /* by thread, then start */
    size_t n;
    size_t recent; /* that was found last */
};

static int by_place(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static bool is_before(const struct part *part, uint32_t track, int64_t time)
{
    return part->track < track || (part->track == track && part->start <= time);
}

/* The part of a thread that began last before a time; NULL without one. */
static struct part *begun(struct parts *parts, uint32_t track, int64_t time)
{
    const struct part *at = parts->at;
    size_t low = parts->recent;
    if (!(low < parts->n && is_before(&at[low], track, time) &&
          (low + 1 == parts->n || !is_before(&at[low + 1], track, time)))) {
        size_t high = parts->n;
        low = 0;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (is_before(&at[middle], track, time))
                low = middle + 1;
            else
                high = middle;
        }
        if (low == 0)
            return NULL;
        parts->recent = --low;
    }
    return at[low].track == track ? &parts->at[low] : NULL;
}

static void add_activity(struct part *part, int64_t start, int64_t end, bool is_kernel,
                         bool has_one_device)
{
    struct ta_generation_time *time = part->time;
    time->activities++;
    time->kernels += is_kernel;
    time->gpu_start = time->activities == 1 ? start : ta_min_i64(time->gpu_start, start);
    time->gpu_end = time->activities == 1 ? end : ta_max_i64(time->gpu_end, end);
    if (!has_one_device) {
        ta_intervals_add(&part->busy, start, end);
        return;
    }
    time->gpu_busy = time->activities == 1 ? 0 : time->gpu_busy;
    time->gpu_busy += ta_max_i64(0, end - ta_max_i64(start, part->last));
    part->last = ta_max_i64(part->last, end);
}

static bool settle(struct parts *parts)
{
    bool done = true;
    for (size_t i = 0; i < parts->n; i++) {
        struct part *part = &parts->at[i];
        done &= !part->busy.failed;
        if (part->busy.n) {
            ta_intervals_unite(&part->busy);
            part->time->gpu_busy = ta_intervals_length(&part->busy);
        }
        ta_intervals_free(&part->busy);
    }
    free(parts->at);
    return done;
}

/* Where it is noted to which part each activity belongs, and after which one it was launched; all
 * may be NULL. */
struct notes {
    uint32_t *call_of, *after;
    size_t *between; /* how many were launched after each part */
};

/* Gives each linked activity to its part. */
static bool give(const struct ta_trace *trace, struct parts *parts, const struct notes *notes)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans s = ta_trace_spans(trace);
    const bool has_one_device = activities.n && ta_device_end(&activities, 0) == activities.n;
    if (parts->n)
        qsort(parts->at, parts->n, sizeof *parts->at, by_place);
    for (size_t i = 0; parts->n && i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->launch == TA_NO_ROW)
            continue;
        const int64_t launched = s.ts[a->launch];
        struct part *part = begun(parts, s.track[a->launch], launched);
        if (!part)
            continue;
        if (launched >= part->end) {
            if (notes->between)
                notes->between[part->number]++;
            if (notes->after)
                notes->after[i] = (uint32_t)part->number;
            continue;
        }
        if (notes->call_of)
            notes->call_of[i] = (uint32_t)part->number;
        add_activity(part, s.ts[a->span], s.ts[a->span] + s.dur[a->span], a->kernel != TA_NO_KERNEL,
                     has_one_device);
    }
    return settle(parts);
}

static void add_part(struct parts *parts, uint32_t track, struct ta_generation_time *time)
{
    time->gpu_start = time->gpu_end = time->gpu_busy = TA_MISSING;
    time->activities = time->kernels = 0;
    parts->at[parts->n] = (struct part){.track = track,
                                        .start = time->host_start,
                                        .end = time->host_end,
                                        .time = time,
                                        .number = parts->n,
                                        .last = INT64_MIN};
    parts->n++;
}

bool generation_time_calls(const struct ta_trace *trace, struct ta_generation *found,
                           size_t *between, uint32_t *after)
{
    const size_t n_activities = ta_trace_activities(trace).n;
    struct parts parts = {.at = calloc(found->n_calls + 1, sizeof *parts.at)};
    found->call_of = malloc((n_activities + 1) * sizeof *found->call_of);
    if (!parts.at || !found->call_of) {
        free(parts.at);
        return false;
    }
    for (size_t i = 0; i < n_activities; i++)
        found->call_of[i] = UINT32_MAX;
    for (size_t i = 0; after && i < n_activities; i++)
        after[i] = UINT32_MAX;
    for (size_t i = 0; i < found->n_calls; i++)
        add_part(&parts, found->calls[i].track, &found->calls[i].time);
    return give(trace, &parts,
                &(struct notes){.call_of = found->call_of, .after = after, .between = between});
}

bool generation_time_parts(const struct ta_trace *trace, struct ta_generation *found)
{
    struct parts steps = {.at = calloc(found->n_steps + 1, sizeof *steps.at)};
    struct parts stages = {.at = calloc(found->n_stages + 1, sizeof *stages.at)};
    if (!steps.at || !stages.at) {
        free(steps.at);
        free(stages.at);
        return false;
    }
    for (size_t i = 0; i < found->n_steps; i++)
        add_part(&steps, found->calls[found->steps[i].first_call].track, &found->steps[i].time);
    for (size_t i = 0; i < found->n_stages; i++)
        add_part(&stages, found->stages[i].track, &found->stages[i].time);
    const bool has_steps = give(trace, &steps, &(struct notes){0});
    return give(trace, &stages, &(struct notes){0}) && has_steps;
}
