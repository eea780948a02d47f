/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who encloses whom on a host thread, and how long each span was the innermost. */
#include "model/column.h"
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
    const struct ta_trace *trace;
    struct ta_store *store;
    struct span_columns *c;
    TA_VEC(struct open) stack; /* open spans in nesting order, the innermost last */
    int64_t now;               /* self time is given out up to here */
    uint64_t crossing;         /* spans that cross the end of the one they begin in */
};

/* Gives the time up to `until` to the innermost open spans.  Where spans cross, the time both cover
 * belongs to the later one, even beyond the end of its parent; an ended span below it is met
 * when the later one is popped. */
static void advance(struct nesting *n, int64_t until)
{
    while (n->stack.n && n->now < until) {
        const struct open *top = &n->stack.at[n->stack.n - 1];
        const int64_t stop = ta_min_i64(top->end, until);
        if (stop > n->now) {
            n->c->self[top->row] += stop - n->now;
            n->now = stop;
        }
        if (top->end > n->now)
            return;
        n->stack.n--;
    }
}

/* Kineto's functions of Python, and JAX's. */
static bool is_python(const struct nesting *n, ta_row row)
{
    const struct ta_slice name = ta_trace_text(n->trace, n->c->name[row]);
    const struct ta_slice category =
        ta_trace_text(n->trace, n->trace->categories.at[n->c->cat[row]].name);
    return ta_slice_equal(category, TA_LIT("python_function")) ||
           (name.len > 1 && name.ptr[0] == '$');
}

/* A range that the program opens and closes where it likes. */
static bool is_range(const struct nesting *n, ta_row row)
{
    return ta_slice_equal(ta_trace_text(n->trace, n->trace->categories.at[n->c->cat[row]].name),
                          TA_LIT("user_annotation"));
}

/* A range begins within the Python function that opens it and ends within the one that closes it:
 * where both are recorded they cross.  Two ranges, or one and an operator, may cross as their
 * program likes.  Nothing is wrong with either; calls of the runtime cross nothing. */
static bool may_cross(const struct nesting *n, ta_row a, ta_row b)
{
    const struct ta_category *const all = n->trace->categories.at;
    if (all[n->c->cat[a]].class == TA_CLASS_RUNTIME || all[n->c->cat[b]].class == TA_CLASS_RUNTIME)
        return false;
    return is_range(n, a) || is_range(n, b) || is_python(n, a) != is_python(n, b);
}

/* Opens a host span below the innermost one that is open at its start; false without memory. */
static bool open_span(struct nesting *n, ta_row row)
{
    struct span_columns *c = n->c;
    const int64_t start = c->ts[row];
    struct open span = {start + c->dur[row], row, 0};
    advance(n, start);
    n->now = start;
    while (n->stack.n && n->stack.at[n->stack.n - 1].end <= start)
        n->stack.n--;
    if (n->stack.n) {
        const struct open *parent = &n->stack.at[n->stack.n - 1];
        span.depth = (uint16_t)(parent->depth + (parent->depth < UINT16_MAX));
        c->parent[row] = parent->row;
        c->depth[row] = span.depth;
        if (span.end > parent->end + ROUNDING_NS)
            n->crossing += !may_cross(n, row, parent->row);
    }
    return column_push(n->store, &n->stack, span);
}

bool ta_nest_spans(struct ta_trace *trace, uint64_t *crossing)
{
    struct span_columns *c = &trace->spans;
    struct nesting nesting = {.trace = trace, .store = &trace->store, .c = c};
    bool done = true;
    for (size_t t = 0; done && t < trace->tracks.n; t++) {
        const struct ta_track *track = &trace->tracks.at[t];
        nesting.stack.n = 0;
        for (ta_row row = track->first; done && row < track->first + track->n; row++) {
            c->self[row] = 0;
            c->parent[row] = TA_NO_ROW;
            c->depth[row] = 0;
            if (ta_class_is_host(trace->categories.at[c->cat[row]].class))
                done = open_span(&nesting, row);
        }
        advance(&nesting, INT64_MAX);
    }
    *crossing = nesting.crossing;
    ta_store_free(&trace->store, nesting.stack.at);
    return done;
}
