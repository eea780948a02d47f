/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts as figures: the drawing, its caption, and the drawn rows as a plain table. */
#include "html.h"
#include "report/tables.h"
#include "render/chart/says.h"
#include "render/chart/scene.h"
#include "render/chart/svg.h"

#include <traceanalyze/chart.h>
#include <traceanalyze/table.h>

#include <math.h>
#include <stdlib.h>

/* Width of a chart in points; the style sheet scales the drawing to its place. */
static const double chart_width = 720;
/* Rows of a chart's own data table; the table below the chart has the others. */
enum { DATA_ROWS = 60 };
/* Two names, one x, the series, one group. */
enum { DATA_COLUMNS = TA_CHART_LABELS + 1 + TA_CHART_SERIES_MAX + 1 };

struct selection {
    size_t columns[DATA_COLUMNS];
    size_t n;
};

static void select_column(struct selection *selection, const struct ta_table *table,
                          const char *key)
{
    const size_t column = key ? ta_table_column(table, key) : SIZE_MAX;
    if (column == SIZE_MAX || selection->n == DATA_COLUMNS || !ta_column_is_useful(table, column))
        return;
    for (size_t i = 0; i < selection->n; i++)
        if (selection->columns[i] == column)
            return;
    selection->columns[selection->n++] = column;
}

/* The columns that a chart draws, names first. */
static struct selection select_columns(const struct ta_table *table, const struct ta_chart *chart)
{
    struct selection selection = {.n = 0};
    for (size_t i = 0; i < TA_CHART_LABELS; i++)
        select_column(&selection, table, chart->label[i]);
    select_column(&selection, table, chart->group);
    select_column(&selection, table, chart->x);
    for (size_t i = 0; i < TA_CHART_SERIES_MAX && chart->y[i].column; i++)
        select_column(&selection, table, chart->y[i].column);
    return selection;
}

/* ---- rows: those that are drawn, in the order of the drawing ------------------------------ */

struct order {
    const struct ta_table *table;
    size_t column;
};

static int by_value_descending(const void *left, const void *right, void *with)
{
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const struct order *order = with;
    const double x = ta_cell_number(ta_table_cell(order->table, a, order->column), -HUGE_VAL);
    const double y = ta_cell_number(ta_table_cell(order->table, b, order->column), -HUGE_VAL);
    return x != y ? (x < y) - (x > y) : (a > b) - (a < b);
}

/* Numbers of the rows that are drawn: by the first series for a chart that ranks, else as the table
 * has them. NULL when out of memory. */
static size_t *order_rows(const struct ta_table *table, const struct ta_chart *chart, size_t *n)
{
    size_t *rows = malloc((table->n_rows + 1) * sizeof *rows);
    if (!rows)
        return NULL;
    *n = 0;
    for (size_t row = 0; row < table->n_rows; row++)
        if (ta_chart_draws(table, chart, row))
            rows[(*n)++] = row;
    struct order order = {table, SIZE_MAX};
    if (chart->kind == TA_CHART_PARETO && chart->y[0].column)
        order.column = ta_table_column(table, chart->y[0].column);
    if (order.column != SIZE_MAX)
        qsort_r(rows, *n, sizeof *rows, by_value_descending, &order);
    return rows;
}

static void put_data(const struct page *page, const struct ta_table *table,
                     const struct ta_chart *chart, const size_t *rows, size_t n_rows)
{
    const struct selection selection = select_columns(table, chart);
    size_t n = chart->top && chart->top < n_rows ? chart->top : n_rows;
    if (n > DATA_ROWS)
        n = DATA_ROWS;
    html_put(page,
             "<details><summary>Data</summary>\n<div class=\"scroll\" role=\"region\" "
             "tabindex=\"0\" aria-label=\"Data of %s\">\n<table>\n<thead><tr>",
             chart->title);
    for (size_t i = 0; i < selection.n; i++) {
        const struct ta_column *column = &table->columns[selection.columns[i]];
        html_put(page,
                 ta_column_is_number(column) ? "<th scope=\"col\" class=\"n\">%s</th>"
                                             : "<th scope=\"col\">%s</th>",
                 column->title);
    }
    ta_puts(page->out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < n; i++) {
        ta_puts(page->out, "<tr>");
        for (size_t k = 0; k < selection.n; k++) {
            const size_t column = selection.columns[k];
            html_cell(page, table, rows[i], column, k == 0 ? HTML_CELL_HEAD : 0);
        }
        ta_puts(page->out, "</tr>\n");
    }
    ta_puts(page->out, "</tbody>\n</table>\n</div>\n");
    if (n < n_rows) {
        ta_puts(page->out, "<p class=\"limit\">");
        html_number(page, n);
        const bool is_points = ta_table_is_points(table);
        if (is_points)
            ta_puts(page->out, " of ");
        else
            html_put(page, " of <a href=\"#t-%s\">", table->id);
        html_count(page, n_rows, "row", "rows");
        ta_puts(page->out, is_points ? ". report.json holds all of them.</p>\n" : "</a>.</p>\n");
    }
    ta_puts(page->out, "</details>\n");
}

