#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step caches of traces: the steps that a cache answered are found one by one, whatever marks the
denoiser; speed-ups are right for the planted times; pipelines without a cache have none.

usage: test_traced.py --program PROGRAM --causes FOLDER [--count N] [--first SEED] [--keep FOLDER]

FOLDER is tests/causes, which makes the pipelines.
"""
import argparse
import collections
import importlib
import pathlib
import random
import statistics
import sys
import tempfile

import reports


def periods(forwards):
    """From the first work of a forward to the first of the next one, within an image."""
    for i, forward in enumerate(forwards):
        later = forwards[i + 1] if i + 1 < len(forwards) else None
        end = later["start"] if later and later["image"] == forward["image"] else forward["end"]
        yield end - forward["start"]


class Faults:
    def __init__(self, seed):
        self.seed, self.found, self.is_found = seed, [], False

    def same(self, what, found, expected):
        if found != expected:
            self.found.append(f"{what}: {found} instead of {expected}")

    def near(self, what, found, expected, share=0.01):
        if found is None or abs(found - expected) > share * abs(expected):
            self.found.append(f"{what}: {found}, not {expected}")


def check_pass(faults, report, number, of_pass, plan):
    rows = [row for row in report.rows("caches.steps") if row["pass"] in (None, number)]
    planted = [f["hit"] for f, _ in of_pass]
    found = [row["class"] == "cached" for row in rows]
    faults.same(f"steps of pass {number}", found, planted)
    hits, n = sum(f["hit"] for f, _ in of_pass), len(of_pass)
    audit = [row for row in report.rows("caches.speedup") if row["pass"] in (None, number)]
    if found != planted or len(audit) != 1:
        faults.same("rows", len(audit), 1)
        return
    audit = audit[0]
    faults.same("counts", (audit["steps"], audit["cached"], audit["partial"]), (n, hits, 0))
    full = statistics.median(ns for f, ns in of_pass if not f["hit"])
    total = sum(ns for _, ns in of_pass)
    faults.near("full step", audit["full_ns"], full)
    faults.near("achieved", audit["achieved"], n * full / total)
    if hits:
        cached = statistics.mean(ns for f, ns in of_pass if f["hit"])
        faults.near("cost", audit["cost_ratio"], cached / full)
        faults.near("kept", audit["kept"] + 1, plan.cache["keep"] / plan.layers + 1, 1e-6)
        h, r = hits / n, plan.cache["keep"] / plan.layers
        least, most = 1 / (1 - h * (1 - r - 0.05)), 1 / (1 - h * (1 - r))
        if not least * 0.999 <= audit["possible"] <= most * 1.001:
            faults.found.append(f"possible {audit['possible']}, not {least} to {most}")


def check(caching, program, seed, keep):
    rng = random.Random(f"step cache {seed}")
    plan = caching.plan_of(rng, seed)
    rank = caching.run(plan)
    with tempfile.TemporaryDirectory() as temporary:
        path = pathlib.Path(keep or temporary) / f"cache-{seed}.json"
        rank.write(path)
        report = reports.read(program, path)
    faults = Faults(seed)
    # Neither ranges nor modules: kernels alone have to tell it.
    faults.is_found = bool(report.rows("diffusion.loops"))
    if not faults.is_found:
        faults.same("marks", plan.marks in ("steps", "stages") or plan.writing.stacks, False)
        return faults
    if not any(f["hit"] for f in rank.forwards):
        faults.same("steps without hits", report.rows("caches.steps"), [])
        return faults
    times = list(zip(rank.forwards, periods(rank.forwards)))
    passes = collections.defaultdict(list)
    for forward, ns in times:
        passes[forward["pass"]].append((forward, ns))
    for number, of_pass in passes.items():
        check_pass(faults, report, number, of_pass, plan)
    return faults


def never_hits(caching, program, seed):
    """The same pipeline with a cache that decides and never answers, and without."""
    lengths, found = [], []
    for decides in (True, False):
        plan = caching.plan_of(random.Random(f"never {seed}"), seed, stacks=1)
        plan.iterations, plan.steps = 1, 24 if seed % 2 else 12
        plan.cache = {"hits": [[], []], "keep": 1, "decision": decides, "wait": 0}
        rank = caching.run(plan)
        lengths.append(rank.forwards[-1]["end"] - rank.forwards[0]["start"])
        with tempfile.TemporaryDirectory() as folder:
            rank.write(pathlib.Path(folder) / "trace.json")
            found.append(reports.read(program, pathlib.Path(folder) / "trace.json"))
    with_cache, without = found
    faults = Faults(seed)
    faults.is_found = True
    audits = with_cache.rows("caches.speedup")
    n = plan.steps - 1
    faults.same("cached", {row["cached"] for row in audits}, {0})
    faults.same("method", {row["method"] for row in audits}, {"first block cache"})
    faults.same("checks", audits[0]["checks"], n * len(audits))
    cost = lengths[0] - lengths[1]  # the small kernels and the gap after each value that is read
    faults.near("cost of checks", audits[0]["check_ns"], cost, 0.35)
    finding = with_cache.finding("step-cache")
    if not finding or "never hits" not in finding["title"]:
        faults.found.append(f"no finding: {finding}")
    faults.same("without a cache", (without.rows("caches.speedup"), without.finding("step-cache")),
                ([], None))
    hint = without.finding("no-step-cache")
    faults.same("a hint", bool(hint), plan.steps >= 20)
    faults.same("no hint beside a cache", with_cache.finding("no-step-cache"), None)
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--causes", required=True)
    parser.add_argument("--keep")
    args = parser.parse_args()
    sys.path.insert(0, args.causes)
    caching = importlib.import_module("caching")
    wrong = unseen = 0
    for seed in range(args.first, args.first + args.count):
        faults = check(caching, args.program, seed, args.keep)
        unseen += not faults.is_found
        if seed < 6:
            faults.found += never_hits(caching, args.program, seed).found
        if faults.found:
            wrong += 1
            print(f"seed {seed}:", "\n    ".join(str(fault)[:600] for fault in faults.found))
    print(f"{args.count - wrong} of {args.count} runs as planted, {unseen} without a denoiser")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
