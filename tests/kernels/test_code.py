#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants compilation, capture, graph breaks, first calls and loading in made-up traces.

usage: test_code.py --program TRACEANALYZE
"""
import argparse
import sys

import test_kernels
from test_kernels import Trace, expect, work

RULES = {"interruptions", "setup", "graph_breaks", "model_loading", "host_edges"}
STAGES = ("entire_frame_compile", "_compile.compile_inner (dynamo_timed)",
          "OutputGraph.call_user_compiler (dynamo_timed)",
          "create_aot_dispatcher_function (dynamo_timed)", "compile_fx_inner (dynamo_timed)")


def idle(trace):
    """The device has done all its work."""
    trace.host = trace.device = max(trace.device, trace.host)


def compile_in(trace, us, stages=STAGES):
    """Stages of a compilation, each within the one before, and two one after the other in them."""
    idle(trace)
    for depth, name in enumerate(stages):
        trace.add(cat="user_annotation", name=name, ts=trace.host + depth, dur=us - 2 * depth)
    half = (us - 2 * len(stages)) / 2
    for n, name in enumerate(("GraphLowering.run (dynamo_timed)",
                              "async_compile.wait (dynamo_timed)")):
        trace.add(cat="user_annotation", name=name, ts=trace.host + len(stages) + n * half,
                  dur=half)
    trace.host += us


def region(trace, name, body):
    start = trace.host
    trace.host += 1
    body()
    trace.host += 1
    trace.add(cat="cpu_op", name="Torch-Compiled Region: " + name, ts=start,
              dur=trace.host - start)


def graph(trace, kernels=2):
    start = trace.host
    for _ in range(kernels):
        trace.kernel(test_kernels.GEMM, 20, "aten::mm", [[512, 512], [512, 512]],
                     types=["c10::BFloat16"])
    trace.add(cat="user_annotation", name="## Call CompiledFxGraph f1 ##", ts=start - 0.5,
              dur=trace.host - start + 0.6)


def recompiled(codes, marked=True):
    """Four steps; before the regions of these codes the function is compiled for 10 ms."""
    trace = Trace()
    start = trace.host
    for number in range(4):
        def body():
            if number in codes:
                compile_in(trace, 10000.0)
            region(trace, "0/%d" % codes.get(number, 0), lambda: work(trace))
        if marked:
            trace.step(number, body)
        else:
            body()
    trace.add(cat="user_annotation", name="transformer", ts=start, dur=trace.host - start)
    return trace


def find(report, name):
    found = [f for f in report.findings if f["id"] == name]
    if len(found) != 1:
        sys.exit("expected one finding %s, got %s" % (name, [f["title"] for f in report.findings]))
    return found[0]


def holds(what, text, *words):
    for word in words:
        if word not in (text or ""):
            sys.exit("%s: %r is not in %r" % (what, word, text))


class Checks:
    def __init__(self, program):
        self.program = program

    def read(self, trace):
        return test_kernels.report_of(self.program, trace, RULES)

    def compiled_again(self):
        report = self.read(recompiled({1: 1, 3: 2}))
        found = find(report, "steady-compilation")
        holds("title", found["title"], "recompiles transformer twice", "ProfilerStep#1",
              "ProfilerStep#3", "20.0 ms")
        holds("cure", found["advice"], "TORCH_LOGS=recompiles", "dynamic=True")
        expect("one finding", len(report.findings), 1)
        rows = report.rows("interruptions.by_call", what="compilation")
        expect("stages count once", sum(row["host_ns"] for row in rows), 20e6, 1e-3)
        made = report.rows("compile.compilations")
        expect("compilations", sum(row["times"] for row in made), 2)
        expect("versions", str(sorted(row["code"] for row in made)), "[1, 2]")
        expect("saving", found["saving_ns"]["high"], 20e6, 0.1)

    def compiled_again_without_steps(self):
        report = self.read(recompiled({0: 0, 2: 0}, marked=False))
        found = find(report, "steady-compilation")
        holds("title", found["title"], "recompiles transformer once")

    def compiled_at_first(self):
        """The first step of a recording compiles again, which is no warm-up."""
        found = find(self.read(recompiled({0: 3})), "steady-compilation")
        holds("title", found["title"], "recompiles", "ProfilerStep#0")
        trace = recompiled({1: 1, 2: 2})
        for event in trace.events:
            event["name"] = event["name"].replace("ProfilerStep#", "denoise_step_")
        trace.events = [event for event in trace.events if event["name"] != "transformer"]
        holds("a step is no place", find(self.read(trace), "steady-compilation")["title"],
              "torch.compile recompiles twice, in denoise_step_1 and denoise_step_2:")

    def first(self):
        report = self.read(recompiled({0: 0}))
        found = find(report, "setup")
        holds("title", found["title"], "code is compiled", "run (")
        holds("advice", found["advice"], "warmup")
        expect("no saving", found["saving_ns"], None)
        expect("one finding", len(report.findings), 1)

    def wrapper(self):
        """Running what was compiled is no compiling."""
        trace = Trace()
        for number in range(3):
            def body():
                trace.call("TorchDynamo Cache Lookup", 200.0, "cpu_op")
                region(trace, "0/1", lambda: work(trace))
            trace.step(number, body)
        report = self.read(trace)
        expect("rows", len(report.rows("interruptions.by_call")), 0)
        expect("findings", len(report.findings), 0)

    def captured(self):
        """A graph that is captured again in a later step."""
        trace = Trace()
        for number in range(3):
            def body():
                if number == 2:
                    idle(trace)
                    trace.call("cudaStreamBeginCapture", 10.0)
                    trace.host += 4000
                    trace.call("cudaStreamEndCapture", 10.0)
                work(trace)
            trace.step(number, body)
        report = self.read(trace)
        found = find(report, "steady-capture")
        expect("time", report.row("interruptions.by_call", what="capture")["host_ns"], 4020000)
        holds("advice", found["advice"], "static buffers")

    def uncached(self):
        trace = Trace()
        for number in range(3):
            def body():
                for _ in range(100):
                    idle(trace)
                    trace.call("cudaMalloc", 10.0)
                    trace.call("cudaFree", 200.0)
                work(trace)
            trace.step(number, body)
        found = find(self.read(trace), "steady-allocation")
        holds("why", found["why"], "300 allocations, 300 frees", "cudaFree")
        holds("advice", found["advice"], "PYTORCH_NO_CUDA_MEMORY_CACHING")

    def pieces(self):
        """Resumed functions within the first one, and operators that break the graph."""
        trace = Trace()

        def rest(number):
            idle(trace)
            trace.call("aten::nonzero", 500.0, "cpu_op")
            trace.call("TorchDynamo Cache Lookup", 100.0, "cpu_op")
            region(trace, "%d/0" % number, lambda: part(number))

        def part(number):
            graph(trace)
            if number < 4:
                rest(number + 1)

        for number in range(3):
            trace.step(number, lambda: region(trace, "0/0", lambda: part(0)))
        report = self.read(trace)
        found = find(report, "compiled-pieces")
        holds("title", found["title"], "Graph breaks", "5 pieces per step")
        holds("why", found["why"], "aten::nonzero", "12 calls")
        holds("advice", found["advice"], "TORCH_LOGS=graph_breaks", "fullgraph=True")
        row = report.row("compile.by_rank", rank=0)
        expect("breaks", row["breaks"], 12)
        expect("lookups", row["lookup_ns"], 1200000)
        if not 0.95 < row["between_idle_ns"] / (12 * 600e3) < 1.05:
            sys.exit("idle between pieces: %s" % row["between_idle_ns"])
        low, high = found["saving_ns"]["low"], found["saving_ns"]["high"]
        if not low < 12 * 600e3 < high <= 3 * low:
            sys.exit("the saving of graph breaks: %s to %s" % (low, high))

    def blocks(self):
        """One function that is compiled for all blocks breaks nothing."""
        trace = Trace()
        for number in range(3):
            def body():
                for _ in range(20):
                    idle(trace)
                    trace.host += 200
                    region(trace, "0/0", lambda: graph(trace))
            trace.step(number, body)
        report = self.read(trace)
        expect("breaks", report.row("compile.by_rank", rank=0)["breaks"], 0)
        expect("findings", len(report.findings), 0)

    def reloaded(self):
        """Each run copies 2 GB to the device before its first kernel."""
        trace = Trace()
        for _ in range(3):
            start = trace.host
            idle(trace)
            for _ in range(4):
                trace.correlation += 1
                trace.call("cudaMemcpyAsync", 5000.0, correlation=trace.correlation)
                trace.add(cat="gpu_memcpy", name="Memcpy HtoD (Pageable -> Device)",
                          ts=trace.host - 4000, dur=4000.0, pid=0, tid=7,
                          args={"device": 0, "stream": 7, "correlation": trace.correlation,
                                "bytes": 500_000_000})
            idle(trace)
            work(trace)
            idle(trace)
            trace.add(cat="user_annotation", name="generate", ts=start, dur=trace.host - start)
            trace.host += 5
        report = self.read(trace)
        found = find(report, "model-reloaded")
        holds("title", found["title"], "each of 3 runs (generate)")
        row = report.row("models.reloaded", rank=0)
        expect("bytes", row["bytes"], 6_000_000_000)
        expect("time", row["total_ns"], 60e6, 0.02)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    checks = Checks(parser.parse_args().program)
    for name in sorted(vars(Checks)):
        if not name.startswith("_") and name != "read":
            getattr(checks, name)()


if __name__ == "__main__":
    main()
