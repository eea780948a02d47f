/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making reports: the write side that only the core uses. */
#ifndef TA_REPORT_H
#define TA_REPORT_H

#include "traceanalyze/report.h"
#include "traceanalyze/table.h"
#include "traceanalyze/timeline.h"

/* An empty report; NULL when out of memory. */
struct ta_report *ta_report_new(void);
void ta_report_free(struct ta_report *report);

/* Lifetime of everything that belongs to the report. */
struct ta_arena *ta_report_arena(struct ta_report *report);

/* The section with this id, made when it is new; sections of a chapter keep the order
 * of making. */
struct ta_section_builder *ta_report_open_section(struct ta_report *report, const char *id,
                                                  const char *title);

/* Makes the tables that are declared in a list that ends with NULL, for ta_rows(); those without
 * rows are left out when the report is frozen.  Scalars that are added until ta_close_tables() come
 * after the tables that have rows by then, and before the others. */
void ta_declare_tables(struct ta_section_builder *section, const struct ta_table_def *const *defs);
/* The scalars that ta_set_scalar() may set until then. */
void ta_declare_scalars(struct ta_section_builder *section, const struct ta_scalar_def *defs,
                        size_t n);
/* Puts rows in the declared order; nothing is added to these tables afterwards. */
void ta_close_tables(struct ta_section_builder *section);
/* What was done wrong while the report was made: a row with too few cells, a cell of another type,
 * a table that was not declared.  NULL when nothing was. */
const char *ta_report_fault(const struct ta_report *report);

/* Adds a scalar, of a report that is read again. */
void ta_add_scalar(struct ta_section_builder *section, const struct ta_scalar *scalar);
/* One line on what the items come to. */
void ta_section_set_summary(struct ta_section_builder *section, const char *summary);
/* What ta_add_missing() says, as a whole. */
void ta_section_set_missing(struct ta_section_builder *section, const char *missing);
/* Says by which declaration a table was made that was read again. */
void ta_table_set_def(struct ta_table_builder *table, const struct ta_table_def *def);
/* How many rows the table had that are not added here. */
void ta_table_left_out(struct ta_table_builder *table, size_t n_rows);

void ta_report_set_kind(struct ta_report *report, enum ta_report_kind kind);
void ta_report_set_run(struct ta_report *report, const struct ta_run_info *run);
void ta_report_set_verdict(struct ta_report *report, const char *headline, const char *bottleneck);
/* Adds a scalar to the first screen, which has room for TA_FIGURES_MOST. */
void ta_report_add_figure(struct ta_report *report, const char *id);
/* Takes over `accounts`, whose memory must come from ta_report_arena(). */
void ta_report_set_accounts(struct ta_report *report, const struct ta_accounts *accounts);

/* Takes over the timeline, which `release` frees with the report. */
void ta_report_set_timeline(struct ta_report *report, struct ta_timeline *timeline,
                            void (*release)(struct ta_timeline *timeline));

/* Newest modification time of the inputs, in seconds since 1970. */
void ta_report_set_input_date(struct ta_report *report, int64_t date_s);
int64_t ta_report_input_date(const struct ta_report *report);

/* Gives back what tables have reserved for rows that may come: the rows of an analysis are all
 * there once it has finished. */
void ta_report_trim(struct ta_report *report);

/* Fills the columns that repeat those of other tables (struct ta_joint), which are all there. False
 * without memory. */
bool ta_report_join_columns(struct ta_report *report) TA_MUST_CHECK;

/* Orders rows of so many columns by one of them, in each value of the column `within` unless that
 * is SIZE_MAX, and rows that are equal there by all; what is missing comes last. */
void ta_cells_sort(struct ta_cell *cells, size_t n_rows, size_t n_columns, size_t within,
                   size_t column, bool descending);

/* Turns builders into what readers see; what is added afterwards is seen after another call.
 * TA_ERR_NOMEM when any step of the building ran out of memory. */
enum ta_status ta_report_freeze(struct ta_report *report) TA_MUST_CHECK;

void ta_add_finding(struct ta_section_builder *section, const struct ta_finding *finding);

/* Starts a table; `columns` must stay valid as long as the report (static in a plugin).
 * A table without rows is left out of the report. */
struct ta_table_builder *ta_add_table(struct ta_section_builder *section, const char *id,
                                      const char *title, const struct ta_column *columns,
                                      size_t n_columns);

/* Orders the rows by one column, in each value of the column `within` unless it is NULL, missing
 * values last; ties by all columns from the left, so the order is total and does not depend on the
 * order of adding. */
void ta_sort_rows(struct ta_table_builder *table, const char *within, const char *column,
                  bool descending);

/* Attaches a chart; several charts may draw one table.  The chart is copied, its texts and
 * arrays must be static. */
void ta_add_chart(struct ta_table_builder *table, const struct ta_chart *chart);

#endif
