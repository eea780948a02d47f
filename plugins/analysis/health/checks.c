/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The checks: from where each counts as failed, what it takes from the trust, and what it means. */
#include "health.h"

#include <math.h>

enum { CHECK, VALUE, LIMIT, UNIT, HOLDS, PENALTY, WHAT };
static const struct ta_column health_checks_columns[] = {
    [CHECK] = {"check", "Check", TA_TEXT, .doc = "What is looked at"},
    [VALUE] = {"value", "Value", TA_NUMBER, .doc = "What was found, in its unit"},
    [LIMIT] = {"limit", "Limit", TA_NUMBER,
               .doc = "From where the check counts as failed, in the same unit"},
    [UNIT] = {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW, .doc = "Unit of both"},
    [HOLDS] = {"holds", "Holds", TA_FLAG, .doc = "Whether the limit is kept"},
    [PENALTY] = {"penalty", "Penalty", TA_RATIO, .better = TA_LOWER,
                 .doc = "Part that the check takes from the trust score"},
    [WHAT] = {"what", "What it means", TA_SENTENCE,
              .doc = "How the value is worked out, and what a bad one spoils"},
};

const struct ta_table_def health_checks = {
    "health.checks", "Checks of the traces", TA_COLUMNS(health_checks_columns),
    .doc = "Scalar `trust_score`: the product of 1 − `penalty` over the checks. The confidence "
           "of every finding is multiplied with it, but of the one that says so, `trust`. Below "
           "0.5 that one comes first and all others are hints: their severity is `info`.\n\n"
           "One row per check that the traces allow: records dropped, traces cut short, bad "
           "times, times far away, devices as the host's (spans of processes that are named for "
           "a device, in a category that is none of devices, of ranks of which no device "
           "activity is known), launches linked, activities before their call and their lead, "
           "kernels lost (at the start, and later), operators missing, activities recorded, "
           "holes in samples, profiler overhead, spans that cross, ranks missing, fewest "
           "activities of a rank, kernels in common, resolution."};

/* A check takes `weight` of what is bad: of the value, or of what it lacks to 1. */
static const struct {
    const char *name, *unit;
    double limit, weight;
    bool at_least; /* the value should not be below the limit */
    const char *what;
} checks[HEALTH_CHECKS] = {
    [CHECK_DROPPED] = {"records dropped", "ratio", 0.01, 1, false,
                       "Damaged records over all; what they would have said is missing everywhere"},
    [CHECK_CUT_SHORT] =
        {"traces cut short", "ratio", 0, 0.3, false,
         "Files of which the profiler says that its buffer was full, over all: sums are too small"},
    [CHECK_TIMES] = {"bad times", "ratio", 0.001, 1, false,
                     "Records without a usable time or duration over the host's spans"},
    [CHECK_FAR] = {"times far away", "ratio", 0, 1, false,
                   "Spans that begin more than an hour from the median start, over the host's "
                   "spans: the clock was set, or the times are none"},
    [CHECK_FOREIGN] =
        {"devices as the host's", "ratio", 0, 0.5, false,
         "Spans of processes that are named for a device, over the host's spans: their category is "
         "of no device activity that is known, and nothing else tells of devices, so they count as "
         "the host's"},
    [CHECK_LINKED] =
        {"launches linked", "ratio", 0.99, 0.5, true,
         "Activities whose call was recorded; the causes of idle time and the device time of "
         "operators need them"},
    [CHECK_EARLY] = {"activities before their call", "ratio", 0.001, 1, false,
                     "Of the linked ones: clocks of host and device that do not agree"},
    [CHECK_LEAD] = {"lead of activities", "ns", 0, 0, false,
                    "Most that one of them begins before its call: the clocks differ by no less"},
    [CHECK_LOST] =
        {"kernels lost", "ratio", 0.01, 1, false,
         "Calls that launch a kernel and have none, behind the first one that has; busy time is "
         "too small by theirs"},
    [CHECK_HEAD] =
        {"kernels lost at the start", "ratio", 0.05, 0.5, false,
         "Such calls before the first kernel that was recorded; leave out the first steps"},
    [CHECK_THINNED] =
        {"operators missing", "ratio", 0.1, 1, false,
         "Of the first operators of a file that follow each other on a thread, which numbers them "
         "one by one, those with a leap in between: a trace that was thinned out idles where it "
         "worked"},
    [CHECK_ACTIVITIES] = {"activities recorded", "count", HEALTH_FEW, 0.3, true,
                          "Of devices, in all traces; fewer are no picture of a run"},
    [CHECK_HOLES] =
        {"holes in samples", "ratio", 0.05, 0.2, false,
         "Time of the sampling of devices in intervals of more than three median ones, over all"},
    [CHECK_OVERHEAD] =
        {"profiler overhead", "ratio", 0.05, 1, false,
         "Time that the profiler says it took itself, over the extent of the host's spans"},
    [CHECK_CROSSED] = {"spans that cross", "ratio", 0.001, 1, false,
                       "Spans that end after the span around them, over all; spoils self time"},
    [CHECK_RANKS] = {"ranks missing", "ratio", 0, 0.2, false,
                     "Of the world size that the traces name; what is said of one rank holds, but "
                     "who waits for "
                     "whom is not known"},
    [CHECK_FEWEST] =
        {"fewest activities", "ratio", 0.9, 0.1, true,
         "Of a rank, over the median rank: a rank that recorded less, or does other work"},
    [CHECK_ALIKE] =
        {"kernels in common", "ratio", 0.9, 0.1, true,
         "Of a rank with the rank most like it, over the kernels of either, by name: a rank that "
         "runs something else, or lost what it ran"},
    [CHECK_GRAIN] =
        {"resolution", "ns", 100, 0, false,
         "Largest number that divides the times looked at; short kernels and gaps are rounded to "
         "it"},
};

/* What whole microseconds take from the trust, and any device work that is not known as such. */
#define COARSE_NS 1000
#define COARSE_PENALTY 0.05
#define FOREIGN_PENALTY 0.5

static double penalty_of(enum health_check check, double value)
{
    const double weight = checks[check].weight;
    switch (check) {
    case CHECK_FOREIGN:
        return FOREIGN_PENALTY + weight * value;
    case CHECK_ACTIVITIES:
        return weight * (1 - value / HEALTH_FEW);
    case CHECK_GRAIN:
        return value >= COARSE_NS ? COARSE_PENALTY : 0;
    default:
        return weight * (checks[check].at_least ? 1 - value : value);
    }
}

double health_add_checks(struct ta_section_builder *out, const double values[HEALTH_CHECKS])
{
    double trust = 1;
    for (enum health_check i = 0; i < HEALTH_CHECKS; i++) {
        const double value = values[i], limit = checks[i].limit;
        if (isnan(value))
            continue;
        const bool holds = checks[i].at_least ? value >= limit : value <= limit;
        const double penalty = fmin(fmax(penalty_of(i, value), 0), 1);
        TA_ROW(out, health_checks, [CHECK] = ta_text(ta_slice_of(checks[i].name)),
               [VALUE] = ta_num(value), [LIMIT] = ta_num(limit),
               [UNIT] = ta_text(ta_slice_of(checks[i].unit)), [HOLDS] = ta_bool(holds),
               [PENALTY] = ta_num(penalty), [WHAT] = ta_text(ta_slice_of(checks[i].what)));
        trust *= 1 - penalty;
    }
    return trust;
}
