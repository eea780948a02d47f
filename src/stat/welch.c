/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Welch's t on logarithms, and the difference that a test can see. */
#include "stat/numbers.h"
#include "traceanalyze/stat_compare.h"

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
    const bool is_spread = !ta_all_equal(values, n);
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

double ta_detectable(double sd, size_t a, size_t b, double alpha, double power)
{
    if (a == 0 || b == 0 || !(sd >= 0) || !(alpha > 0 && alpha < 1) || !(power > 0 && power < 1))
        return TA_NAN;
    const double z = gsl_cdf_ugaussian_Qinv(alpha / 2) + gsl_cdf_ugaussian_Pinv(power);
    return ta_if_finite(z * sd * sqrt(1 / (double)a + 1 / (double)b));
}
