/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pen: collects the marks of a scene. */
#include "render/chart/layout.h"
#include "render/chart/scene.h"

#include <math.h>
#include <stdarg.h>

/* U+00A0, a space that does not break. */
#define NBSP "\xc2\xa0"

static void add(struct ta_layout *layout, struct ta_mark mark)
{
    if (!ta_vec_push(&layout->marks, mark))
        layout->failed = true;
}

void ta_pen_rect(struct ta_layout *layout, enum ta_ink ink, double x, double y, double w, double h,
                 const char *tip)
{
    if (w > 0 && h > 0)
        add(layout,
            (struct ta_mark){.kind = TA_MARK_RECT, .ink = ink, .rect = {x, y, w, h}, .tip = tip});
}

void ta_pen_line(struct ta_layout *layout, enum ta_ink ink, const struct ta_point *points, size_t n,
                 double width, const char *tip)
{
    add(layout, (struct ta_mark){.kind = TA_MARK_LINE,
                                 .ink = ink,
                                 .line = {.points = points, .n = n, .width = width},
                                 .tip = tip});
}

void ta_pen_area(struct ta_layout *layout, enum ta_ink ink, const struct ta_point *points, size_t n,
                 const char *tip)
{
    add(layout, (struct ta_mark){.kind = TA_MARK_LINE,
                                 .ink = ink,
                                 .tip = tip,
                                 .line = {.points = points, .n = n, .closed = true}});
}

void ta_pen_segment(struct ta_layout *layout, enum ta_ink ink, struct ta_point from,
                    struct ta_point to, double width, bool dashed)
{
    struct ta_point *points = ta_arena_alloc(layout->arena, 2 * sizeof *points);
    if (!points)
        return;
    points[0] = from;
    points[1] = to;
    add(layout,
        (struct ta_mark){.kind = TA_MARK_LINE,
                         .ink = ink,
                         .line = {.points = points, .n = 2, .width = width, .dashed = dashed}});
}

void ta_pen_circle(struct ta_layout *layout, enum ta_ink ink, double x, double y, double r,
                   const char *tip)
{
    add(layout,
        (struct ta_mark){.kind = TA_MARK_CIRCLE, .ink = ink, .circle = {x, y, r}, .tip = tip});
}

void ta_pen_text(struct ta_layout *layout, enum ta_ink ink, enum ta_face face,
                 enum ta_anchor anchor, double x, double y, const char *text, const char *tip)
{
    if (text && *text)
        add(layout,
            (struct ta_mark){.kind = TA_MARK_TEXT,
                             .ink = ink,
                             .text = {.x = x, .y = y, .anchor = anchor, .face = face, .text = text},
                             .tip = tip});
}

void ta_pen_text_on(struct ta_layout *layout, enum ta_ink on, enum ta_face face,
                    enum ta_anchor anchor, double x, double y, const char *text)
{
    size_t before = layout->marks.n;
    ta_pen_text(layout, TA_INK_TEXT, face, anchor, x, y, text, NULL);
    if (layout->marks.n > before)
        layout->marks.at[before].text.on = on;
}

void ta_pen_text_in(struct ta_layout *layout, enum ta_ink ink, double x, double y, double w,
                    double h, const char *text)
{
    const double base = y + h / 2 + 3.4, inset = h >= 14 ? fmax(1.5, (h - 15) / 2) : 0.5;
    if (ta_ink_hatch(ink) == TA_HATCH_NONE) {
        ta_pen_text_on(layout, ink, TA_FACE_SMALL, TA_ANCHOR_MIDDLE, x + w / 2, base, text);
        return;
    }
    const double paper = fmin(w, ta_pen_width(layout, TA_FACE_SMALL, text) + 6);
    ta_pen_rect(layout, TA_INK_NONE, x + (w - paper) / 2, y + inset, paper, h - 2 * inset, NULL);
    ta_pen_text(layout, TA_INK_TEXT, TA_FACE_SMALL, TA_ANCHOR_MIDDLE, x + w / 2, base, text, NULL);
}

const char *ta_pen_printf(struct ta_layout *layout, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = ta_arena_vprintf(layout->arena, format, args);
    va_end(args);
    return text ? text : "";
}

const char *ta_pen_value(struct ta_layout *layout, double value, enum ta_unit unit)
{
    char text[TA_UNIT_TEXT_MAX];
    return ta_pen_printf(layout, "%s", ta_unit_format(text, value, unit));
}

const char *ta_pen_sample(struct ta_layout *layout, size_t n, size_t missing)
{
    const char *all = ta_pen_value(layout, (double)n, TA_UNIT_COUNT);
    if (missing == 0)
        return ta_pen_printf(layout, "n" NBSP "=" NBSP "%s", all);
    return ta_pen_printf(layout, "n" NBSP "=" NBSP "%s, %s without a value", all,
                         ta_pen_value(layout, (double)missing, TA_UNIT_COUNT));
}

double ta_pen_width(const struct ta_layout *layout, enum ta_face face, const char *text)
{
    return ta_measure_width(layout->measure, face, text);
}

const char *ta_pen_fit(const struct ta_layout *layout, enum ta_face face, const char *text,
                       double width)
{
    return ta_measure_fit(layout->measure, layout->arena, face, text, width);
}
