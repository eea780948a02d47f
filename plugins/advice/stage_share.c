/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A stage or layer that takes a large part of the time, and what is done about it. */
#include "lib/sessions.h"
#include "recommend/rule.h"
#include "stage.h"

enum { STAGE, LAYER, HIGH, EVEN, LEAD, DECODER };

static const struct ta_option options[] = {
    [STAGE] = {"stage", TA_OPTION_NUMBER, 0.3, 0, 1, TA_OPTION_RATIO,
               "Share of a stage above which the rule fires"},
    [LAYER] = {"layer", TA_OPTION_NUMBER, 0.3, 0, 1, TA_OPTION_RATIO,
               "Share of a layer above which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.5, 0, 1, TA_OPTION_RATIO,
              "Share above which it is one severity higher"},
    [EVEN] = {"even", TA_OPTION_NUMBER, 1.5, 1, 1e6, TA_OPTION_PLAIN,
              "How many times an even share a share of a sum must be for the rule to fire"},
    [LEAD] = {"lead", TA_OPTION_NUMBER, 1.4, 1, 1e6, TA_OPTION_PLAIN,
              "Or how many times the next layer a layer must be"},
    [DECODER] = {"decoder", TA_OPTION_NUMBER, 0.25, 0, 1, TA_OPTION_RATIO,
                 "Share of VAE decoding above which the rule fires, whatever takes more"},
    TA_OPTIONS_END,
};

enum {
    STAGE_NAME,
    SOURCE,
    SHARE_OF,
    MEMBERS,
    STAGE_SHARE,
    STAGE_TIME,
    LAYER_RANK,
    LAYER_NAME,
    LAYER_SHARE,
    LAYER_TIME,
    SESSION_RANK,
    SESSION_KIND,
    STEP_TIME,
    PHASE,
    PHASE_SHARE,
    PHASE_TIME,
    PHASE_BUSY,
    DECODE
};

static const struct ta_ref reads[] = {
    [STAGE_NAME] = {"stages.over_ranks", "stage"},
    [SOURCE] = {"stages.over_ranks", "source"},
    [SHARE_OF] = {"stages.over_ranks", "share_of"},
    [MEMBERS] = {"stages.over_ranks", "members"},
    [STAGE_SHARE] = {"stages.over_ranks", "share"},
    [STAGE_TIME] = {"stages.over_ranks", "mean_total_ns"},
    [LAYER_RANK] = {"layers.by_name", "rank"},
    [LAYER_NAME] = {"layers.by_name", "layer"},
    [LAYER_SHARE] = {"layers.by_name", "share"},
    [LAYER_TIME] = {"layers.by_name", "total_ns"},
    [SESSION_RANK] = {"run.sessions", "rank"},
    [SESSION_KIND] = {"run.sessions", "kind"},
    [STEP_TIME] = {"diffusion.by_rank", "step_mean_ns"},
    [PHASE] = {"phases.by_rank", "phase"},
    [PHASE_SHARE] = {"phases.by_rank", "share"},
    [PHASE_TIME] = {"phases.by_rank", "time_ns"},
    [PHASE_BUSY] = {"phases.by_rank", "gpu_busy_ns"},
    [DECODE] = {"kernels.vae_decode", "window_ns"},
};

/* The model at work is what the run is for: its share alone is no fault. */
#define MODEL                                                                                      \
    "Record two steps with torch.profiler, which shows whether kernels, launches or copies bound " \
    "the model."

/* What usually helps, by a word in the name; the first that fits, "" fits all.  Where it is known
 * what that saves: of the stage at least, and at most. */
