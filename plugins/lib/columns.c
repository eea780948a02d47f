/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/columns.h"

#include "report/tables.h"

#include <string.h>

static bool is_nothing(const struct ta_cell *cell)
{
    if (cell->kind == TA_CELL_TEXT)
        return cell->text.len == 0;
    return cell->kind == TA_CELL_NULL || ta_cell_number(cell, 1) == 0;
}

static bool is_all_nothing(const struct ta_table *table, size_t column, const size_t *rows,
                           size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_nothing(ta_table_cell(table, rows ? rows[i] : i, column)))
            return false;
    return true;
}

/* Whether zeros are figures at all, and figures that are news. */
static bool is_zero_an_answer(const struct ta_table *table, size_t at, const size_t *rows, size_t n)
{
    const struct ta_column *column = &table->columns[at];
    if ((column->role != TA_FIGURE && column->role != TA_NOTE) || !ta_column_is_number(column) ||
        at == ta_table_rank(table) || at == ta_table_device(table))
        return true;
    if (!column->zero_of)
        return column->better == TA_HIGHER && column->unit < TA_UNIT_NS_CHANGE;
    const size_t whole = ta_table_column(table, column->zero_of);
    return whole == at || (whole != SIZE_MAX && !is_all_nothing(table, whole, rows, n));
}

static bool has_values(const struct ta_table *table, size_t column, const size_t *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct ta_cell *cell = ta_table_cell(table, rows ? rows[i] : i, column);
        if (cell->kind != TA_CELL_NULL && (cell->kind != TA_CELL_TEXT || cell->text.len))
            return true;
    }
    return false;
}

bool ta_column_says(const struct ta_table *table, size_t column, const size_t *rows, size_t n)
{
    if (!ta_column_is_shown(table, column) || !has_values(table, column, rows, n))
        return false;
    return is_zero_an_answer(table, column, rows, n) || !is_all_nothing(table, column, rows, n);
}
