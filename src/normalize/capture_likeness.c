/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether captures tell the same of a kernel.
 *
 * One may have been recorded with stacks or shapes and another without: what only one of them has
 * is no difference. */
#include "normalize/replays.h"

/* The value of a key of a row, or NULL. */
static const struct capture_arg *find_arg(const struct capture *capture,
                                          const struct capture_row *row, struct ta_slice key)
{
    for (size_t i = 0; i < row->n_args; i++) {
        const struct capture_arg *arg = &capture->of->args.at[row->first_arg + i];
        if (ta_slice_equal(capture->of->keys.at[arg->key], key))
            return arg;
    }
    return NULL;
}

bool has_same_args(const struct capture *a, const struct capture_row *row, const struct capture *b,
                   const struct capture_row *other)
{
    for (size_t i = 0; i < row->n_args; i++) {
        const struct capture_arg *arg = &a->of->args.at[row->first_arg + i];
        if (!arg->text.ptr) /* numbers of operators differ from call to call */
            continue;
        const struct capture_arg *of_other = find_arg(b, other, a->of->keys.at[arg->key]);
        if (of_other && of_other->text.ptr && !ta_slice_equal(arg->text, of_other->text))
            return false;
    }
    return true;
}

/* From a row outwards to one of a kind that the other capture has as well. */
static uint32_t next_comparable(const struct capture *capture, uint32_t row,
                                const struct capture *other)
{
    for (; row != CAPTURE_OUTSIDE; row = capture->rows.at[row].parent) {
        const struct capture_row *at = &capture->rows.at[row];
        if (at->class != TA_CLASS_CAPTURED_MODULE)
            break;
        const bool is_module = ta_slice_starts(at->name, "nn.Module: ");
        if (is_module ? other->modules : other->ranges)
            break;
    }
    return row;
}

enum likeness compare_nodes(const struct capture *a, uint32_t node, const struct capture *b,
                            uint32_t other)
{
    enum likeness likeness = ALIKE;
    uint32_t x = a->nodes.at[node].row, y = b->nodes.at[other].row;
    for (;; x = a->rows.at[x].parent, y = b->rows.at[y].parent) {
        x = next_comparable(a, x, b);
        y = next_comparable(b, y, a);
        if (x == CAPTURE_OUTSIDE || y == CAPTURE_OUTSIDE)
            return x == y ? likeness : UNLIKE;
        if (a == b && x == y)
            return likeness;
        const struct capture_row *row = &a->rows.at[x], *of_other = &b->rows.at[y];
        if (row->class != of_other->class || !ta_slice_equal(row->name, of_other->name))
            return UNLIKE;
        if (!has_same_args(a, row, b, of_other))
            likeness = SAME_OPERATORS;
    }
}

enum likeness compare_captures(const struct capture *a, const struct capture *b)
{
    enum likeness least = ALIKE;
    if (a->nodes.n != b->nodes.n)
        return UNLIKE;
    for (uint32_t i = 0; i < a->nodes.n && least != UNLIKE; i++) {
        const enum likeness likeness = compare_nodes(a, i, b, i);
        least = likeness < least ? likeness : least;
    }
    return least;
}
