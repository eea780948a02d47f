# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged, odd and hostile inputs made by chance: what the program does with each is judged.

    test_faults.py [--group NAME] [--seed N] [--rounds N] [--every N] [--only TEXT] [--list]

The program is $TA_PROGRAM.  A case that fails prints its name, the seed and what is wrong."""
import argparse
import concurrent.futures
import importlib
import os
import pathlib
import random
import sys
import time

from judge import judge

GROUPS = ("damage", "values", "extremes", "stored", "settings", "pickles", "places")


def cases(groups, seed):
    for name in groups:
        yield from importlib.import_module(name).cases(random.Random(f"{name} {seed}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--group", action="append", choices=GROUPS, help="default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1, help="seeds to go through")
    parser.add_argument("--every", type=int, default=1, help="take one case of N only")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    program = pathlib.Path(os.environ["TA_PROGRAM"]).resolve()
    scale = 6 if os.environ.get("TA_SANITIZED") == "1" else 1
    ran, wrong, start = 0, 0, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for seed in range(options.seed, options.seed + options.rounds):
            chosen = [case for case in cases(options.group or GROUPS, seed)
                      if options.only in case.name][::options.every]
            if options.list:
                print("\n".join(case.name for case in chosen))
                continue
            for case, faults in zip(chosen, pool.map(lambda c: judge(program, c, scale), chosen)):
                ran += 1
                wrong += bool(faults)
                for fault in faults:
                    print(f"{case.name} (seed {seed}): {fault}", flush=True)
    print(f"{ran} cases, {wrong} wrong, {time.monotonic() - start:.1f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
