/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.loops: how fast the loops of two logs run, by their bars of progress, and what of the
 * models in them stayed in host memory.
 *
 * A loop is called what its bar is called, or else after the model that it runs.  Iterations are
 * compared without the first of each bar, which is often slower for reasons of its own, where both
 * logs have it; otherwise by the mean over all.  Prompts and other iterations that have no bar are
 * compared where nothing says how long the runs took. */
#include "compare/compare.h"
#include "compare/figures.h"
#include "report/report.h"
#include "traceanalyze/table.h"

#include <math.h>

enum {
    LOOP,
    BASE_COUNT,
    NEW_COUNT,
    BASE,
    NEW,
    DELTA,
    CHANGE,
    BASE_FIRST,
    NEW_FIRST,
    BASE_OFFLOADED,
    NEW_OFFLOADED
};

static const struct ta_column loops_columns[] = {
    [LOOP] = {"loop", "Loop", TA_TEXT,
              .doc = "Name of the loop, or the model that it runs; OLD → NEW if each log has one "
                     "loop and their names differ"},
    [BASE_COUNT] = {"base_count", "Done before", TA_COUNT, .doc = "Iterations in the baseline"},
    [NEW_COUNT] = {"new_count", "Done after", TA_COUNT, .doc = "Iterations in the other run"},
    [BASE] = {"base_ns", "Before", TA_NS_MEAN, .better = TA_LOWER,
              .doc = "Mean time of an iteration in the baseline: without each bar's first "
                     "iteration if both logs show it, otherwise over all"},
    [NEW] = {"new_ns", "After", TA_NS_MEAN, .better = TA_LOWER,
             .doc = "Mean time of an iteration in the other run, found in the same way"},
    DIFF_CHANGE_COLUMNS(DELTA, TA_TYPE_NUMBER),
    [BASE_FIRST] = {"base_first_ns", "First before", TA_NS_MEAN, .better = TA_LOWER,
                    .doc = "Mean time of the first iteration of a bar in the baseline"},
    [NEW_FIRST] = {"new_first_ns", "First after", TA_NS_MEAN, .better = TA_LOWER,
                   .doc = "Mean time of the first iteration of a bar in the other run"},
    [BASE_OFFLOADED] =
        {"base_offloaded_bytes", "Offloaded before", TA_BYTES, .better = TA_LOWER,
         .doc = "Most bytes of the loop's model that were in host memory in the baseline"},
    [NEW_OFFLOADED] =
        {"new_offloaded_bytes", "Offloaded after", TA_BYTES, .better = TA_LOWER,
         .doc = "Most bytes of the loop's model that were in host memory in the other run"},
};

static const struct ta_table_def loops = {
    "diff.loops", "Loops compared", TA_COLUMNS(loops_columns),
    .brief = &(const struct ta_brief){
        .place = 20,
        .rows = 8,
        .first = {&loops_columns[BASE], &loops_columns[NEW], &loops_columns[DELTA],
                  &loops_columns[CHANGE], &loops_columns[BASE_COUNT], &loops_columns[NEW_COUNT]}}};

/* ---- the loops of a run ---------------------------------------------------------------------- */

/* Sums over the bars of a loop, or over its iterations where it has none. */
struct loop {
    struct ta_slice name;
    double n, ns;             /* iterations, and their time */
    double later_n, later_ns; /* those after the first of each bar; NaN where a bar lacks it */
    double first_n, first_ns; /* likewise the first ones */
    double change_at, before_ns, after_ns; /* of a bar whose speed changed, the last; or NaN */
    int64_t offloaded_bytes;               /* or TA_MISSING */
    bool has_bar;
    struct loop *mate;
};

struct loop_list {
    struct loop *at;
    size_t n;
};

static struct ta_slice name_of_bar(const struct ta_refs *in, size_t row)
{
    struct ta_slice name = ta_ref_text(in, TA_AS_BAR, row);
    if (name.len == 0)
        name = ta_ref_text(in, TA_AS_BAR_MODEL, row);
    return name.len ? name : TA_LIT("iterations");
}

static struct loop *find_loop(const struct loop_list *list, struct ta_slice name)
{
    for (size_t i = 0; i < list->n; i++)
        if (ta_slice_equal(list->at[i].name, name))
            return &list->at[i];
    return NULL;
}

