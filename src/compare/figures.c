/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figures of a run, from the tables of its report. */
#include "compare/figures.h"

#include "compare/compare.h"
#include "report/tables.h"
#include "report/words.h"
#include "traceanalyze/stat.h"

#include <math.h>
#include <stdlib.h>

enum part { MEDIAN, P95, LONGEST, MEAN, PARTS };

/* The figures that are made here, of durations one for each part. */
enum {
    RUN_TIME,
    SKEW,
    RECOMPILATIONS,
    OF_STEPS,
    OF_DENOISING = OF_STEPS + PARTS,
    OF_BLOCKS = OF_DENOISING + PARTS
};

static const char *const ids[] = {[RUN_TIME] = TA_RUN_TIME,
                                  [SKEW] = "straggler_skew",
                                  [RECOMPILATIONS] = TA_RECOMPILATIONS,
                                  [OF_STEPS] = "step_time_p50_ns",
                                  "step_time.p95",
                                  "step_time.max",
                                  "step_time.mean",
                                  [OF_DENOISING] = "step_time.p50",
                                  "step_time.p95",
                                  "step_time.max",
                                  "step_time.mean",
                                  [OF_BLOCKS] = "block_time.p50",
                                  "block_time.p95",
                                  "block_time.max",
                                  "block_time.mean"};

static const char *const titles[] = {[RUN_TIME] = "Time of the run",
                                     [SKEW] = "Slowest rank behind the median",
                                     [RECOMPILATIONS] = "Recompilations",
                                     [OF_STEPS] = "Step time p50",
                                     "Step time p95",
                                     "Longest step",
                                     "Step time mean",
                                     [OF_DENOISING] = "Denoising step p50",
                                     "Denoising step p95",
                                     "Longest denoising step",
                                     "Denoising step mean",
                                     [OF_BLOCKS] = "Block time p50",
                                     "Block time p95",
                                     "Longest block",
                                     "Block time mean"};

static const int of_sampled[TA_SAMPLED_COUNT] = {[TA_SAMPLED_STEPS] = OF_STEPS,
                                                 [TA_SAMPLED_DENOISING] = OF_DENOISING,
                                                 [TA_SAMPLED_BLOCKS] = OF_BLOCKS};

const char *const *ta_run_figure_names(size_t *n)
{
    *n = TA_LENGTH(ids);
    return ids;
}

struct list {
    struct ta_arena *arena;
    const struct ta_registry *registry;
    struct ta_refs in;
    struct ta_run_figure *at;
    size_t n, max;
};

static void add(struct list *list, const struct ta_run_figure *figure)
{
    if (!isfinite(figure->value) || list->n == list->max || !figure->id)
        return;
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->at[i].id, figure->id) == 0)
            return;
    list->at[list->n++] = *figure;
}

static void add_run_time(struct list *list, int64_t time)
{
    if (time != TA_MISSING)
        add(list, &(struct ta_run_figure){.id = ids[RUN_TIME],
                                          .title = titles[RUN_TIME],
                                          .value = (double)time,
                                          .unit = TA_UNIT_NS,
                                          .polarity = TA_LOWER,
                                          .is_key = true});
}

/* ---- steps and blocks ---------------------------------------------------------------------- */

/* Where the rows of a table go in a matrix of steps and ranks. */
struct place {
    int64_t rank;
    size_t k, step; /* number of the rank among them, of the step in the rank */
    bool any;
};

/* The columns of a table of steps; `set_up` is SIZE_MAX where it does not flag what sets the run
 * up. */
struct columns {
    size_t time, set_up;
};

static bool sets_up(const struct ta_refs *in, const struct columns *columns, size_t row)
{
    return columns->set_up != SIZE_MAX &&
           ta_ref_cell(in, columns->set_up, row)->kind != TA_CELL_NULL;
}

/* Goes on to a row; false for one without a duration, which is no step: of several records of a
 * step only one has it.  `set_up` says which steps are meant. */
static bool next_step(struct place *place, const struct ta_refs *in, size_t row,
                      const struct columns *columns, bool set_up)
{
    const size_t time = columns->time;
    if (ta_ref_cell(in, time, row)->kind == TA_CELL_NULL || sets_up(in, columns, row) != set_up)
        return false;
    const int64_t of = ta_ref_rank(in, time, row);
    const bool is_same = place->any && place->rank == of;
    *place = (struct place){.rank = of,
                            .k = place->k + (place->any && !is_same),
                            .step = is_same ? place->step + 1 : 0,
                            .any = true};
    return true;
}

