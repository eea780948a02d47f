/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dots: each row's value in row order, colored by group, over the median line and the band from
 * p5 to p95 of all values.  Too many dots are drawn as a range per column of the plot. */
#include "render/chart/layout.h"
#include "traceanalyze/stat.h"

#include <math.h>
#include <stdlib.h>

enum { DOTS_MAX = 2000, EXTREMES = 40, RANGE_PITCH = 5, BAND_LEAST = 8 };
enum { NOTE_LINE = 12, LEAST_NOTED_WIDTH = 480, TITLE_LINE = 18 };
enum { LEAST_HEIGHT = 120, MOST_HEIGHT = 230 };

/* Of dots that must not be overlooked. */
#define WORSE_SIZE 1.5

/* What the axis spans at least, as a share of the largest value. */
#define LEAST_SPREAD 0.1

struct dots {
    size_t value_column, group_column, n;
    enum ta_unit unit;
    struct ta_groups groups;
    struct ta_slots slots;
    double *sorted; /* all values */
    double low, median, high;
    struct ta_plot plot;
    struct ta_axis axis;
};

static double value_at(const struct ta_layout *layout, const struct dots *dots, size_t row)
{
    return ta_data_value(layout, row, dots->value_column);
}

static double y_of(const struct dots *dots, double value)
{
    return ta_plot_y(&dots->plot, &dots->axis, value);
}

/* Groups that the chart knows have inks of their own. */
static void color_kinds(struct ta_layout *layout, struct dots *dots)
{
    for (size_t row = 0; row < layout->table->n_rows; row++) {
        const struct ta_slice text = ta_table_cell(layout->table, row, dots->group_column)->text;
        const size_t group = dots->groups.of_row[row];
        for (const struct ta_kind *kind = layout->chart->kinds; kind->value; kind++)
            if (ta_slice_equal(text, ta_slice_of(kind->value))) {
                dots->groups.names[group] = kind->label;
                dots->groups.inks[group] = kind->ink;
            }
    }
}

/* Groups that stand out on the bad side get the colors. */
static bool color(struct ta_layout *layout, struct dots *dots)
{
    double *scores = ta_arena_alloc(layout->arena, (dots->groups.n + 1) * sizeof *scores);
    double *counts = ta_arena_alloc(layout->arena, (dots->groups.n + 1) * sizeof *counts);
    if (!scores || !counts)
        return false;
    bool more_is_better = dots->value_column != SIZE_MAX &&
                          layout->table->columns[dots->value_column].better == TA_HIGHER;
    for (size_t row = 0; row < layout->table->n_rows; row++) {
        double value = value_at(layout, dots, row);
        if (isnan(value))
            continue;
        scores[dots->groups.of_row[row]] += more_is_better ? -value : value;
        counts[dots->groups.of_row[row]] += 1;
    }
    for (size_t i = 0; i < dots->groups.n; i++)
        scores[i] = counts[i] > 0 ? scores[i] / counts[i] : -INFINITY;
    ta_data_color_groups(&dots->groups, scores);
    if (layout->chart->kinds && dots->group_column != SIZE_MAX)
        color_kinds(layout, dots);
    return true;
}

/* Median and band are of dots of one kind, of enough of them. */
static bool has_band(const struct ta_layout *layout, const struct dots *dots)
{
    return dots->n >= BAND_LEAST && (!layout->chart->kinds || dots->groups.n < 2);
}

/* ---- frame --------------------------------------------------------------------------- */

static double draw_legend(struct ta_layout *layout, const struct dots *dots)
{
    static const struct ta_legend_entry dense[] = {
        {TA_INK_SERIES_1, TA_MARK_CIRCLE, "median of neighbors"},
        {TA_INK_MUTED, TA_MARK_RECT, "p5 to p95 of neighbors"},
        {TA_INK_SERIES_2, TA_MARK_CIRCLE, "largest values"},
    };
    struct ta_legend_entry entries[TA_GROUPS_SHOWN + 1];
    if (dots->n > DOTS_MAX)
        return ta_guide_legend(layout, dense, 3, 0) + 6;
    if (dots->groups.n < 2)
        return 0;
    const size_t n = ta_data_legend(layout, &dots->groups, TA_MARK_CIRCLE, entries);
    return ta_guide_legend(layout, entries, n, 0) + 6;
}

