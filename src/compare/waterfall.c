/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.waterfall, diff.waterfall_by_rank, diff.windows: the change of a window as a sum of terms.
 *
 * The terms of a window add up to it on both sides (window.h), so their differences add up to the
 * difference of the windows.  The change of a term is split by calls n and time per call m = t / n:
 *
 *     count effect  (n' - n) (m + m') / 2        rate effect  (m' - m) (n + n') / 2
 *
 * whose sum it is; what is on one side only has a count effect alone. */
#include "compare/cause.h"
#include "compare/window.h"
#include "report/report.h"
#include "traceanalyze/chart.h"
#include "traceanalyze/columns.h"

#include <math.h>
#include <stdlib.h>

/* Terms below this share of the sum of all changes are shown as one. */
#define SHOWN_SHARE 0.005

/* ---- the terms of two windows --------------------------------------------------------------- */

/* Two windows, either of which is NULL when a side has none. */
struct couple {
    const struct diff_window *window[TA_DIFF_SIDES];
    struct diff_bar *bars; /* by the size of the change */
    size_t n_bars, n_shown;
};

static int64_t change_of(const struct diff_bar *bar)
{
    return bar->ns[TA_DIFF_NEW] - bar->ns[TA_DIFF_BASE];
}

/* Rounded to nanoseconds; the rate effect is the rest of the change. */
static int64_t count_effect(const struct diff_bar *bar)
{
    const double n = (double)bar->calls[TA_DIFF_BASE], more = (double)bar->calls[TA_DIFF_NEW];
    if (n == 0 || more == 0)
        return change_of(bar);
    const double m = (double)bar->ns[TA_DIFF_BASE] / n, now = (double)bar->ns[TA_DIFF_NEW] / more;
    return ta_whole(rint((more - n) * (m + now) / 2));
}

static bool has(const struct diff_window *window, struct ta_slice kind, struct ta_slice name)
{
    const struct diff_term key = {.kind = kind, .name = name};
    return bsearch(&key, window->terms, window->n_terms, sizeof key, diff_term_order) != NULL;
}

/* Where one side lists a name and the other only the sum of its small ones, nothing says how the
 * name fared: it belongs to that sum on both. */
static void take_terms(struct couple *couple, int side)
{
    const struct diff_window *own = couple->window[side], *other = couple->window[!side];
    for (size_t i = 0; i < own->n_terms; i++) {
        const struct diff_term *term = &own->terms[i];
        const bool is_pooled =
            !has(other, term->kind, term->name) && has(other, term->kind, TA_LIT(""));
        struct diff_bar *bar = &couple->bars[couple->n_bars++];
        *bar = (struct diff_bar){.kind = term->kind, .name = is_pooled ? TA_LIT("") : term->name};
        bar->calls[side] = term->calls;
        bar->ns[side] = term->ns;
    }
}

static int by_key(const void *left, const void *right)
{
    const struct diff_bar *a = left, *b = right;
    const int order = ta_slice_compare(a->kind, b->kind);
    return order ? order : ta_slice_compare(a->name, b->name);
}

static int by_change(const void *left, const void *right)
{
    const int64_t a = llabs(change_of(left)), b = llabs(change_of(right));
    return a != b ? (a < b) - (a > b) : by_key(left, right);
}

static void unite_bars(struct couple *couple)
{
    size_t n = 0;
    qsort(couple->bars, couple->n_bars, sizeof *couple->bars, by_key);
    for (size_t i = 0; i < couple->n_bars; i++) {
        struct diff_bar *last = n ? &couple->bars[n - 1] : NULL;
        const struct diff_bar *bar = &couple->bars[i];
        if (!last || by_key(last, bar) != 0) {
            couple->bars[n++] = *bar;
            continue;
        }
        for (int s = 0; s < TA_DIFF_SIDES; s++) {
            last->calls[s] += bar->calls[s];
            last->ns[s] += bar->ns[s];
        }
    }
    couple->n_bars = n;
}

