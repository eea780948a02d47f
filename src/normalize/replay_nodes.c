/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which node of a capture each kernel of a replay is.
 *
 * Kernels of a replay run in the order in which they were captured; numbers of nodes say it where
 * they are written.  Branches that run at the same time begin in any order: then only the names
 * tell, and of nodes with the same name only what is true of all of them. */
#include "normalize/replays.h"

#include "model/trace.h"

#include <stdlib.h>

/* Some runtimes copy and fill with kernels of their own. */
static bool may_be(const struct mapping *m, size_t place, enum capture_work work)
{
    const struct ta_activity *a = activity_at(m, place);
    if (a->kernel == TA_NO_KERNEL)
        return work != CAPTURE_KERNEL;
    return work == CAPTURE_KERNEL ||
           ta_slice_starts(ta_trace_text(m->trace, kernel_name_at(m, place)), "__amd_rocclr_");
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

bool is_likely(const struct mapping *m, const struct replay_kind *kind,
               const struct capture *capture, const uint32_t *nodes)
{
    size_t like = 0, unlike = 0;
    for (size_t i = 0; i < kind->n; i++) {
        const struct ta_activity *a = activity_at(m, kind->first + i);
        if (nodes[i] == NO_NODE)
            continue;
        const struct capture_row *op = &capture->rows.at[capture->nodes.at[nodes[i]].row];
        if (a->kernel == TA_NO_KERNEL || op->class != TA_CLASS_CAPTURED_OP ||
            m->trace->kernels.at[a->kernel].facts.kind != TA_KERNEL_GEMM)
            continue;
        *(is_product(op->name) ? &like : &unlike) += 1;
    }
    return like >= unlike;
}

bool names_all_kernels(const struct capture *capture)
{
    for (size_t i = 0; i < capture->nodes.n; i++)
        if (capture->nodes.at[i].work == CAPTURE_KERNEL && !capture->nodes.at[i].kernel.len)
            return false;
    return true;
}

bool node_fits(const struct mapping *m, size_t place, const struct capture_node *node)
{
    return may_be(m, place, node->work) &&
           (!node->kernel.len || activity_at(m, place)->kernel == TA_NO_KERNEL ||
            ta_slice_equal(node->kernel, ta_trace_text(m->trace, kernel_name_at(m, place))));
}

bool has_no_order(const struct replay_kind *kind)
{
    return kind->branches && !kind->numbered;
}

bool pair_by_name(struct mapping *m, const struct replay_kind *kind, const struct capture *capture,
                  uint32_t *nodes)
{
    struct ta_map next = {0}; /* by name: the node from which on to look */
    bool done = true;
    for (size_t i = 0; done && i < kind->n; i++) {
        uint64_t *from = ta_map_at(&next, kernel_name_at(m, kind->first + i), 0);
        m->failed |= !from;
        size_t node = from ? *from : capture->nodes.n;
        while (node < capture->nodes.n && !node_fits(m, kind->first + i, &capture->nodes.at[node]))
            node++;
        done = node < capture->nodes.n;
        nodes[i] = (uint32_t)node;
        if (from)
            *from = node + 1;
    }
    ta_map_free(&next);
    return done;
}

bool pair_whole(struct mapping *m, const struct replay_kind *kind, const struct capture *capture,
                uint32_t *nodes)
{
    enum { ROWS_A_NODE = 64 }; /* more of them are no program's */
    if (kind->n != capture->nodes.n || capture->rows.n > ROWS_A_NODE * capture->nodes.n)
        return false;
    bool done = !has_no_order(kind) ||
                (names_all_kernels(capture) && pair_by_name(m, kind, capture, nodes));
    for (size_t i = 0; i < kind->n && done && !has_no_order(kind); i++) {
        done = node_fits(m, kind->first + i, &capture->nodes.at[i]);
        nodes[i] = (uint32_t)i;
    }
    return done && is_likely(m, kind, capture, nodes);
}

/* ---- nodes of one name ---------------------------------------------------------------------- */

/* Nodes that have the same name, and the rows around them, as far outwards as was looked. */
struct namesakes {
    struct capture *capture;
    TA_VEC(uint32_t) nodes, rows, inner;
};

static struct capture_row *row_at(const struct namesakes *s, size_t i)
{
    return &s->capture->rows.at[s->rows.at[i]];
}

static bool are_one_row(const struct namesakes *s)
{
    for (size_t i = 1; i < s->rows.n; i++)
        if (s->rows.at[i] != s->rows.at[0])
            return false;
    return true;
}

static bool have_one_name(const struct namesakes *s)
{
    for (size_t i = 0; i < s->rows.n; i++) {
        if (s->rows.at[i] == CAPTURE_OUTSIDE || row_at(s, i)->class != row_at(s, 0)->class ||
            !ta_slice_equal(row_at(s, i)->name, row_at(s, 0)->name))
            return false;
    }
    return true;
}

static void drop_different_args(const struct namesakes *s)
{
    bool same = true;
    for (size_t i = 1; i < s->rows.n; i++)
        same &= has_same_args(s->capture, row_at(s, i), s->capture, row_at(s, 0));
    for (size_t i = 0; i < s->rows.n && !same; i++)
        row_at(s, i)->n_args = 0;
}

/* The innermost row that is around all of them. */
static uint32_t common_row(const struct namesakes *s)
{
    uint32_t row = s->rows.at[0];
    for (size_t i = 1; i < s->rows.n; i++)
        for (uint32_t other = s->rows.at[i]; row != other;) { /* rows are after those around them */
            if (row == CAPTURE_OUTSIDE || other == CAPTURE_OUTSIDE)
                row = other = CAPTURE_OUTSIDE;
            else if (row > other)
                row = s->capture->rows.at[row].parent;
            else
                other = s->capture->rows.at[other].parent;
        }
    return row;
}

/* Leaves what is true of all: operators as far outwards as they have the same names, with the
 * arguments that are the same, in what is around all of them.  False when not even the innermost
 * rows are alike. */
static bool reduce_to_common(struct namesakes *s)
{
    for (size_t i = 0; i < s->nodes.n; i++)
        s->rows.at[i] = s->capture->nodes.at[s->nodes.at[i]].row;
    for (bool innermost = true; !are_one_row(s); innermost = false) {
        if (!have_one_name(s)) {
            const uint32_t around = common_row(s);
            for (size_t i = 0; i < s->nodes.n && !innermost; i++)
                s->capture->rows.at[s->inner.at[i]].parent = around;
            return !innermost;
        }
        drop_different_args(s);
        for (size_t i = 0; i < s->nodes.n; i++) {
            s->inner.at[i] = s->rows.at[i];
            s->rows.at[i] = row_at(s, i)->parent;
        }
    }
    return true;
}

/* A copy of a capture, for changes. */
static struct capture *copy_capture(struct mapping *m, const struct capture *of)
{
    struct capture *copy = malloc(sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *of;
    copy->rows.at = reallocarray(NULL, of->rows.n + 1, sizeof *copy->rows.at);
    copy->nodes.at = reallocarray(NULL, of->nodes.n + 1, sizeof *copy->nodes.at);
    if (copy->rows.at)
        memcpy(copy->rows.at, of->rows.at, of->rows.n * sizeof *of->rows.at);
    if (copy->nodes.at)
        memcpy(copy->nodes.at, of->nodes.at, of->nodes.n * sizeof *of->nodes.at);
    if (copy->rows.at && copy->nodes.at && ta_vec_push(&m->reduced, copy))
        return copy;
    free(copy->rows.at);
    free(copy->nodes.at);
    free(copy);
    return NULL;
}

static int by_kernel(const void *left, const void *right, void *user)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct capture *capture = user;
    const int order = ta_slice_compare(capture->nodes.at[a].kernel, capture->nodes.at[b].kernel);
    return order ? order : a < b ? -1 : a > b;
}

static bool is_alike(const struct capture *capture, const struct namesakes *s)
{
    for (size_t i = 1; i < s->nodes.n; i++)
        if (compare_nodes(capture, s->nodes.at[0], capture, s->nodes.at[i]) != ALIKE)
            return false;
    return true;
}

/* Of kernels of this name no node is known. */
static void forget_nodes(struct replay_kind *kind, const struct namesakes *s)
{
    for (size_t i = 0; i < kind->n; i++)
        for (size_t k = 0; k < s->nodes.n; k++)
            if (kind->nodes[i] == s->nodes.at[k])
                kind->nodes[i] = NO_NODE;
    kind->reason = "its branches run at the same time, and kernels of one name are of several "
                   "operators";
}

static bool settle_name(struct mapping *m, struct replay_kind *kind, struct namesakes *s)
{
    if (is_alike(kind->capture, s))
        return true;
    if (!s->capture && !(s->capture = copy_capture(m, kind->capture)))
        return false;
    kind->capture = s->capture;
    if (!reduce_to_common(s))
        forget_nodes(kind, s);
    else if (!kind->reason)
        kind->reason = "its branches run at the same time: kernels of one name have the operator, "
                       "but no shapes or modules where these differ";
    return true;
}

bool settle_names(struct mapping *m, struct replay_kind *kind)
{
    const size_t n = kind->capture->nodes.n;
    uint32_t *order = reallocarray(NULL, 3 * n + 1, sizeof *order);
    bool done = order;
    struct namesakes s = {.capture = NULL};
    for (size_t i = 0; done && i < n; i++)
        order[i] = (uint32_t)i;
    if (done)
        qsort_r(order, n, sizeof *order, by_kernel, (void *)kind->capture);
    const struct capture *of = kind->capture;
    for (size_t i = 0, end; done && i < n; i = end) {
        const struct ta_slice name = of->nodes.at[order[i]].kernel;
        for (end = i; end < n && ta_slice_equal(of->nodes.at[order[end]].kernel, name);)
            end++;
        s.nodes.at = order + i;
        s.rows.at = order + n;
        s.inner.at = order + 2 * n;
        s.nodes.n = s.rows.n = s.inner.n = end - i;
        done = settle_name(m, kind, &s);
    }
    free(order);
    return done;
}
