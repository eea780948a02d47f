/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call tree of a trace: one lookup of two numbers per span. */
#include "base/vec.h"
#include "lib/modules.h"
#include "model/launched.h"
#include "model/waiting.h"
#include "tree.h"

#include <traceanalyze/model.h>

#include <stdlib.h>

/* What a span is, found once per name. */
enum name_mark { NAME_PLAIN, NAME_MODULE, NAME_STEP };

/* A host span that encloses the current one. */
struct open_span {
    ta_row row;
    uint32_t node;
};

struct growth {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct tree *tree;
    const struct ta_launched *launched;
    enum node_kind *kinds;  /* of each category */
    uint8_t *marks;         /* of each string */
    bool *only_waits;       /* of each track */
    ta_str step;            /* the common name of all steps */
    uint32_t *node_of;      /* of each call that launched something */
    struct open_span *open; /* the innermost last */
    size_t n_open, max_open;
    bool any_captured;
    struct ta_map captured; /* nodes of the spans open when a graph was captured, by row */
};

static enum node_kind kind_of(const struct ta_trace *trace, const struct ta_category *category)
{
    const struct ta_slice name = ta_trace_text(trace, category->name);
    switch (category->class) {
    case TA_CLASS_OP:
        return NODE_OPERATOR;
    case TA_CLASS_RUNTIME:
        return NODE_CALL;
    case TA_CLASS_HOST:
        if (ta_slice_equal(name, TA_LIT("python_function")))
            return NODE_PYTHON;
        return ta_slice_equal(name, TA_LIT("user_annotation")) ? NODE_ANNOTATION : NODE_HOST;
    case TA_CLASS_KERNEL:
        return NODE_KERNEL;
    case TA_CLASS_MEMCPY:
        return NODE_COPY;
    case TA_CLASS_MEMSET:
        return NODE_SET;
    case TA_CLASS_ANNOTATION:
    case TA_CLASS_SYNC:
    case TA_CLASS_FLOW:
    case TA_CLASS_CAPTURED_OP:
    case TA_CLASS_CAPTURED_CALL:
    case TA_CLASS_CAPTURED_MODULE:
        break;
    }
    return NODE_ROOT;
}

static void mark_names(struct growth *g)
{
    for (size_t id = 0; id < ta_trace_string_count(g->trace); id++) {
        const struct ta_slice name = ta_trace_text(g->trace, (ta_str)id);
        if (ta_is_module(name)) {
            g->marks[id] = NAME_MODULE;
        } else if (ta_host_place(name).len != name.len) {
            g->marks[id] = NAME_STEP;
            g->step = g->step == TA_STR_ABSENT ? (ta_str)id : g->step;
        }
    }
}

/* "thread 1262 (pt_autograd_0)": the name in parentheses without its number; the whole name if
 * it has another form. */
static struct ta_slice role_of(struct ta_slice name)
{
    const char *open = name.len ? memchr(name.ptr, '(', name.len) : NULL;
    if (open && ta_slice_starts(name, "thread ") && name.ptr[name.len - 1] == ')')
        name = (struct ta_slice){open + 1, (size_t)(ta_slice_end(name) - 1 - (open + 1))};
    while (name.len > 1 && name.ptr[name.len - 1] >= '0' && name.ptr[name.len - 1] <= '9')
        name.len--;
    while (name.len > 1 && strchr("_-#: ", name.ptr[name.len - 1]))
        name.len--;
    return name;
}

/* "<built-in method mm of type object at 0x7f00>": without the address, which differs between
 * processes. */
static struct ta_slice builtin_of(struct ta_slice name)
{
    static const char address[] = " at 0x";
    const char *at = memmem(name.ptr, name.len, address, sizeof address - 1);
    const size_t end = at ? (size_t)(at - name.ptr) : name.len - (name.ptr[name.len - 1] == '>');
    return ta_slice_part(name, 1, end);
}

static struct ta_slice whole_name(const struct ta_trace *trace, const struct node *node)
{
    if (node->kind == NODE_OTHER)
        return TA_LIT("(other)");
    if (node->kind == NODE_UNLINKED)
        return TA_LIT("(no launch recorded)");
    if (node->kind == NODE_OUTSIDE)
        return TA_LIT("(outside of modules)");
    const struct ta_slice name = ta_trace_text(trace, node->name);
    if (node->kind == NODE_THREAD)
        return name.len ? role_of(name) : TA_LIT("(thread)");
    if (node->kind == NODE_MODULE)
        return ta_module_name(name);
    return ta_host_is_builtin(name) ? builtin_of(name) : ta_host_place(name);
}

struct ta_slice tree_name(const struct ta_trace *trace, const struct node *node)
{
    /* The beginning of a name, in whole characters: a tree repeats names in many places. */
    struct ta_slice name = whole_name(trace, node);
    enum { MOST = 4096 };
    if (name.len <= MOST)
        return name;
    name.len = MOST;
    while (name.len > 0 && ((unsigned char)name.ptr[name.len] & 0xc0) == 0x80)
        name.len--;
    return name;
}

/* tree_child(), trying the successor of `last` first: programs are loops. */
static uint32_t step(struct tree *tree, uint32_t last, uint32_t above, enum node_kind kind,
                     ta_str name)
{
    const uint32_t guess = tree->at[last].next;
    const struct node *node = &tree->at[guess];
    if (guess && node->parent == above && node->name == name && node->kind == kind)
        return guess;
    const uint32_t number = tree_child(tree, above, kind, name);
    tree->at[last].next = number;
    return number;
}

