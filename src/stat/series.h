/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Series, values in the order of time: dependence, trend, change points, warm-up.  The rules at the
 * top of stat/sample.h hold here too. */
#ifndef TA_STAT_SERIES_H
#define TA_STAT_SERIES_H

#include "stat/sample.h"

/* Autocorrelation ρ_lag = Σ (x_i − mean)(x_{i+lag} − mean)/Σ (x_i − mean)²; NaN for lag ≥ n and
 * for equal values. */
double ta_autocorrelation(const double *series, size_t n, size_t lag);

/* How many independent values say as much of the mean: n/(1 + 2 Σ ρ_k (1 − k/n)) up to the
 * first ρ_k ≤ 0, between 1 and n; n for equal values and for n < 3, NaN of none (Geyer, Statistical
 * Science 7, 1992).  n/result is the autocorrelation time.  Lags beyond 64 come from one Fourier
 * transform (GSL), so O(n log n). */
TA_MUST_CHECK bool ta_effective_size(const double *series, size_t n, double *out);

/* ---- trend ------------------------------------------------------------------------------- */

struct ta_trend {
    int64_t s;   /* rising less falling pairs */
    double tau;  /* s / (n (n − 1)/2), Kendall's τ_a */
    double z, p; /* normal, with ties and continuity correction; two-sided.  z = 0 and p = 1 for
                    equal values */
};

/* Mann–Kendall test of a series for a trend.  NaN for n < 3 (Mann 1945; Kendall, Rank Correlation
 * Methods, 1975). The values must not depend on each other.  O(n log n). */
TA_MUST_CHECK bool ta_mann_kendall(const double *series, size_t n, struct ta_trend *out);

struct ta_slope {
    struct ta_estimate slope; /* units of y per unit of x */
    double intercept;         /* median of y less slope · median of x */
};

/* Theil–Sen line: the median slope of all pairs with x_i ≠ x_j, with Sen's interval (JASA 63, 1968)
 * as in scipy's theilslopes(method="separate").  `x` NULL is 0, 1, 2, …  NaN without such a pair;
 * no interval where its ranks fall outside the slopes (n < 5 at 95 %).
 *
 * Up to 1024 points every slope is listed.  Beyond, slopes at or below a bound are counted as
 * inversions in O(n log n), the bound is narrowed until few slopes are left, and these are listed:
 * the slope found is one of the data's, and the right one but for pairs that rounding of y − slope
 * · x cannot distinguish (Matoušek 1991). */
TA_MUST_CHECK bool ta_theil_sen(const double *x, const double *y, size_t n, double confidence,
                                struct ta_slope *out);

/* ---- change points ----------------------------------------------------------------------- */

struct ta_changes {
    size_t *at; /* first index of each segment but the first, ascending; free() it */
    size_t n;
    double sigma; /* σ̂, in units of the series */
};

/* Changes of the mean by PELT: the partition into segments of at least 3 values that minimizes the
 * sum of squares around the segment means of x/σ̂ plus 3 ln n per change (Killick, Fearnhead &
 * Eckley, JASA 107, 2012).  σ̂ = TA_MAD_SIGMA · MAD of the steps x_{i+1} − x_i / √2; where that is
 * 0, 1.2533 · their mean absolute deviation / √2; x is held within 50 σ̂ of the median of the 11
 * values around it.  No changes for n < 6, for equal values, and for values that are not finite.
 *
 * A single value more than about 8 σ̂ off its neighbors is cheaper in a segment of its own, with
 * two next to it: where outliers are no changes, leave them out first (ta_hampel()).
 *
 * Up to 8192 values the optimum is exact (O(n²) at worst, where nothing changes).  Longer series
 * are first cut into as many groups of neighbors, their means are partitioned, and each change is
 * then put at the value that separates its two sides best, or dropped where that saves too little.
 */
TA_MUST_CHECK bool ta_change_points(const double *series, size_t n, struct ta_changes *out);

/* ---- warm-up ----------------------------------------------------------------------------- */

struct ta_warm_up {
    size_t cut;    /* values to leave out at the start */
    bool steady;   /* false: the cut is at its bound n/2, or n < 4; there is no steady state to
                      speak of */
    double mean;   /* of what is left */
    double stddev; /* divisor n − 1 */
};

/* MSER: the d ≤ n/2 with the least Σ_{i ≥ d} (x_i − mean_d)²/(n − d)², of several the first
 * (White, Simulation 69, 1997).  Test for a trend first: a series that drifts always reaches the
 * bound.  O(n). */
void ta_warm_up(const double *series, size_t n, struct ta_warm_up *out);

/* How many steps at the start set the run up: each takes more than one and a half times as long as
 * any later one, and they are at most a quarter of all.  `later` has room for n + 1; NaN is no
 * step. */
size_t ta_first_steps(const double *times, size_t n, double *later);

#endif
