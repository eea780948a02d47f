/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A first block that comes late, measured in later blocks. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

enum { FACTOR, HIGH };

static const struct ta_option options[] = {
    [FACTOR] = {"factor", TA_OPTION_NUMBER, 3, 1, 1e6, TA_OPTION_PLAIN,
                "Medians of a block until the first one is ready, above which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 9, 1, 1e6, TA_OPTION_PLAIN,
              "Medians of a block above which it is one severity higher"},
    TA_OPTIONS_END,
};

enum { METRIC, BASIS, VALUE, BLOCKS, BLOCK_TIME };

static const struct ta_ref reads[] = {
    [METRIC] = {"throughput.values", "metric"},
    [BASIS] = {"throughput.values", "basis"},
    [VALUE] = {"throughput.values", "value"},
    [BLOCKS] = {"diffusion.by_rank", "blocks"},
    [BLOCK_TIME] = {"diffusion.by_rank", "block_p50_ns"},
};

/* Until the first block is ready, and what a block of the same rank takes. */
static const struct ta_look delays = {.cells = VALUE,
                                      .where = {{METRIC, "first_block_ns"}, {BASIS, "wall"}}};
static const struct ta_look medians = {.cells = BLOCK_TIME};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double factor = ta_ctx_option(ctx, FACTOR);
    struct ta_place delay, block;
    if (!ta_look_worst(in, &delays, &delay) || !ta_look_same(in, &medians, &delay, &block) ||
        !(block.value > 0) || ta_ref_number(in, BLOCKS, block.row, 0) < 2 ||
        delay.value <= factor * block.value)
        return TA_OK;
    const struct ta_evidence evidence[] = {ta_place_evidence(&delay), ta_place_evidence(&block)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "first-block",
            .rule = "first_block",
            .title = ta_advice_printf(
                advice, "The first block is ready after %s; later ones take %s each%s",
                ta_advice_number(advice, delay.value, TA_UNIT_NS),
                ta_advice_number(advice, block.value, TA_UNIT_NS),
                ta_place_owner(advice, in->report, &delay)),
            .why = "Until then models are loaded, code is compiled and the prompt is encoded.",
            .advice = "Load the models and run one block of the same shape before the session "
                      "begins, and encode the prompt ahead.",
            .details = "A small first block is ready earlier.",
            .severity = delay.value > ta_ctx_option(ctx, HIGH) * block.value ? TA_MEDIUM : TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = ta_whole(delay.value - factor * block.value),
            .saving_high_ns = ta_whole(delay.value - block.value),
            .confidence = 0.4,
            .threshold = ta_advice_printf(
                advice, "start of the session to the first block > %.3g medians of a block",
                factor),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, first_block, &ops, .title = "Late first block",
          .summary = "Fires when the first block is ready much later than the others take",
          .version = "1", .options = options);
