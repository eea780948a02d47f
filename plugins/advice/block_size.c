/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Large blocks of a stream: nothing of a block can be shown before all of it is done. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { FRAMES, HIGH };

static const struct ta_option options[] = {
    [FRAMES] = {"frames", TA_OPTION_NUMBER, 8, 1, 1e6, TA_OPTION_PLAIN,
                "Mean frames of a block above which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 16, 1, 1e6, TA_OPTION_PLAIN,
              "Mean frames of a block above which it is one severity higher"},
    TA_OPTIONS_END,
};

enum { BLOCK_FRAMES, BLOCK_TIME, STREAMED, FIXED, PER_FRAME };

static const struct ta_ref reads[] = {
    [BLOCK_FRAMES] = {"diffusion.by_rank", "frames_per_block"},
    [BLOCK_TIME] = {"diffusion.by_rank", "block_mean_ns"},
    [STREAMED] = {"streaming.by_rank", "frames"},
    [FIXED] = {"diffusion.block_law", "fixed_ns"},
    [PER_FRAME] = {"diffusion.block_law", "per_frame_ns"},
};

/* What a small block would take and yield, where blocks of several sizes say it; NULL else. */
static const char *smaller_block(const struct ta_refs *in, struct ta_advice *advice,
                                 const struct ta_place *frames)
{
    enum { SMALL = 4 };
    for (size_t i = 0; i < ta_ref_rows(in, FIXED); i++) {
        const double fixed = ta_ref_number(in, FIXED, i, NAN);
        const double each = ta_ref_number(in, PER_FRAME, i, NAN);
        if (ta_ref_rank(in, FIXED, i) != ta_ref_rank(in, BLOCK_FRAMES, frames->row) ||
            !(fixed + each > 0))
            continue;
        return ta_advice_printf(advice,
                                "Blocks of other sizes suggest that a block of %d frames takes %s: "
                                "%.3g instead of %.3g frames/s.",
                                SMALL, ta_advice_number(advice, fixed + SMALL * each, TA_UNIT_NS),
                                SMALL * 1e9 / (fixed + SMALL * each),
                                frames->value * 1e9 / (fixed + frames->value * each));
    }
    return NULL;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look look = {.cells = BLOCK_FRAMES};
    const double least = ta_ctx_option(ctx, FRAMES);
    struct ta_place frames;
    if (ta_ref_rows(in, STREAMED) == 0 || !ta_look_worst(in, &look, &frames) ||
        frames.value <= least)
        return TA_OK;
    const struct ta_evidence evidence = ta_place_evidence(&frames);
    const struct ta_place time = ta_place_beside(in, &frames, BLOCK_TIME);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "block-size",
            .rule = "block_size",
            .title = ta_advice_printf(
                advice, "No frame of a streamed block is shown before all %.3g are done%s%s",
                frames.value,
                time.table ? ta_advice_printf(advice, ", which takes %s",
                                              ta_advice_number(advice, time.value, TA_UNIT_NS))
                           : "",
                ta_place_owner(advice, in->report, &frames)),
            .why = smaller_block(in, advice, &frames),
            .advice = "Make blocks of 3 to 4 frames, and compare frames per second: each block "
                      "also has a fixed cost.",
            .severity = frames.value > ta_ctx_option(ctx, HIGH) ? TA_MEDIUM : TA_LOW,
            .evidence = &evidence,
            .n_evidence = 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "mean frames of a block > %.0f", least),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, block_size, &ops, .title = "Large blocks",
          .summary = "Fires when blocks hold many frames", .version = "1", .options = options);
