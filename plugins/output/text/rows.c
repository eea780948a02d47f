/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rows of a table are shown. */
#include "text.h"

#include <math.h>
#include <stdlib.h>

struct ranking {
    const struct ta_table *table;
    size_t column;
};

/* Changes count by their size, whichever way they go; −1 where there is nothing. */
static double size_of(const struct ranking *ranking, size_t row)
{
    const double value =
        ta_cell_number(ta_table_cell(ranking->table, row, ranking->column), (double)NAN);
    return isnan(value) ? -1 : fabs(value);
}

static int compare_rows(const void *left, const void *right, void *with)
{
    const struct ranking *ranking = with;
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const double x = size_of(ranking, a), y = size_of(ranking, b);
    return x != y ? (x < y) - (x > y) : (a > b) - (a < b);
}

/* Whether a text is one of some words, or begins with the id of one of some tables and a point. */
static bool is_hidden_text(const struct ta_brief *brief, struct ta_slice text)
{
    for (size_t i = 0; i < TA_BRIEF_WORDS && brief->hidden.words[i]; i++)
        if (ta_slice_equal(text, ta_slice_of(brief->hidden.words[i])))
            return true;
    for (size_t i = 0; i < TA_BRIEF_WORDS && brief->hidden.tables[i]; i++) {
        const struct ta_slice id = ta_slice_of(brief->hidden.tables[i]);
        if (text.len > id.len && memcmp(text.ptr, id.ptr, id.len) == 0 && text.ptr[id.len] == '.')
            return true;
    }
    return false;
}

bool text_row_is_hidden(const struct ta_table *table, size_t row)
{
    const struct ta_brief *brief = table->def->brief;
    const size_t hidden = text_place_of(table, brief->hidden.column);
    const size_t nonzero = text_place_of(table, brief->nonzero);
    if (hidden != SIZE_MAX && ta_table_cell(table, row, hidden)->kind == TA_CELL_TEXT &&
        is_hidden_text(brief, ta_table_cell(table, row, hidden)->text))
        return !text_row_is_renamed(table, row);
    return nonzero != SIZE_MAX && ta_cell_number(ta_table_cell(table, row, nonzero), NAN) == 0;
}

bool text_row_is_renamed(const struct ta_table *table, size_t row)
{
    const size_t name = text_place_of(table, table->def->brief->renamed.name);
    const size_t method = text_place_of(table, table->def->brief->renamed.method);
    if (name == SIZE_MAX || ta_table_cell(table, row, name)->kind != TA_CELL_TEXT)
        return false;
    const struct ta_cell *how = method == SIZE_MAX ? NULL : ta_table_cell(table, row, method);
    return !how || how->kind != TA_CELL_TEXT || !ta_slice_equal(how->text, TA_LIT("normalized"));
}

bool text_rows_choose(const struct page *page, const struct ta_table *table, struct text_rows *rows)
{
    const struct ta_brief *brief = table->def->brief;
    const uint32_t top = page->options->top;
    size_t most = top && top < brief->rows ? top : brief->rows;
    if (page->rows_most && page->rows_most < most)
        most = page->rows_most;
    struct ranking ranking = {table, text_place_of(table, brief->largest)};
    *rows = (struct text_rows){.at = calloc(table->n_rows, sizeof *rows->at)};
    if (!rows->at)
        return false;
    for (size_t i = 0; i < table->n_rows; i++)
        if (!text_row_is_hidden(table, i))
            rows->at[rows->n++] = i;
    rows->is_cut = rows->n > most;
    if (rows->is_cut) {
        if (ranking.column != SIZE_MAX)
            qsort_r(rows->at, rows->n, sizeof *rows->at, compare_rows, &ranking);
        rows->n = most;
    }
    return true;
}
