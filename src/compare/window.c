/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The windows of a run and what they are made of. */
#include "compare/window.h"

#include <stdlib.h>

/* ---- rows by window ------------------------------------------------------------------------- */

/* A row of a table, and the window that it is of. */
struct place {
    int64_t rank, device; /* TA_MISSING: none */
    size_t table;         /* its place among those that are listed */
    size_t row;
};

/* The rows of tables by their windows, so that a window looks at its own alone. */
struct places {
    struct place *at;
    size_t n;
};

static int by_window(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank)
                              : (a->device > b->device) - (a->device < b->device);
}

static int by_window_and_row(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    const int order = by_window(left, right);
    if (order || a->table != b->table)
        return order ? order : (a->table > b->table) - (a->table < b->table);
    return (a->row > b->row) - (a->row < b->row);
}

/* The rows of `n` tables, each by what a column of it is read as; false without memory. */
static bool find_places(struct diff *diff, const struct ta_refs *in, const enum ta_reading *tables,
                        size_t n, struct places *places)
{
    size_t rows = 0;
    for (size_t i = 0; i < n; i++)
        rows += ta_ref_rows(in, tables[i]);
    *places = (struct places){NULL, 0};
    if (rows == 0)
        return true;
    places->at = ta_arena_alloc(&diff->arena, rows * sizeof *places->at);
    if (!places->at)
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t row = 0; row < ta_ref_rows(in, tables[i]); row++)
            places->at[places->n++] = (struct place){.rank = ta_ref_rank(in, tables[i], row),
                                                     .device = ta_ref_device(in, tables[i], row),
                                                     .table = i,
                                                     .row = row};
    qsort(places->at, places->n, sizeof *places->at, by_window_and_row);
    return true;
}

