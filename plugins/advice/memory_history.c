/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A history of memory that began after most of the memory of the peak was allocated: nobody can say
 * what holds it. */
#include <traceanalyze/rule.h>

enum { SHARE };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.5, 0, 1, TA_OPTION_RATIO,
               "Memory at the peak that was allocated before the history began, above which the "
               "rule fires"},
    TA_OPTIONS_END,
};

enum { SITE, AT_PEAK, PEAK_SHARE };

static const struct ta_ref reads[] = {
    [SITE] = {"memory.sites", "site"},
    [AT_PEAK] = {"memory.sites", "peak_block_bytes"},
    [PEAK_SHARE] = {"memory.sites", "peak_share"},
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look before = {.cells = PEAK_SHARE,
                                          .where = {{SITE, "(allocated before the history)"}}};
    const double threshold = ta_ctx_option(ctx, SHARE);
    struct ta_place share;
    if (!ta_look_worst(in, &before, &share) || share.value <= threshold)
        return TA_OK;
    const struct ta_place bytes = ta_place_beside(in, &share, AT_PEAK);
    const struct ta_evidence evidence[] = {ta_place_evidence(&share), ta_place_evidence(&bytes)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "memory-history",
            .rule = "memory_history",
            .title = ta_advice_printf(
                advice,
                "%s of the memory at the peak (%s) was allocated before the history began%s",
                ta_advice_number(advice, share.value, TA_UNIT_RATIO),
                ta_advice_number(advice, bytes.value, TA_UNIT_BYTES),
                ta_place_owner(advice, in->report, &share)),
            .why = "The call sites that hold this memory were not recorded.",
            .advice =
                "Call `torch.cuda.memory._record_memory_history()` before the model is built.",
            .severity = TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.9,
            .threshold = ta_advice_printf(advice, "memory from before the history > %s of the peak",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, memory_history, &ops, .title = "Late history of memory",
          .summary = "Fires when most memory of the peak was allocated before its history began",
          .version = "1", .options = options);
