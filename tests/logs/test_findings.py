#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Logs and printed tables with a known cause of slowness, in the layouts of real ones: the first
finding names it, and says nothing else.

usage: test_findings.py PROGRAM
"""
import pathlib
import re
import sys
import tempfile

import checks

# ---- errors of the allocator ---------------------------------------------------------------------

SEEN_TWICE = """!!! Exception during processing !!! {0}
Traceback (most recent call last):
  File "/home/user/ComfyUI/comfy/ldm/wan/vae.py", line 468, in decode
    out = self.decoder(x, feat_cache=feat_map)
  File "/home/user/venv/lib/python3.12/site-packages/torch/nn/modules/conv.py", line 712, in f
    return F.conv3d(
torch.OutOfMemoryError: {0}
""".format("HIP out of memory. Tried to allocate 8.54 GiB. GPU 0 has a total capacity of 15.92 GiB "
           "of which 0 bytes is free. Of the allocated memory 3.97 GiB is allocated by PyTorch, "
           "and 9.27 GiB is reserved by PyTorch but unallocated.")
PROCESSES = (
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 90.00 MiB. GPU 0 has a "
    "total capacity of 23.64 GiB of which 42.81 MiB is free. Process 2871 has 12.10 GiB memory "
    "in use. Process 91021 has 11.49 GiB memory in use. Of the allocated memory 10.90 GiB is "
    "allocated by PyTorch, and 123.10 MiB is reserved by PyTorch but unallocated.\n")

# ---- servers, caches, models ---------------------------------------------------------------------

VLLM = "".join(
    f"INFO 11-03 10:01:{second} [loggers.py:127] Engine 000: Avg prompt throughput: 0.0 tokens/s, "
    "Avg generation throughput: 100.7 tokens/s, Running: 3 reqs, Waiting: 28 reqs, GPU KV cache "
    "usage: 98.6%, Prefix cache hit rate: 0.0%\n" for second in (10, 20, 30))
NO_THRESHOLD = """🤗Cache Options: CacheContext: {}

| Cache Steps | Diffs Min | Diffs P25 | Diffs P50 | Diffs P75 | Diffs P95 | Diffs Max |
|-------------|-----------|-----------|-----------|-----------|-----------|-----------|
| 0           | 0.062     | 0.071     | 0.08      | 0.101     | 0.26      | 0.368     |

"""
PARTIAL = """got prompt
Requested to load Flux
loaded partially 9943.83151171875 9943.367309570312 0
100%|##########| 20/20 [05:02<00:00, 15.10s/it]
Prompt executed in 372.90 seconds
"""

LOWVRAM = """Requested to load SDXLClipModel
Loading 1 new model
Requested to load SDXL
Loading 1 new model
loading in lowvram mode 1074.6301555633545
100%|##########| 32/32 [06:23<00:00, 11.98s/it]
Requested to load AutoencoderKL
Loading 1 new model
Prompt executed in 422.33 seconds
"""
INVOKE = ("[2025-02-10 21:42:35,152]::[ModelManagerService]::INFO --> [MODEL CACHE] Loaded model "
          "'683c44e2:transformer' (Flux) onto cuda device in 9.80s. Total model size: 11350.09MB, "
          "VRAM: 5320.75MB (46.9%)\n100%|##########| 30/30 [06:57<00:00, 13.93s/it]\n")
FRAMEPACK = """Free VRAM {} GB
High-VRAM Mode: False
Moving DynamicSwap_HunyuanVideoTransformer3DModelPacked to cuda:0 with preserved memory: 6 GB
100%|##########| 25/25 [06:57<00:00, 16.72s/it]
"""
RELOADED = "".join("""got prompt
Requested to load WAN21
loaded completely; 22000.00 MB usable, 13629.08 MB loaded, full load: True
100%|##########| 4/4 [00:10<00:00,  2.60s/it]
Requested to load WanVAE
loaded completely; 5000.00 MB usable, 242.03 MB loaded, full load: True
Prompt executed in 58.2 seconds
""" for _ in range(3))
TILED = """got prompt
100%|##########| 20/20 [10:00<00:00, 30.02s/it]
Warning: Ran out of memory when regular VAE decoding, retrying with tiled VAE decoding.
Prompt executed in 1125.40 seconds
"""

# ---- notices of libraries ------------------------------------------------------------------------

SKIPPED = """I0812 10:11:40.1 4411 torch/x.py:3] [0/0] [__perf_hints] skipping cudagraphs due to {}
I0812 10:11:40.1 4411 torch/x.py:384] [0/0] [__perf_hints]    File "/app/flux.py", line 402, in f
100%|##########| 28/28 [00:14<00:00,  1.93it/s]
"""
NCCL = """node1:4000:4100 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via {}
node1:4000:4100 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] via {}
100%|##########| 50/50 [10:10<00:00, 12.20s/it]
"""
LOOP = "100%|##########| 30/30 [02:11<00:00,  4.39s/it]\n"
BNB = ("nn/modules.py:457: UserWarning: Input type into Linear4bit is torch.float16, but "
       "bnb_4bit_compute_dtype=torch.float32 (default). This will lead to slow inference.\n")
WEB_UI = """Applying attention optimization: InvokeAI... done.
100%|##########| 30/30 [01:50<00:00,  3.69s/it]
Total progress: 100%|##########| 30/30 [02:40<00:00,  5.34s/it]
"""
FIRST = "\r".join(["  0%|          | 0/28 [00:00<?, ?it/s]",
                   "  4%|#         | 1/28 [01:05<29:40, 65.93s/it]",
                   " 50%|#####     | 14/28 [01:11<00:06,  2.20it/s]",
                   "100%|##########| 28/28 [01:17<00:00,  2.76s/it]"]) + "\n"

QUERY = ("timestamp, index, utilization.gpu [%], memory.used [MiB], memory.total [MiB]\n" + "".join(
    f"2025/09/30 21:14:{second:02}.412, 0, 99 %, 23810 MiB, 24564 MiB\n" for second in range(30)))

# ---- tables of operators -------------------------------------------------------------------------


def time_of(us):
    return f"{us / 1e6:.3f}s" if us >= 1e6 else f"{us / 1e3:.3f}ms" if us >= 1e3 else f"{us:.3f}us"


def table(host_us, device_us, *rows):
    """What key_averages().table() prints of (name, self host, self device, device, calls)."""
    heads = ("Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "Self CUDA",
             "Self CUDA %", "CUDA total", "CUDA time avg", "# of Calls")
    ruler = "  ".join(["-" * 55] + ["-" * 13] * len(heads)) + "  \n"
    lines = "".join("  ".join(
        [(name if len(name) <= 55 else name[:52] + "...").rjust(55)] +
        [text.rjust(13) for text in
         (f"{100 * host / host_us:.2f}%", time_of(host), f"{100 * host / host_us:.2f}%",
          time_of(host), time_of(host / calls), time_of(own), f"{100 * own / device_us:.2f}%",
          time_of(device), time_of(device / calls), str(calls))]) + "  \n"
                    for name, host, own, device, calls in rows)
    return (ruler + "  ".join(["Name".rjust(55)] + [head.rjust(13) for head in heads]) + "  \n" +
            ruler + lines + ruler + f"Self CPU time total: {time_of(host_us)}\n"
            f"Self CUDA time total: {time_of(device_us)}\n")


MIXED = ("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", 0, 2e6, 2e6, 2000)

CASES = [  # what, text, patterns that the first finding holds, that no finding holds
    ("an error seen twice", SEEN_TWICE, ["an allocation of 8.54 GiB in vae.py:468 decode failed",
                                         "PYTORCH_HIP_ALLOC_CONF"], ["2 allocations"]),
    ("two errors", SEEN_TWICE + SEEN_TWICE, ["2 allocations"], []),
    ("other processes", PROCESSES, ["other processes hold 12.1 GiB"], ["expandable_segments"]),
    ("a queue in each interval", VLLM, ["KV cache is full", "28 requests wait"], []),
    ("a step cache of unknown threshold", NO_THRESHOLD, ["never hits.*at least 0.062"], []),
    ("weights of which the rest is not said", PARTIAL,
     ["only 9.71 GiB of its weights on the GPU and copies the rest"], ["copies them"]),
    ("low memory of old versions", LOWVRAM, ["SDXL has only 1.05 GiB.*copies the rest"], []),
    ("InvokeAI", INVOKE, ["transformer has 5.89 GiB of its 11.1 GiB of weights offloaded"], []),
    ("FramePack", FRAMEPACK.format("6.93"), ["at most 952 MiB of its weights.*16.7 s",
                                             "Preserve less"], []),
    ("FramePack with room", FRAMEPACK.format("45"), [], ["weights"]),
    ("models loaded again", RELOADED, ["WAN21 is loaded again in each of 3 prompts"], []),
    ("decoding that is tried twice", TILED, ["first attempt was lost; prompts take 525 s"], []),
    ("graphs and the CPU", SKIPPED.format("cpu device (arg3_1). Found from :"),
     [r"skips CUDA graphs: cpu device \(arg3_1\), at flux.py:402", "device=.cuda"], []),
    ("graphs and inputs", SKIPPED.format("mutated inputs (2 instances). Found from :"),
     ["mutated inputs", "Do not write into inputs"], []),
    ("NCCL and host memory", NCCL.format(*["SHM/direct/direct"] * 2), ["through host memory"], []),
    ("NCCL and sockets", NCCL.format(*["NET/Socket/0"] * 2), ["TCP sockets"], []),
    ("NCCL and NVLink", NCCL.format(*["P2P/CUMEM/read"] * 2), [], ["."]),
    ("4 bit in fp32", BNB + LOOP, ["4-bit weights are computed in fp32", "bfloat16"], []),
    ("attention of a web UI", WEB_UI, ["split or sub-quadratic", "--opt-sdp-attention"], []),
    ("memory of a device", QUERY, ["All processes together fill 9[0-9.]+ %"],
     ["allocator's cache"]),
    ("a table of copies", table(
        12e6, 11e6, ("Memcpy HtoD (Pageable -> Device)", 0, 8.5e6, 8.5e6, 3000),
        ("cudaMemcpyAsync", 8.6e6, 0, 0, 3000), ("aten::copy_", .2e6, 8.5e6, 8.5e6, 3000), MIXED),
     ["Copies between host and GPU take 77.3 %", "3.000 calls", "pageable"], ["graph"]),
    ("a table of plain attention", table(
        10e6, 9.8e6, ("aten::_scaled_dot_product_attention_math", .1e6, 0, 7.8e6, 600),
        ("ampere_sgemm_128x64_tn", 0, 5.2e6, 5.2e6, 1200), ("aten::bmm", .1e6, 5.2e6, 5.2e6, 1200),
        ("void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false>", 0,
         2.6e6, 2.6e6, 600), ("aten::_softmax", .1e6, 2.6e6, 2.6e6, 600), MIXED),
     ["Attention as separate GEMMs and softmax takes 79.6 %", "scaled_dot_product_attention"],
     ["FP32 GEMMs"]),
    ("a table of fp32", table(
        10e6, 9.8e6, ("ampere_sgemm_128x128_tn", 0, 7.8e6, 7.8e6, 1200),
        ("aten::addmm", .1e6, 7.8e6, 7.8e6, 1200), MIXED),
     ["FP32 GEMMs without tensor cores take 79.6 %", "TF32"], []),
    ("a table of fp32 on Volta", table(
        10e6, 9.8e6, ("volta_sgemm_128x128_tn", 0, 7.8e6, 7.8e6, 1200),
        ("aten::addmm", .1e6, 7.8e6, 7.8e6, 1200), MIXED),
     ["FP32 GEMMs", "fp16"], ["TF32", "bf16"]),
    ("a table of dequantizing", table(
        9e6, 8e6, ("void kDequantizeBlockwise<__nv_bfloat16, 512, 64, 8, 2>(float*", 0, 3.4e6,
                   3.4e6, 12000), ("bitsandbytes::dequantize_4bit", .6e6, 3.4e6, 3.4e6, 12000),
        MIXED),
     ["Dequantizing weights at each call takes 42.5 %"], []),
    ("a table of MIOpen", table(
        9e6, 8e6, ("naive_conv_ab_nonpacked_fwd_nchw_half_double_half.kd", 0, 5.9e6, 5.9e6, 120),
        ("aten::miopen_convolution", .2e6, 5.9e6, 5.9e6, 300),
        ("hipDeviceSynchronize", 5e6, 0, 0, 4), MIXED), ["naive convolution", "73.8 %"], []),
    ("a table of launches", table(
        4.2e6, .9e6, ("cudaLaunchKernel", 1.3e6, 0, 0, 180000),
        ("aten::mul", 1.4e6, .4e6, .4e6, 90000), ("aten::add", 1.4e6, .5e6, .5e6, 90000)),
     ["launches kernels too slowly.*900 ms of work in its 4.20 s", "180.000 launches",
      "graph"], []),
    ("a table of single values", table(
        5e6, 1.9e6, ("cudaStreamSynchronize", 1.4e6, 0, 0, 1400),
        ("aten::_local_scalar_dense", .2e6, .01e6, .01e6, 1400),
        ("cudaLaunchKernel", .9e6, 0, 0, 60000), ("aten::mul", 2e6, 1.8e6, 1.8e6, 60000)),
     ["waits for single values of the GPU 1.400 times: 28.0 %", "after the loop"], ["graph"]),
    ("a table of the CPU's work", table(
        9e6, .9e6, ("aten::addmm", 7.4e6, 0, 0, 72), ("cudaLaunchKernel", .4e6, 0, 0, 9000),
        ("aten::mul", .9e6, .9e6, .9e6, 9000)),
     ["aten::addmm computes on the CPU: 82.2 %", "Move"], ["graph"]),
    ("a table of tensor cores", table(
        9e6, 8e6, ("cudaDeviceSynchronize", 8e6, 0, 0, 4),
        ("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT", 0, 7.5e6, 7.5e6, 900),
        ("aten::mm", .1e6, 7.5e6, 7.5e6, 900)), ["GEMMs take 93.8 %"], ["16 bit or fp8"]),
]


class Checks(checks.Checks):
    def case(self, what, text, wanted, refused):
        report = self.read(text)
        findings = report.findings
        said = [" ".join(str(finding.get(key) or "") for key in ("title", "why", "advice"))
                for finding in findings]
        for pattern in wanted:
            self.expect(f"{what}: {pattern}", bool(said and re.search(pattern, said[0])), True)
        for pattern in refused:
            self.expect(f"{what}: not {pattern}",
                        [text for text in said if re.search(pattern, text)], [])


    def speeds(self):
        """What an iteration takes is not said of a first one that compiles, nor of outer bars."""
        for what, text, wanted in (("a long first one", FIRST, "An iteration takes 4[0-9]{2} ms"),
                                   ("an outer bar", WEB_UI, "An iteration takes 3.69 s")):
            self.expect(what, bool(re.search(wanted, str(self.read(text).document))), True)

    def clocks(self):
        """Bars after the last line with a clock lengthen the log."""
        report = self.read("W0812 10:11:12.1 4411 torch/x.py:7] [0/0] compiling\n"
                           "I0812 10:11:40.1 4411 torch/x.py:8] [0/0] done\n" + LOOP * 3)
        self.expect("a share of the log", report.finding("long-compiling"), None)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        all_checks = Checks(sys.argv[1], pathlib.Path(scratch))
        for case in CASES:
            all_checks.case(*case)
        all_checks.speeds()
        all_checks.clocks()
    return 1 if all_checks.faults else 0


if __name__ == "__main__":
    sys.exit(main())
