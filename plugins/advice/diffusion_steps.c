/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many denoising steps for one block or one generation, never for all of them together. */
#include <traceanalyze/rule.h>

enum { STEPS, GOAL, HIGH };

static const struct ta_option options[] = {
    [STEPS] = {"steps", TA_OPTION_NUMBER, 30, 1, 1e6, TA_OPTION_PLAIN,
               "Steps of one block or generation above which the rule fires"},
    [GOAL] = {"goal", TA_OPTION_NUMBER, 20, 1, 1e6, TA_OPTION_PLAIN,
              "Steps that the upper end of the saving is for"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 60, 1, 1e6, TA_OPTION_PLAIN,
              "Steps above which it is one severity higher"},
    TA_OPTIONS_END,
};

enum { PASS_STEPS, STEP_RECORDS, STEP_TIME };

static const struct ta_ref reads[] = {
    [PASS_STEPS] = {"diffusion.by_rank", "steps_per_pass"},
    [STEP_RECORDS] = {"diffusion.by_rank", "records_per_step"},
    [STEP_TIME] = {"diffusion.by_rank", "step_p50_ns"},
};

static const struct ta_look look = {.cells = PASS_STEPS};

/* ", each of two model calls": a step has several records where both calls of the guidance have
 * one. */
static const char *calls_of(const struct ta_refs *in, struct ta_advice *advice,
                            const struct ta_place *steps)
{
    const struct ta_place records = ta_place_beside(in, steps, STEP_RECORDS);
    if (!records.table || records.value < 2)
        return "";
    return ta_advice_printf(advice, ", each of %.0f recorded model calls", records.value);
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, STEPS);
    struct ta_place steps;
    if (!ta_look_worst(in, &look, &steps) || steps.value <= threshold)
        return TA_OK;
    const double goal = ta_ctx_option(ctx, GOAL) < threshold ? ta_ctx_option(ctx, GOAL) : threshold;
    const struct ta_place time = ta_place_beside(in, &steps, STEP_TIME);
    const struct ta_evidence evidence[2] = {ta_place_evidence(&steps),
                                            ta_place_evidence(time.table ? &time : &steps)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "diffusion-steps",
            .rule = "diffusion_steps",
            .title = ta_advice_printf(
                advice, "A block or generation takes up to %.0f denoising steps%s%s", steps.value,
                calls_of(in, advice, &steps), ta_place_owner(advice, in->report, &steps)),
            .advice = ta_advice_printf(
                advice,
                "Try %.0f to %.0f steps, with a solver of higher order or a distilled model, and "
                "compare the pictures; a step cache saves part of the steps at equal schedule.%s",
                goal, threshold,
                *calls_of(in, advice, &steps)
                    ? " A model distilled with its guidance needs one call per step."
                    : ""),
            .severity = steps.value > ta_ctx_option(ctx, HIGH) ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = time.table ? 2 : 1,
            /* Of one pass, the longest: shorter ones may already be below the threshold. */
            .saving_low_ns =
                time.table ? ta_whole((steps.value - threshold) * time.value) : TA_MISSING,
            .saving_high_ns = time.table ? ta_whole((steps.value - goal) * time.value) : TA_MISSING,
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
