/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The windows of a run and what they are made of. */
#include "compare/window.h"

#include <stdlib.h>

/* ---- rows by window ------------------------------------------------------------------------- */

/* A row of a table, and the window that it is of. */
struct place {
    int64_t rank, device; /* TA_MISSING: none */
    size_t table;         /* 0: `table` of the places, 1: `also` */
    size_t row;
};

/* The rows of a table by their windows, so that a window looks at its own alone. */
struct places {
    const struct ta_table *table; /* NULL: the report has no such table */
    const struct ta_table *also;  /* another one with the same columns, or NULL */
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

static const struct ta_table *table_of(const struct places *places, const struct place *place)
{
    return place->table ? places->also : places->table;
}

static void add_places(const struct ta_table *table, size_t number, bool by_device,
                       struct places *places)
{
    for (size_t i = 0; table && i < table->n_rows; i++)
        places->at[places->n++] =
            (struct place){.rank = ta_row_integer(table, i, "rank"),
                           .device = by_device ? ta_row_integer(table, i, "device") : TA_MISSING,
                           .table = number,
                           .row = i};
}

/* With `by_device` the windows are those of devices, else those of ranks; false without memory. */
static bool find_places_of(struct diff *diff, const struct ta_table *table,
                           const struct ta_table *also, bool by_device, struct places *places)
{
    const size_t rows = (table ? table->n_rows : 0) + (also ? also->n_rows : 0);
    *places = (struct places){.table = table, .also = also};
    if (rows == 0)
        return true;
    places->at = ta_arena_alloc(&diff->arena, rows * sizeof *places->at);
    if (places->at) {
        add_places(table, 0, by_device, places);
        add_places(also, 1, by_device, places);
    }
    if (places->at)
        qsort(places->at, places->n, sizeof *places->at, by_window_and_row);
    return places->at != NULL;
}

static bool find_places(struct diff *diff, const struct ta_table *table, bool by_device,
                        struct places *places)
{
    return find_places_of(diff, table, NULL, by_device, places);
}

/* Those of one window, in the order of the table. */
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
    return (struct places){all->table, all->also, all->n ? all->at + low : NULL, end - low};
}

/* ---- the terms of one window ---------------------------------------------------------------- */

/* What the windows of a run are read from. */
struct sources {
    /* Of devices: what names take of the busy time, causes of idle time, and, where the one device
     * has no table of its own, what names take over all. */
    struct places busy, idle;
    const struct ta_table *all;
    struct places stages; /* of ranks: recorded ones, and those made of other records */
};

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

/* Names that came to be the same thing are one term. */
static void unite_terms(struct diff_window *window)
{
    size_t n = 0;
    qsort(window->terms, window->n_terms, sizeof *window->terms, diff_term_order);
    for (size_t i = 0; i < window->n_terms; i++) {
        struct diff_term *last = n ? &window->terms[n - 1] : NULL;
        if (last && diff_term_order(last, &window->terms[i]) == 0) {
            last->calls += window->terms[i].calls;
            last->ns += window->terms[i].ns;
        } else {
            window->terms[n++] = window->terms[i];
        }
    }
    window->n_terms = n;
}

static bool reserve(struct diff *diff, struct diff_window *window, size_t rows)
{
    /* The rest is a term, too. */
    window->terms = ta_arena_alloc(&diff->arena, (rows + 1) * sizeof *window->terms);
    return window->terms != NULL;
}

static void add_busy(struct diff *diff, int side, const struct ta_table *table, size_t row,
                     struct diff_window *window)
{
    add_term(window, ta_row_text(table, row, "class"),
             diff_name_of(&diff->kernel_names, side, ta_row_text(table, row, "name")),
             diff_amount(table, row, "calls"), diff_amount(table, row, "exposed_ns"));
}

static bool read_device(struct diff *diff, int side, const struct sources *sources,
                        struct diff_window *window)
{
    const struct places busy = places_of(&sources->busy, window);
    const struct places idle = places_of(&sources->idle, window);
    const size_t n_all = sources->all ? sources->all->n_rows : 0;
    if (!reserve(diff, window, n_all + busy.n + idle.n))
        return false;
    for (size_t i = 0; i < n_all; i++)
        add_busy(diff, side, sources->all, i, window);
    for (size_t i = 0; i < busy.n; i++)
        add_busy(diff, side, busy.table, busy.at[i].row, window);
    for (size_t i = 0; i < idle.n; i++)
        add_term(window, TA_LIT("idle"), ta_row_text(idle.table, idle.at[i].row, "cause"),
                 diff_amount(idle.table, idle.at[i].row, "gaps"),
                 diff_amount(idle.table, idle.at[i].row, "total_ns"));
    unite_terms(window);
    return true;
}

/* A stage counts when it has a share: it is in no other then. */
static bool read_stages(struct diff *diff, int side, const struct sources *sources,
                        struct diff_window *window)
{
    const struct places stages = places_of(&sources->stages, window);
    if (!reserve(diff, window, stages.n))
        return false;
    for (size_t i = 0; i < stages.n; i++) {
        const struct ta_table *table = table_of(&stages, &stages.at[i]);
        const size_t row = stages.at[i].row;
        if (ta_row_number(table, row, "share", -1) >= 0)
            add_term(window, TA_LIT("stage"),
                     diff_name_of(&diff->stage_names, side, ta_row_text(table, row, "stage")),
                     diff_amount(table, row, "calls"), diff_amount(table, row, "total_ns"));
    }
    if (window->length_ns == TA_MISSING)
        window->length_ns = window->explained_ns;
    unite_terms(window);
    return true;
}

