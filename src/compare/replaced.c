/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that took the place of others, many to many. */
#include "compare/order.h"
#include "compare/program.h"

/* More than these between two anchors have nothing to do with each other. */
enum { SET_MOST = 16 };

/* What members of a set have in common with a place of the baseline. */
enum common {
    COMMON_OP,   /* the operator that runs them */
    COMMON_KIND, /* the kind of their work */
    COMMON_CALLS /* no operator runs them, and as often */,
    COMMON_NOTHING
};

struct bond {
    const struct place *like;
    enum common common;
    bool is_of_ops;
};

static bool is_member(const struct place *place, const struct bond *bond)
{
    const struct place *like = bond->like;
    if (place->item->mate || place->item->set ||
        (bond->is_of_ops && !ta_slice_equal(like->item->group, place->item->group)))
        return false;
    return bond->common == COMMON_OP     ? diff_is_same_op(like, place)
           : bond->common == COMMON_KIND ? diff_is_same_kind(like, place)
           : bond->common == COMMON_CALLS
               ? !like->op.len && !place->op.len && like->calls == place->calls
               : true;
}

/* Distinct names of a stretch that are held together, or more than a set has; a name may stand at
 * several places. */
static size_t count_members(struct diff *diff, const struct places *places, const struct bond *bond)
{
    const size_t count = ++diff->n_counts;
    size_t n = 0;
    for (size_t i = 0; i < places->n && n <= SET_MOST; i++) {
        struct place *place = &places->at[i];
        if (place->item->counted == count || !is_member(place, bond))
            continue;
        place->item->counted = count;
        n++;
    }
    return n;
}

/* The lowest operator or range that all members are in. */
static struct ta_slice common_op(struct diff *diff, const struct stretch *stretch,
                                 const struct bond *bond)
{
    struct ta_slice common = {NULL, 0};
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        for (size_t i = 0; i < stretch->side[side].n; i++) {
            if (!is_member(&stretch->side[side].at[i], bond))
                continue;
            const struct ta_slice path = diff_path_of(&diff->arena, &stretch->side[side].at[i]);
            if (!common.ptr)
                common = path;
            common = diff_common_path(common, path);
        }
    return diff_last_name(common);
}

static void make_set(struct diff *diff, struct stretch *stretch, const struct bond *bond)
{
    const size_t n = count_members(diff, &stretch->side[TA_DIFF_BASE], bond);
    const size_t m = count_members(diff, &stretch->side[TA_DIFF_NEW], bond);
    if (n == 0 || m == 0 || n > SET_MOST || m > SET_MOST)
        return;
    struct diff_set *set = &diff->sets[diff->n_sets++];
    *set = (struct diff_set){
        .is_of_ops = bond->is_of_ops, .op = common_op(diff, stretch, bond), .names = {n, m}};
    /* Members have no set while they are looked for: both sides are marked at the end. */
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        for (size_t i = 0; i < stretch->side[side].n; i++)
            if (is_member(&stretch->side[side].at[i], bond))
                stretch->side[side].at[i].is_marked = true;
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        for (size_t i = 0; i < stretch->side[side].n; i++) {
            struct place *place = &stretch->side[side].at[i];
            if (place->is_marked && !place->item->set) {
                place->item->set = diff->n_sets;
                set->ns[side] = ta_add_sat(set->ns[side], place->item->total_ns);
            }
            place->is_marked = false;
        }
}

/* A set for each place of the baseline that is still alone. */
static void make_sets(struct diff *diff, struct stretch *stretch, bool is_of_ops,
                      enum common common)
{
    const struct places *base = &stretch->side[TA_DIFF_BASE];
    for (size_t i = 0; i < base->n; i++)
        if (!base->at[i].item->mate && !base->at[i].item->set)
            make_set(diff, stretch, &(struct bond){&base->at[i], common, is_of_ops});
}

/* Names of one operator first, then names of one kind, then all that replaced all. */
static void split_stretch(struct diff *diff, struct stretch *stretch, bool is_of_ops)
{
    make_sets(diff, stretch, is_of_ops, COMMON_OP);
    if (!is_of_ops)
        make_sets(diff, stretch, is_of_ops, COMMON_KIND);
    if (!stretch->is_open)
        make_sets(diff, stretch, is_of_ops, is_of_ops ? COMMON_CALLS : COMMON_NOTHING);
}

