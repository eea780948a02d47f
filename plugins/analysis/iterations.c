/* SPDX-License-Identifier: GPL-3.0-or-later */
/* iterations.by_name: loops of a run, their iterations per second, and slow first iterations.  A
 * loop is what a profiler summed up as iterations, the calls of "scope/total" in a stage table,
 * or the denoising steps. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

#include <stdlib.h>

enum { STEPS_RANK, STEPS_TIME };
static const struct ta_ref reads[] = {
    [STEPS_RANK] = {"diffusion.steps", "rank"},
    [STEPS_TIME] = {"diffusion.steps", "step_ns"},
};

enum { SUM_RANK, SUM_NAME, SUM_COUNT, SUM_TOTAL, LEAST, MOST, MEDIAN, SUMS, SUM_FIELDS };
enum { CALL_RANK, CALL_NAME, FILE_KEY, ORDER, DURATION, CALL_FIELDS };

static const struct ta_field sum_fields[SUM_FIELDS] = {
    [SUM_RANK] = {"rank", TA_FIELD_RANK},   [SUM_NAME] = {"name", TA_FIELD_TEXT},
    [SUM_COUNT] = {"count", TA_FIELD_SUM},  [SUM_TOTAL] = {"total_ns", TA_FIELD_SUM},
    [LEAST] = {"min_ns", TA_FIELD_MIN},     [MOST] = {"max_ns", TA_FIELD_MAX},
    [MEDIAN] = {"median_ns", TA_FIELD_MAX}, /* of one file; several files have no common one */
    [SUMS] = {"sums", TA_FIELD_SUM},
};

