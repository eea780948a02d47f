/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What libraries say in a log about a slow way that they take. */
#include <traceanalyze/rule.h>

enum { COUNT };

static const struct ta_option options[] = {
    [COUNT] = {"count", TA_OPTION_INTEGER, 0, 0, 1e9, TA_OPTION_PLAIN,
               "Lines of one kind above which the rule fires"},
    TA_OPTIONS_END,
};

enum { RANK, NAME, DATA, INDEX };

static const struct ta_ref reads[] = {
    [RANK] = {"run.happenings", "rank"},
    [NAME] = {"run.happenings", "name"},
    [DATA] = {"run.happenings", "data"},
    [INDEX] = {"run.happenings", "index"},
};

/* The one that costs most first. */
static const struct notice {
    const char *name, *id, *title, *why, *advice;
    enum ta_severity severity;
} notices[] = {
    {"NCCL through host memory", "nccl-transport",
     "NCCL sends through host memory (SHM): the GPUs do not reach each other directly",
     "A copy through host memory moves a fraction of what NVLink or PCIe can.",
     "Unset NCCL_P2P_DISABLE and NCCL_P2P_LEVEL, and look at nvidia-smi topo -m and topo -p2p r; "
     "ACS or an IOMMU on the host, or GeForce cards from the 40 series on, rule out the direct "
     "path.",
     TA_HIGH},
    {"NCCL through sockets", "nccl-transport", "NCCL sends over TCP sockets",
     "Sockets move a few GB/s, on one node and between nodes.",
     "Between nodes let NCCL find the network card (NCCL_IB_DISABLE unset, NCCL_IB_HCA, drivers "
     "in the container); on one node give the container shared memory (--ipc=host or --shm-size).",
     TA_HIGH},
    {"4-bit weights in fp32", "quantized-compute",
     "4-bit weights are computed in fp32: bnb_4bit_compute_dtype is torch.float32",
     "Each layer dequantizes to fp32, and its GEMM runs without tensor cores.",
     "BitsAndBytesConfig(bnb_4bit_compute_dtype=torch.bfloat16), or torch.float16 before Ampere.",
     TA_MEDIUM},
    {"CUDA graphs skipped", "graphs-skipped", "torch.compile skips CUDA graphs",
     "The host then launches each kernel of the compiled code.", NULL, TA_MEDIUM},
    {"slow attention", "slow-attention",
     "Attention runs in a memory-saving form (split or sub-quadratic) of many small kernels", NULL,
     "Use PyTorch's attention: --use-pytorch-cross-attention in ComfyUI, --opt-sdp-attention in "
     "the Stable Diffusion web UI.",
     TA_MEDIUM},
    {"no flash attention", "slow-attention", "This build of torch has no flash attention",
     "scaled_dot_product_attention takes its memory-efficient or math kernels.",
     "Install a build with flash attention (Windows: a newer torch, or flash-attn or "
     "SageAttention).",
     TA_MEDIUM},
    {"VAE decoded again", "vae-again", "The VAE gives NaN in fp16 and decodes again in fp32", NULL,
     "Use a VAE that stays within the range of fp16 (sdxl-vae-fp16-fix), or run it in bf16 from "
     "the start.",
     TA_MEDIUM},
    {"no workspace", "convolution-workspace",
     "MIOpen gets no workspace for its fast convolutions and takes slower ones", NULL,
     "Let MIOpen search with workspace once (torch.backends.cudnn.benchmark = True, "
     "MIOPEN_FIND_MODE=NORMAL), and decode in tiles so that the workspace fits.",
     TA_MEDIUM},
    {"eager mode", "eager-mode", "CUDA graphs and torch.compile are switched off (enforce_eager)",
     "The host launches each kernel of a decoding step.",
     "Leave enforce_eager out; where memory is short, capture fewer batch sizes "
     "(cudagraph_capture_sizes).",
     TA_MEDIUM},
    {"TF32 off", "tf32-off", "FP32 GEMMs run without tensor cores: TF32 is off", NULL,
     "Call torch.set_float32_matmul_precision(\"high\"), or run the model in bf16.", TA_MEDIUM},
    {"no flash_attn", "slow-attention", "The flash_attn package is missing",
     "PyTorch's own kernels compute attention; its flash kernel takes bf16 and fp16 only.",
     "Install flash-attn, in its third version on Hopper.", TA_LOW},
};

/* What the reason of a skipped graph asks for. */
static const char *graph_advice(struct ta_slice reason)
{
    if (ta_slice_has_word(reason, "cpu device"))
        return "Make that tensor on the GPU (device=\"cuda\") before the compiled code.";
    if (ta_slice_has_word(reason, "mutated"))
        return "Do not write into inputs of the compiled code: return the new values, or mark "
               "buffers that stay with torch._dynamo.mark_static_address().";
    if (ta_slice_has_word(reason, "dynamic"))
        return "Pad to a few sizes, each of which then has a graph of its own.";
    return "TORCH_LOGS=perf_hints names the line that prevents graphs.";
}

static void advise_notice(const struct ta_refs *in, struct ta_advice *advice,
                          const struct notice *notice, size_t first, size_t n, double limit)
{
    const struct ta_slice reason = ta_ref_text(in, DATA, first);
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, INDEX, first)};
    const char *what =
        reason.len ? ta_advice_printf(advice, "%s: %.*s", notice->title,
                                      (int)(reason.len < 120 ? reason.len : 120), reason.ptr)
                   : notice->title;
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = notice->id,
            .rule = "library_notices",
            .title = what,
            .why = notice->why,
            .advice = notice->advice ? notice->advice : graph_advice(reason),
            .details = n > 1 ? ta_advice_printf(advice, "%zu lines of the log say so.", n) : NULL,
            .severity = notice->severity,
            .evidence = evidence,
            .n_evidence = 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.8,
            .threshold = ta_advice_printf(advice, "lines of the log that say so > %.0f", limit),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double limit = ta_ctx_option(ctx, COUNT);
    for (size_t i = 0; i < TA_LENGTH(notices); i++) {
        size_t first = SIZE_MAX, n = 0;
        for (size_t row = 0; row < ta_ref_rows(in, NAME); row++)
            if (ta_ref_reads(in, NAME, row, notices[i].name)) {
                first = n++ ? first : row;
            }
        if ((double)n > limit)
            advise_notice(in, advice, &notices[i], first, n, limit);
    }
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, library_notices, &ops, .title = "Slow paths that libraries report",
          .summary = "Fires when a library says in a log that it takes a slow path", .version = "1",
          .options = options);
