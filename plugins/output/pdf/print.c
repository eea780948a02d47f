/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of the tables stands on paper.
 *
 * Paper is read from front to back, so its length follows what there is to say and not how many
 * ranks there are: findings with the tables they rest on, figures, and of each question the table
 * that answers it.  What is looked up when a question comes stays in the HTML report, where it can
 * be searched and sorted, and is named here. */
#include "pdf.h"
#include "report/tables.h"
#include "report/words.h"

#include <string.h>

/* Rows of a table by rank, when it is too long for paper anyway; and of one that only stands there
 * because a finding cites it. */
enum { RANK_ROWS = 16, DETAIL_ROWS = 8 };

static bool is_detail(const struct ta_table *table)
{
    return table->def && table->def->tier == TA_TIER_DETAIL;
}

/* The figure says all that can be read of points of a curve, cells of a map, and boxes of a tree.
 */
static bool is_figure(const struct ta_table *table)
{
    if (!table->chart)
        return false;
    switch (table->chart->kind) {
    case TA_CHART_ECDF:
    case TA_CHART_LINES:
    case TA_CHART_DOTS:
    case TA_CHART_HEAT:
    case TA_CHART_TREE:
        return true;
    default:
        return false;
    }
}

bool pdf_prints(const struct pdf *pdf, const struct ta_table *table)
{
    if (!is_detail(table) && !is_figure(table))
        return true;
    struct ta_walk walk = {0};
    const struct ta_item *item;
    while ((item = ta_report_next(pdf->report, TA_ITEM_FINDING, &walk)) != NULL)
        for (size_t i = 0; i < item->finding->n_evidence; i++)
            if (strcmp(item->finding->evidence[i].table, table->id) == 0)
                return true;
    return false;
}

static void add_row(struct pdf_rows *rows, size_t row)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->at[i] == row)
            return;
    if (row != SIZE_MAX)
        rows->at[rows->n++] = row;
}

bool pdf_pick_rows(struct pdf *pdf, const struct ta_table *table, struct pdf_rows *rows)
{
    const uint32_t top = pdf->options->top;
    size_t n = top && top < table->n_rows ? top : table->n_rows;
    rows->measure = ta_table_measure(table, n);
    if (rows->measure != SIZE_MAX && n > RANK_ROWS)
        n = RANK_ROWS;
    if (is_detail(table) && n > DETAIL_ROWS)
        n = DETAIL_ROWS;
    rows->at = ta_arena_alloc(&pdf->arena, (table->n_rows + 1) * sizeof *rows->at);
    if (!rows->at)
        return false;
    if (!ta_table_pick_rows(table, rows->measure, n, rows->at)) {
        pdf->arena.failed = true;
        return false;
    }
    rows->n = n;
    struct ta_walk walk = {0};
    const struct ta_item *item;
    while ((item = ta_report_next(pdf->report, TA_ITEM_FINDING, &walk)) != NULL)
        for (size_t i = 0; i < item->finding->n_evidence; i++)
            if (strcmp(item->finding->evidence[i].table, table->id) == 0)
                add_row(rows, ta_evidence_row(table, &item->finding->evidence[i]));
    return true;
}

void pdf_left_out(struct pdf *pdf, const struct ta_section *section)
{
    const char *names = "";
    for (size_t i = 0; i < section->n_items; i++) {
        const struct ta_table *table = section->items[i].table;
        if (section->items[i].kind == TA_ITEM_TABLE && !ta_table_is_points(table) &&
            !pdf_prints(pdf, table))
            names =
                pdf_printf(pdf, "%s%s%s", names, *names ? ", " : "", pdf_safe(pdf, table->title));
    }
    if (*names)
        pdf_paragraph(pdf, PDF_SMALL, TA_INK_MUTED,
                      pdf_printf(pdf,
                                 "Tables to look things up in, in the HTML report and in "
                                 "report.json: %s.",
                                 names),
                      8);
}
