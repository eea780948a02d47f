/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that are about a stretch of time: those of tables with a rank, a start on the clock of the
 * rank's file and a duration: "start_ns" and "dur_ns", or both with the same word in front. */
#include "timeline.h"

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* The column of the duration that belongs to a start. */
static size_t duration_of(const struct ta_table *table, const char *start)
{
    static const char start_word[] = "start_ns", dur_word[] = "dur_ns";
    const size_t front = strlen(start) - strlen(start_word);
    for (size_t i = 0; i < table->n_columns; i++) {
        const char *key = table->columns[i].key;
        if (strncmp(key, start, front) == 0 && strcmp(key + front, dur_word) == 0)
            return i;
    }
    return SIZE_MAX;
}

struct range_columns timeline_range_columns(const struct page *page, const struct ta_table *table)
{
    struct range_columns columns = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    const size_t rank = ta_table_column(table, "rank");
    for (size_t i = 0; page->timeline && rank != SIZE_MAX && i < table->n_columns; i++) {
        const char *key = table->columns[i].key;
        const size_t dur = ends_in(key, "start_ns") ? duration_of(table, key) : SIZE_MAX;
        if (dur != SIZE_MAX && ta_column_is_useful(table, i) && ta_column_is_useful(table, dur))
            return (struct range_columns){rank, i, dur};
    }
    return columns;
}

bool timeline_range(const struct range_columns *columns, const struct ta_table *table, size_t row,
                    struct window *window)
{
    if (columns->rank == SIZE_MAX)
        return false;
    const struct ta_cell *rank = ta_table_cell(table, row, columns->rank);
    const struct ta_cell *start = ta_table_cell(table, row, columns->start);
    const struct ta_cell *dur = ta_table_cell(table, row, columns->dur);
    if (rank->kind != TA_CELL_INT || start->kind != TA_CELL_INT || dur->kind != TA_CELL_INT)
        return false;
    *window = (struct window){rank->i, start->i, ta_add_sat(start->i, dur->i)};
    return true;
}

bool timeline_has_rank(const struct page *page, int64_t rank)
{
    size_t low = 0, high = page->timeline ? page->timeline->n_files : 0;
    const size_t n = high;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (page->timeline->files[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && page->timeline->files[low].rank == rank;
}
