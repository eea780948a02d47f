/* SPDX-License-Identifier: GPL-3.0-or-later */
/* health.checks: whether the traces can carry what is said of them.  Each check costs a part of the
 * trust score, which is the product of what is left, and every finding's confidence is multiplied
 * with it (recommend.c). */
#include "health.h"

#include <math.h>
#include <stdlib.h>

static const struct ta_field trace_fields[HEALTH_FIELDS] = {
    [HEALTH_RANK] = {"rank", TA_FIELD_RANK},
    [HEALTH_ACTIVITIES] = {"activities", TA_FIELD_SUM},
    [HEALTH_LINKED] = {"linked", TA_FIELD_SUM},
    [HEALTH_EARLY] = {"early", TA_FIELD_SUM},
    [HEALTH_SHIFT] = {"shift_ns", TA_FIELD_MAX},
    [HEALTH_CALLS] = {"calls", TA_FIELD_SUM},
    [HEALTH_LOST] = {"lost", TA_FIELD_SUM},
    [HEALTH_HEAD] = {"head", TA_FIELD_SUM},
    [HEALTH_OVERHEAD] = {"overhead_ns", TA_FIELD_SUM},
    [HEALTH_SPAN] = {"span_ns", TA_FIELD_SUM},
    [HEALTH_OPENED] = {"spans", TA_FIELD_SUM},
    [HEALTH_GRAIN] = {"grain_ns", TA_FIELD_MIN},
    [HEALTH_FAR] = {"far", TA_FIELD_SUM},
    [HEALTH_PAIRS] = {"pairs", TA_FIELD_SUM},
    [HEALTH_LEAPS] = {"leaps", TA_FIELD_SUM},
    [HEALTH_DEVICE] = {"on_device", TA_FIELD_SUM},
};

/* Names of fields are for people; these are only numbers. */
#define NAMES_1(digits)                                                                            \
    {                                                                                              \
        "n" digits, TA_FIELD_SUM                                                                   \
    }
