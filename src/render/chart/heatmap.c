/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A heat map of changes: a cell per row of the table, its column by x (ranks), its line by the
 * first label (terms).  Color is by steps of the largest change, so that it can be told apart and
 * named in a legend; the sign is written, too, as there are two colors. */
#include "render/chart/layout.h"

#include <math.h>
#include <stdlib.h>

enum { LINES_SHOWN = 20, COLUMNS_SHOWN = 64, PITCH = 18, GAP = 10, LABEL_LINE = 14 };

struct heat {
    size_t x_column, value_column;
    struct ta_groups lines; /* by label, in order of appearance */
    double *xs;             /* of the columns that are drawn, ascending */
    size_t n_xs, n_all;     /* drawn, and there */
    size_t n_lines;
    double most; /* largest |change| */
    enum ta_unit unit;
    struct ta_plot plot;
};

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The values of x, each once. */
static bool read_xs(struct ta_layout *layout, struct heat *heat)
{
    const size_t n = layout->table->n_rows;
    heat->xs = ta_arena_alloc(layout->arena, (n + 1) * sizeof *heat->xs);
    if (!heat->xs)
        return false;
    size_t values = 0;
    for (size_t i = 0; i < n; i++) {
        const double x = ta_data_value(layout, i, heat->x_column);
        if (!isnan(x))
            heat->xs[values++] = x;
    }
    qsort(heat->xs, values, sizeof *heat->xs, ascending);
    for (size_t i = 0; i < values; i++)
        if (heat->n_all == 0 || heat->xs[heat->n_all - 1] != heat->xs[i])
            heat->xs[heat->n_all++] = heat->xs[i];
    heat->n_xs = heat->n_all < COLUMNS_SHOWN ? heat->n_all : COLUMNS_SHOWN;
    return true;
}

/* The place of a row among the lines and columns that are drawn; false for others. */
static bool place_of(const struct ta_layout *layout, const struct heat *heat, size_t row,
                     size_t *line, size_t *column)
{
    const double x = ta_data_value(layout, row, heat->x_column);
    const double *found =
        isnan(x) ? NULL : bsearch(&x, heat->xs, heat->n_xs, sizeof *heat->xs, ascending);
    *line = heat->lines.of_row[row];
    *column = found ? (size_t)(found - heat->xs) : 0;
    return found && *line < heat->n_lines;
}

static enum ta_ink ink_of(const struct heat *heat, double change, bool worse)
{
    const double share = heat->most > 0 ? fabs(change) / heat->most : 0;
    if (share < 0.01)
        return TA_INK_GRID;
    const int step = share >= 0.5 ? 2 : share >= 0.1 ? 1 : 0;
    static const enum ta_ink inks[2][3] = {
        {TA_INK_BETTER_1, TA_INK_BETTER_2, TA_INK_BETTER},
        {TA_INK_WORSE_1, TA_INK_WORSE_2, TA_INK_WORSE},
    };
    return inks[worse][step];
}

static void draw_cell(struct ta_layout *layout, const struct heat *heat, size_t row, size_t line,
                      size_t column)
{
    const double change = ta_data_value(layout, row, heat->value_column);
    const double w = heat->plot.w / (double)heat->n_xs;
    const double x = heat->plot.x + w * (double)column;
    const double y = heat->plot.y + PITCH * (double)line;
    const bool rises = layout->table->columns[heat->value_column].better == TA_HIGHER;
    const enum ta_ink ink = ink_of(heat, change, (change > 0) != rises);
    const char *text = ta_pen_value(layout, change, heat->unit);
    const char *tip = ta_pen_printf(layout, "%s · %s · %s", heat->lines.names[line],
                                    ta_data_cell(layout, row, heat->x_column), text);
    ta_pen_rect(layout, ink, x + 0.5, y + 0.5, w - 1, PITCH - 1, tip);
    if (ta_pen_width(layout, TA_FACE_SMALL, text) + 6 <= w)
        ta_pen_text_on(layout, ink, TA_FACE_SMALL, TA_ANCHOR_MIDDLE, x + w / 2, y + PITCH / 2 + 3.3,
                       text);
}

