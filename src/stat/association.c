/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rank correlation. */
#include "stat/fit.h"
#include "stat/numbers.h"

#include <gsl/gsl_statistics.h>

#include <stdlib.h>

bool ta_spearman(const double *x, const double *y, size_t n, struct ta_correlation *out)
{
    *out = (struct ta_correlation){TA_NAN, TA_NAN};
    if (n < 3 || !ta_all_finite(x, n) || !ta_all_finite(y, n) || ta_all_equal(x, n) ||
        ta_all_equal(y, n))
        return true;
    double *work = reallocarray(NULL, n, 2 * sizeof *work);
    if (!work)
        return false;
    const double rho = gsl_stats_spearman(x, 1, y, 1, n, work);
    free(work);
    const double df = (double)(n - 2);
    out->rho = fmax(-1, fmin(1, rho));
    if (n >= 10)
        out->p = ta_two_sided_t(out->rho * sqrt(df / ((1 - out->rho) * (1 + out->rho))), df);
    return true;
}
