#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What points to a place without a fault of its own: the largest kernel, kernels that wait, gaps
that stand out among others, and how severe a finding of a tiny recording is.

usage: test_pointers.py --program TRACEANALYZE
"""
import reports
import test_kernels
from test_kernels import CAST, GEMM, MUL, Trace, expect

WAIT = "at::cuda::spin_kernel(long)"


def read(program, trace):
    trace.host += 10
    return test_kernels.report_of(program, trace, {"kernel_largest", "kernel_waits", "launch_bound",
                                                   "kernel_units"})


def findings(report, *wanted):
    ids = [found["id"] for found in report.findings]
    expect("findings", ",".join(ids), ",".join(wanted))
    return report.findings


def back_to_back(*kernels):
    """Kernels, each some times in turn, queued long before they start."""
    trace = Trace()
    trace.kernel(MUL, 2000)
    for _ in range(10):
        for name, dur in kernels:
            trace.kernel(name, dur)
    return trace


def check_largest(program):
    """10 x 500 us of 10,000 us, and 300 us of the second."""
    report = read(program, back_to_back((GEMM, 500), (MUL + "2", 300)))
    found, = findings(report, "largest-kernel")
    time, mean = found["evidence"]
    expect("mean", mean["value"], 500000)
    expect("time", time["value"], 5000000)
    expect("severity", found["severity"], "info")
    expect("saving", found["saving_ns"], None)
    expect("kind", found["title"].startswith("One GEMM kernel takes 5.00 ms"), True)


def check_none_large(program):
    kernels = [(GEMM + str(i), 100) for i in range(10)]
    findings(read(program, back_to_back(*kernels)))
    one = Trace()
    one.kernel(GEMM, 1000)
    findings(read(program, one))  # nothing to choose among


def check_graph(program):
    """Kernels of a graph have no sizes, and the finding says what tells them."""
    trace = Trace()
    trace.add(cat="cuda_runtime", name="cudaGraphLaunch", ts=trace.host, dur=5,
              args={"correlation": 1})
    for i in range(20):
        trace.add(cat="kernel", name=GEMM if i % 2 else MUL, ts=200 + 50 * i, dur=50, pid=0, tid=7,
                  args={"device": 0, "stream": 7, "correlation": 1})
    found, = findings(read(program, trace), "largest-kernel")
    expect("speaks of graphs", "without graphs and with record_shapes" in found["advice"], True)


def check_waits(program):
    """10 x 400 us of waiting in a window of 10,000 us; the largest kernel is the other."""
    report = read(program, back_to_back((WAIT, 400), (GEMM, 390)))
    waits, largest = findings(report, "kernel-waits", "largest-kernel")
    expect("waits", waits["saving_ns"]["high"], 4000000)
    expect("window", report.rows("gpu_time.by_rank")[0]["window_ns"], 9900000)
    expect("largest", largest["evidence"][0]["value"], 3900000)
    findings(read(program, back_to_back((WAIT, 40), (GEMM, 100), (MUL, 800))), "largest-kernel")


def late(gaps, before=GEMM):
    """A thread that is late by each of the gaps, in front of one kernel; and often by 5 us."""
    trace = Trace()
    for gap in gaps:
        trace.call("mine::slow", gap, "cpu_op")
        trace.kernel(before, 3)
        for _ in range(100):
            trace.host = max(trace.host, trace.device + 1)
            trace.kernel(MUL, 3)
        trace.host = max(trace.host, trace.device)
    return trace


def check_gaps(program):
    found, = findings(read(program, late((1, 1000, 1200, 1100))), "launch-bound")
    expect("gaps", "3 gaps of 1.0" in found["details"] and " 1.20 ms" in found["details"] and
           "nvjet" in found["details"], True)
    gap = found["evidence"][2]
    expect("table", gap["table"], "gpu_idle.longest")
    expect("longest", gap["value"], 1200000, 0.01)
    found, = findings(read(program, late((1, 2000))), "launch-bound")
    expect("one gap", "The longest gap is 2.00 ms, before nvjet" in found["details"], True)
    found, = findings(read(program, late((1, 1, 1, 1))), "launch-bound")
    expect("no graphs", "in a CUDA graph" in found["advice"], True)
    expect("none", len(found["evidence"]), 2)


def check_badly_filled(program):
    """One block is all that a kernel needs to wait."""
    def rules(name):
        trace = Trace()
        for _ in range(10):
            trace.kernel(GEMM, 300)
            trace.kernel(name, 100, blocks=1)
        report = test_kernels.report_of(program, trace, {"kernel_waves"})
        return len(report.findings)
    expect("waits", rules(WAIT), 0)
    expect("works", rules("ampere_bf16_s16816gemm_bf16_128x64_tn"), 1)


def check_replays(program):
    """A graph that is launched late: more graphs are no advice."""
    trace = Trace()
    for i in range(4):
        trace.call("mine::slow", 300, "cpu_op")
        trace.add(cat="cuda_runtime", name="cudaGraphLaunch", ts=trace.host, dur=5,
                  args={"correlation": i})
        for k, name in enumerate((GEMM, MUL, CAST)):
            trace.add(cat="kernel", name=name, ts=trace.host + 10 + 50 * k, dur=50, pid=0, tid=7,
                      args={"device": 0, "stream": 7, "correlation": i})
        trace.host += 160
    found, = findings(read(program, trace), "launch-bound")
    expect("graphs", "launch the next graph" in found["advice"], True)


def check_severity(program):
    """The same share of a window: of 4 ms a high saving, of some us none that matters."""
    def severity(dur):
        trace = Trace()
        for name in (test_kernels.SGEMM, MUL) * 4: # fewer are no picture of a run
            trace.kernel(name, dur / 4)
        found = read(program, trace).finding("matrix-units-idle")
        return found and found["severity"]
    expect("ms", severity(2000), "high")
    expect("hundreds of us", severity(200), "medium")
    expect("us", severity(10), None)


def main():
    program = reports.program_of_arguments()
    for check in (check_largest, check_none_large, check_graph, check_waits, check_gaps,
                  check_replays, check_badly_filled, check_severity):
        print(check.__name__)
        check(program)


if __name__ == "__main__":
    main()
