/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A first denoising step that is longer than the others, because it holds warm-up; and steps that
 * are timed without waiting for the GPU: the clock shows how fast the host launches them, until the
 * queue is full or something waits, and one step holds what the others lack.  With a trace, times
 * that are shorter than the GPU works on a step say so as well; ranges of a trace alone do not,
 * since every asynchronous loop launches ahead, unless their names say that they are a timing. */
#include <traceanalyze/rule.h>

#include <math.h>
#include <stdlib.h>

enum { FACTOR, LACK, STEPS };

static const struct ta_option options[] = {
    [FACTOR] = {"factor", TA_OPTION_NUMBER, 3, 1, 1e6, TA_OPTION_PLAIN,
                "Medians of a step that the first one, or the last one, takes, above which the "
                "rule fires"},
    [LACK] = {"lack", TA_OPTION_NUMBER, 0.6, 0, 1, TA_OPTION_PLAIN,
              "Share of the median step, or of the denoising stage, below which the second step, "
              "or the sum of the steps, is too short for its work"},
    [STEPS] = {"steps", TA_OPTION_INTEGER, 5, 3, 1e6, TA_OPTION_PLAIN,
               "Least number of steps of a pass"},
    TA_OPTIONS_END,
};

enum {
    RANK,
    PASS,
    STEP_TIME,
    STAGE_RANK,
    STAGE,
    STAGE_CALLS,
    STAGE_TIME,
    BAR_DONE,
    BAR_MEAN,
    TRACED_RANK,
    TRACED,
    TRACED_HOST,
    TRACED_BUSY,
    TRACED_LOST
};

static const struct ta_ref reads[] = {
    [RANK] = {"diffusion.steps", "rank"},
    [PASS] = {"diffusion.steps", "pass"},
    [STEP_TIME] = {"diffusion.steps", "step_ns"},
    [STAGE_RANK] = {"stages.by_name", "rank"},
    [STAGE] = {"stages.by_name", "stage"},
    [STAGE_CALLS] = {"stages.by_name", "calls"},
    [STAGE_TIME] = {"stages.by_name", "total_ns"},
    [BAR_DONE] = {"progress.bars", "done"},
    [BAR_MEAN] = {"progress.bars", "mean_ns"},
    [TRACED_RANK] = {"steps.by_step", "rank"},
    [TRACED] = {"steps.by_step", "step"},
    [TRACED_HOST] = {"steps.by_step", "host_dur_ns"},
    [TRACED_BUSY] = {"steps.by_step", "gpu_busy_ns"},
    [TRACED_LOST] = {"steps.by_step", "lost"},
};

/* The steps of the first pass of a rank. */
struct pass {
    struct ta_place first, second, last;
    double n, all;
    double median; /* of all but the first */
};

/* Rows are in the order of ranks and recording; returns the row after the pass at `row`. */
static size_t read_pass(const struct ta_refs *in, size_t row, double *values, struct pass *pass)
{
    const int64_t rank = ta_ref_integer(in, RANK, row), of = ta_ref_integer(in, PASS, row);
    size_t n = 0;
    *pass = (struct pass){.median = NAN};
    for (; row < ta_ref_rows(in, RANK) && ta_ref_integer(in, RANK, row) == rank &&
           ta_ref_integer(in, PASS, row) == of;
         row++) {
        const struct ta_place time = ta_place_at(in, STEP_TIME, row);
        if (!time.table)
            continue;
        pass->first = n == 0 ? time : pass->first;
        pass->second = n == 1 ? time : pass->second;
        pass->last = time;
        pass->all += time.value;
        values[n++] = time.value;
    }
    pass->n = (double)n;
    if (n > 1) {
        ta_sort_numbers(values + 1, n - 1);
        pass->median = ta_quantile(values + 1, n - 1, 0.5);
    }
    return row;
}

