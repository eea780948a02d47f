/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables: complete in the markup up to some hundred rows, the rest as data for the script.
 *
 * A cell shows the value for people and carries the exact one in data-v, by which the script
 * sorts, copies and exports. */
#include "html.h"

#include "base/deflate.h"
#include "base/write/file.h"
#include "render/base64.h"
#include "report/tables.h"

#include <stdlib.h>

/* ---- cells --------------------------------------------------------------------------------- */

/* Numbers stand to the right, sentences are broken into lines. */
static void put_class(const struct page *page, const struct ta_column *column, const char *more)
{
    const bool is_sentence = column->type == TA_TYPE_SENTENCE;
    const char *own = ta_column_is_number(column) ? "n" : is_sentence ? "s" : "";
    if (*own || *more)
        html_put(page, " class=\"%s%s%s\"", own, *own && *more ? " " : "", more);
}

static void put_column_head(const struct page *page, const struct ta_table *table, size_t at,
                            bool hidden)
{
    const struct ta_column *column = &table->columns[at];
    ta_puts(page->out, hidden ? "<th scope=\"col\" hidden=\"\"" : "<th scope=\"col\"");
    put_class(page, column, "");
    html_put(page, " data-key=\"%s\" data-unit=\"%s\"", column->key, ta_unit_name(column->unit));
    html_timeline_column(page, table, at);
    html_put(page, " title=\"%s%s\">%s</th>", column->doc ? column->doc : column->title,
             column->better == TA_LOWER    ? " Lower is better."
             : column->better == TA_HIGHER ? " Higher is better."
                                           : "",
             column->title);
}

/* The classes nil and empty tell the script that the text of such a cell is not its value. */
void html_cell(const struct page *page, const struct ta_table *table, size_t row, size_t at,
               int flags)
{
    const struct ta_cell *cell = ta_table_cell(table, row, at);
    const struct ta_column *column = &table->columns[at];
    const bool is_head = flags & HTML_CELL_HEAD;
    ta_puts(page->out, is_head ? "<th scope=\"row\"" : "<td");
    if (flags & HTML_CELL_HIDDEN)
        ta_puts(page->out, " hidden=\"\"");
    const bool is_empty = cell->kind == TA_CELL_TEXT && cell->text.len == 0;
    put_class(page, column, cell->kind == TA_CELL_NULL ? "nil" : is_empty ? "empty" : "");
    if (cell->kind == TA_CELL_NULL) {
        ta_puts(page->out, ">–");
    } else if (is_empty) {
        ta_puts(page->out, ">(empty)");
    } else if (cell->kind == TA_CELL_TEXT && column->type == TA_TYPE_WORD) {
        char buffer[TA_WORD_TEXT_MAX];
        ta_puts(page->out, " data-t=\"");
        ta_put_html(page->out, cell->text);
        ta_puts(page->out, "\">");
        ta_put_html(page->out, ta_table_text(table, row, at, buffer));
    } else if (cell->kind == TA_CELL_TEXT) {
        ta_putc(page->out, '>');
        if (column->type == TA_TYPE_SENTENCE)
            ta_put_html(page->out, cell->text);
        else
            html_said_name(page, cell->text);
    } else {
        char buffer[TA_WORD_TEXT_MAX];
        ta_puts(page->out, " data-v=\"");
        ta_put_json_cell(page->out, cell, true);
        ta_puts(page->out, "\">");
        ta_put_html(page->out, ta_table_text(table, row, at, buffer));
    }
    ta_puts(page->out, is_head ? "</th>" : "</td>");
}

/* A text as people say it: itself or, when long, {"a": first run, "b": last run}; where the input
 * has more of it, with that as "t". */
