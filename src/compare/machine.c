/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.machine: what of a change the machine did, and what the program.
 *
 * Compute takes as long as its clock lets it: at the clock c of the baseline it would have taken
 * t' c' / c instead of t'.  What is left of the change is of the program.  Waiting, communication
 * and copies do not follow the clock and count as the program's. */
#include "compare/compare.h"
#include "report/report.h"
#include "traceanalyze/table.h"

#include <math.h>

enum { BASE_CLOCK, NEW_CLOCK, BASE_COMPUTE, NEW_COMPUTE, DELTA, MACHINE, PROGRAM };

static const struct ta_column machine_columns[] = {
    [BASE_CLOCK] = {"base_clock", "Clock before", TA_TYPE_NUMBER, TA_UNIT_HERTZ,
                    .better = TA_HIGHER, .doc = "Mean clock of the devices in the baseline"},
    [NEW_CLOCK] = {"new_clock", "Clock after", TA_TYPE_NUMBER, TA_UNIT_HERTZ, .better = TA_HIGHER,
                   .doc = "Mean clock of the devices in the other run"},
    [BASE_COMPUTE] = {"base_compute_ns", "Compute before", TA_NS, .better = TA_LOWER,
                      .doc = "Compute time in the longest window of the baseline"},
    [NEW_COMPUTE] = {"new_compute_ns", "Compute after", TA_NS, .better = TA_LOWER,
                     .doc = "Compute time in the longest window of the other run"},
    [DELTA] = {"delta_ns", "Change", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
               .doc = "Change of the window"},
    [MACHINE] = {"machine_ns", "Clock effect", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE,
                 .better = TA_LOWER,
                 .doc = "Compute time after, minus what it would be at the baseline's clock"},
    [PROGRAM] = {"program_ns", "Program effect", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE,
                 .better = TA_LOWER, .doc = "Rest of the change"},
};

static const struct ta_table_def machine = {
    "diff.machine", "Machine or program", TA_COLUMNS(machine_columns),
    .brief = &(const struct ta_brief){.place = 50, .rows = 1}};

/* Mean of the devices; 0 when no clock was recorded. */
static double clock_of(const struct ta_refs *in)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_SIGNAL_MEAN); i++) {
        const double mean = ta_ref_number(in, TA_AS_SIGNAL_MEAN, i, 0);
        if (!ta_ref_reads(in, TA_AS_SIGNAL, i, "gpu_clock") || mean <= 0)
            continue;
        sum += mean;
        n++;
    }
    return n ? sum / (double)n : 0;
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    const double before = clock_of(&diff->in[TA_DIFF_BASE]),
                 after = clock_of(&diff->in[TA_DIFF_NEW]);
    const int64_t base = diff->compute_ns[TA_DIFF_BASE], new = diff->compute_ns[TA_DIFF_NEW];
    if (base == TA_MISSING || new == TA_MISSING)
        return true;
    const double all = (double)diff->window_ns[TA_DIFF_BASE];
    const double changed = (double)diff->window_ns[TA_DIFF_NEW] - all;
    if ((before <= 0 || after <= 0) && fabs(changed) < DIFF_SAME_SHARE * all)
        return true;
    if (before <= 0 || after <= 0) {
        ta_add_missing(out, "The clocks of the devices were not recorded in both runs, so the "
                            "change may come from the machine.");
        return true;
    }
    const int64_t change = diff->window_ns[TA_DIFF_NEW] - diff->window_ns[TA_DIFF_BASE];
    const int64_t by_machine = ta_whole(rint((double)new *(1 - after / before)));
    TA_ROW(out, machine, [BASE_CLOCK] = ta_num(before), [NEW_CLOCK] = ta_num(after),
           [BASE_COMPUTE] = ta_int(base), [NEW_COMPUTE] = ta_int(new), [DELTA] = ta_int(change),
           [MACHINE] = ta_int(by_machine), [PROGRAM] = ta_int(change - by_machine));
    return true;
}

static const struct ta_table_def *const tables[] = {&machine, NULL};

const struct diff_part diff_of_machine = {
    .declares = {.name = "diff.machine", .tables = tables}, .section = "diff", .add = add};
