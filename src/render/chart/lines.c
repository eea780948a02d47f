/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines over a common axis, such as time: small panels one below the other, one per value, with a
 * line per group.  Values of one unit and one group share a panel, a line each. */
#include "render/chart/layout.h"
#include "traceanalyze/stat.h"

#include <math.h>
#include <stdlib.h>

enum {
    TITLE_LINE = 18,
    PANEL_GAP = 10,
    LEAST_PANEL = 56,
    ONE_PANEL = 190,
    SOME_PANELS = 92,
    X_TICK_ROOM = 40,
    Y_TICK_ROOM = 30
};

/* As many panels stand in two columns where there is room for them. */
enum { BESIDE_LEAST = 4, BESIDE_WIDTH = 330, COLUMN_GAP = 18 };

/* More points of a line than this are not marked by dots. */
enum { DOTS_MOST = 80 };

/* More lines without a color of their own become a band. */
enum { LINES_MOST = 32 };

/* Points closer than this to the last one drawn are left out. */
#define CLOSEST 0.6

struct point {
    size_t group;
    double x, y;
};

struct panel {
    size_t column; /* of the table */
    const char *label;
    enum ta_unit unit;
    enum ta_ink ink;
    struct point *points; /* by group, then x */
    size_t n;
    double low, median, high;
};

struct lines {
    size_t x_column, group_column;
    enum ta_unit x_unit;
    struct ta_groups groups;
    struct panel panels[TA_CHART_SERIES_MAX];
    size_t n_panels;
    bool together; /* all lines share one plot */
    double x_low, x_high;
    struct ta_axis x_axis;
};

/* ---- data ---------------------------------------------------------------------------------- */

static int by_group(const void *left, const void *right)
{
    const struct point *a = left, *b = right;
    if (a->group != b->group)
        return (a->group > b->group) - (a->group < b->group);
    if (a->x != b->x)
        return (a->x > b->x) - (a->x < b->x);
    return (a->y > b->y) - (a->y < b->y);
}

static bool measure(struct panel *panel)
{
    double *values = calloc(panel->n + 1, sizeof *values);
    if (!values)
        return false;
    for (size_t i = 0; i < panel->n; i++)
        values[i] = panel->points[i].y;
    ta_sort_numbers(values, panel->n);
    panel->low = values[0];
    panel->median = ta_quantile(values, panel->n, 0.5);
    panel->high = values[panel->n - 1];
    free(values);
    qsort(panel->points, panel->n, sizeof *panel->points, by_group);
    return true;
}

/* A panel per column that has values; false without memory. */
static bool read_panels(struct ta_layout *layout, struct lines *lines)
{
    const struct ta_series *series = layout->chart->y;
    for (size_t i = 0; i < TA_CHART_SERIES_MAX && series[i].column; i++) {
        struct panel *panel = &lines->panels[lines->n_panels];
        const size_t column = ta_data_column(layout, series[i].column);
        *panel =
            (struct panel){.column = column,
                           .label = series[i].label,
                           .unit = ta_data_unit(layout, column),
                           .ink = series[i].ink,
                           .points = ta_arena_alloc(layout->arena, (layout->table->n_rows + 1) *
                                                                       sizeof *panel->points)};
        if (!panel->points)
            return false;
        for (size_t row = 0; row < layout->table->n_rows; row++) {
            const double x = ta_data_value(layout, row, lines->x_column);
            const double y = ta_data_value(layout, row, panel->column);
            if (isnan(x) || isnan(y))
                continue;
            panel->points[panel->n++] = (struct point){lines->groups.of_row[row], x, y};
            lines->x_low = fmin(lines->x_low, x);
            lines->x_high = fmax(lines->x_high, x);
        }
        if (panel->n == 0)
            continue;
        if (!measure(panel))
            return !(layout->failed = true);
        lines->n_panels++;
    }
    return true;
}

static size_t line_end(const struct panel *panel, size_t first)
{
    size_t end = first;
    while (end < panel->n && panel->points[end].group == panel->points[first].group)
        end++;
    return end;
}

/* Groups that reach highest in the first panel get the colors. */
static bool color(struct ta_layout *layout, struct lines *lines)
{
    double *scores = ta_arena_alloc(layout->arena, (lines->groups.n + 1) * sizeof *scores);
    if (!scores)
        return false;
    for (size_t p = lines->n_panels; p-- > 0;)
        for (size_t i = 0; i < lines->panels[p].n; i++)
            scores[lines->panels[p].points[i].group] += p == 0 ? lines->panels[p].points[i].y : 0;
    ta_data_color_groups(&lines->groups, scores);
    return true;
}

