#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures what all analyses cost beside reading, on the largest traces of a folder.

usage: analysis_cost.py --build FOLDER --traces FOLDER [--largest 5] [--rounds 5] [--most 1.5]
                        [--instructions]

Holds the cost of `check`, which reads and links the events, against that of `report`, which runs
every analysis on them and writes them as JSON, on one thread: what the second takes more may be at
most 1.5 times the first.  The memory of the second, which is that of one worker, may be at most 250
bytes per event and 64 MiB.  Costs are processor time, the least of some rounds taken in turn, so
that a busy machine disturbs both alike; with --instructions they are instructions as valgrind
counts them, which nothing disturbs, and which take a minute.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

OPTIONS = ["--no-config", "-q", "-j", "1"]
SKIPPED = 77
BYTES_PER_EVENT, BYTES_BESIDE = 250, 64 << 20


def text_size(path):
    """Bytes of a trace once it is inflated, by the trailer that gzip files end with."""
    size = path.stat().st_size
    if path.suffix != ".gz":
        return size
    with path.open("rb") as packed:
        packed.seek(size - 4)
        return int.from_bytes(packed.read(4), "little")


def by_size(folder):
    """The largest first; results of other profilers may be among them."""
    return sorted((path for path in sorted(folder.rglob("*"))
                   if path.name.endswith((".json", ".json.gz")) and path.stat().st_size > 4),
                  key=text_size, reverse=True)


def run(command):
    """Exit status, processor time in seconds, and most memory in bytes."""
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10


def instructions(command):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           *map(str, command)], check=True, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    return int(re.search(r"Collected : ([0-9]+)", done.stderr).group(1))


def commands_of(program, trace, out):
    return {"check": [program, "check", trace, *OPTIONS],
            "report": [program, "report", trace, *OPTIONS, "-o", out]}


def measure(args, trace, folder):
    """Costs of both, memory, and events; None of what is no trace."""
    out = folder / "report.json"
    commands = commands_of(args.build / "traceanalyze", trace, out)
    status, _, memory = run(commands["report"])
    if status:
        return None
    items = [item for section in json.loads(out.read_text())["sections"]
             for item in section["items"]]
    events = next(item["value"] for item in items if item.get("id") == "events")
    if args.instructions:
        costs = {name: instructions(command) for name, command in commands.items()}
    else:
        costs = {name: float("inf") for name in commands}
        for _ in range(args.rounds):
            for name, command in commands.items():
                costs[name] = min(costs[name], run(command)[1])
    return costs, memory, events


def judge(args, trace, costs, memory, events):
    """Prints a line; the faults."""
    share = costs["report"] / costs["check"] - 1
    allowed = BYTES_PER_EVENT * events + BYTES_BESIDE
    unit, scale = ("G instructions", 1e9) if args.instructions else ("s", 1)
    print(f"{trace.parent.name}: {events} events, reading {costs['check'] / scale:.3f} {unit}, "
          f"analyses {share:.2f} of it, memory {memory / 2**20:.0f} of {allowed / 2**20:.0f} MiB")
    return ([f"{trace.parent.name}: the analyses cost {share:.2f} times reading"]
            if share > args.most else []) + \
           ([f"{trace.parent.name}: {memory} bytes for {events} events"]
            if memory > allowed else [])


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--traces", type=pathlib.Path, required=True)
    parser.add_argument("--largest", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most", type=float, default=1.5)
    parser.add_argument("--instructions", action="store_true")
    return parser.parse_args()


def main():
    args = options()
    if not args.traces.is_dir():
        print(f"skipped: there is no folder {args.traces} with real traces")
        sys.exit(SKIPPED)
    faults, done = [], 0
    with tempfile.TemporaryDirectory(prefix="traceanalyze-cost-") as scratch:
        for trace in by_size(args.traces):
            measured = measure(args, trace, pathlib.Path(scratch))
            if not measured:
                continue
            faults += judge(args, trace, *measured)
            done += 1
            if done == args.largest:
                break
    if done < args.largest:
        faults.append(f"{done} traces instead of {args.largest}")
    sys.exit("\n".join(faults) if faults else 0)


if __name__ == "__main__":
    main()
