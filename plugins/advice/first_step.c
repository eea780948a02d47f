/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A first denoising step that is longer than the others, because it holds warm-up; and steps that
 * are timed without waiting for the GPU: the clock shows how fast the host launches them, until the
 * queue is full or something waits, and one step holds what the others lack. */
#include <traceanalyze/rule.h>

#include <math.h>
#include <stdlib.h>

enum { FACTOR, LACK, STEPS };

static const struct ta_option options[] = {
    [FACTOR] = {"factor", TA_OPTION_NUMBER, 3, 1, 1e6, TA_OPTION_PLAIN,
                "Medians of a step that the first one, or the last one, takes, above which the "
                "rule fires"},
    [LACK] = {"lack", TA_OPTION_NUMBER, 0.6, 0, 1, TA_OPTION_PLAIN,
              "Part of the median below which the second step lacks what the first one holds, and "
              "part of the denoising stage below which its steps lack what they launch"},
    [STEPS] = {"steps", TA_OPTION_INTEGER, 5, 3, 1e6, TA_OPTION_PLAIN,
               "Steps of a pass that there must be at least"},
    TA_OPTIONS_END,
};

enum { RANK, PASS, STEP_TIME, STAGE_RANK, STAGE, STAGE_CALLS, STAGE_TIME };

static const struct ta_ref reads[] = {
    [RANK] = {"diffusion.steps", "rank"},          [PASS] = {"diffusion.steps", "pass"},
    [STEP_TIME] = {"diffusion.steps", "step_ns"},  [STAGE_RANK] = {"stages.by_name", "rank"},
    [STAGE] = {"stages.by_name", "stage"},         [STAGE_CALLS] = {"stages.by_name", "calls"},
    [STAGE_TIME] = {"stages.by_name", "total_ns"},
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
            ? ta_advice_printf(advice, "the first shows %s, the second %s", first,
                               ta_advice_number(advice, pass->second.value, TA_UNIT_NS))
        : way == LAST_HOLDS
            ? ta_advice_printf(advice, "the last shows %s, the others %s",
                               ta_advice_number(advice, pass->last.value, TA_UNIT_NS), median)
            : ta_advice_printf(advice, "the first shows %s, the others %s", first, median);
    const char *why =
        way == FIRST_HOLDS && extra > pass->median
            ? ta_advice_printf(advice,
                               "The first two together take %s longer than two others: that is "
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
                      "Denoising steps are timed without synchronizing with the GPU: %s; a step "
                      "takes %s%s",
                      shown, ta_advice_number(advice, real, TA_UNIT_NS),
                      ta_place_owner(advice, in->report, &pass->first)),
                  .why = why,
                  .advice = "Call torch.cuda.synchronize() before the clock is read, or use CUDA "
                            "events; until then trust the sum of the steps, not single ones.",
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = 2,
                  .saving_low_ns = TA_MISSING,
                  .saving_high_ns = TA_MISSING,
                  .confidence = 0.8,
                  .threshold = "one step holds what others lack",
                  .about_input = true,
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
                  .confidence = 0.6,
                  .threshold = ta_advice_printf(
                      advice, "first denoising step > %.3g medians of the others", factor),
              });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const size_t rows = ta_ref_rows(in, RANK);
    struct pass worst = {.n = 0}, unsynchronized = {.n = 0};
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
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, first_step, &ops, .title = "Long first denoising step",
          .summary = "Fires when the first denoising step is much longer than the others, or steps "
                     "are timed without waiting for the GPU",
          .version = "1", .options = options);
