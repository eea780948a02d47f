#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares ops.by_operator with what torch.profiler's key_averages() makes of the same events.

usage: test_key_averages.py --program PROGRAM TRACE...

key_averages() groups calls by name: count, CPU total (durations), self CPU (without the events
directly below), device total and self device (the kernels, copies and sets below, and those that no
inner operator launched).  It adds calls up one by one, so the totals of an operator that runs
within itself count its inner calls twice; ours count them once, and for such names both figures are
made here, from the events alone.  All times are integers of ns, so all has to be equal.
"""
import argparse
import collections
import decimal
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

OPERATORS = ("cpu_op", "operator")
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "mtia_ccp_events")
NO_HOST = DEVICE + ("gpu_user_annotation", "trace", "cuda_sync", "cuda_profiler_range")


def to_ns(text):
    return int((decimal.Decimal(text) * 1000).quantize(0, decimal.ROUND_HALF_UP))


def read(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(
        path, encoding="utf-8")
    with opened as stream:
        document = json.load(stream, parse_float=decimal.Decimal)
    events = document["traceEvents"] if isinstance(document, dict) else document
    return [e for e in events if e.get("ph") == "X" and "ts" in e and "dur" in e]


class Event:
    def __init__(self, record):
        self.name, self.category = record["name"], str(record.get("cat", "")).lower()
        self.start = to_ns(record["ts"])
        self.end = self.start + max(0, to_ns(record["dur"]))
        self.correlation = record.get("args", {}).get("correlation", 0)
        self.is_operator = (self.category in OPERATORS and
                            not self.name.startswith("ProfilerStep#"))
        self.parent, self.below, self.device, self.crosses = None, 0, 0, False


def nest(records):
    """The host's events in their nesting; of each call, the first of its correlation."""
    threads, calls = collections.defaultdict(list), {}
    for record in records:
        event = Event(record)
        if event.category not in NO_HOST:
            threads[str(record["pid"]), str(record["tid"])].append(event)
    for events in threads.values():
        events.sort(key=lambda e: (e.start, -e.end))
        open_ = []
        for event in events:
            while open_ and open_[-1].end <= event.start:
                open_.pop()
            event.parent = open_[-1] if open_ else None
            if event.parent:
                event.parent.below += event.end - event.start
                event.parent.crosses |= event.end > event.parent.end
            open_.append(event)
            if event.category.endswith(("runtime", "driver")) and event.correlation > 0:
                first = calls.setdefault(event.correlation, event)
                if event.start < first.start:
                    calls[event.correlation] = event
    return [e for events in threads.values() for e in events], calls


def operators_around(event):
    while event:
        if event.is_operator:
            yield event
        event = event.parent


def key_averages(records):
    """By name: [count, CPU total, self CPU, device total, self device], then both totals with the
    calls within calls of the same name counted once, and whether spans cross."""
    events, calls = nest(records)
    rows = collections.defaultdict(lambda: [0] * 7 + [False])
    for event in events:
        if not event.is_operator:
            continue
        row, duration = rows[event.name], event.end - event.start
        row[0] += 1
        row[1] += duration
        row[2] += duration - event.below
        if not any(outer.name == event.name for outer in operators_around(event.parent)):
            row[5] += duration
        row[7] |= event.crosses
    for record in records:
        call = calls.get(record.get("args", {}).get("correlation", 0))
        if str(record.get("cat", "")).lower() not in DEVICE or not call:
            continue
        duration, names = max(0, to_ns(record["dur"])), set()
        for depth, operator in enumerate(operators_around(call)):
            row = rows[operator.name]
            row[3] += duration
            row[4] += duration if depth == 0 else 0
            row[6] += duration if operator.name not in names else 0
            names.add(operator.name)
    return rows


def ours(program, trace, folder):
    out = folder / "report.json"
    subprocess.run([program, "--no-config", "report", str(trace), "-q", "--format", "json", "-o",
                    str(out)], check=True)
    report = json.loads(out.read_text(encoding="utf-8"))
    for section in report["sections"]:
        for item in section["items"]:
            if item["kind"] == "table" and item["id"] == "ops.by_operator":
                keys = [c["key"] for c in item["columns"]]
                rows = (dict(zip(keys, row)) for row in item["rows"])
                return {row["name"]: row for row in rows if row["kind"] == "operator"}
    return {}


def check(program, trace, folder):
    theirs = key_averages(read(trace))
    mine = {k: v for k, v in ours(program, trace, folder).items()
            if not k.startswith("ProfilerStep")}
    faults = ["%s: only one of both has %s" % (trace.name, sorted(set(theirs) ^ set(mine))[:5])] \
        if set(theirs) != set(mine) else []
    nested = 0
    for name, row in sorted(theirs.items()):
        count, cpu, self_cpu, device, self_device, cpu_once, device_once, crosses = row
        if crosses or name not in mine:
            continue  # what both cover belongs to one of them: tests/tree/test_tree.py
        wanted = {"calls": count, "host_total_ns": cpu_once, "host_self_ns": self_cpu,
                  "device_total_ns": device_once, "device_self_ns": self_device}
        nested += (cpu, device) != (cpu_once, device_once)
        for key, value in wanted.items():
            if (mine[name][key] or 0) != value:
                faults.append("%s: %s of %s is %s, key_averages() has %d"
                              % (trace.name, key, name, mine[name][key], value))
    print("%s: %d operators, of which %d run within themselves"
          % (trace.name, len(theirs), nested))
    if not theirs:
        faults.append("%s: no operators" % trace.name)
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    faults = []
    with tempfile.TemporaryDirectory() as scratch:
        for trace in options.traces:
            faults += check(options.program, trace, pathlib.Path(scratch))
    for fault in faults[:40]:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