static void put_data_name(struct ta_file *out, struct ta_slice name)
{
    struct ta_arena arena = {0};
    const struct ta_slice said = html_said(&arena, name);
    const bool is_whole = ta_slice_equal(said, name);
    const size_t split = html_name_split(said);
    if (is_whole && split == said.len) {
        ta_put_json(out, said, true);
    } else {
        ta_puts(out, "{\"a\":");
        ta_put_json(out, (struct ta_slice){said.ptr, split}, true);
        if (split < said.len) {
            ta_puts(out, ",\"b\":");
            ta_put_json(out, ta_slice_from(said, split), true);
        }
        if (!is_whole) {
            ta_puts(out, ",\"t\":");
            ta_put_json(out, name, true);
        }
        ta_putc(out, '}');
    }
    ta_arena_free(&arena);
}

/* null is itself, a sentence is a text, a name as above; any other value is [exact value, text for
 * people]. */
static void put_data_cell(const struct page *page, const struct ta_table *table, size_t row,
                          size_t column)
{
    struct ta_file *out = page->out;
    const struct ta_cell *cell = ta_table_cell(table, row, column);
    const bool is_word = table->columns[column].type == TA_TYPE_WORD;
    if (cell->kind == TA_CELL_NULL) {
        ta_puts(out, "null");
    } else if (cell->kind == TA_CELL_TEXT && !is_word) {
        if (table->columns[column].type == TA_TYPE_SENTENCE)
            ta_put_json(out, cell->text, true);
        else
            put_data_name(out, cell->text);
    } else {
        char buffer[TA_WORD_TEXT_MAX];
        ta_putc(out, '[');
        ta_put_json_cell(out, cell, true);
        ta_putc(out, ',');
        ta_put_json(out, ta_table_text(table, row, column, buffer), true);
        ta_putc(out, ']');
    }
}

/* A row that does not stand in its place of the report has its number after its cells. */
static void put_data(const struct page *page, const struct ta_table *table,
                     const struct html_rows *rows)
{
    ta_putc(page->out, '[');
    for (size_t at = rows->n_markup; at < rows->n; at++) {
        ta_puts(page->out, at > rows->n_markup ? ",\n[" : "\n[");
        for (size_t i = 0; i < table->n_columns; i++) {
            if (i)
                ta_putc(page->out, ',');
            put_data_cell(page, table, rows->at[at], i);
        }
        if (rows->at[at] != at)
            ta_putf(page->out, ",%zu", rows->at[at]);
        ta_putc(page->out, ']');
    }
    ta_puts(page->out, "\n]");
}

/* Rows as data: as they are where they are few, else deflated, as a text of base64. */
static enum ta_status put_rest(const struct page *page, const struct ta_table *table,
                               const struct html_rows *rows)
{
    enum { FEW = 4096 /* bytes */ };
    struct ta_file draft;
    ta_file_start_draft(&draft);
    struct page drafted = *page;
    drafted.out = &draft;
    put_data(&drafted, table, rows);
    ta_puts(page->out, "<script type=\"application/json\">");
    enum ta_status status = TA_OK;
    if (draft.used < FEW) {
        ta_file_take(page->out, &draft);
    } else {
        unsigned char *packed;
        size_t size;
        status = ta_deflate(page->ctx, (struct ta_slice){draft.buffer, draft.used}, &packed, &size)
                     ? TA_OK
                     : TA_ERR_NOMEM;
        if (!page->out->error) /* rows that the draft lacks are missed here as well */
            page->out->error = draft.error;
        ta_file_end(&draft);
        if (status == TA_OK) {
            ta_putc(page->out, '"');
            status = ta_put_base64(page->ctx, page->out, packed, size);
            ta_putc(page->out, '"');
            free(packed);
        }
    }
    ta_puts(page->out, "</script>\n");
    return status;
}

/* ", those with the largest “Window”"; nothing where they are the first. */
static void put_measure(const struct page *page, const struct ta_table *table)
{
    const size_t measure = html_measure(page, table);
    if (measure == SIZE_MAX)
        return;
    html_put(page, ", those with the %s “%s”",
             ta_table_more_is_worse(table, measure) ? "largest" : "smallest",
             table->columns[measure].title);
}

/* To the script of a tree: which share a call passes on that says nothing by itself. */
static void put_passing(const struct page *page, const struct ta_table *table)
{
    for (const struct ta_chart *chart = table->chart; chart; chart = chart->next)
        if (chart->kind == TA_CHART_TREE) {
            ta_putf(page->out, "\" data-passes=\"%.3f", TA_TREE_PASSES_ON);
            return;
        }
}

