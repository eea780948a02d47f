/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes, their sums, and folding. */
#include "tree.h"

#include "base/vec.h"

#include <traceanalyze/stat.h>

#include <stdlib.h>

static const char *const kind_names[NODE_KINDS] = {
    [NODE_ROOT] = "all",        [NODE_THREAD] = "thread",    [NODE_PYTHON] = "python",
    [NODE_MODULE] = "module",   [NODE_ANNOTATION] = "range", [NODE_OPERATOR] = "operator",
    [NODE_CALL] = "call",       [NODE_HOST] = "host",        [NODE_KERNEL] = "kernel",
    [NODE_COPY] = "copy",       [NODE_SET] = "memset",       [NODE_UNLINKED] = "unlinked",
    [NODE_OUTSIDE] = "outside", [NODE_OTHER] = "other",
};

const char *node_kind_name(enum node_kind kind)
{
    return kind_names[kind];
}

/* Appends a node; 0, the root, when memory ran out. */
static uint32_t append(struct tree *tree, struct node node)
{
    if (!ta_vec_grow((void **)&tree->at, &tree->max, tree->n, sizeof *tree->at)) {
        tree->failed = true;
        return 0;
    }
    tree->at[tree->n] = node;
    return (uint32_t)tree->n++;
}

bool tree_start(struct tree *tree)
{
    if (tree->n == 0)
        append(tree, (struct node){.kind = NODE_ROOT});
    return tree->n > 0;
}

void tree_free(struct tree *tree)
{
    free(tree->at);
    free(tree->totals);
    ta_map_free(&tree->children);
    *tree = (struct tree){0};
}

uint32_t tree_child(struct tree *tree, uint32_t parent, enum node_kind kind, uint32_t name)
{
    if (tree->at[parent].kind == NODE_OTHER)
        return parent;
    if (tree->n >= TREE_MOST) {
        kind = NODE_OTHER;
        name = 0;
    }
    /* Beyond the bound each node gets at most one "other", so a parent needs 21 bits. */
    const uint64_t key = (uint64_t)parent << 36 | (uint64_t)kind << 32 | name;
    uint64_t *slot = ta_map_at(&tree->children, key, 0);
    if (!slot) {
        tree->failed = true;
        return 0;
    }
    if (*slot == 0)
        *slot = append(tree, (struct node){.parent = parent,
                                           .name = name,
                                           .kind = kind,
                                           .depth = tree->at[parent].depth + 1U});
    return (uint32_t)*slot;
}

void tree_add_up(struct tree *tree)
{
    struct totals *totals = reallocarray(tree->totals, tree->n + 1, sizeof *totals);
    if (!totals) {
        tree->failed = true;
        return;
    }
    tree->totals = totals;
    for (size_t i = 0; i < tree->n; i++)
        totals[i] = (struct totals){tree->at[i].host_ns, tree->at[i].device_ns};
    for (size_t i = tree->n; i-- > 1;) {
        struct totals *parent = &totals[tree->at[i].parent];
        parent->host_ns = ta_add_sat(parent->host_ns, totals[i].host_ns);
        parent->device_ns = ta_add_sat(parent->device_ns, totals[i].device_ns);
    }
}

/* ---- the order of nodes ---------------------------------------------------------------------- */

static double part_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* The larger of the node's shares of host and device time; no child has more than its parent.
 * An "other" has a negative weight. */
static double weigh(const struct tree *tree, size_t i)
{
    const struct totals *node = &tree->totals[i], *root = &tree->totals[0];
    const double host = part_of(node->host_ns, root->host_ns);
    const double device = part_of(node->device_ns, root->device_ns);
    if (tree->at[i].kind == NODE_OTHER)
        return -1;
    return host > device ? host : device;
}

struct weight {
    double part;
    uint32_t node;
};

static int heaviest_first(const void *left, const void *right)
{
    const struct weight *a = left, *b = right;
    if (a->part != b->part)
        return a->part < b->part ? 1 : -1;
    return (a->node > b->node) - (a->node < b->node);
}

static void link_node(const struct tree *tree, uint32_t node, struct tree_links *links)
{
    const uint32_t parent = tree->at[node].parent;
    links->next[node] = links->first[parent];
    links->first[parent] = node;
}

