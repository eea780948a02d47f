#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges what reports say of late ranks and of clocks, over generated runs whose truth is known.

usage: judge.py --program PROGRAM --generator GENERATOR [--runs N] [--seed N] [--keep DIR] [-v]

Makes N runs of 2 to 64 ranks with a late rank, N without, and N/4 with clocks that are off, all of
them different in groups, length, cause, size and start of the fault, and in what the recording
lacks: ranks, collectives, arguments. It ends with 1 when

  * the late rank is not the first of those found late in 98 % of its runs,
  * what it is blamed on is not what was planted in 95 % of the runs where it is found,
  * what it is said to cost is off by more than a tenth in 5 % of these,
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

import reports

SIZES = (2, 4, 4, 8, 8, 8, 8, 16, 16, 32, 64)
# What each cause looks like on the device: kind of stragglers.blame.
BLAME = {"kernels": "kernel", "attention": "kernel", "throttle": "kernel", "copy": "copy",
         "host": "gap", "sync": "gap", "pseudo-fast": "gap", "pauses": "gap"}
# What costs less of the run nobody needs to hear of; of fewer than five ranks there is no spread
# to compare with, and the verdict asks for 10 % more time.
COST_LEAST, COST_LEAST_OF_FEW = 0.02, 0.1
FOUND, BLAMED, PRICED, ALARMS, CLOCK_NS = 0.98, 0.95, 0.95, 0.01, 2000
PRICE_ERROR = 0.1


def arrangement(random_, ranks):
    """Sizes of groups that divide the ranks; what is left is data parallel."""
    while True:
        sizes = {key: random_.choice(of) for key, of in
                 (("tp", (1, 1, 2, 4)), ("sp", (1, 2, 4, 8)), ("ring", (1, 1, 1, 2, 4)),
                  ("cfg", (1, 1, 2)))}
        if 1 < math.prod(sizes.values()) <= ranks and ranks % math.prod(sizes.values()) == 0:
            return ",".join(f"{key}={size}" for key, size in sizes.items() if size > 1)


