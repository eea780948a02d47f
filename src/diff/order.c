/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels by their place in the program. */
#include "diff/order.h"

#include "diff/align.h"
#include "traceanalyze/kernel.h"

#include <stdlib.h>

/* One operator and one kernel that it launches. */
struct place {
    struct ta_slice op;     /* empty when no operator launched it */
    struct ta_slice within; /* operators around that */
    struct ta_slice kind;   /* what the kernel does; empty when its name does not tell */
    struct diff_item *item;
    bool is_marked; /* member of the set that is being made */
};

/* The places of a side, in the order in which they were first reached. */
struct places {
    struct place *at;
    size_t n;
};

struct program {
    struct places side[TA_DIFF_SIDES];
    size_t *other; /* place of the new side beside each of the baseline, or DIFF_GAP */
};

/* ---- reading ----------------------------------------------------------------------------------
 */

/* Empty when the name does not tell. */
static struct ta_slice kind_of(struct ta_slice name)
{
    const struct ta_kernel_facts facts = ta_kernel_describe(name);
    return facts.known ? ta_slice_of(ta_kernel_kind_name(facts.kind)) : TA_LIT("");
}

static int against_name(const void *name, const void *item)
{
    return ta_slice_compare(*(const struct ta_slice *)name, ((const struct diff_item *)item)->name);
}

static bool read_places(struct diff *diff, int side, const struct diff_items *items,
                        struct places *places)
{
    const struct ta_table *table = ta_report_table(diff->shown[side], "kernels.by_op");
    const size_t rows = table ? table->n_rows : 0;
    *places = (struct places){ta_arena_alloc(&diff->arena, (rows + 1) * sizeof *places->at), 0};
    for (size_t i = 0; places->at && i < rows; i++) {
        const struct ta_slice name = ta_row_text(table, i, "name");
        struct diff_item *item =
            items->n ? bsearch(&name, items->at, items->n, sizeof *items->at, against_name) : NULL;
        if (item)
            places->at[places->n++] = (struct place){.op = ta_row_text(table, i, "op"),
                                                     .within = ta_row_text(table, i, "within"),
                                                     .kind = kind_of(name),
                                                     .item = item};
    }
    return places->at != NULL;
}

static bool read_program(struct diff *diff, const struct diff_items items[TA_DIFF_SIDES],
                         struct program *program)
{
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (!read_places(diff, side, &items[side], &program->side[side]))
            return false;
    program->other =
        ta_arena_alloc(&diff->arena, (program->side[TA_DIFF_BASE].n + 1) * sizeof *program->other);
    return program->other != NULL;
}

/* ---- what goes together ------------------------------------------------------------------------
 */

static bool is_same_op(const struct place *a, const struct place *b)
{
    return a->op.len && ta_slice_equal(a->op, b->op);
}

static bool is_same_kind(const struct place *a, const struct place *b)
{
    return a->kind.len && ta_slice_equal(a->kind, b->kind);
}

/* Anchors weigh more than all that could be said against them. */
enum { FIT_MATE = 8, FIT_OP = 3, FIT_KIND = 2, FIT_ALSO = 1 };

static int fit(const void *user, size_t i, size_t k)
{
    const struct program *program = user;
    const struct place *a = &program->side[TA_DIFF_BASE].at[i];
    const struct place *b = &program->side[TA_DIFF_NEW].at[k];
    if (a->item->mate || b->item->mate)
        return a->item->mate == b->item ? FIT_MATE + FIT_ALSO * is_same_op(a, b) : 0;
    if (!ta_slice_equal(a->item->group, b->item->group))
        return 0;
    const int calls = FIT_ALSO * (a->item->calls == b->item->calls);
    if (is_same_op(a, b))
        return FIT_OP + FIT_ALSO * is_same_kind(a, b) + calls;
    return is_same_kind(a, b) ? FIT_KIND + calls : 0;
}

/* ---- one to one --------------------------------------------------------------------------------
 */

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

/* How sure a pair of one operator is at least, and of one kind of work at most. */
#define SURE_OP 0.8

static double confidence_of(const struct vote *vote)
{
    const bool calls = vote->base->item->calls == vote->new->item->calls;
    if (is_same_op(vote->base, vote->new))
        return calls ? 0.9 : SURE_OP;
    return calls ? 0.7 : 0.55;
}