static bool read_set_up(struct ta_arena *arena, const struct ta_refs *in,
                        const struct columns *columns, struct ta_durations *series)
{
    series->says_set_up = columns->set_up != SIZE_MAX;
    if (!series->says_set_up)
        return true;
    const size_t rows = ta_ref_rows(in, columns->time);
    double *times = ta_arena_alloc(arena, (rows + 1) * sizeof *times);
    double *longest = ta_arena_alloc(arena, (rows + 1) * sizeof *longest); /* by step */
    if (!times || !longest)
        return false;
    struct place place = {.any = false};
    for (size_t i = 0; i < rows; i++) {
        if (!next_step(&place, in, i, columns, true))
            continue;
        const double value = ta_ref_number(in, columns->time, i, 0);
        times[series->n_set_up++] = value;
        if ((int64_t)place.step == series->set_up_steps) {
            longest[place.step] = 0;
            series->set_up_steps++;
        }
        longest[place.step] = fmax(longest[place.step], value);
    }
    for (int64_t i = 0; i < series->set_up_steps; i++)
        series->set_up_ns += longest[i];
    series->set_up = times;
    return true;
}

/* A row per step, a column per rank.  NULL without memory, or when ranks have steps that are too
 * different in number for such a matrix. */
static struct ta_durations *read_series(struct ta_arena *arena, const struct ta_refs *in,
                                        const struct columns *columns)
{
    const size_t time = columns->time;
    struct ta_durations *series = ta_arena_alloc(arena, sizeof *series);
    if (!series)
        return NULL;
    struct place place = {.any = false};
    size_t n_rows = 0;
    for (size_t i = 0; i < ta_ref_rows(in, time); i++) {
        if (!next_step(&place, in, i, columns, false))
            continue;
        n_rows++;
        series->ranks = place.k + 1;
        series->n = place.step + 1 > series->n ? place.step + 1 : series->n;
    }
    if (n_rows == 0 || series->n > n_rows * 2 / series->ranks)
        return NULL;
    const size_t size = series->n * series->ranks;
    double *at = ta_arena_alloc(arena, size * sizeof *at);
    if (!at)
        return NULL;
    for (size_t i = 0; i < size; i++)
        at[i] = (double)NAN;
    place = (struct place){.any = false};
    for (size_t i = 0; i < ta_ref_rows(in, time); i++)
        if (next_step(&place, in, i, columns, false))
            at[place.step * series->ranks + place.k] = ta_ref_number(in, time, i, (double)NAN);
    series->at = at;
    return read_set_up(arena, in, columns, series) ? series : NULL;
}

/* The times of all steps but those that set the run up, in ascending order; NULL without memory. */
static double *sorted_times(struct ta_arena *arena, const struct ta_refs *in,
                            const struct columns *columns, size_t *n)
{
    const size_t ref = columns->time, rows = ta_ref_rows(in, ref);
    double *values = ta_arena_alloc(arena, rows * sizeof *values);
    *n = 0;
    for (size_t i = 0; values && i < rows; i++) {
        const double value = ta_ref_number(in, ref, i, (double)NAN);
        if (!isnan(value) && !sets_up(in, columns, i))
            values[(*n)++] = value;
    }
    if (values)
        ta_sort_numbers(values, *n);
    return values;
}

static double mean_of(const double *values, size_t n)
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (long double)values[i];
    return n ? (double)(sum / (long double)n) : (double)NAN;
}

static bool has_values(const struct ta_refs *in, size_t ref)
{
    return ta_ref_exists(in, ref) &&
           ta_column_has_values(ta_ref_table(in, ref), ta_ref_column(in, ref));
}

