/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that take long because they are the first of their kind. */
#include "idle/first_calls.h"

#include <stdlib.h>

enum { LONG_NS = 1000000, TIMES_LONGER = 10 };

static enum ta_event_class class_of(const struct first_calls *calls, ta_row row)
{
    return calls->categories.at[calls->spans.cat[row]].class;
}

/* Calls of the runtime hold nothing but themselves; operators call others. */
static int64_t time_of(const struct first_calls *calls, ta_row row)
{
    return class_of(calls, row) == TA_CLASS_RUNTIME ? calls->spans.dur[row]
                                                    : calls->spans.self[row];
}

/* An operator that hands on to one of its own name, as wrappers of autograd do, is one call. */
static bool continues(const struct first_calls *calls, ta_row row)
{
    const ta_row parent = calls->spans.parent[row];
    return parent != TA_NO_ROW && calls->spans.name[parent] == calls->spans.name[row] &&
           class_of(calls, parent) == class_of(calls, row);
}

static int64_t start_of(const struct first_calls *calls, ta_row row)
{
    while (continues(calls, row))
        row = calls->spans.parent[row];
    return calls->spans.ts[row];
}

/* Returns whether any call takes long. */
static bool add_up(struct first_calls *calls, size_t n_names)
{
    bool any = false;
    for (size_t i = 0; i < n_names; i++)
        calls->by_name[i].first = INT64_MAX;
    for (ta_row row = 0; row < calls->spans.n; row++) {
        const enum ta_event_class class = class_of(calls, row);
        if (class != TA_CLASS_OP && class != TA_CLASS_RUNTIME)
            continue;
        struct call_times *times = &calls->by_name[calls->spans.name[row]];
        const int64_t time = time_of(calls, row);
        times->first = ta_min_i64(times->first, calls->spans.ts[row]);
        times->count += !continues(calls, row);
        times->total = ta_add_sat(times->total, time);
        any |= time >= LONG_NS;
    }
    return any;
}

/* Code that is loaded in a call is for the operator around it. */
static bool find_loads(struct first_calls *calls)
{
    calls->loads = calloc(calls->spans.n + 1, sizeof *calls->loads);
    if (!calls->loads)
        return false;
    for (ta_row row = 0; row < calls->spans.n; row++) {
        const ta_row parent = calls->spans.parent[row];
        if (calls->spans.work[row] == TA_HOST_COMPILE && parent != TA_NO_ROW &&
            class_of(calls, row) == TA_CLASS_RUNTIME && class_of(calls, parent) == TA_CLASS_OP)
            calls->loads[parent] = true;
    }
    for (ta_row row = 0; row < calls->spans.n; row++) {
        if (!calls->loads[row])
            continue;
        struct call_times *times = &calls->by_name[calls->spans.name[row]];
        times->n_loading++;
        times->loading = ta_add_sat(times->loading, time_of(calls, row));
    }
    return true;
}

static bool find_launches(struct first_calls *calls, const struct ta_trace *trace)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const size_t n_kernels = ta_trace_kernels(trace).n;
    calls->by_kernel = malloc((n_kernels + 1) * sizeof *calls->by_kernel);
    calls->is_launch = calloc(calls->spans.n + 1, sizeof *calls->is_launch);
    if (!calls->by_kernel || !calls->is_launch)
        return false;
    for (size_t k = 0; k < n_kernels; k++)
        calls->by_kernel[k] = INT64_MAX;
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->launch != TA_NO_ROW && a->kernel != TA_NO_KERNEL)
            calls->by_kernel[a->kernel] =
                ta_min_i64(calls->by_kernel[a->kernel], calls->spans.ts[a->launch]);
    }
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->launch != TA_NO_ROW && a->kernel != TA_NO_KERNEL &&
            calls->spans.ts[a->launch] == calls->by_kernel[a->kernel])
            calls->is_launch[a->launch] = true;
    }
    return true;
}

bool first_calls_open(struct first_calls *calls, const struct ta_trace *trace)
{
    const size_t n_names = ta_trace_string_count(trace);
    *calls = (struct first_calls){
        .spans = ta_trace_spans(trace),
        .categories = ta_trace_categories(trace),
        .by_name = calloc(n_names + 1, sizeof *calls->by_name),
    };
    if (!calls->by_name)
        return false;
    return !add_up(calls, n_names) || (find_loads(calls) && find_launches(calls, trace));
}

void first_calls_free(struct first_calls *calls)
{
    free(calls->by_name);
    free(calls->by_kernel);
    free(calls->is_launch);
    free(calls->loads);
}

/* Against the mean of `n` calls that took `total`; longer than none is any. */
static bool is_longer(int64_t time, int64_t n, int64_t total)
{
    return n <= 0 || time / TIMES_LONGER >= total / n;
}

/* Libraries that set themselves up call the runtime many times; where one of these calls takes what
 * no other of its name does, it is for the first call of the operator around it. */
static bool sets_operator_up(const struct first_calls *calls, ta_row row)
{
    const ta_row parent = calls->spans.parent[row];
    const struct call_times *times = &calls->by_name[calls->spans.name[row]];
    const int64_t time = time_of(calls, row);
    return parent != TA_NO_ROW && class_of(calls, parent) == TA_CLASS_OP &&
           is_longer(time, times->count - 1, times->total - time) &&
           first_calls_has(calls, parent, TA_HOST_OPERATOR);
}

bool first_calls_has(const struct first_calls *calls, ta_row row, enum ta_host_work work)
{
    if (!calls->is_launch || row == TA_NO_ROW)
        return false;
    const enum ta_event_class class = class_of(calls, row);
    if (class != TA_CLASS_OP && class != TA_CLASS_RUNTIME)
        return false;
    const int64_t time = time_of(calls, row);
    if (time < LONG_NS)
        return false;
    if (work == TA_HOST_LAUNCH && calls->is_launch[row])
        return true;
    const struct call_times *times = &calls->by_name[calls->spans.name[row]];
    if (calls->loads[row] &&
        is_longer(time, times->count - times->n_loading, times->total - times->loading))
        return true;
    if (work == TA_HOST_CALL && sets_operator_up(calls, row))
        return true;
    if (times->first != start_of(calls, row))
        return false;
    if (times->count == 1)
        return work == TA_HOST_CALL;
    return is_longer(time, times->count - 1, times->total - time);
}