static bool make_bars(struct diff *diff, struct couple *couple)
{
    const size_t most = couple->window[0]->n_terms + couple->window[1]->n_terms;
    couple->bars = ta_arena_alloc(&diff->arena, most * sizeof *couple->bars);
    if (!couple->bars)
        return false;
    take_terms(couple, TA_DIFF_BASE);
    take_terms(couple, TA_DIFF_NEW);
    unite_bars(couple);
    qsort(couple->bars, couple->n_bars, sizeof *couple->bars, by_change);
    double all = 0;
    for (size_t i = 0; i < couple->n_bars; i++)
        all += fabs((double)change_of(&couple->bars[i]));
    while (couple->n_shown < couple->n_bars &&
           fabs((double)change_of(&couple->bars[couple->n_shown])) > SHOWN_SHARE * all)
        couple->n_shown++;
    return true;
}

/* ---- tables --------------------------------------------------------------------------------- */

#define BAR_COLUMNS                                                                                \
    {"term", "Term", TA_TEXT, .doc = "What takes the time"},                                       \
        {"kind", "Kind", TA_TYPE_WORD, TA_UNIT_NONE,                                               \
         .doc =                                                                                    \
             "compute, comm, memcpy, memset: what a name takes of the busy time of the device; "   \
             "idle: "                                                                              \
             "a cause of idle time; stage; host: an operator or call where there are no devices; " \
             "rest: outside of stages; other: terms whose change is "                              \
             "below 0.5 % of the sum of all"},                                                     \
        {"base_ns", "Before", TA_NS, .better = TA_LOWER,                                           \
         .doc = "Time in the window of the baseline"},                                             \
        {"new_ns", "After", TA_NS, .better = TA_LOWER,                                             \
         .doc = "Time in the window of the other run"},                                            \
        {"delta_ns",                                                                               \
         "Change",                                                                                 \
         TA_TYPE_INTEGER,                                                                          \
         TA_UNIT_NS_CHANGE,                                                                        \
         .better = TA_LOWER,                                                                       \
         .doc = "After minus before; the rows add up to the change of the window exactly"},        \
        {"count_effect_ns",  "By calls",                                                           \
         TA_TYPE_INTEGER,    TA_UNIT_NS_CHANGE,                                                    \
         .better = TA_LOWER, .doc = "Part of the change that comes from more or fewer calls"},     \
        {"rate_effect_ns",   "By time per call",                                                   \
         TA_TYPE_INTEGER,    TA_UNIT_NS_CHANGE,                                                    \
         .better = TA_LOWER, .doc = "The other part: calls that take longer or shorter"},          \
        {"base_calls", "Calls before", TA_COUNT, .doc = "Calls, or gaps, before"},                 \
    {                                                                                              \
        "new_calls", "Calls after", TA_COUNT, .doc = "Calls, or gaps, after"                       \
    }

static const struct ta_column bar_columns[] = {BAR_COLUMNS};

static const struct ta_chart waterfall = {
    .id = "diff-waterfall",
    .title = "What changed the window",
    .caption =
        "From the window before to the window after, term by term; the changes add up to that "
        "of the window.",
    .kind = TA_CHART_WATERFALL,
    .label = {"term"},
    .y = {{"base_ns", "before", TA_INK_IDLE},
          {"new_ns", "after", TA_INK_IDLE},
          {"delta_ns", "change", TA_INK_WORSE}},
};

static const struct ta_chart heatmap = {
    .id = "diff-heatmap",
    .title = "What changed the window of each rank",
    .caption = "Change of each term on each rank.",
    .kind = TA_CHART_HEATMAP,
    .label = {"term"},
    .x = "rank",
    .y = {{"delta_ns", "change", TA_INK_WORSE}},
};
static const struct ta_column rank_columns[] = {TA_RANK_COLUMN_OF("Rank in both runs"),
                                                TA_DEVICE_COLUMN_OF("Device in both runs"),
                                                BAR_COLUMNS};