static bool share_a_panel(const struct lines *lines)
{
    for (size_t i = 1; i < lines->n_panels; i++)
        if (lines->panels[i].unit != lines->panels[0].unit)
            return false;
    return lines->n_panels > 1 && lines->groups.n < 2;
}

/* Lines that nobody can tell apart differ by less of what the highest reaches. */
#define SAME 0.005

static bool is_same(const struct panel *a, const struct panel *b)
{
    const double apart = SAME * fmax(fabs(a->high), fabs(b->high));
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++)
        same = a->points[i].x == b->points[i].x && fabs(a->points[i].y - b->points[i].y) <= apart;
    return same;
}

/* Of lines that would hide each other one is drawn, with the names of all. */
static void join_same(struct ta_layout *layout, struct lines *lines)
{
    size_t n = 0;
    for (size_t i = 0; i < lines->n_panels; i++) {
        const struct panel *panel = &lines->panels[i];
        size_t k = 0;
        while (k < n && !is_same(&lines->panels[k], panel))
            k++;
        if (k < n)
            lines->panels[k].label = ta_pen_printf(layout, "%s and %s (same line)",
                                                   lines->panels[k].label, panel->label);
        else
            lines->panels[n++] = *panel;
    }
    lines->n_panels = n;
}

/* ---- frame --------------------------------------------------------------------------------- */

/* Lines without a color of their own. */
static size_t count_rest(const struct lines *lines)
{
    size_t n = 0;
    for (size_t i = 0; i < lines->groups.n && !lines->together; i++)
        n += ta_groups_rest(&lines->groups, i);
    return n;
}

static double draw_legend(struct ta_layout *layout, const struct lines *lines)
{
    struct ta_legend_entry entries[TA_CHART_SERIES_MAX + 1];
    size_t n = 0;
    for (size_t i = 0; i < lines->n_panels && lines->together; i++)
        entries[n++] =
            (struct ta_legend_entry){lines->panels[i].ink, TA_MARK_LINE, lines->panels[i].label};
    for (size_t i = 0; i < lines->groups.n && !lines->together && n < TA_GROUPS_SHOWN; i++)
        if (lines->groups.n > 1 && !ta_groups_rest(&lines->groups, i))
            entries[n++] = (struct ta_legend_entry){lines->groups.inks[i], TA_MARK_LINE,
                                                    lines->groups.names[i]};
    if (lines->groups.others && !lines->together) {
        const char *rest = ta_pen_printf(
            layout,
            count_rest(lines) > LINES_MOST ? "other (%zu): lowest, median, highest" : "other (%zu)",
            lines->groups.n - n);
        entries[n++] = (struct ta_legend_entry){lines->groups.rest, TA_MARK_LINE, rest};
    }
    return n ? ta_guide_legend(layout, entries, n, 0) + 6 : 0;
}

static double least_positive(const struct lines *lines)
{
    double least = INFINITY;
    for (size_t i = 0; i < lines->n_panels; i++)
        for (size_t k = 0; k < lines->panels[i].n; k++)
            if (lines->panels[i].points[k].y > 0)
                least = fmin(least, lines->panels[i].points[k].y);
    return least;
}

/* A logarithmic axis starts at the smallest positive value: 0 has no place on it. */
static struct ta_axis x_axis_of(struct ta_layout *layout, const struct lines *lines, double w)
{
    if (layout->chart->log_x && lines->x_low > 0)
        return ta_axis_log(lines->x_low, lines->x_high, lines->x_unit,
                           ta_whole_size(w / X_TICK_ROOM));
    return ta_guide_fit(layout, lines->x_low, fmax(lines->x_high, lines->x_low), lines->x_unit, w);
}

