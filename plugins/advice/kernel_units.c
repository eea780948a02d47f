/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products and convolutions of fp32 and fp64 that do not use tensor cores, or matrix cores on AMD.
 * What that costs follows from their roof where shapes and peaks are known: a product that memory
 * bounds gains nothing.  Narrower types that run without are left out: nobody can choose another
 * unit for them. */
#include "kernel.h"

#include <math.h>

enum { THRESHOLD, FACTOR_LOW, FACTOR_HIGH };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.10, 0, 1, TA_OPTION_RATIO,
                   "Share of the kernel time in products without tensor cores from which the rule "
                   "fires"},
    [FACTOR_LOW] = {"factor_low", TA_OPTION_NUMBER, 2, 1, 100, TA_OPTION_PLAIN,
                    "How many times faster tensor cores are at least, where shapes and "
                    "peaks do not tell: small "
                    "products are bound by memory"},
    [FACTOR_HIGH] =
        {"factor_high", TA_OPTION_NUMBER, 8, 1, 100, TA_OPTION_PLAIN,
         "How many times faster tensor cores are at most, where shapes and peaks do not tell: the "
         "ratio of the peak rates of TF32 and FP32 on NVIDIA A100"},
    TA_OPTIONS_END,
};

enum {
    CLASS_TIME,
    PRECISION,
    CLASS,
    VECTOR,
    THIN,
    SHARE,
    OP_BUSY,
    OP_FLOP,
    OP_BYTES,
    OP_FLOP_RATE,
    OP_MATRIX_RATE,
    OP_BYTE_RATE,
    MATRIX_UNIT
};

static const struct ta_ref reads[] = {
    [CLASS_TIME] = {"kernels.by_class", "total_ns"},
    [PRECISION] = {"kernels.precision", "precision"},
    [CLASS] = {"kernels.precision", "class"},
    [VECTOR] = {"kernels.precision", "vector_ns"},
    [THIN] = {"kernels.precision", "thin_ns"},
    [SHARE] = {"kernels.precision", "share"},
    [OP_BUSY] = {"roofline.by_op", "busy_ns"},
    [OP_FLOP] = {"roofline.by_op", "flop"},
    [OP_BYTES] = {"roofline.by_op", "bytes"},
    [OP_FLOP_RATE] = {"roofline.by_op", "peak_flop_rate"},
    [OP_MATRIX_RATE] = {"roofline.by_op", "matrix_flop_rate"},
    [OP_BYTE_RATE] = {"roofline.by_op", "peak_byte_rate"},
    [MATRIX_UNIT] = {"roofline.by_rank", "matrix_unit"},
};

/* A gain below this is none. */
#define LEAST_FACTOR 1.05

/* A class with a smaller part of the time is not named. */
#define LEAST_PART 0.1

/* ---- which products ------------------------------------------------------------------------ */

enum class { GEMM, CONV, ATTENTION, CLASSES };

static const struct {
    const char *id, *title;
} classes[CLASSES] = {
    [GEMM] = {"gemm", "GEMMs"},
    [CONV] = {"conv", "convolutions"},
    [ATTENTION] = {"attention", "attention kernels"},
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
    if (!is_fp64 && !is_untold && !ta_ref_reads(in, PRECISION, row, "fp32"))
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
        if (isnan(factor))
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

static const char *what_to_do(const struct ta_refs *in, const struct vector *vector)
{
    const struct ta_slice unit = matrix_unit(in);
    const bool convolutions = vector->by_class[CONV] >= LEAST_PART * vector->all;
    if (vector->fp64 > 0.5 * vector->all)
        return "Compute in fp32 or narrower where the result allows it: few devices have tensor "
               "cores for fp64.";
    if (ta_slice_equal(unit, TA_LIT("fp32_matrix")))
        return "Compute in bf16 or fp16 (autocast, or weights of that type). The matrix cores of "
               "this device take fp32, too: hipBLASLt or a newer rocBLAS may choose them.";
    if (ta_slice_equal(unit, TA_LIT("fp16")))
        return "Compute in fp16, or in bf16 from Ampere on (autocast, or weights of that type): "
               "TF32 brings nothing on this device.";
    if (ta_run_is_amd(ta_report_run(in->report)))
        return "Allow TF32: torch.set_float32_matmul_precision('high'), with "
               "HIPBLASLT_ALLOW_TF32=1 on MI300; bf16 (autocast, or weights of that type) is "
               "faster still.";
    if (ta_slice_equal(unit, TA_LIT("tf32")))
        return convolutions
                   ? "Allow TF32: torch.set_float32_matmul_precision('high'), and "
                     "torch.backends.cudnn.allow_tf32 = True for convolutions; bf16 (autocast, or "
                     "weights of that type) is faster still."
                   : "Allow TF32: torch.set_float32_matmul_precision('high'); bf16 (autocast, or "
                     "weights of that type) is faster still.";
    return "From Ampere on, allow TF32: torch.set_float32_matmul_precision('high') and "
           "torch.backends.cudnn.allow_tf32. Else compute in bf16 or fp16 (autocast, or weights of "
           "that type); devices before Volta have no tensor cores, those before Ampere only for "
           "fp16.";
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD), all = ta_ref_sum(in, CLASS_TIME);
    const char *units = ta_run_is_amd(ta_report_run(in->report)) ? "vector units" : "CUDA cores";
    struct vector vector = {0};
    for (size_t row = 0; row < ta_ref_rows(in, VECTOR); row++)
        add_row(in, row, &vector);
    if (all <= 0 || vector.largest <= 0)
        return TA_OK;
    const struct gain gain = estimate(ctx, in, &vector);
    if ((vector.all - gain.settled) / all <= threshold)
        return TA_OK;
    const char *settled =
        gain.settled > 0
            ? ta_advice_printf(
                  advice,
                  " Of this time %s gain nothing: these shapes are bound by memory on any unit.",
                  ta_advice_number(advice, gain.settled, TA_UNIT_NS))
            : "";
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, VECTOR, vector.row),
                                           ta_ref_evidence(in, SHARE, vector.row)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "matrix-units-idle",
                  .rule = "kernel_units",
                  .title = ta_advice_printf(
                      advice, "%s%s run on %s and take %s of the kernel time (%s%s)",
                      type_of(&vector), products(advice, &vector), units,
                      ta_advice_number(advice, vector.all / all, TA_UNIT_RATIO),
                      ta_advice_number(advice, vector.all, TA_UNIT_NS),
                      kernel_all_ranks(in->report, advice)),
                  .advice = ta_advice_printf(advice, "%s%s", what_to_do(in, &vector), settled),
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = 2,
                  .saving_low_ns = kernel_saving(in->report, gain.low),
                  .saving_high_ns = kernel_saving(in->report, gain.high),
                  .confidence = gain.confidence,
                  .threshold = ta_advice_printf(
                      advice, "fp32 and fp64 products without tensor cores > %s of the kernel time",
                      ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
              });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, kernel_units, &ops, .title = "Idle tensor cores",
          .summary = "Fires when products and convolutions of fp32 run without tensor cores",
          .version = "1", .options = options);
