/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.step_classes: steps compared with steps of their own kind.
 *
 * Steps that reuse a cache and steps that do not take different times, and a run with more of one
 * kind has another mean although no step changed.  Of classes with shares w of the steps and means
 * m the change of the mean is
 *
 *     ΔM = Σ (w + w')/2 (m' - m)  +  Σ (m + m')/2 (w' - w)
 *
 * within the classes, and by the mix of them.  The first steps of a run that take longer than all
 * others, as code is compiled and memory made ready, are a class by themselves. */
#include "compare/compare.h"
#include "compare/figures.h"
#include "report/report.h"
#include "stat/sample.h"
#include "stat/series.h"
#include "traceanalyze/table.h"

#include <math.h>

enum { CLASS, BASE_STEPS, NEW_STEPS, BASE_MEAN, NEW_MEAN, DELTA, CHANGE, WITHIN, MIX };

static const struct ta_column step_classes_columns[] = {
    [CLASS] = {"class", "Steps", TA_WORD,
               .doc = "Class of steps. warm_up: the first steps of a run, each at least half as "
                      "long again as any later one; short, long: the other steps, if their "
                      "durations form two separate classes (Otsu's threshold of the logarithms); "
                      "steady: the other steps, if they are one class; all"},
    [BASE_STEPS] = {"base_steps", "Steps before", TA_COUNT,
                    .doc = "Steps of all ranks in the baseline"},
    [NEW_STEPS] = {"new_steps", "Steps after", TA_COUNT,
                   .doc = "Steps of all ranks in the other run"},
    [BASE_MEAN] = {"base_mean_ns", "Before", TA_NS_MEAN, .better = TA_LOWER,
                   .doc = "Mean step time in the baseline"},
    [NEW_MEAN] = {"new_mean_ns", "After", TA_NS_MEAN, .better = TA_LOWER,
                  .doc = "Mean step time in the other run"},
    DIFF_CHANGE_COLUMNS(DELTA, TA_TYPE_NUMBER),
    [WITHIN] = {"within_ns", "Class effect", TA_TYPE_NUMBER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
                .doc = "Part of the change of the overall mean due to steps of this class becoming "
                       "slower or faster"},
    [MIX] = {"mix_ns", "Mix effect", TA_TYPE_NUMBER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
             .doc =
                 "Part of the change of the overall mean due to more or fewer steps of this class"},
};

static const struct ta_table_def step_classes = {
    "diff.step_classes", "Steps by class", TA_COLUMNS(step_classes_columns),
    .brief = &(const struct ta_brief){
        .place = 40,
        .rows = 4,
        .first = {&step_classes_columns[BASE_STEPS], &step_classes_columns[NEW_STEPS],
                  &step_classes_columns[BASE_MEAN], &step_classes_columns[NEW_MEAN],
                  &step_classes_columns[DELTA + 1]}}};

enum class { WARM_UP, SHORT, LONG, CLASSES };

/* Least Ashman's D of two classes: cut in half, a normal distribution has 2.7 and an even one 3.5.
 */
#define APART 4

/* The steps of a side. */
struct steps {
    double *first;  /* steps of the warm-up */
    double *sorted; /* all others */
    size_t n_first, n;
    size_t warm; /* of the series: steps of the warm-up, whatever the number of ranks */
    struct ta_classes split;
    bool is_split;
    size_t count[CLASSES];
    double mean[CLASSES]; /* NaN of none */
};

static double mean_of(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return n ? sum / (double)n : (double)NAN;
}

/* The step as it took the rank that was longest at it; NaN of none. */
static double longest_of(const struct ta_durations *series, size_t step)
{
    double longest = (double)NAN;
    for (size_t rank = 0; rank < series->ranks; rank++)
        longest = fmax(longest, series->at[step * series->ranks + rank]);
    return longest;
}

/* How many steps of the series at the start are warm-up, by their times. */
static size_t warm_up_of(struct diff *diff, const struct ta_durations *series)
{
    double *times = ta_arena_alloc(&diff->arena, (2 * series->n + 1) * sizeof *times);
    if (!times)
        return 0;
    for (size_t i = 0; i < series->n; i++)
        times[i] = longest_of(series, i);
    return ta_first_steps(times, series->n, times + series->n);
}

static bool read_steps(struct diff *diff, const struct ta_durations *series, struct steps *steps)
{
    const size_t all = series->n * series->ranks;
    *steps = (struct steps){
        .first = ta_arena_alloc(&diff->arena, (all + series->n_set_up + 1) * sizeof(double)),
        .sorted = ta_arena_alloc(&diff->arena, (all + 1) * sizeof(double))};
    if (!steps->first || !steps->sorted)
        return false;
    if (series->says_set_up)
        for (size_t i = 0; i < series->n_set_up; i++)
            steps->first[steps->n_first++] = series->set_up[i];
    else
        steps->warm = warm_up_of(diff, series);
    for (size_t i = 0; i < all; i++)
        if (!isnan(series->at[i]) && i < steps->warm * series->ranks)
            steps->first[steps->n_first++] = series->at[i];
        else if (!isnan(series->at[i]))
            steps->sorted[steps->n++] = series->at[i];
    ta_sort_numbers(steps->sorted, steps->n);
    ta_two_classes(steps->sorted, steps->n, &steps->split);
    steps->is_split = steps->split.valid && steps->split.separation > APART;
    return true;
}

