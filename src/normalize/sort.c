/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of spans: by track, start, longer first, place in the file. */
#include "normalize/normalize.h"

#include <stdlib.h>

/* Shifts that the insertion pass may spend per row before it gives way to merging.  Traces are
 * nearly ordered (1–2 % descents), and then insertion is the cheapest by far. */
enum { INSERTION_BUDGET = 8 };

static inline bool comes_after(const struct span_columns *c, ta_row a, ta_row b)
{
    if (c->ts[a] != c->ts[b])
        return c->ts[a] > c->ts[b];
    if (c->dur[a] != c->dur[b])
        return c->dur[a] < c->dur[b];
    return a > b;
}

static int by_start(const void *left, const void *right, const void *user)
{
    const ta_row a = *(const ta_row *)left, b = *(const ta_row *)right;
    return a == b ? 0 : comes_after(user, a, b) ? 1 : -1;
}

/* True when the budget was enough. */
static bool insertion_sort(const struct span_columns *c, ta_row *rows, size_t n)
{
    size_t budget = n * INSERTION_BUDGET;
    for (size_t i = 1; i < n; i++) {
        const ta_row row = rows[i];
        size_t at = i;
        while (at > 0 && comes_after(c, rows[at - 1], row)) {
            rows[at] = rows[at - 1];
            at--;
        }
        rows[at] = row;
        if (i - at > budget)
            return false;
        budget -= i - at;
    }
    return true;
}

/* Groups finished rows by track, keeping file order, and fills the row ranges of the tracks. */
static size_t group_by_track(struct ta_trace *trace, ta_row *rows)
{
    const struct span_columns *c = &trace->spans;
    struct ta_track *tracks = trace->tracks.at;
    for (size_t row = 0; row < c->n; row++)
        tracks[c->track[row]].n += c->dur[row] >= 0;
    ta_row first = 0;
    for (size_t t = 0; t < trace->tracks.n; t++) {
        tracks[t].first = first;
        first += tracks[t].n;
        tracks[t].n = 0;
    }
    for (size_t row = 0; row < c->n; row++) {
        struct ta_track *track = &tracks[c->track[row]];
        if (c->dur[row] >= 0)
            rows[track->first + track->n++] = (ta_row)row;
    }
    return first;
}

/* Reorders a column by `rows` through the spare buffer, and cuts it to size. */
static void gather(void **column, size_t size, const ta_row *rows, size_t n, void *spare)
{
    char *to = spare;
    const char *from = *column;
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * size, from + rows[i] * size, size);
    if (n)
        memcpy(*column, spare, n * size);
    void *fitted = realloc(*column, n ? n * size : 1);
    if (fitted)
        *column = fitted;
}

#define GATHER(column) gather((void **)&(column), sizeof *(column), rows, n, spare)

/* Values of one argument, so far in file order, follow their rows: `slot` finds the value of an
 * old row while the new rows are walked. */
static bool reorder_args(struct arg_column *a, const ta_row *rows, size_t n, uint32_t *slot,
                         size_t n_old)
{
    struct arg_column sorted = {.key = a->key, .max = a->n};
    sorted.row = malloc((a->n + 1) * sizeof *sorted.row);
    sorted.value = malloc((a->n + 1) * sizeof *sorted.value);
    sorted.is_text = malloc((a->n + 1) * sizeof *sorted.is_text);
    if (!sorted.row || !sorted.value || !sorted.is_text) {
        free(sorted.row);
        free(sorted.value);
        free(sorted.is_text);
        return false;
    }
    memset(slot, 0xff, n_old * sizeof *slot);
    for (size_t i = 0; i < a->n; i++)
        slot[a->row[i]] = (uint32_t)i;
    for (size_t row = 0; row < n; row++) {
        const uint32_t from = slot[rows[row]];
        if (from == UINT32_MAX)
            continue;
        sorted.row[sorted.n] = (ta_row)row;
        sorted.value[sorted.n] = a->value[from];
        sorted.is_text[sorted.n++] = a->is_text[from];
    }
    free(a->row);
    free(a->value);
    free(a->is_text);
    *a = sorted;
    return true;
}

