/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Begin and end events become spans. */
#include "normalize/normalize.h"

#include "base/merge_sort.h"
#include "model/column.h"

#include <inttypes.h>

TA_SORT_INLINE int by_time(const void *left, const void *right, const void *user)
{
    const struct pair_edge *a = left, *b = right;
    (void)user;
    if (a->ts != b->ts)
        return a->ts < b->ts ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Edges take more than the spans that they make, and are not asked for again. */
static void drop_edges(struct ta_store *store, struct pair_edge **edges, size_t *n)
{
    ta_store_free(store, *edges);
    *edges = NULL;
    *n = 0;
}

static void finish_span(struct ta_builder *builder, const struct pair_edge *begin,
                        const struct pair_edge *end)
{
    const int64_t dur = end->ts - begin->ts;
    if (end->name != TA_STR_ABSENT && end->name != begin->name)
        ta_quality_add(builder->quality, TA_Q_CROSSED_PAIR, end->offset,
                       "An end event names another span than the one it closes, at byte offset "
                       "%" PRIu64,
                       end->offset);
    if (dur > TA_SPAN_LONGEST)
        ta_quality_add(builder->quality, TA_Q_BAD_DURATION, begin->offset,
                       "A span of %" PRId64 " ns has an unset time, at byte offset %" PRIu64, dur,
                       begin->offset);
    else
        builder->trace->spans.dur[begin->row] = dur;
}

bool ta_pair_spans(struct ta_builder *builder)
{
    struct ta_store *store = &builder->trace->store;
    struct pair_edge *edges = builder->edges.at;
    const size_t n = builder->edges.n;
    if (n == 0)
        return true;
    /* Open begins of each track as a linked stack: top[track] and below[edge], plus one. */
    uint32_t *top = calloc(builder->trace->tracks.n, sizeof *top);
    uint32_t *below = ta_store_resize(store, NULL, n, sizeof *below);
    bool done = top && below && ta_merge_sort_in(store, edges, n, sizeof *edges, by_time, NULL);
    for (size_t i = 0; done && i < n; i++) {
        uint32_t *open = &top[edges[i].track];
        if (edges[i].row != TA_NO_ROW) {
            below[i] = *open;
            *open = (uint32_t)i + 1;
        } else if (*open) {
            const uint32_t begin = *open - 1;
            *open = below[begin];
            finish_span(builder, &edges[begin], &edges[i]);
        } else {
            ta_quality_add(builder->quality, TA_Q_UNMATCHED_END, edges[i].offset,
                           "An end event has no begin, at byte offset %" PRIu64, edges[i].offset);
            builder->kept--;
            builder->dropped++;
        }
    }
    for (size_t t = 0; done && t < builder->trace->tracks.n; t++)
        for (uint32_t open = top[t]; open; open = below[open - 1])
            ta_quality_add(builder->quality, TA_Q_UNFINISHED, edges[open - 1].offset,
                           "A begin event has no end, at byte offset %" PRIu64,
                           edges[open - 1].offset);
    free(top);
    ta_store_free(store, below);
    if (done)
        drop_edges(store, &builder->edges.at, &builder->edges.n);
    return done;
}

/* ---- asynchronous spans -------------------------------------------------------------------- */

TA_SORT_INLINE int by_identity(const void *left, const void *right, const void *user)
{
    const struct pair_edge *a = left, *b = right;
    if (a->cat != b->cat)
        return a->cat < b->cat ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return by_time(left, right, user);
}

static bool add_async(struct ta_trace *trace, const struct pair_edge *begin,
                      const struct pair_edge *end)
{
    struct async_columns *c = &trace->asyncs;
    const struct column_ref columns[] = {COLUMN(c->ts), COLUMN(c->dur), COLUMN(c->name),
                                         COLUMN(c->id), COLUMN(c->cat)};
    if (!columns_grow(&trace->store, columns, 5, c->n, &c->max, 0))
        return false;
    c->ts[c->n] = begin->ts;
    c->dur[c->n] = end->ts - begin->ts;
    c->name[c->n] = begin->name;
    c->id[c->n] = begin->id;
    c->cat[c->n++] = begin->cat;
    return true;
}

bool ta_pair_asyncs(struct ta_builder *builder)
{
    struct ta_store *store = &builder->trace->store;
    struct pair_edge *edges = builder->async_edges.at;
    const size_t n = builder->async_edges.n;
    if (!ta_merge_sort_in(store, edges, n, sizeof *edges, by_identity, NULL))
        return false;
    TA_VEC(const struct pair_edge *) open = {0};
    bool done = true;
    for (size_t i = 0; done && i < n; i++) {
        const struct pair_edge *a = &edges[i ? i - 1 : 0], *b = &edges[i];
        if (a->cat != b->cat || a->id != b->id || a->name != b->name)
            open.n = 0;
        if (edges[i].row != TA_NO_ROW)
            done = column_push(store, &open, &edges[i]);
        else if (open.n)
            done = add_async(builder->trace, open.at[--open.n], &edges[i]);
    }
    ta_store_free(store, open.at);
    if (done)
        drop_edges(store, &builder->async_edges.at, &builder->async_edges.n);
    return done;
}
