/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes as rows: a waterfall, in which each change begins where the one before ends, and a forest
 * plot of relative changes with their intervals.  Both have names at the left, numbers at the right
 * and a line where nothing changes. */
#include "render/chart/layout.h"
#include "report/tables.h"
#include "report/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_PITCH = 22, LEAST_PITCH = 15, MOST_PITCH = 30, GAP = 10, HEAD_LINE = 15, BREAK = 6 };
enum { STEPS_SHOWN = 16, ESTIMATES_SHOWN = 20 };

/* Relative changes beyond are drawn at the edge. */
#define FARTHEST 3.0

struct row {
    const char *name, *number, *tip;
    double from, to; /* of the bar, or the ends of the interval */
    double point;    /* of the estimate; NaN: a bar */
    enum ta_ink ink;
    bool is_total; /* the first and the last row of a waterfall */
};

struct list {
    struct row *rows;
    size_t n;
    enum ta_unit unit; /* of the axis */
    double origin;     /* where the axis and its line begin */
    const char *title, *head;
};

struct frame {
    struct ta_plot plot;
    struct ta_axis axis;
    double pitch;
};

/* How many rows of at most `most` there is room for, next to `others`. */
static size_t rows_for(const struct ta_layout *layout, size_t most, size_t others)
{
    const double around = 80; /* legend, head, axis */
    if (layout->height <= 0)
        return most;
    const double room = (layout->height - around) / LEAST_PITCH - (double)others;
    return room < 2 ? 2 : room < (double)most ? ta_whole_size(room) : most;
}

/* Names of the input have a fixed width, words do not; what is listed is one or the other. */
static enum ta_face face_of(const struct list *list, const struct row *row)
{
    bool is_code = false;
    for (size_t i = 0; i < list->n; i++)
        is_code |= strpbrk(list->rows[i].name, "_<>:/=") != NULL;
    return row->is_total ? TA_FACE_STRONG : is_code ? TA_FACE_MONO : TA_FACE_SMALL;
}

/* ---- the frame ----------------------------------------------------------------------------- */

static double widest(struct ta_layout *layout, const struct list *list, bool names)
{
    double width = names ? 0 : ta_pen_width(layout, TA_FACE_SMALL, list->head);
    for (size_t i = 0; i < list->n; i++)
        width =
            fmax(width, ta_pen_width(layout, names ? face_of(list, &list->rows[i]) : TA_FACE_SMALL,
                                     names ? list->rows[i].name : list->rows[i].number));
    return width;
}

static struct frame place(struct ta_layout *layout, const struct list *list, double top)
{
    struct frame frame;
    const double below = ta_guide_x_height(list->title);
    const double names = fmin(widest(layout, list, true), layout->width * 0.42);
    const double numbers = widest(layout, list, false);
    frame.plot.x = ceil(names) + GAP;
    frame.plot.y = top + HEAD_LINE;
    frame.plot.w = fmax(60, layout->width - frame.plot.x - numbers - 2 * GAP);
    const double free = layout->height - frame.plot.y - below;
    frame.pitch = USUAL_PITCH;
    if (layout->height > 0)
        frame.pitch = fmin(MOST_PITCH, fmax(LEAST_PITCH, floor(free / (double)list->n)));
    frame.plot.h = frame.pitch * (double)list->n;
    const double width = frame.plot.w;
    double low = list->origin, high = list->origin;
    for (size_t i = 0; i < list->n; i++) {
        low = fmin(low, fmin(list->rows[i].from, list->rows[i].to));
        high = fmax(high, fmax(list->rows[i].from, list->rows[i].to));
    }
    frame.axis = ta_guide_fit(layout, low, high, list->unit, width);
    layout->height = frame.plot.y + frame.plot.h + below;
    return frame;
}

static double x_of(const struct frame *frame, double value)
{
    return ta_plot_x(&frame->plot, &frame->axis, value);
}

static void draw_estimate(struct ta_layout *layout, const struct frame *frame,
                          const struct row *row, double middle)
{
    const double from = x_of(frame, row->from), to = x_of(frame, row->to);
    ta_pen_rect(layout, row->ink, from, middle - 1.5, fmax(1, to - from), 3, row->tip);
    ta_pen_circle(layout, TA_INK_NONE, x_of(frame, row->point), middle, 5, NULL);
    ta_pen_circle(layout, row->ink, x_of(frame, row->point), middle, 3.8, row->tip);
}

