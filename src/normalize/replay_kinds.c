/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The replays of a trace, and which of them are of one graph.
 *
 * A replay names neither its graph nor its nodes (new profilers number the nodes): replays of the
 * same kernels with the same launches are taken for replays of one graph. */
#include "normalize/replays.h"

#include "base/hash.h"
#include "model/trace.h"

#include <stdlib.h>

int64_t replay_arg(const struct arg_column *column, ta_row row)
{
    if (!column)
        return 0;
    const struct ta_args args = arg_column_view(column);
    const size_t place = ta_args_place(&args, row);
    return place < args.n ? ta_args_value(&args, place) : 0;
}

bool is_graph_launch(struct ta_slice name)
{
    return memmem(name.ptr ? name.ptr : "", name.len, "GraphLaunch", 11) != NULL;
}

/* Where nodes are numbered their numbers tell the order of the capture, else the time does. */
static int by_replay(const void *left, const void *right, void *user)
{
    const struct mapping *m = user;
    const struct ta_activity *a = &m->trace->activities.at[*(const size_t *)left];
    const struct ta_activity *b = &m->trace->activities.at[*(const size_t *)right];
    const int64_t *ts = m->trace->spans.ts;
    if (a->launch != b->launch)
        return ts[a->launch] != ts[b->launch] ? (ts[a->launch] < ts[b->launch] ? -1 : 1)
               : a->launch < b->launch        ? -1
                                              : 1;
    const int64_t x = replay_arg(m->node_id, a->span), y = replay_arg(m->node_id, b->span);
    if (x != y)
        return x < y ? -1 : 1;
    if (ts[a->span] != ts[b->span])
        return ts[a->span] < ts[b->span] ? -1 : 1;
    return a->span < b->span ? -1 : a->span > b->span;
}

static bool list_replays(struct mapping *m)
{
    const struct ta_trace *trace = m->trace;
    bool *launches = calloc(trace->strings.texts.n, sizeof *launches);
    bool done = launches;
    for (size_t id = 1; done && id < trace->strings.texts.n; id++)
        launches[id] = is_graph_launch(ta_trace_text(trace, (ta_str)id));
    for (size_t i = 0; done && i < trace->activities.n; i++) {
        const ta_row launch = trace->activities.at[i].launch;
        if (launch != TA_NO_ROW && launches[trace->spans.name[launch]])
            done = ta_vec_push(&m->order, i);
    }
    free(launches);
    if (done && m->order.n)
        qsort_r(m->order.at, m->order.n, sizeof *m->order.at, by_replay, m);
    for (size_t i = 0, end; done && i < m->order.n; i = end) {
        for (end = i; end < m->order.n && activity_at(m, end)->launch == activity_at(m, i)->launch;)
            end++;
        done = ta_vec_push(&m->replays, ((struct replay){i, end - i, 0}));
    }
    return done;
}

/* A hash of the kernel of a launch, and of the launch. */
static uint64_t hash_at(const struct mapping *m, size_t place)
{
    const ta_row span = activity_at(m, place)->span;
    uint64_t hash = ta_hash_mix(kernel_name_at(m, place));
    hash = ta_hash_mix(hash ^ (uint64_t)replay_arg(m->grid, span));
    return ta_hash_mix(hash ^ (uint64_t)replay_arg(m->block, span));
}

bool is_same_launch(const struct mapping *m, size_t place, size_t other)
{
    const ta_row a = activity_at(m, place)->span, b = activity_at(m, other)->span;
    return kernel_name_at(m, place) == kernel_name_at(m, other) &&
           replay_arg(m->grid, a) == replay_arg(m->grid, b) &&
           replay_arg(m->block, a) == replay_arg(m->block, b);
}

static uint64_t hash_of(const struct mapping *m, const struct replay *replay)
{
    uint64_t hash = replay->n;
    for (size_t i = replay->first; i < replay->first + replay->n; i++)
        hash = ta_hash_mix(hash ^ hash_at(m, i));
    return hash;
}

/* The product of the numbers in a text such as "[8, 48, 1]". */
double product_of_numbers(struct ta_slice text)
{
    double product = 1, number = 0;
    bool any = false;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        if (c >= '0' && c <= '9') {
            number = number * 10 + (c - '0');
            any = true;
        } else if (any) {
            product *= number;
            number = 0;
            any = false;
        }
    }
    return any ? product * number : product;
}

