/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.classes, diff.waterfall, diff.waterfall_by_rank, diff.windows: the change of a window as a
 * sum of terms, by kind of work and by name.
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
#include "report/unit.h"
#include "traceanalyze/chart.h"
#include "traceanalyze/table.h"

#include <math.h>
#include <stdlib.h>

/* Terms below this share of the sum of all changes are shown as one. */
#define SHOWN_SHARE 0.005

/* ---- the terms of two windows --------------------------------------------------------------- */

/* Two windows, either of which is NULL when a side has none. */
struct diff_couple {
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
static void take_terms(struct diff_couple *couple, int side)
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

static void unite_bars(struct diff_couple *couple)
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

static bool make_bars(struct diff *diff, struct diff_couple *couple)
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

/* clang-format off */

enum { TERM, KIND, BASE, NEW, DELTA, COUNT_EFFECT, RATE_EFFECT, BASE_CALLS, NEW_CALLS };

/* What a term did, in columns from enumerator `term` on. */
#define BAR_COLUMNS_FROM(term) \
    [(term)] = {"term", "Term", TA_TEXT, .doc = "What the time was spent on"}, \
    [(term) + KIND] = {"kind", "Kind", TA_WORD, \
        .doc = "compute, comm, memcpy, memset: busy device time by name; idle: idle time by " \
               "cause; stage; host: an operator or call if there are no devices; rest: time " \
               "outside stages; other: terms that change by less than 0.5 % of the sum of all"}, \
    [(term) + BASE] = {"base_ns", "Before", TA_NS, .better = TA_LOWER, \
        .doc = "Time in the baseline's window"}, \
    [(term) + NEW] = {"new_ns", "After", TA_NS, .better = TA_LOWER, \
        .doc = "Time in the other run's window"}, \
    [(term) + DELTA] = {"delta_ns", "Change", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE, \
        .better = TA_LOWER, \
        .doc = "After minus before; the rows add up to the change of the window exactly"}, \
    [(term) + COUNT_EFFECT] = {"count_effect_ns", "Count effect", TA_TYPE_INTEGER, \
        TA_UNIT_NS_CHANGE, .better = TA_LOWER, \
        .doc = "Part of the change due to more or fewer calls"}, \
    [(term) + RATE_EFFECT] = {"rate_effect_ns", "Speed effect", TA_TYPE_INTEGER, \
        TA_UNIT_NS_CHANGE, .better = TA_LOWER, \
        .doc = "Rest of the change: calls that take longer or shorter"}, \
    [(term) + BASE_CALLS] = {"base_calls", "Calls before", TA_COUNT, \
        .doc = "Calls, or gaps, in the baseline"}, \
    [(term) + NEW_CALLS] = {"new_calls", "Calls after", TA_COUNT, \
        .doc = "Calls, or gaps, in the other run"}

/* clang-format on */

static const struct ta_column bars_columns[] = {BAR_COLUMNS_FROM(TERM)};

#define WATERFALL(title_of_it)                                                                     \
    {                                                                                              \
        .id = "diff-waterfall", .title = title_of_it,                                              \
        .caption = "From the time before to the time after, of the rank whose window is longest "  \
                   "in each run; "                                                                 \
                   "the changes add up to the difference.",                                        \
        .kind = TA_CHART_WATERFALL, .label = {&bars_columns[TERM]},                                \
        .y = {{&bars_columns[BASE], "before", TA_INK_IDLE},                                        \
              {&bars_columns[NEW], "after", TA_INK_IDLE},                                          \
              {&bars_columns[DELTA], "change", TA_INK_WORSE}},                                     \
    }

/* The picture of the comparison, by which way it went. */
static const struct ta_chart_def slower = WATERFALL("What takes longer"),
                                 faster = WATERFALL("Where the time was saved"),
                                 shifted = WATERFALL("What changed while the time did not");

static const struct ta_column classes_columns[] = {
    [TERM] = {"term", "Work", TA_SENTENCE,
              .doc = "Kernels by what they compute, communication, copies, and idle time by what "
                     "the GPU waits for"},
    [KIND] = {"kind", "Kind", TA_WORD,
              .doc = "compute, comm, memcpy, memset, idle, rest or other, as in the changes by "
                     "name"},
    [BASE] = {"base_ns", "Before", TA_NS, .better = TA_LOWER,
              .doc = "Time in the baseline's window; of one image, video or step if the runs did "
                     "different numbers of them"},
    [NEW] = {"new_ns", "After", TA_NS, .better = TA_LOWER, .doc = "The same of the other run"},
    [DELTA] = {"delta_ns", "Change", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
               .doc = "After minus before"},
};

static const struct ta_digest classes_digest = {
    .part = TA_DIGEST_CHANGES,
    .title = "What changed by kind of work",
    .rows = 8,
    .columns = {&classes_columns[TERM], &classes_columns[BASE], &classes_columns[NEW],
                &classes_columns[DELTA]}};

static const struct ta_table_def classes = {
    "diff.classes",
    "Change by kind of work",
    TA_COLUMNS(classes_columns),
    .doc = "What changed of the longest window of each run, if both are of devices.",
    .brief = &(const struct ta_brief){.place = 14,
                                      .rows = 8,
                                      .first = {&classes_columns[BASE], &classes_columns[NEW],
                                                &classes_columns[DELTA]},
                                      .never = {&classes_columns[KIND]},
                                      .nonzero = &classes_columns[DELTA]},
    .digest = &classes_digest};

static const struct ta_digest digest = {.part = TA_DIGEST_CHANGES,
                                        .title = "What changed by name",
                                        .rows = 10,
                                        .columns = {&bars_columns[TERM], &bars_columns[KIND],
                                                    &bars_columns[BASE], &bars_columns[NEW],
                                                    &bars_columns[DELTA]}};

static const struct ta_table_def bars = {
    "diff.waterfall",
    "Change by name",
    TA_COLUMNS(bars_columns),
    .doc = "What changed of the longest window of each run, name by name.",
    .brief =
        &(const struct ta_brief){
            .place = 20,
            .rows = 10,
            .first = {&bars_columns[BASE], &bars_columns[NEW], &bars_columns[DELTA]},
            .together = {&bars_columns[COUNT_EFFECT], &bars_columns[RATE_EFFECT]},
            .never = {&bars_columns[BASE_CALLS], &bars_columns[NEW_CALLS]},
            .nonzero = &bars_columns[DELTA],
            .unless = "diff.classes"}, /* the kernels have a table of their own */
    .digest = &digest};

enum { RANK, DEVICE, RANK_TERM };

static const struct ta_column rank_bars_columns[] = {
    [RANK] = TA_RANK_COLUMN_OF("Rank in both runs"),
    [DEVICE] = TA_DEVICE_COLUMN_OF("Device in both runs"),
    BAR_COLUMNS_FROM(RANK_TERM),
};

static const struct ta_chart_def heatmap = {
    .id = "diff-heatmap",
    .title = "Change of each rank's window by cause",
    .caption = "Change of each part of the window, by rank.",
    .kind = TA_CHART_HEATMAP,
    .label = {&rank_bars_columns[RANK_TERM]},
    .x = &rank_bars_columns[RANK],
    .y = {{&rank_bars_columns[RANK_TERM + DELTA], "change", TA_INK_WORSE}},
};

static const struct ta_table_def rank_bars = {"diff.waterfall_by_rank", "Change by name and rank",
                                              TA_COLUMNS(rank_bars_columns), .tier = TA_TIER_DETAIL,
                                              .chart = {&heatmap}};

enum {
    WINDOW,
    BASE_RANK,
    BASE_DEVICE,
    NEW_RANK,
    NEW_DEVICE,
    BASE_LENGTH,
    NEW_LENGTH,
    LENGTH_DELTA,
    LENGTH_CHANGE,
    EXPLAINED,
    RESIDUAL
};

static const struct ta_column compared_columns[] = {
    [WINDOW] = {"window", "Window", TA_WORD,
                .doc = "longest: the longest window of each run, which ends the run; rank: the "
                       "same rank and device in both runs"},
    [BASE_RANK] = {"base_rank", "Rank before", TA_INTEGER, .doc = "Rank in the baseline"},
    [BASE_DEVICE] = {"base_device", "Device before", TA_INTEGER,
                     .doc = "Device in the baseline; empty for stages"},
    [NEW_RANK] = {"new_rank", "Rank after", TA_INTEGER, .doc = "Rank in the other run"},
    [NEW_DEVICE] = {"new_device", "Device after", TA_INTEGER,
                    .doc = "Device in the other run; empty for stages"},
    [BASE_LENGTH] = {"base_ns", "Before", TA_NS, .better = TA_LOWER,
                     .doc = "Length of the window in the baseline"},
    [NEW_LENGTH] = {"new_ns", "After", TA_NS, .better = TA_LOWER,
                    .doc = "Length of the window in the other run"},
    DIFF_CHANGE_COLUMNS(LENGTH_DELTA, TA_TYPE_INTEGER),
    [EXPLAINED] = {"explained_ns", "Explained", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE,
                   .doc = "Sum of the changes of all terms"},
    [RESIDUAL] = {"residual_ns", "Unexplained", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE,
                  .doc = "Change of the window that no term explains"},
};

static const struct ta_table_def compared = {
    "diff.windows",
    "Windows compared",
    TA_COLUMNS(compared_columns),
    .tier = TA_TIER_DETAIL,
};

/* Cells of a term in columns from enumerator `term` on. */
#define BAR_CELLS(term, text, bar, count_ns)                                                       \
    [(term)] = ta_text(text), [(term) + KIND] = ta_text((bar)->kind),                              \
    [(term) + BASE] = ta_int((bar)->ns[TA_DIFF_BASE]),                                             \
    [(term) + NEW] = ta_int((bar)->ns[TA_DIFF_NEW]), [(term) + DELTA] = ta_int(change_of(bar)),    \
    [(term) + COUNT_EFFECT] = ta_int(count_ns),                                                    \
    [(term) + RATE_EFFECT] = ta_int(change_of(bar) - (count_ns)),                                  \
    [(term) + BASE_CALLS] = ta_int((bar)->calls[TA_DIFF_BASE]),                                    \
    [(term) + NEW_CALLS] = ta_int((bar)->calls[TA_DIFF_NEW])

/* Terms that are too small to be shown, as one. */
static int64_t pool(const struct diff_couple *couple, struct diff_bar *rest)
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

/* "16 smaller changes", with both ways where they mostly cancel out, "4 unchanged". */
static const char *name_of_rest(struct diff *diff, const struct diff_couple *couple)
{
    const size_t n = couple->n_bars - couple->n_shown;
    double more = 0, less = 0;
    char up[TA_UNIT_TEXT_MAX], down[TA_UNIT_TEXT_MAX];
    for (size_t i = couple->n_shown; i < couple->n_bars; i++) {
        const double change = (double)change_of(&couple->bars[i]);
        more += fmax(0, change);
        less += fmin(0, change);
    }
    if (more == 0 && less == 0)
        return ta_arena_printf(&diff->arena, "%zu unchanged", n);
    if (fabs(more + less) >= (more - less) / 2)
        return ta_arena_printf(&diff->arena, "%zu smaller change%s", n, n == 1 ? "" : "s");
    return ta_arena_printf(&diff->arena, "%zu smaller changes (%s and %s)", n,
                           ta_unit_format(up, more, TA_UNIT_NS_CHANGE),
                           ta_unit_format(down, less, TA_UNIT_NS_CHANGE));
}

/* The shown terms, and the others as one: by kind of work, or by name. */
static void add_bars(struct diff *diff, struct ta_section_builder *out, bool by_class,
                     const struct diff_couple *couple)
{
    for (size_t i = 0; i <= couple->n_shown; i++) {
        struct diff_bar bar = i < couple->n_shown ? couple->bars[i] : (struct diff_bar){0};
        struct ta_slice name;
        int64_t count_ns;
        if (i == couple->n_shown && couple->n_bars == couple->n_shown)
            return;
        if (i < couple->n_shown) {
            name = diff_bar_name(diff, &bar);
            count_ns = count_effect(&bar);
        } else {
            const char *text = name_of_rest(diff, couple);
            name = ta_slice_of(text ? text : "");
            count_ns = pool(couple, &bar);
        }
        if (by_class)
            TA_ROW(out, classes, [TERM] = ta_text(name), [KIND] = ta_text(bar.kind),
                   [BASE] = ta_int(bar.ns[TA_DIFF_BASE]), [NEW] = ta_int(bar.ns[TA_DIFF_NEW]),
                   [DELTA] = ta_int(change_of(&bar)));
        else
            TA_ROW(out, bars, BAR_CELLS(TERM, name, &bar, count_ns));
    }
}

static void add_rank_bars(struct diff *diff, struct ta_section_builder *out,
                          const struct diff_couple *couple)
{
    const struct diff_window *window = couple->window[TA_DIFF_BASE];
    for (size_t i = 0; i < couple->n_shown; i++) {
        const struct diff_bar *bar = &couple->bars[i];
        TA_ROW(out, rank_bars, [RANK] = ta_int(window->rank), [DEVICE] = ta_int(window->device),
               BAR_CELLS(RANK_TERM, diff_bar_name(diff, bar), bar, count_effect(bar)));
    }
    if (couple->n_shown == couple->n_bars)
        return;
    struct diff_bar rest;
    const int64_t count_ns = pool(couple, &rest);
    /* One line of a heat map for all ranks. */
    TA_ROW(out, rank_bars, [RANK] = ta_int(window->rank), [DEVICE] = ta_int(window->device),
           BAR_CELLS(RANK_TERM, TA_LIT("smaller changes"), &rest, count_ns));
}

static int64_t add_window(struct ta_section_builder *out, const char *what,
                          const struct diff_couple *couple)
{
    const struct diff_window *base = couple->window[TA_DIFF_BASE];
    const struct diff_window *new = couple->window[TA_DIFF_NEW];
    int64_t explained = 0;
    for (size_t i = 0; i < couple->n_bars; i++)
        explained += change_of(&couple->bars[i]);
    const int64_t change = new->length_ns - base->length_ns;
    TA_ROW(out, compared, [WINDOW] = ta_text(ta_slice_of(what)), [BASE_RANK] = ta_int(base->rank),
           [BASE_DEVICE] = ta_int(base->device), [NEW_RANK] = ta_int(new->rank),
           [NEW_DEVICE] = ta_int(new->device), [BASE_LENGTH] = ta_int(base->length_ns),
           [NEW_LENGTH] = ta_int(new->length_ns), [LENGTH_DELTA] = ta_int(change),
           [LENGTH_CHANGE] = ta_share(change, base->length_ns), [EXPLAINED] = ta_int(explained),
           [RESIDUAL] = ta_int(change - explained));
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

/* Finds the windows that both sides have; false without memory. */
static bool couple_ranks(struct diff *diff, const struct diff_windows windows[TA_DIFF_SIDES])
{
    const struct diff_windows *base = &windows[TA_DIFF_BASE], *new = &windows[TA_DIFF_NEW];
    if (base->n < 2 && new->n < 2)
        return true;
    size_t n;
    const struct diff_window **sorted = sort_windows(diff, new, &n);
    diff->ranks.at = ta_arena_alloc(&diff->arena, base->n * sizeof *diff->ranks.at);
    if (!sorted || !diff->ranks.at)
        return false;
    for (size_t i = 0; i < base->n; i++) {
        const struct diff_window *own = &base->at[i];
        const struct diff_window **other = bsearch(&own, sorted, n, sizeof *sorted, by_device);
        if (!other)
            continue;
        struct diff_couple *couple = &diff->ranks.at[diff->ranks.n++];
        *couple = (struct diff_couple){.window = {own, *other}};
        if (!make_bars(diff, couple))
            return false;
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

static void note_windows(struct diff *diff, const struct diff_couple *couple)
{
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        diff->window_ns[side] = couple->window[side]->length_ns;
        diff->compute_ns[side] = compute_time(couple->window[side]);
    }
}

enum { WINDOW_BASE, WINDOW_NEW, WINDOW_CHANGE, WINDOW_RESIDUAL };

static const struct ta_scalar_def window_scalars[] = {
    [WINDOW_BASE] = {"diff_base_window_ns", "Window before", TA_UNIT_NS, TA_NEUTRAL,
                     .doc = "Longest window of the baseline"},
    [WINDOW_NEW] = {"diff_new_window_ns", "Window after", TA_UNIT_NS, TA_NEUTRAL,
                    .doc = "Longest window of the other run"},
    [WINDOW_CHANGE] = {"diff_window_change_ns", "Change", TA_UNIT_NS_CHANGE, TA_NEUTRAL,
                       .doc = "Window after minus window before"},
    [WINDOW_RESIDUAL] = {"diff_residual_ns", "Not explained", TA_UNIT_NS, TA_LOWER,
                         .doc = "Change of the window minus the changes of all terms"},
};

static void add_scalars(const struct diff *diff, struct ta_section_builder *out,
                        const struct diff_couple *couple, int64_t residual_ns)
{
    const int64_t base = couple->window[TA_DIFF_BASE]->length_ns;
    const int64_t new = couple->window[TA_DIFF_NEW]->length_ns;
    const char *const several = "Longest window of the run of median length";
    ta_word_scalar(out, &window_scalars[WINDOW_BASE], ta_int(base), NULL,
                   diff->sides[TA_DIFF_BASE].n > 1 ? several : NULL);
    ta_word_scalar(out, &window_scalars[WINDOW_NEW], ta_int(new), NULL,
                   diff->sides[TA_DIFF_NEW].n > 1 ? several : NULL);
    ta_set_scalar(out, &window_scalars[WINDOW_CHANGE], ta_int(new - base));
    ta_set_scalar(out, &window_scalars[WINDOW_RESIDUAL], ta_int(residual_ns));
}

/* Why there is nothing to explain, or NULL. */
static const char *refusal(struct diff *diff, const struct diff_windows windows[TA_DIFF_SIDES])
{
    static const char *const things[] = {[DIFF_OF_DEVICE] = "device activities",
                                         [DIFF_OF_STAGES] = "stages",
                                         [DIFF_OF_HOST] = "spans of the host"};
    static const char *const sides[] = {"the baseline", "the other run"};
    const struct diff_windows *base = &windows[TA_DIFF_BASE], *new = &windows[TA_DIFF_NEW];
    const bool is_told = diff->loop.name.len || diff->prompts.name.len || diff->clock[0] > 0;
    if (base->n == 0 && new->n == 0)
        return is_told ? NULL
                       : "The change of the window is not explained: neither run has device "
                         "activities, stages or spans of one rank.";
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

/* Which way the whole went. */
static const struct ta_chart_def *picture_of(const struct diff *diff)
{
    const double base = diff_per_unit(diff, TA_DIFF_BASE, diff->window_ns[TA_DIFF_BASE]);
    const double change = diff_per_unit(diff, TA_DIFF_NEW, diff->window_ns[TA_DIFF_NEW]) - base;
    return fabs(change) < DIFF_SAME_SHARE * base ? &shifted : change > 0 ? &slower : &faster;
}

/* The terms of a window by kind of work, of a unit of it; false without memory. */
static bool put_classes(struct diff *diff, int side, struct diff_window *window)
{
    window->terms = ta_arena_alloc(&diff->arena, (window->n_classes + 1) * sizeof *window->terms);
    window->n_terms = window->n_classes;
    for (size_t i = 0; window->terms && i < window->n_terms; i++) {
        window->terms[i] = window->classes[i];
        window->terms[i].ns = ta_whole(diff_per_unit(diff, side, window->classes[i].ns));
    }
    return window->terms != NULL;
}

/* The longest windows, by kind of work where they are of devices: that is the picture then. */
static bool add_longest(struct diff *diff, struct ta_section_builder *out,
                        const struct diff_couple *longest)
{
    struct diff_window windows[TA_DIFF_SIDES] = {*longest->window[TA_DIFF_BASE],
                                                 *longest->window[TA_DIFF_NEW]};
    struct diff_couple couple = {.window = {&windows[TA_DIFF_BASE], &windows[TA_DIFF_NEW]}};
    const bool has_classes = windows[TA_DIFF_BASE].classes && windows[TA_DIFF_NEW].classes;
    for (int side = 0; side < TA_DIFF_SIDES && has_classes; side++)
        if (!put_classes(diff, side, &windows[side]))
            return false;
    if (has_classes && !make_bars(diff, &couple))
        return false;
    if (has_classes) {
        diff->classes = couple.bars;
        diff->n_classes = couple.n_bars;
        if (couple.n_shown)
            add_bars(diff, out, true, &couple);
    }
    add_bars(diff, out, false, longest);
    if (!diff->is_alien && (has_classes ? couple.n_shown : longest->n_shown))
        ta_draw(out, has_classes ? &classes : &bars, picture_of(diff));
    return true;
}

static bool add_windows(struct diff *diff, struct ta_section_builder *out)
{
    struct diff_windows windows[TA_DIFF_SIDES];
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (!diff_windows_read(diff, side, &windows[side]))
            return false;
    const char *reason = refusal(diff, windows);
    if (reason)
        ta_add_missing(out, "%s", reason);
    if (reason || windows[0].n == 0)
        return true;
    struct diff_couple longest = {
        .window = {&windows[0].at[windows[0].longest], &windows[1].at[windows[1].longest]}};
    if (!make_bars(diff, &longest) || !couple_ranks(diff, windows))
        return false;
    note_windows(diff, &longest);
    diff->bars = longest.bars;
    diff->n_bars = longest.n_bars;
    diff_find_cause(diff, longest.bars, longest.n_bars);
    if (!add_longest(diff, out, &longest))
        return false;
    add_scalars(diff, out, &longest, add_window(out, "longest", &longest));
    for (size_t i = 0; i < diff->ranks.n; i++)
        add_window(out, "rank", &diff->ranks.at[i]);
    return true;
}

static bool add_ranks(struct diff *diff, struct ta_section_builder *out)
{
    for (size_t i = 0; i < diff->ranks.n; i++)
        add_rank_bars(diff, out, &diff->ranks.at[i]);
    return true;
}

static const struct ta_table_def *const window_tables[] = {&classes, &bars, &compared, NULL};
static const struct ta_table_def *const rank_tables[] = {&rank_bars, NULL};

const struct diff_part diff_of_windows = {
    .declares = {.name = "diff.windows", .tables = window_tables, TA_SCALARS(window_scalars)},
    .section = "diff",
    .add = add_windows};
const struct diff_part diff_of_ranks = {
    .declares = {.name = "diff.waterfall_by_rank", .tables = rank_tables},
    .section = "diff",
    .add = add_ranks};
