/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the saving of one rank is to a run of several.
 *
 * A rank q that waits w for the others, and would itself be faster by s, lets the run get shorter
 * by w + s at most: then it is the one that others wait for.  So the run gets shorter by no more
 * than the smallest w + s of all ranks. */
#include "recommend/rank_bound.h"

#include "report/report.h"
#include "report/tables.h"
#include "report/words.h"

#include <math.h>

/* Whether two rows are about the same thing of other ranks. */
static bool is_alike(const struct ta_table *table, size_t a, size_t b)
{
    const size_t rank = ta_table_rank(table), device = ta_table_device(table);
    for (size_t i = 0; (i = ta_row_key(table, a, i)) != SIZE_MAX; i++)
        if (i != rank && i != device &&
            !ta_cell_equal(ta_table_cell(table, a, i), ta_table_cell(table, b, i)))
            return false;
    return true;
}

/* What a rank has of a column, in rows like `row`. */
static double its_part(const struct ta_table *table, size_t row, size_t column, int64_t rank)
{
    const size_t ranks = ta_table_rank(table);
    double sum = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct ta_cell *of = ta_table_cell(table, i, ranks);
        if (of->kind == TA_CELL_INT && of->i == rank && is_alike(table, row, i))
            sum += ta_cell_number(ta_table_cell(table, i, column), 0);
    }
    return sum;
}

/* The longest window of a rank; 0 without any. */
static double window_of(const struct ta_refs *in, int64_t rank)
{
    double most = 0;
    for (size_t row = 0; row < ta_ref_rows(in, TA_AS_DEVICE_WINDOW); row++)
        if (ta_ref_rank(in, TA_AS_DEVICE_WINDOW, row) == rank)
            most = fmax(most, ta_ref_number(in, TA_AS_DEVICE_WINDOW, row, 0));
    return most;
}

static double wait_of(const struct ta_refs *in, int64_t rank)
{
    for (size_t row = 0; row < ta_ref_rows(in, TA_AS_RANK_WAIT); row++)
        if (ta_ref_rank(in, TA_AS_RANK_WAIT, row) == rank)
            return ta_ref_number(in, TA_AS_RANK_WAIT, row, NAN);
    return NAN;
}

struct ta_rank_bound ta_rank_bound(const struct ta_refs *in, const struct ta_report *report,
                                   const struct ta_finding *finding, double saved_ns)
{
    struct ta_rank_bound bound = {.rank = TA_MISSING, .most_ns = INFINITY, .of_others = 1};
    const struct ta_evidence *evidence = &finding->evidence[0];
    const struct ta_table *table = ta_report_table(report, evidence->table);
    const size_t row = table ? ta_evidence_row(table, evidence) : SIZE_MAX;
    const size_t column = table ? ta_table_column(table, evidence->column) : SIZE_MAX;
    const size_t ranks = table ? ta_table_rank(table) : SIZE_MAX;
    if (row == SIZE_MAX || column == SIZE_MAX || ranks == SIZE_MAX ||
        table == ta_ref_table(in, TA_AS_RANK_COST) ||
        ta_table_cell(table, row, ranks)->kind != TA_CELL_INT)
        return bound;
    const int64_t rank = ta_table_cell(table, row, ranks)->i;
    const double its = its_part(table, row, column, rank), window = window_of(in, rank);
    const double its_wait = wait_of(in, rank);
    for (size_t i = 0; its > 0 && i < ta_ref_rows(in, TA_AS_RANK_WAIT); i++) {
        const int64_t other = ta_ref_rank(in, TA_AS_RANK_WAIT, i);
        const double waits = ta_ref_number(in, TA_AS_RANK_WAIT, i, NAN);
        if (other == rank || isnan(waits))
            continue;
        const double part = fmin(1, its_part(table, row, column, other) / its);
        const double later = fmax(0, window - window_of(in, other));
        bound.is_last = (bound.rank == TA_MISSING || bound.is_last) && its_wait < waits;
        bound.rank = rank;
        bound.of_others = fmin(bound.of_others, part);
        bound.most_ns = fmin(bound.most_ns, waits + later + part * saved_ns);
    }
    return bound;
}

bool ta_is_about_late_rank(const struct ta_refs *in, const struct ta_finding *finding)
{
    const struct ta_table *table = ta_ref_table(in, TA_AS_RANK_COST);
    const size_t cost = ta_ref_column(in, TA_AS_RANK_COST);
    return table && strcmp(finding->evidence[0].table, table->id) == 0 &&
           strcmp(finding->evidence[0].column, table->columns[cost].key) == 0;
}
