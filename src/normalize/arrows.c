/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From device activities to what launched them along arrows (flow events), which exporters draw
 * that give calls and activities no common number.
 *
 * An arrow begins where a host span begins and ends where an activity begins: torch_npu draws one
 * from the operator ("async_npu") and CANN one from the call ("HostToDevice"), torch before Kineto
 * from the operator alone ("cpu_to_cuda"). */
#include "normalize/normalize.h"

#include "base/merge_sort.h"
#include "model/backward.h"
#include "traceanalyze/model.h"

#include <stdlib.h>

struct following {
    struct ta_builder *builder;
    ta_row *rows; /* spans by track and start, shorter first */
    size_t n;
    struct ta_map begins; /* flow, by id; counted from 1 */
};

TA_SORT_INLINE int by_place(const void *left, const void *right, const void *user)
{
    const ta_row a = *(const ta_row *)left, b = *(const ta_row *)right;
    const struct span_columns *c = user;
    if (c->track[a] != c->track[b])
        return c->track[a] < c->track[b] ? -1 : 1;
    if (c->ts[a] != c->ts[b])
        return c->ts[a] < c->ts[b] ? -1 : 1;
    if (c->dur[a] != c->dur[b])
        return c->dur[a] < c->dur[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool sort_rows(struct following *f)
{
    struct ta_trace *trace = f->builder->trace;
    f->rows = ta_store_resize(&trace->store, NULL, trace->spans.n + 1, sizeof *f->rows);
    if (!f->rows)
        return false;
    for (size_t row = 0; row < trace->spans.n; row++)
        if (trace->spans.dur[row] >= 0)
            f->rows[f->n++] = (ta_row)row;
    return ta_merge_sort_in(&trace->store, f->rows, f->n, sizeof *f->rows, by_place, &trace->spans);
}

/* Both ends of an arrow have its number; the name may be of what is at its end. */
static bool is_other(const struct following *f, size_t flow)
{
    const struct ta_trace *trace = f->builder->trace;
    return ta_is_backward_flow(ta_trace_text(trace, trace->flows.name[flow]));
}

static bool list_begins(struct following *f)
{
    const struct flow_columns *flows = &f->builder->trace->flows;
    for (size_t i = 0; i < flows->n; i++) {
        if (flows->phase[i] != 's' || is_other(f, i))
            continue;
        uint64_t *begin = ta_map_at(&f->begins, flows->id[i], 0);
        if (!begin)
            return false;
        *begin = i + 1;
    }
    return true;
}

/* The first of the spans that begin where one end of an arrow is; `n` when none does. */
static size_t find_start(const struct following *f, size_t flow)
{
    const struct span_columns *c = &f->builder->trace->spans;
    const uint32_t track = f->builder->trace->flows.track[flow];
    const int64_t ts = f->builder->trace->flows.ts[flow];
    size_t low = 0, high = f->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const ta_row row = f->rows[middle];
        if (c->track[row] < track || (c->track[row] == track && c->ts[row] < ts))
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->n && c->track[f->rows[low]] == track && c->ts[f->rows[low]] == ts ? low : f->n;
}

/* The activity of a span, or NULL; they are in the order of their spans. */
static struct ta_activity *activity_of(struct ta_trace *trace, ta_row span)
{
    size_t low = 0, high = trace->activities.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (trace->activities.at[middle].span < span)
            low = middle + 1;
        else
            high = middle;
    }
    return low < trace->activities.n && trace->activities.at[low].span == span
               ? &trace->activities.at[low]
               : NULL;
}

/* Of the spans that begin together the innermost one that launches, or else computes. */
static void take_begin(const struct following *f, size_t first, struct ta_activity *activity)
{
    const struct ta_trace *trace = f->builder->trace;
    const struct span_columns *c = &trace->spans;
    const ta_row begin = f->rows[first];
    for (size_t i = first; i < f->n; i++) {
        const ta_row row = f->rows[i];
        if (c->track[row] != c->track[begin] || c->ts[row] != c->ts[begin])
            return;
        const enum ta_event_class class = trace->categories.at[c->cat[row]].class;
        if (class == TA_CLASS_RUNTIME)
            activity->launch = row;
        else if (ta_class_is_host(class) && !ta_host_is_step(ta_trace_text(trace, c->name[row])))
            activity->op = row;
        else
            continue;
        return;
    }
}

static void follow(struct following *f, size_t end, size_t begin)
{
    struct ta_trace *trace = f->builder->trace;
    const size_t to = find_start(f, end), from = find_start(f, begin);
    for (size_t i = to; from < f->n && i < f->n; i++) {
        const ta_row row = f->rows[i];
        if (trace->spans.track[row] != trace->spans.track[f->rows[to]] ||
            trace->spans.ts[row] != trace->spans.ts[f->rows[to]])
            return;
        struct ta_activity *activity = activity_of(trace, row);
        if (activity)
            take_begin(f, from, activity);
    }
}

bool ta_follow_arrows(struct ta_builder *builder)
{
    struct following f = {.builder = builder};
    struct ta_trace *trace = builder->trace;
    const struct flow_columns *flows = &trace->flows;
    bool done = sort_rows(&f) && list_begins(&f);
    for (size_t i = 0; done && i < flows->n; i++) {
        const uint64_t *begin =
            flows->phase[i] == 'f' ? ta_map_find(&f.begins, flows->id[i]) : NULL;
        if (begin && !is_other(&f, i))
            follow(&f, i, (size_t)*begin - 1);
    }
    /* Without a call the operator is the nearest that is known of the launch. */
    for (size_t i = 0; done && i < trace->activities.n; i++)
        if (trace->activities.at[i].launch == TA_NO_ROW)
            trace->activities.at[i].launch = trace->activities.at[i].op;
    ta_store_free(&trace->store, f.rows);
    ta_map_free(&f.begins);
    return done && !f.begins.failed;
}