def groups_of(random_, ranks):
    """Now and then two halves of the ranks that are arranged each in its own way."""
    if ranks >= 8 and random_.random() < 0.15:
        return "/".join(arrangement(random_, ranks // 2) for _ in range(2))
    return arrangement(random_, ranks)


def wear(random_, ranks, spared):
    """What the recording lacks: files, collectives, arguments; of most runs nothing."""
    others = [rank for rank in range(ranks) if rank != spared]
    planted = []
    if ranks >= 8 and random_.random() < 0.2:
        planted += ["--missing-ranks", ",".join(map(str, random_.sample(others, ranks // 8)))]
    for _ in range(random_.choice((0, 0, 0, 2))):
        planted += ["--lost-collective", f"{random_.choice(others)}:{random_.randrange(2, 40)}"]
    if random_.random() < 0.2:
        planted += ["--lacking", random_.choice(("sequence", "elements", "type", "ranks", "size"))]
    return planted


class Judge:
    def __init__(self, options, folder):
        self.options = options
        self.folder = pathlib.Path(folder)
        self.faults = []

    def generate(self, name, ranks, *planted, random_):
        folder = self.folder / name
        subprocess.run([self.options.generator, "cluster", "-o", folder, "--ranks", str(ranks),
                        "--groups", groups_of(random_, ranks), "--seed",
                        str(random_.randrange(1, 2 ** 31)), *map(str, planted)], check=True,
                       stdout=subprocess.DEVNULL)
        return folder, json.loads(pathlib.Path(f"{folder}.truth.json").read_text())

    def report(self, folder):
        return reports.read(self.options.program, folder).tables

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
    """Length and clocks of a run, from a handful of collectives to some hundred."""
    return ("--layers", random_.choice((1, 1, 2, 3)), "--steps", random_.choice((6, 9, 12, 18, 24)),
            "--ranks-per-host", random_.choice((4, 8)), "--clock-offset-us",
            random_.choice((0, 50, 2000)), "--clock-drift-ppm", random_.choice((0, 20)))


def cost_of(truth):
    """Share of the run that the late rank costs."""
    return truth["stragglers"][0]["cost_ns"] / truth["step_end_ns"][-1]


def is_plain(truth):
    """Whether the late rank costs something, and more often than chance would have one rank do."""
    late, ranks, steps = truth["stragglers"][0], truth["world_size"], truth["steps"]
    slow = {"throttle": lambda step: step // 2 % 2, "pauses": lambda step: step % 3 == 0}
    is_hit = slow.get(late["cause"], lambda step: True)
    hit = sum(bool(is_hit(step)) for step in range(late["from_step"], steps))
    least = COST_LEAST if ranks >= 5 else COST_LEAST_OF_FEW
    hit -= 1  # what is before the first collective is not compared
    return cost_of(truth) >= least and ranks ** (1 - hit) < 0.05


def plant(judge, number, random_):
    """A run with a late rank that is to be found: (folder, truth, rank, cause, text)."""
    while True:
        ranks, cause = random_.choice(SIZES), random_.choice(tuple(BLAME))
        rank, percent, planted = random_.randrange(ranks), random_.randrange(12, 60), shape(random_)
        step = random_.choice((0, 0, planted[3] // 3))
        folder, truth = judge.generate(
            f"late-{number}", ranks, *planted, *wear(random_, ranks, rank), "--straggler",
            f"{rank}:{cause}:{percent}:{step}", random_=random_)
        if is_plain(truth):
            text = (f"rank {rank} of {ranks} ({cause} {percent} % from step {step}, costs "
                    f"{cost_of(truth):.1%})")
            return folder, truth, rank, cause, text
        shutil.rmtree(folder)


def is_priced(tables, rank, truth):
    """Whether the cost is that of the plan, as far as all ranks and collectives were recorded."""
    said = next(row["cost_ns"] for row in tables["stragglers.by_rank"] if row["rank"] == rank)
    if truth["missing_ranks"] or truth["lost_collectives"] or truth["lacking_fields"]:
        return True
    return abs(said / truth["stragglers"][0]["cost_ns"] - 1) < PRICE_ERROR


def judge_culprits(judge, random_):
    found = blamed = priced = 0
    for i in range(judge.options.runs):
        folder, truth, rank, cause, text = plant(judge, i, random_)
        tables = judge.report(folder)
        late = late_ranks(tables)
        if late[:1] == [rank]:
            found += 1
            kind = blame_of(tables, rank)
            blamed += kind == BLAME[cause]
            priced += is_priced(tables, rank, truth)
            if not is_priced(tables, rank, truth):
                judge.note(folder, f"{text}: the cost is wrong")
            if kind != BLAME[cause]:
                judge.note(folder, f"{text} is blamed on {kind}")
        else:
            judge.note(folder, f"{text}: late are {late}")
        judge.forget(folder)
    return found, blamed, priced


def judge_equals(judge, random_):
    alarms = 0
    for i in range(judge.options.runs):
        ranks = random_.choice(SIZES)
        folder, _ = judge.generate(f"equal-{i}", ranks, *shape(random_),
                                   *wear(random_, ranks, None), random_=random_)
        late = late_ranks(judge.report(folder))
        alarms += bool(late)
        if late:
            judge.note(folder, f"nobody of {ranks} is late, but it says {late}")
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
            f"clock-{i}", random_.choice((4, 8, 16)), "--layers", random_.choice((1, 4)), "--steps",
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
        found, blamed, priced = judge_culprits(judge, random_)
        print(f"late rank first: {found} of {n}; blamed on what was planted: {blamed} of {found}; "
              f"cost right: {priced} of {found}", flush=True)
        alarms = judge_equals(judge, random_)
        print(f"false alarms: {alarms} of {n}", flush=True)
        worst, compared = judge_clocks(judge, random_)
        print(f"clocks: {worst:.0f} ns at worst, of {compared} comparisons", flush=True)
    bad = [text for failed, text in (
        (too_many(n, n - found, 1 - FOUND), "late ranks are missed"),
        (found and too_many(found, found - blamed, 1 - BLAMED), "the wrong cause is blamed"),
        (found and too_many(found, found - priced, 1 - PRICED), "the cost is wrong"),
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