/* ---- what goes with a pair ------------------------------------------------------------------- */

/* Whether a name without a mate does its work together with its neighbor, which by its place alone
 * became another one: two were fused then, or one was split.  The same operator runs them; or else
 * the same kind of work was done by an operator that is gone. */
static bool goes_with(const struct place *alone, const struct place *neighbor, bool by_op)
{
    const struct diff_item *item = neighbor->item;
    if (item->method != DIFF_POSITION || item->calls != alone->item->calls ||
        !ta_slice_equal(alone->item->group, item->group))
        return false;
    if (by_op)
        return alone->op.len && ta_slice_equal(alone->op, neighbor->op);
    return diff_is_same_kind(alone, neighbor) && item->confidence < DIFF_SURE_OP &&
           item->confidence > DIFF_SURE_PLACE;
}

/* The number of the set that a pair becomes, or is already in. */
static size_t set_of_pair(struct diff *diff, const struct place *place, int side, bool is_of_ops)
{
    struct diff_item *item = place->item, *mate = item->mate;
    if (item->set)
        return item->set;
    struct diff_set *set = &diff->sets[diff->n_sets++];
    *set = (struct diff_set){.is_of_ops = is_of_ops,
                             .op = diff_last_name(diff_path_of(&diff->arena, place)),
                             .names = {1, 1}};
    set->ns[side] = item->total_ns;
    set->ns[!side] = mate->total_ns;
    item->set = mate->set = diff->n_sets;
    item->mate = mate->mate = NULL;
    return diff->n_sets;
}

/* True when a name found company: its other neighbor may follow. */
static bool attach(struct diff *diff, const struct program *program, int side, bool by_op)
{
    const struct places *places = &program->side[side];
    bool found = false;
    for (size_t i = 0; i < places->n; i++) {
        struct place *place = &places->at[i];
        if (place->item->mate || place->item->set)
            continue;
        const struct place *before = i ? &places->at[i - 1] : NULL;
        const struct place *behind = i + 1 < places->n ? &places->at[i + 1] : NULL;
        const struct place *with = before && goes_with(place, before, by_op)   ? before
                                   : behind && goes_with(place, behind, by_op) ? behind
                                                                               : NULL;
        if (!with)
            continue;
        const size_t number = set_of_pair(diff, with, side, program->order->is_of_ops);
        struct diff_set *set = &diff->sets[number - 1];
        place->item->set = number;
        place->item->method = DIFF_POSITION;
        place->item->confidence = with->item->confidence;
        set->names[side]++;
        set->ns[side] = ta_add_sat(set->ns[side], place->item->total_ns);
        found = true;
    }
    return found;
}

static void attach_all(struct diff *diff, const struct program *program, bool by_op)
{
    while (attach(diff, program, TA_DIFF_BASE, by_op) || attach(diff, program, TA_DIFF_NEW, by_op))
        ;
}

/* ---- together -------------------------------------------------------------------------------- */

/* Makes room for a set of each name of the baseline, after those that there are. */
static bool reserve(struct diff *diff, size_t more)
{
    struct diff_set *sets = ta_arena_alloc(&diff->arena, (diff->n_sets + more + 1) * sizeof *sets);
    if (!sets)
        return false;
    if (diff->n_sets)
        memcpy(sets, diff->sets, diff->n_sets * sizeof *sets);
    diff->sets = sets;
    return true;
}

bool diff_match_sets(struct diff *diff, const struct diff_order *order,
                     struct diff_items items[TA_DIFF_SIDES])
{
    struct program program;
    if (!diff_program_read(diff, order, items, &program))
        return false;
    if (!reserve(diff, items[TA_DIFF_BASE].n) || !diff_program_align(&program))
        return false;
    attach_all(diff, &program, true);
    for (struct stretch stretch = {.end = false}; diff_next_stretch(&program, &stretch);)
        split_stretch(diff, &stretch, order->is_of_ops);
    attach_all(diff, &program, false);
    return !diff->arena.failed;
}
