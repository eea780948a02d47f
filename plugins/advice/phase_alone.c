/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Some ranks decode, encode or write while the others wait for them. */
#include "recommend/rule.h"

enum { LEAST };

static const struct ta_option options[] = {
    [LEAST] = {"share", TA_OPTION_NUMBER, 0.03, 0, 1, TA_OPTION_RATIO,
               "Share of the run during which ranks wait for the phase of another, above which the "
               "rule fires"},
    TA_OPTIONS_END,
};

enum { PHASE, RANK, TIMES, TIME, SHARE, AT_WORK, WAITING };

static const struct ta_ref reads[] = {
    [PHASE] = {"phases.alone", "phase"},     [RANK] = {"phases.alone", "rank"},
    [TIMES] = {"phases.alone", "times"},     [TIME] = {"phases.alone", "time_ns"},
    [SHARE] = {"phases.alone", "share"},     [AT_WORK] = {"phases.alone", "at_work"},
    [WAITING] = {"phases.alone", "waiting"},
};

/* What a rank does, and what is done about it.  `is_divided`: its work can be divided between the
 * ranks, which leaves its part of it; else all of it can be had besides something else. */
static const struct phase {
    const char *phase, *one, *several, *advice, *details;
    bool is_divided;
    bool is_outside; /* of the loop: no block is made sooner */
} phases[] = {
    {"denoise", "denoises", "denoise",
     "Denoise on the ranks that wait as well: tokens or the passes of guidance divided between "
     "them "
     "(`ulysses_degree`, `cfg_parallel`), or an image of its own on each.",
     NULL, false, false},
    {"VAE decode", "decodes", "decode",
     "Decode on all ranks, each a tile or some of the frames (parallel VAE: patch_size or "
     "`DistVAE` in xDiT, `vae_patch_parallel` in vLLM-Omni), or decode one image or video on each "
     "rank where there are several.",
     "Tiles overlap, so that a parallel VAE gains less than its number of ranks.", true, false},
    {"text encode", "encodes the prompt", "encode the prompt",
     "Encode the next prompt while this one is denoised, keep the embeddings of prompts that come "
     "again (the negative prompt), or encode each of several prompts on a rank of its own.",
     "If all ranks encode the same prompt, nobody waits, but nothing is faster.", false, true},
    {"image encode", "encodes the image", "encode the image",
     "Encode on all ranks, each a tile or some of the frames, or encode the next image while this "
     "one is denoised.",
     NULL, true, true},
    {"post-process", "post-processes", "post-process",
     "Write and scale images or videos in another thread or process while the ranks go on with the "
     "next.",
     NULL, false, false},
    {"load", "loads a model", "load a model",
     "Load on all ranks at once, each its part of the weights.", NULL, true, true},
};

static const struct phase *phase_of(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < TA_LENGTH(phases); i++)
        if (ta_ref_reads(in, PHASE, row, phases[i].phase))
            return &phases[i];
    return NULL;
}

/* Of ranks that do the same at once, each for ranks of its own, the first says it for all. */
static bool is_first_of_phase(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < ta_ref_rows(in, TIME); i++)
        if (phase_of(in, i) == phase_of(in, row) &&
            (ta_ref_number(in, TIME, i, 0) > ta_ref_number(in, TIME, row, 0) ||
             (ta_ref_number(in, TIME, i, 0) == ta_ref_number(in, TIME, row, 0) && i < row)))
            return false;
    return true;
}

/* " 4 times": a decode of one image or block of a video each. */
static const char *how_often(struct ta_advice *advice, double times)
{
    if (times <= 1)
        return "";
    return ta_advice_printf(advice, " %.0f times", times);
}

static void give(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice, size_t row)
{
    const struct phase *phase = phase_of(in, row);
    const struct ta_place time = ta_place_at(in, TIME, row);
    const struct ta_place share = ta_place_at(in, SHARE, row);
    const struct ta_place waits = ta_place_at(in, WAITING, row);
    const double at_work = ta_ref_number(in, AT_WORK, row, 1);
    const double part = phase->is_divided ? at_work / (at_work + waits.value) : 0;
    const struct ta_evidence evidence[] = {ta_place_evidence(&time), ta_place_evidence(&waits),
                                           ta_place_evidence(&share)};
    const char *others = ta_advice_printf(advice, "%.0f %s", waits.value,
                                          waits.value == 1 ? "rank waits" : "ranks wait");
    const char *who = ta_advice_printf(advice, "Rank %.0f", ta_ref_number(in, RANK, row, 0));
    if (at_work > 1)
        who = ta_advice_printf(advice, "%.0f ranks", at_work);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "phase-alone",
            .rule = "phase_alone",
            .title = ta_advice_printf(advice, "%s %s alone%s for %s (%s of the run) while %s", who,
                                      at_work > 1 ? phase->several : phase->one,
                                      how_often(advice, ta_ref_number(in, TIMES, row, 1)),
                                      ta_advice_number(advice, time.value, TA_UNIT_NS),
                                      ta_advice_number(advice, share.value, TA_UNIT_RATIO), others),
            .why =
                ta_advice_printf(advice, "The other GPUs compute nothing meanwhile: they wait in "
                                         "a collective, or are done."),
            .advice = phase->advice,
            .details = phase->details,
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = TA_LENGTH(evidence),
            .saving_low_ns = ta_whole(phase->is_divided ? 0.4 * (1 - part) * time.value : 0),
            .saving_high_ns = ta_whole((1 - part) * time.value),
            .steps_ns = phase->is_outside ? TA_OUTSIDE_LOOP : 0,
            .gain = TA_GAIN_RANKS,
            .confidence = 0.6,
            .threshold = ta_advice_printf(
                advice, "time in which others wait > %s of the run",
                ta_advice_number(advice, ta_ctx_option(ctx, LEAST), TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double least = ta_ctx_option(ctx, LEAST);
    for (size_t row = 0; row < ta_ref_rows(in, TIME); row++)
        if (phase_of(in, row) && ta_ref_number(in, SHARE, row, 0) > least &&
            is_first_of_phase(in, row))
            give(ctx, in, advice, row);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, phase_alone, &ops, .title = "A phase on one rank",
          .summary = "Fires when a rank decodes, encodes or writes while other ranks wait for it",
          .version = "1", .options = options);
