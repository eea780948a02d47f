/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scaling laws fitted to speed-ups: Amdahl, the universal scalability law, Karp & Flatt. */
#include "stat/fit.h"
#include "stat/numbers.h"

#include <gsl/gsl_multifit_nlinear.h>

enum { UNKNOWNS = 2, STEPS = 200 };

struct data {
    const double *sizes, *speedups;
    size_t n;
    bool of_kappa; /* the coefficient that is fitted alone; the other is 0 */
};

static double usl(double size, double sigma, double kappa)
{
    return size / (1 + sigma * (size - 1) + kappa * size * (size - 1));
}

static bool is_defined(const double *sizes, const double *speedups, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(sizes[i] >= 1 && sizes[i] <= 1e15 && speedups[i] > 0 && speedups[i] <= 1e100))
            return false;
    return n > 0;
}

static size_t different_sizes(const double *sizes, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_new = true;
        for (size_t j = 0; j < i && is_new; j++)
            is_new = sizes[j] != sizes[i];
        count += is_new;
    }
    return count;
}

static double sum_of_squares(const struct data *d, double sigma, double kappa)
{
    double sum = 0;
    for (size_t i = 0; i < d->n; i++) {
        const double residual = d->speedups[i] - usl(d->sizes[i], sigma, kappa);
        sum += residual * residual;
    }
    return sum;
}

/* ---- one coefficient --------------------------------------------------------------------- */

static double sum_alone(const struct data *d, double at)
{
    return d->of_kappa ? sum_of_squares(d, 0, at) : sum_of_squares(d, at, 0);
}

/* Half the derivative of the sum of squares by the coefficient, and the sum of squared
 * derivatives of the law. */
static double slope_alone(const struct data *d, double at, double *curvature)
{
    double slope = 0;
    *curvature = 0;
    for (size_t i = 0; i < d->n; i++) {
        const double size = d->sizes[i];
        const double law = d->of_kappa ? usl(size, 0, at) : usl(size, at, 0);
        const double derivative = -law * law * (size - 1) / (d->of_kappa ? 1 : size);
        slope -= (d->speedups[i] - law) * derivative;
        *curvature += derivative * derivative;
    }
    return slope;
}

/* The bottom of the sum of squares between two places around it, where its slope changes sign. */
static double bottom(const struct data *d, double low, double high)
{
    double curvature;
    for (unsigned step = 0; step < STEPS; step++) {
        const double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (slope_alone(d, middle, &curvature) > 0)
            high = middle;
        else
            low = middle;
    }
    return low + (high - low) / 2;
}

/* A grid that is dense near 0, as a serial part of 10⁻⁴ matters at 10⁴ ranks; then the bottom
 * around its best point. */
static double best_alone(const struct data *d)
{
    enum { GRID = 256 };
    double best = (double)INFINITY, at[GRID + 1];
    int least = 0;
    for (int i = 0; i <= GRID; i++) {
        at[i] = i ? pow(10, -12 * (1 - (double)i / GRID)) : 0;
        const double sum = sum_alone(d, at[i]);
        if (sum < best) {
            best = sum;
            least = i;
        }
    }
    double curvature;
    if ((least == 0 && slope_alone(d, 0, &curvature) >= 0) ||
        (least == GRID && slope_alone(d, 1, &curvature) <= 0))
        return at[least];
    return bottom(d, at[least ? least - 1 : 0], at[least < GRID ? least + 1 : GRID]);
}

/* Standard error; NaN at a bound. */
static double error_alone(const struct data *d, double at)
{
    double curvature;
    (void)slope_alone(d, at, &curvature);
    if (!(at > 0 && at < 1))
        return TA_NAN;
    return ta_if_finite(sqrt(sum_alone(d, at) / (double)(d->n - 1) / curvature));
}

/* ---- Amdahl ------------------------------------------------------------------------------ */

void ta_amdahl(const double *sizes, const double *speedups, size_t n, struct ta_amdahl *out)
{
    *out = (struct ta_amdahl){TA_NAN, TA_NAN, TA_NAN};
    if (n < 2 || !is_defined(sizes, speedups, n) || (ta_all_equal(sizes, n) && sizes[0] <= 1))
        return;
    const struct data d = {sizes, speedups, n, false};
    const double s = best_alone(&d);
    *out = (struct ta_amdahl){.serial = s, .se = error_alone(&d, s), .ceiling = 1 / s};
}

/* ---- universal scalability law ----------------------------------------------------------- */

static int residuals(const gsl_vector *at, void *user, gsl_vector *out)
{
    const struct data *d = user;
    const double sigma = gsl_vector_get(at, 0), kappa = gsl_vector_get(at, 1);
    for (size_t i = 0; i < d->n; i++)
        gsl_vector_set(out, i, usl(d->sizes[i], sigma, kappa) - d->speedups[i]);
    return GSL_SUCCESS;
}

