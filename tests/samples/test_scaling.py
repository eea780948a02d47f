#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`traceanalyze scaling` over generated runs of different world size: speed-ups from the step
markers of the traces, laws that no neighboring coefficients fit better, what runs cost."""
import gzip
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import reports

PROGRAM = os.environ["TA_PROGRAM"]
GENERATOR = os.environ["TA_GENERATOR"]


def generate(folder, *options):
    folder.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([GENERATOR, "cluster", "-o", str(folder), *options], check=True,
                   stdout=subprocess.DEVNULL)
    return folder


def run(*operands):
    return reports.call(PROGRAM, "scaling", *operands)


def scaling(*operands):
    return reports.read(PROGRAM, *operands, command="scaling")


def ns(text):
    return round(float(text) * 1000)


def steps(folder):
    """ns of each step on the device of the rank where it takes longest, by the definition of step
    markers: from the first to the last activity launched inside the marker."""
    longest = {}
    for path in sorted(Path(folder).glob("*.json.gz")):
        with gzip.open(path) as file:
            events = json.load(file)["traceEvents"]
        markers = [(ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])) for e in events
                   if e.get("cat") == "user_annotation" and e["name"].startswith("ProfilerStep")]
        launched = {e["args"]["correlation"]: ns(e["ts"]) for e in events
                    if e.get("cat") in ("cuda_runtime", "cuda_driver")}
        spans = [(math.inf, 0)] * len(markers)
        for e in events:
            if e.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset"):
                continue
            at = launched[e["args"]["correlation"]]
            for i, (start, end) in enumerate(markers):
                if start <= at < end:
                    first, last = spans[i]
                    spans[i] = min(first, ns(e["ts"])), max(last, ns(e["ts"]) + ns(e["dur"]))
        for i, (first, last) in enumerate(spans):
            longest[i] = max(longest.get(i, 0), last - first)
    times = [longest[i] for i in sorted(longest)]
    slow_first = len(times) >= 3 and times[0] > 2 * statistics.median(times[1:])
    return times[1:] if slow_first else times


def amdahl(p, s):
    return 1 / (s + (1 - s) / p)


def usl(p, sigma, kappa):
    return p / (1 + sigma * (p - 1) + kappa * p * (p - 1))


def squares(law, points, *coefficients):
    return sum((s - law(p, *coefficients)) ** 2 for p, s in points)


def session(folder, rank, world, block_ms, frames=3, blocks=4):
    """What Inferix saves of a rank."""
    tags = {"rank": rank, "world_size": world, "ulysses_size": world, "ring_size": 1,
            "model": "m"}
    events = [{"name": "block_computation", "timestamp": 2.0 + i,
               "data": {"block_index": i, "block_size": frames,
                        "computation_time_ms": block_ms + i % 2}} for i in range(blocks)]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"profiling_report_rank{rank}.json"
    path.write_text(json.dumps({"session_info": {"id": "a", "start_time": 1.0, "tags": tags},
                                "events": events}))


class Scaling(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.root.cleanup)
        cls.strong = [generate(Path(cls.root.name) / f"strong-{n}", "--ranks", str(n), "--groups",
                               f"sp={n}", "--steps", "5", "--layers", "2")
                      for n in (1, 2, 4, 8, 16)]

    def path(self, name):
        return Path(self.root.name) / self.id() / name

    def test_speedups_are_those_of_the_steps(self):
        rows = scaling(*self.strong).rows("scaling.runs")
        base = None
        for row, folder in zip(rows, self.strong):
            time = statistics.median(steps(folder))
            base = base or time
            p, s = row["world_size"], base / time
            self.assertEqual(row["time_ns"], time)
            self.assertEqual((row["work"], row["work_source"], row["basis"]),
                             (1, "flop", "steps"))
            self.assertAlmostEqual(row["speedup"], s, places=9)
            self.assertAlmostEqual(row["efficiency"], s / p, places=9)
            self.assertAlmostEqual(row["gpu_ns"], p * time, places=3)
            if p == 1:
                self.assertIsNone(row["serial"])
                continue
            self.assertAlmostEqual(row["serial"], (1 / s - 1 / p) / (1 - 1 / p), places=9)
            self.assertLessEqual(row["speedup_low"], s)
            self.assertGreaterEqual(row["speedup_high"], s)
            self.assertLess(row["speedup_high"] - row["speedup_low"], 0.1 * s)
        self.assertEqual(len(rows), 5)

    def test_order_of_runs_and_threads_do_not_matter(self):
        wanted = run(*self.strong, "-j", "1").stdout
        self.assertEqual(wanted, run(*reversed(self.strong), "-j", "4").stdout)

    def test_reports_stand_for_their_runs(self):
        saved = [self.path(f"saved-{number}.json") for number in range(len(self.strong))]
        saved[0].parent.mkdir(parents=True)
        for path, folder in zip(saved, self.strong):
            path.write_bytes(reports.call(PROGRAM, "report", folder).stdout)
        self.assertEqual(run(*saved).stdout, run(*self.strong).stdout)

    def test_no_other_coefficients_fit_better(self):
        document = scaling(*self.strong)
        points = [(row["world_size"], row["speedup"]) for row in document.rows("scaling.runs")]
        fits = {(row["law"], row["figure"]): row for row in document.rows("scaling.fits")}
        serial = fits["amdahl", "serial"]["value"]
        best = squares(amdahl, points, serial)
        for factor in (0.9, 0.999, 1.001, 1.1):
            self.assertGreater(squares(amdahl, points, serial * factor), best)
        self.assertAlmostEqual(fits["amdahl", "ceiling"]["value"], 1 / serial, places=6)
        sigma, kappa = (fits["usl", name]["value"] for name in ("contention", "coherency"))
        best = squares(usl, points, sigma, kappa)
        for a, b in ((1e-4, 0), (0, 1e-6), (1e-4, 1e-6), (1e-4, -1e-6)):
            for sign in (-1, 1):
                other = (sigma + sign * a, kappa + sign * b)
                if min(other) >= 0:
                    self.assertGreater(squares(usl, points, *other), best)
        peak = math.sqrt((1 - sigma) / kappa)
        self.assertAlmostEqual(fits["usl", "peak_world_size"]["value"], peak, places=6)
        for row in document.rows("scaling.curve"):
            p = row["world_size"]
            self.assertAlmostEqual(row["amdahl"], amdahl(p, serial), places=6)
            self.assertAlmostEqual(row["usl"], usl(p, sigma, kappa), places=6)

    def test_a_run_that_is_beaten_is_not_worth_it(self):
        folders = [*self.strong, generate(self.path("late"), "--ranks", "4", "--groups", "sp=4",
                                          "--steps", "5", "--layers", "2", "--straggler",
                                          "1:kernels:300")]
        rows = scaling(*folders).rows("scaling.runs")
        for row in rows:
            beaten = any(other["time_ns"] <= row["time_ns"] and other["gpu_ns"] <= row["gpu_ns"]
                         and (other["time_ns"], other["gpu_ns"]) != (row["time_ns"], row["gpu_ns"])
                         for other in rows)
            self.assertEqual(row["pareto"], not beaten, row["run"])
        self.assertEqual([row["run"] for row in rows if not row["pareto"]], ["late"])

    def test_laws_need_their_number_of_sizes(self):
        for n, laws in ((2, set()), (3, {"amdahl"}), (4, {"amdahl", "usl"})):
            fits = scaling(*self.strong[:n]).rows("scaling.fits")
            self.assertEqual({row["law"] for row in fits}, laws)

    def test_factors_make_up_the_change(self):
        rows = scaling(*self.strong).rows("scaling.factors")
        runs = sorted({row["world_size"] for row in rows})
        self.assertEqual(runs, [2, 4, 8, 16])
        alone = reports.read(PROGRAM, self.strong[0])
        gpu = alone.row("gpu_time.by_rank")
        of_base = {row["factor"]: row["base_efficiency"] for row in rows}
        self.assertEqual((of_base["transfer"], of_base["balance"]), (1, 1))
        self.assertAlmostEqual(of_base["parallel"], gpu["compute_ns"] / gpu["window_ns"], places=9)
        self.assertAlmostEqual(of_base["host"] * of_base["serialization"], of_base["parallel"],
                               places=9)
        idle = alone.row("gpu_idle.by_rank")
        late = sum(idle[f"{group}_ns"] for group in ("dispatch", "host", "sync", "setup", "input"))
        self.assertGreater(late, 0)
        self.assertAlmostEqual(of_base["host"], 1 - late / gpu["window_ns"], places=9)
        for world in runs:
            changes = {row["factor"]: row["change"] for row in rows if row["world_size"] == world}
            parallel = changes.pop("parallel")
            self.assertEqual(len(changes), 4)
            self.assertAlmostEqual(sum(changes.values()), parallel, places=9)
            shares = [row["share"] for row in rows
                      if row["world_size"] == world and row["factor"] != "parallel"]
            self.assertAlmostEqual(sum(shares), 1, places=9)

    def test_a_base_of_several_ranks(self):
        rows = scaling(*self.strong[1:]).rows("scaling.runs")
        self.assertEqual([row["base_world_size"] for row in rows], [2] * 4)
        self.assertEqual(rows[0]["speedup"], 1)
        self.assertAlmostEqual(rows[1]["efficiency"], rows[1]["speedup"] / 2, places=9)

    def test_weak_scaling_is_seen_by_its_flops(self):
        folders = [generate(self.path(f"weak-{n}"), "--ranks", str(n), "--groups", "sp=2",
                            "--steps", "4", "--layers", "2") for n in (2, 4, 8)]
        rows = scaling(*folders).rows("scaling.runs")
        self.assertEqual([row["work"] for row in rows], [1, 2, 4])
        for row in rows:
            self.assertAlmostEqual(row["efficiency"], rows[0]["time_ns"] / row["time_ns"],
                                   places=9)
        given = scaling("--strong", *folders).rows("scaling.runs")
        self.assertEqual([(row["work"], row["work_source"]) for row in given], [(1, "given")] * 3)
        self.assertTrue(scaling("--strong", *folders).finding("scaling"))
        self.assertFalse(scaling(*folders).finding("scaling"))

    def test_dumps_are_compared_by_frames(self):
        for world, block_ms in ((1, 400), (2, 220), (4, 130)):
            for rank in range(world):
                session(self.path(f"dump-{world}"), rank, world, block_ms)
        rows = scaling(*(self.path(f"dump-{n}") for n in (1, 2, 4))).rows("scaling.runs")
        self.assertEqual([row["world_size"] for row in rows], [1, 2, 4])
        self.assertEqual({(row["basis"], row["work_source"]) for row in rows},
                         {("blocks", "frames")})
        for row, block_ms in zip(rows, (400, 220, 130)):
            self.assertAlmostEqual(row["speedup"], 400.5 / (block_ms + 0.5), places=6)
            fps = 3 / (block_ms + 0.5) * 1e3
            self.assertAlmostEqual(row["gpu_ns"] / (row["world_size"] / fps * 1e9), 1, places=6)

    def test_what_cannot_be_compared(self):
        for operands, status, text in ((self.strong[:1] * 2, 3, "same world size"),
                                       (["--strong", "--weak", *self.strong], 2, "exclude"),
                                       (self.strong[:1], 2, ""),
                                       ([self.strong[0], self.path("none")], 3, "none")):
            with self.subTest(text=text):
                done = run(*operands)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(text, done.stderr.decode())


if __name__ == "__main__":
    sys.exit(unittest.main())
