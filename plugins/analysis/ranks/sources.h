/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which columns of which tables are figures of ranks. */
#ifndef TA_RANKS_SOURCES_H
#define TA_RANKS_SOURCES_H

#include <traceanalyze/analysis.h>

enum { SOURCE_KEYS = 3 };

/* A table with a row per rank, or per rank and more keys, which then qualify the metric. */
struct source {
    size_t rank;              /* column */
    size_t keys[SOURCE_KEYS]; /* columns */
    size_t n_keys;
    size_t unit;        /* column with the unit of the row, or SIZE_MAX */
    const char *before; /* words before the keys and the title of the column; may be empty */
    bool parts;         /* values of different keys are parts of a whole: differences count against
                           the largest of all, so that a short stage is never a large one */
};

/* What of a table is compared, as it declares it; false when it has no figures of ranks. */
bool source_of(const struct ta_table *table, struct source *source);
/* Whether a column is compared, and how important a difference between ranks is, 0 to 1: what the
 * run waits for matters more than how busy its hosts are, and a mean of something that is summed
 * anyway matters little. */
bool source_has_figure(const struct ta_column *column, double *weight);
/* How much less the figures of a row tell, by its keys. */
double source_weight_of_keys(const struct source *source, const char *keys);

#endif
