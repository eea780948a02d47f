/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line that outliers do not move: bisquare M-estimate by GSL, Theil–Sen for few points. */
#include "stat/fit.h"
#include "stat/numbers.h"
#include "stat/series.h"

#include <gsl/gsl_multifit.h>

enum { FEWEST = 6, UNKNOWNS = 2 };

/* x and y as center + scale · (something within ±1): what GSL sees. */
struct scaling {
    double center, scale;
};

static struct scaling scaling_of(const double *values, size_t n)
{
    struct ta_moments m;
    ta_moments(values, n, &m);
    return (struct scaling){m.mean, fmax(m.max - m.mean, m.mean - m.min)};
}

static double scaled(struct scaling s, double value)
{
    return (value - s.center) / s.scale;
}

struct fit {
    gsl_matrix *design, *covariance;
    gsl_vector *y, *coefficients;
    gsl_multifit_robust_workspace *work;
};

static bool open_fit(struct fit *f, size_t n)
{
    *f = (struct fit){gsl_matrix_alloc(n, UNKNOWNS), gsl_matrix_alloc(UNKNOWNS, UNKNOWNS),
                      gsl_vector_alloc(n), gsl_vector_alloc(UNKNOWNS),
                      gsl_multifit_robust_alloc(gsl_multifit_robust_bisquare, n, UNKNOWNS)};
    return f->design && f->covariance && f->y && f->coefficients && f->work;
}

static void close_fit(struct fit *f)
{
    gsl_matrix_free(f->design);
    gsl_matrix_free(f->covariance);
    gsl_vector_free(f->y);
    gsl_vector_free(f->coefficients);
    if (f->work)
        gsl_multifit_robust_free(f->work);
}

/* false where the iteration did not settle. */
static bool converge(struct fit *f, const double *x, const double *y, size_t n, struct scaling of_x,
                     struct scaling of_y)
{
    for (size_t i = 0; i < n; i++) {
        gsl_matrix_set(f->design, i, 0, 1);
        gsl_matrix_set(f->design, i, 1, scaled(of_x, x[i]));
        gsl_vector_set(f->y, i, scaled(of_y, y[i]));
    }
    return ta_gsl_ok(gsl_multifit_robust(f->design, f->y, f->coefficients, f->covariance, f->work));
}

static struct ta_estimate within(double value, double reach)
{
    return ta_estimate_of(value, value - reach, value + reach);
}

static void read_fit(const struct fit *f, size_t n, double confidence, struct scaling of_x,
                     struct scaling of_y, struct ta_line *out)
{
    const double t = ta_t_of(confidence, (double)(n - UNKNOWNS)), steep = of_y.scale / of_x.scale;
    const double height = gsl_vector_get(f->coefficients, 0) * of_y.scale + of_y.center;
    const double slope = gsl_vector_get(f->coefficients, 1) * steep;
    const double of_height = sqrt(gsl_matrix_get(f->covariance, 0, 0)) * of_y.scale;
    const double of_slope = sqrt(gsl_matrix_get(f->covariance, 1, 1)) * steep;
    *out = (struct ta_line){
        .method = TA_LINE_BISQUARE,
        .slope = within(slope, t * of_slope),
        .at_mean = within(height, t * of_height),
        .mean_x = of_x.center,
        .intercept = ta_if_finite(height - slope * of_x.center),
        .sigma = ta_if_finite(gsl_multifit_robust_statistics(f->work).sigma * of_y.scale),
    };
}

/* Through the medians of all slopes and heights. */
static bool few_points(const double *x, const double *y, size_t n, double confidence,
                       struct ta_line *out)
{
    struct ta_slope fit;
    struct ta_moments m;
    ta_moments(x, n, &m);
    if (!ta_theil_sen(x, y, n, confidence, &fit))
        return false;
    if (isnan(fit.slope.value))
        return true;
    out->method = n == 2 ? TA_LINE_EXACT : TA_LINE_THEIL_SEN;
    out->slope = fit.slope;
    out->mean_x = m.mean;
    out->intercept = fit.intercept;
    out->at_mean.value = ta_if_finite(fit.intercept + fit.slope.value * m.mean);
    return true;
}

bool ta_robust_line(const double *x, const double *y, size_t n, double confidence,
                    struct ta_line *out)
{
    struct ta_line line = {TA_LINE_NONE, TA_NO_ESTIMATE, TA_NO_ESTIMATE, TA_NAN, TA_NAN, TA_NAN};
    if (n < 2 || !ta_all_finite(x, n) || !ta_all_finite(y, n) || ta_all_equal(x, n)) {
        *out = line;
        return true;
    }
    const struct scaling of_x = scaling_of(x, n), of_y = scaling_of(y, n);
    /* Equal heights have no scale; Theil–Sen gives their line as it is. */
    const bool fits = n >= FEWEST && of_x.scale > 0 && of_y.scale > 0 && isfinite(of_x.scale) &&
                      isfinite(of_y.scale) && isfinite(of_y.scale / of_x.scale);
    struct fit f = {0};
    bool done = !fits || open_fit(&f, n);
    if (done && fits && converge(&f, x, y, n, of_x, of_y))
        read_fit(&f, n, confidence, of_x, of_y, &line);
    else if (done)
        done = few_points(x, y, n, confidence, &line);
    close_fit(&f);
    if (done)
        *out = line;
    return done;
}
