/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.divergence: where the runs part, the first kernel that is another one and the first step
 * from which on they take another time. */
#include "compare/align.h"
#include "compare/compare.h"
#include "compare/reached.h"
#include "report/report.h"
#include "stat/series.h"
#include "traceanalyze/table.h"

#include <math.h>
#include <stdlib.h>

enum { WHAT, DIFFERENCE, PLACE, OP, BASE, NEW, BASE_START, NEW_START, CHANGE };

static const struct ta_column divergence_columns[] = {
    [WHAT] = {"what", "Kind", TA_WORD,
              .doc = "kernel: the first kernel that differs, in order of first execution; step: "
                     "the first step from which step times differ"},
    [DIFFERENCE] =
        {"difference", "Difference", TA_WORD,
         .doc = "For a kernel: added (not in the baseline), removed (not in the other run), or "
                "replaced (another kernel or operator in its place). For a step: slower or faster"},
    [PLACE] = {"place", "Place", TA_COUNT,
               .doc = "Matching pairs of operator and kernel, or steps, before the difference"},
    [OP] = {"op", "Operator", TA_TEXT,
            .doc = "Operator that launched the kernel, in the baseline if it has it"},
    [BASE] = {"base", "Before", TA_TEXT, .doc = "Kernel or step in the baseline; empty if added"},
    [NEW] = {"new", "After", TA_TEXT, .doc = "Kernel or step in the other run; empty if removed"},
    [BASE_START] =
        {"base_start_ns", "Start before", TA_NS,
         .doc = "Time of the difference in the baseline, since the earliest span of the rank"},
    [NEW_START] =
        {"new_start_ns", "Start after", TA_NS,
         .doc = "Time of the difference in the other run, since the earliest span of the rank"},
    [CHANGE] = {"change", "Change %", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE, .better = TA_LOWER,
                .doc =
                    "For a step: change of the step time from there on, relative to the baseline"},
};

static const struct ta_table_def divergence = {"diff.divergence", "Where the runs diverge",
                                               TA_COLUMNS(divergence_columns)};

static struct ta_cell cell_of(const struct ta_refs *in, size_t ref, size_t row)
{
    return row < ta_ref_rows(in, ref) ? *ta_ref_cell(in, ref, row) : ta_null();
}

/* ---- the first other kernel ---------------------------------------------------------------------
 */

/* The programs of both shown runs from one place on: operators and kernels in the order in which
 * they were first reached. */
struct programs {
    const struct diff *diff;
    const size_t *rows[TA_DIFF_SIDES]; /* in that order */
    size_t from;
};

static struct ta_slice text_at(const struct programs *programs, int side, size_t i, size_t ref)
{
    return ta_ref_text(&programs->diff->in[side], ref, programs->rows[side][programs->from + i]);
}

/* Whether a kernel is the same one, whatever numbers its name has on either side; one with another
 * name in its place is not. */
static bool is_same_kernel(const struct programs *programs, size_t i, size_t k)
{
    const struct ta_slice name = text_at(programs, TA_DIFF_BASE, i, TA_AS_LAUNCHED);
    const struct ta_slice base = diff_name_of(&programs->diff->kernel_names, TA_DIFF_BASE, name);
    const struct ta_slice new = diff_name_of(&programs->diff->kernel_names, TA_DIFF_NEW,
                                             text_at(programs, TA_DIFF_NEW, k, TA_AS_LAUNCHED));
    return ta_slice_equal(base, name) && ta_slice_equal(base, new);
}

static bool is_same_op(const struct programs *programs, size_t i, size_t k)
{
    return ta_slice_equal(text_at(programs, TA_DIFF_BASE, i, TA_AS_LAUNCHER),
                          text_at(programs, TA_DIFF_NEW, k, TA_AS_LAUNCHER));
}

enum { FIT_KERNEL = 4, FIT_OP = 1 };

/* Pairs of which neither kernel nor operator is the same stand apart. */
static int fit(const void *user, size_t i, size_t k)
{
    return FIT_KERNEL * is_same_kernel(user, i, k) + FIT_OP * is_same_op(user, i, k);
}

static size_t rows_left(const struct programs *programs, int side)
{
    /* The kernels that follow show whether something came in between; far ahead they show nothing
     * more. */
    enum { AHEAD_MOST = 512 };
    const size_t left = ta_ref_rows(&programs->diff->in[side], TA_AS_LAUNCHED) - programs->from;
    return left < AHEAD_MOST ? left : AHEAD_MOST;
}

/* What the first pair that differs is: "added" or "removed" when the other program goes on with it
 * later or not at all, else "replaced"; NULL without memory. */
static const char *difference_of(struct diff *diff, const struct programs *programs)
{
    const size_t n = rows_left(programs, TA_DIFF_BASE), m = rows_left(programs, TA_DIFF_NEW);
    size_t *other = ta_arena_alloc(&diff->arena, (n + 1) * sizeof *other);
    const struct diff_sequences rest = {
        .fit = fit, .user = programs, .most = FIT_KERNEL + FIT_OP, .n = n, .m = m};
    if (!other || !diff_align(&rest, other))
        return NULL;
    bool has_base = n > 0 && other[0] == DIFF_GAP, has_new = m > 0;
    for (size_t i = 0; i < n; i++)
        has_new = has_new && other[i] != 0;
    if (n > 0 && other[0] == 0) /* paired, and not the same */
        has_base = has_new = true;
    return has_base && has_new ? "replaced" : has_new ? "added" : "removed";
}