static const struct to_do {
    const char *word, *advice;
    double low, high;
    bool is_outside; /* of the loop: no block is made sooner */
} known[] = {
    {"vae",
     "Run the VAE decoder in 16 bit and in larger chunks as memory allows, and compile it or run "
     "it on another stream or GPU while the next image or block is denoised.",
     0.25, 0.75, false},
    {"offload",
     "Keep the model on the GPU if it fits, or move it from pinned memory on a side "
     "stream while something else runs.",
     0.4, 1, false},
    {"load",
     "Load once and keep the process alive; store the weights as safetensors, in the type "
     "that is used.",
     0.4, 1, true},
    {"save", "Write the video in another thread or process, with a faster encoder preset.", 0.4, 1,
     true},
    {"attention",
     "Use a fused attention kernel (FlashAttention, SDPA), a shorter context or "
     "window, or reuse attention across steps.",
     0, 0, false},
    {"compil", "Keep the compiled code between runs (caches of torch.compile and autotuning).", 0.4,
     1, true},
    {"diffusion", MODEL, 0, 0, false},
    {"denois", MODEL, 0, 0, false},
    {"transformer", MODEL, 0, 0, false},
    {"sampling", MODEL, 0, 0, false},
    {"model_runner", MODEL, 0, 0, false},
    {"model_forward", MODEL, 0, 0, false},
    {"diffuse", MODEL, 0, 0, false},
    {"prefill",
     "Reuse the KV cache of common prompt prefixes (prefix caching), and split long prompts "
     "(chunked prefill).",
     0, 0, false},
    {"sampler",
     "Sample on the device for all sequences at once, without a copy to the host in "
     "between.",
     0, 0, false},
    {"schedul",
     "Schedule the next step while the GPU runs this one (asynchronous scheduling), and reuse what "
     "does not change between steps.",
     0, 0, false},
    {"batch",
     "Time the stages of a batch, or record a torch trace of one: it is a whole generation, "
     "with model, sampler and scheduler.",
     0, 0, false},
    {"warm", "Warm up once per process, and leave it out of what is timed.", 0.4, 1, true},
    {"",
     "Record a torch trace of this part: it shows its operators and kernels, and whether the "
     "GPU waits for the host.",
     0, 0, false},
};

static const struct to_do *what_to_do(const char *name)
{
    size_t i = 0;
    while (known[i].word[0] && !strcasestr(name, known[i].word))
        i++;
    return &known[i];
}

/* Long steps are a finding of their own, step_time.c's, which says the same of the model. */
#define LONG_STEP_NS 200e6

struct limits {
    double share, high, even, lead, decoder;
};

/* A share of the sum of n parts says something only beyond an even share. */
static bool is_telling(double share, const struct limits *limits, size_t n, bool of_sum)
{
    return n > 1 && share > limits->share && (!of_sum || share * (double)n > limits->even);
}

static bool same_rank(const struct ta_refs *in, size_t layer, size_t other)
{
    return ta_ref_integer(in, LAYER_RANK, layer) == ta_ref_integer(in, LAYER_RANK, other);
}

/* The layer of the same rank with the next largest share; no table without one. */
static struct ta_place next_layer(const struct ta_refs *in, size_t most)
{
    struct ta_place next = {.table = NULL};
    for (size_t row = 0; row < ta_ref_rows(in, LAYER_SHARE); row++) {
        const struct ta_place share = ta_place_at(in, LAYER_SHARE, row);
        if (row != most && share.table && (!next.table || share.value > next.value) &&
            same_rank(in, row, most))
            next = share;
    }
    return next;
}

/* ", ffn 40.0 %": the next layer, where it takes much as well. */
static const char *say_next(const struct ta_refs *in, struct ta_advice *advice, size_t most,
                            double least)
{
    const struct ta_place next = next_layer(in, most);
    return next.table && next.value > least
               ? ta_advice_printf(advice, ", %s %s", ta_place_text(advice, in, &next, LAYER_NAME),
                                  ta_advice_number(advice, next.value, TA_UNIT_RATIO))
               : "";
}

