#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranks that decode while the others wait are said to, with a saving that holds; where all
of them work, or nobody waits, nothing is said.

usage: test_alone.py --program TRACEANALYZE [--seeds N] [--keep FOLDER]
"""
import argparse
import pathlib
import re
import tempfile

import reports
import scenes
from scenes import Scene

# How many ranks, the scene, and the ranks that are in the phase alone: none, where nobody waits.
CASES = {
    "barrier": (4, Scene(decodes=(0,)), {0}),
    "two": (2, Scene(decodes=(0,)), {0}),
    "broadcast": (4, Scene(decodes=(0,), after="broadcast"), {0}),
    "done": (4, Scene(decodes=(0,), after="nothing", marks_all=False), {0}),
    "last": (4, Scene(decodes=(3,), marks_all=False), {3}),
    "groups": (4, Scene(decodes=(0, 2)), {0, 2}),
    "all": (4, Scene(), set()),
    "split": (4, Scene(is_split=True), set()),
    "busy": (2, Scene(decodes=(0,), works_on=True), set()),
}


def expect(name, what, found, wanted):
    if found != wanted:
        raise AssertionError(f"{name}: {what} is {found}, not {wanted}")


def decode_time(rank):
    """From the first to the last kernel that the decode of a rank launched, on its device."""
    ranges = [e for e in rank.events if e.name == "vae_decode"]
    calls = {e.args["correlation"] for e in rank.events for r in ranges
             if e.category == "cuda_runtime" and "correlation" in e.args
             and r.start <= e.start and e.end <= r.end}
    work = [e for e in rank.events if e.category in ("kernel", "gpu_memcpy", "gpu_memset")
            and e.args.get("correlation") in calls]
    return max(e.end for e in work) - min(e.start for e in work)


def judge(program, folder, name, seed):
    n, scene, alone = CASES[name]
    fixed = {"side": 1024, "steps": 6, "layers": 6}
    ranks, _ = scenes.make(folder, f"{name}/{seed}", scene, ranks=n, **fixed)
    report = reports.read(program, folder)
    rows = report.rows("phases.alone", phase="VAE decode")
    expect(name, "ranks", {row["rank"] for row in rows}, alone)
    finding = report.finding("phase-alone")
    for row in rows:
        expect(name, "waiting", row["waiting"], n - len(alone))
        expect(name, "at work", row["at_work"], len(alone))
        if scene.after != "broadcast":
            error = abs(row["time_ns"] - decode_time(ranks[row["rank"]]))
            expect(name, f"error of the time ({error} ns) below 1 us", error < 1000, True)
    expect(name, "compared ranks", report.cell("phases.over_ranks", "ranks", phase="VAE decode"),
           1 if scene.works_on else len(alone) or n)
    if not alone or rows[0]["share"] <= 0.03:
        expect(name, "finding", finding, None)
        return 0
    who = f"Rank {min(alone)} decodes" if len(alone) == 1 else f"{len(alone)} ranks decode"
    wait = f"{n - len(alone)} rank" + (" waits" if n - len(alone) == 1 else "s wait")
    if not re.match(f"{who} alone for .* of the run\\) while {wait}$", finding["title"]):
        raise AssertionError(f"{name}: {finding['title']}")
    most = (1 - len(alone) / n) * max(row["time_ns"] for row in rows)
    expect(name, "saving", finding["saving_ns"]["high"] <= most + 1, True)
    expect(name, "straggler", report.finding("straggler"), None)
    expect(name, "place of it", report.findings[0]["id"], "phase-alone")
    return 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    said = 0
    for name in CASES:
        for seed in range(options.seeds):
            with tempfile.TemporaryDirectory() as temporary:
                folder = (options.keep or pathlib.Path(temporary)) / f"{name}-{seed}"
                said += judge(options.program, folder, name, seed)
    print(f"{len(CASES)} scenes, {options.seeds} of each: said {said} times, all as planted")
    if said == 0:
        raise AssertionError("nothing was said of any scene")


main()
