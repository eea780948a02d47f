/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many full denoising steps that take most of a run, without a step cache: a hint, since a cache
 * costs quality, and how much it skips depends on model and prompt. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { STEPS, SHARE };

static const struct ta_option options[] = {
    [STEPS] = {"steps", TA_OPTION_NUMBER, 20, 2, 1e6, TA_OPTION_PLAIN,
               "Full steps of one image or block from which the rule fires"},
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.5, 0, 1, TA_OPTION_RATIO,
               "Share of denoising in the run from which it does"},
    TA_OPTIONS_END,
};

/* What step caches skip of the steps at pictures that people accept: papers and examples have
 * speed-ups of 1.2 to 1.8. */
#define SKIPPED_LEAST 0.15
#define SKIPPED_MOST 0.45

enum {
    LOOP_RANK,
    LOOP_STEPS,
    LOOP_BLOCKS,
    LOOP_FORWARDS,
    LOOP_FULL,
    LOOP_PERIOD,
    LOOP_DENOISER,
    PHASE_RANK,
    PHASE,
    PHASE_SHARE,
    PHASE_TIME,
    CACHE,
    COUNTER
};

static const struct ta_ref reads[] = {
    [LOOP_RANK] = {"diffusion.loops", "rank"},
    [LOOP_STEPS] = {"diffusion.loops", "steps"},
    [LOOP_BLOCKS] = {"diffusion.loops", "blocks"},
    [LOOP_FORWARDS] = {"diffusion.loops", "forwards"},
    [LOOP_FULL] = {"diffusion.loops", "full"},
    [LOOP_PERIOD] = {"diffusion.loops", "step_period_ns"},
    [LOOP_DENOISER] = {"diffusion.loops", "denoiser"},
    [PHASE_RANK] = {"phases.by_rank", "rank"},
    [PHASE] = {"phases.by_rank", "phase"},
    [PHASE_SHARE] = {"phases.by_rank", "share"},
    [PHASE_TIME] = {"phases.by_rank", "time_ns"},
    [CACHE] = {"caches.speedup", "cache"},
    [COUNTER] = {"caches.by_name", "cache"},
};

/* The row of denoising of a rank; SIZE_MAX without one. */
static size_t denoising_of(const struct ta_refs *in, int64_t rank)
{
    for (size_t row = 0; row < ta_ref_rows(in, PHASE); row++)
        if (ta_ref_integer(in, PHASE_RANK, row) == rank && ta_ref_reads(in, PHASE, row, "denoise"))
            return row;
    return SIZE_MAX;
}

static void give(const struct ta_refs *in, struct ta_advice *advice, size_t loop, size_t phase,
                 double each, double least)
{
    const struct ta_place steps = ta_place_at(in, LOOP_STEPS, loop);
    const struct ta_place time = ta_place_at(in, PHASE_TIME, phase);
    const double period = ta_ref_number(in, LOOP_PERIOD, loop, NAN);
    const struct ta_evidence evidence[] = {ta_place_evidence(&steps),
                                           ta_ref_evidence(in, PHASE_SHARE, phase),
                                           ta_place_evidence(&time)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "no-step-cache",
            .rule = "no_step_cache",
            .title = ta_advice_printf(
                advice, "All %.0f denoising steps of %s are full%s: a step cache may skip some%s",
                each, ta_ref_number(in, LOOP_BLOCKS, loop, 1) > 1 ? "a block" : "an image",
                isnan(period) ? ""
                              : ta_advice_printf(advice, " (%s each)",
                                                 ta_advice_number(advice, period, TA_UNIT_NS)),
                ta_place_owner(advice, in->report, &steps)),
            .advice = "Try a step cache (first block cache or TaylorSeer of diffusers, TeaCache, "
                      "cache-dit), raise its threshold from a small value, and compare the "
                      "pictures.",
            .why = ta_advice_printf(
                advice,
                "Such caches skip 15 to 45 %% of the steps where their pictures are accepted: %s "
                "to %s here.",
                ta_advice_number(advice, SKIPPED_LEAST * time.value, TA_UNIT_NS),
                ta_advice_number(advice, SKIPPED_MOST * time.value, TA_UNIT_NS)),
            .details = "This is a guess, so no saving is given. Models distilled to few steps have "
                       "no similar steps to skip.",
            .severity = TA_INFO,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.3,
            .threshold = ta_advice_printf(advice, "full steps of an image >= %.0f", least),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    if (ta_ref_rows(in, CACHE) || ta_ref_rows(in, COUNTER))
        return TA_OK; /* one is at work, or some cache that may be one */
    for (size_t row = 0; row < ta_ref_rows(in, LOOP_STEPS); row++) {
        const size_t phase = denoising_of(in, ta_ref_integer(in, LOOP_RANK, row));
        const double blocks = fmax(1, ta_ref_number(in, LOOP_BLOCKS, row, 1));
        const double each = floor(ta_ref_number(in, LOOP_STEPS, row, 0) / blocks);
        const double forwards = ta_ref_number(in, LOOP_FORWARDS, row, NAN);
        if (each < ta_ctx_option(ctx, STEPS) || phase == SIZE_MAX ||
            !(ta_ref_number(in, PHASE_SHARE, phase, 0) >= ta_ctx_option(ctx, SHARE)) ||
            !(ta_ref_number(in, LOOP_FULL, row, 0) >= 0.9 * forwards))
            continue;
        give(in, advice, row, phase, each, ta_ctx_option(ctx, STEPS));
        return TA_OK; /* ranks run the same loop */
    }
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, no_step_cache, &ops, .title = "No step cache",
          .summary = "Fires when many full denoising steps take most of a run without a step cache",
          .version = "1", .options = options);