static const struct ta_column window_columns[] = {
    {"window", "Window", TA_WORD,
     .doc = "longest: the longest window of each run, whose end is that of the run; rank: the same "
            "rank "
            "and device in both"},
    {"base_rank", "Rank before", TA_INTEGER, .doc = "Rank in the baseline"},
    {"base_device", "Device before", TA_INTEGER, .doc = "Device in the baseline; none for stages"},
    {"new_rank", "Rank after", TA_INTEGER, .doc = "Rank in the other run"},
    {"new_device", "Device after", TA_INTEGER, .doc = "Device in the other run; none for stages"},
    {"base_ns", "Before", TA_NS, .better = TA_LOWER, .doc = "Window in the baseline"},
    {"new_ns", "After", TA_NS, .better = TA_LOWER, .doc = "Window in the other run"},
    DIFF_CHANGE_COLUMNS(TA_TYPE_INTEGER),
    {"explained_ns", "Explained", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE,
     .doc = "Sum of the changes of all terms"},
    {"residual_ns", "Residual", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE,
     .doc = "Change that no term explains"},
};

enum { BAR_CELLS = sizeof bar_columns / sizeof *bar_columns };

static void put_bar(struct ta_cell *cells, struct ta_slice name, const struct diff_bar *bar,
                    int64_t count_ns)
{
    const struct ta_cell made[BAR_CELLS] = {
        ta_text(name),
        ta_text(bar->kind),
        ta_int(bar->ns[TA_DIFF_BASE]),
        ta_int(bar->ns[TA_DIFF_NEW]),
        ta_int(change_of(bar)),
        ta_int(count_ns),
        ta_int(change_of(bar) - count_ns),
        ta_int(bar->calls[TA_DIFF_BASE]),
        ta_int(bar->calls[TA_DIFF_NEW]),
    };
    memcpy(cells, made, sizeof made);
}

/* Terms that are too small to be shown, as one. */
static int64_t pool(const struct couple *couple, struct diff_bar *rest)
{
    int64_t count_ns = 0;
    *rest = (struct diff_bar){.kind = TA_LIT("other")};
    for (size_t i = couple->n_shown; i < couple->n_bars; i++) {
        for (int s = 0; s < TA_DIFF_SIDES; s++) {
            rest->ns[s] += couple->bars[i].ns[s];
            rest->calls[s] += couple->bars[i].calls[s];
        }
        count_ns += count_effect(&couple->bars[i]);
    }
    return count_ns;
}

/* The rows of one couple; with `of_rank` rank and device stand before them. */
static void add_bars(struct diff *diff, struct ta_table_builder *table, const struct couple *couple,
                     bool of_rank)
{
    const struct diff_window *window = couple->window[TA_DIFF_BASE];
    struct ta_cell cells[2 + BAR_CELLS] = {ta_int(window->rank), ta_int(window->device)};
    for (size_t i = 0; i < couple->n_shown; i++) {
        const struct diff_bar *bar = &couple->bars[i];
        put_bar(cells + 2, diff_bar_name(diff, bar), bar, count_effect(bar));
        ta_add_row(table, of_rank ? cells : cells + 2);
    }
    if (couple->n_shown == couple->n_bars)
        return;
    struct diff_bar rest;
    const int64_t count_ns = pool(couple, &rest);
    const size_t pooled = couple->n_bars - couple->n_shown;
    const char *text = of_rank ? "smaller changes" /* one line of a heat map for all ranks */
                               : ta_arena_printf(&diff->arena, "%zu smaller change%s", pooled,
                                                 pooled == 1 ? "" : "s");
    put_bar(cells + 2, ta_slice_of(text ? text : ""), &rest, count_ns);
    ta_add_row(table, of_rank ? cells : cells + 2);
}