/* Terms of one window, in the order of the table. */
static struct places places_of(const struct places *all, const struct diff_window *window)
{
    const struct place key = {.rank = window->rank, .device = window->device};
    size_t low = 0, end;
    for (size_t high = all->n; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (by_window(&all->at[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < all->n && by_window(&all->at[end], &key) == 0;)
        end++;
    return (struct places){all->n ? all->at + low : NULL, end - low};
}

/* ---- the terms of one window ---------------------------------------------------------------- */

/* What the windows of a run are read from. */
struct sources {
    const struct ta_refs *in;
    /* Of devices: what names take of the busy time, and causes of idle time.  Where the one device
     * has no table of its own, all that names take is its. */
    struct places busy, idle;
    struct places stages; /* of ranks: recorded ones, and those made of other records */
};

/* What the columns of tables of one kind are read as. */
static const struct timed {
    enum ta_reading kind, name, calls, ns;
} busy_of_device = {TA_AS_DEVICE_ACTIVITY_CLASS, TA_AS_DEVICE_ACTIVITY, TA_AS_DEVICE_ACTIVITY_CALLS,
                    TA_AS_DEVICE_ACTIVITY_EXPOSED},
  busy_of_all = {TA_AS_ACTIVITY_CLASS, TA_AS_ACTIVITY, TA_AS_ACTIVITY_CALLS,
                 TA_AS_ACTIVITY_EXPOSED};

/* Stages that were recorded, and those that were made of other records. */
static const enum ta_reading stage_names[] = {TA_AS_STAGE, TA_AS_DERIVED_STAGE};
static const struct {
    enum ta_reading calls, ns, share;
} stage_columns[] = {{TA_AS_STAGE_CALLS, TA_AS_STAGE_TIME, TA_AS_STAGE_SHARE},
                     {TA_AS_DERIVED_CALLS, TA_AS_DERIVED_TIME, TA_AS_DERIVED_SHARE}};

static void add_term(struct diff_window *window, struct ta_slice kind, struct ta_slice name,
                     int64_t calls, int64_t ns)
{
    window->terms[window->n_terms++] = (struct diff_term){kind, name, calls, ns};
    window->explained_ns += ns;
}

int diff_term_order(const void *left, const void *right)
{
    const struct diff_term *a = left, *b = right;
    const int order = ta_slice_compare(a->kind, b->kind);
    return order ? order : ta_slice_compare(a->name, b->name);
}

/* Names that came to be the same thing are one term; returns how many are left. */
static size_t unite(struct diff_term *terms, size_t n_terms)
{
    size_t n = 0;
    if (n_terms)
        qsort(terms, n_terms, sizeof *terms, diff_term_order);
    for (size_t i = 0; i < n_terms; i++) {
        struct diff_term *last = n ? &terms[n - 1] : NULL;
        if (last && diff_term_order(last, &terms[i]) == 0) {
            last->calls += terms[i].calls;
            last->ns += terms[i].ns;
        } else {
            terms[n++] = terms[i];
        }
    }
    return n;
}

static void unite_terms(struct diff_window *window)
{
    window->n_terms = unite(window->terms, window->n_terms);
    window->n_classes = unite(window->classes, window->n_classes);
}

static bool reserve(struct diff *diff, struct diff_window *window, size_t rows)
{
    /* The rest is a term, too. */
    window->terms = ta_arena_alloc(&diff->arena, (rows + 1) * sizeof *window->terms);
    return window->terms != NULL;
}

/* What a name is called in both runs may be of two kinds of work: its class is of its own name. */
static void add_classed(struct diff_window *window, struct ta_slice kind, struct ta_slice name,
                        struct ta_slice own, int64_t calls, int64_t ns)
{
    add_term(window, kind, name, calls, ns);
    window->classes[window->n_classes++] =
        (struct diff_term){kind, diff_class_of(kind, own), calls, ns};
}

static void add_busy(struct diff *diff, int side, const struct ta_refs *in,
                     const struct timed *columns, size_t row, struct diff_window *window)
{
    const struct ta_slice name = ta_ref_text(in, columns->name, row);
    add_classed(window, ta_ref_text(in, columns->kind, row),
                diff_name_of(&diff->kernel_names, side, name), name,
                diff_amount(in, columns->calls, row), diff_amount(in, columns->ns, row));
}

static bool read_device(struct diff *diff, int side, const struct sources *sources,
                        struct diff_window *window)
{
    const struct ta_refs *in = sources->in;
    const struct places busy = places_of(&sources->busy, window);
    const struct places idle = places_of(&sources->idle, window);
    const size_t n_all =
        ta_ref_table(in, TA_AS_DEVICE_ACTIVITY) ? 0 : ta_ref_rows(in, TA_AS_ACTIVITY);
    const size_t n = n_all + busy.n + idle.n;
    window->classes = ta_arena_alloc(&diff->arena, (n + 1) * sizeof *window->classes);
    if (!window->classes || !reserve(diff, window, n))
        return false;
    for (size_t i = 0; i < n_all; i++)
        add_busy(diff, side, in, &busy_of_all, i, window);
    for (size_t i = 0; i < busy.n; i++)
        add_busy(diff, side, in, &busy_of_device, busy.at[i].row, window);
    for (size_t i = 0; i < idle.n; i++) {
        const size_t row = idle.at[i].row;
        const struct ta_slice cause = ta_ref_text(in, TA_AS_IDLE_CAUSE, row);
        add_classed(window, TA_LIT("idle"), cause, cause, diff_amount(in, TA_AS_IDLE_GAPS, row),
                    diff_amount(in, TA_AS_IDLE_TIME, row));
    }
    unite_terms(window);
    return true;
}

/* A stage counts when it has a share: it is in no other then. */
static bool counts(const struct ta_refs *in, const struct place *place)
{
    return ta_ref_number(in, stage_columns[place->table].share, place->row, -1) >= 0;
}

static bool read_stages(struct diff *diff, int side, const struct sources *sources,
                        struct diff_window *window)
{
    const struct ta_refs *in = sources->in;
    const struct places stages = places_of(&sources->stages, window);
    if (!reserve(diff, window, stages.n))
        return false;
    for (size_t i = 0; i < stages.n; i++) {
        const size_t table = stages.at[i].table, row = stages.at[i].row;
        const struct ta_slice name = ta_ref_text(in, stage_names[table], row);
        if (counts(in, &stages.at[i]))
            add_term(window, TA_LIT("stage"), diff_name_of(&diff->stage_names, side, name),
                     diff_amount(in, stage_columns[table].calls, row),
                     diff_amount(in, stage_columns[table].ns, row));
    }
    if (window->length_ns == TA_MISSING)
        window->length_ns = window->explained_ns;
    unite_terms(window);
    return true;
}

static bool read_host(struct diff *diff, int side, const struct sources *sources,
                      struct diff_window *window)
{
    const struct ta_refs *in = sources->in;
    if (!reserve(diff, window, ta_ref_rows(in, TA_AS_OP)))
        return false;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_OP); i++)
        add_term(window, TA_LIT("host"),
                 diff_name_of(&diff->op_names, side, ta_ref_text(in, TA_AS_OP, i)),
                 diff_amount(in, TA_AS_OP_CALLS, i), diff_amount(in, TA_AS_OP_SELF, i));
    unite_terms(window);
    return true;
}

static bool read_terms(struct diff *diff, int side, const struct sources *sources,
                       struct diff_window *window)
{
    static const struct {
        bool (*read)(struct diff *diff, int side, const struct sources *sources,
                     struct diff_window *window);
        const char *rest; /* what no term is of */
    } kinds[] = {
        [DIFF_OF_DEVICE] = {read_device, "not in the report"}, /* of a cut report */
        [DIFF_OF_STAGES] = {read_stages, "outside of stages"},
        [DIFF_OF_HOST] = {read_host, "outside of spans, less what threads do at once"},
    };
    const bool done = kinds[window->kind].read(diff, side, sources, window);
    const int64_t rest = done ? window->length_ns - window->explained_ns : 0;
    if (rest == 0)
        return done;
    const struct ta_slice name = ta_slice_of(kinds[window->kind].rest);
    add_term(window, TA_LIT("rest"), name, 1, rest);
    if (window->classes)
        window->classes[window->n_classes++] = (struct diff_term){TA_LIT("rest"), name, 1, rest};
    return done;
}

/* ---- the windows of a run ------------------------------------------------------------------- */

static bool list_devices(struct diff *diff, const struct ta_refs *in, struct diff_windows *windows)
{
    const size_t n = ta_ref_rows(in, TA_AS_DEVICE_WINDOW);
    windows->at = ta_arena_alloc(&diff->arena, n * sizeof *windows->at);
    for (size_t i = 0; windows->at && i < n; i++)
        windows->at[windows->n++] =
            (struct diff_window){.kind = DIFF_OF_DEVICE,
                                 .rank = ta_ref_rank(in, TA_AS_DEVICE_WINDOW, i),
                                 .device = ta_ref_device(in, TA_AS_DEVICE_WINDOW, i),
                                 .length_ns = ta_ref_integer(in, TA_AS_DEVICE_WINDOW, i)};
    return windows->at != NULL;
}

/* Of the sessions of a rank together; TA_MISSING when that is not known. */
static int64_t sessions_time(const struct ta_refs *in, const struct places *sessions,
                             const struct diff_window *window)
{
    const struct places own = places_of(sessions, window);
    int64_t sum = TA_MISSING;
    for (size_t i = 0; i < own.n; i++) {
        const int64_t ns = ta_ref_integer(in, TA_AS_SESSION_TIME, own.at[i].row);
        sum = sum == TA_MISSING || ns == TA_MISSING ? ns : sum + ns;
    }
    return sum;
}

static int by_row(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->table != b->table)
        return (a->table > b->table) - (a->table < b->table);
    return (a->row > b->row) - (a->row < b->row);
}

