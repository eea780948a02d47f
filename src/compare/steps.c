/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.step_times: how the steps of both shown runs are distributed. */
#include "compare/compare.h"
#include "compare/figures.h"
#include "report/report.h"
#include "traceanalyze/chart.h"
#include "traceanalyze/stat.h"

#include <math.h>

/* Points of a curve; more are smaller than a pixel. */
enum { POINTS_MOST = 400 };

enum { SIDE, DUR, SHARE, BAND };

static const struct ta_column step_times_columns[] = {
    [SIDE] = {"side", "Side", TA_WORD, .doc = "base (the baseline) or new (the other run)"},
    [DUR] = {"dur_ns", "Duration", TA_NS_MEAN, .better = TA_LOWER,
             .doc = "Duration of a step, or of a block"},
    [SHARE] = {"share", "Share of steps", TA_RATIO,
               .doc = "Share of the steps of all ranks that take at most this long"},
    [BAND] = {"band", "Band ±", TA_RATIO,
              .doc = "Confidence band: most that the share over all possible steps may differ from "
                     "this one, at the confidence level (Dvoretzky-Kiefer-Wolfowitz); the ranks of "
                     "a step count as one"},
};

static const struct ta_chart_def chart = {
    .id = "diff-ecdf",
    .title = "Step times",
    .caption = "Cumulative distribution of step time before and after, all ranks, with confidence "
               "bands within the runs shown.",
    .kind = TA_CHART_ECDF,
    .x = &step_times_columns[DUR],
    .y = {{&step_times_columns[SHARE], "Share of steps", TA_INK_NONE},
          {&step_times_columns[BAND], "band", TA_INK_BAND}},
    .group = &step_times_columns[SIDE],
    .log_x = true,
};

static const struct ta_table_def step_times = {"diff.step_times", "Step times before and after",
                                               TA_COLUMNS(step_times_columns),
                                               .tier = TA_TIER_POINTS, .chart = {&chart}};

/* The figure of both sides that rests on steps, the first one that does. */
bool diff_step_series(struct diff *diff, const struct ta_durations *series[TA_DIFF_SIDES],
                      const char **id)
{
    struct ta_run_figures figures[TA_DIFF_SIDES];
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (!ta_run_figures_read(&diff->arena, diff->registry, diff->shown[side], &figures[side]))
            return false;
    const struct ta_run_figures *base = &figures[TA_DIFF_BASE];
    for (size_t i = 0; i < base->n && !series[TA_DIFF_BASE]; i++) {
        const struct ta_run_figure *new =
            ta_run_figures_find(&figures[TA_DIFF_NEW], base->at[i].id);
        if (diff->has_other_steps && base->at[i].of_steps)
            continue;
        if (base->at[i].series && new &&new->series) {
            series[TA_DIFF_BASE] = base->at[i].series;
            series[TA_DIFF_NEW] = new->series;
            *id = base->at[i].id;
        }
    }
    return true;
}

/* Massart's form of the inequality of Dvoretzky, Kiefer and Wolfowitz: a band for the whole curve.
 */
static double band_of(const struct ta_durations *series, double confidence)
{
    return fmin(1, sqrt(log(2 / (1 - confidence)) / (2 * (double)series->n)));
}

static bool add_side(struct diff *diff, struct ta_section_builder *out, struct ta_slice side,
                     const struct ta_durations *series)
{
    const size_t all = series->n * series->ranks;
    double *values = ta_arena_alloc(&diff->arena, (all + 1) * sizeof *values);
    size_t n = 0, last = SIZE_MAX;
    for (size_t i = 0; values && i < all; i++)
        if (!isnan(series->at[i]))
            values[n++] = series->at[i];
    if (!values)
        return false;
    ta_sort_numbers(values, n);
    const double band = band_of(series, diff->judging->confidence);
    const size_t points = n < POINTS_MOST ? n : POINTS_MOST;
    for (size_t point = 1; point <= points; point++) {
        const size_t at = n * point / points - 1;
        if (at != last)
            TA_ROW(out, step_times, [SIDE] = ta_text(side), [DUR] = ta_num(values[at]),
                   [SHARE] = ta_num((double)(at + 1) / (double)n), [BAND] = ta_num(band));
        last = at;
    }
    return true;
}

/* One step or two are no curve. */
static bool is_distribution(const struct ta_durations *series)
{
    enum { LEAST = 3 };
    return series->n * series->ranks >= LEAST;
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    const struct ta_durations *series[TA_DIFF_SIDES] = {NULL, NULL};
    const char *id;
    if (!diff_step_series(diff, series, &id))
        return false;
    if (!series[TA_DIFF_BASE] || !is_distribution(series[TA_DIFF_BASE]) ||
        !is_distribution(series[TA_DIFF_NEW]))
        return true;
    return add_side(diff, out, TA_LIT("base"), series[TA_DIFF_BASE]) &&
           add_side(diff, out, TA_LIT("new"), series[TA_DIFF_NEW]);
}

static const struct ta_table_def *const tables[] = {&step_times, NULL};

const struct diff_part diff_of_step_times = {
    .declares = {.name = "diff.step_times", .tables = tables}, .section = "diff", .add = add};