static int by_device(const void *left, const void *right, const void *user)
{
    const struct ta_activity *a = left, *b = right;
    const int64_t *ts = user;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (ts[a->span] != ts[b->span])
        return ts[a->span] < ts[b->span] ? -1 : 1;
    return a->span < b->span ? -1 : a->span > b->span;
}

/* Activities follow their spans to the new rows; unfinished ones are gone. */
static bool move_activities(struct ta_trace *trace, const ta_row *new_row)
{
    size_t n = 0;
    struct ta_activity *all = trace->activities.at;
    for (size_t i = 0; i < trace->activities.n; i++) {
        struct ta_activity moved = all[i];
        moved.span = new_row[moved.span];
        if (moved.launch != TA_NO_ROW)
            moved.launch = new_row[moved.launch];
        if (moved.span != TA_NO_ROW)
            all[n++] = moved;
    }
    trace->activities.n = n;
    return ta_merge_sort(all, n, sizeof *all, by_device, trace->spans.ts);
}

bool ta_sort_spans(struct ta_trace *trace)
{
    struct span_columns *c = &trace->spans;
    const size_t n_old = c->n;
    ta_row *rows = malloc((n_old + 1) * sizeof *rows);
    ta_row *new_row = malloc((n_old + 1) * sizeof *new_row);
    void *spare = malloc((n_old + 1) * sizeof(int64_t));
    bool done = rows && new_row && spare;
    const size_t n = done ? group_by_track(trace, rows) : 0;
    for (size_t t = 0; done && t < trace->tracks.n; t++) {
        const struct ta_track *track = &trace->tracks.at[t];
        if (!insertion_sort(c, rows + track->first, track->n))
            done = ta_merge_sort(rows + track->first, track->n, sizeof *rows, by_start, c);
    }
    for (size_t i = 0; done && i < trace->n_args; i++)
        done = reorder_args(&trace->args[i], rows, n, new_row, n_old);
    if (done) {
        GATHER(c->ts);
        GATHER(c->dur);
        GATHER(c->name);
        GATHER(c->cat);
        GATHER(c->track);
        c->n = c->max = n;
        memset(new_row, 0xff, n_old * sizeof *new_row);
        for (size_t row = 0; row < n; row++)
            new_row[rows[row]] = (ta_row)row;
        done = move_activities(trace, new_row);
    }
    free(rows);
    free(new_row);
    free(spare);
    return done;
}

/* ---- counters ------------------------------------------------------------------------------ */

static int by_series(const void *left, const void *right, const void *user)
{
    const struct counter_columns *c = user;
    const ta_row a = *(const ta_row *)left, b = *(const ta_row *)right;
    if (c->track[a] != c->track[b])
        return c->track[a] < c->track[b] ? -1 : 1;
    if (c->name[a] != c->name[b])
        return c->name[a] < c->name[b] ? -1 : 1;
    if (c->series[a] != c->series[b])
        return c->series[a] < c->series[b] ? -1 : 1;
    return c->ts[a] < c->ts[b] ? -1 : c->ts[a] > c->ts[b];
}

bool ta_sort_counters(struct ta_trace *trace)
{
    struct counter_columns *c = &trace->counters;
    const size_t n = c->n;
    ta_row *rows = malloc((n + 1) * sizeof *rows);
    void *spare = malloc((n + 1) * sizeof(int64_t));
    for (size_t i = 0; rows && i < n; i++)
        rows[i] = (ta_row)i;
    const bool done = rows && spare && ta_merge_sort(rows, n, sizeof *rows, by_series, c);
    if (done && n) {
        GATHER(c->ts);
        GATHER(c->value);
        GATHER(c->name);
        GATHER(c->series);
        GATHER(c->track);
        c->max = n;
    }
    free(rows);
    free(spare);
    return done;
}
