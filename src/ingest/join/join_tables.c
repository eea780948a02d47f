/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of several reports, row by row or name by name. */
#include "ingest/join/join.h"
#include "report/tables.h"
#include "report/words.h"

#include "plugin/registry.h"
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

/* Draws the joined table like the table of the first part, which may be freed before it. */
static void copy_charts(struct ta_arena *arena, const struct ta_table *model,
                        struct ta_table_builder *out)
{
    for (const struct ta_chart *chart = model->chart; chart; chart = chart->next) {
        struct ta_chart copy = *chart;
        copy.whole = 0; /* the whole of one part */
        copy.id = copy_text(arena, chart->id);
        copy.title = copy_text(arena, chart->title);
        copy.caption = copy_text(arena, chart->caption);
        copy.x = copy_text(arena, chart->x);
        copy.group = copy_text(arena, chart->group);
        copy.size = copy_text(arena, chart->size);
        copy.band = copy_text(arena, chart->band);
        copy.with = copy_text(arena, chart->with);
        copy.without = copy_text(arena, chart->without);
        for (size_t i = 0; i < TA_CHART_LABELS; i++)
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
    return !column->from.table && ta_type_name(column->type) == ta_type_name(TA_TYPE_STRING);
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

/* One integer column of rows of one name: extremes of extremes, else the sum. */
static struct ta_cell fold(const struct joining *j, const struct named *rows, size_t n,
                           size_t column)
{
    int64_t value = TA_MISSING;
    for (size_t i = 0; i < n; i++) {
        const struct ta_cell cell = cell_at(j, rows[i].table, rows[i].row, column);
        if (cell.kind != TA_CELL_INT)
            continue;
        if (j->model->columns[column].over_ranks == TA_OVER_LEAST)
            ta_least(&value, cell.i);
        else if (j->model->columns[column].over_ranks == TA_OVER_MOST)
            ta_most(&value, cell.i);
        else
            ta_sum(&value, cell.i);
    }
    return ta_int(value);
}

/* The number of a row in the column that is joined so; NaN without one. */
static double number_at(const struct joining *j, const struct named *named, enum ta_over_ranks as)
{
    for (size_t i = 0; i < j->model->n_columns; i++)
        if (j->model->columns[i].over_ranks == as) {
            const struct ta_cell cell = cell_at(j, named->table, named->row, i);
            return ta_cell_number(&cell, NAN);
        }
    return NAN;
}

static double sum_of(const struct joining *j, const struct named *rows, size_t n,
                     enum ta_over_ranks as)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += number_at(j, &rows[i], as);
    return sum;
}

/* What shares are of. */
static double whole_of(const struct joining *j, const struct named *rows, size_t n)
{
    const double self = sum_of(j, rows, n, TA_OVER_SELF);
    return isnan(self) ? sum_of(j, rows, n, TA_OVER_TIME) : self;
}

/* Sample deviation of all calls, from the deviations of the rows: the squares within and between
 * them. */
static struct ta_cell pool(const struct joining *j, const struct named *rows, size_t n)
{
    const double calls = sum_of(j, rows, n, TA_OVER_CALLS);
    const double mean = sum_of(j, rows, n, TA_OVER_TIME) / calls;
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        const double mine = number_at(j, &rows[i], TA_OVER_CALLS);
        const double deviation = number_at(j, &rows[i], TA_OVER_DEVIATION);
        const double off = number_at(j, &rows[i], TA_OVER_MEAN) - mean;
        squares += (mine > 1 ? (mine - 1) * deviation * deviation : 0) + mine * off * off;
    }
    return calls > 1 ? ta_num(sqrt(squares / (calls - 1))) : ta_null();
}

/* `whole` is what shares are of in all rows. */
static void add_named(struct joining *j, const struct named *rows, size_t n, double whole)
{
    for (size_t i = 0; i < j->model->n_columns; i++) {
        const struct ta_column *column = &j->model->columns[i];
        j->cells[i] = ta_null();
        if (column->from.table)
            continue; /* made anew of what the other tables come to */
        if (is_key(column))
            j->cells[i] = cell_at(j, rows->table, rows->row, i);
        else if (column->type == TA_TYPE_INTEGER)
            j->cells[i] = fold(j, rows, n, i);
        else if (column->over_ranks == TA_OVER_MEAN)
            j->cells[i] =
                ta_num(sum_of(j, rows, n, TA_OVER_TIME) / sum_of(j, rows, n, TA_OVER_CALLS));
        else if (column->over_ranks == TA_OVER_DEVIATION)
            j->cells[i] = pool(j, rows, n);
        else if (column->over_ranks == TA_OVER_SHARE)
            j->cells[i] = ta_num(whole_of(j, rows, n) / whole);
    }
    ta_add_row(j->out, j->cells);
}

static bool add_up_rows(struct joining *j)
{
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
    const double whole = whole_of(j, rows, n);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && by_name(&rows[first], &rows[end], j) == 0;)
            end++;
        add_named(j, rows + first, end - first, whole);
    }
    free(rows);
    return true;
}

/* ---- all tables ---------------------------------------------------------------------------- */

static void sort(const struct joining *j)
{
    if (j->def && j->def->order.by)
        ta_sort_rows(j->out, j->def->order.within ? j->def->order.within->key : NULL,
                     j->def->order.by->key, j->def->order.direction == TA_DESCENDING);
}

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
        sort(&j);
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

static bool join_section(const struct ta_registry *registry, const struct ta_joined *parts,
                         size_t n, size_t part, const struct ta_section *section,
                         struct ta_report *out)
{
    struct ta_section_builder *into = ta_report_open_section(out, section->id, section->title);
    struct ta_arena arena = {0};
    const char *left_out = ""; /* what cannot be joined, in words */
    bool done = into != NULL;
    for (size_t i = 0; i < section->n_items && done; i++) {
        const struct ta_table *table =
            section->items[i].kind == TA_ITEM_TABLE ? section->items[i].table : NULL;
        const struct ta_entry *owner = NULL;
        const struct ta_table_def *def =
            table ? ta_registry_table(registry, table->id, &owner) : NULL;
        /* Made anew of what is joined; or by the program, such as a comparison. */
        const bool is_made = owner ? owner->plugin.analysis->of_tables : def != NULL;
        if (!table || is_made || is_seen(parts, part, table->id))
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

bool ta_join_tables(const struct ta_registry *registry, const struct ta_joined *parts, size_t n,
                    struct ta_report *out)
{
    bool done = true;
    for (size_t part = 0; part < n; part++) {
        const struct ta_report *report = parts[part].report;
        for (size_t i = 0; i < ta_report_section_count(report) && done; i++)
            done = join_section(registry, parts, n, part, ta_report_section(report, i), out);
    }
    return done;
}
