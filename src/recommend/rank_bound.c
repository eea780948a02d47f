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
#include <stdlib.h>

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

/* One number a rank, in order. */
struct of_rank {
    int64_t rank;
    double value;
};

struct of_ranks {
    struct of_rank *at; /* NULL without memory */
    size_t n;
};

static int by_rank(const void *left, const void *right)
{
    const struct of_rank *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static double add(double a, double b)
{
    return a + b;
}

/* Makes one of several numbers of a rank. */
static void settle(struct of_ranks *all, double (*join)(double, double))
{
    size_t n = 0;
    if (all->n)
        qsort(all->at, all->n, sizeof *all->at, by_rank);
    for (size_t i = 0; i < all->n; i++)
        if (n && all->at[n - 1].rank == all->at[i].rank)
            all->at[n - 1].value = join(all->at[n - 1].value, all->at[i].value);
        else
            all->at[n++] = all->at[i];
    all->n = n;
}

static double of_rank(const struct of_ranks *all, int64_t rank, double preset)
{
    const struct of_rank wanted = {.rank = rank};
    const struct of_rank *found =
        all->n ? bsearch(&wanted, all->at, all->n, sizeof *all->at, by_rank) : NULL;
    return found ? found->value : preset;
}

/* What the ranks have of a column, in rows like `row`. */
static struct of_ranks parts_of(const struct ta_table *table, size_t row, size_t column)
{
    const size_t ranks = ta_table_rank(table);
    struct of_ranks all = {.at = calloc(table->n_rows + 1, sizeof *all.at)};
    for (size_t i = 0; all.at && i < table->n_rows; i++) {
        const struct ta_cell *of = ta_table_cell(table, i, ranks);
        if (of->kind == TA_CELL_INT && is_alike(table, row, i))
            all.at[all.n++] =
                (struct of_rank){of->i, ta_cell_number(ta_table_cell(table, i, column), 0)};
    }
    settle(&all, add);
    return all;
}

/* The longest window of each rank. */
static struct of_ranks windows_of(const struct ta_refs *in)
{
    const size_t n = ta_ref_rows(in, TA_AS_DEVICE_WINDOW);
    struct of_ranks all = {.at = calloc(n + 1, sizeof *all.at)};
    for (size_t row = 0; all.at && row < n; row++)
        all.at[all.n++] = (struct of_rank){ta_ref_rank(in, TA_AS_DEVICE_WINDOW, row),
                                           ta_ref_number(in, TA_AS_DEVICE_WINDOW, row, 0)};
    settle(&all, fmax);
    return all;
}

static double wait_of(const struct ta_refs *in, int64_t rank)
{
    for (size_t row = 0; row < ta_ref_rows(in, TA_AS_RANK_WAIT); row++)
        if (ta_ref_rank(in, TA_AS_RANK_WAIT, row) == rank)
            return ta_ref_number(in, TA_AS_RANK_WAIT, row, NAN);
    return NAN;
}

/* Over all ranks but the one that saves. */
static void bound_by_others(const struct ta_refs *in, const struct of_ranks *parts,
                            const struct of_ranks *windows, int64_t rank, double saved_ns,
                            struct ta_rank_bound *bound)
{
    const double its = of_rank(parts, rank, 0), window = of_rank(windows, rank, 0);
    const double its_wait = wait_of(in, rank);
    for (size_t i = 0; its > 0 && i < ta_ref_rows(in, TA_AS_RANK_WAIT); i++) {
        const int64_t other = ta_ref_rank(in, TA_AS_RANK_WAIT, i);
        const double waits = ta_ref_number(in, TA_AS_RANK_WAIT, i, NAN);
        if (other == rank || isnan(waits))
            continue;
        const double part = fmin(1, of_rank(parts, other, 0) / its);
        const double later = fmax(0, window - of_rank(windows, other, 0));
        bound->is_last = (bound->rank == TA_MISSING || bound->is_last) && its_wait < waits;
        bound->rank = rank;
        bound->of_others = fmin(bound->of_others, part);
        bound->most_ns = fmin(bound->most_ns, waits + later + part * saved_ns);
    }
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
    const struct of_ranks parts = parts_of(table, row, column), windows = windows_of(in);
    bound.failed = !parts.at || !windows.at;
    bound_by_others(in, &parts, &windows, ta_table_cell(table, row, ranks)->i, saved_ns, &bound);
    free(parts.at);
    free(windows.at);
    return bound;
}

bool ta_is_about_late_rank(const struct ta_refs *in, const struct ta_finding *finding)
{
    const struct ta_table *table = ta_ref_table(in, TA_AS_RANK_COST);
    const size_t cost = ta_ref_column(in, TA_AS_RANK_COST);
    return table && strcmp(finding->evidence[0].table, table->id) == 0 &&
           strcmp(finding->evidence[0].column, table->columns[cost].key) == 0;
}
