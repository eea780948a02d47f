#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever a run is given as, the comparison is the same: a trace, a folder, a page, a report that
was written before, all products of it in one folder, summaries; one run on a side or many.

usage: test_inputs.py --program PROGRAM
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
import test_head
from test_reference import Writer

PROGRAM = None

# What is said of the change itself, and not of the files that it was read from.
TABLES = ("diff.waterfall", "diff.waterfall_by_rank", "diff.windows", "diff.kernels", "diff.ops",
          "diff.stages", "diff.copies", "diff.memory_levels", "diff.metrics")


def write_trace(path, factor):
    writer, rng = Writer(), random.Random(5)
    for number in range(4):
        length = round(factor * rng.randint(500_000, 600_000))
        kernels = [("aten::mm", "sm90_xmma_gemm_bf16", length),
                   ("aten::gelu", "gelu_kernel", rng.randint(7_000, 9_000))]
        kernels += [(f"aten::{name}", f"at::native::vectorized_elementwise_kernel<{name}>", 5_000)
                    for name in ("add", "mul", "neg")]  # a chain that could be fused
        writer.step(number, kernels, 1_000_000)
    return writer.write(path)


def changes(diff):
    """The tables without what depends on the form of the input."""
    kept = {}
    for table in TABLES:
        rows = [{key: value for key, value in row.items() if key != "set"}
                for row in diff.rows(table)]
        if table == "diff.metrics":
            rows = [row for row in rows if row["metric"] not in ("events", "trust")]
        kept[table] = rows
    return kept


