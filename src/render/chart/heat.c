/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A heat map: a line of cells per value of the first label, a cell per value of x, its color by
 * y[0].  The steps of color grow with the square of their number: the largest value has the last
 * one, and it does not make all others look alike.  Neighbors of one color are one mark: ranks that
 * do the same cost little, however many there are. */
#include "render/chart/layout.h"

#include <math.h>

enum { STEPS = TA_INK_HEAT_7 - TA_INK_HEAT_1 + 1 };
enum { LINE_MOST = 18, LINE_LEAST = 3, PLOT_MOST = 420, LABEL_LINE = 11, LABEL_GAP = 6 };
enum { TITLE_LINE = 16, LEGEND_GAP = 8, TICKS_MOST = 12 };

/* Cells per row of a table with more than a few of them: a map that is mostly empty shows nothing.
 */
enum { EMPTY_MOST = 32, CELLS_LEAST = 1 << 16 };

/* Lines reach under the next one, so that the paper does not shine through between them. */
#define OVERLAP 0.3

struct heat {
    struct ta_groups lines;
    const double *values; /* by line, then column; NaN where no row is */
    const size_t *rows;   /* of the table */
    size_t n_columns;
    int64_t first_column;
    double low, range; /* of the values; low is 0 where none is below */
    enum ta_unit unit;
};

/* ---- reading ----------------------------------------------------------------------------- */

static bool read_columns(struct ta_layout *layout, struct heat *heat, size_t x)
{
    int64_t most = INT64_MIN;
    heat->first_column = INT64_MAX;
    for (size_t row = 0; row < layout->table->n_rows; row++) {
        const struct ta_cell *cell = ta_table_cell(layout->table, row, x);
        if (cell->kind != TA_CELL_INT)
            return false;
        heat->first_column = ta_min_i64(heat->first_column, cell->i);
        most = ta_max_i64(most, cell->i);
    }
    if (most < heat->first_column ||
        (uint64_t)most - (uint64_t)heat->first_column > layout->table->n_rows)
        return false;
    heat->n_columns = (size_t)(most - heat->first_column) + 1;
    return true;
}

static bool read_cells(struct ta_layout *layout, struct heat *heat, size_t x, size_t y)
{
    const size_t n = heat->lines.n * heat->n_columns;
    if (n > CELLS_LEAST + layout->table->n_rows * EMPTY_MOST)
        return false;
    double *values = ta_arena_alloc(layout->arena, n * sizeof *values);
    double most = -INFINITY;
    for (size_t i = 0; values && i < n; i++)
        values[i] = NAN;
    for (size_t row = 0; values && row < layout->table->n_rows; row++) {
        const int64_t column = ta_table_cell(layout->table, row, x)->i - heat->first_column;
        const size_t at = heat->lines.of_row[row] * heat->n_columns + (size_t)column;
        values[at] = ta_data_value(layout, row, y);
        heat->low = fmin(heat->low, values[at]); /* which leave out NaN */
        most = fmax(most, values[at]);
    }
    layout->failed |= !values;
    heat->range = most - heat->low;
    heat->values = values;
    return !layout->failed && heat->range >= 0;
}

/* Where the values of a step of color begin. */
static double step_from(const struct heat *heat, int step)
{
    return heat->low + heat->range * step * step / (STEPS * STEPS);
}

static enum ta_ink ink_of(const struct heat *heat, double value)
{
    int step = STEPS - 1;
    while (step > 0 && value < step_from(heat, step))
        step--;
    return (enum ta_ink)(TA_INK_HEAT_1 + (heat->range > 0 ? step : 0));
}

/* ---- drawing ----------------------------------------------------------------------------- */

static double draw_legend(struct ta_layout *layout, const struct heat *heat)
{
    struct ta_legend_entry entries[STEPS];
    for (int i = 0; i < STEPS; i++) {
        const char *from = ta_pen_value(layout, step_from(heat, i), heat->unit);
        entries[i] = (struct ta_legend_entry){
            .ink = (enum ta_ink)(TA_INK_HEAT_1 + i),
            .kind = TA_MARK_RECT,
            .label = i + 1 < STEPS ? from : ta_pen_printf(layout, "%s and more", from),
        };
    }
    return ta_guide_legend(layout, entries, heat->range > 0 ? (size_t)STEPS : 1, 0);
}

static const char *cell_tip(struct ta_layout *layout, const struct heat *heat, size_t line,
                            size_t from, size_t to, double most)
{
    const int64_t first = heat->first_column + (int64_t)from;
    const char *title = ta_data_title(layout, ta_data_column(layout, layout->chart->x));
    const char *where = to == from + 1
                            ? ta_pen_printf(layout, "%s %lld", title, (long long)first)
                            : ta_pen_printf(layout, "%s %lld to %lld", title, (long long)first,
                                            (long long)first + (long long)(to - from) - 1);
    return ta_pen_printf(layout, "%s · %s · %s%s", heat->lines.names[line], where,
                         to == from + 1 ? "" : "up to ", ta_pen_value(layout, most, heat->unit));
}

