/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diffusion.by_timestep: what the first, second … step of a schedule takes. */
#include "stat/sample.h"
#include "stat/series.h"

#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdlib.h>

enum { STEPS_RANK, STEPS_PASS, STEPS_TIMESTEP, STEPS_TIME };
static const struct ta_ref reads[] = {
    [STEPS_RANK] = {"diffusion.steps", "rank"},
    [STEPS_PASS] = {"diffusion.steps", "pass"},
    [STEPS_TIMESTEP] = {"diffusion.steps", "timestep"},
    [STEPS_TIME] = {"diffusion.steps", "step_ns"},
};

#define CONFIDENCE 0.95

/* Below this ratio the medians of places are alike. */
#define DIFFERENT 1.1

enum {
    STEP_RANK,
    STEP_PLACE,
    STEP_TIMESTEP,
    STEP_COUNT,
    STEP_P50,
    STEP_LOW,
    STEP_HIGH,
    STEP_SHORT,
    STEP_SHARE
};
static const struct ta_column by_timestep_columns[] = {
    [STEP_RANK] = TA_DUMP_RANK_COLUMN,
    [STEP_PLACE] = {"place", "Step in pass", TA_INTEGER, .role = TA_KEY,
                    .doc = "Position of the step in its pass through the schedule, starting at 1"},
    [STEP_TIMESTEP] = {"timestep", "Timestep", TA_NUMBER,
                       .doc =
                           "Noise level of the schedule at that position; empty if passes differ"},
    [STEP_COUNT] =
        {"steps", "Steps", TA_COUNT,
         .doc = "Steps at that position, without the rank's first steps, which include set-up"},
    [STEP_P50] = {"step_p50_ns", "Step p50", TA_NS_MEAN, .better = TA_LOWER,
                  .doc = "Median time of these steps"},
    [STEP_LOW] = {"p50_low_ns", "Low", TA_NS_MEAN, .role = TA_NOTE,
                  .doc = "Lower end of the median's 95 % confidence interval; empty below 6 steps"},
    [STEP_HIGH] = {"p50_high_ns", "High", TA_NS_MEAN, .role = TA_NOTE,
                   .doc =
                       "Upper end of the median's 95 % confidence interval; empty below 6 steps"},
    [STEP_SHORT] =
        {"short", "Shortened steps", TA_COUNT,
         .doc = "Steps shortened as by a step cache, if the rank's steps clearly have two lengths"},
    [STEP_SHARE] = {"share", "Share", TA_RATIO,
                    .doc = "Time of these steps divided by the time of all steps of the rank"},
};
static const struct ta_chart_def chart = {
    .id = "step-by-timestep",
    .title = "Step time by position in the schedule",
    .caption = "Median time of each step of a pass, by rank.",
    .kind = TA_CHART_LINES,
    .x = &by_timestep_columns[STEP_PLACE],
    .y = {{&by_timestep_columns[STEP_P50], "Step p50", TA_INK_SERIES_1}},
    .group = &by_timestep_columns[STEP_RANK],
};
static const struct ta_table_def by_timestep = {
    "diffusion.by_timestep",
    "Steps by timestep",
    TA_COLUMNS(by_timestep_columns),
    .tier = TA_TIER_DETAIL,
    .not_of_ranks = true,
    .doc = "One row per rank and position in the schedule, for ranks with several passes. "
           "Confidence intervals of medians use order statistics. Chart `step-by-timestep`, if the "
           "medians of a rank differ by more than a tenth."};

/* A step of a rank. */
struct step {
    int64_t place;
    double ns, timestep;
    bool is_short;
};

static int by_place_then_time(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->ns > b->ns) - (a->ns < b->ns);
}

/* Steps of the rank of row `first`, in their order; returns the row after it. */
static size_t read_steps(const struct ta_refs *in, size_t first, struct step *steps, size_t *n,
                         bool *several)
{
    int64_t place = 0;
    size_t i = first;
    *n = 0;
    *several = false;
    for (; i < ta_ref_rows(in, STEPS_RANK) &&
           ta_ref_integer(in, STEPS_RANK, i) == ta_ref_integer(in, STEPS_RANK, first);
         i++) {
        const bool begins =
            i > first && ta_ref_integer(in, STEPS_PASS, i) != ta_ref_integer(in, STEPS_PASS, i - 1);
        const double ns = ta_ref_number(in, STEPS_TIME, i, NAN);
        *several |= begins;
        place = begins ? 0 : place;
        if (isnan(ns))
            continue; /* a record before the last one of its step */
        steps[(*n)++] =
            (struct step){++place, ns, ta_ref_number(in, STEPS_TIMESTEP, i, NAN), false};
    }
    return i;
}