/* From zero, so that lines of different panels can be compared by height. */
static struct ta_axis y_axis_of(const struct ta_layout *layout, const struct lines *lines,
                                const struct panel *panel, double h)
{
    double low = fmin(0, panel->low), high = panel->high;
    for (size_t i = 0; i < lines->n_panels && lines->together; i++) {
        low = fmin(low, lines->panels[i].low);
        high = fmax(high, lines->panels[i].high);
    }
    if (layout->chart->log_y && lines->together && isfinite(least_positive(lines)))
        return ta_axis_log(least_positive(lines), high, panel->unit,
                           ta_whole_size(h / Y_TICK_ROOM));
    if (panel->unit == TA_UNIT_RATIO && high <= 1)
        high = 1;
    return ta_axis_linear(low, high > low ? high : low + 1, panel->unit, h < 80 ? 2 : 5,
                          TA_AXIS_ROUND);
}

static double panel_height(const struct ta_layout *layout, size_t panels, double top, double below)
{
    if (layout->height <= 0)
        return panels > 1 ? SOME_PANELS : ONE_PANEL;
    const double around = TITLE_LINE + PANEL_GAP;
    return fmax(LEAST_PANEL, floor((layout->height - top - below) / (double)panels - around));
}

/* ---- lines --------------------------------------------------------------------------------- */

static struct ta_point place(const struct lines *lines, const struct ta_axis *y_axis,
                             const struct ta_plot *plot, const struct point *point)
{
    return (struct ta_point){ta_plot_x(plot, &lines->x_axis, point->x),
                             ta_plot_y(plot, y_axis, point->y)};
}

static const char *tip_of(struct ta_layout *layout, const struct lines *lines,
                          const struct panel *panel, const struct point *point)
{
    const char *name = lines->groups.names[point->group];
    const char *x_title = ta_data_title(layout, lines->x_column);
    return ta_pen_printf(layout, "%s%s%s %s · %s %s", name, *name ? " · " : "", x_title,
                         ta_pen_value(layout, point->x, lines->x_unit), panel->label,
                         ta_pen_value(layout, point->y, panel->unit));
}

/* A value that holds until the next one goes on at its height, then up or down. */
static size_t add_point(struct ta_point *points, size_t n, struct ta_point at, bool steps)
{
    if (steps && n > 0 && at.y != points[n - 1].y) {
        points[n] = (struct ta_point){at.x, points[n - 1].y};
        n++;
    }
    points[n++] = at;
    return n;
}

/* Of a few lines those that are drawn first are wider, so that one shows on both sides of another
 * that lies on it. */
static double width_of(const struct lines *lines, const struct panel *panel, size_t group)
{
    enum { FEW = 4 };
    const double usual = 1.6, rim = 1.0;
    const size_t n = lines->together ? lines->n_panels : lines->groups.n;
    const size_t at = lines->together ? (size_t)(panel - lines->panels) : group;
    return n <= FEW && at < n ? usual + rim * (double)(n - 1 - at) : usual;
}

static void draw_line(struct ta_layout *layout, const struct lines *lines,
                      const struct panel *panel, const struct ta_axis *y_axis,
                      const struct ta_plot *plot, size_t first, size_t end)
{
    struct ta_point *points = ta_arena_alloc(layout->arena, 2 * (end - first + 1) * sizeof *points);
    const size_t group = panel->points[first].group;
    const bool rest = !lines->together && ta_groups_rest(&lines->groups, group);
    const enum ta_ink ink = lines->together ? panel->ink : lines->groups.inks[group];
    size_t n = 0;
    if (!points)
        return;
    for (size_t i = first; i < end; i++) {
        const struct ta_point at = place(lines, y_axis, plot, &panel->points[i]);
        if (n > 0 && i + 1 < end && fabs(at.x - points[n - 1].x) < CLOSEST &&
            fabs(at.y - points[n - 1].y) < CLOSEST)
            continue;
        n = add_point(points, n, at, layout->chart->steps);
    }
    if (n > 1)
        ta_pen_line(layout, ink, points, n, rest ? 1 : width_of(lines, panel, group),
                    tip_of(layout, lines, panel, &panel->points[end - 1]));
    if (end - first > DOTS_MOST || (rest && n > 1))
        return;
    for (size_t i = first; i < end; i++) {
        const struct ta_point at = place(lines, y_axis, plot, &panel->points[i]);
        ta_pen_circle(layout, ink, at.x, at.y, 2.2,
                      tip_of(layout, lines, panel, &panel->points[i]));
    }
}

/* ---- many lines ------------------------------------------------------------------------------ */

static bool is_rest(const struct lines *lines, const struct point *point)
{
    return !lines->together && ta_groups_rest(&lines->groups, point->group);
}

