/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GEMMs and convolutions of fp32 and fp64 that do not use tensor cores, or matrix cores on AMD.
 * What that costs follows from their roof where shapes and peaks are known: a GEMM that memory
 * bounds gains nothing.  Narrower types that run without are left out: nobody can choose another
 * unit for them.  Attention has a rule of its own. */
#include "kernel.h"

enum { THRESHOLD, FACTOR_LOW, FACTOR_HIGH };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.02, 0, 1, TA_OPTION_RATIO,
                   "Share of the run in GEMMs and convolutions without tensor cores from which the "
                   "rule fires"},
    [FACTOR_LOW] = {"factor_low", TA_OPTION_NUMBER, 2, 1, 100, TA_OPTION_PLAIN,
                    "Least speed-up by tensor cores where shapes and peaks are unknown: memory "
                    "bounds small GEMMs"},
    [FACTOR_HIGH] = {"factor_high", TA_OPTION_NUMBER, 8, 1, 100, TA_OPTION_PLAIN,
                     "Largest speed-up by tensor cores where shapes and peaks are unknown: the "
                     "ratio of the peak rates of TF32 and FP32 on NVIDIA A100"},
    TA_OPTIONS_END,
};

enum {
    PRECISION,
    CLASS,
    VECTOR,
    THIN,
    SHARE,
    OP_CLASS,
    OP_BUSY,
    OP_FLOP,
    OP_BYTES,
    OP_FLOP_RATE,
    OP_MATRIX_RATE,
    OP_BYTE_RATE,
    MATRIX_UNIT,
    RUN,
    DEVICE = RUN + RUN_REFS,
    VAE = DEVICE + DEVICE_REFS
};

static const struct ta_ref reads[] = {
    [PRECISION] = {"kernels.precision", "precision"},
    [CLASS] = {"kernels.precision", "class"},
    [VECTOR] = {"kernels.precision", "vector_ns"},
    [THIN] = {"kernels.precision", "thin_ns"},
    [SHARE] = {"kernels.precision", "share"},
    [OP_CLASS] = {"roofline.by_op", "class"},
    [OP_BUSY] = {"roofline.by_op", "busy_ns"},
    [OP_FLOP] = {"roofline.by_op", "flop"},
    [OP_BYTES] = {"roofline.by_op", "bytes"},
    [OP_FLOP_RATE] = {"roofline.by_op", "peak_flop_rate"},
    [OP_MATRIX_RATE] = {"roofline.by_op", "matrix_flop_rate"},
    [OP_BYTE_RATE] = {"roofline.by_op", "peak_byte_rate"},
    [MATRIX_UNIT] = {"roofline.by_rank", "matrix_unit"},
    KERNEL_RUN_READS(RUN),
    KERNEL_DEVICE_READS(DEVICE),
    VAE_READS(VAE),
};

/* A gain below this is none. */
#define LEAST_FACTOR 1.05

/* A class with a smaller part of the time is not named. */
#define LEAST_PART 0.1

/* ---- which products ------------------------------------------------------------------------ */

enum class { GEMM, CONV, CLASSES };

static const struct {
    const char *id, *title;
} classes[CLASSES] = {
    [GEMM] = {"gemm", "GEMMs"},
    [CONV] = {"conv", "convolutions"},
};

/* Time of products that run without tensor cores and have a choice, all ranks. */
struct vector {
    double all, by_class[CLASSES];
    double thin; /* of all; memory bounds it */
    double fp64, untold;
    double largest; /* value of row `row` */
    size_t row;
};

static void add_row(const struct ta_refs *in, size_t row, struct vector *sum)
{
    const double time = ta_ref_number(in, VECTOR, row, 0);
    const bool is_fp64 = ta_ref_reads(in, PRECISION, row, "fp64");
    const bool is_untold = ta_ref_reads(in, PRECISION, row, "unknown");
    if (ta_ref_reads(in, CLASS, row, "attention") ||
        (!is_fp64 && !is_untold && !ta_ref_reads(in, PRECISION, row, "fp32")))
        return;
    sum->all += time;
    sum->thin += ta_ref_number(in, THIN, row, 0);
    sum->fp64 += is_fp64 ? time : 0;
    sum->untold += is_untold ? time : 0;
    for (int c = 0; c < CLASSES; c++)
        if (ta_ref_reads(in, CLASS, row, classes[c].id))
            sum->by_class[c] += time;
    if (time > sum->largest) {
        sum->largest = time;
        sum->row = row;
    }
}

