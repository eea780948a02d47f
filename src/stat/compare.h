/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparing two samples x (n values, the base) and y (m values): how much larger is y, how certain
 * is it, and what could be seen at all.  The rules at the top of stat/sample.h hold here too. */
#ifndef TA_STAT_COMPARE_H
#define TA_STAT_COMPARE_H

#include "stat/sample.h"

/* ---- shift ------------------------------------------------------------------------------- */

/* Hodges–Lehmann shift from x to y: the median of all n·m differences y_j − x_i, exact for any n
 * and m.  The interval is [D(C), D(nm + 1 − C)] of the ordered differences, with C from the exact
 * distribution of U where ta_mann_whitney() would use it (ties left aside), else from the normal
 * one with continuity correction.  At 95 % it needs n = m ≥ 4.
 *
 * Differences are not listed: those at or below a bound are counted in O(n + m) along the sorted
 * samples, and at most 64 bounds lead to the one wanted, so 100 000 × 100 000 takes a fraction of
 * a second (Hodges & Lehmann, Ann. Math. Stat. 34, 1963; Hollander, Wolfe & Chicken,
 * Nonparametric Statistical Methods, 2014, §4.2-4.3). */
TA_MUST_CHECK bool ta_shift(const double *x, size_t n, const double *y, size_t m, double confidence,
                            struct ta_estimate *out);

/* The same on logarithms: by which factor y is larger than x.  Values must be positive. */
TA_MUST_CHECK bool ta_shift_ratio(const double *x, size_t n, const double *y, size_t m,
                                  double confidence, struct ta_estimate *out);

/* Center of one sample: the median of all (x_i + x_j)/2 with i ≤ j.  The interval is the interval
 * of the signed-rank test, exact for n ≤ 50, and supposes symmetry; at 95 % it needs n ≥ 6
 * (Hollander, Wolfe & Chicken, §3.2-3.3).  O(n log n). */
TA_MUST_CHECK bool ta_center(const double *x, size_t n, double confidence, struct ta_estimate *out);

/* ---- tests ------------------------------------------------------------------------------- */

struct ta_rank_test {
    double u;     /* pairs with y_j > x_i, and half of those that are equal */
    double cliff; /* Cliff's δ = 2u/(nm) − 1: −1 when all of y is below x, 1 when above */
    double z;     /* of the normal distribution, with ties, without continuity correction; 0 when
                     all values are equal */
    double p;     /* two-sided */
    bool exact;   /* p comes from the exact distribution of u */
};

/* Mann–Whitney U.  Exact where min(n, m) ≤ 8, no values are equal and n·m ≤ 10⁶; else normal with
 * tie and continuity correction, as scipy's method "auto" does (Mann & Whitney, Ann. Math. Stat.
 * 18, 1947).  NaN when a sample is empty.  O((n + m) log(n + m)). */
TA_MUST_CHECK bool ta_mann_whitney(const double *x, size_t n, const double *y, size_t m,
                                   struct ta_rank_test *out);

/* Corrects the test for values that depend on their neighbors: z · √share and p from the normal
 * distribution, `share` the effective part of the values, in (0, 1] (ta_effective_size()/n).  At
 * AR(1) 0.6 and n = 60 it turns 33 % of false alarms into 9 %. */
void ta_rank_test_thin(struct ta_rank_test *test, double share);

/* Welch's t on the logarithms: ratio of the geometric means y : x with its interval. */
struct ta_welch {
    struct ta_estimate ratio;
    double t, df; /* df by Welch & Satterthwaite */
    double p;     /* two-sided */
};

/* Needs two positive values on each side; interval, t and p are NaN when all of x and all of y are
 * equal, for then there is no spread to judge by (Welch, Biometrika 34, 1947). */
void ta_welch_ratio(const double *x, size_t n, const double *y, size_t m, double confidence,
                    struct ta_welch *out);

/* The spread of the logarithms of repeated values; for small deviations the relative one. */
struct ta_log_spread {
    double sd;
    double df; /* degrees of freedom of it; infinite: it is known */
};

/* Pooled within both samples, each around its own mean: √(Σ squares / (n + m − 2)), with n + m − 2
 * degrees.  A sample of one adds nothing; NaN where none has two positive values. */
void ta_log_spread_of(const double *x, size_t n, const double *y, size_t m,
                      struct ta_log_spread *out);

/* Ratio of the geometric means y : x like ta_welch_ratio(), but judged by a spread that is known
 * from elsewhere, so that one value on each side is enough: ± t · sd · √(1/n + 1/m).  Interval, t
 * and p are NaN without a spread above 0. */
void ta_spread_ratio(const double *x, size_t n, const double *y, size_t m,
                     const struct ta_log_spread *spread, double confidence, struct ta_welch *out);

/* ---- several tests ----------------------------------------------------------------------- */

/* Benjamini–Hochberg: q(i) = min over j ≥ i of m · p(j)/j, at most 1, in the order of `p`.  What
 * is rejected at q ≤ α has a false discovery rate of α (JRSS B 57, 1995).  Tests without p (NaN)
 * do not count among the m and have q NaN.  `q` takes n values and may be `p`. */
TA_MUST_CHECK bool ta_benjamini_hochberg(const double *p, size_t n, double *q);

/* ---- what can be seen -------------------------------------------------------------------- */

/* Least true difference of two means that a test of size `alpha` finds with probability `power`,
 * for a runs against b with deviation `sd` each: (z_{1−α/2} + z_power) · sd · √(1/a + 1/b).  2.8 ·
 * sd · √(…) at 0.05 and 0.8; too small by an eighth for a = b = 5, as the normal is taken for t
 * (Cohen 1988; Kalibera & Jones 2013). */
double ta_detectable(double sd, size_t a, size_t b, double alpha, double power);

#endif