static bool read_host(struct diff *diff, int side, const struct sources *sources,
                      struct diff_window *window)
{
    (void)sources;
    const struct ta_table *ops = ta_report_table(diff->shown[side], "ops.by_name");
    if (!reserve(diff, window, ops->n_rows))
        return false;
    for (size_t i = 0; i < ops->n_rows; i++)
        add_term(window, TA_LIT("host"),
                 diff_name_of(&diff->op_names, side, ta_row_text(ops, i, "name")),
                 diff_amount(ops, i, "calls"), diff_amount(ops, i, "self_ns"));
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
    if (rest != 0)
        add_term(window, TA_LIT("rest"), ta_slice_of(kinds[window->kind].rest), 1, rest);
    return done;
}

/* ---- the windows of a run ------------------------------------------------------------------- */

static bool list_devices(struct diff *diff, const struct ta_table *table,
                         struct diff_windows *windows)
{
    windows->at = ta_arena_alloc(&diff->arena, table->n_rows * sizeof *windows->at);
    for (size_t i = 0; windows->at && i < table->n_rows; i++)
        windows->at[windows->n++] =
            (struct diff_window){.kind = DIFF_OF_DEVICE,
                                 .rank = ta_row_integer(table, i, "rank"),
                                 .device = ta_row_integer(table, i, "device"),
                                 .length_ns = ta_row_integer(table, i, "window_ns")};
    return windows->at != NULL;
}

/* Of the sessions of a rank together; TA_MISSING when that is not known. */
static int64_t sessions_time(const struct places *sessions, const struct diff_window *window)
{
    const struct places own = places_of(sessions, window);
    int64_t sum = TA_MISSING;
    for (size_t i = 0; i < own.n; i++) {
        const int64_t ns = ta_row_integer(own.table, own.at[i].row, "dur_ns");
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
static bool list_ranks(struct diff *diff, const struct ta_report *report,
                       const struct places *stages, struct diff_windows *windows)
{
    struct places sessions;
    struct place *firsts = ta_arena_alloc(&diff->arena, stages->n * sizeof *firsts);
    windows->at = ta_arena_alloc(&diff->arena, stages->n * sizeof *windows->at);
    if (!find_places(diff, ta_report_table(report, "run.sessions"), false, &sessions) || !firsts ||
        !windows->at)
        return false;
    for (size_t i = 0; i < stages->n; i++) {
        const struct place *place = &stages->at[i];
        const bool is_known = windows->n && firsts[windows->n - 1].rank == place->rank;
        if (!is_known && ta_row_number(table_of(stages, place), place->row, "share", -1) >= 0)
            firsts[windows->n++] = *place;
    }
    qsort(firsts, windows->n, sizeof *firsts, by_row);
    for (size_t i = 0; i < windows->n; i++) {
        windows->at[i] = (struct diff_window){
            .kind = DIFF_OF_STAGES, .rank = firsts[i].rank, .device = TA_MISSING};
        windows->at[i].length_ns = sessions_time(&sessions, &windows->at[i]);
    }
    return true;
}

/* Operators are listed over all ranks: they say what one rank did where there is one. */
static bool list_host(struct diff *diff, const struct ta_report *report,
                      struct diff_windows *windows)
{
    const struct ta_table *traces = ta_report_table(report, "trace.by_rank");
    if (!traces || traces->n_rows != 1 || !ta_report_table(report, "ops.by_name"))
        return true;
    windows->at = ta_arena_alloc(&diff->arena, sizeof *windows->at);
    if (!windows->at)
        return false;
    windows->n = 1;
    *windows->at = (struct diff_window){.kind = DIFF_OF_HOST,
                                        .rank = ta_row_integer(traces, 0, "rank"),
                                        .device = TA_MISSING,
                                        .length_ns = ta_row_integer(traces, 0, "window_ns")};
    return true;
}

static bool find_sources(struct diff *diff, const struct ta_report *report, bool has_devices,
                         struct sources *sources)
{
    const struct ta_table *each = ta_report_table(report, "gpu_time.by_rank_name");
    *sources = (struct sources){.all = each ? NULL : ta_report_table(report, "gpu_time.by_name")};
    return has_devices
               ? find_places(diff, each, true, &sources->busy) &&
                     find_places(diff, ta_report_table(report, "gpu_idle.by_cause"), true,
                                 &sources->idle)
               : find_places_of(diff, ta_report_table(report, "stages.by_name"),
                                ta_report_table(report, "stages.derived"), false, &sources->stages);
}

bool diff_windows_read(struct diff *diff, int side, struct diff_windows *windows)
{
    const struct ta_report *report = diff->shown[side];
    const struct ta_table *devices = ta_report_table(report, "gpu_time.by_rank");
    struct sources sources;
    *windows = (struct diff_windows){NULL, 0, 0};
    bool done = find_sources(diff, report, devices != NULL, &sources);
    done = done && (devices            ? list_devices(diff, devices, windows)
                    : sources.stages.n ? list_ranks(diff, report, &sources.stages, windows)
                                       : list_host(diff, report, windows));
    for (size_t i = 0; done && i < windows->n; i++) {
        done = read_terms(diff, side, &sources, &windows->at[i]);
        if (windows->at[i].length_ns > windows->at[windows->longest].length_ns)
            windows->longest = i;
    }
    return done;
}
