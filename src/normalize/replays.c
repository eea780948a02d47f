/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels of replayed graphs get the operators that launched them when the graph was captured.
 *
 * A replay names neither its graph nor its nodes (new profilers number the nodes).  But its kernels
 * run in the order in which they were captured, so the capture is the one with as many nodes of the
 * same kinds and, where calls name their kernels, of the same names.  Graphs for several batch
 * sizes are alike in all that: ranges with numbers distinguish them ("capture_8", "step[DECODE
 * bs=8]"), and else their order by size, which is the same in captures and replays.
 *
 * For each replay the rows of its capture are added after the spans of the trace, with captured
 * classes, which last no time and belong to no thread. */
#include "base/hash.h"
#include "model/capture.h"
#include "normalize/normalize.h"

#include <stdlib.h>

/* Replays with the same kernels, as far as names and shapes of launches go: of one graph. */
struct kind {
    size_t first, n; /* the nodes of one replay: places in the list of them */
    uint64_t hash;
    bool branches; /* its kernels run side by side, or on several streams */
    bool numbered; /* its nodes have numbers, which tell their order */
    const struct capture *capture;
    bool shapes;     /* the capture has its shapes, not only its operators */
    uint32_t *nodes; /* of the capture, in the order of the replay */
    size_t at;       /* among what is told of graphs */
    double size;     /* threads of all kernels */
};

/* One replay. */
struct replay {
    size_t first, n;
    uint32_t kind;
};

struct mapping {
    struct ta_trace *trace;
    TA_VEC(const struct capture *) graphs; /* that were captured */
    const struct arg_column *grid, *block, *node_id, *stream;
    TA_VEC(size_t) order; /* activities of graph launches, replay by replay */
    TA_VEC(struct replay) replays;
    TA_VEC(struct kind) kinds;
    ta_cat annotation;
    bool failed;
};

static const struct ta_activity *activity(const struct mapping *m, size_t place)
{
    return &m->trace->activities.at[m->order.at[place]];
}

static ta_str name_at(const struct mapping *m, size_t place)
{
    return m->trace->spans.name[activity(m, place)->span];
}

static int64_t arg_at(const struct arg_column *column, ta_row row)
{
    if (!column)
        return 0;
    const struct ta_args args = arg_column_view(column);
    const size_t place = ta_args_place(&args, row);
    return place < args.n ? ta_args_value(&args, place) : 0;
}

/* ---- the replays of a trace
 * ---------------------------------------------------------------------- */

static bool is_graph_launch(struct ta_slice name)
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
    const int64_t x = arg_at(m->node_id, a->span), y = arg_at(m->node_id, b->span);
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
        for (end = i; end < m->order.n && activity(m, end)->launch == activity(m, i)->launch;)
            end++;
        done = ta_vec_push(&m->replays, ((struct replay){i, end - i, 0}));
    }
    return done;
}

static uint64_t hash_of(const struct mapping *m, const struct replay *replay)
{
    uint64_t hash = replay->n;
    for (size_t i = replay->first; i < replay->first + replay->n; i++) {
        const ta_row span = activity(m, i)->span;
        hash = ta_hash_mix(hash ^ name_at(m, i));
        hash = ta_hash_mix(hash ^ (uint64_t)arg_at(m->grid, span));
        hash = ta_hash_mix(hash ^ (uint64_t)arg_at(m->block, span));
    }
    return hash;
}

/* The product of the numbers in a text such as "[8, 48, 1]". */
static double product_of(struct ta_slice text)
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
    const int64_t stream = arg_at(m->stream, span);
    return stream ? stream : -1 - (int64_t)m->trace->spans.track[span];
}

