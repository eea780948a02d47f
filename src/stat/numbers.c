/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the statistics share: checks of values, sorted copies, the normal distribution. */
#include "stat/numbers.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <stdlib.h>

bool ta_all_finite(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

bool ta_all_positive(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]) || values[i] <= 0)
            return false;
    return true;
}

bool ta_all_equal(const double *values, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (values[i] != values[0])
            return false;
    return true;
}

double *ta_numbers(size_t n)
{
    return reallocarray(NULL, n ? n : 1, sizeof(double));
}

double *ta_sorted_copy(const double *values, size_t n)
{
    double *copy = ta_numbers(n);
    if (!copy)
        return NULL;
    if (n)
        memcpy(copy, values, n * sizeof *copy);
    ta_sort_numbers(copy, n);
    return copy;
}

double *ta_log_copy(const double *values, size_t n)
{
    double *copy = ta_numbers(n);
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = log(values[i]);
    return copy;
}

double ta_middle(const double *sorted, size_t n)
{
    if (n == 0)
        return TA_NAN;
    /* Halves first: the sum of two large values would overflow. */
    return n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
}

struct ta_estimate ta_estimate_of(double value, double low, double high)
{
    const bool bounded = isfinite(low) && isfinite(high);
    /* Rounding may turn an interval that has no width. */
    return (struct ta_estimate){ta_if_finite(value), bounded ? fmin(low, high) : TA_NAN,
                                bounded ? fmax(low, high) : TA_NAN};
}

double ta_z_of(double confidence)
{
    if (!(confidence > 0 && confidence < 1))
        return TA_NAN;
    return gsl_cdf_ugaussian_Qinv((1 - confidence) / 2);
}

double ta_two_sided(double z)
{
    return isnan(z) ? TA_NAN : fmin(1, 2 * gsl_cdf_ugaussian_Q(fabs(z)));
}

double ta_t_of(double confidence, double df)
{
    if (!(confidence > 0 && confidence < 1) || !(df > 0) || isinf(df))
        return TA_NAN;
    return gsl_cdf_tdist_Qinv((1 - confidence) / 2, df);
}

double ta_two_sided_t(double t, double df)
{
    if (isnan(t) || !(df > 0))
        return TA_NAN;
    return isinf(t) ? 0 : fmin(1, 2 * gsl_cdf_tdist_Q(fabs(t), df));
}

/* GSL ends the process on an error unless told otherwise, once per process; done here as the
 * library is loaded, when there are no threads yet. */
__attribute__((constructor)) static void quiet_gsl(void)
{
    gsl_set_error_handler_off();
}

bool ta_gsl_ok(int status)
{
    return status == GSL_SUCCESS;
}
