/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that take long because they are the first of their kind. */
#include "model/idle/first_calls.h"

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

static bool is_call(const struct first_calls *calls, ta_row row)
{
    const enum ta_event_class class = class_of(calls, row);
    return class == TA_CLASS_OP || class == TA_CLASS_RUNTIME;
}

/* Marks the names of calls that take long. */
static void find_long(struct first_calls *calls)
{
    for (ta_row row = 0; row < calls->spans.n; row++) {
        if (calls->spans.dur[row] < LONG_NS) /* nearly all */
            continue;
        if (is_call(calls, row) && time_of(calls, row) >= LONG_NS)
            calls->is_long[calls->spans.name[row]] = true;
    }
}

static void add_up(struct first_calls *calls, size_t n_names)
{
    for (size_t i = 0; i < n_names; i++)
        calls->by_name[i].first = INT64_MAX;
    for (ta_row row = 0; row < calls->spans.n; row++) {
        const ta_str name = calls->spans.name[row];
        if (!calls->is_long[name] || !is_call(calls, row))
            continue;
        struct call_times *times = &calls->by_name[name];
        times->first = ta_min_i64(times->first, calls->spans.ts[row]);
        times->count += !continues(calls, row);
        times->total = ta_add_sat(times->total, time_of(calls, row));
    }
}

/* Code that is loaded in a call is for the operator around it. */
static void find_loads(struct first_calls *calls)
{
    const struct ta_spans *const spans = &calls->spans;
    for (ta_row row = 0; (row = ta_host_next(spans, row, TA_HOST_COMPILE)) < spans->n; row++) {
        const ta_row parent = calls->spans.parent[row];
        if (parent == TA_NO_ROW || class_of(calls, row) != TA_CLASS_RUNTIME ||
            class_of(calls, parent) != TA_CLASS_OP)
            continue;
        uint64_t *is_known = ta_map_at(&calls->loads, parent, false);
        if (!is_known || *is_known)
            continue;
        *is_known = true;
        struct call_times *times = &calls->by_name[calls->spans.name[parent]];
        times->n_loading++;
        times->loading = ta_add_sat(times->loading, time_of(calls, parent));
    }
}

/* False without memory. */
static bool find_launches(struct first_calls *calls)
{
    const struct ta_activities activities = ta_trace_activities(calls->trace);
    const size_t n_kernels = ta_trace_kernels(calls->trace).n;
    int64_t *first = malloc((n_kernels + 1) * sizeof *first);
    for (size_t k = 0; first && k < n_kernels; k++)
        first[k] = INT64_MAX;
    for (size_t i = 0; first && i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->launch != TA_NO_ROW && a->kernel != TA_NO_KERNEL)
            first[a->kernel] = ta_min_i64(first[a->kernel], calls->spans.ts[a->launch]);
    }
    for (size_t i = 0; first && i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->launch != TA_NO_ROW && a->kernel != TA_NO_KERNEL &&
            calls->spans.ts[a->launch] == first[a->kernel])
            ta_map_at(&calls->launches, a->launch, true);
    }
    free(first);
    return first != NULL;
}

static bool make(struct first_calls *calls)
{
    const size_t n_names = ta_trace_string_count(calls->trace);
    calls->is_made = true;
    calls->is_long = calloc(n_names + 1, sizeof *calls->is_long);
    calls->by_name = calloc(n_names + 1, sizeof *calls->by_name);
    if (!calls->is_long || !calls->by_name || !find_launches(calls))
        return false;
    find_long(calls);
    add_up(calls, n_names);
    find_loads(calls);
    return !calls->launches.failed && !calls->loads.failed;
}

void first_calls_open(struct first_calls *calls, const struct ta_trace *trace)
{
    *calls = (struct first_calls){
        .trace = trace,
        .spans = ta_trace_spans(trace),
        .categories = ta_trace_categories(trace),
    };
}

bool first_calls_close(struct first_calls *calls)
{
    free(calls->is_long);
    free(calls->by_name);
    ta_map_free(&calls->launches);
    ta_map_free(&calls->loads);
    return !calls->failed;
}

/* Against the mean of `n` calls that took `total`; longer than none is any. */
static bool is_longer(int64_t time, int64_t n, int64_t total)
{
    return n <= 0 || time / TIMES_LONGER >= total / n;
}

/* Libraries that set themselves up call the runtime many times; where one of these calls takes what
 * no other of its name does, it is for the first call of the operator around it. */
static bool sets_operator_up(struct first_calls *calls, ta_row row)
{
    const ta_row parent = calls->spans.parent[row];
    const struct call_times *times = &calls->by_name[calls->spans.name[row]];
    const int64_t time = time_of(calls, row);
    return parent != TA_NO_ROW && class_of(calls, parent) == TA_CLASS_OP &&
           is_longer(time, times->count - 1, times->total - time) &&
           first_calls_has(calls, parent, TA_HOST_OPERATOR);
}

/* What computes nothing itself: an only call that takes long set the device or the library up, or
 * loaded the kernels of compiled code. */
static bool computes_nothing(const struct first_calls *calls, ta_row row)
{
    static const char *const starts[] = {"aten::empty", "Torch-Compiled Region", "triton_"};
    const struct ta_slice name = ta_trace_text(calls->trace, calls->spans.name[row]);
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (ta_slice_starts(name, starts[i]))
            return true;
    return false;
}

bool first_calls_has(struct first_calls *calls, ta_row row, enum ta_host_work work)
{
    if (row == TA_NO_ROW || calls->spans.dur[row] < LONG_NS /* nearly all */ ||
        !is_call(calls, row))
        return false;
    const int64_t time = time_of(calls, row);
    if (time < LONG_NS)
        return false;
    if (!calls->is_made)
        calls->failed = !make(calls);
    if (calls->failed)
        return false;
    if (work == TA_HOST_LAUNCH && ta_map_find(&calls->launches, row))
        return true;
    const struct call_times *times = &calls->by_name[calls->spans.name[row]];
    if (ta_map_find(&calls->loads, row) &&
        is_longer(time, times->count - times->n_loading, times->total - times->loading))
        return true;
    if (work == TA_HOST_CALL && sets_operator_up(calls, row))
        return true;
    if (times->first != start_of(calls, row))
        return false;
    if (times->count == 1)
        return work == TA_HOST_CALL || computes_nothing(calls, row);
    return is_longer(time, times->count - 1, times->total - time);
}
