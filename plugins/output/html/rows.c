/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rows of a table a page has, and in which order.
 *
 * All of them, unless there are thousands of ranks; then of a table that goes by rank those that
 * stand out, as it unfolds them first of longer ones. */
#include "html.h"
#include "report/tables.h"

#include <stdlib.h>

/* ---- how many ------------------------------------------------------------------------------ */

/* Rows of one table, and cells of all tables together, in the markup (60 to 100 bytes a cell) and
 * as data (20 to 30).  Reports of a few ranks have far fewer. */
enum { MARKUP_MOST = 500, CARRIED_MOST = 5000, MARKUP_CELLS = 30000, CARRIED_CELLS = 60000 };

/* Cells of the rows [from, to) of each table. */
static size_t count_cells(const struct ta_report *report, size_t from, size_t to)
{
    size_t cells = 0;
    struct ta_walk walk = {0};
    const struct ta_item *item;
    while ((item = ta_report_next(report, TA_ITEM_TABLE, &walk)) != NULL) {
        const size_t rows = item->table->n_rows;
        if (rows > from)
            cells += ((rows < to ? rows : to) - from) * item->table->n_columns;
    }
    return cells;
}

/* The most rows of each table after the first `from` that keep to a number of cells. */
static size_t fit(const struct ta_report *report, size_t from, size_t most, size_t cells)
{
    size_t rows = most;
    while (rows > from && count_cells(report, from, rows) > cells)
        rows -= (rows - from + 7) / 8;
    return rows;
}

void html_choose_rows(struct page *page)
{
    page->rows_markup = fit(page->report, 0, MARKUP_MOST, MARKUP_CELLS);
    if (page->rows_markup < page->options->top) /* what is unfolded needs no script */
        page->rows_markup = page->options->top < MARKUP_MOST ? page->options->top : MARKUP_MOST;
    page->rows_carried = fit(page->report, page->rows_markup, CARRIED_MOST, CARRIED_CELLS);
}

/* ---- which ones ---------------------------------------------------------------------------- */

static size_t carried_of(const struct page *page, const struct ta_table *table)
{
    return table->n_rows < page->rows_carried ? table->n_rows : page->rows_carried;
}

size_t html_measure(const struct page *page, const struct ta_table *table)
{
    const size_t carried = carried_of(page, table), top = page->options->top;
    return ta_table_measure(table, top && top < carried ? top : carried);
}

enum ta_status html_pick_rows(const struct page *page, const struct ta_table *table,
                              struct html_rows *rows)
{
    rows->n = carried_of(page, table);
    rows->n_markup = rows->n < page->rows_markup ? rows->n : page->rows_markup;
    rows->at = malloc((rows->n + 1) * sizeof *rows->at);
    if (rows->at && ta_table_pick_rows(table, html_measure(page, table), rows->n, rows->at))
        return TA_OK;
    free(rows->at);
    return ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot lay out a table: id=\"%s\"", table->id);
}

/* Whether the page shows it folded, in the appendix. */
static bool is_folded(const struct page *page, const struct ta_table *table)
{
    struct ta_walk walk = {0};
    const struct ta_item *item;
    while ((item = ta_report_next(page->report, TA_ITEM_TABLE, &walk)) != NULL)
        if (item->table == table)
            return !ta_table_is_open(ta_report_section(page->report, walk.section), table);
    return true;
}

bool html_has_row(const struct page *page, const struct ta_table *table, size_t row)
{
    return ta_table_place(table, html_measure(page, table), row) <
           (is_folded(page, table) ? page->rows_carried : page->rows_markup);
}
