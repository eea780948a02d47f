/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A phase takes one rank longer than the others, which wait for it at the end. */
#include "recommend/rule.h"

enum { LEAST };

static const struct ta_option options[] = {
    [LEAST] = {"share", TA_OPTION_NUMBER, 0.03, 0, 1, TA_OPTION_RATIO,
               "Time that a phase takes one rank longer than the others, over the run, above which "
               "the rule fires"},
    TA_OPTIONS_END,
};

enum { PHASE, RANK, TIME, OTHERS, EXTRA, SHARE, WAITING, RANKS };

static const struct ta_ref reads[] = {
    [PHASE] = {"phases.uneven", "phase"},     [RANK] = {"phases.uneven", "rank"},
    [TIME] = {"phases.uneven", "time_ns"},    [OTHERS] = {"phases.uneven", "others_ns"},
    [EXTRA] = {"phases.uneven", "extra_ns"},  [SHARE] = {"phases.uneven", "share"},
    [WAITING] = {"phases.uneven", "waiting"}, [RANKS] = {"phases.uneven", "ranks"},
};

static const struct phase {
    const char *phase, *name, *advice;
    bool is_outside; /* of the loop: no block is made sooner */
} phases[] = {
    {"VAE decode", "VAE decoding",
     "Give each rank the same number of tiles, frames or images to decode, and the same precision "
     "and convolution algorithms (`torch.backends.cudnn.benchmark`).",
     false},
    {"text encode", "Text encoding",
     "Give each rank the same number of prompts, and encode on the GPU on all of them.", true},
    {"image encode", "Image encoding",
     "Give each rank the same number of tiles, frames or images to encode.", true},
    {"denoise", "Denoising",
     "Give each rank the same number of tokens and passes: pad the sequence to a multiple of the "
     "ranks, and divide guidance evenly.",
     false},
    {"post-process", "Post-processing",
     "Divide this phase between the ranks, or let another thread or process do it.", false},
    {"load", "Loading", "Load on each rank the same part of the weights, from the same storage.",
     true},
};

static const struct phase *phase_of(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < TA_LENGTH(phases); i++)
        if (ta_ref_reads(in, PHASE, row, phases[i].phase))
            return &phases[i];
    return NULL;
}

static void give(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice, size_t row)
{
    const struct phase *phase = phase_of(in, row);
    const struct ta_place time = ta_place_at(in, TIME, row), extra = ta_place_at(in, EXTRA, row);
    const struct ta_place share = ta_place_at(in, SHARE, row);
    const struct ta_place others = ta_place_at(in, OTHERS, row);
    const double waiting = ta_ref_number(in, WAITING, row, 0);
    const bool all_wait = waiting + 1 >= ta_ref_number(in, RANKS, row, 0);
    const char *who = all_wait && waiting > 1 ? "which wait"
                      : all_wait              ? "which waits"
                      : waiting > 1 ? ta_advice_printf(advice, "of which %.0f wait", waiting)
                                    : "of which one waits";
    const struct ta_evidence evidence[] = {ta_place_evidence(&extra), ta_place_evidence(&time),
                                           ta_place_evidence(&others), ta_place_evidence(&share)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "phase-uneven",
            .rule = "phase_uneven",
            .title = ta_advice_printf(
                advice,
                "%s takes %s longer on rank %.0f than on %s (%s of the run), %s "
                "for it",
                phase->name, ta_advice_number(advice, extra.value, TA_UNIT_NS),
                ta_ref_number(in, RANK, row, 0),
                ta_ref_number(in, RANKS, row, 0) > 2 ? "the others" : "the other one",
                ta_advice_number(advice, share.value, TA_UNIT_RATIO), who),
            .why = ta_advice_printf(
                advice,
                "Rank %.0f works %s in the phase, the median of the others is %s; in other "
                "phases it is no slower.",
                ta_ref_number(in, RANK, row, 0), ta_advice_number(advice, time.value, TA_UNIT_NS),
                ta_advice_number(advice, others.value, TA_UNIT_NS)),
            .advice = phase->advice,
            .details = "The saving is what the others wait: the phase as long as they need, or as "
                       "long as all need when the extra work is divided.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = TA_LENGTH(evidence),
            .saving_low_ns = waiting + 1 >= ta_ref_number(in, RANKS, row, 0)
                                 ? ta_whole(0.5 * extra.value)
                                 : 0, /* some do not wait for it */
            .saving_high_ns = ta_whole(extra.value),
            .steps_ns = phase->is_outside ? TA_OUTSIDE_LOOP : 0,
            .gain = TA_GAIN_RANKS,
            .confidence = 0.6,
            .threshold = ta_advice_printf(
                advice, "time that a phase takes one rank longer > %s of the run",
                ta_advice_number(advice, ta_ctx_option(ctx, LEAST), TA_UNIT_RATIO)),
        });
}

/* Where nobody waits the run is not shorter without it. */
static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double least = ta_ctx_option(ctx, LEAST);
    for (size_t row = 0; row < ta_ref_rows(in, EXTRA); row++)
        if (phase_of(in, row) && ta_ref_number(in, SHARE, row, 0) > least &&
            ta_ref_number(in, WAITING, row, 0) > 0)
            give(ctx, in, advice, row);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, phase_uneven, &ops, .title = "A phase that takes one rank longer",
          .summary = "Fires when one rank works longer in a phase than others, which wait for it",
          .version = "1", .options = options);
