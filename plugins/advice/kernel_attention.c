/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attention that a device could do faster: by separate GEMMs and softmax, with a back end older
 * than the device or than its inputs allow, far below the peak, or with much time spent on
 * preparing its inputs.  No other rule speaks of kernels of attention. */
#include "kernel.h"

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
                   "Share of the run that attention could save from which the rule fires"},
    TA_OPTIONS_END,
};

enum {
    BACKEND,
    TYPE,
    HEAD,
    MASK,
    TIME,
    PREP,
    SOURCE_BACKEND,
    SOURCE,
    SOURCE_TIME,
    OP_CLASS,
    OP_SHAPE,
    OP_TYPE,
    OP_UNIT,
    OP_BOUND,
    OP_CALLS,
    OP_BUSY,
    OP_REACHED,
    HOST_NAME,
    RUN,
    DEVICE = RUN + RUN_REFS
};

static const struct ta_ref reads[] = {
    [BACKEND] = {"attention.calls", "backend"},
    [TYPE] = {"attention.calls", "type"},
    [HEAD] = {"attention.calls", "head_size"},
    [MASK] = {"attention.calls", "mask"},
    [TIME] = {"attention.calls", "total_ns"},
    [PREP] = {"attention.calls", "preparing_ns"},
    [SOURCE_BACKEND] = {"attention.by_backend", "backend"},
    [SOURCE] = {"attention.by_backend", "source"},
    [SOURCE_TIME] = {"attention.by_backend", "total_ns"},
    [OP_CLASS] = {"roofline.by_op", "class"},
    [OP_SHAPE] = {"roofline.by_op", "shape"},
    [OP_TYPE] = {"roofline.by_op", "type"},
    [OP_UNIT] = {"roofline.by_op", "unit"},
    [OP_BOUND] = {"roofline.by_op", "bound"},
    [OP_CALLS] = {"roofline.by_op", "calls"},
    [OP_BUSY] = {"roofline.by_op", "busy_ns"},
    [OP_REACHED] = {"roofline.by_op", "efficiency"},
    [HOST_NAME] = {"ops.by_name", "name"},
    KERNEL_RUN_READS(RUN),
    KERNEL_DEVICE_READS(DEVICE),
};

/* ---- what is wrong ------------------------------------------------------------------------- */

/* By mechanism, the first that holds of a row of attention.calls. */
enum cause {
    MATH,     /* separate GEMMs and softmax */
    WIDE,     /* inputs too wide for a kernel on tensor cores */
    MASKED,   /* a mask that flash attention does not take */
    OUTDATED, /* memory-efficient or FlashAttention 1 where a newer one runs */
    HOPPER,   /* FlashAttention 2 on Hopper and later */
    AOTRITON, /* on CDNA 3 and later, and its shapes were not recorded */
    PREPARED, /* quantizing and smoothing takes much of it */
    SLOW,     /* far below the roofline */
    CAUSES
};

/* Shares of the time that are saved, from experience with public comparisons of these back ends. */
static const struct {
    double low, high;
} gains[CAUSES] = {
    [MATH] = {0.4, 0.85},    [WIDE] = {0.4, 0.85},  [MASKED] = {0.2, 0.5},
    [OUTDATED] = {0.2, 0.5}, [HOPPER] = {0.2, 0.5}, [AOTRITON] = {0.2, 0.5},
    [PREPARED] = {0.3, 0.8},
};

/* Preparing that takes less of attention than this is its price. */
#define MUCH_PREPARING 0.25

static bool starts(const struct ta_refs *in, size_t row, const char *with)
{
    return ta_slice_starts(ta_ref_text(in, BACKEND, row), with);
}

static bool is_wide(const struct ta_refs *in, size_t row)
{
    return ta_ref_reads(in, TYPE, row, "fp32") || ta_ref_reads(in, TYPE, row, "tf32") ||
           ta_ref_reads(in, TYPE, row, "fp64");
}

