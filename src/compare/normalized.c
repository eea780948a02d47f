/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.normalized: the window for each unit of work, where runs did different amounts of it. */
#include "compare/compare.h"
#include "report/report.h"
#include "traceanalyze/table.h"

enum { BASIS, BASE_UNITS, NEW_UNITS, BASE, NEW, DELTA, CHANGE };

static const struct ta_column normalized_columns[] = {
    [BASIS] =
        {"basis", "For each", TA_WORD,
         .doc =
             "whole: the window as it is; step: of the window, one step; steady_step: of what the "
             "first "
             "steps leave of it, which are warm-up and take longer than any other, one of the "
             "others; "
             "frame: one frame of video"},
    [BASE_UNITS] = {"base_units", "Of them before", TA_COUNT, .doc = "Units in the baseline"},
    [NEW_UNITS] = {"new_units", "Of them after", TA_COUNT, .doc = "Units in the other run"},
    [BASE] = {"base_ns", "Before", TA_NS_MEAN, .better = TA_LOWER,
              .doc = "Window, or what of it counts, over units, before"},
    [NEW] = {"new_ns", "After", TA_NS_MEAN, .better = TA_LOWER, .doc = "The same after"},
    DIFF_CHANGE_COLUMNS(DELTA, TA_TYPE_NUMBER),
};

static const struct ta_ref unit_counts[] = {{.table = "diff.normalized", .column = "base_units"},
                                            {.table = "diff.normalized", .column = "new_units"}};

/* Of the same amount of work it says nothing new. */
static bool have_other_units(const struct ta_refs *in)
{
    for (size_t row = 0; row < ta_ref_rows(in, 0); row++)
        if (ta_ref_number(in, 0, row, 0) != ta_ref_number(in, 1, row, 0))
            return true;
    return false;
}

static const struct ta_table_def normalized = {
    "diff.normalized", "Window for each unit of work", TA_COLUMNS(normalized_columns),
    .brief = &(const struct ta_brief){
        .place = 30, .rows = 3, .applies = have_other_units, TA_READS(unit_counts)}};

/* The largest sum over the rows of a rank of what is read as `of`, or number of its rows. */
static int64_t most_by_rank(const struct ta_refs *in, enum ta_reading of, bool is_counted)
{
    const size_t n = ta_ref_rows(in, of);
    int64_t most = TA_MISSING;
    for (size_t i = 0, end; i < n; i = end) {
        double sum = 0;
        for (end = i; end < n && ta_ref_rank(in, of, end) == ta_ref_rank(in, of, i); end++)
            sum += is_counted ? 1 : ta_ref_number(in, of, end, 0);
        if (sum > 0)
            most = ta_max_i64(most, ta_whole(sum));
    }
    return most;
}

int64_t diff_units(const struct ta_refs *in, enum diff_unit unit)
{
    if (unit == DIFF_FRAMES)
        return most_by_rank(in, TA_AS_DONE_FRAMES, false);
    return ta_ref_table(in, TA_AS_STEP) ? most_by_rank(in, TA_AS_STEP, true)
                                        : most_by_rank(in, TA_AS_DONE_STEPS, false);
}

static const char *const names[] = {[DIFF_STEPS] = "step", [DIFF_FRAMES] = "frame"};

/* Steps come first: what runs did is compared by the first unit of which they did other numbers. */
void diff_find_unit(struct diff *diff)
{
    for (int unit = DIFF_STEPS; unit <= DIFF_FRAMES && !diff->unit; unit++) {
        const int64_t before = diff_units(&diff->in[TA_DIFF_BASE], (enum diff_unit)unit);
        const int64_t after = diff_units(&diff->in[TA_DIFF_NEW], (enum diff_unit)unit);
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

static void add_row(struct ta_section_builder *out, const char *basis,
                    const int64_t units[TA_DIFF_SIDES], const double ns[TA_DIFF_SIDES])
{
    const double base = ns[TA_DIFF_BASE] / (double)units[TA_DIFF_BASE];
    const double new = ns[TA_DIFF_NEW] / (double)units[TA_DIFF_NEW];
    TA_ROW(out, normalized, [BASIS] = ta_text(ta_slice_of(basis)),
           [BASE_UNITS] = ta_int(units[TA_DIFF_BASE]), [NEW_UNITS] = ta_int(units[TA_DIFF_NEW]),
           [BASE] = ta_num(base), [NEW] = ta_num(new), [DELTA] = ta_num(new - base),
           [CHANGE] = base > 0 ? ta_num(new / base - 1) : ta_null());
}

/* Of what warm-up leaves of the windows, and of the steps, where there is any. */
static void add_steady(struct diff *diff, struct ta_section_builder *out,
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
        add_row(out, "steady_step", units, ns);
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    if (diff->window_ns[TA_DIFF_BASE] == TA_MISSING)
        return true;
    const double window_ns[] = {(double)diff->window_ns[TA_DIFF_BASE],
                                (double)diff->window_ns[TA_DIFF_NEW]};
    add_row(out, "whole", (const int64_t[]){1, 1}, window_ns);
    for (int unit = DIFF_STEPS; unit <= DIFF_FRAMES; unit++) {
        int64_t units[TA_DIFF_SIDES];
        for (int side = 0; side < TA_DIFF_SIDES; side++)
            units[side] = diff_units(&diff->in[side], (enum diff_unit)unit);
        if (units[TA_DIFF_BASE] == TA_MISSING || units[TA_DIFF_NEW] == TA_MISSING)
            continue;
        add_row(out, names[unit], units, window_ns);
        if (unit == DIFF_STEPS)
            add_steady(diff, out, units);
    }
    return true;
}

static const struct ta_table_def *const tables[] = {&normalized, NULL};

const struct diff_part diff_of_units = {
    .declares = {.name = "diff.normalized", .tables = tables}, .section = "diff", .add = add};
