/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which columns of which tables are figures of ranks. */
#ifndef TA_RANKS_SOURCES_H
#define TA_RANKS_SOURCES_H

#include <traceanalyze/analysis.h>

enum { SOURCE_KEYS = 3, SOURCE_VALUES = 8 };

/* A column that is compared, and how much its difference between ranks tells, 0 to 1: what the run
 * waits for matters more than how busy its hosts are, and a mean of what is summed anyway little.
 */
struct source_value {
    const char *column;
    double weight;
};

/* Tables with a row per rank, or per rank and more keys, which then qualify the metric. */
struct source {
    const char *table;
    const char *keys[SOURCE_KEYS];
    struct source_value values[SOURCE_VALUES];
    const char *unit;   /* column with the unit of the row, or NULL */
    const char *before; /* words before the keys and the title of the column, or NULL */
    bool parts;         /* values of different keys are parts of a whole: differences count against
                           the largest of all, so that a short stage is never a large one */
};

/* What of a table is compared; false when it has no figures of ranks. */
bool source_of(const struct ta_table *table, struct source *source);
/* Whether a column is compared, and how much a difference tells. */
bool source_has_figure(const struct source *source, const struct ta_column *column, double *weight);
/* How much less the figures of a row tell, by its keys. */
double source_weight_of_keys(const struct source *source, const char *keys);

#endif
