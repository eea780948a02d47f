/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which tables are on paper.
 *
 * Paper is read from front to back, so its length follows what there is to say and not how many
 * ranks there are.  The short form is the story (chapters.c); where all is asked for, each table
 * is there, and charts stand for the points that they draw. */
#include "pdf.h"
#include "render/chart/says.h"
#include "report/tables.h"
#include "report/words.h"

#include <string.h>

/* Rows of a table in the short form; of one by rank, when it is too long for paper anyway. */
enum { SHORT_ROWS = 8, TIGHT_ROWS = 5, RANK_ROWS = 16 };

/* The figure says all that can be read of points of a curve, cells of a map, and boxes of a tree.
 */
static bool is_figure(const struct ta_table *table)
{
    const struct ta_chart *chart = ta_chart_after(table, NULL);
    if (!chart)
        return false;
    switch (chart->kind) {
    case TA_CHART_ECDF:
    case TA_CHART_LINES:
    case TA_CHART_AREAS:
    case TA_CHART_DOTS:
    case TA_CHART_HEAT:
    case TA_CHART_TREE:
        return true;
    default:
        return false;
    }
}

bool pdf_prints(const struct ta_table *table)
{
    return !is_figure(table) && !ta_table_is_points(table);
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
    const size_t most = pdf->tight ? TIGHT_ROWS : SHORT_ROWS;
    if (!pdf->options->full_paper && n > most)
        n = most;
    rows->measure = ta_table_measure(table, n);
    if (rows->measure != SIZE_MAX && n > RANK_ROWS)
        n = RANK_ROWS;
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