/* Rows of a rank are together, and in the order of time. */
static void add_times(struct list *list, const struct ta_table_def *def)
{
    enum { FIRST, SECOND, SET_UP };
    const struct ta_column *const *duration = def->figures->duration;
    const struct ta_ref refs[] = {
        [FIRST] = {def->id, duration[0]->key},
        [SECOND] = {def->id, duration[duration[1] != NULL]->key},
        [SET_UP] = {def->id, (def->figures->set_up ? def->figures->set_up : duration[0])->key},
    };
    struct ta_refs opened;
    const struct ta_refs *in = &opened;
    ta_refs_open(&opened, list->in.report, refs, TA_LENGTH(refs));
    const size_t time = has_values(in, FIRST) ? FIRST : SECOND;
    if (!ta_ref_exists(in, time) || in->places[time].rank == SIZE_MAX)
        return;
    size_t n;
    const bool is_flagged = def->figures->set_up && ta_ref_exists(in, SET_UP);
    const struct columns columns = {time, is_flagged ? SET_UP : SIZE_MAX};
    const double *values = sorted_times(list->arena, in, &columns, &n);
    if (!values || n == 0)
        return;
    const double parts[] = {[MEDIAN] = ta_quantile(values, n, 0.5),
                            [P95] = ta_quantile(values, n, 0.95),
                            [LONGEST] = values[n - 1],
                            [MEAN] = mean_of(values, n)};
    for (int i = MEDIAN; i < PARTS; i++)
        add(list, &(struct ta_run_figure){
                      .id = ids[of_sampled[def->figures->sampled] + i],
                      .title = titles[of_sampled[def->figures->sampled] + i],
                      .value = parts[i],
                      .unit = TA_UNIT_NS,
                      .polarity = TA_LOWER,
                      .is_key = i == MEDIAN,
                      .of_steps = def->figures->sampled == TA_SAMPLED_STEPS,
                      .series = i == MEDIAN ? read_series(list->arena, in, &columns) : NULL,
                  });
}

/* ---- rates -------------------------------------------------------------------------------- */

enum { RATE, RATE_BASIS, RATE_VALUE };

/* Rows of one rank count where the table has no other. */
static bool is_of_one_rank(const struct ta_refs *in)
{
    for (size_t i = 1; i < ta_ref_rows(in, RATE); i++)
        if (ta_ref_rank(in, RATE, i) != ta_ref_rank(in, RATE, 0))
            return false;
    return true;
}

static void add_rates(struct list *list, const struct ta_table_def *def)
{
    const struct ta_ref refs[] = {
        [RATE] = {def->id, def->figures->metric->key},
        [RATE_BASIS] = {def->id, def->figures->basis->key},
        [RATE_VALUE] = {def->id, def->figures->value->key},
    };
    struct ta_refs opened;
    const struct ta_refs *in = &opened;
    ta_refs_open(&opened, list->in.report, refs, TA_LENGTH(refs));
    const bool one = is_of_one_rank(in);
    for (size_t i = 0; i < ta_ref_rows(in, RATE); i++) {
        if (ta_ref_rank(in, RATE, i) != TA_MISSING && !one)
            continue;
        const struct ta_slice metric = ta_ref_text(in, RATE, i);
        const struct ta_slice basis = ta_ref_text(in, RATE_BASIS, i);
        const char *id = ta_arena_printf(list->arena, "%.*s@%.*s", (int)metric.len, metric.ptr,
                                         (int)basis.len, basis.ptr);
        char word[TA_WORD_TEXT_MAX];
        const struct ta_slice said = ta_word_text(metric, word);
        const char *words = ta_arena_printf(list->arena, "%.*s, %.*s", (int)said.len, said.ptr,
                                            (int)basis.len, basis.ptr);
        const enum ta_unit unit =
            ta_table_unit(ta_ref_table(in, RATE_VALUE), i, ta_ref_column(in, RATE_VALUE));
        add(list,
            &(struct ta_run_figure){.id = id,
                                    .title = words,
                                    .value = ta_ref_number(in, RATE_VALUE, i, (double)NAN),
                                    .unit = unit,
                                    .polarity = unit == TA_UNIT_NS ? TA_LOWER : TA_HIGHER,
                                    .is_key = unit == TA_UNIT_PER_S || def->figures->tell_speed});
    }
}

/* Steps first, then what they are parts of; rates. */
static void add_declared(struct list *list)
{
    const size_t n = ta_registry_table_count(list->registry);
    for (int what = TA_SAMPLED_STEPS; what < TA_SAMPLED_COUNT; what++)
        for (size_t i = 0; i < n; i++) {
            const struct ta_table_def *def = ta_registry_table_at(list->registry, i);
            if (def->figures && (int)def->figures->sampled == what)
                add_times(list, def);
        }
    for (size_t i = 0; i < n; i++) {
        const struct ta_table_def *def = ta_registry_table_at(list->registry, i);
        if (def->figures && def->figures->metric)
            add_rates(list, def);
    }
}

