/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spread and center of a sorted sample that outliers do not move. */
#include "stat/numbers.h"

#include <gsl/gsl_statistics.h>
#include <stdlib.h>

/* The `at`-th least (from 0) and the one after it of |x − center|: those below the center, read
 * downwards, and those above, read upwards, are merged. */
static void nth_deviations(const double *sorted, size_t n, double center, size_t at, double *nth,
                           double *next)
{
    size_t above = 0;
    while (above < n && sorted[above] < center)
        above++;
    size_t below = above; /* sorted[below − 1] is the next one downwards */
    *nth = *next = 0;
    for (size_t i = 0; i <= at + 1 && i < n; i++) {
        const double down = below > 0 ? center - sorted[below - 1] : (double)INFINITY;
        const double up = above < n ? sorted[above] - center : (double)INFINITY;
        const double deviation = down < up ? down : up;
        if ((down < up || above == n) && below > 0)
            below--;
        else
            above++;
        if (i <= at)
            *nth = deviation;
        *next = deviation;
    }
}

double ta_mad(const double *sorted, size_t n)
{
    if (n == 0 || !ta_all_finite(sorted, n))
        return TA_NAN;
    double nth, next;
    nth_deviations(sorted, n, ta_middle(sorted, n), (n - 1) / 2, &nth, &next);
    return ta_if_finite(n % 2 ? nth : nth / 2 + next / 2);
}

double ta_robust_cv(const double *sorted, size_t n)
{
    const double middle = fabs(ta_middle(sorted, n));
    return middle > 0 ? ta_if_finite(TA_MAD_SIGMA * ta_mad(sorted, n) / middle) : TA_NAN;
}

double ta_trimmed_mean(const double *sorted, size_t n, double share)
{
    if (n == 0 || !(share >= 0 && share < 0.5))
        return TA_NAN;
    const size_t cut = ta_whole_size(floor(share * (double)n));
    struct ta_moments moments;
    ta_moments(sorted + cut, n - 2 * cut, &moments);
    return moments.mean;
}

bool ta_qn(const double *sorted, size_t n, double *out)
{
    /* GSL's search does not end on differences that overflow. */
    if (n < 2 || !ta_all_finite(sorted, n) || !isfinite(2 * (sorted[n - 1] - sorted[0]))) {
        *out = TA_NAN;
        return true;
    }
    double *numbers = reallocarray(NULL, n, 3 * sizeof *numbers);
    int *integers = reallocarray(NULL, n, 5 * sizeof *integers);
    const bool done = numbers && integers && n <= INT_MAX;
    if (done)
        *out = ta_if_finite(gsl_stats_Qn_from_sorted_data(sorted, 1, n, numbers, integers));
    free(numbers);
    free(integers);
    return done;
}
