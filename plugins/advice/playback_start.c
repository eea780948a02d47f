/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Videos that are watched later than they could be: nothing is shown before all of a video is
 * decoded, or blocks that come fast enough on the whole come too unevenly. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { LEAST, GAIN };

static const struct ta_option options[] = {
    [LEAST] = {"least", TA_OPTION_NUMBER, 5e8, 0, 1e15, TA_OPTION_NS,
               "How much earlier a video could be watched, above which the rule fires"},
    [GAIN] = {"gain", TA_OPTION_NUMBER, 0.3, 0, 1, TA_OPTION_RATIO,
              "That time over the time until it can be watched"},
    TA_OPTIONS_END,
};

enum { WAIT, FIRST, FRAMES, BY_BLOCK, FACTOR, STALLS, STALLED };

static const struct ta_ref reads[] = {
    [WAIT] = {"playback.by_video", "wait_ns"},
    [FIRST] = {"playback.by_video", "first_ns"},
    [FRAMES] = {"playback.by_video", "frames"},
    [BY_BLOCK] = {"playback.by_video", "by_block_ns"},
    [FACTOR] = {"playback.by_video", "real_time_factor"},
    [STALLS] = {"playback.by_video", "stalls"},
    [STALLED] = {"playback.by_video", "stalled_ns"},
};

/* The video that gains most if it starts when `could` says; SIZE_MAX where none gains enough. */
static size_t find(struct ta_ctx *ctx, const struct ta_refs *in, size_t could)
{
    size_t found = SIZE_MAX;
    double most = 0;
    for (size_t i = 0; i < ta_ref_rows(in, WAIT); i++) {
        const double wait = ta_ref_number(in, WAIT, i, NAN);
        const double gain = wait - ta_ref_number(in, could, i, NAN);
        if (gain > most && gain > ta_ctx_option(ctx, LEAST) &&
            gain > ta_ctx_option(ctx, GAIN) * wait &&
            (could == BY_BLOCK || ta_ref_number(in, FACTOR, i, NAN) <= 1)) {
            most = gain;
            found = i;
        }
    }
    return found;
}

/* Adds what both findings have in common. */
static void give(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                 const struct ta_place *wait, size_t could, struct ta_finding finding)
{
    const struct ta_place start = ta_place_beside(in, wait, could);
    const struct ta_evidence evidence[] = {ta_place_evidence(wait), ta_place_evidence(&start)};
    finding.rule = "playback_start";
    finding.evidence = evidence;
    finding.n_evidence = 2;
    finding.severity = TA_LOW;
    finding.confidence = 0.6;
    finding.saving_low_ns = finding.saving_high_ns = TA_MISSING; /* the run is as long as before */
    finding.threshold =
        ta_advice_printf(advice, "watched earlier by > %s and > %.3g %% of the wait",
                         ta_advice_number(advice, ta_ctx_option(ctx, LEAST), TA_UNIT_NS),
                         100 * ta_ctx_option(ctx, GAIN));
    ta_advise(advice, &finding);
}

static void advise_whole(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                         size_t row)
{
    const struct ta_place wait = ta_place_at(in, WAIT, row);
    give(
        ctx, in, advice, &wait, BY_BLOCK,
        (struct ta_finding){
            .id = "decoded-as-a-whole",
            .title = ta_advice_printf(
                advice,
                "No frame of the video is shown before all %.0f are decoded, after %s; decoded "
                "block by block, it could play after %s%s",
                ta_ref_number(in, FRAMES, row, 0), ta_advice_number(advice, wait.value, TA_UNIT_NS),
                ta_advice_number(advice, ta_ref_number(in, BY_BLOCK, row, NAN), TA_UNIT_NS),
                ta_place_owner(advice, in->report, &wait)),
            .advice =
                "If the video is watched while it is made, decode each block as soon as it is "
                "denoised, with the decoder's cache kept from block to block, and send it."});
}

static void advise_uneven(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                          size_t row)
{
    const struct ta_place wait = ta_place_at(in, WAIT, row);
    const double stalls = ta_ref_number(in, STALLS, row, 0);
    const double later = wait.value - ta_ref_number(in, FIRST, row, NAN);
    give(ctx, in, advice, &wait, FIRST,
         (struct ta_finding){
             .id = "uneven-blocks",
             .title = ta_advice_printf(
                 advice,
                 "The video is made in real time, yet playback stalls %.0f time%s (%s in total) if "
                 "it starts with the first frames%s",
                 stalls, stalls > 1 ? "s" : "",
                 ta_advice_number(advice, ta_ref_number(in, STALLED, row, NAN), TA_UNIT_NS),
                 ta_place_owner(advice, in->report, &wait)),
             .advice = ta_advice_printf(
                 advice,
                 "Begin to play %s later, or look at what the late blocks do that the "
                 "others do not.",
                 ta_advice_number(advice, later, TA_UNIT_NS))});
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const size_t whole = find(ctx, in, BY_BLOCK), uneven = find(ctx, in, FIRST);
    if (whole != SIZE_MAX)
        advise_whole(ctx, in, advice, whole);
    if (uneven != SIZE_MAX)
        advise_uneven(ctx, in, advice, uneven);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, playback_start, &ops, .title = "Late playback",
          .summary = "Fires when a video could be watched much earlier than it can", .version = "1",
          .options = options);