struct level {
    double value;
    const char *text;
};

/* High, median and low next to the plot, moved apart where they would touch. */
static void draw_levels(struct ta_layout *layout, const struct dots *dots,
                        const struct level levels[3])
{
    double y[3], least = dots->plot.y + 4;
    for (int i = 0; i < 3; i++) {
        y[i] = fmax(y_of(dots, levels[i].value) + 3.5, least);
        least = y[i] + NOTE_LINE;
    }
    double over = y[2] - (dots->plot.y + dots->plot.h + 3.5);
    for (int i = 2; i >= 0 && over > 0; i--)
        y[i] = i == 2 ? y[i] - over : fmin(y[i], y[i + 1] - NOTE_LINE);
    for (int i = 0; i < 3; i++)
        ta_pen_text(layout, i == 1 ? TA_INK_TEXT : TA_INK_MUTED, TA_FACE_SMALL, TA_ANCHOR_START,
                    dots->plot.x + dots->plot.w + 8, y[i], levels[i].text, NULL);
}

static double levels_width(struct ta_layout *layout, const struct level levels[3])
{
    double widest = 0;
    for (int i = 0; i < 3; i++)
        widest = fmax(widest, ta_pen_width(layout, TA_FACE_SMALL, levels[i].text));
    return ceil(widest) + 10;
}

/* Zero belongs to the axis unless the values are so close together that nothing could be seen. */
static struct ta_axis make_axis(const struct dots *dots, double height)
{
    double least = dots->sorted[0], most = dots->sorted[dots->n - 1];
    if (least >= 0 && least < 0.6 * most)
        least = 0;
    /* What hardly differs is not to look as if it did. */
    const double room = (LEAST_SPREAD * most - (most - least)) / 2;
    if (least > 0 && room > 0) {
        least -= room;
        most += room;
    }
    double want = height / 40;
    return ta_axis_linear(least, most, dots->unit, want < 2 ? 2 : ta_whole_size(want),
                          TA_AXIS_ROUND);
}

static void draw_frame(struct ta_layout *layout, struct dots *dots)
{
    struct level levels[3];
    const double values[] = {dots->high, dots->median, dots->low};
    static const char *const names[] = {"p95", "median", "p5"};
    for (int i = 0; i < 3; i++)
        levels[i] =
            (struct level){values[i], ta_pen_printf(layout, "%s %s", names[i],
                                                    ta_pen_value(layout, values[i], dots->unit))};
    bool band = has_band(layout, dots), noted = band && layout->width >= LEAST_NOTED_WIDTH;
    double top = draw_legend(layout, dots) + TITLE_LINE, below = 31;
    double free = layout->height > 0 ? layout->height - top - below : layout->width * 0.28;
    double most = layout->height > 0 ? INFINITY : MOST_HEIGHT;
    dots->plot.h = round(fmin(fmax(free, LEAST_HEIGHT), most));
    dots->plot.y = top;
    dots->axis = make_axis(dots, dots->plot.h);
    dots->plot.x = ta_guide_y_width(layout, &dots->axis);
    dots->plot.w = layout->width - dots->plot.x - (noted ? levels_width(layout, levels) : 4);
    const double high = y_of(dots, dots->high), low = y_of(dots, dots->low);
    if (band)
        ta_pen_rect(layout, TA_INK_BAND, dots->plot.x, high, dots->plot.w, low - high,
                    ta_pen_printf(layout, "%s … %s", levels[2].text, levels[0].text));
    ta_guide_y_axis(layout, &dots->axis, &dots->plot);
    ta_slots_guide(layout, &dots->slots, &dots->plot);
    const char *label = layout->chart->y[0].label;
    if (!label || !*label)
        label = ta_data_title(layout, dots->value_column);
    ta_guide_y_title(layout, ta_guide_title(layout, label, &dots->axis), 0, top);
    if (noted) {
        draw_levels(layout, dots, levels);
        layout->note = "The line is the median, the band reaches from p5 to p95.";
    }
    if (band && !noted) /* no room next to the plot: the reader finds the numbers below it */
        layout->note = ta_pen_printf(layout, "Line: %s; band: %s to %s.", levels[1].text,
                                     levels[2].text, levels[0].text);
    layout->height = dots->plot.y + dots->plot.h + below;
}

