#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings that are one story are one finding: a rank that is late because its GPU is hot.

Four ranks report the time of a stage, of which rank 2 is late; a monitor sampled four GPUs."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
RANKS, LATE = 4, 2
HEAD = ("timestamp, index, name, clocks.current.sm [MHz], clocks.max.sm [MHz], "
        "temperature.gpu, utilization.gpu [%], power.draw [W], "
        "clocks_event_reasons.sw_thermal_slowdown\n")


def stages(rank, name):
    took = 150.0 if rank == LATE else 100.0
    return "scope,rank,pid,step,stage,cpu_ms\n" + "".join(
        "engine,%d,1,%d,%s,%.1f\nengine,%d,1,%d,total,%.1f\n" % (rank, i, name, took, rank, i,
                                                               took + 1)
        for i in range(20))


def samples(hot):
    lines = HEAD
    for second in range(40):
        for gpu in range(RANKS):
            slow = gpu in hot and second > 10
            lines += ("2026/01/15 10:30:%02d.000, %d, NVIDIA H100, %d MHz, 1980 MHz, %d, 99 %%, "
                      "500.00 W, %s\n" % (second, gpu, 1200 if slow else 1900, 88 if slow else 60,
                                          "Active" if slow else "Not Active"))
    return lines


def findings(hot, stage="forward"):
    with tempfile.TemporaryDirectory(prefix="stories-") as folder:
        for rank in range(RANKS):
            pathlib.Path(folder, "stage_timing.rank%d.csv" % rank).write_text(
                stages(rank, stage))
        if hot is not None:
            pathlib.Path(folder, "smi.csv").write_text(samples(hot))
        done = subprocess.run([PROGRAM, "--no-config", "report", "-q", "--json", folder],
                              check=True, capture_output=True, encoding="utf-8",
                              env={**os.environ, "COLUMNS": "120"})
        sections = json.loads(done.stdout)["sections"]
        return {item["id"]: item for section in sections for item in section["items"]
                if item["kind"] == "finding"}


class Stories(unittest.TestCase):
    def test_late_without_a_reason(self):
        self.assertIn("late-rank", findings(None))

    def test_work_of_the_host_is_looked_for_on_the_host(self):
        """Nobody saves time by looking at a clock that does not matter, or by looking alone."""
        for stage, is_host in (("forward", False), ("prepare_sample", True)):
            found = findings(None, stage)["late-rank"]
            self.assertEqual("CPU of rank 2" in found["advice"], is_host, found["advice"])
            self.assertEqual("nvidia-smi" in found["advice"], not is_host, found["advice"])
            self.assertEqual(found["saving_ns"]["low"], 0)

    def test_hot_is_why_it_is_late(self):
        alone, both = findings(None)["late-rank"], findings({LATE})
        self.assertIn("heat-slowdown", both)
        self.assertNotIn("late-rank", both)
        told = both["heat-slowdown"]
        self.assertIn(alone["title"], told["details"])
        for evidence in alone["evidence"]:
            self.assertIn(evidence["table"], [e["table"] for e in told["evidence"]])
        self.assertGreaterEqual(told["saving_ns"]["high"], alone["saving_ns"]["high"])

    def test_another_hot_device_is_another_story(self):
        both = findings({LATE - 1})
        self.assertIn("heat-slowdown", both)
        self.assertIn("late-rank", both)

    def test_all_are_hot(self):
        self.assertIn("late-rank", findings(set(range(RANKS))))


if __name__ == "__main__":
    unittest.main()
