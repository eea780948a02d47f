#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step caches of logs and dumps: the steps that a cache answered are found one by one, and what
they gain is what the formulas say.

usage: test_recorded.py --program PROGRAM
"""
import json
import pathlib
import pprint
import random
import tempfile

import reports

HEADS = ("Cache Steps", "Diffs P00", "Diffs P25", "Diffs P50", "Diffs P75", "Diffs P95",
         "Diffs Min", "Diffs Max")


class Test:
    def __init__(self, program, folder):
        self.program, self.folder, self.n = program, folder, 0

    def report(self, **files):
        self.n += 1
        folder = self.folder / str(self.n)
        folder.mkdir()
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_text(text)
        return reports.read(self.program, folder)


def same(what, found, expected):
    assert found == expected, f"{what}: {found} instead of {expected}"


def near(what, found, expected, share=0.02):
    assert abs(found - expected) <= share * abs(expected), f"{what}: {found}, not {expected}"


def pattern(rng, n, warm, share):
    """Steps that a cache answers, from 0."""
    return [i for i in range(n) if i >= warm and rng.random() < share]


# ---- cache-dit -----------------------------------------------------------------------------------

def summary(rng, model, cached, diffs, executed, branch="", printer=pprint.pformat):
    values = sorted(diffs.values())
    cells = (len(cached), values[0], values[1], values[len(values) // 2], values[-2], values[-1],
             values[0], values[-1])
    steps = f", Executed Steps: {executed[0]}, Transformer Executed Steps: {executed[1]}" \
        if executed else ""
    words = (f"{branch}Cache Steps: {len(cached)}, {cached}",
             f"{branch}Residual Diffs: {len(diffs)}, { {str(k): v for k, v in diffs.items()} }")
    return (f"\n⚡️{branch}Cache Steps and Residual Diffs Statistics: {model}{steps}\n\n"
            f"| {' | '.join(HEADS)} |\n|{'|'.join('-' * (len(h) + 2) for h in HEADS)}|\n"
            f"| {' | '.join(str(cell) for cell in cells)} |\n\n"
            f"📚{branch}Cache Steps and Residual Diffs Details: {model}\n\n"
            f"{printer(words[0])}\n{printer(words[1])}\n"
            + rng.choice(("", "100%|##########| 4/4 [00:11<00:00,  2.76s/it]\n")))


def check_branch(report, name, cached, diffs, n):
    rows = report.rows("caches.steps", cache=name)
    same(f"steps of {name}", [row["step"] for row in rows], list(range(1, n + 1)))
    same(f"cached steps of {name}", [row["step"] - 1 for row in rows if row["class"] == "cached"],
         cached)
    same(f"differences of {name}", {row["step"] - 1: row["difference"] for row in rows
                                    if row["difference"] is not None}, diffs)
    found = report.row("caches.speedup", cache=name)
    same(f"counts of {name}", (found["steps"], found["cached"], found["full"]),
         (n, len(cached), n - len(cached)))
    near(f"possible speed-up of {name}", found["possible"], 1 / (1 - len(cached) / n), 1e-9)


def cache_dit(test, seed):
    rng = random.Random(seed)
    n, warm = rng.randint(10, 60), rng.randint(2, 8)
    model = rng.choice(("FluxTransformer2DModel", "WanTransformer3DModel"))
    guided = rng.random() < 0.5
    text, checks = "", []
    for branch in ("", "CFG ") if guided else ("",):
        cached = pattern(rng, n, warm, rng.uniform(0.1, 0.8))
        diffs = {i: round(rng.uniform(0.02, 0.4), rng.randint(3, 16)) for i in range(warm, n)}
        # The first version has no counts; then the steps end with the last that was looked at.
        executed = (n, 2 * n if guided else n) if rng.random() < 0.5 or branch else None
        text += summary(rng, model, cached, diffs, executed, branch,
                        rng.choice((pprint.pformat, pprint.pformat, str)))
        checks.append((f"{model} (CFG)" if branch else model, cached, diffs))
    report = test.report(run__log=text)
    for name, cached, diffs in checks:
        # Without counts the misses are those that were looked at: the counters of the log.
        counted = report.row("caches.by_name", cache=name)
        total = counted["hits"] + counted["misses"]
        if total == n:
            check_branch(report, name, cached, diffs, n)
        else:
            same(f"steps looked at of {name}", total, n - warm)


# ---- FramePack -----------------------------------------------------------------------------------

def framepack(test, seed):
    """Hits with their steps in one file, the sums of all iterations in another."""
    rng = random.Random(seed)
    chunks, each = rng.randint(1, 8), rng.randint(12, 30)
    full, cached = rng.uniform(0.2, 0.6), rng.uniform(0.004, 0.02)
    timeline = "| Time (s) | Frame | Cache | Details |\n| --- | --- | --- | --- |\n"
    planted, times, base = [], [], rng.choice((0, 1))
    for chunk in range(chunks):
        # A chunk begins where the number goes back; the last step says where they count from.
        steps = sorted({rng.randint(3, 5), each - 1, *pattern(rng, each, 6, 0.3)})
        planted.append(steps)
        for step in range(each):
            times.append((cached if step in steps else full) * rng.uniform(0.99, 1.01))
        for step in steps:
            at = chunk * 1.2 + 1.2 * step / each
            timeline += (f"| {at:.2f} | {at * 30:.0f} | teacache | step: {step + base}, "
                         f"delta_dynamic: {rng.uniform(0.05, 0.3):.4f}, max_delta_dynamic: 0.3100 "
                         "|\n")
    n, total = len(times), sum(times)
    document = {"timestamp": 1.7e9, "timing_stats": {}, "memory_snapshots": [],
                "iteration_stats": {"count": n, "total": total, "mean": total / n,
                                    "min": min(times), "max": max(times),
                                    "median": sorted(times)[n // 2]}}
    document["timing_stats"]["vae_decode"] = {"count": 1, "total": 1.0, "mean": 1.0, "min": 1.0,
                                              "max": 1.0, "last": 1.0}
    report = test.report(cache_timeline__md=timeline,
                         profiling_report__json=json.dumps(document))
    rows = report.rows("caches.steps", cache="teacache")
    found = [[row["step"] - 1 for row in rows
              if row["image"] == chunk + 1 and row["class"] == "cached"]
             for chunk in range(chunks)]
    same("hits by chunk", found, planted)
    same("steps", len(rows), n)
    hits = sum(map(len, planted))
    row = report.row("caches.speedup", cache="teacache")
    same("counts", (row["steps"], row["cached"]), (n, hits))
    ratio = cached / full
    near("achieved", row["achieved"], 1 / (1 - hits / n * (1 - ratio)))
    near("cost", row["cost_ratio"], ratio, 0.05)
    near("possible", row["possible"], 1 / (1 - hits / n), 1e-9)
    same("a cache that does what it can", report.finding("step-cache-cost"), None)
    assert f"teacache answers {hits} of {n} steps: " in json.dumps(report.document), "headline"


def hits_that_save_nothing(test):
    timeline = "| Time (s) | Frame | Cache | Details |\n| --- | --- | --- | --- |\n" + "".join(
        f"| {step / 30:.2f} | {step} | teacache | step: {step}, delta_dynamic: 0.1 |\n"
        for step in (4, 7, 10, 13, 16))
    document = {"timestamp": 1.7e9, "timing_stats": {}, "memory_snapshots": [],
                "iteration_stats": {"count": 20, "total": 10.0, "mean": 0.5, "min": 0.45,
                                    "max": 0.55, "median": 0.5}}
    report = test.report(cache_timeline__md=timeline,
                         profiling_report__json=json.dumps(document))
    finding = report.finding("step-cache-cost")
    assert "no faster (1.33 times is possible): the shortest step still takes 90.0 %" in \
        finding["title"], finding
    same("its saving", finding["saving_ns"], {"low": 833333333, "high": 2500000000})


def without_loop(test):
    """Hits alone: nobody says of how many steps."""
    timeline = ("| Time (s) | Frame | Cache | Details |\n| --- | --- | --- | --- |\n"
                "| 0.17 | 5 | teacache | step: 4, delta_dynamic: 0.2 |\n")
    report = test.report(cache_timeline__md=timeline)
    same("rows", report.rows("caches.speedup"), [])


def counters(test):
    report = test.report(run__log="Teacache Skipped Steps:12/30\n")
    row = report.row("caches.speedup")
    same("counted", (row["cache"], row["steps"], row["cached"], row["hit_ratio"]),
         ("Teacache", 30, 12, 0.4))
    near("possible", row["possible"], 1 / 0.6, 1e-9)


def main():
    program = reports.program_of_arguments()
    with tempfile.TemporaryDirectory() as folder:
        test = Test(program, pathlib.Path(folder))
        for seed in range(25):
            cache_dit(test, seed)
            framepack(test, seed)
        hits_that_save_nothing(test)
        without_loop(test)
        counters(test)


if __name__ == "__main__":
    main()
