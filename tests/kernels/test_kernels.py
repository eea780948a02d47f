#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants one cause in a made-up trace and looks for it in the report.

usage: test_kernels.py --program TRACEANALYZE CASE

The clean trace holds what each rule looks at in a form that is no reason to fire: fused attention,
products on tensor cores in bf16, kernels that fill the device, no chain, no cast, and allocation in
the warm-up only.  Every other case replaces or adds one thing of a known size.
"""
import argparse
import json
import pathlib
import sys
import tempfile

import reports

RULES = {"kernel_attention", "kernel_units", "kernel_fusion", "kernel_waves", "kernel_roofline",
         "kernel_weights", "kernel_vae", "interruptions"}
GEMM = "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNT"
SGEMM = "ampere_sgemm_128x64_tn"
XMMA = ("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_"
        "alignc4_execute_kernel__5x_cublas")
HGEMV = ("void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16, 4, 4, false, "
         "false, cublasGemvParamsEx<int, cublasGemvTensorStridedBatched<__half const>>>")
FLASH = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, cutlass::bfloat16_t>>"
SOFTMAX = "void (anonymous namespace)::softmax_warp_forward<float, float, float, 8, false, false>"
MUL = ("void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, "
       "float, at::native::binary_internal::MulFunctor<float>>>")
ADD = "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<float>>"
CAST = "void at::native::vectorized_elementwise_kernel<4, at::native::bfloat16_copy_kernel_cuda>"
CAT = "void at::native::CatArrayBatchedCopy<c10::BFloat16, unsigned int, 3, 64, 64>"
EFFICIENT = "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel)"
EFFICIENT_FP32 = "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel)"
SAGE = "void qk_int_sv_f8_attn_kernel<128u, 64u, 32u, 64u, 128u>"
SAGE_QUANT = "void QuantInt8Kernel<128u, 128u, true, false, __nv_bfloat16>"
MEAN = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps>>"
CONV = "void cutlass_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x128_32x3>"
FP32_CONV = "implicit_convolve_sgemm"
TO_NHWC = "void cudnn::engines_precompiled::nchwToNhwcKernel<__nv_bfloat16, __nv_bfloat16, float>"
ALIGN1 = "cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_64x4_tn_align1"
UNITS, THREADS, MEMORY = 132, 2048, 80 << 30
PRODUCT, SUM = 2 * 4096**3 / 989.4e6, 3 * 4 * 8192**2 / 3.35e6 # us on the roof of an H100


class Trace:
    """One thread, one stream, two marked steps; times in microseconds, kernels back to back."""

    def __init__(self):
        self.events, self.host, self.device, self.correlation = [], 100.0, 200.0, 0
        self.name, self.capability = "Test", None
        self.units, self.memory, self.rules = UNITS, MEMORY, RULES

    def add(self, **event):
        self.events.append({"ph": "X", "pid": 1, "tid": 1, **event})

    def call(self, name, dur=1.0, category="cuda_runtime", **args):
        self.add(cat=category, name=name, ts=self.host, dur=dur, args=args)
        self.host += dur

    def kernel(self, name, dur, op="aten::op", dims=None, blocks=UNITS * 8, types=None, gap=0.0):
        """An operator, the call in it, and its kernel, `gap` after the one before."""
        self.correlation += 1
        inputs = {"Input Dims": dims or [], "Input type": types or []}
        self.add(cat="cpu_op", name=op, ts=self.host, dur=3.0, args=inputs)
        self.add(cat="cuda_runtime", name="cudaLaunchKernel", ts=self.host + 1, dur=1.0,
                 args={"correlation": self.correlation})
        self.host += 4
        self.device = max(self.device + gap, self.host)
        resident = 8
        per_unit = blocks / UNITS
        self.add(cat="kernel", name=name, ts=self.device, dur=dur, pid=0, tid=7,
                 args={"device": 0, "stream": 7, "correlation": self.correlation,
                       "blocks per SM": round(per_unit, 6), "grid": [blocks, 1, 1],
                       "block": [128, 1, 1], "est. achieved occupancy %":
                       int(100 * min(per_unit, resident) * 128 / THREADS)})
        self.device += dur

    def reserve(self, share):
        reserved = int(share * MEMORY)
        self.events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]",
                            "pid": 1, "tid": 1, "ts": self.host,
                            "args": {"Total Reserved": reserved, "Total Allocated": reserved // 2,
                                     "Bytes": reserved // 2, "Addr": 1, "Device Id": 0,
                                     "Device Type": 1}})

    def step(self, number, body):
        start = self.host
        body()
        self.add(cat="user_annotation", name="ProfilerStep#%d" % number, ts=start,
                 dur=max(self.host, start + 1) - start)

    def text(self):
        device = {"id": 0, "name": self.name, "numSms": self.units, "totalGlobalMem": self.memory,
                  "maxThreadsPerMultiprocessor": THREADS}
        if self.capability:
            device["computeMajor"], device["computeMinor"] = self.capability
        return json.dumps({"deviceProperties": [device], "traceEvents": self.events})


def work(trace, layers=20):
    """Layers without a fault: 1000 us of kernels each."""
    for _ in range(layers):
        trace.kernel(GEMM, 400, "aten::mm", [[512, 512], [512, 512]], types=["c10::BFloat16"])
        trace.kernel(FLASH, 300, "aten::_flash_attention_forward", [[1, 8, 512, 128]])
        trace.kernel(GEMM, 300, "aten::addmm", [[512], [512, 512]], types=["c10::BFloat16"])


def make(plant, layers=20):
    """Warm-up step with allocations, then a step with the plant in front of the work."""
    trace = Trace()

    def warm_up():
        trace.call("cudaMalloc", 500.0)
        trace.call("cuModuleLoadData", 300.0, "cuda_driver")
        trace.call("compile_fx_inner", 800.0, "user_annotation")
        trace.call("autotune_to_one_config", 900.0, "user_annotation")
        work(trace, layers)

    def steady():
        plant(trace)
        work(trace, layers)
    trace.step(0, warm_up)
    trace.step(1, steady)
    return trace


def clean(_):
    pass


def attention(trace):
    for _ in range(10):  # 10 x 600 us
        trace.kernel(GEMM, 200, "aten::bmm", [[8, 512, 128], [8, 128, 512]])
        trace.kernel(MUL, 50, "aten::mul", [[8, 512, 512]])
        trace.kernel(SOFTMAX, 150, "aten::_softmax", [[8, 512, 512]])
        trace.kernel(GEMM, 200, "aten::bmm", [[8, 512, 512], [8, 512, 128]])


def units(trace):
    for _ in range(10):
        trace.kernel(SGEMM, 1000, "aten::mm", [[512, 512], [512, 512]], types=["float"])


def xmma(trace):
    for _ in range(10):
        trace.kernel(XMMA, 1000, "aten::mm", [[512, 512], [512, 512]], types=["float"])


def vectors(trace):
    """Products of a matrix and a vector use no tensor cores, and nobody can change that."""
    for _ in range(10):
        trace.kernel(HGEMV, 1000, "aten::mv", [[512, 512], [512]], types=["c10::Half"])


def fusion(trace):
    for _ in range(20):  # chains of 5 x 40 us with gaps of 5 us
        for i in range(5):
            trace.kernel(MUL, 40, ("aten::mul", "aten::add")[i % 2], [[4096, 1024], []],
                         gap=5 if i else 0)
        trace.kernel(GEMM, 10, "aten::mm", [[512, 512], [512, 512]])


def without_operators(plant):
    """What activities=[CUDA] records: launches and kernels alone."""
    trace = make(plant)
    trace.events = [event for event in trace.events if event["cat"] != "cpu_op"]
    return trace


def fusion_kernels(trace):
    """The same chains by the names of their kernels, whose launches differ in shape."""
    for _ in range(20):
        for i in range(5):
            trace.kernel((MUL, ADD)[i % 2], 40, blocks=UNITS * (8, 16)[i % 2], gap=5 if i else 0)
        trace.kernel(GEMM, 10)


def loop(trace):
    """One operator for each of five tensors of a size, which is no chain."""
    for _ in range(20):
        for _ in range(5):
            trace.kernel(MUL, 40, "aten::mul_", [[4096, 1024], []])
        trace.kernel(GEMM, 10, "aten::mm", [[512, 512], [512, 512]])


def casts(trace):
    for _ in range(20):
        trace.kernel(CAST, 200, "aten::copy_", [[4096, 1024]])
        trace.kernel(GEMM, 10, "aten::mm", [[512, 512], [512, 512]])


def copies(trace):
    """Kinds of copies whose words begin alike, for one operator."""
    for _ in range(10):
        trace.kernel(CAST, 200, "CompiledFunction", [[4096, 1024]])
        trace.kernel(CAT, 100, "CompiledFunction", [[4096, 1024]])


def waves(trace):
    for _ in range(10):  # 33 of 132 multiprocessors have a block
        trace.kernel(SGEMM.replace("sgemm", "bf16_s16816gemm_bf16"), 600, "aten::mm",
                     [[64, 512], [512, 512]], blocks=UNITS // 4)


def below_roof(product, memory):
    """Ten products and ten sums, each at its share of what the device can do: 989.4 TFLOP/s and
    3.35 TB/s."""
    def plant(trace):
        trace.name = "NVIDIA H100 80GB HBM3"
        for _ in range(10):
            trace.kernel(GEMM, PRODUCT / product, "aten::mm", [[4096, 4096], [4096, 4096]],
                         types=["c10::BFloat16", "c10::BFloat16"])
            trace.kernel(MUL, SUM / memory, "aten::mul", [[8192, 8192], [8192, 8192]],
                         types=["float", "float"])
    return lambda: make(plant, layers=0)


def above_roof(trace):
    """A product that takes 570 ms at best, in 10 us."""
    trace.name = "NVIDIA H100 80GB HBM3"
    trace.kernel(GEMM, 10, "aten::mm", [[65536, 65536], [65536, 65536]],
                 types=["c10::BFloat16", "c10::BFloat16"])


BF16, HALF = "c10::BFloat16", "c10::Half"


def attention_by(kernel, kind, name, capability):
    """Ten calls of attention of 600 us."""
    def plant(trace):
        trace.name, trace.capability = name, capability
        trace.units = {(8, 0): 108, (7, 0): 80}[capability]
        for _ in range(10):
            trace.kernel(kernel, 600, "aten::_efficient_attention_forward", [[1, 8, 512, 128]] * 3,
                         types=[kind] * 3)
    return lambda: make(plant)


def slow_and_wide():
    """Inputs of fp32 whose shapes and arguments say that the kernel is far below the peak."""
    def plant(trace):
        trace.name, trace.capability = "NVIDIA H100 80GB HBM3", (9, 0)
        for _ in range(10):
            trace.kernel(EFFICIENT_FP32, 600, "aten::_scaled_dot_product_efficient_attention",
                         [[16, 8, 512, 64]] * 3, types=["float"] * 3)
    trace = make(plant)
    for event in trace.events:
        if event["name"].endswith("efficient_attention"):
            event["args"]["Concrete Inputs"] = ["", "", "", "", "False", "0.", "False"]
    return trace


def check_slow_and_wide(report):
    finding, = (f for f in report.findings if f["rule"] == "kernel_attention")
    expect("title", finding["title"].startswith("Attention computes on fp32 inputs"), True)
    expect("advice", finding["advice"].startswith("Cast Q, K and V to bf16"), True)


def contradicting(trace):
    """The name is of another generation than the rest: nothing is said of what it could use."""
    trace.name, trace.units, trace.capability = "NVIDIA A100-SXM4-80GB", 132, (9, 0)


def check_contradicting(report):
    expect("architecture", report.rows("roofline.by_rank")[0]["capability"] is None, True)
    expect("attention", any(f["rule"] == "kernel_attention" for f in report.findings), False)


def preparing(trace):
    """Quantizing that takes half as long as the attention that it is for."""
    for _ in range(10):
        trace.kernel(GEMM, 10, "aten::mm", [[512, 512], [512, 512]])
        trace.kernel(SAGE_QUANT, 150, "sageattention::quant", [[1, 8, 512, 128]])
        trace.kernel(SAGE_QUANT, 150, "sageattention::quant", [[1, 8, 512, 128]])
        trace.kernel(SAGE, 600, "sageattention::attn", [[1, 8, 512, 128]])


def norm_in_pieces(trace):
    """pow, mean, rsqrt and two products; the middle works on one element per row."""
    rows, all_of = [[4096, 1], []], [[4096, 1024], []]
    for _ in range(20):
        trace.kernel(MUL, 40, "aten::pow", all_of)
        trace.kernel(MEAN, 40, "aten::mean", all_of)
        trace.kernel(MUL, 5, "aten::add", rows)
        trace.kernel(MUL, 5, "aten::rsqrt", rows)
        trace.kernel(MUL, 40, "aten::mul", all_of)
        trace.kernel(MUL, 40, "aten::mul", all_of)
        trace.kernel(GEMM, 10, "aten::mm", [[512, 512], [512, 512]])


def odd_norms(trace):
    """As many norms of the same kind that are one kernel."""
    for _ in range(20):
        trace.kernel("rms_norm_kernel", 30, "aten::_fused_rms_norm", [[4096, 1024]])
        trace.kernel(GEMM, 10, "aten::mm", [[512, 512], [512, 512]])
    norm_in_pieces(trace)


def weights(trace):
    """Weights of fp8 cast before each GEMM, and an activation, whose cast is none of them."""
    trace.name, trace.capability = "NVIDIA H100 80GB HBM3", (9, 0)
    for _ in range(10):
        trace.kernel(CAST, 20, "aten::to", [[16, 3072]], types=["float"])
        trace.kernel(CAST, 300, "aten::to", [[4096, 3072]], types=["c10::Float8_e4m3fn"])
        trace.kernel(GEMM, 100, "aten::mm", [[16, 3072], [3072, 4096]], types=[BF16, BF16])


def vae(trace):
    """A decode in fp32 convolutions, in four tiles."""
    trace.host += 1
    start = trace.host
    for _ in range(4):
        for size in (512, 3):
            trace.kernel(FP32_CONV, 1000, "aten::cudnn_convolution",
                         [[1, 512, 64, 64], [size, 512, 3, 3]], types=["float", "float"])
    trace.add(cat="user_annotation", name="vae_decode", ts=start - 0.5, dur=trace.host - start + 1)
    trace.host += 1


def vae_layers(trace):
    """A decode whose layers run one kernel: no shapes tell the passes."""
    trace.host += 1
    start = trace.host
    for _ in range(30):
        trace.kernel(CONV, 300, "aten::conv2d")
    trace.add(cat="user_annotation", name="vae_decode", ts=start - 0.5, dur=trace.host - start + 1)
    trace.host += 1


def vae_tiles(trace):
    trace.host += 1
    start = trace.host
    for _ in range(9):
        for size in (1, 2, 4, 8): # the resolutions of a decoder
            trace.kernel(CONV, 200, "aten::conv2d", blocks=UNITS * 8 * size)
            trace.kernel(MUL, 25, "aten::mul", blocks=UNITS * 8 * size)
    trace.add(cat="user_annotation", name="vae_decode", ts=start - 0.5, dur=trace.host - start + 1)
    trace.host += 1


def colors(trace, sizes, passes, marked=True):
    """Passes of a decoder, each ending with three channels."""
    trace.host += 1
    start = trace.host
    for _ in range(passes):
        for size in (512, 3):
            trace.kernel(CONV, 400, "aten::conv2d", [sizes, [size, 512] + [3] * (len(sizes) - 2)],
                         types=[BF16, BF16])
    if marked:
        trace.add(cat="user_annotation", name="vae_decode", ts=start - 0.5,
                  dur=trace.host - start + 1)
    trace.host += 1


def vae_frames(trace):
    """A decoder of videos that goes through the frames four at a time."""
    colors(trace, [1, 512, 6, 480, 832], 20)


def vae_video_tiles(trace):
    colors(trace, [1, 512, 61, 256, 256], 9)


def vae_unmarked():
    """Tiles after the last attention, found by kernels and shapes alone."""
    trace = Trace()

    def step():
        work(trace)
        colors(trace, [1, 512, 256, 256], 9, marked=False)
    trace.step(0, step)
    return trace


def check_vae_title(passes, words, found_by="range"):
    def check(report):
        row = report.row("kernels.vae_decode", found_by=found_by)
        expect("passes", row["passes"] or 0, passes)
        titles = [f["title"] for f in report.findings if f["id"] == "vae-decode"]
        expect("title", any("tile after tile" in t for t in titles), words)
    return check


def without_shapes(trace):
    for event in trace.events:
        event.get("args", {}).pop("Input Dims", None)
        event.get("args", {}).pop("Input type", None)
    return trace


def packed(trace):
    """Weights that operators unpack before each GEMM."""
    for _ in range(10):
        for op in ("aten::bitwise_and", "aten::__rshift__", "aten::sub", "aten::mul"):
            trace.kernel(MUL, 80, op)
        trace.kernel(GEMM, 100, "aten::mm")


def masks(trace):
    """No shift: masks of attention, say."""
    for _ in range(10):
        for op in ("aten::bitwise_and", "aten::sub", "aten::mul"):
            trace.kernel(MUL, 80, op)
        trace.kernel(GEMM, 100, "aten::mm")


def volta(trace):
    trace.name, trace.units, trace.memory = "", 7, 7 << 30
    for _ in range(10):
        trace.kernel("volta_scudnn_128x64_relu_interior_nn_v1", 500, "aten::cudnn_convolution",
                     [[8, 64, 56, 56], [64, 64, 3, 3]], types=["float", "float"])


def experts(trace):
    trace.rules = {"kernel_largest"}
    for _ in range(20):
        trace.kernel("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1", 1000, "vllm::moe_forward")
        trace.kernel("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", 900,
                     "vllm::moe_forward")


def transposes(trace):
    for _ in range(10):
        trace.kernel(TO_NHWC, 100, "aten::cudnn_convolution", [[8, 64, 56, 56], [64, 64, 3, 3]])
        trace.kernel(CONV, 400, "aten::cudnn_convolution", [[8, 64, 56, 56], [64, 64, 3, 3]])


def straggler(trace):
    """Two GEMMs of a size; the inner size of one is odd, and it is five times slower."""
    for inner, name, us in ((4096, GEMM, 300), (4097, ALIGN1, 1500)):
        for _ in range(5):
            trace.kernel(name, us, "aten::mm", [[4096, inner], [inner, 4096]], types=[BF16, BF16])


def full(trace):
    """Badly filled kernels, and no memory for a larger batch."""
    waves(trace)
    trace.reserve(0.95)


def interruptions(trace):
    trace.device = max(trace.device, trace.host)
    trace.host = trace.device  # the device has done all its work
    for _ in range(4):
        trace.call("cudaMalloc", 1000.0)


def interrupted_by(name, category):
    """Four ms of such calls in the steady step, while the device has nothing to do."""
    def plant(trace):
        trace.host = trace.device = max(trace.device, trace.host)
        for _ in range(4):
            trace.call(name, 1000.0, category)
    return plant


def graphs(trace):
    trace.correlation += 1
    trace.call("cudaGraphLaunch", 10.0, correlation=trace.correlation)
    trace.device = max(trace.device, trace.host)
    for _ in range(50):
        trace.add(cat="kernel", name=GEMM, ts=trace.device, dur=20.0, pid=0, tid=7,
                  args={"device": 0, "stream": 7, "correlation": trace.correlation})
        trace.device += 20


def report_of(program, trace, rules=None):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "trace.json"
        source.write_text(trace.text(), encoding="utf-8")
        report = reports.read(program, source)
    rules = rules or trace.rules
    report.findings = [found for found in report.findings if found["rule"] in rules]
    return report


def expect(what, got, wanted, tolerance=0.0):
    if wanted is None or got is None:
        same = got is wanted
    elif isinstance(wanted, str):
        same = got == wanted
    else:
        same = abs(got - wanted) <= tolerance * abs(wanted) + 1e-9
    if not same:
        sys.exit("%s: expected %s, got %s" % (what, wanted, got))


def expect_finding(report, name, low_us, high_us):
    """Exactly one finding, whose saving is within a fifth of what was planted."""
    if [f["id"] for f in report.findings] != [name]:
        sys.exit("expected the finding %s, got %s" % (name, [f["title"] for f in report.findings]))
    saving = report.findings[0]["saving_ns"]
    expect(name + ", saving from", saving["low"], low_us * 1000, 0.2)
    expect(name + ", saving to", saving["high"], high_us * 1000, 0.2)
    if len(report.findings[0]["evidence"]) < 1 or not 0 < report.findings[0]["confidence"] <= 1:
        sys.exit("%s: no evidence, or no confidence" % name)
    return report.findings[0]


def check_clean(report):
    if report.findings:
        sys.exit("a clean trace has findings: %s" % [f["title"] for f in report.findings])
    expect("unknown kernels", report.row("kernels.by_family", family="unknown")["share"], 0)
    expect("matrix units", report.scalars["matrix_unit_share"], 1)
    expect("gemm", report.row("kernels.by_class", **{"class": "gemm"})["share"], 0.7, 1e-9)
    expect("flash", report.row("attention.by_backend", backend="flash 2 of torch")["share"], 1)
    warm = report.row("interruptions.by_call", call="cudaMalloc")
    expect("phase", warm["phase"], "warm-up")
    expect("host time", warm["host_ns"], 500000)
    for what, time in (("compilation", 800000), ("autotuning", 900000)):
        rows = report.rows("interruptions.by_call", what=what)
        expect(what, [(row["phase"], row["host_ns"]) for row in rows] == [("warm-up", time)], True)


def check_attention(report):
    expect_finding(report, "attention-unfused", 6000 * 0.4, 6000 * 0.85)
    row = report.row("attention.by_backend", backend="math", source="sequence")
    expect("sequences", row["calls"], 10)
    expect("kernels", row["kernels"], 40)
    expect("time", row["total_ns"], 6000000)
    sizes = {row["head_size"] for row in report.rows("attention.calls")}
    expect("no length of a sequence is a head size", sizes <= {None, 128}, True)


def check_units(report):
    expect_finding(report, "matrix-units-idle", 10000 / 2, 10000 * 7 / 8)
    expect("share", report.scalars["matrix_unit_share"], 28000 / 38000, 1e-9)
    row = report.row("kernels.precision", **{"class": "gemm", "precision": "fp32"})
    expect("time", row["total_ns"], 10000000)


def check_xmma(report):
    check_units(report)
    finding = report.finding("matrix-units-idle")
    expect("title", finding["title"].startswith("FP32 GEMMs run without tensor cores"), True)
    expect("advice", 'set_float32_matmul_precision("high")' in finding["advice"], True)
    row = report.row("kernels.precision", **{"class": "gemm", "precision": "fp32"})
    expect("without tensor cores", row["vector_ns"], 10000000)


def check_vectors(report):
    expect("share", report.scalars["matrix_unit_share"], 28000 / 38000, 1e-9)
    row = report.row("kernels.precision", **{"class": "gemm", "precision": "fp16"})
    expect("thin", row["thin_ns"], 10000000)
    if report.findings:
        sys.exit("there are findings: %s" % [f["title"] for f in report.findings])


def check_fusion(report):
    # 4 of 5 tensors are written and read again: of 10 (one input each) or 15 (two) in all.
    expect_finding(report, "fusion-chains", 20 * 200 * 8 / 15, 20 * (200 * 4 / 5 + 4 * 5))
    row = report.tables["fusion.chains"][0]
    expect("chains", row["chains"], 20)
    expect("kernels", row["kernels"], 100)
    expect("gaps", row["gap_ns"], 20 * 4 * 5000)


def check_casts(report):
    expect_finding(report, "casts-layout", 4000 * 0.3, 4000 * 0.9)
    row = report.row("kernels.copies_by_op", what="cast", op="aten::copy_")
    expect("time", row["total_ns"], 4000000)


def check_copies(report):
    for what, us in (("cast", 200), ("cat", 100)):
        row = report.row("kernels.copies_by_op", what=what, op="CompiledFunction")
        expect(what, row["calls"], 10)
        expect("time of " + what, row["total_ns"], 10 * us * 1000)


def check_waves(report):
    expect_finding(report, "waves-underfilled", 0, 6000 * 3 / 4)
    row = [r for r in report.tables["kernels.waves"] if r["underfilled"]][0]
    expect("efficiency", row["efficiency"], 0.25, 1e-9)
    expect("blocks", row["blocks_p50"], UNITS // 4)
    if any(row["bound"] == "memory" for row in report.rows("run.bound")):
        sys.exit("memory limits a batch that could be larger")


def check_below_roof(report):
    """The sums are element-wise: fusing them is another rule's."""
    time = 10 * PRODUCT / 0.1
    high = 1 - 0.1 / 0.6
    expect_finding(report, "below-roofline", time * high / 2, time * high)
    row = report.row("roofline.by_op", name="aten::mm", shape="M=4096 N=4096 K=4096")
    expect("efficiency", row["efficiency"], 0.1, 1e-3)


