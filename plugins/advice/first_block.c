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

enum { METRIC, BASIS, VALUE, BLOCKS, BLOCK_TIME, PART, PART_STAGE, PART_TIME };

static const struct ta_ref reads[] = {
    [METRIC] = {"throughput.values", "metric"},
    [BASIS] = {"throughput.values", "basis"},
    [VALUE] = {"throughput.values", "value"},
    [BLOCKS] = {"diffusion.by_rank", "blocks"},
    [BLOCK_TIME] = {"diffusion.by_rank", "block_p50_ns"},
    [PART] = {"playback.first_frames", "part"},
    [PART_STAGE] = {"playback.first_frames", "stage"},
    [PART_TIME] = {"playback.first_frames", "time_ns"},
};

/* Until the first block is ready, and what a block of the same rank takes. */
static const struct ta_look delays = {.cells = VALUE,
                                      .where = {{METRIC, "first_block_ns"}, {BASIS, "wall"}}};
static const struct ta_look medians = {.cells = BLOCK_TIME};

/* "Before the first block: load 150 ms, text encoding 70.0 ms."; what usually happens where no
 * stage says it. */
static const char *before_it(const struct ta_refs *in, struct ta_advice *advice)
{
    const char *text = NULL;
    for (size_t i = 0; i < ta_ref_rows(in, PART); i++) {
        const struct ta_slice part = ta_ref_text(in, PART, i);
        if (ta_slice_equal(part, TA_LIT("denoising")) ||
            ta_slice_equal(part, TA_LIT("VAE decoding")))
            continue;
        const struct ta_slice stage = ta_ref_text(in, PART_STAGE, i);
        const struct ta_slice name = stage.len ? stage : part;
        text = ta_advice_printf(
            advice, "%s%s %.*s %s", text ? text : "Before the first block:", text ? "," : "",
            (int)name.len, name.ptr,
            ta_advice_number(advice, ta_ref_number(in, PART_TIME, i, 0), TA_UNIT_NS));
    }
    return text ? ta_advice_printf(advice, "%s.", text)
                : "Until then models are loaded, code is compiled and the prompt is encoded.";
}

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
            .why = before_it(in, advice),
            .advice = "Load the models and run one block of the same shape before the session "
                      "begins, and encode the prompt ahead.",
            .details = "A small first block is ready earlier.",
            .severity = delay.value > ta_ctx_option(ctx, HIGH) * block.value ? TA_MEDIUM : TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = ta_whole(delay.value - factor * block.value),
            .saving_high_ns = ta_whole(delay.value - block.value),
            .steps_ns = TA_OUTSIDE_LOOP,
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
