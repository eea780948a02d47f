/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Type in the PDF report: styles, single lines, paragraphs, headings. */
#include "pdf.h"

#include "report/short_name.h"

#include <math.h>
#include <stdarg.h>

/* Lines of a paragraph that may not stand alone at the foot or the top of a page. */
enum { WIDOW_LINES = 2 };

struct type {
    double size;
    bool bold, mono;
};

static const struct type types[PDF_STYLE_COUNT] = {
    [PDF_TITLE] = {20, true, false},  [PDF_H1] = {14, true, false},
    [PDF_H2] = {10.5, true, false},   [PDF_FIGURE] = {15, true, false},
    [PDF_LEAD] = {12, false, false},  [PDF_BODY] = {9.5, false, false},
    [PDF_SMALL] = {8, false, false},  [PDF_LABEL] = {8, true, false},
    [PDF_CELL] = {7.5, false, false}, [PDF_HEAD] = {7.5, true, false},
    [PDF_MONO] = {7, false, true},    [PDF_NOTE] = {7, false, false},
};

double pdf_style_size(enum pdf_style style)
{
    return types[style].size;
}

PangoLayout *pdf_layout(const struct pdf *pdf, enum pdf_style style, const char *text, double width)
{
    const struct type *type = &types[style];
    PangoLayout *layout = pango_layout_new(pdf->context);
    PangoFontDescription *font = pango_font_description_new();
    pango_font_description_set_family_static(font, type->mono ? "monospace" : "sans");
    pango_font_description_set_weight(font, type->bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
    pango_font_description_set_size(font, ta_whole_int(type->size * PANGO_SCALE));
    pango_layout_set_font_description(layout, font);
    pango_font_description_free(font);
    pango_layout_set_text(layout, text, -1);
    if (width >= 0) {
        pango_layout_set_width(layout, ta_whole_int(width * PANGO_SCALE));
        pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
    }
    return layout;
}

double pdf_layout_height(PangoLayout *layout)
{
    int height = 0;
    pango_layout_get_size(layout, NULL, &height);
    return (double)height / PANGO_SCALE;
}

double pdf_layout_width(PangoLayout *layout)
{
    int width = 0;
    pango_layout_get_size(layout, &width, NULL);
    return (double)width / PANGO_SCALE;
}

void pdf_show(const struct pdf *pdf, PangoLayout *layout, enum ta_ink ink, double x, double y)
{
    if (!pdf->drawing)
        return;
    ta_draw_color(pdf->cr, ta_ink_color(ink, false));
    cairo_move_to(pdf->cr, x, y);
    pango_cairo_show_layout(pdf->cr, layout);
}

double pdf_text(const struct pdf *pdf, const char *tag, enum pdf_style style, enum ta_ink ink,
                const char *text, double x, double y, double width)
{
    PangoLayout *layout = pdf_layout(pdf, style, text, width);
    const double height = pdf_layout_height(layout);
    if (tag)
        pdf_tag(pdf, tag);
    pdf_show(pdf, layout, ink, x, y);
    if (tag)
        pdf_untag(pdf, tag);
    g_object_unref(layout);
    return height;
}

double pdf_line(const struct pdf *pdf, enum pdf_style style, enum ta_ink ink, const char *text,
                double x, double y, double width)
{
    PangoLayout *layout = pdf_layout(pdf, style, text, -1);
    if (pdf_layout_width(layout) > width) {
        pango_layout_set_width(layout, ta_whole_int(width * PANGO_SCALE));
        pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_MIDDLE);
    }
    double used = pdf_layout_width(layout);
    pdf_show(pdf, layout, ink, x, y);
    g_object_unref(layout);
    return used;
}

void pdf_line_right(const struct pdf *pdf, enum pdf_style style, enum ta_ink ink, const char *text,
                    double right, double y)
{
    pdf_line(pdf, style, ink, text, right - pdf_text_width(pdf, style, text), y, INFINITY);
}

double pdf_text_width(const struct pdf *pdf, enum pdf_style style, const char *text)
{
    PangoLayout *layout = pdf_layout(pdf, style, text, -1);
    double width = pdf_layout_width(layout);
    g_object_unref(layout);
    return width;
}

/* Lines [first, end) of a layout at the present place. */
static void show_lines(struct pdf *pdf, PangoLayout *layout, enum ta_ink ink, int first, int end)
{
    PangoLayoutIter *at = pango_layout_get_iter(layout);
    double above = 0, below = 0;
    for (int line = 0; line < end; line++) {
        PangoRectangle box;
        pango_layout_iter_get_line_extents(at, NULL, &box);
        double top = (double)box.y / PANGO_SCALE;
        above = line == first ? top : above;
        below = top + (double)box.height / PANGO_SCALE;
        if (line >= first && pdf->drawing) {
            double base = (double)pango_layout_iter_get_baseline(at) / PANGO_SCALE;
            ta_draw_color(pdf->cr, ta_ink_color(ink, false));
            cairo_move_to(pdf->cr, pdf->left, pdf->y + base - above);
            pango_cairo_show_layout_line(pdf->cr, pango_layout_iter_get_line_readonly(at));
        }
        pango_layout_iter_next_line(at);
    }
    pango_layout_iter_free(at);
    pdf->y += below - above;
}

