/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chains of kernels that a compiler could fuse, norms in pieces where others of their kind are one
 * kernel, transposes around convolutions, and kernels that only cast, copy or reorder.  A copy in a
 * chain is the chain's, casts of weights have a rule of their own. */
#include "kernel.h"

enum { THRESHOLD, CASTS };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
                   "Share of the run that fusing chains saves from which the rule fires"},
    [CASTS] = {"casts", TA_OPTION_NUMBER, 0.02, 0, 1, TA_OPTION_RATIO,
               "Share of the run in casts, copies and changes of layout from which the rule fires"},
    TA_OPTIONS_END,
};

enum {
    KIND,
    PLACE,
    CHAINS,
    KERNELS,
    TIME,
    CHAIN_COPIES,
    LEAST,
    MOST,
    COPY_WHAT,
    COPY_OP,
    COPY_CALLS,
    COPY_TIME,
    CAST_WHAT,
    CAST_TIME,
    OP,
    OP_CALLS,
    OP_KERNEL,
    RUN,
    VAE = RUN + RUN_REFS
};

static const struct ta_ref reads[] = {
    [KIND] = {"fusion.kinds", "kind"},
    [PLACE] = {"fusion.kinds", "place"},
    [CHAINS] = {"fusion.kinds", "chains"},
    [KERNELS] = {"fusion.kinds", "kernels"},
    [TIME] = {"fusion.kinds", "total_ns"},
    [CHAIN_COPIES] = {"fusion.kinds", "copy_ns"},
    [LEAST] = {"fusion.kinds", "saving_low_ns"},
    [MOST] = {"fusion.kinds", "saving_high_ns"},
    [COPY_WHAT] = {"kernels.copies_by_op", "what"},
    [COPY_OP] = {"kernels.copies_by_op", "op"},
    [COPY_CALLS] = {"kernels.copies_by_op", "calls"},
    [COPY_TIME] = {"kernels.copies_by_op", "total_ns"},
    [CAST_WHAT] = {"kernels.weight_casts", "what"},
    [CAST_TIME] = {"kernels.weight_casts", "total_ns"},
    [OP] = {"kernels.by_op", "op"},
    [OP_CALLS] = {"kernels.by_op", "calls"},
    [OP_KERNEL] = {"kernels.by_op", "name"},
    KERNEL_RUN_READS(RUN),
    VAE_READS(VAE),
};

/* ---- chains -------------------------------------------------------------------------------- */

struct chains {
    double kernels, time, least, most;
    double kind_time, kind_kernels; /* of the kind of row `row`, in all places */
    double place_time;              /* of that row */
    size_t row;
};

static bool has(struct ta_slice text, const char *part)
{
    return memmem(text.ptr, text.len, part, strlen(part)) != NULL;
}

/* Kinds of norms that run in pieces, and what the operators and kernels of whole ones are called.
 */
static const struct {
    const char *kind, *norms, *parts[3];
} norms[] = {{"RMSNorm in pieces", "RMSNorms", {"rms_norm", "rmsnorm", "RMSNorm"}},
             {"LayerNorm in pieces", "LayerNorms", {"layer_norm", "layernorm", "LayerNorm"}}};

/* Kernels of whole norms of this kind. */
static double whole_norms(const struct ta_refs *in, size_t kind)
{
    double calls = 0;
    for (size_t i = 0; i < ta_ref_rows(in, OP); i++) {
        const struct ta_slice op = ta_ref_text(in, OP, i), kernel = ta_ref_text(in, OP_KERNEL, i);
        bool is_norm = false;
        for (size_t p = 0; p < TA_LENGTH(norms[kind].parts); p++)
            is_norm |= op.len ? has(op, norms[kind].parts[p]) : has(kernel, norms[kind].parts[p]);
        calls += is_norm ? ta_ref_number(in, OP_CALLS, i, 0) : 0;
    }
    return calls;
}

