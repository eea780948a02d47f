#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said fits what was recorded: made-up traces that differ in one thing.

usage: test_fitting.py --program TRACEANALYZE
"""
import sys

import reports
import test_kernels

RULES = {"kernel_roofline", "kernel_fusion", "input_bound", "launch_bound", "damage", "trust",
         "sync_wait", "kernel_attention", "interruptions", "setup", "kernel_largest", "host_edges"}
SIMT = "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>"
LIBRARY_CAST = "SubTensorOpWithCastTensor1d"
FAULTS = []


def expect(what, holds):
    if not holds:
        FAULTS.append(what)


def trace_of(*plants, layers=4):
    trace = test_kernels.Trace()
    trace.rules = RULES
    for number in range(3):
        trace.step(number, lambda: (test_kernels.work(trace, layers),
                                    [plant(trace) for plant in plants]))
    return trace


def kernels_of(name, op, us=100, times=10, **args):
    return lambda trace: [trace.kernel(name, us, op, **args) for _ in range(times)]


def loading_by(loader):
    def plant(trace):
        trace.host = max(trace.host, trace.device)
        trace.call("enumerate(DataLoader)#" + loader + ".__next__", 3000.0, "user_annotation")
    return plant


def allocating(trace):
    for _ in range(100):
        trace.host = max(trace.host, trace.device)
        trace.call("cudaMalloc", 10.0)
        trace.call("cudaFree", 200.0)
        trace.kernel(test_kernels.GEMM, 20, "aten::mm")


def late_launches(trace):
    for _ in range(10):
        trace.host = max(trace.host, trace.device) + 50
        trace.kernel(test_kernels.GEMM, 20, "aten::mm")


def waiting_in(*functions):
    """A value is read in each function, and the GPU runs out of work."""
    def plant(trace):
        for function in functions:
            trace.kernel(test_kernels.GEMM, 50, "aten::mm")
            start = trace.host
            trace.call("cudaStreamSynchronize", trace.device - trace.host + 1)
            trace.host += 400
            trace.kernel(test_kernels.GEMM, 50, "aten::mm")
            trace.add(cat="cpu_op", name="aten::item", ts=start - 0.5,
                      dur=trace.host - 404 - start)
            trace.add(cat="user_annotation", name=function, ts=start - 0.7,
                      dur=trace.host - start + 1)
    return plant


def main():
    program = reports.program_of_arguments()

    def read(trace):
        return test_kernels.report_of(program, trace, RULES)

    def finding(trace, name):
        return read(trace).finding(name)

    odd = finding(trace_of(kernels_of(test_kernels.ALIGN1, "aten::mm", us=300)), "gemm-unaligned")
    expect("odd sizes are found", odd)
    expect("odd sizes are padded to what a load takes", odd and "multiple of 8" in odd["advice"])
    simt = trace_of(kernels_of(SIMT, "aten::mm", us=300))
    expect("kernels of CUDA cores are not odd", not finding(simt, "gemm-unaligned"))

    cast = kernels_of(test_kernels.CAST, "aten::to")
    expect("casts of the program are found", finding(trace_of(cast), "casts-layout"))
    own = kernels_of(LIBRARY_CAST, "aten::miopen_convolution")
    expect("casts within convolutions are the library's",
           not finding(trace_of(own), "casts-layout"))

    for loader, word in (("_SingleProcessDataLoaderIter", "in other processes"),
                         ("_MultiProcessingDataLoaderIter", "has workers already")):
        found = finding(trace_of(loading_by(loader)), "input-bound")
        expect("%s: %s" % (loader, word), found and word in found["advice"])

    late = trace_of(late_launches)
    found = finding(late, "launch-bound")
    expect("Python launches", found and found["title"].startswith("Python launches"))
    late.events = [event for event in late.events
                   if event["cat"] not in ("cpu_op", "user_annotation")]
    found = finding(late, "launch-bound")
    expect("without operators the host launches", found and
           found["title"].startswith("The host launches"))

    on_amd = trace_of(late_launches)
    on_amd.name = ""
    for event in on_amd.events:
        event["name"] = event["name"].replace("cudaLaunch", "hipLaunch")
    found = finding(on_amd, "launch-bound")
    expect("calls of ROCm mean an AMD GPU", found and "HIP graph" in found["advice"])

    loose = trace_of()
    for event in loose.events:
        event["args"] = {key: value for key, value in event.get("args", {}).items()
                         if key != "correlation"}
    expect("kernels that name no launch are not lost", not finding(loose, "damage-lost-kernels"))

    uncached = trace_of(allocating)
    for event in uncached.events: # no step is marked
        event["name"] = event["name"].replace("ProfilerStep", "run")
    report = read(uncached)
    found = report.finding("steady-allocation")
    expect("no cache keeps memory", found and "300 allocations, 300 frees" in found["why"])
    expect("which is no set-up", not report.finding("setup"))
    busy = sum(event["dur"] for event in uncached.events if event["cat"] == "kernel")
    window = report.rows("gpu_time.program")[0]["window_ns"]
    expect("what the GPU computes is not saved",
           found and found["saving_ns"]["high"] <= window - busy * 1e3)

    softmax = trace_of(kernels_of(test_kernels.SOFTMAX, "aten::_softmax", us=2000), layers=1)
    expect("a softmax is the largest kernel", finding(softmax, "largest-kernel"))

    few = trace_of(layers=1)
    few.events = [event for event in few.events if event["cat"] != "kernel"] + [
        event for event in few.events if event["cat"] == "kernel"][:1]
    found = finding(few, "trust")
    expect("one kernel is no run", found and found["title"].startswith("Too few"))

    found = finding(trace_of(waiting_in("sampler", "guider")), "value-read")
    expect("waits of one operator in two functions are all counted",
           found and "aten::item makes" in found["title"] and "waits 6 times" in found["why"])

    for fault in FAULTS:
        print(fault, file=sys.stderr)
    return 1 if FAULTS else 0


if __name__ == "__main__":
    sys.exit(main())
