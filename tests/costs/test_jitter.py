#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""steps.jitter and steps.outliers of planted runs: which steps take longer, by how much, and why;
and silence where steps differ for a reason of their own, or hardly."""
import json
import os
import pathlib
import random
import statistics
import tempfile
import unittest

import reports

PROGRAM = os.environ["TA_PROGRAM"]
STEPS = 24
KERNELS = 10
MS = 1_000_000


class Trace:
    """Steps of ten kernels of 900 us, each launched while the one before it runs."""

    def __init__(self, names=lambda i: f"ProfilerStep#{i}"):
        self.events, self.time, self.correlation, self.names = [], 1000.0, 0, names
        self.random = random.Random(7)
        self.lengths = []

    def span(self, cat, name, start, dur, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": start,
                            "dur": dur, **({"args": args} if args else {})})

    def kernel(self, name, start, dur):
        self.correlation += 1
        self.span("cuda_runtime", "cudaLaunchKernel", start, 5, correlation=self.correlation)
        self.events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7,
                            "ts": start + 8, "dur": dur,
                            "args": {"correlation": self.correlation, "device": 0, "stream": 7}})

    def step(self, number, kind=None, factor=1.0):
        """`kind` is what the step has more of."""
        start = self.time
        at = start + 20
        if kind == "load":
            self.span("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter."
                      "__next__", at, 8000)
            at += 8010
        if kind == "sort":
            self.span("cpu_op", "aten::sort", at, 9000)
            at += 9010
        for _ in range(KERNELS * (2 if kind == "more" else 1)):
            length = (900 + self.random.uniform(-20, 20)) * (1.8 if kind == "slow" else 1) * factor
            self.kernel("gemm_kernel", at, length)
            at += length + 8.5
        if kind == "comm":
            self.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", at, 7000)
            at += 7010
        end = at + 20
        self.span("user_annotation", self.names(number), start, end - start)
        self.lengths.append(int(round((end - start) * 1000)))
        self.time = end + 1

    def text(self):
        return json.dumps({"traceEvents": self.events})


class Jitter(unittest.TestCase):
    def read(self, trace):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.pt.trace.json"
            path.write_text(trace.text())
            return reports.read(PROGRAM, path)

    def run_with(self, kind, at=(7, 15)):
        trace = Trace()
        for i in range(STEPS):
            trace.step(i, kind if i in at else None)
        return trace, self.read(trace)

    def check(self, kind, cause):
        trace, report = self.run_with(kind)
        row = report.row("steps.jitter")
        median = statistics.median(trace.lengths)
        self.assertEqual(row["steps"], STEPS)
        self.assertAlmostEqual(row["p50_ns"] / median, 1, places=5)
        ordered = sorted(trace.lengths)
        place = 0.95 * (STEPS - 1)
        low = int(place)
        p95 = ordered[low] + (ordered[low + 1] - ordered[low]) * (place - low)
        self.assertAlmostEqual(row["p95_ns"] / p95, 1, places=5)
        self.assertEqual(row["outliers"], 2)
        excess = sum(length - median for length in trace.lengths if length > 1.2 * median)
        self.assertAlmostEqual(row["excess_ns"] / excess, 1, places=4)
        self.assertEqual(row["cause"], cause)
        self.assertGreater(row["cause_ns"], 0.8 * excess)
        self.assertEqual({r["step"] for r in report.rows("steps.outliers")},
                         {"ProfilerStep#7", "ProfilerStep#15"})
        self.assertEqual({r["cause"] for r in report.rows("steps.outliers")}, {cause})
        finding = report.finding("step-jitter")
        self.assertIsNotNone(finding)
        self.assertIn("2 of 24 steps", finding["title"])
        if finding["saving_ns"]:
            self.assertLessEqual(finding["saving_ns"]["high"], excess * 1.001)
        return report, finding

    def test_loading(self):
        report, finding = self.check("load", "data loading")
        self.assertIn("DataLoader", report.rows("steps.outliers")[0]["site"])
        self.assertIn("data", finding["title"])

    def test_slower_kernels(self):
        _, finding = self.check("slow", "slower kernels")
        self.assertIn("clock", finding["advice"])

    def test_more_kernels(self):
        report, _ = self.check("more", "more kernels")
        self.assertEqual(report.rows("steps.outliers")[0]["more_kernels"], KERNELS)

    def test_communication(self):
        self.check("comm", "communication")

    def test_the_host_computes(self):
        self.check("sort", "host computation")

    def test_even(self):
        _, report = self.run_with(None)
        self.assertEqual(report.row("steps.jitter")["outliers"], 0)
        self.assertIsNone(report.row("steps.jitter")["cause"])
        self.assertIsNone(report.finding("step-jitter"))

    def test_kinds_of_steps(self):
        """Steps of two batch sizes are two kinds; prompts of different lengths are none."""
        trace = Trace(lambda i: f"step[DECODE bs={64 if i % 2 else 4}]")
        for i in range(2 * STEPS):
            trace.step(i, factor=2.5 if i % 2 else 1)
        report = self.read(trace)
        self.assertEqual({r["outliers"] for r in report.rows("steps.jitter")}, {0})
        self.assertEqual(len(report.rows("steps.jitter")), 2)
        trace = Trace(lambda i: f"step[EXTEND bs=1 toks={1 + i % 5}00]")
        for i in range(STEPS):
            trace.step(i, factor=1 + i % 5)
        self.assertEqual(self.read(trace).rows("steps.jitter"), [])

    def test_requests(self):
        """Images of two sizes in one recording: quantiles of each."""
        trace, times = Trace(lambda i: f"execute_diffusion_1_{512 if i % 3 else 256}x512"), {}
        for i in range(60):
            trace.step(i, factor=1 + (i * 7 % 13) / 10)
            times.setdefault(512 if i % 3 else 256, []).append(trace.lengths[-1])
        report = self.read(trace)
        for width, lengths in times.items():
            row = report.row("steps.by_kind", width=width)
            self.assertEqual(row["steps"] + row["set_up"], len(lengths))
            ordered = sorted(lengths)[:row["steps"]]
            for key, q in ("p50_ns", 0.5), ("p95_ns", 0.95), ("p99_ns", 0.99):
                place = q * (len(ordered) - 1)
                low = int(place)
                wanted = ordered[low] + (ordered[min(low + 1, len(ordered) - 1)] -
                                         ordered[low]) * (place - low)
                self.assertAlmostEqual(row[key] / wanted, 1, places=4)

    def test_few_steps(self):
        trace = Trace()
        for i in range(7):
            trace.step(i, "slow" if i == 4 else None)
        self.assertEqual(self.read(trace).rows("steps.jitter"), [])


if __name__ == "__main__":
    unittest.main()
