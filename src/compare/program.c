/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/program.h"

#include "compare/reached.h"

#include <math.h>
#include <stdlib.h>

/* ---- reading --------------------------------------------------------------------------------- */

static int against_name(const void *name, const void *item)
{
    return ta_slice_compare(*(const struct ta_slice *)name, ((const struct diff_item *)item)->name);
}

static struct diff_item *find(const struct diff_items *items, struct ta_slice name)
{
    return items->n ? bsearch(&name, items->at, items->n, sizeof *items->at, against_name) : NULL;
}

static int by_order(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return (a->order > b->order) - (a->order < b->order);
}

/* Rows that are numbered are of ranks, which do the same: the first one represents all. */
static int64_t least_rank(const struct ta_refs *in, const struct diff_order *order)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < ta_ref_rows(in, order->order); i++)
        least = ta_min_i64(least, ta_ref_rank(in, order->order, i));
    return least;
}

static bool read_places(struct diff *diff, int side, const struct diff_order *order,
                        const struct diff_items *items, struct places *places)
{
    const bool is_numbered = order->order != TA_AS_NOTHING;
    const struct diff_items *ops = order->is_of_ops ? items : &diff->op_items[side];
    const struct ta_refs *in = &diff->in[side];
    /* A report that was written before may lack the column. */
    const bool has_order = !is_numbered || ta_ref_exists(in, order->order);
    const size_t rows = has_order ? ta_ref_rows(in, order->name) : 0;
    const int64_t rank = is_numbered ? least_rank(in, order) : 0;
    const struct diff_reached columns = {order->op, order->name, order->within, order->start};
    const size_t *reached = is_numbered ? NULL : diff_rows_reached(diff, side, &columns);
    *places = (struct places){ta_arena_alloc(&diff->arena, (rows + 1) * sizeof *places->at), 0};
    if (!places->at || (!is_numbered && !reached))
        return false;
    for (size_t k = 0; k < rows; k++) {
        const size_t i = reached ? reached[k] : k;
        const struct ta_slice name = ta_ref_text(in, order->name, i);
        const struct ta_slice op = ta_ref_text(in, order->op, i);
        struct diff_item *item = find(items, name);
        if (!item || (is_numbered && ta_ref_rank(in, order->name, i) != rank))
            continue;
        places->at[places->n++] =
            (struct place){.op = op,
                           .within = ta_ref_text(in, order->within, i),
                           .kind = item->kind,
                           .item = item,
                           .op_item = find(ops, op),
                           .calls = diff_amount(in, order->calls, i),
                           .order = is_numbered ? diff_amount(in, order->order, i) : (int64_t)k};
    }
    if (is_numbered)
        qsort(places->at, places->n, sizeof *places->at, by_order);
    return true;
}

/* Lists the places of each name of the new side; false without memory. */
static bool list_places(struct diff *diff, const struct diff_items *items,
                        const struct places *places)
{
    size_t *next = ta_arena_alloc(&diff->arena, (places->n + 1) * sizeof *next);
    if (!next)
        return false;
    for (size_t i = 0; i < items->n; i++)
        items->at[i].n_places = 0;
    for (size_t k = 0; k < places->n; k++)
        places->at[k].item->n_places++;
    for (size_t i = 0; i < items->n; i++) {
        items->at[i].places = next;
        next += items->at[i].n_places;
        items->at[i].n_places = 0;
    }
    for (size_t k = 0; k < places->n; k++) {
        struct diff_item *item = places->at[k].item;
        item->places[item->n_places++] = k;
    }
    return true;
}

bool diff_program_read(struct diff *diff, const struct diff_order *order,
                       const struct diff_items items[TA_DIFF_SIDES], struct program *program)
{
    *program = (struct program){.order = order};
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (!read_places(diff, side, order, &items[side], &program->side[side]))
            return false;
    const struct places *base = &program->side[TA_DIFF_BASE], *new = &program->side[TA_DIFF_NEW];
    program->other = ta_arena_alloc(&diff->arena, (base->n + 1) * sizeof *program->other);
    program->alone = ta_arena_alloc(&diff->arena, (new->n + 1) * sizeof *program->alone);
    return program->other && program->alone && list_places(diff, &items[TA_DIFF_NEW], new);
}