static int by_x(const void *left, const void *right)
{
    const struct point *a = left, *b = right;
    if (a->x != b->x)
        return (a->x > b->x) - (a->x < b->x);
    return (a->y > b->y) - (a->y < b->y);
}

/* The points of the rest by x; NULL without memory. */
static struct point *list_rest(struct ta_layout *layout, const struct lines *lines,
                               const struct panel *panel, size_t *n)
{
    struct point *rest = ta_arena_alloc(layout->arena, (panel->n + 1) * sizeof *rest);
    *n = 0;
    for (size_t i = 0; rest && i < panel->n; i++)
        if (is_rest(lines, &panel->points[i]))
            rest[(*n)++] = panel->points[i];
    if (rest)
        qsort(rest, *n, sizeof *rest, by_x);
    return rest;
}

/* One quantile of the rest over the axis, a point for each of BANDS stretches that has any. */
static void draw_quantile(struct ta_layout *layout, const struct lines *lines,
                          const struct ta_axis *y_axis, const struct ta_plot *plot,
                          const struct point *rest, size_t n, double *values, double share,
                          const char *name)
{
    enum { BANDS = 160 };
    struct ta_point *points = ta_arena_alloc(layout->arena, 2 * (size_t)BANDS * sizeof *points);
    const double width = (lines->x_high - lines->x_low) / BANDS;
    size_t n_points = 0;
    for (size_t first = 0, end; points && first < n && n_points + 1 < 2 * (size_t)BANDS;
         first = end) {
        const size_t band = width > 0 ? ta_whole_size((rest[first].x - lines->x_low) / width) : 0;
        const double until = lines->x_low + (double)(band + 1) * width;
        for (end = first; end < n && (end == first || rest[end].x < until); end++)
            values[end - first] = rest[end].y;
        ta_sort_numbers(values, end - first);
        const struct point at = {0, rest[first].x, ta_quantile(values, end - first, share)};
        n_points =
            add_point(points, n_points, place(lines, y_axis, plot, &at), layout->chart->steps);
    }
    if (!points)
        return;
    ta_pen_line(layout, lines->groups.rest, points, n_points, share == 0.5 ? 1.6 : 1, name);
}

/* In place of more lines than can be told apart: lowest, median and highest of them. */
static void draw_band(struct ta_layout *layout, const struct lines *lines,
                      const struct panel *panel, const struct ta_axis *y_axis,
                      const struct ta_plot *plot)
{
    static const struct {
        double share;
        const char *name;
    } quantiles[] = {{0, "lowest"}, {0.5, "median"}, {1, "highest"}};
    size_t n;
    const struct point *rest = list_rest(layout, lines, panel, &n);
    double *values = ta_arena_alloc(layout->arena, (panel->n + 1) * sizeof *values);
    for (size_t i = 0; rest && values && n && i < sizeof quantiles / sizeof *quantiles; i++)
        draw_quantile(
            layout, lines, y_axis, plot, rest, n, values, quantiles[i].share,
            ta_pen_printf(layout, "%s: %s of the others", panel->label, quantiles[i].name));
}

static void draw_panel(struct ta_layout *layout, const struct lines *lines,
                       const struct panel *panel, const struct ta_axis *y_axis,
                       const struct ta_plot *plot)
{
    const bool has_band = count_rest(lines) > LINES_MOST;
    if (has_band)
        draw_band(layout, lines, panel, y_axis, plot);
    for (int pass = has_band; pass < 2; pass++) /* those without a color of their own lie below */
        for (size_t first = 0, end; first < panel->n; first = end) {
            end = line_end(panel, first);
            if (is_rest(lines, &panel->points[first]) == (pass == 0))
                draw_line(layout, lines, panel, y_axis, plot, first, end);
        }
}

/* ---- bands ----------------------------------------------------------------------------------- */

/* A row by its place on the axis. */
struct band_row {
    double x;
    size_t row;
};

static int by_place(const void *left, const void *right)
{
    const struct band_row *a = left, *b = right;
    if (a->x != b->x)
        return (a->x > b->x) - (a->x < b->x);
    return (a->row > b->row) - (a->row < b->row);
}

