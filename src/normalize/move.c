/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spans, their arguments and the device activities go to their new rows. */
#include "base/merge_sort.h"
#include "normalize/gather.h"
#include "normalize/normalize.h"

/* ---- columns ------------------------------------------------------------------------------- */

/* Reorders the columns.  A column moves into a spare one and leaves its own memory to the next;
 * what is left at the end are three columns of the sizes of self time, parent and depth, which take
 * it over instead of new memory. */
static bool move_columns(struct ta_trace *trace, const ta_row *rows, size_t n)
{
    struct ta_store *store = &trace->store;
    struct span_columns *c = &trace->spans;
    c->self = ta_store_resize(store, NULL, n + 1, sizeof *c->self);
    c->parent = ta_store_resize(store, NULL, n + 1, sizeof *c->parent);
    c->depth = ta_store_resize(store, NULL, n + 1, sizeof *c->depth);
    if (!c->self || !c->parent || !c->depth)
        return false;
    TA_GATHER(c->ts, c->self, rows, n);
    TA_GATHER(c->dur, c->self, rows, n);
    TA_GATHER(c->name, c->parent, rows, n);
    TA_GATHER(c->cat, c->depth, rows, n);
    for (size_t t = 0; t < trace->tracks.n; t++)
        for (ta_row i = 0; i < trace->tracks.at[t].n; i++)
            c->track[trace->tracks.at[t].first + i] = (uint32_t)t;
    TA_FIT(store, c->ts, n);
    TA_FIT(store, c->dur, n);
    TA_FIT(store, c->self, n);
    TA_FIT(store, c->name, n);
    TA_FIT(store, c->cat, n);
    TA_FIT(store, c->track, n);
    TA_FIT(store, c->parent, n);
    TA_FIT(store, c->depth, n);
    c->n = c->max = n;
    return true;
}

/* ---- arguments ----------------------------------------------------------------------------- */

/* A set of rows that tells how many of them lie below one: the place of its value in a column
 * ordered by row.  One bit per row and a sum per 32 of them, so that it stays in the cache where a
 * list of places would not. */
struct row_word {
    uint32_t bits, below;
};

static inline uint32_t count_bits(uint32_t x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    return ((x + (x >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

static inline size_t place_of(const struct row_word *set, ta_row row)
{
    const struct row_word *word = &set[row / 32];
    return word->below + count_bits(word->bits & ((UINT32_C(1) << row % 32) - 1));
}

/* The new rows of a column's values as a set of `n_words`; returns how many there are. */
static size_t fill_set(struct row_word *set, size_t n_words, const struct arg_column *a,
                       const ta_row *new_row)
{
    memset(set, 0, n_words * sizeof *set);
    for (size_t i = 0; i < a->n; i++) {
        const ta_row row = new_row[a->row[i]];
        if (row != TA_NO_ROW)
            set[row / 32].bits |= UINT32_C(1) << row % 32;
    }
    uint32_t n = 0;
    for (size_t i = 0; i < n_words; i++) {
        set[i].below = n;
        n += count_bits(set[i].bits);
    }
    return n;
}

static void free_values(struct ta_store *store, struct arg_column *a)
{
    ta_store_free(store, a->row);
    ta_store_free(store, a->value);
    ta_store_free(store, a->is_text);
}

/* Room for `n` values, whatever they are. */
static bool reserve_values(struct ta_store *store, struct arg_column *a, size_t n)
{
    if (n <= a->max)
        return true;
    free_values(store, a);
    *a = (struct arg_column){.row = ta_store_resize(store, NULL, n, sizeof *a->row),
                             .value = ta_store_resize(store, NULL, n, sizeof *a->value),
                             .is_text = ta_store_resize(store, NULL, n, sizeof *a->is_text)};
    const bool done = a->row && a->value && a->is_text;
    a->max = done ? n : 0;
    return done;
}

/* Values of one argument, so far in file order, follow their rows: linear, and without a look at
 * rows that have none.  They move into the spare column, and the old one is the spare then. */
static bool move_args(struct ta_store *store, struct arg_column *a, struct arg_column *spare,
                      const ta_row *new_row, struct row_word *set, size_t n_words)
{
    const size_t n = fill_set(set, n_words, a, new_row);
    if (!reserve_values(store, spare, n))
        return false;
    const struct arg_column old = *a, new = *spare;
    for (size_t i = 0; i < old.n; i++) {
        const ta_row row = new_row[old.row[i]];
        if (row == TA_NO_ROW)
            continue;
        const size_t place = place_of(set, row);
        new.row[place] = row;
        new.value[place] = old.value[i];
        new.is_text[place] = old.is_text[i];
    }
    *a = new;
    *spare = old;
    a->key = old.key;
    a->n = a->max = n;
    TA_FIT(store, a->row, n);
    TA_FIT(store, a->value, n);
    TA_FIT(store, a->is_text, n);
    return true;
}

static bool move_all_args(struct ta_trace *trace, const ta_row *new_row, size_t n)
{
    const size_t n_words = n / 32 + 1;
    struct ta_store *store = &trace->store;
    struct row_word *set = ta_store_resize(store, NULL, n_words, sizeof *set);
    struct arg_column spare = {0};
    bool done = set != NULL;
    for (size_t i = 0; done && i < trace->n_args; i++)
        if (trace->args[i].n)
            done = move_args(store, &trace->args[i], &spare, new_row, set, n_words);
    free_values(store, &spare);
    ta_store_free(store, set);
    return done;
}

/* ---- activities ---------------------------------------------------------------------------- */

TA_SORT_INLINE int by_device(const void *left, const void *right, const void *user)
{
    const struct ta_activity *a = left, *b = right;
    const int64_t *ts = user;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (ts[a->span] != ts[b->span])
        return ts[a->span] < ts[b->span] ? -1 : 1;
    return a->span < b->span ? -1 : a->span > b->span;
}

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
    return ta_merge_sort_in(&trace->store, all, n, sizeof *all, by_device, trace->spans.ts);
}

bool ta_move_spans(struct ta_trace *trace, const ta_row *rows, size_t n)
{
    const size_t n_old = trace->spans.n;
    ta_row *new_row = ta_store_resize(&trace->store, NULL, n_old + 1, sizeof *new_row);
    if (!new_row)
        return false;
    if (n < n_old)
        memset(new_row, 0xff, n_old * sizeof *new_row);
    for (size_t row = 0; row < n; row++)
        new_row[rows[row]] = (ta_row)row;
    const bool done = move_all_args(trace, new_row, n) && move_columns(trace, rows, n) &&
                      move_activities(trace, new_row);
    ta_store_free(&trace->store, new_row);
    return done;
}