static void describe(struct mapping *m, struct kind *kind)
{
    kind->numbered = true;
    for (size_t i = kind->first; i < kind->first + kind->n; i++) {
        const ta_row span = activity(m, i)->span;
        kind->branches |= stream_of(m, span) != stream_of(m, activity(m, kind->first)->span);
        kind->numbered &= arg_at(m->node_id, span) != 0;
        const int64_t grid = arg_at(m->grid, span), block = arg_at(m->block, span);
        if (grid && block)
            kind->size += product_of(ta_trace_text(m->trace, (ta_str)grid)) *
                          product_of(ta_trace_text(m->trace, (ta_str)block));
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
        const ta_row span = activity(m, i)->span;
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
            struct kind kind = {.first = replay.first, .n = replay.n, .hash = hash};
            describe(m, &kind);
            done = ta_vec_push(&m->kinds, kind);
        }
        done &= at != NULL;
        if (!done)
            break;
        m->kinds.at[*at].branches |= runs_side_by_side(m, &replay);
        replay.kind = (uint32_t)*at;
        m->replays.at[kept++] = replay;
    }
    m->replays.n = kept;
    ta_map_free(&known);
    return done;
}

/* ---- which capture fits
 * ---------------------------------------------------------------------------- */

/* Some runtimes copy and fill with kernels of their own. */
static bool may_be(const struct mapping *m, size_t place, enum capture_work work)
{
    const struct ta_activity *a = activity(m, place);
    if (a->kernel == TA_NO_KERNEL)
        return work != CAPTURE_KERNEL;
    return work == CAPTURE_KERNEL ||
           ta_slice_starts(ta_trace_text(m->trace, name_at(m, place)), "__amd_rocclr_");
}

static bool is_product(struct ta_slice name)
{
    static const char *const parts[] = {"mm",   "linear",    "matmul", "conv",
                                        "gemm", "attention", "einsum", "dot"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (memmem(name.ptr, name.len, parts[i], strlen(parts[i])))
            return true;
    return false;
}

/* Whether most products of the replay were launched by operators that have one: graphs with as many
 * nodes by chance have not. */
static bool is_likely(const struct mapping *m, const struct kind *kind,
                      const struct capture *capture, const uint32_t *nodes)
{
    size_t like = 0, unlike = 0;
    for (size_t i = 0; i < kind->n; i++) {
        const struct ta_activity *a = activity(m, kind->first + i);
        const struct capture_row *op = &capture->rows.at[capture->nodes.at[nodes[i]].row];
        if (a->kernel == TA_NO_KERNEL || op->class != TA_CLASS_CAPTURED_OP ||
            m->trace->kernels.at[a->kernel].facts.kind != TA_KERNEL_GEMM)
            continue;
        *(is_product(op->name) ? &like : &unlike) += 1;
    }
    return like >= unlike;
}

static bool names_all(const struct capture *capture)
{
    for (size_t i = 0; i < capture->nodes.n; i++)
        if (!capture->nodes.at[i].kernel.len)
            return false;
    return true;
}

/* Whether node `node` may be what ran at `place`. */
static bool fits(const struct mapping *m, size_t place, const struct capture_node *node)
{
    return may_be(m, place, node->work) &&
           (!node->kernel.len || activity(m, place)->kernel == TA_NO_KERNEL ||
            ta_slice_equal(node->kernel, ta_trace_text(m->trace, name_at(m, place))));
}

/* Of kernels of a name the first is the first that was captured, and so on: what runs at the same
 * time may begin in any order. */
static bool pair_by_name(struct mapping *m, const struct kind *kind, const struct capture *capture,
                         uint32_t *nodes)
{
    struct ta_map next = {0}; /* by name: the node from which on to look */
    bool done = true;
    for (size_t i = 0; done && i < kind->n; i++) {
        uint64_t *from = ta_map_at(&next, name_at(m, kind->first + i), 0);
        m->failed |= !from;
        size_t node = from ? *from : capture->nodes.n;
        while (node < capture->nodes.n && !fits(m, kind->first + i, &capture->nodes.at[node]))
            node++;
        done = node < capture->nodes.n;
        nodes[i] = (uint32_t)node;
        if (from)
            *from = node + 1;
    }
    ta_map_free(&next);
    return done;
}

/* Fills the node of each activity; false when the capture is of another graph. */
static bool pair_nodes(struct mapping *m, const struct kind *kind, const struct capture *capture,
                       uint32_t *nodes)
{
    enum { ROWS_A_NODE = 64 }; /* more of them are no program's */
    if (kind->n != capture->nodes.n || capture->rows.n > ROWS_A_NODE * capture->nodes.n)
        return false;
    bool in_order = !kind->branches || kind->numbered;
    for (size_t i = 0; i < kind->n && in_order; i++) {
        in_order = fits(m, kind->first + i, &capture->nodes.at[i]);
        nodes[i] = (uint32_t)i;
    }
    return (in_order ||
            (kind->branches && names_all(capture) && pair_by_name(m, kind, capture, nodes))) &&
           is_likely(m, kind, capture, nodes);
}

/* ---- which of several
 * ------------------------------------------------------------------------------- */

static bool same_rows(const struct capture *a, const struct capture *b, bool with_args)
{
    if (a->rows.n != b->rows.n)
        return false;
    for (size_t i = 0; i < a->rows.n; i++) {
        const struct capture_row *x = &a->rows.at[i], *y = &b->rows.at[i];
        if (x->class != y->class || x->parent != y->parent || !ta_slice_equal(x->name, y->name))
            return false;
        if (!with_args)
            continue;
        for (size_t k = 0; k < x->n_args && x->n_args == y->n_args; k++) {
            const struct capture_arg *p = &a->of->args.at[x->first_arg + k];
            const struct capture_arg *q = &b->of->args.at[y->first_arg + k];
            /* Numbers of operators differ from call to call. */
            if (p->text.ptr && q->text.ptr && !ta_slice_equal(p->text, q->text))
                return false;
        }
    }
    return true;
}

/* Elements of all tensors that the operators of a capture are given. */
static double size_of(const struct capture *capture)
{
    double size = 0;
    for (size_t i = 0; i < capture->rows.n; i++)
        for (size_t k = 0; k < capture->rows.at[i].n_args; k++) {
            const struct capture_arg *arg =
                &capture->of->args.at[capture->rows.at[i].first_arg + k];
            if (!ta_slice_equal(capture->of->keys.at[arg->key], TA_LIT("Input Dims")))
                continue;
            size_t open = 0;
            for (size_t at = 0; at < arg->text.len; at++) {
                if (arg->text.ptr[at] == '[')
                    open = at + 1;
                if (arg->text.ptr[at] == ']' && open && at > open)
                    size += product_of(ta_slice_part(arg->text, open, at));
                open = arg->text.ptr[at] == ']' ? 0 : open;
            }
        }
    return size;
}

enum { NUMBERS_MOST = 32 };

/* The numbers in a text; returns how many of them fit. */
static size_t numbers_of(struct ta_slice text, int64_t *numbers, size_t n)
{
    for (size_t i = 0; i < text.len && n < NUMBERS_MOST;) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            i++;
            continue;
        }
        int64_t number = 0;
        for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
            number = number < INT64_C(1) << 40 ? number * 10 + (text.ptr[i] - '0') : number;
        numbers[n++] = number;
    }
    return n;
}

