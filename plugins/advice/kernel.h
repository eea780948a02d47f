/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the rules on kernels share: sums over tables, and shares of the time of all kernels. */
#ifndef TA_ADVICE_KERNEL_H
#define TA_ADVICE_KERNEL_H

#include <traceanalyze/rule.h>

/* Whether a text cell of a row holds a text; true without a column to look at. */
static inline bool kernel_row_is(const struct ta_table *table, size_t row, const char *column,
                                 const char *text)
{
    if (!column)
        return true;
    const size_t at = ta_table_column(table, column);
    return at != SIZE_MAX && ta_table_cell(table, row, at)->kind == TA_CELL_TEXT &&
           ta_slice_equal(ta_table_cell(table, row, at)->text, ta_slice_of(text));
}

static inline double kernel_cell(const struct ta_table *table, size_t row, const char *column)
{
    const size_t at = ta_table_column(table, column);
    return at == SIZE_MAX ? 0 : ta_cell_number(ta_table_cell(table, row, at), 0);
}

/* Sum of the durations of all kernels of all ranks; 0 without kernels. */
static inline double kernel_time(const struct ta_report *report)
{
    const struct ta_table *classes = ta_report_table(report, "kernels.by_class");
    double sum = 0;
    for (size_t i = 0; classes && i < classes->n_rows; i++)
        sum += kernel_cell(classes, i, "total_ns");
    return sum;
}

/* Tables of kernels are sums over ranks that run side by side: a saving is that of one rank. */
static inline int64_t kernel_saving(const struct ta_report *report, double all_ranks_ns)
{
    const size_t ranks = ta_report_run(report)->n_ranks;
    return (int64_t)(all_ranks_ns / (double)(ranks ? ranks : 1));
}

static inline struct ta_evidence kernel_evidence(const struct ta_table *table, size_t row,
                                                 const char *column)
{
    const struct ta_place place = {
        .table = table, .row = row, .column = ta_table_column(table, column)};
    return ta_place_evidence(&place);
}

static inline enum ta_severity kernel_severity(double share)
{
    return share > 0.3 ? TA_HIGH : share > 0.1 ? TA_MEDIUM : TA_LOW;
}

#endif
