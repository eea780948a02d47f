/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resampling with fixed seeds: bootstrap and permutation.  The rules at the top of stat/sample.h
 * hold here too.
 *
 * The generator is MT19937 as in GSL and numpy.random.RandomState(seed): an index below n is
 * word / (0xffffffff / n), words that give n or more are left out. */
#ifndef TA_STAT_RESAMPLE_H
#define TA_STAT_RESAMPLE_H

#include "stat/sample.h"

/* The seed for one figure: 32-bit FNV-1a of both texts, never 0 (GSL reads 0 as 4357).  The same on
 * every machine, so that figures can be computed again. */
uint32_t ta_seed(struct ta_slice analysis, struct ta_slice key);

/* A figure of a sample.  It may put the values into another order, and must return the same for the
 * same values in the order given. */
typedef double ta_statistic(double *values, size_t n, const void *user);

/* The usual two. */
double ta_statistic_mean(double *values, size_t n, const void *user);
double ta_statistic_median(double *values, size_t n, const void *user);

struct ta_bootstrap {
    size_t rounds;     /* usual: 2000, for gates 10 000 */
    uint32_t seed;     /* by ta_seed() */
    size_t block;      /* length of the moving blocks; 1: values do not depend on each other; 0:
                          ta_block_length() */
    double confidence; /* such as 0.95 */
    bool percentile;   /* the percentile interval instead of BCa */
};

/* Length of blocks for a series: ⌈n^(1/3)⌉ when the autocorrelation at lag 1 exceeds 0.2, else 1
 * (Künsch, Ann. Stat. 17, 1989). */
size_t ta_block_length(const double *series, size_t n);

/* The statistic of the sample with its bootstrap interval: quantiles (type 7) of its values over
 * `rounds` resamples; BCa moves the two levels by the bias z0 (replicates below the figure, those
 * equal to it half) and the acceleration a (jackknife, of at most 1000 groups of neighbors when n
 * is larger).  Where all replicates lie on one side of the figure it is the percentile interval
 * (Efron & Tibshirani, An Introduction to the Bootstrap, 1993, ch. 13 and 14).  No interval for
 * n < 2, for less than 20 rounds, and when a replicate is not finite.  O(rounds · n) and as often
 * the statistic. */
TA_MUST_CHECK bool ta_bootstrap(const double *x, size_t n, ta_statistic *statistic,
                                const void *user, const struct ta_bootstrap *how,
                                struct ta_estimate *out);

/* The ratio statistic(y)/statistic(x) with its percentile interval, both sides resampled each
 * round, x first; BCa is not offered. */
TA_MUST_CHECK bool ta_bootstrap_ratio(const double *x, size_t n, const double *y, size_t m,
                                      ta_statistic *statistic, const void *user,
                                      const struct ta_bootstrap *how, struct ta_estimate *out);

struct ta_permutation {
    double difference; /* median of y less median of x */
    double p;          /* two-sided: arrangements at least as far from 0 */
    uint64_t rounds;   /* arrangements looked at */
    bool exact;        /* that is all of them */
};

/* Permutation test on the difference of medians.  Where there are no more than `rounds` ways to
 * choose n of n + m, all are looked at and p = share of those with |difference| at or above the one
 * seen; else p = (1 + #)/(1 + rounds) over shuffles.  `block` > 1 shuffles blocks of neighbors
 * instead of values, the rest of each sample being a shorter block, and is never exact.  NaN when a
 * sample is empty (Good, Permutation, Parametric and Bootstrap Tests of Hypotheses, 2005).  Usual:
 * 10 000 rounds. */
TA_MUST_CHECK bool ta_permutation_test(const double *x, size_t n, const double *y, size_t m,
                                       size_t rounds, size_t block, uint32_t seed,
                                       struct ta_permutation *out);

#endif
