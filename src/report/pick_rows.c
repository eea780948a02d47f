/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rows people are shown of tables that are too long. */
#include "report/tables.h"
#include "traceanalyze/chart.h"
#include "traceanalyze/report.h"

#include <math.h>
#include <stdlib.h>

/* Rows are in the order of several ranks, which the table names first. */
static bool goes_by_rank(const struct ta_table *table)
{
    if (table->n_rows == 0 || ta_table_rank(table) != 0)
        return false;
    double before = ta_cell_number(ta_table_cell(table, 0, 0), -1);
    bool several = false;
    for (size_t row = 1; row < table->n_rows; row++) {
        const double rank = ta_cell_number(ta_table_cell(table, row, 0), -1);
        if (rank < before)
            return false;
        several |= rank > before;
        before = rank;
    }
    return several;
}

/* Rows that are points of curves or places of a map mean nothing out of their order. */
static bool has_points(const struct ta_table *table)
{
    for (const struct ta_chart *chart = table->chart; chart; chart = chart->next)
        if (chart->kind == TA_CHART_LINES || chart->kind == TA_CHART_ECDF ||
            chart->kind == TA_CHART_HEAT || chart->kind == TA_CHART_TREE ||
            chart->kind == TA_CHART_AREAS)
            return true;
    return false;
}

/* Numbers of which more is better or worse, and that can be compared: not of a unit by row. */
static bool is_measure(const struct ta_table *table, const struct ta_column *column)
{
    const bool is_number = column->type == TA_TYPE_INTEGER || column->type == TA_TYPE_NUMBER;
    return is_number && column->better != TA_NEUTRAL &&
           (column->unit != TA_UNIT_NONE || ta_table_units(table) == SIZE_MAX);
}

size_t ta_table_measure(const struct ta_table *table, size_t n)
{
    if (n >= table->n_rows || !goes_by_rank(table) || has_points(table))
        return SIZE_MAX;
    size_t first = SIZE_MAX;
    for (size_t i = 1; i < table->n_columns; i++) {
        const struct ta_column *column = &table->columns[i];
        if (is_measure(table, column) && column->unit != TA_UNIT_COUNT)
            return i; /* how often something happens says less than what it takes */
        if (is_measure(table, column) && first == SIZE_MAX)
            first = i;
    }
    return first;
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
    const double badness = ta_table_more_is_worse(table, measure) ? value : -value;
    return (struct place){isnan(value) ? -INFINITY : badness, row};
}

bool ta_table_pick_rows(const struct ta_table *table, size_t measure, size_t n, size_t *rows)
{
    if (measure == SIZE_MAX) {
        for (size_t i = 0; i < n; i++)
            rows[i] = i;
        return true;
    }
    struct place *places = reallocarray(NULL, table->n_rows, sizeof *places);
    if (!places)
        return false;
    for (size_t i = 0; i < table->n_rows; i++)
        places[i] = place_of(table, i, measure);
    qsort(places, table->n_rows, sizeof *places, compare_places);
    for (size_t i = 0; i < n; i++)
        rows[i] = places[i].row;
    free(places);
    return true;
}

size_t ta_table_place(const struct ta_table *table, size_t measure, size_t row)
{
    if (measure == SIZE_MAX || row >= table->n_rows)
        return row;
    const struct place place = place_of(table, row, measure);
    size_t before = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct place other = place_of(table, i, measure);
        before += compare_places(&other, &place) < 0;
    }
    return before;
}
