/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of several reports, row beside row or name by name. */
#include "ingest/join/join.h"
#include "report/tables.h"
#include "report/words.h"

#include "report/report.h"
#include "traceanalyze/chart.h"
#include "traceanalyze/output.h"

#include <math.h>
#include <stdlib.h>

/* ---- columns ------------------------------------------------------------------------------- */

static struct ta_column *copy_columns(const struct ta_table *table, struct ta_arena *arena)
{
    struct ta_column *columns = ta_arena_alloc(arena, table->n_columns * sizeof *columns);
    for (size_t i = 0; columns && i < table->n_columns; i++) {
        const struct ta_column *from = &table->columns[i];
        columns[i] = *from;
        columns[i].key = ta_arena_copy(arena, ta_slice_of(from->key));
        columns[i].title = ta_arena_copy(arena, ta_slice_of(from->title));
        columns[i].doc = ta_arena_copy(arena, ta_slice_of(from->doc));
        if (!columns[i].key || !columns[i].title || !columns[i].doc)
            return NULL;
    }
    return columns;
}

/* ---- charts -------------------------------------------------------------------------------- */

static const char *copy_text(struct ta_arena *arena, const char *text)
{
    return text ? ta_arena_copy(arena, ta_slice_of(text)) : NULL;
}

static const struct ta_kind *copy_kinds(struct ta_arena *arena, const struct ta_kind *kinds)
{
    size_t n = 0;
    while (kinds && kinds[n].value)
        n++;
    struct ta_kind *copy = kinds ? ta_arena_alloc(arena, (n + 1) * sizeof *copy) : NULL;
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = (struct ta_kind){copy_text(arena, kinds[i].value),
                                   copy_text(arena, kinds[i].label), kinds[i].ink};
    return copy;
}

/* Draws the joined table as that of the first part, which may be freed before it. */
static void copy_charts(struct ta_arena *arena, const struct ta_table *model,
                        struct ta_table_builder *out)
{
    for (const struct ta_chart *chart = model->chart; chart; chart = chart->next) {
        struct ta_chart copy = *chart;
        copy.whole = 0; /* that of one part */
        copy.id = copy_text(arena, chart->id);
        copy.title = copy_text(arena, chart->title);
        copy.caption = copy_text(arena, chart->caption);
        copy.x = copy_text(arena, chart->x);
        copy.group = copy_text(arena, chart->group);
        copy.size = copy_text(arena, chart->size);
        for (size_t i = 0; i < 2; i++)
            copy.label[i] = copy_text(arena, chart->label[i]);
        for (size_t i = 0; i < TA_CHART_SERIES_MAX; i++) {
            copy.y[i].column = copy_text(arena, chart->y[i].column);
            copy.y[i].label = copy_text(arena, chart->y[i].label);
        }
        copy.roof = (struct ta_roof){copy_text(arena, chart->roof.level),
                                     copy_text(arena, chart->roof.slope),
                                     copy_text(arena, chart->roof.name)};
        copy.kinds = copy_kinds(arena, chart->kinds);
        ta_add_chart(out, &copy);
    }
}

/* ---- a table ------------------------------------------------------------------------------- */

/* One table of all parts. */
struct joining {
    const struct ta_table *model;   /* of the first part that has it */
    const struct ta_table_def *def; /* NULL where nothing declares it */
    const struct ta_joined *parts;
    size_t n;
    struct ta_table_builder *out;
    struct ta_cell *cells; /* room for a row */
};

/* A cell under the column `column` of the model: null where the table has no such column. */
static struct ta_cell cell_at(const struct joining *j, const struct ta_table *table, size_t row,
                              size_t column)
{
    const struct ta_column *wanted = &j->model->columns[column];
    const size_t at = table == j->model ? column : ta_table_column(table, wanted->key);
    if (at == SIZE_MAX || ta_type_name(table->columns[at].type) != ta_type_name(wanted->type))
        return ta_null();
    return *ta_table_cell(table, row, at);
}

/* ---- row after row ------------------------------------------------------------------------- */

/* Whether a row is of all ranks of its report together. */
static bool is_of_all(const struct joining *j, const struct ta_table *table, size_t row)
{
    return j->def && j->def->has_run_rows &&
           ta_table_cell(table, row, ta_table_rank(table))->kind == TA_CELL_NULL;
}

