/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Roofs of a scatter chart: what the values of y cannot pass.  On logarithmic axes a rate per unit
 * of x is a line that rises by 45 degrees, up to the level at which it bends. */
#include "render/chart/scatter.h"

#include <math.h>

/* Least distance that the plot reaches to the right of a bend and above a level. */
#define LEVEL_SHOWN 2

/* A label above a line, and the room a name needs from the next one. */
enum { RISE = 5, NAME_GAP = 14 };

static double limit(const struct ta_layout *layout, size_t row, size_t column)
{
    const double value = ta_data_value(layout, row, column);
    return value > 0 && isfinite(value) ? value : INFINITY;
}

static bool is_known(const struct ta_scatter *scatter, double level, double slope)
{
    for (size_t i = 0; i < scatter->n_roofs; i++)
        if (scatter->roofs[i].level == level && scatter->roofs[i].slope == slope)
            return true;
    return false;
}

/* Larger dots come first: of too many roofs theirs are kept. */
void ta_roof_read(struct ta_layout *layout, struct ta_scatter *scatter)
{
    const struct ta_roof *roof = &layout->chart->roof;
    const size_t level_column = ta_data_column(layout, roof->level);
    const size_t slope_column = ta_data_column(layout, roof->slope);
    const size_t name_column = ta_data_column(layout, roof->name);
    scatter->slope_unit = ta_data_unit(layout, slope_column);
    for (size_t i = 0; i < scatter->n && scatter->n_roofs < TA_ROOFS_MAX; i++) {
        const size_t row = scatter->dots[i].row;
        const double level = limit(layout, row, level_column);
        const double slope = limit(layout, row, slope_column);
        if ((level == INFINITY && slope == INFINITY) || is_known(scatter, level, slope))
            continue;
        const bool named = name_column != SIZE_MAX &&
                           ta_table_cell(layout->table, row, name_column)->kind != TA_CELL_NULL;
        scatter->roofs[scatter->n_roofs++] = (struct ta_roof_line){
            .level = level,
            .slope = slope,
            .name = named ? ta_data_cell(layout, row, name_column) : "",
        };
    }
}

void ta_roof_widen(const struct ta_scatter *scatter, double x[2], double y[2])
{
    for (size_t i = 0; i < scatter->n_roofs; i++) {
        const struct ta_roof_line *roof = &scatter->roofs[i];
        if (roof->level < INFINITY) {
            y[0] = fmin(y[0], roof->level);
            y[1] = fmax(y[1], LEVEL_SHOWN * roof->level);
        }
        if (roof->level < INFINITY && roof->slope < INFINITY) {
            x[0] = fmin(x[0], roof->level / roof->slope);
            x[1] = fmax(x[1], LEVEL_SHOWN * roof->level / roof->slope);
        }
    }
}

/* ---- lines --------------------------------------------------------------------------------- */

/* Start, bend and end of a line inside the axes; returns their number. */
static size_t corners(const struct ta_scatter *scatter, const struct ta_roof_line *roof,
                      double x[3], double y[3])
{
    const struct ta_axis *across = &scatter->x_axis, *up = &scatter->y_axis;
    const double bend = fmin(roof->level, up->to) / roof->slope; /* 0 without a slope */
    size_t n = 0;
    if (bend > across->from) {
        x[n] = fmax(across->from, up->from / roof->slope);
        if (x[n] >= across->to)
            return 0;
        y[n] = roof->slope * x[n];
        n++;
        x[n] = fmin(bend, across->to);
        y[n] = roof->slope * x[n];
        n++;
    } else {
        x[n] = across->from;
        y[n++] = roof->level;
    }
    if (roof->level < INFINITY && bend < across->to) {
        x[n] = across->to;
        y[n++] = roof->level;
    }
    return n;
}

static const char *tip_of(struct ta_layout *layout, const struct ta_scatter *scatter,
                          const struct ta_roof_line *roof)
{
    const char *text = roof->name;
    if (roof->level < INFINITY)
        text = ta_pen_printf(layout, "%s%s%s", text, *text ? " · " : "",
                             ta_pen_value(layout, roof->level, scatter->y_unit));
    if (roof->slope < INFINITY)
        text = ta_pen_printf(layout, "%s%s%s", text, *text ? " · " : "",
                             ta_pen_value(layout, roof->slope, scatter->slope_unit));
    return text;
}

