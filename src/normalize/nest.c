/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who encloses whom on a host thread, and how long each span was the innermost. */
#include "normalize/normalize.h"

#include <stdlib.h>

/* Clock rounding lets a child end up to a microsecond after its parent. */
enum { ROUNDING_NS = 1000 };

struct nesting {
    struct span_columns *c;
    ta_row *stack; /* open spans in nesting order, the innermost last */
    size_t depth;
    int64_t now; /* self time is given out up to here */
};

static inline int64_t end_of(const struct span_columns *c, ta_row row)
{
    return c->ts[row] + c->dur[row];
}

/* Gives the time up to `until` to the innermost open spans.  Where spans cross, the time both cover
 * belongs to the later one, even beyond the end of its parent; an ended span below it is met
 * when the later one is popped. */
static void advance(struct nesting *n, int64_t until)
{
    while (n->depth && n->now < until) {
        const ta_row top = n->stack[n->depth - 1];
        const int64_t end = end_of(n->c, top), stop = ta_min_i64(end, until);
        if (stop > n->now) {
            n->c->self[top] += stop - n->now;
            n->now = stop;
        }
        if (end > n->now)
            return;
        n->depth--;
    }
}

static uint64_t nest_track(struct nesting *n, const struct ta_trace *trace,
                           const struct ta_track *track)
{
    struct span_columns *c = n->c;
    uint64_t crossing = 0;
    n->depth = 0;
    for (ta_row row = track->first; row < track->first + track->n; row++) {
        if (!ta_class_is_host(trace->categories.at[c->cat[row]].class))
            continue;
        const int64_t start = c->ts[row];
        advance(n, start);
        n->now = start;
        while (n->depth && end_of(c, n->stack[n->depth - 1]) <= start)
            n->depth--;
        if (n->depth) {
            const ta_row parent = n->stack[n->depth - 1];
            c->parent[row] = parent;
            c->depth[row] = (uint16_t)(c->depth[parent] + (c->depth[parent] < UINT16_MAX));
            crossing += end_of(c, row) > end_of(c, parent) + ROUNDING_NS;
        }
        n->stack[n->depth++] = row;
    }
    advance(n, INT64_MAX);
    return crossing;
}

bool ta_nest_spans(struct ta_trace *trace, uint64_t *crossing)
{
    struct span_columns *c = &trace->spans;
    size_t longest = 0;
    for (size_t t = 0; t < trace->tracks.n; t++)
        if (trace->tracks.at[t].n > longest)
            longest = trace->tracks.at[t].n;
    c->self = calloc(c->n + 1, sizeof *c->self);
    c->parent = malloc((c->n + 1) * sizeof *c->parent);
    c->depth = calloc(c->n + 1, sizeof *c->depth);
    struct nesting nesting = {c, malloc((longest + 1) * sizeof(ta_row)), 0, 0};
    const bool done = c->self && c->parent && c->depth && nesting.stack;
    if (done) {
        memset(c->parent, 0xff, (c->n + 1) * sizeof *c->parent);
        for (size_t t = 0; t < trace->tracks.n; t++)
            *crossing += nest_track(&nesting, trace, &trace->tracks.at[t]);
    }
    free(nesting.stack);
    return done;
}
