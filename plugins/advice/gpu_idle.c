/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Low GPU busy share: the device waits for the host. */
#include <traceanalyze/analysis.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.15, 0, 1, TA_OPTION_RATIO,
                   "Idle share of the window from which the rule fires"},
    TA_OPTIONS_END,
};

/* The device whose idle time is largest, by share of its window. */
static size_t worst_row(const struct ta_table *gpu, size_t idle, size_t window, double *share)
{
    size_t worst = 0;
    for (size_t i = 0; i < gpu->n_rows; i++) {
        const double length = ta_cell_number(ta_table_cell(gpu, i, window), 0);
        const double part = ta_cell_number(ta_table_cell(gpu, i, idle), 0);
        if (length > 0 && part / length > *share) {
            *share = part / length;
            worst = i;
        }
    }
    return worst;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_report *report,
                             struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const struct ta_table *gpu = ta_report_table(report, "gpu_time.by_rank");
    if (!gpu)
        return TA_OK;
    const size_t idle = ta_table_column(gpu, "idle_ns"), window = ta_table_column(gpu, "window_ns");
    double share = 0;
    const size_t row = worst_row(gpu, idle, window, &share);
    if (share <= threshold)
        return TA_OK;
    const struct ta_cell *rank = ta_table_cell(gpu, row, 0);
    const struct ta_cell *idle_ns = ta_table_cell(gpu, row, idle);
    const struct ta_cell *window_ns = ta_table_cell(gpu, row, window);
    char part[TA_UNIT_TEXT_MAX], time[TA_UNIT_TEXT_MAX], limit[TA_UNIT_TEXT_MAX];
    ta_unit_format(part, share, TA_UNIT_RATIO);
    ta_unit_format(time, ta_cell_number(idle_ns, 0), TA_UNIT_NS);
    ta_unit_format(limit, threshold, TA_UNIT_RATIO);
    const struct ta_evidence evidence[] = {
        {"gpu_time.by_rank", "idle_ns", *rank, *idle_ns, TA_UNIT_NS},
        {"gpu_time.by_rank", "window_ns", *rank, *window_ns, TA_UNIT_NS},
    };
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "gpu-idle",
                  .rule = "gpu_idle",
                  .title = ta_advice_printf(
                      advice, "The GPU of rank %lld is idle for %s of its window (%s)",
                      (long long)rank->i, part, time),
                  .advice = "Let the host run ahead of the device: fewer and larger launches "
                            "(torch.compile, CUDA graphs), no .item() or other synchronization "
                            "inside the step loop, data and conditioning prepared in another "
                            "thread.",
                  .severity = share > 0.5    ? TA_HIGH
                              : share > 0.25 ? TA_MEDIUM
                                             : TA_LOW,
                  .evidence = evidence,
                  .n_evidence = 2,
                  .saving_low_ns = (int64_t)((share - threshold) * ta_cell_number(window_ns, 0)),
                  .saving_high_ns = idle_ns->i,
                  .confidence = 0.6,
                  .threshold = ta_advice_printf(advice, "idle share of the window > %s", limit),
              });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, gpu_idle, &ops, .title = "Low GPU busy share",
          .summary = "Fires when a device is idle for a large part of its window", .version = "1",
          .options = options);