void ta_roof_draw(struct ta_layout *layout, struct ta_scatter *scatter)
{
    for (size_t i = 0; i < scatter->n_roofs; i++) {
        struct ta_roof_line *roof = &scatter->roofs[i];
        double x[3], y[3];
        const size_t n = corners(scatter, roof, x, y);
        struct ta_point *points = ta_arena_alloc(layout->arena, 3 * sizeof *points);
        if (!points || n < 2)
            continue;
        for (size_t k = 0; k < n; k++)
            points[k] = roof->corners[k] = ta_scatter_at(scatter, x[k], y[k]);
        roof->n = n;
        ta_pen_line(layout, TA_INK_TEXT, points, n, 1.2, tip_of(layout, scatter, roof));
    }
}

/* Lines rise to the right and never fall, so a piece of one lies between the heights of its ends.
 */
static bool piece_touches(struct ta_point from, struct ta_point to, const struct ta_box *box)
{
    const double left = fmax(from.x, box->left), right = fmin(to.x, box->right);
    if (left > right || to.x <= from.x)
        return false;
    const double slope = (to.y - from.y) / (to.x - from.x);
    return from.y + slope * (right - from.x) < box->bottom &&
           from.y + slope * (left - from.x) > box->top;
}

bool ta_roof_touches(const struct ta_scatter *scatter, const struct ta_box *box)
{
    for (size_t i = 0; i < scatter->n_roofs; i++)
        for (size_t k = 1; k < scatter->roofs[i].n; k++)
            if (piece_touches(scatter->roofs[i].corners[k - 1], scatter->roofs[i].corners[k], box))
                return true;
    return false;
}

/* ---- names --------------------------------------------------------------------------------- */

/* Above the right end of the level; more to the left where another name is. */
static void name_level(struct ta_layout *layout, struct ta_scatter *scatter,
                       const struct ta_roof_line *roof)
{
    const char *value = ta_pen_value(layout, roof->level, scatter->y_unit);
    const char *text = *roof->name ? ta_pen_printf(layout, "%s · %s", roof->name, value) : value;
    const double width = ta_pen_width(layout, TA_FACE_SMALL, text);
    const struct ta_point end = ta_scatter_at(scatter, scatter->x_axis.to, roof->level);
    for (double left = end.x - width - 2; left > scatter->plot.x; left -= width / 2 + NAME_GAP)
        if (ta_scatter_label(layout, scatter, TA_INK_TEXT, left, end.y - RISE, text))
            return;
}

/* Left of the rising part, where no dot can be; the lines of one slope share a name. */
static void name_slope(struct ta_layout *layout, struct ta_scatter *scatter,
                       const struct ta_roof_line *roof)
{
    const struct ta_point from = roof->corners[0], to = roof->corners[1];
    if (roof->n < 2 || to.y >= from.y)
        return;
    const char *text = ta_pen_value(layout, roof->slope, scatter->slope_unit);
    const double width = ta_pen_width(layout, TA_FACE_SMALL, text);
    for (double part = 0.5; part < 0.95; part += 0.1) {
        const double at = from.x + part * (to.x - from.x), up = from.y + part * (to.y - from.y);
        if (ta_scatter_label(layout, scatter, TA_INK_TEXT, at - width - RISE - 4, up - RISE, text))
            return;
    }
}

void ta_roof_name(struct ta_layout *layout, struct ta_scatter *scatter)
{
    for (size_t i = 0; i < scatter->n_roofs; i++) {
        const struct ta_roof_line *roof = &scatter->roofs[i];
        if (roof->level < INFINITY)
            name_level(layout, scatter, roof);
        bool named = roof->slope == INFINITY;
        for (size_t k = 0; k < i; k++)
            named |= scatter->roofs[k].slope == roof->slope;
        if (!named)
            name_slope(layout, scatter, roof);
    }
}
