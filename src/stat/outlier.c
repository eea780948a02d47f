/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values that do not belong to the rest: Hampel filter, modified z, Tukey's fences. */
#include "stat/numbers.h"

#include <gsl/gsl_filter.h>
#include <stdlib.h>

/* ---- Hampel ------------------------------------------------------------------------------ */

struct windows {
    gsl_vector *filtered, *median, *sigma;
    gsl_vector_int *outlier;
    gsl_filter_impulse_workspace *work;
};

static bool filter(const double *series, size_t n, double t, struct windows *w, size_t *n_outliers)
{
    const gsl_vector_const_view view = gsl_vector_const_view_array(series, n);
    return ta_gsl_ok(gsl_filter_impulse(GSL_FILTER_END_TRUNCATE, GSL_FILTER_SCALE_MAD, t,
                                        &view.vector, w->filtered, w->median, w->sigma, n_outliers,
                                        w->outlier, w->work));
}

/* Where the spread of a window is 0 any other value is "beyond" it, however near. */
static bool is_marked(const struct windows *w, const double *series, size_t i)
{
    const double median = gsl_vector_get(w->median, i), sigma = gsl_vector_get(w->sigma, i);
    return gsl_vector_int_get(w->outlier, i) &&
           (sigma > 0 || fabs(series[i] - median) > 0.01 * fabs(median));
}

bool ta_hampel(const double *series, size_t n, size_t window, double t, bool *is_outlier,
               size_t *n_outliers)
{
    const bool defined = n >= 3 && window >= 2 && t >= 0 && ta_all_finite(series, n);
    if (!defined) {
        for (size_t i = 0; i < n; i++)
            is_outlier[i] = false;
        *n_outliers = 0;
        return true;
    }
    const size_t width = window < 2 * n ? window : 2 * n;
    struct windows w = {gsl_vector_alloc(n), gsl_vector_alloc(n), gsl_vector_alloc(n),
                        gsl_vector_int_alloc(n), gsl_filter_impulse_alloc(width)};
    size_t marked = 0, n_marked = 0;
    const bool done = w.filtered && w.median && w.sigma && w.outlier && w.work &&
                      filter(series, n, t, &w, &marked);
    for (size_t i = 0; done && i < n; i++) {
        is_outlier[i] = is_marked(&w, series, i);
        n_marked += is_outlier[i];
    }
    if (done)
        *n_outliers = n_marked;
    gsl_vector_free(w.filtered);
    gsl_vector_free(w.median);
    gsl_vector_free(w.sigma);
    gsl_vector_int_free(w.outlier);
    if (w.work)
        gsl_filter_impulse_free(w.work);
    return done;
}

/* ---- modified z -------------------------------------------------------------------------- */

static double mean_deviation(const double *sorted, size_t n, double center)
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += fabsl((long double)sorted[i] - (long double)center);
    return (double)(sum / (long double)n);
}

void ta_modified_z(const double *sorted, size_t n, const double *values, size_t m, double *z)
{
    const bool defined = n >= 5 && ta_all_finite(sorted, n);
    const double median = ta_middle(sorted, n);
    const double mad = defined ? ta_mad(sorted, n) : TA_NAN;
    /* 0.6745 as the authors print it, for results that can be compared with theirs. */
    const double unit = mad > 0   ? mad / 0.6745
                        : defined ? 1.253314 * mean_deviation(sorted, n, median)
                                  : TA_NAN;
    for (size_t i = 0; i < m; i++) {
        const double distance = values[i] - median;
        z[i] = distance == 0 && defined ? 0 : distance / unit;
    }
}

/* ---- fences ------------------------------------------------------------------------------ */

void ta_tukey_fences(const double *sorted, size_t n, struct ta_fences *out)
{
    *out = (struct ta_fences){TA_NAN, TA_NAN, TA_NAN, TA_NAN};
    if (n == 0 || !ta_all_finite(sorted, n))
        return;
    const double low = ta_quantile(sorted, n, 0.25), high = ta_quantile(sorted, n, 0.75);
    const double range = high - low;
    *out = (struct ta_fences){ta_if_finite(low - 1.5 * range), ta_if_finite(high + 1.5 * range),
                              ta_if_finite(low - 3 * range), ta_if_finite(high + 3 * range)};
}
