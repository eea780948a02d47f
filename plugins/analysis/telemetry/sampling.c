/* SPDX-License-Identifier: GPL-3.0-or-later */
/* telemetry.sampling: how evenly devices and host were sampled. */
#include "telemetry.h"

static const struct ta_column sampling_columns[] = {
    TA_DUMP_RANK_COLUMN,
    TA_DEVICE_COLUMN_OF("Device; none for the host, and for sums or largest values of all devices"),
    {"signal", "Signal", TA_WORD, .doc = "The signal with the most samples, the first of equals"},
    {"samples", "Samples", TA_COUNT, .doc = "Number of its samples"},
    {"span_ns", "Span", TA_NS, .doc = "First to last of them"},
    {"interval_ns", "Interval", TA_NS_MEAN, .doc = "Median time from one sample to the next"},
    {"deviation_ns", "Deviation", TA_NS_MEAN, .better = TA_LOWER,
     .doc = "Median absolute deviation from it"},
    {"holes", "Holes", TA_COUNT, .better = TA_LOWER,
     .doc = "Intervals of more than three median ones"},
    {"hole_ns", "In holes", TA_NS, .better = TA_LOWER,
     .doc = "Sum of them: nothing is known of this time"},
};

/* Makes ascending steps of readings by time; returns their number. */
static size_t find_steps(const struct all *all, const struct series *series, double *steps)
{
    size_t n = 0;
    for (size_t i = series->first + 1; i < series->end; i++) {
        const int64_t before = all->readings[i - 1].time, now = all->readings[i].time;
        if (before != TA_MISSING && now != TA_MISSING)
            steps[n++] = (double)ta_add_sat(now, -before);
    }
    ta_sort_numbers(steps, n);
    return n;
}

static double deviation_of(double *steps, size_t n, double median)
{
    for (size_t i = 0; i < n; i++)
        steps[i] = fabs(steps[i] - median);
    ta_sort_numbers(steps, n);
    return ta_quantile(steps, n, 0.5);
}

static void add_series(struct ta_table_builder *table, const struct all *all,
                       const struct series *series, double *steps)
{
    const size_t n = find_steps(all, series, steps);
    const double median = ta_quantile(steps, n, 0.5);
    int64_t holes = 0, hole_ns = 0, span = 0;
    for (size_t i = 0; i < n; i++) {
        const bool is_hole = median > 0 && steps[i] > 3 * median;
        span = ta_add_sat(span, ta_whole(steps[i]));
        holes += is_hole;
        hole_ns = ta_add_sat(hole_ns, is_hole ? ta_whole(steps[i]) : 0);
    }
    TA_CELLS(table, ta_int(series->rank), ta_int(series->device),
             ta_text(ta_slice_of(ta_signal_name(series->signal))),
             ta_int((int64_t)(series->end - series->first)), ta_int(span), ta_num(median),
             ta_num(deviation_of(steps, n, median)), ta_int(holes), ta_int(hole_ns));
}

void telemetry_add_sampling(struct ta_section_builder *out, const struct all *all, double *scratch)
{
    enum { LEAST_SAMPLES = 3 };
    struct ta_table_builder *table =
        ta_add_table(out, "telemetry.sampling", "Sampling", sampling_columns, 9);
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
            add_series(table, all, most, scratch);
    }
}
