/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names by their place in the program, one to one. */
#include "compare/order.h"

#include "compare/program.h"

#include <stdlib.h>

/* ---- what goes together ---------------------------------------------------------------------- */

/* Anchors weigh more than all that could be said against them. */
enum { FIT_MATE = 8, FIT_OP = 3, FIT_KIND = 2, FIT_ALSO = 1, FIT_MOST = FIT_MATE + FIT_ALSO };

/* Kernels do the same work when the same operator launches them, or when their names tell so.
 */
static int fit_kernels(const struct place *a, const struct place *b)
{
    const int calls = FIT_ALSO * (a->item->calls == b->item->calls);
    if (diff_is_other_kind(a->item, b->item))
        return 0;
    if (diff_is_same_op(a, b))
        return FIT_OP + FIT_ALSO * diff_is_same_kind(a, b) + calls;
    return diff_is_same_kind(a, b) ? FIT_KIND + calls : 0;
}

/* As often in each call of the operator around it, in runs of different length, too. */
static bool is_as_often(const struct place *a, const struct place *b)
{
    if (!a->op_item || !b->op_item)
        return a->calls == b->calls;
    return (double)a->calls * (double)b->op_item->calls ==
           (double)b->calls * (double)a->op_item->calls;
}

/* An operator is another one where the same operator runs it as often. */
static int fit_ops(const struct place *a, const struct place *b)
{
    return diff_is_same_op(a, b) && is_as_often(a, b) ? FIT_OP : 0;
}

static int fit(const void *user, size_t i, size_t k)
{
    const struct program *program = user;
    const struct place *a = &program->side[TA_DIFF_BASE].at[i];
    const struct place *b = &program->side[TA_DIFF_NEW].at[k];
    if (a->item->mate || b->item->mate)
        return a->item->mate == b->item ? FIT_MATE + FIT_ALSO * diff_is_same_op(a, b) : 0;
    if (!ta_slice_equal(a->item->group, b->item->group))
        return 0;
    return program->order->is_of_ops ? fit_ops(a, b) : fit_kernels(a, b);
}

/* A name that has a mate goes with that alone, one without with those without. */
static struct diff_columns choose(const void *user, size_t i)
{
    const struct program *program = user;
    if (program->side[TA_DIFF_BASE].at[i].item->mate)
        return diff_mates_of(program, i);
    return (struct diff_columns){program->alone, program->n_alone};
}

static bool align(struct program *program)
{
    const struct places *base = &program->side[TA_DIFF_BASE], *new = &program->side[TA_DIFF_NEW];
    program->n_alone = 0;
    for (size_t k = 0; k < new->n; k++)
        if (!new->at[k].item->mate)
            program->alone[program->n_alone++] = k;
    const struct diff_sequences both = {
        .fit = fit, .choice = choose, .user = program, .most = FIT_MOST, .n = base->n, .m = new->n};
    return diff_align(&both, program->other);
}

/* ---- one to one ------------------------------------------------------------------------------ */

struct vote {
    struct place *base, *new;
    int64_t weight; /* time of both */
};

static int by_weight(const void *left, const void *right)
{
    const struct vote *a = left, *b = right;
    if (a->weight != b->weight)
        return (a->weight < b->weight) - (a->weight > b->weight);
    return (a->base > b->base) - (a->base < b->base);
}

static double confidence_of(const struct vote *vote)
{
    const bool calls = vote->base->item->calls == vote->new->item->calls;
    if (diff_is_same_op(vote->base, vote->new))
        return calls ? 0.9 : DIFF_SURE_OP;
    return calls ? 0.7 : 0.55;
}

/* Joins paired items, the longest first; how many pairs that were is added to `joined`. False
 * without memory. */