static void append_rows(struct joining *j)
{
    for (size_t i = 0; i < j->n; i++) {
        const struct ta_table *table = ta_report_table(j->parts[i].report, j->model->id);
        if (!table || ta_table_rank(table) == SIZE_MAX)
            continue;
        for (size_t row = 0; row < table->n_rows; row++) {
            for (size_t column = 0; column < j->model->n_columns; column++)
                j->cells[column] = cell_at(j, table, row, column);
            if (!is_of_all(j, table, row))
                ta_add_row(j->out, j->cells);
        }
    }
}

/* ---- name by name -------------------------------------------------------------------------- */

struct named {
    const struct ta_table *table;
    size_t row;
};

static bool is_key(const struct ta_column *column)
{
    return ta_type_name(column->type) == ta_type_name(TA_TYPE_STRING);
}

static int compare_texts(const struct ta_cell *a, const struct ta_cell *b)
{
    if (a->kind != TA_CELL_TEXT || b->kind != TA_CELL_TEXT)
        return (a->kind == TA_CELL_TEXT) - (b->kind == TA_CELL_TEXT);
    return ta_slice_compare(a->text, b->text);
}

static int by_name(const void *left, const void *right, void *user)
{
    const struct joining *j = user;
    const struct named *a = left, *b = right;
    for (size_t i = 0; i < j->model->n_columns; i++) {
        if (!is_key(&j->model->columns[i]))
            continue;
        const struct ta_cell x = cell_at(j, a->table, a->row, i);
        const struct ta_cell y = cell_at(j, b->table, b->row, i);
        const int order = compare_texts(&x, &y);
        if (order)
            return order;
    }
    return 0;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* One integer column of rows of one name: extremes of extremes, else the sum. */
static struct ta_cell fold(const struct joining *j, const struct named *rows, size_t n,
                           size_t column)
{
    const char *key = j->model->columns[column].key;
    int64_t value = TA_MISSING;
    for (size_t i = 0; i < n; i++) {
        const struct ta_cell cell = cell_at(j, rows[i].table, rows[i].row, column);
        if (cell.kind != TA_CELL_INT)
            continue;
        if (starts(key, "min_"))
            ta_least(&value, cell.i);
        else if (starts(key, "max_"))
            ta_most(&value, cell.i);
        else
            ta_sum(&value, cell.i);
    }
    return ta_int(value);
}

/* Sample deviation of all calls, of those of the rows: the squares within and between them. */
static struct ta_cell pool(const struct named *rows, size_t n)
{
    double calls = 0, total = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        calls += ta_row_number(rows[i].table, rows[i].row, "calls", NAN);
        total += ta_row_number(rows[i].table, rows[i].row, "total_ns", NAN);
    }
    for (size_t i = 0; i < n; i++) {
        const double mine = ta_row_number(rows[i].table, rows[i].row, "calls", NAN);
        const double deviation = ta_row_number(rows[i].table, rows[i].row, "stddev_ns", NAN);
        const double off =
            ta_row_number(rows[i].table, rows[i].row, "mean_ns", NAN) - total / calls;
        squares += (mine > 1 ? (mine - 1) * deviation * deviation : 0) + mine * off * off;
    }
    return calls > 1 ? ta_num(sqrt(squares / (calls - 1))) : ta_null();
}

static double sum_of(const struct named *rows, size_t n, const char *key)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ta_row_number(rows[i].table, rows[i].row, key, NAN);
    return sum;
}

/* `whole` is the total of all rows. */
static void add_named(struct joining *j, const struct named *rows, size_t n, double whole)
{
    for (size_t i = 0; i < j->model->n_columns; i++) {
        const struct ta_column *column = &j->model->columns[i];
        const double total = sum_of(rows, n, "total_ns");
        j->cells[i] = ta_null();
        if (is_key(column))
            j->cells[i] = cell_at(j, rows->table, rows->row, i);
        else if (column->type == TA_TYPE_INTEGER)
            j->cells[i] = fold(j, rows, n, i);
        else if (strcmp(column->key, "mean_ns") == 0)
            j->cells[i] = ta_num(total / sum_of(rows, n, "calls"));
        else if (strcmp(column->key, "stddev_ns") == 0)
            j->cells[i] = pool(rows, n);
        else if (strcmp(column->key, "share") == 0 &&
                 ta_table_column(j->model, "self_ns") != SIZE_MAX)
            j->cells[i] = ta_num(sum_of(rows, n, "self_ns") / whole);
        else if (strcmp(column->key, "share") == 0)
            j->cells[i] = ta_num(total / whole);
    }
    ta_add_row(j->out, j->cells);
}

