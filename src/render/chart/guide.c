/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Guides of charts: legend, axes with their grid, and the note of an empty chart. */
#include "render/chart/layout.h"

#include <math.h>

enum { KEY = 9, KEY_GAP = 5, ENTRY_GAP = 16, LEGEND_LINE = 16 };
enum { TICK_LINE = 14, TITLE_LINE = 14 };
enum { MOST_TICKS = 9, LEAST_ROOM = 44, TICK_GAP = 14, LABEL_GAP = 6 };

double ta_guide_legend(struct ta_layout *layout, const struct ta_legend_entry *entries, size_t n,
                       double y)
{
    double x = 0, base = y + 11;
    for (size_t i = 0; i < n; i++) {
        const char *label =
            ta_pen_fit(layout, TA_FACE_SMALL, entries[i].label, layout->width - KEY - KEY_GAP);
        double width = KEY + KEY_GAP + ta_pen_width(layout, TA_FACE_SMALL, label);
        if (x > 0 && x + width > layout->width) {
            x = 0;
            base += LEGEND_LINE;
        }
        const struct ta_legend_entry *entry = &entries[i];
        double middle = base - 3.5;
        switch (entry->kind) {
        case TA_MARK_CIRCLE:
            ta_pen_circle(layout, entry->ink, x + KEY / 2.0, middle, 3, NULL);
            break;
        case TA_MARK_LINE:
            ta_pen_segment(layout, entry->ink, (struct ta_point){x, middle},
                           (struct ta_point){x + KEY, middle}, 2, false);
            break;
        default:
            ta_pen_rect(layout, entry->ink, x, middle - KEY / 2.0, KEY, KEY, NULL);
        }
        ta_pen_text(layout, TA_INK_TEXT, TA_FACE_SMALL, TA_ANCHOR_START, x + KEY + KEY_GAP, base,
                    label, label == entries[i].label ? NULL : entries[i].label);
        x += width + ENTRY_GAP;
    }
    return n ? base + 5 - y : 0;
}

const char *ta_guide_title(struct ta_layout *layout, const char *title, const struct ta_axis *axis)
{
    const char *symbol = ta_axis_symbol(axis);
    return *symbol ? ta_pen_printf(layout, "%s (%s)", title, symbol) : title;
}

double ta_guide_x_height(const char *title)
{
    return TICK_LINE + (*title ? TITLE_LINE : 0) + 3;
}

static const char *tick_label(struct ta_layout *layout, const struct ta_axis *axis, size_t i)
{
    char text[TA_UNIT_TEXT_MAX];
    return ta_pen_printf(layout, "%s", ta_axis_format(text, axis, axis->ticks[i]));
}

struct ta_axis ta_guide_fit(struct ta_layout *layout, double low, double high, enum ta_unit unit,
                            double width)
{
    struct ta_axis axis = {.n_ticks = 0};
    for (size_t want = MOST_TICKS; want > 0; want--) {
        axis = ta_axis_linear(low, high, unit, want, TA_AXIS_TIGHT);
        double room = width / fmax(1, (double)axis.n_ticks - 1), widest = 0;
        for (size_t i = 0; i < axis.n_ticks; i++)
            widest =
                fmax(widest, ta_pen_width(layout, TA_FACE_SMALL, tick_label(layout, &axis, i)));
        if (room >= LEAST_ROOM && room >= widest + TICK_GAP)
            break;
    }
    return axis;
}

void ta_guide_x_grid(struct ta_layout *layout, const struct ta_axis *axis,
                     const struct ta_plot *plot)
{
    for (size_t i = 0; i < axis->n_ticks; i++) {
        double x = ta_plot_x(plot, axis, axis->ticks[i]);
        ta_pen_segment(layout, TA_INK_GRID, (struct ta_point){x, plot->y},
                       (struct ta_point){x, plot->y + plot->h}, 0.75, false);
    }
}

