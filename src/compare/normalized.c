/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.normalized: the window for each unit of work, where runs did different amounts of it. */
#include "compare/compare.h"
#include "report/report.h"
#include "traceanalyze/columns.h"

static const struct ta_column columns[] = {
    {"basis", "For each", TA_WORD,
     .doc =
         "whole: the window as it is; step: of the window, one step; steady_step: of what the "
         "first "
         "steps leave of it, which are warm-up and take longer than any other, one of the others; "
         "frame: one frame of video"},
    {"base_units", "Of them before", TA_COUNT, .doc = "Units in the baseline"},
    {"new_units", "Of them after", TA_COUNT, .doc = "Units in the other run"},
    {"base_ns", "Before", TA_NS_MEAN, .better = TA_LOWER,
     .doc = "Window, or what of it counts, over units, before"},
    {"new_ns", "After", TA_NS_MEAN, .better = TA_LOWER, .doc = "The same after"},
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
            most = ta_max_i64(most, ta_whole(sum));
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

static const char *const names[] = {[DIFF_STEPS] = "step", [DIFF_FRAMES] = "frame"};

/* Steps come first: what runs did is compared by the first unit of which they did other numbers. */
void diff_find_unit(struct diff *diff)
{
    for (int unit = DIFF_STEPS; unit <= DIFF_FRAMES && !diff->unit; unit++) {
        const int64_t before = diff_units(diff->shown[TA_DIFF_BASE], (enum diff_unit)unit);
        const int64_t after = diff_units(diff->shown[TA_DIFF_NEW], (enum diff_unit)unit);
        if (before == TA_MISSING || after == TA_MISSING || before == after)
            continue;
        diff->unit = names[unit];
        diff->units[TA_DIFF_BASE] = before;
        diff->units[TA_DIFF_NEW] = after;
    }
}

double diff_per_unit(const struct diff *diff, int side, int64_t ns)
{
    return (double)ns / (double)diff->units[side];
}

static void add_row(struct ta_table_builder *table, const char *basis,
                    const int64_t units[TA_DIFF_SIDES], const double ns[TA_DIFF_SIDES])
{
    const double base = ns[TA_DIFF_BASE] / (double)units[TA_DIFF_BASE];
    const double new = ns[TA_DIFF_NEW] / (double)units[TA_DIFF_NEW];
    TA_CELLS(table, ta_text(ta_slice_of(basis)), ta_int(units[TA_DIFF_BASE]),
             ta_int(units[TA_DIFF_NEW]), ta_num(base), ta_num(new), ta_num(new - base),
             base > 0 ? ta_num(new / base - 1) : ta_null());
}

/* Of what warm-up leaves of the windows, and of the steps, where there is any. */
static void add_steady(struct diff *diff, struct ta_table_builder *table,
                       const int64_t steps[TA_DIFF_SIDES])
{
    int64_t units[TA_DIFF_SIDES];
    double ns[TA_DIFF_SIDES];
    bool any = false;
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        const struct diff_warm_up *warm_up = &diff->warm_up[side];
        units[side] = steps[side] - warm_up->steps;
        ns[side] = (double)diff->window_ns[side] - warm_up->ns;
        any |= warm_up->steps > 0;
        if (units[side] <= 0 || ns[side] <= 0)
            return;
    }
    if (any)
        add_row(table, "steady_step", units, ns);
}

void diff_add_normalized(struct diff *diff)
{
    if (diff->window_ns[TA_DIFF_BASE] == TA_MISSING)
        return;
    struct ta_table_builder *table =
        ta_add_table(ta_report_open_section(diff->out, "diff", "What changed"), "diff.normalized",
                     "Window for each unit of work", columns, sizeof columns / sizeof *columns);
    const double window_ns[] = {(double)diff->window_ns[TA_DIFF_BASE],
                                (double)diff->window_ns[TA_DIFF_NEW]};
    add_row(table, "whole", (const int64_t[]){1, 1}, window_ns);
    for (int unit = DIFF_STEPS; unit <= DIFF_FRAMES; unit++) {
        int64_t units[TA_DIFF_SIDES];
        for (int side = 0; side < TA_DIFF_SIDES; side++)
            units[side] = diff_units(diff->shown[side], (enum diff_unit)unit);
        if (units[TA_DIFF_BASE] == TA_MISSING || units[TA_DIFF_NEW] == TA_MISSING)
            continue;
        add_row(table, names[unit], units, window_ns);
        if (unit == DIFF_STEPS)
            add_steady(diff, table, units);
    }
}