/* The stage that the steps are of, where it ran once on the rank; its table is NULL else. */
static struct ta_place stage_of(const struct ta_refs *in, int64_t rank)
{
    struct ta_place stage = {.table = NULL};
    for (size_t i = 0; i < ta_ref_rows(in, STAGE); i++)
        if (ta_ref_integer(in, STAGE_RANK, i) == rank &&
            ta_ref_number(in, STAGE_CALLS, i, 0) == 1 &&
            ta_slice_has_word(ta_ref_text(in, STAGE, i), "denois") && !stage.table)
            stage = ta_place_at(in, STAGE_TIME, i);
    return stage;
}

/* How the steps show that nobody waited for the GPU. */
enum way { WAITED, FIRST_HOLDS, LAST_HOLDS, STAGE_HOLDS };

static enum way way_of(struct ta_ctx *ctx, const struct pass *pass, const struct ta_place *stage)
{
    const double factor = ta_ctx_option(ctx, FACTOR), lack = ta_ctx_option(ctx, LACK);
    if (pass->first.value > factor * pass->median && pass->second.value < lack * pass->median)
        return FIRST_HOLDS;
    if (stage->table && pass->all < lack * stage->value)
        return STAGE_HOLDS;
    /* A step at the end of its pass waits for all that were launched before it. */
    if (pass->last.value > factor * pass->median && pass->last.value > pass->all / 2)
        return LAST_HOLDS;
    return WAITED;
}

static void advise_timing(const struct ta_refs *in, struct ta_advice *advice,
                          const struct pass *pass, enum way way, const struct ta_place *stage)
{
    const char *first = ta_advice_number(advice, pass->first.value, TA_UNIT_NS);
    const char *median = ta_advice_number(advice, pass->median, TA_UNIT_NS);
    const double real = way == FIRST_HOLDS   ? pass->median
                        : way == STAGE_HOLDS ? stage->value / pass->n
                                             : pass->all / pass->n;
    const double extra = pass->first.value + pass->second.value - 2 * pass->median;
    const char *shown =
        way == FIRST_HOLDS
            ? ta_advice_printf(advice, "%s for the first step and %s for the second", first,
                               ta_advice_number(advice, pass->second.value, TA_UNIT_NS))
        : way == LAST_HOLDS
            ? ta_advice_printf(advice, "%s for the last step and %s for the others",
                               ta_advice_number(advice, pass->last.value, TA_UNIT_NS), median)
            : ta_advice_printf(advice, "%s for the first step and %s for the others", first,
                               median);
    const char *why =
        way == FIRST_HOLDS && extra > pass->median
            ? ta_advice_printf(
                  advice,
                  "The first two steps together take %s longer than two others: that is "
                  "warm-up.",
                  ta_advice_number(advice, extra, TA_UNIT_NS))
        : way == STAGE_HOLDS
            ? ta_advice_printf(advice, "The steps add up to %s of the %s of their stage.",
                               ta_advice_number(advice, pass->all, TA_UNIT_NS),
                               ta_advice_number(advice, stage->value, TA_UNIT_NS))
            : "The clock shows how fast the host launches the steps, until something waits for "
              "the GPU.";
    const struct ta_place other = way == STAGE_HOLDS  ? *stage
                                  : way == LAST_HOLDS ? pass->last
                                                      : pass->second;
    const struct ta_evidence evidence[] = {ta_place_evidence(&pass->first),
                                           ta_place_evidence(&other)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "first-step",
                  .rule = "first_step",
                  .title = ta_advice_printf(
                      advice,
                      "Denoising steps are timed without synchronizing with the GPU: the timer is "
                      "read before the GPU has finished; a step really takes %s%s",
                      ta_advice_number(advice, real, TA_UNIT_NS),
                      ta_place_owner(advice, in->report, &pass->first)),
                  .why = ta_advice_printf(advice, "The timer shows %s. %s", shown, why),
                  .advice = "Call torch.cuda.synchronize() before the clock is read, or use CUDA "
                            "events; until then trust the sum of the steps, not single ones.",
                  .severity = TA_LOW, /* only single steps are wrong, not their sum */
                  .evidence = evidence,
                  .n_evidence = 2,
                  .saving_low_ns = TA_MISSING,
                  .saving_high_ns = TA_MISSING,
                  .confidence = 0.8,
                  .threshold = "one step holds the time that others lack",
              });
}

