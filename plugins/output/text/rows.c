/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rows of a table are shown. */
#include "text.h"

#include <math.h>
#include <stdlib.h>

bool text_holds_word(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; at && *at;) {
        const size_t length = strcspn(at, " ");
        if (length == n && memcmp(at, word, n) == 0)
            return true;
        at += length + (at[length] == ' ');
    }
    return false;
}

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

/* Whether the list has the word, or one that ends in a point and begins it. */
static bool is_in_list(const char *list, struct ta_slice text)
{
    for (const char *at = list; at && *at;) {
        const size_t n = strcspn(at, " ");
        const bool is_part = n > 0 && at[n - 1] == '.';
        if ((is_part ? text.len >= n : text.len == n) && memcmp(at, text.ptr, n) == 0)
            return true;
        at += n + (at[n] == ' ');
    }
    return false;
}

bool text_row_is_spare(const struct ta_table *table, size_t row, const struct text_pick *pick)
{
    for (size_t i = 0; pick->spare && i < table->n_columns; i++) {
        const struct ta_cell *cell = ta_table_cell(table, row, i);
        if (cell->kind == TA_CELL_TEXT && is_in_list(pick->spare, cell->text))
            return !text_row_is_renamed(table, row, pick->renamed);
    }
    return pick->moves && ta_row_number(table, row, pick->moves, NAN) == 0;
}

bool text_row_is_renamed(const struct ta_table *table, size_t row, const char *column)
{
    const size_t k = column ? ta_table_column(table, column) : SIZE_MAX;
    return k != SIZE_MAX && ta_table_cell(table, row, k)->kind == TA_CELL_TEXT &&
           !ta_row_reads(table, row, "method", "normalized");
}

bool text_rows_choose(const struct page *page, const struct ta_table *table,
                      const struct text_pick *pick, struct text_rows *rows)
{
    const uint32_t top = page->options->top;
    const size_t most = top && top < pick->rows ? top : pick->rows;
    struct ranking ranking = {table, pick->by ? ta_table_column(table, pick->by) : SIZE_MAX};
    *rows = (struct text_rows){.at = calloc(table->n_rows, sizeof *rows->at)};
    if (!rows->at)
        return false;
    for (size_t i = 0; i < table->n_rows; i++)
        if (!text_row_is_spare(table, i, pick))
            rows->at[rows->n++] = i;
    rows->is_cut = rows->n > most;
    if (rows->is_cut) {
        if (ranking.column != SIZE_MAX)
            qsort_r(rows->at, rows->n, sizeof *rows->at, compare_rows, &ranking);
        rows->n = most;
    }
    return true;
}
