/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a report says of the speed of its run: steps, frames, FLOPs and joules. */
#include "compare/figures.h"
#include "compare/scaling/runs.h"

#include "traceanalyze/stat.h"

#include <math.h>

#define NONE ((double)NAN)

static double number(const struct ta_table *table, size_t row, const char *column)
{
    return ta_row_number(table, row, column, NONE);
}

/* ---- steps -------------------------------------------------------------------------------- */

/* A step takes as long as on the rank where it takes longest; without devices, of the host. */
static double step_time(const struct ta_table *table, size_t row)
{
    const double gpu = number(table, row, "gpu_dur_ns");
    return gpu > 0 ? gpu : number(table, row, "host_dur_ns");
}

/* Steps of all ranks by their place, of which each rank has at most `most`. */
static size_t longest_steps(const struct ta_table *table, double *at, size_t most)
{
    size_t place = 0, n = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        const bool is_first = i == 0 || number(table, i, "rank") != number(table, i - 1, "rank");
        place = is_first ? 0 : place + 1;
        const double time = step_time(table, i);
        if (!(time > 0) || place >= most)
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

static bool read_steps(struct ta_arena *arena, const struct ta_report *report,
                       struct scaling_series *series)
{
    const struct ta_table *table = ta_report_table(report, "steps.by_step");
    if (!table)
        table = ta_report_table(report, "diffusion.steps");
    if (!table || table->n_rows == 0)
        return true;
    const char *column = ta_table_column(table, "step_ns") != SIZE_MAX  ? "step_ns"
                         : ta_table_column(table, "dur_ns") != SIZE_MAX ? "dur_ns"
                                                                        : NULL;
    series->at = ta_arena_alloc(arena, 2 * table->n_rows * sizeof *series->at);
    if (!series->at)
        return false;
    if (column) {
        /* Passes of a profiler's records have no places that ranks share. */
        for (size_t i = 0; i < table->n_rows; i++)
            if (number(table, i, column) > 0)
                series->at[series->n++] = number(table, i, column);
    } else {
        series->n = longest_steps(table, series->at, table->n_rows);
        leave_out_first(series);
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

static bool read_blocks(struct ta_arena *arena, struct scaling_run *run,
                        struct scaling_series *series)
{
    const struct ta_table *table = ta_report_table(run->report, "diffusion.blocks");
    double sum = 0;
    if (!table || table->n_rows == 0)
        return true;
    series->at = ta_arena_alloc(arena, table->n_rows * sizeof *series->at);
    if (!series->at)
        return false;
    run->frames = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        const double time = number(table, i, "dur_ns"), frames = number(table, i, "frames");
        if (!(time > 0) || !(frames > 0))
            continue;
        series->at[series->n++] = time;
        sum += time;
        run->frames += frames;
    }
    series->time = series->n ? sum / (double)series->n : NONE;
    return true;
}

/* That of all ranks together, or of the only one. */
static double frame_rate(const struct ta_report *report)
{
    const struct ta_table *table = ta_report_table(report, "throughput.values");
    double of_all = NONE, of_one = NONE;
    size_t ones = 0;
    for (size_t i = 0; table && i < table->n_rows; i++) {
        if (!ta_slice_equal(ta_row_text(table, i, "metric"), TA_LIT("fps")) ||
            !ta_slice_equal(ta_row_text(table, i, "basis"), TA_LIT("blocks")))
            continue;
        if (ta_row_number(table, i, "rank", -1) < 0) {
            of_all = number(table, i, "value");
        } else {
            of_one = number(table, i, "value");
            ones++;
        }
    }
    return isnan(of_all) && ones == 1 ? of_one : of_all;
}

/* ---- work and energy ---------------------------------------------------------------------- */

/* Ranks that were not read are taken to be like the others; steps are those of the first rank. */
static double flop_of_step(const struct scaling_run *run)
{
    const struct ta_table *ranks = ta_report_table(run->report, "roofline.by_rank");
    const struct ta_table *steps = ta_report_table(run->report, "steps.by_step");
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; ranks && i < ranks->n_rows; i++)
        sum += number(ranks, i, "flop");
    while (steps && n < steps->n_rows && number(steps, n, "rank") == number(steps, 0, "rank"))
        n++;
    return n && sum > 0 ? sum / (double)n * (double)run->world / (double)run->ranks : NONE;
}

static double energy_of(const struct ta_report *report)
{
    const struct ta_table *table = ta_report_table(report, "energy.by_rank");
    double sum = NONE;
    for (size_t i = 0; table && i < table->n_rows; i++) {
        const double joules = number(table, i, "energy_j");
        if (!isnan(number(table, i, "session_share")))
            return NONE; /* of a part of the run */
        if (joules > 0)
            sum = isnan(sum) ? joules : sum + joules;
    }
    return sum;
}

bool scaling_read(struct scaling *scaling, const struct ta_report *report, struct scaling_run *run)
{
    const struct ta_run_info *info = ta_report_run(report);
    const int64_t time = ta_run_time(report);
    const int64_t ranks = info->n_ranks ? (int64_t)info->n_ranks : 1;
    *run = (struct scaling_run){.report = report,
                                .title = info->title,
                                .ranks = ranks,
                                .world = ta_max_i64(info->world_size, ranks),
                                .frames = NONE};
    for (int i = 0; i < SCALING_BASES; i++)
        run->series[i].time = NONE;
    run->series[SCALING_TIME].time = time == TA_MISSING ? NONE : (double)time;
    run->fps = frame_rate(report);
    run->flop = flop_of_step(run);
    run->joules = energy_of(report);
    const bool done = read_steps(&scaling->arena, report, &run->series[SCALING_STEPS]) &&
                      read_blocks(&scaling->arena, run, &run->series[SCALING_FRAMES]);
    if (isnan(run->fps))
        run->series[SCALING_FRAMES].time = NONE;
    return done;
}
