/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bins of histograms. */
#include "stat/numbers.h"

enum { FEWEST = 10, MOST = 200 };

static double scaled(double value, bool is_log)
{
    return is_log ? log(value) : value;
}

/* Quantile of type 7 on the scale. */
static double quantile(const double *sorted, size_t n, double share, bool is_log)
{
    const double place = (double)(n - 1) * share;
    const size_t at = ta_whole_size(place), next = at + 1 < n ? at + 1 : at;
    const double low = scaled(sorted[at], is_log), high = scaled(sorted[next], is_log);
    return low + (place - (double)at) * (high - low);
}

static void choose(const double *sorted, size_t n, bool is_log, struct ta_bins *out)
{
    *out = (struct ta_bins){sorted[0], sorted[n - 1], 1, is_log};
    const double range = scaled(sorted[n - 1], is_log) - scaled(sorted[0], is_log);
    if (!(range > 0))
        return;
    const double quartiles = quantile(sorted, n, 0.75, is_log) - quantile(sorted, n, 0.25, is_log);
    const double wanted = ceil(range / (2 * quartiles / cbrt((double)n)));
    out->n_bins = wanted >= MOST ? MOST : wanted > FEWEST ? ta_whole_size(wanted) : FEWEST;
}

void ta_bins_linear(const double *sorted, size_t n, struct ta_bins *out)
{
    *out = (struct ta_bins){TA_NAN, TA_NAN, 0, false};
    if (n && ta_all_finite(sorted, n) && isfinite(sorted[n - 1] - sorted[0]))
        choose(sorted, n, false, out);
}

void ta_bins_log(const double *sorted, size_t n, struct ta_bins *out)
{
    *out = (struct ta_bins){TA_NAN, TA_NAN, 0, true};
    if (n && ta_all_positive(sorted, n))
        choose(sorted, n, true, out);
}

double ta_bins_edge(const struct ta_bins *bins, size_t at)
{
    if (at == 0)
        return bins->low;
    if (at >= bins->n_bins) /* exactly, whatever rounding does */
        return bins->high;
    const double part = (double)at / (double)bins->n_bins;
    if (!bins->is_log)
        return bins->low + (bins->high - bins->low) * part;
    return exp(log(bins->low) + (log(bins->high) - log(bins->low)) * part);
}

void ta_bins_count(const struct ta_bins *bins, const double *sorted, size_t n, uint64_t *counts)
{
    size_t bin = 0;
    for (size_t i = 0; bins->n_bins && i < n; i++) {
        if (!(sorted[i] >= bins->low && sorted[i] <= bins->high))
            continue;
        while (bin + 1 < bins->n_bins && sorted[i] >= ta_bins_edge(bins, bin + 1))
            bin++;
        counts[bin]++;
    }
}
