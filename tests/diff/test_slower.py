#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that became slower without doing more, and what changed by kind of work.

usage: test_slower.py --program PROGRAM

Dumps of stages whose calls take longer, all alike or one of them, and traces of kernels that a
compiler fused or that all became slower. Times are planted, so each figure is known.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import reports
from test_head import run

PROGRAM = None

GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1"
ADD = ("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
       "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)")
NORM = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)"
TRITON = "triton_poi_fused_add_native_layer_norm_0"
WORK = {GEMM: "GEMM", ADD: "pointwise and norm", NORM: "pointwise and norm",
        TRITON: "fused (Triton)"}


def trace(path, kernels, layers=50, gap_us=2.0, with_ops=False, ahead_us=20, **members):
    """Kernels of one stream, each launched some time ahead; every layer runs all of them."""
    events, at, number = [], 100.0, 0
    for _ in range(layers):
        for name, dur in kernels:
            number += 1
            events += [
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                 "ts": round(at - ahead_us, 3), "dur": 1, "args": {"correlation": number}},
                {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": round(at, 3),
                 "dur": dur, "args": {"device": 0, "stream": 7, "correlation": number}}]
            if with_ops:
                events.append({"ph": "X", "cat": "cpu_op", "name": "aten::op", "pid": 1, "tid": 1,
                               "ts": round(at - ahead_us - 1, 3), "dur": 3})
            at += dur + gap_us
    path.write_text(json.dumps({"traceEvents": events, **members}), encoding="utf-8")
    return path


