/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures out of the tables by rank. */
#include "figures.h"
#include "base/vec.h"
#include "report/tables.h"
#include "sources.h"

#include <traceanalyze/output.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- rows of a figure ---------------------------------------------------------------------- */

/* A row of a table with its key. */
struct entry {
    int64_t rank;
    size_t row;
    const char *keys; /* "" without any */
};

struct reading {
    const struct ta_table *table;
    struct source source;
    size_t columns[SOURCE_KEYS]; /* of the keys; SIZE_MAX for those that are not needed */
    struct entry *entries;       /* by keys, then rank */
    size_t n;
    struct figures *out;
    struct ta_arena *arena; /* of the figures */
    struct ta_arena keys;   /* of the table */
};

/* The other keys of a row, "run_inference" or "0, gpu_power". */
static const char *keys_of(struct reading *m, size_t row)
{
    const char *text = "";
    for (size_t i = 0; i < SOURCE_KEYS && text; i++) {
        if (m->columns[i] == SIZE_MAX)
            continue;
        const struct ta_cell *cell = ta_table_cell(m->table, row, m->columns[i]);
        const char *comma = *text ? ", " : "";
        if (cell->kind == TA_CELL_INT)
            text = ta_arena_printf(&m->keys, "%s%s%lld", text, comma, (long long)cell->i);
        else if (cell->kind == TA_CELL_TEXT)
            text =
                ta_arena_printf(&m->keys, "%s%s%.*s", text, comma,
                                (int)(cell->text.len < 400 ? cell->text.len : 400), cell->text.ptr);
    }
    return text;
}

static int by_keys(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    const int order = strcmp(a->keys, b->keys);
    if (order)
        return order;
    return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank)
                              : (a->row > b->row) - (a->row < b->row);
}

static bool list_entries(struct reading *m)
{
    m->n = 0;
    for (size_t i = 0; i < m->table->n_rows; i++) {
        const struct ta_cell *cell = ta_table_cell(m->table, i, m->source.rank);
        if (cell->kind != TA_CELL_INT)
            continue; /* of no rank */
        const char *keys = keys_of(m, i);
        if (!keys)
            return false;
        m->entries[m->n++] = (struct entry){cell->i, i, keys};
    }
    qsort(m->entries, m->n, sizeof *m->entries, by_keys);
    return true;
}

static bool has_repeats(const struct reading *m)
{
    for (size_t i = 1; i < m->n; i++)
        if (m->entries[i].rank == m->entries[i - 1].rank &&
            strcmp(m->entries[i].keys, m->entries[i - 1].keys) == 0)
            return true;
    return false;
}

/* Where each rank has one device, its number only distinguishes ranks; the same holds for
 * sessions. */
static bool find_entries(struct reading *m)
{
    for (size_t i = 0; i < SOURCE_KEYS; i++)
        m->columns[i] = i < m->source.n_keys ? m->source.keys[i] : SIZE_MAX;
    for (size_t i = 0; i < m->source.n_keys; i++) {
        const size_t column = m->columns[i];
        if (m->table->columns[column].type != TA_TYPE_INTEGER)
            continue;
        m->columns[i] = SIZE_MAX;
        if (!list_entries(m))
            return false;
        if (has_repeats(m))
            m->columns[i] = column;
    }
    return list_entries(m);
}

/* ---- metrics ------------------------------------------------------------------------------- */

static const char *unit_of(const struct reading *m, size_t row, size_t column)
{
    const enum ta_unit own = m->table->columns[column].unit;
    if (m->source.unit == SIZE_MAX || own != TA_UNIT_NONE)
        return ta_unit_name(own);
    const struct ta_cell *cell = ta_table_cell(m->table, row, m->source.unit);
    return cell->kind == TA_CELL_TEXT ? cell->text.ptr : "none"; /* names of units are terminated */
}

static bool holds(const char *text, struct ta_slice part)
{
    for (; strlen(text) >= part.len; text++)
        if (strncasecmp(text, part.ptr, part.len) == 0)
            return true;
    return false;
}

/* The keys of a row as people read them, "FPS, Session" or "run_inference". */
static const char *names_of(struct reading *m, size_t row)
{
    const char *text = "";
    for (size_t i = 0; i < SOURCE_KEYS && text; i++) {
        char buffer[TA_WORD_TEXT_MAX];
        if (m->columns[i] == SIZE_MAX ||
            ta_table_cell(m->table, row, m->columns[i])->kind == TA_CELL_NULL)
            continue;
        const struct ta_column *column = &m->table->columns[m->columns[i]];
        const struct ta_slice key = ta_table_text(m->table, row, m->columns[i], buffer);
        const bool is_number = column->type == TA_TYPE_INTEGER;
        if (*text && holds(text, key))
            continue; /* "Steps per second" says what its basis is */
        text = ta_arena_printf(m->arena, "%s%s%s%.*s", text, *text ? ", " : "",
                               is_number ? "device " : "", (int)(key.len < 400 ? key.len : 400),
                               key.ptr);
    }
    return text ? text : "";
}

