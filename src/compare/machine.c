/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.machine: what of a change the machine did, and what the program.
 *
 * Compute takes as long as its clock lets it: at the clock c of the baseline it would have taken
 * t' c' / c instead of t'.  What is left of the change is of the program.  Waiting, communication
 * and copies do not follow the clock and count as the program's. */
#include "compare/compare.h"
#include "report/report.h"
#include "traceanalyze/columns.h"

#include <math.h>

static const struct ta_column columns[] = {
    {"base_clock", "Clock before", TA_TYPE_NUMBER, TA_UNIT_HERTZ, .better = TA_HIGHER,
     .doc = "Mean clock of the devices in the baseline"},
    {"new_clock", "Clock after", TA_TYPE_NUMBER, TA_UNIT_HERTZ, .better = TA_HIGHER,
     .doc = "Mean clock of the devices in the other run"},
    {"base_compute_ns", "Compute before", TA_NS, .better = TA_LOWER,
     .doc = "What compute takes of the longest window of the baseline"},
    {"new_compute_ns", "Compute after", TA_NS, .better = TA_LOWER,
     .doc = "What compute takes of the longest window of the other run"},
    {"delta_ns", "Change", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
     .doc = "Of the window"},
    {"machine_ns", "By the machine", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
     .doc = "Compute after, minus what it would take at the clock of the baseline"},
    {"program_ns", "By the program", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
     .doc = "The rest of the change"},
};

/* Mean of the devices; 0 when no clock was recorded. */
static double clock_of(const struct ta_report *report)
{
    const struct ta_table *signals = ta_report_table(report, "telemetry.by_rank");
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; signals && i < signals->n_rows; i++) {
        const double mean = ta_row_number(signals, i, "mean", 0);
        if (!ta_row_reads(signals, i, "signal", "gpu_clock") || mean <= 0)
            continue;
        sum += mean;
        n++;
    }
    return n ? sum / (double)n : 0;
}

void diff_add_machine(struct diff *diff)
{
    struct ta_section_builder *section = ta_report_open_section(diff->out, "diff", "What changed");
    const double before = clock_of(diff->shown[TA_DIFF_BASE]);
    const double after = clock_of(diff->shown[TA_DIFF_NEW]);
    const int64_t base = diff->compute_ns[TA_DIFF_BASE], new = diff->compute_ns[TA_DIFF_NEW];
    if (base == TA_MISSING || new == TA_MISSING)
        return;
    if (before <= 0 || after <= 0) {
        ta_add_missing(section, "What the machine did to the change is not known: the clocks of "
                                "its devices were not recorded in both runs.");
        return;
    }
    const int64_t change = diff->window_ns[TA_DIFF_NEW] - diff->window_ns[TA_DIFF_BASE];
    const int64_t machine = ta_whole(rint((double)new *(1 - after / before)));
    struct ta_table_builder *table = ta_add_table(section, "diff.machine", "Machine and program",
                                                  columns, sizeof columns / sizeof *columns);
    TA_CELLS(table, ta_num(before), ta_num(after), ta_int(base), ta_int(new), ta_int(change),
             ta_int(machine), ta_int(change - machine));
}