def check_attention_backend(share):
    """The share of the time that is saved at least, and what the title says."""
    def check(report):
        finding = expect_finding(report, "attention-backend", 6000 * share[0], 6000 * share[1])
        expect("title", share[2] in finding["title"], True)
        row = report.row("attention.calls", backend="memory-efficient")
        expect("head size", row["head_size"], 128)
    return check


def check_preparing(report):
    finding = expect_finding(report, "attention-preparing", 3000 * 0.3, 3000 * 0.8)
    expect("title", "SageAttention" in finding["title"], True)
    expect("preparing", report.row("attention.calls", backend="sage")["preparing_ns"], 3000000)


def check_norm_in_pieces(report):
    expect_finding(report, "fusion-chains", 20 * 170 * 5 / 6 * 2 / 3, 20 * 170 * 5 / 6)
    row = report.row("fusion.kinds", kind="RMSNorm in pieces")
    expect("chains", row["chains"], 20)
    expect("kernels", row["kernels"], 120)


def check_odd_norms(report):
    finding = expect_finding(report, "norm-in-pieces", 20 * 170 * 5 / 6 * 2 / 3,
                             20 * 170 * 5 / 6)
    expect("title", finding["title"].startswith("RMSNorms in pieces take"), True)
    expect("fused", finding["title"].endswith("although 20 others are fused"), True)
    expect("why", "about 6 kernels instead of one" in finding["why"], True)
    expect("chains", any(f["id"] == "fusion-chains" for f in report.findings), False)


