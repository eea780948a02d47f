/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of samples: by track, name and series, each by time, then place in the file. */
#include "base/merge_sort.h"
#include "base/vec.h"
#include "normalize/gather.h"
#include "normalize/normalize.h"
#include "traceanalyze/map.h"

#include <stdlib.h>

/* One series of samples. */
struct series {
    uint32_t track;
    ta_str name, series;
    size_t number; /* in the order in which they came */
    size_t n;
};

/* Series as they are found.  A profiler writes samples of a few in turn. */
struct all_series {
    TA_VEC(struct series) list;
    struct ta_map by_counter; /* track and name: a number from 0 on */
    struct ta_map by_series;  /* that number and the series: its place */
};

static bool is_series(const struct series *series, const struct counter_columns *c, size_t row)
{
    return series->track == c->track[row] && series->name == c->name[row] &&
           series->series == c->series[row];
}

/* The place of the series of a row, which is near that of the row before; SIZE_MAX without memory.
 */
static size_t series_of(struct all_series *all, const struct counter_columns *c, size_t row,
                        size_t last)
{
    enum { NEAR = 4 };
    size_t next = last;
    for (size_t i = 0; i < NEAR && i < all->list.n; i++) {
        if (is_series(&all->list.at[next], c, row))
            return next;
        next = next + 1 < all->list.n ? next + 1 : 0;
    }
    const uint64_t counter = (uint64_t)c->track[row] << 32 | c->name[row];
    const uint64_t *number = ta_map_at(&all->by_counter, counter, all->by_counter.n);
    uint64_t *place =
        number ? ta_map_at(&all->by_series, *number << 32 | c->series[row], all->list.n) : NULL;
    if (!place)
        return SIZE_MAX;
    if (*place == all->list.n &&
        !ta_vec_push(&all->list,
                     ((struct series){c->track[row], c->name[row], c->series[row], *place, 0})))
        return SIZE_MAX;
    return *place;
}

static int by_ids(const void *left, const void *right)
{
    const struct series *a = left, *b = right;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return (a->series > b->series) - (a->series < b->series);
}

TA_SORT_INLINE int by_sample(const void *left, const void *right, const void *user)
{
    const int64_t *ts = user;
    const int64_t a = ts[*(const ta_row *)left], b = ts[*(const ta_row *)right];
    return (a > b) - (a < b);
}

/* Finds the series, and of each row its number. */
static bool find_series(const struct counter_columns *c, struct all_series *all, ta_row *number)
{
    size_t place = 0;
    for (size_t row = 0; row < c->n; row++) {
        place = series_of(all, c, row, place);
        if (place == SIZE_MAX)
            return false;
        all->list.at[place].n++;
        number[row] = (ta_row)place;
    }
    return true;
}

/* Groups rows by series, which are few, and orders each by time, which it mostly is. */
static bool order_rows(struct ta_store *store, const struct counter_columns *c,
                       struct all_series *all, const ta_row *number, ta_row *rows)
{
    const size_t n = all->list.n;
    size_t *next = malloc((n + 1) * sizeof *next); /* by number: where its next row goes */
    bool done = next != NULL;
    if (done)
        qsort(all->list.at, n, sizeof *all->list.at, by_ids);
    for (size_t i = 0, at = 0; done && i < n; at += all->list.at[i++].n)
        next[all->list.at[i].number] = at;
    for (size_t row = 0; done && row < c->n; row++)
        rows[next[number[row]]++] = (ta_row)row;
    for (size_t i = 0, at = 0; done && i < n; at += all->list.at[i++].n)
        done =
            ta_merge_sort_in(store, rows + at, all->list.at[i].n, sizeof *rows, by_sample, c->ts);
    free(next);
    return done;
}

/* What the samples of a series have in common, in their new places. */
static void write_series(struct counter_columns *c, const struct all_series *all)
{
    for (size_t i = 0, row = 0; i < all->list.n; i++) {
        const struct series *series = &all->list.at[i];
        for (const size_t end = row + series->n; row < end; row++) {
            c->track[row] = series->track;
            c->name[row] = series->name;
            c->series[row] = series->series;
        }
    }
}

/* Finds the order of the rows and names them in it; their times and values are still to move. */
static bool sort_rows(struct ta_store *store, struct counter_columns *c, ta_row *number,
                      ta_row *rows)
{
    struct all_series all = {.list = {0}};
    const bool done = find_series(c, &all, number) && order_rows(store, c, &all, number, rows);
    if (done)
        write_series(c, &all);
    free(all.list.at);
    ta_map_free(&all.by_counter);
    ta_map_free(&all.by_series);
    return done;
}

bool ta_sort_counters(struct ta_trace *trace)
{
    struct ta_store *store = &trace->store;
    struct counter_columns *c = &trace->counters;
    const size_t n = c->n;
    if (n == 0)
        return true;
    ta_row *rows = ta_store_resize(store, NULL, n, sizeof *rows);
    ta_row *number = ta_store_resize(store, NULL, n, sizeof *number);
    int64_t *wide = ta_store_resize(store, NULL, n, sizeof *wide);
    const bool done = rows && number && wide && sort_rows(store, c, number, rows);
    if (done) {
        TA_GATHER(c->ts, wide, rows, n);
        TA_GATHER(c->value, wide, rows, n);
        c->max = n; /* what the spare had room for */
    }
    ta_store_free(store, rows);
    ta_store_free(store, number);
    ta_store_free(store, wide);
    return done;
}
