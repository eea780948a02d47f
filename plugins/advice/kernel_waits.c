/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels that only wait: the device counts as busy and does nothing. */
#include "kernel.h"

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
                   "Share of the run in kernels that wait, from which the rule fires"},
    TA_OPTIONS_END,
};

enum { NAME, FAMILY, MEAN, BUSY_NAME, EXPOSED, RUN };

static const struct ta_ref reads[] = {
    [NAME] = {"kernels.by_name", "name"},           [FAMILY] = {"kernels.by_name", "family"},
    [MEAN] = {"kernels.by_name", "mean_ns"},        [BUSY_NAME] = {"gpu_time.by_name", "name"},
    [EXPOSED] = {"gpu_time.by_name", "exposed_ns"}, KERNEL_RUN_READS(RUN),
};

/* What such kernels take of the busy time, which all that runs at once shares evenly. */
struct waits {
    double time, most; /* all ranks; of the kernel in `row` of gpu_time.by_name */
    size_t row;
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct kernel_run run = kernel_run_of(in, RUN);
    struct waits waits = {.time = 0};
    for (size_t i = 0; i < ta_ref_rows(in, NAME); i++) {
        if (!ta_ref_reads(in, FAMILY, i, "wait"))
            continue;
        const size_t row = kernel_row(in, BUSY_NAME, ta_ref_text(in, NAME, i));
        const double time = row == SIZE_MAX ? 0 : ta_ref_number(in, EXPOSED, row, 0);
        waits.time += time;
        if (time > waits.most) {
            waits.most = time;
            waits.row = row;
        }
    }
    run.exposed = 1; /* these times are exposed ones */
    if (!kernel_matters(&run, waits.time, threshold))
        return TA_OK;
    const struct ta_place most = ta_place_at(in, EXPOSED, waits.row);
    const size_t kernel = kernel_row(in, NAME, ta_ref_text(in, BUSY_NAME, waits.row));
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, EXPOSED, waits.row),
                                           ta_ref_evidence(in, MEAN, kernel)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "kernel-waits",
            .rule = "kernel_waits",
            .title = ta_advice_printf(
                advice,
                "Kernels that only wait for others take %s: the device counts as busy and does no "
                "work",
                kernel_time(advice, &run, waits.time)),
            .why = ta_advice_printf(advice, "%s takes %s of the time of such kernels.",
                                    ta_place_text(advice, in, &most, BUSY_NAME),
                                    kernel_part(advice, waits.most / waits.time)),
            .advice =
                "Look in the timeline for what runs elsewhere meanwhile (another queue, a copy, "
                "the host) and start that earlier.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .gain = TA_GAIN_DEVICE,
            .saving_low_ns = 0,
            .saving_high_ns = kernel_saving(&run, waits.time),
            .confidence = 0.4,
            .threshold = ta_advice_printf(advice, "kernels that wait take > %s of the run",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, kernel_waits, &ops, .title = "Kernels that wait",
          .summary = "Fires when kernels that do nothing but wait fill the device", .version = "1",
          .options = options);
