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

/* Figures of a distribution. */
struct ta_dist_figures {
    int64_t n;
    int64_t sum;      /* at the ends of int64 when it does not fit */
    int64_t min, max; /* TA_MISSING when empty */
    double mean;      /* NaN when empty */
    double stddev;    /* of the sample, divisor n − 1; NaN of fewer than two */
};

/* This and what follows may be asked only in finish(): while samples are added, figures lag. */
TA_API struct ta_dist_figures ta_dist_figures(const struct ta_dist *dist);

static inline int64_t ta_dist_count(const struct ta_dist *dist)
{
    return ta_dist_figures(dist).n;
}

static inline int64_t ta_dist_sum(const struct ta_dist *dist)
{
    return ta_dist_figures(dist).sum;
}

static inline int64_t ta_dist_min(const struct ta_dist *dist)
{
    return ta_dist_figures(dist).min;
}

static inline int64_t ta_dist_max(const struct ta_dist *dist)
{
    return ta_dist_figures(dist).max;
}

static inline double ta_dist_mean(const struct ta_dist *dist)
{
    return ta_dist_figures(dist).mean;
}

static inline double ta_dist_stddev(const struct ta_dist *dist)
{
    return ta_dist_figures(dist).stddev;
}

/* Quantile of type 7 (linear; Hyndman & Fan 1996), `percent` in 0…100. */
TA_API double ta_dist_quantile(const struct ta_dist *dist, unsigned percent);

/* Puts numbers into ascending order; none may be NaN. */
TA_API void ta_sort_numbers(double *values, size_t n);

/* Quantile of type 7 of numbers in ascending order, `share` in 0…1; NaN of none.  For samples
 * within a report, such as the steps of a run; a distribution keeps its own. */
TA_API double ta_quantile(const double *sorted, size_t n, double share);

TA_END_DECLS

#endif
