/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocations that succeeded only after the allocator had given its whole cache back: as a trace
 * shows them, else by its own count of them. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

enum { COUNT };

static const struct ta_option options[] = {
    [COUNT] = {"count", TA_OPTION_INTEGER, 0, 0, 1e9, TA_OPTION_PLAIN,
               "Retries of a device above which the rule fires"},
    TA_OPTIONS_END,
};

enum { RETRIES, SEEN_RANK, SEEN, SEEN_SITE, SEEN_IDLE, WINDOW };

static const struct ta_ref reads[] = {
    [RETRIES] = {"memory.by_rank", "retries"},   [SEEN_RANK] = {"memory.retries", "rank"},
    [SEEN] = {"memory.retries", "count"},        [SEEN_SITE] = {"memory.retries", "site"},
    [SEEN_IDLE] = {"memory.retries", "idle_ns"}, [WINDOW] = {"gpu_time.program", "window_ns"},
};

/* What to do about it. */
static const char *hold_less(const struct ta_refs *in, struct ta_advice *advice)
{
    return ta_advice_printf(advice,
                            "Use less GPU memory (a smaller batch or resolution, VAE tiling, "
                            "unused models moved to the host), or set %s=expandable_segments:True "
                            "where much of the reserved memory is unused.",
                            ta_run_is_amd(ta_report_run(in->report)) ? "PYTORCH_HIP_ALLOC_CONF"
                                                                     : "PYTORCH_CUDA_ALLOC_CONF");
}

/* Retries that a trace shows, with the time that they cost the device of a rank; false where they
 * take less than a hundredth of the run. */
static bool advise_seen(const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look windows = {.cells = WINDOW}, counts = {.cells = SEEN},
                                idle = {.cells = SEEN_IDLE};
    struct ta_place worst;
    if (!ta_look_worst(in, &idle, &worst))
        return false;
    const int64_t rank = ta_ref_integer(in, SEEN_RANK, worst.row);
    const double window = ta_look_most(in, &windows, rank), lost = ta_look_sum(in, &idle, rank);
    const double n = ta_look_sum(in, &counts, rank);
    if (!(window > 0) || lost < 0.01 * window)
        return false;
    const struct ta_evidence evidence[] = {ta_place_evidence(&worst),
                                           ta_ref_evidence(in, SEEN, worst.row)};
    ta_advise(advice, &(struct ta_finding){
                          .id = "allocation-retries",
                          .rule = "allocation_retries",
                          .title = ta_advice_printf(
                              advice,
                              "GPU memory was full %s time%s, and the GPU idles while the "
                              "allocator frees its cache: %s of the run (%s)%s",
                              ta_advice_number(advice, n, TA_UNIT_COUNT), n > 1 ? "s" : "",
                              ta_advice_number(advice, lost / window, TA_UNIT_RATIO),
                              ta_advice_number(advice, lost, TA_UNIT_NS),
                              ta_place_owner(advice, in->report, &worst)),
                          .why = ta_advice_printf(advice,
                                                  "%s causes %s of the %s of idle time: the "
                                                  "allocator waits for the GPU, frees what it "
                                                  "caches "
                                                  "(cudaFree) and allocates anew.",
                                                  ta_place_text(advice, in, &worst, SEEN_SITE),
                                                  ta_advice_number(advice, worst.value, TA_UNIT_NS),
                                                  ta_advice_number(advice, lost, TA_UNIT_NS)),
                          .advice = hold_less(in, advice),
                          .severity = TA_MEDIUM,
                          .evidence = evidence,
                          .n_evidence = 2,
                          .saving_low_ns = ta_whole(0.7 * lost),
                          .saving_high_ns = ta_whole(1.1 * lost),
                          .confidence = 0.9,
                          .threshold = "idle time of retries > 1 % of the run",
                      });
    return true;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look look = {.cells = RETRIES};
    const double least = ta_ctx_option(ctx, COUNT);
    struct ta_place retries;
    if (advise_seen(in, advice) || !ta_look_worst(in, &look, &retries) || retries.value <= least)
        return TA_OK;
    const struct ta_evidence evidence = ta_place_evidence(&retries);
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "allocation-retries",
                  .rule = "allocation_retries",
                  .title = ta_advice_printf(advice, "GPU memory was full %s time%s%s",
                                            ta_advice_number(advice, retries.value, TA_UNIT_COUNT),
                                            retries.value > 1 ? "s" : "",
                                            ta_place_owner(advice, in->report, &retries)),
                  .why = "Each time the allocator waits for the GPU, frees its whole cache "
                         "(cudaFree) and allocates anew, which makes that step much longer.",
                  .advice = hold_less(in, advice),
                  .severity = TA_MEDIUM,
                  .evidence = &evidence,
                  .n_evidence = 1,
                  .saving_low_ns = TA_MISSING,
                  .saving_high_ns = TA_MISSING,
                  .confidence = 0.8,
                  .threshold = ta_advice_printf(advice, "retries > %.0f", least),
              });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(
    advice, allocation_retries, &ops, .title = "Allocation retries",
    .summary = "Fires when the allocator had to free its cache before an allocation succeeded",
    .version = "1", .options = options);