static enum ta_status put_figure(const struct page *page, const struct ta_table *table,
                                 const struct ta_chart *chart)
{
    struct ta_scene *scene = ta_page_scene(table, chart, chart_width);
    size_t n_rows;
    size_t *rows = order_rows(table, chart, &n_rows);
    const bool is_done = scene && rows;
    if (is_done) {
        /* Where the page is narrower than the drawing, bars count more than the beginnings of
         * names. */
        const bool at_end = chart->kind == TA_CHART_FOREST;
        html_put(page, "<figure id=\"c-%s\">\n<p class=\"title\">%s</p>\n<div class=\"drawing%s\">",
                 chart->id, chart->title, at_end ? " end" : "");
        ta_put_svg(page->out, scene);
        html_put(page, "</div>\n<figcaption>%s</figcaption>\n", scene->caption);
        put_data(page, table, chart, rows, n_rows);
        ta_puts(page->out, "</figure>\n");
    }
    ta_scene_free(scene);
    free(rows);
    return is_done
               ? TA_OK
               : ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot lay out a chart: id=\"%s\"", chart->id);
}

/* ---- the picture ----------------------------------------------------------------------------- */

bool html_is_picture(const struct page *page, const struct ta_chart *chart)
{
    const struct ta_table *table;
    return chart == ta_report_picture(page->report, &table);
}

/* A waterfall and panels leave room for what is below; lanes are as high as they have to be. */
static double height_of(const struct ta_chart *chart)
{
    return chart->kind == TA_CHART_WATERFALL ? 250 : chart->kind == TA_CHART_LINES ? 215 : 0;
}

/* The picture of the first screen, for wide pages and for narrow ones: the style sheet shows one.
 */
enum ta_status html_picture(const struct page *page)
{
    static const struct {
        const char *id;
        double width;
    } drawings[] = {{"picture-wide", 760}, {"picture-narrow", 300}};
    const struct ta_table *table;
    const struct ta_chart *chart = ta_report_picture(page->report, &table);
    if (!chart)
        return TA_OK;
    html_put(page, "<figure id=\"c-%s\" class=\"picture\">\n<p class=\"title\">%s</p>\n", chart->id,
             chart->title);
    bool is_done = true;
    for (size_t i = 0; i < TA_LENGTH(drawings) && is_done; i++) {
        struct ta_scene *scene =
            ta_page_scene_within(table, chart, drawings[i].width, height_of(chart));
        is_done = scene;
        if (scene) {
            scene->id = drawings[i].id;
            html_put(page, "<div class=\"%s\">", drawings[i].id);
            ta_put_svg(page->out, scene);
            ta_puts(page->out, "</div>\n");
        }
        ta_scene_free(scene);
    }
    size_t n_rows;
    size_t *rows = order_rows(table, chart, &n_rows);
    if (rows)
        put_data(page, table, chart, rows, n_rows);
    ta_puts(page->out, "</figure>\n");
    is_done &= rows != NULL;
    free(rows);
    return is_done ? TA_OK
                   : ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot lay out the picture of the run");
}

/* The chart of a table after `chart`, or the first, that says something and is not on the first
 * screen. */
static const struct ta_chart *shown(const struct page *page, const struct ta_table *table,
                                    const struct ta_chart *chart)
{
    do
        chart = ta_chart_after(table, chart);
    while (chart && html_is_picture(page, chart));
    return chart;
}

enum ta_status html_figures(const struct page *page, const struct ta_table *table)
{
    const struct ta_chart *chart = shown(page, table, NULL);
    if (!chart)
        return TA_OK;
    /* On paper a table stands for what its chart says, too, and few charts for all others. */
    html_put(page, "<div class=\"figures%s\">\n",
             ta_table_is_points(table)        ? " more"
             : chart->kind == TA_CHART_PARETO ? " repeats"
                                              : "");
    for (; chart; chart = shown(page, table, chart)) {
        const enum ta_status status = put_figure(page, table, chart);
        if (status)
            return status;
    }
    ta_puts(page->out, "</div>\n");
    return TA_OK;
}
