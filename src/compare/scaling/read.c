/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a report says of the speed of its run: steps, frames, FLOPs and joules. */
#include "compare/figures.h"
#include "compare/scaling/runs.h"

#include "traceanalyze/stat.h"

#include <math.h>

#define NONE ((double)NAN)

static double number(const struct ta_refs *in, size_t ref, size_t row)
{
    return ta_ref_number(in, ref, row, NONE);
}

/* ---- steps -------------------------------------------------------------------------------- */

/* A step takes as long as on the rank where it takes longest; without devices, of the host. */
static double step_time(const struct ta_refs *in, size_t row)
{
    const double gpu = number(in, TA_AS_STEP_GPU_TIME, row);
    return gpu > 0 ? gpu : number(in, TA_AS_STEP_HOST_TIME, row);
}

/* Steps of all ranks by their place. */
static size_t longest_steps(const struct ta_refs *in, double *at)
{
    size_t place = 0, n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_STEP); i++) {
        const bool is_first =
            i == 0 || ta_ref_rank(in, TA_AS_STEP, i) != ta_ref_rank(in, TA_AS_STEP, i - 1);
        place = is_first ? 0 : place + 1;
        const double time = step_time(in, i);
        if (!(time > 0))
            continue;
        for (; n <= place; n++)
            at[n] = 0;
        at[place] = fmax(at[place], time);
    }
    return n;
}

/* The first step loads and tunes; it counts only where it takes no longer than two others. */
static void leave_out_first(struct scaling_series *series)
{
    if (series->n < 3)
        return;
    const double first = series->at[0];
    double *sorted = series->at + series->n;
    memcpy(sorted, series->at + 1, (series->n - 1) * sizeof *sorted);
    ta_sort_numbers(sorted, series->n - 1);
    if (first <= 2 * ta_quantile(sorted, series->n - 1, 0.5))
        return;
    series->at++;
    series->n--;
}

static bool read_steps(struct ta_arena *arena, const struct ta_refs *in,
                       struct scaling_series *series)
{
    const bool is_traced = ta_ref_table(in, TA_AS_STEP);
    const size_t rows = ta_ref_rows(in, is_traced ? TA_AS_STEP : TA_AS_DENOISING_TIME);
    if (rows == 0)
        return true;
    series->at = ta_arena_alloc(arena, 2 * rows * sizeof *series->at);
    if (!series->at)
        return false;
    if (is_traced) {
        series->n = longest_steps(in, series->at);
        leave_out_first(series);
    } else {
        /* Passes of a profiler's records have no places that ranks share. */
        const size_t time =
            ta_ref_exists(in, TA_AS_DENOISING_STEP) ? TA_AS_DENOISING_STEP : TA_AS_DENOISING_TIME;
        for (size_t i = 0; i < rows; i++)
            if (number(in, time, i) > 0)
                series->at[series->n++] = number(in, time, i);
    }
    if (series->n == 0)
        return true;
    double *sorted = ta_arena_alloc(arena, series->n * sizeof *sorted);
    if (!sorted)
        return false;
    memcpy(sorted, series->at, series->n * sizeof *sorted);
    ta_sort_numbers(sorted, series->n);
    series->time = ta_quantile(sorted, series->n, 0.5);
    return true;
}

/* ---- blocks of frames --------------------------------------------------------------------- */

static bool read_blocks(struct ta_arena *arena, const struct ta_refs *in, struct scaling_run *run,
                        struct scaling_series *series)
{
    const size_t rows = ta_ref_rows(in, TA_AS_BLOCK_TIME);
    double sum = 0;
    if (rows == 0)
        return true;
    series->at = ta_arena_alloc(arena, rows * sizeof *series->at);
    if (!series->at)
        return false;
    run->frames = 0;
    for (size_t i = 0; i < rows; i++) {
        const double time = number(in, TA_AS_BLOCK_TIME, i),
                     frames = number(in, TA_AS_BLOCK_FRAMES, i);
        if (!(time > 0) || !(frames > 0))
            continue;
        series->at[series->n++] = time;
        sum += time;
        run->frames += frames;
    }
    series->time = series->n ? sum / (double)series->n : NONE;
    return true;
}

/* The rate of all ranks together, or of the only one. */
static double frame_rate(const struct ta_refs *in)
{
    double of_all = NONE, of_one = NONE;
    size_t ones = 0;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_RATE); i++) {
        if (!ta_ref_reads(in, TA_AS_RATE, i, "fps") ||
            !ta_ref_reads(in, TA_AS_RATE_BASIS, i, "blocks"))
            continue;
        if (ta_ref_rank(in, TA_AS_RATE, i) == TA_MISSING) {
            of_all = number(in, TA_AS_RATE_VALUE, i);
        } else {
            of_one = number(in, TA_AS_RATE_VALUE, i);
            ones++;
        }
    }
    return isnan(of_all) && ones == 1 ? of_one : of_all;
}

/* ---- work and energy ---------------------------------------------------------------------- */

/* Ranks that were not read are taken to be like the others; steps are the first rank's. */
static double flop_of_step(const struct ta_refs *in, const struct scaling_run *run)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_FLOP); i++)
        sum += number(in, TA_AS_FLOP, i);
    while (n < ta_ref_rows(in, TA_AS_STEP) &&
           ta_ref_rank(in, TA_AS_STEP, n) == ta_ref_rank(in, TA_AS_STEP, 0))
        n++;
    return n && sum > 0 ? sum / (double)n * (double)run->world / (double)run->ranks : NONE;
}

static double energy_of(const struct ta_refs *in)
{
    double sum = NONE;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_ENERGY); i++) {
        const double joules = number(in, TA_AS_ENERGY, i);
        if (!isnan(number(in, TA_AS_ENERGY_SHARE, i)))
            return NONE; /* of a part of the run */
        if (joules > 0)
            sum = isnan(sum) ? joules : sum + joules;
    }
    return sum;
}

bool scaling_read(struct scaling *scaling, const struct ta_report *report, struct scaling_run *run)
{
    const struct ta_run_info *info = ta_report_run(report);
    const int64_t time = ta_run_time(scaling->registry, report);
    const int64_t ranks = info->n_ranks ? (int64_t)info->n_ranks : 1;
    *run = (struct scaling_run){.report = report,
                                .title = info->title,
                                .ranks = ranks,
                                .world = ta_max_i64(info->world_size, ranks),
                                .frames = NONE};
    for (int i = 0; i < SCALING_BASES; i++)
        run->series[i].time = NONE;
    run->series[SCALING_TIME].time = time == TA_MISSING ? NONE : (double)time;
    struct ta_refs in;
    ta_readings_open(&in, scaling->registry, report);
    run->fps = frame_rate(&in);
    run->flop = flop_of_step(&in, run);
    run->joules = energy_of(&in);
    const bool done = read_steps(&scaling->arena, &in, &run->series[SCALING_STEPS]) &&
                      read_blocks(&scaling->arena, &in, run, &run->series[SCALING_FRAMES]);
    if (isnan(run->fps))
        run->series[SCALING_FRAMES].time = NONE;
    return done;
}
