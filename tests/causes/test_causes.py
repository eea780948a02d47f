#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs with known causes: each is recognised first, clean runs are silent, and savings hold the gain.

usage: test_causes.py --program TRACEANALYZE [--count N] [--cause C7 ...] [--keep FOLDER] [-v]
"""
import argparse
import concurrent.futures
import pathlib
import re
import statistics
import sys
import tempfile

import causes
import reports

GRADES = ("info", "low", "medium", "high", "critical")


class Result:
    """What a report says of a case."""

    def __init__(self, case, report, seed):
        self.causes, self.seed, self.length, self.gain = case.causes, seed, case.length, case.gain
        self.program = {"gpu": case.plan.gpu.name, "defects": case.plan.defects} if case.plan else {}
        self.findings = [f for f in report.findings if f["severity"] != "info"]
        self.loud = [f for f in self.findings if GRADES.index(f["severity"]) >= 2]

    def place(self, cause):
        """Of the finding that names the cause, from 0; None without."""
        about = causes.CAUSES[cause]
        for place, finding in enumerate(self.findings):
            if re.search(about.said, finding["title"], re.I) and \
                    (not about.ids or finding["id"] in about.ids):
                return place
        return None

    def is_recognised(self):
        places = [self.place(cause) for cause in self.causes]
        if not places:
            return not self.loud
        return None not in places and max(places) < (1 if len(places) == 1 else 3)

    def savings(self):
        """(cause, gain, low, high) of those that say one."""
        for cause in self.causes:
            place = self.place(cause)
            saving = self.findings[place].get("saving_ns") if place is not None else None
            if saving and cause in self.gain:
                yield cause, self.gain[cause], saving["low"], saving["high"]


def judge(task):
    program, names, seed, keep = task
    case = causes.make(names, seed)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(keep or temporary) / f"{'+'.join(names) or 'clean'}-{seed}"
        case.write(folder)
        return Result(case, reports.read(program, folder), seed)


def show(result, out):
    gains = ", ".join(f"{cause} {gain / 1e6:.1f} ms = {gain / result.length:.1%}"
                      for cause, gain in result.gain.items())
    print(f"{'+'.join(result.causes) or 'clean'} seed {result.seed}: {result.length / 1e6:.1f} ms"
          f" ({gains}) {result.program}", file=out)
    for finding in result.findings[:4]:
        saving = finding.get("saving_ns") or {}
        print(f"    {finding['severity']:8} {finding['id']}: {finding['title']}"
              f" [{saving.get('low', 0) / 1e6:.1f}, {saving.get('high', 0) / 1e6:.1f}] ms",
              file=out)


def summary(results):
    """Rows of (cause, runs, recognised, with a saving, gain within, median width)."""
    groups = {}
    for result in results:
        groups.setdefault("+".join(result.causes) or "clean", []).append(result)
    for name, group in groups.items():
        savings = [s for r in group for s in r.savings()]
        within = sum(low <= gain <= high for _, gain, low, high in savings)
        widths = [high / low for _, _, low, high in savings if low > 0]
        yield (name, len(group), sum(r.is_recognised() for r in group), len(savings), within,
               statistics.median(widths) if widths else None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cause", nargs="*", default=None)
    parser.add_argument("--keep")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    kinds = options.cause if options.cause is not None else ["clean", *causes.CAUSES]
    tasks = [(options.program, [n for n in kind.split("+") if n != "clean"], seed, options.keep)
             for kind in kinds for seed in range(options.first, options.first + options.count)]
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        results = list(pool.map(judge, tasks))
    for result in results:
        if options.verbose or not result.is_recognised():
            show(result, sys.stdout)
    for name, n, recognised, said, within, width in summary(results):
        print(f"{name:8} recognised {recognised} of {n}; saving said {said}, holds the gain "
              f"{within}, median width {width and round(width, 2)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
