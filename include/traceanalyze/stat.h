/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distributions of integers that merge exactly: moments, extremes and quantiles.
 *
 * Everything is integer arithmetic until the last step, so the result is the same for any split
 * of the samples, any order of merging and any number of threads. */
#ifndef TRACEANALYZE_STAT_H
#define TRACEANALYZE_STAT_H

#include "base.h"

TA_BEGIN_DECLS

/* Samples kept one by one; beyond it a log-linear histogram takes over, 128 buckets to the
 * octave, whose midpoints are within 1/256 (0.4 %) of every sample. */
#define TA_DIST_EXACT 65536

struct ta_dist;

/* Adds a sample; negative ones are the caller's error and count as 0. */
TA_API void ta_dist_add(struct ta_dist *dist, int64_t value);

/* What follows is to be asked in finish(): while samples are added, figures lag behind. */
TA_API int64_t ta_dist_count(const struct ta_dist *dist);
/* Sum, at the ends of int64 when it does not fit. */
TA_API int64_t ta_dist_sum(const struct ta_dist *dist);
/* TA_MISSING when empty. */
TA_API int64_t ta_dist_min(const struct ta_dist *dist);
TA_API int64_t ta_dist_max(const struct ta_dist *dist);

/* NaN where it is not defined: no sample; for the deviation fewer than two. */
TA_API double ta_dist_mean(const struct ta_dist *dist);
/* Sample standard deviation, divisor n − 1. */
TA_API double ta_dist_stddev(const struct ta_dist *dist);
/* Quantile of type 7 (linear; Hyndman & Fan 1996), `percent` in 0…100. */
TA_API double ta_dist_quantile(const struct ta_dist *dist, unsigned percent);
/* Interval that holds the quantile of what the samples were drawn from with at least that
 * confidence, as ta_quantile_interval() gives it; false where there are too few samples. */
TA_API bool ta_dist_quantile_interval(const struct ta_dist *dist, unsigned percent,
                                      double confidence, int64_t *low, int64_t *high);

/* Calls `each` with ascending values and the number of samples at or below each; exact samples
 * as they are, histogram buckets by their midpoint. */
TA_API void ta_dist_walk(const struct ta_dist *dist,
                         void (*each)(void *user, int64_t value, int64_t at_or_below), void *user);

/* The same for about `steps` of them, evenly by count: enough for a curve.  The first and the last
 * are always there. */
TA_API void ta_dist_steps(const struct ta_dist *dist, int64_t steps,
                          void (*each)(void *user, int64_t value, int64_t at_or_below), void *user);

/* Puts points in time into ascending order; O(n) when they are nearly in it. */
TA_API void ta_sort_times(int64_t *times, size_t n);

/* Puts numbers into ascending order; none may be NaN. */
TA_API void ta_sort_numbers(double *values, size_t n);

/* Quantile of type 7 of numbers in ascending order, `share` in 0…1; NaN of none.  For samples
 * within a report, such as the steps of a run; a distribution keeps its own. */
TA_API double ta_quantile(const double *sorted, size_t n, double share);

TA_END_DECLS

#endif
