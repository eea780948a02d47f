#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps are compared with steps of their kind, and the first line agrees with them.

usage: test_steps.py --program PROGRAM
"""
import json
import pathlib
import sys
import tempfile
import unittest

import reports

PROGRAM = None


def trace(path, steps, pause=0, name="ProfilerStep#{}"):
    """A step of so many µs after the other, with `pause` between them."""
    events, now, call = [], 0, 0
    for number, length in enumerate(steps):
        events.append({"ph": "X", "cat": "user_annotation", "name": name.format(number), "pid": 1,
                       "tid": 1, "ts": now, "dur": length})
        for at in range(5):
            call += 1
            start, linked = now + at * length // 5 + 1, {"correlation": call}
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                           "tid": 1, "ts": start, "dur": 2, "args": linked})
            events.append({"ph": "X", "cat": "kernel", "name": "sgemm_nn", "pid": 0, "tid": 7,
                           "ts": start + 4, "dur": length // 6,
                           "args": {**linked, "device": 0, "stream": 7}})
        now += length + pause
    path.write_text(json.dumps({"traceEvents": events}))


class Steps(unittest.TestCase):
    def compare(self, base, new):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / "base.json", pathlib.Path(folder) / "new.json"]
            for path, options in zip(paths, (base, new)):
                trace(path, **options)
            return reports.read(PROGRAM, *paths, command="diff")

    def test_faster_steps_in_a_longer_window(self):
        found = self.compare({"steps": [1000] * 6}, {"steps": [950] * 6, "pause": 400})
        headline = found.document["verdict"]["headline"]
        self.assertIn("% more time, although the median step takes 0.95 ms "
                      "instead of 1 ms", headline)

    def test_same_way(self):
        found = self.compare({"steps": [1000] * 6}, {"steps": [900] * 6})
        self.assertNotIn("although", found.document["verdict"]["headline"])

    def test_other_kinds(self):
        found = self.compare({"steps": [1000] * 6},
                             {"steps": [950] * 5, "name": "step[DECODE bs=8]"})
        row = found.row("diff.environment", key="step_kind")
        self.assertEqual((row["base"], row["new"], row["status"]),
                         ("ProfilerStep", "step[DECODE]", "differs"))
        names = [r["metric"] for r in found.rows("diff.metrics")]
        self.assertFalse([n for n in names if n.startswith("step_time")], names)
        # Not "per step": the steps are of different kinds.
        self.assertNotIn("per step", found.document["verdict"]["headline"])


if __name__ == "__main__":
    PROGRAM = reports.program_of_arguments()
    unittest.main(argv=sys.argv[:1])
