/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks that take longer the more blocks there are before them. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { SHARE, HIGH };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.1, 0, 1, TA_OPTION_RATIO,
               "Time that growth adds to the blocks of a video, over the time of these blocks, "
               "above which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.4, 0, 1, TA_OPTION_RATIO,
              "That share above which it is one severity higher"},
    TA_OPTIONS_END,
};

enum {
    SLOPE,
    WINDOW,
    ADDED,
    BASE,
    BLOCKS,
    LIMIT,
    UNTIL,
    BEYOND,
    BLOCK_TIME,
    TRACED_RANK,
    TRACED_VIDEO,
    TRACED_BLOCKS,
    TRACED_BASE,
    TRACED_SLOPE,
    TRACED_LEAST,
    TRACED_ATTENTION,
    VIDEO_RANK,
    VIDEO,
    VIDEO_BLOCKS,
    VIDEO_FRAMES,
    VIDEO_RATIO,
    VIDEO_RATE,
    VIDEO_PLAYBACK
};

static const struct ta_ref reads[] = {
    [SLOPE] = {"diffusion.context_growth", "growth_ns"},
    [WINDOW] = {"diffusion.context_growth", "window"},
    [ADDED] = {"diffusion.context_growth", "added_ns"},
    [BASE] = {"diffusion.context_growth", "base_ns"},
    [BLOCKS] = {"diffusion.context_growth", "blocks"},
    [LIMIT] = {"diffusion.context_growth", "limit_ns"},
    [UNTIL] = {"diffusion.context_growth", "real_time_until"},
    [BEYOND] = {"diffusion.context_growth", "extrapolated"},
    [BLOCK_TIME] = {"diffusion.by_rank", "block_mean_ns"},
    [TRACED_RANK] = {"diffusion.attention_growth", "rank"},
    [TRACED_VIDEO] = {"diffusion.attention_growth", "video"},
    [TRACED_BLOCKS] = {"diffusion.attention_growth", "blocks"},
    [TRACED_BASE] = {"diffusion.attention_growth", "base_ns"},
    [TRACED_SLOPE] = {"diffusion.attention_growth", "growth_ns"},
    [TRACED_LEAST] = {"diffusion.attention_growth", "growth_low_ns"},
    [TRACED_ATTENTION] = {"diffusion.attention_growth", "attention_growth_ns"},
    [VIDEO_RANK] = {"playback.by_video", "rank"},
    [VIDEO] = {"playback.by_video", "video"},
    [VIDEO_BLOCKS] = {"playback.by_video", "blocks"},
    [VIDEO_FRAMES] = {"playback.by_video", "frames"},
    [VIDEO_RATIO] = {"playback.by_video", "ratio"},
    [VIDEO_RATE] = {"playback.by_video", "rate"},
    [VIDEO_PLAYBACK] = {"playback.by_video", "playback"},
};

#define CURE                                                                                       \
    "Attend to a shorter window of blocks, keep the first block and the latest ones, or pool the " \
    "cache of older blocks; compare the videos."

/* What growth adds over the time of the blocks of the fit. */
static double share_of(const struct ta_refs *in, size_t row)
{
    const int64_t rank = ta_ref_rank(in, ADDED, row);
    for (size_t i = 0; i < ta_ref_rows(in, BLOCK_TIME); i++)
        if (ta_ref_rank(in, BLOCK_TIME, i) == rank)
            return ta_ref_number(in, ADDED, row, 0) /
                   (ta_ref_number(in, BLOCKS, row, 0) * ta_ref_number(in, BLOCK_TIME, i, NAN));
    return 0;
}

static const char *title(const struct ta_refs *in, struct ta_advice *advice,
                         const struct ta_place *slope)
{
    const double window = ta_ref_number(in, WINDOW, slope->row, NAN);
    const double until = ta_ref_number(in, UNTIL, slope->row, NAN);
    const bool is_late = until > 0; /* else it is not in real time from the first block on */
    const struct ta_cell *beyond = ta_ref_cell(in, BEYOND, slope->row);
    const bool is_beyond = beyond->kind == TA_CELL_BOOL && beyond->b;
    return ta_advice_printf(
        advice,
        "Blocks slow down as the cache grows: each takes %s longer than the one before%s%s%s",
        ta_advice_number(advice, slope->value, TA_UNIT_NS),
        isnan(window) ? "" : ta_advice_printf(advice, ", up to block %.0f", window),
        is_late ? ta_advice_printf(advice, "; from block %.0f on they are slower than real time%s",
                                   until, is_beyond ? ", by the trend" : "")
                : "",
        ta_place_owner(advice, in->report, slope));
}

/* ---- videos of traces, by kernels ---------------------------------------------------------- */

/* What growth adds to the blocks of a video over its first one; the fit leaves that one out. */
static double traced_added(const struct ta_refs *in, size_t row)
{
    const double n = ta_ref_number(in, TRACED_BLOCKS, row, 0);
    const double slope = ta_ref_number(in, TRACED_SLOPE, row, 0);
    const bool grows = ta_ref_number(in, TRACED_LEAST, row, slope) > 0;
    return grows ? slope * n * (n + 1) / 2 : 0;
}

static double traced_share(const struct ta_refs *in, size_t row)
{
    const double n = ta_ref_number(in, TRACED_BLOCKS, row, 0), added = traced_added(in, row);
    return added > 0 ? added / ((n + 1) * ta_ref_number(in, TRACED_BASE, row, 0) + added) : 0;
}

