/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who encloses whom on a host thread, and how long each span was the innermost. */
#include "normalize/normalize.h"

/* Clock rounding lets a child end up to a microsecond after its parent. */
enum { ROUNDING_NS = 1000 };

/* A span that has begun: what the walk asks of it again and again. */
struct open {
    int64_t end;
    ta_row row;
    uint16_t depth;
};

struct nesting {
    struct span_columns *c;
    struct open *stack; /* open spans in nesting order, the innermost last */
    size_t depth;
    int64_t now; /* self time is given out up to here */
};

/* Gives the time up to `until` to the innermost open spans.  Where spans cross, the time both cover
 * belongs to the later one, even beyond the end of its parent; an ended span below it is met
 * when the later one is popped. */
static void advance(struct nesting *n, int64_t until)
{
    while (n->depth && n->now < until) {
        const struct open *top = &n->stack[n->depth - 1];
        const int64_t stop = ta_min_i64(top->end, until);
        if (stop > n->now) {
            n->c->self[top->row] += stop - n->now;
            n->now = stop;
        }
        if (top->end > n->now)
            return;
        n->depth--;
    }
}

/* Opens a host span below the innermost one that is open at its start.  Returns whether it crosses
 * the end of that one. */
static bool open_span(struct nesting *n, ta_row row)
{
    struct span_columns *c = n->c;
    const int64_t start = c->ts[row];
    struct open span = {start + c->dur[row], row, 0};
    bool crosses = false;
    advance(n, start);
    n->now = start;
    while (n->depth && n->stack[n->depth - 1].end <= start)
        n->depth--;
    if (n->depth) {
        const struct open *parent = &n->stack[n->depth - 1];
        span.depth = (uint16_t)(parent->depth + (parent->depth < UINT16_MAX));
        c->parent[row] = parent->row;
        c->depth[row] = span.depth;
        crosses = span.end > parent->end + ROUNDING_NS;
    }
    n->stack[n->depth++] = span;
    return crosses;
}

static uint64_t nest_track(struct nesting *n, const struct ta_trace *trace,
                           const struct ta_track *track)
{
    struct span_columns *c = n->c;
    uint64_t crossing = 0;
    n->depth = 0;
    for (ta_row row = track->first; row < track->first + track->n; row++) {
        c->self[row] = 0;
        c->parent[row] = TA_NO_ROW;
        c->depth[row] = 0;
        if (ta_class_is_host(trace->categories.at[c->cat[row]].class))
            crossing += open_span(n, row);
    }
    advance(n, INT64_MAX);
    return crossing;
}

size_t ta_longest_track(const struct ta_trace *trace)
{
    size_t longest = 0;
    for (size_t t = 0; t < trace->tracks.n; t++)
        if (trace->tracks.at[t].n > longest)
            longest = trace->tracks.at[t].n;
    return longest;
}

bool ta_nest_spans(struct ta_trace *trace, uint64_t *crossing)
{
    struct nesting nesting = {.c = &trace->spans};
    nesting.stack =
        ta_store_resize(&trace->store, NULL, ta_longest_track(trace) + 1, sizeof *nesting.stack);
    if (!nesting.stack)
        return false;
    for (size_t t = 0; t < trace->tracks.n; t++)
        *crossing += nest_track(&nesting, trace, &trace->tracks.at[t]);
    ta_store_free(&trace->store, nesting.stack);
    return true;
}
