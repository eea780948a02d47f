/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A device that computes most of the time, and much of it in one kernel of which nothing else is
 * known: where to look first.  Of operators with known shapes the roofline says what they reach of
 * what is possible, of fp32 ones the tensor cores; attention has a rule of its own. */
#include "kernel.h"
#include "recommend/rule.h"

#include <stdio.h>

enum { THRESHOLD, COMPUTE };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.2, 0, 1, TA_OPTION_RATIO,
                   "Share of the run in one kernel from which the rule fires"},
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
    PRECISION_CLASS,
    VECTOR,
    BY_OP,
    BY_OP_KERNEL,
    BOUND,
    BOUND_SHARE,
    ATTENTION_BACKEND,
    RECORDED,
    RUN
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
    [PRECISION_CLASS] = {"kernels.precision", "class"},
    [VECTOR] = {"kernels.precision", "vector_ns"},
    [BY_OP] = {"kernels.by_op", "op"},
    [BY_OP_KERNEL] = {"kernels.by_op", "name"},
    [BOUND] = {"run.bound", "bound"},
    [BOUND_SHARE] = {"run.bound", "share"},
    [ATTENTION_BACKEND] = {"attention.calls", "backend"},
    [RECORDED] = {"recording.overhead", "part"},
    KERNEL_RUN_READS(RUN),
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

/* GEMMs of experts, in one kernel or in several: what is said of them is said of all. */
struct experts {
    double time, calls, most;
    size_t row; /* of gpu_time.by_name, with most of the time */
};

static struct experts find_experts(const struct ta_refs *in)
{
    struct experts experts = {.row = SIZE_MAX};
    for (size_t i = 0; i < ta_ref_rows(in, BUSY_SHARE); i++) {
        const size_t kernel = kernel_row(in, NAME, ta_ref_text(in, BUSY_NAME, i));
        const double time = ta_ref_number(in, EXPOSED, i, 0);
        if (kernel == SIZE_MAX || !ta_ref_reads(in, FAMILY, kernel, "fused moe"))
            continue;
        experts.time += time;
        experts.calls += ta_ref_number(in, CALLS, kernel, 0);
        if (time > experts.most) {
            experts.most = time;
            experts.row = i;
        }
    }
    return experts;
}

/* Whether another rule speaks of most of the kernels of a class. */
static bool is_spoken_for(const struct ta_refs *in, struct ta_slice class)
{
    double all = 0, known = 0, vector = 0;
    if (ta_slice_equal(class, TA_LIT("attention")))
        return true;
    for (size_t i = 0;
         ta_slice_equal(class, TA_LIT("softmax")) && i < ta_ref_rows(in, ATTENTION_BACKEND); i++)
        if (ta_slice_starts(ta_ref_text(in, ATTENTION_BACKEND, i), "math"))
            return true; /* a part of attention */
    for (size_t i = 0; i < ta_ref_rows(in, CLASS); i++)
        if (ta_slice_equal(ta_ref_text(in, CLASS, i), class))
            all = ta_ref_number(in, CLASS_TIME, i, 0);
    for (size_t i = 0; i < ta_ref_rows(in, OP_CLASS); i++)
        if (ta_slice_equal(ta_ref_text(in, OP_CLASS, i), class) &&
            !isnan(ta_ref_number(in, OP_EFFICIENCY, i, (double)NAN)))
            known += ta_ref_number(in, OP_TIME, i, 0);
    for (size_t i = 0; i < ta_ref_rows(in, PRECISION_CLASS); i++)
        if (ta_slice_equal(ta_ref_text(in, PRECISION_CLASS, i), class))
            vector += ta_ref_number(in, VECTOR, i, 0);
    return fmax(known, vector) > 0.5 * all;
}

/* Whether the tile in the name of a GEMM, "MT32x16x512" or "_64x16_", is one for few rows, as in
 * decoding. */
static bool has_few_rows(struct ta_slice name)
{
    enum { FEW = 32 };
    for (size_t i = 0; i + 3 < name.len; i++) {
        int m = 0, n = 0, used = 0;
        char text[16] = "";
        if ((i > 0 && name.ptr[i - 1] >= '0' && name.ptr[i - 1] <= '9') || name.ptr[i] < '0' ||
            name.ptr[i] > '9')
            continue;
        memcpy(text, ta_slice_at(name, i), name.len - i < 15 ? name.len - i : 15);
        if (sscanf(text, "%4dx%4d%n", &m, &n, &used) == 2 && used)
            return m <= FEW || n <= FEW;
    }
    return false;
}

/* Whether shapes were recorded, though not of what launches this kernel. */
static bool has_shapes(const struct ta_refs *in)
{
    for (size_t row = 0; row < ta_ref_rows(in, RECORDED); row++)
        if (ta_ref_reads(in, RECORDED, row, "shapes of inputs"))
            return true;
    return false;
}

