/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces that cannot carry what is said of them, and how to record better ones. */
#include <traceanalyze/rule.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, TA_TRUST_LEAST, 0, 1, TA_OPTION_RATIO,
                   "Trust score below which the rule fires"},
    TA_OPTIONS_END,
};

enum { CHECK, PENALTY, SCORE };

static const struct ta_ref reads[] = {
    [CHECK] = {"health.checks", "check"},
    [PENALTY] = {"health.checks", "penalty"},
    [SCORE] = {.scalar = "trust_score"},
};

static const struct {
    const char *check, *advice;
} remedies[] = {
    {"records dropped", "Copy the files again, and stop the profiler before the process ends."},
    {"bad times", "Record again with a newer version of the profiler."},
    {"times far away", "Record again while the clock is not set, or cut the trace to the times of "
                       "interest."},
    {"activities too long", "Record again with a newer version of the profiler or driver."},
    {"activities out of order", "Record again with a newer version of the profiler or driver."},
    {"devices as the host's", "Record with torch.profiler, or have the tool name the categories of "
                              "its events as Kineto does: kernel, gpu_memcpy, gpu_memset."},
    {"launches linked",
     "Record host and device together: activities=[CPU, CUDA], and all threads."},
    {"activities before their call", "Record again after the clocks of host and device were "
                                     "synchronized: a newer driver, or a warm-up step."},
    {"kernels lost", "Record fewer steps, or fewer replays of graphs: kernels that were launched "
                     "are missing."},
    {"kernels lost at the start",
     "Let the profiler warm up: schedule(wait=1, warmup=2, active=3)."},
    {"operators missing",
     "Take a trace that was not thinned out, of fewer steps if it is too large."},
    {"activities recorded", "Record whole steps: schedule(wait=1, warmup=2, active=3)."},
    {"holes in samples", "Sample less often, or from a process of its own."},
    {"profiler overhead", "Record without stacks and memory, and fewer steps."},
    {"spans that cross", "Record again with a newer version of the profiler."},
    {"ranks missing", "Collect the files of all ranks."},
    {"fewest activities", "Record the same steps on all ranks."},
    {"resolution", "Record with a newer version of the profiler, which keeps nanoseconds."},
};

static const char *remedy(const struct ta_refs *in, const struct ta_place *worst)
{
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (ta_ref_reads(in, CHECK, worst->row, remedies[i].check))
            return remedies[i].advice;
    return "Record again.";
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look look = {.cells = PENALTY};
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const double trust = ta_ref_scalar(in, SCORE, 1);
    struct ta_place worst;
    if (trust >= threshold || !ta_look_worst(in, &look, &worst))
        return TA_OK;
    const struct ta_evidence evidence = ta_place_evidence(&worst);
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "trust",
                  .rule = "trust",
                  .title = ta_advice_printf(
                      advice,
                      "The traces are trusted only %s, most is lost by \"%s\": take all "
                      "other findings as hints",
                      ta_advice_number(advice, trust, TA_UNIT_RATIO),
                      ta_place_text(advice, in, &worst, CHECK)),
                  .advice = remedy(in, &worst),
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

TA_PLUGIN(advice, trust, &ops, .title = "Traces unfit",
          .summary = "Fires when the traces cannot carry what is said of them", .version = "1",
          .options = options);
