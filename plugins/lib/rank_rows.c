/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/rank_rows.h"

#include "recommend/recommend.h"
#include "recommend/rule.h"

#include <math.h>
#include <stdlib.h>

static int by_rank(const void *left, const void *right, void *of)
{
    const struct ta_rank_rows *rows = of;
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const int64_t x = ta_ref_rank(rows->in, rows->ref, a), y = ta_ref_rank(rows->in, rows->ref, b);
    return x != y ? (x > y) - (x < y) : (a > b) - (a < b);
}

struct ta_rank_rows ta_rank_rows_of(const struct ta_refs *in, struct ta_advice *advice, size_t ref)
{
    struct ta_rank_rows rows = {.in = in, .ref = ref};
    const size_t n = ta_ref_rows(in, ref);
    size_t *at = ta_arena_alloc(ta_advice_arena(advice), (n + 1) * sizeof *at);
    if (!at) {
        ta_advice_fail(advice);
        return rows;
    }
    for (size_t i = 0; i < n; i++)
        at[i] = i;
    qsort_r(at, n, sizeof *at, by_rank, &rows);
    rows.at = at;
    rows.n = n;
    return rows;
}

/* How many rows are of a rank below this one. */
static size_t count_below(const struct ta_rank_rows *rows, int64_t rank)
{
    size_t low = 0, high = rows->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ta_ref_rank(rows->in, rows->ref, rows->at[middle]) < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct ta_rank_rows ta_rank_rows_find(const struct ta_rank_rows *rows, int64_t rank)
{
    const size_t first = count_below(rows, rank);
    size_t end = first;
    while (end < rows->n && ta_ref_rank(rows->in, rows->ref, rows->at[end]) == rank)
        end++;
    return (struct ta_rank_rows){rows->in, rows->ref, rows->at + first, end - first};
}

double ta_rank_rows_sum(const struct ta_rank_rows *rows, int64_t rank)
{
    const struct ta_rank_rows own = ta_rank_rows_find(rows, rank);
    double sum = 0;
    for (size_t i = 0; i < own.n; i++)
        sum += ta_ref_number(own.in, own.ref, own.at[i], 0);
    return sum;
}

double ta_rank_rows_most(const struct ta_rank_rows *rows, int64_t rank)
{
    const struct ta_rank_rows own = ta_rank_rows_find(rows, rank);
    double most = 0;
    for (size_t i = 0; i < own.n; i++)
        most = fmax(most, ta_ref_number(own.in, own.ref, own.at[i], 0));
    return most;
}