#define NAMES_4(digit, a, b, c, d)                                                                 \
    NAMES_1(#digit #a), NAMES_1(#digit #b), NAMES_1(#digit #c), NAMES_1(#digit #d)
#define NAMES_16(digit)                                                                            \
    NAMES_4(digit, 0, 1, 2, 3), NAMES_4(digit, 4, 5, 6, 7), NAMES_4(digit, 8, 9, a, b),            \
        NAMES_4(digit, c, d, e, f)

static const struct ta_field name_fields[HEALTH_NAMES_FIELDS] = {
    {"rank", TA_FIELD_RANK}, NAMES_16(0), NAMES_16(1), NAMES_16(2), NAMES_16(3)};

static const struct ta_partial_def partials[] = {
    {"traces", trace_fields, HEALTH_FIELDS}, {"names", name_fields, HEALTH_NAMES_FIELDS}, {0}};

enum { SAMPLING_HOLES, SAMPLING_SPAN };
static const struct ta_ref reads[] = {
    [SAMPLING_HOLES] = {"telemetry.sampling", "hole_ns"},
    [SAMPLING_SPAN] = {"telemetry.sampling", "span_ns"},
};

/* ---- what is measured ----------------------------------------------------------------------- */

/* Times of fewer spans tell no resolution. */
enum { GRAIN_LEAST = 100 };

/* Sums over all traces. */
struct sums {
    double field[HEALTH_FIELDS];
    double shift, grain;
};

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* Cases of a code in all files, over the host's spans. */
static double case_share(const struct ta_report *prior, const enum ta_quality_code *codes, size_t n,
                         double whole)
{
    const struct ta_accounts *accounts = ta_report_accounts(prior);
    double cases = 0;
    for (size_t f = 0; accounts && f < accounts->n_files; f++)
        for (size_t i = 0; i < accounts->files[f].n_findings; i++)
            for (size_t c = 0; c < n; c++)
                if (accounts->files[f].findings[i].code == codes[c])
                    cases += (double)accounts->files[f].findings[i].count;
    return ratio(cases, whole);
}

/* Files of which the profiler says that it lost events, over all; NAN where none says so, as most
 * profilers never do. */
static double lossy_share(const struct ta_report *prior)
{
    const struct ta_accounts *accounts = ta_report_accounts(prior);
    double lossy = 0;
    for (size_t f = 0; accounts && f < accounts->n_files; f++)
        for (size_t i = 0; i < accounts->files[f].n_findings; i++)
            lossy += accounts->files[f].findings[i].code == TA_Q_EVENTS_LOST;
    return lossy > 0 ? lossy / (double)accounts->n_files : NAN;
}

static double missing_ranks(const struct ta_report *prior)
{
    const struct ta_run_info *run = ta_report_run(prior);
    if (!run || run->world_size == TA_MISSING || run->world_size <= 0)
        return NAN;
    const double missing = (double)run->world_size - (double)run->n_ranks;
    return missing > 0 ? missing / (double)run->world_size : 0;
}

/* Activities of the rank with fewest over those of the median rank. */
static double least_activities(const struct ta_partial *traces)
{
    const size_t n = ta_partial_rows(traces);
    double *counts = malloc((n + 1) * sizeof *counts);
    double share = NAN;
    for (size_t i = 0; counts && i < n; i++)
        counts[i] = fmax(0, (double)ta_partial_at(traces, i)[HEALTH_ACTIVITIES]);
    if (counts && n > 1) {
        ta_sort_numbers(counts, n);
        share = ratio(counts[0], ta_quantile(counts, n, 0.5));
    }
    free(counts);
    return share;
}

/* Time in holes between samples of devices, over all. */
static double hole_share(const struct ta_refs *in)
{
    double holes = 0, span = 0;
    for (size_t i = 0; i < ta_ref_rows(in, SAMPLING_HOLES); i++) {
        holes += ta_ref_number(in, SAMPLING_HOLES, i, 0);
        span += ta_ref_number(in, SAMPLING_SPAN, i, 0);
    }
    return ratio(holes, span);
}

/* What the checks of health.h find; NaN where the traces do not allow one. */
static void measure(const struct ta_refs *in, const struct ta_partial *traces, double alike,
                    double values[HEALTH_CHECKS])
{
    static const enum ta_quality_code bad_times[] = {
        TA_Q_BAD_TS, TA_Q_NEGATIVE_DURATION, TA_Q_BAD_DURATION, TA_Q_UNFINISHED, TA_Q_ZERO_TIME};
    static const enum ta_quality_code crossings[] = {TA_Q_OVERLAP, TA_Q_CROSSED_PAIR};
    struct sums s = {.shift = NAN, .grain = NAN};
    for (size_t i = 0; i < ta_partial_rows(traces); i++) {
        const int64_t *row = ta_partial_at(traces, i);
        /* Where activities of the rank are known all the same, as from the tables beside an Ascend
         * trace, its tracks of devices do no harm. */
        const int end = row[HEALTH_ACTIVITIES] > 0 ? HEALTH_DEVICE : HEALTH_FIELDS;
        for (int f = HEALTH_ACTIVITIES; f < end; f++)
            s.field[f] += row[f] == TA_MISSING ? 0 : (double)row[f];
        if (row[HEALTH_SHIFT] != TA_MISSING)
            s.shift = fmax(s.shift, (double)row[HEALTH_SHIFT]);
        if (row[HEALTH_GRAIN] != TA_MISSING && row[HEALTH_OPENED] >= GRAIN_LEAST)
            s.grain = fmax(s.grain, (double)row[HEALTH_GRAIN]);
    }
    const double spans = s.field[HEALTH_OPENED], activities = s.field[HEALTH_ACTIVITIES];
    const double calls = s.field[HEALTH_CALLS], foreign = s.field[HEALTH_DEVICE];
    const struct ta_accounts *accounts = ta_report_accounts(in->report);
    values[CHECK_DROPPED] = accounts ? ratio((double)accounts->totals.events_dropped,
                                             (double)accounts->totals.events_seen)
                                     : NAN;
    values[CHECK_CUT_SHORT] = lossy_share(in->report);
    values[CHECK_TIMES] = case_share(in->report, bad_times, 5, spans);
    values[CHECK_FAR] = ratio(s.field[HEALTH_FAR], spans);
    /* Most profilers name no process for a device: then there is nothing to check. */
    values[CHECK_FOREIGN] = foreign > 0 ? ratio(foreign, spans) : NAN;
    values[CHECK_LINKED] = ratio(s.field[HEALTH_LINKED], activities);
    values[CHECK_EARLY] = ratio(s.field[HEALTH_EARLY], s.field[HEALTH_LINKED]);
    values[CHECK_LEAD] = s.shift;
    values[CHECK_LOST] = ratio(s.field[HEALTH_LOST], calls);
    values[CHECK_HEAD] = ratio(s.field[HEALTH_HEAD], calls);
    values[CHECK_THINNED] = ratio(s.field[HEALTH_LEAPS], s.field[HEALTH_PAIRS]);
    values[CHECK_ACTIVITIES] = activities > 0 ? activities : NAN;
    values[CHECK_HOLES] = hole_share(in);
    values[CHECK_OVERHEAD] = ratio(s.field[HEALTH_OVERHEAD], s.field[HEALTH_SPAN]);
    values[CHECK_CROSSED] = case_share(in->report, crossings, 2, spans);
    values[CHECK_RANKS] = missing_ranks(in->report);
    values[CHECK_FEWEST] = least_activities(traces);
    values[CHECK_ALIKE] = alike;
    values[CHECK_GRAIN] = s.grain;
}

static const struct ta_scalar_def scalar = {
    "trust_score",
    "Trust",
    TA_UNIT_RATIO,
    TA_HIGHER,
    .doc = "Product of what the checks of the traces leave; findings are "
           "believed that much less",
    .read_as = TA_AS_TRUST};

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    if (ta_partial_rows(merged[0]) == 0)
        return TA_OK;
    double alike, values[HEALTH_CHECKS];
    if (!health_compare_names(merged[1], out, &alike))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot compare the kernels of ranks");
    measure(in, merged[0], alike, values);
    const double trust = health_add_checks(out, values);
    ta_set_scalar(out, &scalar, ta_num(trust));
    return TA_OK;
}

static const char *const samples_op_args[] = {"External id", NULL};

static const struct ta_table_def *const tables[] = {&health_checks, &health_kernels, NULL};

static const struct ta_analysis_ops ops = {.samples_op_args = samples_op_args,
                                           .section = "health",
                                           .scalars = &scalar,
                                           .n_scalars = 1,
                                           .partials = partials,
                                           .map = health_map,
                                           .finish = finish,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, health, &ops, .title = "Trace health",
          .summary = "Whether the traces can carry what is said of them: health.checks",
          .version = "1");