bool diff_match_order(struct diff *diff, struct diff_items items[TA_DIFF_SIDES])
{
    struct program program;
    if (!read_program(diff, items, &program))
        return false;
    struct places *base = &program.side[TA_DIFF_BASE], *new = &program.side[TA_DIFF_NEW];
    struct vote *votes = ta_arena_alloc(&diff->arena, (base->n + 1) * sizeof *votes);
    if (!votes || !diff_align(fit, &program, base->n, new->n, program.other))
        return false;
    size_t n = 0;
    for (size_t i = 0; i < base->n; i++) {
        struct place *a = &base->at[i];
        if (a->item->mate || program.other[i] == DIFF_GAP)
            continue;
        struct place *b = &new->at[program.other[i]];
        votes[n++] = (struct vote){a, b, ta_add_sat(a->item->total_ns, b->item->total_ns)};
    }
    qsort(votes, n, sizeof *votes, by_weight);
    for (size_t i = 0; i < n; i++)
        if (!votes[i].base->item->mate && !votes[i].new->item->mate)
            diff_join(votes[i].base->item, votes[i].new->item, DIFF_POSITION,
                      confidence_of(&votes[i]));
    return true;
}

/* ---- sets --------------------------------------------------------------------------------------
 */

/* A stretch of both sides between two anchors. */
struct stretch {
    struct places side[TA_DIFF_SIDES];
    bool is_open; /* no anchor stands before or behind it */
};

/* More than these between two anchors have nothing to do with each other. */
enum { SET_MOST = 16 };

/* What members of a set have in common; a NULL op or kind is anything. */
struct bond {
    const struct ta_slice *op, *kind;
};

static bool is_member(const struct place *place, const struct bond *bond)
{
    return !place->item->mate && !place->item->set &&
           (!bond->op || ta_slice_equal(place->op, *bond->op)) &&
           (!bond->kind || ta_slice_equal(place->kind, *bond->kind));
}

/* Distinct kernels of a stretch that are held together; a kernel may stand at several places. */
static size_t count_members(const struct places *places, const struct bond *bond)
{
    size_t n = 0;
    for (size_t i = 0; i < places->n; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = places->at[k].item == places->at[i].item && is_member(&places->at[k], bond);
        n += !seen && is_member(&places->at[i], bond);
    }
    return n;
}

/* The path of a place, "outer;inner;op". */
static struct ta_slice path_of(struct ta_arena *arena, const struct place *place)
{
    return ta_slice_of(ta_arena_printf(arena, "%.*s%s%.*s", (int)place->within.len,
                                       place->within.len ? place->within.ptr : "",
                                       place->within.len && place->op.len ? ";" : "",
                                       (int)place->op.len, place->op.len ? place->op.ptr : ""));
}

/* Bytes of the names that two paths begin with alike. */
static size_t common_length(struct ta_slice a, struct ta_slice b)
{
    size_t common = 0, i = 0;
    for (; i < a.len && i < b.len && a.ptr[i] == b.ptr[i]; i++)
        if (a.ptr[i] == ';')
            common = i;
    const bool ends = (i == a.len || a.ptr[i] == ';') && (i == b.len || b.ptr[i] == ';');
    return ends ? i : common;
}

static struct ta_slice last_name(struct ta_slice path)
{
    const char *cut = path.len ? memrchr(path.ptr, ';', path.len) : NULL;
    return cut ? (struct ta_slice){cut + 1, (size_t)(path.ptr + path.len - cut - 1)} : path;
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
            const struct ta_slice path = path_of(&diff->arena, &stretch->side[side].at[i]);
            if (!common.ptr)
                common = path;
            common.len = common_length(common, path);
        }
    return last_name(common);
}

