/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where only the profiler's table of operators is left of a run: what of the device's work need not
 * be, what it works on most, or what the host does while it has too little to do.  A trace of the
 * device says more, and has rules of its own. */
#include "model/kernel.h"

#include <traceanalyze/model.h>
#include <traceanalyze/rule.h>

#include <math.h>

enum { SHARE, CAUSE };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.3, 0, 1, TA_OPTION_RATIO,
               "Share of the device time in one kind of work from which the rule fires"},
    [CAUSE] = {"cause", TA_OPTION_NUMBER, 0.1, 0, 1, TA_OPTION_RATIO,
               "Share of the device or host time in avoidable work from which the rule fires"},
    TA_OPTIONS_END,
};

enum {
    KERNELS,
    NAME,
    KIND,
    CALLS,
    DEVICE_PART,
    DEVICE_SELF,
    DEVICE_ALL,
    HOST_SELF,
    LIMIT,
    HOST,
    WAIT,
    DEVICE,
    BY_EVENTS
};

static const struct ta_ref reads[] = {
    [KERNELS] = {"gpu_time.by_name", NULL},
    [NAME] = {"ops.summed", "name"},
    [KIND] = {"ops.summed", "kind"},
    [CALLS] = {"ops.summed", "calls"},
    [DEVICE_PART] = {"ops.summed", "device_part_ns"},
    [DEVICE_SELF] = {"ops.summed", "self_device_ns"},
    [DEVICE_ALL] = {"ops.summed", "device_ns"},
    [HOST_SELF] = {"ops.summed", "self_cpu_ns"},
    [LIMIT] = {"ops.totals", "limit"},
    [HOST] = {"ops.totals", "host_ns"},
    [WAIT] = {"ops.totals", "wait_ns"},
    [DEVICE] = {"ops.totals", "device_ns"},
    [BY_EVENTS] = {"ops.totals", "by_events"},
};

static bool named(const struct ta_refs *in, size_t row, const char *const *words)
{
    return ta_slice_has_any(ta_ref_text(in, NAME, row), words);
}

/* ---- kinds of work --------------------------------------------------------------------------- */

static const struct work {
    const char *name, *advice;
} works[TA_KERNEL_KIND_COUNT] = {
    [TA_KERNEL_GEMM] = {"GEMMs", "Record a trace with record_shapes=True: the sizes show what the "
                                 "GEMMs reach of the peak."},
    [TA_KERNEL_ATTENTION] = {"Attention", "Check that scaled_dot_product_attention takes its flash "
                                          "back end, in bf16 or fp16."},
    [TA_KERNEL_CONV] = {"Convolutions",
                        "Use channels_last, 16 bit and torch.backends.cudnn.benchmark = True."},
    [TA_KERNEL_NORM] = {"Norms", "Fuse these kernels with what is around them (torch.compile)."},
    [TA_KERNEL_SOFTMAX] = {"Softmax", "Use fused attention: softmax on its own reads and writes "
                                      "all scores."},
    [TA_KERNEL_ELEMENTWISE] = {"Element-wise kernels",
                               "Fuse these kernels (torch.compile): memory bandwidth bounds them."},
    [TA_KERNEL_COPY] = {"Copies, casts and changes of layout",
                        "Keep one type and one layout through the model, and tensors on the GPU."},
    [TA_KERNEL_REDUCE] = {"Reductions",
                          "Fuse these kernels with what is around them (torch.compile)."},
    [TA_KERNEL_QUANT] = {"Quantizing",
                         "Fuse quantization into the GEMMs, or quantize weights once."},
    [TA_KERNEL_TRITON] =
        {"Generated (Triton) kernels",
         "See what these kernels fuse with TORCH_LOGS=output_code, and tune them with "
         "torch.compile(mode=\"max-autotune\")."},
    [TA_KERNEL_COLLECTIVE] =
        {"Communication",
         "Record a trace of each rank: part of this time may be waiting for others."},
};

