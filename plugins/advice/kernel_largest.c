/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A device that computes most of the time, and much of it in one kernel: where to look first. */
#include "kernel.h"

#include <math.h>

enum { THRESHOLD, COMPUTE };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.2, 0, 1, TA_OPTION_RATIO,
                   "Share of the busy time in one kernel from which the rule fires"},
    [COMPUTE] = {"compute", TA_OPTION_NUMBER, 0.5, 0, 1, TA_OPTION_RATIO,
                 "Share of the window in kernels of computation below which it never does"},
    TA_OPTIONS_END,
};

/* The two kernels with most of the busy time, rows of gpu_time.by_name; those that only wait are
 * none of them.  Of a recording of one kernel there is nothing to choose. */
struct largest {
    const struct ta_table *times, *kernels;
    size_t row[2];
    double share[2];
    size_t n; /* kernels in all */
};

static struct largest find_largest(const struct ta_report *report)
{
    struct largest found = {.times = ta_report_table(report, "gpu_time.by_name"),
                            .kernels = ta_report_table(report, "kernels.by_name")};
    for (size_t i = 0; found.times && i < found.times->n_rows; i++) {
        const double share = ta_row_number(found.times, i, "share", 0);
        if (!ta_row_reads(found.times, i, "class", "compute"))
            continue;
        found.n++;
        if (share <= found.share[1])
            continue;
        const size_t kernel = kernel_row(found.kernels, ta_row_text(found.times, i, "name"));
        if (kernel == SIZE_MAX || ta_row_reads(found.kernels, kernel, "family", "wait"))
            continue;
        const bool first = share > found.share[0];
        found.share[1] = first ? found.share[0] : share;
        found.row[1] = first ? found.row[0] : i;
        if (first) {
            found.share[0] = share;
            found.row[0] = i;
        }
    }
    return found;
}

static double computing(const struct ta_report *report)
{
    const struct ta_old_look look = {
        .table = "run.bound", .column = "share", .where = {{"bound", "compute"}}};
    struct ta_place place;
    return ta_old_look_worst(report, &look, &place) ? place.value : 0;
}

/* What to try with the kernels of a class. */
static const char *try(const struct ta_table *kernels, size_t kernel)
{
    static const struct {
        const char *class, *advice;
    } ways[] = {
        {"gemm", "Products: lower precision (fp8, fp4), tuned kernels (max-autotune, TunableOp), "
                 "sizes that are multiples of the tile. With few rows, as in decoding, the bytes "
                 "of the weights bound them: quantize weights, or decode more sequences at once."},
        {"attention", "Attention: another backend (flash-attn 3, cuDNN, AITER), fewer tokens, a "
                      "cache of keys and values of lower precision, sparse or quantized attention "
                      "where quality allows."},
        {"conv", "Convolutions: channels_last, 16-bit types, cudnn.benchmark or its like."},
        {"softmax", "Softmax on its own reads and writes all scores: use fused attention or loss."},
        {"norm", "Norms are bound by memory: fuse them with what is around them, and compute in "
                 "16-bit types."},
        {"elementwise", "It is bound by memory: fuse it with what is around it (torch.compile)."},
        {"triton", "A generated kernel: see what it fuses (TORCH_LOGS=output_code), and tune it "
                   "(max-autotune)."},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ta_row_reads(kernels, kernel, "kind", ways[i].class))
            return ways[i].advice;
    return "kernels.by_op has the operators that launch it.";
}

