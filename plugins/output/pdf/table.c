/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that fit the page: as many columns as there is room for, long names in two lines, heads
 * repeated on each page. */
#include "lib/columns.h"
#include "pdf.h"
#include "report/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_PAD = 3, ROW_PAD = 3, NAME_LINES = 3, SENTENCE_LINES = 8, MOST_SPARE = 28 };
/* A column of texts wider than this may shrink to it. */
enum { NAME_LEAST = 120, NAME_MOST = 300 };

/* How a table is laid out, which the first pass finds and the second one takes over. */
struct grid {
    struct grid *next;
    const struct ta_table *table;
    struct pdf_rows rows; /* drawn */
    size_t n_columns;     /* drawn */
    size_t *columns;      /* their numbers in the table */
    size_t n_useful;      /* of the same, those that would be drawn on a wider page */
    double *width;        /* of each column, padding included */
    bool *is_wide;        /* texts, which are broken into lines */
};

static const struct ta_column *head_of(const struct grid *grid, size_t column)
{
    return &grid->table->columns[grid->columns[column]];
}

static double natural_width(struct pdf *pdf, const struct grid *grid, size_t column)
{
    PangoLayout *head = pdf_layout(pdf, PDF_HEAD, head_of(grid, column)->title, 1);
    pango_layout_set_wrap(head, PANGO_WRAP_WORD);
    double widest = pdf_layout_width(head); /* of a word */
    g_object_unref(head);
    for (size_t i = 0; i < grid->rows.n; i++) {
        const char *text =
            pdf_table_text(pdf, grid->table, grid->rows.at[i], grid->columns[column]);
        widest = fmax(widest, pdf_text_width(pdf, PDF_CELL, text));
    }
    return ceil(widest) + 2 * CELL_PAD;
}

/* Drops columns from the right until the rest fits, names at their narrowest; what is left of the
 * width goes to the names; a table without any stays narrow. */
static void fit(const struct pdf *pdf, struct grid *grid)
{
    double room = pdf->right - pdf->left, least = 0, names = 0;
    size_t n = 0;
    for (; n < grid->n_columns; n++) {
        double width = grid->is_wide[n] ? fmin(grid->width[n], NAME_LEAST) : grid->width[n];
        if (n > 0 && least + width > room)
            break;
        least += width;
        names += grid->is_wide[n] ? grid->width[n] : 0;
    }
    grid->n_columns = n;
    double spare = room - least;
    for (size_t i = 0; i < n; i++) {
        if (names == 0 && i > 0)
            grid->width[i] += fmin(MOST_SPARE, fmax(0, spare) / (double)n);
        else if (grid->is_wide[i])
            grid->width[i] =
                fmin(grid->width[i], NAME_LEAST) + fmax(0, spare) * grid->width[i] / names;
    }
}

/* Columns of other tables than those that answer are there, whatever they hold, where paper has
 * all of them. */
static bool is_told(const struct pdf *pdf, const struct grid *grid, size_t column)
{
    if (pdf->options->full_paper && ta_table_tier(grid->table) != TA_TIER_ANSWER)
        return ta_column_is_useful(grid->table, column);
    if (grid->table->columns[column].detail && !pdf->options->full_paper)
        return false;
    return ta_column_says(grid->table, column, grid->rows.at, grid->rows.n);
}

static bool measure(struct pdf *pdf, struct grid *grid)
{
    const size_t n = grid->table->n_columns;
    grid->width = ta_arena_alloc(&pdf->arena, (n + 1) * sizeof *grid->width);
    grid->is_wide = ta_arena_alloc(&pdf->arena, (n + 1) * sizeof *grid->is_wide);
    grid->columns = ta_arena_alloc(&pdf->arena, (n + 1) * sizeof *grid->columns);
    if (!grid->width || !grid->is_wide || !grid->columns)
        return false;
    for (size_t i = 0; i < n; i++)
        if (is_told(pdf, grid, i))
            grid->columns[grid->n_columns++] = i;
    grid->n_useful = grid->n_columns;
    for (size_t i = 0; i < grid->n_columns; i++) {
        double width = natural_width(pdf, grid, i);
        grid->is_wide[i] = !ta_column_is_number(head_of(grid, i)) && width > NAME_LEAST;
        grid->width[i] = grid->is_wide[i] ? fmin(width, NAME_MOST) : width;
    }
    fit(pdf, grid);
    return true;
}

