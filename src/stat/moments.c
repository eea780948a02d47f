/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moments of a sample of numbers; moments of many integers come from a ta_dist. */
#include "stat/numbers.h"

static long double mean_of(const double *values, size_t n)
{
    long double sum = 0, rest = 0;
    for (size_t i = 0; i < n; i++)
        sum += (long double)values[i];
    const long double rough = sum / (long double)n;
    for (size_t i = 0; i < n; i++) /* what rounding of the sum left over */
        rest += (long double)values[i] - rough;
    return rough + rest / (long double)n;
}

/* Mean of the given power of (x − mean)/deviation. */
static double standardized(const double *values, size_t n, long double mean, long double deviation,
                           int power)
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const long double z = ((long double)values[i] - mean) / deviation;
        sum += power == 3 ? z * z * z : z * z * z * z;
    }
    return ta_if_finite((double)(sum / (long double)n));
}

void ta_moments(const double *values, size_t n, struct ta_moments *out)
{
    *out = (struct ta_moments){n, TA_NAN, TA_NAN, TA_NAN, TA_NAN, TA_NAN, TA_NAN, TA_NAN};
    if (n == 0 || !ta_all_finite(values, n))
        return;
    const long double mean = mean_of(values, n);
    long double squares = 0;
    out->min = out->max = values[0];
    for (size_t i = 0; i < n; i++) {
        const long double from_mean = (long double)values[i] - mean;
        squares += from_mean * from_mean;
        out->min = fmin(out->min, values[i]);
        out->max = fmax(out->max, values[i]);
    }
    out->mean = (double)mean;
    if (n < 2)
        return;
    if (out->min == out->max) { /* the mean may be off by a rounding */
        out->variance = out->stddev = 0;
        return;
    }
    const long double variance = squares / (long double)(n - 1), deviation = sqrtl(variance);
    out->variance = ta_if_finite((double)variance);
    out->stddev = ta_if_finite((double)deviation);
    out->skewness = standardized(values, n, mean, deviation, 3);
    out->kurtosis = standardized(values, n, mean, deviation, 4) - 3;
}
