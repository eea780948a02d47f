/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Widths of texts on Pango: the fonts, and what every thread measures with.
 *
 * Laying a line out means finding scripts, directions and fonts in it and where it may be broken,
 * three times the work of adding its letters up.  Nearly all lines of charts have letters of one
 * font, script and direction.  So a line of such letters is laid out once per face, and others are
 * only shaped as that was. */
#include "render/chart/measure.h"
#include "render/chart/scene.h"

#include <fontconfig/fontconfig.h>
#include <pthread.h>
#include <stdlib.h>

/* Lines with letters have the script of these; those without have none. */
enum pattern { WITH_LETTERS, WITHOUT_LETTERS, PATTERNS };

/* What is no ASCII and still of no script of its own. */
#define MARKS "…·→µ×–\u00a0"
#define NO_LETTERS " !\"#$%&'()*+,-./0123456789:;<=>?@[\\]^_`{|}~" MARKS

static const char *const patterns[PATTERNS] = {
    [WITH_LETTERS] = NO_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    [WITHOUT_LETTERS] = NO_LETTERS,
};

struct type {
    struct ta_measure measure; /* first: what others see of it */
    PangoContext *context;
    PangoGlyphString *glyphs;
    PangoLayout *layouts[TA_FACE_COUNT];
    struct template
    {
        bool is_known;
        PangoItem *item; /* NULL: no one font has all letters */
    }
    templates[TA_FACE_COUNT][PATTERNS];
};

/* ---- fonts --------------------------------------------------------------------------------- */

/* Fontconfig keeps one configuration for the process, and so its loading is a matter of it, too. */
static pthread_once_t fonts_once = PTHREAD_ONCE_INIT;
static bool has_fonts;

static void load_fonts(void)
{
    FcConfig *config = FcInitLoadConfigAndFonts();
    if (!config)
        return;
    has_fonts = FcConfigSetCurrent(config);
    FcConfigDestroy(config);
}

bool ta_draw_start(void)
{
    return pthread_once(&fonts_once, load_fonts) == 0 && has_fonts;
}

void ta_draw_prepare(PangoContext *context)
{
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    pango_cairo_context_set_font_options(context, options);
    pango_cairo_context_set_resolution(context, 72);
    /* Advances rounded to whole points would squeeze small type and differ from a browser's. */
    pango_context_set_round_glyph_positions(context, FALSE);
    cairo_font_options_destroy(options);
}

PangoFontDescription *ta_face_font(enum ta_face face)
{
    PangoFontDescription *font = pango_font_description_new();
    pango_font_description_set_family_static(font, face == TA_FACE_MONO ? "monospace" : "sans");
    bool bold = face == TA_FACE_TITLE || face == TA_FACE_STRONG;
    pango_font_description_set_weight(font, bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
    pango_font_description_set_size(font, ta_whole_int(ta_face_size(face) * PANGO_SCALE));
    return font;
}

/* ---- widths -------------------------------------------------------------------------------- */

/* How Pango takes a line of such letters, if it is one piece. */
static PangoItem *find_item(PangoLayout *layout, const char *pattern)
{
    pango_layout_set_text(layout, pattern, -1);
    const PangoLayoutLine *line = pango_layout_get_line_readonly(layout, 0);
    if (!line || !line->runs || line->runs->next)
        return NULL;
    const PangoLayoutRun *run = line->runs->data;
    return pango_glyph_string_get_width(run->glyphs) > 0 ? pango_item_copy(run->item) : NULL;
}

/* Bytes of the mark of MARKS that a text begins with, or 0. */
static size_t mark_length(const char *text)
{
    for (const char *mark = MARKS, *next; *mark; mark = next) {
        next = g_utf8_next_char(mark);
        if (strncmp(text, mark, (size_t)(next - mark)) == 0)
            return (size_t)(next - mark);
    }
    return 0;
}

/* The pattern whose letters a line has; PATTERNS: it has others. */
static enum pattern pattern_of(const char *line)
{
    enum pattern pattern = WITHOUT_LETTERS;
    for (const char *at = line; *at;) {
        const bool is_ascii = *at >= ' ' && *at <= '~';
        const size_t n = is_ascii ? 1 : mark_length(at);
        if (n == 0)
            return PATTERNS;
        if (is_ascii && ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z')))
            pattern = WITH_LETTERS;
        at += n;
    }
    return pattern;
}

/* What Pango finds in a line of such letters. */
static PangoItem *item_of(struct type *type, enum ta_face face, enum pattern pattern)
{
    struct template *template = &type->templates[face][pattern];
    if (!template->is_known)
        template->item = find_item(type->layouts[face], patterns[pattern]);
    template->is_known = true;
    return template->item;
}

static double width(struct ta_measure *measure, enum ta_face face, const char *line)
{
    struct type *type = (struct type *)measure;
    const enum pattern pattern = pattern_of(line);
    PangoItem *item = pattern == PATTERNS ? NULL : item_of(type, face, pattern);
    int units = 0;
    if (item) {
        pango_shape(line, (int)strlen(line), &item->analysis, type->glyphs);
        units = pango_glyph_string_get_width(type->glyphs);
    } else {
        pango_layout_set_text(type->layouts[face], line, -1);
        pango_layout_get_size(type->layouts[face], &units, NULL);
    }
    return (double)units / PANGO_SCALE;
}

/* ---- what a thread measures with ----------------------------------------------------------- */

void ta_measure_free(struct ta_measure *measure)
{
    struct type *type = (struct type *)measure;
    if (!type)
        return;
    for (int face = 0; face < TA_FACE_COUNT; face++) {
        for (int i = 0; i < PATTERNS; i++)
            pango_item_free(type->templates[face][i].item);
        g_object_unref(type->layouts[face]);
    }
    pango_glyph_string_free(type->glyphs);
    g_object_unref(type->context);
    free(type);
}

struct ta_measure *ta_measure_new(void)
{
    struct type *type = ta_draw_start() ? calloc(1, sizeof *type) : NULL;
    if (type) {
        type->measure.width = width;
        type->context = pango_font_map_create_context(pango_cairo_font_map_get_default());
        type->glyphs = pango_glyph_string_new();
        ta_draw_prepare(type->context);
        for (int face = 0; face < TA_FACE_COUNT; face++) {
            PangoFontDescription *font = ta_face_font((enum ta_face)face);
            PangoLayout *layout = type->layouts[face] = pango_layout_new(type->context);
            pango_layout_set_font_description(layout, font);
            pango_layout_set_single_paragraph_mode(layout, TRUE);
            pango_font_description_free(font);
        }
    }
    return type ? &type->measure : NULL;
}