class Inputs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="traceanalyze-inputs-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_program(self, *words, code=0):
        done = subprocess.run([PROGRAM, "--no-config", *map(str, words)], capture_output=True,
                              check=False, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def forms(self, source, name):
        """One run in all forms that it can be given in."""
        forms = {"itself": source}
        out = self.folder / f"{name}-report"
        self.run_program("report", source, "-o", out, "-q")
        forms["folder of a report"] = out  # report.html and report.json
        forms["report.json"] = out / "report.json"
        forms["report.html"] = out / "report.html"
        for kind in ("json", "html"):
            alone = self.folder / f"{name}-{kind}"
            self.run_program("report", source, "-o", alone, "-q", "--format", kind)
            forms[f"folder of {kind}"] = alone
        every = self.folder / f"{name}-every"
        listed = self.run_program("plugins").stdout
        formats = [line.split()[0] for line in listed.split("\noutput\n")[1].splitlines()
                   if line.startswith("  ") and line[2] != " "]
        self.assertGreater(len(formats), 8)
        self.run_program("report", source, "-o", every, "-q", "--format", ",".join(formats))
        forms["folder of every product"] = every
        below = self.folder / f"{name}-below"
        self.run_program("report", source, "-o", below / "run" / "inner", "-q")
        forms["folder above"] = below
        if source.suffix == ".json":
            self.run_program("reduce", source, "-o", self.folder / f"{name}-sums", "-q")
            forms["folder of summaries"] = self.folder / f"{name}-sums"
            forms["summary"] = next((self.folder / f"{name}-sums").iterdir())
        return forms

    def check_forms(self, base, new):
        wanted = changes(reports.read(PROGRAM, base, new, command="diff"))
        self.assertTrue(wanted["diff.waterfall"] and wanted["diff.metrics"])
        befores, afters = self.forms(base, "base"), self.forms(new, "new")
        others = list(afters.values())[1:] + list(afters.values())[:1]
        for (form, before), after in zip(befores.items(), others):
            found = changes(reports.read(PROGRAM, before, after, command="diff"))
            for table in TABLES:
                self.assertEqual(found[table], wanted[table], f"{form} against {after.name}")

    def test_traces(self):
        before = write_trace(self.folder / "a.json", 1)
        self.assertGreater(reports.read(PROGRAM, before).scalars["fusion_share"], 0,
                           "reports have a figure that comparisons do without")
        self.check_forms(before, write_trace(self.folder / "b.json", 1.5))

    def test_dumps(self):
        self.check_forms(test_head.run(self.folder / "a", 45.0, 8396.8),
                         test_head.run(self.folder / "b", 428.0, 24064.0))

    def test_baselines(self):
        """The same of `report --baseline`."""
        base, new = (write_trace(self.folder / f"{name}.json", factor)
                     for name, factor in (("a", 1), ("b", 1.5)))
        said = set()
        for form, before in self.forms(base, "base").items():
            report = reports.read(PROGRAM, new, "--baseline", before)
            said.add(json.dumps([report.rows("diff.waterfall"), report.rows("diff.kernels"),
                                 [row["delta"] for row in report.rows("diff.metrics")
                                  if row["metric"] == "run_time"]]))
            self.assertEqual(len(said), 1, form)
            self.assertTrue(report.finding("against-baseline"))

    def test_many_runs(self):
        """Three runs against three of every form: ratios of geometric means, all in the head."""
        factors = {"base": (1.0, 1.03, 0.98), "new": (1.21, 1.18, 1.24)}
        forms, times = {}, {}
        for side, list_ in factors.items():
            forms[side], times[side] = [], []
            for i, factor in enumerate(list_):
                trace = write_trace(self.folder / f"{side}{i}.json", factor)
                # All forms of one run of each side: the others are there to be several.
                forms[side].append(list(self.forms(trace, side).values()) if i == 0 else [trace])
                window = reports.read(PROGRAM, trace).rows("gpu_time.by_rank")[0]["window_ns"]
                times[side].append(window)
        ratio = math.exp(sum(map(math.log, times["new"])) / 3 -
                         sum(map(math.log, times["base"])) / 3)
        count = len(forms["base"][0])
        for shift in range(0, count, 2):
            sides = [[runs[shift % len(runs)] for runs in forms[side]] for side in ("base", "new")]
            found = reports.read(PROGRAM, *sides[0], "--vs", *sides[1], command="diff")
            row = found.row("diff.metrics", metric="run_time")
            self.assertAlmostEqual(row["ratio"], ratio, delta=1e-12)
            self.assertAlmostEqual(row["new"] / row["base"], ratio, delta=1e-12)
            self.assertEqual((row["evidence"], row["base_runs"], row["new_runs"]), ("runs", 3, 3))
            self.assertEqual(len(found.rows("diff.runs")), 6)
            headline = found.document["verdict"]["headline"]
            self.assertIn(f": {100 * (ratio - 1):.1f}", headline)
            self.assertIn("3 runs each, 95 % interval ", headline)

    def test_noise_of_names(self):
        """A noise floor judges kernels and operators of single runs: ± t · spread · √2."""
        students_t = 2.7764451051977987  # 97.5 % at four degrees of freedom
        runs = {side: [write_trace(self.folder / f"{side}{i}.json", factor)
                       for i, factor in enumerate(factors)]
                for side, factors in (("base", (1, 1.02, 0.97)), ("new", (1.2, 1.23, 1.19)))}
        stored = self.folder / "noise.json"
        many = reports.read(PROGRAM, *runs["base"], "--vs", *runs["new"], "--save-baseline",
                            stored, command="diff")
        kernel = "sm90_xmma_gemm_bf16"
        totals = [[reports.read(PROGRAM, run).cell("kernels.by_name", "total_ns", name=kernel)
                   for run in runs[side]] for side in ("base", "new")]
        logs = [[math.log(total) for total in side] for side in totals]
        spread = math.sqrt(sum((x - sum(side) / 3) ** 2 for side in logs for x in side) / 4)
        self.assertAlmostEqual(many.cell("diff.kernels", "spread", name=kernel), spread, places=12)
        alone = reports.read(PROGRAM, runs["base"][0], runs["new"][0], command="diff")
        self.assertIsNone(alone.cell("diff.kernels", "ci_low", name=kernel))
        judged = reports.read(PROGRAM, runs["base"][0], runs["new"][0], "--noise-floor", stored,
                              command="diff").row("diff.kernels", name=kernel)
        ratio = totals[1][0] / totals[0][0]
        for key, sign in (("ci_low", -1), ("ci_high", 1)):
            self.assertAlmostEqual(judged[key], ratio * math.exp(sign * students_t * spread *
                                                                 math.sqrt(2)), places=9)
        self.assertAlmostEqual(judged["ratio"], ratio, places=12)
        self.assertLess(judged["q_value"], 0.05)

    def test_a_report_beside_its_trace(self):
        """The trace counts: the report may be of another day."""
        folder = self.folder / "run"
        folder.mkdir()
        write_trace(folder / "a.json", 1)
        self.run_program("report", write_trace(self.folder / "other.json", 3), "-o",
                         folder / "traceanalyze-report", "-q")
        beside = reports.read(PROGRAM, folder, self.folder / "other.json", command="diff")
        alone = reports.read(PROGRAM, folder / "a.json", self.folder / "other.json",
                             command="diff")
        self.assertEqual(changes(beside), changes(alone))
        self.assertNotEqual(alone.rows("diff.windows")[0]["delta_ns"], 0)

    def test_reports_of_different_runs(self):
        """Two reports of one rank in a folder are no run."""
        for name in "ab":
            self.run_program("report", write_trace(self.folder / f"{name}.json", 1), "-o",
                             self.folder / "both" / name, "-q")
        done = self.run_program("diff", self.folder / "both", self.folder / "a.json", code=3)
        self.assertIn("is in two reports", done.stderr)


if __name__ == "__main__":
    PROGRAM = reports.program_of_arguments()
    unittest.main(argv=sys.argv[:1], verbosity=1)
