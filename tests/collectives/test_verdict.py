#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often the verdict on late ranks is right, over many simulated runs with fixed seeds.

usage: test_verdict.py TRACEANALYZE [RUNS]

Half of the runs have a rank that is late for a kernel, a copy or a gap, by 5 to 40 %: it is to be
called late, alone, and what was planted is to come first in the blame in 95 of 100.  The others
have ranks that are all alike up to their noise: fewer than 1 in 100 may call any rank late.
"""
import pathlib
import random
import sys

import simulate
import test_collectives

NAMES = {"kernel": "flash_fwd_kernel", "copy": "Memcpy HtoD (Pageable -> Device)",
         "gap": "operator dispatch"}


def plan(seed, is_late):
    rng = random.Random(seed)
    ranks = rng.choice((2, 3, 4, 5, 6, 8, 12))
    least = 0.15 if ranks < 5 else 0.05
    culprit = (rng.randrange(ranks), rng.choice(list(NAMES)), rng.uniform(least, 0.4), 0)
    return simulate.Plan(ranks=ranks, steps=rng.randint(6, 16), seed=seed,
                         culprit=culprit if is_late else None, noise=rng.choice((0.005, 0.02)),
                         spread=rng.choice((0, 0.002, 0.005)))


def judge(of):
    """(ranks called late, rank and cause that the blame begins with)."""
    report = test_collectives.report(simulate.simulate(of))
    late = [r["rank"] for r in report.rows("stragglers.by_rank") if r["is_late"]]
    blame = report.rows("stragglers.blame")
    return late, (blame[0]["rank"], blame[0]["name"]) if blame else None


def main():
    test_collectives.PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    found = blamed = alarms = 0
    for seed in range(runs):
        of = plan(seed, True)
        late, blame = judge(of)
        found += late == [of.culprit[0]]
        blamed += blame == (of.culprit[0], NAMES[of.culprit[1]])
        if late != [of.culprit[0]] or blame != (of.culprit[0], NAMES[of.culprit[1]]):
            print(f"seed {seed}: {of.culprit} of {of.ranks}: late {late}, blame {blame}")
        late, _ = judge(plan(seed + 1_000_000, False))
        if late:
            print(f"seed {seed + 1_000_000}: no rank is late, but {late}")
        alarms += bool(late)
    print(f"{runs} runs with a late rank: {found} found, {blamed} blamed on what was planted; "
          f"{runs} without: {alarms} false alarms")
    return 0 if min(found, blamed) >= 0.95 * runs and alarms < 0.01 * runs + 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main())
