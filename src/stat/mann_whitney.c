/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Mann–Whitney test, in one walk along both sorted samples. */
#include "stat/compare.h"
#include "stat/numbers.h"
#include "stat/rank_distribution.h"

#include <stdlib.h>

struct ranks {
    uint64_t twice_u; /* 2 U, an integer with ties too */
    long double ties; /* Σ (t³ − t) over groups of equal values */
    bool is_tied;
};

static void rank(const double *x, size_t n, const double *y, size_t m, struct ranks *out)
{
    *out = (struct ranks){0};
    for (size_t i = 0, j = 0; i < n || j < m;) {
        const double value = j == m || (i < n && x[i] < y[j]) ? x[i] : y[j];
        const size_t below = i, before = j;
        while (i < n && x[i] == value)
            i++;
        while (j < m && y[j] == value)
            j++;
        const uint64_t equal_x = i - below, equal_y = j - before;
        out->twice_u += equal_y * (2 * (uint64_t)below + equal_x);
        const long double t = (long double)(equal_x + equal_y);
        out->ties += t * t * t - t;
        out->is_tied |= equal_x + equal_y > 1;
    }
}

static bool test(const struct ranks *ranks, size_t n, size_t m, struct ta_rank_test *out)
{
    const long double pairs = (long double)n * (long double)m, all = (long double)(n + m);
    const long double from_mean = ((long double)ranks->twice_u - pairs) / 2;
    const long double tied = all > 1 ? ranks->ties / (all * (all - 1)) : 0;
    const long double sd = sqrtl(pairs / 12 * (all + 1 - tied));
    *out = (struct ta_rank_test){.u = (double)ranks->twice_u / 2,
                                 .cliff = (double)(2 * from_mean / pairs),
                                 .z = sd > 0 ? (double)(from_mean / sd) : 0,
                                 .p = 1};
    out->exact = !ranks->is_tied && ta_u_is_small(n, m);
    if (out->exact) {
        const uint64_t u = ranks->twice_u / 2, other = (uint64_t)n * m - u;
        double tail;
        if (!ta_u_at_most(n, m, u < other ? u : other, &tail))
            return false;
        out->p = fmin(1, 2 * tail);
    } else if (sd > 0) {
        const long double corrected = fabsl(from_mean) - 0.5L;
        out->p = corrected > 0 ? ta_two_sided((double)(corrected / sd)) : 1;
    }
    return true;
}

bool ta_mann_whitney(const double *x, size_t n, const double *y, size_t m, struct ta_rank_test *out)
{
    const bool defined = n > 0 && m > 0 && n < UINT32_MAX / 2 && m < UINT32_MAX / 2 &&
                         ta_all_finite(x, n) && ta_all_finite(y, m);
    if (!defined) {
        *out = (struct ta_rank_test){TA_NAN, TA_NAN, TA_NAN, TA_NAN, false};
        return true;
    }
    double *xs = ta_sorted_copy(x, n), *ys = ta_sorted_copy(y, m);
    struct ranks ranks;
    struct ta_rank_test result;
    bool done = xs && ys;
    if (done) {
        rank(xs, n, ys, m, &ranks);
        done = test(&ranks, n, m, &result);
    }
    if (done)
        *out = result;
    free(xs);
    free(ys);
    return done;
}

void ta_rank_test_thin(struct ta_rank_test *test, double share)
{
    if (!(share > 0 && share < 1))
        return;
    test->z *= sqrt(share);
    test->p = ta_two_sided(test->z);
    test->exact = false;
}
