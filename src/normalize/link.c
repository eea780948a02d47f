/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a device activity to the runtime call with its correlation id, and to the operator that
 * was open when the call started. */
#include "model/column.h"
#include "model/range.h"
#include "normalize/calls.h"
#include "normalize/normalize.h"
#include "traceanalyze/model.h"

#include <stdlib.h>

static enum ta_event_class class_of(const struct ta_trace *trace, ta_row row)
{
    return trace->categories.at[trace->spans.cat[row]].class;
}

/* Walks the sparse values of an argument along with ascending rows. */
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
    if (!c || cursor->at == c->n || c->row[cursor->at] != row || arg_column_is_text(c, cursor->at))
        return TA_MISSING;
    return arg_column_value(c, cursor->at);
}

/* Correlation id → earliest runtime call; of calls that start together the first in the file. */
static bool index_calls(const struct ta_trace *trace, const struct arg_column *correlation,
                        struct ta_calls *calls)
{
    bool done = true;
    for (size_t i = 0; done && correlation && i < correlation->n; i++) {
        const ta_row row = correlation->row[i];
        const int64_t id = arg_column_value(correlation, i);
        if (id > 0 && !arg_column_is_text(correlation, i) &&
            class_of(trace, row) == TA_CLASS_RUNTIME && trace->spans.dur[row] >= 0)
            done = ta_calls_put(calls, id, row);
    }
    return done;
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

/* The device of an activity: as an argument says, else the name of the process, else its number. */
static int64_t device_of(const struct ta_builder *builder, struct cursor *device, ta_row row)
{
    const struct ta_trace *trace = builder->trace;
    const int64_t number = cursor_value(device, row);
    if (number != TA_MISSING)
        return number;
    if (builder->track_device && builder->track_device[trace->spans.track[row]] != TA_MISSING)
        return builder->track_device[trace->spans.track[row]];
    const int64_t process =
        numeric(ta_trace_text(trace, trace->tracks.at[trace->spans.track[row]].pid));
    return ta_range_has(TA_RANGE_DEVICE, process) ? process : TA_MISSING;
}

/* Room for all activities at once: what is not used takes no memory, but what is copied when a
 * table grows does. */
static bool reserve_activities(struct ta_trace *trace)
{
    size_t n = 0;
    for (size_t row = 0; row < trace->spans.n; row++)
        n += ta_class_is_device(class_of(trace, (ta_row)row));
    if (n == 0)
        return true;
    trace->activities.at = ta_store_resize(&trace->store, NULL, n, sizeof *trace->activities.at);
    trace->activities.max = trace->activities.at ? n : 0;
    return trace->activities.at != NULL;
}

/* Which tracks have activities of several contexts: what is one stream by its number are several.
 */
static bool find_shared_streams(struct ta_builder *builder)
{
    const struct ta_trace *trace = builder->trace;
    const struct arg_column *context = ta_trace_arg_column(builder->trace, "context");
    uint64_t *first = calloc(trace->tracks.n + 1, sizeof *first); /* plus one */
    builder->shares_stream = calloc(trace->tracks.n + 1, sizeof *builder->shares_stream);
    const bool done = first && builder->shares_stream;
    for (size_t i = 0; done && context && i < context->n; i++) {
        const uint32_t track = trace->spans.track[context->row[i]];
        const uint64_t value = (uint64_t)arg_column_value(context, i) + 1;
        if (!ta_class_is_device(class_of(trace, context->row[i])))
            continue;
        if (first[track] == 0)
            first[track] = value;
        builder->shares_stream[track] |= first[track] != value;
    }
    free(first);
    return done;
}

/* The call with the number of an activity.  Exporters without categories may give one number to
 * several: a call that comes after an activity did not launch it. */
static ta_row launch_of(const struct ta_builder *builder, struct ta_calls *calls, int64_t id,
                        ta_row span)
{
    const ta_row call = id > 0 ? ta_calls_find(calls, id) : TA_NO_ROW;
    const int64_t *ts = builder->trace->spans.ts;
    return call != TA_NO_ROW && builder->track_device && ts[call] > ts[span] ? TA_NO_ROW : call;
}

bool ta_link_launches(struct ta_builder *builder)
{
    struct ta_trace *trace = builder->trace;
    struct cursor correlation = {ta_trace_arg_column(trace, "correlation"), 0};
    struct cursor device = {ta_trace_arg_column(trace, "device"), 0};
    struct ta_calls calls = {.store = &trace->store, .ts = trace->spans.ts};
    const bool done = find_shared_streams(builder) && reserve_activities(trace) &&
                      index_calls(trace, correlation.column, &calls);
    for (ta_row row = 0; done && row < trace->spans.n; row++) {
        if (!ta_class_is_device(class_of(trace, row)))
            continue;
        const int64_t id = cursor_value(&correlation, row);
        trace->activities.at[trace->activities.n++] =
            (struct ta_activity){.span = row,
                                 .launch = launch_of(builder, &calls, id, row),
                                 .op = TA_NO_ROW,
                                 .device = device_of(builder, &device, row)};
    }
    ta_calls_free(&calls);
    return done && (!builder->track_device || ta_follow_arrows(builder));
}

/* ---- launching operators ------------------------------------------------------------------- */

struct open_op {
    int64_t end;
    ta_row row;
};

/* What the search for launching operators holds. */
struct search {
    const struct ta_trace *trace;
    struct ta_store *store;
    bool *is_step;  /* by name: a step marker, which 2021 traces put among the operators */
    bool *launches; /* by track: a call of it launched something */
    ta_row *op_of;  /* by row of a runtime call: the operator, or the call itself */
    TA_VEC(struct open_op) stack;
};

/* For each runtime call of a track the last operator in nesting order that is open when the call
 * starts (start <= t < end).  Operators that start together with a call count as open, so each
 * group of equal starts is pushed before its calls are resolved.  False without memory. */
static bool resolve_track(struct search *s, const struct ta_track *track)
{
    const struct span_columns *c = &s->trace->spans;
    const ta_row end = track->first + track->n;
    s->stack.n = 0;
    for (ta_row row = track->first; row < end;) {
        const int64_t start = c->ts[row];
        ta_row next = row;
        for (; next < end && c->ts[next] == start; next++)
            if (class_of(s->trace, next) == TA_CLASS_OP && !s->is_step[c->name[next]] &&
                !column_push(s->store, &s->stack, (struct open_op){start + c->dur[next], next}))
                return false;
        while (s->stack.n && s->stack.at[s->stack.n - 1].end <= start)
            s->stack.n--;
        for (; row < next; row++)
            if (class_of(s->trace, row) == TA_CLASS_RUNTIME)
                s->op_of[row] = s->stack.n ? s->stack.at[s->stack.n - 1].row : row;
    }
    return true;
}

bool ta_link_operators(struct ta_trace *trace)
{
    struct ta_store *store = &trace->store;
    struct search s = {
        .trace = trace,
        .store = store,
        .is_step = calloc(trace->strings.texts.n, sizeof *s.is_step),
        .launches = calloc(trace->tracks.n + 1, sizeof *s.launches),
        .op_of = ta_store_resize(store, NULL, trace->spans.n + 1, sizeof *s.op_of),
    };
    bool done = s.is_step && s.launches && s.op_of;
    /* Each name and each launch is looked at once, so that the walk over spans need not. */
    for (ta_str id = 0; done && id < trace->strings.texts.n; id++)
        s.is_step[id] = ta_host_is_step(ta_trace_text(trace, id));
    for (size_t i = 0; done && i < trace->activities.n; i++)
        if (trace->activities.at[i].launch != TA_NO_ROW)
            s.launches[trace->spans.track[trace->activities.at[i].launch]] = true;
    for (size_t t = 0; done && t < trace->tracks.n; t++)
        if (s.launches[t])
            done = resolve_track(&s, &trace->tracks.at[t]);
    for (size_t i = 0; done && i < trace->activities.n; i++) {
        struct ta_activity *activity = &trace->activities.at[i];
        if (activity->launch != TA_NO_ROW && activity->op == TA_NO_ROW)
            activity->op = s.op_of[activity->launch];
    }
    free(s.is_step);
    free(s.launches);
    ta_store_free(store, s.op_of);
    ta_store_free(store, s.stack.at);
    return done;
}