/* `split` NULL: all but the warm-up are one class. */
static void divide(struct steps *steps, const struct ta_classes *split)
{
    size_t low = split ? 0 : steps->n;
    while (low < steps->n && steps->sorted[low] < split->threshold)
        low++;
    steps->count[WARM_UP] = steps->n_first;
    steps->count[SHORT] = low;
    steps->count[LONG] = steps->n - low;
    steps->mean[WARM_UP] = mean_of(steps->first, steps->n_first);
    steps->mean[SHORT] = mean_of(steps->sorted, low);
    steps->mean[LONG] = mean_of(steps->sorted + low, steps->n - low);
}

static double mean_of_all(const struct steps *steps)
{
    double sum = 0, n = 0;
    for (int class = WARM_UP; class < CLASSES; class ++)
        if (steps->count[class]) {
            sum += steps->mean[class] * (double)steps->count[class];
            n += (double)steps->count[class];
        }
    return sum / n;
}

static void add_row(struct ta_section_builder *out, const char *class, const size_t count[2],
                    const double mean[2], double within, double mix)
{
    const double base = mean[TA_DIFF_BASE], new = mean[TA_DIFF_NEW];
    TA_ROW(out, step_classes, [CLASS] = ta_text(ta_slice_of(class)),
           [BASE_STEPS] = ta_int((int64_t)count[TA_DIFF_BASE]),
           [NEW_STEPS] = ta_int((int64_t)count[TA_DIFF_NEW]), [BASE_MEAN] = ta_num(base),
           [NEW_MEAN] = ta_num(new), [DELTA] = ta_num(new - base),
           [CHANGE] = ta_num(new / base - 1), [WITHIN] = ta_num(within), [MIX] = ta_num(mix));
}

static void add_class(struct ta_section_builder *out, const struct steps sides[TA_DIFF_SIDES],
                      enum class class, const char *name, double sum[2])
{
    const struct steps *base = &sides[TA_DIFF_BASE], *new = &sides[TA_DIFF_NEW];
    if (!base->count[class] && !new->count[class])
        return;
    const double before = (double)base->count[class] / (double)(base->n + base->n_first);
    const double after = (double)new->count[class] / (double)(new->n + new->n_first);
    /* A class of one side alone changes the mix: nothing of it became longer. */
    const double m = isnan(base->mean[class]) ? new->mean[class] : base->mean[class];
    const double now = isnan(new->mean[class]) ? base->mean[class] : new->mean[class];
    const double within = (before + after) / 2 * (now - m);
    const double mix = (m + now) / 2 * (after - before);
    add_row(out, name, (const size_t[]){base->count[class], new->count[class]},
            (const double[]){base->mean[class], new->mean[class]}, within, mix);
    sum[0] += within;
    sum[1] += mix;
}

static struct diff_warm_up warm_up(const struct ta_durations *series, size_t n)
{
    struct diff_warm_up warm_up = {.steps = series->set_up_steps + (int64_t)n,
                                   .ns = series->set_up_ns};
    for (size_t i = 0; i < n; i++)
        warm_up.ns += longest_of(series, i);
    return warm_up;
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    const struct ta_durations *series[TA_DIFF_SIDES] = {NULL, NULL};
    struct steps sides[TA_DIFF_SIDES];
    const char *id;
    if (!diff_step_series(diff, series, &id))
        return false;
    if (!series[TA_DIFF_BASE])
        return true;
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (!read_steps(diff, series[side], &sides[side]))
            return false;
    for (int side = 0; strncmp(id, "step_time", 9) == 0 && side < TA_DIFF_SIDES; side++)
        diff->warm_up[side] = warm_up(series[side], sides[side].warm);
    const struct steps *base = &sides[TA_DIFF_BASE], *new = &sides[TA_DIFF_NEW];
    const bool is_split = base->is_split || new->is_split;
    if (!is_split && !base->n_first && !new->n_first)
        return true;
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        /* One class is cut where the other side has its two. */
        const struct steps *of = sides[side].is_split ? &sides[side] : &sides[!side];
        divide(&sides[side], is_split ? &of->split : NULL);
    }
    double sum[2] = {0, 0};
    add_class(out, sides, WARM_UP, "warm_up", sum);
    add_class(out, sides, SHORT, is_split ? "short" : "steady", sum);
    add_class(out, sides, LONG, "long", sum);
    add_row(out, "all", (const size_t[]){base->n + base->n_first, new->n + new->n_first},
            (const double[]){mean_of_all(base), mean_of_all(new)}, sum[0], sum[1]);
    return true;
}

static const struct ta_table_def *const tables[] = {&step_classes, NULL};

const struct diff_part diff_of_step_classes = {
    .declares = {.name = "diff.step_classes", .tables = tables}, .section = "diff", .add = add};
