/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A device that computes most of the time, and much of it in one kernel: where to look first. */
#include "kernel.h"
#include "recommend/rule.h"

#include <math.h>

enum { THRESHOLD, COMPUTE };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.2, 0, 1, TA_OPTION_RATIO,
                   "Share of the busy time in one kernel from which the rule fires"},
    [COMPUTE] = {"compute", TA_OPTION_NUMBER, 0.5, 0, 1, TA_OPTION_RATIO,
                 "Share of the window in kernels of computation below which it never does"},
    TA_OPTIONS_END,
};

enum {
    NAME,
    FAMILY,
    KIND,
    CALLS,
    MEAN,
    BUSY_NAME,
    BUSY_CLASS,
    BUSY_SHARE,
    EXPOSED,
    CLASS,
    CLASS_TIME,
    OP_CLASS,
    OP_TIME,
    OP_EFFICIENCY,
    UNKNOWN_REASON,
    UNKNOWN_SHARE,
    BOUND,
    BOUND_SHARE
};

static const struct ta_ref reads[] = {
    [NAME] = {"kernels.by_name", "name"},
    [FAMILY] = {"kernels.by_name", "family"},
    [KIND] = {"kernels.by_name", "kind"},
    [CALLS] = {"kernels.by_name", "calls"},
    [MEAN] = {"kernels.by_name", "mean_ns"},
    [BUSY_NAME] = {"gpu_time.by_name", "name"},
    [BUSY_CLASS] = {"gpu_time.by_name", "class"},
    [BUSY_SHARE] = {"gpu_time.by_name", "share"},
    [EXPOSED] = {"gpu_time.by_name", "exposed_ns"},
    [CLASS] = {"kernels.by_class", "class"},
    [CLASS_TIME] = {"kernels.by_class", "total_ns"},
    [OP_CLASS] = {"roofline.by_op", "class"},
    [OP_TIME] = {"roofline.by_op", "busy_ns"},
    [OP_EFFICIENCY] = {"roofline.by_op", "efficiency"},
    [UNKNOWN_REASON] = {"roofline.unknown", "reason"},
    [UNKNOWN_SHARE] = {"roofline.unknown", "share"},
    [BOUND] = {"run.bound", "bound"},
    [BOUND_SHARE] = {"run.bound", "share"},
};

/* The two kernels with most of the busy time, rows of gpu_time.by_name; those that only wait are
 * none of them.  Of a recording of one kernel there is nothing to choose. */
struct largest {
    size_t row[2];
    double share[2];
    size_t n; /* kernels in all */
};

static struct largest find_largest(const struct ta_refs *in)
{
    struct largest found = {.n = 0};
    for (size_t i = 0; i < ta_ref_rows(in, BUSY_SHARE); i++) {
        const double share = ta_ref_number(in, BUSY_SHARE, i, 0);
        if (!ta_ref_reads(in, BUSY_CLASS, i, "compute"))
            continue;
        found.n++;
        if (share <= found.share[1])
            continue;
        const size_t kernel = kernel_row(in, NAME, ta_ref_text(in, BUSY_NAME, i));
        if (kernel == SIZE_MAX || ta_ref_reads(in, FAMILY, kernel, "wait"))
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

/* What to try with the kernels of a class. */
static const char *try(const struct ta_refs *in, size_t kernel)
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
        if (ta_ref_reads(in, KIND, kernel, ways[i].class))
            return ways[i].advice;
    return "kernels.by_op has the operators that launch it.";
}

/* How near the limits of the device operators of the class come, or why nobody can tell. */
static const char *limits(const struct ta_refs *in, struct ta_advice *advice, struct ta_slice class,
                          double class_time)
{
    const struct ta_look graphs = {.cells = UNKNOWN_SHARE,
                                   .where = {{UNKNOWN_REASON, "graph_launch"}}};
    double time = 0, reached = 0;
    for (size_t i = 0; i < ta_ref_rows(in, OP_TIME); i++) {
        const double efficiency = ta_ref_number(in, OP_EFFICIENCY, i, NAN);
        if (isnan(efficiency) || !ta_slice_equal(ta_ref_text(in, OP_CLASS, i), class))
            continue;
        time += ta_ref_number(in, OP_TIME, i, 0);
        reached += ta_ref_number(in, OP_TIME, i, 0) * efficiency;
    }
    if (time > 0 && time >= class_time / 2)
        return ta_advice_printf(advice, " Operators of its class reach %s of the roofline.",
                                ta_advice_number(advice, reached / time, TA_UNIT_RATIO));
    if (ta_look_sum(in, &graphs, TA_MISSING) >= 0.5)
        return " Most kernels come from graphs, which record no sizes: one step without graphs, "
               "with record_shapes=True, tells how near the limits of the device they run.";
    return "";
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    static const struct ta_look computing = {.cells = BOUND_SHARE, .where = {{BOUND, "compute"}}};
    const struct largest found = find_largest(in);
    if (found.n < 2 || found.share[0] <= threshold ||
        ta_look_most(in, &computing, TA_MISSING) < ta_ctx_option(ctx, COMPUTE))
        return TA_OK;
    const struct ta_place first = ta_place_at(in, BUSY_SHARE, found.row[0]);
    const struct ta_place second = ta_place_at(in, BUSY_SHARE, found.row[1]);
    const size_t kernel = kernel_row(in, NAME, ta_ref_text(in, BUSY_NAME, first.row));
    const struct ta_slice class = ta_ref_text(in, KIND, kernel);
    double class_time = 0;
    for (size_t i = 0; i < ta_ref_rows(in, CLASS_TIME); i++)
        if (ta_slice_equal(ta_ref_text(in, CLASS, i), class))
            class_time = ta_ref_number(in, CLASS_TIME, i, 0);
    const struct ta_evidence evidence[] = {
        ta_ref_evidence(in, BUSY_SHARE, first.row), ta_ref_evidence(in, EXPOSED, first.row),
        ta_ref_evidence(in, MEAN, kernel), ta_ref_evidence(in, BUSY_SHARE, second.row)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "largest-kernel",
                  .rule = "kernel_largest",
                  .title = ta_advice_printf(
                      advice, "%s takes %s of the busy time (%s calls of %s on average%s), %s %s",
                      ta_place_text(advice, in, &first, BUSY_NAME),
                      ta_advice_number(advice, found.share[0], TA_UNIT_RATIO),
                      ta_advice_number(advice, ta_ref_number(in, CALLS, kernel, 0), TA_UNIT_COUNT),
                      ta_advice_number(advice, ta_ref_number(in, MEAN, kernel, 0), TA_UNIT_NS),
                      ta_report_run(in->report)->n_ranks > 1 ? ", all ranks" : "",
                      ta_place_text(advice, in, &second, BUSY_NAME),
                      ta_advice_number(advice, found.share[1], TA_UNIT_RATIO)),
                  .advice = ta_advice_printf(
                      advice, "Making it 10 %% faster shortens the busy time by up to %s. %s%s",
                      ta_advice_number(advice, found.share[0] / 10, TA_UNIT_RATIO), try(in, kernel),
                      limits(in, advice, class, class_time)),
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

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, kernel_largest, &ops, .title = "Largest kernels",
          .summary = "Fires when one kernel takes much of the time of a device that computes",
          .version = "1", .options = options);
