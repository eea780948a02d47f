/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Denoising steps that run the model twice, for classifier-free guidance: where records or modules
 * of a step show both passes. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { SHARE };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
               "Share of the run in second passes above which the rule fires"},
    TA_OPTIONS_END,
};

enum {
    RECORDS,
    STEPS,
    STEP_MEAN,
    DUMP_RANK,
    SESSION,
    SESSION_RANK,
    PASS_RANK,
    PASS_STEPS,
    PASS_MODULE,
    PASS_TIMES,
    PASS_SECOND,
    PASS_KERNELS,
    WINDOW
};

static const struct ta_ref reads[] = {
    [RECORDS] = {"diffusion.by_rank", "records_per_step"},
    [STEPS] = {"diffusion.by_rank", "steps"},
    [STEP_MEAN] = {"diffusion.by_rank", "step_mean_ns"},
    [DUMP_RANK] = {"diffusion.by_rank", "rank"},
    [SESSION] = {"run.sessions", "dur_ns"},
    [SESSION_RANK] = {"run.sessions", "rank"},
    [PASS_RANK] = {"guidance.by_rank", "rank"},
    [PASS_STEPS] = {"guidance.by_rank", "steps"},
    [PASS_MODULE] = {"guidance.by_rank", "module"},
    [PASS_TIMES] = {"guidance.by_rank", "passes"},
    [PASS_SECOND] = {"guidance.by_rank", "second_ns"},
    [PASS_KERNELS] = {"guidance.by_rank", "second_kernels"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
};

/* Kernels up to this leave much of a device idle. */
#define SHORT_NS 150e3

/* Second passes of a rank. */
struct second {
    struct ta_place place; /* the cell that says so */
    double ns, run;        /* of the passes, and of the run; 0 where that is not known */
    double kernel_ns;      /* of one of their kernels, gaps included; NAN where it is not known */
    double steps, passes;
    const char *module; /* or "" */
    bool is_record;     /* of a dump */
};

/* "twice", "3 times". */
static const char *times_of(struct ta_advice *advice, const struct second *second)
{
    return second->passes > 2 ? ta_advice_printf(advice, "%.0f times", second->passes) : "twice";
}

static void give(const struct ta_refs *in, struct ta_advice *advice, const struct second *second,
                 double least)
{
    const struct ta_evidence evidence = ta_place_evidence(&second->place);
    const char *time = ta_advice_number(advice, second->ns, TA_UNIT_NS);
    /* Kernels that are short do not fill the device, and gain when both passes are one batch. */
    const bool is_short = second->kernel_ns < SHORT_NS;
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "guidance-passes",
            .rule = "guidance",
            .title = ta_advice_printf(
                advice, "Each denoising step runs the model %s: %s %s%s", times_of(advice, second),
                second->passes > 2 ? "the passes after the first take" : "the second pass takes",
                second->run > 0
                    ? ta_advice_printf(
                          advice, "%s of the run (%s)",
                          ta_advice_number(advice, second->ns / second->run, TA_UNIT_RATIO), time)
                    : time,
                ta_place_owner(advice, in->report, &second->place)),
            .why =
                second->module[0]
                    ? ta_advice_printf(advice, "%s runs %s in each of %.0f steps.", second->module,
                                       times_of(advice, second), second->steps)
                : second->is_record
                    ? ta_advice_printf(advice, "Each of %.0f steps has two records.", second->steps)
                    : ta_advice_printf(advice, "The same kernels run %s in each of %.0f steps.",
                                       times_of(advice, second), second->steps),
            .advice = is_short
                          ? ta_advice_printf(
                                advice,
                                "Run both passes as one batch: kernels are short (%s each, gaps "
                                "included) and fill the GPU badly one pass at a time.",
                                ta_advice_number(advice, second->kernel_ns, TA_UNIT_NS))
                          : ta_advice_printf(
                                advice,
                                "Use a model distilled with its guidance, leave guidance out of "
                                "part of the steps, or run %s (CFG parallel).",
                                ta_ref_rows(in, WINDOW) > 1 ? "each pass on half of the GPUs"
                                                            : "both passes on two GPUs"),
            .details = is_short ? "A model distilled with its guidance needs no second pass at all."
                                : "One batch of both passes gains little where the GPU is busy: "
                                  "the work is the same. The saving assumes guidance in half of "
                                  "the steps (low) or in none (high).",
            .severity = TA_LOW,
            .evidence = &evidence,
            .n_evidence = 1,
            .saving_low_ns = ta_whole((is_short ? 0.18 : 0.5) * second->ns),
            .saving_high_ns = ta_whole((is_short ? 0.54 : 1) * second->ns),
            .steps_ns = ta_whole(2 * second->ns),
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "second passes > %s of the run",
                                          ta_advice_number(advice, least, TA_UNIT_RATIO)),
        });
}

static double run_of(const struct ta_refs *in, int64_t rank)
{
    double sum = 0;
    for (size_t row = 0; row < ta_ref_rows(in, SESSION); row++)
        if (ta_ref_integer(in, SESSION_RANK, row) == rank)
            sum += ta_ref_number(in, SESSION, row, 0);
    return sum;
}

static struct second of_records(const struct ta_refs *in)
{
    struct second most = {.ns = 0};
    for (size_t row = 0; row < ta_ref_rows(in, RECORDS); row++) {
        const double steps = ta_ref_number(in, STEPS, row, 0);
        const double ns = steps * ta_ref_number(in, STEP_MEAN, row, 0) / 2;
        if (ta_ref_number(in, RECORDS, row, 0) == 2 && ns > most.ns)
            most = (struct second){.place = ta_place_at(in, RECORDS, row),
                                   .ns = ns,
                                   .run = run_of(in, ta_ref_integer(in, DUMP_RANK, row)),
                                   .steps = steps,
                                   .kernel_ns = NAN,
                                   .passes = 2,
                                   .is_record = true,
                                   .module = ""};
    }
    return most;
}

static struct second of_modules(const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look windows = {.cells = WINDOW};
    struct second most = {.ns = 0};
    for (size_t row = 0; row < ta_ref_rows(in, PASS_RANK); row++) {
        const struct ta_place place = ta_place_at(in, PASS_SECOND, row);
        if (place.table && place.value > most.ns)
            most = (struct second){
                .place = place,
                .ns = place.value,
                .run = ta_look_most(in, &windows, ta_ref_integer(in, PASS_RANK, row)),
                .kernel_ns = place.value / ta_ref_number(in, PASS_KERNELS, row, NAN),
                .steps = ta_ref_number(in, PASS_STEPS, row, 0),
                .passes = ta_ref_number(in, PASS_TIMES, row, 2),
                .module = ta_place_text(advice, in, &place, PASS_MODULE)};
    }
    return most;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double least = ta_ctx_option(ctx, SHARE);
    struct second second = of_modules(in, advice);
    if (!second.place.table)
        second = of_records(in);
    if (second.place.table && second.ns > least * second.run)
        give(in, advice, &second, least);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, guidance, &ops, .title = "Guidance by two model calls",
          .summary = "Fires when each denoising step runs the model twice for guidance",
          .version = "1", .options = options);
