/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sheets of paper: page breaks, head and foot of a page, boxes, tags, links, outline. */
#include "pdf.h"

#include <cairo-pdf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEAD_Y = 30, FOOT_BELOW = 24 };

void pdf_end(struct pdf *pdf)
{
    double y = pdf->height - FOOT_BELOW - pdf_style_size(PDF_SMALL);
    pdf_line(pdf, PDF_SMALL, TA_INK_MUTED,
             pdf_printf(pdf, "traceanalyze %s", pdf->options->version), pdf->left, y,
             (pdf->right - pdf->left) / 2);
    pdf_line_right(pdf, PDF_SMALL, TA_INK_MUTED, pdf_printf(pdf, "%d/%d", pdf->page, pdf->pages),
                   pdf->right, y);
    if (pdf->drawing)
        cairo_show_page(pdf->cr);
}

void pdf_need(struct pdf *pdf, double height)
{
    /* What is higher than a page has to start at the top of one, not on one after another. */
    if (pdf->y + height <= pdf->bottom || pdf->y <= pdf->top)
        return;
    pdf_end(pdf);
    pdf->page++;
    pdf->y = pdf->top;
    pdf_line(pdf, PDF_SMALL, TA_INK_MUTED, pdf->title, pdf->left, HEAD_Y,
             (pdf->right - pdf->left) / 2 - 10);
    pdf_line_right(pdf, PDF_SMALL, TA_INK_MUTED, pdf->section, pdf->right, HEAD_Y);
    pdf_rule(pdf, TA_INK_GRID, pdf->left, HEAD_Y + 15, pdf->right - pdf->left);
}

double pdf_trial(struct pdf *pdf, void (*part)(struct pdf *pdf, const void *data), const void *data)
{
    const struct pdf before = *pdf;
    pdf->drawing = false;
    pdf->trying = true;
    pdf->y = pdf->top;
    part(pdf, data);
    double height = (pdf->page - before.page) * (pdf->bottom - pdf->top) + pdf->y - pdf->top;
    pdf->drawing = before.drawing;
    pdf->trying = before.trying;
    pdf->page = before.page;
    pdf->y = before.y;
    pdf->section = before.section;
    return height;
}

void pdf_beside(struct pdf *pdf, const struct pdf_part *parts, size_t n)
{
    enum { GAP = 16 };
    const double left = pdf->left, right = pdf->right, top = pdf->y;
    const double room = right - left - GAP * (double)(n - 1);
    double lowest = top;
    for (size_t i = 0; i < n; i++) {
        pdf->right = pdf->left + room * parts[i].share;
        pdf->y = top;
        parts[i].put(pdf, parts[i].data);
        lowest = fmax(lowest, pdf->y);
        pdf->left = pdf->right + GAP;
    }
    pdf->left = left;
    pdf->right = right;
    pdf->y = lowest;
}

void pdf_box(const struct pdf *pdf, enum ta_ink ink, double x, double y, double w, double h)
{
    if (!pdf->drawing)
        return;
    ta_draw_color(pdf->cr, ta_ink_color(ink, false));
    cairo_rectangle(pdf->cr, x, y, w, h);
    cairo_fill(pdf->cr);
}

void pdf_rule(const struct pdf *pdf, enum ta_ink ink, double x, double y, double w)
{
    pdf_box(pdf, ink, x, y - 0.25, w, 0.5);
}

void pdf_tag(const struct pdf *pdf, const char *tag)
{
    if (pdf->drawing)
        cairo_tag_begin(pdf->cr, tag, NULL);
}

void pdf_untag(const struct pdf *pdf, const char *tag)
{
    if (pdf->drawing)
        cairo_tag_end(pdf->cr, tag);
}

struct place {
    struct place *next;
    const char *name;
    int page;
};

int pdf_page_of(const struct pdf *pdf, const char *place)
{
    for (const struct place *at = pdf->places; at; at = at->next)
        if (strcmp(at->name, place) == 0)
            return at->page;
    return 0;
}

/* The first pass finds the pages. */
static void keep_place(struct pdf *pdf, const char *place)
{
    struct place *kept = ta_arena_alloc(&pdf->arena, sizeof *kept);
    const char *name = kept ? ta_arena_copy(&pdf->arena, ta_slice_of(place)) : NULL;
    if (!name)
        return;
    *kept = (struct place){pdf->places, name, pdf->page};
    pdf->places = kept;
}

void pdf_place(struct pdf *pdf, const char *place)
{
    char attributes[PDF_PLACE_MAX + 48];
    if (!pdf->drawing) {
        if (!pdf->trying && pdf->pages == 0)
            keep_place(pdf, place);
        return;
    }
    snprintf(attributes, sizeof attributes, "name='%s' x=%d y=%d internal", place,
             ta_whole_int(pdf->left), ta_whole_int(pdf->y) - 8);
    cairo_tag_begin(pdf->cr, CAIRO_TAG_DEST, attributes);
    cairo_tag_end(pdf->cr, CAIRO_TAG_DEST);
}

enum ta_ink pdf_link(const struct pdf *pdf, const char *place, enum ta_ink otherwise)
{
    char attributes[PDF_PLACE_MAX + 16];
    if (!pdf_page_of(pdf, place))
        return otherwise;
    snprintf(attributes, sizeof attributes, "dest='%s'", place);
    if (pdf->drawing)
        cairo_tag_begin(pdf->cr, CAIRO_TAG_LINK, attributes);
    return TA_INK_COMPUTE;
}

void pdf_unlink(const struct pdf *pdf, const char *place)
{
    if (pdf_page_of(pdf, place))
        pdf_untag(pdf, CAIRO_TAG_LINK);
}

int pdf_outline(const struct pdf *pdf, int parent, const char *text, const char *place)
{
    char attributes[PDF_PLACE_MAX + 16];
    if (!pdf->drawing)
        return 0;
    snprintf(attributes, sizeof attributes, "dest='%s'", place);
    return cairo_pdf_surface_add_outline(pdf->surface, parent, text, attributes,
                                         parent ? 0 : CAIRO_PDF_OUTLINE_FLAG_OPEN);
}

int pdf_section(struct pdf *pdf, const char *title, const char *place, double follows)
{
    pdf->section = title;
    pdf_tag(pdf, "Sect");
    pdf_heading(pdf, 1, title, place, follows);
    pdf_contents_add(pdf, 1, title, place);
    return pdf_outline(pdf, 0, title, place);
}
