/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.telemetry: the signals of devices and hosts that both runs sampled, and what slowed the
 * devices of either. */
#include "compare/compare.h"
#include "report/report.h"
#include "report/tables.h"
#include "traceanalyze/table.h"

#include <math.h>

enum { SIGNAL, KIND, BASE, NEW, DELTA, CHANGE, UNIT };

static const struct ta_column signals_columns[] = {
    [SIGNAL] = {"signal", "Signal", TA_WORD,
                .doc = "Telemetry signal, or the limit that slows a device"},
    [KIND] = {"kind", "Kind", TA_WORD,
              .doc = "mean: over the samples of all devices, with equal weight per device; limit: "
                     "largest share of a device's busy samples that it slows"},
    [BASE] = {"base", "Before", TA_NUMBER, .doc = "Value in the baseline"},
    [NEW] = {"new", "After", TA_NUMBER, .doc = "Value in the other run"},
    [DELTA] = {"delta", "Change", TA_TYPE_NUMBER, TA_UNIT_CHANGE, .doc = "After minus before"},
    [CHANGE] = {"change", "Change %", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE,
                .doc = "Change divided by the value before"},
    [UNIT] = {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW, .doc = "Unit of the values"},
};

static const struct ta_table_def signals = {
    "diff.telemetry", "Telemetry compared", TA_COLUMNS(signals_columns),
    .brief = &(const struct ta_brief){
        .place = 80,
        .rows = 12,
        .first = {&signals_columns[BASE], &signals_columns[NEW], &signals_columns[DELTA],
                  &signals_columns[CHANGE]},
        .hidden = {&signals_columns[SIGNAL],
                   {"gpu_memory_total", "cpu_memory_total", "gpu_power_limit", "gpu_clock_max"}}}};

static void add_row(struct ta_section_builder *out, struct ta_slice signal, const char *kind,
                    const double values[TA_DIFF_SIDES], enum ta_unit unit)
{
    const double before = values[TA_DIFF_BASE], after = values[TA_DIFF_NEW];
    TA_ROW(out, signals, [SIGNAL] = ta_text(signal), [KIND] = ta_text(ta_slice_of(kind)),
           [BASE] = ta_num(before), [NEW] = ta_num(after), [DELTA] = ta_num(after - before),
           [CHANGE] = before > 0 ? ta_num(after / before - 1) : ta_null(),
           [UNIT] = ta_text(ta_slice_of(ta_unit_name(unit))));
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Largest share of a device; 0 without any. */
static double share_of(const struct ta_refs *in, struct ta_slice limit)
{
    double most = 0;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_LIMIT); i++)
        if (ta_slice_equal(ta_ref_text(in, TA_AS_LIMIT, i), limit))
            most = fmax(most, ta_ref_number(in, TA_AS_LIMIT_SHARE, i, 0));
    return most;
}

static bool is_listed(const struct ta_refs *in, struct ta_slice limit, size_t before)
{
    for (size_t i = 0; i < before; i++)
        if (ta_slice_equal(ta_ref_text(in, TA_AS_LIMIT, i), limit))
            return true;
    return false;
}

/* Keeps the limit that came or went, or changed, most. */
static void keep_limit(struct diff *diff, struct ta_slice limit, const double shares[TA_DIFF_SIDES])
{
    const double change = fabs(shares[TA_DIFF_NEW] - shares[TA_DIFF_BASE]);
    if (change <= fabs(diff->limit.share[TA_DIFF_NEW] - diff->limit.share[TA_DIFF_BASE]))
        return;
    diff->limit = (struct diff_limit){limit, {shares[0], shares[1]}};
}

static void add_limits(struct diff *diff, struct ta_section_builder *out)
{
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        const struct ta_refs *in = &diff->in[side], *base = &diff->in[TA_DIFF_BASE];
        for (size_t i = 0; i < ta_ref_rows(in, TA_AS_LIMIT); i++) {
            const struct ta_slice limit = ta_ref_text(in, TA_AS_LIMIT, i);
            if (is_listed(in, limit, i) ||
                (side == TA_DIFF_NEW && is_listed(base, limit, ta_ref_rows(base, TA_AS_LIMIT))))
                continue;
            const double shares[] = {share_of(base, limit),
                                     share_of(&diff->in[TA_DIFF_NEW], limit)};
            add_row(out, limit, "limit", shares, TA_UNIT_RATIO);
            keep_limit(diff, limit, shares);
        }
    }
}

/* ---- signals --------------------------------------------------------------------------------- */

/* Mean over the rows of a signal; NaN without any, or of different units. */
static double mean_of(const struct ta_refs *in, struct ta_slice signal)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_SIGNAL); i++) {
        const double mean = ta_ref_number(in, TA_AS_SIGNAL_MEAN, i, (double)NAN);
        if (!ta_slice_equal(ta_ref_text(in, TA_AS_SIGNAL, i), signal) || isnan(mean))
            continue;
        sum += mean;
        n++;
    }
    return n ? sum / (double)n : (double)NAN;
}

static void add_signals(struct diff *diff, struct ta_section_builder *out)
{
    const struct ta_refs *in = &diff->in[TA_DIFF_BASE], *new = &diff->in[TA_DIFF_NEW];
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_SIGNAL); i++) {
        const struct ta_slice signal = ta_ref_text(in, TA_AS_SIGNAL, i);
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = !ta_slice_equal(ta_ref_text(in, TA_AS_SIGNAL, k), signal);
        const double values[] = {mean_of(in, signal), mean_of(new, signal)};
        const bool is_limit = is_listed(in, signal, ta_ref_rows(in, TA_AS_LIMIT)) ||
                              is_listed(new, signal, ta_ref_rows(new, TA_AS_LIMIT));
        if (!is_first || is_limit || isnan(values[0]) || isnan(values[1]) ||
            (values[0] == 0 && values[1] == 0))
            continue;
        add_row(out, signal, "mean", values,
                ta_table_unit(ta_ref_table(in, TA_AS_SIGNAL_MEAN), i,
                              ta_ref_column(in, TA_AS_SIGNAL_MEAN)));
        if (ta_slice_equal(signal, TA_LIT("gpu_clock")))
            memcpy(diff->clock, values, sizeof diff->clock);
    }
}

/* Limits of a run say something only against a run that was sampled, too. */
static bool add(struct diff *diff, struct ta_section_builder *out)
{
    if (!ta_ref_table(&diff->in[TA_DIFF_BASE], TA_AS_SIGNAL) ||
        !ta_ref_table(&diff->in[TA_DIFF_NEW], TA_AS_SIGNAL))
        return true;
    add_limits(diff, out);
    add_signals(diff, out);
    return true;
}

static const struct ta_table_def *const tables[] = {&signals, NULL};

const struct diff_part diff_of_signals = {
    .declares = {.name = "diff.telemetry", .tables = tables}, .section = "diff", .add = add};