static bool add_kernel(struct diff *diff, struct ta_section_builder *out)
{
    const struct ta_refs *base = &diff->in[TA_DIFF_BASE], *new = &diff->in[TA_DIFF_NEW];
    const size_t n = ta_ref_rows(base, TA_AS_LAUNCHED), m = ta_ref_rows(new, TA_AS_LAUNCHED);
    static const struct diff_reached columns = {TA_AS_LAUNCHER, TA_AS_LAUNCHED,
                                                TA_AS_LAUNCHER_WITHIN, TA_AS_LAUNCHED_START};
    struct programs programs = {.diff = diff};
    if (!ta_ref_table(base, TA_AS_LAUNCHED) || !ta_ref_table(new, TA_AS_LAUNCHED))
        return true;
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (!(programs.rows[side] = diff_rows_reached(diff, side, &columns)))
            return false;
    size_t i = 0;
    while (i < n && i < m && is_same_op(&programs, i, i) && is_same_kernel(&programs, i, i))
        i++;
    if (i == n && i == m)
        return true;
    programs.from = i;
    const char *difference = difference_of(diff, &programs);
    if (!difference)
        return false;
    const bool is_added = strcmp(difference, "added") == 0;
    const bool is_removed = strcmp(difference, "removed") == 0;
    const size_t base_row = i < n ? programs.rows[TA_DIFF_BASE][i] : SIZE_MAX;
    const size_t new_row = i < m ? programs.rows[TA_DIFF_NEW][i] : SIZE_MAX;
    TA_ROW(out, divergence, [WHAT] = ta_text(TA_LIT("kernel")),
           [DIFFERENCE] = ta_text(ta_slice_of(difference)), [PLACE] = ta_int((int64_t)i),
           [OP] = is_added ? cell_of(new, TA_AS_LAUNCHER, new_row)
                           : cell_of(base, TA_AS_LAUNCHER, base_row),
           [BASE] = is_added ? ta_null() : cell_of(base, TA_AS_LAUNCHED, base_row),
           [NEW] = is_removed ? ta_null() : cell_of(new, TA_AS_LAUNCHED, new_row),
           [BASE_START] = cell_of(base, TA_AS_LAUNCHED_START, base_row),
           [NEW_START] = cell_of(new, TA_AS_LAUNCHED_START, new_row), [CHANGE] = ta_null());
    return true;
}

/* ---- the first other step
 * ------------------------------------------------------------------------- */

/* Steps whose time differs by more than this share from the baseline's take another time. */
#define OTHER_SHARE 0.02

/* Rows of the first rank with steps. */
static size_t steps_of(const struct ta_refs *in)
{
    size_t n = 0;
    while (n < ta_ref_rows(in, TA_AS_STEP) &&
           ta_ref_rank(in, TA_AS_STEP, n) == ta_ref_rank(in, TA_AS_STEP, 0))
        n++;
    return n;
}

/* Mean of the logarithms of ratios from one place to another. */
static double mean_of(const double *logs, size_t from, size_t end)
{
    double sum = 0;
    for (size_t i = from; i < end; i++)
        sum += logs[i];
    return end > from ? sum / (double)(end - from) : 0;
}

static bool add_step(struct diff *diff, struct ta_section_builder *out)
{
    const struct ta_refs *base = &diff->in[TA_DIFF_BASE], *new = &diff->in[TA_DIFF_NEW];
    const size_t a = steps_of(base), b = steps_of(new), n = a < b ? a : b;
    double *logs = ta_arena_alloc(&diff->arena, (n + 1) * sizeof *logs);
    struct ta_changes changes = {0};
    if (!logs)
        return false;
    for (size_t i = 0; i < n; i++)
        logs[i] = log(fmax(ta_ref_number(new, TA_AS_STEP_HOST_TIME, i, 1), 1) /
                      fmax(ta_ref_number(base, TA_AS_STEP_HOST_TIME, i, 1), 1));
    if (n == 0 || !ta_change_points(logs, n, &changes))
        return n == 0;
    for (size_t c = 0, from = 0; c <= changes.n; from = c < changes.n ? changes.at[c] : n, c++) {
        const size_t end = c < changes.n ? changes.at[c] : n;
        const double change = exp(mean_of(logs, from, end)) - 1;
        if (fabs(change) <= OTHER_SHARE)
            continue;
        TA_ROW(out, divergence, [WHAT] = ta_text(TA_LIT("step")),
               [DIFFERENCE] = ta_text(change > 0 ? TA_LIT("slower") : TA_LIT("faster")),
               [PLACE] = ta_int((int64_t)from), [OP] = ta_null(),
               [BASE] = cell_of(base, TA_AS_STEP, from), [NEW] = cell_of(new, TA_AS_STEP, from),
               [BASE_START] = cell_of(base, TA_AS_STEP_START, from),
               [NEW_START] = cell_of(new, TA_AS_STEP_START, from), [CHANGE] = ta_num(change));
        break;
    }
    free(changes.at);
    return true;
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    return add_kernel(diff, out) && add_step(diff, out);
}

static const struct ta_table_def *const tables[] = {&divergence, NULL};

const struct diff_part diff_of_divergence = {
    .declares = {.name = "diff.divergence", .tables = tables}, .section = "diff", .add = add};
