# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of a training loop as Kineto writes them, made from a few numbers, in ns."""
import json

VENDORS = {"cuda": ("cudaLaunchKernel", "cudaGraphLaunch", "cudaDeviceSynchronize"),
           "hip": ("hipLaunchKernel", "hipGraphLaunch", "hipDeviceSynchronize")}


class Recording:
    """Steps of operators that launch a kernel each, one after the other on stream 7."""

    def __init__(self, steps=6, kernels=40, base_us=5_000_000.0, vendor="cuda"):
        self.events, self.base, self.correlation = [], base_us, 0
        self.launch, self.graph, self.sync = VENDORS[vendor]
        self.runtime = f"{vendor}_runtime"
        self.vendor, self.free = vendor, {7: 0.0}
        for step in range(steps):
            self.step(step, kernels)

    def span(self, category, name, thread, start, duration, **args):
        pid, tid = (0, thread) if isinstance(thread, int) and thread < 100 else (4242, thread)
        event = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
                 "ts": self.base + start, "dur": duration}
        if args:
            event["args"] = args
        self.events.append(event)
        return event

    def kernel(self, start, duration, correlation, name="gemm", stream=7, category="kernel",
               **args):
        begin = max(start, self.free.get(stream, 0.0))
        self.free[stream] = begin + duration
        return self.span(category, name, stream, begin, duration, device=0, context=1,
                         stream=stream, correlation=correlation, **args)

    def call(self, start, name=None, thread=4242, duration=6.0):
        self.correlation += 1
        return self.span(self.runtime, name or self.launch, thread, start, duration,
                         correlation=self.correlation)

    def step(self, number, kernels):
        start = number * 10_000.0
        self.span("user_annotation", f"ProfilerStep#{number}", 4242, start, 9_900.0)
        for i in range(kernels):
            at = start + 50 + i * 200.0
            self.span("cpu_op", "aten::mm", 4242, at, 60.0)
            self.call(at + 10)
            self.kernel(at + 40, 150.0, self.correlation)

    def write(self, path):
        path.write_text(json.dumps({
            "schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}],
            "traceEvents": self.events}), encoding="utf-8")
        return path

    def of(self, category):
        return [event for event in self.events if event["cat"] == category]


def window_ns(events):
    """First start to last end of device activities."""
    return round(1000 * (max(e["ts"] + e["dur"] for e in events) - min(e["ts"] for e in events)))


def sum_ns(events):
    return round(1000 * sum(e["dur"] for e in events))