/* A number for the stream: tools that show graphs in lanes keep it as an argument. */
static int64_t stream_of(const struct mapping *m, ta_row span)
{
    const int64_t stream = replay_arg(m->stream, span);
    return stream ? stream : -1 - (int64_t)m->trace->spans.track[span];
}

static void describe(const struct mapping *m, struct replay_kind *kind)
{
    kind->numbered = true;
    kind->elements = kind->n;
    for (size_t i = kind->first; i < kind->first + kind->n; i++) {
        const ta_row span = activity_at(m, i)->span;
        kind->elements += hash_at(m, i);
        kind->branches |= stream_of(m, span) != stream_of(m, activity_at(m, kind->first)->span);
        kind->numbered &= replay_arg(m->node_id, span) != 0;
        const int64_t grid = replay_arg(m->grid, span), block = replay_arg(m->block, span);
        if (grid && block)
            kind->size += product_of_numbers(ta_trace_text(m->trace, (ta_str)grid)) *
                          product_of_numbers(ta_trace_text(m->trace, (ta_str)block));
    }
}

/* Whether what a replay runs on one stream runs side by side, as branches of its graph do.  A
 * kernel that depends on the one before may begin a little before that ends, but ends after it and
 * begins after what came earlier. */
static bool runs_side_by_side(const struct mapping *m, const struct replay *replay)
{
    const struct span_columns *c = &m->trace->spans;
    int64_t before = INT64_MIN,
            earlier = INT64_MIN; /* ends of the one before, and of all earlier */
    for (size_t i = replay->first; i < replay->first + replay->n; i++) {
        const ta_row span = activity_at(m, i)->span;
        const int64_t start = c->ts[span], end = start + c->dur[span];
        if (start < earlier || end < before ||
            (before != INT64_MIN && before - start > TA_FRONT_END_NS))
            return true;
        earlier = ta_max_i64(earlier, before);
        before = end;
    }
    return false;
}

/* Replays of more kinds than these are left alone. */
enum { KINDS_MOST = 4096 };

static bool find_kinds(struct mapping *m)
{
    struct ta_map known = {0};
    bool done = true;
    size_t kept = 0;
    for (size_t r = 0; done && r < m->replays.n; r++) {
        struct replay replay = m->replays.at[r];
        const uint64_t hash = hash_of(m, &replay);
        if (m->kinds.n == KINDS_MOST && !ta_map_find(&known, hash))
            continue;
        const uint64_t *at = ta_map_at(&known, hash, m->kinds.n);
        if (at && *at == m->kinds.n) {
            struct replay_kind kind = {.first = replay.first, .n = replay.n};
            describe(m, &kind);
            done = ta_vec_push(&m->kinds, kind);
        }
        done &= at != NULL;
        if (!done)
            break;
        struct replay_kind *kind = &m->kinds.at[*at];
        kind->branches |= runs_side_by_side(m, &replay);
        kind->replays++;
        kind->at_edges += r == 0 || r == m->replays.n - 1;
        replay.kind = (uint32_t)*at;
        m->replays.at[kept++] = replay;
    }
    m->replays.n = kept;
    ta_map_free(&known);
    return done;
}

/* Branches of a graph may run one after the other by chance, in any order: what has branches in one
 * order of its kernels has them in all. */
static bool spread_branches(struct mapping *m)
{
    struct ta_map branches = {0}; /* by elements */
    bool done = true;
    for (size_t k = 0; done && k < m->kinds.n; k++) {
        uint64_t *any = ta_map_at(&branches, m->kinds.at[k].elements, 0);
        done = any;
        if (done)
            *any |= m->kinds.at[k].branches;
    }
    for (size_t k = 0; done && k < m->kinds.n; k++)
        m->kinds.at[k].branches = *ta_map_find(&branches, m->kinds.at[k].elements) != 0;
    ta_map_free(&branches);
    return done;
}

bool find_replays(struct mapping *m)
{
    return list_replays(m) && find_kinds(m) && spread_branches(m);
}
