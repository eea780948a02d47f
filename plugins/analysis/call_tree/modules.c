/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time of modules (torch.nn.Module), by instance in a tree of their own and by class. */
#include "lib/modules.h"
#include "tree.h"

#include <stdlib.h>

bool tree_of_modules(const struct tree *tree, struct tree *modules)
{
    uint32_t *inner = calloc(tree->n + 1, sizeof *inner); /* the module that a node is in */
    uint32_t outside = 0;
    const bool done = inner && tree_start(modules);
    for (size_t i = 1; done && i < tree->n && !modules->failed; i++) {
        const struct node *node = &tree->at[i];
        inner[i] = inner[node->parent];
        if (node->kind == NODE_MODULE)
            inner[i] = tree_child(modules, inner[i], NODE_MODULE, node->name);
        if (!inner[i] && !outside)
            outside = tree_child(modules, 0, NODE_OUTSIDE, 0);
        const uint32_t into = inner[i] ? inner[i] : outside;
        modules->at[into].host_ns = ta_add_sat(modules->at[into].host_ns, node->host_ns);
        modules->at[into].device_ns = ta_add_sat(modules->at[into].device_ns, node->device_ns);
        if (node->kind == NODE_MODULE)
            modules->at[into].calls = ta_add_sat(modules->at[into].calls, node->calls);
    }
    free(inner);
    tree_add_up(modules);
    return done && !modules->failed;
}

/* ---- classes --------------------------------------------------------------------------------- */

struct sums {
    const struct tree *modules;
    const struct ta_trace *trace;
    struct ta_partial *out;
    struct ta_map rows;      /* of each name */
    struct ta_map instances; /* names of each row's class so far */
    struct ta_map open;      /* number of open modules of each row's class */
};

/* The row of a module's class; a new name is one more instance. */
static int64_t *row_of(struct sums *sums, const struct node *node)
{
    const uint64_t *known = ta_map_find(&sums->rows, node->name);
    if (known)
        return (int64_t *)(uintptr_t)*known;
    const struct ta_slice class = ta_module_class(ta_trace_text(sums->trace, node->name));
    int64_t *row = ta_partial_cached(sums->out, &sums->rows, node->name,
                                     (const struct ta_key[]){ta_key_text(class)});
    uint64_t *instances = ta_map_at(&sums->instances, (uintptr_t)row, 0);
    if (instances)
        ta_most(&row[MODULE_INSTANCES], (int64_t)++ * instances);
    return row;
}

static void leave(struct sums *sums, const struct node *node)
{
    uint64_t *open = ta_map_find(&sums->open, (uintptr_t)row_of(sums, node));
    if (open && *open)
        --*open;
}

bool modules_add_up(const struct tree *modules, const struct ta_trace *trace,
                    struct ta_partial *out)
{
    struct sums sums = {.modules = modules, .trace = trace, .out = out};
    struct tree_links links;
    const bool done = tree_link(modules, false, &links);
    for (uint32_t i = done ? links.first[0] : 0; i;) {
        if (modules->at[i].kind == NODE_MODULE) {
            /* Time inside of several modules of a class counts once. */
            const struct node *node = &sums.modules->at[i];
            const struct totals *totals = &sums.modules->totals[i];
            int64_t *row = row_of(&sums, node);
            uint64_t *open = ta_map_at(&sums.open, (uintptr_t)row, 0);
            if (open && (*open)++ == 0) {
                ta_sum(&row[MODULE_HOST], totals->host_ns);
                ta_sum(&row[MODULE_DEVICE], totals->device_ns);
            }
            ta_sum(&row[MODULE_CALLS], node->calls);
            ta_sum(&row[MODULE_HOST_SELF], node->host_ns);
            ta_sum(&row[MODULE_DEVICE_SELF], node->device_ns);
        }
        if (links.first[i]) {
            i = links.first[i];
            continue;
        }
        for (; i; i = modules->at[i].parent) {
            if (modules->at[i].kind == NODE_MODULE)
                leave(&sums, &modules->at[i]);
            if (links.next[i])
                break;
        }
        i = i ? links.next[i] : 0;
    }
    const bool failed = !done || sums.rows.failed || sums.instances.failed || sums.open.failed;
    tree_links_free(&links);
    ta_map_free(&sums.rows);
    ta_map_free(&sums.instances);
    ta_map_free(&sums.open);
    return !failed;
}