/* ---- rows ---------------------------------------------------------------------------- */

/* Whether a column is words of people, not names of programs. */
static bool has_words(const struct ta_column *column)
{
    return column->type == TA_TYPE_SENTENCE || column->type == TA_TYPE_WORD;
}

static PangoLayout *cell_layout(struct pdf *pdf, const struct grid *grid, size_t row, size_t column)
{
    const struct ta_column *head = head_of(grid, column);
    const char *text = pdf_table_text(pdf, grid->table, row, grid->columns[column]);
    const bool is_name = grid->is_wide[column] && !has_words(head);
    PangoLayout *layout =
        pdf_layout(pdf, is_name ? PDF_MONO : PDF_CELL, text, grid->width[column] - 2 * CELL_PAD);
    if (is_name) { /* Names have no words, and a hyphen would look like a part of them. */
        PangoAttrList *attributes = pango_attr_list_new();
        pango_attr_list_insert(attributes, pango_attr_insert_hyphens_new(FALSE));
        pango_layout_set_attributes(layout, attributes);
        pango_layout_set_wrap(layout, PANGO_WRAP_CHAR);
        pango_attr_list_unref(attributes);
    }
    pango_layout_set_height(layout, has_words(head) ? -SENTENCE_LINES : -NAME_LINES);
    pango_layout_set_ellipsize(layout,
                               has_words(head) ? PANGO_ELLIPSIZE_END : PANGO_ELLIPSIZE_MIDDLE);
    pango_layout_set_alignment(layout,
                               ta_column_is_number(head) ? PANGO_ALIGN_RIGHT : PANGO_ALIGN_LEFT);
    return layout;
}

static PangoLayout *head_layout(struct pdf *pdf, const struct grid *grid, size_t column)
{
    const struct ta_column *head = head_of(grid, column);
    PangoLayout *layout =
        pdf_layout(pdf, PDF_HEAD, pdf_safe(pdf, head->title), grid->width[column] - 2 * CELL_PAD);
    pango_layout_set_alignment(layout,
                               ta_column_is_number(head) ? PANGO_ALIGN_RIGHT : PANGO_ALIGN_LEFT);
    return layout;
}

/* A row whose texts are shaped: that takes most of the time of a document, so it is done once to
 * know the height and to draw. */
struct row {
    bool is_head;
    PangoLayout **cells; /* of each column that is drawn */
    double height;
};

/* SIZE_MAX is the head.  Frees what the row had before. */
static void lay_row(struct pdf *pdf, const struct grid *grid, size_t row, struct row *out)
{
    double highest = 0;
    out->is_head = row == SIZE_MAX;
    for (size_t column = 0; column < grid->n_columns; column++) {
        g_clear_object(&out->cells[column]);
        out->cells[column] =
            out->is_head ? head_layout(pdf, grid, column) : cell_layout(pdf, grid, row, column);
        highest = fmax(highest, pdf_layout_height(out->cells[column]));
    }
    out->height = highest + 2 * ROW_PAD;
}

static void put_row(struct pdf *pdf, const struct grid *grid, const struct row *row)
{
    const char *tag = row->is_head ? "TH" : "TD";
    double x = pdf->left;
    pdf_tag(pdf, "TR");
    for (size_t column = 0; column < grid->n_columns; column++) {
        pdf_tag(pdf, tag);
        pdf_show(pdf, row->cells[column], row->is_head ? TA_INK_MUTED : TA_INK_TEXT, x + CELL_PAD,
                 pdf->y + ROW_PAD);
        pdf_untag(pdf, tag);
        x += grid->width[column];
    }
    pdf_untag(pdf, "TR");
    pdf->y += row->height;
    pdf_rule(pdf, row->is_head ? TA_INK_MUTED : TA_INK_GRID, pdf->left, pdf->y, x - pdf->left);
}

