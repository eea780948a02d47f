/* SPDX-License-Identifier: GPL-3.0-or-later */
/* telemetry.sampling: how evenly devices and host were sampled. */
#include "telemetry.h"

enum {
    SAMPLING_RANK,
    SAMPLING_DEVICE,
    SAMPLING_SIGNAL,
    SAMPLING_SAMPLES,
    SAMPLING_SPAN,
    SAMPLING_INTERVAL,
    SAMPLING_DEVIATION,
    SAMPLING_HOLES,
    SAMPLING_HOLE
};
static const struct ta_column telemetry_sampling_columns[] = {
    [SAMPLING_RANK] = TA_DUMP_RANK_COLUMN,
    [SAMPLING_DEVICE] =
        TA_DEVICE_COLUMN_OF("Device; empty for the host, and for sums or maxima over all devices"),
    [SAMPLING_SIGNAL] = {"signal", "Signal", TA_WORD,
                         .doc = "Signal with the most samples; the first if several are equal"},
    [SAMPLING_SAMPLES] = {"samples", "Samples", TA_COUNT,
                          .doc = "Number of samples of that signal"},
    [SAMPLING_SPAN] = {"span_ns", "Span", TA_NS, .doc = "Time from the first to the last sample"},
    [SAMPLING_INTERVAL] = {"interval_ns", "Sampling interval", TA_NS_MEAN,
                           .doc = "Median time between two samples"},
    [SAMPLING_DEVIATION] = {"deviation_ns", "Deviation", TA_NS_MEAN, .better = TA_LOWER,
                            .doc = "Median absolute deviation of the time between two samples"},
    [SAMPLING_HOLES] = {"holes", "Missing intervals", TA_COUNT, .better = TA_LOWER,
                        .doc = "Intervals longer than three median intervals"},
    [SAMPLING_HOLE] = {"hole_ns", "Missing time", TA_NS, .better = TA_LOWER,
                       .doc = "Total time of the missing intervals, for which nothing is known"},
};

const struct ta_table_def telemetry_sampling = {
    "telemetry.sampling", "Telemetry sampling", TA_COLUMNS(telemetry_sampling_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per rank and device, for the signal with the most samples, if all its samples "
           "were kept."};

static void add_series(struct ta_section_builder *out, const struct all *all,
                       const struct series *series, double *steps)
{
    /* The steps of time between readings, ascending. */
    size_t n = 0;
    for (size_t i = series->first + 1; i < series->end; i++) {
        const int64_t before = all->readings[i - 1].time, now = all->readings[i].time;
        if (before != TA_MISSING && now != TA_MISSING)
            steps[n++] = (double)ta_add_sat(now, -before);
    }
    ta_sort_numbers(steps, n);
    const double median = ta_quantile(steps, n, 0.5);
    int64_t holes = 0, hole_ns = 0, span = 0;
    for (size_t i = 0; i < n; i++) {
        const bool is_hole = median > 0 && steps[i] > 3 * median;
        span = ta_add_sat(span, ta_whole(steps[i]));
        holes += is_hole;
        hole_ns = ta_add_sat(hole_ns, is_hole ? ta_whole(steps[i]) : 0);
    }
    for (size_t i = 0; i < n; i++)
        steps[i] = fabs(steps[i] - median);
    ta_sort_numbers(steps, n);
    TA_ROW(out, telemetry_sampling, [SAMPLING_RANK] = ta_int(series->rank),
           [SAMPLING_DEVICE] = ta_int(series->device),
           [SAMPLING_SIGNAL] = ta_text(ta_slice_of(ta_signal_name(series->signal))),
           [SAMPLING_SAMPLES] = ta_int((int64_t)(series->end - series->first)),
           [SAMPLING_SPAN] = ta_int(span), [SAMPLING_INTERVAL] = ta_num(median),
           [SAMPLING_DEVIATION] = ta_num(ta_quantile(steps, n, 0.5)),
           [SAMPLING_HOLES] = ta_int(holes), [SAMPLING_HOLE] = ta_int(hole_ns));
}

void telemetry_add_sampling(struct ta_section_builder *out, const struct all *all, double *scratch)
{
    enum { LEAST_SAMPLES = 3 };
    for (size_t first = 0, end; first < all->n; first = end) {
        const struct series *most = NULL;
        end = telemetry_device_end(all, first);
        for (size_t i = first; i < end; i++) {
            const struct series *series = &all->at[i];
            if (series->used && series->summary.n == 0 &&
                (!most || series->end - series->first > most->end - most->first))
                most = series;
        }
        if (most && most->end - most->first >= LEAST_SAMPLES)
            add_series(out, all, most, scratch);
    }
}
