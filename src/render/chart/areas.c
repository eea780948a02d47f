/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacked areas: what each group has in each interval of an axis, one upon the other, in steps.
 *
 * Groups are stacked in the order in which rows have them, the first below.  The interval with most
 * of all is marked. */
#include "render/chart/layout.h"
#include "report/tables.h"

#include <math.h>
#include <stdlib.h>

/* More groups than this are one. */
enum { AREAS_MOST = 8 };

/* Points. */
enum { WIDE_PLOT = 150, NARROW_PLOT = 130, LEAST_PLOT = 60, ABOVE = 16, GAP = 6 };

struct cell {
    double x, length, value;
    size_t area;
};

struct area {
    const char *name;
    enum ta_ink ink;
};

struct areas {
    struct area at[AREAS_MOST];
    size_t n;
    struct cell *cells; /* by x */
    size_t n_cells;
    double *from, *to;            /* of each interval: its ends */
    double (*values)[AREAS_MOST]; /* of each interval */
    size_t n_intervals, peak;     /* the interval with most */
    double most;
    size_t x_column, y_column;
    enum ta_unit unit;
    struct ta_axis x_axis, y_axis;
    struct ta_plot plot;
};

static void name_areas(struct ta_layout *layout, struct areas *areas,
                       const struct ta_groups *groups)
{
    size_t next = 0;
    areas->n = groups->n < AREAS_MOST ? groups->n : AREAS_MOST;
    for (size_t i = 0; i < areas->n; i++) {
        const struct ta_area area = ta_area_of(layout->chart, ta_slice_of(groups->names[i]), &next);
        areas->at[i] = (struct area){ta_pen_printf(layout, "%s", area.name), area.ink};
    }
    if (groups->n > AREAS_MOST)
        areas->at[AREAS_MOST - 1] = (struct area){"other", TA_INK_SERIES_5};
}

static int by_x(const void *left, const void *right)
{
    const struct cell *a = left, *b = right;
    if (a->x != b->x)
        return (a->x > b->x) - (a->x < b->x);
    return (a->area > b->area) - (a->area < b->area);
}

static void read_cells(const struct ta_layout *layout, struct areas *areas,
                       const struct ta_groups *groups)
{
    const size_t length_column = ta_data_column(layout, layout->chart->size);
    for (size_t row = 0; row < layout->table->n_rows; row++) {
        const double x = ta_data_value(layout, row, areas->x_column);
        const double value = ta_data_value(layout, row, areas->y_column);
        const double length = ta_data_value(layout, row, length_column);
        const size_t area = groups->of_row[row];
        if (isfinite(x) && value >= 0 && isfinite(value))
            areas->cells[areas->n_cells++] = (struct cell){
                x, length > 0 ? length : 0, value, area < AREAS_MOST ? area : AREAS_MOST - 1};
    }
    qsort(areas->cells, areas->n_cells, sizeof *areas->cells, by_x);
}

