/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading tables whose declaration the reader does not know: which columns people are shown, and
 * which rows of a long one. */
#ifndef TA_REPORT_TABLES_H
#define TA_REPORT_TABLES_H

#include "traceanalyze/chart.h"
#include "traceanalyze/report.h"

/* The tables one after the other, in the order of sections; `table` NULL gives the first, NULL is
 * after the last.  finish() finds there what was added before it. */
const struct ta_table *ta_report_table_after(const struct ta_report *report,
                                             const struct ta_table *table);

/* Column of the ranks, and of the devices, or SIZE_MAX. */
size_t ta_table_rank(const struct ta_table *table);

size_t ta_table_device(const struct ta_table *table);
/* Column of the units of rows, or SIZE_MAX. */
size_t ta_table_units(const struct ta_table *table);
/* Whether more is better of a value: by its row, or by its column. */
bool ta_table_rises(const struct ta_table *table, size_t row, size_t column);

/* Whether people are shown a column: not one for programs alone, nor the units of values that carry
 * theirs. */
bool ta_column_is_shown(const struct ta_table *table, size_t column);

/* Whether any row has a value there. */
bool ta_column_has_values(const struct ta_table *table, size_t column);

/* Of tables longer than what people are shown, the first rows say little where they are of the
 * first ranks: these tables show the rows that differ most.
 *
 * The column by which they do where `n` rows are shown, by its polarity; SIZE_MAX: the first ones
 * are shown, since it is all of them, or the table has an order of its own. */
size_t ta_table_measure(const struct ta_table *table, size_t n);

/* The first `n` rows (n ≤ n_rows) in the order of that column, the worst first; in the order of the
 * table for SIZE_MAX.  False without memory. */
bool ta_table_pick_rows(const struct ta_table *table, size_t measure, size_t n, size_t *rows);

/* Which place in that order a row has, from 0. */
size_t ta_table_place(const struct ta_table *table, size_t measure, size_t row);

/* Whether more is worse: the rows are those with the largest values of the column. */
static inline bool ta_table_more_is_worse(const struct ta_table *table, size_t measure)
{
    return table->columns[measure].better == TA_LOWER;
}

/* The chart of the first screen, and its table: of the run as a whole, else the one that says most
 * of what was recorded instead; of a comparison its waterfall.  NULL for none. */
const struct ta_chart *ta_report_picture(const struct ta_report *report,
                                         const struct ta_table **table);

/* "61 more rules found nothing to improve; 14 need data that was not recorded.", or ""; returns
 * `text`. */
enum { TA_RULES_TEXT_MAX = 160 };
const char *ta_rules_said(const struct ta_report *report, char text[TA_RULES_TEXT_MAX]);

/* How stacked areas show a group, in all outputs: as its kind says, else by a name without folders
 * and the ink of the `next`-th such group, which is counted. */
enum { TA_AREA_NAME_MAX = 160 };
struct ta_area {
    char name[TA_AREA_NAME_MAX];
    enum ta_ink ink;
};
struct ta_area ta_area_of(const struct ta_chart *chart, struct ta_slice group, size_t *next);

/* Finds a scalar or a finding by id; NULL when the report has none. */
const struct ta_scalar *ta_report_scalar(const struct ta_report *report, const char *id);
const struct ta_finding *ta_report_finding(const struct ta_report *report, const char *id);

#endif
