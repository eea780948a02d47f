/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A text encoder that the loader put on the CPU. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { LEAST };

static const struct ta_option options[] = {
    [LEAST] = {"least", TA_OPTION_INTEGER, 1e9, 0, 1e15, TA_OPTION_NS,
               "Time of prompts outside their loops below which the rule keeps silent"},
    TA_OPTIONS_END,
};

enum { WHERE, MODEL, LOOP, LOOP_TOTAL, BAR_ELAPSED };

static const struct ta_ref reads[] = {
    [WHERE] = {"models.loads", "where"},
    [MODEL] = {"models.loads", "model"},
    [LOOP] = {"iterations.by_name", "loop"},
    [LOOP_TOTAL] = {"iterations.by_name", "total_ns"},
    [BAR_ELAPSED] = {"progress.bars", "elapsed_ns"},
};

static const struct ta_look prompts = {.cells = LOOP_TOTAL, .where = {{LOOP, "prompt"}}};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const char *const encoders[] = {"text encoder", "text_encoder", NULL};
    size_t row = 0;
    while (row < ta_ref_rows(in, WHERE) &&
           !(ta_slice_has_any(ta_ref_text(in, MODEL, row), encoders) &&
             ta_ref_reads(in, WHERE, row, "cpu")))
        row++;
    if (row == ta_ref_rows(in, WHERE))
        return TA_OK;
    /* The encoder runs in a prompt and outside its loops. */
    const double all = ta_look_sum(in, &prompts, TA_MISSING);
    const double outside = all - ta_ref_sum(in, BAR_ELAPSED);
    const double least = ta_ctx_option(ctx, LEAST);
    if (all > 0 && outside < least)
        return TA_OK;
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, WHERE, row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "text-encoder-cpu",
            .rule = "text_encoder_cpu",
            .title = all > 0 ? ta_advice_printf(
                                   advice,
                                   "The text encoder runs on the CPU, in the %s that prompts take "
                                   "outside their loops (%s of the prompts' time)",
                                   ta_advice_number(advice, outside, TA_UNIT_NS),
                                   ta_advice_number(advice, outside / all, TA_UNIT_RATIO))
                             : "The text encoder runs on the CPU",
            .why = "The log says that the text encoder is loaded on the CPU; encoding a prompt "
                   "takes a CPU seconds to "
                   "minutes, a GPU well below a second.",
            .advice = "Run the text encoder on the GPU before the diffusion model is loaded, and "
                      "keep the "
                      "embedding of a prompt that is used again.",
            .details = "Where the encoder does not fit, take a smaller or an 8-bit encoder.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 1,
            .saving_low_ns = all > 0 ? 0 : TA_MISSING,
            .saving_high_ns = all > 0 ? ta_whole(outside) : TA_MISSING,
            .steps_ns = TA_OUTSIDE_LOOP,
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice,
                                          "text encoder on the CPU, and prompts outside their "
                                          "loops >= %s",
                                          ta_advice_number(advice, least, TA_UNIT_NS)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, text_encoder_cpu, &ops, .title = "Text encoder on the CPU",
          .summary = "Fires when a log says that the text encoder is loaded on the CPU",
          .version = "1", .options = options);