/* ---- what they could gain ------------------------------------------------------------------ */

struct gain {
    double settled;   /* time of products that could gain nothing: they do not make the rule fire */
    double low, high; /* saving, all ranks */
    double confidence;
};

/* How many times faster the roof is on tensor cores: at most the ratio of the peaks, less where
 * memory bounds the product there.  NAN when the row is no product without them whose roofs are
 * known. */
static double factor_of(const struct ta_refs *in, size_t row)
{
    const double flop = ta_ref_number(in, OP_FLOP, row, NAN);
    const double memory =
        ta_ref_number(in, OP_BYTES, row, NAN) / ta_ref_number(in, OP_BYTE_RATE, row, NAN);
    const double vector = flop / ta_ref_number(in, OP_FLOP_RATE, row, NAN);
    const double matrix = flop / ta_ref_number(in, OP_MATRIX_RATE, row, NAN);
    return isnan(memory) || isnan(vector) || isnan(matrix)
               ? NAN
               : fmax(vector, memory) / fmax(matrix, memory);
}

/* By the roof of products with known shapes, by the factors for the rest of the time. */
static struct gain estimate(struct ta_ctx *ctx, const struct ta_refs *in,
                            const struct vector *vector)
{
    const double least = ta_ctx_option(ctx, FACTOR_LOW);
    const double most = ta_ctx_option(ctx, FACTOR_HIGH);
    struct gain gain = {0};
    double known = 0;
    for (size_t i = 0; i < ta_ref_rows(in, OP_BUSY); i++) {
        const double part = ta_ref_number(in, OP_BUSY, i, 0), factor = factor_of(in, i);
        if (isnan(factor) || ta_ref_reads(in, OP_CLASS, i, "attention"))
            continue;
        known += part;
        gain.settled += factor < LEAST_FACTOR ? part : 0;
        gain.low += part * (1 - 1 / fmin(factor, least));
        gain.high += part * (1 - 1 / factor);
    }
    const double rest = fmax(0, vector->all - fmax(known, vector->thin));
    gain.settled = fmax(gain.settled, vector->thin);
    gain.low += rest * (1 - 1 / least);
    gain.high += rest * (1 - 1 / most);
    gain.confidence = rest < 0.5 * vector->all ? 0.6 : 0.4;
    return gain;
}

/* ---- what is said -------------------------------------------------------------------------- */

/* "GEMMs", "GEMMs and convolutions". */
static const char *products(struct ta_advice *advice, const struct vector *vector)
{
    const char *text = NULL;
    for (int c = 0; c < CLASSES; c++)
        if (vector->by_class[c] >= LEAST_PART * vector->all)
            text = text ? ta_advice_printf(advice, "%s and %s", text, classes[c].title)
                        : classes[c].title;
    return text;
}

static const char *type_of(const struct vector *vector)
{
    return vector->fp64 > 0.5 * vector->all     ? "FP64 "
           : vector->untold > 0.5 * vector->all ? ""
                                                : "FP32 ";
}

/* In which type the tensor cores of the first device that is known take fp32 inputs; "" of none. */
static struct ta_slice matrix_unit(const struct ta_refs *in)
{
    for (size_t i = 0; i < ta_ref_rows(in, MATRIX_UNIT); i++) {
        const struct ta_slice unit = ta_ref_text(in, MATRIX_UNIT, i);
        if (unit.len)
            return unit;
    }
    return TA_LIT("");
}

/* Advice for AMD; for NVIDIA by capability: tensor cores came with Volta for fp16 alone, with
 * Ampere for bf16 and for fp32 rounded to TF32. */