/* Frames of each block after the first one, which may have fewer; 0 where that is not known. */
static double frames_of(const struct ta_refs *in, size_t video)
{
    const double ratio = ta_ref_number(in, VIDEO_RATIO, video, 1);
    const double frames = ta_ref_number(in, VIDEO_FRAMES, video, 0);
    const double blocks = ta_ref_number(in, VIDEO_BLOCKS, video, NAN);
    const double all = fmod(frames, blocks) == 0 ? frames : frames + ratio - 1;
    return fmod(all, blocks) == 0 ? all / blocks : 0;
}

/* The first block that takes longer than its frames play, by the mean time from one block to the
 * next, which the one in the middle has, and the growth; 0 where that is not known or far away. */
static double slow_from(const struct ta_refs *in, size_t row)
{
    const double far = 4; /* times the blocks that there are */
    for (size_t i = 0; i < ta_ref_rows(in, VIDEO); i++) {
        if (ta_ref_rank(in, VIDEO_RANK, i) != ta_ref_rank(in, TRACED_RANK, row) ||
            ta_ref_integer(in, VIDEO, i) + 1 != ta_ref_integer(in, TRACED_VIDEO, row))
            continue;
        const double frames = frames_of(in, i), blocks = ta_ref_number(in, VIDEO_BLOCKS, i, 0);
        const double middle = (blocks + 2) / 2; /* of the blocks from 2 on */
        const double late = frames * 1e9 / ta_ref_number(in, VIDEO_PLAYBACK, i, NAN) -
                            frames * 1e9 / ta_ref_number(in, VIDEO_RATE, i, NAN);
        const double from = floor(middle + late / ta_ref_number(in, TRACED_SLOPE, row, NAN)) + 1;
        return frames > 0 && from > 1 && from <= far * blocks ? from : 0;
    }
    return 0;
}

static void advise_traced(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    size_t worst = SIZE_MAX;
    for (size_t i = 0; i < ta_ref_rows(in, TRACED_SLOPE); i++)
        if (traced_share(in, i) > ta_ctx_option(ctx, SHARE) &&
            (worst == SIZE_MAX || traced_added(in, i) > traced_added(in, worst)))
            worst = i;
    if (worst == SIZE_MAX)
        return;
    const struct ta_place slope = ta_place_at(in, TRACED_SLOPE, worst);
    const double added = traced_added(in, worst), share = traced_share(in, worst);
    const double part = ta_ref_number(in, TRACED_ATTENTION, worst, NAN) / slope.value;
    const double from = slow_from(in, worst);
    const double blocks = ta_ref_number(in, TRACED_BLOCKS, worst, 0) + 1;
    const struct ta_evidence evidence[] = {ta_place_evidence(&slope),
                                           ta_ref_evidence(in, TRACED_ATTENTION, worst)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "context-growth",
            .rule = "context_growth",
            .title = ta_advice_printf(
                advice, "Blocks slow down%s: each takes %s longer than the one before%s%s",
                part > 0.5 ? " as the cache grows" : "",
                ta_advice_number(advice, slope.value, TA_UNIT_NS),
                from > 0 ? ta_advice_printf(advice,
                                            "; from block %.0f on they are slower than real time%s",
                                            from, from > blocks ? ", by the trend" : "")
                         : "",
                ta_place_owner(advice, in->report, &slope)),
            .why = ta_advice_printf(
                advice, "The growth adds %s, %s of the denoiser's kernel time%s.",
                ta_advice_number(advice, added, TA_UNIT_NS),
                ta_advice_number(advice, share, TA_UNIT_RATIO),
                part > 0.5 ? ": attention to more and more cached keys and values" : ""),
            .advice = CURE,
            .severity = share > ta_ctx_option(ctx, HIGH) ? TA_MEDIUM : TA_LOW,
            .evidence = evidence,
            .n_evidence = isnan(part) ? 1 : 2,
            .saving_low_ns = ta_whole(added / 5),
            .saving_high_ns = ta_whole(added),
            .confidence = 0.4,
            .threshold = ta_advice_printf(advice, "growth > %.3g %% of the time of the blocks",
                                          100 * ta_ctx_option(ctx, SHARE)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    size_t worst = SIZE_MAX;
    for (size_t i = 0; i < ta_ref_rows(in, ADDED); i++)
        if (share_of(in, i) > ta_ctx_option(ctx, SHARE) &&
            (worst == SIZE_MAX ||
             ta_ref_number(in, ADDED, i, 0) > ta_ref_number(in, ADDED, worst, 0)))
            worst = i;
    if (worst == SIZE_MAX) {
        advise_traced(ctx, in, advice);
        return TA_OK;
    }
    const struct ta_place slope = ta_place_at(in, SLOPE, worst);
    const struct ta_place added = ta_place_at(in, ADDED, worst);
    const struct ta_evidence evidence[] = {ta_place_evidence(&slope), ta_place_evidence(&added)};
    const double share = share_of(in, worst);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "context-growth",
            .rule = "context_growth",
            .title = title(in, advice, &slope),
            .why = ta_advice_printf(
                advice,
                "The growth adds %s, %s of the time of the blocks: attention to more and "
                "more cached keys and values.",
                ta_advice_number(advice, added.value, TA_UNIT_NS),
                ta_advice_number(advice, share, TA_UNIT_RATIO)),
            .advice = CURE,
            .severity = share > ta_ctx_option(ctx, HIGH) ? TA_MEDIUM : TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            /* A window of half of the blocks takes a little less than a quarter of it away. */
            .saving_low_ns = ta_whole(added.value / 5),
            .saving_high_ns = ta_whole(added.value),
            .confidence = 0.4,
            .threshold = ta_advice_printf(advice, "growth > %.3g %% of the time of the blocks",
                                          100 * ta_ctx_option(ctx, SHARE)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, context_growth, &ops, .title = "Block time growth with context",
          .summary = "Fires when blocks take longer the more blocks there are before them",
          .version = "1", .options = options);