static void give(const struct ta_refs *in, struct ta_advice *advice, const char *id,
                 const struct ta_place *share, const struct ta_place *total,
                 const struct limits *limits)
{
    char words[SESSION_WORDS_MAX];
    const bool is_stage = strcmp(id, "layer-share") != 0;
    const char *name = ta_place_text(advice, in, share, is_stage ? STAGE_NAME : LAYER_NAME);
    /* Made of other records. */
    if (is_stage && (ta_ref_reads(in, SOURCE, share->row, "blocks") ||
                     ta_ref_reads(in, SOURCE, share->row, "steps")))
        name = "Denoising"; /* a word, not the name of something recorded */
    const struct to_do *todo = what_to_do(name);
    const bool is_model = strcmp(todo->advice, MODEL) == 0;
    static const struct ta_look step_times = {.cells = STEP_TIME};
    if (is_stage && is_model && ta_look_most(in, &step_times, TA_MISSING) > LONG_STEP_NS)
        return;
    const struct ta_evidence evidence[] = {ta_place_evidence(share), ta_place_evidence(total)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = id,
            .rule = "stage_share",
            .title =
                ta_advice_printf(advice, "%s takes %s of %s (%s)%s%s", name,
                                 ta_advice_number(advice, share->value, TA_UNIT_RATIO),
                                 is_stage ? ta_share_words(in, SHARE_OF, share->row, SESSION_RANK,
                                                           SESSION_KIND, words)
                                          : "the time in the layers",
                                 ta_advice_number(advice, total->value, TA_UNIT_NS),
                                 is_stage ? "" : say_next(in, advice, share->row, limits->share),
                                 ta_place_owner(advice, in->report, share)),
            .advice = todo->advice,
            .severity = share->value > limits->high && !is_model ? TA_MEDIUM : TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = todo->high > 0 ? ta_whole(todo->low * total->value) : TA_MISSING,
            .saving_high_ns = todo->high > 0 ? ta_whole(todo->high * total->value) : TA_MISSING,
            .steps_ns = todo->is_outside ? TA_OUTSIDE_LOOP : 0,
            .confidence = 0.4,
            .threshold =
                ta_advice_printf(advice, "share of a %s > %s", is_stage ? "stage" : "layer",
                                 ta_advice_number(advice, limits->share, TA_UNIT_RATIO)),
        });
}

/* The scope of the classes of device activity that a profiler sums up: no stages of the program,
 * and the rules on device time know more of them. */
#define DEVICE "device"

/* A part of an enclosing stage says nothing about the whole, nor does a large part of a scope that
 * is short itself.  Stages that are one in several parts are looked at when no other fires. */
static const char *const decoding[] = {"vae_dec", "vae dec", "vae-dec", "vaedec", NULL};

static size_t advise_stages(const struct ta_refs *in, struct ta_advice *advice,
                            const struct limits *limits, bool parts)
{
    static const struct ta_look totals = {.cells = STAGE_TIME};
    struct ta_place most = {0};
    const double least = limits->share * ta_look_most(in, &totals, TA_MISSING);
    size_t n = 0;
    bool of_sum = false;
    for (size_t row = 0; row < ta_ref_rows(in, STAGE_SHARE); row++) {
        const struct ta_place here = ta_place_at(in, STAGE_SHARE, row);
        if (!here.table || ta_ref_reads(in, SHARE_OF, row, "parent") ||
            ta_ref_reads(in, SOURCE, row, DEVICE))
            continue;
        n++;
        of_sum |= ta_ref_reads(in, SHARE_OF, row, "sum");
        const struct ta_place total = ta_place_at(in, STAGE_TIME, row);
        /* One stage in several parts, such as batches: those are the run itself. */
        const bool in_parts = ta_ref_number(in, MEMBERS, row, 1) > 1;
        const bool of_whole = ta_ref_reads(in, SHARE_OF, row, "outer scope");
        if (is_text_encoding(ta_ref_text(in, STAGE_NAME, row)))
            continue; /* has a rule of its own */
        if (total.table && (of_whole || total.value >= least) && in_parts == parts &&
            (!most.table || here.value > most.value))
            most = here;
    }
    if (!most.table || !is_telling(most.value, limits, n, of_sum))
        return SIZE_MAX;
    const struct ta_place total = ta_place_at(in, STAGE_TIME, most.row);
    if (!total.table)
        return SIZE_MAX;
    give(in, advice, "stage-share", &most, &total, limits);
    return most.row;
}

/* Decoding makes pictures of what is there: it is to be a small part, so that it is told though the
 * model takes more, whose finding is of row `told`. */