/* ---- ranks -------------------------------------------------------------------------------- */

/* How much longer than on the median rank the slowest one computes. */
static void add_skew(struct list *list)
{
    size_t n;
    const double *values =
        sorted_times(list->arena, &list->in, &(struct columns){TA_AS_DEVICE_COMPUTE, SIZE_MAX}, &n);
    const double median = values ? ta_quantile(values, n, 0.5) : 0;
    if (n >= 2 && median > 0)
        add(list, &(struct ta_run_figure){.id = ids[SKEW],
                                          .title = titles[SKEW],
                                          .value = values[n - 1] / median - 1,
                                          .unit = TA_UNIT_RATIO,
                                          .polarity = TA_LOWER});
}

/* ---- compilation -------------------------------------------------------------------------- */

/* Of a log its messages of them, of traces what their compiled regions say; none where neither
 * would tell. */
static void add_recompilations(struct list *list)
{
    const struct ta_refs *in = &list->in;
    const bool is_log = ta_ref_rows(in, TA_AS_HAPPENING) || ta_ref_rows(in, TA_AS_BAR);
    if (!is_log && ta_ref_rows(in, TA_AS_RECOMPILED) == 0)
        return;
    double n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_HAPPENING); i++)
        n += ta_ref_reads(in, TA_AS_HAPPENING, i, "recompilation");
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_RECOMPILED); i++)
        n += ta_ref_number(in, TA_AS_RECOMPILED, i, 0);
    add(list, &(struct ta_run_figure){.id = ids[RECOMPILATIONS],
                                      .title = titles[RECOMPILATIONS],
                                      .value = n,
                                      .unit = TA_UNIT_COUNT,
                                      .polarity = TA_LOWER});
}

/* ---- scalars ------------------------------------------------------------------------------ */

static void add_scalars(struct list *list, const struct ta_section *section)
{
    const struct ta_entry *owner;
    for (size_t i = 0; i < section->n_items; i++) {
        if (section->items[i].kind != TA_ITEM_SCALAR)
            continue;
        const struct ta_scalar *scalar = section->items[i].scalar;
        const struct ta_scalar_def *def = ta_registry_scalar(list->registry, scalar->id, &owner);
        if (def && def->not_compared)
            continue;
        add(list, &(struct ta_run_figure){.id = scalar->id,
                                          .title = scalar->title,
                                          .value = ta_cell_number(&scalar->value, (double)NAN),
                                          .unit = scalar->unit,
                                          .polarity = scalar->polarity});
    }
}

/* ---- all of them -------------------------------------------------------------------------- */

static size_t count_most(const struct list *list)
{
    const struct ta_report *report = list->in.report;
    size_t most = 3; /* time of the run, skew, recompilations */
    for (size_t s = 0; s < ta_report_section_count(report); s++)
        most += ta_report_section(report, s)->n_items;
    for (size_t i = 0; i < ta_registry_table_count(list->registry); i++) {
        const struct ta_table_def *def = ta_registry_table_at(list->registry, i);
        const struct ta_table *table = def->figures ? ta_report_table(report, def->id) : NULL;
        most += !table ? 0 : def->figures->sampled ? PARTS : table->n_rows;
    }
    return most;
}

bool ta_run_figures_read(struct ta_arena *arena, const struct ta_registry *registry,
                         const struct ta_report *report, struct ta_run_figures *figures)
{
    struct list list = {.arena = arena, .registry = registry};
    ta_readings_open(&list.in, registry, report);
    list.max = count_most(&list);
    list.at = ta_arena_alloc(arena, list.max * sizeof *list.at);
    if (!list.at)
        return false;
    add_run_time(&list, ta_run_time(registry, report));
    add_declared(&list);
    add_skew(&list);
    add_recompilations(&list);
    for (size_t s = 0; s < ta_report_section_count(report); s++)
        add_scalars(&list, ta_report_section(report, s));
    *figures = (struct ta_run_figures){list.at, list.n};
    return !arena->failed;
}

const struct ta_run_figure *ta_run_figures_find(const struct ta_run_figures *figures,
                                                const char *id)
{
    for (size_t i = 0; i < figures->n; i++)
        if (strcmp(figures->at[i].id, id) == 0)
            return &figures->at[i];
    return NULL;
}
