#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures what a comparison costs beyond reading both of its runs.

usage: diff_cost.py --build FOLDER [--size 250M] [--rounds 3] [--most 1.3] [--folder SCRATCH]

Generates a baseline and an optimized trace of one rank, and holds `diff` of them against `check` of
each, which reads alone, and against `report` of each: the processor time on one thread, and on all
cores the time that passes, where both sides are read at once.  The ratios are of the least times of
some rounds, taken in turn, so that a busy machine disturbs all alike.  Ends with 1 where one of the
two against `check` is above --most.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time


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


def spend(command):
    """User and system time of a command, and the time that passed."""
    start = time.monotonic()
    child = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit(f"exit status {os.waitstatus_to_exitcode(status)}: {command}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - start


def measure(args, folder):
    program = args.build / "traceanalyze"
    traces = generate(args.build, folder, args.size)
    commands = {"diff": [program, "diff", *traces]}
    for command in ("check", "report"):
        for trace in traces:
            commands[command, trace] = [program, command, trace]
    threads = {"processor": ["-j", "1"], "passed": []}
    least = {}
    for _ in range(args.rounds):
        for clock, (kind, option) in enumerate(threads.items()):
            for name, command in commands.items():
                spent = spend([*command, "--json", "--no-config", "-q", *option])[clock]
                least[kind, name] = min(spent, least.get((kind, name), float("inf")))
    size = sum(trace.stat().st_size for trace in traces) / 1e6
    print(f"{size:.0f} MB in two traces")
    ratios = []
    for kind in threads:
        both = {command: sum(least[kind, (command, trace)] for trace in traces)
                for command in ("check", "report")}
        diff = least[kind, "diff"]
        ratios.append(diff / both["check"])
        print(f"time {kind}: diff {diff:.2f} s, {ratios[-1]:.3f} times reading both "
              f"({both['check']:.2f} s), {diff / both['report']:.3f} times their reports "
              f"({both['report']:.2f} s)")
    return max(ratios)


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
