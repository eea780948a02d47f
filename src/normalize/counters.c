/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of samples: by track, name and series, each by time, then place in the file. */
#include "base/merge_sort.h"
#include "normalize/gather.h"
#include "normalize/normalize.h"

#include <stdlib.h>

/* A series and its place in the list, as samples know it. */
struct placed {
    struct ta_counter_series series;
    size_t place;
};

static int by_ids(const void *left, const void *right)
{
    const struct ta_counter_series *a = left, *b = right;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return (a->series > b->series) - (a->series < b->series);
}

/* Puts the list in order; `next` becomes where the first sample of each goes, by its place before.
 * False without memory. */
static bool order_series(struct counter_columns *c, size_t *next)
{
    const size_t n = c->series.list.n;
    struct placed *placed = reallocarray(NULL, n, sizeof *placed);
    if (!placed)
        return false;
    for (size_t i = 0; i < n; i++)
        placed[i] = (struct placed){c->series.list.at[i], i};
    for (size_t row = 0; row < c->n; row++)
        placed[c->place[row]].series.n++;
    qsort(placed, n, sizeof *placed, by_ids);
    for (size_t i = 0, at = 0; i < n; at += placed[i++].series.n) {
        next[placed[i].place] = placed[i].series.first = at;
        c->series.list.at[i] = placed[i].series;
    }
    free(placed);
    return true;
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool is_in_order(const int64_t *ts, size_t n)
{
    bool falls = false;
    for (size_t i = 1; i < n; i++)
        falls |= ts[i] < ts[i - 1];
    return !falls;
}

TA_SORT_INLINE int by_time(const void *left, const void *right, const void *user)
{
    const int64_t *ts = user;
    const int64_t a = ts[*(const ta_row *)left], b = ts[*(const ta_row *)right];
    return (a > b) - (a < b);
}

/* Sorts the samples of one series; false without memory. */
static bool sort_samples(struct ta_store *store, int64_t *ts, double *value, size_t n)
{
    ta_row *rows = ta_store_resize(store, NULL, n, sizeof *rows);
    int64_t *spare = ta_store_resize(store, NULL, n, sizeof *spare);
    bool done = rows && spare;
    for (size_t i = 0; done && i < n; i++)
        rows[i] = (ta_row)i;
    if (done && (done = ta_merge_sort_in(store, rows, n, sizeof *rows, by_time, ts))) {
        TA_GATHER_PART(spare, ts, rows, 0, n);
        memcpy(ts, spare, n * sizeof *ts);
        TA_GATHER_PART(spare, value, rows, 0, n);
        memcpy(value, spare, n * sizeof *value);
    }
    ta_store_free(store, rows);
    ta_store_free(store, spare);
    return done;
}

bool ta_sort_counters(struct ta_trace *trace)
{
    struct ta_store *store = &trace->store;
    struct counter_columns *c = &trace->counters;
    if (c->n == 0)
        return true;
    size_t *next = reallocarray(NULL, c->series.list.n, sizeof *next);
    int64_t *ts = ta_store_resize(store, NULL, c->n, sizeof *ts);
    double *value = ta_store_resize(store, NULL, c->n, sizeof *value);
    bool done = next && ts && value && order_series(c, next);
    if (done) {
        /* Brings the samples of each series together, in the order of the file. */
        for (size_t row = 0; row < c->n; row++) {
            const size_t to = next[c->place[row]]++;
            ts[to] = c->ts[row];
            value[to] = c->value[row];
        }
        TA_SWAP(c->ts, ts);
        TA_SWAP(c->value, value);
        ta_store_free(store, c->place);
        c->place = NULL;
        c->max = c->n; /* what they have room for */
        for (size_t i = 0; done && i < c->series.list.n; i++) {
            const struct ta_counter_series *series = &c->series.list.at[i];
            if (!is_in_order(c->ts + series->first, series->n))
                done =
                    sort_samples(store, c->ts + series->first, c->value + series->first, series->n);
        }
    }
    free(next);
    ta_store_free(store, ts);
    ta_store_free(store, value);
    return done;
}
