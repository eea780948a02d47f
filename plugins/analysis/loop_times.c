/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.figures: how long an iteration of each loop in a log takes, for comparing runs and
 * for gates. */
#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdlib.h>

enum {
    BAR_RANK,
    BAR_LOOP,
    BAR_MODEL,
    BAR_DONE,
    BAR_MEAN,
    BAR_FIRST,
    BAR_REST,
    SUM_RANK,
    SUM_LOOP,
    SUM_COUNT,
    SUM_TOTAL
};
static const struct ta_ref reads[] = {
    [BAR_RANK] = {"progress.bars", "rank"},           [BAR_LOOP] = {"progress.bars", "loop"},
    [BAR_MODEL] = {"progress.bars", "model"},         [BAR_DONE] = {"progress.bars", "done"},
    [BAR_MEAN] = {"progress.bars", "mean_ns"},        [BAR_FIRST] = {"progress.bars", "first_ns"},
    [BAR_REST] = {"progress.bars", "rest_ns"},        [SUM_RANK] = {"iterations.by_name", "rank"},
    [SUM_LOOP] = {"iterations.by_name", "loop"},      [SUM_COUNT] = {"iterations.by_name", "count"},
    [SUM_TOTAL] = {"iterations.by_name", "total_ns"},
};

enum { RANK, METRIC, LOOP, VALUE, UNIT };
static const struct ta_column figures_columns[] = {
    [RANK] = TA_DUMP_RANK_COLUMN,
    [METRIC] = {"metric", "Metric", TA_WORD,
                .doc =
                    "Iteration time: mean over all iterations; first iteration time: mean over the "
                    "first iterations of the progress bars of the loop; later iteration time: mean "
                    "over the others, both if the first state of each bar was recorded"},
    [LOOP] =
        {"loop", "Loop", TA_TEXT,
         .doc =
             "Name of the loop, or of the model that it runs; \"iterations\" if neither is known"},
    [VALUE] = {"value", "Value", TA_NUMBER, .doc = "Time per iteration, in the row's unit"},
    [UNIT] = {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW, .doc = "Unit of the value"},
};

static const char *const metrics[] = {"iteration_time", "later_iteration_time",
                                      "first_iteration_time", NULL};

static const struct ta_figures declared = {.metrics = metrics,
                                           .metric = &figures_columns[METRIC],
                                           .basis = &figures_columns[LOOP],
                                           .value = &figures_columns[VALUE],
                                           .tell_speed = true};

static const struct ta_table_def figures = {
    "progress.figures", "Loop figures", TA_COLUMNS(figures_columns),
    .doc = "Rows per rank and loop, the loop with the longest bars first: what `--fail-on` takes "
           "as `iteration_time@LOOP`, or `iteration_time` for the first loop. Loops without a "
           "progress bar, such as prompts, have only the mean.",
    .tier = TA_TIER_DETAIL,
    .figures = &declared};

struct loop {
    int64_t rank;
    struct ta_slice name;
    double n, ns; /* NaN if a bar does not show it */
    double first_n, first_ns, later_n, later_ns;
};

struct loops {
    struct loop *at;
    size_t n;
};

static struct loop *loop_of(struct loops *loops, int64_t rank, struct ta_slice name)
{
    for (size_t i = 0; i < loops->n; i++)
        if (loops->at[i].rank == rank && ta_slice_equal(loops->at[i].name, name))
            return &loops->at[i];
    loops->at[loops->n] = (struct loop){.rank = rank, .name = name};
    return &loops->at[loops->n++];
}

static void add_bar(struct loops *loops, const struct ta_refs *in, size_t row)
{
    const double done = ta_ref_number(in, BAR_DONE, row, 0);
    const double mean = ta_ref_number(in, BAR_MEAN, row, NAN);
    struct ta_slice name = ta_ref_text(in, BAR_LOOP, row);
    if (name.len == 0)
        name = ta_ref_text(in, BAR_MODEL, row);
    if (!(done > 0) || !(mean > 0))
        return;
    struct loop *loop =
        loop_of(loops, ta_ref_rank(in, BAR_RANK, row), name.len ? name : TA_LIT("iterations"));
    const double first = ta_ref_number(in, BAR_FIRST, row, NAN);
    loop->n += done;
    loop->ns += done * mean;
    loop->first_n++;
    loop->first_ns += first;
    loop->later_n += done - 1;
    loop->later_ns += done > 1 ? (done - 1) * ta_ref_number(in, BAR_REST, row, NAN) : first * 0;
}

/* Adds iterations without a bar. */
static void add_sums(struct loops *loops, const struct ta_refs *in, size_t n_bars, size_t row)
{
    const double count = ta_ref_number(in, SUM_COUNT, row, 0);
    const double total = ta_ref_number(in, SUM_TOTAL, row, NAN);
    if (!(count > 0) || !(total > 0))
        return;
    struct loop *loop =
        loop_of(loops, ta_ref_rank(in, SUM_RANK, row), ta_ref_text(in, SUM_LOOP, row));
    if (loop < loops->at + n_bars)
        return;
    loop->n += count;
    loop->ns += total;
    loop->first_ns = loop->later_ns = NAN;
}

static int by_time(const void *left, const void *right)
{
    const struct loop *a = left, *b = right;
    if (a->rank != b->rank)
        return (a->rank > b->rank) - (a->rank < b->rank);
    return a->ns != b->ns ? (a->ns < b->ns) - (a->ns > b->ns) : ta_slice_compare(a->name, b->name);
}

static void add_figure(struct ta_section_builder *out, const struct loop *loop, const char *metric,
                       double ns, double n)
{
    if (n > 0 && ns > 0)
        TA_ROW(out, figures, [RANK] = ta_int(loop->rank), [METRIC] = ta_string(metric),
               [LOOP] = ta_text(loop->name), [VALUE] = ta_num(ns / n),
               [UNIT] = ta_string(ta_unit_name(TA_UNIT_NS)));
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    const size_t bars = ta_ref_rows(in, BAR_DONE), sums = ta_ref_rows(in, SUM_COUNT);
    (void)merged;
    if (bars == 0)
        return TA_OK;
    struct loops loops = {calloc(bars + sums, sizeof *loops.at), 0};
    if (!loops.at)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot add up the progress bars");
    for (size_t row = 0; row < bars; row++)
        add_bar(&loops, in, row);
    const size_t n_bars = loops.n;
    for (size_t row = 0; row < sums; row++)
        add_sums(&loops, in, n_bars, row);
    if (n_bars)
        qsort(loops.at, n_bars, sizeof *loops.at, by_time);
    for (size_t i = 0; i < loops.n; i++) {
        const struct loop *loop = &loops.at[i];
        add_figure(out, loop, "iteration_time", loop->ns, loop->n);
        add_figure(out, loop, "later_iteration_time", loop->later_ns, loop->later_n);
        add_figure(out, loop, "first_iteration_time", loop->first_ns, loop->first_n);
    }
    free(loops.at);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&figures, NULL};

static const struct ta_analysis_ops ops = {
    .section = "diffusion", .finish = finish, .tables = tables, TA_READS(reads)};

TA_PLUGIN(
    analysis, loop_times, &ops, .title = "Diffusion and throughput",
    .summary =
        "Time of an iteration of each loop in a log, for comparisons and gates: progress.figures",
    .version = "1");
