#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Columns that say nothing of a run are not drawn in open tables, and nothing is lost.

usage: test_columns.py --program TRACEANALYZE

One GPU without communication: page and terminal show none of its columns in "GPU time by rank",
and report.json has them all.  With a collective that compute hides, the zero of what is exposed is
an answer and is shown.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import reports


def kernel(name, start, length, stream):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": start,
            "dur": length, "args": {"device": 0, "stream": stream}}


ALONE = [kernel("gemm", 100 * i, 60, 7) for i in range(20)]
HIDDEN = ALONE + [kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 100, 40, 20)]


def outputs(program, events, folder):
    folder.mkdir()
    trace = folder / "rank0.json"
    trace.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    page = folder / "report.html"
    subprocess.run([program, "--no-config", "report", "-q", trace, "--format", "html", "-o", page],
                   check=True, timeout=120)
    text = subprocess.run([program, "--no-config", "report", "-q", "-v", trace, "--format", "text",
                           "-o", "-"], check=True, timeout=120, capture_output=True,
                          text=True).stdout
    table = re.search(r'id="t-gpu_time\.by_rank".*?</thead>', page.read_text(encoding="utf-8"),
                      re.S).group(0)
    heads = {re.search(r'data-key="([^"]+)"', head).group(1): 'hidden=""' in head
             for head in re.findall(r"<th [^>]*>", table)}
    return heads, text, reports.read(program, trace)


def faults_of(program, folder):
    heads, text, report = outputs(program, ALONE, folder / "alone")
    row = report.row("gpu_time.by_rank", rank=0)
    for column in "comm_ns", "comm_exposed_ns", "comm_hidden_ns", "memcpy_ns":
        if row[column] != 0:
            yield f"report.json: {column} is {row[column]}"
        if not heads.get(column):
            yield f"alone: the page shows {column}"
    for column in "window_ns", "busy_ns", "idle_ns", "compute_ns":
        if heads.get(column):
            yield f"alone: the page hides {column}"
    table = text[text.index("GPU time by rank"):].split("\n\n")[0]
    if re.search(r"\bComm|exposed", table):
        yield f"alone: the terminal shows communication: {table}"
    heads, text, report = outputs(program, HIDDEN, folder / "hidden")
    row = report.row("gpu_time.by_rank", rank=0)
    if row["comm_exposed_ns"] != 0 or row["comm_ns"] != 40000:
        yield f"hidden: {row}"
    for column in "comm_ns", "comm_exposed_ns", "comm_hidden_ns":
        if heads.get(column):
            yield f"hidden: the page hides {column}"


def main():
    program = reports.program_of_arguments()
    with tempfile.TemporaryDirectory() as folder:
        faults = list(faults_of(program, pathlib.Path(folder)))
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
