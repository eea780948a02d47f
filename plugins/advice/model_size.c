/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Large models, whose weights fill the memory and take time to read. */
#include <traceanalyze/rule.h>

enum { PARAMETERS };

static const struct ta_option options[] = {
    [PARAMETERS] = {"parameters", TA_OPTION_NUMBER, 1e9, 0, 1e15, TA_OPTION_PLAIN,
                    "Parameters of a model above which the rule fires"},
    TA_OPTIONS_END,
};

enum { MODEL, TYPE, SIZE };

static const struct ta_ref reads[] = {
    [MODEL] = {"models.parameters", "model"},
    [TYPE] = {"models.parameters", "type"},
    [SIZE] = {"models.parameters", "parameters"},
};

static const struct ta_look look = {.cells = SIZE};

/* An encoder of prompts runs once, the model that denoises at every step. */
static const char *what_to_do(const struct ta_refs *in, const struct ta_place *model)
{
    const struct ta_slice type = ta_ref_text(in, TYPE, model->row);
    if (memmem(type.ptr, type.len, "encoder", strlen("encoder")))
        return "A text encoder runs once per prompt: where memory is short, quantize it to 8 bit "
               "or "
               "move it away after use.";
    return "Where memory is short, quantize the weights to 8 bit (fp8 or int8) and compare "
           "quality.";
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, PARAMETERS);
    struct ta_place model;
    if (!ta_look_worst(in, &look, &model) || model.value <= threshold)
        return TA_OK;
    const struct ta_evidence evidence = ta_place_evidence(&model);
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "model-size",
                  .rule = "model_size",
                  .title = ta_advice_printf(
                      advice,
                      "The largest model, %s, has %.2f billion parameters: %s of weights "
                      "in 16 bit, %s in 8 bit",
                      ta_place_text(advice, in, &model, MODEL), model.value / 1e9,
                      ta_advice_number(advice, 2 * model.value, TA_UNIT_BYTES),
                      ta_advice_number(advice, model.value, TA_UNIT_BYTES)),
                  .advice = what_to_do(in, &model),
                  .severity = TA_INFO,
                  .evidence = &evidence,
                  .n_evidence = 1,
                  .saving_low_ns = TA_MISSING,
                  .saving_high_ns = TA_MISSING,
                  .confidence = 0.4,
                  .threshold = ta_advice_printf(advice, "parameters of a model > %s",
                                                ta_advice_number(advice, threshold, TA_UNIT_COUNT)),
              });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, model_size, &ops, .title = "Large model",
          .summary = "Fires when a model has many parameters", .version = "1", .options = options);
