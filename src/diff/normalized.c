/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.normalized: the window for each unit of work, where runs did different amounts of it. */
#include "diff/compare.h"
#include "result/report.h"
#include "traceanalyze/columns.h"

static const struct ta_column columns[] = {
    {"basis", "For each", TA_TYPE_WORD, TA_UNIT_NONE, TA_NEUTRAL,
     "whole: the window as it is; step: of the window, one step; frame: one frame of video"},
    TA_COUNT_COLUMN("base_units", "Of them before", TA_NEUTRAL, "Units in the baseline"),
    TA_COUNT_COLUMN("new_units", "Of them after", TA_NEUTRAL, "Units in the other run"),
    {"base_ns", "Before", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER, "Window over units, before"},
    {"new_ns", "After", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER, "Window over units, after"},
    DIFF_CHANGE_COLUMNS(TA_TYPE_NUMBER),
};

/* The largest sum over the rows of a rank, or number of them without a column. */
static int64_t most_by_rank(const struct ta_table *table, const char *column)
{
    int64_t most = TA_MISSING;
    for (size_t i = 0, end; table && i < table->n_rows; i = end) {
        const double rank = ta_row_number(table, i, "rank", -1);
        double sum = 0;
        for (end = i; end < table->n_rows && ta_row_number(table, end, "rank", -1) == rank; end++)
            sum += column ? ta_row_number(table, end, column, 0) : 1;
        if (sum > 0)
            most = ta_max_i64(most, (int64_t)sum);
    }
    return most;
}

int64_t diff_units(const struct ta_report *report, enum diff_unit unit)
{
    const struct ta_table *dumps = ta_report_table(report, "diffusion.by_rank");
    if (unit == DIFF_FRAMES)
        return most_by_rank(dumps, "frames");
    const struct ta_table *steps = ta_report_table(report, "steps.by_step");
    return steps ? most_by_rank(steps, NULL) : most_by_rank(dumps, "steps");
}

static void add_row(struct diff *diff, struct ta_table_builder *table, const char *basis,
                    int64_t before, int64_t after)
{
    const double base = (double)diff->window_ns[TA_DIFF_BASE] / (double)before;
    const double new = (double)diff->window_ns[TA_DIFF_NEW] / (double)after;
    TA_ROW(table, ta_text(ta_slice_of(basis)), ta_int(before), ta_int(after), ta_num(base),
           ta_num(new), ta_num(new - base), base > 0 ? ta_num(new / base - 1) : ta_null());
}

void diff_add_normalized(struct diff *diff)
{
    static const char *const names[] = {[DIFF_STEPS] = "step", [DIFF_FRAMES] = "frame"};
    if (diff->window_ns[TA_DIFF_BASE] == TA_MISSING)
        return;
    struct ta_table_builder *table =
        ta_add_table(ta_report_open_section(diff->out, "diff", "What changed"), "diff.normalized",
                     "Window for each unit of work", columns, sizeof columns / sizeof *columns);
    add_row(diff, table, "whole", 1, 1);
    for (int unit = DIFF_STEPS; unit <= DIFF_FRAMES; unit++) {
        const int64_t before = diff_units(diff->shown[TA_DIFF_BASE], (enum diff_unit)unit);
        const int64_t after = diff_units(diff->shown[TA_DIFF_NEW], (enum diff_unit)unit);
        if (before == TA_MISSING || after == TA_MISSING)
            continue;
        add_row(diff, table, names[unit], before, after);
        /* Steps come first: what runs did is compared by the first unit that both have. */
        if (before != after && !diff->unit) {
            diff->unit = names[unit];
            diff->units[TA_DIFF_BASE] = before;
            diff->units[TA_DIFF_NEW] = after;
        }
    }
}
