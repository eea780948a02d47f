/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the statistics share: checks of values, sorted copies, the normal distribution. */
#ifndef TA_STAT_NUMBERS_H
#define TA_STAT_NUMBERS_H

#include "stat/sample.h"
#include "traceanalyze/stat.h"

#include <math.h>

#define TA_NAN ((double)NAN)
#define TA_NO_ESTIMATE ((struct ta_estimate){TA_NAN, TA_NAN, TA_NAN})

/* None is NaN or infinite; true of none. */
bool ta_all_finite(const double *values, size_t n);
/* All finite and above 0. */
bool ta_all_positive(const double *values, size_t n);
bool ta_all_equal(const double *values, size_t n);

/* Memory for n numbers, never for none; NULL without memory. */
double *ta_numbers(size_t n);
/* A copy in ascending order, or with the logarithms taken; the caller frees it. */
double *ta_sorted_copy(const double *values, size_t n);
double *ta_log_copy(const double *values, size_t n);

/* Median of sorted values; NaN of none. */
double ta_middle(const double *sorted, size_t n);

/* The value, or NaN where it is not finite. */
static inline double ta_if_finite(double value)
{
    return isfinite(value) ? value : TA_NAN;
}

/* Ranks j < k, from 1, of the order statistics that ta_quantile_interval() gives for the quantile
 * of n values; false where there are none. */
bool ta_quantile_ranks(uint64_t n, double share, double confidence, int64_t *j, int64_t *k);

/* An estimate whose three figures are finite; a lone interval end is none. */
struct ta_estimate ta_estimate_of(double value, double low, double high);

/* z with P(|N(0, 1)| ≤ z) = confidence; NaN for confidence outside (0, 1). */
double ta_z_of(double confidence);
/* P(|N(0, 1)| ≥ |z|). */
double ta_two_sided(double z);
/* The same of Student's t. */
double ta_t_of(double confidence, double df);
double ta_two_sided_t(double t, double df);

/* Whether a call of GSL worked.  GSL's own handler, which ends the process, is off once the library
 * is loaded. */
bool ta_gsl_ok(int status);

#endif
