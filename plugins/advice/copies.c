/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies that stop the device: exposed ones, and those from pageable memory, which cannot overlap.
 */
#include <traceanalyze/analysis.h>

enum { EXPOSED, PAGEABLE, HIGH };

static const struct ta_option options[] = {
    [EXPOSED] = {"exposed", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
                 "Exposed share of the window from which the rule fires"},
    [PAGEABLE] = {"pageable", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
                  "Share of the window in copies of pageable memory from which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.2, 0, 1, TA_OPTION_RATIO,
              "Exposed share above which it is severe"},
    TA_OPTIONS_END,
};

struct worst {
    size_t row;
    double share, window;
};

/* The row of gpu_time.by_rank with the largest share of exposed copies. */
static struct worst find_exposed(const struct ta_table *gpu)
{
    const size_t exposed = ta_table_column(gpu, "memcpy_exposed_ns");
    const size_t window = ta_table_column(gpu, "window_ns");
    struct worst worst = {0};
    for (size_t i = 0; i < gpu->n_rows; i++) {
        const double length = ta_cell_number(ta_table_cell(gpu, i, window), 0);
        const double part = ta_cell_number(ta_table_cell(gpu, i, exposed), 0);
        if (length > 0 && part / length > worst.share)
            worst = (struct worst){i, part / length, length};
    }
    return worst;
}

/* The row of copies.by_memory with most time in pageable copies of a rank, or SIZE_MAX. */
static size_t find_pageable(const struct ta_table *copies, int64_t rank)
{
    const size_t memory = ta_table_column(copies, "memory");
    const size_t total = ta_table_column(copies, "total_ns");
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < copies->n_rows; i++) {
        const struct ta_slice text = ta_table_cell(copies, i, memory)->text;
        if (ta_table_cell(copies, i, 0)->i != rank || !memmem(text.ptr, text.len, "Pageable", 8))
            continue;
        if (found == SIZE_MAX ||
            ta_table_cell(copies, i, total)->i > ta_table_cell(copies, found, total)->i)
            found = i;
    }
    return found;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_report *report,
                             struct ta_advice *advice)
{
    const struct ta_table *gpu = ta_report_table(report, "gpu_time.by_rank");
    const struct ta_table *copies = ta_report_table(report, "copies.by_memory");
    if (!gpu || !copies)
        return TA_OK;
    const struct worst worst = find_exposed(gpu);
    const struct ta_cell *rank = ta_table_cell(gpu, worst.row, 0);
    const struct ta_cell *exposed =
        ta_table_cell(gpu, worst.row, ta_table_column(gpu, "memcpy_exposed_ns"));
    const size_t row = find_pageable(copies, rank->i);
    const struct ta_cell *pageable =
        row == SIZE_MAX ? NULL : ta_table_cell(copies, row, ta_table_column(copies, "total_ns"));
    const double pageable_share =
        pageable && worst.window > 0 ? ta_cell_number(pageable, 0) / worst.window : 0;
    if (worst.share <= ta_ctx_option(ctx, EXPOSED) &&
        pageable_share <= ta_ctx_option(ctx, PAGEABLE))
        return TA_OK;
    char part[TA_UNIT_TEXT_MAX], time[TA_UNIT_TEXT_MAX], limit[2][TA_UNIT_TEXT_MAX];
    ta_unit_format(part, worst.share, TA_UNIT_RATIO);
    ta_unit_format(time, ta_cell_number(exposed, 0), TA_UNIT_NS);
    ta_unit_format(limit[0], ta_ctx_option(ctx, EXPOSED), TA_UNIT_RATIO);
    ta_unit_format(limit[1], ta_ctx_option(ctx, PAGEABLE), TA_UNIT_RATIO);
    struct ta_evidence evidence[2] = {
        {"gpu_time.by_rank", "memcpy_exposed_ns", *rank, *exposed, TA_UNIT_NS}};
    if (pageable)
        evidence[1] =
            (struct ta_evidence){"copies.by_memory", "total_ns", *rank, *pageable, TA_UNIT_NS};
    const double bearable = ta_ctx_option(ctx, EXPOSED) * worst.window;
    const double low = ta_cell_number(exposed, 0) - bearable;
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "exposed-copies",
            .rule = "copies",
            .title = ta_advice_printf(
                advice, "Copies%s stop the GPU of rank %lld for %s of its window (%s)",
                pageable_share > ta_ctx_option(ctx, PAGEABLE) ? ", partly from pageable memory,"
                                                              : "",
                (long long)rank->i, part, time),
            .advice =
                "Pin the host memory (pin_memory, cudaHostRegister) and copy on an own stream "
                "with non_blocking=True, one layer ahead of its use; keep weights on the "
                "device when they fit.",
            .severity = worst.share > ta_ctx_option(ctx, HIGH)      ? TA_HIGH
                        : worst.share > ta_ctx_option(ctx, EXPOSED) ? TA_MEDIUM
                                                                    : TA_LOW,
            .evidence = evidence,
            .n_evidence = pageable ? 2 : 1,
            .saving_low_ns = low > 0 ? (int64_t)low : 0,
            .saving_high_ns = exposed->i,
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice,
                                          "exposed copies > %s or pageable copies > %s of the "
                                          "window",
                                          limit[0], limit[1]),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, copies, &ops, .title = "Exposed or pageable copies",
          .summary = "Fires when memory copies stop the device", .version = "1",
          .options = options);
