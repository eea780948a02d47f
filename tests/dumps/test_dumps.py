# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of dumps that nobody has seen: drawn from a seed in the formats of the profilers, with
the rows that their reports must have, worked out from what was written and by no code of ours.

TA_DUMP_SEEDS says which seeds: "5" for the first five, "7:9" for 7 and 8.  A failure leaves the
folder below TA_DUMP_KEEP, when that is set."""
import os
import pathlib
import random
import shutil
import tempfile
import unittest

import ascend
import caching
import consoles
import devices
import diffulex
import flat
import framepack
import inferix
import language
import printed
import reports
import torch_table
import viztracer

PROGRAM = os.environ["TA_PROGRAM"]
MAKERS = {"inferix": inferix.make, "framepack": framepack.make, "diffulex": diffulex.make,
          "dmon": devices.make_dmon, "snapshot": devices.make_snapshot,
          "history": devices.make_history, "caching": caching.make,
          "viztracer": viztracer.make, "consoles": consoles.make, "flat": flat.make,
          "ascend": ascend.make, "language": language.make, "printed": printed.make,
          "torch_table": torch_table.make}
KEYS = {"stages.by_name": ("rank", "stage"), "diffusion.steps": ("rank", "index"),
        "diffusion.blocks": ("rank", "index"), "models.parameters": ("rank", "model"),
        "throughput.values": ("rank", "metric", "basis"), "caches.by_name": ("rank", "cache"),
        "telemetry.by_rank": ("rank", "device", "signal"), "memory.by_rank": ("rank", "device"),
        "memory.snapshots": ("rank", "index"), "caches.hits": ("rank", "video_ns", "cache"),
        "ops.by_name": ("category", "name"), "kernels.by_name": ("name",),
        "gpu_time.by_rank": ("rank",), "ops.summed": ("rank", "name", "kind"),
        "ops.totals": ("rank",),
        "iterations.by_name": ("rank", "loop"), "requests.by_rank": ("rank",),
        "run.sessions": ("rank", "session"), "memory.peaks": ("rank", "device"),
        "memory.churn": ("rank", "device"), "memory.sites": ("rank", "device", "site"),
        "memory.levels": ("rank", "device", "entry", "site"),
        "memory.failures": ("rank", "device", "index"),
        "figures.reported": ("rank", "group", "figure")}
# Tables of which a report has more rows than are worked out here.
OPEN = {"throughput.values", "telemetry.by_rank", "figures.reported"}


def seeds():
    words = os.environ.get("TA_DUMP_SEEDS", "5").split(":")
    return range(int(words[0]) if len(words) > 1 else 0, int(words[-1]))


def equal(expected, got):
    if isinstance(expected, float) and isinstance(got, (int, float)):
        return abs(expected - got) <= 1e-9 * max(abs(expected), abs(got))
    if isinstance(got, float) and isinstance(expected, int):
        return abs(expected - got) <= 1e-9 * abs(expected)
    return expected == got and isinstance(got, bool) == isinstance(expected, bool)


class Dumps(unittest.TestCase):
    def compare(self, report, table, expected):
        keys = [key for key in KEYS[table] if all(key in row for row in expected)]
        found = {}
        for row in report.tables.get(table, ()):
            key = tuple(row[k] for k in keys)
            self.assertNotIn(key, found, f"two rows of {table}")
            found[key] = row
        wanted = {tuple(row[k] for k in keys): row for row in expected}
        self.assertEqual(len(wanted), len(expected), f"keys of {table} that were made clash")
        if table not in OPEN:
            self.assertEqual(set(found) - set(wanted), set(), f"too many rows of {table}")
        self.assertEqual(set(wanted) - set(found), set(), f"rows of {table} are missing")
        for key, row in wanted.items():
            for column, value in row.items():
                got = found[key][column]
                self.assertTrue(equal(value, got),
                                f"{table} {key} {column}: {value!r} was written, {got!r} found")

    def check(self, kind, seed, folder):
        expected = MAKERS[kind](random.Random("%s %d" % (kind, seed)), folder)
        report = reports.read(PROGRAM, folder)
        for table, rows in expected.items():
            self.compare(report, table, rows)
        absent = {"stages.by_name", "diffusion.steps"} - set(expected)
        if "memory.churn" not in expected:
            absent |= {"memory.snapshots"} - set(expected)
        for table in absent:
            self.assertEqual(report.tables.get(table, []), [], f"{table} out of nothing")

    def test_all(self):
        for kind in MAKERS:
            for seed in seeds():
                folder = pathlib.Path(tempfile.mkdtemp(prefix="dumps-"))
                try:
                    with self.subTest(kind=kind, seed=seed):
                        self.check(kind, seed, folder / "in")
                        continue
                    if os.environ.get("TA_DUMP_KEEP"):
                        shutil.move(folder, "%s/%s-%d" % (os.environ["TA_DUMP_KEEP"], kind, seed))
                finally:
                    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    unittest.main()
