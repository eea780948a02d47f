/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products and convolutions that do not use the matrix units of the device.  What that costs
 * follows from their roof where shapes and peaks are known: a product that memory bounds gains
 * nothing. */
#include "kernel.h"

#include <math.h>

static const struct ta_option options[] = {
    [KERNEL_THRESHOLD] =
        {"threshold", TA_OPTION_NUMBER, 0.10, 0, 1, TA_OPTION_RATIO,
         "Share of the kernel time in products without matrix unit from which the rule "
         "fires"},
    [KERNEL_FACTOR_LOW] = {"factor_low", TA_OPTION_NUMBER, 2, 1, 100, TA_OPTION_PLAIN,
                           "How many times faster matrix units are at least, where shapes and "
                           "peaks do not tell: small "
                           "products are bound by memory"},
    [KERNEL_FACTOR_HIGH] =
        {"factor_high", TA_OPTION_NUMBER, 8, 1, 100, TA_OPTION_PLAIN,
         "How many times faster matrix units are at most, where shapes and peaks do not tell: the "
         "ratio of the peak rates of TF32 and FP32 on NVIDIA A100"},
    TA_OPTIONS_END,
};

/* A gain below this is none. */
#define LEAST_FACTOR 1.05

/* How many times faster the roof is on matrix units: at most the ratio of the peaks, less where
 * memory bounds the product there.  NAN when the row is no product on vector units with known
 * roofs. */
static double factor_of(const struct ta_table *ops, size_t row)
{
    const double flop = ta_row_number(ops, row, "flop", NAN);
    const double memory =
        ta_row_number(ops, row, "bytes", NAN) / ta_row_number(ops, row, "peak_byte_rate", NAN);
    const double vector = flop / ta_row_number(ops, row, "peak_flop_rate", NAN);
    const double matrix = flop / ta_row_number(ops, row, "matrix_flop_rate", NAN);
    return isnan(memory) || isnan(vector) || isnan(matrix)
               ? NAN
               : fmax(vector, memory) / fmax(matrix, memory);
}

/* By the roof of products with known shapes, by the factors for the rest of the time. */
static void estimate(struct ta_ctx *ctx, const struct ta_report *report, struct ta_advice *advice,
                     double time, struct kernel_gain *gain)
{
    const struct ta_table *ops = ta_report_table(report, "roofline.by_op");
    double known = 0, low = 0, high = 0;
    for (size_t i = 0; ops && time > 0 && i < ops->n_rows; i++) {
        const double part = ta_row_number(ops, i, "busy_ns", 0), factor = factor_of(ops, i);
        if (isnan(factor))
            continue;
        known += part;
        gain->settled += factor < LEAST_FACTOR ? part : 0;
        low += part * (1 - 1 / fmin(factor, ta_ctx_option(ctx, KERNEL_FACTOR_LOW)));
        high += part * (1 - 1 / factor);
    }
    const double rest = known < time ? 1 - known / time : 0;
    gain->low = low + gain->low * rest;
    gain->high = high + gain->high * rest;
    gain->confidence = rest < 0.5 ? 0.6 : gain->confidence;
    if (gain->settled > 0)
        gain->remark = ta_advice_printf(
            advice, " Of this time %s gain nothing: these shapes are bound by memory on any unit.",
            ta_advice_number(advice, gain->settled, TA_UNIT_NS));
}

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
    .estimate = estimate,
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