/* Ranks that have stages, with the time of their session where that is known. */
static bool list_ranks(struct diff *diff, const struct ta_refs *in, const struct places *stages,
                       struct diff_windows *windows)
{
    static const enum ta_reading session = TA_AS_SESSION_TIME;
    struct places sessions;
    struct place *firsts = ta_arena_alloc(&diff->arena, stages->n * sizeof *firsts);
    windows->at = ta_arena_alloc(&diff->arena, stages->n * sizeof *windows->at);
    if (!find_places(diff, in, &session, 1, &sessions) || !firsts || !windows->at)
        return false;
    for (size_t i = 0; i < stages->n; i++) {
        const struct place *place = &stages->at[i];
        const bool is_known = windows->n && firsts[windows->n - 1].rank == place->rank;
        if (!is_known && counts(in, place))
            firsts[windows->n++] = *place;
    }
    qsort(firsts, windows->n, sizeof *firsts, by_row);
    for (size_t i = 0; i < windows->n; i++) {
        windows->at[i] = (struct diff_window){
            .kind = DIFF_OF_STAGES, .rank = firsts[i].rank, .device = TA_MISSING};
        windows->at[i].length_ns = sessions_time(in, &sessions, &windows->at[i]);
    }
    return true;
}

/* Operators are listed over all ranks: they say what one rank did where there is one. */
static bool list_host(struct diff *diff, const struct ta_refs *in, struct diff_windows *windows)
{
    if (ta_ref_rows(in, TA_AS_TRACE_WINDOW) != 1 || !ta_ref_table(in, TA_AS_OP))
        return true;
    windows->at = ta_arena_alloc(&diff->arena, sizeof *windows->at);
    if (!windows->at)
        return false;
    windows->n = 1;
    *windows->at = (struct diff_window){.kind = DIFF_OF_HOST,
                                        .rank = ta_ref_rank(in, TA_AS_TRACE_WINDOW, 0),
                                        .device = TA_MISSING,
                                        .length_ns = ta_ref_integer(in, TA_AS_TRACE_WINDOW, 0)};
    return true;
}

bool diff_windows_read(struct diff *diff, int side, struct diff_windows *windows)
{
    static const enum ta_reading busy = TA_AS_DEVICE_ACTIVITY, idle = TA_AS_IDLE_CAUSE;
    const struct ta_refs *in = &diff->in[side];
    struct sources sources = {.in = in};
    const bool has_devices = ta_ref_table(in, TA_AS_DEVICE_WINDOW);
    *windows = (struct diff_windows){NULL, 0, 0};
    bool done = has_devices
                    ? find_places(diff, in, &busy, 1, &sources.busy) &&
                          find_places(diff, in, &idle, 1, &sources.idle)
                    : find_places(diff, in, stage_names, TA_LENGTH(stage_names), &sources.stages);
    done = done && (has_devices        ? list_devices(diff, in, windows)
                    : sources.stages.n ? list_ranks(diff, in, &sources.stages, windows)
                                       : list_host(diff, in, windows));
    for (size_t i = 0; done && i < windows->n; i++) {
        done = read_terms(diff, side, &sources, &windows->at[i]);
        if (windows->at[i].length_ns > windows->at[windows->longest].length_ns)
            windows->longest = i;
    }
    return done;
}
