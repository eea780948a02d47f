/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Devices that run kernels for a small part of the sampled time only. */
#include <traceanalyze/rule.h>

enum { SHARE, HIGH };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.5, 0, 1, TA_OPTION_RATIO,
               "Mean utilization below which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.3, 0, 1, TA_OPTION_RATIO,
              "Mean utilization below which it is one severity higher"},
    TA_OPTIONS_END,
};

static const struct ta_cell_rule rule = {
    .look = {"telemetry.by_rank", "mean", {{"signal", "gpu_utilization"}}, true},
    .finding = "gpu-utilization",
    .rule = "gpu_utilization",
    .before = "A GPU runs kernels for only ",
    .after = " of the sampled time",
    .advice = "Look for what the device waits for: loading, text encoding, saving and other work "
              "of the host between blocks (see Stages), copies, or many small launches. A "
              "torch trace of a few steps shows the gaps. A device that other ranks use, or that "
              "is not used at all, is no loss.",
    .predicate = "mean utilization",
    .severity = TA_MEDIUM,
    .confidence = 0.5,
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_report *report,
                             struct ta_advice *advice)
{
    ta_advise_cell(report, advice, &rule, ta_ctx_option(ctx, SHARE), ta_ctx_option(ctx, HIGH));
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, gpu_utilization, &ops, .title = "Low utilization",
          .summary = "Fires when samples show a device with little to do", .version = "1",
          .options = options);
