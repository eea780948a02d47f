#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums that have to close, to the nanosecond, in the report of each real trace.

usage: identities.py --program PROGRAM --traces FOLDER [--jobs N]

What a device does adds up to its window, and each part of that to what it is the sum of: parts of
the busy time, causes of idle time, shares of names, links of the critical path, classes of kernels.
Each nanosecond of idle time has one owner, so what findings say of it adds up to no more than it.
"""
import argparse
import concurrent.futures
import functools
import pathlib
import re
import sys

from reports import Run

BUSY = ("compute_ns", "comm_exposed_ns", "memcpy_exposed_ns", "memset_exposed_ns")
IDLE = ("dispatch_ns", "host_ns", "computation_ns", "sync_ns", "setup_ns", "input_ns",
        "latency_ns", "queued_ns", "unknown_ns")
# Of all ranks: tables with a column that each adds up to that of the first.
WHOLES = (
    (("gpu_time.program", "window_ns"), ("run.bound", "total_ns"), ("gpu_time.parts", "window_ns")),
    (("gpu_time.by_rank", "window_ns"),
     ("critical_path.by_class", "total_ns"), ("critical_path.by_name", "total_ns")),
    (("gpu_time.by_rank", "busy_ns"), ("gpu_time.by_name", "exposed_ns")),
    (("gpu_time.by_rank", "idle_ns"), ("gpu_idle.by_rank", "idle_ns"),
     ("gpu_idle.by_cause", "total_ns"), ("gpu_idle.by_site", "total_ns"),
     ("gpu_idle.by_owner", "total_ns")),
    (("kernels.by_name", "total_ns"), ("kernels.by_class", "total_ns"),
     ("kernels.by_family", "total_ns"), ("kernels.by_op", "total_ns"),
     ("kernels.small", "total_ns")),
    (("kernels.by_name", "calls"), ("kernels.by_class", "calls"), ("kernels.small", "kernels")),
    (("copies.by_direction", "total_ns"), ("copies.by_memory", "total_ns")),
)


def of_devices(report):
    """(what, its parts, the whole) of each device."""
    for row in report.rows("gpu_time.by_rank"):
        device = {"rank": row["rank"], "device": row["device"]}
        yield "busy", sum(row[part] for part in BUSY), row["busy_ns"]
        yield "window", row["busy_ns"] + row["idle_ns"], row["window_ns"]
        yield "communication", row["comm_exposed_ns"] + row["comm_hidden_ns"], row["comm_ns"]
        yield "causes", report.total("gpu_idle.by_cause", "total_ns", **device), row["idle_ns"]
        yield "owners", report.total("gpu_idle.by_owner", "total_ns", **device), row["idle_ns"]
        for program in report.rows("gpu_time.program", **device):
            around = program["before_ns"] + program["after_ns"]
            yield "program", row["window_ns"] + around, program["window_ns"]
            yield "edges", report.total("gpu_idle.edges", "total_ns", **device), around
        for idle in report.rows("gpu_idle.by_rank", **device):
            yield "groups of causes", sum(idle[part] for part in IDLE), row["idle_ns"]


def of_causes(report):
    """Each cause of idle time, whose call sites add up to it."""
    for cause in {row["cause"] for row in report.rows("gpu_idle.by_site")}:
        sites = report.total("gpu_idle.by_site", "total_ns", cause=cause)
        yield cause, sites, report.total("gpu_idle.by_cause", "total_ns", cause=cause)
        for row in report.rows("gpu_idle.by_site", cause=cause):
            yield cause, sites, row["cause_ns"]


def of_runs(report):
    for (table, column), *others in WHOLES:
        for other, its_column in others:
            if table in report.tables and other in report.tables:
                yield other, report.total(other, its_column), report.total(table, column)


UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9}
ON_IDLE = ("launch-bound", "value-read", "sync-wait", "host-computation", "input-bound", "gpu-idle")


def findings_on_idle(report):
    """What findings on idle time say, in ns, by what their titles have in brackets."""
    for finding in report.findings:
        said = re.search(r"(?:leaves|while|why) the GPU[^(]* idles? for [^(]*"
                         r"\(([\d.]+)\s(ns|µs|ms|s|min)\)", finding["title"])
        if finding["id"] in ON_IDLE and said:
            yield float(said[1]) * UNITS[said[2]]


def check(program, path):
    """How many sums were looked at, and which do not close; None where there is no report."""
    report = Run(program).report(path)
    if not report:
        return None
    sums = [*of_devices(report), *of_causes(report), *of_runs(report)]
    wrong = [f"{path.name}: {what}: {parts} of {whole}"
             for what, parts, whole in sums if parts != whole]
    idle = max((row["window_ns"] - row["busy_ns"] for row in report.rows("gpu_time.program")),
               default=0)
    said = sum(findings_on_idle(report))
    if said > 1.005 * idle:  # three digits are said
        wrong.append(f"{path.name}: findings on idle time say {said:.0f} ns of {idle} ns")
    return len(sums) + 1, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--traces", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, help="processes; without, one per core")
    args = parser.parse_args()
    paths = [path for path in sorted(args.traces.rglob("*"))
             if path.name.endswith((".json", ".json.gz")) and not path.name.startswith("INDEX")]
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        found = [one for one in pool.map(functools.partial(check, args.program), paths) if one]
    faults = [fault for _, faulty in found for fault in faulty]
    print(f"{sum(n for n, _ in found)} sums of {len(found)} traces", *faults, sep="\n")
    return 1 if faults or len(found) < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