static const char *what_to_do(const struct ta_refs *in, const struct vector *vector,
                              const struct kernel_device *device, struct ta_advice *advice)
{
    const bool convolutions = vector->by_class[CONV] >= LEAST_PART * vector->all;
    const bool gemms = vector->by_class[GEMM] >= LEAST_PART * vector->all;
    if (vector->fp64 > 0.5 * vector->all)
        return "Compute in fp32 or narrower where the result allows it.";
    if (device->is_amd)
        return ta_slice_equal(matrix_unit(in), TA_LIT("fp32_matrix"))
                   ? "Compute in bf16 (torch.autocast, or weights of that type), which runs on the "
                     "matrix cores."
                   : "Compute in bf16 (torch.autocast, or weights of that type), or allow TF32 "
                     "with torch.set_float32_matmul_precision(\"high\") and "
                     "HIPBLASLT_ALLOW_TF32=1.";
    if (device->capability > 0 && device->capability < 8)
        return ta_advice_printf(
            advice,
            "Compute in fp16 (torch.autocast(\"cuda\", torch.float16), or weights of that type): "
            "the tensor cores of %s support fp16 alone.",
            device->architecture ? device->architecture : device->words);
    const char *tf32 = !gemms         ? "torch.backends.cudnn.allow_tf32 = True"
                       : convolutions ? "torch.set_float32_matmul_precision(\"high\") and "
                                        "torch.backends.cudnn.allow_tf32 = True"
                                      : "torch.set_float32_matmul_precision(\"high\")";
    return device->capability >= 8
               ? ta_advice_printf(advice,
                                  "Allow TF32 with %s; bf16 (torch.autocast) is faster "
                                  "still.",
                                  tf32)
               : ta_advice_printf(advice,
                                  "Compute in fp16 or bf16 (torch.autocast); on Ampere and later "
                                  "allowing TF32 may do, with %s.",
                                  tf32);
}

/* Before Volta there are no tensor cores to use. */
static bool lacks_tensor_cores(const struct kernel_device *device)
{
    return device->is_nvidia && device->capability > 0 && device->capability < 7;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const struct kernel_run run = kernel_run_of(in, RUN);
    const struct kernel_device device = kernel_device_of(in, DEVICE, advice);
    struct vector vector = {0};
    for (size_t row = 0; row < ta_ref_rows(in, VECTOR); row++)
        add_row(in, row, &vector);
    const double decoding = fmin(vector.by_class[CONV], vae_part(in, VAE, VAE_WIDE, &run));
    vector.by_class[CONV] -= decoding;
    vector.all -= decoding;
    if (vector.largest <= 0 || vector.all <= 0 || lacks_tensor_cores(&device))
        return TA_OK;
    const struct gain gain = estimate(ctx, in, &vector);
    if (!kernel_matters(&run, vector.all - gain.settled, threshold))
        return TA_OK;
    const char *why =
        gain.settled > 0.05 * vector.all
            ? ta_advice_printf(
                  advice,
                  "Tensor cores do not shorten %s of these kernels, which memory bandwidth bounds.",
                  kernel_ns(advice, &run, gain.settled))
            : NULL;
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, VECTOR, vector.row),
                                           ta_ref_evidence(in, SHARE, vector.row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "matrix-units-idle",
            .rule = "kernel_units",
            .title = ta_advice_printf(advice, "%s%s run without %s and take %s", type_of(&vector),
                                      products(advice, &vector),
                                      device.is_amd ? "matrix cores" : "tensor cores",
                                      kernel_time(advice, &run, vector.all)),
            .why = why,
            .advice = what_to_do(in, &vector, &device, advice),
            .details = device.architecture
                           ? ta_advice_printf(advice,
                                              "The recording does not name the GPU; the names of "
                                              "its kernels show that it is %s.",
                                              device.architecture)
                           : NULL,
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .gain = TA_GAIN_DEVICE,
            .saving_low_ns = kernel_saving(&run, gain.low),
            .saving_high_ns = kernel_saving(&run, gain.high),
            .confidence = gain.confidence,
            .threshold = ta_advice_printf(
                advice, "fp32 and fp64 GEMMs and convolutions without tensor cores > %s of the run",
                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, kernel_units, &ops, .title = "Idle tensor cores",
          .summary = "Fires when GEMMs and convolutions of fp32 run without tensor cores",
          .version = "1", .options = options);
