/* SPDX-License-Identifier: GPL-3.0-or-later */
/* energy.by_rank: power integrated over the times of its samples. */
#include "telemetry.h"

enum {
    BY_RANK_RANK,
    BY_RANK_DEVICE,
    BY_RANK_SAMPLES,
    BY_RANK_SPAN,
    BY_RANK_COVERED,
    BY_RANK_ENERGY_J,
    BY_RANK_ENERGY_WH,
    BY_RANK_MEAN_W,
    BY_RANK_FRAME_J,
    BY_RANK_SESSION_SHARE
};
static const struct ta_column telemetry_energy_columns[] = {
    [BY_RANK_RANK] = TA_DUMP_RANK_COLUMN,
    [BY_RANK_DEVICE] = TA_DEVICE_COLUMN_OF("Device; empty for the sum over devices"),
    [BY_RANK_SAMPLES] = {"samples", "Samples", TA_COUNT, .doc = "Power samples"},
    [BY_RANK_SPAN] = {"span_ns", "Span", TA_NS, .doc = "Time from the first to the last sample"},
    [BY_RANK_COVERED] =
        {"covered_ns", "Sampled time", TA_NS,
         .doc = "Part of the span that counts; gaps longer than three median intervals do not"},
    [BY_RANK_ENERGY_J] = {"energy_j", "Energy", TA_TYPE_NUMBER, TA_UNIT_JOULE, .better = TA_LOWER,
                          .weight = 0.3, .read_as = TA_AS_ENERGY,
                          .doc = "Sampled power integrated over time (trapezoidal rule)"},
    [BY_RANK_ENERGY_WH] = {"energy_wh", "Wh", TA_NUMBER, .better = TA_LOWER,
                           .doc = "Energy in watt-hours"},
    [BY_RANK_MEAN_W] = {"mean_w", "Mean power", TA_TYPE_NUMBER, TA_UNIT_WATT, .better = TA_LOWER,
                        .weight = 0.2, .doc = "Energy over sampled time"},
    [BY_RANK_FRAME_J] = {"frame_j", "Per frame", TA_TYPE_NUMBER, TA_UNIT_JOULE, .better = TA_LOWER,
                         .weight = 0.3,
                         .doc = "Energy per frame of the rank's blocks; if only part of the "
                                "session was sampled, frames made in that part"},
    [BY_RANK_SESSION_SHARE] =
        {"session_share", "Share of session", TA_RATIO, .read_as = TA_AS_ENERGY_SHARE,
         .doc =
             "Share of the session that the energy covers; empty if it covers the whole session"},
};

const struct ta_table_def telemetry_energy = {
    "energy.by_rank",
    "Energy",
    TA_COLUMNS(telemetry_energy_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per rank and device with power samples. Every rank sees all devices of its "
           "host, so ranks must not be added up.",
    .rank_words = "Energy"};

/* ---- sums ---------------------------------------------------------------------------------- */

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
    /* The longest step of time between two samples that counts. */
    size_t n = 0;
    for (size_t i = 1; i < readings.n; i++)
        steps[n++] = (double)(readings.at[i].time - readings.at[i - 1].time);
    ta_sort_numbers(steps, n);
    const double longest = n ? 3 * ta_quantile(steps, n, 0.5) : 0;
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

static int64_t frames_of(const struct ta_refs *in, int64_t rank)
{
    for (size_t i = 0; i < ta_ref_rows(in, DIFFUSION_RANK); i++)
        if (ta_ref_integer(in, DIFFUSION_RANK, i) == rank &&
            ta_ref_integer(in, DIFFUSION_FRAMES, i) != TA_MISSING)
            return ta_ref_integer(in, DIFFUSION_FRAMES, i);
    return 0;
}

void telemetry_add_energy(struct ta_section_builder *out, const struct all *all,
                          const struct ta_refs *in, double *scratch)
{
    for (size_t s = 0; s < all->n; s++)
        if (all->at[s].used && all->at[s].signal == TA_SIGNAL_GPU_POWER) {
            const struct series *series = &all->at[s];
            struct summary sums = telemetry_sum_up(
                (struct readings){all->readings + series->first, series->end - series->first},
                scratch);
            telemetry_join(&sums, &series->summary);
            if (sums.covered_ns == 0)
                continue;
            const double part = telemetry_covered_share(all, series, &sums);
            const double frames =
                isnan(part)
                    ? (double)frames_of(in, series->rank)
                    : telemetry_frames_between(all, series->rank, sums.first_ns, sums.last_ns);
            TA_ROW(out, telemetry_energy, [BY_RANK_RANK] = ta_int(series->rank),
                   [BY_RANK_DEVICE] = ta_int(series->device), [BY_RANK_SAMPLES] = ta_int(sums.n),
                   [BY_RANK_SPAN] = ta_int(sums.last_ns - sums.first_ns),
                   [BY_RANK_COVERED] = ta_int(sums.covered_ns),
                   [BY_RANK_ENERGY_J] = ta_num(sums.joules),
                   [BY_RANK_ENERGY_WH] = ta_num(sums.joules / 3600),
                   [BY_RANK_MEAN_W] = ta_num(sums.joules / ((double)sums.covered_ns / 1e9)),
                   [BY_RANK_FRAME_J] = frames > 0 ? ta_num(sums.joules / frames) : ta_null(),
                   [BY_RANK_SESSION_SHARE] = ta_num(part));
        }
}