static int64_t add_window(struct ta_table_builder *table, const char *what,
                          const struct couple *couple)
{
    const struct diff_window *base = couple->window[TA_DIFF_BASE];
    const struct diff_window *new = couple->window[TA_DIFF_NEW];
    int64_t explained = 0;
    for (size_t i = 0; i < couple->n_bars; i++)
        explained += change_of(&couple->bars[i]);
    const int64_t change = new->length_ns - base->length_ns;
    TA_CELLS(table, ta_text(ta_slice_of(what)), ta_int(base->rank), ta_int(base->device),
             ta_int(new->rank), ta_int(new->device), ta_int(base->length_ns),
             ta_int(new->length_ns), ta_int(change), ta_share(change, base->length_ns),
             ta_int(explained), ta_int(change - explained));
    return change - explained;
}

static int by_device(const void *left, const void *right)
{
    const struct diff_window *a = *(const struct diff_window *const *)left;
    const struct diff_window *b = *(const struct diff_window *const *)right;
    return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank)
                              : (a->device > b->device) - (a->device < b->device);
}

/* Of several windows of one device, as a saved report may claim, the first comes first. */
static int by_device_and_place(const void *left, const void *right)
{
    const struct diff_window *a = *(const struct diff_window *const *)left;
    const struct diff_window *b = *(const struct diff_window *const *)right;
    const int order = by_device(left, right);
    return order ? order : (a > b) - (a < b);
}

/* The windows by rank and device, the first of each; NULL without memory. */
static const struct diff_window **sort_windows(struct diff *diff,
                                               const struct diff_windows *windows, size_t *n)
{
    const struct diff_window **sorted =
        ta_arena_alloc(&diff->arena, (windows->n + 1) * sizeof *sorted);
    *n = 0;
    if (!sorted)
        return NULL;
    for (size_t i = 0; i < windows->n; i++)
        sorted[i] = &windows->at[i];
    qsort(sorted, windows->n, sizeof *sorted, by_device_and_place);
    for (size_t i = 0; i < windows->n; i++)
        if (*n == 0 || by_device(&sorted[*n - 1], &sorted[i]) != 0)
            sorted[(*n)++] = sorted[i];
    return sorted;
}

static bool add_ranks(struct diff *diff, const struct diff_windows windows[TA_DIFF_SIDES],
                      struct ta_section_builder *section, struct ta_table_builder *table)
{
    const struct diff_windows *base = &windows[TA_DIFF_BASE], *new = &windows[TA_DIFF_NEW];
    if (base->n < 2 && new->n < 2)
        return true;
    struct ta_table_builder *bars =
        ta_add_table(section, "diff.waterfall_by_rank", "What changed the window of each rank",
                     rank_columns, 2 + BAR_CELLS);
    ta_add_chart(bars, &heatmap);
    size_t n;
    const struct diff_window **sorted = sort_windows(diff, new, &n);
    if (!sorted)
        return false;
    for (size_t i = 0; i < base->n; i++) {
        const struct diff_window *own = &base->at[i];
        const struct diff_window **other = bsearch(&own, sorted, n, sizeof *sorted, by_device);
        if (!other)
            continue;
        struct couple couple = {.window = {own, *other}};
        if (!make_bars(diff, &couple))
            return false;
        add_window(table, "rank", &couple);
        add_bars(diff, bars, &couple, true);
    }
    return true;
}

/* ---- together ------------------------------------------------------------------------------- */

/* Of a device; TA_MISSING of stages. */
static int64_t compute_time(const struct diff_window *window)
{
    int64_t sum = 0;
    for (size_t i = 0; i < window->n_terms; i++)
        if (ta_slice_equal(window->terms[i].kind, diff_compute))
            sum = ta_add_sat(sum, window->terms[i].ns);
    return window->kind == DIFF_OF_DEVICE ? sum : TA_MISSING;
}

