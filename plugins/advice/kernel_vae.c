/* SPDX-License-Identifier: GPL-3.0-or-later */
/* VAE decoding that takes much of the run, and what makes it slow: fp32, tiles one after the
 * other, layouts. */
#include "kernel.h"

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, VAE_SHARE, 0, 1, TA_OPTION_RATIO,
                   "Share of the run in decoding from which the rule fires"},
    TA_OPTIONS_END,
};

enum { VAE, RUN = VAE + VAE_REFS, DEVICE = RUN + RUN_REFS };

static const struct ta_ref reads[] = {
    VAE_READS(VAE),
    KERNEL_RUN_READS(RUN),
    KERNEL_DEVICE_READS(DEVICE),
};

/* Saving. */
struct gain {
    double low, high;
};

/* Tensor cores do four to sixteen times as much as fp32 units, on consumer cards and workstations
 * twice as much; a convolution in TF32 already uses them. */
static struct gain gain_of(const struct vae *vae, const struct kernel_device *device)
{
    static const struct gain parts[VAE_CAUSES] = {
        [VAE_FP32] = {0.45, 0.9}, [VAE_FALLBACK] = {0.2, 0.6}, [VAE_TILES] = {0.2, 0.55}};
    const bool is_consumer = device->is_nvidia && device->capability > 8 &&
                             device->capability != 9 && device->capability != 10;
    struct gain part = parts[vae->cause];
    if (vae->cause == VAE_FP32 && (is_consumer || vae->tf32 > 0.5 * vae->wide))
        part = (struct gain){0.3, 0.65};
    /* Compiling leaves convolutions as they are, and fuses what is between them. */
    const double rest = fmax(0, vae->kernels - vae->conv - vae->fused);
    if (vae->cause == VAE_PLAIN)
        return (struct gain){0.2 * rest, 0.7 * rest};
    return vae->cause == VAE_TRANSPOSED
               ? (struct gain){vae->layout / 2, vae->layout}
               : (struct gain){part.low * vae->time, part.high * vae->time};
}

static const char *what_to_do(const struct vae *vae, const struct kernel_device *device)
{
    const bool is_old = device->is_nvidia && device->capability > 0 && device->capability < 8;
    switch (vae->cause) {
    case VAE_FP32:
        return is_old ? "Decode in fp16 (vae.to(torch.float16); SDXL's VAE needs its fp16 fix)."
                      : "Decode in bf16 (vae.to(torch.bfloat16)).";
    case VAE_FALLBACK:
        return "Let MIOpen tune once (MIOPEN_FIND_ENFORCE=3), and decode in 16 bit.";
    case VAE_TILES:
        return "Switch tiling and slicing off (vae.disable_tiling(), vae.disable_slicing()) where "
               "the memory allows, or use larger tiles.";
    case VAE_TRANSPOSED:
        return device->is_amd ? "Use vae.to(memory_format=torch.channels_last) with "
                                "PYTORCH_MIOPEN_SUGGEST_NHWC=1."
                              : "Use vae.to(memory_format=torch.channels_last).";
    case VAE_PLAIN:
    case VAE_CAUSES:
        break;
    }
    return "Compile the decoder (torch.compile(vae.decoder)), or use a smaller one (TAESD) where "
           "quality allows.";
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const char *const titles[VAE_CAUSES] = {
        [VAE_FP32] = "The VAE decodes in fp32 and takes",
        [VAE_FALLBACK] = "VAE decoding falls back to MIOpen's naive convolutions and takes",
        [VAE_TILES] = "The VAE decodes tile after tile and takes",
        [VAE_TRANSPOSED] = "VAE decoding changes layouts around its convolutions and takes",
        [VAE_PLAIN] = "VAE decoding takes"};
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const struct kernel_run run = kernel_run_of(in, RUN);
    const struct kernel_device device = kernel_device_of(in, DEVICE, advice);
    const struct vae vae = vae_find(in, VAE);
    if (!vae_is_said(&vae, &run, threshold))
        return TA_OK;
    const struct gain gain = gain_of(&vae, &device);
    const bool tiles = vae.passes >= VAE_LEAST_TILES * vae.decodes;
    const char *passes =
        tiles ? ta_advice_printf(advice, "Each decode makes %.0f passes, one after the other.",
                                 vae.passes / vae.decodes)
              : NULL;
    const char *conv =
        ta_advice_number(advice, vae.kernels > 0 ? vae.conv / vae.kernels : 0, TA_UNIT_RATIO);
    const char *why =
        vae.layout > 0.05 * vae.kernels
            ? ta_advice_printf(
                  advice,
                  "Convolutions take %s of the kernel time of VAE decoding; transposes between "
                  "layouts are %s of that.",
                  conv, ta_advice_number(advice, vae.layout / vae.conv, TA_UNIT_RATIO))
            : ta_advice_printf(advice, "Convolutions take %s of the kernel time of VAE decoding.",
                               conv);
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, VAE + VAE_TIME, vae.row),
                                           ta_ref_evidence(in, VAE + VAE_CONV, vae.row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "vae-decode",
            .rule = "kernel_vae",
            .title = ta_advice_printf(
                advice, "%s %s (%s of the run)", titles[vae.cause],
                ta_advice_number(advice, vae.time, TA_UNIT_NS),
                ta_advice_number(advice, vae.time * run.devices / run.window_ns, TA_UNIT_RATIO)),
            .why = vae.cause == VAE_TILES ? passes : why,
            .advice = what_to_do(&vae, &device),
            .details = vae.cause == VAE_TILES ? why : passes,
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .gain = TA_GAIN_DEVICE,
            .saving_low_ns = ta_whole(gain.low),
            .saving_high_ns = ta_whole(gain.high),
            .confidence = vae.cause == VAE_PLAIN ? 0.45 : 0.7,
            .threshold = ta_advice_printf(advice, "VAE decoding > %s of the run",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, kernel_vae, &ops, .title = "VAE decoding",
          .summary = "Fires when VAE decoding takes much of the run, with what makes it slow",
          .version = "1", .options = options);
