/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantized, or wider, weights that are turned into the type of the computation at each call. */
#include "kernel.h"

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
                   "Share of the run in such kernels from which the rule fires"},
    TA_OPTIONS_END,
};

enum { WHAT, TYPE, ROWS, COLUMNS, PLACE, CALLS, TIME, GAP, RUN, DEVICE = RUN + RUN_REFS };

static const struct ta_ref reads[] = {
    [WHAT] = {"kernels.weight_casts", "what"},
    [TYPE] = {"kernels.weight_casts", "type"},
    [ROWS] = {"kernels.weight_casts", "rows"},
    [COLUMNS] = {"kernels.weight_casts", "columns"},
    [PLACE] = {"kernels.weight_casts", "place"},
    [CALLS] = {"kernels.weight_casts", "calls"},
    [TIME] = {"kernels.weight_casts", "total_ns"},
    [GAP] = {"kernels.weight_casts", "gap_ns"},
    KERNEL_RUN_READS(RUN),
    KERNEL_DEVICE_READS(DEVICE),
};

static bool has(struct ta_slice text, const char *part)
{
    return memmem(text.ptr, text.len, part, strlen(part)) != NULL;
}

/* GEMMs that take the weights as they are stored. */
static const char *what_to_do(struct ta_slice type, const struct kernel_device *device)
{
    const bool has_fp8 = device->is_amd ? device->capability >= 9.4 : device->capability >= 8.9;
    if (has(type, "fp32") || has(type, "fp64"))
        return "Load the weights in the type of the computation (torch_dtype, or model.to()), "
               "instead of casting them under autocast.";
    if (has(type, "bf16") || has(type, "fp16"))
        return "Load the weights in the one type that the computation uses.";
    if (has(type, "fp8"))
        return has_fp8 ? "Multiply in fp8 (torch._scaled_mm, torchao's Float8 quantization), or "
                         "dequantize once where the memory allows."
               : device->capability > 0 && !device->architecture
                   ? "Dequantize once where the memory allows: this GPU has no fp8 GEMMs."
                   : "Dequantize once where the memory allows.";
    if (has(type, "packed"))
        return "Dequantize once where the memory allows, or compile what unpacks them "
               "(torch.compile), so that it is one kernel.";
    if (has(type, "bitsandbytes") || has(type, "GGUF") || has(type, "4"))
        return device->is_amd
                   ? "Dequantize once where the memory allows, or use 4-bit kernels that "
                     "multiply directly (torchao, AWQ)."
                   : "Use kernels that multiply 4-bit weights directly (Marlin, AWQ, "
                     "torchao), or dequantize once where the memory allows.";
    return "Use GEMMs that take the weights as they are stored (torchao), or dequantize once where "
           "the memory allows.";
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const struct kernel_run run = kernel_run_of(in, RUN);
    const struct kernel_device device = kernel_device_of(in, DEVICE, advice);
    const double time = ta_ref_sum(in, TIME), calls = ta_ref_sum(in, CALLS);
    struct ta_place most;
    static const struct ta_look look = {.cells = TIME};
    if (!kernel_matters(&run, time, threshold) || !ta_look_worst(in, &look, &most))
        return TA_OK;
    const struct ta_slice type = ta_ref_text(in, TYPE, most.row);
    const bool dequantizes = ta_ref_reads(in, WHAT, most.row, "dequantize");
    const double rows = ta_ref_number(in, ROWS, most.row, 0);
    const char *place = ta_place_text(advice, in, &most, PLACE);
    const char *size = rows > 0 ? ta_advice_printf(advice, " of %.0f×%.0f", rows,
                                                   ta_ref_number(in, COLUMNS, most.row, 0))
                                : "";
    const char *inside = *place ? ta_advice_printf(advice, " in %s", place) : "";
    const struct ta_evidence evidence[] = {ta_place_evidence(&most),
                                           ta_ref_evidence(in, CALLS, most.row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "weights-cast",
            .rule = "kernel_weights",
            .title = ta_advice_printf(
                advice, "Weights stored as %.*s are %s before each GEMM, which takes %s",
                (int)type.len, type.ptr, dequantizes ? "dequantized" : "cast",
                kernel_time(advice, &run, time)),
            .why =
                *size || *inside
                    ? ta_advice_printf(
                          advice,
                          "Weights%s%s take %s of the time of these casts (%s of %s casts).", size,
                          inside, ta_advice_number(advice, most.value / time, TA_UNIT_RATIO),
                          ta_advice_number(advice, ta_ref_number(in, CALLS, most.row, 0),
                                           TA_UNIT_COUNT),
                          ta_advice_number(advice, calls, TA_UNIT_COUNT))
                    : NULL,
            .advice = what_to_do(type, &device),
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .gain = TA_GAIN_DEVICE,
            .saving_low_ns = kernel_saving(&run, 0.7 * time),
            .saving_high_ns = kernel_saving(&run, time + ta_ref_sum(in, GAP)),
            .confidence = 0.7,
            .threshold = ta_advice_printf(advice, "casting weights > %s of the run",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, kernel_weights, &ops, .title = "Weights cast at each call",
          .summary = "Fires when weights are cast or dequantized before each GEMM", .version = "1",
          .options = options);
