/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tables declare of comparing ranks (table.h). */
#include "sources.h"

#include "report/tables.h"

/* Rows that weigh less than their column: figures of the host, and what profilers say themselves,
 * which often has another definition. */
static const struct {
    const char *part; /* of the keys */
    double factor;
} lighter[] = {{"as_reported", 0.1}, {"cpu_", 0.25}, {"steady", 0.5},     {"blocks", 0.8},
               {"_total", 0.5},      {"bps", 0.6},   {"steps_per_s", 0.5}};

static bool is_text(const struct ta_column *column)
{
    return column->type == TA_TYPE_STRING || column->type == TA_TYPE_WORD ||
           column->type == TA_TYPE_ID;
}

static bool is_key(const struct ta_column *column)
{
    return column->role == TA_KEY || column->role == TA_DEVICE ||
           (column->role == TA_FIGURE && is_text(column));
}

bool source_of(const struct ta_table *table, struct source *source)
{
    const struct ta_table_def *def = table->def;
    *source = (struct source){.rank = ta_table_rank(table),
                              .unit = SIZE_MAX,
                              .before = def && def->rank_words ? def->rank_words : table->title,
                              .parts = def && def->parts_of_whole};
    if (source->rank == SIZE_MAX || (def && def->not_of_ranks))
        return false;
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct ta_column *column = &table->columns[i];
        if (column->role == TA_IN_SERIES || (is_key(column) && source->n_keys == SOURCE_KEYS))
            return false; /* over time, or more than a name can say */
        if (is_key(column))
            source->keys[source->n_keys++] = i;
        if (column->role == TA_UNIT_OF_ROW)
            source->unit = i;
    }
    return true;
}

bool source_has_figure(const struct ta_column *column, double *weight)
{
    enum { LITTLE_PERCENT = 2 };
    *weight = column->weight > 0 ? column->weight : LITTLE_PERCENT / 100.0;
    return (column->type == TA_TYPE_INTEGER || column->type == TA_TYPE_NUMBER) &&
           column->role == TA_FIGURE;
}

double source_weight_of_keys(const struct source *source, const char *keys)
{
    double factor = 1;
    for (size_t i = 0; i < TA_LENGTH(lighter); i++)
        if (!source->parts && strstr(keys, lighter[i].part))
            factor *= lighter[i].factor;
    return factor;
}
