#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A late rank whose partner was not read: what makes it late lies before a collective in which
nobody else is known to wait.

usage: test_missing.py PROGRAM GENERATOR
"""
import pathlib
import subprocess
import sys
import tempfile

import reports


def main():
    program, generator = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run"
        subprocess.run([generator, "cluster", "-o", out, "--ranks", "8", "--groups", "tp=2,sp=2",
                        "--layers", "1", "--steps", "6", "--missing-ranks", "1", "--straggler",
                        "3:pseudo-fast:42"], check=True, stdout=subprocess.DEVNULL)
        report = reports.read(program, out)
    late = [row["rank"] for row in report.rows("stragglers.by_rank") if row["is_late"]]
    first = report.rows("stragglers.blame")[0]
    if late == [3] and (first["rank"], first["kind"]) == (3, "gap") and first["share"] > 0.5:
        return 0
    print(f"late are {late}, blamed is {first}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
