/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames that were generated and then dropped on their way. */
#include <traceanalyze/rule.h>

enum { SHARE, HIGH };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
               "Share of dropped frames above which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.15, 0, 1, TA_OPTION_RATIO,
              "Share of dropped frames above which it is one severity higher"},
    TA_OPTIONS_END,
};

enum { DROPPED };

static const struct ta_ref reads[] = {
    [DROPPED] = {"streaming.by_rank", "drop_ratio"},
};

static const struct ta_cell_rule rule = {
    .look = {.cells = DROPPED},
    .finding = "frame-drops",
    .rule = "frame_drops",
    .before = "",
    .after = " of the streamed frames are dropped",
    .advice = "Compare the means of encoding and network under Streaming with the time "
              "between frames: a cheaper encoder setting (hardware encoder, faster preset) helps "
              "the one, a lower bit rate or resolution the other; a short queue before the "
              "encoder takes up bursts of a whole block.",
    .predicate = "dropped over sent and dropped frames",
    .severity = TA_MEDIUM,
    .confidence = 0.8,
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    ta_advise_cell(in, advice, &rule, ta_ctx_option(ctx, SHARE), ta_ctx_option(ctx, HIGH));
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, frame_drops, &ops, .title = "Dropped frames",
          .summary = "Fires when frames are dropped while streaming", .version = "1",
          .options = options);
