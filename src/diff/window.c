/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The windows of a run and what they are made of. */
#include "diff/window.h"

#include <stdlib.h>

/* ---- the terms of one window ---------------------------------------------------------------- */

static bool is_of(const struct ta_table *table, size_t row, const struct diff_window *window)
{
    return ta_row_integer(table, row, "rank") == window->rank &&
           ta_row_integer(table, row, "device") == window->device;
}

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

static bool read_device(struct diff *diff, int side, struct diff_window *window)
{
    const struct ta_report *report = diff->shown[side];
    const struct ta_table *all = ta_report_table(report, "gpu_time.by_name");
    const struct ta_table *each = ta_report_table(report, "gpu_time.by_rank_name");
    const struct ta_table *idle = ta_report_table(report, "gpu_idle.by_cause");
    const struct ta_table *busy = each ? each : all;
    if (!reserve(diff, window, (busy ? busy->n_rows : 0) + (idle ? idle->n_rows : 0)))
        return false;
    for (size_t i = 0; busy && i < busy->n_rows; i++) {
        const struct ta_slice class = ta_row_text(busy, i, "class");
        const struct ta_slice name = ta_row_text(busy, i, "name");
        if (!each || is_of(each, i, window))
            add_term(window, class, diff_name_of(&diff->kernel_names, side, name),
                     diff_amount(busy, i, "calls"), diff_amount(busy, i, "exposed_ns"));
    }
    for (size_t i = 0; idle && i < idle->n_rows; i++)
        if (is_of(idle, i, window))
            add_term(window, TA_LIT("idle"), ta_row_text(idle, i, "cause"),
                     diff_amount(idle, i, "gaps"), diff_amount(idle, i, "total_ns"));
    unite_terms(window);
    return true;
}

/* A stage counts when it has a share: it is in no other then. */
static bool read_stages(struct diff *diff, int side, struct diff_window *window)
{
    const struct ta_table *stages = ta_report_table(diff->shown[side], "stages.by_name");
    if (!reserve(diff, window, stages->n_rows))
        return false;
    for (size_t i = 0; i < stages->n_rows; i++)
        if (ta_row_integer(stages, i, "rank") == window->rank &&
            ta_row_number(stages, i, "share", -1) >= 0)
            add_term(window, TA_LIT("stage"),
                     diff_name_of(&diff->stage_names, side, ta_row_text(stages, i, "stage")),
                     diff_amount(stages, i, "calls"), diff_amount(stages, i, "total_ns"));
    if (window->length_ns == TA_MISSING)
        window->length_ns = window->explained_ns;
    unite_terms(window);
    return true;
}

static bool read_host(struct diff *diff, int side, struct diff_window *window)
{
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

static bool read_terms(struct diff *diff, int side, struct diff_window *window)
{
    static const struct {
        bool (*read)(struct diff *diff, int side, struct diff_window *window);
        const char *rest; /* what no term is of */
    } kinds[] = {
        [DIFF_OF_DEVICE] = {read_device, "not in the report"}, /* of a cut report */
        [DIFF_OF_STAGES] = {read_stages, "outside of stages"},
        [DIFF_OF_HOST] = {read_host, "outside of spans, less what threads do at once"},
    };
    const bool done = kinds[window->kind].read(diff, side, window);
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

static struct diff_window *window_of(struct diff_windows *windows, int64_t rank)
{
    for (size_t i = windows->n; i-- > 0;)
        if (windows->at[i].rank == rank)
            return &windows->at[i];
    windows->at[windows->n] = (struct diff_window){
        .kind = DIFF_OF_STAGES, .rank = rank, .device = TA_MISSING, .length_ns = TA_MISSING};
    return &windows->at[windows->n++];
}

/* Ranks that have stages, with the time of their session where that is known. */
static bool list_ranks(struct diff *diff, const struct ta_report *report,
                       const struct ta_table *stages, struct diff_windows *windows)
{
    const struct ta_table *sessions = ta_report_table(report, "run.sessions");
    windows->at = ta_arena_alloc(&diff->arena, stages->n_rows * sizeof *windows->at);
    if (!windows->at)
        return false;
    for (size_t i = 0; i < stages->n_rows; i++)
        if (ta_row_number(stages, i, "share", -1) >= 0)
            window_of(windows, ta_row_integer(stages, i, "rank"));
    for (size_t i = 0; i < windows->n; i++)
        for (size_t k = 0; sessions && k < sessions->n_rows; k++)
            if (ta_row_integer(sessions, k, "rank") == windows->at[i].rank) {
                const int64_t ns = ta_row_integer(sessions, k, "dur_ns"),
                              had = windows->at[i].length_ns;
                windows->at[i].length_ns = had == TA_MISSING || ns == TA_MISSING ? ns : had + ns;
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

bool diff_windows_read(struct diff *diff, int side, struct diff_windows *windows)
{
    const struct ta_report *report = diff->shown[side];
    const struct ta_table *devices = ta_report_table(report, "gpu_time.by_rank");
    const struct ta_table *stages = ta_report_table(report, "stages.by_name");
    *windows = (struct diff_windows){NULL, 0, 0};
    bool done = devices  ? list_devices(diff, devices, windows)
                : stages ? list_ranks(diff, report, stages, windows)
                         : list_host(diff, report, windows);
    for (size_t i = 0; done && i < windows->n; i++) {
        done = read_terms(diff, side, &windows->at[i]);
        if (windows->at[i].length_ns > windows->at[windows->longest].length_ns)
            windows->longest = i;
    }
    return done;
}
