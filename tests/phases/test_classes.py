#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The classes of steps by which the chart of step times is colored: full and cached steps of a run
with a planted step cache, set-up and outliers of made steps, nothing of steps that are alike.

usage: test_classes.py --program TRACEANALYZE
"""
import argparse
import json
import pathlib
import random
import tempfile

import pairs
import reports


def classes(program, path):
    return [row["class"] for row in reports.read(program, path).rows("steps.by_step")
            if row["class"]]


def check(what, found, wanted):
    if found != wanted:
        raise AssertionError(f"{what}: {found}, planted {wanted}")


def check_cached(program, folder, seed):
    rng = random.Random(f"classes/{seed}")
    steps = rng.randint(12, 24)
    cached = tuple(sorted(rng.sample(range(2, steps), steps // 3)))
    path = folder / "cached.pt.trace.json"
    pairs.make(path, seed, pairs.How(cached=cached), steps=steps)
    check(f"cached/{seed}", classes(program, path),
          ["cached" if i in cached else "full" for i in range(steps)])


def write_steps(path, times):
    events, now = [], 1000
    for i, dur in enumerate(times):
        common = {"ph": "X", "pid": 1, "tid": 1}
        events += [common | {"cat": "user_annotation", "name": f"ProfilerStep#{i}", "ts": now,
                             "dur": dur},
                   common | {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": now + 10,
                             "dur": 20, "args": {"correlation": i + 1}},
                   common | {"cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": now + 100,
                             "dur": 8000, "args": {"correlation": i + 1, "device": 0, "stream": 7}}]
        now += dur
    path.write_text(json.dumps({"traceEvents": events}))


def check_outliers(program, folder, seed):
    rng = random.Random(f"outliers/{seed}")
    n = rng.randint(20, 60)
    late = set(rng.sample(range(2, n), 2))
    set_up = seed % 2
    times = [60_000 if i < set_up else 26_000 if i in late else rng.gauss(10_000, 50)
             for i in range(n)]
    path = folder / "outliers.json"
    write_steps(path, times)
    found = classes(program, path)
    check(f"outliers/{seed}", found, ["set-up" if i < set_up else
                                      "outlier" if i in late else "regular" for i in range(n)])
    listed = [row["step"] for row in reports.read(program, path).rows("steps.outliers")]
    check(f"listed/{seed}", listed, [f"ProfilerStep#{i}" for i in sorted(late)])


def check_alike(program, folder, seed):
    rng = random.Random(f"alike/{seed}")
    path = folder / "alike.json"
    write_steps(path, [rng.gauss(10_000, 50) for _ in range(30)])
    check(f"alike/{seed}", classes(program, path), [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--seeds", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for seed in range(options.seeds):
            check_cached(options.program, folder, seed)
            check_outliers(options.program, folder, seed)
            check_alike(options.program, folder, seed)
    print("classes of steps are those that were planted")


main()
