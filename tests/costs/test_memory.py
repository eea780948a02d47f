#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares memory.by_step, memory.over_time and memory.growth with a slow reading of the same
records of memory.

usage: test_memory.py --program PROGRAM [TRACE...]

Allocations are counted by the bytes that each record says, levels by its totals.  Planted traces
have a leak, a level that only jumps once, and steps without any record."""
import argparse
import gzip
import json
import math
import pathlib
import statistics
import sys
import tempfile
from decimal import Decimal

import reports

MIB = 1 << 20


def nanoseconds(text):
    return int((Decimal(text) * 1000).to_integral_value(rounding="ROUND_HALF_UP"))


def read(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(
        path, encoding="utf-8")
    with opened as stream:
        document = json.load(stream, parse_float=Decimal)
    return document["traceEvents"] if isinstance(document, dict) else document


def records_of(events):
    """By device: (time, bytes, allocated, reserved), in the order of time."""
    records = {}
    for event in events:
        args = event.get("args", {})
        if event.get("name") == "[memory]" and args.get("Device Type") not in (None, 0) \
                and "Total Allocated" in args:
            records.setdefault(args["Device Id"], []).append(
                (nanoseconds(event["ts"]), args["Bytes"], args["Total Allocated"],
                 args.get("Total Reserved")))
    for rows in records.values():
        rows.sort(key=lambda row: row[0])
    return records


def steps_of(events):
    return sorted((nanoseconds(e["ts"]), nanoseconds(e["ts"]) + nanoseconds(e["dur"]), e["name"])
                  for e in events if e.get("ph") == "X" and e["name"].startswith("ProfilerStep#")
                  and e.get("cat") in ("user_annotation", "cpu_op"))


def step_row(records, start, end):
    """What is true of a step: the level that it begins with counts, too."""
    before = [r for r in records if r[0] < start][-1:]
    inside = [r for r in records if start <= r[0] < end]
    known = [r for r in inside if r is not records[0]]  # the level before the first is not known
    levels = before + inside
    grown = [r[1] for r in known if r[1] > 0]
    freed = [-r[1] for r in known if r[1] < 0]
    return {"peak_allocated_bytes": max((r[2] for r in levels), default=None),
            "peak_reserved_bytes": max((r[3] for r in levels), default=None),
            "end_allocated_bytes": levels[-1][2] if levels else None,
            "allocations": len(grown), "allocated_bytes": sum(grown),
            "frees": len(freed), "freed_bytes": sum(freed)}


def trend_of(levels):
    """Theil and Sen's slope, and the two-sided p of Mann and Kendall."""
    n = len(levels)
    pairs = [(i, k) for i in range(n) for k in range(i + 1, n)]
    slope = statistics.median((levels[k] - levels[i]) / (k - i) for i, k in pairs)
    score = sum((levels[k] > levels[i]) - (levels[k] < levels[i]) for i, k in pairs)
    ties = [levels.count(level) for level in set(levels)]
    variance = (n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18
    z = (score - (score > 0) + (score < 0)) / math.sqrt(variance) if variance else 0
    return slope, math.erfc(abs(z) / math.sqrt(2))


class Checks:
    def __init__(self):
        self.failed = 0

    def that(self, true, words):
        if not true:
            self.failed += 1
            print(words)

    def near(self, found, wanted, words):
        self.that(found is not None and math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-12),
                  f"{words}: {found} instead of {wanted}")


def check(checks, program, path):
    events = read(path)
    report = reports.read(program, path)
    for device, records in records_of(events).items():
        ends = []
        for start, end, name in steps_of(events):
            rows = report.rows("memory.by_step", device=device, step=name)
            checks.that(len(rows) == 1, f"{path.name}: {name} has {len(rows)} rows")
            wanted = step_row(records, start, end)
            for key, value in wanted.items():
                checks.that(rows[0][key] == value,
                            f"{path.name} {name} {key}: {rows[0][key]} instead of {value}")
            ends += [wanted["end_allocated_bytes"]] if wanted["end_allocated_bytes"] else []
        points = report.rows("memory.over_time", device=device)
        for key, place in ("allocated_bytes", 2), ("reserved_bytes", 3):
            checks.that(max(p[key] for p in points) == max(r[place] for r in records),
                        f"{path.name}: peak of {key} over time")
        rows = report.rows("memory.growth", device=device, per="step")
        checks.that(len(rows) == (len(ends) >= 6), f"{path.name}: {len(rows)} rows of growth")
        for row in rows:
            slope, p = trend_of(ends)
            checks.near(row["slope_bytes"], slope, f"{path.name}: slope")
            checks.near(row["p_value"], p, f"{path.name}: p")
            share = slope / statistics.median(ends)
            checks.that(row["grows"] == (p < 0.01 and share > 0.001), f"{path.name}: grows")
    return report


