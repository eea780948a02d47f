#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants idle time of every cause in a made-up trace and wants each back to the nanosecond.

usage: test_idle.py --program TRACEANALYZE [--seeds N]

A scene is a kernel, a gap of the device, and the kernel behind it.  What the thread does meanwhile,
or why the second kernel waits though it was launched, is drawn by chance, and so are all lengths.
"""
import argparse
import collections
import json
import pathlib
import random
import sys
import tempfile

import reports

# cause: category and name of a span that shows it
SHOWN = {
    "operator dispatch": [("cpu_op", "aten::mul")],
    "python": [("python_function", "model.py(12): forward")],
    "runtime calls": [("cuda_runtime", "cudaEventRecord"), ("cuda_runtime", "cudaStreamWaitEvent")],
    "launch calls": [("cuda_runtime", "cudaMemcpyAsync"), ("cuda_runtime", "cudaMemsetAsync")],
    "synchronization": [("cuda_runtime", "cudaStreamSynchronize"),
                        ("cuda_runtime", "cudaDeviceSynchronize")],
    "blocking copy": [("cuda_runtime", "cudaMemcpy"), ("cuda_runtime", "hipMemcpyWithStream")],
    "memory allocation": [("cuda_runtime", "cudaMalloc"), ("cuda_driver", "cuMemCreate")],
    "compilation": [("cuda_driver", "cuModuleLoadData"),
                    ("user_annotation", "compile_fx.<locals>.fx_codegen_and_compile")],
    "data loading": [("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter")],
    "host collective": [("user_annotation", "gloo:all_reduce")],
    "host untraced": [("user_annotation", "denoise_step_3"), None],
    "host computation": [("cpu_op", "aten::addmm"), ("python_function", "PIL/Image.py(9): resize")],
    "profiler": ["overhead"],
}
DEEP = {"compilation", "data loading", "host collective"}  # whatever is nested counts as the same
QUEUED = ("queued, same stream", "queued, dependency", "other stream", "within a graph",
          "micro gap", "launch not recorded", "late start", "stalled")


class Trace:
    """Times in integer nanoseconds."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.events, self.truth = [], collections.Counter()
        self.now = 1000000  # end of the last kernel, where a scene begins
        self.correlation = 0

    def add(self, start, dur, category, name, pid=1, tid=1, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
                            "ts": "%d.%03d" % divmod(start, 1000),
                            "dur": "%d.%03d" % divmod(dur, 1000), "args": args})

    def launch(self, start, dur, name="cudaLaunchKernel"):
        self.correlation += 1
        self.add(start, dur, "cuda_runtime", name, correlation=self.correlation)
        return self.correlation

    def kernel(self, start, dur, correlation, stream=7, name="nvjet_kernel"):
        args = {"correlation": correlation} if correlation else {}
        self.add(start, dur, "kernel", name, pid=0, tid=stream, device=0, stream=stream, **args)
        self.now = start + dur

    def first(self):
        """The kernel before the gap, launched ahead of it."""
        begin = self.now
        correlation = self.launch(begin - 900, 300)
        self.kernel(begin, 30000 + self.rng.randrange(20000), correlation)

    def piece(self, at, cause):
        dur = self.rng.randrange(1000, 300000)
        if cause == "operator dispatch":  # longer ones without a launch compute
            dur = min(dur, 99000)
        elif cause == "host computation":  # a call of the runtime parts it from the one before
            self.add(at, 1000, "cuda_runtime", "cudaEventQuery")
            self.truth["runtime calls"] += 1000
            at, dur = at + 1000, dur + 100000
        shown = self.rng.choice(SHOWN[cause])
        self.truth[cause] += dur
        if shown == "overhead":
            self.add(at, dur, "overhead", "Activity Buffer Request", pid=-1, tid=0)
        elif shown:
            self.add(at, dur, *shown)
            if cause in DEEP:
                self.add(at + dur // 4, dur // 2, "cpu_op", "aten::copy_")
                self.add(at + dur // 3, dur // 8, "cuda_runtime", "cudaMemcpyAsync")
        return at + dur

    def late_host(self):
        """The thread does several things, then launches."""
        self.first()
        at = self.now
        for _ in range(self.rng.randrange(1, 5)):
            at = self.piece(at, self.rng.choice(sorted(SHOWN)))
        call, latency = self.rng.randrange(1000, 9000), self.rng.randrange(1000, 20000)
        correlation = self.launch(at, call)
        self.truth["launch calls"] += call
        self.truth["launch latency"] += latency
        self.kernel(at + call + latency, 5000, correlation)

    def nested(self):
        """An operator with a call in it: what is innermost counts."""
        self.first()
        at, inner = self.now, self.rng.randrange(2000, 90000)
        self.add(at - 500, 500 + 3000 + inner + 4000, "cpu_op", "aten::empty")
        self.add(at + 3000, inner, "cuda_runtime", "cudaMalloc")
        self.truth["operator dispatch"] += 3000 + 4000
        self.truth["memory allocation"] += inner
        correlation = self.launch(at + 3000 + inner + 4000, 2000)
        self.truth["launch calls"] += 2000
        self.truth["launch latency"] += 3000
        self.kernel(at + 3000 + inner + 4000 + 2000 + 3000, 5000, correlation)

    def profiled_launch(self):
        """The profiler stops the thread within the launch itself."""
        self.first()
        at, held = self.now + 2000, self.rng.randrange(1000, 400000)
        self.add(self.now, 2000, "cpu_op", "aten::mul")
        self.add(at + 500, held, "overhead", "Activity Buffer Request", pid=-1, tid=0)
        correlation = self.launch(at, held + 1500)
        self.truth["operator dispatch"] += 2000
        self.truth["profiler"] += held
        self.truth["launch calls"] += 1500
        self.truth["launch latency"] += 1000
        self.kernel(at + held + 1500 + 1000, 5000, correlation)

    def queued(self, cause):
        """The second kernel was launched before the gap, or nobody knows when."""
        gap = {"queued, same stream": self.rng.randrange(1000, 20000),
               "micro gap": self.rng.randrange(1, 1000),
               "late start": self.rng.randrange(1000001, 5000000),
               "stalled": self.rng.randrange(1000001, 5000000),
               }.get(cause, self.rng.randrange(21000, 400000))
        begin, dur = self.now, 40000
        graph = cause == "within a graph"
        correlation = self.launch(begin - 900, 300, "cudaGraphLaunch" if graph else
                                  "cudaLaunchKernel")
        if cause == "late start":
            self.kernel(begin, dur, correlation)
            second = self.launch(self.now, 2000)
            self.truth["launch calls"] += 2000
            self.truth[cause] += gap
            self.kernel(self.now + 2000 + gap, 5000, second)
            return
        second = (correlation if graph else 0 if cause == "launch not recorded"
                  else self.launch(begin - 500, 300))
        self.kernel(begin, dur, correlation)
        self.truth[{"other stream": "queued, dependency", "stalled": "late start"}.get(
            cause, cause)] += gap
        self.kernel(self.now + gap, 5000, second, 9 if cause == "other stream" else 7)

    def lost_kernel(self):
        """Of one launch the kernel is missing: from its end on nothing is known."""
        self.first()
        at, rest = self.now + 2000, self.rng.randrange(1000, 400000)
        self.add(self.now, 2000, "cpu_op", "aten::mul")
        self.launch(at, 700)
        correlation = self.launch(at + 700 + rest, 900)
        self.truth["operator dispatch"] += 2000
        self.truth["launch calls"] += 700
        self.truth["kernels not recorded"] += rest + 900 + 1100
        self.kernel(at + 700 + rest + 900 + 1100, 5000, correlation)

    def first_launch(self):
        """The first launch of a kernel loads its code, the second does not, long as it is."""
        name = "fresh_%d" % self.correlation
        for cause in ("first call", "launch calls"):
            self.first()
            call = self.rng.randrange(1000000, 9000000)
            correlation = self.launch(self.now, call)
            self.truth[cause] += call
            self.truth["launch latency"] += 1500
            self.kernel(self.now + call + 1500, 5000, correlation, name=name)

    def first_operator(self):
        """An operator sets itself up: its first call takes ten times as long as the next ones.  A
        wrapper of its own name is no call before it."""
        name, wrapped = "mine::fresh_%d" % self.correlation, self.rng.random() < 0.5
        for cause, least in (("first call", 1000000), ("operator dispatch", 20000)):
            self.first()
            dur = least + self.rng.randrange(least)
            if wrapped:
                self.add(self.now - 10, dur + 20, "cpu_op", name)
            self.add(self.now, dur, "cpu_op", name)
            correlation = self.launch(self.now + dur + 20 * wrapped, 1000)
            self.truth[cause] += dur
            self.truth["operator dispatch"] += 10 * wrapped
            self.truth["launch calls"] += 1000
            self.truth["host untraced"] += 10 * wrapped
            self.truth["launch latency"] += 1500
            self.kernel(self.now + dur + 20 * wrapped + 1000 + 1500, 5000, correlation)

    def first_setup(self):
        """What a library calls to set itself up: one of many calls of a function takes long.  In
        an operator that was called before, a call that takes long is a call."""
        name = "aten::set_%d" % self.correlation
        for cause, least, setup, call_cause in (
                ("first call", 2000000, 1200000, "first call"),
                ("operator dispatch", 20000, 1200000, "runtime calls")):
            self.first()
            function = "cudaFuncSetAttribute_%d" % self.correlation
            own, calls = least + self.rng.randrange(least // 2), (3000, setup, 3000)
            self.add(self.now, own + sum(calls), "cpu_op", name)
            at = self.now + own
            for call in calls:
                self.add(at, call, "cuda_runtime", function)
                self.truth[call_cause if call == setup else "runtime calls"] += call
                at += call
            self.truth[cause] += own
            correlation = self.launch(at, 1000)
            self.truth["launch calls"] += 1000
            self.truth["launch latency"] += 1500
            self.kernel(at + 1000 + 1500, 5000, correlation)

    def first_shapes(self):
        """An operator loads code for each of two shapes, and is slow for that; or slow anyway."""
        name = "mine::shaped_%d" % self.correlation
        later, cause = self.rng.choice(((20000, "first call"), (400000, "operator dispatch")))
        for loads, cause, least in ((True, cause, 2000000), (True, cause, 2000000),
                                    (False, "operator dispatch", later),
                                    (False, "operator dispatch", later)):
            self.first()
            dur, load = least + self.rng.randrange(least // 2), 30000 if loads else 0
            self.add(self.now, dur + load, "cpu_op", name)
            if loads:
                self.add(self.now + dur, load, "cuda_runtime", "hipModuleLoadData")
            correlation = self.launch(self.now + dur + load, 1000)
            self.truth[cause] += dur
            self.truth["compilation"] += load
            self.truth["launch calls"] += 1000
            self.truth["launch latency"] += 1500
            self.kernel(self.now + dur + load + 1000 + 1500, 5000, correlation)

    def capture(self):
        """Calls that a capture takes down launch nothing; the time counts as making code."""
        self.first()
        at, dur = self.now, self.rng.randrange(20000, 400000)
        self.add(at, 1000, "cuda_runtime", "cudaStreamBeginCapture")
        self.add(at + 1000, dur, "python_function", "model.py(12): forward")
        self.launch(at + 3000, 800)
        self.add(at + 1000 + dur, 1000, "cuda_runtime", "cudaStreamEndCapture")
        correlation = self.launch(at + dur + 2000, 1000)
        self.truth["compilation"] += dur + 2000
        self.truth["launch calls"] += 1000
        self.truth["launch latency"] += 1500
        self.kernel(at + dur + 2000 + 1000 + 1500, 5000, correlation)

    def scene(self):
        kind = self.rng.randrange(5)
        if kind == 4:
            self.rng.choice((self.lost_kernel, self.first_launch, self.first_operator,
                             self.first_setup, self.first_shapes, self.capture))()
            return
        if kind == 0:
            self.queued(self.rng.choice(QUEUED))
        elif kind == 1:
            self.rng.choice((self.nested, self.profiled_launch))()
        else:
            self.late_host()

    def text(self):
        events = ",\n".join(
            json.dumps(e).replace('"ts": "%s"' % e["ts"], '"ts": %s' % e["ts"]).replace(
                '"dur": "%s"' % e["dur"], '"dur": %s' % e["dur"]) for e in self.events)
        return '{"traceEvents": [%s]}' % events


def causes_of(program, trace):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "trace.json"
        source.write_text(trace.text(), encoding="utf-8")
        report = reports.read(program, source)
    causes = {row["cause"]: row["total_ns"] for row in report.rows("gpu_idle.by_cause")}
    return causes, report.total("gpu_time.by_rank", "idle_ns")


def check(program, seed, scenes):
    trace = Trace(seed)
    for _ in range(scenes):
        trace.scene()
        start = trace.now + 100
        # Scenes touch: a kernel launched ahead fills the way to the next one.
        trace.kernel(trace.now, 100 + trace.rng.randrange(5000), trace.launch(trace.now - 700, 200))
        assert trace.now >= start
    found, idle = causes_of(program, trace)
    wrong = ["seed %d, %s: planted %d ns, found %d ns" % (seed, c, trace.truth[c], found.get(c, 0))
             for c in sorted(set(trace.truth) | set(found)) if trace.truth[c] != found.get(c, 0)]
    if sum(found.values()) != idle:
        wrong.append("seed %d: %d ns of causes, %d idle" % (seed, sum(found.values()), idle))
    return wrong, set(trace.truth)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--seeds", type=int, default=4)
    options = parser.parse_args()
    faults, planted = [], set()
    for seed in range(options.seeds):
        wrong, causes = check(options.program, seed, 150)
        faults += wrong
        planted |= causes
    print("%d causes planted: %s" % (len(planted), ", ".join(sorted(planted))))
    missing = (set(SHOWN) | set(QUEUED) | {"launch latency", "first call", "kernels not recorded"}
               ) - {"other stream", "stalled"} - planted
    if missing:
        faults.append("not planted: %s" % sorted(missing))
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