/* Whether the roofline has what attention reaches of the peak. */
static bool has_shapes(const struct ta_refs *in)
{
    for (size_t i = 0; i < ta_ref_rows(in, OP_CLASS); i++)
        if (ta_ref_reads(in, OP_CLASS, i, "attention"))
            return true;
    return false;
}

static enum cause cause_of(const struct ta_refs *in, size_t row, const struct kernel_device *device)
{
    const double time = ta_ref_number(in, TIME, row, 0), prep = ta_ref_number(in, PREP, row, 0);
    const bool has_flash = device->is_nvidia && device->capability >= 8;
    const bool fits_flash = ta_ref_number(in, HEAD, row, 64) <= 256;
    const bool old = starts(in, row, "memory-efficient") || starts(in, row, "flash 1");
    if (starts(in, row, "math"))
        return MATH;
    if (prep > MUCH_PREPARING * (time + prep))
        return PREPARED;
    if (is_wide(in, row) && (has_flash || device->capability >= 7) && !device->is_amd)
        return WIDE;
    if (device->is_amd && device->capability >= 9.4 && starts(in, row, "aotriton") && fits_flash &&
        !has_shapes(in))
        return AOTRITON;
    if (!has_flash || !fits_flash)
        return CAUSES;
    if (old)
        return ta_ref_reads(in, MASK, row, "yes") ? MASKED : OUTDATED;
    return starts(in, row, "flash 2") && device->capability >= 9 && device->capability < 12
               ? HOPPER
               : CAUSES;
}

struct found {
    double time, prep, low, high, most; /* most: time of the row `row` */
    size_t row;
};

/* Calls whose shapes are known and that stay far below the roofline; what the peak would be done
 * with in less than LEAST_IDEAL_NS is bound by other things. */
#define GOAL 0.3
#define LEAST_IDEAL_NS 3000.0
#define LEAST_PLAUSIBLE 0.002

struct slow {
    double time, ideal, most;
    size_t row;
};

static struct slow find_slow(const struct ta_refs *in)
{
    struct slow slow = {.row = SIZE_MAX};
    double known = 0, all = 0;
    for (size_t i = 0; i < ta_ref_rows(in, OP_CLASS); i++) {
        const double time = ta_ref_number(in, OP_BUSY, i, 0);
        const double reached = ta_ref_number(in, OP_REACHED, i, 1);
        known += ta_ref_reads(in, OP_CLASS, i, "attention") ? time : 0;
        if (!ta_ref_reads(in, OP_CLASS, i, "attention") || reached >= GOAL ||
            reached < LEAST_PLAUSIBLE ||
            time * reached < LEAST_IDEAL_NS * ta_ref_number(in, OP_CALLS, i, 1))
            continue;
        slow.time += time;
        slow.ideal += time * reached;
        if (time > slow.most) {
            slow.most = time;
            slow.row = i;
        }
    }
    /* Calls whose launch was not recorded are like the others. */
    for (size_t i = 0; i < ta_ref_rows(in, TIME); i++)
        all += starts(in, i, "math") ? 0 : ta_ref_number(in, TIME, i, 0);
    if (known > 0.5 * all && all > known) {
        slow.time *= all / known;
        slow.ideal *= all / known;
    }
    return slow;
}

/* ---- what is said -------------------------------------------------------------------------- */

static const char *backend_title(struct ta_slice backend)
{
    static const struct {
        const char *start, *title;
    } titles[] = {
        {"flash 1", "FlashAttention 1"},
        {"flash 2", "FlashAttention 2"},
        {"flash 3", "FlashAttention 3"},
        {"flash 4", "FlashAttention 4"},
        {"memory-efficient", "the memory-efficient kernel"},
        {"aotriton", "AOTriton's kernel"},
        {"sage", "SageAttention"},
        {"sparse sage", "SageAttention"},
        {"cudnn", "cuDNN's kernel"},
        {"ck", "CK's kernel"},
        {"aiter", "AITER's kernel"},
        {"flashinfer", "FlashInfer"},
        {"trtllm", "TensorRT-LLM's kernel"},
        {"flex", "FlexAttention"},
        {"triton", "a Triton kernel"},
    };
    for (size_t i = 0; i < TA_LENGTH(titles); i++)
        if (ta_slice_starts(backend, titles[i].start))
            return titles[i].title;
    return "its kernel";
}