static void draw(struct ta_layout *layout, const struct list *list, double top)
{
    const struct frame frame = place(layout, list, top);
    ta_guide_x_axis(layout, &frame.axis, &frame.plot,
                    ta_guide_title(layout, list->title, &frame.axis));
    ta_pen_text(layout, TA_INK_MUTED, TA_FACE_SMALL, TA_ANCHOR_END, layout->width, frame.plot.y - 5,
                list->head, NULL);
    const double zero = x_of(&frame, list->origin), end = frame.plot.y + frame.plot.h;
    ta_pen_segment(layout, TA_INK_MUTED, (struct ta_point){zero, frame.plot.y},
                   (struct ta_point){zero, end}, 1, false);
    for (size_t i = 0; i < list->n; i++) {
        const struct row *row = &list->rows[i];
        const double middle = frame.plot.y + frame.pitch * ((double)i + 0.5);
        if (!isnan(row->point))
            draw_estimate(layout, &frame, row, middle);
        else if (row->from != row->to) {
            const double thickness = floor(frame.pitch * 0.64);
            const double from = x_of(&frame, fmin(row->from, row->to));
            const double to = x_of(&frame, fmax(row->from, row->to));
            ta_pen_rect(layout, row->ink, from, middle - thickness / 2, fmax(1, to - from),
                        thickness, row->tip);
            if (row->is_total && list->origin > 0) /* it is longer than the axis */
                ta_pen_rect(layout, TA_INK_NONE, from + BREAK, middle - thickness / 2, BREAK / 2.0,
                            thickness, NULL);
        }
        if (isnan(row->point) && i + 1 < list->n) /* to where the next one begins */
            ta_pen_segment(layout, TA_INK_MUTED, (struct ta_point){x_of(&frame, row->to), middle},
                           (struct ta_point){x_of(&frame, row->to), middle + frame.pitch}, 0.7,
                           true);
        const double base = middle + 3.2;
        const enum ta_face face = face_of(list, row);
        ta_pen_text(layout, TA_INK_TEXT, face, TA_ANCHOR_END, frame.plot.x - GAP, base,
                    ta_pen_fit(layout, face, row->name, frame.plot.x - GAP), row->tip);
        ta_pen_text(layout, TA_INK_TEXT, row->is_total ? TA_FACE_STRONG : TA_FACE_SMALL,
                    TA_ANCHOR_END, layout->width, base, row->number, NULL);
    }
}

/* Which way is better, by the row or by the column. */
static bool is_worse(const struct ta_layout *layout, size_t row, size_t column, double change)
{
    return (change > 0) != ta_table_rises(layout->table, row, column);
}

/* Of what the rows are. */
static double draw_legend(struct ta_layout *layout, const struct list *list)
{
    static const struct ta_legend_entry all[] = {
        {TA_INK_WORSE, TA_MARK_RECT, "worse"},
        {TA_INK_BETTER, TA_MARK_RECT, "better"},
        {TA_INK_MUTED, TA_MARK_RECT, "may be no change"},
    };
    enum { ALL = sizeof all / sizeof *all };
    struct ta_legend_entry entries[ALL];
    size_t n = 0;
    for (size_t k = 0; k < ALL; k++) {
        bool is_used = false;
        for (size_t i = 0; i < list->n; i++)
            is_used |= list->rows[i].ink == all[k].ink && !list->rows[i].is_total;
        if (is_used)
            entries[n++] = all[k];
    }
    return ta_guide_legend(layout, entries, n, 0);
}

/* ---- waterfall ------------------------------------------------------------------------------- */

struct fall {
    size_t base, new, delta; /* columns */
    double before, after, sum, drawn;
    double origin; /* where the axis begins */
};

/* Both totals are told in one unit, and drawn on one scale. */
static struct row total_row(struct ta_layout *layout, const struct fall *fall, const char *name,
                            double value, double other)
{
    char text[TA_UNIT_TEXT_MAX];
    const enum ta_unit unit = ta_data_unit(layout, fall->base);
    const char *number =
        ta_pen_printf(layout, "%s", ta_unit_format_compared(text, value, other, unit));
    return (struct row){
        .name = name,
        .number = number,
        .tip = ta_pen_printf(layout, "%s · %s", name, number),
        .from = fall->origin,
        .to = value,
        .point = (double)NAN,
        .ink = TA_INK_MUTED,
        .is_total = true,
    };
}