class Slower(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="traceanalyze-slower-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def compare(self, before, after):
        done = subprocess.run([PROGRAM, "--no-config", "diff", before, after, "-o",
                               self.folder / "out"], check=True, capture_output=True, text=True)
        self.diff = reports.Report((self.folder / "out/diff.json").read_text(encoding="utf-8"))
        self.text = done.stdout
        return self.diff.document["verdict"]["headline"]

    def slower(self):
        found = [finding for finding in self.diff.findings
                 if finding["id"] == "slower-at-equal-calls"]
        self.assertLessEqual(len(found), 1)
        return found[0] if found else None

    def test_all_stages(self):
        """Stages that all became slower point to the machine or to a setting of the program."""
        verdict = self.compare(run(self.folder / "a", 45.0, 8396.8),
                               run(self.folder / "b", 63.0, 8396.8, factor=1.3))
        self.assertIn("slower calls, as many as before, of transformer_forward (125 s instead of "
                      "96 s) and vae_decode (63 s instead of 45 s)", verdict)
        finding = self.slower()
        self.assertEqual(finding["title"], "The same calls take longer: transformer_forward 1.30 "
                                           "times, vae_decode 1.40 times")
        self.assertTrue(finding["advice"].startswith("Compare the settings of both runs first"))
        self.assertEqual(self.diff.findings[0]["id"], "slower-at-equal-calls")
        grown = 63.0 - 45.0 + 0.3 * (2.5 + 0.4 + 96.0)
        self.assertAlmostEqual(finding["saving_ns"]["high"], grown * 1e9, delta=10)
        self.assertLessEqual(finding["saving_ns"]["low"], finding["saving_ns"]["high"])
        # What grew with all of them is no other finding.
        self.assertFalse([f for f in self.diff.findings if f["title"].startswith("Larger: ")])

    def test_one_stage(self):
        self.compare(run(self.folder / "a", 45.0, 8396.8), run(self.folder / "b", 99.0, 8396.8))
        finding = self.slower()
        self.assertEqual(finding["title"], "The same calls take longer: vae_decode 2.20 times "
                                           "(8.25 s instead of 3.75 s each)")
        self.assertTrue(finding["advice"].startswith("Compare its input sizes"))
        self.assertAlmostEqual(finding["saving_ns"]["high"], 54e9, delta=10)

    def test_silent(self):
        """Faster runs, runs that are the same, and what offloading explains."""
        for number, (before, after) in enumerate((
                ((99.0, 8396.8), (45.0, 8396.8)), ((45.0, 8396.8), (45.0, 8396.8)),
                ((45.0, 8396.8), (45.5, 8396.8)), ((45.0, 8396.8), (428.0, 24064.0)))):
            self.compare(run(self.folder / f"a{number}", *before),
                         run(self.folder / f"b{number}", *after))
            self.assertIsNone(self.slower(), (before, after))

    def test_one_unit(self):
        """What is compared has one unit, also above two minutes."""
        self.compare(run(self.folder / "a", 10.0, 8396.8), run(self.folder / "b", 45.0, 8396.8))
        row = next(line for line in self.text.splitlines() if "Time of the run" in line)
        self.assertIn("109 s", row)
        self.assertIn("144 s", row)
        self.assertNotIn(" min", self.text)
        for name in ("out/diff.html", "out/summary.md"):
            path = self.folder / name
            if path.exists():
                self.assertNotIn("2.4 min", path.read_text(encoding="utf-8"))
        # What did not change has no bar, and no line on the screen.
        self.assertNotIn("unchanged", self.text)

    def check_kinds(self, sides):
        """Times by kind of work add up to the window, and are those of the kernels."""
        wanted = {}
        for side, kernels in zip(("base_ns", "new_ns"), sides):
            for name, dur in kernels:
                of = wanted.setdefault(WORK[name], {"base_ns": 0, "new_ns": 0})
                of[side] += round(50 * dur * 1000)
        rows = {row["term"]: row for row in self.diff.rows("diff.classes")}
        for title, times in wanted.items():
            if times["base_ns"] != times["new_ns"]:
                self.assertEqual({key: rows[title][key] for key in times}, times, title)
        window = next(row for row in self.diff.rows("diff.windows") if row["window"] == "longest")
        for key in ("base_ns", "new_ns", "delta_ns"):
            self.assertEqual(sum(row[key] for row in rows.values()), window[key])

    def test_fusion(self):
        eager = [(GEMM, 40), (ADD, 10), (ADD, 10), (NORM, 20)]
        compiled = [(GEMM, 40), (TRITON, 12)]
        sides = [trace(self.folder / "a.json", eager), trace(self.folder / "b.json", compiled)]
        verdict = self.compare(*sides)
        self.assertIn("from fused kernels (Triton), which replaced pointwise and norm kernels: "
                      "0.6 ms instead of 2 ms", verdict)
        self.check_kinds((eager, compiled))
        verdict = self.compare(*reversed(sides))
        self.assertIn("from pointwise and norm kernels, which replaced fused ones (Triton): 2 ms "
                      "instead of 0.6 ms", verdict)
        self.assertIsNone(self.slower())

    def test_all_kernels(self):
        """Kernels of the same names that all take longer; a version that differs is named."""
        before = [(GEMM, 40), (ADD, 10), (NORM, 20)]
        after = [(name, dur * 1.2) for name, dur in before]
        self.compare(trace(self.folder / "a.json", before), trace(self.folder / "b.json", after))
        finding = self.slower()
        self.assertEqual(finding["title"], "The same calls take longer: 3 kernels 1.20 "
                                           "times, all alike")
        self.check_kinds((before, after))

    def sampled(self, name, kernels, clock):
        """A trace of kernels next to samples of the clock."""
        folder = self.folder / name
        folder.mkdir()
        trace(folder / "rank0.json", kernels)
        (folder / "dmon.txt").write_text("\n".join(
            ["# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk",
             "# Idx     W     C     C     %     %     %     %   MHz   MHz",
             *[f"    0   300    60     -    90    40     0     0  2619  {clock}"] * 9, ""]),
                                         encoding="utf-8")
        return folder

    def test_clocks(self):
        """Where both runs were sampled the clock is told, whether it fell or not."""
        before = [(GEMM, 40), (ADD, 10), (NORM, 20), (TRITON, 30)]
        after = [(name, dur * 1.2) for name, dur in before]
        verdict = self.compare(self.sampled("a", before, 1800), self.sampled("b", after, 1500))
        self.assertIn("all alike, at a mean GPU clock of 1 500 MHz instead of 1 800 MHz",
                      verdict.replace("\u202f", " "))
        self.assertIn("The mean GPU clock fell from 1 800 MHz to 1 500 MHz: check power limit",
                      self.slower()["advice"].replace("\u202f", " "))
        verdict = self.compare(self.sampled("c", before, 1800), self.sampled("d", after, 1800))
        self.assertIn("all alike, at the same mean GPU clock", verdict)
        self.assertTrue(self.slower()["advice"].startswith("The GPU clocks did not fall"))

    def test_versions(self):
        """A version that differs is what to check first."""
        before = [(GEMM, 40), (ADD, 10), (NORM, 20)]
        after = [(name, dur * 1.2) for name, dur in before]
        self.compare(trace(self.folder / "a.json", before, cuda_runtime_version=12010),
                     trace(self.folder / "b.json", after, cuda_runtime_version=12090))
        self.assertTrue(self.slower()["advice"].startswith(
            "The runs differ in cuda_runtime_version (12010 → 12090): check that first."))

    def test_one_kernel(self):
        before = [(GEMM, 40), (ADD, 10), (NORM, 20)]
        after = [(GEMM, 60), (ADD, 10), (NORM, 20)]
        self.compare(trace(self.folder / "a.json", before), trace(self.folder / "b.json", after))
        finding = self.slower()
        self.assertIn("1.50 times (60 µs instead of 40 µs each)", finding["title"])
        self.assertIn("data type", finding["advice"])
        self.check_kinds((before, after))

    def test_recorded_differently(self):
        """Where one run recorded operators, its longer idle time is the recorder's, and findings
        that came or went are not told."""
        kernels = [(GEMM, 40), (ADD, 10), (NORM, 20)]
        plain = trace(self.folder / "a.json", kernels, gap_us=4, ahead_us=3)
        more = trace(self.folder / "b.json", kernels, gap_us=60, ahead_us=3, with_ops=True)
        verdict = self.compare(plain, more)
        self.assertIn("only the new run recorded operators", verdict)
        self.assertIn("idle time of the GPU, which is ", verdict)
        self.assertEqual([finding["id"] for finding in self.diff.findings],
                         ["recorded-differently"])
        verdict = self.compare(more, plain)
        self.assertIn("only the baseline recorded operators", verdict)
        self.assertEqual(self.diff.findings[0]["id"], "recorded-differently")
        # Of the run with more recorded that is faster nothing is explained.
        slow = trace(self.folder / "c.json", kernels, gap_us=200, ahead_us=3)
        self.compare(slow, more)
        self.assertFalse([f for f in self.diff.findings if f["id"] == "recorded-differently"])

    def test_other_formats(self):
        """A trace and a dump are no two runs to compare, and that is said first."""
        verdict = self.compare(trace(self.folder / "a.json", [(GEMM, 40)]),
                               run(self.folder / "b", 45.0, 8396.8))
        self.assertTrue(verdict.startswith("The runs cannot be compared: files of two formats "
                                           "(Chrome trace, FramePack report) have nothing in "
                                           "common"), verdict)
        self.assertEqual(self.diff.findings, [])

    def test_more_calls(self):
        """More calls are more work, which is no slower."""
        before, after = [(GEMM, 40), (ADD, 10)], [(GEMM, 40), (GEMM, 40), (ADD, 10)]
        self.compare(trace(self.folder / "a.json", before), trace(self.folder / "b.json", after))
        self.assertIsNone(self.slower())
        self.check_kinds((before, after))


if __name__ == "__main__":
    PROGRAM = reports.program_of_arguments()
    unittest.main(argv=sys.argv[:1])
