/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a device activity to the runtime call with its correlation id, and to the operator that
 * was open when the call started. */
#include "normalize/normalize.h"

#include <stdlib.h>

static enum ta_event_class class_of(const struct ta_trace *trace, ta_row row)
{
    return trace->categories.at[trace->spans.cat[row]].class;
}

/* Walks the sparse values of an argument beside ascending rows. */
struct cursor {
    const struct arg_column *column;
    size_t at;
};

/* The value at `row`, or TA_MISSING; rows must ascend from call to call. */
static int64_t cursor_value(struct cursor *cursor, ta_row row)
{
    const struct arg_column *c = cursor->column;
    while (c && cursor->at < c->n && c->row[cursor->at] < row)
        cursor->at++;
    if (!c || cursor->at == c->n || c->row[cursor->at] != row || c->is_text[cursor->at])
        return TA_MISSING;
    return c->value[cursor->at];
}

/* Correlation id → earliest runtime call; of calls that start together the first in the file. */
static bool index_calls(const struct ta_trace *trace, const struct arg_column *correlation,
                        struct ta_map *calls)
{
    const struct span_columns *c = &trace->spans;
    for (size_t i = 0; correlation && i < correlation->n; i++) {
        const ta_row row = correlation->row[i];
        if (correlation->is_text[i] || correlation->value[i] <= 0 || c->dur[row] < 0 ||
            class_of(trace, row) != TA_CLASS_RUNTIME)
            continue;
        uint64_t *call = ta_map_at(calls, (uint64_t)correlation->value[i], row);
        if (!call)
            return false;
        if (c->ts[row] < c->ts[*call])
            *call = row;
    }
    return true;
}

/* The number in the text of a pid, or TA_MISSING. */
static int64_t numeric(struct ta_slice text)
{
    int64_t value = 0;
    const size_t minus = text.len && text.ptr[0] == '-';
    if (text.len == minus || text.len > 18)
        return TA_MISSING;
    for (size_t i = minus; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return TA_MISSING;
        value = value * 10 + (text.ptr[i] - '0');
    }
    return minus ? -value : value;
}

bool ta_link_launches(struct ta_builder *builder)
{
    struct ta_trace *trace = builder->trace;
    struct cursor correlation = {ta_trace_arg_column(trace, "correlation"), 0};
    struct cursor device = {ta_trace_arg_column(trace, "device"), 0};
    struct ta_map calls = {0};
    bool done = index_calls(trace, correlation.column, &calls);
    for (size_t row = 0; done && row < trace->spans.n; row++) {
        if (!ta_class_is_device(class_of(trace, (ta_row)row)))
            continue;
        struct ta_activity activity = {.span = (ta_row)row, .launch = TA_NO_ROW, .op = TA_NO_ROW};
        activity.device = cursor_value(&device, (ta_row)row);
        if (activity.device == TA_MISSING) {
            const struct ta_track *track = &trace->tracks.at[trace->spans.track[row]];
            activity.device = numeric(ta_trace_text(trace, track->pid));
        }
        const int64_t id = cursor_value(&correlation, (ta_row)row);
        const uint64_t *call = id > 0 ? ta_map_find(&calls, (uint64_t)id) : NULL;
        if (call)
            activity.launch = (ta_row)*call;
        done = ta_vec_push(&trace->activities, activity);
    }
    ta_map_free(&calls);
    return done;
}

/* ---- launching operators ------------------------------------------------------------------- */

static bool is_operator(const struct ta_trace *trace, ta_row row)
{
    static const char step[] = "ProfilerStep#";
    if (class_of(trace, row) != TA_CLASS_OP)
        return false;
    /* 2021 traces put step markers among the operators. */
    struct ta_slice name = ta_trace_text(trace, trace->spans.name[row]);
    return name.len <= sizeof step - 1 || memcmp(name.ptr, step, sizeof step - 1) != 0;
}

/* For each runtime call of a track the last operator in nesting order that is open when the call
 * starts (start <= t < end).  Operators that start together with a call count as open, so each
 * group of equal starts is pushed before its calls are resolved. */
static void resolve_track(const struct ta_trace *trace, const struct ta_track *track, ta_row *stack,
                          ta_row *op_of)
{
    const struct span_columns *c = &trace->spans;
    const ta_row end = track->first + track->n;
    size_t depth = 0;
    for (ta_row row = track->first; row < end;) {
        const int64_t start = c->ts[row];
        ta_row next = row;
        for (; next < end && c->ts[next] == start; next++)
            if (is_operator(trace, next))
                stack[depth++] = next;
        while (depth && c->ts[stack[depth - 1]] + c->dur[stack[depth - 1]] <= start)
            depth--;
        for (; row < next; row++)
            if (class_of(trace, row) == TA_CLASS_RUNTIME)
                op_of[row] = depth ? stack[depth - 1] : row;
    }
}

bool ta_link_operators(struct ta_trace *trace)
{
    const size_t n = trace->spans.n;
    ta_row *op_of = malloc((n + 1) * sizeof *op_of);
    ta_row *stack = malloc((n + 1) * sizeof *stack);
    const bool done = op_of && stack;
    for (size_t t = 0; done && t < trace->tracks.n; t++)
        resolve_track(trace, &trace->tracks.at[t], stack, op_of);
    for (size_t i = 0; done && i < trace->activities.n; i++) {
        struct ta_activity *activity = &trace->activities.at[i];
        if (activity->launch != TA_NO_ROW)
            activity->op = op_of[activity->launch];
    }
    free(op_of);
    free(stack);
    return done;
}