static bool has_number(const int64_t *numbers, size_t n, int64_t number)
{
    for (size_t i = 0; i < n; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

enum { CHOICES_MOST = 64 };

/* Graphs that fit a replay. */
struct choice {
    const struct capture *of[CHOICES_MOST];
    size_t n;
};

/* The only capture whose name has a number that the ranges around the launch have, among numbers
 * that not all of the captures share. */
static const struct capture *by_numbers(const struct mapping *m, const struct kind *kind,
                                        const struct choice *choice)
{
    int64_t around[NUMBERS_MOST], own[NUMBERS_MOST], other[NUMBERS_MOST];
    size_t n_around = 0;
    const struct span_columns *c = &m->trace->spans;
    for (ta_row row = activity(m, kind->first)->launch; row != TA_NO_ROW; row = c->parent[row])
        if (c->cat[row] == m->annotation)
            n_around = numbers_of(ta_trace_text(m->trace, c->name[row]), around, n_around);
    const struct capture *found = NULL;
    for (size_t i = 0; i < choice->n; i++) {
        const size_t n = numbers_of(choice->of[i]->name, own, 0);
        bool matches = false;
        for (size_t k = 0; k < n; k++) {
            bool shared = true;
            for (size_t j = 0; j < choice->n; j++)
                shared &= has_number(other, numbers_of(choice->of[j]->name, other, 0), own[k]);
            matches |= !shared && has_number(around, n_around, own[k]);
        }
        if (matches && found)
            return NULL;
        found = matches ? choice->of[i] : found;
    }
    return found;
}

/* As many kinds of replays as captures fit each other: the largest is the largest. */
static const struct capture *by_size(const struct mapping *m, const struct kind *kind,
                                     const struct choice *choice, const size_t *fitting)
{
    size_t alike = 0, smaller = 0;
    for (size_t k = 0; k < m->kinds.n; k++) {
        if (fitting[k] != choice->n || m->kinds.at[k].n != kind->n)
            continue;
        alike++;
        smaller += m->kinds.at[k].size < kind->size;
        if (&m->kinds.at[k] != kind && m->kinds.at[k].size == kind->size)
            return NULL;
    }
    if (alike != choice->n)
        return NULL;
    for (size_t i = 0; i < choice->n; i++) {
        size_t below = 0, same = 0;
        const double size = size_of(choice->of[i]);
        for (size_t j = 0; j < choice->n; j++) {
            const double than = size_of(choice->of[j]);
            below += than < size;
            same += than == size;
        }
        if (below == smaller && same == 1)
            return choice->of[i];
    }
    return NULL;
}

static void find_choice(struct mapping *m, const struct kind *kind, uint32_t *nodes,
                        struct choice *choice)
{
    choice->n = 0;
    for (size_t g = 0; g < m->graphs.n; g++) {
        const struct capture *capture = m->graphs.at[g];
        bool known = choice->n == CHOICES_MOST;
        for (size_t i = 0; i < choice->n && !known; i++)
            known = ta_slice_equal(choice->of[i]->name, capture->name) &&
                    same_rows(choice->of[i], capture, true);
        if (!known && pair_nodes(m, kind, capture, nodes))
            choice->of[choice->n++] = capture;
    }
}

static void choose(const struct mapping *m, struct kind *kind, const struct choice *choice,
                   const size_t *fitting)
{
    if (choice->n == 0)
        return;
    kind->shapes = true;
    kind->capture = choice->n == 1 ? choice->of[0] : by_numbers(m, kind, choice);
    if (!kind->capture)
        kind->capture = by_size(m, kind, choice, fitting);
    if (kind->capture)
        return;
    for (size_t i = 1; i < choice->n; i++) {
        if (!same_rows(choice->of[0], choice->of[i], false))
            return;
        kind->shapes &= same_rows(choice->of[0], choice->of[i], true);
    }
    kind->capture = choice->of[0];
}

static bool find_captures(struct mapping *m)
{
    size_t *fitting = calloc(m->kinds.n + 1, sizeof *fitting);
    bool done = fitting;
    struct choice choice;
    for (size_t k = 0; done && k < m->kinds.n; k++) {
        struct kind *kind = &m->kinds.at[k];
        kind->nodes = reallocarray(NULL, kind->n, sizeof *kind->nodes);
        done = kind->nodes;
        if (done)
            find_choice(m, kind, kind->nodes, &choice);
        fitting[k] = done ? choice.n : 0;
    }
    for (size_t k = 0; done && k < m->kinds.n; k++) {
        struct kind *kind = &m->kinds.at[k];
        find_choice(m, kind, kind->nodes, &choice);
        choose(m, kind, &choice, fitting);
        if (kind->capture && !pair_nodes(m, kind, kind->capture, kind->nodes))
            kind->capture = NULL;
    }
    free(fitting);
    return done && !m->failed;
}

/* ---- rows
 * -----------------------------------------------------------------------------------------------
 */

/* What texts and categories of the captures are in the trace. */
struct grafting {
    struct mapping *m;
    struct ta_map texts; /* by address */
    struct ta_map cats;  /* by class and text of the category */
    uint32_t track;
};

static ta_str text_of(struct grafting *g, struct ta_slice text)
{
    uint64_t *known = ta_map_at(&g->texts, (uintptr_t)text.ptr, 0);
    if (!known || *known)
        return known ? (ta_str)*known : TA_STR_ABSENT;
    ta_str id = TA_STR_ABSENT;
    if (ta_strings_intern(&g->m->trace->strings, text, &id) == TA_INTERN_NOMEM)
        g->m->failed = true;
    *known = id;
    return id;
}

static ta_cat category_of(struct grafting *g, const struct capture_row *row)
{
    struct ta_trace *trace = g->m->trace;
    const ta_str name = text_of(g, row->category);
    uint64_t *known =
        ta_map_at(&g->cats, (uint64_t)name << 8 | (uint64_t)row->class, trace->categories.n);
    if (known && *known == trace->categories.n && trace->categories.n < CATEGORIES_MAX)
        g->m->failed |= !ta_vec_push(&trace->categories, ((struct ta_category){name, row->class}));
    g->m->failed |= !known;
    return known && *known < trace->categories.n ? (ta_cat)*known : 0;
}

static void graft_args(struct grafting *g, const struct ta_captures *of,
                       const struct capture_row *from, ta_row row)
{
    struct ta_trace *trace = g->m->trace;
    for (size_t i = 0; i < from->n_args; i++) {
        const struct capture_arg *arg = &of->args.at[from->first_arg + i];
        size_t k = arg->key < trace->n_args ? arg->key : 0; /* mostly the keys are the same */
        if (trace->n_args && !ta_slice_equal(trace->args[k].key, of->keys.at[arg->key]))
            for (k = 0; k < trace->n_args; k++)
                if (ta_slice_equal(trace->args[k].key, of->keys.at[arg->key]))
                    break;
        if (k < trace->n_args &&
            !arg_column_add(&trace->store, &trace->args[k], row,
                            arg->text.ptr ? (int64_t)text_of(g, arg->text) : arg->value,
                            arg->text.ptr != NULL, 0))
            g->m->failed = true;
    }
}

/* Row `from` of a capture, whose first row is row `first` of the trace. */
static void graft_row(struct grafting *g, const struct capture_row *from, ta_row first,
                      ta_row launch)
{
    struct ta_trace *trace = g->m->trace;
    struct span_columns *c = &trace->spans;
    const ta_row row = (ta_row)c->n++;
    c->ts[row] = c->ts[launch];
    c->dur[row] = c->self[row] = 0;
    c->name[row] = text_of(g, from->name);
    c->cat[row] = category_of(g, from);
    c->track[row] = g->track;
    c->parent[row] = from->parent == CAPTURE_OUTSIDE ? launch : first + from->parent;
    c->depth[row] = (uint16_t)(c->depth[c->parent[row]] + (c->depth[c->parent[row]] < UINT16_MAX));
    if (c->work)
        c->work[row] = TA_HOST_UNTRACED;
}

static bool make_room(struct ta_trace *trace, size_t n)
{
    struct span_columns *c = &trace->spans;
#define GROW(column)                                                                               \
    do {                                                                                           \
        void *grown = ta_store_resize(&trace->store, (column), n + 1, sizeof *(column));           \
        if (!grown)                                                                                \
            return false;                                                                          \
        (column) = grown;                                                                          \
    } while (0)
    if (n >= TA_NO_ROW)
        return false;
    GROW(c->ts);
    GROW(c->dur);
    GROW(c->self);
    GROW(c->name);
    GROW(c->cat);
    GROW(c->track);
    GROW(c->parent);
    GROW(c->depth);
    if (c->work)
        GROW(c->work);
#undef GROW
    c->max = n;
    for (size_t i = 0; i < trace->n_args; i++)
        if (!arg_column_own_rows(&trace->store, &trace->args[i]))
            return false;
    return true;
}

static bool open_grafting(struct grafting *g)
{
    struct mapping *m = g->m;
    struct ta_trace *trace = m->trace;
    size_t rows = 0;
    for (size_t r = 0; r < m->replays.n; r++) {
        const struct kind *kind = &m->kinds.at[m->replays.at[r].kind];
        rows += kind->capture ? kind->capture->rows.n : 0;
    }
    g->track = (uint32_t)trace->tracks.n;
    return make_room(trace, trace->spans.n + rows) &&
           ta_vec_push(&trace->tracks,
                       ((struct ta_track){.first = (ta_row)trace->spans.n, .n = (ta_row)rows}));
}

static void graft_replay(struct grafting *g, const struct replay *replay)
{
    struct mapping *m = g->m;
    const struct kind *kind = &m->kinds.at[replay->kind];
    if (!kind->capture)
        return;
    const ta_row first = (ta_row)m->trace->spans.n;
    const ta_row launch = activity(m, replay->first)->launch;
    for (size_t i = 0; i < kind->capture->rows.n && !m->failed; i++) {
        const struct capture_row *row = &kind->capture->rows.at[i];
        graft_row(g, row, first, launch);
        if (kind->shapes)
            graft_args(g, kind->capture->of, row, first + (ta_row)i);
    }
    for (size_t i = 0; i < replay->n; i++)
        m->trace->activities.at[m->order.at[replay->first + i]].op =
            first + kind->capture->nodes.at[kind->nodes[i]].row;
}

static bool graft(struct mapping *m)
{
    struct grafting g = {.m = m};
    bool any = false;
    for (size_t k = 0; k < m->kinds.n; k++)
        any |= m->kinds.at[k].capture != NULL;
    if (!any)
        return true;
    bool done = open_grafting(&g);
    for (size_t r = 0; done && r < m->replays.n; r++)
        graft_replay(&g, &m->replays.at[r]);
    for (size_t i = 0; done && i < m->trace->n_args; i++)
        if (m->trace->args[i].n)
            arg_column_index(&m->trace->store, &m->trace->args[i], m->trace->spans.n);
    ta_map_free(&g.texts);
    ta_map_free(&g.cats);
    return done && !m->failed && !g.texts.failed && !g.cats.failed;
}

/* ---- kernels that the program marked ------------------------------------------------------------
 */

/* A mark of a replay, which becomes an operator. */
struct marked {
    size_t activity;
    ta_row launch;
    ta_str mark;
};

static int by_launch(const void *left, const void *right, void *user)
{
    const struct marked *a = left, *b = right;
    const int64_t *ts = user;
    if (a->launch != b->launch)
        return ts[a->launch] != ts[b->launch] ? (ts[a->launch] < ts[b->launch] ? -1 : 1)
               : a->launch < b->launch        ? -1
                                              : 1;
    if (a->mark != b->mark)
        return a->mark < b->mark ? -1 : 1;
    return a->activity < b->activity ? -1 : a->activity > b->activity;
}

static bool is_captured(const struct ta_trace *trace, const struct ta_activity *a)
{
    return ta_class_is_captured(trace->categories.at[trace->spans.cat[a->op]].class);
}

/* Programs can name the kernels that they capture, which then have the name among their arguments.
 * Where no capture is known, it is their operator. */
static bool graft_marks(struct mapping *m)
{
    struct ta_trace *trace = m->trace;
    const struct arg_column *names = ta_trace_arg_column(trace, "name");
    TA_VEC(struct marked) found = {0};
    bool done = true;
    const struct ta_args args = names ? arg_column_view(names) : (struct ta_args){0};
    for (size_t i = 0; done && args.n && i < trace->activities.n; i++) {
        const struct ta_activity *a = &trace->activities.at[i];
        const ta_str mark = a->launch == TA_NO_ROW ? TA_STR_ABSENT : ta_args_text(&args, a->span);
        if (mark != TA_STR_ABSENT && ta_trace_text(trace, mark).len &&
            is_graph_launch(ta_trace_text(trace, trace->spans.name[a->launch])) &&
            !is_captured(trace, a))
            done = ta_vec_push(&found, ((struct marked){i, a->launch, mark}));
    }
    if (!done || found.n == 0) {
        free(found.at);
        return done;
    }
    qsort_r(found.at, found.n, sizeof *found.at, by_launch, trace->spans.ts);
    struct grafting g = {.m = m, .track = (uint32_t)trace->tracks.n};
    const ta_row first = (ta_row)trace->spans.n;
    const struct capture_row row = {.category = TA_LIT("user_annotation"),
                                    .class = TA_CLASS_CAPTURED_OP,
                                    .parent = CAPTURE_OUTSIDE};
    done = make_room(trace, trace->spans.n + found.n);
    for (size_t i = 0; done && i < found.n; i++) {
        const struct marked *marked = &found.at[i];
        if (i == 0 || marked[-1].launch != marked->launch || marked[-1].mark != marked->mark) {
            graft_row(&g, &row, first, marked->launch);
            trace->spans.name[trace->spans.n - 1] = marked->mark;
        }
        trace->activities.at[marked->activity].op = (ta_row)trace->spans.n - 1;
    }
    done = done &&
           ta_vec_push(&trace->tracks,
                       ((struct ta_track){.first = first, .n = (ta_row)trace->spans.n - first}));
    for (size_t i = 0; done && i < trace->n_args; i++)
        if (trace->args[i].n)
            arg_column_index(&trace->store, &trace->args[i], trace->spans.n);
    free(found.at);
    ta_map_free(&g.texts);
    ta_map_free(&g.cats);
    return done && !m->failed;
}

/* ---- what is told of them
 * ------------------------------------------------------------------------------- */

/* Why no capture is known; a constant. */
static const char *reason_of(const struct mapping *m, const struct kind *kind)
{
    bool as_many = false;
    for (size_t g = 0; g < m->graphs.n; g++)
        as_many |= m->graphs.at[g]->nodes.n == kind->n;
    return !as_many         ? "no capture has as many nodes"
           : kind->branches ? "its branches run at the same time, in an order that is not recorded"
                            : "no capture has the same kernels, or several have";
}

static bool tell(struct mapping *m)
{
    struct ta_trace *trace = m->trace;
    for (size_t r = 0; r < m->replays.n; r++) {
        const struct replay *replay = &m->replays.at[r];
        struct kind *kind = &m->kinds.at[replay->kind];
        if (kind->at == 0) {
            struct ta_replayed graph = {.nodes = (int64_t)kind->n};
            if (kind->capture) {
                const char *name = ta_arena_copy(&trace->arena, kind->capture->name);
                const char *file = kind->capture->file ? kind->capture->file : "";
                graph.name =
                    (struct ta_slice){name ? name : "", name ? kind->capture->name.len : 0};
                graph.file = ta_arena_copy(&trace->arena, ta_slice_of(file));
                graph.shapes = kind->shapes;
            } else {
                graph.reason = reason_of(m, kind);
            }
            if (!ta_vec_push(&trace->replayed, graph))
                return false;
            kind->at = trace->replayed.n;
        }
        struct ta_replayed *graph = &trace->replayed.at[kind->at - 1];
        graph->replays++;
        for (size_t i = replay->first; i < replay->first + replay->n; i++) {
            graph->kernels += activity(m, i)->kernel != TA_NO_KERNEL;
            graph->device_ns = ta_add_sat(graph->device_ns, trace->spans.dur[activity(m, i)->span]);
        }
    }
    return !trace->arena.failed;
}

static bool list_graphs(struct mapping *m, const struct ta_captures *captures)
{
    for (size_t i = 0; captures && i < captures->graphs.n; i++)
        if (!ta_vec_push(&m->graphs, &captures->graphs.at[i]))
            return false;
    return true;
}

static ta_cat annotation_of(const struct ta_trace *trace)
{
    for (size_t i = 0; i < trace->categories.n; i++)
        if (trace->categories.at[i].name != TA_STR_ABSENT &&
            ta_slice_equal(ta_trace_text(trace, trace->categories.at[i].name),
                           TA_LIT("user_annotation")))
            return (ta_cat)i;
    return UINT16_MAX;
}

bool ta_map_replays(struct ta_trace *trace, const struct ta_captures *own,
                    const struct ta_capture_list *given)
{
    struct mapping m = {.trace = trace,
                        .grid = ta_trace_arg_column(trace, "grid"),
                        .block = ta_trace_arg_column(trace, "block"),
                        .node_id = ta_trace_arg_column(trace, "graph node id"),
                        .stream = ta_trace_arg_column(trace, "original_stream"),
                        .annotation = annotation_of(trace)};
    bool done = list_graphs(&m, own);
    for (size_t i = 0; given && i < given->n; i++)
        done = done && list_graphs(&m, given->at[i]);
    if (done && m.graphs.n)
        done = list_replays(&m) && find_kinds(&m) && find_captures(&m) && graft(&m) && tell(&m);
    done = done && graft_marks(&m);
    for (size_t k = 0; k < m.kinds.n; k++)
        free(m.kinds.at[k].nodes);
    free(m.kinds.at);
    free(m.replays.at);
    free(m.order.at);
    free(m.graphs.at);
    return done;
}
