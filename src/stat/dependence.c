/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How strongly the values of a series depend on earlier ones. */
#include "stat/numbers.h"
#include "stat/series.h"

#include <gsl/gsl_fft_real.h>
#include <stdlib.h>

enum { NEAR_LAGS = 64 };

/* The values less their mean, divided by the largest of these: nothing overflows.  NULL without
 * memory. */
static double *center(const double *series, size_t n)
{
    struct ta_moments m;
    ta_moments(series, n, &m);
    const double largest = fmax(m.max / 2 - m.mean / 2, m.mean / 2 - m.min / 2);
    double *centered = ta_numbers(n);
    for (size_t i = 0; centered && i < n; i++)
        centered[i] = (series[i] / 2 - m.mean / 2) / largest;
    return centered;
}

static double product(const double *centered, size_t n, size_t lag)
{
    long double sum = 0;
    for (size_t i = 0; i + lag < n; i++)
        sum += (long double)centered[i] * (long double)centered[i + lag];
    return (double)sum;
}

double ta_autocorrelation(const double *series, size_t n, size_t lag)
{
    if (lag >= n || !ta_all_finite(series, n) || ta_all_equal(series, n))
        return TA_NAN;
    struct ta_moments m;
    ta_moments(series, n, &m);
    const long double mean = (long double)m.mean;
    long double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        const long double from_mean = (long double)series[i] - mean;
        squares += from_mean * from_mean;
        if (i + lag < n)
            sum += from_mean * ((long double)series[i + lag] - mean);
    }
    return ta_if_finite((double)(sum / squares));
}

/* All products at once: the transform of the squared spectrum.  Zeros after the values keep its
 * two ends apart.  The caller frees what comes back, NULL without memory. */
static double *all_products(const double *centered, size_t n)
{
    size_t size = 2;
    while (size < 2 * n)
        size *= 2;
    double *at = calloc(size, sizeof *at);
    if (!at)
        return NULL;
    memcpy(at, centered, n * sizeof *at);
    bool done = ta_gsl_ok(gsl_fft_real_radix2_transform(at, 1, size));
    at[0] *= at[0];
    at[size / 2] *= at[size / 2];
    for (size_t i = 1; i < size / 2; i++) { /* real parts ahead, imaginary ones from the end */
        at[i] = at[i] * at[i] + at[size - i] * at[size - i];
        at[size - i] = at[i]; /* even and real: the forward transform serves as the inverse */
    }
    done = done && ta_gsl_ok(gsl_fft_real_radix2_transform(at, 1, size));
    for (size_t i = 0; i < n; i++)
        at[i] /= (double)size;
    if (done)
        return at;
    free(at);
    return NULL;
}

/* 1 + 2 Σ ρ_k (1 − k/n) up to the first ρ_k ≤ 0; −1 without memory. */
static double correlation_time(const double *centered, size_t n)
{
    const double squares = product(centered, n, 0);
    double *far = NULL;
    double time = 1;
    for (size_t lag = 1; lag < n; lag++) {
        if (lag == NEAR_LAGS && !(far = all_products(centered, n)))
            return -1;
        const double rho = (far ? far[lag] : product(centered, n, lag)) / squares;
        if (!(rho > 0))
            break;
        time += 2 * rho * (1 - (double)lag / (double)n);
    }
    free(far);
    return time;
}

bool ta_effective_size(const double *series, size_t n, double *out)
{
    if (n == 0 || !ta_all_finite(series, n)) {
        *out = TA_NAN;
        return true;
    }
    if (n < 3 || ta_all_equal(series, n)) {
        *out = (double)n;
        return true;
    }
    double *centered = center(series, n);
    const double time = centered ? correlation_time(centered, n) : -1;
    free(centered);
    if (time < 0)
        return false;
    *out = fmax(1, (double)n / time);
    return true;
}
