/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products and convolutions that do not use the matrix units of the device. */
#include "kernel.h"

enum { THRESHOLD, FACTOR_LOW, FACTOR_HIGH };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.10, 0, 1, TA_OPTION_RATIO,
                   "Share of the kernel time in products without matrix unit from which the rule "
                   "fires"},
    [FACTOR_LOW] = {"factor_low", TA_OPTION_NUMBER, 2, 1, 100, TA_OPTION_PLAIN,
                    "How many times faster matrix units are at least; small products are bound by "
                    "memory"},
    [FACTOR_HIGH] = {"factor_high", TA_OPTION_NUMBER, 8, 1, 100, TA_OPTION_PLAIN,
                     "How many times faster matrix units are at most: the ratio of the peak rates "
                     "of TF32 and FP32 on NVIDIA A100"},
    TA_OPTIONS_END,
};

static double without_unit(const struct ta_table *units, size_t *most)
{
    double sum = 0, largest = -1;
    for (size_t i = 0; i < units->n_rows; i++) {
        if (!kernel_row_is(units, i, "matrix_unit", "no"))
            continue;
        const double time = kernel_cell(units, i, "total_ns");
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
    const struct ta_table *units = ta_report_table(report, "kernels.matrix_units");
    size_t row = 0;
    const double time = units ? without_unit(units, &row) : 0;
    if (all <= 0 || time / all <= threshold)
        return TA_OK;
    const struct ta_evidence evidence[] = {kernel_evidence(units, row, "total_ns"),
                                           kernel_evidence(units, row, "share")};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "matrix-units-idle",
            .rule = "kernel_units",
            .title = ta_advice_printf(
                advice, "Products without matrix units take %s of the kernel time (%s)",
                ta_advice_number(advice, time / all, TA_UNIT_RATIO),
                ta_advice_number(advice, time, TA_UNIT_NS)),
            .advice = "Compute in bf16 or fp16 (autocast, or weights of that type), or allow "
                      "TF32: torch.set_float32_matmul_precision('high') and "
                      "torch.backends.cudnn.allow_tf32. Devices before Volta have no matrix "
                      "units, those before Ampere only for fp16.",
            .severity = kernel_severity(time / all),
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = kernel_saving(report, time * (1 - 1 / ta_ctx_option(ctx, FACTOR_LOW))),
            .saving_high_ns =
                kernel_saving(report, time * (1 - 1 / ta_ctx_option(ctx, FACTOR_HIGH))),
            .confidence = 0.4,
            .threshold =
                ta_advice_printf(advice, "products without matrix unit > %s of the kernel time",
                                 ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, kernel_units, &ops, .title = "Idle matrix units",
          .summary = "Fires when products and convolutions run without matrix units",
          .version = "1", .options = options);