def check_weights(report):
    finding = next(f for f in report.findings if f["id"] == "weights-cast")
    expect("title", finding["title"].startswith("Weights stored as fp8 (e4m3) are cast before"),
           True)
    expect("advice", "_scaled_mm" in finding["advice"], True)
    rows = report.rows("kernels.weight_casts")
    expect("rows", len(rows), 1)
    expect("calls", rows[0]["calls"], 10)
    expect("time", rows[0]["total_ns"], 3000000)
    expect("sizes", (rows[0]["rows"], rows[0]["columns"]) == (4096, 3072), True)


def check_vae(report):
    """Nothing else speaks of these convolutions."""
    finding = expect_finding(report, "vae-decode", 8000 * 0.45, 8000 * 0.9)
    expect("title", finding["title"].startswith("The VAE decodes in fp32 and takes 8"), True)
    row = report.row("kernels.vae_decode", found_by="range")
    expect("passes", row["passes"], 4)
    expect("fp32", row["fp32_ns"], 8000000)


def check_vae_passes(passes, words):
    def check(report):
        expect("passes", report.row("kernels.vae_decode", found_by="range")["passes"], passes)
        titles = [f["title"] for f in report.findings if f["id"] == "vae-decode"]
        expect("titles %s" % titles, len(titles), 1 if words else 0)
        expect("title", all(words in t for t in titles), True)
    return check