/* ---- side by side ---------------------------------------------------------------------------- */

enum { FIT_MATES = 1, FIT_SAME_OP = 1 };

static int fit_mates(const void *user, size_t i, size_t k)
{
    const struct program *program = user;
    const struct place *a = &program->side[TA_DIFF_BASE].at[i];
    const struct place *b = &program->side[TA_DIFF_NEW].at[k];
    return a->item->mate == b->item ? FIT_MATES + FIT_SAME_OP * diff_is_same_op(a, b) : 0;
}

struct diff_columns diff_mates_of(const struct program *program, size_t i)
{
    static const size_t none[1]; /* a part of no columns has an address, too */
    const struct diff_item *mate = program->side[TA_DIFF_BASE].at[i].item->mate;
    return mate ? (struct diff_columns){mate->places, mate->n_places}
                : (struct diff_columns){none, 0};
}

static struct diff_columns choose_mates(const void *user, size_t i)
{
    return diff_mates_of(user, i);
}

bool diff_program_align(struct program *program)
{
    const struct diff_sequences both = {.fit = fit_mates,
                                        .choice = choose_mates,
                                        .user = program,
                                        .most = FIT_MATES + FIT_SAME_OP,
                                        .n = program->side[TA_DIFF_BASE].n,
                                        .m = program->side[TA_DIFF_NEW].n};
    return diff_align(&both, program->other);
}

bool diff_next_stretch(const struct program *program, struct stretch *stretch)
{
    const struct places *base = &program->side[TA_DIFF_BASE], *new = &program->side[TA_DIFF_NEW];
    const size_t i = stretch->from[TA_DIFF_BASE], k = stretch->from[TA_DIFF_NEW];
    size_t last = i;
    if (stretch->end)
        return false;
    while (last < base->n && program->other[last] == DIFF_GAP)
        last++;
    const size_t end = last < base->n ? program->other[last] : new->n;
    *stretch = (struct stretch){.side = {{base->at + i, last - i}, {new->at + k, end - k}},
                                .is_open = i == 0 && last == base->n,
                                .end = last == base->n,
                                .from = {last + 1, end + 1}};
    return true;
}

/* ---- what goes together ---------------------------------------------------------------------- */

bool diff_is_same_op(const struct place *a, const struct place *b)
{
    const struct diff_item *op = a->op_item;
    return a->op.len &&
           (ta_slice_equal(a->op, b->op) || (op && op->mate && op->mate == b->op_item));
}

bool diff_is_same_kind(const struct place *a, const struct place *b)
{
    return a->kind.len && ta_slice_equal(a->kind, b->kind);
}

/* ---- paths ----------------------------------------------------------------------------------- */

struct ta_slice diff_path_of(struct ta_arena *arena, const struct place *place)
{
    return ta_slice_of(ta_arena_printf(arena, "%.*s%s%.*s", (int)place->within.len,
                                       place->within.len ? place->within.ptr : "",
                                       place->within.len && place->op.len ? ";" : "",
                                       (int)place->op.len, place->op.len ? place->op.ptr : ""));
}

struct ta_slice diff_common_path(struct ta_slice a, struct ta_slice b)
{
    size_t common = 0, i = 0;
    for (; i < a.len && i < b.len && a.ptr[i] == b.ptr[i]; i++)
        if (a.ptr[i] == ';')
            common = i;
    const bool ends = (i == a.len || a.ptr[i] == ';') && (i == b.len || b.ptr[i] == ';');
    return (struct ta_slice){a.ptr, ends ? i : common};
}

struct ta_slice diff_last_name(struct ta_slice path)
{
    const char *cut = path.len ? memrchr(path.ptr, ';', path.len) : NULL;
    return cut ? (struct ta_slice){cut + 1, (size_t)(ta_slice_end(path) - cut - 1)} : path;
}
