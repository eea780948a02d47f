/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.step_classes: steps compared with steps of their own kind.
 *
 * Steps that reuse a cache and steps that do not take different times, and a run with more of one
 * kind has another mean although no step changed.  Of classes with shares w of the steps and means
 * m the change of the mean is
 *
 *     ΔM = Σ (w + w')/2 (m' - m)  +  Σ (m + m')/2 (w' - w)
 *
 * within the classes, and by the mix of them. */
#include "diff/compare.h"
#include "diff/figures.h"
#include "result/report.h"
#include "traceanalyze/columns.h"
#include "traceanalyze/stat_sample.h"

#include <math.h>

static const struct ta_column columns[] = {
    {"class", "Steps", TA_TYPE_WORD, TA_UNIT_NONE, TA_NEUTRAL,
     "short, long: classes of durations that lie apart, by Otsu's threshold of the logarithms; "
     "all"},
    TA_COUNT_COLUMN("base_steps", "Of them before", TA_NEUTRAL, "Steps of all ranks, before"),
    TA_COUNT_COLUMN("new_steps", "Of them after", TA_NEUTRAL, "Steps of all ranks, after"),
    {"base_mean_ns", "Before", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER, "Mean duration, before"},
    {"new_mean_ns", "After", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER, "Mean duration, after"},
    {"delta_ns", "Change", TA_TYPE_NUMBER, TA_UNIT_NS_CHANGE, TA_LOWER, "After minus before"},
    {"change", "Change %", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE, TA_LOWER, "Change over before"},
    {"within_ns", "Within", TA_TYPE_NUMBER, TA_UNIT_NS_CHANGE, TA_LOWER,
     "Part of the change of the mean of all steps that comes from these becoming longer"},
    {"mix_ns", "By the mix", TA_TYPE_NUMBER, TA_UNIT_NS_CHANGE, TA_LOWER,
     "Part of it that comes from more or fewer of these"},
};

enum class { SHORT, LONG, CLASSES };

/* Least Ashman's D of two classes: cut in half, a normal distribution has 2.7 and an even one 3.5.
 */
#define APART 4

/* The steps of a side. */
struct steps {
    double *sorted;
    size_t n;
    struct ta_classes split;
    bool is_split;
    size_t count[CLASSES];
    double mean[CLASSES]; /* NaN of none */
};

static bool read_steps(struct diff *diff, const struct ta_durations *series, struct steps *steps)
{
    const size_t all = series->n * series->ranks;
    *steps = (struct steps){.sorted = ta_arena_alloc(&diff->arena, (all + 1) * sizeof(double))};
    if (!steps->sorted)
        return false;
    for (size_t i = 0; i < all; i++)
        if (!isnan(series->at[i]))
            steps->sorted[steps->n++] = series->at[i];
    ta_sort_numbers(steps->sorted, steps->n);
    ta_two_classes(steps->sorted, steps->n, &steps->split);
    steps->is_split = steps->split.valid && steps->split.separation > APART;
    return true;
}

static double mean_of(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return n ? sum / (double)n : (double)NAN;
}

static void divide(struct steps *steps, double threshold)
{
    size_t low = 0;
    while (low < steps->n && steps->sorted[low] < threshold)
        low++;
    steps->count[SHORT] = low;
    steps->count[LONG] = steps->n - low;
    steps->mean[SHORT] = mean_of(steps->sorted, low);
    steps->mean[LONG] = mean_of(steps->sorted + low, steps->n - low);
}

static void add_row(struct ta_table_builder *table, const char *class, const size_t count[2],
                    const double mean[2], double within, double mix)
{
    const double base = mean[TA_DIFF_BASE], new = mean[TA_DIFF_NEW];
    TA_ROW(table, ta_text(ta_slice_of(class)), ta_int((int64_t)count[TA_DIFF_BASE]),
           ta_int((int64_t)count[TA_DIFF_NEW]), ta_num(base), ta_num(new), ta_num(new - base),
           ta_num(new / base - 1), ta_num(within), ta_num(mix));
}

static void add_class(struct ta_table_builder *table, const struct steps sides[TA_DIFF_SIDES],
                      enum class class, double sum[2])
{
    static const char *const names[] = {[SHORT] = "short", [LONG] = "long"};
    const struct steps *base = &sides[TA_DIFF_BASE], *new = &sides[TA_DIFF_NEW];
    const double before = (double)base->count[class] / (double)base->n;
    const double after = (double)new->count[class] / (double)new->n;
    /* A class of one side alone changes the mix: nothing of it became longer. */
    const double m = isnan(base->mean[class]) ? new->mean[class] : base->mean[class];
    const double now = isnan(new->mean[class]) ? base->mean[class] : new->mean[class];
    const double within = (before + after) / 2 * (now - m);
    const double mix = (m + now) / 2 * (after - before);
    add_row(table, names[class], (const size_t[]){base->count[class], new->count[class]},
            (const double[]){base->mean[class], new->mean[class]}, within, mix);
    sum[0] += within;
    sum[1] += mix;
}

/* The figure of both sides that rests on steps, the first one that does. */
static bool find(struct diff *diff, const struct ta_durations *series[TA_DIFF_SIDES])
{
    struct ta_run_figures figures[TA_DIFF_SIDES];
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (!ta_run_figures_read(&diff->arena, diff->shown[side], &figures[side]))
            return false;
    const struct ta_run_figures *base = &figures[TA_DIFF_BASE];
    for (size_t i = 0; i < base->n && !series[TA_DIFF_BASE]; i++) {
        const struct ta_run_figure *new =
            ta_run_figures_find(&figures[TA_DIFF_NEW], base->at[i].id);
        if (base->at[i].series && new &&new->series) {
            series[TA_DIFF_BASE] = base->at[i].series;
            series[TA_DIFF_NEW] = new->series;
        }
    }
    return true;
}

bool diff_add_step_classes(struct diff *diff)
{
    const struct ta_durations *series[TA_DIFF_SIDES] = {NULL, NULL};
    struct steps sides[TA_DIFF_SIDES];
    if (!find(diff, series))
        return false;
    if (!series[TA_DIFF_BASE])
        return true;
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (!read_steps(diff, series[side], &sides[side]))
            return false;
    if (!sides[TA_DIFF_BASE].is_split && !sides[TA_DIFF_NEW].is_split)
        return true;
    struct ta_table_builder *table =
        ta_add_table(ta_report_open_section(diff->out, "diff", "What changed"), "diff.step_classes",
                     "Steps of the same class", columns, sizeof columns / sizeof *columns);
    double sum[2] = {0, 0};
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        /* One class is cut where the other side has its two. */
        const struct steps *of = sides[side].is_split ? &sides[side] : &sides[!side];
        divide(&sides[side], of->split.threshold);
    }
    for (int class = SHORT; class < CLASSES; class ++)
        add_class(table, sides, (enum class) class, sum);
    add_row(table, "all", (const size_t[]){sides[TA_DIFF_BASE].n, sides[TA_DIFF_NEW].n},
            (const double[]){mean_of(sides[TA_DIFF_BASE].sorted, sides[TA_DIFF_BASE].n),
                             mean_of(sides[TA_DIFF_NEW].sorted, sides[TA_DIFF_NEW].n)},
            sum[0], sum[1]);
    return true;
}
