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

/* ---- checks -------------------------------------------------------------------------------- */

static const struct ta_column columns[] = {
    {"check", "Check", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "What is looked at"},
    {"value", "Value", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL, "What was found, in its unit"},
    {"limit", "Limit", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL,
     "From where the check counts as failed, in the same unit"},
    {"unit", "Unit", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Unit of both"},
    {"holds", "Holds", TA_TYPE_BOOLEAN, TA_UNIT_NONE, TA_NEUTRAL, "Whether the limit is kept"},
    {"penalty", "Penalty", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_LOWER,
     "Part that the check takes from the trust score"},
    {"what", "What it means", TA_TYPE_SENTENCE, TA_UNIT_NONE, TA_NEUTRAL,
     "How the value is worked out, and what a bad one spoils"},
};

/* Times of fewer spans tell no resolution. */
enum { GRAIN_LEAST = 100 };

/* Sums over all traces. */
struct sums {
    double field[HEALTH_FIELDS];
    double shift, grain;
};

static struct sums add_up(const struct ta_partial *traces)
{
    struct sums sums = {.shift = NAN, .grain = NAN};
    for (size_t i = 0; i < ta_partial_rows(traces); i++) {
        const int64_t *row = ta_partial_at(traces, i);
        for (int f = HEALTH_ACTIVITIES; f < HEALTH_FIELDS; f++)
            sums.field[f] += row[f] == TA_MISSING ? 0 : (double)row[f];
        if (row[HEALTH_SHIFT] != TA_MISSING)
            sums.shift = fmax(sums.shift, (double)row[HEALTH_SHIFT]);
        if (row[HEALTH_GRAIN] != TA_MISSING && row[HEALTH_OPENED] >= GRAIN_LEAST)
            sums.grain = fmax(sums.grain, (double)row[HEALTH_GRAIN]);
    }
    return sums;
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* How many of the records seen were dropped. */
static double dropped_share(const struct ta_report *prior)
{
    const struct ta_accounts *accounts = ta_report_accounts(prior);
    return accounts ? ratio((double)accounts->totals.events_dropped,
                            (double)accounts->totals.events_seen)
                    : NAN;
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
static double hole_share(const struct ta_report *prior)
{
    static const char name[] = "telemetry.sampling";
    const struct ta_table *table = ta_report_table(prior, name);
    double holes = 0, span = 0;
    for (size_t i = 0; table && i < table->n_rows; i++) {
        holes += ta_row_number(table, i, "hole_ns", 0);
        span += ta_row_number(table, i, "span_ns", 0);
    }
    return ratio(holes, span);
}

struct check {
    const char *name;
    double value, limit, penalty;
    bool at_least; /* the value should not be below the limit */
    const char *unit, *what;
};

/* Adds a row and returns what is left of the trust; a check without a value is left out. */
static double add_check(struct ta_table_builder *table, const struct check *check)
{
    if (isnan(check->value))
        return 1;
    const bool good = check->at_least ? check->value >= check->limit : check->value <= check->limit;
    const double penalty = fmin(fmax(check->penalty, 0), 1);
    TA_ROW(table, ta_text(ta_slice_of(check->name)), ta_num(check->value), ta_num(check->limit),
           ta_text(ta_slice_of(check->unit)), ta_bool(good), ta_num(penalty),
           ta_text(ta_slice_of(check->what)));
    return 1 - penalty;
}

static double add_checks(struct ta_table_builder *table, const struct ta_report *prior,
                         const struct ta_partial *traces, double alike)
{
    static const enum ta_quality_code bad_times[] = {
        TA_Q_BAD_TS, TA_Q_NEGATIVE_DURATION, TA_Q_BAD_DURATION, TA_Q_UNFINISHED, TA_Q_ZERO_TIME};
    static const enum ta_quality_code crossings[] = {TA_Q_OVERLAP, TA_Q_CROSSED_PAIR};
    const struct sums s = add_up(traces);
    const double dropped = dropped_share(prior);
    const double lossy = lossy_share(prior);
    const double times = case_share(prior, bad_times, 5, s.field[HEALTH_OPENED]);
    const double strays = ratio(s.field[HEALTH_FAR], s.field[HEALTH_OPENED]);
    /* Most profilers name no process for a device: then there is nothing to check. */
    const double foreign =
        s.field[HEALTH_DEVICE] > 0 ? ratio(s.field[HEALTH_DEVICE], s.field[HEALTH_OPENED]) : NAN;
    const double linked = ratio(s.field[HEALTH_LINKED], s.field[HEALTH_ACTIVITIES]);
    const double early = ratio(s.field[HEALTH_EARLY], s.field[HEALTH_LINKED]);
    const double lost = ratio(s.field[HEALTH_LOST], s.field[HEALTH_CALLS]);
    const double head = ratio(s.field[HEALTH_HEAD], s.field[HEALTH_CALLS]);
    const double thinned = ratio(s.field[HEALTH_LEAPS], s.field[HEALTH_PAIRS]);
    const double activities = s.field[HEALTH_ACTIVITIES] > 0 ? s.field[HEALTH_ACTIVITIES] : NAN;
    const double holes = hole_share(prior);
    const double overhead = ratio(s.field[HEALTH_OVERHEAD], s.field[HEALTH_SPAN]);
    const double crossed = case_share(prior, crossings, 2, s.field[HEALTH_OPENED]);
    const double missing = missing_ranks(prior);
    const double fewest = least_activities(traces);
    const struct check checks[] = {
        {"records dropped", dropped, 0.01, dropped, false, "ratio",
         "Damaged records over all; what they would have said is missing everywhere"},
        {"traces cut short", lossy, 0, 0.3 * lossy, false, "ratio",
         "Files of which the profiler says that its buffer was full, over all: sums are too small"},
        {"bad times", times, 0.001, times, false, "ratio",
         "Records without a usable time or duration over the host's spans"},
        {"times far away", strays, 0, strays, false, "ratio",
         "Spans that begin more than an hour from the median start, over the host's spans: the "
         "clock "
         "was set, or the times are none"},
        {"devices as the host's", foreign, 0, 0.5 + 0.5 * foreign, false, "ratio",
         "Spans of processes that are named for a device, over the host's spans: their category is "
         "of no device activity that is known, so they count as the host's"},
        {"launches linked", linked, 0.99, 0.5 * (1 - linked), true, "ratio",
         "Activities whose call was recorded; the causes of idle time and the device time of "
         "operators need them"},
        {"activities before their call", early, 0.001, early, false, "ratio",
         "Of the linked ones: clocks of host and device that do not agree"},
        {"lead of activities", s.shift, 0, 0, false, "ns",
         "Most that one of them begins before its call: the clocks differ by no less"},
        {"kernels lost", lost, 0.01, lost, false, "ratio",
         "Calls that launch a kernel and have none, behind the first one that has; busy time is "
         "too small by theirs"},
        {"kernels lost at the start", head, 0.05, 0.5 * head, false, "ratio",
         "Such calls before the first kernel that was recorded; leave out the first steps"},
        {"operators missing", thinned, 0.1, thinned, false, "ratio",
         "Of the operators that follow each other on a thread, which numbers them one by one, "
         "those "
         "with a leap in between: a trace that was thinned out idles where it worked"},
        {"activities recorded", activities, HEALTH_FEW, 0.3 * (1 - activities / HEALTH_FEW), true,
         "count", "Of devices, in all traces; fewer are no picture of a run"},
        {"holes in samples", holes, 0.05, 0.2 * holes, false, "ratio",
         "Time of the sampling of devices in intervals of more than three median ones, over all"},
        {"profiler overhead", overhead, 0.05, overhead, false, "ratio",
         "Time that the profiler says it took itself, over the extent of the host's spans"},
        {"spans that cross", crossed, 0.001, crossed, false, "ratio",
         "Spans that end after the span around them, over all; spoils self time"},
        {"ranks missing", missing, 0, 0.2 * missing, false, "ratio",
         "Of the world size that the traces name; what is said of one rank holds, but who waits "
         "for "
         "whom is not known"},
        {"fewest activities", fewest, 0.9, 0.1 * (1 - fewest), true, "ratio",
         "Of a rank, over the median rank: a rank that recorded less, or does other work"},
        {"kernels in common", alike, 0.9, 0.1 * (1 - alike), true, "ratio",
         "Of a rank with the rank most like it, over the kernels of either, by name: a rank that "
         "runs something else, or lost what it ran"},
        {"resolution", s.grain, 100, s.grain >= 1000 ? 0.05 : 0, false, "ns",
         "Largest number that divides the times looked at; short kernels and gaps are rounded to "
         "it"},
    };
    double trust = 1;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        trust *= add_check(table, &checks[i]);
    return trust;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    if (ta_partial_rows(merged[0]) == 0)
        return TA_OK;
    struct ta_table_builder *table =
        ta_add_table(out, "health.checks", "Checks of the traces", columns, 7);
    double alike;
    if (!health_compare_names(merged[1], out, &alike))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot compare the kernels of ranks");
    const double trust = add_checks(table, prior, merged[0], alike);
    ta_add_scalar(out, &(struct ta_scalar){
                           .id = "trust_score",
                           .title = "Trust",
                           .value = ta_num(trust),
                           .unit = TA_UNIT_RATIO,
                           .polarity = TA_HIGHER,
                           .note = "Product of what the checks of the traces leave; findings are "
                                   "believed that much less"});
    return TA_OK;
}

static const char *const after[] = {"telemetry", NULL};
static const char *const needs_op_args[] = {"External id", NULL};

static const struct ta_analysis_ops ops = {.after = after,
                                           .needs_op_args = needs_op_args,
                                           .section = "health",
                                           .partials = partials,
                                           .map = health_map,
                                           .finish = finish};

TA_PLUGIN(analysis, health, &ops, .title = "Trace health",
          .summary = "Whether the traces can carry what is said of them: health.checks",
          .version = "1");