static struct loop *add_loop(struct loop_list *list, struct ta_slice name)
{
    struct loop *loop = &list->at[list->n++];
    *loop = (struct loop){.name = name, .change_at = (double)NAN, .offloaded_bytes = TA_MISSING};
    return loop;
}

static void add_bar(struct loop_list *list, const struct ta_refs *in, size_t row)
{
    const double none = (double)NAN, done = ta_ref_number(in, TA_AS_BAR_DONE, row, 0);
    const double mean = ta_ref_number(in, TA_AS_BAR_MEAN, row, none);
    const double first = ta_ref_number(in, TA_AS_BAR_FIRST, row, none);
    const double change_at = ta_ref_number(in, TA_AS_BAR_CHANGE, row, none);
    if (!(done > 0) || !(mean > 0))
        return;
    struct loop *loop = find_loop(list, name_of_bar(in, row));
    if (!loop)
        loop = add_loop(list, name_of_bar(in, row));
    loop->has_bar = true;
    loop->n += done;
    loop->ns += done * mean;
    loop->first_n++;
    loop->first_ns += first; /* NaN stays */
    loop->later_n += done - 1;
    loop->later_ns +=
        done > 1 ? (done - 1) * ta_ref_number(in, TA_AS_BAR_REST, row, none) : first * 0;
    if (!isnan(change_at)) {
        loop->change_at = change_at;
        loop->before_ns = ta_ref_number(in, TA_AS_BAR_BEFORE, row, none);
        loop->after_ns = ta_ref_number(in, TA_AS_BAR_AFTER, row, none);
    }
    loop->offloaded_bytes =
        ta_max_i64(loop->offloaded_bytes, ta_ref_integer(in, TA_AS_BAR_OFFLOADED, row));
}

/* Iterations that have no bar, such as prompts. */
static void add_iterations(struct loop_list *list, const struct ta_refs *in, size_t row)
{
    const struct ta_slice name = ta_ref_text(in, TA_AS_ITERATION, row);
    const double n = ta_ref_number(in, TA_AS_ITERATION_COUNT, row, 0);
    const double ns = ta_ref_number(in, TA_AS_ITERATION_TIME, row, (double)NAN);
    struct loop *loop = find_loop(list, name);
    if (!(n > 0) || !(ns > 0) || (loop && loop->has_bar))
        return;
    if (!loop)
        loop = add_loop(list, name);
    loop->n += n;
    loop->ns += ns;
    loop->first_ns = loop->later_ns = (double)NAN;
}

static bool read_loops(struct diff *diff, int side, struct loop_list *list)
{
    const struct ta_refs *in = &diff->in[side];
    const size_t bars = ta_ref_rows(in, TA_AS_BAR), sums = ta_ref_rows(in, TA_AS_ITERATION);
    *list =
        (struct loop_list){ta_arena_alloc(&diff->arena, (bars + sums + 1) * sizeof *list->at), 0};
    if (!list->at)
        return false;
    for (size_t row = 0; row < bars; row++)
        add_bar(list, in, row);
    const bool is_timed = ta_run_time(diff->registry, diff->shown[side]) != TA_MISSING;
    for (size_t row = 0; row < sums && !is_timed; row++)
        add_iterations(list, in, row);
    return true;
}

/* ---- pairs of them --------------------------------------------------------------------------- */

static size_t count_single(const struct loop_list *list, size_t *last)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (!list->at[i].mate) {
            *last = i;
            n++;
        }
    return n;
}

/* By name; the only one that each side has left is the same loop under another name. */
static void match_loops(const struct loop_list lists[TA_DIFF_SIDES])
{
    const struct loop_list *base = &lists[TA_DIFF_BASE], *new = &lists[TA_DIFF_NEW];
    for (size_t i = 0; i < base->n; i++) {
        base->at[i].mate = find_loop(new, base->at[i].name);
        if (base->at[i].mate)
            base->at[i].mate->mate = &base->at[i];
    }
    size_t one, other;
    if (count_single(base, &one) == 1 && count_single(new, &other) == 1) {
        base->at[one].mate = &new->at[other];
        new->at[other].mate = &base->at[one];
    }
}

