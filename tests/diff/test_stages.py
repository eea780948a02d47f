#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants renamed stages between two dumps of stages and counts how many are found.

usage: test_stages.py --program PROGRAM [--seeds N]

A run of random stages, the second time with some of them called something else, some gone and some
new.  A name tells nothing here: a stage is found by its neighbors, by its calls and by a time that
is alike.  What took a stage's place and takes much longer or is called more often is another stage.
"""
import argparse
import json
import pathlib
import random
import sys
import tempfile

import reports

LEAST = 0.95

OLD = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett",
       "kilo", "lima", "mike", "november", "oscar", "papa")
NEW = ("quince", "rhubarb", "sorrel", "tansy", "ulmus", "violet", "walnut", "xylem", "yarrow",
       "zinnia", "almond", "borage", "cumin", "dill", "endive", "fennel")


class Planted:
    def __init__(self, seed):
        rng = random.Random(seed)
        old, new = rng.sample(OLD, len(OLD)), rng.sample(NEW, len(NEW))
        self.before, self.after, self.renamed = [], [], {}
        self.kept, self.gone, self.new = [], [], []
        stays = True  # what stands beside a stage that stays is told apart by it
        for name in old[:rng.randint(8, len(OLD))]:
            calls, ns = rng.choice((1, 1, 4, 50)), rng.randint(10**7, 10**9)
            what = rng.choice(("keep", "rename", "gone", "new", "other")) if stays else "keep"
            stays = what == "keep"
            if what != "new":
                self.before.append((name, calls, ns))
            if what == "keep":
                self.kept.append(name)
                self.after.append((name, calls, int(ns * rng.uniform(0.3, 3))))
            elif what == "rename":
                self.renamed[name] = new.pop()
                self.after.append((self.renamed[name], calls, int(ns * rng.uniform(0.5, 2))))
            elif what == "other":  # it did not become that
                self.gone.append(name)
                longer = rng.random() < 0.5
                self.new.append(new.pop())
                self.after.append((self.new[-1], calls + (not longer), ns * (20 if longer else 1)))
            elif what == "gone":
                self.gone.append(name)
            else:
                self.new.append(new.pop())
                self.after.append((self.new[-1], calls, ns))


def write(folder, stages):
    folder.mkdir(exist_ok=True)
    stats = {name: {"count": calls, "total": ns / 1e9, "mean": ns / calls / 1e9,
                    "min": ns / calls / 1e9, "max": ns / calls / 1e9, "last": ns / calls / 1e9}
             for name, calls, ns in stages}
    (folder / "profiling_report.json").write_text(
        json.dumps({"timestamp": 1764590520.0, "timing_stats": stats}))
    return folder


def check(program, scratch, seed, faults):
    planted = Planted(seed)
    report = reports.read(program, write(scratch / "before", planted.before),
                          write(scratch / "after", planted.after), command="diff")
    rows = {row["name"]: row for row in report.rows("diff.stages")}
    found = 0
    for old, new in planted.renamed.items():
        found += rows[old]["matched_as"] == new and rows[old]["method"] == "position"
    for name in planted.kept:
        if rows[name]["method"] != "exact":
            faults.append(f"seed {seed}: {name} did not stay: {rows[name]}")
    for name, status in [(name, "removed") for name in planted.gone] + \
                        [(name, "added") for name in planted.new]:
        if name not in rows or rows[name]["status"] != status:
            faults.append(f"seed {seed}: {name} was not {status}: {rows.get(name)}")
    for window in report.rows("diff.windows"):
        if window["residual_ns"]:
            faults.append(f"seed {seed}: the window does not close")
    return found, len(planted.renamed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--seeds", type=int, default=40)
    options = parser.parse_args()
    faults, found, planted = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="traceanalyze-stages-") as scratch:
        for seed in range(options.seeds):
            n, of = check(options.program, pathlib.Path(scratch), seed, faults)
            found, planted = found + n, planted + of
    print(f"renamed stages found: {found} of {planted}")
    print("\n".join(faults[:10]))
    return 1 if faults or not planted or found < LEAST * planted else 0


if __name__ == "__main__":
    sys.exit(main())
