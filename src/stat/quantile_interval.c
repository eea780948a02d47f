/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals of quantiles from order statistics. */
#include "stat/numbers.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>

struct binomial {
    unsigned n;
    double share;
};

/* Probabilities nearer to each other are equal: mirrored intervals differ by rounding. */
#define SAME 1e-12

/* A number of successes, its probability, and the probability of no more; the next one follows from
 * it. */
struct place {
    int64_t at;
    double here, at_most;
};

static struct place place_of(const struct binomial *b, int64_t at)
{
    return (struct place){at, gsl_ran_binomial_pdf((unsigned)at, b->share, b->n),
                          gsl_cdf_binomial_P((unsigned)at, b->share, b->n)};
}

static void move_on(const struct binomial *b, struct place *place)
{
    place->here *= (double)(b->n - place->at) / (double)(place->at + 1) * b->share / (1 - b->share);
    place->at++;
    place->at_most += place->here;
}

/* Ranks j < k, from 1, of the interval; false if there is none. */
static bool find_ranks(const struct binomial *b, double confidence, int64_t *out_j, int64_t *out_k)
{
    /* Beyond it is no probability that would show. */
    const double middle = b->n * b->share, reach = 9 * sqrt(middle * (1 - b->share)) + 9;
    const int64_t first = ta_whole(fmax(1, floor(middle - reach)));
    const int64_t last = ta_whole(fmin(b->n, ceil(middle + reach)));
    struct place below = place_of(b, first - 1), above = below; /* at j − 1, and at k − 1 */
    double best = 0;
    int64_t shortest = INT64_MAX;
    for (int64_t j = first; j < last; j++) {
        while (below.at < j - 1)
            move_on(b, &below);
        while (above.at < j)
            move_on(b, &above);
        while (above.at + 1 < last && above.at_most - below.at_most < confidence)
            move_on(b, &above);
        const double covered = above.at_most - below.at_most;
        const int64_t k = above.at + 1;
        if (covered < confidence)
            break; /* j only grows, and what lies above it shrinks */
        if (k - j < shortest || (k - j == shortest && covered > best + SAME)) {
            shortest = k - j;
            best = covered;
            *out_j = j;
            *out_k = k;
        }
    }
    return shortest != INT64_MAX;
}

bool ta_quantile_ranks(uint64_t n, double share, double confidence, int64_t *j, int64_t *k)
{
    const struct binomial b = {(unsigned)n, share};
    return n > 0 && n <= UINT32_MAX && share > 0 && share < 1 && confidence > 0 && confidence < 1 &&
           find_ranks(&b, confidence, j, k);
}

void ta_quantile_interval(const double *sorted, size_t n, double share, double confidence,
                          struct ta_estimate *out)
{
    *out = TA_NO_ESTIMATE;
    if (n == 0 || n > UINT32_MAX || !(share >= 0 && share <= 1) || !ta_all_finite(sorted, n))
        return;
    out->value = ta_if_finite(ta_quantile(sorted, n, share));
    int64_t j = 0, k = 0;
    if (ta_quantile_ranks(n, share, confidence, &j, &k))
        *out = ta_estimate_of(out->value, sorted[j - 1], sorted[k - 1]);
}