/* Every line has its name, or every second, fourth … as there is room. */
static void draw_names(struct ta_layout *layout, const struct heat *heat,
                       const struct ta_plot *plot)
{
    const double h = plot->h / (double)heat->lines.n;
    size_t stride = 1;
    while ((double)stride * h < LABEL_LINE)
        stride *= 2;
    for (size_t line = 0; line < heat->lines.n; line += stride)
        ta_pen_text(layout, TA_INK_TEXT, TA_FACE_SMALL, TA_ANCHOR_END, plot->x - LABEL_GAP,
                    plot->y + h * ((double)line + 0.5) + 3.5,
                    ta_pen_fit(layout, TA_FACE_SMALL, heat->lines.names[line], plot->x - LABEL_GAP),
                    NULL);
}

static void draw_columns(struct ta_layout *layout, const struct heat *heat,
                         const struct ta_plot *plot)
{
    const double w = plot->w / (double)heat->n_columns;
    const size_t stride = 1 + (heat->n_columns - 1) / TICKS_MOST;
    double free_from = 0;
    for (size_t i = 0; i < heat->n_columns; i += stride)
        free_from = ta_guide_centered(
            layout, plot->x + w * ((double)i + 0.5), plot->y + plot->h + TITLE_LINE - 2, free_from,
            ta_pen_printf(layout, "%lld", (long long)(heat->first_column + (int64_t)i)));
    ta_pen_text(layout, TA_INK_MUTED, TA_FACE_SMALL, TA_ANCHOR_END, plot->x + plot->w,
                plot->y + plot->h + 2 * TITLE_LINE - 2,
                ta_data_title(layout, ta_data_column(layout, layout->chart->x)), NULL);
}

static double name_width(struct ta_layout *layout, const struct heat *heat)
{
    double width = 0;
    for (size_t line = 0; line < heat->lines.n; line++)
        width = fmax(width, ta_pen_width(layout, TA_FACE_SMALL, heat->lines.names[line]));
    return fmin(width, layout->width / 4) + LABEL_GAP;
}

static void sum_up(struct ta_layout *layout, const struct heat *heat)
{
    size_t worst = 0, known = 0;
    for (size_t i = 0; i < heat->lines.n * heat->n_columns; i++) {
        if (isnan(heat->values[i]))
            continue;
        known++;
        if (isnan(heat->values[worst]) || heat->values[i] > heat->values[worst])
            worst = i;
    }
    layout->summary =
        ta_pen_printf(layout, "%zu by %zu cells; the largest: %s.", heat->lines.n, heat->n_columns,
                      cell_tip(layout, heat, worst / heat->n_columns, worst % heat->n_columns,
                               worst % heat->n_columns + 1, heat->values[worst]));
    layout->note =
        ta_pen_printf(layout, "%s.", ta_pen_sample(layout, known, layout->table->n_rows - known));
}

void ta_lay_heat(struct ta_layout *layout)
{
    struct heat heat = {0};
    const size_t x = ta_data_column(layout, layout->chart->x);
    const size_t y = ta_data_column(layout, layout->chart->y[0].column);
    const size_t label = ta_data_column(layout, layout->chart->label[0]);
    if (x == SIZE_MAX || y == SIZE_MAX || label == SIZE_MAX || layout->table->n_rows == 0 ||
        !read_columns(layout, &heat, x) || !ta_data_groups(layout, label, &heat.lines) ||
        !read_cells(layout, &heat, x, y)) {
        ta_guide_empty(layout);
        return;
    }
    heat.unit = ta_data_unit(layout, y);
    const double left = name_width(layout, &heat), top = draw_legend(layout, &heat) + LEGEND_GAP;
    const double below = 2 * TITLE_LINE + 2;
    const double free = fmin(PLOT_MOST, (double)heat.lines.n * LINE_MOST);
    const double room = layout->height > 0 ? fmax(layout->height - top - below, LABEL_LINE)
                                           : fmax(free, 2 * LABEL_LINE);
    const struct ta_plot plot = {left, top, layout->width - left, room};
    for (size_t line = 0; line < heat.lines.n; line++) {
        const double *values = heat.values + line * heat.n_columns;
        const double h = plot.h / (double)heat.lines.n, w = plot.w / (double)heat.n_columns;
        for (size_t from = 0, to; from < heat.n_columns; from = to) {
            double most = values[from];
            for (to = from + 1; to < heat.n_columns && !isnan(most) && !isnan(values[to]) &&
                                ink_of(&heat, values[to]) == ink_of(&heat, values[from]);
                 to++)
                most = fmax(most, values[to]);
            if (!isnan(most))
                ta_pen_rect(layout, ink_of(&heat, values[from]), plot.x + w * (double)from,
                            plot.y + h * (double)line, w * (double)(to - from),
                            line + 1 < heat.lines.n ? h + OVERLAP : h,
                            cell_tip(layout, &heat, line, from, to, most));
        }
    }
    draw_names(layout, &heat, &plot);
    draw_columns(layout, &heat, &plot);
    sum_up(layout, &heat);
    layout->height = plot.y + plot.h + below;
}
