/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generation slower than its video plays: frames and blocks over the time of the blocks. */
#include <traceanalyze/rule.h>

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

enum { METRIC, BASIS, VALUE };

static const struct ta_ref reads[] = {
    [METRIC] = {"throughput.values", "metric"},
    [BASIS] = {"throughput.values", "basis"},
    [VALUE] = {"throughput.values", "value"},
};

static const struct ta_look frames = {
    .cells = VALUE, .where = {{METRIC, "fps"}, {BASIS, "blocks"}}, .lowest = true};

static const struct ta_cell_rule blocks = {
    .look = {.cells = VALUE, .where = {{METRIC, "bps"}, {BASIS, "blocks"}}, .lowest = true},
    .finding = "block-rate",
    .rule = "frame_rate",
    .before = "The blocks come at only ",
    .after = " over their own time",
    .advice = "New input shows with the next block only. Shorten the block (fewer "
              "frames or steps) or the step itself; the longest block beside the median in "
              "Diffusion by rank tells whether single blocks stand out.",
    .predicate = "blocks over the time of the blocks",
    .severity = TA_LOW,
    .confidence = 0.6,
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, FPS), goal = ta_ctx_option(ctx, GOAL);
    struct ta_place rate;
    if (ta_look_worst(in, &frames, &rate) && rate.value < threshold && rate.value > 0) {
        const struct ta_evidence evidence = ta_place_evidence(&rate);
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
                .advice =
                    "In this order: fewer denoising steps per block or a distilled model; the "
                    "time of a step (fused attention, torch.compile, 8-bit weights); several "
                    "GPUs; a lower resolution. The decoder and everything outside the blocks "
                    "come on top: compare FPS of the session under Throughput and latency.",
                .severity = rate.value < ta_ctx_option(ctx, HIGH) ? TA_HIGH : TA_MEDIUM,
                .evidence = &evidence,
                .n_evidence = 1,
                .saving_low_ns = TA_MISSING,
                .saving_high_ns = TA_MISSING,
                .confidence = 0.9,
                .threshold = ta_advice_printf(
                    advice, "frames over the time of the blocks < %.4g per second", threshold),
            });
    }
    ta_advise_cell(in, advice, &blocks, ta_ctx_option(ctx, BPS), ta_ctx_option(ctx, BPS_HIGH));
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, frame_rate, &ops, .title = "Slow generation",
          .summary = "Fires when blocks yield few frames per second, or few blocks are ready",
          .version = "1", .options = options);