/* "Stage run_inference: Total"; where the keys say what is meant, they stand alone. */
static const char *label_of(struct reading *m, size_t row, size_t column)
{
    const char *keys = names_of(m, row), *before = m->source.before;
    const char *title = m->table->columns[column].title;
    if (!*before && strcmp(m->table->columns[column].key, "value") == 0)
        return keys;
    return ta_arena_printf(m->arena, "%s%s%s: %s", before, *before && *keys ? " " : "", keys,
                           title);
}

static bool append(struct figures *list, const struct figure *figure)
{
    return ta_vec_push(list, *figure);
}

/* One column over the entries [first, end), which have the same keys. */
static bool add_figure(struct reading *m, size_t first, size_t end, size_t column, double weight)
{
    const char *keys = m->entries[first].keys;
    struct figure figure = {.weight = weight * source_weight_of_keys(&m->source, keys)};
    int64_t *ranks = ta_arena_alloc(m->arena, (end - first) * sizeof *ranks);
    double *values = ta_arena_alloc(m->arena, 2 * (end - first) * sizeof *values);
    if (!ranks || !values)
        return false;
    for (size_t i = first; i < end; i++) {
        const struct entry *entry = &m->entries[i];
        const double value = ta_cell_number(ta_table_cell(m->table, entry->row, column), NAN);
        if (isnan(value))
            continue;
        ranks[figure.n] = entry->rank;
        values[figure.n++] = value;
    }
    double *ordered = values + figure.n;
    if (figure.n)
        memcpy(ordered, values, figure.n * sizeof *values);
    ta_sort_numbers(ordered, figure.n);
    figure.ranks = ranks;
    figure.values = values;
    figure.ordered = ordered;
    if (figure.n < 2)
        return true; /* nothing to compare */
    double sum = 0;
    figure.low = INFINITY;
    figure.high = -INFINITY;
    for (size_t i = 0; i < figure.n; i++) {
        const double value = figure.values[i];
        figure.low_rank = value < figure.low ? figure.ranks[i] : figure.low_rank;
        figure.high_rank = value > figure.high ? figure.ranks[i] : figure.high_rank;
        figure.low = fmin(figure.low, value);
        figure.high = fmax(figure.high, value);
        sum += figure.ordered[i];
    }
    figure.mean = sum / (double)figure.n;
    figure.median = ta_quantile(figure.ordered, figure.n, 0.5);
    figure.name =
        ta_arena_printf(m->arena, "%s.%s%s%s%s", m->table->id, m->table->columns[column].key,
                        *keys ? "[" : "", keys, *keys ? "]" : "");
    figure.label = label_of(m, m->entries[first].row, column);
    figure.unit = unit_of(m, m->entries[first].row, column);
    return figure.name && figure.label && append(m->out, &figure);
}

/* All keys of one column, and what their differences tell. */
static bool add_column(struct reading *m, size_t column, double weight)
{
    const size_t before = m->out->n;
    bool done = true;
    for (size_t first = 0, end; done && first < m->n; first = end) {
        for (end = first + 1;
             end < m->n && strcmp(m->entries[end].keys, m->entries[first].keys) == 0;)
            end++;
        done = add_figure(m, first, end, column, weight);
    }
    double largest = 0;
    for (size_t i = before; i < m->out->n; i++)
        largest = fmax(largest, m->out->at[i].high);
    for (size_t i = before; i < m->out->n; i++) {
        struct figure *figure = &m->out->at[i];
        const double whole = m->source.parts ? largest : figure->high;
        if (figure->low >= 0 && whole > 0)
            figure->score = figure->weight * (figure->high - figure->low) / whole;
    }
    return done;
}

/* Rows of one rank that have the same keys are no figures of it. */
static bool add_table(struct reading *m)
{
    m->entries = calloc(m->table->n_rows + 1, sizeof *m->entries);
    bool done = m->entries && find_entries(m);
    double weight;
    for (size_t i = 0; done && !has_repeats(m) && i < m->table->n_columns; i++)
        if (source_has_figure(&m->table->columns[i], &weight))
            done = add_column(m, i, weight);
    free(m->entries);
    done = done && !m->keys.failed && !m->arena->failed;
    ta_arena_free(&m->keys); /* of thousands of ranks they are many */
    return done;
}

/* ---- all of them --------------------------------------------------------------------------- */

static int by_score(const void *left, const void *right)
{
    const struct figure *a = left, *b = right;
    return a->score != b->score ? (a->score < b->score) - (a->score > b->score)
                                : strcmp(a->name, b->name);
}

bool ranks_read(const struct ta_report *prior, struct figures *figures)
{
    bool done = true;
    *figures = (struct figures){NULL, 0, 0, {0}};
    for (const struct ta_table *table = ta_report_table_after(prior, NULL); table && done;
         table = ta_report_table_after(prior, table)) {
        struct reading reading = {.table = table, .out = figures, .arena = &figures->arena};
        if (source_of(table, &reading.source))
            done = add_table(&reading);
    }
    if (figures->n)
        qsort(figures->at, figures->n, sizeof *figures->at, by_score);
    return done;
}

void ranks_free(struct figures *figures)
{
    free(figures->at);
    ta_arena_free(&figures->arena);
}
