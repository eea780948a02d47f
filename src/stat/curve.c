/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Curves through points: integral of the polygon, and a monotone curve to draw. */
#include "stat/fit.h"
#include "stat/numbers.h"

#include <gsl/gsl_interp.h>

static bool ascends(const double *x, const double *y, size_t n)
{
    if (!ta_all_finite(x, n) || !ta_all_finite(y, n))
        return false;
    for (size_t i = 1; i < n; i++)
        if (!(x[i - 1] < x[i]))
            return false;
    return true;
}

double ta_integral(const double *x, const double *y, size_t n, double from, double to)
{
    if (n < 2 || !ascends(x, y, n) || !(from >= x[0] && from <= to && to <= x[n - 1]))
        return TA_NAN;
    long double sum = 0;
    for (size_t i = 1; i < n; i++) {
        const long double a = (long double)fmax(x[i - 1], from), b = (long double)fmin(x[i], to);
        if (a >= b)
            continue;
        const long double left = (long double)x[i - 1], low = (long double)y[i - 1];
        const long double steep = ((long double)y[i] - low) / ((long double)x[i] - left);
        sum += (b - a) * (low + steep * ((a - left) + (b - left)) / 2);
    }
    return ta_if_finite((double)sum);
}

bool ta_curve(const double *x, const double *y, size_t n, const double *at, size_t n_at,
              double *out)
{
    const bool defined = n >= 3 && ascends(x, y, n);
    gsl_interp *curve = defined ? gsl_interp_alloc(gsl_interp_steffen, n) : NULL;
    if (defined && !curve)
        return false;
    const bool drawn = defined && ta_gsl_ok(gsl_interp_init(curve, x, y, n));
    for (size_t i = 0; i < n_at; i++) {
        double value = TA_NAN;
        if (drawn && at[i] >= x[0] && at[i] <= x[n - 1] &&
            !ta_gsl_ok(gsl_interp_eval_e(curve, x, y, at[i], NULL, &value)))
            value = TA_NAN;
        out[i] = ta_if_finite(value);
    }
    if (curve)
        gsl_interp_free(curve);
    return true;
}
