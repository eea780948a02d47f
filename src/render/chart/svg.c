/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scene as inline SVG for HTML pages, and the style rules it needs. */
#include "render/chart/svg.h"

#include "render/chart/scene.h"
#include "report/words.h"

#include <math.h>

static const char *const face_names[] = {
    [TA_FACE_BODY] = "body", [TA_FACE_SMALL] = "small",   [TA_FACE_TITLE] = "title",
    [TA_FACE_MONO] = "mono", [TA_FACE_STRONG] = "strong",
};

/* Hundredths of a point are below what any screen or printer resolves. */
static void put_number(struct ta_file *out, double value)
{
    char text[TA_UNIT_TEXT_MAX];
    double rounded = round(value * 100) / 100;
    ta_puts(out, ta_number_format(text, rounded == 0 ? 0 : rounded));
}

static void put_attribute(struct ta_file *out, const char *name, double value)
{
    ta_putc(out, ' ');
    ta_puts(out, name);
    ta_puts(out, "=\"");
    put_number(out, value);
    ta_putc(out, '"');
}

static void put_text(struct ta_file *out, const char *text)
{
    ta_put_html(out, ta_slice_of(text));
}

/* Ends a start tag and closes the element, with the tip in between. */
static void put_end(struct ta_file *out, const char *element, const char *tip)
{
    if (!tip) {
        ta_puts(out, "/>\n");
        return;
    }
    ta_puts(out, "><title>");
    put_text(out, tip);
    ta_putf(out, "</title></%s>\n", element);
}

static void put_line(struct ta_file *out, const struct ta_mark *mark)
{
    const struct ta_point *p = mark->line.points;
    bool straight = mark->line.n == 2 && (p[0].x == p[1].x || p[0].y == p[1].y);
    ta_putf(out, "<path class=\"%s ink-%s\" d=\"", mark->line.closed ? "fill" : "line",
            ta_ink_name(mark->ink));

    for (size_t i = 0; i < mark->line.n; i++) {
        ta_putc(out, i ? 'L' : 'M');
        put_number(out, mark->line.points[i].x);
        ta_putc(out, ' ');
        put_number(out, mark->line.points[i].y);
    }
    if (mark->line.closed)
        ta_putc(out, 'Z');

    ta_putc(out, '"');
    if (!mark->line.closed)
        put_attribute(out, "stroke-width", mark->line.width);
    if (mark->line.dashed)
        ta_puts(out, " stroke-dasharray=\"4 3\"");
    if (straight)
        ta_puts(out, " shape-rendering=\"crispEdges\"");
    put_end(out, "path", mark->tip);
}

static void put_label(struct ta_file *out, const struct ta_mark *mark)
{
    static const char *const anchors[] = {
        [TA_ANCHOR_START] = "",
        [TA_ANCHOR_MIDDLE] = " text-anchor=\"middle\"",
        [TA_ANCHOR_END] = " text-anchor=\"end\"",
    };
    bool inside = mark->text.on != TA_INK_NONE;
    ta_putf(out, "<text class=\"fill face-%s %s-%s\"%s", face_names[mark->text.face],
            inside ? "on" : "ink", ta_ink_name(inside ? mark->text.on : mark->ink),
            anchors[mark->text.anchor]);
    put_attribute(out, "x", mark->text.x);
    put_attribute(out, "y", mark->text.y);
    ta_putc(out, '>');
    if (mark->tip) {
        ta_puts(out, "<title>");
        put_text(out, mark->tip);
        ta_puts(out, "</title>");
    }
    put_text(out, mark->text.text);
    ta_puts(out, "</text>\n");
}

static void put_mark(struct ta_file *out, const struct ta_scene *scene, const struct ta_mark *mark)
{
    switch (mark->kind) {
    case TA_MARK_RECT:
        if (ta_ink_hatch(mark->ink) != TA_HATCH_NONE) {
            ta_puts(out, "<rect fill=\"url(#");
            put_text(out, scene->id);
            ta_putf(out, "-%s)\"", ta_ink_name(mark->ink));
        } else {
            ta_putf(out, "<rect class=\"fill ink-%s\"", ta_ink_name(mark->ink));
        }
        put_attribute(out, "x", mark->rect.x);
        put_attribute(out, "y", mark->rect.y);
        put_attribute(out, "width", mark->rect.w);
        put_attribute(out, "height", mark->rect.h);
        put_end(out, "rect", mark->tip);
        break;
    case TA_MARK_LINE:
        put_line(out, mark);
        break;
    case TA_MARK_CIRCLE:
        ta_putf(out, "<circle class=\"fill ink-%s\"", ta_ink_name(mark->ink));
        put_attribute(out, "cx", mark->circle.x);
        put_attribute(out, "cy", mark->circle.y);
        put_attribute(out, "r", mark->circle.r);
        put_end(out, "circle", mark->tip);
        break;
    case TA_MARK_TEXT:
        put_label(out, mark);
        break;
    }
}

