/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.normalized: the window for each unit of work, where runs did different amounts of it. */
#include "compare/compare.h"
#include "compare/sizes.h"
#include "model/program/marker.h"
#include "report/report.h"
#include "traceanalyze/table.h"

#include <stdio.h>
#include <string.h>

enum { BASIS, BASE_UNITS, NEW_UNITS, BASE, NEW, DELTA, CHANGE };

static const struct ta_column normalized_columns[] = {
    [BASIS] = {"basis", "Unit", TA_WORD,
               .doc = "Unit of work. whole: the window as it is; step: one step of the window; "
                      "steady_step: one step without the first, slower warm-up steps; frame: one "
                      "frame of video; image: one image or video, if each is denoised and decoded"},
    [BASE_UNITS] = {"base_units", "Units before", TA_COUNT, .doc = "Units of work in the baseline"},
    [NEW_UNITS] = {"new_units", "Units after", TA_COUNT, .doc = "Units of work in the other run"},
    [BASE] = {"base_ns", "Before", TA_NS_MEAN, .better = TA_LOWER,
              .doc = "Window, or the part that counts, per unit of work in the baseline"},
    [NEW] = {"new_ns", "After", TA_NS_MEAN, .better = TA_LOWER,
             .doc = "Window, or the part that counts, per unit of work in the other run"},
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
    "diff.normalized", "Window per unit of work", TA_COLUMNS(normalized_columns),
    .tier = TA_TIER_DETAIL,
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

/* Images of the rank with most of them; TA_MISSING where one is not both denoised and decoded. */
static int64_t whole_images(const struct ta_refs *in)
{
    const size_t n = ta_ref_rows(in, TA_AS_LOOP_IMAGES);
    int64_t most = TA_MISSING;
    for (size_t i = 0; i < n; i++) {
        if (!(ta_ref_number(in, TA_AS_LOOP_IMAGE_TIME, i, 0) > 0))
            return TA_MISSING;
        most = ta_max_i64(most, ta_ref_integer(in, TA_AS_LOOP_IMAGES, i));
    }
    return most;
}

int64_t diff_units(const struct ta_refs *in, enum diff_unit unit)
{
    if (unit == DIFF_IMAGES)
        return whole_images(in);
    if (unit == DIFF_FRAMES)
        return most_by_rank(in, TA_AS_DONE_FRAMES, false);
    return ta_ref_table(in, TA_AS_STEP) ? most_by_rank(in, TA_AS_STEP, true)
                                        : most_by_rank(in, TA_AS_DONE_STEPS, false);
}

/* Of the first rank; a run has few kinds of steps, and one more is as good as another. */
const char *diff_step_kind(struct diff *diff, const struct ta_refs *in)
{
    enum { KINDS_MOST = 16, KIND_MOST = 64 };
    char kinds[KINDS_MOST][KIND_MOST];
    size_t counts[KINDS_MOST] = {0}, n = 0, most = 0;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_STEP); i++) {
        char text[KIND_MOST], kind[KIND_MOST];
        if (ta_ref_rank(in, TA_AS_STEP, i) != ta_ref_rank(in, TA_AS_STEP, 0))
            break;
        struct ta_slice label = ta_ref_text(in, TA_AS_STEP, i);
        const char *repeat = memmem(label.ptr, label.len, " (", 2); /* "name (2)" */
        if (repeat && label.len && label.ptr[label.len - 1] == ')')
            label.len = (size_t)(repeat - label.ptr);
        const struct ta_slice of = ta_marker_kind(label, text);
        snprintf(kind, sizeof kind, "%.*s", (int)of.len, of.ptr);
        size_t k = 0;
        while (k < n && strcmp(kinds[k], kind) != 0)
            k++;
        if (k == n && n < KINDS_MOST)
            memcpy(kinds[n++], kind, sizeof kind);
        if (k < n && ++counts[k] > counts[most])
            most = k;
    }
    return n ? ta_arena_copy(&diff->arena, ta_slice_of(kinds[most])) : NULL;
}

static const char *const names[] = {
    [DIFF_IMAGES] = "image", [DIFF_STEPS] = "step", [DIFF_FRAMES] = "frame"};

/* Images that are made together count each, where both runs say how many those are. */
static void count_batches(const struct diff *diff, int64_t units[TA_DIFF_SIDES])
{
    enum { MOST = 1 << 20 };
    struct diff_size sizes[TA_DIFF_SIDES];
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        const struct ta_refs *in = &diff->in[side];
        const bool is_known = ta_ref_rows(in, TA_AS_IMAGE_BATCH) > 0;
        sizes[side] = diff_size_read(in, is_known ? ta_ref_rank(in, TA_AS_IMAGE_BATCH, 0) : 0);
    }
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (units[side] != TA_MISSING && units[side] < MOST && diff_size_batch(sizes, side) < MOST)
            units[side] *= diff_size_batch(sizes, side);
}

/* The units of both runs; false where one says none. */
static bool read_units(const struct diff *diff, enum diff_unit unit, int64_t units[TA_DIFF_SIDES])
{
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        units[side] = diff_units(&diff->in[side], unit);
    if (unit == DIFF_IMAGES)
        count_batches(diff, units);
    return units[TA_DIFF_BASE] != TA_MISSING && units[TA_DIFF_NEW] != TA_MISSING;
}

/* What runs did is compared by the first unit of which they did other numbers, steps before frames.
 * Of whole images others do not count: one of more steps is as much an image as one of few. */
void diff_find_unit(struct diff *diff)
{
    const char *base = diff_step_kind(diff, &diff->in[TA_DIFF_BASE]);
    const char *new = diff_step_kind(diff, &diff->in[TA_DIFF_NEW]);
    diff->has_other_steps = base && new &&strcmp(base, new) != 0;
    int64_t units[TA_DIFF_SIDES];
    const bool by_images = read_units(diff, DIFF_IMAGES, units);
    for (int unit = DIFF_IMAGES; unit < DIFF_UNITS && !diff->unit; unit++) {
        if ((unit == DIFF_STEPS && diff->has_other_steps) || (unit != DIFF_IMAGES && by_images) ||
            !read_units(diff, (enum diff_unit)unit, units) ||
            units[TA_DIFF_BASE] == units[TA_DIFF_NEW])
            continue;
        diff->unit = names[unit];
        memcpy(diff->units, units, sizeof units);
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
    for (int unit = DIFF_IMAGES; unit < DIFF_UNITS; unit++) {
        int64_t units[TA_DIFF_SIDES];
        if ((unit == DIFF_STEPS && diff->has_other_steps) ||
            !read_units(diff, (enum diff_unit)unit, units))
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
