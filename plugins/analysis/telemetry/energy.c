/* SPDX-License-Identifier: GPL-3.0-or-later */
/* energy.by_rank: power integrated over the times of its samples. */
#include "telemetry.h"

static const struct ta_column energy_columns[] = {
    TA_DUMP_RANK_COLUMN,
    TA_DEVICE_COLUMN_OF("Device; none for the sum over devices"),
    {"samples", "Samples", TA_COUNT, .doc = "Samples of the power"},
    {"span_ns", "Span", TA_NS, .doc = "First to last sample"},
    {"covered_ns", "Covered", TA_NS,
     .doc = "Part of the span that counts: gaps of more than three median intervals do not"},
    {"energy_j", "Energy", TA_TYPE_NUMBER, TA_UNIT_JOULE, .better = TA_LOWER,
     .doc = "Power integrated over the times of the samples (trapezoids)"},
    {"energy_wh", "Wh", TA_NUMBER, .better = TA_LOWER, .doc = "The same in watt hours"},
    {"mean_w", "Mean power", TA_TYPE_NUMBER, TA_UNIT_WATT, .better = TA_LOWER,
     .doc = "Energy over covered time"},
    {"frame_j", "Per frame", TA_TYPE_NUMBER, TA_UNIT_JOULE, .better = TA_LOWER,
     .doc = "Energy over the frames of the rank's blocks; of a part of the session over those made "
            "in it"},
    {"session_share", "Of session", TA_RATIO,
     .doc = "Share of the session that the energy is of, where it is of a part of it only"},
};

/* ---- sums ---------------------------------------------------------------------------------- */

/* The longest step of time between two samples that counts. */
static double longest_step(struct readings readings, double *steps)
{
    size_t n = 0;
    for (size_t i = 1; i < readings.n; i++)
        steps[n++] = (double)(readings.at[i].time - readings.at[i - 1].time);
    ta_sort_numbers(steps, n);
    return n ? 3 * ta_quantile(steps, n, 0.5) : 0;
}

struct summary telemetry_sum_up(struct readings readings, double *steps)
{
    const struct reading *at = readings.at;
    struct summary sums = {.n = (int64_t)readings.n,
                           .first_ns = readings.n ? at[0].time : TA_MISSING,
                           .last_ns = readings.n ? at[readings.n - 1].time : TA_MISSING,
                           .least = INFINITY,
                           .most = -INFINITY};
    for (size_t i = 0; i < readings.n; i++) {
        sums.least = fmin(sums.least, at[i].value);
        sums.most = fmax(sums.most, at[i].value);
        sums.sum += at[i].value;
    }
    if (sums.first_ns == TA_MISSING)
        return sums;
    const double longest = longest_step(readings, steps);
    for (size_t i = 1; i < readings.n; i++) {
        const int64_t step = at[i].time - at[i - 1].time;
        if (step <= 0 || (double)step > longest)
            continue;
        sums.covered_ns += step;
        sums.joules += (at[i - 1].value + at[i].value) / 2 * (double)step / 1e9;
    }
    return sums;
}

void telemetry_join(struct summary *into, const struct summary *more)
{
    if (more->n == 0)
        return;
    if (into->n == 0) {
        *into = *more;
        return;
    }
    into->n += more->n;
    into->first_ns = ta_min_i64(into->first_ns, more->first_ns);
    into->last_ns = ta_max_i64(into->last_ns, more->last_ns);
    into->covered_ns += more->covered_ns;
    into->least = fmin(into->least, more->least);
    into->most = fmax(into->most, more->most);
    into->sum += more->sum;
    into->joules += more->joules;
}

/* ---- energy -------------------------------------------------------------------------------- */

static int64_t frames_of(const struct ta_table *ranks, int64_t rank)
{
    const size_t of = ranks ? ta_table_column(ranks, "rank") : SIZE_MAX;
    for (size_t i = 0; ranks && i < ranks->n_rows; i++) {
        const struct ta_cell *cell = ta_table_cell(ranks, i, of);
        const struct ta_cell *frames = ta_table_cell(ranks, i, ta_table_column(ranks, "frames"));
        if (cell->kind == TA_CELL_INT && cell->i == rank && frames->kind == TA_CELL_INT)
            return frames->i;
    }
    return 0;
}

static void add_series(struct ta_table_builder *table, const struct all *all,
                       const struct series *series, const struct ta_table *ranks, double *scratch)
{
    struct summary sums = telemetry_sum_up(
        (struct readings){all->readings + series->first, series->end - series->first}, scratch);
    telemetry_join(&sums, &series->summary);
    if (sums.covered_ns == 0)
        return;
    const double part = telemetry_covered_share(all, series, &sums);
    const double frames =
        isnan(part) ? (double)frames_of(ranks, series->rank)
                    : telemetry_frames_between(all, series->rank, sums.first_ns, sums.last_ns);
    TA_CELLS(table, ta_int(series->rank), ta_int(series->device), ta_int(sums.n),
             ta_int(sums.last_ns - sums.first_ns), ta_int(sums.covered_ns), ta_num(sums.joules),
             ta_num(sums.joules / 3600), ta_num(sums.joules / ((double)sums.covered_ns / 1e9)),
             frames > 0 ? ta_num(sums.joules / frames) : ta_null(), ta_num(part));
}

void telemetry_add_energy(struct ta_section_builder *out, const struct all *all,
                          const struct ta_report *prior, double *scratch)
{
    const struct ta_table *ranks = ta_report_table(prior, "diffusion.by_rank");
    struct ta_table_builder *table =
        ta_add_table(out, "energy.by_rank", "Energy", energy_columns, 10);
    for (size_t s = 0; s < all->n; s++)
        if (all->at[s].used && all->at[s].signal == TA_SIGNAL_GPU_POWER)
            add_series(table, all, &all->at[s], ranks, scratch);
}
