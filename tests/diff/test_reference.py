#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Effects of the mix, the first divergence, the share of the clock, bands of distributions and what
runs are compared by, against figures computed here from what was written into the traces.

usage: test_reference.py --program PROGRAM
"""
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import reports

PROGRAM = None
GEMM, CONV, COPY = "sm90_xmma_gemm_bf16", "cudnn_conv_fprop", "elementwise_copy_kernel"


class Writer:
    """A trace of steps, each with kernels of given names and durations in ns."""

    def __init__(self, **members):
        self.events, self.members, self.now, self.launched = [], members, 1_000_000, 0

    def span(self, category, name, start, dur, tid, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid,
                            "ts": start / 1000, "dur": dur / 1000, "args": args})

    def step(self, number, kernels, dur):
        begin = self.now
        self.span("user_annotation", f"ProfilerStep#{number}", begin, dur, 10)
        at = begin + 1000
        for op, name, length in kernels:
            self.launched += 1
            self.span("cpu_op", op, at, 900, 10)
            self.span("cuda_runtime", "cudaLaunchKernel", at + 100, 500, 10,
                      correlation=self.launched)
            self.span("kernel", name, at + 1000, length, 70, device=0, stream=7,
                      correlation=self.launched, grid=[64, 1, 1], block=[128, 1, 1])
            at += 1000 + length
        self.now = begin + max(dur, at - begin)

    def write(self, path):
        path.write_text(json.dumps({**self.members, "traceEvents": self.events}),
                        encoding="utf-8")
        return path


class Reference(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="traceanalyze-reference-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def compare(self, before, after, *options):
        done = subprocess.run([PROGRAM, "diff", before, after, "--json", "-q", *options],
                              check=True, capture_output=True, text=True)
        self.scalars, self.tables = {}, {}
        self.document = json.loads(done.stdout)
        for section in self.document["sections"]:
            for item in section["items"]:
                if item["kind"] == "table":
                    keys = [column["key"] for column in item["columns"]]
                    self.tables[item["id"]] = [dict(zip(keys, row)) for row in item["rows"]]
                elif item["kind"] == "scalar":
                    self.scalars[item["id"]] = item["value"]
        return self.tables

    def pair(self, name, steps, **members):
        writer = Writer(**members)
        for number, (kernels, dur) in enumerate(steps):
            writer.step(number, kernels, dur)
        return writer.write(self.folder / f"{name}.json")

    # ---- the mix ----

    def test_mix(self):
        """More of what is slow: both classes became faster, and the mean slower."""
        rng = random.Random(7)
        durations = []
        for gemms, copies, scale in ((5, 40, 1.0), (40, 5, 0.9)):
            durations.append(
                [("aten::mm", GEMM, round(scale * rng.randint(90_000, 110_000)))
                 for _ in range(gemms)] +
                [("aten::copy_", COPY, round(scale * rng.randint(4_000, 6_000)))
                 for _ in range(copies)])
        paths = [self.pair(name, [(kernels, 10_000)])
                 for name, kernels in zip(("a", "b"), durations)]
        row = next(row for row in self.compare(*paths)["diff.mix"]
                   if row["of"] == "kernels_by_class")
        sides = [{name: [length for _, kernel, length in kernels if kernel == name]
                  for name in (GEMM, COPY)} for kernels in durations]
        counts = [sum(map(len, side.values())) for side in sides]
        means = [sum(map(sum, side.values())) / n for side, n in zip(sides, counts)]
        within = sum((len(sides[0][name]) / counts[0] + len(sides[1][name]) / counts[1]) / 2 *
                     (sum(sides[1][name]) / len(sides[1][name]) -
                      sum(sides[0][name]) / len(sides[0][name])) for name in (GEMM, COPY))
        mix = sum((sum(sides[1][name]) / len(sides[1][name]) +
                   sum(sides[0][name]) / len(sides[0][name])) / 2 *
                  (len(sides[1][name]) / counts[1] - len(sides[0][name]) / counts[0])
                  for name in (GEMM, COPY))
        for key, wanted in (("base_mean_ns", means[0]), ("new_mean_ns", means[1]),
                            ("delta_ns", means[1] - means[0]), ("within_ns", within),
                            ("mix_ns", mix)):
            self.assertAlmostEqual(row[key], wanted, delta=1e-6 * abs(wanted), msg=key)
        self.assertLess(within, 0)
        self.assertTrue(row["misleads"])

    # ---- divergence ----

    def test_first_kernel(self):
        """The fourth pair of operator and kernel is another one on one side."""
        kernels = [("aten::mm", GEMM, 50_000), ("aten::conv2d", CONV, 40_000),
                   ("aten::copy_", COPY, 5_000), ("aten::gelu", "gelu_kernel", 8_000),
                   ("aten::add", "add_kernel", 7_000)]
        for place in range(1, len(kernels)):
            changed = list(kernels)
            changed[place] = ("wholly::different", "zzz_unrelated_thing_9", 3_000)
            rows = self.compare(self.pair("a", [(kernels, 300_000)]),
                                self.pair("b", [(changed, 300_000)]))["diff.divergence"]
            row = next(row for row in rows if row["what"] == "kernel")
            self.assertEqual(row["place"], place)
            self.assertEqual((row["base"], row["new"]), (kernels[place][1], changed[place][1]))

    def test_kernels_between_others(self):
        """What was put in or left out is told from what took the place of another, by what
        follows; numbers in names are no difference, other implementations are."""
        kernels = [("aten::mm", GEMM, 50_000), ("aten::conv2d", CONV, 40_000),
                   ("aten::copy_", COPY, 5_000), ("aten::gelu", "gelu_kernel", 8_000),
                   ("aten::add", "add_kernel", 7_000), ("aten::sum", "triton_red_fused_3", 9_000)]
        extra = ("aten::sort", "radix_sort_block", 6_000)
        numbered = kernels[:-1] + [("aten::sum", "triton_red_fused_7", 9_000)]
        cases = [("added", kernels[:i] + [extra] + kernels[i:], i, None, extra[1])
                 for i in range(1, len(kernels) + 1)]
        cases += [("removed", kernels[:i] + kernels[i + 1:], i, kernels[i][1], None)
                  for i in range(1, len(kernels))]
        cases += [("replaced", [*kernels[:i], (kernels[i][0], "zzz_unrelated_thing", 6_000),
                                *kernels[i + 1:]], i, kernels[i][1], "zzz_unrelated_thing")
                  for i in range(1, len(kernels))]
        base = self.pair("a", [(kernels, 300_000)])
        for difference, changed, place, before, after in cases:
            rows = self.compare(base, self.pair("b", [(changed, 300_000)]))["diff.divergence"]
            row = next(row for row in rows if row["what"] == "kernel")
            self.assertEqual((row["difference"], row["place"], row["base"], row["new"]),
                             (difference, place, before, after))
        tables = self.compare(base, self.pair("b", [(numbered, 300_000)]))
        self.assertEqual([row for row in tables.get("diff.divergence", ())
                          if row["what"] == "kernel"], [])

    def test_first_slow_step(self):
        """From one step on all are a third slower."""
        rng = random.Random(3)
        for first in (6, 11, 17):
            kernels = [("aten::mm", GEMM, 20_000)]
            steps = [[(kernels, round(rng.gauss(1_000_000, 4_000) * (1 + slow * (i >= first) / 3)))
                      for i in range(24)] for slow in (0, 1)]
            rows = self.compare(self.pair("a", steps[0]), self.pair("b", steps[1]))
            row = next(row for row in rows["diff.divergence"] if row["what"] == "step")
            self.assertEqual(row["place"], first)
            logs = [math.log(steps[1][i][1] / steps[0][i][1]) for i in range(first, 24)]
            # The stretch may end before the steps do, where noise looks like another change.
            self.assertAlmostEqual(row["change"], math.exp(sum(logs) / len(logs)) - 1, delta=0.02)

    # ---- distributions ----

    def test_bands(self):
        """The band of Dvoretzky, Kiefer, Wolfowitz and Massart at the level asked for."""
        kernels = [("aten::mm", GEMM, 20_000)]
        paths = [self.pair(name, [(kernels, 900_000 + 1000 * i) for i in range(n)])
                 for name, n in (("a", 20), ("b", 45))]
        for level in (0.95, 0.8):
            rows = self.compare(*paths, "--confidence", str(level))["diff.step_times"]
            for side, n in (("base", 20), ("new", 45)):
                bands = {row["band"] for row in rows if row["side"] == side}
                self.assertEqual(len(bands), 1)
                self.assertAlmostEqual(bands.pop(), math.sqrt(math.log(2 / (1 - level)) / (2 * n)))

    # ---- steps of one class ----

    def test_classes_of_steps(self):
        """Steps with and without a cache: more of the long ones, or longer ones, or none of one."""
        rng = random.Random(11)
        kernels = [("aten::mm", GEMM, 20_000)]
        for counts, factors in ((((12, 6), (6, 12)), (1, 1)), (((12, 6), (12, 6)), (1, 1.3)),
                                (((12, 6), (10, 9)), (1, 0.8)), (((12, 6), (0, 16)), (1, 1))):
            sides, paths = [], []
            for name, (short, long), factor in zip("ab", counts, factors):
                lengths = [[round(factor * rng.gauss(mean, mean / 100)) for _ in range(n)]
                           for n, mean in ((short, 200_000), (long, 900_000))]
                steps = [length for class_ in lengths for length in class_]
                rng.shuffle(steps)
                sides.append(lengths)
                paths.append(self.pair(name, [(kernels, length) for length in steps]))
            rows = {row["class"]: row for row in self.compare(*paths)["diff.step_classes"]}
            for class_, word in enumerate(("short", "long")):
                row = rows[word]
                for side, key in enumerate(("base", "new")):
                    values = sides[side][class_]
                    self.assertEqual(row[f"{key}_steps"], len(values))
                    mean = row[f"{key}_mean_ns"]
                    if values:
                        self.assertAlmostEqual(mean, sum(values) / len(values), delta=1e-6 * mean)
                    else:
                        self.assertIsNone(mean)
            all_ = rows["all"]
            means = [sum(map(sum, side)) / sum(map(len, side)) for side in sides]
            self.assertAlmostEqual(all_["delta_ns"], means[1] - means[0], delta=1e-3)
            self.assertAlmostEqual(all_["within_ns"] + all_["mix_ns"], means[1] - means[0],
                                   delta=1e-3)
            if counts[0] == counts[1]:
                self.assertAlmostEqual(all_["mix_ns"], 0, delta=1e-3)
        self.assertAlmostEqual(rows["short"]["within_ns"], 0, delta=1e-9)
        for spread in (0.01, 0.2):  # noise alone makes no classes
            paths = [self.pair(name, [(kernels, round(500_000 * math.exp(rng.gauss(0, spread))))
                                      for _ in range(40)]) for name in "ab"]
            self.assertNotIn("diff.step_classes", self.compare(*paths))
            self.assertEqual([row["basis"] for row in self.tables["diff.normalized"]],
                             ["whole", "step"])

    def test_warm_up(self):
        """The first steps, of a run that compiles and of one that does not."""
        rng = random.Random(13)
        kernels = [("aten::mm", GEMM, 20_000)]
        for classes in (1, 2):
            steady = [round(rng.gauss(100_000, 2_000)) * (1 + 3 * (i % classes))
                      for i in range(18)]
            first = [5_000_000, 1_500_000]
            sides = [first + steady, steady]
            paths = [self.pair(name, [(kernels, length) for length in side])
                     for name, side in zip("ab", sides)]
            for order in (1, -1):
                rows = {row["class"]: row
                        for row in self.compare(*paths[::order])["diff.step_classes"]}
                counts = [rows["warm_up"][key] for key in ("base_steps", "new_steps")]
                self.assertEqual(counts, [2, 0][::order])
                key = "base_mean_ns" if order == 1 else "new_mean_ns"
                self.assertAlmostEqual(rows["warm_up"][key], sum(first) / 2, delta=1e-3)
                self.assertEqual("steady" in rows, classes == 1)
                self.assertEqual("long" in rows, classes == 2)
                means = [sum(side) / len(side) for side in sides[::order]]
                self.assertAlmostEqual(rows["all"]["delta_ns"], means[1] - means[0], delta=1e-3)
                self.assertAlmostEqual(rows["all"]["within_ns"], 0, delta=1e-3)
                self.assertAlmostEqual(rows["all"]["mix_ns"], means[1] - means[0], delta=1e-3)
                self.check_steady([2, 0][::order], sum(first))

    def check_steady(self, warm, ns):
        """The window for each step but those that are warm-up."""
        window = self.tables["diff.windows"][0]
        rows = {row["basis"]: row for row in self.tables["diff.normalized"]}
        steady = rows["steady_step"]
        for side, n in zip(("base", "new"), warm):
            left = window[f"{side}_ns"] - (ns if n else 0)
            self.assertEqual(steady[f"{side}_units"], rows["step"][f"{side}_units"] - n)
            self.assertAlmostEqual(steady[f"{side}_ns"], left / steady[f"{side}_units"], delta=1e-3)
        self.assertAlmostEqual(steady["change"], steady["new_ns"] / steady["base_ns"] - 1)

    def test_other_number_of_steps(self):
        """Of runs of different length the first line tells what a step takes, and of what."""
        def kernels(conv):
            return [("aten::mm", GEMM, 400_000), ("aten::conv2d", CONV, conv)]
        few, many = [(kernels(90_000), 600_000)] * 4, [(kernels(30_000), 500_000)] * 8
        paths = [self.pair(name, side) for name, side in zip("ab", (few, many))]
        self.compare(*paths)
        headline = self.document["verdict"]["headline"]
        self.assertRegex(headline, r"^A step takes .*: \S+ % less time .*; 8 steps instead of 4")
        self.assertIn(f"{CONV}, which takes 30 µs instead of 90 µs", headline)  # all calls: longer
        self.compare(*paths[::-1])
        headline = self.document["verdict"]["headline"]
        self.assertRegex(headline, r"^A step takes .*: \S+ % more time .*; 4 steps instead of 8")
        self.assertIn(f"{CONV}, which takes 90 µs instead of 30 µs", headline)

    def test_all_kernels(self):
        """Kernels that all became slower are the cause, not the one thing that is none of them."""
        def kernels(each, collective):
            return [("aten::mm", f"gemm_kernel_{name}", each) for name in "abcdefghij"] + \
                [("c10d::allreduce_", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", collective)]
        alike = "from all 10 kernels, which take "
        for each, collective, wanted in ((150_000, 160_000, alike),
                                         (102_000, 160_000, "from ncclDevKernel_AllReduce_Sum")):
            paths = [self.pair(name, [(side, 10_000)]) for name, side in
                     (("a", kernels(100_000, 10_000)), ("b", kernels(each, collective)))]
            for order in (1, -1):
                self.compare(*paths[::order])
                headline = self.document["verdict"]["headline"]
                self.assertIn(wanted, headline)
                self.assertEqual("all alike (device or clock)" in headline, wanted == alike)

    # ---- machine and program ----

    def test_clocks(self):
        """Compute at the clock of the baseline, and what is left, from the samples written."""
        kernels = [("aten::mm", GEMM, 400_000), ("aten::conv2d", CONV, 300_000)]
        for before, after, longer in ((1_800, 1_500, 1.2), (1_500, 1_800, 0.9), (1_700, 1_700, 1)):
            clocks, paths = [], []
            for name, clock, factor in (("a", before, 1), ("b", after, longer)):
                folder = self.folder / f"{name}-{clock}-{factor}"
                folder.mkdir(exist_ok=True)
                writer = Writer()
                scaled = [(op, kernel, round(ns * factor)) for op, kernel, ns in kernels]
                for number in range(5):
                    writer.step(number, scaled, 1_000_000)
                writer.write(folder / "rank0.json")
                samples = [clock + 10 * (i % 3) for i in range(9)]
                clocks.append(sum(samples) / len(samples))
                lines = ["# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk",
                         "# Idx     W     C     C     %     %     %     %   MHz   MHz"]
                lines += [f"    0   300    60     -    90    40     0     0  2619  {sample}"
                          for sample in samples]
                (folder / "dmon.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
                paths.append(folder)
            tables = self.compare(*paths)
            row, window = tables["diff.machine"][0], tables["diff.windows"][0]
            for key, clock in zip(("base_clock", "new_clock"), clocks):
                self.assertAlmostEqual(row[key], clock * 1e6, delta=1)
            compute = [sum(round(ns * factor) for _, _, ns in kernels) * 5
                       for factor in (1, longer)]
            self.assertEqual((row["base_compute_ns"], row["new_compute_ns"]), tuple(compute))
            machine = compute[1] * (1 - clocks[1] / clocks[0])
            self.assertAlmostEqual(row["machine_ns"], machine, delta=1)
            self.assertEqual(row["delta_ns"], window["delta_ns"])
            self.assertEqual(row["machine_ns"] + row["program_ns"], row["delta_ns"])

    # ---- what the runs were of ----

    def test_versions_and_options(self):
        kernels = [("aten::mm", GEMM, 50_000)]
        members = {"cuda_runtime_version": 12010, "with_stack": 1, "record_shapes": 1}
        paths = [self.pair("a", [(kernels, 100_000)], **members),
                 self.pair("b", [(kernels, 100_000)], **{**members, "cuda_runtime_version": 12090,
                                                         "with_stack": 0})]
        rows = {row["key"]: row for row in self.compare(*paths)["diff.environment"]}
        self.assertEqual((rows["cuda_runtime_version"]["base"],
                          rows["cuda_runtime_version"]["new"]), ("12010", "12090"))
        self.assertEqual(rows["with_stack"]["status"], "differs")
        self.assertNotIn("record_shapes", rows)
        self.assertEqual(self.scalars["diff_comparable"], "with caution")

    # ---- the host alone ----

    def test_host(self):
        """Without devices and stages own times of operators make the window."""
        paths = []
        for name, decode in (("a", 450_000), ("b", 4_280_000)):
            writer = Writer()
            end = 1_000_000 + 20_000 + decode
            writer.span("cpu_op", "generate", 1_000_000, end - 1_000_000 + 30_000, 10)
            writer.span("cpu_op", "encode", 1_005_000, 10_000, 10)
            writer.span("cpu_op", "vae_decode", 1_020_000, decode, 10)
            paths.append(writer.write(self.folder / f"{name}.json"))
        tables = self.compare(*paths)
        change = {row["term"]: row["delta_ns"] for row in tables["diff.waterfall"]}
        self.assertEqual(change["vae_decode"], 4_280_000 - 450_000)
        self.assertEqual(sum(change.values()), tables["diff.windows"][0]["delta_ns"])
        self.assertEqual(tables["diff.windows"][0]["residual_ns"], 0)
        self.assertIn("vae_decode", self.document["verdict"]["headline"])


if __name__ == "__main__":
    PROGRAM = reports.program_of_arguments()
    unittest.main(argv=sys.argv[:1], verbosity=1)
