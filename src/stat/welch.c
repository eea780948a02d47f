/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Welch's t on logarithms, and the difference that a test can see. */
#include "stat/compare.h"
#include "stat/numbers.h"

#include <gsl/gsl_cdf.h>

struct logs {
    long double mean, error; /* squared standard error of the mean */
};

static struct logs describe(const double *values, size_t n)
{
    struct logs s = {0};
    const long double count = (long double)n;
    for (size_t i = 0; i < n; i++)
        s.mean += logl((long double)values[i]) / count;
    const bool is_spread = n > 1 && !ta_all_equal(values, n);
    for (size_t i = 0; is_spread && i < n; i++) {
        const long double from_mean = logl((long double)values[i]) - s.mean;
        s.error += from_mean * from_mean / ((count - 1) * count);
    }
    return s;
}

void ta_welch_ratio(const double *x, size_t n, const double *y, size_t m, double confidence,
                    struct ta_welch *out)
{
    *out = (struct ta_welch){TA_NO_ESTIMATE, TA_NAN, TA_NAN, TA_NAN};
    if (n < 2 || m < 2 || !ta_all_positive(x, n) || !ta_all_positive(y, m))
        return;
    const struct logs base = describe(x, n), other = describe(y, m);
    const long double shift = other.mean - base.mean, error = base.error + other.error;
    out->ratio.value = ta_if_finite((double)expl(shift));
    if (!(error > 0))
        return;
    const long double parts = base.error * base.error / (long double)(n - 1) +
                              other.error * other.error / (long double)(m - 1);
    out->df = (double)(error * error / parts);
    out->t = (double)(shift / sqrtl(error));
    out->p = ta_two_sided_t(out->t, out->df);
    const long double reach = (long double)ta_t_of(confidence, out->df) * sqrtl(error);
    out->ratio =
        ta_estimate_of(out->ratio.value, (double)expl(shift - reach), (double)expl(shift + reach));
}

/* Σ (ln value − mean)², and how many degrees of freedom it adds; none where values are not
 * positive. */
static long double add_squares(const double *values, size_t n, double *df)
{
    if (n < 2 || !ta_all_positive(values, n))
        return 0;
    *df += (double)(n - 1);
    return describe(values, n).error * (long double)n * (long double)(n - 1);
}

void ta_log_spread_of(const double *x, size_t n, const double *y, size_t m,
                      struct ta_log_spread *out)
{
    double df = 0;
    const long double squares = add_squares(x, n, &df) + add_squares(y, m, &df);
    *out = (struct ta_log_spread){TA_NAN, TA_NAN};
    if (df > 0)
        *out = (struct ta_log_spread){(double)sqrtl(squares / (long double)df), df};
}

void ta_spread_ratio(const double *x, size_t n, const double *y, size_t m,
                     const struct ta_log_spread *spread, double confidence, struct ta_welch *out)
{
    *out = (struct ta_welch){TA_NO_ESTIMATE, TA_NAN, TA_NAN, TA_NAN};
    if (n < 1 || m < 1 || !ta_all_positive(x, n) || !ta_all_positive(y, m))
        return;
    const double shift = (double)(describe(y, m).mean - describe(x, n).mean);
    const double error = spread->sd * sqrt(1 / (double)n + 1 / (double)m);
    out->ratio.value = ta_if_finite(exp(shift));
    if (!(error > 0) || !(spread->df > 0))
        return;
    const bool is_known = isinf(spread->df);
    const double tail = (1 - confidence) / 2;
    const double reach =
        error * (is_known ? gsl_cdf_ugaussian_Qinv(tail) : ta_t_of(confidence, spread->df));
    out->df = spread->df;
    out->t = shift / error;
    out->p = is_known ? ta_two_sided(out->t) : ta_two_sided_t(out->t, out->df);
    out->ratio = ta_estimate_of(out->ratio.value, exp(shift - reach), exp(shift + reach));
}

double ta_detectable(double sd, size_t a, size_t b, double alpha, double power)
{
    if (a == 0 || b == 0 || !(sd >= 0) || !(alpha > 0 && alpha < 1) || !(power > 0 && power < 1))
        return TA_NAN;
    const double z = gsl_cdf_ugaussian_Qinv(alpha / 2) + gsl_cdf_ugaussian_Pinv(power);
    return ta_if_finite(z * sd * sqrt(1 / (double)a + 1 / (double)b));
}
