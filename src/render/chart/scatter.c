/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scatter: two values of each row against each other on logarithmic axes, a dot per row, its color
 * by group, its area by a third value, below the lines that no dot should pass. */
#include "render/chart/scatter.h"

#include <math.h>
#include <stdlib.h>

enum { DOTS_MAX = 1500, NAMES_MOST = 5, NAME_WIDTH = 150 };
enum { TITLE_LINE = 18, X_TICK_ROOM = 56, Y_TICK_ROOM = 20, LEAST_HEIGHT = 150, MOST_HEIGHT = 320 };

/* Radii of the largest dot, the smallest, and all of them without sizes. */
#define LARGEST 9.0
#define SMALLEST 1.8
#define PLAIN 2.6

/* The axes reach this factor beyond the values. */
#define MARGIN 1.7

/* Beyond this no two values differ in a way that could be drawn. */
#define FAR 1e100

/* ---- data ---------------------------------------------------------------------------------- */

static int by_size(const void *left, const void *right)
{
    const struct ta_scatter_dot *a = left, *b = right;
    if (a->size != b->size)
        return (a->size < b->size) - (a->size > b->size);
    return (a->row > b->row) - (a->row < b->row);
}

/* A logarithmic axis has no place for 0. */
static bool can_place(double value)
{
    return value > 1 / FAR && value < FAR;
}

/* Groups of the largest dots get the colors. */
static bool color(struct ta_layout *layout, struct ta_scatter *s)
{
    double *scores = ta_arena_alloc(layout->arena, (s->groups.n + 1) * sizeof *scores);
    if (!scores)
        return false;
    for (size_t i = 0; i < s->n; i++)
        scores[s->groups.of_row[s->dots[i].row]] +=
            s->size_column == SIZE_MAX ? 1 : s->dots[i].size;
    ta_data_color_groups(&s->groups, scores);
    return true;
}

static size_t group_of(const struct ta_scatter *s, size_t dot)
{
    return s->groups.of_row[s->dots[dot].row];
}

/* ---- frame --------------------------------------------------------------------------------- */

static double draw_legend(struct ta_layout *layout, const struct ta_scatter *s)
{
    struct ta_legend_entry entries[TA_GROUPS_SHOWN + 1];
    size_t n = 0;
    bool *is_drawn = ta_arena_alloc(layout->arena, (s->groups.n + 1) * sizeof *is_drawn);
    if (!is_drawn || s->groups.n < 2)
        return 0;
    for (size_t i = 0; i < s->n; i++)
        is_drawn[group_of(s, i)] = true;
    size_t rest = 0;
    for (size_t i = 0; i < s->groups.n; i++)
        if (is_drawn[i] && ta_groups_rest(&s->groups, i))
            rest++;
        else if (is_drawn[i] && n < TA_GROUPS_SHOWN)
            entries[n++] =
                (struct ta_legend_entry){s->groups.inks[i], TA_MARK_CIRCLE, s->groups.names[i]};
    if (rest)
        entries[n++] = (struct ta_legend_entry){s->groups.rest, TA_MARK_CIRCLE,
                                                ta_pen_printf(layout, "other (%zu)", rest)};
    return ta_guide_legend(layout, entries, n, 0) + 6;
}

static void make_axes(struct ta_scatter *s)
{
    double x[2] = {INFINITY, 0}, y[2] = {INFINITY, 0};
    for (size_t i = 0; i < s->n; i++) {
        x[0] = fmin(x[0], s->dots[i].x);
        x[1] = fmax(x[1], s->dots[i].x);
        y[0] = fmin(y[0], s->dots[i].y);
        y[1] = fmax(y[1], s->dots[i].y);
    }
    ta_roof_widen(s, x, y);
    s->x_axis = ta_axis_log(x[0] / MARGIN, x[1] * MARGIN, s->x_unit,
                            ta_whole_size(s->plot.w / X_TICK_ROOM));
    s->y_axis = ta_axis_log(y[0] / MARGIN, y[1] * MARGIN, s->y_unit,
                            ta_whole_size(s->plot.h / Y_TICK_ROOM));
}

