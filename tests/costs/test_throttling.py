#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""telemetry.limits of planted clocks: what a low clock takes, and whether steps follow it; energy
by trapezoids.  Figures are worked out anew from the samples."""
import datetime
import json
import os
import pathlib
import random
import tempfile
import unittest

import reports

PROGRAM = os.environ["TA_PROGRAM"]
START = datetime.datetime(2026, 3, 1, 10, 0, 0, tzinfo=datetime.timezone.utc)
SECONDS = 120
COLUMNS = ("timestamp, index, utilization.gpu [%], utilization.memory [%], temperature.gpu, "
           "power.draw [W], power.limit [W], clocks.sm [MHz]")


def quantile(values, q):
    values = sorted(values)
    place = q * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def ranks(values):
    ordered = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    first = 0
    while first < len(ordered):
        end = first
        while end < len(ordered) and values[ordered[end]] == values[ordered[first]]:
            end += 1
        for i in ordered[first:end]:
            result[i] = (first + end - 1) / 2
        first = end
    return result


def spearman(x, y):
    a, b = ranks(x), ranks(y)
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    over = sum((i - mean_a) * (k - mean_b) for i, k in zip(a, b))
    return over / (sum((i - mean_a) ** 2 for i in a) * sum((k - mean_b) ** 2 for k in b)) ** 0.5


class Run:
    """A sample a second, and steps whose length follows the clock, or does not."""

    def __init__(self, low, follows=True, power=300, heat=60):
        rng = random.Random(3)
        self.clocks = [1800 + 10 * (i % 3) if not low(i) else 1300 - 5 * (i % 4)
                       for i in range(SECONDS)]
        self.power = [power + rng.randrange(20) for _ in range(SECONDS)]
        self.heat = heat
        self.steps, at = [], 1.0
        while at < SECONDS - 8:
            clock = self.clocks[int(at)]
            length = 3.0 * 1800 / clock if follows else 3.0 + rng.random()
            self.steps.append((at, length))
            at += length

    def log(self):
        rows = [COLUMNS]
        for i, clock in enumerate(self.clocks):
            rows.append(f"2026/03/01 10:{i // 60:02}:{i % 60:02}.000, 0, 97 %, 60 %, {self.heat}, "
                        f"{self.power[i]}.00 W, 700.00 W, {clock} MHz")
        return "\n".join(rows) + "\n"

    def trace(self):
        events = []
        for i, (start, length) in enumerate(self.steps):
            events += [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1,
                        "tid": 1, "ts": start * 1e6, "dur": length * 1e6},
                       {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                        "tid": 1, "ts": start * 1e6 + 10, "dur": 20,
                        "args": {"correlation": i + 1}},
                       {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
                        "ts": start * 1e6 + 100, "dur": length * 1e6 - 200,
                        "args": {"correlation": i + 1, "device": 0, "stream": 7}}]
        return json.dumps({"baseTimeNanoseconds": int(START.timestamp()) * 10**9,
                           "traceEvents": events})

    def report(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "gpu.csv").write_text(self.log())
            (folder / "run.pt.trace.json").write_text(self.trace())
            return reports.read(PROGRAM, folder)

    def samples(self):
        """Those of the run: from its first work to the end of its last."""
        end = self.steps[-1][0] + self.steps[-1][1]
        return [i for i in range(SECONDS) if self.steps[0][0] <= i < end]


class Throttling(unittest.TestCase):
    def check(self, run, report):
        row = report.row("telemetry.limits", limit="low_clock")
        clocks = [run.clocks[i] for i in run.samples()]
        high = quantile(clocks, 0.95)
        low = [c for c in clocks if c < 0.9 * high]
        self.assertEqual(row["samples"], len(low))
        self.assertAlmostEqual(row["lost_ns"] / 1e9, sum(1 - c / high for c in low), places=6)
        pairs = []
        for start, length in run.steps:
            inside = [run.clocks[i] for i in run.samples() if start <= i < start + length]
            if inside:
                pairs.append((length, sum(inside) / len(inside)))
        self.assertEqual(row["steps"], len(pairs))
        # Times of the trace are whole nanoseconds.
        self.assertAlmostEqual(row["step_rho"], spearman(*zip(*pairs)), places=6)
        return row

    def test_steps_follow(self):
        run = Run(lambda i: i % 40 >= 28)
        report = run.report()
        row = self.check(run, report)
        self.assertLess(row["step_rho"], -0.5)
        finding = report.finding("low-clock")
        self.assertIn("lower the clock", finding["why"])
        self.assertNotEqual(finding["severity"], "info")
        self.assertIsNotNone(finding["saving_ns"])

    def test_steps_do_not_follow(self):
        run = Run(lambda i: i % 40 >= 28, follows=False)
        report = run.report()
        row = self.check(run, report)
        self.assertGreater(row["step_rho"], -0.5)
        finding = report.finding("low-clock")
        self.assertEqual(finding["severity"], "info")
        self.assertIsNone(finding["saving_ns"])

    def test_even_clock(self):
        report = Run(lambda i: False).report()
        self.assertEqual(report.rows("telemetry.limits", limit="low_clock"), [])
        self.assertIsNone(report.finding("low-clock"))

    def test_a_cap_is_no_unknown_reason(self):
        """Power at its limit says why the clock is low."""
        run = Run(lambda i: i % 40 >= 28, power=682)
        report = run.report()
        self.assertEqual(report.rows("telemetry.limits", limit="low_clock"), [])
        self.assertTrue(report.rows("telemetry.limits", limit="power_limit"))

    def test_energy(self):
        run = Run(lambda i: False)
        samples = run.samples()
        joules = sum((run.power[a] + run.power[b]) / 2 for a, b in zip(samples, samples[1:]))
        report = run.report()
        energy = report.row("energy.by_rank")
        self.assertAlmostEqual(energy["energy_j"] / joules, 1, places=9)
        # What a step takes is the mean power for the time of the program, over its steps.
        step = report.row("costs.values", per="step")
        window = report.row("gpu_time.program")["window_ns"]
        wanted = joules / (len(samples) - 1) * window / 1e9 / len(run.steps)
        self.assertAlmostEqual(step["energy_j"] / wanted, 1, places=9)


if __name__ == "__main__":
    unittest.main()