/* Operators of torch are called other than kernels of products. */
static struct ta_kernel_facts facts_of(struct ta_slice name)
{
    static const char *const products[] = {"aten::mm",        "aten::addmm",  "aten::bmm",
                                           "aten::baddbmm",   "aten::matmul", "aten::linear",
                                           "aten::_scaled_mm"};
    struct ta_kernel_facts facts = ta_kernel_describe(name);
    for (size_t i = 0; i < TA_LENGTH(products); i++)
        if (ta_slice_equal(name, ta_slice_of(products[i])))
            facts.kind = TA_KERNEL_GEMM;
    return facts;
}

struct sum {
    double ns, largest_ns;
    size_t row; /* the largest */
};

static void add(struct sum *sum, double ns, size_t row)
{
    sum->ns += ns;
    if (ns > sum->largest_ns) {
        sum->largest_ns = ns;
        sum->row = row;
    }
}

static void advise_work(const struct ta_refs *in, struct ta_advice *advice, double threshold)
{
    struct sum sums[TA_KERNEL_KIND_COUNT] = {{.ns = 0}};
    double short_ns = 0; /* of GEMMs in 16 bit or less */
    for (size_t i = 0; i < ta_ref_rows(in, NAME); i++) {
        const double ns = ta_ref_number(in, DEVICE_PART, i, 0);
        if (!(ns > 0))
            continue;
        const struct ta_kernel_facts facts = facts_of(ta_ref_text(in, NAME, i));
        add(&sums[facts.kind], ns, i);
        if (facts.kind == TA_KERNEL_GEMM && facts.matrix == TA_MATRIX_YES)
            short_ns += ns;
    }
    const double device_ns = ta_ref_sum(in, DEVICE);
    size_t most = TA_KERNEL_OTHER;
    for (size_t i = 0; i < TA_KERNEL_KIND_COUNT; i++)
        if (works[i].name && sums[i].ns > sums[most].ns)
            most = i;
    if (!works[most].name || !(device_ns > 0) || sums[most].ns <= threshold * device_ns)
        return;
    const bool is_short = most == TA_KERNEL_GEMM && short_ns > 0.9 * sums[most].ns;
    const struct ta_evidence evidence = ta_ref_evidence(in, DEVICE_SELF, sums[most].row);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "device-work",
            .rule = "operator_work",
            .title = ta_advice_printf(
                advice, "%s take%s %s of the GPU time in the profiler's table (%s)",
                works[most].name,
                most == TA_KERNEL_ATTENTION || most == TA_KERNEL_SOFTMAX ||
                        most == TA_KERNEL_QUANT || most == TA_KERNEL_COLLECTIVE
                    ? "s"
                    : "",
                ta_advice_number(advice, sums[most].ns / device_ns, TA_UNIT_RATIO),
                ta_advice_part(advice, sums[most].ns, device_ns, TA_UNIT_NS)),
            .why = is_short ? "The GEMMs run on tensor cores already." : NULL,
            .advice = is_short ? "Store the weights of the largest layers in fp8 where the GPU has "
                                 "it, and compare quality; or take fewer steps."
                               : works[most].advice,
            .severity = most == TA_KERNEL_COLLECTIVE ? TA_MEDIUM : TA_LOW,
            .evidence = &evidence,
            .n_evidence = 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.5,
            .threshold = ta_advice_printf(advice, "one kind of work takes > %s of the device time",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

/* ---- work of the device that need not be ----------------------------------------------------- */

enum cause { HOST_COPIES, DEQUANTIZING, NAIVE_CONV, MATH, FP32_GEMM, FP32_CONV, SMALL, CAUSES };

static const struct {
    const char *id, *what, *why, *advice;
    double low, high; /* of its time that can be saved */
} causes[CAUSES] = {
    [HOST_COPIES] = {"device-copies", "Copies between host and GPU take", NULL,
                     "Keep on the GPU what each step uses: weights that are offloaded and copied "
                     "back, and inputs; copy the rest from pinned memory with non_blocking=True.",
                     0.35, 0.95},
    [DEQUANTIZING] = {"device-dequantizing", "Dequantizing weights at each call takes", NULL,
                      "Use GEMMs that take the quantized weights (fp8 with _scaled_mm, torchao, "
                      "Marlin, Nunchaku), or weights in 16 bit where they fit.",
                      0.35, 0.95},
    [NAIVE_CONV] =
        {"device-naive-convolution", "MIOpen's naive convolution kernels take",
         "MIOpen has found no solver for these sizes, or got no workspace for it.",
         "Let MIOpen search once (MIOPEN_FIND_MODE=NORMAL, "
         "torch.backends.cudnn.benchmark = True), in 16 bit, and decode in tiles so that "
         "its workspace fits.",
         0.4, 0.95},
    [MATH] = {"device-attention", "Attention as separate GEMMs and softmax takes",
              "Softmax on its own writes and reads all scores.",
              "Call scaled_dot_product_attention with bf16 or fp16 inputs and without an arbitrary "
              "mask, so that it takes a flash kernel.",
              0.35, 0.9},
    [FP32_GEMM] = {"device-fp32", "FP32 GEMMs without tensor cores take", NULL,
                   "Run the model in bf16 or fp16 (torch.autocast, or load it so), or allow TF32: "
                   "torch.set_float32_matmul_precision(\"high\").",
                   0.35, 0.9},
    [FP32_CONV] =
        {"device-fp32-convolution", "FP32 convolutions without tensor cores take", NULL,
         "Run these convolutions (the VAE) in bf16, or in fp16 where the values fit, with "
         "channels_last.",
         0.3, 0.85},
    [SMALL] = {"device-unfused", "Element-wise kernels, norms and reductions take",
               "Memory bounds them.", "Fuse them: torch.compile the model.", 0.25, 0.7},
};

static enum cause cause_of(const struct ta_refs *in, size_t row, const struct ta_kernel_facts *is)
{
    static const char *const copies[] = {
        "Memcpy HtoD", "Memcpy DtoH", "CopyHostToDevice", "CopyDeviceToHost", "HtoD (",
        "DtoH (",      NULL};
    static const char *const dequantizing[] = {"dequant", NULL};
    static const char *const naive[] = {"naive_conv", NULL};
    static const char *const sgemm_conv[] = {"convolve_sgemm", "scudnn", "implicit_gemm_fp32",
                                             NULL};
    const bool is_plain = is->precision == TA_PRECISION_FP32 && is->matrix == TA_MATRIX_NO;
    if (named(in, row, copies))
        return HOST_COPIES;
    if (named(in, row, dequantizing))
        return DEQUANTIZING;
    if (named(in, row, naive))
        return NAIVE_CONV;
    if (is->kind == TA_KERNEL_CONV && (is_plain || named(in, row, sgemm_conv)))
        return FP32_CONV;
    if (is->kind == TA_KERNEL_GEMM && is_plain)
        return FP32_GEMM;
    return is->kind == TA_KERNEL_ELEMENTWISE || is->kind == TA_KERNEL_NORM ||
                   is->kind == TA_KERNEL_REDUCE
               ? SMALL
               : CAUSES;
}

/* Attention that torch computes step by step: its operator has the time of all its kernels. */
static struct sum math_attention(const struct ta_refs *in)
{
    static const char *const math[] = {"_scaled_dot_product_attention_math", NULL};
    struct sum sum = {.ns = 0};
    for (size_t i = 0; i < ta_ref_rows(in, NAME); i++)
        if (named(in, i, math))
            add(&sum, ta_ref_number(in, DEVICE_ALL, i, 0), i);
    return sum;
}

/* "Copies between host and GPU take 73 % of the GPU time (8.55 s in 3 000 calls)". */
static void advise_cause(const struct ta_refs *in, struct ta_advice *advice, enum cause cause,
                         const struct sum *sum, double threshold)
{
    const double device_ns = ta_ref_sum(in, DEVICE);
    const double calls = ta_ref_number(in, CALLS, sum->row, 0);
    const struct ta_evidence evidence =
        ta_ref_evidence(in, cause == MATH ? DEVICE_ALL : DEVICE_SELF, sum->row);
    static const char *const old_gpus[] = {"volta_", "turing_", NULL};
    const bool is_pageable =
        cause == HOST_COPIES && named(in, sum->row, (const char *const[]){"Pageable", NULL});
    const char *why =
        cause == HOST_COPIES && calls > 0
            ? ta_advice_printf(
                  advice, "%s takes %s, in %s calls of %s%s.",
                  ta_place_text(advice, in,
                                &(struct ta_place){ta_ref_table(in, NAME), sum->row, 0, 0}, NAME),
                  ta_advice_number(advice, sum->largest_ns, TA_UNIT_NS),
                  ta_advice_number(advice, calls, TA_UNIT_COUNT),
                  ta_advice_number(advice, sum->largest_ns / calls, TA_UNIT_NS),
                  is_pageable ? ", from pageable memory, for which the host waits" : "")
            : causes[cause].why;
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = causes[cause].id,
            .rule = "operator_work",
            .title = ta_advice_printf(advice, "%s %s of the GPU time (%s)", causes[cause].what,
                                      ta_advice_number(advice, sum->ns / device_ns, TA_UNIT_RATIO),
                                      ta_advice_part(advice, sum->ns, device_ns, TA_UNIT_NS)),
            .why = why,
            .advice = cause == FP32_GEMM && named(in, sum->row, old_gpus)
                          ? "Run the model in fp16 (torch.autocast, or load it so)."
                          : causes[cause].advice,
            .severity = sum->ns > 0.25 * device_ns ? TA_HIGH : TA_MEDIUM,
            .evidence = &evidence,
            .n_evidence = 1,
            .saving_low_ns = ta_whole(causes[cause].low * sum->ns),
            .saving_high_ns = ta_whole(causes[cause].high * sum->ns),
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "%s > %s of the device time", causes[cause].what,
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

/* Returns whether there is one. */
static bool advise_causes(const struct ta_refs *in, struct ta_advice *advice, double threshold,
                          double of_small)
{
    struct sum sums[CAUSES + 1] = {{.ns = 0}}, of_kernels[CAUSES + 1] = {{.ns = 0}};
    bool any = false;
    for (size_t i = 0; i < ta_ref_rows(in, NAME); i++) {
        const struct ta_kernel_facts facts = facts_of(ta_ref_text(in, NAME, i));
        const double ns = ta_ref_number(in, DEVICE_PART, i, 0);
        const double kernel_ns = ta_ref_number(in, DEVICE_SELF, i, 0);
        if (ns > 0)
            add(&sums[cause_of(in, i, &facts)], ns, i);
        if (kernel_ns > 0 && ta_ref_reads(in, KIND, i, "kernel"))
            add(&of_kernels[cause_of(in, i, &facts)], kernel_ns, i);
    }
    /* Where few kernels are listed the parts belong to operators, whose names say less. */
    for (size_t i = 0; i < CAUSES; i++)
        if (i != SMALL && of_kernels[i].ns > sums[i].ns)
            sums[i] = of_kernels[i];
    sums[MATH] = math_attention(in);
    const double device_ns = ta_ref_sum(in, DEVICE);
    if (sums[MATH].ns > threshold * device_ns) /* it holds them, or most of them */
        sums[FP32_GEMM].ns = sums[SMALL].ns = 0;
    for (enum cause cause = 0; device_ns > 0 && cause < CAUSES; cause++) {
        if (sums[cause].ns <= (cause == SMALL ? of_small : threshold) * device_ns)
            continue;
        any = true;
        advise_cause(in, advice, cause, &sums[cause], threshold);
    }
    return any;
}

/* ---- the host -------------------------------------------------------------------------------- */

/* What the host does of its own. */
enum host_work { LAUNCHES, COPIES, MEMORY, VALUES, COMPUTES, UNKNOWN, HOST_WORKS };

struct host {
    struct sum sums[HOST_WORKS];
    double launches, values; /* calls */
    struct ta_place total;
};

/* An operator that takes the host long at each call and the device nothing computes there. */
#define LONG_CALL_NS 1e6

static struct host host_of(const struct ta_refs *in, const struct ta_place *total)
{
    static const char *const launches[] = {"LaunchKernel", "GraphLaunch", NULL};
    static const char *const copies[] = {"Memcpy", NULL};
    static const char *const memory[] = {"Malloc", "Free", "HostAlloc", NULL};
    static const char *const values[] = {"aten::_local_scalar_dense", "aten::nonzero",
                                         "aten::is_nonzero", NULL};
    struct host host = {.total = *total};
    for (size_t i = 0; i < ta_ref_rows(in, NAME); i++) {
        const double ns = ta_ref_number(in, HOST_SELF, i, 0);
        const double calls = ta_ref_number(in, CALLS, i, 0);
        const bool is_call = ta_ref_reads(in, KIND, i, "call");
        const bool is_operator = ta_ref_reads(in, KIND, i, "operator");
        if (is_operator && named(in, i, values))
            host.values += calls;
        if (is_call && named(in, i, launches)) {
            add(&host.sums[LAUNCHES], ns, i);
            host.launches += calls;
        } else if ((is_call || ta_ref_reads(in, KIND, i, "wait")) && named(in, i, copies)) {
            add(&host.sums[COPIES], ns, i);
        } else if (is_call && named(in, i, memory)) {
            add(&host.sums[MEMORY], ns, i);
        } else if (ta_ref_reads(in, KIND, i, "wait")) {
            add(&host.sums[VALUES], ns, i);
        } else if (is_operator && calls > 0 && ns / calls > LONG_CALL_NS &&
                   ta_ref_number(in, DEVICE_ALL, i, 0) <= 0.1 * ns) {
            add(&host.sums[COMPUTES], ns, i);
        }
    }
    return host;
}

static enum host_work largest_of(const struct host *host, double threshold)
{
    enum host_work most = host->launches > 0 ? LAUNCHES : UNKNOWN;
    double ns = threshold * host->total.value;
    for (enum host_work i = COPIES; i < UNKNOWN; i++) {
        if (i == VALUES && host->values < 20)
            continue; /* few waits are those at the end */
        if (host->sums[i].ns > ns) {
            ns = host->sums[i].ns;
            most = i;
        }
    }
    return most;
}

static const char *const host_advice[HOST_WORKS] = {
    [LAUNCHES] = "Capture the step in a CUDA graph (torch.compile(mode=\"reduce-overhead\")), or "
                 "launch fewer kernels: larger batches, fused operators.",
    [COPIES] = "Copy from pinned memory with non_blocking=True, and keep on the GPU what each step "
               "uses (weights that are offloaded and copied back).",
    [MEMORY] = "Let torch's allocator keep its memory: no torch.cuda.empty_cache() in a loop, no "
               "PYTORCH_NO_CUDA_MEMORY_CACHING.",
    [VALUES] = "Keep the values on the GPU (torch.where, tensors instead of .item(), .cpu(), "
               "print()), and read them once after the loop.",
    [COMPUTES] = "Move the module and its inputs to the GPU, or do it once and keep the result.",
    [UNKNOWN] = "Record a trace of a few steps, which shows where it waits; where launches are "
                "slow, torch.compile(mode=\"reduce-overhead\") of the step saves them.",
};

/* The host's time without that in which it waits for the device. */
static double own_ns(const struct ta_refs *in, const struct host *host)
{
    const struct ta_place wait = ta_place_beside(in, &host->total, WAIT);
    return host->total.value - (wait.table && wait.value > 0 ? wait.value : 0);
}

static const char *host_title(const struct ta_refs *in, struct ta_advice *advice,
                              const struct host *host, enum host_work work)
{
    const struct sum *sum = &host->sums[work];
    const struct ta_place row = {ta_ref_table(in, NAME), sum->row, 0, 0};
    const char *time = ta_advice_number(advice, sum->ns, TA_UNIT_NS);
    const char *share = ta_advice_number(advice, sum->ns / host->total.value, TA_UNIT_RATIO);
    const char *name = ta_place_text(advice, in, &row, NAME);
    const char *owner = ta_place_owner(advice, in->report, &host->total);
    switch (work) {
    case COMPUTES:
        return ta_advice_printf(advice, "%s computes on the CPU: %s of the host's time (%s)%s",
                                name, share, time, owner);
    case COPIES:
        return ta_advice_printf(advice, "Copies block the host: %s takes %s of its time (%s)%s",
                                name, share, time, owner);
    case MEMORY:
        return ta_advice_printf(
            advice, "The driver allocates and frees memory for %s of the host's time (%s)%s", share,
            time, owner);
    case VALUES:
        return ta_advice_printf(
            advice, "The host waits for single values of the GPU %s times: %s of its time (%s)%s",
            ta_advice_number(advice, host->values, TA_UNIT_COUNT), share, time, owner);
    case UNKNOWN:
        return ta_advice_printf(
            advice, "The GPU has work for at most %s of the host's time%s",
            ta_advice_number(advice,
                             ta_place_beside(in, &host->total, DEVICE).value / own_ns(in, host),
                             TA_UNIT_RATIO),
            owner);
    default:
        return ta_advice_printf(
            advice, "The host launches kernels too slowly: the GPU has %s of work in its %s%s",
            ta_advice_number(advice, ta_ref_sum(in, DEVICE), TA_UNIT_NS),
            ta_advice_number(advice, host->total.value, TA_UNIT_NS), owner);
    }
}

static void advise_host(const struct ta_refs *in, struct ta_advice *advice,
                        const struct ta_place *total, double threshold)
{
    const struct host host = host_of(in, total);
    const enum host_work work = largest_of(&host, threshold);
    const struct ta_place device = ta_place_beside(in, total, DEVICE);
    const double idle = fmax(0, total->value - device.value);
    const double most = work == LAUNCHES || work == UNKNOWN ? idle : fmin(idle, host.sums[work].ns);
    const struct ta_evidence evidence[] = {ta_place_evidence(total), ta_place_evidence(&device)};
    const char *why =
        work == LAUNCHES && host.launches > 0
            ? ta_advice_printf(advice,
                               "%s launches: %s of the host's time for each, %s of the "
                               "GPU's.",
                               ta_advice_number(advice, host.launches, TA_UNIT_COUNT),
                               ta_advice_number(advice, total->value / host.launches, TA_UNIT_NS),
                               ta_advice_number(advice, device.value / host.launches, TA_UNIT_NS))
            : ta_advice_printf(advice, "The GPU has %s of work in the host's %s.",
                               ta_advice_number(advice, device.value, TA_UNIT_NS),
                               ta_advice_number(advice, total->value, TA_UNIT_NS));
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "host-limits",
                  .rule = "operator_work",
                  .title = host_title(in, advice, &host, work),
                  .why = why,
                  .advice = host_advice[work],
                  .details = "A table has no timestamps, so how much of the host's work the GPU's "
                             "overlaps is not known; a trace of a few steps shows it.",
                  .severity = idle > 0.5 * total->value ? TA_HIGH : TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = 2,
                  .saving_low_ns = ta_whole(most / 3),
                  .saving_high_ns = ta_whole(most),
                  .confidence = 0.5,
                  .threshold = "the host's own work takes more than 1.25 times the "
                               "device's",
              });
}

/* ---- the rule ---------------------------------------------------------------------------------
 */

/* Whether device times hold the waits of the device for the host. */
static bool is_by_events(const struct ta_refs *in)
{
    for (size_t i = 0; i < ta_ref_rows(in, BY_EVENTS); i++) {
        const struct ta_cell *cell = ta_ref_cell(in, BY_EVENTS, i);
        if (cell->kind == TA_CELL_BOOL && cell->b)
            return true;
    }
    return false;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look hosts = {.cells = HOST, .where = {{LIMIT, "host"}}};
    struct ta_place host; /* of the rank on which the host limits most */
    if (ta_ref_rows(in, KERNELS) || is_by_events(in))
        return TA_OK;
    if (ta_look_worst(in, &hosts, &host))
        advise_host(in, advice, &host, ta_ctx_option(ctx, CAUSE));
    else if (!advise_causes(in, advice, ta_ctx_option(ctx, CAUSE), ta_ctx_option(ctx, SHARE)))
        advise_work(in, advice, ta_ctx_option(ctx, SHARE));
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, operator_work, &ops, .title = "Work in the profiler's table",
          .summary = "Fires when a table of operators shows avoidable work, what takes most of the "
                     "device time, or a device that waits for the host",
          .version = "1", .options = options);