/* Which findings chains of a kind belong to. */
enum group { ELEMENTWISE, OPTIMIZER, ODD_NORMS };

/* Norms in pieces where at least this many others are whole. */
enum { LEAST_WHOLE = 2 };

static size_t norm_of(const struct ta_refs *in, size_t row)
{
    size_t k = 0;
    while (k < TA_LENGTH(norms) && !ta_ref_reads(in, KIND, row, norms[k].kind))
        k++;
    return k;
}

/* `whole`: of each kind of norms. */
static enum group group_of(const struct ta_refs *in, size_t row, const double *whole)
{
    const size_t k = norm_of(in, row);
    if (k < TA_LENGTH(norms) && whole[k] >= LEAST_WHOLE)
        return ODD_NORMS;
    return ta_ref_reads(in, KIND, row, "optimizer steps") ? OPTIMIZER : ELEMENTWISE;
}

static double sum_of_kind(const struct ta_refs *in, size_t cells, struct ta_slice kind)
{
    double sum = 0;
    for (size_t i = 0; i < ta_ref_rows(in, KIND); i++)
        if (ta_slice_equal(ta_ref_text(in, KIND, i), kind))
            sum += ta_ref_number(in, cells, i, 0);
    return sum;
}

static struct chains add_up(const struct ta_refs *in, enum group group, const double *whole)
{
    struct chains sum = {.row = SIZE_MAX};
    for (size_t i = 0; i < ta_ref_rows(in, KIND); i++) {
        if (group_of(in, i, whole) != group)
            continue;
        const struct ta_slice kind = ta_ref_text(in, KIND, i);
        const double kind_time = sum_of_kind(in, TIME, kind), time = ta_ref_number(in, TIME, i, 0);
        sum.kernels += ta_ref_number(in, KERNELS, i, 0);
        sum.time += time;
        sum.least += ta_ref_number(in, LEAST, i, 0);
        sum.most += ta_ref_number(in, MOST, i, 0);
        if (kind_time > sum.kind_time || (kind_time >= sum.kind_time && time > sum.place_time)) {
            sum.kind_time = kind_time;
            sum.kind_kernels = sum_of_kind(in, KERNELS, kind);
            sum.place_time = time;
            sum.row = i;
        }
    }
    return sum;
}

/* "RMSNorm in pieces takes 45 % of the time of the chains (12 ms in 384 kernels), mostly in
 * LlamaRMSNorm." */
static const char *main_kind(const struct ta_refs *in, struct ta_advice *advice,
                             const struct kernel_run *run, const struct chains *chains)
{
    const struct ta_place place = ta_place_at(in, TIME, chains->row);
    const char *where = ta_place_text(advice, in, &place, PLACE);
    const struct ta_slice kind = ta_ref_text(in, KIND, chains->row);
    const bool is_plural = ta_slice_equal(kind, TA_LIT("casts")) ||
                           ta_slice_equal(kind, TA_LIT("element-wise operators")) ||
                           memmem(kind.ptr, kind.len, " and ", 5); /* "ReLU and addition" */
    return ta_advice_printf(advice, "%c%.*s %s %s of the time of the chains (%s in %s)%s%s.",
                            *kind.ptr >= 'a' ? *kind.ptr - 'a' + 'A' : *kind.ptr, (int)kind.len - 1,
                            ta_slice_at(kind, 1), is_plural ? "take" : "takes",
                            kernel_part(advice, chains->kind_time / chains->time),
                            kernel_ns(advice, run, chains->kind_time),
                            kernel_count(advice, chains->kind_kernels, "kernel"),
                            *where && chains->place_time > 0.5 * chains->kind_time ? ", mostly in "
                                                                                   : "",
                            *where && chains->place_time > 0.5 * chains->kind_time ? where : "");
}

