/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generation slower than its video plays: by the frames of a video as its blocks become ready;
 * where the records do not say when they did, by frames and blocks over the time of the blocks. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { FPS, GOAL, BPS, HIGH, BPS_HIGH };

static const struct ta_option options[] = {
    [FPS] = {"fps", TA_OPTION_NUMBER, 10, 0, 1e6, TA_OPTION_PLAIN,
             "Frames per second below which the rule fires"},
    [GOAL] = {"goal", TA_OPTION_NUMBER, 16, 0, 1e6, TA_OPTION_PLAIN, "Frames per second to aim at"},
    [BPS] = {"bps", TA_OPTION_NUMBER, 2, 0, 1e6, TA_OPTION_PLAIN,
             "Blocks per second below which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 5, 0, 1e6, TA_OPTION_PLAIN,
              "Frames per second below which it is one severity higher"},
    [BPS_HIGH] = {"bps_high", TA_OPTION_NUMBER, 0.5, 0, 1e6, TA_OPTION_PLAIN,
                  "Blocks per second below which it is one severity higher"},
    TA_OPTIONS_END,
};

enum {
    METRIC,
    BASIS,
    VALUE,
    BLOCK_FRAMES,
    BLOCK_TIME,
    BLOCK_STEPS,
    BLOCKS,
    VIDEO_FACTOR,
    VIDEO_RATE,
    VIDEO_PLAYBACK,
    VIDEO_FRAMES,
    VIDEO_BLOCKS,
    VIDEO_DECODE,
    VIDEO_READY
};

static const struct ta_ref reads[] = {
    [METRIC] = {"throughput.values", "metric"},
    [BASIS] = {"throughput.values", "basis"},
    [VALUE] = {"throughput.values", "value"},
    [BLOCK_FRAMES] = {"diffusion.by_rank", "frames_per_block"},
    [BLOCK_TIME] = {"diffusion.by_rank", "block_mean_ns"},
    [BLOCK_STEPS] = {"diffusion.by_rank", "steps_per_pass"},
    [BLOCKS] = {"diffusion.by_rank", "blocks"},
    [VIDEO_FACTOR] = {"playback.by_video", "real_time_factor"},
    [VIDEO_RATE] = {"playback.by_video", "rate"},
    [VIDEO_PLAYBACK] = {"playback.by_video", "playback"},
    [VIDEO_FRAMES] = {"playback.by_video", "frames"},
    [VIDEO_BLOCKS] = {"playback.by_video", "blocks"},
    [VIDEO_DECODE] = {"playback.by_video", "decode_ns"},
    [VIDEO_READY] = {"playback.by_video", "ready"},
};

/* "A block of 12 frames takes 5.00 s and 50 denoising steps."; NULL where ranks differ too much to
 * say it of one. */
static const char *block_of(const struct ta_refs *in, struct ta_advice *advice)
{
    const double frames = ta_ref_number(in, BLOCK_FRAMES, 0, 0);
    const double ns = ta_ref_number(in, BLOCK_TIME, 0, 0);
    const double steps = ta_ref_number(in, BLOCK_STEPS, 0, 0);
    if (ta_ref_rows(in, BLOCK_TIME) != 1 || !(ns > 0))
        return NULL;
    return ta_advice_printf(advice, "A block%s takes %s%s.",
                            frames > 0 ? ta_advice_printf(advice, " of %.3g frames", frames) : "",
                            ta_advice_number(advice, ns, TA_UNIT_NS),
                            steps > 1 ? ta_advice_printf(advice, " and %.0f denoising steps", steps)
                                      : "");
}

/* Frames per second; says whether it gave the finding. */
static bool advise_frames(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look look = {
        .cells = VALUE, .where = {{METRIC, "fps"}, {BASIS, "blocks"}}, .lowest = true};
    const double threshold = ta_ctx_option(ctx, FPS), goal = ta_ctx_option(ctx, GOAL);
    struct ta_place rate;
    if (!ta_look_worst(in, &look, &rate) || !(rate.value > 0))
        return false;
    const struct ta_evidence evidence = ta_place_evidence(&rate);
    if (rate.value < threshold)
        ta_advise(
            advice,
            &(struct ta_finding){
                .id = "frame-rate",
                .rule = "frame_rate",
                .title = ta_advice_printf(advice,
                                          "The blocks produce %.3g frames/s; real time (%.3g "
                                          "frames/s) needs %.1f× that%s",
                                          rate.value, goal, goal / rate.value,
                                          ta_place_owner(advice, in->report, &rate)),
                .why = block_of(in, advice),
                .advice =
                    "Try in this order: fewer denoising steps or a distilled model, a faster step "
                    "(fused attention, torch.compile, 8-bit weights), more GPUs, a lower "
                    "resolution.",
                .details = "Decoding and other work outside the blocks come on top: compare the "
                           "frames per second of the session.",
                .severity = rate.value < ta_ctx_option(ctx, HIGH) ? TA_HIGH : TA_MEDIUM,
                .evidence = &evidence,
                .n_evidence = 1,
                .saving_low_ns = TA_MISSING,
                .saving_high_ns = TA_MISSING,
                .confidence = 0.9,
                .threshold = ta_advice_printf(
                    advice, "frames over the time of the blocks < %.4g per second", threshold),
            });
    return true;
}

