/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A first denoising step that is longer than the others: because it holds warm-up, or because steps
 * are timed without waiting for the GPU, so that it holds what the second one lacks. */
#include <traceanalyze/rule.h>

#include <math.h>
#include <stdlib.h>

enum { FACTOR, LACK, STEPS };

static const struct ta_option options[] = {
    [FACTOR] = {"factor", TA_OPTION_NUMBER, 3, 1, 1e6, TA_OPTION_PLAIN,
                "Medians of a step that the first one takes, above which the rule fires"},
    [LACK] = {"lack", TA_OPTION_NUMBER, 0.6, 0, 1, TA_OPTION_PLAIN,
              "Part of the median below which the second step lacks what the first one holds"},
    [STEPS] = {"steps", TA_OPTION_INTEGER, 5, 3, 1e6, TA_OPTION_PLAIN,
               "Steps of a pass that there must be at least"},
    TA_OPTIONS_END,
};

enum { RANK, PASS, STEP_TIME };

static const struct ta_ref reads[] = {
    [RANK] = {"diffusion.steps", "rank"},
    [PASS] = {"diffusion.steps", "pass"},
    [STEP_TIME] = {"diffusion.steps", "step_ns"},
};

/* The first pass of a rank with the longest first step. */
struct found {
    struct ta_place first, second;
    double median;
};

/* Rows are in the order of ranks and recording; returns the row after the pass at `row`, and
 * looks at it when it is the first of its rank. */
static size_t look_at_pass(struct ta_ctx *ctx, const struct ta_refs *in, size_t row, double *values,
                           struct found *found)
{
    const int64_t rank = ta_ref_integer(in, RANK, row), pass = ta_ref_integer(in, PASS, row);
    const bool is_first = row == 0 || ta_ref_integer(in, RANK, row - 1) != rank;
    struct ta_place first = {.table = NULL}, second = {.table = NULL};
    size_t n = 0;
    for (; row < ta_ref_rows(in, RANK) && ta_ref_integer(in, RANK, row) == rank &&
           ta_ref_integer(in, PASS, row) == pass;
         row++) {
        const struct ta_place time = ta_place_at(in, STEP_TIME, row);
        if (!time.table)
            continue;
        if (!first.table)
            first = time;
        else if (!second.table)
            second = time;
        values[n++] = time.value;
    }
    if (!is_first || (double)n < ta_ctx_option(ctx, STEPS))
        return row;
    ta_sort_numbers(values + 1, n - 1);
    const double median = ta_quantile(values + 1, n - 1, 0.5);
    if (median > 0 && first.value > ta_ctx_option(ctx, FACTOR) * median &&
        (!found->first.table || first.value > found->first.value))
        *found = (struct found){first, second, median};
    return row;
}

static void give(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                 const struct found *found)
{
    const double factor = ta_ctx_option(ctx, FACTOR);
    const bool lacks = found->second.value < ta_ctx_option(ctx, LACK) * found->median;
    const char *first = ta_advice_number(advice, found->first.value, TA_UNIT_NS);
    const char *second = ta_advice_number(advice, found->second.value, TA_UNIT_NS);
    const char *later = ta_advice_number(advice, found->median, TA_UNIT_NS);
    const char *owner = ta_place_owner(advice, in->report, &found->first);
    const struct ta_evidence evidence[] = {ta_place_evidence(&found->first),
                                           ta_place_evidence(&found->second)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "first-step",
            .rule = "first_step",
            .title = lacks ? ta_advice_printf(advice,
                                              "Denoising steps are timed without waiting for the "
                                              "GPU: the first has %s, the second %s, later ones "
                                              "%s%s",
                                              first, second, later, owner)
                           : ta_advice_printf(
                                 advice, "The first denoising step takes %s, later ones %s each%s",
                                 first, later, owner),
            .advice =
                lacks
                    ? "Read the steps together, not one by one: the first holds launches, warm-up "
                      "and work of the second. To time single steps, call "
                      "torch.cuda.synchronize() before the clock is read."
                    : "Run one generation of the same shape before the first request "
                      "(compilation, autotuning, allocator), and keep the process and its "
                      "compiled code between runs.",
            .severity = TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns =
                lacks ? TA_MISSING : ta_whole(found->first.value - factor * found->median),
            .saving_high_ns = lacks ? TA_MISSING : ta_whole(found->first.value - found->median),
            .confidence = 0.6,
            .threshold = ta_advice_printf(
                advice, "first denoising step > %.3g medians of the others", factor),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const size_t rows = ta_ref_rows(in, RANK);
    struct found found = {.median = NAN};
    double *values = calloc(rows + 1, sizeof *values);
    if (!values)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the denoising steps");
    for (size_t row = 0; row < rows;)
        row = look_at_pass(ctx, in, row, values, &found);
    free(values);
    if (found.first.table)
        give(ctx, in, advice, &found);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, first_step, &ops, .title = "Long first denoising step",
          .summary = "Fires when the first denoising step is much longer than the others",
          .version = "1", .options = options);
