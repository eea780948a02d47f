/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A stage or layer that takes a large part of the time, and what speeding it up would give. */
#include "stage.h"

enum { STAGE, LAYER, HIGH, EVEN, LEAD };

static const struct ta_option options[] = {
    [STAGE] = {"stage", TA_OPTION_NUMBER, 0.3, 0, 1, TA_OPTION_RATIO,
               "Share of a stage above which the rule fires"},
    [LAYER] = {"layer", TA_OPTION_NUMBER, 0.3, 0, 1, TA_OPTION_RATIO,
               "Share of a layer above which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.5, 0, 1, TA_OPTION_RATIO,
              "Share above which it is one severity higher"},
    [EVEN] = {"even", TA_OPTION_NUMBER, 1.5, 1, 1e6, TA_OPTION_PLAIN,
              "Times an even part that a share of a sum must be to tell anything"},
    [LEAD] = {"lead", TA_OPTION_NUMBER, 1.4, 1, 1e6, TA_OPTION_PLAIN,
              "Or times the next layer that a layer must be"},
    TA_OPTIONS_END,
};

#define MODEL                                                                                      \
    "This is the model at work: fewer steps or a distilled model, a step cache, fused attention, " \
    "torch.compile or CUDA graphs, 8-bit weights, several GPUs. A torch trace of two steps tells " \
    "which of them fits."

/* What usually helps, by a word in the name; the first that fits, "" fits all. */
static const struct {
    const char *word, *advice;
} known[] = {
    {"vae", "Decode in 16 bit and in larger chunks as memory allows, compile the decoder, run it "
            "on another stream or GPU while the next block is denoised, or use a smaller one."},
    {"load", "Load once and keep the process alive; safetensors with mapped files, and weights "
             "stored in the type that is used."},
    {"save", "Write the video in another thread or process, with a faster encoder preset."},
    {"attention", "Use a fused attention kernel (FlashAttention, SDPA), a shorter context or "
                  "window, or reuse attention across steps."},
    {"compil", "Keep the compiled code between runs (caches of torch.compile and autotuning)."},
    {"diffusion", MODEL},
    {"denois", MODEL},
    {"transformer", MODEL},
    {"sampling", MODEL},
    {"model_runner", MODEL},
    {"model_forward", MODEL},
    {"prefill", "Keep the keys and values of prompts that begin alike, read long prompts in chunks "
                "beside decoding, and use a fused attention kernel."},
    {"sampler", "Sample on the device for all sequences at once, without a copy to the host in "
                "between."},
    {"schedul", "Decide about the next step while the device is at this one, and keep what a step "
                "needs from the last."},
    {"batch", "A batch is a whole generation: time its stages, or record a torch trace of one, to "
              "see what is the model, the sampler and the scheduler. Fewer denoising steps per "
              "token help the first, larger batches all of them while memory lasts."},
    {"", "Look into it first: a torch trace of this part alone shows its operators and kernels, "
         "and whether the device waits for the host."},
};

static const char *what_to_do(const char *name)
{
    size_t i = 0;
    while (known[i].word[0] && !strcasestr(name, known[i].word))
        i++;
    return known[i].advice;
}

/* Whether the stage was made of other records. */
static bool is_derived(const struct ta_place *share)
{
    return ta_row_reads(share->table, share->row, "source", "blocks") ||
           ta_row_reads(share->table, share->row, "source", "steps");
}

struct limits {
    double share, high, even, lead;
};

/* A share of the sum of n parts tells something only beyond an even part. */
static bool is_telling(double share, const struct limits *limits, size_t n, bool of_sum)
{
    return n > 1 && share > limits->share && (!of_sum || share * (double)n > limits->even);
}

/* "the session", or "the sessions" where a rank has several. */
static const char *sessions_of(const struct ta_report *report)
{
    const struct ta_table *sessions = ta_report_table(report, "run.sessions");
    for (size_t i = 1; sessions && i < sessions->n_rows; i++)
        if (ta_row_integer(sessions, i, "rank") == ta_row_integer(sessions, i - 1, "rank"))
            return "the sessions";
    return "the session";
}

/* What the share of a stage is of. */
static const char *whole_of(const struct ta_report *report, const struct ta_place *share)
{
    return ta_row_reads(share->table, share->row, "share_of", "session") ? sessions_of(report)
           : ta_row_reads(share->table, share->row, "share_of", "sum")   ? "the time in all stages"
                                                                         : "the time";
}

/* The layer of the same rank with the next largest share; no table without one. */
static struct ta_place next_layer(const struct ta_place *most)
{
    const struct ta_table *layers = most->table;
    struct ta_place next = {.table = NULL};
    for (size_t row = 0; row < layers->n_rows; row++) {
        const double share = ta_row_number(layers, row, "share", 0);
        if (row != most->row && (!next.table || share > next.value) &&
            ta_row_number(layers, row, "rank", -1) == ta_row_number(layers, most->row, "rank", -1))
            next = (struct ta_place){layers, row, most->column, share};
    }
    return next;
}

/* ", ffn 40.0 %": the next layer, where it takes much as well. */
static const char *say_next(struct ta_advice *advice, const struct ta_place *most, double least)
{
    const struct ta_place next = next_layer(most);
    return next.table && next.value > least
               ? ta_advice_printf(advice, ", %s %s", ta_old_place_text(advice, &next, "layer"),
                                  ta_advice_number(advice, next.value, TA_UNIT_RATIO))
               : "";
}

