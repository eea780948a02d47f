/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.divergence: where the runs part, the first kernel that is another one and the first step
 * from which on they take another time. */
#include "diff/compare.h"
#include "result/report.h"
#include "traceanalyze/columns.h"
#include "traceanalyze/stat_series.h"

#include <math.h>
#include <stdlib.h>

static const struct ta_column columns[] = {
    {"what", "What", TA_TYPE_WORD, TA_UNIT_NONE, TA_NEUTRAL,
     "kernel: the first that differs in the order of first runs; step: the first from which on "
     "steps take another time"},
    {"place", "Place", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL,
     "Pairs of operator and kernel, or steps, that came before"},
    TA_TEXT_COLUMN("op", "Operator", "That launched the kernel in the baseline"),
    TA_TEXT_COLUMN("base", "Before", "Kernel or step of the baseline"),
    TA_TEXT_COLUMN("new", "After", "Kernel or step of the other run there"),
    TA_NS_COLUMN("base_start_ns", "Start before", TA_NEUTRAL,
                 "When that was in the baseline, since the earliest span of the rank"),
    TA_NS_COLUMN("new_start_ns", "Start after", TA_NEUTRAL, "The same in the other run"),
    {"change", "Change %", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE, TA_LOWER,
     "Of a step: how much longer steps take from there on than those of the baseline"},
};

static struct ta_cell cell_of(const struct ta_table *table, size_t row, const char *column)
{
    const size_t at = ta_table_column(table, column);
    return row < table->n_rows && at != SIZE_MAX ? *ta_table_cell(table, row, at) : ta_null();
}

/* ---- the first other kernel ---------------------------------------------------------------------
 */

static struct ta_slice kernel_at(const struct diff *diff, int side, const struct ta_table *table,
                                 size_t row)
{
    return row < table->n_rows ? diff_name_of(diff, side, ta_row_text(table, row, "name"))
                               : TA_LIT("");
}

static void add_kernel(struct diff *diff, struct ta_table_builder *out)
{
    const struct ta_table *base = ta_report_table(diff->shown[TA_DIFF_BASE], "kernels.by_op");
    const struct ta_table *new = ta_report_table(diff->shown[TA_DIFF_NEW], "kernels.by_op");
    size_t i = 0;
    if (!base || !new)
        return;
    while (i < base->n_rows &&
           i < new->n_rows &&ta_slice_equal(ta_row_text(base, i, "name"),
                                            ta_row_text(new, i, "name")) &&
           ta_slice_equal(kernel_at(diff, TA_DIFF_BASE, base, i),
                          kernel_at(diff, TA_DIFF_NEW, new, i)))
        i++;
    if (i == base->n_rows && i == new->n_rows)
        return;
    TA_ROW(out, ta_text(TA_LIT("kernel")), ta_int((int64_t)i), cell_of(base, i, "op"),
           cell_of(base, i, "name"), cell_of(new, i, "name"), cell_of(base, i, "first_start_ns"),
           cell_of(new, i, "first_start_ns"), ta_null());
}

/* ---- the first other step
 * ------------------------------------------------------------------------- */

/* Steps that take less or more than this share of those of the baseline take another time. */
#define OTHER_SHARE 0.02

/* Rows of the first rank with steps. */
static size_t steps_of(const struct ta_table *table)
{
    size_t n = 0;
    while (table && n < table->n_rows &&
           ta_row_number(table, n, "rank", -1) == ta_row_number(table, 0, "rank", -1))
        n++;
    return n;
}

/* Mean of the logarithms of ratios from one place to another. */
static double mean_of(const double *logs, size_t from, size_t end)
{
    double sum = 0;
    for (size_t i = from; i < end; i++)
        sum += logs[i];
    return end > from ? sum / (double)(end - from) : 0;
}

static bool add_step(struct diff *diff, struct ta_table_builder *out)
{
    const struct ta_table *base = ta_report_table(diff->shown[TA_DIFF_BASE], "steps.by_step");
    const struct ta_table *new = ta_report_table(diff->shown[TA_DIFF_NEW], "steps.by_step");
    const size_t a = steps_of(base), b = steps_of(new), n = a < b ? a : b;
    double *logs = ta_arena_alloc(&diff->arena, (n + 1) * sizeof *logs);
    struct ta_changes changes = {0};
    if (!logs)
        return false;
    for (size_t i = 0; i < n; i++)
        logs[i] = log(fmax(ta_row_number(new, i, "host_dur_ns", 1), 1) /
                      fmax(ta_row_number(base, i, "host_dur_ns", 1), 1));
    if (n == 0 || !ta_change_points(logs, n, &changes))
        return n == 0;
    for (size_t c = 0, from = 0; c <= changes.n; from = c < changes.n ? changes.at[c] : n, c++) {
        const size_t end = c < changes.n ? changes.at[c] : n;
        const double change = exp(mean_of(logs, from, end)) - 1;
        if (fabs(change) <= OTHER_SHARE)
            continue;
        TA_ROW(out, ta_text(TA_LIT("step")), ta_int((int64_t)from), ta_null(),
               cell_of(base, from, "step"), cell_of(new, from, "step"),
               cell_of(base, from, "host_start_ns"), cell_of(new, from, "host_start_ns"),
               ta_num(change));
        break;
    }
    free(changes.at);
    return true;
}

bool diff_add_divergence(struct diff *diff)
{
    struct ta_table_builder *table =
        ta_add_table(ta_report_open_section(diff->out, "diff", "What changed"), "diff.divergence",
                     "Where the runs part", columns, sizeof columns / sizeof *columns);
    add_kernel(diff, table);
    return add_step(diff, table);
}