static void advise_warmup(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                          const struct pass *pass)
{
    const double factor = ta_ctx_option(ctx, FACTOR), extra = pass->first.value - pass->median;
    const struct ta_evidence evidence[] = {ta_place_evidence(&pass->first),
                                           ta_place_evidence(&pass->second)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "first-step",
                  .rule = "first_step",
                  .title = ta_advice_printf(
                      advice, "The first denoising step takes %s, later ones %s each%s",
                      ta_advice_number(advice, pass->first.value, TA_UNIT_NS),
                      ta_advice_number(advice, pass->median, TA_UNIT_NS),
                      ta_place_owner(advice, in->report, &pass->first)),
                  .why = "The first step also compiles, tunes and allocates, once per process and "
                         "shape.",
                  .advice = "Run one generation of the same shape before the first request, and "
                            "keep the process and its compiled code between runs.",
                  .details = "If the steps are timed without torch.cuda.synchronize(), the first "
                             "one may hold what later ones launch.",
                  .severity = TA_LOW,
                  .evidence = evidence,
                  .n_evidence = 2,
                  .saving_low_ns = ta_whole(0.5 * extra),
                  .saving_high_ns = ta_whole(extra),
                  .steps_ns = TA_OUTSIDE_LOOP,
                  .confidence = 0.6,
                  .threshold = ta_advice_printf(
                      advice, "first denoising step > %.3g medians of the others", factor),
              });
}

/* ---- with a trace -----------------------------------------------------------------------------
 */

/* The steps of the first rank of a trace that has any: how many, and medians. */
struct traced {
    double n, host, busy;
    struct ta_place place; /* of a busy time in the middle of them */
    bool is_timing;        /* the names of all say so */
};

static double median_of(double *values, size_t n)
{
    ta_sort_numbers(values, n);
    return ta_quantile(values, n, 0.5);
}

static bool is_timing(struct ta_slice name)
{
    static const char *const words[] = {"timing",  "timer",     "latency",   "measure",
                                        "elapsed", "benchmark", "step_time", NULL};
    return ta_slice_has_any(name, words);
}

/* False without memory; n is 0 without steps that have work of a GPU and lost none. */
static bool read_traced(const struct ta_refs *in, struct traced *traced)
{
    const size_t rows = ta_ref_rows(in, TRACED_BUSY);
    double *busy = calloc(rows + 1, sizeof *busy), *host = calloc(rows + 1, sizeof *host);
    size_t n = 0;
    *traced = (struct traced){.is_timing = true};
    for (size_t row = 0; busy && host && row < rows; row++) {
        if (ta_ref_rank(in, TRACED_RANK, row) != ta_ref_rank(in, TRACED_RANK, 0))
            break;
        const struct ta_place place = ta_place_at(in, TRACED_BUSY, row);
        if (!place.table || ta_ref_number(in, TRACED_LOST, row, 0) > 0)
            continue;
        if (n == 0 || row == rows / 2)
            traced->place = place;
        traced->is_timing &= is_timing(ta_ref_text(in, TRACED, row));
        busy[n] = place.value;
        host[n++] = ta_ref_number(in, TRACED_HOST, row, 0);
    }
    traced->n = (double)n;
    if (n) {
        traced->busy = median_of(busy, n);
        traced->host = median_of(host, n);
    }
    const bool done = busy && host;
    free(busy);
    free(host);
    return done;
}

/* Times of as many steps that are too short for the work of the GPU: of a pass, or the mean
 * of a bar of progress; no table without. */
