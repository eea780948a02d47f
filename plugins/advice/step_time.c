/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slow denoising steps. */
#include <traceanalyze/rule.h>

enum { LIMIT, HIGH };

static const struct ta_option options[] = {
    [LIMIT] = {"limit", TA_OPTION_NUMBER, 200e6, 0, 1e15, TA_OPTION_NS,
               "Mean time of a denoising step above which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 1e9, 0, 1e15, TA_OPTION_NS,
              "Mean time of a denoising step above which it is one severity higher"},
    TA_OPTIONS_END,
};

enum { STEP };

static const struct ta_ref reads[] = {
    [STEP] = {"diffusion.by_rank", "step_mean_ns"},
};

static const struct ta_cell_rule rule = {
    .look = {.cells = STEP},
    .finding = "step-time",
    .rule = "step_time",
    .before = "A denoising step takes ",
    .after = " on average",
    .advice = "See where a step goes: under Layers, or a torch trace of two steps read "
              "together with this dump. Usual gains: a fused attention kernel, torch.compile, "
              "8-bit weights, a step cache, and both forwards of the guidance in one batch.",
    .predicate = "mean step",
    .severity = TA_MEDIUM,
    .confidence = 0.6,
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    ta_advise_cell(in, advice, &rule, ta_ctx_option(ctx, LIMIT), ta_ctx_option(ctx, HIGH));
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, step_time, &ops, .title = "Slow denoising steps",
          .summary = "Fires when a denoising step takes long", .version = "1", .options = options);