/* The recorded blocks of a rank; 0: not known. */
static double blocks_of(const struct ta_refs *in, int64_t rank)
{
    for (size_t i = 0; i < ta_ref_rows(in, BLOCKS); i++)
        if (ta_ref_rank(in, BLOCKS, i) == rank)
            return ta_ref_number(in, BLOCKS, i, 0);
    return 0;
}

/* Blocks per second, where nothing says how many frames a block has. */
static void advise_blocks(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look look = {
        .cells = VALUE, .where = {{METRIC, "bps"}, {BASIS, "blocks"}}, .lowest = true};
    const double threshold = ta_ctx_option(ctx, BPS);
    struct ta_place rate;
    if (!ta_look_worst(in, &look, &rate) || !(rate.value > 0) || rate.value >= threshold)
        return;
    const struct ta_evidence evidence = ta_place_evidence(&rate);
    const double blocks = blocks_of(in, ta_ref_rank(in, VALUE, rate.row));
    const double ns = 1e9 / rate.value, goal_ns = 1e9 / threshold;
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "block-rate",
                  .rule = "frame_rate",
                  .title = ta_advice_printf(
                      advice, "New input shows only after the next block, which takes %s%s",
                      ta_advice_number(advice, ns, TA_UNIT_NS),
                      ta_place_owner(advice, in->report, &rate)),
                  .why = ta_advice_printf(advice, "The goal is %.3g blocks/s: one every %s.",
                                          threshold, ta_advice_number(advice, goal_ns, TA_UNIT_NS)),
                  .advice = "Shorten the block (fewer frames or steps) or its steps.",
                  .severity = rate.value < ta_ctx_option(ctx, BPS_HIGH) ? TA_MEDIUM : TA_LOW,
                  .evidence = &evidence,
                  .n_evidence = 1,
                  .saving_low_ns = TA_MISSING,
                  .saving_high_ns = TA_MISSING,
                  .needed_ns = ta_whole(blocks * (ns - goal_ns)),
                  .steps_ns = ta_whole(blocks * ns),
                  .confidence = 0.6,
                  .threshold = ta_advice_printf(
                      advice, "blocks over the time of the blocks < %.4g per second", threshold),
              });
}

/* "A block of 3 frames takes 320 ms, of which decoding 53.1 ms.": what a trace shows, where blocks
 * are ready at the end of their decoding. */
static const char *traced_parts_of(const struct ta_refs *in, struct ta_advice *advice, size_t video)
{
    const double frames =
        ta_ref_number(in, VIDEO_FRAMES, video, NAN) / ta_ref_number(in, VIDEO_BLOCKS, video, NAN);
    const double ns = frames * 1e9 / ta_ref_number(in, VIDEO_RATE, video, NAN);
    const double decode = ta_ref_number(in, VIDEO_DECODE, video, NAN);
    if (!(decode < ns))
        return NULL;
    return ta_advice_printf(advice, "A block of %.3g frames takes %s, of which decoding %s.",
                            frames, ta_advice_number(advice, ns, TA_UNIT_NS),
                            ta_advice_number(advice, decode, TA_UNIT_NS));
}

/* Blocks without a record of a profiler of diffusion are of traces. */
static bool is_traced(const struct ta_refs *in)
{
    return ta_ref_rows(in, BLOCK_TIME) == 0;
}

