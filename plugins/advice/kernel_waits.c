/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels that only wait: the device counts as busy and does nothing. */
#include "kernel.h"

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
                   "Share of the window in kernels that wait, from which the rule fires"},
    TA_OPTIONS_END,
};

/* What such kernels take of the busy time, which all that runs at once shares evenly. */
struct waits {
    double time, most; /* all ranks; of the kernel in `row` of gpu_time.by_name */
    size_t row;
};

static struct waits find_waits(const struct ta_report *report, const struct ta_table *times)
{
    struct waits waits = {.time = 0};
    const struct ta_table *kernels = ta_report_table(report, "kernels.by_name");
    for (size_t i = 0; kernels && i < kernels->n_rows; i++) {
        if (!ta_row_reads(kernels, i, "family", "wait"))
            continue;
        const size_t row = kernel_row(times, ta_row_text(kernels, i, "name"));
        const double time = row == SIZE_MAX ? 0 : ta_row_number(times, row, "exposed_ns", 0);
        waits.time += time;
        if (time > waits.most) {
            waits.most = time;
            waits.row = row;
        }
    }
    return waits;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_old_look windows = {.table = "gpu_time.by_rank", .column = "window_ns"};
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const double window = ta_old_look_sum(in->report, &windows, TA_MISSING);
    const struct ta_table *times = ta_report_table(in->report, "gpu_time.by_name");
    const struct waits waits = find_waits(in->report, times);
    if (window <= 0 || waits.time / window <= threshold)
        return TA_OK;
    const struct ta_place most = {.table = times, .row = waits.row};
    const struct ta_table *kernels = ta_report_table(in->report, "kernels.by_name");
    const size_t kernel = kernel_row(kernels, ta_row_text(times, waits.row, "name"));
    const struct ta_evidence evidence[] = {kernel_evidence(times, waits.row, "exposed_ns"),
                                           kernel_evidence(kernels, kernel, "mean_ns")};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "kernel-waits",
            .rule = "kernel_waits",
            .title = ta_advice_printf(
                advice,
                "Kernels that only wait for others take %s of the GPU's window (%s%s), most "
                "of it %s",
                ta_advice_number(advice, waits.time / window, TA_UNIT_RATIO),
                ta_advice_number(advice, waits.time, TA_UNIT_NS),
                kernel_all_ranks(in->report, advice), ta_old_place_text(advice, &most, "name")),
            .advice = "The device counts as busy, and does no work then. Look in the timeline "
                      "at what they wait for: other queues, copies, or the host, which could "
                      "hand it out earlier.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = 0,
            .saving_high_ns = kernel_saving(in->report, waits.time),
            .confidence = 0.4,
            .threshold = ta_advice_printf(advice, "kernels that wait take > %s of the window",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, kernel_waits, &ops, .title = "Kernels that wait",
          .summary = "Fires when kernels that do nothing but wait fill the device", .version = "1",
          .options = options);