void pdf_paragraph(struct pdf *pdf, enum pdf_style style, enum ta_ink ink, const char *text,
                   double gap)
{
    if (!text || !*text)
        return;
    PangoLayout *layout = pdf_layout(pdf, style, text, pdf->right - pdf->left);
    int n = pango_layout_get_line_count(layout);
    double line = pdf_layout_height(layout) / n;
    for (int first = 0; first < n;) {
        int room = ta_whole_int((pdf->bottom - pdf->y + 0.01) / line), left = n - first;
        if (room < left && left - room < WIDOW_LINES)
            room = left - WIDOW_LINES;
        if (room < left && room < WIDOW_LINES && pdf->y > pdf->top) {
            pdf_need(pdf, pdf->bottom - pdf->top);
            continue;
        }
        int shown = room < left ? (room > 1 ? room : 1) : left;
        pdf_tag(pdf, "P");
        show_lines(pdf, layout, ink, first, first + shown);
        pdf_untag(pdf, "P");
        first += shown;
    }
    pdf->y += gap;
    g_object_unref(layout);
}

void pdf_heading(struct pdf *pdf, int level, const char *text, const char *place, double follows)
{
    const char *tag = level == 1 ? "H1" : "H2";
    PangoLayout *layout =
        pdf_layout(pdf, level == 1 ? PDF_H1 : PDF_H2, text, pdf->right - pdf->left);
    double above = level == 1 ? 16 : 8, below = level == 1 ? 6 : 4;
    pdf_need(pdf, above + pdf_layout_height(layout) + below + follows);
    pdf->y += pdf->y > pdf->top ? above : 0;
    if (place)
        pdf_place(pdf, place);
    pdf_tag(pdf, tag);
    pdf_show(pdf, layout, TA_INK_TEXT, pdf->left, pdf->y);
    pdf_untag(pdf, tag);
    pdf->y += pdf_layout_height(layout) + below;
    g_object_unref(layout);
}

/* ---- words and numbers --------------------------------------------------------------- */

/* `most` bytes are shown at most; 0: all. */
static const char *safe(struct pdf *pdf, struct ta_slice text, size_t most)
{
    const char *shown = ta_draw_text(&pdf->arena, text, most);
    return shown ? shown : "";
}

const char *pdf_safe(struct pdf *pdf, const char *text)
{
    return text ? safe(pdf, ta_slice_of(text), 0) : "";
}

const char *pdf_prose(struct pdf *pdf, const char *text)
{
    const char *prose = pdf_safe(pdf, text), *begin, *end;
    while ((begin = strchr(prose, '`')) != NULL && (end = strchr(begin + 1, '`')) != NULL)
        prose = pdf_printf(pdf, "%.*s%.*s%s", (int)(begin - prose), prose, (int)(end - begin - 1),
                           begin + 1, end + 1);
    return prose;
}

enum { CELL_MOST = 400 };

const char *pdf_cell_text(struct pdf *pdf, const struct ta_cell *cell, enum ta_unit unit)
{
    char buffer[TA_UNIT_TEXT_MAX];
    if (cell->kind == TA_CELL_NULL)
        return "–";
    return safe(pdf, ta_cell_text(cell, unit, buffer), CELL_MOST);
}

const char *pdf_table_text(struct pdf *pdf, const struct ta_table *table, size_t row, size_t column)
{
    char buffer[TA_WORD_TEXT_MAX];
    if (ta_table_cell(table, row, column)->kind == TA_CELL_NULL)
        return "–";
    const struct ta_slice text = ta_table_text(table, row, column, buffer);
    const bool is_name = table->columns[column].type == TA_TYPE_STRING && text.len > 0;
    return safe(pdf, is_name ? ta_said_name(&pdf->arena, text) : text, CELL_MOST);
}

const char *pdf_number(struct pdf *pdf, double value, enum ta_unit unit)
{
    char text[TA_UNIT_TEXT_MAX];
    return pdf_printf(pdf, "%s", ta_unit_format(text, value, unit));
}

const char *pdf_count(struct pdf *pdf, uint64_t n)
{
    return pdf_number(pdf, (double)n, TA_UNIT_COUNT);
}

const char *pdf_printf(struct pdf *pdf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = ta_arena_vprintf(&pdf->arena, format, args);
    va_end(args);
    return text ? text : "";
}