static void note_windows(struct diff *diff, const struct couple *couple)
{
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        diff->window_ns[side] = couple->window[side]->length_ns;
        diff->compute_ns[side] = compute_time(couple->window[side]);
    }
}

static void add_scalars(const struct diff *diff, struct ta_section_builder *section,
                        const struct couple *couple, int64_t residual_ns)
{
    const int64_t base = couple->window[TA_DIFF_BASE]->length_ns;
    const int64_t new = couple->window[TA_DIFF_NEW]->length_ns;
    const struct ta_scalar scalars[] = {
        {"diff_base_window_ns", "Window before", ta_int(base), TA_UNIT_NS, TA_LOWER,
         diff->sides[TA_DIFF_BASE].n > 1 ? "Longest window of the run of median length"
                                         : "Longest window of the baseline"},
        {"diff_new_window_ns", "Window after", ta_int(new), TA_UNIT_NS, TA_LOWER,
         diff->sides[TA_DIFF_NEW].n > 1 ? "Longest window of the run of median length"
                                        : "Longest window of the other run"},
        {"diff_window_change_ns", "Change", ta_int(new - base), TA_UNIT_NS_CHANGE, TA_LOWER,
         "After minus before"},
        {"diff_residual_ns", "Not explained", ta_int(residual_ns), TA_UNIT_NS, TA_LOWER,
         "Change of the window minus the sum of the changes of its terms"},
    };
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        ta_add_scalar(section, &scalars[i]);
}

/* Why there is nothing to explain, or NULL. */
static const char *refusal(struct diff *diff, const struct diff_windows windows[TA_DIFF_SIDES])
{
    static const char *const things[] = {[DIFF_OF_DEVICE] = "device activities",
                                         [DIFF_OF_STAGES] = "stages",
                                         [DIFF_OF_HOST] = "spans of the host"};
    static const char *const sides[] = {"the baseline", "the other run"};
    const struct diff_windows *base = &windows[TA_DIFF_BASE], *new = &windows[TA_DIFF_NEW];
    if (base->n == 0 && new->n == 0)
        return "The change of the window is not explained: neither run has device activities, "
               "stages or spans of one rank.";
    if (base->n == 0 || new->n == 0)
        return ta_arena_printf(&diff->arena,
                               "The change of the window is not explained: %s has no device "
                               "activities, stages or spans of one rank.",
                               sides[base->n != 0]);
    if (base->at->kind != new->at->kind)
        return ta_arena_printf(&diff->arena,
                               "The change of the window is not explained: of the baseline it is "
                               "made of %s, of the other run of %s.",
                               things[base->at->kind], things[new->at->kind]);
    return NULL;
}

bool diff_add_waterfall(struct diff *diff)
{
    struct diff_windows windows[TA_DIFF_SIDES];
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (!diff_windows_read(diff, side, &windows[side]))
            return false;
    struct ta_section_builder *section = ta_report_open_section(diff->out, "diff", "What changed");
    const char *reason = refusal(diff, windows);
    if (reason) {
        ta_add_missing(section, "%s", reason);
        return true;
    }
    struct couple longest = {
        .window = {&windows[0].at[windows[0].longest], &windows[1].at[windows[1].longest]}};
    if (!make_bars(diff, &longest))
        return false;
    note_windows(diff, &longest);
    diff_find_cause(diff, longest.bars, longest.n_bars);
    struct ta_table_builder *bars =
        ta_add_table(section, "diff.waterfall", "What changed the window", bar_columns, BAR_CELLS);
    struct ta_table_builder *table =
        ta_add_table(section, "diff.windows", "Windows compared", window_columns,
                     sizeof window_columns / sizeof *window_columns);
    add_scalars(diff, section, &longest, add_window(table, "longest", &longest));
    add_bars(diff, bars, &longest, false);
    ta_add_chart(bars, &waterfall);
    return add_ranks(diff, windows, section, table);
}
