/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figures of a run, from the tables of its report. */
#include "compare/figures.h"

#include "traceanalyze/stat.h"

#include <math.h>
#include <stdlib.h>

struct list {
    struct ta_arena *arena;
    const struct ta_report *report;
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

/* ---- the time of the run ------------------------------------------------------------------ */

static int64_t largest(const struct ta_table *table, const char *column)
{
    int64_t most = TA_MISSING;
    const size_t at = table ? ta_table_column(table, column) : SIZE_MAX;
    for (size_t i = 0; at != SIZE_MAX && i < table->n_rows; i++) {
        const struct ta_cell *cell = ta_table_cell(table, i, at);
        if (cell->kind == TA_CELL_INT)
            most = ta_max_i64(most, cell->i);
    }
    return most;
}

struct stage {
    double rank; /* −1: none */
    int64_t ns;
};

static int by_rank(const void *left, const void *right)
{
    const struct stage *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Sum of the stages that are in no other, which have a share, of the rank where it is largest. */
static int64_t stages_time(const struct ta_table *table)
{
    const size_t total = table ? ta_table_column(table, "total_ns") : SIZE_MAX;
    struct stage *stages = total == SIZE_MAX ? NULL : calloc(table->n_rows, sizeof *stages);
    int64_t most = TA_MISSING, sum = 0;
    size_t n = 0;
    for (size_t i = 0; stages && i < table->n_rows; i++) {
        const struct ta_cell *cell = ta_table_cell(table, i, total);
        if (cell->kind == TA_CELL_INT && ta_row_number(table, i, "share", -1) >= 0)
            stages[n++] = (struct stage){ta_row_number(table, i, "rank", -1), cell->i};
    }
    if (n)
        qsort(stages, n, sizeof *stages, by_rank);
    for (size_t i = 0; i < n; i++) {
        sum = i && stages[i].rank == stages[i - 1].rank ? ta_add_sat(sum, stages[i].ns)
                                                        : stages[i].ns;
        most = ta_max_i64(most, sum);
    }
    free(stages);
    return most;
}

int64_t ta_run_time(const struct ta_report *report)
{
    int64_t time = largest(ta_report_table(report, "gpu_time.by_rank"), "window_ns");
    if (time == TA_MISSING)
        time = largest(ta_report_table(report, "run.sessions"), "dur_ns");
    if (time == TA_MISSING)
        time = stages_time(ta_report_table(report, "stages.by_name"));
    if (time == TA_MISSING)
        time = largest(ta_report_table(report, "trace.by_rank"), "window_ns");
    return time;
}

static void add_run_time(struct list *list)
{
    const int64_t time = ta_run_time(list->report);
    if (time != TA_MISSING)
        add(list, &(struct ta_run_figure){.id = "run_time",
                                          .title = "Time of the run",
                                          .value = (double)time,
                                          .unit = TA_UNIT_NS,
                                          .polarity = TA_LOWER,
                                          .is_key = true});
}

/* ---- steps and blocks ---------------------------------------------------------------------- */

/* Tables with a row per step and rank, rows of a rank together and in the order of time. */
static const struct source {
    const char *table, *column;
    const char *counted;            /* better than `column` where it has values; or NULL */
    const char *ids[4], *titles[4]; /* by enum part */
} step_sources[] = {
    {"steps.by_step",
     "host_dur_ns",
     "counted_ns",
     {"step_time_p50_ns", "step_time.p95", "step_time.max", "step_time.mean"},
     {"Step time p50", "Step time p95", "Longest step", "Step time mean"}},
    {"diffusion.steps",
     "dur_ns",
     "step_ns",
     {"step_time.p50", "step_time.p95", "step_time.max", "step_time.mean"},
     {"Denoising step p50", "Denoising step p95", "Longest denoising step", "Denoising step mean"}},
    {"diffusion.blocks",
     "dur_ns",
     NULL,
     {"block_time.p50", "block_time.p95", "block_time.max", "block_time.mean"},
     {"Block time p50", "Block time p95", "Longest block", "Block time mean"}},
};

enum part { MEDIAN, P95, LONGEST, MEAN };

/* Where the rows of a table go in a matrix of steps and ranks. */
struct place {
    double rank;
    size_t k, step; /* number of the rank among them, of the step in the rank */
    bool any;
};

/* Goes on to a row; false for one without a duration, which is no step: of several records of a
 * step only one has it. */
static bool next_step(struct place *place, const struct ta_table *table, size_t row, size_t rank,
                      size_t column)
{
    if (ta_table_cell(table, row, column)->kind == TA_CELL_NULL)
        return false;
    const double of = ta_cell_number(ta_table_cell(table, row, rank), -1);
    const bool is_same = place->any && place->rank == of;
    *place = (struct place){.rank = of,
                            .k = place->k + (place->any && !is_same),
                            .step = is_same ? place->step + 1 : 0,
                            .any = true};
    return true;
}

/* A row per step, a column per rank.  NULL without memory, or when ranks have steps that are too
 * different in number for such a matrix. */
static struct ta_durations *read_series(struct ta_arena *arena, const struct ta_table *table,
                                        size_t rank, size_t column)
{
    struct ta_durations *series = ta_arena_alloc(arena, sizeof *series);
    if (!series)
        return NULL;
    struct place place = {.any = false};
    size_t n_rows = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        if (!next_step(&place, table, i, rank, column))
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
    for (size_t i = 0; i < table->n_rows; i++)
        if (next_step(&place, table, i, rank, column))
            at[place.step * series->ranks + place.k] =
                ta_cell_number(ta_table_cell(table, i, column), (double)NAN);
    series->at = at;
    return series;
}

/* All durations in ascending order; NULL without memory. */
static double *sorted_column(struct ta_arena *arena, const struct ta_table *table, size_t column,
                             size_t *n)
{
    double *values = ta_arena_alloc(arena, table->n_rows * sizeof *values);
    *n = 0;
    for (size_t i = 0; values && i < table->n_rows; i++) {
        const double value = ta_cell_number(ta_table_cell(table, i, column), (double)NAN);
        if (!isnan(value))
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

/* SIZE_MAX without one. */
static size_t time_column(const struct ta_table *table, const struct source *source)
{
    const size_t counted = source->counted ? ta_table_column(table, source->counted) : SIZE_MAX;
    return counted != SIZE_MAX && ta_column_has_values(table, counted)
               ? counted
               : ta_table_column(table, source->column);
}

static void add_times(struct list *list, const struct source *source)
{
    const struct ta_table *table = ta_report_table(list->report, source->table);
    const size_t column = table ? time_column(table, source) : SIZE_MAX;
    const size_t rank = table ? ta_table_column(table, "rank") : SIZE_MAX;
    if (column == SIZE_MAX || rank == SIZE_MAX)
        return;
    size_t n;
    const double *values = sorted_column(list->arena, table, column, &n);
    if (!values || n == 0)
        return;
    const double parts[] = {[MEDIAN] = ta_quantile(values, n, 0.5),
                            [P95] = ta_quantile(values, n, 0.95),
                            [LONGEST] = values[n - 1],
                            [MEAN] = mean_of(values, n)};
    for (int i = MEDIAN; i <= MEAN; i++)
        add(list, &(struct ta_run_figure){
                      .id = source->ids[i],
                      .title = source->titles[i],
                      .value = parts[i],
                      .unit = TA_UNIT_NS,
                      .polarity = TA_LOWER,
                      .is_key = i == MEDIAN,
                      .series = i == MEDIAN ? read_series(list->arena, table, rank, column) : NULL,
                  });
}

/* ---- throughput --------------------------------------------------------------------------- */

/* Rows of one rank count where the table has no other. */
static bool is_of_one_rank(const struct ta_table *table)
{
    for (size_t i = 1; i < table->n_rows; i++)
        if (ta_row_number(table, i, "rank", -1) != ta_row_number(table, 0, "rank", -1))
            return false;
    return true;
}

static void add_throughput(struct list *list)
{
    const struct ta_table *table = ta_report_table(list->report, "throughput.values");
    const bool one = table && is_of_one_rank(table);
    for (size_t i = 0; table && i < table->n_rows; i++) {
        if (ta_row_number(table, i, "rank", -1) >= 0 && !one)
            continue;
        const struct ta_slice metric = ta_row_text(table, i, "metric");
        const struct ta_slice basis = ta_row_text(table, i, "basis");
        const char *id = ta_arena_printf(list->arena, "%.*s@%.*s", (int)metric.len, metric.ptr,
                                         (int)basis.len, basis.ptr);
        const enum ta_unit unit = ta_table_unit(table, i, ta_table_column(table, "value"));
        add(list, &(struct ta_run_figure){.id = id,
                                          .title = id,
                                          .value = ta_row_number(table, i, "value", (double)NAN),
                                          .unit = unit,
                                          .polarity = unit == TA_UNIT_NS ? TA_LOWER : TA_HIGHER,
                                          .is_key = unit == TA_UNIT_PER_S});
    }
}

/* ---- ranks -------------------------------------------------------------------------------- */

/* How much longer than on the median rank the slowest one computes. */
static void add_skew(struct list *list)
{
    const struct ta_table *table = ta_report_table(list->report, "gpu_time.by_rank");
    const size_t column = table ? ta_table_column(table, "compute_ns") : SIZE_MAX;
    size_t n = 0;
    const double *values =
        column == SIZE_MAX ? NULL : sorted_column(list->arena, table, column, &n);
    const double median = values ? ta_quantile(values, n, 0.5) : 0;
    if (n >= 2 && median > 0)
        add(list, &(struct ta_run_figure){.id = "straggler_skew",
                                          .title = "Slowest rank behind the median",
                                          .value = values[n - 1] / median - 1,
                                          .unit = TA_UNIT_RATIO,
                                          .polarity = TA_LOWER});
}

/* ---- scalars ------------------------------------------------------------------------------ */

/* What could be fused is a hint, no figure of what a run did, and to know it takes two arguments of
 * every kernel: a comparison does not ask for it, and a report that was written before may have it.
 */
static bool is_compared(const struct ta_scalar *scalar)
{
    return strcmp(scalar->id, "fusion_share") != 0;
}

static void add_scalars(struct list *list, const struct ta_section *section)
{
    for (size_t i = 0; i < section->n_items; i++) {
        if (section->items[i].kind != TA_ITEM_SCALAR || !is_compared(section->items[i].scalar))
            continue;
        const struct ta_scalar *scalar = section->items[i].scalar;
        add(list, &(struct ta_run_figure){.id = scalar->id,
                                          .title = scalar->title,
                                          .value = ta_cell_number(&scalar->value, (double)NAN),
                                          .unit = scalar->unit,
                                          .polarity = scalar->polarity});
    }
}

/* ---- all of them -------------------------------------------------------------------------- */

static size_t count_most(const struct ta_report *report)
{
    const struct ta_table *throughput = ta_report_table(report, "throughput.values");
    size_t most = 2 + 4 * (sizeof step_sources / sizeof *step_sources);
    for (size_t s = 0; s < ta_report_section_count(report); s++)
        most += ta_report_section(report, s)->n_items;
    return most + (throughput ? throughput->n_rows : 0);
}

bool ta_run_figures_read(struct ta_arena *arena, const struct ta_report *report,
                         struct ta_run_figures *figures)
{
    struct list list = {.arena = arena, .report = report, .max = count_most(report)};
    list.at = ta_arena_alloc(arena, list.max * sizeof *list.at);
    if (!list.at)
        return false;
    add_run_time(&list);
    for (size_t i = 0; i < sizeof step_sources / sizeof *step_sources; i++)
        add_times(&list, &step_sources[i]);
    add_throughput(&list);
    add_skew(&list);
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
