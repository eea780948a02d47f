#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the time of a program goes to that computes on the host, against a count of its instants.

usage: test_host.py TRACEANALYZE
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

PROGRAM = None
ORDER = ("data loading", "gemm", "operators", "collectives")
NAMES = {"gemm": ("aten::mm", "aten::addmm", "mkldnn::_linear_pointwise"),
         "operators": ("aten::add_", "aten::sqrt", "aten::upsample_bilinear2d", "aten::lerp_"),
         "collectives": ("gloo:all_reduce",), "data loading": ("enumerate(DataLoader)#next",)}
STEP, STEPS = 1000, 5  # µs


def plan(seed):
    """Spans (class, thread, start, duration) in µs: those of a thread do not overlap."""
    rng = random.Random(seed)
    spans = []
    for thread, classes in ((1, ("gemm", "operators", "data loading")), (2, ("collectives",))):
        now = 0
        while now < STEP:
            length = rng.randint(1, 60 if thread == 1 else 200)
            if now + length <= STEP and rng.random() < 0.6:
                spans.append((rng.choice(classes), thread, now, length))
            now += length
    return spans


def count(spans):
    """Microseconds by class, each given to the first class that covers it."""
    times = dict.fromkeys((*ORDER, "rest"), 0)
    for now in range(STEP):
        open_ = {kind for kind, _, start, length in spans if start <= now < start + length}
        times[next((kind for kind in ORDER if kind in open_), "rest")] += 1
    return {kind: 1000 * time for kind, time in times.items() if time}


def trace(spans, seed):
    rng = random.Random(seed)
    events = [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1,
               "ts": 0, "dur": STEP}]
    for kind, thread, start, length in spans:
        events.append({"ph": "X", "cat": "cpu_op" if kind in ("gemm", "operators")
                       else "user_annotation", "name": rng.choice(NAMES[kind]), "pid": 1,
                       "tid": thread, "ts": start, "dur": length})
    return {"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 2},
            "traceEvents": events}


def ranked(rank, late, latest, transfer):
    """A rank that comes late to the all-reduce of each step; all leave it at the same time."""
    events = []
    for step in range(STEPS):
        start = step * STEP
        for category, name, thread, begin, length in (
                ("user_annotation", f"ProfilerStep#{step}", 1, 0, STEP),
                ("cpu_op", "aten::mm", 1, 0, 100 + late),
                ("user_annotation", "gloo:all_reduce", 2, 100 + late, latest - late + transfer)):
            events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread,
                           "ts": start + begin, "dur": length})
    return {"schemaVersion": 1, "baseTimeNanoseconds": 1700000000000000000,
            "distributedInfo": {"backend": "gloo", "rank": rank, "world_size": 3},
            "traceEvents": events}


class Host(unittest.TestCase):
    def report(self, events):
        return self.report_all([events])

    def report_all(self, traces):
        with tempfile.TemporaryDirectory() as folder:
            for rank, events in enumerate(traces):
                path = pathlib.Path(folder) / f"rank{rank}.json"
                path.write_text(json.dumps(events), encoding="utf-8")
            done = subprocess.run([PROGRAM, "-q", "--no-config", "report", folder, "--format",
                                   "json", "-o", "-"], check=True, capture_output=True, text=True)
        items = [item for section in json.loads(done.stdout)["sections"]
                 for item in section["items"]]
        return {item["id"]: item for item in items}

    def test_times(self):
        for seed in range(30):
            spans = plan(seed)
            of = self.report(trace(spans, seed))
            expected = count(spans)
            rows = {row[1]: row[2] for row in of["run.host_time"]["rows"]}
            with self.subTest(seed=seed):
                self.assertEqual(rows, expected)
                self.assertEqual(sum(row[3] for row in of["overview.picture"]["rows"]),
                                 1000 * STEP)
                waits = expected.get("collectives", 0) / (1000 * STEP)
                self.assertEqual("host-collectives" in of, waits > 0.1)

    def test_one_of_several_ranks(self):
        """One that waits looks like one that transfers: there is no saving."""
        found = self.report(trace(plan(1), 1))["host-collectives"]
        self.assertIsNone(found["saving_ns"])
        self.assertIn("not known", found["why"])

    def test_all_ranks(self):
        """What even the rank spends that waits least is the most that transfers take."""
        for late, transfer in ((300, 400), (650, 50), (0, 700)):
            of = self.report_all([ranked(rank, late if rank == 2 else 0, late, transfer)
                                  for rank in range(3)])
            found = of.get("host-collectives")
            with self.subTest(late=late, transfer=transfer):
                if transfer <= STEP // 10:
                    self.assertIsNone(found)
                    continue
                self.assertEqual((found["saving_ns"]["low"], found["saving_ns"]["high"]),
                                 (0, STEPS * transfer * 500))
                mean = transfer + 2 * late // 3
                self.assertIn(f"{STEPS} all-reduces take {mean} µs each on average", found["why"])
                self.assertEqual("straggler" in of, late > 0)

    def test_with_a_device(self):
        """What devices do is told instead."""
        events = trace(plan(1), 1)
        events["traceEvents"].append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0,
                                      "tid": 7, "ts": 10, "dur": 5,
                                      "args": {"device": 0, "stream": 7, "correlation": 1}})
        of = self.report(events)
        self.assertNotIn("run.host_time", of)
        self.assertNotIn("host-collectives", of)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
