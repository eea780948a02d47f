/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which charts are worth drawing: one bar, one dot or one point of a line is compared with nothing,
 * and the table has its number. */
#include "render/chart/says.h"

#include <math.h>

/* What is counted goes no further than this. */
enum { SEVERAL = 2, BOXES_LEAST = 3 };

static size_t column_of(const struct ta_table *table, const char *key)
{
    return key ? ta_table_column(table, key) : SIZE_MAX;
}

static double value_at(const struct ta_table *table, size_t row, size_t column)
{
    return column == SIZE_MAX ? NAN : ta_cell_number(ta_table_cell(table, row, column), NAN);
}

static bool same_name(const struct ta_table *table, const struct ta_chart *chart, size_t a,
                      size_t b)
{
    for (size_t i = 0; i < TA_CHART_LABELS && chart->label[i]; i++) {
        const size_t column = column_of(table, chart->label[i]);
        if (column != SIZE_MAX &&
            !ta_cell_equal(ta_table_cell(table, a, column), ta_table_cell(table, b, column)))
            return false;
    }
    return true;
}

static bool has_length(const struct ta_table *table, const struct ta_chart *chart, size_t row)
{
    for (size_t i = 0; i < TA_CHART_SERIES_MAX && chart->y[i].column; i++) {
        const double value = value_at(table, row, column_of(table, chart->y[i].column));
        if (!isnan(value) && value != 0)
            return true;
    }
    return false;
}

/* Rows of one name are one bar where their groups are its segments. */
static bool several_bars(const struct ta_table *table, const struct ta_chart *chart)
{
    const bool joined = chart->kind == TA_CHART_STACKED_BARS && chart->group;
    size_t first = SIZE_MAX;
    for (size_t row = 0; row < table->n_rows; row++) {
        if (!ta_chart_draws(table, chart, row) || !has_length(table, chart, row))
            continue;
        if (first == SIZE_MAX)
            first = row;
        else if (!joined || !same_name(table, chart, first, row))
            return true;
    }
    return false;
}

/* Whether values of any series stand at two places of the axis x; without an x at two rows. */
static bool several_places(const struct ta_table *table, const struct ta_chart *chart)
{
    const size_t x_column = column_of(table, chart->x);
    for (size_t i = 0; i < TA_CHART_SERIES_MAX && chart->y[i].column; i++) {
        const size_t column = column_of(table, chart->y[i].column);
        double first = NAN;
        for (size_t row = 0; row < table->n_rows; row++) {
            const double y = value_at(table, row, column);
            const double x = chart->x ? value_at(table, row, x_column) : (double)row;
            if (isnan(x) || isnan(y) || !ta_chart_draws(table, chart, row))
                continue;
            if (!isnan(first) && x != first)
                return true;
            first = isnan(first) ? x : first;
        }
    }
    return false;
}

static size_t count_values(const struct ta_table *table, const struct ta_chart *chart)
{
    const size_t column = column_of(table, chart->y[0].column);
    size_t n = 0;
    for (size_t row = 0; row < table->n_rows && n < SEVERAL; row++)
        n += isnan(value_at(table, row, column)) ? 0 : 1;
    return n;
}

/* Logarithmic axes have no place for 0. */
static size_t count_dots(const struct ta_table *table, const struct ta_chart *chart)
{
    const size_t x = column_of(table, chart->x), y = column_of(table, chart->y[0].column);
    size_t n = 0;
    for (size_t row = 0; row < table->n_rows && n < SEVERAL; row++)
        n += value_at(table, row, x) > 0 && value_at(table, row, y) > 0 ? 1 : 0;
    return n;
}

bool ta_chart_says(const struct ta_table *table, const struct ta_chart *chart)
{
    if (!chart->y[0].column)
        return false;
    switch (chart->kind) {
    case TA_CHART_STACKED_BARS:
    case TA_CHART_PARETO:
    case TA_CHART_BARS:
        return several_bars(table, chart);
    case TA_CHART_ECDF:
    case TA_CHART_LINES:
        return several_places(table, chart);
    case TA_CHART_SCATTER:
        return count_dots(table, chart) >= SEVERAL;
    case TA_CHART_DOTS:
    case TA_CHART_HEAT:
        return count_values(table, chart) >= SEVERAL;
    case TA_CHART_TREE:
        return table->n_rows >= BOXES_LEAST && count_values(table, chart) >= SEVERAL;
    default: /* a change, or a lane, says something alone */
        return count_values(table, chart) > 0;
    }
}

const struct ta_chart *ta_chart_after(const struct ta_table *table, const struct ta_chart *chart)
{
    chart = chart ? chart->next : table->chart;
    while (chart && !ta_chart_says(table, chart))
        chart = chart->next;
    return chart;
}
