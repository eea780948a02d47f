/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings that begin while a device still works on what was launched before: nothing of that
 * work was recorded, so the device looks idle until it is done. */
#include "lib/owners.h"
#include "recommend/rule.h"

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
                   "Share of the window in which work from before the recording keeps the device "
                   "waiting, from which the rule fires"},
    TA_OPTIONS_END,
};

enum { CAUSE, CAUSE_TIME, WINDOW };

static const struct ta_ref reads[] = {
    [CAUSE] = {"gpu_idle.by_cause", "cause"},
    [CAUSE_TIME] = {"gpu_idle.by_cause", "total_ns"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look before = {.cells = CAUSE_TIME,
                                          .where = {{CAUSE, "began before the recording"}}};
    static const struct ta_look window_look = {.cells = WINDOW};
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct ta_place worst, window;
    if (!ta_look_worst(in, &before, &worst) || !ta_look_same(in, &window_look, &worst, &window) ||
        window.value <= 0 || worst.value / window.value <= threshold)
        return TA_OK;
    const struct ta_evidence evidence[] = {ta_place_evidence(&worst), ta_place_evidence(&window)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "begun-inside",
            .rule = "begun_inside",
            .title = ta_advice_printf(
                advice,
                "The recording began inside a step: what the GPU%s does for %s of the run (%s) is "
                "not known",
                ta_owned_of(advice, &worst),
                ta_advice_number(advice, worst.value / window.value, TA_UNIT_RATIO),
                ta_advice_number(advice, worst.value, TA_UNIT_NS)),
            .why =
                "The GPU runs kernels that were launched before the recording, so this is not idle "
                "time to save.",
            .advice = "Call torch.cuda.synchronize() before the profiler starts, or record one "
                      "more step and ignore the first.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.7,
            .about_input = true,
            .threshold = ta_advice_printf(advice, "share of the run > %s",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, begun_inside, &ops, .title = "Recording begun inside a step",
          .summary = "Fires when a device still works on what was launched before the recording",
          .version = "1", .options = options);
