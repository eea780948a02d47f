#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A merged trace has the phases, loops and steps of its parts.

usage: test_merged.py --program TRACEANALYZE
"""
import pathlib
import subprocess
import tempfile

import reports
import scenes

TABLES = {"diffusion.loops": ("rank", "loop", "images", "steps", "forwards"),
          "phases.by_rank": ("rank", "phase", "times", "time_ns", "gpu_busy_ns", "kernels"),
          "phases.over_ranks": ("phase", "ranks", "longest_ns"),
          "phases.uneven": ("phase", "rank", "extra_ns", "waiting"),
          "collectives.layout": ("dimension", "size", "count")}


def main():
    program = reports.program_of_arguments()
    with tempfile.TemporaryDirectory() as folder:
        parts, merged = pathlib.Path(folder) / "parts", pathlib.Path(folder) / "merged.json"
        scene = scenes.Scene(slow={("decode", 1): 2.0})
        scenes.make(parts, "merged/1", scene, side=1024, steps=4, layers=3, ranks=2)
        subprocess.run([program, "merge", parts, "-o", merged], check=True, capture_output=True)
        alone, whole = reports.read(program, parts), reports.read(program, merged)
        for table, columns in TABLES.items():
            found, wanted = ([[row[key] for key in columns] for row in report.rows(table)]
                             for report in (whole, alone))
            if found != wanted or not wanted:
                raise AssertionError(f"{table}: {found}, not {wanted}")


main()
