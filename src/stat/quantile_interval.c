/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals of quantiles from order statistics. */
#include "stat/numbers.h"

#include <gsl/gsl_cdf.h>

struct binomial {
    unsigned n;
    double share;
};

/* Probabilities nearer to each other are equal: those of mirrored intervals differ by rounding. */
#define SAME 1e-12

/* P(Bin ≤ k). */
static double at_most(const struct binomial *b, int64_t k)
{
    if (k < 0)
        return 0;
    return k >= b->n ? 1 : gsl_cdf_binomial_P((unsigned)k, b->share, b->n);
}

/* Ranks j < k, from 1, of the interval; false if there is none. */
static bool find_ranks(const struct binomial *b, double confidence, int64_t *out_j, int64_t *out_k)
{
    /* Beyond 40 standard deviations a double holds no probability. */
    const double middle = b->n * b->share, reach = 40 * sqrt(middle * (1 - b->share)) + 40;
    const int64_t first = (int64_t)fmax(1, floor(middle - reach));
    const int64_t last = (int64_t)fmin(b->n, ceil(middle + reach));
    double best = 0, above = at_most(b, first);
    int64_t k = first + 1, shortest = INT64_MAX;
    for (int64_t j = first; j < last; j++) {
        const double below = at_most(b, j - 1);
        if (k <= j) {
            k = j + 1;
            above = at_most(b, k - 1);
        }
        while (k < last && above - below < confidence)
            above = at_most(b, ++k - 1);
        if (above - below < confidence)
            break; /* j only grows, and what lies above it shrinks */
        if (k - j < shortest || (k - j == shortest && above - below > best + SAME)) {
            shortest = k - j;
            best = above - below;
            *out_j = j;
            *out_k = k;
        }
    }
    return shortest != INT64_MAX;
}

void ta_quantile_interval(const double *sorted, size_t n, double share, double confidence,
                          struct ta_estimate *out)
{
    *out = TA_NO_ESTIMATE;
    if (n == 0 || n > UINT32_MAX || !(share >= 0 && share <= 1) || !ta_all_finite(sorted, n))
        return;
    out->value = ta_if_finite(ta_quantile(sorted, n, share));
    if (!(confidence > 0 && confidence < 1) || share <= 0 || share >= 1)
        return;
    const struct binomial b = {(unsigned)n, share};
    int64_t j = 0, k = 0;
    if (find_ranks(&b, confidence, &j, &k))
        *out = ta_estimate_of(out->value, sorted[j - 1], sorted[k - 1]);
}
