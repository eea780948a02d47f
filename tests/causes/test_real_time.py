#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""From which block of a video on a finding says that blocks are slower than real time, against the
blocks as they were made.

usage: test_real_time.py --program TRACEANALYZE [--count N] [--first SEED]
"""
import argparse
import dataclasses
import math
import pathlib
import random
import re
import sys
import tempfile

import causes
import pipeline
import planted
import plans
import reports
from diffusions import Diffusion
from gpus import GPUS

# Blocks grow in all of these videos: findings may be silent in one of so many.
SILENT_MOST = 8
# What differs less from the time that its frames play may be called slower or not.
CLOSE = 0.003
FAST = [gpu for gpu in GPUS if gpu.capability[0] >= 8]


def make(seed):
    """A video whose blocks attend to all before them, on a device that is about fast enough."""
    rng = random.Random(f"real time/{seed}")
    fixed, defect = planted.video(rng, window=10**6)
    fixed |= {"model": ((3072, 128), (5120, 128)), "layers": rng.randint(8, 24), "steps": 3,
              "gpu": FAST}
    plan = dataclasses.replace(plans.drawn(rng, str(seed), **fixed), defects={"video": defect})
    ranks, total = pipeline.run(plan, Diffusion)
    return causes.Case((), plan, ranks, total)


def slow_blocks(case):
    """The time that frames of a block play, ns, and those of the blocks, from the second one on."""
    _, *ready = case.ranks[0].ready
    frames = 4 * case.plan.defects["video"]["latents"]
    return frames * 1e9 / planted.PLAYED, [b - a for a, b in zip(ready, ready[1:])]


def by_trend(plays, blocks):
    """The block from which on real time would be lost, if blocks go on to grow as they do."""
    grows = (blocks[-1] - blocks[0]) / (len(blocks) - 1)
    return len(blocks) + 1 + max(1, math.ceil((plays - blocks[-1]) / grows))


def fault_of(case, title):
    plays, blocks = slow_blocks(case)
    said = re.search(r"from block (\d+) on they are slower than real time(, by the trend)?", title)
    late = [number for number, ns in enumerate(blocks, 2) if ns > plays]
    close = [number for number, ns in enumerate(blocks, 2) if abs(ns / plays - 1) < CLOSE]
    if late and late[0] > 2:
        is_right = said and not said[2] and int(said[1]) in (late[0], *close)
        return "" if is_right else f"from block {late[0]} on: {title}"
    if late:  # the first block has no time of its own: by the trend
        first = 2 * blocks[0] - blocks[1]
        is_right = not said or (int(said[1]) == 2 and first < plays * (1 + CLOSE))
        return "" if is_right else f"they are slow from the beginning: {title}"
    if not said:
        return ""
    if not said[2]:
        return f"no block is slow: {title}"
    expected = by_trend(plays, blocks)
    is_near = abs(int(said[1]) - expected) <= 1 + expected // 10
    return "" if is_near else f"by the trend from block {expected} on: {title}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    faults, later, silent = 0, 0, 0
    for seed in range(options.first, options.first + options.count):
        case = make(seed)
        with tempfile.TemporaryDirectory() as folder:
            case.write(pathlib.Path(folder))
            report = reports.read(options.program, pathlib.Path(folder))
        finding = report.finding("context-growth")
        fault = fault_of(case, finding["title"]) if finding else ""
        later += bool(finding) and "from block" in finding["title"]
        silent += not finding
        if fault:
            print(f"{seed}: {fault}")
        faults += bool(fault)
    print(f"{options.count} videos, {later} with a block from which on real time is lost, "
          f"{silent} without a finding, {faults} faults")
    return int(faults > 0 or later == 0 or SILENT_MOST * silent > options.count)


if __name__ == "__main__":
    sys.exit(main())