/* ---- marks --------------------------------------------------------------------------- */

static const char *tip_of(struct ta_layout *layout, const struct dots *dots, size_t row)
{
    const char *value = ta_pen_value(layout, value_at(layout, dots, row), dots->unit);
    const char *name = ta_data_full_name(layout, row);
    return *name ? ta_pen_printf(layout, "%s · %s", name, value) : value;
}

static void draw_dot(struct ta_layout *layout, const struct dots *dots, size_t row, double radius)
{
    size_t group = dots->groups.of_row[row];
    double step = dots->plot.w / (double)dots->slots.n;
    double x = ta_slots_x(&dots->slots, &dots->plot, dots->slots.of_row[row]);
    /* Few groups stand side by side in their slot, so that equal values stay apart. */
    if (!dots->groups.others && !layout->chart->kinds)
        x += ((double)group - (double)(dots->groups.n - 1) / 2) *
             fmin(3.2, 0.7 * step / (double)dots->groups.n);
    const bool is_bad = dots->groups.inks[group] == TA_INK_WORSE;
    ta_pen_circle(layout, dots->groups.inks[group], x, y_of(dots, value_at(layout, dots, row)),
                  is_bad ? radius * WORSE_SIZE : radius, tip_of(layout, dots, row));
}

static void draw_dots(struct ta_layout *layout, const struct dots *dots)
{
    double step = dots->plot.w / (double)dots->slots.n;
    double radius = fmin(3, fmax(1.4, step * 0.4));
    for (int pass = 0; pass < 2; pass++) /* those without a color of their own lie below */
        for (size_t row = 0; row < layout->table->n_rows; row++)
            if (!isnan(value_at(layout, dots, row)) &&
                ta_groups_rest(&dots->groups, dots->groups.of_row[row]) == (pass == 0))
                draw_dot(layout, dots, row, radius);
}

struct binned {
    size_t bin;
    double value;
};

static int by_bin(const void *a, const void *b)
{
    const struct binned *x = a, *y = b;
    if (x->bin != y->bin)
        return (x->bin > y->bin) - (x->bin < y->bin);
    return (x->value > y->value) - (x->value < y->value);
}

static double at_share(const struct binned *sorted, size_t n, double p)
{
    return sorted[ta_whole_size(round(p * (double)(n - 1)))].value;
}

static void draw_range(struct ta_layout *layout, const struct dots *dots,
                       const struct binned *sorted, size_t n, double x)
{
    double y[3];
    const double values[] = {at_share(sorted, n, 0.05), at_share(sorted, n, 0.5),
                             at_share(sorted, n, 0.95)};
    for (int i = 0; i < 3; i++)
        y[i] = y_of(dots, values[i]);
    const char *tip = ta_pen_printf(layout, "median %s · p5 %s · p95 %s · n = %zu",
                                    ta_pen_value(layout, values[1], dots->unit),
                                    ta_pen_value(layout, values[0], dots->unit),
                                    ta_pen_value(layout, values[2], dots->unit), n);
    ta_pen_rect(layout, TA_INK_MUTED, x - 1, y[2], 2, fmax(1, y[0] - y[2]), tip);
    ta_pen_circle(layout, TA_INK_SERIES_1, x, y[1], 1.8, tip);
}

/* The values far outside stay visible one by one. */
static void draw_extremes(struct ta_layout *layout, const struct dots *dots)
{
    double least = dots->sorted[dots->n > EXTREMES ? dots->n - EXTREMES : 0];
    size_t left = EXTREMES;
    for (size_t row = 0; row < layout->table->n_rows && left > 0; row++)
        if (value_at(layout, dots, row) >= least) {
            ta_pen_circle(layout, TA_INK_SERIES_2,
                          ta_slots_x(&dots->slots, &dots->plot, dots->slots.of_row[row]),
                          y_of(dots, value_at(layout, dots, row)), 2, tip_of(layout, dots, row));
            left--;
        }
}

