#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which findings came, went and stayed, against the reports of both runs; what the first screen of
a comparison says of them, and its figures.

usage: test_findings.py --program TRACEANALYZE SAMPLES
"""
import pathlib
import re
import sys
import unittest

import reports


def savings(report):
    """The mean saving of each finding; None where it is not known."""
    found = {}
    for finding in report.findings:
        saving = finding["saving_ns"]
        found[finding["id"]] = (saving["low"] + saving["high"]) / 2 if saving else None
    return found


class Findings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.paths = [SAMPLES / "video-4ranks", SAMPLES / "video-4ranks-optimized"]
        cls.runs = [reports.read(PROGRAM, path) for path in cls.paths]

    def compare(self, order):
        return reports.read(PROGRAM, *self.paths[::order], command="diff"), self.runs[::order]

    def test_table(self):
        """Each finding of either report is a row, with the savings of both."""
        for order in (1, -1):
            diff, runs = self.compare(order)
            before, after = map(savings, runs)
            rows = {row["finding"]: row for row in diff.rows("diff.findings")}
            self.assertEqual(rows.keys(), before.keys() | after.keys())
            for key, row in rows.items():
                for side, of in (("base", before), ("new", after)):
                    value = of.get(key)
                    if value is None:
                        self.assertIsNone(row[f"{side}_saving_ns"], row)
                    else:
                        self.assertAlmostEqual(row[f"{side}_saving_ns"], value, delta=1)
                wanted = ("new",) if key not in before else ("solved",) if key not in after else \
                    ("same", "larger", "smaller")
                self.assertIn(row["status"], wanted)

    def test_slower(self):
        """Of a slower run what came is new, with what to do; nothing is solved by being a smaller
        share of it."""
        diff, runs = self.compare(-1)
        said = [finding for finding in diff.findings if finding["title"].startswith("New: ")]
        self.assertIn("straggler", said[0]["title"])
        own = {finding["id"]: finding for finding in runs[1].findings}
        for finding in said:
            self.assertEqual(finding["title"], "New: " + own[finding["id"]]["title"])
            self.assertEqual(finding["advice"], own[finding["id"]]["advice"])
            self.assertEqual(finding["severity"], own[finding["id"]]["severity"])
        self.assertFalse([finding for finding in diff.findings
                          if finding["title"].startswith("Solved: ")])
        self.assertLessEqual(len(diff.findings), 3)

    def test_faster(self):
        """Of a faster run what went is solved, and what came is next, and no alarm."""
        diff, _ = self.compare(1)
        solved = [finding for finding in diff.findings if finding["title"].startswith("Solved: ")]
        self.assertIn("straggler", solved[0]["title"])
        self.assertEqual({finding["severity"] for finding in solved}, {"info"})
        self.assertFalse([finding for finding in diff.findings
                          if finding["severity"] in ("high", "critical")])

    def test_baseline(self):
        """A report with a baseline has the same table, and says in its verdict what changed."""
        diff, _ = self.compare(1)
        report = reports.read(PROGRAM, self.paths[1], "--baseline", self.paths[0])
        self.assertEqual(report.rows("diff.findings"), diff.rows("diff.findings"))
        self.assertIn(" Against the baseline video-4ranks: the video takes 120 ms instead of "
                      "190 ms: ", report.document["verdict"]["headline"])
        self.assertTrue(report.document["verdict"]["headline"].startswith(
            self.runs[1].document["verdict"]["headline"]))
        self.assertFalse([finding for finding in report.findings
                          if finding["title"].split(":")[0] in ("New", "Solved", "Next")])

    def test_the_same(self):
        diff = reports.read(PROGRAM, self.paths[0], self.paths[0], command="diff")
        self.assertEqual(diff.findings, [])
        self.assertEqual({row["status"] for row in diff.rows("diff.findings")}, {"same"})
        self.assertRegex(diff.document["verdict"]["headline"],
                         r"^Nothing changed: the video takes \S+ ms in both\.$")

    def test_figures(self):
        """The figures of the first screen are of diff.metrics, changed, and each is said once."""
        diff, _ = self.compare(1)
        figures = diff.document["verdict"]["figures"]
        self.assertEqual(figures[0], "diff_time")
        self.assertGreaterEqual(len(figures), 4)
        scalars = {item["id"]: item for section in diff.document["sections"]
                   for item in section["items"] if item["kind"] == "scalar"}
        rows = {row["title"]: row for row in diff.rows("diff.metrics")}
        for key in figures[1:]:
            scalar = scalars[key]
            self.assertRegex(scalar["value"], r"^[0-9.]+( \S+)? → [0-9.]+ \S+$")
            row = rows[scalar["title"]]
            self.assertGreaterEqual(abs(row["delta"]), 0.02 * max(row["base"], row["new"]))
            numbers = [float(n) for n in re.findall(r"[0-9.]+", scalar["value"])]
            self.assertEqual(numbers[1] > numbers[0], row["delta"] > 0, scalar)
        # What a program marks as a step is a block of these videos, which has denoising steps.
        titles = [scalars[key]["title"] for key in figures]
        self.assertIn("Block time p50", titles)
        self.assertFalse([title for title in titles if "step" in title.lower()])


if __name__ == "__main__":
    SAMPLES = pathlib.Path(sys.argv.pop())
    PROGRAM = reports.program_of_arguments()
    unittest.main(argv=sys.argv[:1])
