/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hodges–Lehmann estimates: order statistics of all sums or differences of pairs, found without
 * listing them.  Rounding keeps the order of differences, so those at or below a bound end at a
 * staircase through the sorted samples and are counted in one walk along it. */
#include "stat/compare.h"
#include "stat/numbers.h"
#include "stat/order.h"
#include "stat/rank_distribution.h"

#include <stdlib.h>

/* y_j − x_i of two sorted samples; or, with y NULL, x_i + x_j for i ≤ j. */
struct pairs {
    const double *x, *y;
    size_t n, m;
};

static uint64_t count_differences(const struct pairs *p, double bound)
{
    uint64_t count = 0;
    size_t j = 0; /* only rises, as the subtracted x does */
    for (size_t i = 0; i < p->n; i++) {
        while (j < p->m && p->y[j] - p->x[i] <= bound)
            j++;
        count += j;
    }
    return count;
}

static uint64_t count_sums(const struct pairs *p, double bound)
{
    uint64_t count = 0;
    size_t end = p->n; /* only falls, as the added x rises */
    for (size_t i = 0; i < end; i++) {
        while (end > i && p->x[i] + p->x[end - 1] > bound)
            end--;
        count += end - i;
    }
    return count;
}

static uint64_t count_pairs(const struct pairs *p, double bound)
{
    return p->y ? count_differences(p, bound) : count_sums(p, bound);
}

static uint64_t all_pairs(const struct pairs *p)
{
    return p->y ? (uint64_t)p->n * p->m : (uint64_t)p->n * (p->n + 1) / 2;
}

/* The `rank`-th least, from 1: the least number with that many pairs at or below it. */
static double nth_pair(const struct pairs *p, uint64_t rank)
{
    const size_t n = p->n;
    int64_t low = ta_order_of(p->y ? p->y[0] - p->x[n - 1] : p->x[0] + p->x[0]);
    int64_t high = ta_order_of(p->y ? p->y[p->m - 1] - p->x[0] : p->x[n - 1] + p->x[n - 1]);
    while (low < high) {
        const int64_t middle = ta_order_middle(low, high);
        if (count_pairs(p, ta_order_value(middle)) >= rank)
            high = middle;
        else
            low = middle + 1;
    }
    return ta_order_value(low);
}

/* Median of all pairs, with the interval from the c-th of each end; c = 0 is none. */
static struct ta_estimate estimate(const struct pairs *p, uint64_t c)
{
    const uint64_t all = all_pairs(p), half = (all + 1) / 2;
    const double middle = nth_pair(p, half);
    const double next = all % 2 ? middle : nth_pair(p, half + 1);
    const double value = middle / 2 + next / 2;
    if (c == 0)
        return ta_estimate_of(value, TA_NAN, TA_NAN);
    return ta_estimate_of(value, nth_pair(p, c), nth_pair(p, all + 1 - c));
}

/* ---- two samples ------------------------------------------------------------------------- */

static bool is_defined(size_t n, size_t m)
{
    /* Pairs are counted in 64 bits. */
    return n > 0 && m > 0 && n <= UINT32_MAX && m <= UINT32_MAX;
}

bool ta_shift(const double *x, size_t n, const double *y, size_t m, double confidence,
              struct ta_estimate *out)
{
    if (!is_defined(n, m) || !ta_all_finite(x, n) || !ta_all_finite(y, m)) {
        *out = TA_NO_ESTIMATE;
        return true;
    }
    const bool bounded = confidence > 0 && confidence < 1;
    uint64_t c = 0;
    if (bounded && !ta_u_rank(n, m, (1 - confidence) / 2, &c))
        return false;
    double *xs = ta_sorted_copy(x, n), *ys = ta_sorted_copy(y, m);
    const bool done = xs && ys;
    if (done) {
        const struct pairs pairs = {xs, ys, n, m};
        *out = estimate(&pairs, c);
    }
    free(xs);
    free(ys);
    return done;
}

bool ta_shift_ratio(const double *x, size_t n, const double *y, size_t m, double confidence,
                    struct ta_estimate *out)
{
    if (!ta_all_positive(x, n) || !ta_all_positive(y, m)) {
        *out = TA_NO_ESTIMATE;
        return true;
    }
    double *xs = ta_log_copy(x, n), *ys = ta_log_copy(y, m);
    struct ta_estimate logs;
    const bool done = xs && ys && ta_shift(xs, n, ys, m, confidence, &logs);
    if (done)
        *out = ta_estimate_of(exp(logs.value), exp(logs.low), exp(logs.high));
    free(xs);
    free(ys);
    return done;
}

/* ---- one sample -------------------------------------------------------------------------- */

bool ta_center(const double *x, size_t n, double confidence, struct ta_estimate *out)
{
    if (!is_defined(n, n) || !ta_all_finite(x, n)) {
        *out = TA_NO_ESTIMATE;
        return true;
    }
    const bool bounded = confidence > 0 && confidence < 1;
    double *xs = ta_sorted_copy(x, n);
    if (!xs)
        return false;
    const struct pairs pairs = {xs, NULL, n, n};
    const struct ta_estimate sums =
        estimate(&pairs, bounded ? ta_signed_rank(n, (1 - confidence) / 2) : 0);
    *out = ta_estimate_of(sums.value / 2, sums.low / 2, sums.high / 2);
    free(xs);
    return true;
}
