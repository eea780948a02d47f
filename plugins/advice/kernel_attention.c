/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attention by separate products and softmax: its scores go through memory. */
#include "kernel.h"

static const struct ta_option options[] = {
    [KERNEL_THRESHOLD] =
        {"threshold", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
         "Share of the kernel time in unfused attention from which the rule fires"},
    [KERNEL_FACTOR_LOW] = {"factor_low", TA_OPTION_NUMBER, 2, 1, 100, TA_OPTION_PLAIN,
                           "How many times faster a fused kernel is at least"},
    [KERNEL_FACTOR_HIGH] = {"factor_high", TA_OPTION_NUMBER, 4, 1, 100, TA_OPTION_PLAIN,
                            "How many times faster a fused kernel is at most"},
    TA_OPTIONS_END,
};

static const struct kernel_rule rule = {
    .table = "attention.by_backend",
    .column = "backend",
    .text = "math",
    .share = "kernel_share",
    .finding = "attention-unfused",
    .rule = "kernel_attention",
    .what = "Attention by separate products and softmax takes",
    .predicate = "unfused attention",
    .advice = "Use a fused kernel: scaled_dot_product_attention with inputs that its flash, cuDNN "
              "or memory-efficient backends take (16-bit types, no additive mask where is_causal "
              "does, head size at most 256), flash-attn, or AOTriton and CK on AMD.",
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    kernel_advise(ctx, in->report, advice, &rule);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, kernel_attention, &ops, .title = "Unfused attention",
          .summary = "Fires when attention runs as separate products and softmax", .version = "1",
          .options = options);
