/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocation from the driver, loading of code, compilation or tuning after the warm-up. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
                   "Share of the window that the host spends in such calls after the warm-up, from "
                   "which the rule fires"},
    TA_OPTIONS_END,
};

enum { RANK, PHASE, WHAT, CALLS, HOST, IDLE, WINDOW };

static const struct ta_ref reads[] = {
    [RANK] = {"interruptions.by_call", "rank"},    [PHASE] = {"interruptions.by_call", "phase"},
    [WHAT] = {"interruptions.by_call", "what"},    [CALLS] = {"interruptions.by_call", "calls"},
    [HOST] = {"interruptions.by_call", "host_ns"}, [IDLE] = {"interruptions.by_call", "idle_ns"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
};

struct sums {
    double host, idle, calls, most;
    size_t row;
};

/* Of one rank and kind, after the warm-up. */
static struct sums add_up(const struct ta_refs *in, int64_t rank, const char *what)
{
    struct sums sums = {0};
    for (size_t i = 0; i < ta_ref_rows(in, WHAT); i++) {
        if (!ta_ref_reads(in, PHASE, i, "steady") || !ta_ref_reads(in, WHAT, i, what) ||
            ta_ref_integer(in, RANK, i) != rank)
            continue;
        const double host = ta_ref_number(in, HOST, i, 0);
        sums.host += host;
        sums.idle += ta_ref_number(in, IDLE, i, 0);
        sums.calls += ta_ref_number(in, CALLS, i, 0);
        if (host >= sums.most) {
            sums.most = host;
            sums.row = i;
        }
    }
    return sums;
}

static const struct {
    const char *what, *id, *title, *advice;
} kinds[] = {
    {"allocation", "steady-allocation", "Memory from the driver",
     "Let the caching allocator keep its memory: no torch.cuda.empty_cache() in the loop, "
     "expandable_segments:True against fragmentation, pinned buffers made once, a first pass with "
     "the largest shapes."},
    {"module", "steady-modules", "Loading of device code",
     "Run each shape once before it counts, or load eagerly: CUDA_MODULE_LOADING=EAGER."},
    {"compilation", "steady-compilation", "Compilation",
     "Find out what makes it compile again (TORCH_LOGS=recompiles), mark changing sizes as dynamic "
     "or pad them, and warm all shapes up."},
    {"autotuning", "steady-autotuning", "Tuning of kernels",
     "Tune once: warm all shapes up, keep the caches of Triton and Inductor, and switch "
     "torch.backends.cudnn.benchmark off where shapes change."},
};

static void advise_kind(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                        size_t kind)
{
    static const struct ta_look windows = {.cells = WINDOW};
    const struct ta_run_info *run = ta_report_run(in->report);
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct sums worst = {0};
    double share = 0;
    for (size_t r = 0; r < run->n_ranks; r++) {
        const double window = ta_look_most(in, &windows, run->ranks[r]);
        const struct sums sums = add_up(in, run->ranks[r], kinds[kind].what);
        if (window > 0 && sums.host / window > share) {
            share = sums.host / window;
            worst = sums;
        }
    }
    if (share <= threshold)
        return;
    const struct ta_place host = ta_place_at(in, HOST, worst.row);
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, HOST, worst.row),
                                           ta_ref_evidence(in, IDLE, worst.row)};
    ta_advise(advice, &(struct ta_finding){
                          .id = kinds[kind].id,
                          .rule = "interruptions",
                          .title = ta_advice_printf(
                              advice,
                              "%s after the first step takes the host %s of the window (%s, %s "
                              "calls)%s",
                              kinds[kind].title, ta_advice_number(advice, share, TA_UNIT_RATIO),
                              ta_advice_number(advice, worst.host, TA_UNIT_NS),
                              ta_advice_number(advice, worst.calls, TA_UNIT_COUNT),
                              ta_place_owner(advice, in->report, &host)),
                          .advice = kinds[kind].advice,
                          .severity = TA_MEDIUM,
                          .evidence = evidence,
                          .n_evidence = 2,
                          .saving_low_ns = ta_whole(worst.idle),
                          .saving_high_ns = ta_whole(worst.host),
                          .confidence = 0.6,
                          .threshold = ta_advice_printf(
                              advice, "%s after the warm-up > %s of the window", kinds[kind].what,
                              ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
                      });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        advise_kind(ctx, in, advice, kind);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, interruptions, &ops, .title = "Allocation and compilation in steady steps",
          .summary = "Fires when memory, modules or code are made after the warm-up",
          .version = "1", .options = options);