static const struct ta_field call_fields[CALL_FIELDS] = {
    [CALL_RANK] = {"rank", TA_FIELD_RANK}, [CALL_NAME] = {"name", TA_FIELD_TEXT},
    [FILE_KEY] = {"file", TA_FIELD_FILE},  [ORDER] = {"order", TA_FIELD_INT},
    [DURATION] = {"dur_ns", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {
    {"sums", sum_fields, SUM_FIELDS}, {"calls", call_fields, CALL_FIELDS}, {0}};

enum {
    RANK,
    LOOP,
    COUNT,
    TOTAL,
    PER_S,
    MEAN,
    MIN,
    MAX,
    P50,
    MEDIAN_REPORTED,
    WARMUP,
    STEADY_PER_S,
    FIRST
};
static const struct ta_column by_name_columns[] = {
    [RANK] = TA_DUMP_RANK_COLUMN,
    [LOOP] = {"loop", "Loop", TA_TEXT, .read_as = TA_AS_ITERATION, .doc = "Name of the loop"},
    [COUNT] = {"count", "Iterations", TA_COUNT, .read_as = TA_AS_ITERATION_COUNT,
               .doc = "Number of iterations"},
    [TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER, .read_as = TA_AS_ITERATION_TIME,
               .doc = "Sum of the durations of the iterations"},
    [PER_S] = {"per_s", "Rate", TA_TYPE_NUMBER, TA_UNIT_PER_S, .better = TA_HIGHER, .weight = 0.4,
               .doc = "Iterations divided by their total time"},
    [MEAN] = {"mean_ns", "Mean", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.2,
              .doc = "Total time divided by iterations"},
    [MIN] = {"min_ns", "Min", TA_NS, .better = TA_LOWER, .doc = "Shortest iteration"},
    [MAX] = {"max_ns", "Max", TA_NS, .better = TA_LOWER, .weight = 0.1, .doc = "Longest iteration"},
    [P50] = {"p50_ns", "p50", TA_NS_MEAN, .better = TA_LOWER,
             .doc = "Median duration of an iteration; empty if only sums are recorded"},
    [MEDIAN_REPORTED] = {"median_reported_ns", "Reported median", TA_NS, .better = TA_LOWER,
                         .doc = "Median as reported by the profiler, which takes the upper of the "
                                "two middle values if the number is even"},
    [WARMUP] =
        {"warmup", "Warm-up", TA_COUNT, .better = TA_LOWER, .role = TA_NOTE,
         .doc = "Number of first iterations that took more than one and a half times the median"},
    [STEADY_PER_S] = {"steady_per_s", "Steady rate", TA_TYPE_NUMBER, TA_UNIT_PER_S,
                      .better = TA_HIGHER, .doc = "Iterations per second without the warm-up"},
    [FIRST] = {"first_ns", "First iteration", TA_NS, .better = TA_LOWER,
               .doc = "Duration of the first iteration; empty if only sums are recorded"},
};

static const struct ta_table_def by_name = {
    "iterations.by_name",
    "Iterations",
    TA_COLUMNS(by_name_columns),
    .doc = "One row per rank and loop: iterations that a profiler summed up, the calls of "
           "`scope/total` in a stage table, and the denoising steps. Median and warm-up need every "
           "iteration to be recorded.",
    .rank_words = "Loop",
    .order = {&by_name_columns[TOTAL], TA_DESCENDING, &by_name_columns[RANK]},
    .brief = &(const struct ta_brief){.place = 400,
                                      .rows = 6,
                                      .first = {&by_name_columns[COUNT], &by_name_columns[PER_S],
                                                &by_name_columns[MEAN], &by_name_columns[TOTAL]},
                                      .alone = true}};

/* ---- map ----------------------------------------------------------------------------------- */

/* "engine" of "engine/total"; empty for other stages. */
static struct ta_slice loop_of(struct ta_slice stage)
{
    static const char ending[] = "/total";
    const size_t n = sizeof ending - 1;
    const bool ends = stage.len > n && ta_slice_ends(stage, ending);
    return ends ? (struct ta_slice){stage.ptr, stage.len - n} : (struct ta_slice){0};
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n;
    const struct ta_iterations *sums = ta_trace_iterations_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t *row = TA_PARTIAL_ROW(out[0], ta_row_rank(trace, sums[i].rank),
                                      ta_key_text(ta_trace_text(trace, sums[i].name)));
        ta_sum(&row[SUM_COUNT], sums[i].count);
        ta_sum(&row[SUM_TOTAL], sums[i].total_ns);
        ta_least(&row[LEAST], sums[i].min_ns);
        ta_most(&row[MOST], sums[i].max_ns);
        ta_most(&row[MEDIAN], sums[i].median_ns);
        ta_sum(&row[SUMS], 1);
    }
    const struct ta_timed_stage *stages = ta_trace_stage_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        const struct ta_slice name = loop_of(ta_trace_text(trace, stages[i].name));
        if (stages[i].is_call && name.len) {
            if (stages[i].total_ns != TA_MISSING)
                TA_PARTIAL_ROW(out[1], ta_row_rank(trace, stages[i].rank), ta_key_text(name),
                               ta_row_file(trace), ta_key_int((int64_t)i))
            [DURATION] = stages[i].total_ns;
        }
    }
    return TA_OK;
}

/* ---- finish -------------------------------------------------------------------------------- */

static struct ta_cell rate(int64_t count, int64_t ns)
{
    return count > 0 && ns > 0 ? ta_num((double)count * 1e9 / (double)ns) : ta_null();
}

/* Iterations of a loop in recorded order, and space for as many. */
struct loop {
    int64_t rank;
    struct ta_slice name;
    size_t n;
    int64_t *times;
    double *values;
};

static void add_loop(struct ta_section_builder *out, const struct loop *loop)
{
    int64_t total = 0, least = TA_MISSING, most = TA_MISSING, slow = 0;
    for (size_t i = 0; i < loop->n; i++) {
        loop->values[i] = (double)loop->times[i];
        ta_sum(&total, loop->times[i]);
        ta_least(&least, loop->times[i]);
        ta_most(&most, loop->times[i]);
    }
    ta_sort_numbers(loop->values, loop->n);
    const double median = ta_quantile(loop->values, loop->n, 0.5);
    size_t warmup = 0;
    while (warmup < loop->n && (double)loop->times[warmup] > 1.5 * median)
        ta_sum(&slow, loop->times[warmup++]);
    const int64_t n = (int64_t)loop->n;
    TA_ROW(
        out, by_name, [RANK] = ta_int(loop->rank), [LOOP] = ta_text(loop->name),
        [COUNT] = ta_int(n), [TOTAL] = ta_int(total), [PER_S] = rate(n, total),
        [MEAN] = ta_num((double)total / (double)n), [MIN] = ta_int(least), [MAX] = ta_int(most),
        [P50] = ta_num(median), [MEDIAN_REPORTED] = ta_null(), [WARMUP] = ta_int((int64_t)warmup),
        [STEADY_PER_S] = rate(n - (int64_t)warmup, total - slow), [FIRST] = ta_int(loop->times[0]));
}

