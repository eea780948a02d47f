/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/reached.h"

#include <stdlib.h>

struct reached {
    struct ta_slice op, name;
    int64_t start;
    int depth; /* operators and ranges around it */
    size_t row;
};

static int depth_of(struct ta_slice within, struct ta_slice op)
{
    int depth = (within.len > 0) + (op.len > 0);
    for (size_t i = 0; i < within.len; i++)
        depth += within.ptr[i] == ';';
    return depth;
}

static int compare_int64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* What runs others comes before them where both begin at once. */
static int by_start(const void *left, const void *right)
{
    const struct reached *a = left, *b = right;
    int order = compare_int64(a->start, b->start);
    order = order ? order : compare_int64(a->depth, b->depth);
    order = order ? order : ta_slice_compare(a->op, b->op);
    order = order ? order : ta_slice_compare(a->name, b->name);
    return order ? order : (a->row > b->row) - (a->row < b->row);
}

const size_t *diff_rows_reached(struct diff *diff, int side, const struct diff_reached *columns)
{
    const struct ta_refs *in = &diff->in[side];
    /* Rows of a report without the column have this order by themselves. */
    const bool has_start = ta_ref_exists(in, columns->start);
    const size_t n = ta_ref_rows(in, columns->name);
    struct reached *all = calloc(n + 1, sizeof *all);
    size_t *rows = ta_arena_alloc(&diff->arena, (n + 1) * sizeof *rows);
    for (size_t i = 0; all && i < n; i++) {
        const struct ta_slice op = ta_ref_text(in, columns->op, i);
        all[i] = (struct reached){.op = op,
                                  .name = ta_ref_text(in, columns->name, i),
                                  .start = has_start ? diff_amount(in, columns->start, i) : 0,
                                  .depth = depth_of(ta_ref_text(in, columns->within, i), op),
                                  .row = i};
    }
    if (all && has_start)
        qsort(all, n, sizeof *all, by_start);
    for (size_t i = 0; all && rows && i < n; i++)
        rows[i] = all[i].row;
    const bool done = all && rows;
    free(all);
    return done ? rows : NULL;
}