/* <title> or <desc>, which aria-labelledby of the <svg> refers to. */
static void put_description(struct ta_file *out, const struct ta_scene *scene, const char *element,
                            const char *text)
{
    ta_putf(out, "<%s id=\"", element);
    put_text(out, scene->id);
    ta_putf(out, "-%s\">", element);
    put_text(out, text);
    ta_putf(out, "</%s>\n", element);
}

/* The hatching of each ink that needs one. */
static void put_patterns(struct ta_file *out, const struct ta_scene *scene)
{
    bool is_used[TA_INK_COUNT] = {false};
    for (size_t i = 0; i < scene->n_marks; i++)
        is_used[scene->marks[i].ink] |= scene->marks[i].kind == TA_MARK_RECT;
    for (int ink = 0; ink < TA_INK_COUNT; ink++) {
        const enum ta_hatch hatch = ta_ink_hatch((enum ta_ink)ink);
        if (!is_used[ink] || hatch == TA_HATCH_NONE)
            continue;
        const char *name = ta_ink_name((enum ta_ink)ink);
        ta_puts(out, "<defs><pattern id=\"");
        put_text(out, scene->id);
        ta_putf(out,
                "-%s\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
                "patternTransform=\"rotate(%d)\"><rect class=\"hatch-ground ink-%s\" "
                "width=\"5\" height=\"5\"/><rect class=\"hatch-line ink-%s\" width=\"1.6\" "
                "height=\"5\"/></pattern></defs>\n",
                name, hatch == TA_HATCH_RISING ? 45 : -45, name, name);
    }
}

void ta_put_svg(struct ta_file *out, const struct ta_scene *scene)
{
    ta_putf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart%s\" role=\"img\" "
            "aria-labelledby=\"",
            scene->is_nested ? " nested" : "");
    put_text(out, scene->id);
    ta_puts(out, "-title ");
    put_text(out, scene->id);
    ta_puts(out, "-desc\" viewBox=\"0 0 ");
    put_number(out, scene->width);
    ta_putc(out, ' ');
    put_number(out, scene->height);
    ta_puts(out, "\" width=\"");
    put_number(out, scene->width);
    ta_puts(out, "pt\" height=\"");
    put_number(out, scene->height);
    ta_puts(out, "pt\">\n");
    put_description(out, scene, "title", scene->title);
    put_description(out, scene, "desc", scene->summary);

    put_patterns(out, scene);
    for (size_t i = 0; i < scene->n_marks; i++)
        put_mark(out, scene, &scene->marks[i]);
    ta_puts(out, "</svg>\n");
}

/* ---- style rules --------------------------------------------------------------------- */

static const char *colors_of_theme(struct ta_arena *arena, bool dark)
{
    const char *text = "";
    for (int ink = 0; ink < TA_INK_COUNT && text; ink++)
        text = ta_arena_printf(
            arena, "%s--ink-%s:#%06x;--on-%s:#%06x;", text, ta_ink_name((enum ta_ink)ink),
            (unsigned)ta_ink_color((enum ta_ink)ink, dark), ta_ink_name((enum ta_ink)ink),
            (unsigned)ta_ink_color_on((enum ta_ink)ink, dark));
    return text;
}

const char *ta_chart_css(struct ta_arena *arena)
{
    const char *light = colors_of_theme(arena, false);
    const char *dark = colors_of_theme(arena, true);
    const char *text = "";
    for (int ink = 0; ink < TA_INK_COUNT && text; ink++) {
        const char *name = ta_ink_name((enum ta_ink)ink);
        text = ta_arena_printf(arena, "%s.ink-%s{color:var(--ink-%s)}.on-%s{color:var(--on-%s)}\n",
                               text, name, name, name, name);
    }
    const char *inks = text;

    if (!light || !dark || !inks)
        return NULL;
    char size[TA_FACE_COUNT][TA_UNIT_TEXT_MAX];
    for (int face = 0; face < TA_FACE_COUNT; face++)
        ta_number_format(size[face], ta_face_size((enum ta_face)face));
    return ta_arena_printf(
        arena,
        ":root{%s}\n"
        "@media (prefers-color-scheme:dark){:root:not([data-theme=\"light\"]){%s}}\n"
        ":root[data-theme=\"dark\"]{%s}\n%s"
        ".chart{max-width:100%%;height:auto;overflow:visible;font-family:sans-serif}\n"
        ".chart .fill,.hatch-ground,.hatch-line{fill:currentColor}\n"
        ".chart .line{fill:none;stroke:currentColor;stroke-linejoin:round}\n"
        ".hatch-ground{fill-opacity:.3}\n"
        ".face-body{font-size:%spx}.face-small{font-size:%spx}\n"
        ".face-title{font-size:%spx;font-weight:bold}\n"
        ".face-mono{font-size:%spx;font-family:monospace}\n"
        ".face-strong{font-size:%spx;font-weight:bold}\n",
        light, dark, dark, inks, size[TA_FACE_BODY], size[TA_FACE_SMALL], size[TA_FACE_TITLE],
        size[TA_FACE_MONO], size[TA_FACE_STRONG]);
}
