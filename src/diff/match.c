/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which name of one side is which of the other. */
#include "diff/compare.h"

#include <math.h>
#include <stdlib.h>

int64_t diff_pair_change(const struct diff_pair *pair)
{
    const struct diff_item *base = pair->item[TA_DIFF_BASE], *new = pair->item[TA_DIFF_NEW];
    return (new ? new->total_ns : 0) - (base ? base->total_ns : 0);
}

static int by_change(const void *left, const void *right)
{
    const struct diff_pair *a = left, *b = right;
    const int64_t x = llabs(diff_pair_change(a)), y = llabs(diff_pair_change(b));
    if (x != y)
        return (x < y) - (x > y);
    const struct diff_item *first = a->item[TA_DIFF_BASE], *second = b->item[TA_DIFF_BASE];
    first = first ? first : a->item[TA_DIFF_NEW];
    second = second ? second : b->item[TA_DIFF_NEW];
    return ta_slice_compare(first->name, second->name);
}

static void add_pair(struct diff_pairs *pairs, const struct diff_item *base,
                     const struct diff_item *new)
{
    const bool both = base && new;
    pairs->at[pairs->n++] =
        (struct diff_pair){.item = {base, new},
                           .method = both ? DIFF_EXACT : DIFF_ALONE,
                           .confidence = both ? 1 : 0,
                           .evidence = {(double)NAN, (double)NAN, (double)NAN, (double)NAN}};
}

/* Both lists are in the order of their names. */
static void match_exact(const struct diff_items items[TA_DIFF_SIDES], struct diff_pairs *pairs)
{
    const struct diff_items *base = &items[TA_DIFF_BASE], *new = &items[TA_DIFF_NEW];
    size_t i = 0, k = 0;
    while (i < base->n || k < new->n) {
        const int order = i == base->n  ? 1
                          : k == new->n ? -1
                                        : ta_slice_compare(base->at[i].name, new->at[k].name);
        add_pair(pairs, order <= 0 ? &base->at[i] : NULL, order >= 0 ? &new->at[k] : NULL);
        i += order <= 0;
        k += order >= 0;
    }
}

bool diff_match(struct diff *diff, const struct diff_items items[TA_DIFF_SIDES],
                struct diff_pairs *pairs)
{
    const size_t most = items[TA_DIFF_BASE].n + items[TA_DIFF_NEW].n;
    *pairs = (struct diff_pairs){ta_arena_alloc(&diff->arena, most * sizeof *pairs->at), 0};
    if (!pairs->at)
        return false;
    match_exact(items, pairs);
    qsort(pairs->at, pairs->n, sizeof *pairs->at, by_change);
    return true;
}
