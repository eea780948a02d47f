/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The peak of memory is reached in another phase than the denoiser's, which alone would need much
 * less. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { RATIO, LEAST, SHARE };

static const struct ta_option options[] = {
    [RATIO] = {"ratio", TA_OPTION_NUMBER, 1.2, 1, 1e6, TA_OPTION_PLAIN,
               "Peak of the phase over the largest of the other phases above which the rule fires"},
    [LEAST] = {"least", TA_OPTION_NUMBER, 1024.0 * 1024 * 1024, 0, 1e15, TA_OPTION_BYTES,
               "Bytes more than the other phases below which it keeps silent"},
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.6, 0, 1, TA_OPTION_RATIO,
               "Share of the device's memory from which it is more than a remark"},
    TA_OPTIONS_END,
};

enum { PEAK, PHASE, TOTAL, FAILED };

static const struct ta_ref reads[] = {
    [PEAK] = {"memory.by_phase", "peak_allocated_bytes"},
    [PHASE] = {"memory.by_phase", "phase"},
    [TOTAL] = {"memory.by_rank", "total_bytes"},
    [FAILED] = {"memory.failures", "wanted_bytes"},
};

/* From this share of the device's memory on gpu_memory.c says it, with the phase. */
#define NEARLY_FULL 0.9

static const struct {
    const char *phase, *advice;
} phases[] = {
    {"VAE decode",
     "Decode in tiles or slices (vae.enable_tiling(), vae.enable_slicing()), or fewer "
     "frames at a time."},
    {"text encode", "Encode the prompts first and move the text encoder away, or store its weights "
                    "in 8 bit."},
    {"image encode", "Encode in tiles or slices (vae.enable_tiling(), vae.enable_slicing())."},
    {"load", "Load the models one after the other, and straight to the GPU in their final type "
             "(torch_dtype, low_cpu_mem_usage)."},
    {"post-process", "Move the frames to the host before they are processed."},
};

/* What the peaks of a device are: the largest, and the next one. */
struct peaks {
    size_t row;
    double most, next;
};

static struct peaks peaks_of(const struct ta_refs *in, int64_t rank, int64_t device)
{
    struct peaks peaks = {.row = SIZE_MAX, .most = 0, .next = 0};
    for (size_t row = 0; row < ta_ref_rows(in, PEAK); row++) {
        const double peak = ta_ref_number(in, PEAK, row, 0);
        if (ta_ref_rank(in, PEAK, row) != rank || ta_ref_device(in, PEAK, row) != device)
            continue;
        if (peak > peaks.most) {
            peaks.next = peaks.most;
            peaks.most = peak;
            peaks.row = row;
        } else {
            peaks.next = fmax(peaks.next, peak);
        }
    }
    return peaks;
}

/* The memory of the device; NAN where it is not known. */
static double capacity_of(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < ta_ref_rows(in, TOTAL); i++)
        if (ta_ref_rank(in, TOTAL, i) == ta_ref_rank(in, PEAK, row) &&
            ta_ref_device(in, TOTAL, i) == ta_ref_device(in, PEAK, row))
            return ta_ref_number(in, TOTAL, i, NAN);
    return NAN;
}

static const char *advice_of(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < TA_LENGTH(phases); i++)
        if (ta_ref_reads(in, PHASE, row, phases[i].phase))
            return phases[i].advice;
    return NULL;
}

static struct peaks find_worst(struct ta_ctx *ctx, const struct ta_refs *in)
{
    struct peaks worst = {.row = SIZE_MAX};
    for (size_t row = 0; row < ta_ref_rows(in, PEAK); row++) {
        const struct peaks peaks =
            peaks_of(in, ta_ref_rank(in, PEAK, row), ta_ref_device(in, PEAK, row));
        if (peaks.row == row && peaks.next > 0 && advice_of(in, row) &&
            peaks.most > ta_ctx_option(ctx, RATIO) * peaks.next &&
            peaks.most - peaks.next >= ta_ctx_option(ctx, LEAST) && peaks.most > worst.most)
            worst = peaks;
    }
    return worst;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const struct peaks peaks = find_worst(ctx, in);
    if (peaks.row == SIZE_MAX)
        return TA_OK;
    const struct ta_place peak = ta_place_at(in, PEAK, peaks.row);
    const struct ta_slice phase = ta_ref_text(in, PHASE, peaks.row);
    const double capacity = capacity_of(in, peaks.row);
    if (peaks.most > NEARLY_FULL * capacity && ta_ref_rows(in, FAILED) == 0)
        return TA_OK;
    const struct ta_evidence evidence[] = {ta_place_evidence(&peak)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "memory-peak",
            .rule = "memory_peak",
            .title = ta_advice_printf(
                advice, "The peak of %s is reached in %.*s; no other phase needs more than %s%s",
                ta_advice_number(advice, peaks.most, TA_UNIT_BYTES), (int)phase.len, phase.ptr,
                ta_advice_number(advice, peaks.next, TA_UNIT_BYTES),
                ta_place_owner(advice, in->report, &peak)),
            .why = isnan(capacity)
                       ? NULL
                       : ta_advice_printf(
                             advice, "The peak is %s of the GPU's %s.",
                             ta_advice_number(advice, peaks.most / capacity, TA_UNIT_RATIO),
                             ta_advice_number(advice, capacity, TA_UNIT_BYTES)),
            .advice = advice_of(in, peaks.row),
            .severity = peaks.most > ta_ctx_option(ctx, SHARE) * capacity ? TA_LOW : TA_INFO,
            .evidence = evidence,
            .n_evidence = 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.9,
            .threshold = ta_advice_printf(
                advice, "peak of a phase > %.3g times the peak of every other phase",
                ta_ctx_option(ctx, RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, memory_peak, &ops, .title = "Phase with the memory peak",
          .summary = "Fires when a phase other than denoising needs by far the most memory",
          .version = "1", .options = options);