def check_packed(report):
    finding = next(f for f in report.findings if f["id"] == "weights-cast")
    expect("title", finding["title"].startswith("Weights stored as packed integers"), True)
    expect("time", sum(r["total_ns"] for r in report.rows("kernels.weight_casts")), 3200000)
    expect("chains", any(f["id"] == "fusion-chains" for f in report.findings), False)


def scaled_blocks(trace):
    """Blocks of 8-bit integers, as GGUF's Q8_0: scaled, cast, and multiplied by."""
    blocks, kinds = [[4096 * 128, 1], [4096 * 128, 32]], ["c10::Half", "signed char"]
    for _ in range(20):
        trace.kernel(MUL, 60, "aten::mul", blocks, types=kinds)
        trace.kernel(CAST, 40, "aten::copy_", [[4096, 4096], [4096, 4096], []],
                     types=["c10::BFloat16", "c10::Half", "Scalar"])
        trace.kernel(GEMM, 100, "aten::mm", [[512, 4096], [4096, 4096]],
                     types=["c10::BFloat16"] * 2)


def scaled_activations(trace):
    """As many integers, which are no weights of the GEMM after them."""
    for _ in range(20):
        trace.kernel(MUL, 60, "aten::mul", [[512, 1], [512, 2048]],
                     types=["c10::Half", "signed char"])
        trace.kernel(GEMM, 100, "aten::mm", [[512, 2048], [2048, 4096]],
                     types=["c10::BFloat16"] * 2)