static struct row step_row(struct ta_layout *layout, const struct fall *fall, const char *name,
                           double from, double change, bool worse)
{
    const char *number = ta_pen_value(layout, change, ta_data_unit(layout, fall->delta));
    return (struct row){
        .name = name,
        .number = number,
        .tip = ta_pen_printf(layout, "%s · %s", name, number),
        .from = from,
        .to = from + change,
        .point = (double)NAN,
        .ink = worse ? TA_INK_WORSE : TA_INK_BETTER,
    };
}

/* How many of the rows changed at all, and between what the steps go up and down. */
static size_t count_steps(struct ta_layout *layout, const struct fall *fall, double *low,
                          double *high)
{
    size_t n = 0;
    double at = fall->before;
    *low = fmin(fall->before, fall->after);
    *high = fmax(fall->before, fall->after);
    for (size_t i = 0; i < layout->table->n_rows; i++) {
        const double change = ta_data_value(layout, i, fall->delta);
        n += !isnan(change) && change != 0;
        at += isnan(change) ? 0 : change;
        *low = fmin(*low, at);
        *high = fmax(*high, at);
    }
    return n;
}

/* Steps that are small against the totals could not be seen on an axis from zero. */
static double origin_of(double low, double high)
{
    static const double small = 0.2, around = 0.5;
    const double range = high - low;
    return low > 0 && range > 0 && range < small * high ? fmax(0, low - around * range) : 0;
}

static double at_row(struct ta_layout *layout, const struct fall *fall, size_t row)
{
    const double change = ta_data_value(layout, row, fall->delta);
    return isnan(change) ? 0 : change;
}

/* How many steps are drawn: so many, and then those that are smaller than all others together. */
static size_t choose_shown(struct ta_layout *layout, const struct fall *fall, size_t n, size_t want)
{
    double rest = fall->sum;
    size_t shown = 0;
    for (size_t i = 0; i < layout->table->n_rows && shown < n && shown < STEPS_SHOWN; i++) {
        const double change = at_row(layout, fall, i);
        if (change == 0)
            continue;
        rest -= change;
        if (++shown >= want && fabs(rest) <= fabs(change))
            break;
    }
    return shown + 1 == n ? n : shown; /* one alone has its name */
}

static void read_steps(struct ta_layout *layout, struct fall *fall, struct list *list)
{
    double low, high;
    const size_t n = count_steps(layout, fall, &low, &high);
    const size_t shown = choose_shown(layout, fall, n, rows_for(layout, STEPS_SHOWN, 3));
    fall->drawn = fall->before;
    list->origin = fall->origin = origin_of(low, high);
    list->rows[list->n++] = total_row(layout, fall, "Before", fall->before, fall->after);
    for (size_t i = 0; i < layout->table->n_rows && list->n <= shown; i++) {
        const double change = ta_data_value(layout, i, fall->delta);
        if (isnan(change) || change == 0)
            continue;
        list->rows[list->n++] =
            step_row(layout, fall, ta_data_name(layout, i, SIZE_MAX), fall->drawn, change,
                     is_worse(layout, i, fall->delta, change));
        fall->drawn += change;
    }
    if (shown < n)
        list->rows[list->n++] = step_row(
            layout, fall,
            ta_pen_printf(layout, "%zu %s", n - shown, n - shown == 1 ? "other" : "others"),
            fall->drawn, fall->after - fall->drawn,
            is_worse(layout, 0, fall->delta, fall->after - fall->drawn));
    list->rows[list->n++] = total_row(layout, fall, "After", fall->after, fall->before);
}

