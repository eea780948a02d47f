/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Order statistics of a few numbers, by GSL. */
#include "traceanalyze/stat.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>

void ta_sort_numbers(double *values, size_t n)
{
    if (n)
        gsl_sort(values, 1, n);
}

double ta_quantile(const double *sorted, size_t n, double share)
{
    return n ? gsl_stats_quantile_from_sorted_data(sorted, 1, n, share) : (double)NAN;
}
