/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where only the profiler's table of operators is left of a run: what the device works on most, or
 * that it has too little to do.  A trace of the device says more, and has rules of its own. */
#include "model/kernel.h"

#include <traceanalyze/model.h>
#include <traceanalyze/rule.h>

#include <math.h>

enum { SHARE };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.3, 0, 1, TA_OPTION_RATIO,
               "Share of the device time in one kind of work from which the rule fires"},
    TA_OPTIONS_END,
};

enum { KERNELS, NAME, DEVICE_PART, DEVICE_SELF, LIMIT, HOST, WAIT, DEVICE, BY_EVENTS };

static const struct ta_ref reads[] = {
    [KERNELS] = {"gpu_time.by_name", NULL},
    [NAME] = {"ops.summed", "name"},
    [DEVICE_PART] = {"ops.summed", "device_part_ns"},
    [DEVICE_SELF] = {"ops.summed", "self_device_ns"},
    [LIMIT] = {"ops.totals", "limit"},
    [HOST] = {"ops.totals", "host_ns"},
    [WAIT] = {"ops.totals", "wait_ns"},
    [DEVICE] = {"ops.totals", "device_ns"},
    [BY_EVENTS] = {"ops.totals", "by_events"},
};

static const struct work {
    const char *name, *advice;
} works[TA_KERNEL_KIND_COUNT] = {
    [TA_KERNEL_GEMM] = {"GEMMs", "Check that they run in 16 bit or fp8, and let "
                                 "torch.compile(mode=\"max-autotune\") choose their kernels."},
    [TA_KERNEL_ATTENTION] = {"Attention", "Check that scaled_dot_product_attention takes its flash "
                                          "back end, in bf16 or fp16."},
    [TA_KERNEL_CONV] = {"Convolutions",
                        "Use channels_last, 16 bit and torch.backends.cudnn.benchmark = True."},
    [TA_KERNEL_NORM] = {"Norms", "Fuse them with what is around them (torch.compile)."},
    [TA_KERNEL_SOFTMAX] = {"Softmax", "Use fused attention: softmax on its own reads and writes "
                                      "all scores."},
    [TA_KERNEL_ELEMENTWISE] = {"Element-wise kernels",
                               "Memory bounds them: fuse them (torch.compile)."},
    [TA_KERNEL_COPY] = {"Copies, casts and changes of layout",
                        "Keep one type and one layout through the model, and tensors on the GPU."},
    [TA_KERNEL_REDUCE] = {"Reductions", "Fuse them with what is around them (torch.compile)."},
    [TA_KERNEL_QUANT] = {"Quantizing", "Fuse it into the GEMMs, or quantize weights once."},
    [TA_KERNEL_TRITON] = {"Generated (Triton) kernels",
                          "See what they fuse with TORCH_LOGS=output_code, and tune them with "
                          "torch.compile(mode=\"max-autotune\")."},
    [TA_KERNEL_COLLECTIVE] = {"Communication",
                              "Record a trace of each rank: part of it may be waiting for others."},
};

/* Operators of torch are called other than kernels of products. */
static enum ta_kernel_kind kind_of(struct ta_slice name)
{
    static const char *const products[] = {"aten::mm",        "aten::addmm",  "aten::bmm",
                                           "aten::baddbmm",   "aten::matmul", "aten::linear",
                                           "aten::_scaled_mm"};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (ta_slice_equal(name, ta_slice_of(products[i])))
            return TA_KERNEL_GEMM;
    return ta_kernel_describe(name).kind;
}

struct sums {
    double ns[TA_KERNEL_KIND_COUNT], largest_ns[TA_KERNEL_KIND_COUNT];
    size_t row[TA_KERNEL_KIND_COUNT]; /* the largest of each */
};

static void advise_work(const struct ta_refs *in, struct ta_advice *advice, double threshold)
{
    struct sums sums = {.ns = {0}};
    for (size_t i = 0; i < ta_ref_rows(in, NAME); i++) {
        const double ns = ta_ref_number(in, DEVICE_PART, i, 0);
        if (!(ns > 0))
            continue;
        const enum ta_kernel_kind kind = kind_of(ta_ref_text(in, NAME, i));
        sums.ns[kind] += ns;
        if (ns > sums.largest_ns[kind]) {
            sums.largest_ns[kind] = ns;
            sums.row[kind] = i;
        }
    }
    const double device_ns = ta_ref_sum(in, DEVICE);
    size_t most = TA_KERNEL_OTHER;
    for (size_t i = 0; i < TA_KERNEL_KIND_COUNT; i++)
        if (works[i].name && sums.ns[i] > sums.ns[most])
            most = i;
    if (!works[most].name || !(device_ns > 0) || sums.ns[most] <= threshold * device_ns)
        return;
    const struct ta_evidence evidence = ta_ref_evidence(in, DEVICE_SELF, sums.row[most]);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "device-work",
            .rule = "operator_work",
            .title = ta_advice_printf(
                advice, "%s take%s %s of the GPU time in the table (%s of %s)", works[most].name,
                most == TA_KERNEL_ATTENTION || most == TA_KERNEL_SOFTMAX ||
                        most == TA_KERNEL_QUANT || most == TA_KERNEL_COLLECTIVE
                    ? "s"
                    : "",
                ta_advice_number(advice, sums.ns[most] / device_ns, TA_UNIT_RATIO),
                ta_advice_number(advice, sums.ns[most], TA_UNIT_NS),
                ta_advice_number(advice, device_ns, TA_UNIT_NS)),
            .advice = works[most].advice,
            .severity = TA_LOW,
            .evidence = &evidence,
            .n_evidence = 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.5,
            .threshold = ta_advice_printf(advice, "one kind of work takes > %s of the device time",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

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
    if (ta_look_worst(in, &hosts, &host)) {
        const struct ta_place device = ta_place_beside(in, &host, DEVICE);
        const struct ta_place wait = ta_place_beside(in, &host, WAIT);
        const double own = host.value - (wait.table && wait.value > 0 ? wait.value : 0);
        const struct ta_evidence evidence[] = {ta_place_evidence(&host),
                                               ta_place_evidence(&device)};
        ta_advise(advice,
                  &(struct ta_finding){
                      .id = "host-limits",
                      .rule = "operator_work",
                      .title = ta_advice_printf(
                          advice, "The GPU has work for at most %s of the host's time%s",
                          ta_advice_number(advice, device.value / own, TA_UNIT_RATIO),
                          ta_place_owner(advice, in->report, &host)),
                      .advice = "Record a trace of a few steps, which shows where it waits; where "
                                "launches are slow, torch.compile(mode=\"reduce-overhead\") of the "
                                "step saves them.",
                      .severity = TA_MEDIUM,
                      .evidence = evidence,
                      .n_evidence = 2,
                      .saving_low_ns = TA_MISSING,
                      .saving_high_ns = TA_MISSING,
                      .confidence = 0.5,
                      .threshold = "the host's own work takes more than 1.25 times the device's",
                  });
    } else
        advise_work(in, advice, ta_ctx_option(ctx, SHARE));
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, operator_work, &ops, .title = "Work in the profiler's table",
          .summary = "Fires when a table of operators shows what the device works on most, or that "
                     "the host keeps it waiting",
          .version = "1", .options = options);
