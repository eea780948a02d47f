/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Large blocks: nothing of a block can be shown before all of it is done. */
#include <traceanalyze/rule.h>

enum { FRAMES, HIGH };

static const struct ta_option options[] = {
    [FRAMES] = {"frames", TA_OPTION_NUMBER, 8, 1, 1e6, TA_OPTION_PLAIN,
                "Mean frames of a block above which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 16, 1, 1e6, TA_OPTION_PLAIN,
              "Mean frames of a block above which it is one severity higher"},
    TA_OPTIONS_END,
};

enum { BLOCK_FRAMES };

static const struct ta_ref reads[] = {
    [BLOCK_FRAMES] = {"diffusion.by_rank", "frames_per_block"},
};

static const struct ta_cell_rule rule = {
    .look = {.cells = BLOCK_FRAMES},
    .finding = "block-size",
    .rule = "block_size",
    .before = "A block holds ",
    .after = " frames on average",
    .advice = "Smaller blocks, such as 3 to 4 frames, show the first frames sooner and answer "
              "input faster; each block then costs its fixed part more often, so compare frames "
              "per second before and after.",
    .predicate = "mean frames of a block",
    .severity = TA_LOW,
    .confidence = 0.6,
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    ta_advise_cell(in, advice, &rule, ta_ctx_option(ctx, FRAMES), ta_ctx_option(ctx, HIGH));
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, block_size, &ops, .title = "Large blocks",
          .summary = "Fires when blocks hold many frames", .version = "1", .options = options);