static int derivatives(const gsl_vector *at, void *user, gsl_matrix *out)
{
    const struct data *d = user;
    const double sigma = gsl_vector_get(at, 0), kappa = gsl_vector_get(at, 1);
    for (size_t i = 0; i < d->n; i++) {
        const double size = d->sizes[i], law = usl(size, sigma, kappa);
        const double by_sigma = -law * law * (size - 1) / size;
        gsl_matrix_set(out, i, 0, by_sigma);
        gsl_matrix_set(out, i, 1, by_sigma * size);
    }
    return GSL_SUCCESS;
}

/* Least squares of N/C − 1 = σ(N − 1) + κN(N − 1), which is linear: where to start. */
static void linear_start(const struct data *d, double *sigma, double *kappa)
{
    double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
    for (size_t i = 0; i < d->n; i++) {
        const double size = d->sizes[i], weight = d->speedups[i] / size;
        const double a = (size - 1) * weight, b = size * a, y = 1 - weight;
        aa += a * a;
        ab += a * b;
        bb += b * b;
        ay += a * y;
        by += b * y;
    }
    const double det = aa * bb - ab * ab;
    *sigma = (ay * bb - by * ab) / det;
    *kappa = (by * aa - ay * ab) / det;
    if (!isfinite(*sigma) || !isfinite(*kappa))
        *sigma = *kappa = 0.01;
}

static void read_usl(gsl_multifit_nlinear_workspace *work, gsl_matrix *covariance,
                     const struct data *d, struct ta_usl *out)
{
    const gsl_vector *at = gsl_multifit_nlinear_position(work);
    out->sigma = ta_if_finite(gsl_vector_get(at, 0));
    out->kappa = ta_if_finite(gsl_vector_get(at, 1));
    if (!ta_gsl_ok(gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(work), 0, covariance)))
        return;
    const double variance = sum_of_squares(d, out->sigma, out->kappa) / (double)(d->n - UNKNOWNS);
    out->se_sigma = ta_if_finite(sqrt(variance * gsl_matrix_get(covariance, 0, 0)));
    out->se_kappa = ta_if_finite(sqrt(variance * gsl_matrix_get(covariance, 1, 1)));
}

/* Fits both coefficients; σ stays NaN where the fit does not settle. */
static bool fit_both(struct data *d, struct ta_usl *out)
{
    const gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf system = {
        .f = residuals, .df = derivatives, .n = d->n, .p = UNKNOWNS, .params = d};
    gsl_multifit_nlinear_workspace *work =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, d->n, UNKNOWNS);
    gsl_matrix *covariance = gsl_matrix_alloc(UNKNOWNS, UNKNOWNS);
    const bool done = work && covariance;
    double start[UNKNOWNS];
    linear_start(d, &start[0], &start[1]);
    const gsl_vector_const_view at = gsl_vector_const_view_array(start, UNKNOWNS);
    int why = 0;
    if (done && ta_gsl_ok(gsl_multifit_nlinear_init(&at.vector, &system, work))) {
        /* No further progress at the last bits of the optimum is no failure. */
        const int status =
            gsl_multifit_nlinear_driver(STEPS, 1e-14, 1e-14, 0, NULL, NULL, &why, work);
        if (ta_gsl_ok(status) || status == GSL_ENOPROG || why == GSL_ENOPROG)
            read_usl(work, covariance, d, out);
    }
    gsl_matrix_free(covariance);
    if (work)
        gsl_multifit_nlinear_free(work);
    return done;
}

/* One coefficient alone: κ where the other came out negative, else σ. */
static void fall_back(struct data *d, struct ta_usl *out)
{
    d->of_kappa = out->sigma < 0 && out->kappa > 0;
    const double at = best_alone(d), error = error_alone(d, at);
    *out = d->of_kappa ? (struct ta_usl){0, at, TA_NAN, error, sqrt(1 / at), false}
                       : (struct ta_usl){at, 0, error, TA_NAN, (double)INFINITY, true};
}

static bool is_within(const struct ta_usl *fit)
{
    return fit->sigma >= 0 && fit->sigma <= 1 && fit->kappa >= 0;
}

bool ta_usl(const double *sizes, const double *speedups, size_t n, struct ta_usl *out)
{
    struct ta_usl fit = {TA_NAN, TA_NAN, TA_NAN, TA_NAN, TA_NAN, false};
    struct data d = {sizes, speedups, n, false};
    if (n < 3 || !is_defined(sizes, speedups, n) || different_sizes(sizes, n) < 3) {
        *out = fit;
        return true;
    }
    if (!fit_both(&d, &fit))
        return false;
    if (is_within(&fit))
        fit.peak = fit.kappa > 0 ? sqrt((1 - fit.sigma) / fit.kappa) : (double)INFINITY;
    else
        fall_back(&d, &fit);
    *out = fit;
    return true;
}

double ta_karp_flatt(double size, double speedup)
{
    if (!(size > 1) || !(speedup > 0))
        return TA_NAN;
    return ta_if_finite((1 / speedup - 1 / size) / (1 - 1 / size));
}
