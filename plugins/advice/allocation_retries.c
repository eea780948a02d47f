/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocations that succeeded only after the allocator had given its whole cache back, by its own
 * count of them. */
#include <traceanalyze/rule.h>

enum { COUNT };

static const struct ta_option options[] = {
    [COUNT] = {"count", TA_OPTION_INTEGER, 0, 0, 1e9, TA_OPTION_PLAIN,
               "Retries of a device above which the rule fires"},
    TA_OPTIONS_END,
};

enum { RETRIES };

static const struct ta_ref reads[] = {
    [RETRIES] = {"memory.by_rank", "retries"},
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look look = {.cells = RETRIES};
    const double least = ta_ctx_option(ctx, COUNT);
    struct ta_place retries;
    if (!ta_look_worst(in, &look, &retries) || retries.value <= least)
        return TA_OK;
    const struct ta_evidence evidence = ta_place_evidence(&retries);
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "allocation-retries",
                  .rule = "allocation_retries",
                  .title = ta_advice_printf(advice, "GPU memory ran full %s time%s%s",
                                            ta_advice_number(advice, retries.value, TA_UNIT_COUNT),
                                            retries.value > 1 ? "s" : "",
                                            ta_place_owner(advice, in->report, &retries)),
                  .why = "Each time the allocator waits for the GPU, gives its whole cache back "
                         "(cudaFree) and allocates anew, which makes that step much longer.",
                  .advice = ta_advice_printf(
                      advice,
                      "Hold less (a smaller batch or resolution, decoding in tiles, models on the "
                      "host that are not in use), or set %s=expandable_segments:True where much of "
                      "what is held is unused.",
                      ta_run_is_amd(ta_report_run(in->report)) ? "PYTORCH_HIP_ALLOC_CONF"
                                                               : "PYTORCH_CUDA_ALLOC_CONF"),
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

TA_PLUGIN(advice, allocation_retries, &ops, .title = "Allocation retries",
          .summary = "Fires when the allocator had to give its cache back to go on", .version = "1",
          .options = options);