def trace(levels, bytes_each=64 * MIB):
    """A step per level that it ends at; each allocates some memory and frees it again."""
    events, held, first = [], 0, True
    for number, level in enumerate(levels):
        start = number * 1000
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}",
                       "pid": 1, "tid": 1, "ts": start, "dur": 1000})
        changes = [level - held, bytes_each, -bytes_each] if level != held or first else []
        for place, change in enumerate(changes):
            held += change
            events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]",
                           "pid": 1, "tid": 1, "ts": start + 100 * (place + 1),
                           "args": {"Total Reserved": 4096 * MIB, "Total Allocated": held,
                                    "Bytes": change, "Device Id": 0, "Device Type": 1,
                                    "Addr": 1000 + place}})
        first = False
    return {"deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 8192 * MIB}],
            "traceEvents": events}


# Ranges of a program that generates two images, in us, and what it holds in them, in MiB.
PHASES = [("encode_prompt", "text encode", 300), ("denoise_step", "denoise", 900),
          ("denoise_step", "denoise", 950), ("denoise_step", "denoise", 900),
          ("vae_decode", "VAE decode", 2500)]


def generation():
    """Each range lasts 900 of 1000 us; memory rises in it and falls to 100 MiB at its end."""
    events, held, rows = [], 0, []
    kinds = PHASES * 2
    for number, (name, phase, level) in enumerate(kinds):
        start = number * 1000
        events += [{"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 1,
                    "ts": start, "dur": 900},
                   {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                    "tid": 1, "ts": start + 10, "dur": 5, "args": {"correlation": number + 1}},
                   {"ph": "X", "cat": "kernel", "name": f"gemm_{phase}", "pid": 0, "tid": 7,
                    "ts": start + 20, "dur": 850,
                    "args": {"correlation": number + 1, "device": 0, "stream": 7}}]
        for at, to in (start + 100, level), (start + 800, 100):
            change = to * MIB - held
            held += change
            rows.append((at, phase, held, change))
            events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]",
                           "pid": 1, "tid": 1, "ts": at,
                           "args": {"Total Reserved": 4096 * MIB, "Total Allocated": held,
                                    "Bytes": change, "Device Id": 0, "Device Type": 1}})
    return {"traceEvents": events}, rows


def phases(checks, program, folder):
    document, rows = generation()
    path = folder / "generation.pt.trace.json"
    path.write_text(json.dumps(document))
    report = reports.read(program, path)
    for phase in {p for _, p, _ in PHASES}:
        row = report.row("memory.by_phase", phase=phase)
        inside = [r for r in rows if r[1] == phase and r is not rows[0]]
        grown = [r[3] for r in inside if r[3] > 0]
        wanted = {"peak_allocated_bytes": max(r[2] for r in rows if r[1] == phase),
                  "allocations": len(grown), "allocated_bytes": sum(grown),
                  "frees": sum(r[3] < 0 for r in inside)}
        for key, value in wanted.items():
            checks.that(row[key] == value, f"{phase} {key}: {row[key]} instead of {value}")
    finding = report.finding("memory-peak")
    checks.that(finding and "in VAE decode" in finding["title"] and "tiles" in finding["advice"],
                f"the phase of the peak: {finding}")
    points = report.rows("memory.over_time")
    for at, phase, held, _ in rows:
        point = [p for p in points if p["time_ns"] <= at * 1000][-1]
        checks.that(point["phase"] == phase and point["allocated_bytes"] == held,
                    f"at {at}: {point} instead of {phase}, {held}")


def planted(checks, program, folder):
    kinds = {"leak": [1000 * MIB + i * 10 * MIB for i in range(12)],
             "jump": [1000 * MIB] * 2 + [1500 * MIB] * 10,
             "even": [1000 * MIB] * 12,
             "noise": [1000 * MIB + (i * 37 % 11) * MIB for i in range(12)]}
    for kind, levels in kinds.items():
        path = folder / f"{kind}.pt.trace.json"
        path.write_text(json.dumps(trace(levels)))
        report = check(checks, program, path)
        row = report.row("memory.growth")
        checks.that(row["grows"] == (kind == "leak"), f"{kind}: grows is {row['grows']}")
        room = report.row("memory.headroom")
        checks.that(room["headroom_bytes"] == 4096 * MIB, f"{kind}: {room}")
        checks.that((report.finding("memory-trend") is not None) == (kind == "leak"),
                    f"{kind}: the finding about growth")
        if kind == "leak":
            checks.near(room["steps_left"], 4096 / 10, "steps left")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("traces", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        planted(checks, options.program, pathlib.Path(folder))
        phases(checks, options.program, pathlib.Path(folder))
    for path in options.traces:
        check(checks, options.program, path)
    print(f"{len(options.traces)} traces and 4 planted ones: {checks.failed} differences")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