bool tree_link(const struct tree *tree, bool heaviest, struct tree_links *links)
{
    struct weight *weights = heaviest ? calloc(tree->n + 1, sizeof *weights) : NULL;
    links->first = calloc(tree->n + 1, sizeof *links->first);
    links->next = calloc(tree->n + 1, sizeof *links->next);
    const bool done = links->first && links->next && (weights || !heaviest);
    if (done && heaviest) {
        for (size_t i = 1; i < tree->n; i++)
            weights[i] = (struct weight){weigh(tree, i), (uint32_t)i};
        qsort(weights + 1, tree->n - 1, sizeof *weights, heaviest_first);
        for (size_t i = tree->n; i-- > 1;)
            link_node(tree, weights[i].node, links);
    } else if (done) {
        for (size_t i = tree->n; i-- > 1;)
            link_node(tree, (uint32_t)i, links);
    }
    free(weights);
    return done;
}

void tree_links_free(struct tree_links *links)
{
    free(links->first);
    free(links->next);
}

/* ---- folding --------------------------------------------------------------------------------- */

/* What folding needs of every node. */
struct folding {
    double *weights, *sorted;
    bool *keep;
    uint32_t *home; /* the node's number in the folded tree, or of the "other" that takes it */
};

/* Weights of at least `least`, to be sorted. */
static size_t collect(const struct tree *tree, struct folding *f, double least)
{
    size_t n = 0;
    for (size_t i = 1; i < tree->n; i++)
        if (f->weights[i] >= least)
            f->sorted[n++] = f->weights[i];
    return n;
}

/* The weight of the last node that is kept.  Usually enough nodes are heavy, and the many small
 * ones need not be sorted. */
static double least_weight(const struct tree *tree, struct folding *f, size_t most)
{
    size_t n = collect(tree, f, 0.02 / (double)most);
    if (n < most)
        n = collect(tree, f, 0);
    if (n < most)
        return 0;
    ta_sort_numbers(f->sorted, n);
    return f->sorted[n - most];
}

static void move_nodes(const struct tree *tree, const struct folding *f, struct tree *folded)
{
    for (size_t i = 1; i < tree->n && !folded->failed; i++) {
        const struct node *node = &tree->at[i];
        const uint32_t above = f->home[node->parent];
        if (f->keep[i])
            f->home[i] = tree_child(folded, above, node->kind, node->name);
        else if (f->keep[node->parent])
            f->home[i] = tree_child(folded, above, NODE_OTHER, 0);
        else
            f->home[i] = above;
        struct node *into = &folded->at[f->home[i]];
        into->calls = ta_add_sat(into->calls, node->calls);
        into->host_ns = ta_add_sat(into->host_ns, node->host_ns);
        into->device_ns = ta_add_sat(into->device_ns, node->device_ns);
        if (!f->keep[i])
            into->folded += node->kind == NODE_OTHER ? node->folded : 1;
    }
}

void tree_fold(struct tree *tree, size_t most)
{
    struct folding f = {
        .weights = calloc(tree->n + 1, sizeof *f.weights),
        .sorted = calloc(tree->n + 1, sizeof *f.sorted),
        .keep = calloc(tree->n + 1, sizeof *f.keep),
        .home = calloc(tree->n + 1, sizeof *f.home),
    };
    struct tree folded = {0};
    bool done = f.weights && f.sorted && f.keep && f.home && tree_start(&folded);
    if (done)
        tree_add_up(tree);
    done = done && !tree->failed;
    if (done) {
        /* The root is always kept, and an "other" never: its content goes into a new one.  Of
         * nodes of the same weight the first are kept, so none loses its parent. */
        size_t n_kept = 0;
        for (size_t i = 1; i < tree->n; i++)
            f.weights[i] = weigh(tree, i);
        const double least = least_weight(tree, &f, most);
        f.keep[0] = true;
        for (size_t i = 1; i < tree->n; i++)
            n_kept += f.keep[i] = f.weights[i] > least;
        for (size_t i = 1; i < tree->n && n_kept < most; i++)
            if (f.weights[i] == least)
                n_kept += f.keep[i] = true;
        move_nodes(tree, &f, &folded);
        tree_add_up(&folded);
        done = !folded.failed;
    }
    free(f.weights);
    free(f.sorted);
    free(f.keep);
    free(f.home);
    if (done) {
        tree_free(tree);
        *tree = folded;
    } else {
        tree_free(&folded);
        tree->failed = true;
    }
}
