/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chains of kernels that a compiler could fuse, and kernels that only cast, copy or reorder. */
#include "kernel.h"

enum { THRESHOLD, CASTS };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.03, 0, 1, TA_OPTION_RATIO,
                   "Share of the kernel time in chains from which the rule fires"},
    [CASTS] = {"casts", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
               "Share of the kernel time in casts, copies and changes of layout from which the "
               "rule fires"},
    TA_OPTIONS_END,
};

enum { CLASS_TIME, CHAIN_KERNELS, CHAIN_TIME, CHAIN_LEAST, CHAIN_MOST, COPY_TIME, COPY_SHARE };

static const struct ta_ref reads[] = {
    [CLASS_TIME] = {"kernels.by_class", "total_ns"},
    [CHAIN_KERNELS] = {"fusion.chains", "kernels"},
    [CHAIN_TIME] = {"fusion.chains", "total_ns"},
    [CHAIN_LEAST] = {"fusion.chains", "saving_low_ns"},
    [CHAIN_MOST] = {"fusion.chains", "saving_high_ns"},
    [COPY_TIME] = {"kernels.copies_by_op", "total_ns"},
    [COPY_SHARE] = {"kernels.copies_by_op", "share"},
};

static void advise_casts(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                         double all)
{
    const double threshold = ta_ctx_option(ctx, CASTS);
    const double time = ta_ref_sum(in, COPY_TIME);
    if (time <= 0 || time / all <= threshold)
        return;
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, COPY_TIME, 0),
                                           ta_ref_evidence(in, COPY_SHARE, 0)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "casts-layout",
            .rule = "kernel_fusion",
            .title = ta_advice_printf(
                advice,
                "Casts, copies and changes of layout by kernels take %s of the kernel time "
                "(%s%s)",
                ta_advice_number(advice, time / all, TA_UNIT_RATIO),
                ta_advice_number(advice, time, TA_UNIT_NS), kernel_all_ranks(in->report, advice)),
            .advice = "Keep one type and one layout from end to end: weights in the type of "
                      "the computation, channels_last for convolutions, no .contiguous() or "
                      ".float() between layers, outputs written into their place instead of "
                      "joined.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = 0,
            .saving_high_ns = kernel_saving(in->report, time),
            .confidence = 0.6,
            .threshold =
                ta_advice_printf(advice, "casts, copies and layout > %s of the kernel time",
                                 ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double all = ta_ref_sum(in, CLASS_TIME);
    if (all <= 0)
        return TA_OK;
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const double time = ta_ref_sum(in, CHAIN_TIME);
    if (time > 0 && time / all > threshold) {
        const struct ta_evidence evidence[] = {ta_ref_evidence(in, CHAIN_TIME, 0),
                                               ta_ref_evidence(in, CHAIN_MOST, 0)};
        ta_advise(
            advice,
            &(struct ta_finding){
                .id = "fusion-chains",
                .rule = "kernel_fusion",
                .title = ta_advice_printf(
                    advice,
                    "Chains of kernels over the same elements take %s of the kernel time (%s in "
                    "%s kernels%s)",
                    ta_advice_number(advice, time / all, TA_UNIT_RATIO),
                    ta_advice_number(advice, time, TA_UNIT_NS),
                    ta_advice_number(advice, ta_ref_sum(in, CHAIN_KERNELS), TA_UNIT_COUNT),
                    kernel_all_ranks(in->report, advice)),
                .advice = "Fuse them: torch.compile of the module around them, or a fused "
                          "operator for norm and modulation, rotary embedding, activation and "
                          "residual.",
                .severity = TA_MEDIUM,
                .evidence = evidence,
                .n_evidence = 2,
                .saving_low_ns = kernel_saving(in->report, ta_ref_sum(in, CHAIN_LEAST)),
                .saving_high_ns = kernel_saving(in->report, ta_ref_sum(in, CHAIN_MOST)),
                .confidence = 0.6,
                .threshold = ta_advice_printf(advice, "chains > %s of the kernel time",
                                              ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
            });
    }
    advise_casts(ctx, in, advice, all);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, kernel_fusion, &ops, .title = "Unfused chains, casts and layout",
          .summary = "Fires when kernels could be fused, or only cast, copy and reorder",
          .version = "1", .options = options);
