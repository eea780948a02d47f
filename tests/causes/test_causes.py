#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs with known causes: each is recognised first, clean runs are silent, savings hold the gain.

usage: test_causes.py --program TRACEANALYZE [--count N] [--first SEED] [--cause C7 C1+C3 clean ...]
                      [--jobs N] [--keep FOLDER] [--reached FILE [--update]] [-v]

--keep leaves the inputs in FOLDER/<cause>-<seed>.  --reached fails where less is recognised than
FILE says, --update writes it.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import statistics
import sys
import tempfile

import causes
import reports

GRADES = ("info", "low", "medium", "high", "critical")
NOISE = 0.02  # of a gain: two runs of the same program differ by more


class Result:
    """What a report says of a case."""

    def __init__(self, case, report, seed):
        self.causes, self.seed, self.length, self.gain = case.causes, seed, case.length, case.gain
        self.program = f"{case.plan.gpu.name}, {case.plan.defects}" if case.plan else \
            ", ".join(case.texts)
        self.findings = [f for f in report.findings if f["severity"] != "info"]

    def place(self, cause):
        """Of the finding that names the cause, from 0; None without."""
        about = causes.CAUSES[cause]
        for place, finding in enumerate(self.findings):
            if re.search(about.said, finding["title"], re.I) and \
                    (not about.ids or finding["id"] in about.ids):
                return place
        return None

    def is_right(self):
        """The causes are the first that is said, or nothing is said where there is none."""
        places = [self.place(cause) for cause in self.causes]
        if not places:
            return all(GRADES.index(f["severity"]) < GRADES.index("medium") for f in self.findings)
        return None not in places and max(places) < (1 if len(places) == 1 else 3)

    def savings(self):
        """(gain, low, high) of the findings that name a cause and say a saving."""
        for cause in self.causes:
            place = self.place(cause)
            saving = self.findings[place].get("saving_ns") if place is not None else None
            if saving and cause in self.gain:
                yield self.gain[cause], saving["low"], saving["high"]

    def show(self):
        gains = ", ".join(f"{cause} costs {gain / 1e6:.1f} ms ({gain / self.length:.1%})"
                          for cause, gain in self.gain.items())
        print(f"{self.kind()} seed {self.seed}: {self.length / 1e6:.1f} ms; {gains}; "
              f"{self.program}")
        for finding in self.findings[:4]:
            saving = finding.get("saving_ns") or {"low": 0, "high": 0}
            print(f"    {finding['severity']:8} {finding['id']}: {finding['title']} "
                  f"[{saving['low'] / 1e6:.1f}, {saving['high'] / 1e6:.1f}] ms")

    def kind(self):
        return "+".join(self.causes) or "clean"


def judge(task):
    program, names, seed, keep = task
    case = causes.make(names, seed)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(keep or temporary) / f"{'+'.join(names) or 'clean'}-{seed}"
        case.write(folder)
        return Result(case, reports.read(program, folder), seed)


class Group:
    """All runs of a kind."""

    def __init__(self, results):
        self.runs, self.right = len(results), sum(r.is_right() for r in results)
        savings = [saving for r in results for saving in r.savings()]
        self.savings = len(savings)
        self.within = sum(low - NOISE * gain <= gain <= high + NOISE * gain
                          for gain, low, high in savings)
        widths = [high / low if low > 0 else float("inf") for _, low, high in savings]
        self.width = statistics.median(widths) if widths else None


def grouped(results):
    groups = {}
    for result in results:
        groups.setdefault(result.kind(), []).append(result)
    return {kind: Group(group) for kind, group in groups.items()}


def run(options):
    kinds = options.cause or ["clean", *causes.CAUSES]
    tasks = [(options.program, [n for n in kind.split("+") if n != "clean"], seed, options.keep)
             for kind in kinds for seed in range(options.first, options.first + options.count)]
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        return list(pool.map(judge, tasks))


def less_than_before(groups, path):
    before = json.loads(path.read_text(encoding="utf-8"))
    return [f"{kind}: {groups[kind].right} of {groups[kind].runs} runs are right, were {right}"
            for kind, right in before.items() if kind in groups and groups[kind].right < right]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cause", nargs="*")
    parser.add_argument("--keep")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--reached", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    results = run(options)
    for result in results:
        if options.verbose or not result.is_right():
            result.show()
    groups = grouped(results)
    for kind, group in groups.items():
        print(f"{kind:8} right {group.right} of {group.runs}; {group.savings} savings, "
              f"{group.within} hold the gain, median width {group.width and round(group.width, 2)}")
    if options.update:
        text = json.dumps({kind: group.right for kind, group in groups.items()}, indent=1)
        options.reached.write_text(text + "\n", encoding="utf-8")
    elif options.reached:
        for fault in (faults := less_than_before(groups, options.reached)):
            print(fault)
        return bool(faults)
    return 0


if __name__ == "__main__":
    sys.exit(main())
