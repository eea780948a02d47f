/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocation from the driver, loading of code, compilation or tuning after the warm-up. */
#include <traceanalyze/rule.h>

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
    bool marked; /* by steps; else the halves of the time with device work stand in */
};

/* Of one rank and kind, after the warm-up. */
static struct sums add_up(const struct ta_table *table, double rank, const char *what)
{
    struct sums sums = {0};
    for (size_t i = 0; i < table->n_rows; i++) {
        const bool steady = ta_row_reads(table, i, "phase", "steady");
        if ((!steady && !ta_row_reads(table, i, "phase", "second half")) ||
            !ta_row_reads(table, i, "what", what) || ta_row_number(table, i, "rank", 0) != rank)
            continue;
        sums.marked = steady;
        const double host = ta_row_number(table, i, "host_ns", 0);
        sums.host += host;
        sums.idle += ta_row_number(table, i, "idle_ns", 0);
        sums.calls += ta_row_number(table, i, "calls", 0);
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
        if (ta_row_number(gpu, i, "rank", 0) == rank &&
            ta_row_number(gpu, i, "window_ns", 0) > window)
            window = ta_row_number(gpu, i, "window_ns", 0);
    return window;
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
    const struct ta_place place = {
        .table = table, .row = worst.row, .column = ta_table_column(table, "host_ns")};
    const struct ta_place idle = ta_old_beside(&place, "idle_ns");
    const struct ta_evidence evidence[] = {ta_place_evidence(&place), ta_place_evidence(&idle)};
    ta_advise(advice, &(struct ta_finding){
                          .id = kinds[kind].id,
                          .rule = "interruptions",
                          .title = ta_advice_printf(
                              advice, "%s %s takes the host %s of the window (%s, %s calls)%s",
                              kinds[kind].title,
                              worst.marked ? "after the warm-up" : "in the second half of the run",
                              ta_advice_number(advice, share, TA_UNIT_RATIO),
                              ta_advice_number(advice, worst.host, TA_UNIT_NS),
                              ta_advice_number(advice, worst.calls, TA_UNIT_COUNT),
                              ta_place_owner(advice, report, &place)),
                          .advice = kinds[kind].advice,
                          .severity = TA_MEDIUM,
                          .evidence = evidence,
                          .n_evidence = 2,
                          .saving_low_ns = ta_whole(worst.idle),
                          .saving_high_ns = ta_whole(worst.host),
                          .confidence = worst.marked ? 0.6 : 0.3,
                          .threshold = ta_advice_printf(
                              advice, "%s after the warm-up > %s of the window", kinds[kind].what,
                              ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
                      });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    if (!ta_report_table(in->report, "interruptions.by_call"))
        return TA_OK;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        advise_kind(ctx, in->report, advice, kind);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, interruptions, &ops, .title = "Allocation and compilation in steady steps",
          .summary = "Fires when memory, modules or code are made after the warm-up",
          .version = "1", .options = options);