static struct ta_place too_short(struct ta_ctx *ctx, const struct ta_refs *in,
                                 const struct traced *traced, const struct pass *pass)
{
    const double limit = ta_ctx_option(ctx, LACK) * traced->busy;
    if (fabs(pass->n - traced->n) <= 1 && pass->median < limit)
        return pass->second;
    for (size_t row = 0; row < ta_ref_rows(in, BAR_MEAN); row++)
        if (fabs(ta_ref_number(in, BAR_DONE, row, 0) - traced->n) <= 1 &&
            ta_ref_number(in, BAR_MEAN, row, INFINITY) < limit)
            return ta_place_at(in, BAR_MEAN, row);
    return (struct ta_place){.table = NULL};
}

static void advise_traced(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                          const struct traced *traced, const struct pass *pass)
{
    if (traced->n < ta_ctx_option(ctx, STEPS))
        return;
    struct ta_place shown = too_short(ctx, in, traced, pass);
    const bool is_reported = shown.table != NULL;
    double time = is_reported && shown.table == pass->second.table ? pass->median : shown.value;
    if (!is_reported && traced->is_timing &&
        traced->host < ta_ctx_option(ctx, LACK) * traced->busy) {
        shown = ta_place_at(in, TRACED_HOST, traced->place.row);
        time = traced->host;
    }
    if (!shown.table)
        return;
    const struct ta_evidence evidence[] = {ta_place_evidence(&shown),
                                           ta_place_evidence(&traced->place)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "first-step",
            .rule = "first_step",
            .title = ta_advice_printf(
                advice,
                "Steps are timed without synchronizing with the GPU: %s show%s %s a step, on "
                "which the GPU works %s",
                is_reported ? "the log" : "the ranges", is_reported ? "s" : "",
                ta_advice_number(advice, time, TA_UNIT_NS),
                ta_advice_number(advice, traced->busy, TA_UNIT_NS)),
            .why = "Such a clock shows how fast the host launches, not how long a step takes.",
            .advice = "Call torch.cuda.synchronize() before the clock is read, or use CUDA "
                      "events.",
            .details = ta_advice_printf(advice, "Both are medians, over %.0f steps.", traced->n),
            .severity = TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.8,
            .threshold = ta_advice_printf(advice, "time of a step < %.3g of the GPU's work on it",
                                          ta_ctx_option(ctx, LACK)),
            .about_input = true,
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const size_t rows = ta_ref_rows(in, RANK);
    struct pass worst = {.n = 0}, unsynchronized = {.n = 0}, only = {.median = NAN};
    struct traced traced;
    struct ta_place of = {.table = NULL};
    enum way way = WAITED;
    double *values = calloc(rows + 1, sizeof *values);
    if (!values)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the denoising steps");
    for (size_t row = 0; row < rows;) {
        const int64_t rank = ta_ref_integer(in, RANK, row);
        const bool is_first = row == 0 || ta_ref_integer(in, RANK, row - 1) != rank;
        struct pass pass;
        row = read_pass(in, row, values, &pass);
        if (only.n == 0)
            only = pass;
        if (!is_first || pass.n < ta_ctx_option(ctx, STEPS) || !(pass.median > 0))
            continue;
        const struct ta_place stage = stage_of(in, rank);
        const enum way found = way_of(ctx, &pass, &stage);
        if (found != WAITED && way == WAITED) {
            unsynchronized = pass;
            way = found;
            of = stage;
        }
        if (found == WAITED && pass.first.value > ta_ctx_option(ctx, FACTOR) * pass.median &&
            (worst.n == 0 || pass.first.value > worst.first.value))
            worst = pass;
    }
    free(values);
    if (way != WAITED)
        advise_timing(in, advice, &unsynchronized, way, &of);
    else if (worst.n > 0)
        advise_warmup(ctx, in, advice, &worst);
    else if (read_traced(in, &traced))
        advise_traced(ctx, in, advice, &traced, &only);
    else
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the steps of a trace");
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, first_step, &ops, .title = "Long first denoising step",
          .summary = "Fires when the first denoising step is much longer than the others, or steps "
                     "are timed without waiting for the GPU",
          .version = "1", .options = options);
