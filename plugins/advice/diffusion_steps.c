/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many denoising steps for one block or one generation, never for all of them together. */
#include <traceanalyze/rule.h>

enum { STEPS, GOAL, HIGH };

static const struct ta_option options[] = {
    [STEPS] = {"steps", TA_OPTION_NUMBER, 30, 1, 1e6, TA_OPTION_PLAIN,
               "Steps of one block or generation above which the rule fires"},
    [GOAL] = {"goal", TA_OPTION_NUMBER, 20, 1, 1e6, TA_OPTION_PLAIN,
              "Number of steps that the high saving assumes"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 60, 1, 1e6, TA_OPTION_PLAIN,
              "Steps above which it is one severity higher"},
    TA_OPTIONS_END,
};

enum { PASS_STEPS, STEP_TIME, ALL_STEPS, PASSES, BLOCKS };

static const struct ta_ref reads[] = {
    [PASS_STEPS] = {"diffusion.by_rank", "steps_per_pass"},
    [STEP_TIME] = {"diffusion.by_rank", "step_p50_ns"},
    [ALL_STEPS] = {"diffusion.by_rank", "steps"},
    [PASSES] = {"diffusion.by_rank", "passes"},
    [BLOCKS] = {"diffusion.by_rank", "blocks"},
};

static const struct ta_look look = {.cells = PASS_STEPS};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, STEPS);
    struct ta_place steps;
    if (!ta_look_worst(in, &look, &steps) || steps.value <= threshold)
        return TA_OK;
    const double goal = ta_ctx_option(ctx, GOAL) < threshold ? ta_ctx_option(ctx, GOAL) : threshold;
    const struct ta_place time = ta_place_beside(in, &steps, STEP_TIME);
    /* Where passes differ only the longest counts: others may be below the threshold. */
    const double all = ta_ref_number(in, ALL_STEPS, steps.row, 0);
    const double passes = ta_ref_number(in, PASSES, steps.row, 1);
    const double n = all == passes * steps.value ? passes : 1;
    const bool has_blocks = ta_ref_number(in, BLOCKS, steps.row, 0) > 0;
    const struct ta_evidence evidence[2] = {ta_place_evidence(&steps),
                                            ta_place_evidence(time.table ? &time : &steps)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "diffusion-steps",
            .rule = "diffusion_steps",
            .title = ta_advice_printf(
                advice, "A %s takes %s%.0f denoising steps%s%s",
                has_blocks ? "block" : "generation", n == passes ? "" : "up to ", steps.value,
                time.table ? ta_advice_printf(advice, " of %s (median)",
                                              ta_advice_number(advice, time.value, TA_UNIT_NS))
                           : "",
                ta_place_owner(advice, in->report, &steps)),
            .advice = ta_advice_printf(advice,
                                       "Try %.0f to %.0f steps with a higher-order sampler, a "
                                       "distilled model or a step cache, and compare the quality.",
                                       goal, threshold),
            .severity = steps.value > ta_ctx_option(ctx, HIGH) ? TA_MEDIUM : TA_LOW,
            .evidence = evidence,
            .n_evidence = time.table ? 2 : 1,
            .saving_low_ns =
                time.table ? ta_whole(n * (steps.value - threshold) * time.value) : TA_MISSING,
            .saving_high_ns =
                time.table ? ta_whole(n * (steps.value - goal) * time.value) : TA_MISSING,
            .steps_ns = time.table ? ta_whole(n * steps.value * time.value) : 0,
            .confidence = 0.6,
            .threshold =
                ta_advice_printf(advice, "steps of one block or generation > %.0f", threshold),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, diffusion_steps, &ops, .title = "Many denoising steps",
          .summary = "Fires when one block or generation takes many denoising steps",
          .version = "1", .options = options);
