#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""overview.picture: the segments of each lane stand side by side and fill the program's window,
and what kernels and copies have of it is what the union of their times in the trace comes to."""

import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

TRACES = ("vllm_decode_full_graph", "b200_eager_rank0", "xdit_sd_3.5", "mi300_owlv2",
          "mi300_vit_nsfw", "tb_resnet50_nw0", "synthetic_nccl_4rank")
WORK = ("gemm", "attention", "convolution", "pointwise", "kernels")
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")
COLLECTIVES = ("nccl", "all_reduce")
LIMIT = 0.0005  # of the sum: times in a trace may be whole microseconds, and overlap by one


def read_report(program, trace):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "report", trace, "--format", "json", "-o", folder], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return json.loads((pathlib.Path(folder) / "report.json").read_text(encoding="utf-8"))


def rows(report, table):
    for section in report["sections"]:
        for item in section["items"]:
            if item.get("id") == table and "rows" in item:
                keys = [column["key"] for column in item["columns"]]
                return [dict(zip(keys, row)) for row in item["rows"]]
    return []


def union(intervals):
    total, end = 0, float("-inf")
    for start, stop in sorted(intervals):
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total


def device_times(trace):
    """Unions in ns: of kernels that compute, and of all activities."""
    file = next(path for path in sorted(pathlib.Path(trace).rglob("*.json*"))
                if path.is_file() and "capture" not in path.parent.name)
    opened = gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(
        encoding="utf-8")
    with opened:
        data = json.load(opened)
    kernels, busy = [], []
    for event in data["traceEvents"] if isinstance(data, dict) else data:
        kind = str(event.get("cat", "")).lower()
        if event.get("ph") != "X" or kind not in DEVICE:
            continue
        start = float(event["ts"]) * 1e3
        span = (start, start + float(event["dur"]) * 1e3)
        busy.append(span)
        if kind == "kernel" and not any(word in event["name"].lower() for word in COLLECTIVES):
            kernels.append(span)
    return union(kernels), union(busy)


def check_lanes(name, picture, window):
    lanes = {}
    for row in picture:
        lanes.setdefault(row["lane"], []).append(row)
    for lane, segments in lanes.items():
        end = 0
        for segment in segments:
            assert segment["dur_ns"] > 0, (name, lane, segment)
            assert segment["start_ns"] == end, (name, lane, segment, end)
            end += segment["dur_ns"]
        assert end == window, (name, lane, end, window)


ENDS = {"before": 0, "earlier": 1, "after": 4}


def check_ends(name, picture):
    """What lies before the first and after the last work is at the ends of its lane."""
    places = [ENDS.get(row["class"], 2) for row in picture if row["lane"] == "GPU"]
    assert places == sorted(places), (name, places)


def check(program, folder, name):
    report = read_report(program, folder / name)
    picture, windows = rows(report, "overview.picture"), rows(report, "gpu_time.program")
    assert picture, name
    check_lanes(name, picture, windows[0]["window_ns"])
    if len(windows) > 1:
        return
    check_ends(name, picture)
    compute, busy = device_times(folder / name)
    told = sum(row["dur_ns"] for row in picture if row["class"] in WORK)
    assert abs(told - compute) <= LIMIT * compute, (name, told, compute)
    told += sum(row["dur_ns"] for row in picture if row["class"] in ("communication", "copies"))
    assert abs(told - busy) <= LIMIT * busy, (name, told, busy)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    folder = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data" / "traces"
    if not folder.is_dir():
        print("no traces beside the repository")
        sys.exit(77)
    for name in TRACES:
        check(program, folder, name)
    print(f"{len(TRACES)} pictures add up")


main()
