/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables as they are read: their columns, the units of their cells, and the order of their rows. */
#include "report/report.h"
#include "report/tables.h"

#include <stdlib.h>

/* ---- order --------------------------------------------------------------------------- */

struct order {
    size_t within, column, width; /* within: or SIZE_MAX */
    bool descending;
};

static int compare_cells(const struct ta_cell *a, const struct ta_cell *b)
{
    if (a->kind == TA_CELL_NULL || b->kind == TA_CELL_NULL)
        return (a->kind == TA_CELL_NULL) - (b->kind == TA_CELL_NULL);
    if (a->kind == TA_CELL_TEXT && b->kind == TA_CELL_TEXT)
        return ta_slice_compare(a->text, b->text);
    if (a->kind == TA_CELL_INT && b->kind == TA_CELL_INT)
        return (a->i > b->i) - (a->i < b->i);
    if (a->kind == TA_CELL_BOOL && b->kind == TA_CELL_BOOL)
        return a->b - b->b;
    double x = ta_cell_number(a, 0), y = ta_cell_number(b, 0);
    return (x > y) - (x < y);
}

static int compare_rows(const void *left, const void *right, void *with)
{
    const struct ta_cell *a = left, *b = right;
    const struct order *order = with;
    const struct ta_cell *x = &a[order->column], *y = &b[order->column];
    const size_t within = order->within;
    int result = within == SIZE_MAX ? 0 : compare_cells(&a[within], &b[within]);
    if (result)
        return result;
    result = compare_cells(x, y);
    if (result && order->descending && x->kind != TA_CELL_NULL && y->kind != TA_CELL_NULL)
        return -result;
    for (size_t i = 0; result == 0 && i < order->width; i++)
        result = compare_cells(&a[i], &b[i]);
    return result;
}

void ta_cells_sort(struct ta_cell *cells, size_t n_rows, size_t n_columns, size_t within,
                   size_t column, bool descending)
{
    struct order order = {within, column, n_columns, descending};
    if (n_rows > 1)
        qsort_r(cells, n_rows, n_columns * sizeof *cells, compare_rows, &order);
}

/* ---- columns and units --------------------------------------------------------------- */

static size_t column_of(const struct ta_table *table, enum ta_role role, const char *key)
{
    for (size_t i = 0; i < table->n_columns; i++)
        if (table->columns[i].role == role)
            return i;
    return ta_table_column(table, key);
}

size_t ta_table_rank(const struct ta_table *table)
{
    return column_of(table, TA_RANK, "rank");
}

size_t ta_table_device(const struct ta_table *table)
{
    return column_of(table, TA_DEVICE, "device");
}

size_t ta_table_units(const struct ta_table *table)
{
    return column_of(table, TA_UNIT_OF_ROW, "unit");
}

bool ta_table_rises(const struct ta_table *table, size_t row, size_t column)
{
    const size_t better = column_of(table, TA_BETTER_OF_ROW, "polarity");
    if (better == SIZE_MAX)
        return table->columns[column].better == TA_HIGHER;
    return ta_slice_equal(ta_table_cell(table, row, better)->text,
                          ta_slice_of(ta_polarity_name(TA_HIGHER)));
}

bool ta_column_is_shown(const struct ta_table *table, size_t column)
{
    return table->columns[column].type != TA_TYPE_ID && column != ta_table_units(table);
}

bool ta_column_has_values(const struct ta_table *table, size_t column)
{
    for (size_t row = 0; row < table->n_rows; row++)
        if (ta_table_cell(table, row, column)->kind != TA_CELL_NULL)
            return true;
    return false;
}

bool ta_column_is_useful(const struct ta_table *table, size_t column)
{
    return ta_column_is_shown(table, column) && ta_column_has_values(table, column);
}

/* Rates of which a word of the row says that they are of a clock. */
static bool is_clock(const struct ta_table *table, size_t row)
{
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct ta_cell *cell = ta_table_cell(table, row, i);
        const bool of_ours =
            table->columns[i].type == TA_TYPE_WORD || table->columns[i].type == TA_TYPE_ID;
        if (of_ours && cell->kind == TA_CELL_TEXT &&
            memmem(cell->text.ptr, cell->text.len, "_clock", 6))
            return true;
    }
    return false;
}

static enum ta_unit unit_named(struct ta_slice name)
{
    for (int unit = 0; unit < TA_UNIT_COUNT_OF_UNITS; unit++)
        if (ta_slice_equal(name, ta_slice_of(ta_unit_name((enum ta_unit)unit))))
            return (enum ta_unit)unit;
    return TA_UNIT_NONE;
}

/* The unit of differences of values with a unit. */
static enum ta_unit change_of(enum ta_unit unit)
{
    switch (unit) {
    case TA_UNIT_NS:
        return TA_UNIT_NS_CHANGE;
    case TA_UNIT_BYTES:
        return TA_UNIT_BYTES_CHANGE;
    case TA_UNIT_COUNT:
        return TA_UNIT_COUNT_CHANGE;
    case TA_UNIT_RATIO:
        return TA_UNIT_POINTS_CHANGE;
    case TA_UNIT_PER_S:
        return TA_UNIT_PER_S_CHANGE;
    case TA_UNIT_BYTES_PER_S:
        return TA_UNIT_BYTES_PER_S_CHANGE;
    case TA_UNIT_CELSIUS:
        return TA_UNIT_CELSIUS_CHANGE;
    case TA_UNIT_WATT:
        return TA_UNIT_WATT_CHANGE;
    case TA_UNIT_JOULE:
        return TA_UNIT_JOULE_CHANGE;
    case TA_UNIT_FLOP:
        return TA_UNIT_FLOP_CHANGE;
    case TA_UNIT_FLOP_PER_S:
        return TA_UNIT_FLOP_PER_S_CHANGE;
    case TA_UNIT_HERTZ:
        return TA_UNIT_HERTZ_CHANGE;
    default:
        return unit;
    }
}

enum ta_unit ta_table_unit(const struct ta_table *table, size_t row, size_t column)
{
    const struct ta_column *head = &table->columns[column];
    const size_t units = ta_table_units(table);
    const bool of_row = head->unit == TA_UNIT_NONE || head->unit == TA_UNIT_CHANGE;
    if (!of_row || head->type != TA_TYPE_NUMBER || units == SIZE_MAX)
        return head->unit;
    const struct ta_cell *cell = ta_table_cell(table, row, units);
    enum ta_unit unit = cell->kind == TA_CELL_TEXT ? unit_named(cell->text) : TA_UNIT_NONE;
    if (unit == TA_UNIT_PER_S && is_clock(table, row))
        unit = TA_UNIT_HERTZ;
    return head->unit == TA_UNIT_CHANGE ? change_of(unit) : unit;
}
