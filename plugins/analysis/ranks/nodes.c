/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes: as many ranks in a row as a node has devices. */
#include "parts.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PER_NODE_PRESET = 8 };

static int by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* All ranks that have figures, ascending. */
static int64_t *list_all(const struct figures *figures, struct ta_arena *arena, size_t *n)
{
    size_t most = 0;
    for (size_t i = 0; i < figures->n; i++)
        most += figures->at[i].n;
    int64_t *ranks = reallocarray(NULL, most + 1, sizeof *ranks);
    size_t all = 0;
    for (size_t i = 0; ranks && i < figures->n; i++) {
        memcpy(ranks + all, figures->at[i].ranks, figures->at[i].n * sizeof *ranks);
        all += figures->at[i].n;
    }
    if (all)
        qsort(ranks, all, sizeof *ranks, by_value);
    *n = 0;
    for (size_t i = 0; i < all; i++)
        if (*n == 0 || ranks[i] != ranks[*n - 1])
            ranks[(*n)++] = ranks[i];
    int64_t *own = ranks ? ta_arena_alloc(arena, (*n + 1) * sizeof *own) : NULL;
    if (own && *n)
        memcpy(own, ranks, *n * sizeof *own);
    free(ranks);
    return own;
}

/* Where rank r has device r mod N, a node has N ranks.  Devices that all are 0 tell nothing: each
 * process may see its own alone. */
static int64_t count_by_devices(const struct ta_refs *in)
{
    double most = 0;
    for (size_t i = 0; i < ta_ref_rows(in, GPU_RANK); i++) {
        const double device = ta_ref_number(in, GPU_DEVICE, i, -1);
        most = device > most ? device : most;
    }
    const int64_t per_node = most >= 1 && most < 1024 ? ta_whole(most) + 1 : PER_NODE_PRESET;
    for (size_t i = 0; most >= 1 && i < ta_ref_rows(in, GPU_RANK); i++)
        if (ta_whole(ta_ref_number(in, GPU_RANK, i, 0)) % per_node !=
            ta_whole(ta_ref_number(in, GPU_DEVICE, i, -1)))
            return PER_NODE_PRESET;
    return per_node;
}

static bool add_all(const struct figures *figures, int64_t per_node, struct parts *parts)
{
    size_t n;
    const int64_t *ranks = list_all(figures, &parts->arena, &n);
    bool done = ranks != NULL;
    for (size_t first = 0, end; done && first < n; first = end) {
        const int64_t node = ranks[first] / per_node;
        for (end = first + 1; end < n && ranks[end] / per_node == node;)
            end++;
        const char *label = ta_arena_printf(&parts->arena, "node %" PRId64, node);
        done = label && parts_add(parts, "node", label, ranks + first, end - first);
    }
    return done;
}

bool ranks_add_nodes(const struct figures *figures, const struct ta_refs *in, int64_t per_node,
                     struct ta_section_builder *out)
{
    struct parts parts = {0};
    const bool done = add_all(figures, per_node > 0 ? per_node : count_by_devices(in), &parts) &&
                      parts_report(figures, in, &parts, out);
    parts_free(&parts);
    return done;
}
