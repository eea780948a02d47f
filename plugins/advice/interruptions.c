/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocation from the driver, loading of code, compilation or tuning after the warm-up. */
#include "kernel.h"

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
                   "Share of the window that the host spends in such calls after the warm-up, from "
                   "which the rule fires"},
    TA_OPTIONS_END,
};

struct sums {
    double host, idle, calls, most;
    size_t row;
};

/* Of one rank and kind, after the warm-up. */
static struct sums add_up(const struct ta_table *table, double rank, const char *what)
{
    struct sums sums = {0};
    for (size_t i = 0; i < table->n_rows; i++) {
        if (!kernel_row_is(table, i, "phase", "steady") || !kernel_row_is(table, i, "what", what) ||
            kernel_cell(table, i, "rank") != rank)
            continue;
        const double host = kernel_cell(table, i, "host_ns");
        sums.host += host;
        sums.idle += kernel_cell(table, i, "idle_ns");
        sums.calls += kernel_cell(table, i, "calls");
        if (host >= sums.most) {
            sums.most = host;
            sums.row = i;
        }
    }
    return sums;
}

/* The longest window of a device of the rank. */
static double window_of(const struct ta_report *report, double rank)
{
    const struct ta_table *gpu = ta_report_table(report, "gpu_time.by_rank");
    double window = 0;
    for (size_t i = 0; gpu && i < gpu->n_rows; i++)
        if (kernel_cell(gpu, i, "rank") == rank && kernel_cell(gpu, i, "window_ns") > window)
            window = kernel_cell(gpu, i, "window_ns");
    return window;
}

static const struct {
    const char *what, *id, *title, *advice;
} kinds[] = {
    {"allocation", "steady-allocation", "Memory from the driver after the warm-up",
     "Let the caching allocator keep its memory: no torch.cuda.empty_cache() in the loop, "
     "expandable_segments:True against fragmentation, pinned buffers made once, a first pass with "
     "the largest shapes."},
    {"module", "steady-modules", "Loading of device code after the warm-up",
     "Run each shape once before it counts, or load eagerly: CUDA_MODULE_LOADING=EAGER."},
    {"compilation", "steady-compilation", "Compilation after the warm-up",
     "Find out what makes it compile again (TORCH_LOGS=recompiles), mark changing sizes as dynamic "
     "or pad them, and warm all shapes up."},
    {"autotuning", "steady-autotuning", "Tuning of kernels after the warm-up",
     "Tune once: warm all shapes up, keep the caches of Triton and Inductor, and switch "
     "torch.backends.cudnn.benchmark off where shapes change."},
};

static void advise_kind(struct ta_ctx *ctx, const struct ta_report *report,
                        struct ta_advice *advice, size_t kind)
{
    const struct ta_table *table = ta_report_table(report, "interruptions.by_call");
    const struct ta_run_info *run = ta_report_run(report);
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct sums worst = {0};
    double share = 0;
    for (size_t r = 0; r < run->n_ranks; r++) {
        const double rank = (double)run->ranks[r], window = window_of(report, rank);
        const struct sums sums = add_up(table, rank, kinds[kind].what);
        if (window > 0 && sums.host / window > share) {
            share = sums.host / window;
            worst = sums;
        }
    }
    if (share <= threshold)
        return;
    const struct ta_evidence evidence[] = {kernel_evidence(table, worst.row, "host_ns"),
                                           kernel_evidence(table, worst.row, "idle_ns")};
    const struct ta_place place = {.table = table, .row = worst.row};
    ta_advise(advice, &(struct ta_finding){
                          .id = kinds[kind].id,
                          .rule = "interruptions",
                          .title = ta_advice_printf(
                              advice, "%s takes the host %s of the window (%s, %s calls)%s",
                              kinds[kind].title, ta_advice_number(advice, share, TA_UNIT_RATIO),
                              ta_advice_number(advice, worst.host, TA_UNIT_NS),
                              ta_advice_number(advice, worst.calls, TA_UNIT_COUNT),
                              ta_place_owner(advice, report, &place)),
                          .advice = kinds[kind].advice,
                          .severity = kernel_severity(share),
                          .evidence = evidence,
                          .n_evidence = 2,
                          .saving_low_ns = (int64_t)worst.idle,
                          .saving_high_ns = (int64_t)worst.host,
                          .confidence = 0.6,
                          .threshold = ta_advice_printf(
                              advice, "%s after the warm-up > %s of the window", kinds[kind].what,
                              ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
                      });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_report *report,
                             struct ta_advice *advice)
{
    if (!ta_report_table(report, "interruptions.by_call"))
        return TA_OK;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        advise_kind(ctx, report, advice, kind);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, interruptions, &ops, .title = "Allocation and compilation in steady steps",
          .summary = "Fires when memory, modules or code are made after the warm-up",
          .version = "1", .options = options);
