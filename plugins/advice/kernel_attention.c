/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attention by separate products and softmax: its scores go through memory. */
#include "kernel.h"

enum { THRESHOLD, FACTOR_LOW, FACTOR_HIGH };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
                   "Share of the kernel time in unfused attention from which the rule fires"},
    [FACTOR_LOW] = {"factor_low", TA_OPTION_NUMBER, 2, 1, 100, TA_OPTION_PLAIN,
                    "How many times faster a fused kernel is at least"},
    [FACTOR_HIGH] = {"factor_high", TA_OPTION_NUMBER, 4, 1, 100, TA_OPTION_PLAIN,
                     "How many times faster a fused kernel is at most"},
    TA_OPTIONS_END,
};

/* Time of unfused attention, and the row with most of it. */
static double unfused(const struct ta_table *backends, size_t *most)
{
    double sum = 0, largest = -1;
    for (size_t i = 0; i < backends->n_rows; i++) {
        if (!kernel_row_is(backends, i, "backend", "math"))
            continue;
        const double time = kernel_cell(backends, i, "total_ns");
        sum += time;
        if (time > largest) {
            largest = time;
            *most = i;
        }
    }
    return sum;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_report *report,
                             struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD), all = kernel_time(report);
    const struct ta_table *backends = ta_report_table(report, "attention.by_backend");
    size_t row = 0;
    const double time = backends ? unfused(backends, &row) : 0;
    if (all <= 0 || time / all <= threshold)
        return TA_OK;
    const struct ta_evidence evidence[] = {kernel_evidence(backends, row, "total_ns"),
                                           kernel_evidence(backends, row, "kernel_share")};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "attention-unfused",
            .rule = "kernel_attention",
            .title = ta_advice_printf(
                advice,
                "Attention by separate products and softmax takes %s of the kernel time (%s)",
                ta_advice_number(advice, time / all, TA_UNIT_RATIO),
                ta_advice_number(advice, time, TA_UNIT_NS)),
            .advice = "Use a fused kernel: scaled_dot_product_attention with inputs that its "
                      "flash, cuDNN or memory-efficient backends take (16-bit types, no "
                      "additive mask where is_causal does, head size at most 256), "
                      "flash-attn, or AOTriton and CK on AMD.",
            .severity = kernel_severity(time / all),
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = kernel_saving(report, time * (1 - 1 / ta_ctx_option(ctx, FACTOR_LOW))),
            .saving_high_ns =
                kernel_saving(report, time * (1 - 1 / ta_ctx_option(ctx, FACTOR_HIGH))),
            .confidence = 0.4,
            .threshold = ta_advice_printf(advice, "unfused attention > %s of the kernel time",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, kernel_attention, &ops, .title = "Unfused attention",
          .summary = "Fires when attention runs as separate products and softmax", .version = "1",
          .options = options);