void ta_lay_waterfall(struct ta_layout *layout)
{
    const struct ta_chart *chart = layout->chart;
    struct fall fall = {.base = ta_data_column(layout, chart->y[0].column),
                        .new = ta_data_column(layout, chart->y[1].column),
                        .delta = ta_data_column(layout, chart->y[2].column)};
    struct list list = {.rows = calloc(STEPS_SHOWN + 4, sizeof *list.rows),
                        .unit = ta_data_unit(layout, fall.base),
                        .head = "Total, change"};
    for (size_t i = 0; i < layout->table->n_rows; i++) {
        fall.before += fmax(0, ta_data_value(layout, i, fall.base));
        fall.after += fmax(0, ta_data_value(layout, i, fall.new));
    }
    fall.sum = fall.after - fall.before;
    if (!list.rows) {
        layout->failed = true;
    } else if (!(fall.before > 0 || fall.after > 0)) {
        ta_guide_empty(layout);
    } else {
        read_steps(layout, &fall, &list);
        list.title = list.origin > 0 ? "Time; the axis does not begin at 0" : "Time";
        layout->summary =
            ta_pen_printf(layout, "From %s to %s (%s); the largest change is that of %s with %s.",
                          list.rows[0].number, list.rows[list.n - 1].number,
                          ta_pen_value(layout, fall.sum, ta_data_unit(layout, fall.delta)),
                          ta_data_name(layout, 0, SIZE_MAX),
                          ta_pen_value(layout, ta_data_value(layout, 0, fall.delta),
                                       ta_data_unit(layout, fall.delta)));
        draw(layout, &list, draw_legend(layout, &list));
    }
    free(list.rows);
}

/* ---- forest ---------------------------------------------------------------------------------- */

static double near_edge(double ratio)
{
    return fmin(ratio - 1, FARTHEST);
}

/* False for a row without an interval, or that did not change at all. */
static bool read_estimate(struct ta_layout *layout, size_t at, const size_t columns[3],
                          struct row *row)
{
    const double ratio = ta_data_value(layout, at, columns[0]);
    const double low = ta_data_value(layout, at, columns[1]);
    const double high = ta_data_value(layout, at, columns[2]);
    if (isnan(ratio) || isnan(low) || isnan(high) || (low == 1 && high == 1))
        return false;
    const bool sure = low > 1 || high < 1;
    const bool worse = is_worse(layout, at, columns[0], ratio - 1);
    const char *name = ta_data_name(layout, at, SIZE_MAX);
    const char *number = ta_pen_value(layout, ratio - 1, TA_UNIT_RATIO_CHANGE);
    *row = (struct row){
        .name = name,
        .number = number,
        .tip = ta_pen_printf(layout, "%s · %s (%s … %s)", name, number,
                             ta_pen_value(layout, low - 1, TA_UNIT_RATIO_CHANGE),
                             ta_pen_value(layout, high - 1, TA_UNIT_RATIO_CHANGE)),
        .from = near_edge(low),
        .to = near_edge(high),
        .point = near_edge(ratio),
        .ink = !sure   ? TA_INK_MUTED
               : worse ? TA_INK_WORSE
                       : TA_INK_BETTER,
    };
    return true;
}

void ta_lay_forest(struct ta_layout *layout)
{
    const struct ta_chart *chart = layout->chart;
    const size_t columns[] = {ta_data_column(layout, chart->y[0].column),
                              ta_data_column(layout, chart->y[1].column),
                              ta_data_column(layout, chart->y[2].column)};
    struct list list = {.rows = calloc(ESTIMATES_SHOWN, sizeof *list.rows),
                        .unit = TA_UNIT_RATIO,
                        .title = "Relative change",
                        .head = "Change"};
    size_t with = 0, most = rows_for(layout, ESTIMATES_SHOWN, 0);
    for (size_t i = 0; list.rows && i < layout->table->n_rows; i++) {
        struct row row;
        if (!read_estimate(layout, i, columns, &row))
            continue;
        with++;
        if (list.n < most)
            list.rows[list.n++] = row;
    }
    if (!list.rows) {
        layout->failed = true;
    } else if (list.n == 0) {
        ta_guide_empty(layout);
    } else {
        size_t worse = 0, better = 0;
        for (size_t i = 0; i < list.n; i++) {
            worse += list.rows[i].ink == TA_INK_WORSE;
            better += list.rows[i].ink == TA_INK_BETTER;
        }
        layout->summary = ta_pen_printf(
            layout, "Of %zu changes that are drawn %zu are worse, %zu better, %zu may be none.",
            list.n, worse, better, list.n - worse - better);
        layout->note =
            ta_pen_printf(layout, "%zu of %zu with an interval are drawn.", list.n, with);
        draw(layout, &list, draw_legend(layout, &list));
    }
    free(list.rows);
}
