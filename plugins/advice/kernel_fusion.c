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

static double sum_of(const struct ta_table *table, const char *column)
{
    double sum = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        sum += ta_row_number(table, i, column, 0);
    return sum;
}

static void advise_chains(struct ta_ctx *ctx, const struct ta_report *report,
                          struct ta_advice *advice, double all)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const struct ta_table *chains = ta_report_table(report, "fusion.chains");
    const double time = chains ? sum_of(chains, "total_ns") : 0;
    if (!chains || time / all <= threshold)
        return;
    const struct ta_evidence evidence[] = {kernel_evidence(chains, 0, "total_ns"),
                                           kernel_evidence(chains, 0, "saving_high_ns")};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "fusion-chains",
                  .rule = "kernel_fusion",
                  .title = ta_advice_printf(
                      advice,
                      "Chains of kernels over the same elements take %s of the kernel time (%s in "
                      "%s kernels%s)",
                      ta_advice_number(advice, time / all, TA_UNIT_RATIO),
                      ta_advice_number(advice, time, TA_UNIT_NS),
                      ta_advice_number(advice, sum_of(chains, "kernels"), TA_UNIT_COUNT),
                      kernel_all_ranks(report, advice)),
                  .advice = "Fuse them: torch.compile of the module around them, or a fused "
                            "operator for norm and modulation, rotary embedding, activation and "
                            "residual.",
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = 2,
                  .saving_low_ns = kernel_saving(report, sum_of(chains, "saving_low_ns")),
                  .saving_high_ns = kernel_saving(report, sum_of(chains, "saving_high_ns")),
                  .confidence = 0.6,
                  .threshold = ta_advice_printf(advice, "chains > %s of the kernel time",
                                                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
              });
}

static void advise_casts(struct ta_ctx *ctx, const struct ta_report *report,
                         struct ta_advice *advice, double all)
{
    const double threshold = ta_ctx_option(ctx, CASTS);
    const struct ta_table *copies = ta_report_table(report, "kernels.copies_by_op");
    const double time = copies ? sum_of(copies, "total_ns") : 0;
    if (!copies || time / all <= threshold)
        return;
    const struct ta_evidence evidence[] = {kernel_evidence(copies, 0, "total_ns"),
                                           kernel_evidence(copies, 0, "share")};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "casts-layout",
                  .rule = "kernel_fusion",
                  .title = ta_advice_printf(
                      advice,
                      "Casts, copies and changes of layout by kernels take %s of the kernel time "
                      "(%s%s)",
                      ta_advice_number(advice, time / all, TA_UNIT_RATIO),
                      ta_advice_number(advice, time, TA_UNIT_NS), kernel_all_ranks(report, advice)),
                  .advice = "Keep one type and one layout from end to end: weights in the type of "
                            "the computation, channels_last for convolutions, no .contiguous() or "
                            ".float() between layers, outputs written into their place instead of "
                            "joined.",
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = 2,
                  .saving_low_ns = 0,
                  .saving_high_ns = kernel_saving(report, time),
                  .confidence = 0.6,
                  .threshold =
                      ta_advice_printf(advice, "casts, copies and layout > %s of the kernel time",
                                       ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
              });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double all = kernel_time(in->report);
    if (all <= 0)
        return TA_OK;
    advise_chains(ctx, in->report, advice, all);
    advise_casts(ctx, in->report, advice, all);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, kernel_fusion, &ops, .title = "Unfused chains, casts and layout",
          .summary = "Fires when kernels could be fused, or only cast, copy and reorder",
          .version = "1", .options = options);