double ta_guide_centered(struct ta_layout *layout, double x, double y, double free_from,
                         const char *label)
{
    double width = ta_pen_width(layout, TA_FACE_SMALL, label);
    double left = fmin(fmax(0, x - width / 2), layout->width - width);
    if (left < free_from)
        return free_from;
    /* Anchored where it belongs, since a page may show another font than was measured. */
    enum ta_anchor anchor = left <= 0                       ? TA_ANCHOR_START
                            : left >= layout->width - width ? TA_ANCHOR_END
                                                            : TA_ANCHOR_MIDDLE;
    double at = anchor == TA_ANCHOR_START ? 0 : anchor == TA_ANCHOR_END ? layout->width : x;
    ta_pen_text(layout, TA_INK_MUTED, TA_FACE_SMALL, anchor, at, y, label, NULL);
    return left + width + LABEL_GAP;
}

void ta_guide_x_labels(struct ta_layout *layout, const struct ta_axis *axis,
                       const struct ta_plot *plot, const char *title)
{
    double bottom = plot->y + plot->h, end = plot->x + plot->w, free_from = 0;
    for (size_t i = 0; i < axis->n_ticks; i++)
        free_from = ta_guide_centered(layout, ta_plot_x(plot, axis, axis->ticks[i]),
                                      bottom + TICK_LINE, free_from, tick_label(layout, axis, i));
    const char *fitting = ta_pen_fit(layout, TA_FACE_SMALL, title, layout->width);
    bool fits = ta_pen_width(layout, TA_FACE_SMALL, fitting) <= end;
    ta_pen_text(layout, TA_INK_MUTED, TA_FACE_SMALL, fits ? TA_ANCHOR_END : TA_ANCHOR_START,
                fits ? end : 0, bottom + TICK_LINE + TITLE_LINE, fitting, NULL);
}

void ta_guide_x_axis(struct ta_layout *layout, const struct ta_axis *axis,
                     const struct ta_plot *plot, const char *title)
{
    ta_guide_x_grid(layout, axis, plot);
    ta_guide_x_labels(layout, axis, plot, title);
}

double ta_guide_y_width(struct ta_layout *layout, const struct ta_axis *axis)
{
    double widest = 0;
    for (size_t i = 0; i < axis->n_ticks; i++)
        widest = fmax(widest, ta_pen_width(layout, TA_FACE_SMALL, tick_label(layout, axis, i)));
    return ceil(widest) + 7;
}

void ta_guide_y_axis(struct ta_layout *layout, const struct ta_axis *axis,
                     const struct ta_plot *plot)
{
    for (size_t i = 0; i < axis->n_ticks; i++) {
        double y = ta_plot_y(plot, axis, axis->ticks[i]);
        ta_pen_segment(layout, TA_INK_GRID, (struct ta_point){plot->x, y},
                       (struct ta_point){plot->x + plot->w, y}, 0.75, false);
        ta_pen_text(layout, TA_INK_MUTED, TA_FACE_SMALL, TA_ANCHOR_END, plot->x - 7, y + 3.5,
                    tick_label(layout, axis, i), NULL);
    }
}

void ta_guide_y_title(struct ta_layout *layout, const char *title, double left, double top)
{
    ta_pen_text(layout, TA_INK_MUTED, TA_FACE_SMALL, TA_ANCHOR_START, left, top - 9,
                ta_pen_fit(layout, TA_FACE_SMALL, title, layout->width - left), NULL);
}

void ta_guide_empty(struct ta_layout *layout)
{
    static const char said[] = "Nothing to draw: no row has a value.";
    layout->marks.n = 0;
    layout->height = 48;
    layout->summary = said;
    ta_pen_text(layout, TA_INK_MUTED, TA_FACE_BODY, TA_ANCHOR_MIDDLE, layout->width / 2, 28,
                ta_pen_fit(layout, TA_FACE_BODY, said, layout->width), NULL);
}
