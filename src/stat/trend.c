/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Mann–Kendall test. */
#include "stat/inversions.h"
#include "stat/numbers.h"
#include "stat/series.h"

#include <stdlib.h>

struct ties {
    uint64_t pairs;
    long double variance; /* Σ t (t − 1)(2 t + 5) */
};

static long double variance_part(size_t t)
{
    const long double count = (long double)t;
    return count * (count - 1) * (2 * count + 5);
}

static struct ties count_ties(const double *sorted, size_t n)
{
    struct ties ties = {0};
    for (size_t at = 0, end; at < n; at = end) {
        for (end = at + 1; end < n && sorted[end] == sorted[at];)
            end++;
        const uint64_t t = end - at;
        ties.pairs += t * (t - 1) / 2;
        ties.variance += variance_part(end - at);
    }
    return ties;
}

bool ta_mann_kendall(const double *series, size_t n, struct ta_trend *out)
{
    if (n < 3 || n >= UINT32_MAX || !ta_all_finite(series, n)) {
        *out = (struct ta_trend){0, TA_NAN, TA_NAN, TA_NAN};
        return true;
    }
    double *keys = reallocarray(NULL, n, 2 * sizeof *keys);
    if (!keys)
        return false;
    memcpy(keys, series, n * sizeof *keys);
    const uint64_t falling = ta_inversions(keys, keys + n, n, false);
    const struct ties ties = count_ties(keys, n);
    free(keys);

    const uint64_t all = (uint64_t)n * (n - 1) / 2;
    const int64_t s = (int64_t)(all - ties.pairs) - 2 * (int64_t)falling;
    const long double sd = sqrtl((variance_part(n) - ties.variance) / 18);
    const long double toward_0 = (long double)s - (long double)((s > 0) - (s < 0));
    const double z = sd > 0 ? (double)(toward_0 / sd) : 0;
    *out = (struct ta_trend){s, (double)((long double)s / (long double)all), z, ta_two_sided(z)};
    return true;
}
