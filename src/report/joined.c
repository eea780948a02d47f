/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns that repeat what another table says of the same name, rank or device. */
#include "base/hash.h"
#include "report/report.h"
#include "report/tables.h"

#include <traceanalyze/partial.h>

#include <stdlib.h>

/* The rows of another table by the keys that both have. */
struct index {
    const struct ta_table *source;
    size_t own[TA_JOINT_KEYS], other[TA_JOINT_KEYS], n_keys;
    struct ta_map first; /* by the hash of the keys: the first row with it */
    size_t *next;        /* of each row, the next one with that hash; or SIZE_MAX */
};

static uint64_t hash_of(const struct ta_table *table, size_t row, const size_t *keys, size_t n)
{
    uint64_t hash = n;
    for (size_t i = 0; i < n; i++) {
        const struct ta_cell *cell = ta_table_cell(table, row, keys[i]);
        if (cell->kind == TA_CELL_TEXT)
            hash = ta_hash_bytes(cell->text.ptr, cell->text.len, hash);
        else if (cell->kind == TA_CELL_INT)
            hash =
                ta_hash_fold(hash ^ UINT64_C(0x9e3779b97f4a7c15), ta_hash_mix((uint64_t)cell->i));
    }
    return hash;
}

static void index_end(struct index *index)
{
    ta_map_free(&index->first);
    free(index->next);
    *index = (struct index){0};
}

/* False without memory.  Rows are put in from the last to the first, so that each list of equal
 * ones has their order. */
static bool index_rows(struct index *index)
{
    const struct ta_table *source = index->source;
    index->next = reallocarray(NULL, source->n_rows + 1, sizeof *index->next);
    for (size_t row = source->n_rows; index->next && row-- > 0;) {
        const uint64_t hash = hash_of(source, row, index->other, index->n_keys);
        uint64_t *first = ta_map_at(&index->first, hash, UINT64_MAX);
        if (!first)
            return false;
        index->next[row] = *first == UINT64_MAX ? SIZE_MAX : (size_t)*first;
        *first = row;
    }
    return index->next;
}

/* The index of the table that a column is from; without a key that both have it finds nothing.
 * False without memory. */
static bool index_for(struct index *index, const struct ta_report *report,
                      const struct ta_table *table, const struct ta_column *column)
{
    if (index->source && strcmp(index->source->id, column->from.table) == 0)
        return true;
    index_end(index);
    index->source = ta_report_table(report, column->from.table);
    for (size_t i = 0; index->source && i < TA_JOINT_KEYS && table->def->joined_by[i]; i++) {
        const char *key = table->def->joined_by[i]->key;
        const size_t own = ta_table_column(table, key), other = ta_table_column(index->source, key);
        if (own == SIZE_MAX || other == SIZE_MAX)
            continue;
        index->own[index->n_keys] = own;
        index->other[index->n_keys++] = other;
    }
    return !index->source || index_rows(index);
}

/* The first row from `row` on, of those with one hash, that has the keys of a row; or SIZE_MAX. */
static size_t next_match(const struct index *index, size_t row, const struct ta_table *table,
                         size_t own)
{
    for (; row != SIZE_MAX; row = index->next[row]) {
        bool same = true;
        for (size_t i = 0; i < index->n_keys; i++)
            same &= ta_cell_equal(ta_table_cell(index->source, row, index->other[i]),
                                  ta_table_cell(table, own, index->own[i]));
        if (same)
            return row;
    }
    return SIZE_MAX;
}

static struct ta_cell joined_cell(const struct index *index, const struct ta_table *table,
                                  size_t own, const struct ta_joint *from, size_t column)
{
    const uint64_t *first =
        ta_map_find(&index->first, hash_of(table, own, index->own, index->n_keys));
    size_t row = first ? next_match(index, (size_t)*first, table, own) : SIZE_MAX;
    if (row == SIZE_MAX)
        return ta_null();
    if (from->way == TA_JOINT_FIRST)
        return *ta_table_cell(index->source, row, column);
    int64_t sum = TA_MISSING, n = 0;
    for (; row != SIZE_MAX; row = next_match(index, index->next[row], table, own), n++)
        if (from->way == TA_JOINT_SUM)
            ta_sum(&sum, ta_table_integer(index->source, row, column));
    return ta_int(from->way == TA_JOINT_SUM ? sum : n);
}

static void fill(const struct index *index, const struct ta_table *table, size_t at)
{
    const struct ta_column *column = &table->columns[at];
    const size_t from =
        column->from.column ? ta_table_column(index->source, column->from.column) : SIZE_MAX;
    if (index->n_keys == 0 || (column->from.column && from == SIZE_MAX))
        return;
    struct ta_cell *cells = (struct ta_cell *)(uintptr_t)table->cells; /* of this report */
    for (size_t row = 0; row < table->n_rows; row++)
        cells[row * table->n_columns + at] = joined_cell(index, table, row, &column->from, from);
}

bool ta_report_join_columns(struct ta_report *report)
{
    struct index index = {0};
    bool done = true;
    for (const struct ta_table *table = ta_report_table_after(report, NULL); table && done;
         table = ta_report_table_after(report, table)) {
        if (!table->def || !table->def->joined_by[0])
            continue;
        for (size_t i = 0; i < table->n_columns && done; i++) {
            if (!table->columns[i].from.table)
                continue;
            done = index_for(&index, report, table, &table->columns[i]);
            if (done && index.source)
                fill(&index, table, i);
        }
        index_end(&index);
    }
    index_end(&index);
    return done;
}
