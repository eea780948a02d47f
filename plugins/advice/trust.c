/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces that cannot carry what is said of them, and how to record better ones. */
#include <traceanalyze/rule.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, TA_TRUST_LEAST, 0, 1, TA_OPTION_RATIO,
                   "Trust score below which the rule fires"},
    TA_OPTIONS_END,
};

enum { CHECK, PENALTY, SCORE, DAMAGE };

static const struct ta_ref reads[] = {
    [CHECK] = {"health.checks", "check"},
    [PENALTY] = {"health.checks", "penalty"},
    [SCORE] = {.scalar = "trust_score"},
    [DAMAGE] = {"health.damage", "damage"},
};

/* What is wrong with the recording, and what cannot be judged for it. */
static const struct remedy {
    const char *check, *title, *advice;
    const char *damage; /* says it where there is such damage */
} remedies[] = {
    {"records dropped", "Part of the records could not be read, so sums are too small",
     "Copy the files again, and stop the profiler before the process ends.", NULL},
    {"bad times", "Many times are damaged, so the order of what happened is unknown in places",
     "Record again with a newer version of the profiler.", "no time"},
    {"times far away",
     "Some times lie far away from the others, so the length of the run is "
     "unknown",
     "Record again while nothing sets the clock, or cut the trace to the time of interest.", NULL},
    {"activities too long", "GPU activities last longer than their stream allows",
     "Record again with a newer version of the profiler or driver.", "overlong"},
    {"activities out of order", "GPU activities are out of order, so idle time is uncertain",
     "Record again with a newer version of the profiler or driver.", "out of order"},
    {"devices as the host's", "The trace does not say which events are of the GPU",
     "Record with torch.profiler, or have the tool name the categories of its events as Kineto "
     "does: kernel, gpu_memcpy, gpu_memset.",
     NULL},
    {"launches linked",
     "Kernels are not linked to their launches, so why the GPU is idle is "
     "unknown",
     "Record host and GPU together: activities=[CPU, CUDA], and all threads.", NULL},
    {"activities before their call",
     "Kernels begin before their launch: the clocks of host and "
     "GPU differ, so short waits are uncertain",
     "Record again after the clocks of host and GPU were synchronized: a newer driver, or a "
     "warm-up step.",
     NULL},
    {"kernels lost", "Kernels that were launched are missing, so busy time is too small",
     "Record fewer steps, or fewer replays of graphs.", "kernels lost"},
    {"kernels lost at the start", "Kernels are missing at the start of the recording",
     "Let the profiler warm up: schedule(wait=1, warmup=2, active=3).", NULL},
    {"operators missing",
     "Operators were removed from the trace, so what launches a kernel and "
     "why the GPU is idle is unknown",
     "Use a trace from which nothing was removed, of fewer steps if it is too large.", NULL},
    {"activities recorded", "Too few GPU activities were recorded to tell what bounds a run",
     "Record whole steps: schedule(wait=1, warmup=2, active=3).", NULL},
    {"holes in samples", "Samples are missing", "Sample less often, or from a process of its own.",
     NULL},
    {"profiler overhead",
     "The profiler takes a large part of the run, so times of the host are "
     "too long",
     "Record without stacks and memory, and fewer steps.", NULL},
    {"spans that cross", "Spans of one thread cross each other, so callers are uncertain",
     "Record again with a newer version of the profiler.", NULL},
    {"ranks missing", "The files of most ranks are missing, so who waits for whom is unknown",
     "Collect the files of all ranks.", NULL},
    {"fewest activities",
     "The ranks recorded different amounts of work, so they cannot be "
     "compared",
     "Record the same steps on all ranks.", NULL},
    {"resolution", "Times are rounded to microseconds, so short kernels are uncertain",
     "Record with a newer version of the profiler, which keeps nanoseconds.", NULL},
};

static struct remedy remedy(const struct ta_refs *in, const struct ta_place *worst)
{
    for (size_t i = 0; i < TA_LENGTH(remedies); i++)
        if (ta_ref_reads(in, CHECK, worst->row, remedies[i].check))
            return remedies[i];
    return (struct remedy){.title = "The recording is incomplete", .advice = "Record again."};
}

/* Whether a finding of its own says it (damage). */
static bool is_said(const struct ta_refs *in, const struct remedy *remedy)
{
    for (size_t i = 0; remedy->damage && i < ta_ref_rows(in, DAMAGE); i++)
        if (ta_ref_reads(in, DAMAGE, i, remedy->damage) ||
            (strcmp(remedy->damage, "kernels lost") == 0 &&
             ta_ref_reads(in, DAMAGE, i, "graph replays lost")))
            return true;
    return false;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look look = {.cells = PENALTY};
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const double trust = ta_ref_scalar(in, SCORE, 1);
    struct ta_place worst;
    if (trust >= threshold || !ta_look_worst(in, &look, &worst))
        return TA_OK;
    const struct remedy found = remedy(in, &worst);
    if (is_said(in, &found))
        return TA_OK;
    const struct ta_evidence evidence = ta_place_evidence(&worst);
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "trust",
                  .rule = "trust",
                  .title = found.title,
                  .why = ta_advice_printf(
                      advice, "Trust in the recording is %s: take all other findings as hints.",
                      ta_advice_number(advice, trust, TA_UNIT_RATIO)),
                  .advice = found.advice,
                  .severity = TA_MEDIUM,
                  .evidence = &evidence,
                  .n_evidence = 1,
                  .saving_low_ns = TA_MISSING,
                  .saving_high_ns = TA_MISSING,
                  .confidence = 1,
                  .about_input = true,
                  .threshold = ta_advice_printf(advice, "trust < %s",
                                                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
              });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(
    advice, trust, &ops, .title = "Recording not trusted",
    .summary = "Fires when a recording is too damaged or incomplete for findings to be trusted",
    .version = "1", .options = options);
