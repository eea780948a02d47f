/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rows of a table a page has, and in which order.
 *
 * All of them, unless there are thousands of ranks; then of a table that goes by rank those that
 * stand out, since the first of so many ranks tell nobody anything. */
#include "html.h"

#include <math.h>
#include <stdlib.h>

/* ---- how many ------------------------------------------------------------------------------ */

/* Rows of one table, and cells of all tables together, in the markup (60 to 100 bytes a cell) and
 * as data (20 to 30).  Reports of a few ranks have far fewer. */
enum { MARKUP_MOST = 500, CARRIED_MOST = 5000, MARKUP_CELLS = 30000, CARRIED_CELLS = 60000 };

/* Cells of the rows [from, to) of each table. */
static size_t count_cells(const struct ta_report *report, size_t from, size_t to)
{
    size_t cells = 0;
    for (size_t s = 0; s < ta_report_section_count(report); s++) {
        const struct ta_section *section = ta_report_section(report, s);
        for (size_t i = 0; i < section->n_items; i++) {
            const struct ta_item *item = &section->items[i];
            const size_t rows = item->kind == TA_ITEM_TABLE ? item->table->n_rows : 0;
            if (rows > from)
                cells += ((rows < to ? rows : to) - from) * item->table->n_columns;
        }
    }
    return cells;
}

/* The most rows of each table behind the first `from` that keep to a number of cells. */
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

/* Rows are in the order of their ranks, which the table names first. */
static bool goes_by_rank(const struct ta_table *table)
{
    if (strcmp(table->columns[0].key, "rank") != 0)
        return false;
    for (size_t row = 1; row < table->n_rows; row++)
        if (ta_cell_number(ta_table_cell(table, row - 1, 0), -1) >
            ta_cell_number(ta_table_cell(table, row, 0), -1))
            return false;
    return true;
}

static size_t carried_of(const struct page *page, const struct ta_table *table)
{
    return table->n_rows < page->rows_carried ? table->n_rows : page->rows_carried;
}

size_t html_measure(const struct page *page, const struct ta_table *table)
{
    if (carried_of(page, table) == table->n_rows || !goes_by_rank(table))
        return SIZE_MAX;
    for (size_t i = 1; i < table->n_columns; i++) {
        const struct ta_column *column = &table->columns[i];
        if (column->polarity != TA_NEUTRAL &&
            (column->type == TA_TYPE_INTEGER || column->type == TA_TYPE_NUMBER))
            return i;
    }
    return SIZE_MAX;
}

struct place {
    double badness;
    size_t row;
};

/* Of rows that are alike, and of those without a value, the first ones come first. */
static int compare_places(const void *one, const void *other)
{
    const struct place *a = one, *b = other;
    if (a->badness != b->badness)
        return a->badness > b->badness ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static struct place place_of(const struct ta_table *table, size_t row, size_t measure)
{
    const double value = ta_cell_number(ta_table_cell(table, row, measure), NAN);
    const bool more_is_worse = table->columns[measure].polarity == TA_LOWER;
    return (struct place){isnan(value) ? -INFINITY : more_is_worse ? value : -value, row};
}

enum ta_status html_pick_rows(const struct page *page, const struct ta_table *table,
                              struct html_rows *rows)
{
    const size_t measure = html_measure(page, table);
    rows->n = carried_of(page, table);
    rows->n_markup = rows->n < page->rows_markup ? rows->n : page->rows_markup;
    rows->at = malloc((rows->n + 1) * sizeof *rows->at);
    struct place *places = NULL;
    if (measure != SIZE_MAX)
        places = malloc((table->n_rows + 1) * sizeof *places);
    if (!rows->at || (measure != SIZE_MAX && !places)) {
        free(places);
        free(rows->at);
        return ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot lay out a table: id=\"%s\"", table->id);
    }
    for (size_t i = 0; places && i < table->n_rows; i++)
        places[i] = place_of(table, i, measure);
    if (places)
        qsort(places, table->n_rows, sizeof *places, compare_places);
    for (size_t i = 0; i < rows->n; i++)
        rows->at[i] = places ? places[i].row : i;
    free(places);
    return TA_OK;
}

bool html_has_row(const struct page *page, const struct ta_table *table, size_t row)
{
    const size_t measure = html_measure(page, table);
    if (measure == SIZE_MAX || row >= table->n_rows)
        return row < page->rows_markup;
    const struct place place = place_of(table, row, measure);
    size_t before = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct place other = place_of(table, i, measure);
        before += compare_places(&other, &place) < 0;
    }
    return before < page->rows_markup;
}
