/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts as figures: the drawing, its caption, and the drawn rows as a plain table. */
#include "html.h"

#include <traceanalyze/chart.h>
#include <traceanalyze/svg.h>

/* Width of a chart in points; the style sheet scales the drawing to its place. */
static const double chart_width = 620;
/* Rows of a chart's own data table; the table below the chart has the others. */
enum { DATA_ROWS = 60 };
/* Two names, one x, the series, one group. */
enum { DATA_COLUMNS = 2 + 1 + TA_CHART_SERIES_MAX + 1 };

struct selection {
    size_t columns[DATA_COLUMNS];
    size_t n;
};

static void select_column(struct selection *selection, const struct ta_table *table,
                          const char *key)
{
    const size_t column = key ? ta_table_column(table, key) : SIZE_MAX;
    if (column == SIZE_MAX || selection->n == DATA_COLUMNS)
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
    select_column(&selection, table, chart->label[0]);
    select_column(&selection, table, chart->label[1]);
    select_column(&selection, table, chart->group);
    select_column(&selection, table, chart->x);
    for (size_t i = 0; i < TA_CHART_SERIES_MAX && chart->y[i].column; i++)
        select_column(&selection, table, chart->y[i].column);
    return selection;
}

static void put_drawn_rows(const struct page *page, const struct ta_table *table,
                           const struct ta_chart *chart)
{
    const struct selection selection = select_columns(table, chart);
    size_t n = chart->top && chart->top < table->n_rows ? chart->top : table->n_rows;
    if (n > DATA_ROWS)
        n = DATA_ROWS;
    ta_puts(page->out, "<details><summary>Data</summary>\n<div class=\"scroll\" role=\"region\" "
                       "tabindex=\"0\" aria-label=\"Data of ");
    html_text(page, chart->title);
    ta_puts(page->out, "\">\n<table>\n<thead><tr>");
    for (size_t i = 0; i < selection.n; i++) {
        const struct ta_column *column = &table->columns[selection.columns[i]];
        const bool is_text = column->type == TA_TYPE_STRING || column->type == TA_TYPE_BOOLEAN;
        ta_puts(page->out, is_text ? "<th scope=\"col\">" : "<th scope=\"col\" class=\"n\">");
        html_text(page, column->title);
        ta_puts(page->out, "</th>");
    }
    ta_puts(page->out, "</tr></thead>\n<tbody>\n");
    for (size_t row = 0; row < n; row++) {
        ta_puts(page->out, "<tr>");
        for (size_t i = 0; i < selection.n; i++) {
            const size_t column = selection.columns[i];
            html_cell(page, ta_table_cell(table, row, column), &table->columns[column], i == 0);
        }
        ta_puts(page->out, "</tr>\n");
    }
    ta_puts(page->out, "</tbody>\n</table>\n</div>\n");
    if (n < table->n_rows) {
        ta_puts(page->out, "<p class=\"limit\">The first ");
        html_number(page, n);
        ta_puts(page->out, " of <a href=\"#t-");
        html_text(page, table->id);
        ta_puts(page->out, "\">");
        html_count(page, table->n_rows, "row", "rows");
        ta_puts(page->out, "</a>.</p>\n");
    }
    ta_puts(page->out, "</details>\n");
}

static enum ta_status put_figure(const struct page *page, const struct ta_table *table,
                                 const struct ta_chart *chart)
{
    struct ta_scene *scene = ta_scene_build(table, chart, chart_width, 0);
    if (!scene)
        return ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot lay out a chart: id=\"%s\"", chart->id);
    ta_puts(page->out, "<figure id=\"c-");
    html_text(page, chart->id);
    ta_puts(page->out, "\">\n<div class=\"drawing\">");
    ta_put_svg(page->out, scene);
    ta_puts(page->out, "</div>\n<figcaption>");
    if (scene->caption)
        html_text(page, scene->caption);
    ta_puts(page->out, "</figcaption>\n");
    ta_scene_free(scene);
    put_drawn_rows(page, table, chart);
    ta_puts(page->out, "</figure>\n");
    return TA_OK;
}

enum ta_status html_figures(const struct page *page, const struct ta_table *table)
{
    if (!table->chart)
        return TA_OK;
    ta_puts(page->out, "<div class=\"figures\">\n");
    for (const struct ta_chart *chart = table->chart; chart; chart = chart->next) {
        const enum ta_status status = put_figure(page, table, chart);
        if (status)
            return status;
    }
    ta_puts(page->out, "</div>\n");
    return TA_OK;
}