/* The rows of the first group by their places; NULL without memory. */
static struct band_row *list_band_rows(struct ta_layout *layout, const struct lines *lines,
                                       size_t *n)
{
    struct band_row *rows =
        ta_arena_alloc(layout->arena, (layout->table->n_rows + 1) * sizeof *rows);
    *n = 0;
    for (size_t row = 0; rows && row < layout->table->n_rows; row++) {
        const double x = ta_data_value(layout, row, lines->x_column);
        if (lines->groups.of_row[row] == 0 && !isnan(x))
            rows[(*n)++] = (struct band_row){x, row};
    }
    if (rows)
        qsort(rows, *n, sizeof *rows, by_place);
    return rows;
}

static void draw_band_of(struct ta_layout *layout, const struct ta_plot *plot, double from,
                         double to, const char *name, bool shaded, bool named)
{
    enum { NAME_GAP = 3 };
    if (shaded)
        ta_pen_rect(layout, TA_INK_BAND, from, plot->y, to - from, plot->h, name);
    if (named && ta_pen_width(layout, TA_FACE_SMALL, name) + 2 * NAME_GAP <= to - from)
        ta_pen_text(layout, TA_INK_MUTED, TA_FACE_SMALL, TA_ANCHOR_START, from + NAME_GAP,
                    plot->y + plot->h - NAME_GAP, name, NULL);
}

/* Stretches in which a text stays the same, every other one shaded; named in the first panel, below
 * the lines of most values. */
static void draw_bands(struct ta_layout *layout, const struct lines *lines,
                       const struct ta_plot *plot, bool named)
{
    const size_t column = ta_data_column(layout, layout->chart->band);
    size_t n = 0, stretches = 0;
    const struct band_row *rows = column == SIZE_MAX ? NULL : list_band_rows(layout, lines, &n);
    for (size_t first = 0, end; rows && first < n; first = end) {
        const struct ta_cell *text = ta_table_cell(layout->table, rows[first].row, column);
        for (end = first + 1; end < n; end++)
            if (!ta_cell_equal(text, ta_table_cell(layout->table, rows[end].row, column)))
                break;
        if (text->kind == TA_CELL_NULL)
            continue;
        draw_band_of(layout, plot, ta_plot_x(plot, &lines->x_axis, rows[first].x),
                     ta_plot_x(plot, &lines->x_axis, rows[end < n ? end : n - 1].x),
                     ta_data_cell(layout, rows[first].row, column), stretches++ % 2 == 0, named);
    }
}

/* Panels side by side share the axis below them. */
struct grid {
    size_t panels, columns, rows;
    double left, width; /* room for the labels of y, and a column with them */
};

static struct grid grid_of(const struct ta_layout *layout, const struct lines *lines)
{
    struct grid grid = {.panels = lines->together ? 1 : lines->n_panels, .columns = 1};
    if (grid.panels >= BESIDE_LEAST && layout->width >= BESIDE_WIDTH)
        grid.columns = 2;
    grid.rows = (grid.panels + grid.columns - 1) / grid.columns;
    grid.width = (layout->width + COLUMN_GAP) / (double)grid.columns - COLUMN_GAP;
    return grid;
}

static struct ta_plot plot_at(const struct grid *grid, size_t panel, double top, double h)
{
    const double right = 10;
    const size_t column = panel % grid->columns, row = panel / grid->columns;
    return (struct ta_plot){
        .x = grid->left + (double)column * (grid->width + COLUMN_GAP),
        .y = top + (double)row * (TITLE_LINE + h + PANEL_GAP) + TITLE_LINE,
        .w = grid->width - grid->left - right,
        .h = h,
    };
}

static const char *y_title_of(struct ta_layout *layout, const struct lines *lines, size_t panel,
                              const struct ta_axis *axis)
{
    if (!lines->together)
        return ta_guide_title(layout, lines->panels[panel].label, axis);
    return axis->unit == TA_UNIT_COUNT ? "Count" : ta_axis_symbol(axis);
}

/* Whether the first of two lines is never below the other, as what is busy is part of a whole. */
static bool holds_other(const struct lines *lines)
{
    const struct panel *whole = &lines->panels[0], *part = &lines->panels[1];
    if (!lines->together || lines->n_panels != 2 || whole->n != part->n)
        return false;
    for (size_t i = 0; i < whole->n; i++)
        if (whole->points[i].x != part->points[i].x || whole->points[i].y < part->points[i].y)
            return false;
    return true;
}

