/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines and laws through points: robust line, rank correlation, scaling laws, integrals.  The rules
 * at the top of stat/sample.h hold here too. */
#ifndef TA_STAT_FIT_H
#define TA_STAT_FIT_H

#include "stat/sample.h"

/* ---- robust line ------------------------------------------------------------------------- */

enum ta_line_method {
    TA_LINE_NONE,      /* no line: fewer than two different x */
    TA_LINE_EXACT,     /* through two points, without intervals */
    TA_LINE_THEIL_SEN, /* 3 to 5 points, or the fit did not converge */
    TA_LINE_BISQUARE
};

struct ta_line {
    enum ta_line_method method;
    struct ta_estimate slope;   /* units of y per unit of x */
    struct ta_estimate at_mean; /* the line at the mean of x */
    double mean_x;
    double intercept; /* the line at x = 0 */
    double sigma;     /* robust deviation of y around the line; NaN unless bisquare */
};

/* y = intercept + slope · x by iteratively reweighted least squares with Tukey's bisquare (tuning
 * constant 4.685, residuals corrected for leverage, scale by MAD; GSL's gsl_multifit_robust), x and
 * y centered and scaled before.  Intervals: ± t_{n−2} standard errors of the coefficients'
 * covariance (Holland & Welsch 1977; DuMouchel & O'Brien 1989). */
TA_MUST_CHECK bool ta_robust_line(const double *x, const double *y, size_t n, double confidence,
                                  struct ta_line *out);

/* ---- rank correlation -------------------------------------------------------------------- */

struct ta_correlation {
    double rho; /* NaN for n < 3, or when one side is all equal */
    double p;   /* two-sided, t with n − 2 degrees of freedom; NaN for n < 10 */
};

/* Spearman's ρ, equal values by their mean rank (Spearman 1904).  O(n log n). */
TA_MUST_CHECK bool ta_spearman(const double *x, const double *y, size_t n,
                               struct ta_correlation *out);

/* ---- scaling ----------------------------------------------------------------------------- */

/* Amdahl: S(N) = 1/(s + (1 − s)/N). */
struct ta_amdahl {
    double serial;  /* s within [0, 1] */
    double se;      /* standard error from the curvature at s; NaN when s is at its bound */
    double ceiling; /* 1/s; infinite for s = 0 */
};

/* Least squares of the speed-ups at `sizes` (N ≥ 1; speed-ups > 0), for n ≥ 2 sizes of which one
 * exceeds 1; else NaN (Amdahl, AFIPS 1967). */
void ta_amdahl(const double *sizes, const double *speedups, size_t n, struct ta_amdahl *out);

/* Universal scalability law: C(N) = N/(1 + σ(N − 1) + κN(N − 1)). */
struct ta_usl {
    double sigma, kappa;       /* contention and coherency, σ in [0, 1], κ ≥ 0 */
    double se_sigma, se_kappa; /* NaN for a coefficient at its bound */
    double peak;               /* N with the largest C, √((1 − σ)/κ); infinite for κ = 0 */
    bool is_amdahl;            /* κ came out negative and is 0: the fit is Amdahl's */
};

/* Least squares by Levenberg–Marquardt (GSL's gsl_multifit_nlinear), for n ≥ 3 different sizes;
 * else NaN.  κ < 0 is put to 0 and σ fitted alone, σ < 0 likewise (Gunther 1993). */
TA_MUST_CHECK bool ta_usl(const double *sizes, const double *speedups, size_t n,
                          struct ta_usl *out);

/* Experimentally determined serial fraction (1/S − 1/N)/(1 − 1/N); NaN for N ≤ 1 (Karp & Flatt,
 * CACM 33, 1990).  Rising with N: overhead; flat: serial work. */
double ta_karp_flatt(double size, double speedup);

/* ---- curves ------------------------------------------------------------------------------ */

/* Integral of the polygon through the points over [from, to], which must lie within ascending x;
 * NaN outside, for n < 2, and where x does not ascend strictly.  Never extrapolates. */
double ta_integral(const double *x, const double *y, size_t n, double from, double to);

/* Value at `at` of the monotone curve through the points (Steffen, A&A 239, 1990; by GSL); NaN
 * outside, for n < 3, and where x does not ascend strictly. */
TA_MUST_CHECK bool ta_curve(const double *x, const double *y, size_t n, const double *at,
                            size_t n_at, double *out);

#endif
