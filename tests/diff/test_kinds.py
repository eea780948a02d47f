#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Like with like: what kind of recording each side is and what it covers is compared, and the first
line says where a warm-up is compared with a run, or the program's window goes another way.

usage: test_kinds.py --program PROGRAM
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import reports

PROGRAM = None


def write(path, kernel_us, before_us, start_us=0):
    """Three steps of one kernel; the host prepares before the first."""
    events = [{"ph": "X", "cat": "cpu_op", "name": "aten::prepare", "pid": 1, "tid": 1,
               "ts": start_us, "dur": before_us}]
    at = start_us + before_us
    for number in range(3):
        events += [
            {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 1,
             "tid": 1, "ts": at, "dur": kernel_us + 20},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
             "ts": at + 1, "dur": 5, "args": {"correlation": number + 1}},
            {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": at + 10,
             "dur": kernel_us, "args": {"device": 0, "stream": 7, "correlation": number + 1}}]
        at += kernel_us + 20
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"baseTimeNanoseconds": 1_795_000_000 * 10**9,
                                "traceEvents": events}), encoding="utf-8")
    return path


class Kinds(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="traceanalyze-kinds-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def compare(self, before, after, *options):
        subprocess.run([PROGRAM, "--no-config", "diff", before, after, *options, "-o",
                        self.folder / "out"], check=True, capture_output=True, text=True)
        diff = reports.Report((self.folder / "out/diff.json").read_text(encoding="utf-8"))
        return diff, diff.document["verdict"]["headline"]

    def test_same_kinds(self):
        diff, line = self.compare(write(self.folder / "a/trace.json", 1000, 100),
                                  write(self.folder / "b/trace.json", 1000, 100))
        keys = {row["key"]: row for row in diff.rows("diff.environment")}
        for key, value in (("recording", "run"), ("recordings", "1"),
                           ("covers", "host and devices")):
            self.assertEqual((keys[key]["base"], keys[key]["status"]), (value, "same"))
        self.assertNotIn("against", line)

    def test_a_run_against_iterations(self):
        run = write(self.folder / "run/trace.json", 1000, 100)
        for number in range(2):
            write(self.folder / f"several/trace_iteration_{number}.json", 1200, 100,
                  number * 10_000_000)
        diff, line = self.compare(run, self.folder / "several")
        keys = {row["key"]: row for row in diff.rows("diff.environment")}
        self.assertEqual((keys["recording"]["new"], keys["recording"]["weight"]),
                         ("iteration", "caution"))
        self.assertEqual(keys["recordings"]["new"], "2")
        self.assertEqual(diff.scalars["diff_comparable"], "with caution")
        self.assertIn("run against iteration", line)

    def test_another_window(self):
        """The devices' window gets longer, the program's shorter."""
        _, line = self.compare(write(self.folder / "a/trace.json", 1000, 9000),
                               write(self.folder / "b/trace.json", 1100, 2000))
        self.assertRegex(line, r"^The run takes \S+ ms instead of \S+ ms: \S+ % less time, "
                               r"although the GPU takes \S+ ms from first to last work instead "
                               r"of \S+ ms \([^.]*\)\.$")

    def test_around_the_devices(self):
        """The devices' window is the same, the program's shorter."""
        _, line = self.compare(write(self.folder / "a/trace.json", 1000, 9000),
                               write(self.folder / "b/trace.json", 1000, 2000))
        self.assertRegex(line, r"^The run takes \S+ ms instead of \S+ ms: \S+ % less time, "
                               r"although the GPU takes \S+ ms from first to last work as before")

    def test_one_window(self):
        _, line = self.compare(write(self.folder / "a/trace.json", 1000, 100),
                               write(self.folder / "b/trace.json", 1100, 100))
        self.assertNotIn("although", line)


if __name__ == "__main__":
    PROGRAM = reports.program_of_arguments()
    unittest.main(argv=sys.argv[:1])