def check_scaled_blocks(report):
    finding = next(f for f in report.findings if f["id"] == "weights-cast")
    expect("title", finding["title"].startswith("Weights stored as int8 are dequantized before"),
           True)
    expect("time", sum(r["total_ns"] for r in report.rows("kernels.weight_casts")), 20 * 100000)


def check_masks(report):
    expect("casts", any(f["id"] == "weights-cast" for f in report.findings), False)


def check_volta(report):
    finding = next(f for f in report.findings if f["id"] == "matrix-units-idle")
    expect("advice", "Volta" in finding["advice"] and "fp16" in finding["advice"], True)
    expect("wider types", "TF32" in finding["advice"] or "bf16" in finding["advice"], False)


def check_experts(report):
    finding = next(f for f in report.findings if f["id"] == "largest-kernel")
    expect("title", finding["title"].startswith("MoE GEMMs take 38.0 ms"), True)
    expect("calls", finding["title"].endswith("in 40 calls"), True)
    expect("advice", "more sequences" in finding["advice"], True)


def check_transposes(report):
    expect_finding(report, "convolution-layout", 500, 1000)


def check_straggler(report):
    finding = expect_finding(report, "gemm-straggler", 7500 * (1 - 2 / 5), 7500 * (1 - 1 / 5))
    expect("why", "K=4097 is no multiple of 8" in finding["why"], True)


