/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws fitted to speed-ups, and what they say of world sizes that were not run: scaling.fits,
 * scaling.curve.  Sizes are relative to the smallest, so its speed-up is 1. */
#include "compare/scaling/runs.h"

#include "report/report.h"
#include "stat/numbers.h"
#include "traceanalyze/table.h"

#include <math.h>
#include <stdlib.h>

enum { AMDAHL_SIZES = 3, USL_SIZES = 4, CURVE_MOST = 64 };

static double amdahl_at(const struct scaling *scaling, double size)
{
    const double s = scaling->amdahl.serial;
    return 1 / (s + (1 - s) / size);
}

static double usl_at(const struct scaling *scaling, double size)
{
    const struct ta_usl *fit = &scaling->usl;
    return size / (1 + fit->sigma * (size - 1) + fit->kappa * size * (size - 1));
}

bool scaling_fit(struct scaling *scaling)
{
    const double none = (double)NAN;
    scaling->amdahl = (struct ta_amdahl){none, none, none};
    scaling->usl = (struct ta_usl){none, none, none, none, none, false};
    scaling->x = ta_arena_alloc(&scaling->arena, scaling->n * sizeof *scaling->x);
    scaling->y = ta_arena_alloc(&scaling->arena, scaling->n * sizeof *scaling->y);
    if (!scaling->x || !scaling->y)
        return false;
    for (size_t i = 0; i < scaling->n; i++) {
        scaling->x[i] = scaling->runs[i].size;
        scaling->y[i] = scaling->runs[i].speedup.value;
    }
    if (scaling->sizes >= AMDAHL_SIZES)
        ta_amdahl(scaling->x, scaling->y, scaling->n, &scaling->amdahl);
    return scaling->sizes < USL_SIZES || ta_usl(scaling->x, scaling->y, scaling->n, &scaling->usl);
}

/* ---- scaling.fits ------------------------------------------------------------------------- */

enum { LAW, FIGURE, VALUE, SE, LOW, HIGH, SIZES, DEVIATION };

static const struct ta_column scaling_fits_columns[] = {
    [LAW] = {"law", "Law", TA_WORD,
             .doc = "Scaling law. amdahl: S = 1/(s + (1 − s)/p); usl: S = p/(1 + σ(p − 1) + κp(p − "
                    "1)), the universal scalability law; p is the world size over the smallest"},
    [FIGURE] = {"figure", "Parameter", TA_WORD,
                .doc = "serial: s; contention: σ; coherency: κ; ceiling: largest possible "
                       "speed-up, 1/s; peak: world size beyond which the law predicts that the run "
                       "slows down, and the speed-up there"},
    [VALUE] = {"value", "Value", TA_NUMBER,
               .doc = "Value of the parameter, fitted by least squares"},
    [SE] = {"se", "Standard error", TA_NUMBER,
            .doc = "Standard error of the value; empty for a coefficient at its bound of 0 or 1"},
    [LOW] = {"low", "Low", TA_NUMBER,
             .doc = "Lower end of the 95 % confidence interval (Student's t; degrees of freedom: "
                    "runs minus coefficients)"},
    [HIGH] = {"high", "High", TA_NUMBER, .doc = "Upper end of the 95 % confidence interval"},
    [SIZES] = {"sizes", "World sizes", TA_COUNT,
               .doc = "Number of different world sizes in the fit"},
    [DEVIATION] =
        {"deviation", "Deviation", TA_RATIO, .better = TA_LOWER,
         .doc = "Largest difference between a measured speed-up and the law, relative to the law"},
};

const struct ta_table_def scaling_fits = {
    "scaling.fits", "Scaling laws", TA_COLUMNS(scaling_fits_columns),
    .doc = "Least-squares fits of Amdahl's law, from three world sizes on, and of the universal "
           "scalability law (Gunther 1993), from four; if κ or σ would be negative, it is set to 0 "
           "and the other one fitted alone. The peak of the universal law is at √((1 − σ)/κ) times "
           "the smallest world size (`peak_world_size`, `peak_speedup`).",
    .brief = &(const struct ta_brief){
        .place = 160,
        .rows = 6,
        .first = {&scaling_fits_columns[LAW], &scaling_fits_columns[FIGURE],
                  &scaling_fits_columns[VALUE], &scaling_fits_columns[LOW],
                  &scaling_fits_columns[HIGH], &scaling_fits_columns[DEVIATION]}}};

static double deviation(const struct scaling *scaling,
                        double (*law)(const struct scaling *scaling, double size))
{
    double most = 0;
    for (size_t i = 0; i < scaling->n; i++)
        most = fmax(most, fabs(scaling->y[i] / law(scaling, scaling->x[i]) - 1));
    return most;
}

struct fit {
    const char *law, *figure;
    double value, se;
    size_t coefficients; /* of the law; 0 for what follows from coefficients */
    double deviation;
};

static void add_fit(const struct scaling *scaling, struct ta_section_builder *out,
                    const struct fit *fit)
{
    const double reach = fit->coefficients && scaling->n > fit->coefficients
                             ? fit->se * ta_t_of(0.95, (double)(scaling->n - fit->coefficients))
                             : (double)NAN;
    if (!isfinite(fit->value))
        return;
    TA_ROW(out, scaling_fits, [LAW] = ta_text(ta_slice_of(fit->law)),
           [FIGURE] = ta_text(ta_slice_of(fit->figure)), [VALUE] = ta_num(fit->value),
           [SE] = ta_num(fit->se),
           [LOW] = isnan(reach) ? ta_null() : ta_num(fmax(0, fit->value - reach)),
           [HIGH] = ta_num(fit->value + reach), [SIZES] = ta_int((int64_t)scaling->sizes),
           [DEVIATION] = ta_num(fit->deviation));
}