static void give(const struct ta_report *report, struct ta_advice *advice, const char *kind,
                 const struct ta_place *share, const struct ta_place *total,
                 const struct limits *limits)
{
    const bool is_stage = kind[0] == 's';
    const char *name = ta_old_place_text(advice, share, kind);
    if (is_derived(share))
        name = "Denoising"; /* a word, not the name of something recorded */
    const struct ta_evidence evidence[] = {ta_place_evidence(share), ta_place_evidence(total)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = is_stage ? "stage-share" : "layer-share",
            .rule = "stage_share",
            .title = ta_advice_printf(advice, "%s takes %s of %s (%s)%s%s", name,
                                      ta_advice_number(advice, share->value, TA_UNIT_RATIO),
                                      is_stage ? whole_of(report, share) : "the time in the layers",
                                      ta_advice_number(advice, total->value, TA_UNIT_NS),
                                      is_stage ? "" : say_next(advice, share, limits->share),
                                      ta_place_owner(advice, report, share)),
            .advice = what_to_do(name),
            .severity = share->value > limits->high ? TA_MEDIUM : TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            /* Amdahl: what it saves to be a tenth faster, and twice as fast. */
            .saving_low_ns = ta_whole(total->value * (1 - 1 / 1.1)),
            .saving_high_ns = ta_whole(total->value / 2),
            .confidence = 0.4,
            .threshold = ta_advice_printf(advice, "share of a %s > %s", kind,
                                          ta_advice_number(advice, limits->share, TA_UNIT_RATIO)),
        });
}

/* The scope of the classes of device activity that a profiler sums up: no stages of the program,
 * and the rules on device time know more of them. */
#define DEVICE "device"

/* The longest of the stages. */
static double longest_total(const struct ta_report *report)
{
    static const struct ta_old_look look = {.table = "stages.over_ranks",
                                            .column = "mean_total_ns"};
    struct ta_place longest;
    return ta_old_look_worst(report, &look, &longest) ? longest.value : 0;
}

/* Whether the row is one stage in several parts, such as batches: those are the run itself. */
static bool is_in_parts(const struct ta_table *stages, size_t row)
{
    return ta_row_number(stages, row, "members", 1) > 1;
}

/* A part of an enclosing stage says nothing about the whole, nor does a large part of a scope that
 * is short itself.  Stages that are one in several parts are looked at when no other fires. */
static bool advise_stages(const struct ta_report *report, struct ta_advice *advice,
                          const struct limits *limits, bool parts)
{
    const struct ta_table *stages = ta_report_table(report, "stages.over_ranks");
    const size_t column = stages ? ta_table_column(stages, "share") : SIZE_MAX;
    struct ta_place most = {0};
    const double least = limits->share * longest_total(report);
    size_t n = 0;
    bool of_sum = false;
    for (size_t row = 0; column != SIZE_MAX && row < stages->n_rows; row++) {
        const struct ta_cell *share = ta_table_cell(stages, row, column);
        if (share->kind == TA_CELL_NULL || ta_row_reads(stages, row, "share_of", "parent") ||
            ta_row_reads(stages, row, "source", DEVICE))
            continue;
        n++;
        of_sum |= ta_row_reads(stages, row, "share_of", "sum");
        const struct ta_place here = {stages, row, column, ta_cell_number(share, 0)};
        const struct ta_place total = ta_old_beside(&here, "mean_total_ns");
        const bool of_whole = ta_row_reads(stages, row, "share_of", "outer scope");
        if (is_text_encoding(ta_row_text(stages, row, "stage")))
            continue; /* has a rule of its own */
        if (total.table && (of_whole || total.value >= least) &&
            is_in_parts(stages, row) == parts && (!most.table || here.value > most.value))
            most = here;
    }
    if (!most.table || !is_telling(most.value, limits, n, of_sum))
        return false;
    const struct ta_place total = ta_old_beside(&most, "mean_total_ns");
    if (total.table)
        give(report, advice, "stage", &most, &total, limits);
    return total.table;
}

static void advise_layers(const struct ta_report *report, struct ta_advice *advice,
                          const struct limits *limits)
{
    static const struct ta_old_look look = {.table = "layers.by_name", .column = "share"};
    struct ta_place most;
    if (!ta_old_look_worst(report, &look, &most))
        return;
    const size_t rank = ta_table_column(most.table, "rank");
    size_t n = 0;
    for (size_t row = 0; rank != SIZE_MAX && row < most.table->n_rows; row++)
        n +=
            ta_table_cell(most.table, row, rank)->i == ta_table_cell(most.table, most.row, rank)->i;
    const struct ta_place total = ta_old_beside(&most, "total_ns");
    const struct ta_place next = next_layer(&most);
    const bool leads =
        next.table && most.value > limits->share && most.value >= limits->lead * next.value;
    if (total.table && (leads || is_telling(most.value, limits, n, true)))
        give(report, advice, "layer", &most, &total, limits);
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    struct limits limits = {ta_ctx_option(ctx, STAGE), ta_ctx_option(ctx, HIGH),
                            ta_ctx_option(ctx, EVEN), ta_ctx_option(ctx, LEAD)};
    if (!advise_stages(in->report, advice, &limits, false))
        advise_stages(in->report, advice, &limits, true);
    limits.share = ta_ctx_option(ctx, LAYER);
    advise_layers(in->report, advice, &limits);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, stage_share, &ops, .title = "Dominant stage or layer",
          .summary = "Fires when a stage or a layer takes a large part of the time", .version = "1",
          .options = options);