static void add_calls(struct ta_section_builder *out, const struct ta_partial *calls,
                      struct loop *loop)
{
    for (size_t first = 0, end; first < ta_partial_rows(calls); first = end) {
        const int64_t *row = ta_partial_at(calls, first);
        loop->rank = row[CALL_RANK];
        loop->name = ta_partial_text(calls, row, CALL_NAME);
        loop->n = 0;
        end = ta_partial_group_end(calls, first, CALL_NAME);
        for (size_t i = first; i < end; i++)
            loop->times[loop->n++] = ta_partial_at(calls, i)[DURATION];
        add_loop(out, loop);
    }
}

/* Denoising steps; a step may have several records. */
static void add_steps(struct ta_section_builder *out, const struct ta_refs *in, struct loop *loop)
{
    const size_t n = ta_ref_rows(in, STEPS_RANK);
    loop->name = TA_LIT("denoising");
    for (size_t first = 0, end; first < n; first = end) {
        loop->rank = ta_ref_integer(in, STEPS_RANK, first);
        loop->n = 0;
        for (end = first; end < n && ta_ref_integer(in, STEPS_RANK, end) == loop->rank; end++) {
            const int64_t time = ta_ref_integer(in, STEPS_TIME, end);
            if (time != TA_MISSING)
                loop->times[loop->n++] = time;
        }
        if (loop->n)
            add_loop(out, loop);
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    const struct ta_partial *calls = merged[1];
    const size_t most = ta_partial_rows(calls) + ta_ref_rows(in, STEPS_RANK) + 1;
    struct loop loop = {.times = calloc(most, sizeof *loop.times),
                        .values = calloc(most, sizeof *loop.values)};
    const bool done = loop.times && loop.values;
    if (done) {
        const struct ta_partial *sums = merged[0];
        for (size_t i = 0; i < ta_partial_rows(sums); i++) {
            const int64_t *row = ta_partial_at(sums, i);
            const struct ta_slice name = ta_partial_text(sums, row, SUM_NAME);
            const bool timed = row[SUM_COUNT] > 0 && row[SUM_TOTAL] != TA_MISSING;
            TA_ROW(out, by_name, [RANK] = ta_int(row[SUM_RANK]),
                   [LOOP] = ta_text(name.len ? name : TA_LIT("iterations")),
                   [COUNT] = row[SUM_COUNT] < 0 ? ta_null() : ta_int(row[SUM_COUNT]),
                   [TOTAL] = ta_int(row[SUM_TOTAL]), [PER_S] = rate(row[SUM_COUNT], row[SUM_TOTAL]),
                   [MEAN] =
                       timed ? ta_num((double)row[SUM_TOTAL] / (double)row[SUM_COUNT]) : ta_null(),
                   [MIN] = ta_int(row[LEAST]), [MAX] = ta_int(row[MOST]), [P50] = ta_null(),
                   [MEDIAN_REPORTED] = row[SUMS] == 1 ? ta_int(row[MEDIAN]) : ta_null(),
                   [WARMUP] = ta_null(), [STEADY_PER_S] = ta_null(), [FIRST] = ta_null());
        }
        add_calls(out, calls, &loop);
        add_steps(out, in, &loop);
    }
    free(loop.times);
    free(loop.values);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the iterations");
}

static const struct ta_table_def *const tables[] = {&by_name, NULL};

static const struct ta_analysis_ops ops = {.section = "diffusion",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(
    analysis, iterations, &ops, .title = "Diffusion and throughput",
    .summary = "Iterations of loops, their rate, and slow first iterations: iterations.by_name",
    .version = "2");