static void make_set(struct diff *diff, struct stretch *stretch, const struct bond *bond)
{
    const size_t n = count_members(&stretch->side[TA_DIFF_BASE], bond);
    const size_t m = count_members(&stretch->side[TA_DIFF_NEW], bond);
    if (n == 0 || m == 0 || n > SET_MOST || m > SET_MOST)
        return;
    struct diff_set *set = &diff->sets[diff->n_sets++];
    *set = (struct diff_set){.op = common_op(diff, stretch, bond), .kernels = {n, m}};
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

/* Those of one operator first, then those of one kind, then all that took the place of all. */
static void split_stretch(struct diff *diff, struct stretch *stretch)
{
    const struct places *base = &stretch->side[TA_DIFF_BASE];
    for (size_t i = 0; i < base->n; i++)
        if (base->at[i].op.len)
            make_set(diff, stretch, &(struct bond){.op = &base->at[i].op});
    for (size_t i = 0; i < base->n; i++)
        if (base->at[i].kind.len)
            make_set(diff, stretch, &(struct bond){.kind = &base->at[i].kind});
    if (!stretch->is_open)
        make_set(diff, stretch, &(struct bond){NULL, NULL});
}

static int fit_mates(const void *user, size_t i, size_t k)
{
    const struct program *program = user;
    const struct place *a = &program->side[TA_DIFF_BASE].at[i];
    const struct place *b = &program->side[TA_DIFF_NEW].at[k];
    return a->item->mate == b->item ? 1 + is_same_op(a, b) : 0;
}

/* ---- what goes with a pair ---------------------------------------------------------------------
 */

/* Whether a kernel without a mate does its work together with its neighbor, which by its place
 * alone became another one: two kernels were fused then, or one was split.  The same operator
 * launches them; or else the same kind of work was done by an operator that is gone. */
static bool goes_with(const struct place *alone, const struct place *neighbor, bool by_op)
{
    const struct diff_item *item = neighbor->item;
    return item->method == DIFF_POSITION && item->calls == alone->item->calls &&
           ta_slice_equal(alone->item->group, item->group) &&
           (by_op ? is_same_op(alone, neighbor)
                  : is_same_kind(alone, neighbor) && item->confidence < SURE_OP);
}

/* The number of the set that a pair becomes, or is already in. */
static size_t set_of_pair(struct diff *diff, const struct place *place, int side)
{
    struct diff_item *item = place->item, *mate = item->mate;
    if (item->set)
        return item->set;
    struct diff_set *set = &diff->sets[diff->n_sets++];
    *set = (struct diff_set){.op = last_name(path_of(&diff->arena, place)), .kernels = {1, 1}};
    set->ns[side] = item->total_ns;
    set->ns[!side] = mate->total_ns;
    item->set = mate->set = diff->n_sets;
    item->mate = mate->mate = NULL;
    return diff->n_sets;
}

/* True when a kernel found company: its other neighbor may follow. */
static bool attach(struct diff *diff, const struct places *places, int side, bool by_op)
{
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
        const size_t number = set_of_pair(diff, with, side);
        struct diff_set *set = &diff->sets[number - 1];
        place->item->set = number;
        place->item->method = DIFF_POSITION;
        place->item->confidence = with->item->confidence;
        set->kernels[side]++;
        set->ns[side] = ta_add_sat(set->ns[side], place->item->total_ns);
        found = true;
    }
    return found;
}

static void attach_all(struct diff *diff, const struct program *program, bool by_op)
{
    while (attach(diff, &program->side[TA_DIFF_BASE], TA_DIFF_BASE, by_op) ||
           attach(diff, &program->side[TA_DIFF_NEW], TA_DIFF_NEW, by_op))
        ;
}

/* ---- together ----------------------------------------------------------------------------------
 */

bool diff_match_sets(struct diff *diff, struct diff_items items[TA_DIFF_SIDES])
{
    struct program program;
    if (!read_program(diff, items, &program))
        return false;
    const struct places *base = &program.side[TA_DIFF_BASE], *new = &program.side[TA_DIFF_NEW];
    /* Each has a kernel of its own on both sides. */
    diff->sets = ta_arena_alloc(&diff->arena, (items[TA_DIFF_BASE].n + 1) * sizeof *diff->sets);
    if (!diff->sets || !diff_align(fit_mates, &program, base->n, new->n, program.other))
        return false;
    attach_all(diff, &program, true);
    for (size_t i = 0, k = 0; i <= base->n; i++) {
        size_t from = i;
        while (i < base->n && program.other[i] == DIFF_GAP)
            i++;
        const size_t end = i < base->n ? program.other[i] : new->n;
        struct stretch stretch = {.side = {{base->at + from, i - from}, {new->at + k, end - k}},
                                  .is_open = from == 0 && i == base->n};
        split_stretch(diff, &stretch);
        k = end + 1;
    }
    attach_all(diff, &program, false);
    return !diff->arena.failed;
}
