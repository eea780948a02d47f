/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of contents: sections and tables with their pages, as links, in two columns. */
#include "pdf.h"

#include <string.h>

enum { COLUMNS = 2, GAP = 24, PITCH = 13, INDENT = 10 };

struct contents_line {
    struct contents_line *next;
    int level;
    const char *text;
    char place[PDF_PLACE_MAX];
};

void pdf_contents_add(struct pdf *pdf, int level, const char *text, const char *place)
{
    if (!pdf->options->full_paper || pdf->drawing || pdf->trying)
        return;
    struct contents_line *line = ta_arena_alloc(&pdf->arena, sizeof *line);
    if (!line)
        return;
    *line = (struct contents_line){.level = level, .text = text};
    snprintf(line->place, sizeof line->place, "%s", place);
    if (!pdf->after)
        pdf->after = &pdf->lines;
    *pdf->after = line;
    pdf->after = &line->next;
    pdf->n_lines++;
}

static size_t lines_per_column(const struct pdf *pdf)
{
    const double heading = 40;
    return ta_whole_size((pdf->bottom - pdf->top - heading) / PITCH);
}

int pdf_contents_pages(const struct pdf *pdf)
{
    const size_t per_page = lines_per_column(pdf) * COLUMNS;
    return (int)((pdf->n_lines + per_page - 1) / per_page);
}

static void put_line(struct pdf *pdf, const struct contents_line *line, double x, double width)
{
    const enum pdf_style style = line->level == 1 ? PDF_LABEL : PDF_SMALL;
    const double indent = line->level == 1 ? 0 : INDENT;
    int page = pdf_page_of(pdf, line->place);
    page += page > 1 ? pdf_contents_pages(pdf) : 0; /* the first pass did not know of these */
    const char *number = pdf_printf(pdf, "%d", page);
    const double room = pdf_text_width(pdf, style, number) + 8;
    pdf_tag(pdf, "TOCI");
    pdf_link(pdf, line->place, TA_INK_TEXT);
    pdf_line(pdf, style, TA_INK_TEXT, line->text, x + indent, pdf->y, width - indent - room);
    pdf_line_right(pdf, style, TA_INK_MUTED, number, x + width, pdf->y);
    pdf_unlink(pdf, line->place);
    pdf_untag(pdf, "TOCI");
}

/* The first pass leaves no room: only after it the number of lines is known. */
void pdf_contents(struct pdf *pdf)
{
    const size_t most = lines_per_column(pdf), per_page = most * COLUMNS;
    const double width = (pdf->right - pdf->left - GAP * (COLUMNS - 1)) / COLUMNS;
    const struct contents_line *line = pdf->drawing ? pdf->lines : NULL;
    while (line) {
        pdf_need(pdf, pdf->bottom - pdf->top);
        pdf_heading(pdf, 1, "Contents", NULL, 0);
        const double top = pdf->y;
        pdf_tag(pdf, "TOC");
        for (size_t i = 0; line && i < per_page; i++, line = line->next) {
            pdf->y = top + (double)(i % most) * PITCH;
            put_line(pdf, line, pdf->left + (double)(i / most) * (width + GAP), width);
        }
        pdf_untag(pdf, "TOC");
        pdf->y = pdf->bottom;
    }
    pdf_need(pdf, pdf->bottom - pdf->top);
}
