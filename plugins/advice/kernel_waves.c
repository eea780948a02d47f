/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels with too few blocks for the device, or a last wave that is mostly empty. */
#include "kernel.h"

enum { THRESHOLD, EFFICIENCY, SHARE };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
                   "Share of the kernel time in badly filled kernels from which the rule fires"},
    [EFFICIENCY] = {"efficiency", TA_OPTION_NUMBER, 0.7, 0, 1, TA_OPTION_RATIO,
                    "Kernels below this efficiency are badly filled"},
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.02, 0, 1, TA_OPTION_RATIO,
               "Kernels with a smaller share of the kernel time are left out"},
    TA_OPTIONS_END,
};

enum { CLASS_TIME, NAME, FAMILY, WAVE_NAME, WAVE_TIME, WAVE_LOST, WAVE_EFFICIENCY };

static const struct ta_ref reads[] = {
    [CLASS_TIME] = {"kernels.by_class", "total_ns"},
    [NAME] = {"kernels.by_name", "name"},
    [FAMILY] = {"kernels.by_name", "family"},
    [WAVE_NAME] = {"kernels.waves", "name"},
    [WAVE_TIME] = {"kernels.waves", "total_ns"},
    [WAVE_LOST] = {"kernels.waves", "lost_ns"},
    [WAVE_EFFICIENCY] = {"kernels.waves", "efficiency"},
};

struct bad {
    double time, lost, most;
    size_t row, kernels;
};

/* Adds up the badly filled kernels that matter. */
static struct bad find_bad(const struct ta_refs *in, double all, double efficiency, double share)
{
    struct bad bad = {0};
    for (size_t i = 0; i < ta_ref_rows(in, WAVE_EFFICIENCY); i++) {
        const struct ta_place reached = ta_place_at(in, WAVE_EFFICIENCY, i);
        const size_t kernel = kernel_row(in, NAME, ta_ref_text(in, WAVE_NAME, i));
        const double time = ta_ref_number(in, WAVE_TIME, i, 0);
        const double lost = ta_ref_number(in, WAVE_LOST, i, 0);
        if (!reached.table || time / all <= share || reached.value >= efficiency ||
            (kernel != SIZE_MAX && ta_ref_reads(in, FAMILY, kernel, "wait")))
            continue; /* one that only waits needs no more than one block */
        bad.time += time;
        bad.lost += lost;
        bad.kernels++;
        if (lost > bad.most) {
            bad.most = lost;
            bad.row = i;
        }
    }
    return bad;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD), all = ta_ref_sum(in, CLASS_TIME);
    if (all <= 0)
        return TA_OK;
    const struct bad bad =
        find_bad(in, all, ta_ctx_option(ctx, EFFICIENCY), ta_ctx_option(ctx, SHARE));
    if (bad.kernels == 0 || bad.time / all <= threshold)
        return TA_OK;
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, WAVE_EFFICIENCY, bad.row),
                                           ta_ref_evidence(in, WAVE_LOST, bad.row)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "waves-underfilled",
                  .rule = "kernel_waves",
                  .title = ta_advice_printf(
                      advice,
                      "%zu kernel%s the device badly: %s of the kernel time (%s, of which %s are "
                      "lost%s)",
                      bad.kernels, bad.kernels == 1 ? " fills" : "s fill",
                      ta_advice_number(advice, bad.time / all, TA_UNIT_RATIO),
                      ta_advice_number(advice, bad.time, TA_UNIT_NS),
                      ta_advice_number(advice, bad.lost, TA_UNIT_NS),
                      kernel_all_ranks(in->report, advice)),
                  .advice = "Give them more blocks: a larger batch or fewer, larger calls, smaller "
                            "tiles or split-k for products, several streams for independent work; "
                            "sizes that are multiples of the tile avoid a short last wave.",
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = 2,
                  .saving_low_ns = kernel_saving(in->report, bad.lost / 2),
                  .saving_high_ns = kernel_saving(in->report, bad.lost),
                  .confidence = 0.6,
                  .threshold = ta_advice_printf(
                      advice, "kernels of efficiency < %s take > %s of the kernel time",
                      ta_advice_number(advice, ta_ctx_option(ctx, EFFICIENCY), TA_UNIT_RATIO),
                      ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
              });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, kernel_waves, &ops, .title = "Badly filled kernels",
          .summary = "Fires when kernels have too few blocks or a short last wave", .version = "1",
          .options = options);
