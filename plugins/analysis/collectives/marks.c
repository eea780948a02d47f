/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps that torch.profiler marks on the host (ProfilerStep#N). */
#include "map.h"

#include <traceanalyze/host.h>

/* The number of the step that a name marks, or -1. */
static int32_t number_of(struct ta_slice name)
{
    const int64_t number = ta_host_step_number(name);
    return number < 0 || number > INT32_MAX ? -1 : (int32_t)number;
}

static int by_start(const void *left, const void *right)
{
    const struct mark *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* `is_mark`: by name, a byte each, so that the nearest cache holds it for all spans. */
static bool collect(struct marks *marks, const struct ta_trace *trace, const bool *is_mark)
{
    const struct ta_spans spans = ta_trace_spans(trace);
    const struct ta_categories categories = ta_trace_categories(trace);
    for (ta_row row = 0; row < spans.n; row++) {
        if (!is_mark[spans.name[row]] || !ta_class_is_host(categories.at[spans.cat[row]].class))
            continue;
        if (!coll_grow(&marks->at, &marks->max, marks->n, sizeof *marks->at))
            return false;
        marks->at[marks->n++] = (struct mark){spans.ts[row], spans.ts[row] + spans.dur[row],
                                              number_of(ta_trace_text(trace, spans.name[row]))};
    }
    return true;
}

bool marks_open(struct marks *marks, const struct ta_trace *trace)
{
    const size_t n = ta_trace_string_count(trace);
    bool *is_mark = calloc(n + 1, sizeof *is_mark);
    bool any = false, done = is_mark != NULL;
    for (size_t id = 0; done && id < n; id++)
        any |= is_mark[id] = number_of(ta_trace_text(trace, (ta_str)id)) >= 0;
    if (any)
        done = collect(marks, trace, is_mark);
    if (marks->n)
        qsort(marks->at, marks->n, sizeof *marks->at, by_start);
    free(is_mark);
    return done;
}

int32_t marks_at(const struct marks *marks, int64_t time)
{
    size_t low = 0, high = marks->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (marks->at[middle].start <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && time < marks->at[low - 1].end ? marks->at[low - 1].number : -1;
}
