/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/program/window.h"

#include "model/busy.h"
#include "model/extent.h"
#include "model/fact.h"
#include "model/program/marker.h"

#include <stdlib.h>
#include <strings.h>

/* What spans of a category show of the program. */
enum sort { SORT_NOTHING, SORT_WORK, SORT_CALL };

struct looking {
    const struct ta_trace *trace;
    struct ta_spans spans;
    uint8_t *sorts;   /* enum sort, by category */
    int64_t from, to; /* what was recorded of the host, where the trace says it */
};

static bool is_named(struct ta_slice name, const char *text)
{
    return name.len == strlen(text) && strncasecmp(name.ptr, text, name.len) == 0;
}

static enum sort sort_of(enum ta_event_class class, struct ta_slice name)
{
    if (class == TA_CLASS_RUNTIME)
        return SORT_CALL;
    const bool is_work =
        class == TA_CLASS_OP || (class == TA_CLASS_HOST && !is_named(name, "python_function") &&
                                 !is_named(name, "overhead"));
    return is_work ? SORT_WORK : SORT_NOTHING;
}

/* The one span of the category "Trace" lasts as long as the profiler recorded. */
static void read_categories(struct looking *l)
{
    const struct ta_categories categories = ta_trace_categories(l->trace);
    for (size_t c = 0; c < categories.n; c++) {
        const struct ta_category *category = &categories.at[c];
        const struct ta_slice name =
            category->name == TA_STR_ABSENT ? TA_LIT("") : ta_trace_text(l->trace, category->name);
        l->sorts[c] = (uint8_t)sort_of(category->class, name);
        if (category->class != TA_CLASS_ANNOTATION || !is_named(name, "Trace"))
            continue;
        const ta_row row = ta_category_next(&l->spans, 0, (ta_cat)c);
        if (row < l->spans.n && l->spans.dur[row] > 0) {
            l->from = l->spans.ts[row];
            l->to = l->from + l->spans.dur[row];
        }
    }
}

static bool is_work(const struct looking *l, ta_row row)
{
    switch ((enum sort)l->sorts[l->spans.cat[row]]) {
    case SORT_WORK:
        return ta_marker_of(ta_trace_text(l->trace, l->spans.name[row])) != TA_MARKS_RECORDER;
    case SORT_CALL:
        return !l->spans.work || l->spans.work[row] == TA_HOST_LAUNCH ||
               l->spans.work[row] == TA_HOST_GRAPH || l->spans.work[row] == TA_HOST_COPY;
    default:
        return false;
    }
}

/* First start and last end of the work of a thread; false without any.  Of its spans the one that
 * begins last ends last, or one that it lies in. */
static bool work_of(const struct looking *l, const struct ta_track *track, int64_t *start,
                    int64_t *end)
{
    ta_row first = track->first, last = track->first + track->n;
    while (first < last && !is_work(l, first))
        first++;
    if (first == last)
        return false;
    while (!is_work(l, --last))
        ;
    *start = ta_max_i64(l->spans.ts[first], l->from);
    *end = INT64_MIN;
    for (ta_row up = last; up != TA_NO_ROW; up = l->spans.parent[up])
        if (is_work(l, up))
            *end = ta_max_i64(*end, l->spans.ts[up] + l->spans.dur[up]);
    *end = ta_min_i64(*end, l->to);
    return *start <= *end;
}

/* First start to last end of all activities; those that take no time are not busy, but count. */
static void find_devices(const struct looking *l, const struct ta_intervals *busy,
                         struct ta_program_window *window)
{
    const struct ta_activities activities = ta_trace_activities(l->trace);
    window->first = busy->n ? busy->at[0].start : INT64_MAX;
    window->last = busy->n ? busy->at[busy->n - 1].end : INT64_MIN;
    for (size_t from = 0, to; from < activities.n; from = to) {
        to = ta_device_end(&activities, from);
        window->first = ta_min_i64(window->first, l->spans.ts[activities.at[from].span]);
        window->last = ta_max_i64(window->last, l->spans.ts[activities.at[to - 1].span]);
    }
}

static void find_window(struct looking *l, const struct ta_intervals *busy,
                        struct ta_program_window *window)
{
    const struct ta_tracks tracks = ta_trace_tracks(l->trace);
    *window = (struct ta_program_window){
        .start = INT64_MAX, .end = INT64_MIN, .first_track = UINT32_MAX, .last_track = UINT32_MAX};
    find_devices(l, busy, window);
    read_categories(l);
    window->from = l->from;
    window->to = l->to;
    for (size_t t = 0; t < tracks.n; t++) {
        int64_t start, end;
        if (!work_of(l, &tracks.at[t], &start, &end))
            continue;
        if (start < window->start)
            window->first_track = (uint32_t)t;
        if (end > window->end)
            window->last_track = (uint32_t)t;
        window->start = ta_min_i64(window->start, start);
        window->end = ta_max_i64(window->end, end);
    }
    window->start = ta_min_i64(window->start, window->first);
    window->end = ta_max_i64(window->end, window->last);
    if (window->start > window->end)
        window->start = window->end = ta_trace_origin(l->trace);
}

static void *make_window(const struct ta_trace *trace)
{
    const struct ta_intervals *busy = ta_trace_busy(trace);
    struct looking l = {.trace = trace,
                        .spans = ta_trace_spans(trace),
                        .sorts = calloc(ta_trace_categories(trace).n + 1, sizeof *l.sorts),
                        .from = INT64_MIN,
                        .to = INT64_MAX};
    struct ta_program_window *window = busy && l.sorts ? calloc(1, sizeof *window) : NULL;
    if (window)
        find_window(&l, busy, window);
    free(l.sorts);
    return window;
}

const struct ta_program_window *ta_program_window(const struct ta_trace *trace)
{
    return ta_trace_fact(trace, TA_FACT_PROGRAM, make_window, free);
}