static const char *title_of(struct ta_advice *advice, const struct ta_refs *in, enum cause cause,
                            const struct found *found, const struct kernel_run *run,
                            const struct kernel_device *device)
{
    const char *time = kernel_time(advice, run, found->time);
    const char *backend = backend_title(ta_ref_text(in, BACKEND, found->row));
    const struct ta_slice type = ta_ref_text(in, TYPE, found->row);
    switch (cause) {
    case MATH:
        return ta_advice_printf(advice, "Attention runs as separate GEMMs and softmax and takes %s",
                                time);
    case WIDE:
        return ta_advice_printf(advice, "Attention computes on %.*s inputs and takes %s",
                                (int)type.len, type.ptr, time);
    case MASKED:
        return ta_advice_printf(advice,
                                "A mask keeps attention from using FlashAttention: it uses %s and "
                                "takes %s",
                                backend, time);
    case OUTDATED:
        return ta_advice_printf(advice,
                                "Attention uses %s where %s runs FlashAttention, and takes %s",
                                backend, device->words, time);
    case HOPPER:
    case AOTRITON:
        return ta_advice_printf(advice,
                                "Attention uses %s on %s, which has faster ones, and takes %s",
                                backend, device->words, time);
    case PREPARED:
        return ta_advice_printf(
            advice, "Preparing the inputs of %s takes %s on top of the %s of attention itself",
            backend, kernel_time(advice, run, found->prep), kernel_ns(advice, run, found->time));
    case SLOW:
    case CAUSES:
        break;
    }
    return "";
}

/* "The inputs of attention are bf16 with a head size of 64." */
static const char *why_of(struct ta_advice *advice, const struct ta_refs *in, enum cause cause,
                          const struct found *found)
{
    const struct ta_slice type = ta_ref_text(in, TYPE, found->row);
    const double head = ta_ref_number(in, HEAD, found->row, 0);
    if (cause == PREPARED)
        return "Quantizing, smoothing and transposing Q, K and V costs the same whatever the "
               "attention kernel saves.";
    if (cause == WIDE || !type.len)
        return NULL;
    return head > 0 && !(cause == MATH && is_wide(in, found->row))
               ? ta_advice_printf(
                     advice,
                     "The inputs of attention are %.*s with a head size of %.0f, which "
                     "fused kernels take.",
                     (int)type.len, type.ptr, head)
           : cause == MATH ? ta_advice_printf(advice, "The inputs of attention are %.*s.",
                                              (int)type.len, type.ptr)
                           : NULL;
}

/* Whether scaled_dot_product_attention itself took the way of separate kernels. */
static bool is_fallback(const struct ta_refs *in)
{
    double by_operator = 0, all = 0;
    for (size_t i = 0; i < ta_ref_rows(in, SOURCE); i++) {
        if (!ta_ref_reads(in, SOURCE_BACKEND, i, "math"))
            continue;
        all += ta_ref_number(in, SOURCE_TIME, i, 0);
        by_operator +=
            ta_ref_reads(in, SOURCE, i, "operator") ? ta_ref_number(in, SOURCE_TIME, i, 0) : 0;
    }
    return by_operator > 0.5 * all;
}

static bool is_jax(const struct ta_refs *in)
{
    for (size_t i = 0; i < ta_ref_rows(in, HOST_NAME); i++)
        if (ta_slice_starts(ta_ref_text(in, HOST_NAME, i), "PjitFunction("))
            return true;
    return false;
}

