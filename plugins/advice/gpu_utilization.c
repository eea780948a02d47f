/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Devices that run kernels for a small part of the sampled time only.  One that runs none
 * at all beside others that do is not in use, which is no loss of this run. */
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

enum { SIGNAL, MEAN, MAX, SAMPLES, BUSY, WINDOW };

static const struct ta_ref reads[] = {
    [SIGNAL] = {"telemetry.by_rank", "signal"}, [MEAN] = {"telemetry.by_rank", "mean"},
    [MAX] = {"telemetry.by_rank", "max"},       [SAMPLES] = {"telemetry.by_rank", "samples"},
    [BUSY] = {"gpu_time.by_rank", "busy_ns"},   [WINDOW] = {"telemetry.window", "samples"},
};

static const struct ta_cell_rule rule = {
    .look = {.cells = MEAN, .where = {{SIGNAL, "gpu_utilization"}}, .lowest = true},
    .finding = "gpu-utilization",
    .rule = "gpu_utilization",
    .before = "A GPU runs kernels for only ",
    .after = " of the sampled time",
    .advice = "Look for what the device waits for: loading, text encoding, saving and other work "
              "of the host between blocks (see Stages), copies, or many small launches. A "
              "torch trace of a few steps shows the gaps. A device that other ranks use is no "
              "loss.",
    .predicate = "mean utilization",
    .severity = TA_MEDIUM,
    .confidence = 0.5,
};

/* Beside a trace, samples are of more than the trace: of what it holds, it is the better witness.
 */
static struct ta_cell_rule beside_trace(void)
{
    struct ta_cell_rule beside = rule;
    beside.before =
        "Over all samples, not only while the trace was recorded, a GPU runs kernels for ";
    beside.after = " of the time";
    beside.severity = TA_INFO;
    return beside;
}

/* The device that is used least, of those that are used at all when `used`. */
static struct ta_place least_used(const struct ta_refs *in, bool used)
{
    struct ta_place least = {0};
    for (size_t row = 0; row < ta_ref_rows(in, MEAN); row++) {
        const struct ta_place here = ta_place_at(in, MEAN, row);
        /* One look at a device says nothing of the time. */
        if (ta_look_takes(in, &rule.look, row) && ta_ref_integer(in, SAMPLES, row) != 1 &&
            (!used || ta_ref_number(in, MAX, row, 0) > 0) &&
            (!least.table || here.value < least.value))
            least = here;
    }
    return least;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    struct ta_place least = least_used(in, true);
    if (!least.table) /* none is, though they were sampled */
        least = least_used(in, false);
    const bool has_trace = ta_ref_rows(in, BUSY) > 0;
    if (has_trace && ta_ref_rows(in, WINDOW) > 0) /* the trace says the same, and why */
        return TA_OK;
    const struct ta_cell_rule said = has_trace ? beside_trace() : rule;
    if (least.table)
        ta_advise_place(in, advice, &said, &least, ta_ctx_option(ctx, SHARE),
                        has_trace ? -1 : ta_ctx_option(ctx, HIGH));
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, gpu_utilization, &ops, .title = "Low utilization",
          .summary = "Fires when samples show a device with little to do", .version = "1",
          .options = options);
