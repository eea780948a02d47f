/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which columns say something of a run: the one rule of all outputs that show tables to people. */
#ifndef TA_LIB_COLUMNS_H
#define TA_LIB_COLUMNS_H

#include <traceanalyze/table.h>

/* Whether a column says something in `n` rows of a table, `rows` NULL: in all of them.  A column
 * without values does not, nor one of empty texts, nor one of zeros: a cost of nothing, or a count
 * of what the run has none of, such as communication on one GPU.  That nothing is reached of what
 * should be much is an answer; so are zeros of keys and series, and of columns that are declared so
 * (zero_of). */
bool ta_column_says(const struct ta_table *table, size_t column, const size_t *rows, size_t n);

/* The same in all rows. */
static inline bool ta_column_says_ever(const struct ta_table *table, size_t column)
{
    return ta_column_says(table, column, NULL, table->n_rows);
}

#endif
