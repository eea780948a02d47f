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

enum { CLASS_TIME, BACKEND, TIME, TIME_SHARE };

static const struct ta_ref reads[] = {
    [CLASS_TIME] = {"kernels.by_class", "total_ns"},
    [BACKEND] = {"attention.by_backend", "backend"},
    [TIME] = {"attention.by_backend", "total_ns"},
    [TIME_SHARE] = {"attention.by_backend", "kernel_share"},
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look unfused = {.cells = TIME, .where = {{BACKEND, "math"}}};
    const double threshold = ta_ctx_option(ctx, THRESHOLD), all = ta_ref_sum(in, CLASS_TIME);
    const double time = ta_look_sum(in, &unfused, TA_MISSING);
    struct ta_place most;
    if (all <= 0 || time / all <= threshold || !ta_look_worst(in, &unfused, &most))
        return TA_OK;
    const struct ta_evidence evidence[] = {ta_place_evidence(&most),
                                           ta_ref_evidence(in, TIME_SHARE, most.row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "attention-unfused",
            .rule = "kernel_attention",
            .title = ta_advice_printf(
                advice,
                "Attention by separate products and softmax takes %s of the kernel time (%s%s)",
                ta_advice_number(advice, time / all, TA_UNIT_RATIO),
                ta_advice_number(advice, time, TA_UNIT_NS), kernel_all_ranks(in->report, advice)),
            .advice =
                "Use a fused kernel: scaled_dot_product_attention with inputs that its flash, "
                "cuDNN "
                "or memory-efficient backends take (16-bit types, no additive mask where is_causal "
                "does, head size at most 256), flash-attn, or AOTriton and CK on AMD.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns =
                kernel_saving(in->report, time * (1 - 1 / ta_ctx_option(ctx, FACTOR_LOW))),
            .saving_high_ns =
                kernel_saving(in->report, time * (1 - 1 / ta_ctx_option(ctx, FACTOR_HIGH))),
            .confidence = 0.4,
            .threshold = ta_advice_printf(advice, "unfused attention > %s of the kernel time",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, kernel_attention, &ops, .title = "Unfused attention",
          .summary = "Fires when attention runs as separate products and softmax", .version = "1",
          .options = options);
