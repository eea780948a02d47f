/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spans, their arguments and the device activities go to their new rows. */
#include "base/merge_sort.h"
#include "base/share.h"
#include "normalize/gather.h"
#include "normalize/normalize.h"

#include <pthread.h>
#include <stdlib.h>

/* Memory for the values of an argument. */
struct spare {
    size_t bytes;
    void *at;
};

/* What moves, and what the threads that move it share. */
struct moving {
    struct ta_trace *trace;
    const ta_row *rows, *new_row; /* of a new row the old one; of an old one the new, or none */
    size_t n;
    size_t *leader; /* of each argument: the first that has values at the same rows */
    pthread_mutex_t lock;
    struct spare *spares; /* that no thread has at the moment */
    size_t n_spares;
};

/* ---- columns ------------------------------------------------------------------------------- */

/* Rows that a thread moves at a time. */
enum { BLOCK = 1 << 16 };

struct block {
    size_t first, end;
};

static size_t count_blocks(size_t rows)
{
    return rows / BLOCK + 1;
}

static struct block block_of(const struct moving *moving, size_t i)
{
    const size_t first = i * BLOCK, end = first + BLOCK;
    return (struct block){first, end < moving->n ? end : moving->n};
}

/* The first track that ends past `row`. */
static size_t track_at(const struct ta_trace *trace, size_t row)
{
    size_t low = 0, high = trace->tracks.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct ta_track *track = &trace->tracks.at[middle];
        if ((size_t)track->first + track->n <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A column moves into a spare one and leaves its own memory to the next; what is left at the end
 * are three columns of the sizes of self time, parent and depth, which take it over instead of new
 * memory.  All columns but durations, which go where starts were: */
static enum ta_status move_block(struct ta_ctx *ctx, size_t i, void *user)
{
    const struct moving *moving = user;
    const struct block block = block_of(moving, i);
    const struct span_columns *c = &moving->trace->spans;
    (void)ctx;
    TA_GATHER_PART(c->self, c->ts, moving->rows, block.first, block.end);
    TA_GATHER_PART(c->parent, c->name, moving->rows, block.first, block.end);
    TA_GATHER_PART(c->depth, c->cat, moving->rows, block.first, block.end);
    const struct ta_trace *trace = moving->trace;
    size_t row = block.first;
    for (size_t t = track_at(trace, row); row < block.end; t++) {
        const struct ta_track *track = &trace->tracks.at[t];
        const size_t stop = (size_t)track->first + track->n;
        for (; row < block.end && row < stop; row++)
            c->track[row] = (uint32_t)t;
    }
    return TA_OK;
}

static bool make_columns(struct moving *moving)
{
    struct ta_store *store = &moving->trace->store;
    struct span_columns *c = &moving->trace->spans;
    c->self = ta_store_resize(store, NULL, moving->n + 1, sizeof *c->self);
    c->parent = ta_store_resize(store, NULL, moving->n + 1, sizeof *c->parent);
    c->depth = ta_store_resize(store, NULL, moving->n + 1, sizeof *c->depth);
    return c->self && c->parent && c->depth;
}

static void fit_columns(struct moving *moving)
{
    struct ta_store *store = &moving->trace->store;
    struct span_columns *c = &moving->trace->spans;
    const size_t n = moving->n;
    TA_FIT(store, c->ts, n);
    TA_FIT(store, c->dur, n);
    TA_FIT(store, c->self, n);
    TA_FIT(store, c->name, n);
    TA_FIT(store, c->cat, n);
    TA_FIT(store, c->track, n);
    TA_FIT(store, c->parent, n);
    TA_FIT(store, c->depth, n);
    c->n = c->max = n;
}

/* ---- arguments ----------------------------------------------------------------------------- */

/* Makes room for `n` elements, whatever they are. */
static bool reserve(struct ta_store *store, struct spare *spare, size_t n, size_t size)
{
    if (n * size <= spare->bytes)
        return true;
    ta_store_free(store, spare->at);
    spare->at = ta_store_resize(store, NULL, n, size);
    spare->bytes = spare->at ? n * size : 0;
    return spare->at != NULL;
}

/* Rows of the values of an argument. */
struct arg_rows {
    struct ta_row_word *set;
    size_t n, n_words;
    bool in_order; /* all stay, and none comes before another that it stood after */
};

/* The rows of a column's values become their new ones, or none; false without memory. */
static bool renew_rows(const struct moving *moving, struct arg_column *a, struct arg_rows *rows)
{
    const size_t n_words = ta_row_set_words(moving->n);
    struct ta_row_word *set = ta_store_resize(&moving->trace->store, NULL, n_words, sizeof *set);
    if (!set)
        return false;
    memset(set, 0, n_words * sizeof *set);
    ta_row least = 0; /* that is after all so far */
    bool in_order = true;
    for (size_t i = 0; i < a->n; i++) {
        const ta_row row = moving->new_row[a->row[i]];
        a->row[i] = row;
        in_order &= row >= least && row != TA_NO_ROW;
        least = row + 1;
        if (row != TA_NO_ROW)
            ta_row_set_add(set, row);
    }
    *rows = (struct arg_rows){set, ta_row_set_sum(set, n_words), n_words, in_order};
    return true;
}

/* Gives back what the values of an argument do not need. */
static void fit_values(struct ta_store *store, struct arg_column *a, size_t n)
{
    if (a->is_wide)
        TA_FIT(store, a->wide, n);
    else
        TA_FIT(store, a->narrow, n);
}

/* The values of an argument go to their places in the spare memory, which theirs becomes in turn.
 */
static bool place_values(const struct moving *moving, struct arg_column *a, const ta_row *place,
                         size_t n, struct spare *spare)
{
    struct ta_store *store = &moving->trace->store;
    const size_t size = a->is_wide ? sizeof *a->wide : sizeof *a->narrow;
    struct spare old = {a->max * size, a->is_wide ? (void *)a->wide : a->narrow};
    if (!reserve(store, spare, n, size))
        return false;
    int64_t *wide = a->is_wide ? spare->at : NULL;
    int32_t *narrow = a->is_wide ? NULL : spare->at;
    for (size_t i = 0; wide && i < a->n; i++)
        if (place[i] != TA_NO_ROW)
            wide[place[i]] = a->wide[i];
    for (size_t i = 0; narrow && i < a->n; i++)
        if (place[i] != TA_NO_ROW)
            narrow[place[i]] = a->narrow[i];
    a->wide = wide;
    a->narrow = narrow;
    fit_values(store, a, n);
    *spare = old;
    return true;
}

/* Which of them are texts, where that is not the same for all. */
static bool place_kinds(const struct moving *moving, struct arg_column *a, const ta_row *place,
                        size_t n)
{
    if (a->texts != ARG_SOME_TEXTS)
        return true;
    struct ta_store *store = &moving->trace->store;
    bool *placed = ta_store_resize(store, NULL, n, sizeof *placed);
    if (!placed)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (place[i] != TA_NO_ROW)
            placed[place[i]] = a->is_text[i];
    ta_store_free(store, a->is_text);
    a->is_text = placed;
    return true;
}

/* Values of one argument, so far in file order, follow their rows: linear, and without a look at
 * rows that have none.  The old memory is the spare then. */
static bool move_values(struct moving *moving, struct arg_column *a, const ta_row *place, size_t n)
{
    pthread_mutex_lock(&moving->lock);
    struct spare spare = moving->n_spares ? moving->spares[--moving->n_spares] : (struct spare){0};
    pthread_mutex_unlock(&moving->lock);
    const bool done = place_values(moving, a, place, n, &spare) && place_kinds(moving, a, place, n);
    pthread_mutex_lock(&moving->lock);
    moving->spares[moving->n_spares++] = spare;
    pthread_mutex_unlock(&moving->lock);
    return done;
}

/* Where the values of one argument are put, all that have the same rows follow: the profiler writes
 * a grid with every block. The rows are listed once for all of them. Values that are in order, as
 * operators mostly are, stay where they are. */
static bool move_args(struct moving *moving, size_t leader)
{
    struct arg_column *all = moving->trace->args, *a = &all[leader];
    struct ta_store *store = &moving->trace->store;
    struct arg_rows rows;
    if (!renew_rows(moving, a, &rows))
        return false;
    bool done = true;
    if (!rows.in_order) {
        /* New rows become their places among all of the set; none stays none. */
        for (size_t i = 0; i < a->n; i++)
            if (a->row[i] != TA_NO_ROW)
                a->row[i] = (ta_row)ta_row_set_place(rows.set, a->row[i]);
    }
    for (size_t i = leader; done && i < moving->trace->n_args; i++) {
        if (moving->leader[i] != leader)
            continue;
        if (rows.in_order)
            fit_values(store, &all[i], rows.n);
        else
            done = move_values(moving, &all[i], a->row, rows.n);
    }
    if (!done) {
        ta_store_free(store, rows.set);
        return false;
    }
    ta_row *row = a->row;
    for (size_t i = 0; !rows.in_order && i < rows.n_words; i++)
        for (uint32_t bits = rows.set[i].bits; bits; bits &= bits - 1)
            *row++ = (ta_row)(i * 32 + (size_t)__builtin_ctz(bits));
    TA_FIT(store, a->row, rows.n);
    /* The set stays for looking values up, unless it would take much more than they do. */
    enum { SET_MOST = 4 };
    if (rows.n_words * sizeof *rows.set <= SET_MOST * rows.n * arg_column_size(a))
        a->places = rows.set;
    else
        ta_store_free(store, rows.set);
    for (size_t i = leader; i < moving->trace->n_args; i++) {
        if (moving->leader[i] != leader)
            continue;
        all[i].n = all[i].max = rows.n;
        if (i > leader)
            arg_column_share_rows(store, &all[i], a);
    }
    return true;
}

/* Makes groups of the arguments that have values at the same rows. */
static bool find_leaders(struct moving *moving)
{
    const struct arg_column *args = moving->trace->args;
    const size_t n = moving->trace->n_args;
    moving->leader = malloc((n + 1) * sizeof *moving->leader);
    for (size_t i = 0; moving->leader && i < n; i++) {
        size_t leader = 0;
        while (leader < i &&
               !(args[i].n && args[leader].n == args[i].n &&
                 memcmp(args[leader].row, args[i].row, args[i].n * sizeof *args->row) == 0))
            leader++;
        moving->leader[i] = leader;
    }
    return moving->leader != NULL;
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
        if (moved.op != TA_NO_ROW)
            moved.op = new_row[moved.op];
        if (moved.span != TA_NO_ROW)
            all[n++] = moved;
    }
    trace->activities.n = n;
    return ta_merge_sort_in(&trace->store, all, n, sizeof *all, by_device, trace->spans.ts);
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* The first tasks move durations, the others the arguments of a leader each; those that follow it
 * are not looked at but by that task. */
static enum ta_status move_part(struct ta_ctx *ctx, size_t i, void *user)
{
    struct moving *moving = user;
    const size_t blocks = count_blocks(moving->n), arg = i - blocks;
    if (i < blocks) {
        const struct block block = block_of(moving, i);
        const struct span_columns *c = &moving->trace->spans;
        TA_GATHER_PART(c->self, c->dur, moving->rows, block.first, block.end);
    } else if (moving->leader[arg] == arg && moving->trace->args[arg].n &&
               !move_args(moving, arg)) {
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot move the spans of a trace");
    }
    return TA_OK;
}

static bool move_all(struct ta_ctx *ctx, struct moving *moving)
{
    struct ta_trace *trace = moving->trace;
    struct span_columns *c = &trace->spans;
    const size_t blocks = count_blocks(moving->n);
    moving->spares = calloc(ctx->helpers + 1, sizeof *moving->spares);
    bool done = moving->spares && find_leaders(moving) && make_columns(moving) &&
                ta_share_out(ctx, TA_STAGE_NORMALIZE, blocks, move_block, moving) == TA_OK;
    if (done) {
        TA_SWAP(c->ts, c->self);
        TA_SWAP(c->name, c->parent);
        TA_SWAP(c->cat, c->depth);
        done = ta_share_out(ctx, TA_STAGE_NORMALIZE, blocks + trace->n_args, move_part, moving) ==
               TA_OK;
        TA_SWAP(c->dur, c->self);
        fit_columns(moving);
    }
    for (size_t i = 0; i < moving->n_spares; i++)
        ta_store_free(&trace->store, moving->spares[i].at);
    free(moving->spares);
    free(moving->leader);
    return done && move_activities(trace, moving->new_row);
}

bool ta_move_spans(struct ta_ctx *ctx, struct ta_trace *trace, const ta_row *rows, size_t n)
{
    const size_t n_old = trace->spans.n;
    ta_row *new_row = ta_store_resize(&trace->store, NULL, n_old + 1, sizeof *new_row);
    if (!new_row)
        return false;
    if (n < n_old)
        memset(new_row, 0xff, n_old * sizeof *new_row);
    for (size_t row = 0; row < n; row++)
        new_row[rows[row]] = (ta_row)row;
    struct moving moving = {.trace = trace,
                            .rows = rows,
                            .new_row = new_row,
                            .n = n,
                            .lock = PTHREAD_MUTEX_INITIALIZER};
    const bool done = move_all(ctx, &moving);
    ta_store_free(&trace->store, new_row);
    return done;
}