static const char *advice_of(struct ta_advice *advice, const struct ta_refs *in, enum cause cause,
                             const struct found *found, const struct kernel_device *device)
{
    const bool old = device->is_nvidia && device->capability > 0 && device->capability < 8;
    const char *narrow = old ? "fp16" : "bf16";
    switch (cause) {
    case MATH:
        if (is_jax(in))
            return "Call jax.nn.dot_product_attention(implementation=\"cudnn\") on bf16 or fp16 "
                   "inputs.";
        if (is_wide(in, found->row))
            return ta_advice_printf(
                advice,
                "Call scaled_dot_product_attention (attn_implementation=\"sdpa\" in transformers) "
                "on %s inputs.",
                narrow);
        if (is_fallback(in))
            return "scaled_dot_product_attention fell back: call it inside "
                   "sdpa_kernel(SDPBackend.FLASH_ATTENTION) once, and the warning says why.";
        return "Call scaled_dot_product_attention (attn_implementation=\"sdpa\" in transformers).";
    case WIDE:
        return ta_advice_printf(advice,
                                "Cast Q, K and V to %s before "
                                "scaled_dot_product_attention%s.",
                                narrow, old ? "" : ": FlashAttention takes nothing wider");
    case MASKED:
        return "Drop the mask where nothing is padded, use is_causal=True, or FlexAttention for "
               "other patterns.";
    case OUTDATED:
        return "Call scaled_dot_product_attention inside sdpa_kernel(SDPBackend.FLASH_ATTENTION), "
               "whose warning says what keeps it from running.";
    case HOPPER:
        return device->capability >= 10
                   ? "Use cuDNN's kernel (sdpa_kernel(SDPBackend.CUDNN_ATTENTION)), or "
                     "FlashAttention 4."
                   : "Use FlashAttention 3, or cuDNN's kernel "
                     "(sdpa_kernel(SDPBackend.CUDNN_ATTENTION)).";
    case PREPARED:
        return "Compare with plain FlashAttention at these lengths, and use SageAttention's fused "
               "quantization kernels.";
    case AOTRITON:
    case SLOW:
    case CAUSES:
        break;
    }
    if (device->is_amd)
        return "Try the kernels of CK or AITER "
               "(torch.backends.cuda.preferred_rocm_fa_library(\"ck\"), or aiter.flash_attn_func).";
    return device->capability >= 10  ? "Try cuDNN's kernel "
                                       "(sdpa_kernel(SDPBackend.CUDNN_ATTENTION)) or "
                                       "FlashAttention 4."
           : device->capability >= 9 ? "Try cuDNN's kernel "
                                       "(sdpa_kernel(SDPBackend.CUDNN_ATTENTION)) or "
                                       "FlashAttention 3."
                                     : "Try FlashAttention 2, and compute more heads or sequences "
                                       "at once.";
}

/* What attention reaches, in the words of the evidence where one shape is nearly all of it: two
 * figures that differ by rounding look like a fault. */
static double shown_reached(const struct ta_refs *in, const struct slow *slow)
{
    static const double nearly_all = 0.9;
    return slow->most >= nearly_all * slow->time ? ta_ref_number(in, OP_REACHED, slow->row, 0)
                                                 : slow->ideal / slow->time;
}

static void advise_slow(const struct ta_refs *in, struct ta_advice *advice, const struct slow *slow,
                        const struct kernel_run *run, const struct kernel_device *device)
{
    const struct ta_slice shape = ta_ref_text(in, OP_SHAPE, slow->row);
    const struct ta_slice unit = ta_ref_text(in, OP_UNIT, slow->row);
    const double reached = slow->ideal / slow->time, high = 1 - reached / (2 * GOAL);
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, OP_REACHED, slow->row),
                                           ta_ref_evidence(in, OP_BUSY, slow->row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "attention-slow",
            .rule = "kernel_attention",
            .title = ta_advice_printf(
                advice, "Attention runs at %s of the %s's %s and takes %s",
                ta_advice_number(advice, shown_reached(in, slow), TA_UNIT_RATIO), device->name,
                ta_ref_reads(in, OP_BOUND, slow->row, "memory")
                    ? "memory bandwidth"
                    : ta_advice_printf(advice, "%.*s peak", (int)unit.len, unit.ptr),
                kernel_time(advice, run, slow->time)),
            .why = ta_advice_printf(
                advice, "%s with %.*s takes %s of the time in attention (%s in %s).",
                ta_ref_rows(in, BACKEND)
                    ? ta_advice_printf(advice, "%c%s",
                                       backend_title(ta_ref_text(in, BACKEND, 0))[0] & ~0x20,
                                       backend_title(ta_ref_text(in, BACKEND, 0)) + 1)
                    : "The attention kernel",
                (int)shape.len, shape.ptr, kernel_part(advice, fmin(1, slow->most / slow->time)),
                kernel_ns(advice, run, slow->most),
                kernel_count(advice, ta_ref_number(in, OP_CALLS, slow->row, 0), "call")),
            .advice = advice_of(advice, in, SLOW, NULL, device),
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .gain = TA_GAIN_DEVICE,
            .saving_low_ns = kernel_saving(run, slow->time * kernel_low(1 - reached / GOAL, high)),
            .saving_high_ns = kernel_saving(run, slow->time * high),
            .confidence = 0.5,
            .threshold = ta_advice_printf(advice, "attention below %s of the roofline",
                                          ta_advice_number(advice, GOAL, TA_UNIT_RATIO)),
        });
}