/* Whether some of the run is compiled: by Inductor's kernels. */
static bool is_compiled(const struct ta_refs *in)
{
    for (size_t i = 0; i < ta_ref_rows(in, RUN + RUN_CLASS); i++)
        if (ta_ref_reads(in, RUN + RUN_CLASS, i, "triton") &&
            ta_ref_number(in, RUN + RUN_CLASS_TIME, i, 0) > 0)
            return true;
    return false;
}

static void advise_chains(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                          const struct kernel_run *run, enum group group, const double *whole)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const bool optimizer = group == OPTIMIZER;
    const struct chains chains = add_up(in, group, whole);
    if (chains.row == SIZE_MAX || !kernel_matters(run, chains.most, threshold))
        return;
    const struct ta_place largest = ta_place_at(in, TIME, chains.row);
    const char *where = ta_place_text(advice, in, &largest, PLACE);
    const bool compiled = is_compiled(in);
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, TIME, chains.row),
                                           ta_ref_evidence(in, MOST, chains.row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = optimizer ? "optimizer-unfused" : "fusion-chains",
            .rule = "kernel_fusion",
            .title = ta_advice_printf(advice, "%s%s take %s in %s kernels",
                                      optimizer ? "Unfused optimizer steps"
                                                : "Unfused element-wise chains",
                                      compiled && !optimizer ? " outside compiled code" : "",
                                      kernel_time(advice, run, chains.time),
                                      ta_advice_number(advice, chains.kernels, TA_UNIT_COUNT)),
            .why = optimizer ? NULL : main_kind(in, advice, run, &chains),
            .advice =
                optimizer ? "Create the optimizer with fused=True."
                : compiled
                    ? (*where ? ta_advice_printf(advice,
                                                 "Compile %s too, or find the graph break before "
                                                 "it with TORCH_LOGS=graph_breaks.",
                                                 where)
                              : "Compile this part too, or find the graph break before it "
                                "with TORCH_LOGS=graph_breaks.")
                    : "Fuse the element-wise chains with torch.compile of the module around them.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .gain = TA_GAIN_DEVICE,
            .saving_low_ns = kernel_saving(run, chains.least),
            .saving_high_ns = kernel_saving(run, chains.most),
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "fusing chains saves > %s of the run",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

/* Norms that take another path than the others of their kind. */
static void advise_norms(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                         const struct kernel_run *run, const double *whole)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const struct chains odd = add_up(in, ODD_NORMS, whole);
    if (odd.row == SIZE_MAX || !kernel_matters(run, odd.most, threshold))
        return;
    const size_t k = norm_of(in, odd.row);
    const struct ta_place largest = ta_place_at(in, TIME, odd.row);
    const char *where = ta_place_text(advice, in, &largest, PLACE);
    const double pieces =
        odd.kind_kernels / sum_of_kind(in, CHAINS, ta_ref_text(in, KIND, odd.row));
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, TIME, odd.row),
                                           ta_ref_evidence(in, MOST, odd.row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "norm-in-pieces",
            .rule = "kernel_fusion",
            .title = ta_advice_printf(advice, "%s in pieces take %s, although %s others are fused",
                                      norms[k].norms, kernel_time(advice, run, odd.time),
                                      ta_advice_number(advice, whole[k], TA_UNIT_COUNT)),
            .why = ta_advice_printf(
                advice, "Each norm in pieces is about %.0f kernels instead of one%s%s%s.", pieces,
                *where ? "; " : "", *where ? where : "",
                *where ? ta_advice_printf(
                             advice, " takes %s of their time",
                             ta_advice_number(advice, odd.place_time / odd.time, TA_UNIT_RATIO))
                       : ""),
            .advice =
                k == 0
                    ? "Use the fused norm everywhere (torch.nn.functional.rms_norm, with weight "
                      "and input of one type), or compile it with torch.compile."
                    : "Use the fused norm everywhere (torch.nn.functional.layer_norm, with weight "
                      "and input of one type), or compile it with torch.compile.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .gain = TA_GAIN_DEVICE,
            .saving_low_ns = kernel_saving(run, odd.least),
            .saving_high_ns = kernel_saving(run, odd.most),
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice,
                                          "norms in pieces, where two others of their kind are "
                                          "fused, lose > %s of the run",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

/* Without an operator the row names the launching call. */
static bool is_operator(struct ta_slice name)
{
    return memmem(name.ptr, name.len, "::", 2) != NULL;
}

/* ---- copies -------------------------------------------------------------------------------- */

/* What all copies have in common. */
struct recorded {
    bool has_convolutions, has_operators;
};

static struct recorded find_recorded(const struct ta_refs *in)
{
    struct recorded recorded = {.has_operators = false};
    for (size_t i = 0; i < ta_ref_rows(in, COPY_OP) && !recorded.has_operators; i++)
        recorded.has_operators = is_operator(ta_ref_text(in, COPY_OP, i));
    for (size_t i = 0; i < ta_ref_rows(in, RUN + RUN_CLASS) && !recorded.has_convolutions; i++)
        recorded.has_convolutions = ta_ref_reads(in, RUN + RUN_CLASS, i, "conv");
    return recorded;
}

/* By the operator; where no launch is linked or no operators were recorded, if there are
 * convolutions: a kernel that a program launches itself among operators is none of theirs. */
static bool is_of_convolution(const struct ta_refs *in, const struct recorded *recorded, size_t row)
{
    const struct ta_slice op = ta_ref_text(in, COPY_OP, row);
    return memmem(op.ptr, op.len, "conv", 4) ||
           (recorded->has_convolutions && (op.len == 0 || !recorded->has_operators));
}

struct copies {
    double time, most;
    size_t row;
};

static struct copies add_copies(const struct ta_refs *in, bool around_convolutions)
{
    const struct recorded recorded = find_recorded(in);
    struct copies copies = {.row = SIZE_MAX};
    for (size_t i = 0; i < ta_ref_rows(in, COPY_TIME); i++) {
        const double time = ta_ref_number(in, COPY_TIME, i, 0);
        const bool of_convolution = is_of_convolution(in, &recorded, i);
        const bool is_around = of_convolution && ta_ref_reads(in, COPY_WHAT, i, "layout");
        /* A library that accumulates in fp32 casts the results of its convolutions: no type of the
         * program keeps it from that. */
        const bool is_of_library = of_convolution && ta_ref_reads(in, COPY_WHAT, i, "cast");
        if (is_around != around_convolutions || is_of_library)
            continue;
        copies.time += time;
        if (time > copies.most) {
            copies.most = time;
            copies.row = i;
        }
    }
    return copies;
}

static void advise_transposes(const struct ta_refs *in, struct ta_advice *advice,
                              const struct kernel_run *run)
{
    struct copies copies = add_copies(in, true);
    copies.time -= vae_part(in, VAE, VAE_LAYOUT, run);
    if (copies.row == SIZE_MAX || !kernel_matters(run, copies.time, 0))
        return;
    const bool is_amd = ta_run_is_amd(ta_report_run(in->report));
    const struct ta_place most = ta_place_at(in, COPY_TIME, copies.row);
    /* A time that another finding has a part of is no evidence. */
    const bool is_whole = copies.most <= copies.time;
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, COPY_CALLS, copies.row),
                                           ta_ref_evidence(in, COPY_TIME, copies.row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "convolution-layout",
            .rule = "kernel_fusion",
            .title = ta_advice_printf(
                advice, "Transposes between NCHW and NHWC around convolutions take %s",
                kernel_time(advice, run, copies.time)),
            .why = is_operator(ta_ref_text(in, COPY_OP, copies.row)) && copies.most <= copies.time
                       ? ta_advice_printf(advice, "%s takes %s of the time of the transposes (%s).",
                                          ta_place_text(advice, in, &most, COPY_OP),
                                          kernel_part(advice, copies.most / copies.time),
                                          kernel_count(advice,
                                                       ta_ref_number(in, COPY_CALLS, copies.row, 0),
                                                       "kernel"))
                       : NULL,
            .advice = is_amd ? "Use memory_format=torch.channels_last for model and input, "
                               "with PYTORCH_MIOPEN_SUGGEST_NHWC=1."
                             : "Use memory_format=torch.channels_last for model and input.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = is_whole ? 2 : 1,
            .gain = TA_GAIN_DEVICE,
            .saving_low_ns = kernel_saving(run, copies.time / 2),
            .saving_high_ns = kernel_saving(run, copies.time),
            .confidence = 0.6,
            .threshold = "transposes around convolutions take 1 % of the run",
        });
}

