/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One name for what has two: terms of a window are the same when their names are. */
#include "diff/compare.h"

#include <stdlib.h>

static int by_side_and_name(const void *left, const void *right)
{
    const struct diff_alias *a = left, *b = right;
    return a->side != b->side ? a->side - b->side : ta_slice_compare(a->name, b->name);
}

static bool has_alias(const struct diff_pair *pair)
{
    const struct diff_item *base = pair->item[TA_DIFF_BASE], *new = pair->item[TA_DIFF_NEW];
    return base && new && !ta_slice_equal(base->name, new->name);
}

static struct ta_slice joint_name(struct diff *diff, const struct diff_pair *pair)
{
    const struct ta_slice base = pair->item[TA_DIFF_BASE]->name;
    const struct ta_slice new = pair->item[TA_DIFF_NEW]->name;
    return ta_slice_of(ta_arena_printf(&diff->arena, "%.*s → %.*s", (int)base.len, base.ptr,
                                       (int)new.len, new.ptr));
}

bool diff_alias(struct diff *diff, const struct diff_pairs *pairs)
{
    size_t n = 0;
    for (size_t i = 0; i < pairs->n; i++)
        n += has_alias(&pairs->at[i]);
    diff->aliases = ta_arena_alloc(&diff->arena, (2 * n + 1) * sizeof *diff->aliases);
    for (size_t i = 0; diff->aliases && i < pairs->n; i++) {
        if (!has_alias(&pairs->at[i]))
            continue;
        const struct ta_slice name = joint_name(diff, &pairs->at[i]);
        for (int side = 0; name.ptr && side < TA_DIFF_SIDES; side++)
            diff->aliases[diff->n_aliases++] =
                (struct diff_alias){side, pairs->at[i].item[side]->name, name};
    }
    if (!diff->aliases || diff->arena.failed)
        return false;
    qsort(diff->aliases, diff->n_aliases, sizeof *diff->aliases, by_side_and_name);
    return true;
}

struct ta_slice diff_name_of(const struct diff *diff, int side, struct ta_slice name)
{
    const struct diff_alias key = {.side = side, .name = name};
    const struct diff_alias *found =
        bsearch(&key, diff->aliases, diff->n_aliases, sizeof key, by_side_and_name);
    return found ? found->joint : name;
}
