/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Devices that run kernels for a small part of the sampled time only.  A device that runs none
 * while others do is not in use, which is no loss of this run. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

enum { SHARE, HIGH };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.5, 0, 1, TA_OPTION_RATIO,
               "Mean utilization below which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.3, 0, 1, TA_OPTION_RATIO,
              "Mean utilization below which it is one severity higher"},
    TA_OPTIONS_END,
};

enum { SIGNAL, MEAN, MIN, MAX, SAMPLES, BUSY, WINDOW };

static const struct ta_ref reads[] = {
    [SIGNAL] = {"telemetry.by_rank", "signal"},   [MEAN] = {"telemetry.by_rank", "mean"},
    [MIN] = {"telemetry.by_rank", "min"},         [MAX] = {"telemetry.by_rank", "max"},
    [SAMPLES] = {"telemetry.by_rank", "samples"}, [BUSY] = {"gpu_time.by_rank", "busy_ns"},
    [WINDOW] = {"telemetry.window", "samples"},
};

static const struct ta_look look = {.cells = MEAN, .where = {{SIGNAL, "gpu_utilization"}}};

/* The device that is used least, of those that are used at all when `used`. */
static struct ta_place least_used(const struct ta_refs *in, bool used)
{
    struct ta_place least = {0};
    for (size_t row = 0; row < ta_ref_rows(in, MEAN); row++) {
        const struct ta_place here = ta_place_at(in, MEAN, row);
        /* One look at a device says nothing of the time. */
        if (ta_look_takes(in, &look, row) && ta_ref_integer(in, SAMPLES, row) != 1 &&
            (!used || ta_ref_number(in, MAX, row, 0) > 0) &&
            (!least.table || here.value < least.value))
            least = here;
    }
    return least;
}

/* From here on PCIe is busy: that is what weights need which are copied in again and again. */
#define PCIE_BUSY 4e9

/* What the device receives over PCIe each second, on average; 0 where that was not sampled. */
static double received_by(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < ta_ref_rows(in, MEAN); i++)
        if (ta_ref_reads(in, SIGNAL, i, "gpu_pcie_received") &&
            ta_ref_rank(in, MEAN, i) == ta_ref_rank(in, MEAN, row) &&
            ta_ref_device(in, MEAN, i) == ta_ref_device(in, MEAN, row))
            return ta_ref_number(in, MEAN, i, 0);
    return 0;
}

/* What the samples alone tell of the reason. */
static const char *why(const struct ta_refs *in, struct ta_advice *advice, size_t row)
{
    const double least = ta_ref_number(in, MIN, row, 0), most = ta_ref_number(in, MAX, row, 0);
    if (most <= 0)
        return "No kernel ran at any sample.";
    if (most < 0.6)
        return ta_advice_printf(
            advice,
            "No sample is above %s: kernels run with gaps between them, as when "
            "the host launches them too slowly.",
            ta_advice_number(advice, most, TA_UNIT_RATIO));
    if (least < 0.1 && most > 0.9)
        return ta_advice_printf(advice,
                                "Utilization changes between %s and %s: the GPU works in phases, "
                                "and waits for loading, the host or input between them.",
                                ta_advice_number(advice, least, TA_UNIT_RATIO),
                                ta_advice_number(advice, most, TA_UNIT_RATIO));
    return NULL;
}

/* Where there is a trace, samples cover more than the trace, which is the better witness of its
 * time. */
static void give(const struct ta_refs *in, struct ta_advice *advice, const struct ta_place *least,
                 bool has_trace, double share, double high)
{
    const struct ta_evidence evidence = ta_place_evidence(least);
    const double received = received_by(in, least->row);
    const bool is_copying = received >= PCIE_BUSY;
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "gpu-utilization",
            .rule = "gpu_utilization",
            .title = ta_advice_printf(
                advice, "%s GPU %s%s of the sampled time: its utilization is %s on average%s",
                has_trace ? "Over all samples, not only while the trace was recorded, the" : "The",
                is_copying ? "waits for copies over PCIe and is idle " : "is idle ",
                ta_advice_number(advice, 1 - least->value, TA_UNIT_RATIO),
                ta_advice_number(advice, least->value, TA_UNIT_RATIO),
                ta_place_owner(advice, in->report, least)),
            .why = is_copying ? ta_advice_printf(
                                    advice,
                                    "The GPU receives %s on average, as when weights are copied in "
                                    "for each step.",
                                    ta_advice_number(advice, received, TA_UNIT_BYTES_PER_S))
                              : why(in, advice, least->row),
            .advice =
                is_copying
                    ? "Keep more of the model on the GPU (offload fewer blocks, weights in 8 bit), "
                      "or "
                      "copy the next block from pinned memory while this one computes."
                    : "Record a torch trace of a few steps: its gaps name what the GPU waits for.",
            .details = "The samples may also cover the time before and after the run.",
            .severity = has_trace             ? TA_INFO
                        : least->value < high ? TA_HIGH
                                              : TA_MEDIUM,
            .evidence = &evidence,
            .n_evidence = 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.5,
            .threshold = ta_advice_printf(advice, "mean utilization < %s",
                                          ta_advice_number(advice, share, TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double share = ta_ctx_option(ctx, SHARE);
    struct ta_place least = least_used(in, true);
    if (!least.table) /* none is, though they were sampled */
        least = least_used(in, false);
    const bool has_trace = ta_ref_rows(in, BUSY) > 0;
    if (has_trace && ta_ref_rows(in, WINDOW) > 0) /* the trace says the same, and why */
        return TA_OK;
    if (least.table && least.value < share)
        give(in, advice, &least, has_trace, share, ta_ctx_option(ctx, HIGH));
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, gpu_utilization, &ops, .title = "Low utilization",
          .summary = "Fires when samples show a low utilization of a device", .version = "1",
          .options = options);
