/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of one sample of numbers: moments, spread, intervals of quantiles, outliers, classes.
 *
 * What holds for all of src/stat:
 * - Values may have any unit; results have the same, unless stated.
 * - A figure that is not defined is NaN and no error: too few values, a value that is not finite
 *   (NaN, infinite), or a result beyond the range of a double.
 * - A function of type bool is false only without memory and then leaves its results alone.
 *   Memory for work is taken and given back within the call; results belong to the caller.
 * - "sorted" is ascending, as by ta_sort_numbers(); other samples may be in any order, unless it
 *   is a series, and are never changed.
 * - The same input gives the same bits.  There is no state, so any thread may call. */
#ifndef TA_STAT_SAMPLE_H
#define TA_STAT_SAMPLE_H

#include "traceanalyze/base.h"

/* A figure with its confidence interval [low, high].  Both ends are NaN where the sample is too
 * small for the confidence asked; the value may be there all the same. */
struct ta_estimate {
    double value, low, high;
};

/* ---- moments ----------------------------------------------------------------------------- */

struct ta_moments {
    size_t n;
    double mean;     /* NaN of none */
    double variance; /* divisor n − 1; NaN of fewer than 2 */
    double stddev;
    double skewness; /* mean of ((x − mean)/stddev)³; NaN of fewer than 2 or of equal values */
    double kurtosis; /* mean of ((x − mean)/stddev)⁴, less 3: 0 for a normal distribution */
    double min, max; /* NaN of none */
};

/* Two passes over the values in long double.  Skewness and kurtosis divide by the n − 1 deviation,
 * as GSL does: they are the population forms times ((n−1)/n)^1.5 and, for κ + 3, ((n−1)/n)². */
void ta_moments(const double *values, size_t n, struct ta_moments *out);

/* ---- quantiles and spread ---------------------------------------------------------------- */

/* Quantile of type 7, as ta_quantile(), with the shortest interval of order statistics
 * [x(j), x(k)] for which P(j ≤ Bin(n, share) < k) ≥ confidence; of several the most probable, of
 * those the lowest.  Free of any assumption on the distribution (David & Nagaraja, Order
 * Statistics, 2003, §7.1).  At 95 % it needs n ≥ 6 for the median, 29 for p90, 59 for p95 and 299
 * for p99.  O(√n) after sorting. */
void ta_quantile_interval(const double *sorted, size_t n, double share, double confidence,
                          struct ta_estimate *out);

/* Median absolute deviation from the median, not scaled; 0 of one value.  O(n). */
double ta_mad(const double *sorted, size_t n);

/* MAD to standard deviation of a normal distribution, 1/Φ⁻¹(3/4). */
#define TA_MAD_SIGMA 1.482602218505602

/* TA_MAD_SIGMA · MAD / |median|; NaN where the median is 0 (Rousseeuw & Croux 1993). */
double ta_robust_cv(const double *sorted, size_t n);

/* Mean without floor(share · n) values at each end, `share` in [0, 0.5). */
double ta_trimmed_mean(const double *sorted, size_t n, double share);

/* Scale estimator Qn with the factors for small samples: estimates the standard deviation of a
 * normal distribution with 82 % efficiency and withstands 50 % of outliers.  NaN of fewer than 2
 * (Rousseeuw & Croux, JASA 88, 1993; by GSL, O(n log n)). */
TA_MUST_CHECK bool ta_qn(const double *sorted, size_t n, double *out);

/* ---- outliers ---------------------------------------------------------------------------- */

/* Hampel filter over a series: marks x_i with |x_i − median| > t · TA_MAD_SIGMA · MAD of the
 * window of `window` values centered at i, cut at the ends of the series; where that MAD is 0 the
 * distance must also exceed 1 % of the |median|.  An even window counts as the next odd one.
 * `is_outlier` takes n marks and `n_outliers` their number; nothing is marked in a series that is
 * not finite.  Usual: window 11, t 3 (Hampel, JASA 69, 1974; by GSL, O(n · window)). */
TA_MUST_CHECK bool ta_hampel(const double *series, size_t n, size_t window, double t,
                             bool *is_outlier, size_t *n_outliers);

/* Modified z of each of m values against a sample: 0.6745 (x − median)/MAD; where the MAD is 0,
 * (x − median)/(1.2533 · mean absolute deviation); where that is 0 too, 0 for the median itself and
 * else infinite.  NaN for samples of fewer than 5.  Beyond ±3.5 a value is suspicious (Iglewicz &
 * Hoaglin 1993), but some member of 5 to 16 normal values is above 3.5 in 6 to 12 % of samples, and
 * beyond ±3.5 in 11 to 21 %.  `z` takes m. */
void ta_modified_z(const double *sorted, size_t n, const double *values, size_t m, double *z);

struct ta_fences {
    double mild_low, mild_high, severe_low, severe_high;
};

/* Tukey's fences: 1.5 (mild) and 3 (severe) interquartile ranges outside the quartiles; what lies
 * beyond is an outlier.  NaN of none (Exploratory Data Analysis, 1977). */
void ta_tukey_fences(const double *sorted, size_t n, struct ta_fences *out);

/* ---- classes ----------------------------------------------------------------------------- */

/* Two classes of positive values by Otsu's threshold: the cut of the sorted logarithms with the
 * largest variance between the classes, of several the lowest (Otsu, IEEE SMC 9, 1979). */
struct ta_classes {
    double threshold;           /* geometric mean of the values next to the cut */
    double mean_low, mean_high; /* geometric means of the classes */
    size_t n_low;               /* values below the threshold */
    double separation; /* Ashman's D of the logarithms, |μ1 − μ2|/√((σ1² + σ2²)/2), σ² with divisor
                          n; infinite between two points (Ashman, AJ 108, 1994) */
    bool valid; /* D > 2 and two values or more in each class */
};

/* Not valid and NaN for fewer than 2 values, equal ones, and values that are not positive. */
void ta_two_classes(const double *sorted, size_t n, struct ta_classes *out);

/* Below which time steps are ones that a step cache shortens: of two classes, of which the shorter
 * takes less than 0.8 of the longer, which is a tenth of all at least, since a few long steps among
 * many are outliers.  NaN without such classes. */
double ta_shortened_below(const double *sorted, size_t n);

/* ---- histogram --------------------------------------------------------------------------- */

/* `n_bins` bins of equal width from `low` to `high`, on the logarithm where `is_log`. */
struct ta_bins {
    double low, high;
    size_t n_bins; /* 0: nothing to show */
    bool is_log;
};

/* Linear bins of Freedman & Diaconis (1981), width 2 IQR n^(−1/3), at least 10 and at most 200;
 * one bin for equal values. */
void ta_bins_linear(const double *sorted, size_t n, struct ta_bins *out);
/* The same rule on the logarithms of positive values; none for others. */
void ta_bins_log(const double *sorted, size_t n, struct ta_bins *out);
/* Lower edge of bin `at`; of `n_bins` the upper edge of the last. */
double ta_bins_edge(const struct ta_bins *bins, size_t at);
/* Adds sorted values to counts[n_bins], which the caller cleared: [edge, next edge), the last bin
 * with its upper edge.  Values outside do not count. */
void ta_bins_count(const struct ta_bins *bins, const double *sorted, size_t n, uint64_t *counts);

#endif