def unnamed(units, memory, capability):
    def plant(trace):
        trace.name, trace.units, trace.memory, trace.capability = "", units, memory, capability
    return lambda: make(plant)


def check_device(name):
    def check(report):
        expect("device", report.document["run"]["devices"], name)
        expect("peaks of", report.row("roofline.by_rank", rank=0)["hardware"],
               name.removesuffix(" (inferred)") or None)
    return check


def mfu_note(report):
    return next(item["note"] for section in report.document["sections"]
                for item in section["items"] if item.get("id") == "mfu")


def check_silent(report):
    if report.findings:
        sys.exit("no fault, but: %s" % [f["title"] for f in report.findings])


def check_loop(report):
    check_silent(report)
    expect("chains", len(report.rows("fusion.chains")), 0)


def check_near_roof(report):
    check_silent(report)
    if "times peak" not in mfu_note(report):
        sys.exit("a utilization that can be is doubted: " + mfu_note(report))


def check_unknown_work(report):
    """FLOPs of the planted GEMM are known, of most of the time they are not."""
    expect("no MFU", "mfu" in report.scalars, False)
    expect("known", 0 < report.scalars["flops_known_share"] < 0.1, True)


def check_above_roof(report):
    if report.scalars["busy_peak_share"] < 1 or "cannot be" not in mfu_note(report):
        sys.exit("an impossible utilization is not said: " + mfu_note(report))