static bool join(struct diff *diff, struct program *program, size_t *joined)
{
    struct places *base = &program->side[TA_DIFF_BASE], *new = &program->side[TA_DIFF_NEW];
    struct vote *votes = ta_arena_alloc(&diff->arena, (base->n + 1) * sizeof *votes);
    if (!votes || !align(program))
        return false;
    size_t n = 0;
    for (size_t i = 0; i < base->n; i++) {
        struct place *a = &base->at[i];
        if (a->item->mate || program->other[i] == DIFF_GAP)
            continue;
        struct place *b = &new->at[program->other[i]];
        votes[n++] = (struct vote){a, b, ta_add_sat(a->item->total_ns, b->item->total_ns)};
    }
    qsort(votes, n, sizeof *votes, by_weight);
    for (size_t i = 0; i < n; i++)
        if (!votes[i].base->item->mate && !votes[i].new->item->mate) {
            diff_join(votes[i].base->item, votes[i].new->item, DIFF_POSITION,
                      confidence_of(&votes[i]));
            ++*joined;
        }
    return true;
}

/* The same for what those run whose mates are known now: levels below the first that was renamed.
 */
static bool join_levels(struct diff *diff, struct program *program, size_t *joined)
{
    enum { LEVELS_MOST = 8 };
    for (int level = 0; level < (program->order->is_of_ops ? LEVELS_MOST : 1); level++) {
        const size_t before = *joined;
        if (!join(diff, program, joined))
            return false;
        if (*joined == before)
            break;
    }
    return true;
}

bool diff_match_order(struct diff *diff, const struct diff_order *order,
                      struct diff_items items[TA_DIFF_SIDES])
{
    struct program program;
    size_t joined = 0;
    return diff_program_read(diff, order, items, &program) && join_levels(diff, &program, &joined);
}

/* ---- by the place alone ---------------------------------------------------------------------- */

/* The next place from *at on that is alone and that no operator runs; NULL after the last.  The
 * place of a stage counts within the one around it. */
static struct place *next_alone(const struct diff_order *order, const struct places *places,
                                size_t *at)
{
    while (*at < places->n) {
        struct place *place = &places->at[(*at)++];
        if (!place->item->mate && !place->item->set && (order->is_of_stages || !place->op.len))
            return place;
    }
    return NULL;
}

/* Whether the stages around two are the same one, or may be. */
static bool is_around_both(const struct place *a, const struct place *b)
{
    if (!a->op_item || !b->op_item)
        return !a->op_item && !b->op_item;
    return a->op_item == b->op_item->mate || (!a->op_item->mate && !b->op_item->mate);
}

/* Whether nothing speaks against two stages being one: names and calls say little of them. */
static bool may_be_one_stage(const struct place *a, const struct place *b)
{
    enum { TIMES_LONGER = 4 };
    const int64_t x = a->item->total_ns, y = b->item->total_ns;
    return is_around_both(a, b) && x / TIMES_LONGER <= y && y / TIMES_LONGER <= x;
}

/* Where only the order shows what belongs together, names are pairs when there are as many on both
 * sides, and as often: how many, 0 where they are not. With `join` false they are counted alone. */
static size_t pair_in_order(const struct diff_order *order, const struct stretch *stretch,
                            bool join)
{
    size_t i = 0, k = 0;
    if (order->is_of_stages && stretch->is_open)
        return 0;
    for (size_t n = 0;; n++) {
        struct place *base = next_alone(order, &stretch->side[TA_DIFF_BASE], &i);
        struct place *new = next_alone(order, &stretch->side[TA_DIFF_NEW], &k);
        if (!base || !new)
            return base || new ? 0 : n;
        if (base->calls != new->calls || !ta_slice_equal(base->item->group, new->item->group) ||
            diff_is_other_kind(base->item, new->item))
            return 0;
        if (order->is_of_stages && !may_be_one_stage(base, new))
            return 0;
        if (join)
            diff_join(base->item, new->item, DIFF_POSITION, DIFF_SURE_PLACE);
    }
}

bool diff_match_places(struct diff *diff, const struct diff_order *order,
                       struct diff_items items[TA_DIFF_SIDES])
{
    struct program program;
    if (!diff_program_read(diff, order, items, &program))
        return false;
    for (size_t joined = 1; joined;) {
        joined = 0;
        if (!diff_program_align(&program))
            return false;
        for (struct stretch stretch = {.end = false}; diff_next_stretch(&program, &stretch);)
            if (pair_in_order(order, &stretch, false))
                joined += pair_in_order(order, &stretch, true);
        if (joined && !order->is_of_stages && !join_levels(diff, &program, &joined))
            return false;
    }
    return true;
}