/* An interval ends where the next one begins. */
static void find_intervals(struct areas *areas)
{
    for (size_t i = 0, end; i < areas->n_cells; i = end) {
        const struct cell *first = &areas->cells[i];
        const size_t at = areas->n_intervals++;
        double sum = 0, length = 0;
        for (end = i; end < areas->n_cells && areas->cells[end].x == first->x; end++) {
            areas->values[at][areas->cells[end].area] += areas->cells[end].value;
            sum += areas->cells[end].value;
            length = fmax(length, areas->cells[end].length);
        }
        areas->from[at] = first->x;
        areas->to[at] =
            end < areas->n_cells ? fmin(first->x + length, areas->cells[end].x) : first->x + length;
        if (sum > areas->most) {
            areas->most = sum;
            areas->peak = at;
        }
    }
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Finer differences cannot be seen, and make pages large. */
static double rounded(double value)
{
    return round(value * 10) / 10;
}

static double y_of(const struct areas *areas, size_t interval, size_t below)
{
    double sum = 0;
    for (size_t i = 0; i < below; i++)
        sum += areas->values[interval][i];
    return rounded(ta_plot_y(&areas->plot, &areas->y_axis, sum));
}

static double x_of(const struct areas *areas, double x)
{
    return rounded(ta_plot_x(&areas->plot, &areas->x_axis, x));
}

/* The upper or lower edge of an area as steps, forwards or backwards. */
static size_t add_edge(const struct areas *areas, size_t below, bool is_back,
                       struct ta_point *points, size_t n)
{
    for (size_t i = 0; i < areas->n_intervals; i++) {
        const size_t at = is_back ? areas->n_intervals - 1 - i : i;
        const double y = y_of(areas, at, below);
        const struct ta_point ends[] = {{x_of(areas, areas->from[at]), y},
                                        {x_of(areas, areas->to[at]), y}};
        if (i > 0 && points[n - 1].y == y) {
            points[n - 1] = ends[!is_back];
            continue;
        }
        points[n++] = ends[is_back];
        points[n++] = ends[!is_back];
    }
    return n;
}

static void draw_area(struct ta_layout *layout, const struct areas *areas, size_t area)
{
    struct ta_point *points =
        ta_arena_alloc(layout->arena, (4 * areas->n_intervals + 1) * sizeof *points);
    if (!points) {
        layout->failed = true;
        return;
    }
    size_t n = add_edge(areas, area + 1, false, points, 0);
    n = add_edge(areas, area, true, points, n);
    const char *at_peak = ta_pen_value(layout, areas->values[areas->peak][area], areas->unit);
    ta_pen_area(layout, areas->at[area].ink, points, n,
                ta_pen_printf(layout, "%s · %s at the peak", areas->at[area].name, at_peak));
}

/* A line from the label above the plot down to the axis. */
static void mark_peak(struct ta_layout *layout, const struct areas *areas)
{
    const double middle = (areas->from[areas->peak] + areas->to[areas->peak]) / 2;
    const double x = x_of(areas, middle);
    const bool is_end = areas->n_intervals > 1 && areas->peak + 1 == areas->n_intervals;
    const char *label =
        ta_pen_printf(layout, "peak %s%s", ta_pen_value(layout, areas->most, areas->unit),
                      is_end ? ", at the end of the history" : "");
    const double width = ta_pen_width(layout, TA_FACE_STRONG, label);
    const bool is_left = x + width + GAP > layout->width;
    ta_pen_segment(layout, TA_INK_TEXT, (struct ta_point){x, 2},
                   (struct ta_point){x, areas->plot.y + areas->plot.h}, 1, true);
    ta_pen_text(layout, TA_INK_TEXT, TA_FACE_STRONG, is_left ? TA_ANCHOR_END : TA_ANCHOR_START,
                is_left ? x - GAP : x + GAP, 10, label, NULL);
}

/* Shares of less are in the data alone. */
static const double least_share = 0.005;

static double draw_legend(struct ta_layout *layout, const struct areas *areas, double y)
{
    struct ta_legend_entry entries[AREAS_MOST];
    const char *parts = "";
    size_t n = 0;
    for (size_t i = 0; i < areas->n; i++) {
        const double value = areas->values[areas->peak][i];
        const char *label = ta_pen_printf(layout, "%s %s", areas->at[i].name,
                                          ta_pen_value(layout, value, areas->unit));
        if (value < least_share * areas->most)
            continue;
        entries[n++] = (struct ta_legend_entry){areas->at[i].ink, TA_MARK_RECT, label};
        parts = ta_pen_printf(layout, "%s%s%s", parts, n > 1 ? ", " : "", label);
    }
    layout->summary = ta_pen_printf(layout, "Of the peak of %s: %s.",
                                    ta_pen_value(layout, areas->most, areas->unit), parts);
    return ta_guide_legend(layout, entries, n, y);
}

static void draw(struct ta_layout *layout, struct areas *areas)
{
    const char *x_title = ta_data_title(layout, areas->x_column);
    const double last = areas->to[areas->n_intervals - 1];
    const double below = ta_guide_x_height(x_title), narrow = 420;
    double h = layout->width < narrow ? NARROW_PLOT : WIDE_PLOT;
    if (layout->height > 0)
        h = fmin(h, fmax(LEAST_PLOT, layout->height - ABOVE - below - 2 * ABOVE));
    areas->y_axis = ta_axis_linear(0, areas->most, areas->unit, 4, TA_AXIS_ROUND);
    const double left = ta_guide_y_width(layout, &areas->y_axis);
    areas->plot = (struct ta_plot){left, ABOVE, layout->width - left - 1, h};
    areas->x_axis = ta_guide_fit(layout, areas->from[0], last,
                                 ta_data_unit(layout, areas->x_column), areas->plot.w);
    ta_guide_x_grid(layout, &areas->x_axis, &areas->plot);
    ta_guide_y_axis(layout, &areas->y_axis, &areas->plot);
    ta_guide_y_title(layout, ta_axis_symbol(&areas->y_axis), 0, ABOVE + 2);
    for (size_t i = 0; i < areas->n; i++)
        draw_area(layout, areas, i);
    mark_peak(layout, areas);
    ta_guide_x_labels(layout, &areas->x_axis, &areas->plot,
                      ta_guide_title(layout, x_title, &areas->x_axis));
    const double end = ABOVE + h + below;
    layout->height = end + draw_legend(layout, areas, end);
}

void ta_lay_areas(struct ta_layout *layout)
{
    const size_t n = layout->table->n_rows + 1;
    struct ta_groups groups;
    struct areas areas = {
        .cells = ta_arena_alloc(layout->arena, n * sizeof *areas.cells),
        .from = ta_arena_alloc(layout->arena, n * sizeof *areas.from),
        .to = ta_arena_alloc(layout->arena, n * sizeof *areas.to),
        .values = ta_arena_alloc(layout->arena, n * sizeof *areas.values),
        .x_column = ta_data_column(layout, layout->chart->x),
        .y_column = ta_data_column(layout, layout->chart->y[0].column),
    };
    areas.unit = ta_data_unit(layout, areas.y_column);
    if (!areas.cells || !areas.from || !areas.to || !areas.values ||
        !ta_data_groups(layout, ta_data_column(layout, layout->chart->group), &groups)) {
        layout->failed = true;
        return;
    }
    name_areas(layout, &areas, &groups);
    read_cells(layout, &areas, &groups);
    find_intervals(&areas);
    if (areas.most > 0 && areas.to[areas.n_intervals - 1] > areas.from[0])
        draw(layout, &areas);
    else
        ta_guide_empty(layout);
}