static void advise_decoder(const struct ta_refs *in, struct ta_advice *advice,
                           const struct limits *limits, size_t told)
{
    struct ta_place most = {0};
    size_t n = 0;
    for (size_t row = 0; row < ta_ref_rows(in, STAGE_SHARE); row++) {
        const struct ta_place here = ta_place_at(in, STAGE_SHARE, row);
        n += here.table != NULL;
        if (here.table && here.value > limits->decoder &&
            !ta_ref_reads(in, SHARE_OF, row, "parent") &&
            ta_slice_has_any(ta_ref_text(in, STAGE_NAME, row), decoding) &&
            (!most.table || here.value > most.value))
            most = here;
    }
    const struct ta_place total = ta_place_at(in, STAGE_TIME, most.row);
    if (most.table && most.row != told && total.table && n > 1) {
        struct limits own = *limits;
        own.share = limits->decoder;
        give(in, advice, "vae-share", &most, &total, &own);
    }
}

/* The same of a trace, where a device is at it: why it idles others say, and what kernel_vae knows
 * of decoding it says. */
static void advise_decode_phase(const struct ta_refs *in, struct ta_advice *advice,
                                const struct limits *limits)
{
    struct ta_place most = {0};
    if (ta_ref_rows(in, DECODE))
        return;
    for (size_t row = 0; row < ta_ref_rows(in, PHASE); row++) {
        const struct ta_place here = ta_place_at(in, PHASE_SHARE, row);
        if (here.table && here.value > limits->decoder &&
            ta_ref_reads(in, PHASE, row, "VAE decode") &&
            2 * ta_ref_number(in, PHASE_BUSY, row, 0) > ta_ref_number(in, PHASE_TIME, row, 0) &&
            (!most.table || here.value > most.value))
            most = here;
    }
    const struct ta_place time = ta_place_beside(in, &most, PHASE_TIME);
    if (!most.table || !time.table)
        return;
    const struct to_do *todo = what_to_do("vae");
    const struct ta_evidence evidence[] = {ta_place_evidence(&most), ta_place_evidence(&time)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "vae-share",
            .rule = "stage_share",
            .title = ta_advice_printf(advice, "VAE decoding takes %s of the run (%s)%s",
                                      ta_advice_number(advice, most.value, TA_UNIT_RATIO),
                                      ta_advice_number(advice, time.value, TA_UNIT_NS),
                                      ta_place_owner(advice, in->report, &most)),
            .advice = todo->advice,
            .severity = TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = ta_whole(todo->low * time.value),
            .saving_high_ns = ta_whole(todo->high * time.value),
            .confidence = 0.3,
            .threshold = ta_advice_printf(advice, "share of VAE decoding > %s",
                                          ta_advice_number(advice, limits->decoder, TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    struct limits limits = {ta_ctx_option(ctx, STAGE), ta_ctx_option(ctx, HIGH),
                            ta_ctx_option(ctx, EVEN), ta_ctx_option(ctx, LEAD),
                            ta_ctx_option(ctx, DECODER)};
    size_t told = advise_stages(in, advice, &limits, false);
    told = told == SIZE_MAX ? advise_stages(in, advice, &limits, true) : told;
    advise_decoder(in, advice, &limits, told);
    advise_decode_phase(in, advice, &limits);
    limits.share = ta_ctx_option(ctx, LAYER);
    static const struct ta_look look = {.cells = LAYER_SHARE};
    struct ta_place most;
    if (ta_look_worst(in, &look, &most)) {
        size_t n = 0;
        for (size_t row = 0; row < ta_ref_rows(in, LAYER_SHARE); row++)
            n += same_rank(in, row, most.row);
        const struct ta_place total = ta_place_at(in, LAYER_TIME, most.row);
        const struct ta_place next = next_layer(in, most.row);
        const bool leads =
            next.table && most.value > limits.share && most.value >= limits.lead * next.value;
        if (total.table && (leads || is_telling(most.value, &limits, n, true)))
            give(in, advice, "layer-share", &most, &total, &limits);
    }
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, stage_share, &ops, .title = "Dominant stage or layer",
          .summary = "Fires when a stage or a layer takes a large part of the time", .version = "1",
          .options = options);