def check_full(report):
    """What the kernels lose is a part of its own, taken out of computing."""
    memory = report.rows("memory.by_rank")[0]
    expect("held", memory["peak_reserved_bytes"], int(0.95 * MEMORY))
    expect("in use", memory["peak_allocated_bytes"], int(0.95 * MEMORY) // 2)
    expect("capacity", memory["total_bytes"], MEMORY)
    expect("snapshots", memory["snapshots"], 0)
    parts = {row["bound"]: row["total_ns"] for row in report.rows("run.bound")}
    device, program = report.rows("gpu_time.by_rank")[0], report.rows("run.window")[0]
    expect("lost", parts["memory"], 6000000 * 3 // 4, 1e-3)
    expect("computing", parts["compute"] + parts["memory"], device["compute_ns"])
    expect("all parts", sum(parts.values()), program["window_ns"])


def check_interruptions(report):
    expect_finding(report, "steady-allocation", 3600, 6400)
    row = report.row("interruptions.by_call", call="cudaMalloc", phase="steady")
    expect("calls", row["calls"], 4)
    expect("idle", row["idle_ns"], 4000000)


def interruption(what, name, category="cuda_driver"):
    """A case: made calls, and the finding on them."""
    def check(report):
        expect_finding(report, "steady-" + what, 4000, 4000)
        rows = report.rows("interruptions.by_call", what=what.removesuffix("s"), phase="steady")
        expect("idle", sum(row["idle_ns"] for row in rows), 4000000)
    return lambda: make(interrupted_by(name, category)), check


def check_graphs(report):
    row = report.row("launches.graphs", call="cudaGraphLaunch")
    expect("launches", row["launches"], 1)
    expect("kernels", row["kernels"], 50)
    expect("kernels per launch", row["kernels_per_launch"], 50)
    expect("device time", row["device_ns"], 1000000)
    expect("host time", row["host_ns"], 10000)
    if row["saved_ns"] is None:
        sys.exit("no launch cost saved, though there are ordinary launches")


def compiled_trace():
    """Two steps; a compiled frame is called twice per step, compiled again once, and half of the
    kernel time is inside."""
    trace = Trace()
    for step in range(2):
        start = trace.host
        for region in ("0/0", "1/1"):
            inside = trace.host
            trace.kernel("triton_poi_fused_add_0", 25, "triton_poi_fused_add_0")
            trace.kernel(GEMM, 25, "aten::mm")
            trace.add(cat="cpu_op", name="Torch-Compiled Region: " + region, ts=inside - 0.5,
                      dur=trace.host - inside + 0.6)
            trace.host += 2
        trace.kernel(GEMM, 100, "aten::mm")
        trace.kernel("my_own_kernel", 2, "aten::mine")
        trace.add(cat="user_annotation", name="ProfilerStep#%d" % step, ts=start - 1,
                  dur=trace.host - start + 1)
        trace.host += 2
    return trace


def check_tables(report):
    row = report.row("compile.by_rank", rank=0)
    expect("triton", row["triton_ns"], 100000)
    expect("regions", row["region_ns"], 200000)
    expect("calls", row["calls"], 4)
    expect("frames", row["frames"], 2)
    expect("calls per step", row["per_step"], 2)
    expect("recompiled", row["recompiled"], 1)
    row = report.row("kernels.unknown", name="my_own_kernel")
    expect("unknown", row["total_ns"], 4000)
    expect("unknown share", report.scalars["kernels_unknown_share"], 4 / 404, 1e-9)
    row = report.row("kernels.small", rank=0)
    expect("small", row["small"], 2)
    expect("time in small", row["small_ns"], 4000)


CASES = {
    "clean": (lambda: make(clean), check_clean),
    "attention": (lambda: make(attention), check_attention),
    "units": (lambda: make(units), check_units),
    "xmma": (lambda: make(xmma), check_xmma),
    "vectors": (lambda: make(vectors), check_vectors),
    "fusion": (lambda: make(fusion), check_fusion),
    "fusion-kernels": (lambda: without_operators(fusion_kernels), check_fusion),
    "loop": (lambda: make(loop), check_loop),
    "loop-kernels": (lambda: without_operators(loop), check_loop),
    "casts": (lambda: make(casts), check_casts),
    "copies": (lambda: make(copies), check_copies),
    "waves": (lambda: make(waves), check_waves),
    "full": (lambda: make(full), check_full),
    "interruptions": (lambda: make(interruptions), check_interruptions),
    "modules": interruption("modules", "cuModuleLoadData"),
    "compilation": interruption("compilation", "compile_fx_inner", "user_annotation"),
    "autotuning": interruption("autotuning", "autotune_to_one_config", "user_annotation"),
    "graphs": (lambda: make(graphs), check_graphs),
    "below-roof": (below_roof(0.1, 0.25), check_below_roof),
    "doubtful-roof": (below_roof(0.0003, 0.25), check_silent),
    "near-roof": (below_roof(0.5, 0.6), check_near_roof),
    "above-roof": (lambda: make(above_roof, layers=0), check_above_roof),
    "unknown-work": (lambda: make(above_roof), check_unknown_work),
    "efficient": (attention_by(EFFICIENT, BF16, "NVIDIA A100-SXM4-80GB", (8, 0)),
                  check_attention_backend((0.2, 0.5, "where the A100 80GB SXM runs Flash"))),
    "efficient-fp32": (attention_by(EFFICIENT_FP32, "float", "NVIDIA A100-SXM4-80GB", (8, 0)),
                       check_attention_backend((0.4, 0.85, "on fp32 inputs"))),
    "efficient-volta": (attention_by(EFFICIENT, HALF, "Tesla V100-SXM2-16GB", (7, 0)),
                        check_silent),
    "preparing": (lambda: make(preparing), check_preparing),
    "norm-in-pieces": (lambda: make(norm_in_pieces), check_norm_in_pieces),
    "scaled-blocks": (lambda: make(scaled_blocks), check_scaled_blocks),
    "scaled-activations": (lambda: make(scaled_activations), check_masks),
    "odd-norms": (lambda: make(odd_norms), check_odd_norms),
    "weights": (lambda: make(weights), check_weights),
    "vae": (lambda: make(vae), check_vae),
    "vae-layers": (lambda: without_shapes(make(vae_layers)), check_vae_passes(None, "")),
    "contradicting": (lambda: make(contradicting), check_contradicting),
    "slow-and-wide": (slow_and_wide, check_slow_and_wide),
    "vae-frames": (lambda: make(vae_frames), check_vae_title(20, False)),
    "vae-video-tiles": (lambda: make(vae_video_tiles), check_vae_title(9, True)),
    "vae-unmarked": (vae_unmarked, check_vae_title(9, True, "kernels")),
    "vae-tiles": (lambda: without_shapes(make(vae_tiles)), check_vae_passes(9, "tile after tile")),
    "packed": (lambda: without_shapes(make(packed)), check_packed),
    "masks": (lambda: without_shapes(make(masks)), check_masks),
    "volta": (lambda: make(volta), check_volta),
    "experts": (lambda: make(experts), check_experts),
    "transposes": (lambda: make(transposes), check_transposes),
    "straggler": (lambda: make(straggler), check_straggler),
    "inferred": (unnamed(304, 206141652992, (9, 4)),
                 check_device("AMD Instinct MI300X (inferred)")),
    "ambiguous": (unnamed(108, 85031714816, (8, 0)), check_device("")),
    "tables": (compiled_trace, check_tables),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("case", choices=sorted(CASES))
    options = parser.parse_args()
    trace, check = CASES[options.case]
    check(report_of(options.program, trace()))


if __name__ == "__main__":
    main()
