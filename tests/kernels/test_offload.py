#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants weights in host memory, allocations that are tried again, and steps with two model calls.

usage: test_offload.py --program TRACEANALYZE CASE

A model of blocks runs in denoising steps.  Its weights stay on the device, are copied block by
block before they are used, or move as a whole; steps run it once, or twice for guidance.  What the
rules and tables say is compared with what was planted, and with traces that only look like it:
inputs that are copied once a step, copies that run while kernels do, blocks that repeat.
"""
import argparse
import json
import pathlib
import sys
import tempfile

import reports

GEMM = "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNT"
FLASH = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, cutlass::bfloat16_t>>"
NORM = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>"
ADD = ("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>")
EMBED = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_embedding"
FINAL = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_final"
PATCH = "sm80_xmma_fprop_implicit_gemm_indexed_bf16bf16_bf16f32_f32_nhwckrsc_nhwc"
MIB = 1 << 20
RATE = 6e9 # bytes/s from pageable memory
MEMORY = 24 << 30
# Bytes of the tensors of a block: attention, its projection, up, down.
BLOCK = (24 * MIB, 8 * MIB, 32 * MIB, 32 * MIB)
BLOCKS = 12
ENDS = (6 * MIB, 3 * MIB) # of the embedding and the last layer
MODEL = BLOCKS * sum(BLOCK) + sum(ENDS)
KERNEL_US = 400.0


class Trace:
    """A host thread, a stream of kernels and one of copies; times in microseconds."""

    def __init__(self):
        self.events, self.host, self.device, self.correlation = [], 100.0, 200.0, 0
        self.copy_stream = 200.0

    def add(self, **event):
        self.events.append({"ph": "X", "pid": 1, "tid": 1, **event})

    def launch(self, op, call, call_us=1.0):
        self.correlation += 1
        self.add(cat="cpu_op", name=op, ts=self.host, dur=call_us + 2.0)
        self.add(cat="cuda_runtime", name=call, ts=self.host + 1, dur=call_us,
                 args={"correlation": self.correlation})
        self.host += call_us + 3.0

    def kernel(self, name, dur=KERNEL_US, op="aten::linear"):
        self.launch(op, "cudaLaunchKernel")
        self.device = max(self.device, self.host)
        self.add(cat="kernel", name=name, ts=self.device, dur=dur, pid=0, tid=7,
                 args={"device": 0, "stream": 7, "correlation": self.correlation})
        self.device += dur

    def copy(self, size, back=False, pinned=False, beside=False):
        """Pageable copies hold the host until they are done, pinned ones do not."""
        dur = size / (RATE if not pinned else 4 * RATE) * 1e6
        kind = "Pinned" if pinned else "Pageable"
        start = self.copy_stream if beside else max(self.device, self.host, self.copy_stream)
        start = max(start, self.host)
        self.launch("aten::copy_", "cudaMemcpyAsync",
                    call_us=1.0 if pinned else start - self.host + dur)
        self.add(cat="gpu_memcpy", ts=start, dur=dur, pid=0, tid=9 if beside else 7,
                 name="Memcpy DtoH (Device -> %s)" % kind if back
                 else "Memcpy HtoD (%s -> Device)" % kind,
                 args={"device": 0, "stream": 9 if beside else 7,
                       "correlation": self.correlation, "bytes": size})
        self.copy_stream = start + dur
        if not beside:
            self.device = start + dur

    def span(self, category, name, body):
        start = self.host
        at = len(self.events)
        body()
        self.events.insert(at, {"ph": "X", "pid": 1, "tid": 1, "cat": category, "name": name,
                                "ts": start, "dur": max(self.host - start, 1)})

    def text(self):
        return json.dumps({"deviceProperties": [{"id": 0, "name": "NVIDIA GeForce RTX 4090",
                                                 "numSms": 128, "totalGlobalMem": MEMORY}],
                           "traceEvents": self.events})


def forward(trace, weights=None, module=None, blocks=BLOCKS):
    """One pass of the model; `weights` copies the tensors of a block before they are used."""
    weights = weights or (lambda *sizes: None)

    def run():
        weights(ENDS[0])
        trace.kernel(PATCH)
        trace.kernel(EMBED)
        for _ in range(blocks):
            weights(*BLOCK)
            for name in (NORM, GEMM, FLASH, GEMM, ADD, NORM, GEMM, GEMM, ADD):
                trace.kernel(name)
        weights(ENDS[1])
        trace.kernel(FINAL)
    if module:
        trace.span("python_function", "nn.Module: %s_0" % module, run)
    else:
        run()


def steps(trace, n, body, name="denoise_step"):
    for _ in range(n):
        trace.span("user_annotation", name, body)


def pageable(trace):
    return lambda *sizes: [trace.copy(size) for size in sizes]


def layers(trace):
    steps(trace, 5, lambda: forward(trace, pageable(trace)))


def holding(gib):
    """The same, and the allocator says what it holds."""
    def make(trace):
        for _ in range(2):
            trace.events.append({
                "ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event", "pid": 1,
                "tid": 1, "ts": trace.host,
                "args": {"Total Allocated": (gib << 30) - MIB, "Total Reserved": gib << 30,
                         "Bytes": 4096, "Addr": 4096, "Device Id": 0, "Device Type": 1}})
            layers(trace)
    return make


def unmarked(trace):
    """Without marks the embedding says how long a pass is."""
    for _ in range(5):
        forward(trace, pageable(trace))


def buffers(trace):
    """The tensors of a block lie in one buffer, and copies are of one size."""
    def weights(*sizes):
        if len(sizes) > 1:
            trace.copy(sum(sizes))
    steps(trace, 5, lambda: forward(trace, weights))


def swapped(trace):
    """Blocks go back, too."""
    def weights(*sizes):
        for size in sizes:
            trace.copy(size)
            trace.copy(size, back=True)
    steps(trace, 4, lambda: forward(trace, weights))


def prefetched(trace):
    """Copies of pinned memory on a stream of their own, beside the kernels of the block before."""
    def weights(*sizes):
        for size in sizes:
            trace.copy(size // 8, pinned=True, beside=True)
    steps(trace, 5, lambda: forward(trace, weights))


def inputs(trace):
    """A training step copies its batch, in as many tensors as a model of clicks has."""
    def step():
        for i in range(26):
            trace.copy(256 * 1024 + 4096 * i)
        forward(trace)
    steps(trace, 12, step, "train_step")


def prefetched_inputs(trace):
    """The next batch is copied tensor by tensor while the kernels of this one run."""
    def step():
        for i in range(8):
            for j in range(2):
                trace.copy(4 * MIB + (2 * i + j) * 65536, pinned=True)
            forward(trace, blocks=1)
    steps(trace, 6, step, "train_step")


def few_kernels(trace):
    """Steps of one product each, and an input before it: not layers."""
    def step():
        trace.copy(40 * MIB)
        trace.kernel(GEMM)
    steps(trace, 40, step)


def models(trace):
    """Each model moves to the device before its stage and back after it."""
    tensors = [sum(BLOCK)] * BLOCKS
    for _ in range(2):
        for _ in range(2): # an encoder, and the transformer
            for size in tensors:
                trace.copy(size)
            for _ in range(6):
                forward(trace)
            for size in tensors:
                trace.copy(size, back=True)


def once(trace):
    """A model that is loaded once, before the steps."""
    for size in BLOCK * BLOCKS:
        trace.copy(size)
    steps(trace, 5, lambda: forward(trace))


def call(trace, name, dur):
    trace.add(cat="cuda_runtime", name=name, ts=trace.host, dur=dur)
    trace.host += dur


def retry(trace):
    """An allocation finds no room: the allocator waits, gives its cache back and tries again."""
    call(trace, "cudaMalloc", 50.0)
    call(trace, "cudaDeviceSynchronize", max(trace.device - trace.host, 1.0))
    for _ in range(3):
        call(trace, "cudaFree", 300.0)
    call(trace, "cudaMalloc", 500.0)


def retries(trace):
    def step():
        for _ in range(3):
            trace.span("cpu_op", "aten::empty", lambda: retry(trace))
            forward(trace, blocks=2)
    steps(trace, 5, step)


def emptied(trace):
    """A program that empties the cache itself, in no operator."""
    def step():
        call(trace, "cudaFree", 300.0)
        trace.span("cpu_op", "aten::empty", lambda: call(trace, "cudaMalloc", 500.0))
        forward(trace)
    steps(trace, 5, step)


def guidance_modules(trace):
    def step():
        forward(trace, module="DiT")
        forward(trace, module="DiT")
        trace.kernel(ADD)
    steps(trace, 6, step)


def guidance_ranges(trace):
    def step():
        for _ in range(2):
            trace.span("user_annotation", "transformer", lambda: forward(trace))
    steps(trace, 6, step)


def guidance_kernels(trace):
    def step():
        forward(trace)
        forward(trace)
        trace.kernel(ADD)
    steps(trace, 6, step)


REGION = "Torch-Compiled Region: 0/0"


def scheduler(trace):
    for _ in range(4):
        trace.kernel(ADD)


def guidance_compiled(trace):
    """Without marks the calls of compiled code come in pairs."""
    for _ in range(6):
        for _ in range(2):
            trace.span("cpu_op", REGION, lambda: forward(trace))
        scheduler(trace)


def compiled_once(trace):
    for _ in range(6):
        trace.span("cpu_op", REGION, lambda: forward(trace))
        scheduler(trace)


def compiled_blocks(trace):
    """Two blocks that are compiled each, with the rest of the model between them."""
    for _ in range(6):
        trace.kernel(EMBED)
        for _ in range(2):
            trace.span("cpu_op", REGION, lambda: forward(trace, blocks=4))
        trace.kernel(FINAL)
        scheduler(trace)


def one_pass(trace):
    steps(trace, 6, lambda: forward(trace, module="DiT"))


def one_pass_kernels(trace):
    """Blocks repeat, and a model of two of them repeats once."""
    for blocks in (BLOCKS, 2):
        steps(trace, 6, lambda: forward(trace, blocks=blocks), "step_of_%d" % blocks)


def two_blocks(trace):
    steps(trace, 6, lambda: forward(trace, blocks=2))


def near(faults, what, value, wanted, tolerance=0.02):
    if value is None or abs(value - wanted) > tolerance * wanted:
        faults.append("%s is %s, expected %g" % (what, value, wanted))


def silent(*ids):
    def check(report):
        return ["%s: %s" % (found["id"], found["title"]) for found in report.findings
                if found["id"] in ids]
    return check


no_weights = silent("weight-copies")
no_guidance = silent("guidance-passes")


def check_buffers(report):
    row, faults = report.row("copies.weights"), []
    near(faults, "bytes", row["bytes"], 5 * BLOCKS * sum(BLOCK))
    if row["pattern"] != "layers" or not report.finding("weight-copies"):
        faults.append("the pattern is %s" % row["pattern"])
    return faults


def check_layers(passes, moved=1):
    def check(report):
        row, faults = report.row("copies.weights"), []
        found = report.finding("weight-copies")
        near(faults, "a pass", row["pass_bytes"], MODEL)
        near(faults, "bytes", row["bytes"], passes * MODEL)
        if row["pattern"] != "layers" or row["passes"] != passes:
            faults.append("pattern and passes are %s" % row)
        near(faults, "copies back", row["back_bytes"] or 0, (moved - 1) * passes * MODEL + 1e-9,
             0.02 if moved > 1 else 1)
        copied = moved * passes * MODEL / RATE * 1e9
        near(faults, "exposed time", row["exposed_ns"], copied)
        if not found:
            return faults + ["nothing is found"]
        low, high = found["saving_ns"]["low"], found["saving_ns"]["high"]
        if not low <= copied <= 1.05 * high or high > 3 * low:
            faults.append("copies take %d ns, the saving is %d to %d" % (copied, low, high))
        for words in ("1.1", "%d times" % passes, "of the run"):
            if words not in found["title"]:
                faults.append("the title lacks %r: %s" % (words, found["title"]))
        return faults + silent("pageable-copy", "exposed-copies")(report)
    return check


def check_room(gib, words):
    """What the device holds besides decides whether the weights can stay."""
    def check(report):
        row, faults = report.row("copies.weights"), check_layers(10)(report)
        near(faults, "rate", row["bandwidth"], RATE)
        near(faults, "pageable share", row["pageable_share"], 1)
        near(faults, "held", row["held_bytes"], gib << 30)
        near(faults, "free", row["free_bytes"], MEMORY - (gib << 30))
        if row["link_bandwidth"]:
            near(faults, "share of the link", row["link_share"], RATE / row["link_bandwidth"])
            near(faults, "copied ahead", row["ahead_ns"],
                 max(row["kernel_ns"], row["bytes"] * 1e9 / row["link_bandwidth"]))
        advice = report.finding("weight-copies")["advice"]
        if words not in advice:
            faults.append("the advice lacks %r: %s" % (words, advice))
        return faults
    return check


def check_models(report):
    row, faults = report.row("copies.weights"), []
    near(faults, "bytes", row["bytes"], 4 * BLOCKS * sum(BLOCK))
    near(faults, "copies back", row["back_bytes"], 4 * BLOCKS * sum(BLOCK))
    found = report.finding("weight-copies")
    if row["pattern"] != "models" or not found or "offloaded" not in found["title"]:
        faults.append("%s: %s" % (row, found))
    return faults + silent("pageable-copy", "exposed-copies")(report)


def check_retries(report):
    row, faults = report.row("memory.retries"), []
    found = report.finding("allocation-retries")
    # Each but the first, before which nothing ran, leaves the device idle while it gives back.
    near(faults, "idle time", row["idle_ns"], 14 * 1.4e6, 0.05)
    if row["count"] != 15 or row["frees"] != 45:
        faults.append("the row is %s" % row)
    if not found or "15 times" not in found["title"]:
        return faults + ["no finding: %s" % [f["title"] for f in report.findings]]
    if not found["saving_ns"]["low"] <= row["idle_ns"] <= found["saving_ns"]["high"]:
        faults.append("the saving is %s" % found["saving_ns"])
    return faults


def check_guidance(source, module):
    def check(report):
        row, faults = report.row("guidance.by_rank"), []
        found = report.finding("guidance-passes")
        pass_ns = (3 + 9 * BLOCKS) * KERNEL_US * 1e3
        near(faults, "second passes", row["second_ns"], 6 * pass_ns, 0.03)
        if row["source"] != source or row["module"] != module or row["steps"] != 6:
            faults.append("the row is %s" % row)
        if not found or "twice" not in found["title"]:
            faults.append("no finding: %s" % [f["title"] for f in report.findings])
        return faults
    return check


CASES = {
    "layers": (layers, check_layers(5)),
    "room": (holding(4), check_room(4, "Keep the weights on the GPU: it has 24")),
    "no-room": (holding(23), check_room(23, "Only 1.00 GiB of the weights fit")),
    "buffers": (buffers, check_buffers),
    "unmarked": (unmarked, check_layers(5)),
    "swapped": (swapped, check_layers(4, moved=2)),
    "prefetched": (prefetched, no_weights),
    "inputs": (inputs, no_weights),
    "prefetched-inputs": (prefetched_inputs, no_weights),
    "few-kernels": (few_kernels, no_weights),
    "models": (models, check_models),
    "once": (once, no_weights),
    "retries": (retries, check_retries),
    "emptied": (emptied, silent("allocation-retries")),
    "guidance-modules": (guidance_modules, check_guidance("module", "DiT")),
    "guidance-ranges": (guidance_ranges, check_guidance("range", "transformer")),
    "guidance-kernels": (guidance_kernels, check_guidance("kernels", None)),
    "guidance-compiled": (guidance_compiled, check_guidance("range", REGION)),
    "compiled-once": (compiled_once, no_guidance),
    "compiled-blocks": (compiled_blocks, no_guidance),
    "one-pass": (one_pass, no_guidance),
    "one-pass-kernels": (one_pass_kernels, no_guidance),
    "two-blocks": (two_blocks, no_guidance),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("case", choices=CASES)
    options = parser.parse_args()
    make, check = CASES[options.case]
    trace = Trace()
    make(trace)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rank0.json"
        path.write_text(trace.text(), encoding="utf-8")
        report = reports.read(options.program, path)
    faults = check(report)
    for fault in faults:
        print(fault)
    for found in report.findings:
        print("%s: %s" % (found["id"], found["title"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