static double mean_of(double ns, double n)
{
    return n > 0 ? ns / n : (double)NAN;
}

/* Time of an iteration of both, on the same terms. */
static void compare_times(const struct loop *base, const struct loop *new, double ns[TA_DIFF_SIDES])
{
    ns[TA_DIFF_BASE] = mean_of(base->later_ns, base->later_n);
    ns[TA_DIFF_NEW] = mean_of(new->later_ns, new->later_n);
    if (ns[TA_DIFF_BASE] > 0 && ns[TA_DIFF_NEW] > 0)
        return;
    ns[TA_DIFF_BASE] = mean_of(base->ns, base->n);
    ns[TA_DIFF_NEW] = mean_of(new->ns, new->n);
}

/* Keeps the loops that take most time in both runs together for the verdict. */
static void keep_longest(struct diff *diff, const struct loop *base, struct ta_slice name,
                         const double ns[TA_DIFF_SIDES])
{
    const struct loop *new = base->mate;
    struct diff_loop *kept = base->has_bar && new->has_bar ? &diff->loop : &diff->prompts;
    const double time = base->ns + new->ns;
    if (kept->name.len && time <= kept->ns[0] * kept->n[0] + kept->ns[1] * kept->n[1])
        return;
    *kept = (struct diff_loop){.name = name,
                               .ns = {ns[0], ns[1]},
                               .n = {base->n, new->n},
                               .offloaded_bytes = {base->offloaded_bytes, new->offloaded_bytes},
                               .change_at = {base->change_at, new->change_at},
                               .after_ns = {base->after_ns, new->after_ns},
                               .figure = ta_arena_printf(&diff->arena, "%s@%.*s",
                                                         ns[0] == mean_of(base->ns, base->n)
                                                             ? "iteration_time"
                                                             : "later_iteration_time",
                                                         (int)name.len, name.ptr)};
}

static void add_row(struct diff *diff, struct ta_section_builder *out, const struct loop *base)
{
    const struct loop *new = base->mate;
    struct ta_slice name = base->name;
    double ns[TA_DIFF_SIDES];
    if (!ta_slice_equal(base->name, new->name))
        name = ta_slice_of(ta_arena_printf(&diff->arena, "%.*s → %.*s", (int)base->name.len,
                                           base->name.ptr, (int)new->name.len, new->name.ptr));
    compare_times(base, new, ns);
    keep_longest(diff, base, name, ns);
    TA_ROW(out, loops, [LOOP] = ta_text(name), [BASE_COUNT] = ta_int(ta_whole(base->n)),
           [NEW_COUNT] = ta_int(ta_whole(new->n)), [BASE] = ta_num(ns[TA_DIFF_BASE]),
           [NEW] = ta_num(ns[TA_DIFF_NEW]), [DELTA] = ta_num(ns[TA_DIFF_NEW] - ns[TA_DIFF_BASE]),
           [CHANGE] = ta_num(ns[TA_DIFF_NEW] / ns[TA_DIFF_BASE] - 1),
           [BASE_FIRST] = ta_num(mean_of(base->first_ns, base->first_n)),
           [NEW_FIRST] = ta_num(mean_of(new->first_ns, new->first_n)),
           [BASE_OFFLOADED] = ta_int(base->offloaded_bytes),
           [NEW_OFFLOADED] = ta_int(new->offloaded_bytes));
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    struct loop_list lists[TA_DIFF_SIDES];
    double shared = 0, all = 0;
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (!read_loops(diff, side, &lists[side]))
            return false;
    match_loops(lists);
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        for (size_t i = 0; i < lists[side].n; i++) {
            const struct loop *loop = &lists[side].at[i];
            all += loop->ns;
            shared += loop->mate ? loop->ns : 0;
            if (side == TA_DIFF_BASE && loop->mate)
                add_row(diff, out, loop);
        }
    diff->shared_loops = all > 0 ? shared / all : -1;
    return true;
}

static const struct ta_table_def *const tables[] = {&loops, NULL};

const struct diff_part diff_of_loops = {
    .declares = {.name = "diff.loops", .tables = tables}, .section = "diff", .add = add};