/* The area under a line that holds another one, which would hide it where both are close. */
static void draw_ground(struct ta_layout *layout, const struct lines *lines,
                        const struct ta_axis *y_axis, const struct ta_plot *plot)
{
    const struct panel *whole = &lines->panels[0];
    struct ta_point *points = ta_arena_alloc(layout->arena, (2 * whole->n + 2) * sizeof *points);
    size_t n = 0;
    if (!points || layout->chart->band || !holds_other(lines))
        return;
    for (size_t i = 0; i < whole->n; i++)
        n = add_point(points, n, place(lines, y_axis, plot, &whole->points[i]),
                      layout->chart->steps);
    points[n] = (struct ta_point){points[n - 1].x, plot->y + plot->h};
    points[n + 1] = (struct ta_point){points[0].x, plot->y + plot->h};
    ta_pen_area(layout, TA_INK_BAND, points, n + 2, NULL);
}

static void draw_plot(struct ta_layout *layout, const struct lines *lines, size_t panel,
                      const struct ta_axis *y_axis, const struct ta_plot *plot, double left)
{
    draw_bands(layout, lines, plot, panel == 0);
    draw_ground(layout, lines, y_axis, plot);
    ta_guide_x_grid(layout, &lines->x_axis, plot);
    ta_guide_y_axis(layout, y_axis, plot);
    ta_guide_y_title(layout, y_title_of(layout, lines, panel, y_axis), plot->x - left, plot->y + 2);
    for (size_t k = panel; k < (lines->together ? lines->n_panels : panel + 1); k++)
        draw_panel(layout, lines, &lines->panels[k], y_axis, plot);
}

static void draw(struct ta_layout *layout, struct lines *lines)
{
    const char *x_title = ta_data_title(layout, lines->x_column);
    const double below = ta_guide_x_height(x_title), top = draw_legend(layout, lines);
    struct grid grid = grid_of(layout, lines);
    double bottom = 0;
    const double h = panel_height(layout, grid.rows, top, below);
    struct ta_axis axes[TA_CHART_SERIES_MAX];
    for (size_t i = 0; i < grid.panels; i++) {
        axes[i] = y_axis_of(layout, lines, &lines->panels[i], h);
        grid.left = fmax(grid.left, ta_guide_y_width(layout, &axes[i]));
    }
    for (size_t i = 0; i < grid.panels; i++) {
        const struct ta_plot plot = plot_at(&grid, i, top, h);
        if (i == 0)
            lines->x_axis = x_axis_of(layout, lines, plot.w);
        draw_plot(layout, lines, i, &axes[i], &plot, grid.left);
        if (i + grid.columns >= grid.panels)
            ta_guide_x_labels(layout, &lines->x_axis, &plot,
                              ta_guide_title(layout, x_title, &lines->x_axis));
        bottom = fmax(bottom, plot.y + plot.h + below);
    }
    layout->height = bottom;
}

static void summarize(struct ta_layout *layout, const struct lines *lines)
{
    const char *text = "";
    size_t n = 0;
    for (size_t i = 0; i < lines->n_panels; i++) {
        const struct panel *panel = &lines->panels[i];
        text = ta_pen_printf(layout, "%s%s%s from %s to %s, median %s", text, i ? "; " : "",
                             panel->label, ta_pen_value(layout, panel->low, panel->unit),
                             ta_pen_value(layout, panel->high, panel->unit),
                             ta_pen_value(layout, panel->median, panel->unit));
        n = panel->n > n ? panel->n : n;
    }
    layout->summary = ta_pen_printf(layout, "%s.", text);
    layout->note = ta_pen_printf(layout, "%s.", ta_pen_sample(layout, n, 0));
}

void ta_lay_lines(struct ta_layout *layout)
{
    struct lines lines = {
        .x_column = ta_data_column(layout, layout->chart->x),
        .group_column = ta_data_column(layout, layout->chart->group),
        .x_low = INFINITY,
        .x_high = -INFINITY,
    };
    lines.x_unit = ta_data_unit(layout, lines.x_column);
    if (!ta_data_groups(layout, lines.group_column, &lines.groups) ||
        !read_panels(layout, &lines)) {
        layout->failed = true;
        return;
    }
    lines.together = share_a_panel(&lines);
    if (lines.together)
        join_same(layout, &lines);
    if (lines.n_panels && color(layout, &lines)) {
        draw(layout, &lines);
        summarize(layout, &lines);
    } else {
        ta_guide_empty(layout);
    }
}