/* "A block of 12 frames takes 674 ms in 4 denoising steps, decoding 168 ms." */
static const char *parts_of(const struct ta_refs *in, struct ta_advice *advice, size_t video)
{
    const int64_t rank = ta_ref_rank(in, VIDEO_FACTOR, video);
    const double blocks = ta_ref_number(in, VIDEO_BLOCKS, video, NAN);
    const double frames = ta_ref_number(in, VIDEO_FRAMES, video, NAN);
    const double decode = ta_ref_number(in, VIDEO_DECODE, video, NAN);
    const bool is_whole = ta_ref_reads(in, VIDEO_READY, video, "with the video");
    if (is_traced(in))
        return traced_parts_of(in, advice, video);
    for (size_t i = 0; i < ta_ref_rows(in, BLOCK_TIME); i++) {
        const double ns = ta_ref_number(in, BLOCK_TIME, i, NAN);
        const double steps = ta_ref_number(in, BLOCK_STEPS, i, 0);
        if (ta_ref_rank(in, BLOCK_TIME, i) != rank || isnan(ns))
            continue;
        return ta_advice_printf(
            advice, "A block of %.3g frames takes %s%s%s.", frames / blocks,
            ta_advice_number(advice, ns, TA_UNIT_NS),
            steps > 1 ? ta_advice_printf(advice, " in %.0f denoising steps", steps) : "",
            isnan(decode)
                ? ""
                : ta_advice_printf(advice, ", decoding%s %s", is_whole ? " the video" : "",
                                   ta_advice_number(advice, decode, TA_UNIT_NS)));
    }
    return NULL;
}

/* Time of the blocks of all videos of a rank. */
static int64_t blocks_ns(const struct ta_refs *in, int64_t rank)
{
    double sum = 0;
    for (size_t i = 0; i < ta_ref_rows(in, VIDEO_RATE); i++)
        if (ta_ref_rank(in, VIDEO_RATE, i) == rank)
            sum +=
                ta_ref_number(in, VIDEO_FRAMES, i, 0) * 1e9 / ta_ref_number(in, VIDEO_RATE, i, NAN);
    return ta_whole(sum);
}

/* By how much the videos of a rank would have to be made faster. */
static int64_t needed_ns(const struct ta_refs *in, int64_t rank)
{
    double sum = 0;
    for (size_t i = 0; i < ta_ref_rows(in, VIDEO_RATE); i++) {
        const double ns =
            ta_ref_number(in, VIDEO_FRAMES, i, 0) * 1e9 / ta_ref_number(in, VIDEO_RATE, i, NAN);
        if (ta_ref_rank(in, VIDEO_RATE, i) == rank)
            sum += fmax(ns * (1 - 1 / ta_ref_number(in, VIDEO_FACTOR, i, NAN)), 0);
    }
    return ta_whole(sum);
}

/* Videos of which it is known when their blocks are ready; says whether there are any. */
static bool advise_videos(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look look = {.cells = VIDEO_FACTOR};
    struct ta_place factor;
    if (!ta_look_worst(in, &look, &factor))
        return false;
    const struct ta_place rate = ta_place_beside(in, &factor, VIDEO_RATE);
    if (factor.value <= 1)
        return true;
    const struct ta_evidence evidence[] = {ta_place_evidence(&rate), ta_place_evidence(&factor)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "frame-rate",
            .rule = "frame_rate",
            .title = ta_advice_printf(
                advice,
                "The video is made at %.3g frames/s; real time (%.3g frames/s) needs %.3g× that%s",
                rate.value, ta_ref_number(in, VIDEO_PLAYBACK, factor.row, NAN), factor.value,
                ta_place_owner(advice, in->report, &factor)),
            .why = parts_of(in, advice, factor.row),
            .advice =
                "Try in this order: fewer denoising steps or a distilled model, a faster step "
                "(fused attention, torch.compile, 8-bit weights), more GPUs, a lower "
                "resolution.",
            .details =
                is_traced(in) ? "Recording slows the host down: compare a run without it." : NULL,
            .severity = rate.value < ta_ctx_option(ctx, HIGH)  ? TA_HIGH
                        : rate.value < ta_ctx_option(ctx, FPS) ? TA_MEDIUM
                                                               : TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .needed_ns = needed_ns(in, ta_ref_rank(in, VIDEO_FACTOR, factor.row)),
            .steps_ns = blocks_ns(in, ta_ref_rank(in, VIDEO_FACTOR, factor.row)),
            .confidence = 0.9,
            .threshold = "frames played over frames made per second > 1",
        });
    return true;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    if (!advise_videos(ctx, in, advice) && !advise_frames(ctx, in, advice))
        advise_blocks(ctx, in, advice);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, frame_rate, &ops, .title = "Slow generation",
          .summary = "Fires when a video or its blocks are made too slowly", .version = "1",
          .options = options);
