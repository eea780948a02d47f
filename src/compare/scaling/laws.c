/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws fitted to speed-ups, and what they say of world sizes that were not run: scaling.fits,
 * scaling.curve.  Sizes are relative to the smallest, so its speed-up is 1. */
#include "compare/scaling/runs.h"

#include "report/report.h"
#include "stat/numbers.h"
#include "traceanalyze/columns.h"

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

static const struct ta_column fit_columns[] = {
    {"law", "Law", TA_WORD,
     .doc = "amdahl: S = 1/(s + (1 − s)/p); usl: S = p/(1 + σ(p − 1) + κp(p − 1)), the universal "
            "scalability law; p is the world size over the smallest"},
    {"figure", "Figure", TA_WORD,
     .doc =
         "serial: s; contention: σ; coherency: κ; ceiling: largest speed-up, 1/s; peak: world size "
         "beyond which the law says that the run becomes slower, and the speed-up there"},
    {"value", "Value", TA_NUMBER, .doc = "Least squares"},
    {"se", "Standard error", TA_NUMBER,
     .doc = "None for a coefficient that is at its bound of 0 or 1"},
    {"low", "Low", TA_NUMBER,
     .doc = "Lower end of the 95 % interval: Student's t with runs less coefficients degrees of "
            "freedom"},
    {"high", "High", TA_NUMBER, .doc = "Upper end of the interval"},
    {"sizes", "World sizes", TA_COUNT, .doc = "Different world sizes behind the fit"},
    {"deviation", "Deviation", TA_RATIO, .better = TA_LOWER,
     .doc = "Largest distance of a measured speed-up from the law, relative to the law"},
};

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

static void add_fit(const struct scaling *scaling, struct ta_table_builder *table,
                    const struct fit *fit)
{
    const double reach = fit->coefficients && scaling->n > fit->coefficients
                             ? fit->se * ta_t_of(0.95, (double)(scaling->n - fit->coefficients))
                             : (double)NAN;
    if (!isfinite(fit->value))
        return;
    TA_CELLS(table, ta_text(ta_slice_of(fit->law)), ta_text(ta_slice_of(fit->figure)),
             ta_num(fit->value), ta_num(fit->se),
             isnan(reach) ? ta_null() : ta_num(fmax(0, fit->value - reach)),
             ta_num(fit->value + reach), ta_int((int64_t)scaling->sizes), ta_num(fit->deviation));
}

static void add_fits(const struct scaling *scaling, struct ta_section_builder *section)
{
    struct ta_table_builder *table =
        ta_add_table(section, "scaling.fits", "Scaling laws", fit_columns,
                     sizeof fit_columns / sizeof *fit_columns);
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
        add_fit(scaling, table, &fits[i]);
}

/* ---- scaling.curve ------------------------------------------------------------------------ */

static const struct ta_column curve_columns[] = {
    {"world_size", "World size", TA_NUMBER,
     .doc = "Of runs, and for the laws all doublings of the smallest up to twice the largest"},
    {"measured", "Measured", TA_NUMBER, .better = TA_HIGHER, .doc = "Speed-up of the run"},
    {"ideal", "Ideal", TA_NUMBER, .better = TA_HIGHER,
     .doc = "Speed-up without any loss: how many times more ranks there are"},
    {"amdahl", "Amdahl's law", TA_NUMBER, .better = TA_HIGHER, .doc = "Speed-up by that law"},
    {"usl", "Scalability law", TA_NUMBER, .better = TA_HIGHER,
     .doc = "Speed-up by the universal scalability law"},
};

static const struct ta_chart chart = {
    .id = "scaling",
    .title = "Speed-up by world size",
    .caption = "Measured speed-up, what it would be without losses, and laws fitted to it, drawn "
               "up to twice the largest world size.",
    .kind = TA_CHART_LINES,
    .x = "world_size",
    .log_x = true,
    .log_y = true,
    .y = {{"ideal", "ideal", TA_INK_MUTED},
          {"amdahl", "Amdahl's law", TA_INK_SERIES_2},
          {"usl", "universal scalability law", TA_INK_SERIES_3},
          {"measured", "measured", TA_INK_SERIES_1}},
};

static void add_point(const struct scaling *scaling, struct ta_table_builder *table, double size,
                      double measured)
{
    TA_CELLS(table, ta_num(size * (double)scaling->runs->world), ta_num(measured), ta_num(size),
             ta_num(amdahl_at(scaling, size)), ta_num(usl_at(scaling, size)));
}

static bool was_run(const struct scaling *scaling, double size)
{
    for (size_t i = 0; i < scaling->n; i++)
        if (scaling->x[i] == size)
            return true;
    return false;
}

/* Sizes that were run, and all doublings up to twice the largest. */
static void add_curve(const struct scaling *scaling, struct ta_section_builder *section)
{
    struct ta_table_builder *table =
        ta_add_table(section, "scaling.curve", "Speed-up by world size", curve_columns,
                     sizeof curve_columns / sizeof *curve_columns);
    const double most = 2 * scaling->runs[scaling->n - 1].size;
    for (size_t i = 0; i < scaling->n; i++)
        add_point(scaling, table, scaling->x[i], scaling->y[i]);
    double size = 1;
    for (int i = 0; i < CURVE_MOST && size <= most; i++, size *= 2)
        if (!was_run(scaling, size))
            add_point(scaling, table, size, (double)NAN);
    ta_sort_rows(table, "world_size", false);
    ta_add_chart(table, &chart);
}

void scaling_add_laws(struct scaling *scaling, struct ta_section_builder *section)
{
    add_curve(scaling, section);
    add_fits(scaling, section);
    if (scaling->sizes < AMDAHL_SIZES)
        ta_add_missing(section,
                       "Amdahl's law is fitted to %d world sizes or more, the universal "
                       "scalability law to %d: there are %zu",
                       AMDAHL_SIZES, USL_SIZES, scaling->sizes);
    else if (scaling->sizes < USL_SIZES)
        ta_add_missing(section,
                       "The universal scalability law is fitted to %d world sizes or "
                       "more: there are %zu",
                       USL_SIZES, scaling->sizes);
}
