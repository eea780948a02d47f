/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The story in a few pages: of each chapter the first charts, two in a row, and the first tables
 * that have none, with few rows. */
#include "pdf.h"
#include "render/chart/says.h"
#include "report/sections.h"

#include <stdio.h>

enum { FIGURES_MAX = 6, TABLES_MAX = 4 };

/* How much of a chapter is on paper; chapters without an entry do not. */
static const struct room {
    size_t figures, tables;
} rooms[TA_CHAPTERS] = {
    [TA_CHAPTER_FINDINGS] = {4, 4}, /* what a comparison found */
    [TA_CHAPTER_TIME] = {2, 1},     [TA_CHAPTER_IDLE] = {2, 1},  [TA_CHAPTER_STEPS] = {2, 1},
    [TA_CHAPTER_MEMORY] = {2, 1},   [TA_CHAPTER_RANKS] = {4, 0}, [TA_CHAPTER_MORE] = {2, 1},
};

struct chapter {
    struct pdf_small figures[FIGURES_MAX];
    const struct ta_table *tables[TABLES_MAX];
    size_t n_figures, n_tables;
};

static bool answers(const struct ta_section *section, const struct ta_table *table)
{
    return ta_table_is_open(section, table) || ta_table_is_points(table) ||
           ta_table_is_charted(section, table);
}

/* A table is there once, as its chart where it has one. */
static void add_table(const struct pdf *pdf, const struct room *room,
                      const struct ta_section *section, const struct ta_table *table,
                      struct chapter *chapter)
{
    if (!answers(section, table) || pdf_is_drawn(pdf, table))
        return;
    const struct ta_chart *chart = ta_chart_after(table, NULL);
    if (chart) {
        if (chapter->n_figures < room->figures)
            chapter->figures[chapter->n_figures++] = (struct pdf_small){table, chart};
    } else if (ta_table_tier(table) == TA_TIER_ANSWER && table->n_rows &&
               chapter->n_tables < room->tables)
        chapter->tables[chapter->n_tables++] = table;
}

static struct chapter gather(struct pdf *pdf, enum ta_chapter which)
{
    struct chapter chapter = {.n_figures = 0};
    for (size_t s = 0; s < ta_report_section_count(pdf->report); s++) {
        const struct ta_section *section = ta_report_section(pdf->report, s);
        for (size_t i = 0; section->chapter == which && i < section->n_items; i++)
            if (section->items[i].kind == TA_ITEM_TABLE)
                add_table(pdf, &rooms[which], section, section->items[i].table, &chapter);
    }
    return chapter;
}

/* Two charts in a row; the last one has it alone where they are odd. */
struct figure_row {
    const struct pdf_small *figures;
    size_t n;
};

static void put_row(struct pdf *pdf, const void *data)
{
    const struct figure_row *row = data;
    struct pdf_part parts[PDF_PARTS_MAX];
    for (size_t i = 0; i < row->n; i++)
        parts[i] = (struct pdf_part){pdf_small_figure, &row->figures[i], 1.0 / (double)row->n};
    pdf_beside(pdf, parts, row->n);
    pdf->y += 8;
}

static struct figure_row row_at(const struct chapter *chapter, size_t first)
{
    const size_t left = chapter->n_figures - first;
    return (struct figure_row){&chapter->figures[first],
                               left < PDF_PARTS_MAX ? left : PDF_PARTS_MAX};
}

static void put_rows(struct pdf *pdf, const void *table)
{
    pdf_table(pdf, table);
}

/* Under its heading, on one page. */
static void put_table(struct pdf *pdf, const struct ta_table *table, const char *place)
{
    pdf_heading(pdf, 2, pdf_safe(pdf, table->title), place, pdf_trial(pdf, put_rows, table));
    pdf_table(pdf, table);
}

static void put_tables(struct pdf *pdf, const struct chapter *chapter, int entry)
{
    for (size_t i = 0; i < chapter->n_tables; i++) {
        const struct ta_table *table = chapter->tables[i];
        char place[PDF_PLACE_MAX];
        if (!pdf_table_place(pdf, table->id, place))
            continue;
        pdf_outline(pdf, entry, pdf_safe(pdf, table->title), place);
        put_table(pdf, table, place);
    }
}

/* What has to stand on the page of the chapter's heading. */
static double first_height(struct pdf *pdf, const struct chapter *chapter)
{
    enum { HEADING = 30 };
    if (chapter->n_figures) {
        const struct figure_row row = row_at(chapter, 0);
        return pdf_trial(pdf, put_row, &row);
    }
    return HEADING + pdf_trial(pdf, put_rows, chapter->tables[0]);
}

static void put_chapter(struct pdf *pdf, enum ta_chapter which)
{
    const struct chapter chapter = gather(pdf, which);
    char place[PDF_PLACE_MAX];
    if (chapter.n_figures + chapter.n_tables == 0)
        return;
    snprintf(place, sizeof place, "chapter-%s", ta_chapter_id(which));
    const bool is_diff = which == TA_CHAPTER_FINDINGS;
    const int entry = pdf_section(pdf, is_diff ? "What changed" : ta_chapter_title(which), place,
                                  first_height(pdf, &chapter));
    for (size_t i = 0; i < chapter.n_figures; i += PDF_PARTS_MAX) {
        const struct figure_row row = row_at(&chapter, i);
        pdf_need(pdf, pdf_trial(pdf, put_row, &row));
        for (size_t k = 0; k < row.n; k++) {
            char at[PDF_PLACE_MAX];
            if (pdf_table_place(pdf, row.figures[k].table->id, at))
                pdf_outline(pdf, entry, pdf_safe(pdf, row.figures[k].chart->title), at);
            pdf_mark_drawn(pdf, row.figures[k].table);
        }
        put_row(pdf, &row);
    }
    put_tables(pdf, &chapter, entry);
    pdf_untag(pdf, "Sect");
}

void pdf_chapters(struct pdf *pdf)
{
    for (enum ta_chapter which = 0; which < TA_CHAPTERS; which++)
        if (rooms[which].figures &&
            (which != TA_CHAPTER_FINDINGS || ta_report_kind(pdf->report) == TA_REPORT_DIFF))
            put_chapter(pdf, which);
}
