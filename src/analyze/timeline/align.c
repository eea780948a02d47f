/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks on one axis of time, by what their collectives tell of their clocks. */
#include "analyze/timeline/timeline.h"

#include "traceanalyze/dump.h"

#include <math.h>
#include <stdlib.h>

/* The rows of collectives.clocks, which come by rank. */
struct clocks {
    const struct ta_table *table;
    size_t next;
    double axis; /* that all have to be on, NAN before the first */
};

/* The row of a rank that rests on most collectives; SIZE_MAX where its clock was not compared.
 * Ranks must not fall. */
static size_t find_row(struct clocks *clocks, int64_t rank)
{
    size_t best = SIZE_MAX;
    double most = -1;
    while (clocks->next < clocks->table->n_rows &&
           ta_row_number(clocks->table, clocks->next, "rank", NAN) < (double)rank)
        clocks->next++;
    for (size_t row = clocks->next; row < clocks->table->n_rows; row++) {
        const double axis = ta_row_number(clocks->table, row, "axis", NAN);
        const double n = ta_row_number(clocks->table, row, "collectives", 0);
        if (ta_row_number(clocks->table, row, "rank", NAN) != (double)rank)
            break;
        if (isnan(axis) || ta_row_reads(clocks->table, row, "state", "refused") || n <= most ||
            (!isnan(clocks->axis) && axis != clocks->axis))
            continue;
        best = row;
        most = n;
    }
    if (best != SIZE_MAX)
        clocks->axis = ta_row_number(clocks->table, best, "axis", NAN);
    return best;
}

static bool is_corrected(const struct ta_table *table, size_t row)
{
    const size_t column = ta_table_column(table, "corrected");
    const struct ta_cell *cell = column == SIZE_MAX ? NULL : ta_table_cell(table, row, column);
    return cell && cell->kind == TA_CELL_BOOL && cell->b;
}

/* How far a clock is ahead of the reference in the middle of what was recorded: there half of what
 * it drifts is the most that it is off. */
static int64_t ahead_of(const struct ta_table *table, size_t row,
                        const struct ta_timeline_file *file)
{
    char origin[32] = "";
    const struct ta_slice text = ta_row_text(table, row, "origin");
    const double drift = ta_row_number(table, row, "drift", 0);
    if (!is_corrected(table, row))
        return 0;
    const bool is_known = text.len > 0 && text.len < sizeof origin;
    if (is_known)
        memcpy(origin, text.ptr, text.len);
    const int64_t middle = file->clock_ns + file->end_ns / 2;
    const double since = is_known ? (double)(middle - strtoll(origin, NULL, 10)) : 0;
    return ta_add_sat(ta_whole(ta_row_number(table, row, "offset_ns", 0)),
                      ta_whole(round(drift * since)));
}

static bool has_several_ranks(const struct ta_timeline *timeline)
{
    return timeline->n_files && timeline->files[0].rank != TA_MISSING &&
           timeline->files[0].rank != timeline->files[timeline->n_files - 1].rank;
}

/* Where the zero of each file is on the axis of the reference; false when it is not known of all.
 */
static bool find_zeros(const struct ta_timeline *timeline, const struct ta_table *table,
                       int64_t *zeros)
{
    struct clocks clocks = {table, 0, NAN};
    for (size_t i = 0; i < timeline->n_files; i++) {
        const struct ta_timeline_file *file = &timeline->files[i], *before = i ? file - 1 : file;
        const size_t row = file->clock_ns == TA_MISSING ? SIZE_MAX : find_row(&clocks, file->rank);
        if (row != SIZE_MAX)
            zeros[i] = file->clock_ns - ahead_of(table, row, file);
        else if (file->clock_ns == TA_MISSING && i && before->rank == file->rank)
            zeros[i] = zeros[i - 1] + file->offset_ns - before->offset_ns; /* a dump beside it */
        else
            return false;
    }
    return true;
}

bool ta_timeline_align_files(struct ta_timeline *timeline, struct ta_timeline_file *files,
                             const struct ta_report *report)
{
    const struct ta_table *table = ta_report_table(report, "collectives.clocks");
    if (!table || !has_several_ranks(timeline))
        return true;
    int64_t *zeros = calloc(timeline->n_files, sizeof *zeros);
    if (zeros && find_zeros(timeline, table, zeros)) {
        int64_t first = INT64_MAX;
        for (size_t i = 0; i < timeline->n_files; i++)
            first = ta_min_i64(first, zeros[i]);
        for (size_t i = 0; i < timeline->n_files; i++)
            files[i].offset_ns = zeros[i] - first;
        timeline->clock = TA_TIMELINE_BY_COLLECTIVES;
    }
    const bool done = zeros;
    free(zeros);
    return done;
}
