#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures what a comparison costs beyond reading both of its runs.

usage: diff_cost.py --build FOLDER [--size 250M] [--rounds 3] [--most 1.3] [--folder SCRATCH]

Generates a baseline and an optimized trace of one rank, and holds the processor time of `diff` of
them against the sum of that of `check` of each, which reads alone, and against that of `report` of
each, all on one thread.  The ratios are of the least times of some rounds, taken in turn, so that a
busy machine disturbs all alike.  Ends with 1 where that against `check` is above --most.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile


def generate(build, folder, size):
    paths = []
    for seed, variant in enumerate(("baseline", "optimized"), 1):
        out = folder / variant
        if not out.is_dir():
            subprocess.run([build / "traceanalyze-generate", "--ranks", "1", "--seed", str(seed),
                            "--variant", variant, "--target-size", size, "--plain", "-o", out],
                           check=True, stdout=subprocess.DEVNULL)
        paths.append(next(out.glob("*.json")))
    return paths


def seconds(command):
    """User and system time of a command."""
    child = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit(f"exit status {os.waitstatus_to_exitcode(status)}: {command}")
    return usage.ru_utime + usage.ru_stime


def measure(args, folder):
    program = args.build / "traceanalyze"
    traces = generate(args.build, folder, args.size)
    options = ["--no-config", "-q", "-j", "1"]
    commands = {"diff": [program, "diff", *traces, "--json", *options]}
    for command in ("check", "report"):
        for trace in traces:
            commands[command, trace] = [program, command, trace, "--json", *options]
    least = {}
    for _ in range(args.rounds):
        for name, command in commands.items():
            least[name] = min(seconds(command), least.get(name, float("inf")))
    size = sum(trace.stat().st_size for trace in traces) / 1e6
    both = {command: sum(least[command, trace] for trace in traces)
            for command in ("check", "report")}
    print(f"{size:.0f} MB in two traces: diff {least['diff']:.2f} s of processor time, "
          f"{least['diff'] / both['check']:.3f} times reading both ({both['check']:.2f} s), "
          f"{least['diff'] / both['report']:.3f} times their reports ({both['report']:.2f} s)")
    return least["diff"] / both["check"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--size", default="250M", help="of each trace")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=float, default=1.3)
    parser.add_argument("--folder", type=pathlib.Path, help="traces are kept here")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="traceanalyze-diff-cost-") as scratch:
        folder = args.folder or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        ratio = measure(args, folder)
    if ratio > args.most:
        sys.exit(f"more than {args.most:g} times")


if __name__ == "__main__":
    main()