/* What each cause could save; returns the one that saves most. */
static enum cause find_causes(const struct ta_refs *in, const struct kernel_device *device,
                              struct found found[CAUSES + 1])
{
    enum cause worst = MATH;
    for (size_t i = 0; i < ta_ref_rows(in, TIME); i++) {
        const enum cause cause = cause_of(in, i, device);
        const double time = ta_ref_number(in, TIME, i, 0);
        struct found *at = &found[cause];
        at->time += time;
        at->prep += ta_ref_number(in, PREP, i, 0);
        if (time > at->most) {
            at->most = time;
            at->row = i;
        }
    }
    for (int c = 0; c < SLOW; c++) {
        const double part = c == PREPARED ? found[c].prep : found[c].time;
        found[c].low = part * gains[c].low;
        found[c].high = part * gains[c].high;
        worst = found[c].high > found[worst].high ? (enum cause)c : worst;
    }
    return worst;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const struct kernel_run run = kernel_run_of(in, RUN);
    const struct kernel_device device = kernel_device_of(in, DEVICE, advice);
    const struct slow slow = find_slow(in);
    struct found found[CAUSES + 1] = {{0}};
    enum cause worst = find_causes(in, &device, found);
    const double slow_high = slow.time - slow.ideal / (2 * GOAL);
    /* No kernel is fast on inputs too wide for it. */
    const bool too_wide =
        slow.row != SIZE_MAX && ta_ref_reads(in, OP_TYPE, slow.row, "fp32") && found[WIDE].time > 0;
    if (too_wide)
        worst = WIDE;
    else if (slow.row != SIZE_MAX && slow_high > found[worst].high) {
        if (kernel_matters(&run, slow_high, threshold))
            advise_slow(in, advice, &slow, &run, &device);
        return TA_OK;
    }
    const struct found *it = &found[worst];
    if (!kernel_matters(&run, it->high, threshold))
        return TA_OK;
    const struct ta_evidence evidence[] = {
        ta_ref_evidence(in, TIME, it->row),
        ta_ref_evidence(in, worst == PREPARED ? PREP : TYPE, it->row)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = worst == MATH       ? "attention-unfused"
                        : worst == PREPARED ? "attention-preparing"
                                            : "attention-backend",
                  .rule = "kernel_attention",
                  .title = title_of(advice, in, worst, it, &run, &device),
                  .why = why_of(advice, in, worst, it),
                  .advice = advice_of(advice, in, worst, it, &device),
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = 2,
                  .gain = TA_GAIN_DEVICE,
                  .saving_low_ns = kernel_saving(&run, it->low),
                  .saving_high_ns = kernel_saving(&run, it->high),
                  .confidence = 0.5,
                  .threshold = ta_advice_printf(advice, "attention could save > %s of the run",
                                                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
              });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, kernel_attention, &ops, .title = "Attention back end",
          .summary =
              "Fires when the device could do attention faster: fused, with a newer back end, "
              "in a narrower type, or nearer its peak",
          .version = "2", .options = options);
