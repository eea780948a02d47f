#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernels of each phase add up to what was launched in it, and the verdict says them: the rate,
the phases, and the families of kernels that bound the longest, all as shares of the window.

usage: test_phase_kernels.py --program PROGRAM
"""
import argparse
import pathlib
import random
import re
import tempfile

import pipeline
import plans
import reports


class Watched(pipeline.Pipeline):
    """Adds up, by phase, the kernels launched in its models."""
    launched = None

    def added(self, phase, first):
        self.launched[phase] = self.launched.get(phase, 0) + sum(
            e.dur for e in self.events[first:] if e.category == "kernel")

    def encode(self):
        first = len(self.events)
        super().encode()
        self.added("text encode", first)

    def transformer(self, batch):
        first = len(self.events)
        yield from super().transformer(batch)
        self.added("denoise", first)

    def decode(self):
        first = len(self.events)
        super().decode()
        self.added("VAE decode", first)


def make(seed, path):
    rng = random.Random(f"phases/{seed}")
    plan = plans.drawn(rng, seed, steps=rng.randint(3, 9), marks="stages", stacks=0)
    rank = Watched(plan, 0)
    rank.launched = {}
    for _ in rank.program():
        pass
    rank.write(path)
    return plan, rank


def number(share):
    return float(share.replace(" ", ""))


def check(report, plan, work):
    rows = report.rows("phases.kernels")
    for phase, ns in work.items():
        found = sum(row["total_ns"] for row in rows if row["phase"] == phase)
        # The kernels of the scheduler and of guidance belong to denoising, too.
        assert ns <= found + 1 <= 1.05 * ns + 1e6, (phase, found, ns)
        shares = sum(row["share"] for row in rows if row["phase"] == phase)
        assert abs(shares - 1) < 1e-9, (phase, shares)
    window = report.scalars["program_window_ns"]
    headline = re.sub(r"\s", " ", report.document["verdict"]["headline"])
    assert f"{plan.steps} denoising steps of " in headline, headline
    largest = max((row for row in rows if row["phase"] == "denoise"), key=lambda r: r["total_ns"])
    said = re.search(r"bound by [^(]*\(([\d.]+) %\)", headline)
    if said:
        assert abs(number(said[1]) - 100 * largest["total_ns"] / window) < 0.1, headline
    return bool(said)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    bound = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(8):
            path = pathlib.Path(folder) / f"{seed}.json"
            plan, rank = make(seed, path)
            bound += check(reports.read(args.program, path), plan, rank.launched)
    assert bound >= 6, bound


if __name__ == "__main__":
    main()