/* How near the limits of the device operators of the class come, or why nobody can tell. */
static const char *limits(const struct ta_report *report, struct ta_advice *advice,
                          struct ta_slice class, double class_time)
{
    const struct ta_table *ops = ta_report_table(report, "roofline.by_op");
    const struct ta_old_look graphs = {
        .table = "roofline.unknown", .column = "share", .where = {{"reason", "graph_launch"}}};
    double time = 0, reached = 0;
    for (size_t i = 0; ops && i < ops->n_rows; i++) {
        const double efficiency = ta_row_number(ops, i, "efficiency", NAN);
        if (isnan(efficiency) || !ta_slice_equal(ta_row_text(ops, i, "class"), class))
            continue;
        time += ta_row_number(ops, i, "busy_ns", 0);
        reached += ta_row_number(ops, i, "busy_ns", 0) * efficiency;
    }
    if (time > 0 && time >= class_time / 2)
        return ta_advice_printf(advice, " Operators of its class reach %s of the roofline.",
                                ta_advice_number(advice, reached / time, TA_UNIT_RATIO));
    if (ta_old_look_sum(report, &graphs, TA_MISSING) >= 0.5)
        return " Most kernels come from graphs, which record no sizes: one step without graphs, "
               "with record_shapes=True, tells how near the limits of the device they run.";
    return "";
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const struct largest found = find_largest(in->report);
    if (found.n < 2 || found.share[0] <= threshold ||
        computing(in->report) < ta_ctx_option(ctx, COMPUTE))
        return TA_OK;
    const struct ta_table *times = found.times;
    const struct ta_place first = {.table = times, .row = found.row[0]};
    const struct ta_place second = {.table = times, .row = found.row[1]};
    const size_t kernel = kernel_row(found.kernels, ta_row_text(times, first.row, "name"));
    const struct ta_slice class = ta_row_text(found.kernels, kernel, "kind");
    const struct ta_table *classes = ta_report_table(in->report, "kernels.by_class");
    double class_time = 0;
    for (size_t i = 0; classes && i < classes->n_rows; i++)
        if (ta_slice_equal(ta_row_text(classes, i, "class"), class))
            class_time = ta_row_number(classes, i, "total_ns", 0);
    const struct ta_evidence evidence[] = {kernel_evidence(times, first.row, "share"),
                                           kernel_evidence(times, first.row, "exposed_ns"),
                                           kernel_evidence(found.kernels, kernel, "mean_ns"),
                                           kernel_evidence(times, second.row, "share")};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "largest-kernel",
                  .rule = "kernel_largest",
                  .title = ta_advice_printf(
                      advice, "%s takes %s of the busy time (%s calls of %s on average%s), %s %s",
                      ta_old_place_text(advice, &first, "name"),
                      ta_advice_number(advice, found.share[0], TA_UNIT_RATIO),
                      ta_advice_number(advice, ta_row_number(found.kernels, kernel, "calls", 0),
                                       TA_UNIT_COUNT),
                      ta_advice_number(advice, ta_row_number(found.kernels, kernel, "mean_ns", 0),
                                       TA_UNIT_NS),
                      ta_report_run(in->report)->n_ranks > 1 ? ", all ranks" : "",
                      ta_old_place_text(advice, &second, "name"),
                      ta_advice_number(advice, found.share[1], TA_UNIT_RATIO)),
                  .advice = ta_advice_printf(
                      advice, "Making it 10 %% faster shortens the busy time by up to %s. %s%s",
                      ta_advice_number(advice, found.share[0] / 10, TA_UNIT_RATIO),
                      try(found.kernels, kernel), limits(in->report, advice, class, class_time)),
                  .severity = TA_LOW,
                  .evidence = evidence,
                  .n_evidence = found.share[1] > 0 ? 4 : 3,
                  .saving_low_ns = TA_MISSING,
                  .saving_high_ns = TA_MISSING,
                  .confidence = 0.6,
                  .threshold = ta_advice_printf(
                      advice,
                      "one kernel takes > %s of the busy time of a device that computes "
                      "%s of its window or more",
                      ta_advice_number(advice, threshold, TA_UNIT_RATIO),
                      ta_advice_number(advice, ta_ctx_option(ctx, COMPUTE), TA_UNIT_RATIO)),
              });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, kernel_largest, &ops, .title = "Largest kernels",
          .summary = "Fires when one kernel takes much of the time of a device that computes",
          .version = "1", .options = options);