static void place(struct ta_layout *layout, struct heat *heat)
{
    double names = 0;
    for (size_t i = 0; i < heat->n_lines; i++)
        names = fmax(names, ta_pen_width(layout, TA_FACE_MONO, heat->lines.names[i]));
    const char *half = ta_pen_value(layout, heat->most / 2, TA_UNIT_NS);
    const char *tenth = ta_pen_value(layout, heat->most / 10, TA_UNIT_NS);
    const struct ta_legend_entry entries[] = {
        {TA_INK_WORSE, TA_MARK_RECT, ta_pen_printf(layout, "worse by %s or more", half)},
        {TA_INK_WORSE_2, TA_MARK_RECT, ta_pen_printf(layout, "by %s or more", tenth)},
        {TA_INK_WORSE_1, TA_MARK_RECT, "less"},
        {TA_INK_BETTER, TA_MARK_RECT, ta_pen_printf(layout, "better by %s or more", half)},
        {TA_INK_BETTER_2, TA_MARK_RECT, ta_pen_printf(layout, "by %s or more", tenth)},
        {TA_INK_BETTER_1, TA_MARK_RECT, "less"},
    };
    heat->plot.y = ta_guide_legend(layout, entries, sizeof entries / sizeof *entries, 0) + 6;

    heat->plot.x = ceil(fmin(names, layout->width * 0.42)) + GAP;
    heat->plot.w = layout->width - heat->plot.x;
    heat->plot.h = PITCH * (double)heat->n_lines;
    layout->height = heat->plot.y + heat->plot.h + 2 * LABEL_LINE + 8;
}

static void draw(struct ta_layout *layout, struct heat *heat)
{
    size_t line, column, largest = 0;
    const double room = (layout->height - 80) / PITCH; /* without legend and labels */
    const size_t most = layout->height <= 0 || room > LINES_SHOWN ? LINES_SHOWN
                        : room < 2                                ? 2
                                                                  : ta_whole_size(room);
    heat->n_lines = heat->lines.n < most ? heat->lines.n : most;
    for (size_t i = 0; i < layout->table->n_rows; i++) {
        const double change = fabs(ta_data_value(layout, i, heat->value_column));
        if (place_of(layout, heat, i, &line, &column) && change > heat->most) {
            heat->most = change;
            largest = i;
        }
    }
    place(layout, heat);
    for (size_t i = 0; i < layout->table->n_rows; i++)
        if (place_of(layout, heat, i, &line, &column) &&
            !isnan(ta_data_value(layout, i, heat->value_column)))
            draw_cell(layout, heat, i, line, column);
    const double w = heat->plot.w / (double)heat->n_xs;
    double free_from = heat->plot.x;
    for (size_t i = 0; i < heat->n_lines; i++)
        ta_pen_text(layout, TA_INK_TEXT, TA_FACE_MONO, TA_ANCHOR_END, heat->plot.x - GAP,
                    heat->plot.y + PITCH * ((double)i + 0.5) + 3.2,
                    ta_pen_fit(layout, TA_FACE_MONO, heat->lines.names[i], heat->plot.x - GAP),
                    heat->lines.names[i]);
    for (size_t i = 0; i < heat->n_xs; i++)
        free_from = ta_guide_centered(layout, heat->plot.x + w * ((double)i + 0.5),
                                      heat->plot.y + heat->plot.h + LABEL_LINE, free_from,
                                      ta_pen_printf(layout, "%.0f", heat->xs[i]));
    ta_pen_text(layout, TA_INK_MUTED, TA_FACE_SMALL, TA_ANCHOR_MIDDLE,
                heat->plot.x + heat->plot.w / 2, heat->plot.y + heat->plot.h + 2 * LABEL_LINE + 2,
                ta_data_title(layout, heat->x_column), NULL);
    layout->summary = ta_pen_printf(
        layout, "%zu lines by %zu columns; the largest change is %s at %s, %s.", heat->n_lines,
        heat->n_xs,
        ta_pen_value(layout, ta_data_value(layout, largest, heat->value_column), heat->unit),
        heat->lines.names[heat->lines.of_row[largest]],
        ta_data_cell(layout, largest, heat->x_column));
    if (heat->n_lines < heat->lines.n || heat->n_xs < heat->n_all)
        layout->note = ta_pen_printf(layout, "%zu of %zu lines and %zu of %zu columns are drawn.",
                                     heat->n_lines, heat->lines.n, heat->n_xs, heat->n_all);
}

void ta_lay_heatmap(struct ta_layout *layout)
{
    const struct ta_chart *chart = layout->chart;
    struct heat heat = {.x_column = ta_data_column(layout, chart->x),
                        .value_column = ta_data_column(layout, chart->y[0].column)};
    heat.unit = ta_data_unit(layout, heat.value_column);
    if (!ta_data_groups(layout, ta_data_column(layout, chart->label[0]), &heat.lines) ||
        !read_xs(layout, &heat))
        layout->failed = true;
    else if (heat.n_xs == 0 || heat.lines.n == 0)
        ta_guide_empty(layout);
    else
        draw(layout, &heat);
}
