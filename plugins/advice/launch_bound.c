/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Launch-bound: the device waits because the host hands out work too slowly, and is late for
 * nothing else: what comes after a wait belongs to the wait (sync_wait.c, blocking_copies.c), and
 * computation on the CPU to host_computation.c. */
#include "lib/gaps.h"
#include "lib/owners.h"
#include "lib/pieces.h"
#include "lib/recorder.h"

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.03, 0, 1, TA_OPTION_RATIO,
                   "Share of the run in which a device waits for launches, from which the rule "
                   "fires"},
    TA_OPTIONS_END,
};

enum {
    DISPATCH,
    GRAPH_SHARE,
    RECORDED,
    OPERATOR,
    SHAPE,
    CALLS,
    ATTENTION,
    RECORDER,
    GAPS = RECORDER + 3,
    COMPILED = GAPS + 4,
    OWNERS = COMPILED + PIECES_READ
};

static const struct ta_ref reads[] = {
    [DISPATCH] = {"gpu_idle.by_rank", "dispatch_ns"},
    [GRAPH_SHARE] = {"launches.graphs", "device_share"},
    [RECORDED] = {"ops.by_name", "category"},
    [OPERATOR] = {"roofline.by_op", "class"},
    [SHAPE] = {"roofline.by_op", "shape"},
    [CALLS] = {"roofline.by_op", "calls"},
    [ATTENTION] = {"attention.by_backend", "calls"},
    RECORDER_READS(RECORDER),
    GAPS_READS(GAPS),
    PIECES_READS(COMPILED),
    OWNERS_READS(OWNERS),
};

static const char *const causes[] = {"python", "operator dispatch", "launch calls",
                                     "runtime calls"};
static const char *const owners[] = {"launching"};
static const struct ta_owners_asked asked = {OWNERS, owners, TA_LENGTH(owners)};

/* A device that gets most of its work from graphs needs no others. */
static bool has_graphs(const struct ta_refs *in, const struct ta_place *place)
{
    static const struct ta_look graphs = {.cells = GRAPH_SHARE};
    return ta_look_sum(in, &graphs, ta_ref_rank(in, OWNERS + OWNERS_WINDOW, place->row)) >= 0.5;
}

/* Without operators or functions in the recording nobody knows that it is Python. */
static const char *who_launches(const struct ta_refs *in)
{
    static const char *const calls[] = {"untime", "river", NULL}; /* cuda_runtime, Driver */
    for (size_t row = 0; row < ta_ref_rows(in, RECORDED); row++)
        if (!ta_slice_has_any(ta_ref_text(in, RECORDED, row), calls))
            return "Python";
    return "The host";
}

/* What the places have of the time whose function or name has the word. */
static double share_of(const struct ta_refs *in, const struct ta_owned *owned, const char *word)
{
    double its = 0, all = 0;
    for (size_t row = 0; row < ta_ref_rows(in, OWNERS + OWNERS_SITE_TOTAL); row++) {
        if (!ta_owned_is_site(in, &asked, &owned->window, row))
            continue;
        const char *const words[] = {word, NULL};
        const double ns = ta_ref_number(in, OWNERS + OWNERS_SITE_TOTAL, row, 0);
        all += ns;
        if (ta_slice_has_any(ta_ref_text(in, OWNERS + OWNERS_SITE_FUNCTION, row), words) ||
            ta_slice_has_any(ta_ref_text(in, OWNERS + OWNERS_SITE, row), words))
            its += ns;
    }
    return all > 0 ? its / all : 0;
}

/* What to do first where it is known: zeroing gradients launches kernels that nothing needs, and
 * DistributedDataParallel copies each buffer of the module by itself. */
static const char *first_of_all(const struct ta_refs *in, struct ta_advice *advice,
                                const struct ta_owned *owned)
{
    const double zeroing = share_of(in, owned, "zero_grad");
    const char *zero =
        zeroing < 0.1
            ? ""
            : ta_advice_printf(advice,
                               "Call zero_grad(set_to_none=True), which launches "
                               "nothing: zeroing gradients causes %s of the %s of idle time. ",
                               ta_advice_number(advice, zeroing * owned->ns, TA_UNIT_NS),
                               ta_advice_number(advice, owned->ns, TA_UNIT_NS));
    return share_of(in, owned, "unflatten_dense_tensors") < 0.01 ||
                   share_of(in, owned, "DistributedDataParallel") <= 0
               ? zero
               : ta_advice_printf(advice,
                                  "%sDistributedDataParallel copies its buffers one by one: pass "
                                  "broadcast_buffers=False if they may differ between ranks. ",
                                  zero);
}

/* Whether a language model makes token after token: attention, and nearly all GEMMs of one row. */
static bool makes_tokens(const struct ta_refs *in)
{
    static const double nearly_all = 0.8;
    double all = 0, of_one = 0;
    for (size_t row = 0; row < ta_ref_rows(in, SHAPE); row++) {
        const double calls = ta_ref_number(in, CALLS, row, 0);
        if (!ta_ref_reads(in, OPERATOR, row, "gemm"))
            continue;
        all += calls;
        of_one += ta_slice_starts(ta_ref_text(in, SHAPE, row), "M=1 ") ? calls : 0;
    }
    return ta_ref_sum(in, ATTENTION) > 0 && all > 0 && of_one >= nearly_all * all;
}

