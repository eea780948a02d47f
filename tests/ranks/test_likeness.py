#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""health.kernels: which rank is most similar to each, against a comparison of every pair.

usage: test_likeness.py --program TRACEANALYZE

Stages of a pipeline, replicas of them, ranks that ran a few kernels more or less, and one that ran
nothing of the kind.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

CLASSES = 64
NAMES = [f"kernel_{chr(97 + i)}" for i in range(12)]
MASK = (1 << 64) - 1


def class_of(name):
    value = 14695981039346656037
    for byte in name.encode():
        value = ((value ^ byte) * 1099511628211) & MASK
    return (value ^ value >> 32) % CLASSES


def plan(seed, n):
    """Kernels of each rank."""
    rng = random.Random(seed)
    stages = [[rng.choice(NAMES) for _ in range(rng.randint(5, 30))] for _ in range(4)]
    ranks = []
    for _ in range(n):
        kernels = list(rng.choice(stages))
        if rng.random() < 0.5:
            kernels += [rng.choice(NAMES) for _ in range(rng.randint(0, 4))]
        ranks.append(kernels)
    ranks[rng.randrange(n)] = ["another"]
    return ranks


def compare(ranks):
    """(likeness, rank) of each rank; of several that are as similar the next one."""
    counts = []
    for kernels in ranks:
        counts.append([0] * CLASSES)
        for name in kernels:
            counts[-1][class_of(name)] += 1
    for i, own in enumerate(counts):
        best = (-1.0, i)
        for step in range(1, len(counts)):
            k = (i + step) % len(counts)
            both = sum(map(min, own, counts[k]))
            like = both / sum(map(max, own, counts[k]))
            if like > best[0]:
                best = (like, k)
        yield best


def write(folder, ranks):
    for rank, kernels in enumerate(ranks):
        events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 10 * i,
                   "dur": 5, "args": {"device": 0, "stream": 7}}
                  for i, name in enumerate(kernels)]
        (folder / f"rank{rank}.json").write_text(json.dumps(
            {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": len(ranks)},
             "traceEvents": events}), encoding="utf-8")


def main():
    program, faults = sys.argv[2], []
    for seed, n in enumerate((2, 3, 17, 40, 40, 40)):
        ranks = plan(seed, n)
        with tempfile.TemporaryDirectory(prefix="likeness-") as folder:
            write(pathlib.Path(folder), ranks)
            done = subprocess.run([program, "-q", "--no-config", "report", folder, "--format",
                                   "json", "-o", "-"], check=True, capture_output=True, text=True,
                                  timeout=120)
        rows = next(item["rows"] for section in json.loads(done.stdout)["sections"]
                    for item in section["items"] if item.get("id") == "health.kernels")
        for rank, ((found, total, like, near), expected) in enumerate(zip(rows, compare(ranks))):
            if (found, total, near) != (rank, len(ranks[rank]), expected[1]) or \
                    abs(like - expected[0]) > 1e-12:
                faults.append(f"seed {seed}, rank {rank}: {like} with {near}, not {expected}")
        if len(rows) != n:
            faults.append(f"seed {seed}: {len(rows)} rows")
    print("\n".join(faults) or "as every pair says")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
