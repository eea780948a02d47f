#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""costs.values of planted runs: GPU hours, energy and money for an image, a frame, a step, a run,
worked out anew; nothing of money without --price; and what is no price."""
import json
import os
import pathlib
import tempfile
import unittest

import reports

PROGRAM = os.environ["TA_PROGRAM"]
STEPS = 5
US = 1000


def trace(rank, world, names=None):
    """STEPS steps of 10 ms; the program ends with the work of its last kernel."""
    events = []
    for i in range(STEPS):
        start = i * 10_000
        name = names[i] if names else f"ProfilerStep#{i}"
        events += [{"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 1,
                    "ts": start, "dur": 10_000},
                   {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                    "tid": 1, "ts": start + 10, "dur": 20, "args": {"correlation": i + 1}},
                   {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
                    "ts": start + 100, "dur": 9_500,
                    "args": {"correlation": i + 1, "device": rank, "stream": 7}}]
    return json.dumps({"distributedInfo": {"rank": rank, "world_size": world, "backend": "nccl"},
                       "traceEvents": events})


class Price(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def ranks(self, n, world, names=None):
        for rank in range(n):
            (self.folder / f"run-rank{rank}.pt.trace.json").write_text(trace(rank, world, names))

    def test_all_devices_of_the_run(self):
        """Two of four ranks were read: the other two cost as much."""
        self.ranks(2, 4)
        report = reports.read(PROGRAM, "--price", "3.60EUR", self.folder)
        window = report.rows("gpu_time.program")[0]["window_ns"]
        run, step = report.row("costs.values", per="run"), report.row("costs.values", per="step")
        self.assertEqual(run["devices"], 4)
        self.assertAlmostEqual(run["gpu_ns"], 4 * window)
        self.assertAlmostEqual(run["gpu_hours"], 4 * window / 3.6e12)
        self.assertAlmostEqual(run["cost"] * 1e9, 4 * window / 3.6e12 * 3.6 * 1e9)
        self.assertEqual(run["currency"], "EUR")
        self.assertEqual(step["count"], STEPS)
        self.assertAlmostEqual(step["cost"] * STEPS, run["cost"])
        self.assertIn("steps cost", report.document["verdict"]["headline"])
        self.assertIn("EUR", report.document["verdict"]["headline"])

    def test_images(self):
        """Marks of whole images of a batch are no steps."""
        self.ranks(1, 1, ["execute_diffusion_2_512x512"] * STEPS)
        report = reports.read(PROGRAM, "--price", "2", self.folder)
        run, image = report.row("costs.values", per="run"), report.row("costs.values", per="image")
        self.assertEqual(image["count"], 2 * STEPS)
        self.assertAlmostEqual(image["cost"] * 2 * STEPS, run["cost"])
        self.assertIsNone(image["currency"])
        self.assertEqual(report.rows("costs.values", per="step"), [])

    def test_without_a_price(self):
        self.ranks(1, 1)
        report = reports.read(PROGRAM, self.folder)
        self.assertTrue(report.rows("costs.values"))
        self.assertTrue(all(row["cost"] is None for row in report.rows("costs.values")))
        self.assertNotIn("cost", report.document["verdict"]["headline"])

    def test_no_price(self):
        self.ranks(1, 1)
        for text in ("", "abc", "-1", "0", "0.0", "1e5", "1.2.3", "2,50", "USD", "2.5 U S D", "nan",
                     "inf", "2.5\x1b[31m", "2.5<b>", "9" * 40, "1" + "E" * 40, ".5", "2.5\"x"):
            with self.subTest(text):
                done = reports.call(PROGRAM, "report", "--price", text, self.folder)
                self.assertEqual(done.returncode, 2)
                self.assertIn(b"--price", done.stderr)

    def test_prices(self):
        self.ranks(1, 1)
        for text, per_hour, currency in (("2.50", 2.5, None), ("0.000001", 1e-6, None),
                                         ("3 €", 3, "€"), ("100000JPY", 1e5, "JPY"),
                                         ("2.5US$", 2.5, "US$")):
            with self.subTest(text):
                report = reports.read(PROGRAM, "--price", text, self.folder)
                run = report.row("costs.values", per="run")
                self.assertAlmostEqual(run["cost"] / run["gpu_hours"] / per_hour, 1)
                self.assertEqual(run["currency"], currency)


if __name__ == "__main__":
    unittest.main()