static const char *avoid(const struct ta_refs *in, size_t row)
{
    if (ta_ref_reads(in, COPY_WHAT, row, "cast"))
        return "Keep one type from end to end: load the weights in the type of the computation, "
               "and "
               "drop .float() and .to() between layers.";
    if (ta_ref_reads(in, COPY_WHAT, row, "cat"))
        return "Allocate the joined tensor once and write the parts into it.";
    if (ta_ref_reads(in, COPY_WHAT, row, "pad"))
        return "Pad once, before the loop.";
    return "Produce tensors in the layout that the next operator reads, without .contiguous() in "
           "between; torch.compile fuses many of these copies.";
}

/* An operator with a smaller part is not named. */
#define LEAST_NAMED 0.2

static void advise_copies(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                          const struct kernel_run *run)
{
    const double threshold = ta_ctx_option(ctx, CASTS);
    const struct copies copies = add_copies(in, false);
    static const struct ta_look weights = {.cells = CAST_TIME, .where = {{CAST_WHAT, "cast"}}};
    const double time =
        copies.time - ta_ref_sum(in, CHAIN_COPIES) - ta_look_sum(in, &weights, TA_MISSING);
    if (copies.row == SIZE_MAX || !kernel_matters(run, time, threshold))
        return;
    const struct ta_place most = ta_place_at(in, COPY_TIME, copies.row);
    const char *op = ta_place_text(advice, in, &most, COPY_OP);
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, COPY_CALLS, copies.row),
                                           ta_ref_evidence(in, COPY_TIME, copies.row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "casts-layout",
            .rule = "kernel_fusion",
            .title =
                ta_advice_printf(advice, "Kernels that only cast, copy or join tensors take %s",
                                 kernel_time(advice, run, time)),
            .why = is_operator(ta_ref_text(in, COPY_OP, copies.row)) && copies.most <= time &&
                           copies.most >= LEAST_NAMED * time
                       ? ta_advice_printf(
                             advice, "%s takes %s of the time of these copies and casts (%s).", op,
                             kernel_part(advice, copies.most / time),
                             kernel_count(advice, ta_ref_number(in, COPY_CALLS, copies.row, 0),
                                          "kernel"))
                       : NULL,
            .advice = avoid(in, copies.row),
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = copies.most <= time ? 2 : 1,
            .gain = TA_GAIN_DEVICE,
            /* Some of them are needed. */
            .saving_low_ns = kernel_saving(run, 0.35 * time),
            .saving_high_ns = kernel_saving(run, time),
            .confidence = 0.5,
            .threshold = ta_advice_printf(advice, "casts, copies and layout > %s of the run",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const struct kernel_run run = kernel_run_of(in, RUN);
    double whole[TA_LENGTH(norms)];
    for (size_t k = 0; k < TA_LENGTH(norms); k++)
        whole[k] = whole_norms(in, k);
    advise_chains(ctx, in, advice, &run, ELEMENTWISE, whole);
    advise_chains(ctx, in, advice, &run, OPTIMIZER, whole);
    advise_norms(ctx, in, advice, &run, whole);
    advise_transposes(in, advice, &run);
    advise_copies(ctx, in, advice, &run);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, kernel_fusion, &ops, .title = "Unfused chains, casts and layout",
          .summary = "Fires when kernels could be fused, or only cast, copy and reorder",
          .version = "2", .options = options);
