#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""merge reads each trace twice, the second time to write it: reads that fail then must not leave a
merged trace that lacks events.

    second_reading.py PROGRAM LIBRARY

From the n-th read on, for every n, all reads fail: the run ends with 3 and without a product, or
had read everything before and gives the same bytes as without failures.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

PAIR = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/inputs/pair"
READS_MOST = 200


def merge(program, out, **variables):
    done = subprocess.run([program, "merge", "-q", "-j1", "-o", out, PAIR], check=False,
                          stderr=subprocess.PIPE, env={**os.environ, **variables})
    return done.returncode, done.stderr.decode()


def main():
    program, library = sys.argv[1:]
    faults, refused, late = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="second-") as folder:
        out = pathlib.Path(folder) / "merged.json"
        if merge(program, out) != (0, ""):
            sys.exit("merge fails by itself")
        whole = out.read_bytes()
        for n in range(1, READS_MOST):
            out.unlink(missing_ok=True)
            code, said = merge(program, out, LD_PRELOAD=library, TA_FAIL="read", TA_FAIL_AT=str(n),
                               TA_FAIL_ON="1", TA_FAIL_ERRNO="5")
            if code == 0 and out.read_bytes() == whole:
                break
            refused += 1
            late += "Another reading" in said
            if code != 3 or out.exists() or "TA-E" not in said:
                faults.append(f"read {n}: exit code {code}, {said.strip()}")
    for fault in faults:
        print(fault)
    print(f"{refused} reads, {late} of them in the second reading, {len(faults)} faults")
    return 1 if faults or late < 2 or n == READS_MOST - 1 else 0


if __name__ == "__main__":
    sys.exit(main())
