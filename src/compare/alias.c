/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One name for what has two: terms of a window are the same when their names are. */
#include "compare/compare.h"
#include "report/short_name.h"

#include <stdlib.h>

static int by_side_and_name(const void *left, const void *right)
{
    const struct diff_alias *a = left, *b = right;
    return a->side != b->side ? a->side - b->side : ta_slice_compare(a->name, b->name);
}

/* Longer names say no more in a chart. */
enum { SHORT = 60 };

/* "old → new"; names that differ in numbers and arguments alone keep the old one. */
static struct ta_slice joint_name(struct diff *diff, const struct diff_pair *pair)
{
    if (pair->method == DIFF_NORMALIZED)
        return pair->item[TA_DIFF_BASE]->name;
    struct ta_arena *arena = &diff->arena;
    const struct ta_slice base = ta_short_name(arena, pair->item[TA_DIFF_BASE]->name, SHORT);
    const struct ta_slice new = ta_short_name(arena, pair->item[TA_DIFF_NEW]->name, SHORT);
    return ta_slice_of(
        ta_arena_printf(arena, "%.*s → %.*s", (int)base.len, base.ptr, (int)new.len, new.ptr));
}

struct ta_slice diff_brief(struct diff *diff, struct ta_slice name, size_t most)
{
    return ta_short_name(&diff->arena, name, most);
}

/* "mla_decode + 1 more": what takes most of the time of a set on one side. */
static const char *names_of(struct diff *diff, size_t number, int side)
{
    enum { SHORT_ONE = 36 };
    const struct diff_item *most = NULL;
    const struct diff_set *set = &diff->sets[number - 1];
    const struct diff_pairs *pairs = set->is_of_ops ? &diff->ops : &diff->kernels;
    for (size_t i = 0; i < pairs->n; i++) {
        const struct diff_item *item = pairs->at[i].item[side];
        if (item && item->set == number && (!most || item->total_ns > most->total_ns))
            most = item;
    }
    const size_t more = set->names[side] - 1;
    const struct ta_slice name =
        most ? ta_short_name(&diff->arena, most->name, SHORT_ONE) : TA_LIT("");
    return more ? ta_arena_printf(&diff->arena, "%.*s + %zu more", (int)name.len, name.ptr, more)
                : ta_arena_printf(&diff->arena, "%.*s", (int)name.len, name.ptr);
}

/* How a set is called. */
static struct ta_slice set_name(struct diff *diff, size_t number)
{
    const char *base = names_of(diff, number, TA_DIFF_BASE);
    const char *new = names_of(diff, number, TA_DIFF_NEW);
    return ta_slice_of(
        base && new ? ta_arena_printf(&diff->arena, "%s → %s (set %zu)", base, new, number) : "");
}

static void add_alias(struct diff_aliases *aliases, int side, const struct diff_item *item,
                      struct ta_slice joint)
{
    if (item && joint.ptr)
        aliases->at[aliases->n++] = (struct diff_alias){side, item->name, joint};
}

static bool alias(struct diff *diff, const struct diff_pairs *pairs, struct diff_aliases *aliases)
{
    aliases->at = ta_arena_alloc(&diff->arena, (2 * pairs->n + 1) * sizeof *aliases->at);
    for (size_t i = 0; aliases->at && i < pairs->n; i++) {
        const struct diff_pair *pair = &pairs->at[i];
        const struct diff_item *base = pair->item[TA_DIFF_BASE], *new = pair->item[TA_DIFF_NEW];
        const bool renamed = base && new && !ta_slice_equal(base->name, new->name);
        if (!renamed && !pair->set)
            continue;
        const struct ta_slice joint = renamed ? joint_name(diff, pair) : set_name(diff, pair->set);
        add_alias(aliases, TA_DIFF_BASE, base, joint);
        add_alias(aliases, TA_DIFF_NEW, new, joint);
    }
    if (!aliases->at || diff->arena.failed)
        return false;
    qsort(aliases->at, aliases->n, sizeof *aliases->at, by_side_and_name);
    return true;
}

/* Makes one name for each pair of two. */
static bool add(struct diff *diff, struct ta_section_builder *out)
{
    (void)out;
    return alias(diff, &diff->kernels, &diff->kernel_names) &&
           alias(diff, &diff->ops, &diff->op_names) &&
           alias(diff, &diff->stages, &diff->stage_names);
}

const struct diff_part diff_of_aliases = {.declares = {.name = "diff.aliases"}, .add = add};

struct ta_slice diff_name_of(const struct diff_aliases *aliases, int side, struct ta_slice name)
{
    const struct diff_alias key = {.side = side, .name = name};
    const struct diff_alias *found =
        bsearch(&key, aliases->at, aliases->n, sizeof key, by_side_and_name);
    return found ? found->joint : name;
}
