#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Columns that repeat what another table says of the same kernel, operator or device.

usage: test_joined.py --program TRACEANALYZE --samples FOLDER

They are compared with the other tables, row by row, in the report of four ranks, in that of one
rank, and in the report that is joined of the reports of two ranks each.  What `roofline.by_kernel`
says is compared with the operators of which each call is one kernel.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import reports

FIRST, SUM, COUNT = "first", "sum", "count"
JOINTS = (
    ("kernels.by_name", ("name",), "busy_share", "gpu_time.by_name", "share", FIRST),
    ("kernels.by_name", ("name",), "efficiency", "roofline.by_kernel", "efficiency", FIRST),
    ("kernels.by_name", ("name",), "above_roof_ns", "roofline.by_kernel", "above_roof_ns", FIRST),
    ("kernels.by_name", ("name",), "wave_efficiency", "kernels.waves", "efficiency", FIRST),
    ("kernels.by_name", ("name",), "wave_lost_ns", "kernels.waves", "lost_ns", FIRST),
    ("ops.by_operator", ("name",), "device_busy_ns", "ops.device_time", "device_busy_ns", FIRST),
    ("ops.by_operator", ("name",), "above_roof_ns", "roofline.by_op", "above_roof_ns", SUM),
    ("ops.by_operator", ("name",), "shapes", "ops.by_shape", None, COUNT),
    ("ops.by_operator", ("name",), "main_shapes", "ops.by_shape", "shapes", FIRST),
    ("gpu_idle.by_rank", ("rank", "device"), "depth_mean", "launch_queue.by_rank", "depth_mean",
     FIRST),
    ("gpu_idle.by_rank", ("rank", "device"), "late", "launch_queue.by_rank", "late", FIRST),
    ("gpu_idle.by_rank", ("rank",), "delay_p50_ns", "launches.by_rank", "delay_p50_ns", FIRST),
)


def wanted(report, row, keys, source, column, way):
    rows = report.rows(source, **{key: row[key] for key in keys})
    if not rows:
        return None
    if way == COUNT:
        return len(rows)
    values = [found[column] for found in rows if found[column] is not None]
    return (sum(values) if values else None) if way == SUM else rows[0][column]


def faults_of(report, what, expected_known):
    known = 0
    for table, keys, column, source, other, way in JOINTS:
        for row in report.rows(table):
            value = wanted(report, row, keys, source, other, way)
            known += value is not None
            if row[column] != value:
                yield (f"{what}: {table}.{column} of {[row[key] for key in keys]} is "
                       f"{row[column]}, {source} has {value}")
    if known < expected_known:
        yield f"{what}: only {known} cells are known"


def roofline_faults(report):
    """Calls of one kernel each: their time is that of kernels, all of it or nearly so."""
    single = sum(row["busy_ns"] for row in report.rows("roofline.by_op")
                 if row["kernels"] == row["calls"] and row["efficiency"] is not None)
    alone = report.total("roofline.by_kernel", "total_ns")
    every = report.total("roofline.by_op", "busy_ns")
    if not single or not single * 0.999 <= alone <= every * 1.001:
        yield f"kernels alone take {alone} ns, calls of one kernel {single} of {every} ns"
    for row in report.rows("roofline.by_kernel"):
        kernel = report.row("kernels.by_name", name=row["name"])
        if row["calls"] > kernel["calls"] or row["total_ns"] > kernel["total_ns"]:
            yield f"{row['name']}: more of it is known than there is"
        if not 0 <= row["above_roof_ns"] <= row["total_ns"]:
            yield f"{row['name']}: {row['above_roof_ns']} ns above the roof"


def interval_faults(report):
    """The half width of the interval of the median, by the table that has its ends."""
    for row in report.rows("kernels.quantiles"):
        error = report.row("kernels.by_name", name=row["name"])["p50_error_ns"]
        low, high = row["p50_low_ns"], row["p50_high_ns"]
        half = None if low is None else (high - low) / 2
        if (error is None) != (half is None) or (error is not None and abs(error - half) > 1e-9):
            yield f"{row['name']}: the error of the median is {error}, expected {half}"


def joined(program, traces, folder):
    """The report of the reports of the first and of the last traces."""
    halves = []
    for i, part in enumerate((traces[:2], traces[2:])):
        halves.append(folder / f"{i}" / "report.json")
        subprocess.run([program, "--no-config", "report", "-q", *part, "--format", "json", "-o",
                        halves[-1].parent], check=True, timeout=240)
    return reports.read(program, *halves)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--samples", type=pathlib.Path, required=True)
    args = parser.parse_args()
    traces = sorted((args.samples / "video-4ranks").glob("*.json.gz"))
    run, one = reports.read(args.program, *traces), reports.read(args.program, traces[0])
    faults = list(faults_of(run, "four ranks", 100)) + list(faults_of(one, "one rank", 100))
    for report in run, one:
        faults += [*roofline_faults(report), *interval_faults(report)]
    with tempfile.TemporaryDirectory() as folder:
        whole = joined(args.program, traces, pathlib.Path(folder))
    faults += faults_of(whole, "joined reports", 10)
    if not any(row["depth_mean"] is not None for row in whole.rows("gpu_idle.by_rank")):
        faults.append("joined reports: gpu_idle.by_rank.depth_mean is known nowhere")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