static void draw_frame(struct ta_layout *layout, struct ta_scatter *s)
{
    const char *x_title = ta_data_title(layout, s->x_column);
    const double top = draw_legend(layout, s) + TITLE_LINE, below = ta_guide_x_height(x_title);
    const double free = layout->height > 0 ? layout->height - top - below : layout->width * 0.42;
    const double most = layout->height > 0 ? INFINITY : MOST_HEIGHT;
    s->plot.y = top;
    s->plot.h = round(fmin(fmax(free, LEAST_HEIGHT), most));
    s->plot.w = layout->width;
    make_axes(s); /* once for the width of the labels of y, once with what that leaves for x */
    s->plot.x = ta_guide_y_width(layout, &s->y_axis);
    s->plot.w = layout->width - s->plot.x - 10;
    make_axes(s);
    ta_guide_y_axis(layout, &s->y_axis, &s->plot);
    ta_guide_x_axis(layout, &s->x_axis, &s->plot, x_title);
    ta_guide_y_title(layout, ta_data_title(layout, s->y_column), 0, top);
    layout->height = s->plot.y + s->plot.h + below;
}

struct ta_point ta_scatter_at(const struct ta_scatter *s, double x, double y)
{
    return (struct ta_point){ta_plot_x(&s->plot, &s->x_axis, x),
                             ta_plot_y(&s->plot, &s->y_axis, y)};
}

/* ---- dots ---------------------------------------------------------------------------------- */

/* The area shows the size. */
static double radius_of(const struct ta_scatter *s, const struct ta_scatter_dot *dot)
{
    if (s->size_column == SIZE_MAX)
        return PLAIN;
    const double largest = s->dots[0].size;
    return largest > 0 ? fmax(SMALLEST, LARGEST * sqrt(dot->size / largest)) : SMALLEST;
}

static const char *tip_of(struct ta_layout *layout, const struct ta_scatter *s,
                          const struct ta_scatter_dot *dot)
{
    const char *name = ta_data_full_name(layout, dot->row);
    const char *text =
        ta_pen_printf(layout, "%s%s%s %s · %s %s", name, *name ? " · " : "",
                      ta_data_title(layout, s->y_column), ta_pen_value(layout, dot->y, s->y_unit),
                      ta_data_title(layout, s->x_column), ta_pen_value(layout, dot->x, s->x_unit));
    if (s->size_column == SIZE_MAX || dot->size <= 0)
        return text;
    return ta_pen_printf(layout, "%s · %s %s", text, ta_data_title(layout, s->size_column),
                         ta_pen_value(layout, dot->size, s->size_unit));
}

/* From the largest to the smallest, each with an edge of paper: none hides another. */
static void draw_dots(struct ta_layout *layout, const struct ta_scatter *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct ta_scatter_dot *dot = &s->dots[i];
        const struct ta_point at = ta_scatter_at(s, dot->x, dot->y);
        const double r = radius_of(s, dot);
        ta_pen_circle(layout, TA_INK_NONE, at.x, at.y, r + 0.7, NULL);
        ta_pen_circle(layout, s->groups.inks[group_of(s, i)], at.x, at.y, r,
                      tip_of(layout, s, dot));
    }
}

/* ---- labels -------------------------------------------------------------------------------- */

