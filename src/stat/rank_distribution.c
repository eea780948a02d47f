/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact distributions of rank statistics.  The number of ways to U = u is the coefficient of q^u in
 * the Gaussian binomial Π (1 − q^(n+i))/(1 − q^i) over i = 1 … min(n, m), multiplied out in
 * integers. */
#include "stat/rank_distribution.h"

#include "stat/numbers.h"

#include <gsl/gsl_cdf.h>
#include <stdlib.h>

typedef unsigned __int128 ways; /* modulo 2^128, which the sums in between may pass */

enum {
    SMALL_SIDE = 8,
    SMALL_PAIRS = 1000000 /* C(n + m, 8) with n·m at this bound is below 2^121 */
};

bool ta_u_is_small(size_t n, size_t m)
{
    const size_t least = n < m ? n : m, most = n < m ? m : n;
    return least >= 1 && least <= SMALL_SIDE && most <= SMALL_PAIRS / least;
}

/* Ways to U = 0 … u; NULL without memory. */
static ways *count_ways(size_t least, size_t most, uint64_t u)
{
    ways *at = calloc(u + 1, sizeof *at);
    if (!at)
        return NULL;
    at[0] = 1;
    for (size_t i = 1; i <= least; i++) {
        for (uint64_t v = u; v >= most + i && v <= u; v--)
            at[v] -= at[v - most - i];
        for (uint64_t v = i; v <= u; v++)
            at[v] += at[v - i];
    }
    return at;
}

/* C(n + m, least), all ways. */
static long double all_ways(size_t least, size_t most)
{
    long double product = 1;
    for (size_t i = 1; i <= least; i++)
        product = product * (long double)(most + i) / (long double)i;
    return product;
}

bool ta_u_at_most(size_t n, size_t m, uint64_t u, double *out)
{
    const size_t least = n < m ? n : m, most = n < m ? m : n;
    ways *at = count_ways(least, most, u);
    if (!at)
        return false;
    ways sum = 0;
    for (uint64_t v = 0; v <= u; v++)
        sum += at[v];
    free(at);
    *out = (double)((long double)sum / all_ways(least, most));
    return true;
}

/* c of the normal distribution with continuity: P(U ≤ c − 1) is about Φ((c − 1/2 − mean)/sd). */
static uint64_t normal_rank(double mean, double sd, double tail)
{
    const double c = floor(mean - sd * gsl_cdf_ugaussian_Qinv(tail) + 0.5);
    return c >= 1 ? (uint64_t)ta_whole(c) : 0;
}

static bool exact_rank(size_t n, size_t m, double tail, uint64_t *out)
{
    const size_t least = n < m ? n : m, most = n < m ? m : n;
    const uint64_t end = (uint64_t)n * m / 2;
    ways *at = count_ways(least, most, end);
    if (!at)
        return false;
    const long double all = all_ways(least, most);
    ways sum = 0;
    uint64_t c = 0;
    while (c < end && (long double)(sum + at[c]) / all <= (long double)tail)
        sum += at[c++];
    free(at);
    *out = c;
    return true;
}

bool ta_u_rank(size_t n, size_t m, double tail, uint64_t *out)
{
    if (ta_u_is_small(n, m))
        return exact_rank(n, m, tail, out);
    const double pairs = (double)n * (double)m;
    *out = normal_rank(pairs / 2, sqrt(pairs * ((double)n + (double)m + 1) / 12), tail);
    return true;
}

uint64_t ta_signed_rank(size_t n, double tail)
{
    const double count = (double)n;
    if (n > TA_SIGNED_EXACT)
        return normal_rank(count * (count + 1) / 4,
                           sqrt(count * (count + 1) * (2 * count + 1) / 24), tail);
    /* Subsets of 1 … n by their sum; 2^50 is exact in a double. */
    enum { SUMS = TA_SIGNED_EXACT * (TA_SIGNED_EXACT + 1) / 2 + 1 };
    double subsets[SUMS] = {1};
    const size_t all = n * (n + 1) / 2;
    for (size_t rank = 1; rank <= n; rank++)
        for (size_t sum = all; sum >= rank; sum--)
            subsets[sum] += subsets[sum - rank];
    double below = 0;
    uint64_t c = 0;
    while (c < all / 2 && ldexp(below + subsets[c], -(int)n) <= tail)
        below += subsets[c++];
    return c;
}