/* What to try with a kernel. */
static const char *what_to_do(const struct ta_refs *in, size_t kernel, struct ta_slice name)
{
    const struct ta_look graphs = {.cells = UNKNOWN_SHARE,
                                   .where = {{UNKNOWN_REASON, "graph_launch"}}};
    if (ta_ref_reads(in, FAMILY, kernel, "fused moe") && has_few_rows(name))
        return "Decode more sequences at once: the same weights then serve more tokens.";
    if (ta_ref_reads(in, FAMILY, kernel, "fused moe") &&
        memmem(name.ptr, name.len, "fused_moe_kernel", strlen("fused_moe_kernel")))
        return "Tune the tiles of the kernel for this GPU and these sizes (benchmark_moe.py of "
               "vLLM, "
               "tuning_fused_moe_triton.py of SGLang).";
    if (ta_ref_reads(in, KIND, kernel, "gemm") && has_few_rows(name))
        return memmem(name.ptr, name.len, "fp4", 3) || memmem(name.ptr, name.len, "int4", 4)
                   ? "Compute more rows at once (a larger batch): with few rows the bytes of the "
                     "weights bound a GEMM."
                   : "Store the weights in a narrower type, or compute more rows at once (a larger "
                     "batch): with few rows the bytes of the weights bound a GEMM.";
    if (ta_look_sum(in, &graphs, TA_MISSING) >= 0.5)
        return "Record one step without graphs and with record_shapes=True: the sizes show what "
               "the kernel reaches of the peak.";
    if ((ta_ref_reads(in, KIND, kernel, "gemm") || ta_ref_reads(in, KIND, kernel, "conv")) &&
        has_shapes(in))
        return "Let torch.compile(mode=\"max-autotune\") compare kernels for these sizes, or try a "
               "narrower type.";
    if (ta_ref_reads(in, KIND, kernel, "gemm") || ta_ref_reads(in, KIND, kernel, "conv"))
        return "Record with record_shapes=True: the sizes show what the kernel reaches of the "
               "peak.";
    if (ta_ref_reads(in, KIND, kernel, "triton"))
        return "See what the kernel fuses with TORCH_LOGS=output_code, and tune it with "
               "torch.compile(mode=\"max-autotune\").";
    if (ta_ref_reads(in, KIND, kernel, "elementwise") || ta_ref_reads(in, KIND, kernel, "norm") ||
        ta_ref_reads(in, KIND, kernel, "softmax") || ta_ref_reads(in, KIND, kernel, "reduce"))
        return "Fuse the kernel with what is around it (torch.compile): memory bandwidth bounds "
               "it.";
    return "Look at the source of this kernel first: nothing else of this run takes as long.";
}

/* "aten::mm launches the kernel." where an operator is known. */
static const char *launcher(const struct ta_refs *in, struct ta_advice *advice,
                            struct ta_slice kernel)
{
    for (size_t i = 0; i < ta_ref_rows(in, BY_OP_KERNEL); i++) {
        const struct ta_slice op = ta_ref_text(in, BY_OP, i);
        if (op.len && ta_slice_equal(ta_ref_text(in, BY_OP_KERNEL, i), kernel))
            return ta_advice_printf(advice, "%.*s launches the kernel.",
                                    (int)ta_min_i64(80, (int64_t)op.len), op.ptr);
    }
    return NULL;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    static const struct ta_look computing = {.cells = BOUND_SHARE, .where = {{BOUND, "compute"}}};
    const struct largest found = find_largest(in);
    struct kernel_run run = kernel_run_of(in, RUN);
    run.exposed = 1; /* these times are exposed ones */
    if (found.n < 2 || ta_look_most(in, &computing, TA_MISSING) < ta_ctx_option(ctx, COMPUTE))
        return TA_OK;
    const struct experts experts = find_experts(in);
    const double one = ta_ref_number(in, EXPOSED, found.row[0], 0);
    const bool moe = experts.row != SIZE_MAX && experts.time >= one;
    const double time = moe ? experts.time : one;
    const size_t row = moe ? experts.row : found.row[0];
    const struct ta_slice name = ta_ref_text(in, BUSY_NAME, row);
    const size_t kernel = kernel_row(in, NAME, name);
    if (kernel == SIZE_MAX || !kernel_matters(&run, time, threshold) ||
        is_spoken_for(in, ta_ref_text(in, KIND, kernel)))
        return TA_OK;
    const struct ta_place first = ta_place_at(in, BUSY_SHARE, row);
    const char *title =
        moe ? ta_advice_printf(advice, "MoE GEMMs take %s in %s", kernel_time(advice, &run, time),
                               kernel_count(advice, experts.calls, "call"))
            : ta_advice_printf(advice, "One %skernel takes %s in %s: %s",
                               ta_ref_reads(in, KIND, kernel, "gemm")   ? "GEMM "
                               : ta_ref_reads(in, KIND, kernel, "conv") ? "convolution "
                                                                        : "",
                               kernel_time(advice, &run, time),
                               kernel_count(advice, ta_ref_number(in, CALLS, kernel, 0), "call"),
                               ta_place_text(advice, in, &first, BUSY_NAME));
    const char *why =
        !moe ? launcher(in, advice, name)
        : has_few_rows(name)
            ? "The tiles of these GEMMs have few rows: reading the weights of the experts bounds "
              "them, whatever the number of tokens."
            : NULL;
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, EXPOSED, first.row),
                                           ta_ref_evidence(in, MEAN, kernel)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "largest-kernel",
                  .rule = "kernel_largest",
                  .title = title,
                  .why = why,
                  .advice = what_to_do(in, kernel, name),
                  .severity = moe ? TA_LOW : TA_INFO,
                  .evidence = evidence,
                  .n_evidence = 2,
                  .saving_low_ns = TA_MISSING,
                  .saving_high_ns = TA_MISSING,
                  .confidence = 0.3,
                  .threshold = ta_advice_printf(
                      advice,
                      "one kernel of unknown work takes > %s of the run of a device that computes "
                      "%s of it or more",
                      ta_advice_number(advice, threshold, TA_UNIT_RATIO),
                      ta_advice_number(advice, ta_ctx_option(ctx, COMPUTE), TA_UNIT_RATIO)),
              });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, kernel_largest, &ops, .title = "Largest kernels",
          .summary = "Fires when one kernel takes much of the time of a device that computes",
          .version = "2", .options = options);