/* Makes a span the innermost open one. */
static void open_span(struct growth *g, ta_row row, uint32_t node)
{
    if (!ta_vec_grow((void **)&g->open, &g->max_open, g->n_open, sizeof *g->open)) {
        g->tree->failed = true;
        return;
    }
    g->open[g->n_open++] = (struct open_span){row, node};
}

/* Callers come before what they call, so the caller of a span is already open.  Of threads that
 * only wait nothing is told but that they are there: what they do is no work. */
static void add_spans(struct growth *g)
{
    const struct ta_spans *s = &g->spans;
    uint32_t track = UINT32_MAX, thread = 0, number = 0;
    for (ta_row i = 0; i < s->n && !g->tree->failed; i++) {
        enum node_kind kind = g->kinds[s->cat[i]];
        if (kind == NODE_ROOT || kind >= NODE_KERNEL)
            continue;
        if (s->track[i] != track) {
            track = s->track[i];
            /* Threads of the same name are one node; each thread is one call of it. */
            const ta_str name = ta_trace_tracks(g->trace).at[track].thread_name;
            const uint32_t node = tree_child(g->tree, 0, NODE_THREAD, name);
            g->tree->at[node].calls++;
            thread = node;
        }
        if (g->only_waits[track])
            continue;
        while (g->n_open && g->open[g->n_open - 1].row != s->parent[i])
            g->n_open--;
        const uint32_t above = g->n_open ? g->open[g->n_open - 1].node : thread;
        ta_str name = s->name[i];
        if (g->marks[name] == NAME_MODULE && kind == NODE_PYTHON)
            kind = NODE_MODULE;
        else if (g->marks[name] == NAME_STEP)
            name = g->step;
        number = step(g->tree, number, above, kind, name);
        struct node *node = &g->tree->at[number];
        node->calls++;
        node->host_ns = ta_add_sat(node->host_ns, s->self[i]);
        if (kind == NODE_CALL && ta_launched_has(g->launched, i))
            g->node_of[ta_launched_place(g->launched, i)] = number;
        open_span(g, i, number);
    }
}

/* ---- replays of graphs ------------------------------------------------------------------------
 */

static enum node_kind captured_kind(const struct growth *g, ta_row row)
{
    switch (ta_trace_categories(g->trace).at[g->spans.cat[row]].class) {
    case TA_CLASS_CAPTURED_OP:
        return NODE_OPERATOR;
    case TA_CLASS_CAPTURED_CALL:
        return NODE_CALL;
    case TA_CLASS_CAPTURED_MODULE:
        return g->marks[g->spans.name[row]] == NAME_MODULE ? NODE_MODULE : NODE_ANNOTATION;
    default:
        return NODE_ROOT;
    }
}

/* The node, below the launch, of a row that was open when a graph was captured; each such row is
 * one call of its node.  Enclosing rows come first. */
static uint32_t captured_node(struct growth *g, ta_row row, uint32_t launch)
{
    enum { DEEPEST = 256 };
    ta_row within[DEEPEST];
    size_t n = 0;
    uint32_t node = launch;
    for (; captured_kind(g, row) != NODE_ROOT; row = g->spans.parent[row]) {
        const uint64_t *known = ta_map_find(&g->captured, row);
        if (known) {
            node = (uint32_t)*known;
            break;
        }
        if (n < DEEPEST)
            within[n++] = row;
    }
    while (n-- > 0) {
        node = tree_child(g->tree, node, captured_kind(g, within[n]), g->spans.name[within[n]]);
        g->tree->at[node].calls++;
        g->tree->failed |= !ta_map_at(&g->captured, within[n], node);
    }
    return node;
}

bool tree_grow(struct tree *tree, const struct ta_trace *trace)
{
    const struct ta_categories categories = ta_trace_categories(trace);
    struct growth g = {.trace = trace,
                       .spans = ta_trace_spans(trace),
                       .tree = tree,
                       .launched = ta_trace_launched(trace),
                       .step = TA_STR_ABSENT};
    g.kinds = calloc(categories.n + 1, sizeof *g.kinds);
    g.marks = calloc(ta_trace_string_count(trace) + 1, sizeof *g.marks);
    g.node_of = calloc(g.launched ? g.launched->n + 1 : 1, sizeof *g.node_of);
    g.only_waits = ta_trace_waiting_threads(trace);
    const bool done =
        g.launched && g.kinds && g.marks && g.node_of && g.only_waits && tree_start(tree);
    if (done) {
        for (size_t i = 0; i < categories.n; i++)
            g.kinds[i] = kind_of(trace, &categories.at[i]);
        for (size_t i = 0; i < categories.n; i++)
            g.any_captured |= ta_class_is_captured(categories.at[i].class);
        mark_names(&g);
        add_spans(&g);
        const struct ta_activities activities = ta_trace_activities(g.trace);
        uint32_t number = 0;
        for (size_t i = 0; i < activities.n && !g.tree->failed; i++) {
            const struct ta_activity *a = &activities.at[i];
            uint32_t above = a->launch == TA_NO_ROW
                                 ? tree_child(g.tree, 0, NODE_UNLINKED, 0)
                                 : g.node_of[ta_launched_place(g.launched, a->launch)];
            if (g.any_captured && a->op != TA_NO_ROW)
                above = captured_node(&g, a->op, above);
            number =
                step(g.tree, number, above, g.kinds[g.spans.cat[a->span]], g.spans.name[a->span]);
            struct node *node = &g.tree->at[number];
            node->calls++;
            node->device_ns = ta_add_sat(node->device_ns, g.spans.dur[a->span]);
        }
    }
    free(g.kinds);
    free(g.marks);
    free(g.node_of);
    free(g.only_waits);
    free(g.open);
    ta_map_free(&g.captured);
    return done && !tree->failed;
}
