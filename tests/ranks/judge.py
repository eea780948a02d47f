#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges what reports say of late ranks and of clocks, over generated runs whose truth is known.

usage: judge.py --program PROGRAM --generator GENERATOR [--runs N] [--seed N] [--keep DIR] [-v]

Makes N runs of 8 ranks with a late rank, N without, and N/4 with clocks that are off, all of them
different in groups, length, cause, size and start of the fault. It ends with 1 when

  * the late rank is not the first of those found late in 95 % of its runs,
  * what it is blamed on is not what was planted in 90 % of the runs where it is found,
  * a rank is found late in 1 % or more of the runs without a late one,
  * an aligned clock is off by 2 µs or more where 20 collectives or more tell of it.

With few runs the limits allow for chance: the binomial tail of what was seen must be below 0.1 %.
"""
import argparse
import json
import math
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

RANKS = 8
LAYOUTS = ("sp=8", "sp=4", "tp=2,sp=4", "sp=4,cfg=2", "tp=2,sp=2,cfg=2", "sp=2,ring=4", "tp=4")
CAUSES = ("kernels", "copy", "host", "sync", "pseudo-fast")
# What each cause looks like on the device: kind of stragglers.blame.
BLAME = {"kernels": "kernel", "copy": "copy", "host": "gap", "sync": "gap", "pseudo-fast": "gap"}
FOUND, BLAMED, ALARMS, CLOCK_NS = 0.95, 0.90, 0.01, 2000


class Judge:
    def __init__(self, options, folder):
        self.options = options
        self.folder = pathlib.Path(folder)
        self.faults = []

    def generate(self, name, *planted, random_):
        folder = self.folder / name
        subprocess.run([self.options.generator, "cluster", "-o", folder, "--ranks", str(RANKS),
                        "--groups", random_.choice(LAYOUTS), "--seed",
                        str(random_.randrange(1, 2 ** 31)), *map(str, planted)], check=True,
                       stdout=subprocess.DEVNULL)
        return folder, json.loads(pathlib.Path(f"{folder}.truth.json").read_text())

    def report(self, folder):
        done = subprocess.run([self.options.program, "--no-config", "report", "--json", "-q",
                               folder], capture_output=True, check=True, timeout=240)
        tables = {}
        for section in json.loads(done.stdout)["sections"]:
            for item in section["items"]:
                if item["kind"] == "table":
                    keys = [column["key"] for column in item["columns"]]
                    tables[item["id"]] = [dict(zip(keys, row)) for row in item["rows"]]
        return tables

    def forget(self, folder):
        if not self.options.keep:
            shutil.rmtree(folder)

    def note(self, folder, text):
        self.faults.append(f"{folder.name}: {text}")
        if self.options.verbose:
            print(f"  {folder.name}: {text}", flush=True)


def late_ranks(tables):
    """Ranks found late, the one that costs most first."""
    late = [row for row in tables.get("stragglers.by_rank", []) if row["is_late"]]
    return [row["rank"] for row in sorted(late, key=lambda row: -row["held_up_ns"])]


def blame_of(tables, rank):
    rows = [row for row in tables.get("stragglers.blame", []) if row["rank"] == rank]
    return max(rows, key=lambda row: row["excess_ns"])["kind"] if rows else None


def shape(random_):
    """Length and clocks of a run: at least 60 collectives of all ranks or of groups."""
    return ("--layers", random_.choice((1, 2, 3)), "--steps", random_.randrange(10, 25),
            "--ranks-per-host", random_.choice((4, 8)), "--clock-offset-us",
            random_.choice((0, 50, 2000)), "--clock-drift-ppm", random_.choice((0, 20)))


def judge_culprits(judge, random_):
    found = blamed = 0
    for i in range(judge.options.runs):
        rank, cause = random_.randrange(RANKS), random_.choice(CAUSES)
        percent = random_.randrange(12, 60)
        planted = shape(random_)
        step = random_.choice((0, 0, planted[3] // 3))
        folder, _ = judge.generate(f"late-{i}", *planted, "--straggler",
                                   f"{rank}:{cause}:{percent}:{step}", random_=random_)
        tables = judge.report(folder)
        late = late_ranks(tables)
        if late[:1] == [rank]:
            found += 1
            kind = blame_of(tables, rank)
            blamed += kind == BLAME[cause]
            if kind != BLAME[cause]:
                judge.note(folder, f"{cause} {percent} % of rank {rank} is blamed on {kind}")
        else:
            judge.note(folder, f"rank {rank} ({cause} {percent} %): late are {late}")
        judge.forget(folder)
    return found, blamed


def judge_equals(judge, random_):
    alarms = 0
    for i in range(judge.options.runs):
        folder, _ = judge.generate(f"equal-{i}", *shape(random_), random_=random_)
        late = late_ranks(judge.report(folder))
        alarms += bool(late)
        if late:
            judge.note(folder, f"nobody is late, but it says {late}")
        judge.forget(folder)
    return alarms


def clock_errors(tables, truth):
    """How far each aligned clock is off from its true offset to the reference, in ns, at the start
    and at the end of what was recorded."""
    rows = tables.get("collectives.clocks", [])
    reference = next((row["rank"] for row in rows if row["state"] == "reference"), None)
    hosts, per_host = truth["hosts"], truth["ranks_per_host"]
    span = truth["step_end_ns"][-1]
    for row in rows:
        if row["state"] not in ("offset", "offset_and_drift") or row["collectives"] < 20:
            continue
        own, base = hosts[row["rank"] // per_host], hosts[reference // per_host]
        drift = (own["drift_ppb"] - base["drift_ppb"]) * 1e-9
        ahead = own["ahead_ns"] - base["ahead_ns"]
        # The offset holds at the first common end: between the start and the first step's end.
        early, late = sorted((ahead, ahead + drift * truth["step_end_ns"][0]))
        yield row["rank"], max(early - row["offset_ns"], row["offset_ns"] - late, 0)
        yield row["rank"], abs((row["drift"] or 0) - drift) * span


def judge_clocks(judge, random_):
    worst = compared = 0
    for i in range(max(1, judge.options.runs // 4)):
        folder, truth = judge.generate(
            f"clock-{i}", "--layers", random_.choice((1, 4)), "--steps",
            random_.choice((40, 150)), "--ranks-per-host", random_.choice((1, 2, 4)),
            "--clock-offset-us", 5000, "--clock-drift-ppm", 20, random_=random_)
        for rank, error in clock_errors(judge.report(folder), truth):
            compared += 1
            worst = max(worst, error)
            if error >= CLOCK_NS:
                judge.note(folder, f"the clock of rank {rank} is off by {error:.0f} ns")
        judge.forget(folder)
    return worst, compared


def tail(n, k, p):
    """P(k or more of n)."""
    return sum(math.comb(n, i) * p ** i * (1 - p) ** (n - i) for i in range(k, n + 1))


def too_many(n, k, p):
    """Whether so many failures of n contradict a share below p; of 200 runs the share itself."""
    return k / n >= p if n >= 200 else k > 0 and tail(n, k, p) < 0.001


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    random_ = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="judge-") as folder:
        judge = Judge(options, options.keep or folder)
        judge.folder.mkdir(parents=True, exist_ok=True)
        n = options.runs
        found, blamed = judge_culprits(judge, random_)
        print(f"late rank first: {found} of {n}; blamed on what was planted: {blamed} of {found}",
              flush=True)
        alarms = judge_equals(judge, random_)
        print(f"false alarms: {alarms} of {n}", flush=True)
        worst, compared = judge_clocks(judge, random_)
        print(f"clocks: {worst:.0f} ns at worst, of {compared} comparisons", flush=True)
    bad = [text for failed, text in (
        (too_many(n, n - found, 1 - FOUND), "late ranks are missed"),
        (found and too_many(found, found - blamed, 1 - BLAMED), "the wrong cause is blamed"),
        (too_many(n, alarms, ALARMS), "false alarms"),
        (worst >= CLOCK_NS, "clocks are off"),
        (compared == 0, "no clock was compared"),
    ) if failed]
    for fault in judge.faults if bad else ():
        print(f"  {fault}")
    print("FAILED: " + ", ".join(bad) if bad else "passed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