/* Leaves out the first steps and marks the shortened ones; `work` has room for all and one.
 * Returns how many are left. */
static size_t sort_out(struct step *steps, size_t n, double *times, double *work)
{
    for (size_t i = 0; i < n; i++)
        times[i] = steps[i].ns;
    const size_t set_up = ta_first_steps(times, n, work);
    for (size_t i = set_up; i < n; i++) {
        steps[i - set_up] = steps[i];
        times[i - set_up] = steps[i].ns;
    }
    n -= set_up;
    ta_sort_numbers(times, n);
    const double below = ta_shortened_below(times, n);
    for (size_t i = 0; i < n; i++)
        steps[i].is_short = steps[i].ns < below;
    return n;
}

/* Adds the steps of one place; returns their median. */
static double add_place(struct ta_section_builder *out, int64_t rank, const struct step *steps,
                        size_t n, double *times, double all_ns)
{
    struct ta_estimate median;
    double sum = 0, timestep = steps[0].timestep;
    int64_t shortened = 0;
    for (size_t i = 0; i < n; i++) {
        times[i] = steps[i].ns;
        sum += steps[i].ns;
        shortened += steps[i].is_short;
        if (steps[i].timestep < timestep || steps[i].timestep > timestep)
            timestep = NAN;
    }
    ta_quantile_interval(times, n, 0.5, CONFIDENCE, &median);
    TA_ROW(
        out, by_timestep, [STEP_RANK] = ta_int(rank), [STEP_PLACE] = ta_int(steps[0].place),
        [STEP_TIMESTEP] = ta_num(timestep), [STEP_COUNT] = ta_count(n),
        [STEP_P50] = ta_num(median.value), [STEP_LOW] = ta_num(median.low),
        [STEP_HIGH] = ta_num(median.high), [STEP_SHORT] = shortened ? ta_int(shortened) : ta_null(),
        [STEP_SHARE] = ta_num(sum / all_ns));
    return median.value;
}

/* Says whether the medians of its places differ. */
static bool add_rank(struct ta_section_builder *out, int64_t rank, struct step *steps, size_t n,
                     double *times)
{
    double all_ns = 0, least = NAN, most = NAN;
    for (size_t i = 0; i < n; i++)
        all_ns += steps[i].ns;
    qsort(steps, n, sizeof *steps, by_place_then_time);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && steps[end].place == steps[first].place;)
            end++;
        const double median = add_place(out, rank, steps + first, end - first, times, all_ns);
        least = fmin(least, median);
        most = fmax(most, median);
    }
    return most > DIFFERENT * least;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    const size_t n = ta_ref_rows(in, STEPS_RANK);
    struct step *steps = calloc(n + 1, sizeof *steps);
    double *times = calloc(2 * n + 2, sizeof *times);
    const bool done = steps && times;
    bool differ = false;
    for (size_t first = 0; done && first < n;) {
        const int64_t rank = ta_ref_integer(in, STEPS_RANK, first);
        size_t of_rank;
        bool several;
        first = read_steps(in, first, steps, &of_rank, &several);
        if (several && of_rank > 0)
            differ |=
                add_rank(out, rank, steps, sort_out(steps, of_rank, times, times + n + 1), times);
    }
    if (differ)
        ta_draw(out, &by_timestep, &chart);
    free(steps);
    free(times);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the steps by timestep");
}

static const struct ta_table_def *const tables[] = {&by_timestep, NULL};

static const struct ta_analysis_ops ops = {.section = "diffusion",
                                           .place = 1,
                                           .finish = finish,
                                           .of_tables = true,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, timesteps, &ops, .title = "Steps by timestep",
          .summary = "How long the first, second … step of a schedule takes: diffusion.by_timestep",
          .version = "1");