static bool touch(const struct ta_box *a, const struct ta_box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

static bool is_free(const struct ta_scatter *s, const struct ta_box *box)
{
    if (box->left < s->plot.x || box->right > s->plot.x + s->plot.w + 4 ||
        box->top < s->plot.y - 4 || box->bottom > s->plot.y + s->plot.h)
        return false;
    if (ta_roof_touches(s, box))
        return false;
    for (size_t i = 0; i < s->n_labels; i++)
        if (touch(box, &s->labels[i]))
            return false;
    for (size_t i = 0; i < s->n; i++) {
        const struct ta_point at = ta_scatter_at(s, s->dots[i].x, s->dots[i].y);
        const double r = radius_of(s, &s->dots[i]);
        if (touch(box, &(struct ta_box){at.x - r, at.y - r, at.x + r, at.y + r}))
            return false;
    }
    return true;
}

bool ta_scatter_label(struct ta_layout *layout, struct ta_scatter *s, enum ta_ink ink, double x,
                      double y, const char *text)
{
    const struct ta_box box = {x - 3, y - 10, x + ta_pen_width(layout, TA_FACE_SMALL, text) + 3,
                               y + 3};
    if (s->n_labels == TA_LABELS_MAX || !is_free(s, &box))
        return false;
    s->labels[s->n_labels++] = box;
    ta_pen_text(layout, ink, TA_FACE_SMALL, TA_ANCHOR_START, x, y, text, NULL);
    return true;
}

/* By the first of the columns that name rows. */
static const char *short_name(struct ta_layout *layout, size_t row)
{
    const size_t column = ta_data_column(layout, layout->chart->label[0]);
    if (column == SIZE_MAX || ta_table_cell(layout->table, row, column)->kind == TA_CELL_NULL)
        return "";
    return ta_pen_fit(layout, TA_FACE_SMALL, ta_data_cell(layout, row, column), NAME_WIDTH);
}

/* Names of the largest dots, on the side where there is room; each name once. */
static void name_dots(struct ta_layout *layout, struct ta_scatter *s)
{
    const char *named[NAMES_MOST];
    size_t n = 0;
    for (size_t i = 0; i < s->n && n < NAMES_MOST && s->size_column != SIZE_MAX; i++) {
        const char *name = short_name(layout, s->dots[i].row);
        bool known = !*name;
        for (size_t k = 0; k < n; k++)
            known |= strcmp(named[k], name) == 0;
        if (known)
            continue;
        named[n++] = name;
        const struct ta_point at = ta_scatter_at(s, s->dots[i].x, s->dots[i].y);
        const double gap = radius_of(s, &s->dots[i]) + 5;
        const double width = ta_pen_width(layout, TA_FACE_SMALL, name);
        const struct ta_point places[] = {{at.x + gap, at.y + 3.5},
                                          {at.x - gap - width, at.y + 3.5},
                                          {at.x - width / 2, at.y + gap + 9},
                                          {at.x - width / 2, at.y - gap}};
        for (int p = 0; p < 4; p++)
            if (ta_scatter_label(layout, s, TA_INK_MUTED, places[p].x, places[p].y, name))
                break;
    }
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void summarize(struct ta_layout *layout, const struct ta_scatter *s)
{
    const struct ta_scatter_dot *largest = &s->dots[0];
    for (size_t i = 1; i < s->n && s->size_column == SIZE_MAX; i++)
        largest = s->dots[i].y > largest->y ? &s->dots[i] : largest;
    layout->summary = ta_pen_printf(
        layout, "%s values of %s over %s; the %s: %s.",
        ta_pen_value(layout, (double)s->n, TA_UNIT_COUNT), ta_data_title(layout, s->y_column),
        ta_data_title(layout, s->x_column), s->size_column == SIZE_MAX ? "highest" : "largest",
        tip_of(layout, s, largest));
    const size_t known = s->n + s->left_out;
    const char *sample = ta_pen_sample(layout, known, layout->table->n_rows - known);
    const char *shown = s->left_out
                            ? ta_pen_printf(layout, ", the %s %s are drawn",
                                            ta_pen_value(layout, (double)s->n, TA_UNIT_COUNT),
                                            s->size_column == SIZE_MAX ? "first" : "largest")
                            : "";
    const char *area =
        s->size_column == SIZE_MAX
            ? ""
            : ta_pen_printf(layout, " Area of a dot: %s.", ta_data_title(layout, s->size_column));
    layout->note = ta_pen_printf(layout, "%s%s.%s", sample, shown, area);
}

void ta_lay_scatter(struct ta_layout *layout)
{
    const struct ta_chart *chart = layout->chart;
    struct ta_scatter s = {
        .x_column = ta_data_column(layout, chart->x),
        .y_column = ta_data_column(layout, chart->y[0].column),
        .size_column = ta_data_column(layout, chart->size),
        .group_column = ta_data_column(layout, chart->group),
        .dots = calloc(layout->table->n_rows + 1, sizeof *s.dots),
    };
    s.x_unit = ta_data_unit(layout, s.x_column);
    s.y_unit = ta_data_unit(layout, s.y_column);
    s.size_unit = ta_data_unit(layout, s.size_column);
    if (!s.dots || !ta_data_groups(layout, s.group_column, &s.groups))
        layout->failed = true;
    else {
        const size_t most = layout->chart->top ? layout->chart->top : DOTS_MAX;
        for (size_t row = 0; row < layout->table->n_rows; row++) {
            const double x = ta_data_value(layout, row, s.x_column);
            const double y = ta_data_value(layout, row, s.y_column);
            const double size = ta_data_value(layout, row, s.size_column);
            if (can_place(x) && can_place(y))
                s.dots[s.n++] = (struct ta_scatter_dot){x, y, can_place(size) ? size : 0, row};
        }
        if (s.n)
            qsort(s.dots, s.n, sizeof *s.dots, by_size);
        s.left_out = s.n > most ? s.n - most : 0;
        s.n -= s.left_out;
    }
    if (s.n && color(layout, &s)) {
        ta_roof_read(layout, &s);
        draw_frame(layout, &s);
        ta_roof_draw(layout, &s);
        draw_dots(layout, &s);
        ta_roof_name(layout, &s);
        name_dots(layout, &s);
        summarize(layout, &s);
    } else
        ta_guide_empty(layout);
    free(s.dots);
}
