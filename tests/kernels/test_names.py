#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists every distinct kernel of real traces with its class; fails when too much is unknown.

usage: test_names.py --program TRACEANALYZE --traces FOLDER

A trace fails in which names that match no row of the table of names take more than 1 % of the
kernel time, and so does the sum over all traces.  Unit traces with invented names ("kernel1")
count in the sum only.  Ends with 77, skipped, without the folder.
"""
import argparse
import collections
import os
import pathlib
import sys

import reports

LIMIT = 0.01
INVENTED = ("tb_unit", "kineto_flow_fix")


def traces_of(folder):
    return [pathlib.Path(at) / name for at, _, names in sorted(os.walk(folder))
            for name in sorted(names)
            if name.endswith((".json", ".json.gz")) and not name.startswith("INDEX")]


def tables_of(program, path):
    """None of a file that is no trace."""
    done = reports.call(program, "report", path)
    return reports.Report(done.stdout).tables if done.returncode == 0 else {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--traces", required=True)
    options = parser.parse_args()
    if not os.path.isdir(options.traces):
        print("skipped: no folder %s" % options.traces)
        return 77
    names, faults = {}, []
    known_ns = collections.Counter()
    for path in traces_of(options.traces):
        tables = tables_of(options.program, path)
        total = sum(r["total_ns"] for r in tables.get("kernels.by_class", []))
        unknown = sum(r["total_ns"] for r in tables.get("kernels.unknown", []))
        for row in tables.get("kernels.by_name", []):
            names[row["name"]] = (row["kind"], row["family"])
        known_ns["all"] += total
        known_ns["unknown"] += unknown
        relative = path.relative_to(options.traces)
        if total and unknown / total > LIMIT and relative.parts[0] not in INVENTED:
            faults.append("%s: %.1f %% of the kernel time is of unknown class: %s"
                          % (relative, 100 * unknown / total,
                             [r["name"][:80] for r in tables["kernels.unknown"][:5]]))
    for name, (kind, family) in sorted(names.items(), key=lambda item: (item[1], item[0])):
        print("%-12s %-18s %s" % (kind, family, name[:300]))
    share = known_ns["unknown"] / max(known_ns["all"], 1)
    print("%d names, %.2f %% of the kernel time of unknown class" % (len(names), 100 * share))
    if share > LIMIT:
        faults.append("%.1f %% of the time of all traces is of unknown class" % (100 * share))
    if not names:
        faults.append("no kernel was found")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