/* How an engine gets its graphs back; else what a program does. */
static const char *capture(const struct ta_refs *in, struct ta_advice *advice,
                           const struct ta_owned *owned, bool is_amd)
{
    if (share_of(in, owned, "vllm/") > 0.5)
        return "Let vLLM replay CUDA graphs: no enforce_eager, and cudagraph_capture_sizes that "
               "reach the tokens of this step.";
    if (share_of(in, owned, "sglang/") > 0.5)
        return "Let SGLang replay CUDA graphs: no --disable-cuda-graph, and a --cuda-graph-max-bs "
               "that reaches this batch.";
    if (makes_tokens(in))
        return ta_advice_printf(
            advice,
            "Replay a %s for each token: keep the KV cache at a fixed size and compile the "
            "decoding "
            "(cache_implementation=\"static\" with torch.compile(mode=\"reduce-overhead\") in "
            "transformers), or serve the model with vLLM or SGLang.",
            is_amd ? "HIP graph" : "CUDA graph");
    return ta_advice_printf(advice,
                            "Capture the step in a %s (torch.compile(mode=\"reduce-overhead\")), "
                            "or launch fewer kernels: larger batches, fused operators.",
                            is_amd ? "HIP graph, which torch calls CUDAGraph" : "CUDA graph");
}

/* Where the host spends the time, or that it does so everywhere. */
static const char *why(const struct ta_refs *in, struct ta_advice *advice,
                       const struct ta_owned *owned)
{
    const struct ta_owned_where where = ta_owned_where(in, advice, &asked, &owned->window);
    const char *sentence = ta_owned_sentence(advice, &where, owned->ns);
    return sentence || !*where.function
               ? sentence
               : ta_advice_printf(
                     advice,
                     "No function causes a tenth of the %s of idle time: %s causes most, %s.",
                     ta_advice_number(advice, owned->ns, TA_UNIT_NS), where.function,
                     ta_advice_number(advice, where.share, TA_UNIT_RATIO));
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    static const struct ta_look dispatch_look = {.cells = DISPATCH};
    const struct ta_owned owned = ta_owned_worst(in, advice, &asked, NULL, 0);
    struct ta_place dispatch;
    if (!owned.place.table || owned.share <= threshold ||
        !ta_look_same(in, &dispatch_look, &owned.place, &dispatch) || dispatch.value <= 0)
        return TA_OK;
    /* The finding about graph breaks is about that time, and they rule a graph out. */
    const int64_t rank = ta_ref_rank(in, OWNERS + OWNERS_WINDOW, owned.window.row);
    if (ta_idle_between_pieces(in, COMPILED, rank) >= owned.ns / 2)
        return TA_OK;
    const bool graphs = has_graphs(in, &owned.window);
    const struct ta_gaps_asked gaps_asked = {GAPS, dispatch, owned.ns, causes, TA_LENGTH(causes)};
    const struct ta_gaps gaps = ta_gaps_find(in, &gaps_asked);
    const struct ta_recorded recorded =
        ta_recorder_of(in, RECORDER, "dispatch", &dispatch, fmin(1, owned.ns / dispatch.value));
    const bool is_amd = ta_run_is_amd(ta_report_run(in->report));
    const struct ta_evidence evidence[] = {ta_place_evidence(&owned.place),
                                           ta_place_evidence(&owned.run),
                                           ta_place_evidence(gaps.n ? &gaps.longest : &dispatch)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "launch-bound",
            .rule = "launch_bound",
            .title = ta_advice_printf(
                advice, "%s%s%s", graphs ? "The host is late between graphs" : who_launches(in),
                graphs ? "" : " launches kernels too slowly", ta_owned_cost(advice, &owned)),
            .why = why(in, advice, &owned),
            .advice = graphs ? "Prepare and launch the next graph while the GPU works on the last "
                               "one (overlapped scheduling), and let graphs hold what runs between "
                               "them."
                             : ta_advice_printf(advice, "%s%s", first_of_all(in, advice, &owned),
                                                capture(in, advice, &owned, is_amd)),
            .details = ta_advice_printf(
                advice, "%s%s", ta_gaps_sentence(in, advice, &gaps_asked, &gaps),
                graphs ? is_amd ? "Large graphs can be uploaded ahead (hipGraphUpload)."
                                : "Large graphs can be uploaded ahead (cudaGraphUpload)."
                       : "A graph needs fixed shapes and no wait of the host in it."),
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = gaps.n ? 3 : 2,
            /* Graphs leave a part of it. */
            .saving_low_ns = ta_whole(owned.ns / 2),
            .saving_high_ns = ta_whole(owned.ns),
            .recorder_ns = recorded.ns,
            .recorder_most_ns = recorded.most_ns,
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "idle time that launching owns > %s of the run",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, launch_bound, &ops, .title = "Launch-bound",
          .summary = "Fires when a device waits for the host to hand out work", .version = "2",
          .options = options);