static void add_fits(const struct scaling *scaling, struct ta_section_builder *out)
{
    const struct ta_amdahl *amdahl = &scaling->amdahl;
    const struct ta_usl *usl = &scaling->usl;
    const double none = (double)NAN, base = (double)scaling->runs->world;
    const double amdahl_off = deviation(scaling, amdahl_at), usl_off = deviation(scaling, usl_at);
    const struct fit fits[] = {
        {"amdahl", "serial", amdahl->serial, amdahl->se, 1, amdahl_off},
        {"amdahl", "ceiling", amdahl->ceiling, none, 0, amdahl_off},
        {"usl", "contention", usl->sigma, usl->se_sigma, 2, usl_off},
        {"usl", "coherency", usl->kappa, usl->se_kappa, 2, usl_off},
        {"usl", "peak_world_size", usl->peak * base, none, 0, usl_off},
        {"usl", "peak_speedup", usl_at(scaling, usl->peak), none, 0, usl_off},
    };
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++)
        add_fit(scaling, out, &fits[i]);
}

/* ---- scaling.curve ------------------------------------------------------------------------ */

enum { CURVE_WORLD_SIZE, CURVE_MEASURED, CURVE_IDEAL, CURVE_AMDAHL, CURVE_USL };

static const struct ta_column scaling_curve_columns[] = {
    [CURVE_WORLD_SIZE] = {"world_size", "World size", TA_NUMBER,
                          .doc = "World size of a run; for the laws, also all doublings of the "
                                 "smallest up to twice the largest"},
    [CURVE_MEASURED] = {"measured", "Measured", TA_NUMBER, .better = TA_HIGHER,
                        .doc = "Measured speed-up of the run"},
    [CURVE_IDEAL] =
        {"ideal", "Ideal", TA_NUMBER, .better = TA_HIGHER,
         .doc = "Speed-up without any loss: the factor by which the number of ranks grows"},
    [CURVE_AMDAHL] = {"amdahl", "Amdahl's law", TA_NUMBER, .better = TA_HIGHER,
                      .doc = "Speed-up predicted by Amdahl's law"},
    [CURVE_USL] = {"usl", "Scalability law", TA_NUMBER, .better = TA_HIGHER,
                   .doc = "Speed-up predicted by the universal scalability law"},
};

static const struct ta_chart_def chart = {
    .id = "scaling",
    .title = "Speed-up by world size",
    .caption = "Measured and ideal speed-up, and the fitted scaling laws, up to twice the largest "
               "world size.",
    .kind = TA_CHART_LINES,
    .x = &scaling_curve_columns[CURVE_WORLD_SIZE],
    .log_x = true,
    .log_y = true,
    .y = {{&scaling_curve_columns[CURVE_IDEAL], "ideal", TA_INK_MUTED},
          {&scaling_curve_columns[CURVE_AMDAHL], "Amdahl's law", TA_INK_SERIES_2},
          {&scaling_curve_columns[CURVE_USL], "universal scalability law", TA_INK_SERIES_3},
          {&scaling_curve_columns[CURVE_MEASURED], "measured", TA_INK_SERIES_1}},
};

const struct ta_table_def scaling_curve = {
    "scaling.curve",
    "Speed-up by world size",
    TA_COLUMNS(scaling_curve_columns),
    .tier = TA_TIER_POINTS,
    .doc = "Chart `scaling`: `world_size` (those that were run, and doublings up to twice the "
           "largest), `measured`, `ideal`, `amdahl`, `usl`.",
    .chart = {&chart},
    .order = {&scaling_curve_columns[CURVE_WORLD_SIZE], TA_ASCENDING}};

static void add_point(const struct scaling *scaling, struct ta_section_builder *out, double size,
                      double measured)
{
    TA_ROW(out, scaling_curve, [CURVE_WORLD_SIZE] = ta_num(size * (double)scaling->runs->world),
           [CURVE_MEASURED] = ta_num(measured), [CURVE_IDEAL] = ta_num(size),
           [CURVE_AMDAHL] = ta_num(amdahl_at(scaling, size)),
           [CURVE_USL] = ta_num(usl_at(scaling, size)));
}

static bool was_run(const struct scaling *scaling, double size)
{
    for (size_t i = 0; i < scaling->n; i++)
        if (scaling->x[i] == size)
            return true;
    return false;
}

/* Sizes that were run, and all doublings up to twice the largest. */
static void add_curve(const struct scaling *scaling, struct ta_section_builder *out)
{
    const double most = 2 * scaling->runs[scaling->n - 1].size;
    for (size_t i = 0; i < scaling->n; i++)
        add_point(scaling, out, scaling->x[i], scaling->y[i]);
    double size = 1;
    for (int i = 0; i < CURVE_MOST && size <= most; i++, size *= 2)
        if (!was_run(scaling, size))
            add_point(scaling, out, size, (double)NAN);
}

void scaling_add_laws(struct scaling *scaling, struct ta_section_builder *out)
{
    add_curve(scaling, out);
    add_fits(scaling, out);
    if (scaling->sizes < AMDAHL_SIZES)
        ta_add_missing(out,
                       "Amdahl's law needs %d world sizes or more to be fitted, the universal "
                       "scalability law %d: there are %zu",
                       AMDAHL_SIZES, USL_SIZES, scaling->sizes);
    else if (scaling->sizes < USL_SIZES)
        ta_add_missing(out,
                       "The universal scalability law needs %d world sizes or more to be fitted: "
                       "there are %zu",
                       USL_SIZES, scaling->sizes);
}
