/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All sections of the report in their order, for paper that has everything: figures first, then the
 * tables they are drawn from. */
#include "pdf.h"
#include "render/chart/says.h"
#include "render/chart/timeline.h"

#include <stdio.h>
#include <string.h>

static void place_of(size_t section, size_t item, char place[PDF_PLACE_MAX])
{
    if (item == SIZE_MAX)
        snprintf(place, PDF_PLACE_MAX, "section%zu", section);
    else
        snprintf(place, PDF_PLACE_MAX, "table%zu.%zu", section, item);
}

bool pdf_table_place(const struct pdf *pdf, const char *table, char place[PDF_PLACE_MAX])
{
    size_t n_sections = ta_report_section_count(pdf->report);
    for (size_t s = 0; s < n_sections; s++) {
        const struct ta_section *section = ta_report_section(pdf->report, s);
        for (size_t i = 0; i < section->n_items; i++)
            if (section->items[i].kind == TA_ITEM_TABLE &&
                strcmp(section->items[i].table->id, table) == 0) {
                place_of(s, i, place);
                return true;
            }
    }
    return false;
}

/* Key figures stand on the first page, findings in their own section. */
static bool shows(const struct pdf *pdf, const struct ta_item *item)
{
    if (item->kind != TA_ITEM_SCALAR)
        return item->kind == TA_ITEM_TABLE;
    if (!ta_scalar_is_shown(pdf->report, item->scalar))
        return false;
    for (size_t i = 0; i < pdf->n_key_figures; i++)
        if (pdf->key_figures[i] == item->scalar)
            return false;
    return true;
}

static bool has_content(const struct pdf *pdf, const struct ta_section *section)
{
    for (size_t i = 0; i < section->n_items; i++)
        if (shows(pdf, &section->items[i]))
            return true;
    return section->missing != NULL;
}

static void put_table(struct pdf *pdf, const struct ta_table *table, size_t s, size_t i, int entry)
{
    char place[PDF_PLACE_MAX];
    place_of(s, i, place);
    const char *title = pdf_safe(pdf, table->title);
    const bool is_printed = pdf_prints(table);
    if (!is_printed && !ta_chart_after(table, NULL))
        return;
    pdf_outline(pdf, entry, title, place);
    pdf_contents_add(pdf, 2, title, place);
    if (!is_printed)
        pdf_place(pdf, place);
    pdf_figures(pdf, table);
    if (!is_printed)
        return;
    pdf_heading(pdf, 2, title, place, 60);
    pdf_table(pdf, table);
}

/* What has to stand on the page of a section's heading. */
static double follows(struct pdf *pdf, const struct ta_section *section)
{
    const double lines = 80;
    for (size_t i = 0; i < section->n_items; i++)
        if (section->items[i].kind == TA_ITEM_TABLE)
            return ta_chart_after(section->items[i].table, NULL)
                       ? pdf_figure_least(pdf, section->items[i].table)
                       : lines;
    return 0;
}

static void put_section(struct pdf *pdf, const struct ta_section *section, size_t s)
{
    char place[PDF_PLACE_MAX];
    place_of(s, SIZE_MAX, place);
    const int entry = pdf_section(pdf, pdf_safe(pdf, section->title), place, follows(pdf, section));
    if (section->missing)
        pdf_paragraph(pdf, PDF_BODY, TA_INK_MUTED, pdf_safe(pdf, section->missing), 6);
    for (size_t i = 0; i < section->n_items; i++) {
        if (section->items[i].kind != TA_ITEM_SCALAR || !shows(pdf, &section->items[i]))
            continue;
        const struct ta_scalar *scalar = section->items[i].scalar;
        const char *note = scalar->note && *scalar->note
                               ? pdf_printf(pdf, " (%s)", pdf_safe(pdf, scalar->note))
                               : "";
        pdf_paragraph(pdf, PDF_BODY, TA_INK_TEXT,
                      pdf_printf(pdf, "%s: %s%s", pdf_safe(pdf, scalar->title),
                                 pdf_cell_text(pdf, &scalar->value, scalar->unit), note),
                      2);
    }
    for (size_t i = 0; i < section->n_items; i++)
        if (section->items[i].kind == TA_ITEM_TABLE)
            put_table(pdf, section->items[i].table, s, i, entry);
    pdf_untag(pdf, "Sect");
}

static void put_timeline(struct pdf *pdf)
{
    const struct ta_timeline *timeline = ta_report_timeline(pdf->report);
    if (!ta_timeline_has_scene(timeline) || pdf->options->timeline == TA_TIMELINE_NONE)
        return;
    pdf_section(pdf, "Timeline", "timeline", pdf_timeline_least(pdf, timeline));
    pdf_timeline(pdf, timeline);
    pdf_untag(pdf, "Sect");
}

void pdf_sections(struct pdf *pdf)
{
    put_timeline(pdf);
    size_t n_sections = ta_report_section_count(pdf->report);
    for (size_t s = 0; s < n_sections; s++)
        if (has_content(pdf, ta_report_section(pdf->report, s)))
            put_section(pdf, ta_report_section(pdf->report, s), s);
}