static void draw_ranges(struct ta_layout *layout, const struct dots *dots)
{
    size_t columns = ta_whole_size(fmax(1, dots->plot.w / RANGE_PITCH));
    columns = columns < dots->slots.n ? columns : dots->slots.n;
    struct binned *all = calloc(dots->n, sizeof *all);
    if (!all) {
        layout->failed = true;
        return;
    }
    size_t n = 0;
    for (size_t row = 0; row < layout->table->n_rows; row++)
        if (!isnan(value_at(layout, dots, row)))
            all[n++] = (struct binned){dots->slots.of_row[row] * columns / dots->slots.n,
                                       value_at(layout, dots, row)};
    qsort(all, n, sizeof *all, by_bin);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && all[end].bin == all[first].bin; end++)
            ;
        double x = dots->plot.x + dots->plot.w * ((double)all[first].bin + 0.5) / (double)columns;
        draw_range(layout, dots, all + first, end - first, x);
    }
    free(all);
    draw_extremes(layout, dots);
}

static void summarize(struct ta_layout *layout, const struct dots *dots)
{
    size_t largest = 0;
    for (size_t row = 0; row < layout->table->n_rows; row++)
        if (value_at(layout, dots, row) == dots->sorted[dots->n - 1]) {
            largest = row;
            break;
        }
    const char *name = ta_data_full_name(layout, largest);
    layout->summary = ta_pen_printf(
        layout, "%s values: median %s, p5 %s, p95 %s; the largest is %s%s%s%s.",
        ta_pen_value(layout, (double)dots->n, TA_UNIT_COUNT),
        ta_pen_value(layout, dots->median, dots->unit), ta_pen_value(layout, dots->low, dots->unit),
        ta_pen_value(layout, dots->high, dots->unit),
        ta_pen_value(layout, dots->sorted[dots->n - 1], dots->unit), *name ? " (" : "", name,
        *name ? ")" : "");
    const char *colored = dots->groups.others && dots->n <= DOTS_MAX
                              ? "; those with the most extreme means are colored"
                              : "";
    layout->note = ta_pen_printf(
        layout, "%s%s.%s%s", ta_pen_sample(layout, dots->n, layout->table->n_rows - dots->n),
        colored, layout->note ? " " : "", layout->note ? layout->note : "");
}

void ta_lay_dots(struct ta_layout *layout)
{
    struct dots dots = {
        .value_column = ta_data_column(layout, layout->chart->y[0].column),
        .group_column = ta_data_column(layout, layout->chart->group),
        .sorted = calloc(layout->table->n_rows + 1, sizeof *dots.sorted),
    };
    dots.unit = ta_data_unit(layout, dots.value_column);
    if (!dots.sorted || !ta_data_groups(layout, dots.group_column, &dots.groups) ||
        !ta_slots_make(layout, &dots.groups, dots.group_column, &dots.slots) ||
        !color(layout, &dots))
        layout->failed = true;
    else {
        for (size_t row = 0; row < layout->table->n_rows; row++) {
            double value = value_at(layout, &dots, row);
            if (!isnan(value))
                dots.sorted[dots.n++] = value;
        }
        ta_sort_numbers(dots.sorted, dots.n);
        dots.low = ta_quantile(dots.sorted, dots.n, 0.05);
        dots.median = ta_quantile(dots.sorted, dots.n, 0.5);
        dots.high = ta_quantile(dots.sorted, dots.n, 0.95);
    }
    if (dots.n == 0) {
        ta_guide_empty(layout);
    } else {
        draw_frame(layout, &dots);
        if (dots.n > DOTS_MAX)
            draw_ranges(layout, &dots);
        const double y = y_of(&dots, dots.median), x = dots.plot.x;
        if (has_band(layout, &dots))
            ta_pen_segment(layout, TA_INK_TEXT, (struct ta_point){x, y},
                           (struct ta_point){x + dots.plot.w, y}, 1, false);
        if (dots.n <= DOTS_MAX)
            draw_dots(layout, &dots);
        summarize(layout, &dots);
    }
    free(dots.sorted);
}
