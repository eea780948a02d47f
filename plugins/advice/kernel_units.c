/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products and convolutions that do not use the matrix units of the device. */
#include "kernel.h"

static const struct ta_option options[] = {
    [KERNEL_THRESHOLD] =
        {"threshold", TA_OPTION_NUMBER, 0.10, 0, 1, TA_OPTION_RATIO,
         "Share of the kernel time in products without matrix unit from which the rule "
         "fires"},
    [KERNEL_FACTOR_LOW] =
        {"factor_low", TA_OPTION_NUMBER, 2, 1, 100, TA_OPTION_PLAIN,
         "How many times faster matrix units are at least; small products are bound by "
         "memory"},
    [KERNEL_FACTOR_HIGH] =
        {"factor_high", TA_OPTION_NUMBER, 8, 1, 100, TA_OPTION_PLAIN,
         "How many times faster matrix units are at most: the ratio of the peak rates "
         "of TF32 and FP32 on NVIDIA A100"},
    TA_OPTIONS_END,
};

static const struct kernel_rule rule = {
    .table = "kernels.matrix_units",
    .column = "matrix_unit",
    .text = "no",
    .share = "share",
    .finding = "matrix-units-idle",
    .rule = "kernel_units",
    .what = "Products without matrix units take",
    .predicate = "products without matrix unit",
    .advice = "Compute in bf16 or fp16 (autocast, or weights of that type), or allow TF32: "
              "torch.set_float32_matmul_precision('high') and torch.backends.cudnn.allow_tf32. "
              "Devices before Volta have no matrix units, those before Ampere only for fp16.",
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_report *report,
                             struct ta_advice *advice)
{
    kernel_advise(ctx, report, advice, &rule);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, kernel_units, &ops, .title = "Idle matrix units",
          .summary = "Fires when products and convolutions run without matrix units",
          .version = "1", .options = options);
