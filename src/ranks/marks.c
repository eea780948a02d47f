/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps that torch.profiler marks on the host (ProfilerStep#N). */
#include "ranks/map.h"

#include "model/named.h"
#include "traceanalyze/model.h"

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

static uint8_t is_mark(struct ta_slice name)
{
    return number_of(name) >= 0;
}

struct collecting {
    struct marks *marks;
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    bool done;
};

static void collect(void *user, ta_row row, uint8_t kind)
{
    struct collecting *c = user;
    struct marks *const marks = c->marks;
    (void)kind;
    if (!ta_class_is_host(c->categories.at[c->spans.cat[row]].class))
        return;
    c->done = c->done && ta_vec_grow((void **)&marks->at, &marks->max, marks->n, sizeof *marks->at);
    if (!c->done)
        return;
    const int64_t start = c->spans.ts[row];
    marks->at[marks->n++] = (struct mark){start, start + c->spans.dur[row],
                                          number_of(ta_trace_text(c->trace, c->spans.name[row]))};
}

bool marks_open(struct marks *marks, const struct ta_trace *trace)
{
    struct collecting collecting = {.marks = marks,
                                    .trace = trace,
                                    .spans = ta_trace_spans(trace),
                                    .categories = ta_trace_categories(trace),
                                    .done = true};
    const bool done = ta_each_named(trace, is_mark, collect, &collecting);
    if (marks->n)
        qsort(marks->at, marks->n, sizeof *marks->at, by_start);
    return done && collecting.done;
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