static void put_limit(const struct page *page, const struct ta_table *table, size_t rows,
                      const char *begin, const char *end)
{
    ta_puts(page->out, begin);
    html_count(page, rows, "row", "rows");
    ta_puts(page->out, " of ");
    html_number(page, table->n_rows);
    if (html_measure(page, table) == SIZE_MAX)
        ta_puts(page->out, " in this order");
    put_measure(page, table);
    ta_puts(page->out, end);
}

static void put_grid(const struct page *page, const struct ta_table *table,
                     const struct html_rows *rows, const enum html_hidden *hidden)
{
    html_put(page,
             "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n<table>\n"
             "<thead><tr>",
             table->title);
    for (size_t i = 0; i < table->n_columns; i++)
        put_column_head(page, table, i, hidden[i]);
    ta_puts(page->out, "</tr></thead>\n<tbody>\n");
    for (size_t at = 0; at < rows->n_markup; at++) {
        /* Rows after `top` carry class x: the script starts with them folded away. */
        const size_t row = rows->at[at], top = page->options->top;
        html_put(page,
                 top && at >= top ? "<tr class=\"x\" id=\"r-%s-%zu\">" : "<tr id=\"r-%s-%zu\">",
                 table->id, row);
        for (size_t i = 0; i < table->n_columns; i++)
            html_cell(page, table, row, i,
                      (i == 0 ? HTML_CELL_HEAD : 0) | (hidden[i] ? HTML_CELL_HIDDEN : 0));
        ta_puts(page->out, "</tr>\n");
    }
    ta_puts(page->out, "</tbody>\n</table>\n</div>\n");
    html_put_hidden(page, table, hidden);
}

static void put_fold(const struct page *page, const struct ta_table *table)
{
    html_put(page, "<details class=\"fold\"><summary>%s <span class=\"count\">", table->title);
    html_count(page, table->n_rows, "row", "rows");
    ta_puts(page->out, "</span></summary>\n");
}

enum ta_status html_table(const struct page *page, const struct ta_table *table,
                          enum html_opening opening)
{
    const bool is_folded = opening != HTML_OPEN;
    enum html_hidden *hidden = calloc(table->n_columns + 1, sizeof *hidden);
    if (!hidden)
        return ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot lay out a table: id=\"%s\"", table->id);
    struct html_rows rows;
    const enum ta_status status = html_pick_rows(page, table, &rows);
    if (status != TA_OK) {
        free(hidden);
        return status;
    }
    html_choose_columns(table, opening, hidden);
    enum ta_status written = TA_OK;
    if (is_folded) {
        rows.n_markup = 0;
        put_fold(page, table);
        written = opening == HTML_FOLDED ? html_figures(page, table) : TA_OK;
    }
    html_put(page,
             "<div class=\"table\" id=\"t-%s\" data-top=\"%zu\" data-total=\"%zu\" data-which=\"",
             table->id, (size_t)page->options->top, table->n_rows);
    put_measure(page, table);
    put_passing(page, table);
    ta_puts(page->out, "\">\n");
    if (!is_folded)
        html_put(page, "<h3>%s</h3>\n", table->title);
    put_grid(page, table, &rows, hidden);

    /* Says what is not in the page; the script knows of data-carried more rows than stand here. */
    if (rows.n > rows.n_markup && !is_folded)
        put_limit(page, table, rows.n_markup, "<p class=\"limit static\">Shown are ",
                  ". report.json holds all of them.</p>\n");
    if (rows.n < table->n_rows)
        put_limit(page, table, rows.n, "<p class=\"limit\">This page carries ",
                  ". report.json holds all of them.</p>\n");
    if (written == TA_OK && rows.n > rows.n_markup)
        written = put_rest(page, table, &rows);
    ta_puts(page->out, is_folded ? "</div>\n</details>\n" : "</div>\n");
    free(hidden);
    free(rows.at);
    return written;
}