static bool add_up_rows(struct joining *j)
{
    const char *of_share =
        ta_table_column(j->model, "self_ns") != SIZE_MAX ? "self_ns" : "total_ns";
    size_t most = 0, n = 0;
    for (size_t i = 0; i < j->n; i++) {
        const struct ta_table *table = ta_report_table(j->parts[i].report, j->model->id);
        most += table ? table->n_rows : 0;
    }
    struct named *rows = calloc(most + 1, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < j->n; i++) {
        const struct ta_table *table = ta_report_table(j->parts[i].report, j->model->id);
        for (size_t row = 0; table && row < table->n_rows; row++)
            rows[n++] = (struct named){table, row};
    }
    qsort_r(rows, n, sizeof *rows, by_name, j);
    const double whole = sum_of(rows, n, of_share);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && by_name(&rows[first], &rows[end], j) == 0;)
            end++;
        add_named(j, rows + first, end - first, whole);
    }
    free(rows);
    ta_sort_rows(j->out,
                 ta_table_column(j->model, "total_ns") == SIZE_MAX ? "device_total_ns" : "total_ns",
                 true);
    return true;
}

/* ---- all tables ---------------------------------------------------------------------------- */

static bool join_one(const struct ta_joined *parts, size_t n, const struct ta_table *model,
                     struct ta_section_builder *section, struct ta_report *out)
{
    struct ta_arena *arena = ta_report_arena(out);
    const struct ta_column *columns = copy_columns(model, arena);
    struct joining j = {.model = model,
                        .def = model->def,
                        .parts = parts,
                        .n = n,
                        .cells = calloc(model->n_columns, sizeof *j.cells)};
    bool done = columns && j.cells;
    if (done) {
        j.out = ta_add_table(section, model->id, model->title, columns, model->n_columns);
        done = j.out != NULL;
    }
    if (done && j.def && j.def->joining == TA_JOIN_SUMS)
        done = add_up_rows(&j);
    else if (done)
        append_rows(&j);
    if (done) {
        ta_table_set_def(j.out, j.def);
        copy_charts(arena, model, j.out);
    }
    free(j.cells);
    return done;
}

/* Whether a part before this one has the table: then it is joined already. */
static bool is_seen(const struct ta_joined *parts, size_t before, const char *id)
{
    for (size_t i = 0; i < before; i++)
        if (ta_report_table(parts[i].report, id))
            return true;
    return false;
}

static bool join_section(const struct ta_joined *parts, size_t n, size_t part,
                         const struct ta_section *section, struct ta_report *out)
{
    struct ta_section_builder *into = ta_report_open_section(out, section->id, section->title);
    struct ta_arena arena = {0};
    const char *left_out = ""; /* what cannot be joined, in words */
    bool done = into != NULL;
    for (size_t i = 0; i < section->n_items && done; i++) {
        const struct ta_table *table =
            section->items[i].kind == TA_ITEM_TABLE ? section->items[i].table : NULL;
        if (!table || is_seen(parts, part, table->id) || strcmp(section->id, "overview") == 0 ||
            strcmp(section->id, "ranks") == 0)
            continue;
        const enum ta_joining joining = table->def ? table->def->joining : TA_JOIN_ROWS;
        if (joining == TA_JOIN_SUMS ||
            (joining == TA_JOIN_ROWS && ta_table_rank(table) != SIZE_MAX))
            done = join_one(parts, n, table, into, out);
        else
            left_out = ta_arena_printf(&arena, "%s%s%s", left_out ? left_out : "",
                                       left_out && *left_out ? ", " : "", table->title);
    }
    done = done && left_out;
    if (done && *left_out)
        ta_add_missing(into, "Not made of reports, only of traces or their summaries: %s.",
                       left_out);
    ta_arena_free(&arena);
    return done;
}

bool ta_join_tables(const struct ta_joined *parts, size_t n, struct ta_report *out)
{
    bool done = true;
    for (size_t part = 0; part < n; part++) {
        const struct ta_report *report = parts[part].report;
        for (size_t i = 0; i < ta_report_section_count(report) && done; i++) {
            const struct ta_section *section = ta_report_section(report, i);
            if (strcmp(section->id, "findings") != 0 && strcmp(section->id, "gates") != 0)
                done = join_section(parts, n, part, section, out);
        }
    }
    return done;
}