/* A row without cells; they are NULL. */
static bool row_init(struct pdf *pdf, const struct grid *grid, struct row *row)
{
    const size_t size = (grid->n_columns + 1) * sizeof(PangoLayout *);
    *row = (struct row){.cells = ta_arena_alloc(&pdf->arena, size)};
    if (row->cells)
        memset(row->cells, 0, size);
    return row->cells != NULL;
}

static void row_clear(const struct grid *grid, struct row *row)
{
    for (size_t column = 0; column < grid->n_columns; column++)
        g_clear_object(&row->cells[column]);
}

/* The rows, with the head above them on each page. */
static void put_rows(struct pdf *pdf, const struct grid *grid)
{
    struct row head, row;
    if (!row_init(pdf, grid, &head) || !row_init(pdf, grid, &row))
        return;
    lay_row(pdf, grid, SIZE_MAX, &head);
    int page = 0;
    for (size_t i = 0; i < grid->rows.n; i++) {
        lay_row(pdf, grid, grid->rows.at[i], &row);
        pdf_need(pdf, page == pdf->page ? row.height : head.height + row.height);
        if (page != pdf->page) {
            page = pdf->page;
            put_row(pdf, grid, &head);
        }
        put_row(pdf, grid, &row);
    }
    row_clear(grid, &head);
    row_clear(grid, &row);
}

static const char *note_of(struct pdf *pdf, const struct grid *grid)
{
    const struct ta_table *table = grid->table;
    const char *note = "", *hidden = "", *empty = "";
    const size_t measure = grid->rows.measure;
    const char *which = "";
    if (measure != SIZE_MAX)
        which = pdf_printf(pdf, ", those with the %s “%s”",
                           ta_table_more_is_worse(table, measure) ? "largest" : "smallest",
                           pdf_safe(pdf, table->columns[measure].title));
    if (grid->rows.n < table->n_rows)
        note = pdf_printf(pdf, "%s of %s rows%s; all are in report.json.",
                          pdf_count(pdf, grid->rows.n), pdf_count(pdf, table->n_rows), which);
    if (!pdf->options->full_paper)
        return note; /* columns that are left out: said once, under Method */
    for (size_t i = grid->n_columns; i < grid->n_useful; i++)
        hidden = pdf_printf(pdf, "%s%s%s", hidden, *hidden ? ", " : "", head_of(grid, i)->title);
    for (size_t i = 0; i < table->n_columns; i++)
        if (ta_column_is_shown(table, i) && !ta_column_has_values(table, i))
            empty = pdf_printf(pdf, "%s%s%s", empty, *empty ? ", " : "", table->columns[i].title);
    if (*hidden)
        note = pdf_printf(pdf, "%s%sColumns not shown here: %s.", note, *note ? " " : "", hidden);
    if (*empty)
        note = pdf_printf(pdf, "%s%sNo row has a value of: %s.", note, *note ? " " : "", empty);
    return note;
}

/* NULL without memory. */
static struct grid *grid_of(struct pdf *pdf, const struct ta_table *table)
{
    for (struct grid *grid = pdf->grids; grid; grid = grid->next)
        if (grid->table == table)
            return grid;
    struct grid *grid = ta_arena_alloc(&pdf->arena, sizeof *grid);
    if (!grid)
        return NULL;
    *grid = (struct grid){.next = pdf->grids, .table = table};
    if (!pdf_pick_rows(pdf, table, &grid->rows) || !measure(pdf, grid))
        return NULL;
    return pdf->grids = grid;
}

void pdf_table(struct pdf *pdf, const struct ta_table *table)
{
    const struct grid *grid = grid_of(pdf, table);
    if (!grid)
        return;
    pdf_tag(pdf, "Table");
    put_rows(pdf, grid);
    pdf_untag(pdf, "Table");
    pdf->y += 5;
    pdf_paragraph(pdf, PDF_SMALL, TA_INK_MUTED, note_of(pdf, grid), 8);
    pdf->y += 4;
}
