/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenes drawn with Cairo and Pango. */
#include "render/chart/draw.h"
#include "render/chart/measure.h"
#include "render/chart/scene.h"

#include <math.h>

/* Hatching of idle time: lines of this width and distance over a ground of this strength. */
#define HATCH_LINE 1.1
#define HATCH_STEP 5.0
#define HATCH_GROUND 0.3

void ta_draw_color(cairo_t *cr, uint32_t color)
{
    cairo_set_source_rgb(cr, (color >> 16 & 0xff) / 255.0, (color >> 8 & 0xff) / 255.0,
                         (color & 0xff) / 255.0);
}

static void draw_hatched(cairo_t *cr, const struct ta_mark *mark, bool dark)
{
    double x = mark->rect.x, y = mark->rect.y, w = mark->rect.w, h = mark->rect.h;
    const uint32_t color = ta_ink_color(mark->ink, dark);
    const bool falls = ta_ink_hatch(mark->ink) == TA_HATCH_FALLING;
    cairo_save(cr);
    cairo_rectangle(cr, x, y, w, h);
    cairo_clip(cr);

    /* The ground is mixed with the paper, so that the vector formats need no transparency. */
    const uint32_t paper = ta_ink_color(TA_INK_NONE, dark);
    double mix[3];
    for (int i = 0; i < 3; i++) {
        int shift = 16 - 8 * i;
        mix[i] = ((color >> shift & 0xff) * HATCH_GROUND +
                  (paper >> shift & 0xff) * (1 - HATCH_GROUND)) /
                 255.0;
    }
    cairo_set_source_rgb(cr, mix[0], mix[1], mix[2]);
    cairo_paint(cr);
    ta_draw_color(cr, color);
    cairo_set_line_width(cr, HATCH_LINE);
    /* One pattern for the whole scene: lines x ± y = k × step, wherever the bar begins. */
    const double way = falls ? -1 : 1, from = fmin(way * y, way * (y + h));
    const long first = ta_whole(floor((x + from) / HATCH_STEP));
    const long end = ta_whole(ceil((x + w + from + h) / HATCH_STEP));
    for (long k = first; k < end; k++) {
        const double sum = (double)k * HATCH_STEP;
        cairo_move_to(cr, sum - way * (y - 1), y - 1);
        cairo_line_to(cr, sum - way * (y + h + 1), y + h + 1);
    }
    cairo_stroke(cr);
    cairo_restore(cr);
}

static void draw_rect(cairo_t *cr, const struct ta_mark *mark, bool dark)
{
    if (ta_ink_hatch(mark->ink) != TA_HATCH_NONE) {
        draw_hatched(cr, mark, dark);
        return;
    }
    cairo_rectangle(cr, mark->rect.x, mark->rect.y, mark->rect.w, mark->rect.h);
    ta_draw_color(cr, ta_ink_color(mark->ink, dark));
    cairo_fill(cr);
}

/* On a raster a thin straight line is moved to the middle of a row of pixels. */
static void snap(cairo_t *cr, struct ta_point *from, struct ta_point *to)
{
    double px = from->x, py = from->y, qx = to->x, qy = to->y;
    cairo_user_to_device(cr, &px, &py);
    cairo_user_to_device(cr, &qx, &qy);
    if (from->x == to->x)
        px = qx = floor(px) + 0.5;
    if (from->y == to->y)
        py = qy = floor(py) + 0.5;
    cairo_device_to_user(cr, &px, &py);
    cairo_device_to_user(cr, &qx, &qy);
    *from = (struct ta_point){px, py};
    *to = (struct ta_point){qx, qy};
}

static void draw_line(cairo_t *cr, const struct ta_mark *mark, bool dark)
{
    const struct ta_point *p = mark->line.points;
    bool raster = cairo_surface_get_type(cairo_get_target(cr)) == CAIRO_SURFACE_TYPE_IMAGE;
    bool straight = mark->line.n == 2 && (p[0].x == p[1].x || p[0].y == p[1].y);
    if (raster && straight) {
        struct ta_point from = p[0], to = p[1];
        snap(cr, &from, &to);
        cairo_move_to(cr, from.x, from.y);
        cairo_line_to(cr, to.x, to.y);
    } else {
        for (size_t i = 0; i < mark->line.n; i++)
            cairo_line_to(cr, p[i].x, p[i].y);
    }
    ta_draw_color(cr, ta_ink_color(mark->ink, dark));
    if (mark->line.closed) {
        cairo_close_path(cr);
        cairo_fill(cr);
        return;
    }
    static const double dashes[] = {4, 3};
    cairo_set_dash(cr, dashes, mark->line.dashed ? 2 : 0, 0);
    cairo_set_line_width(cr, mark->line.width);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(cr);
}

static void draw_text(cairo_t *cr, PangoLayout *const *layouts, const struct ta_mark *mark,
                      bool dark)
{
    PangoLayout *layout = layouts[mark->text.face];
    int width = 0;
    pango_layout_set_text(layout, mark->text.text, -1);
    pango_layout_get_size(layout, &width, NULL);
    double share = mark->text.anchor == TA_ANCHOR_START    ? 0
                   : mark->text.anchor == TA_ANCHOR_MIDDLE ? 0.5
                                                           : 1;
    double base = (double)pango_layout_get_baseline(layout) / PANGO_SCALE;
    cairo_move_to(cr, mark->text.x - share * width / PANGO_SCALE, mark->text.y - base);
    ta_draw_color(cr, mark->text.on != TA_INK_NONE ? ta_ink_color_on(mark->text.on, dark)
                                                   : ta_ink_color(mark->ink, dark));
    pango_cairo_show_layout(cr, layout);
}

void ta_scene_draw(const struct ta_scene *scene, cairo_t *cr, bool dark)
{
    PangoLayout *layouts[TA_FACE_COUNT];
    cairo_save(cr);
    for (int face = 0; face < TA_FACE_COUNT; face++) {
        PangoFontDescription *font = ta_face_font((enum ta_face)face);
        layouts[face] = pango_cairo_create_layout(cr);
        ta_draw_prepare(pango_layout_get_context(layouts[face]));
        pango_layout_set_font_description(layouts[face], font);
        pango_layout_set_single_paragraph_mode(layouts[face], TRUE);
        pango_font_description_free(font);
    }
    for (size_t i = 0; i < scene->n_marks; i++) {
        const struct ta_mark *mark = &scene->marks[i];
        cairo_new_path(cr);
        switch (mark->kind) {
        case TA_MARK_RECT:
            draw_rect(cr, mark, dark);
            break;
        case TA_MARK_LINE:
            draw_line(cr, mark, dark);
            break;
        case TA_MARK_CIRCLE:
            cairo_new_sub_path(cr);
            cairo_arc(cr, mark->circle.x, mark->circle.y, mark->circle.r, 0, 2 * G_PI);
            ta_draw_color(cr, ta_ink_color(mark->ink, dark));
            cairo_fill(cr);
            break;
        case TA_MARK_TEXT:
            draw_text(cr, layouts, mark, dark);
            break;
        }
    }
    for (int face = 0; face < TA_FACE_COUNT; face++)
        g_object_unref(layouts[face]);
    cairo_restore(cr);
}
