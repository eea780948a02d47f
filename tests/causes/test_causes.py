#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs with known causes: each is recognised first, clean runs are silent, savings hold the gain.

usage: test_causes.py --program TRACEANALYZE [--count N] [--first SEED] [--cause C7 C1+C3 clean ...]
                      [--pairs N] [--jobs N] [--keep FOLDER] [--reached FILE [--update]]
                      [--pages FOLDER] [-v]

--pairs adds N runs with two causes.  --keep leaves the inputs in FOLDER/<cause>-<seed>.  --reached
fails where less is recognised than FILE says, --update writes it.  --pages writes the tables of
CAUSES.md and FINDINGS.md in FOLDER.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import sys
import tempfile

import causes
import pages
import reports

GRADES = ("info", "low", "medium", "high", "critical")


class Result:
    """What a report says of a case."""

    def __init__(self, case, report, seed):
        self.causes, self.seed, self.length, self.gain = case.causes, seed, case.length, case.gain
        self.program = f"{case.plan.gpu.name}, {case.plan.defects}" if case.plan else \
            ", ".join(case.texts)
        self.findings = [f for f in report.findings if f["severity"] != "info"]
        self.control, self.amounts = case.control, case.amounts
        self.verdict = report.document["verdict"]["headline"]

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
        if self.control:
            return self.place(self.control) is None
        places = [self.place(cause) for cause in self.causes]
        if not places:
            return all(GRADES.index(f["severity"]) < GRADES.index("medium") for f in self.findings)
        if None in places:
            return False
        first = causes.CAUSES[self.causes[0]]
        if len(places) == 1 and first.verdict and re.search(first.verdict, self.verdict):
            return True
        return max(places) < (first.places if len(places) == 1 else 3)

    def faults(self):
        """What the finding of a cause says wrongly: amounts of its evidence, and its advice."""
        place = self.place(self.causes[0]) if self.causes else None
        if place is None:
            return []
        finding, found = self.findings[place], []
        for item in finding["evidence"]:
            if item["column"] not in self.amounts:
                continue
            value, tolerance = self.amounts[item["column"]]
            if abs(item["value"] - value) > tolerance * abs(value):
                found.append(f"{item['column']} is {item['value']:.5g}, planted {value:.5g}")
        action = causes.CAUSES[self.causes[0]].action  # of others anything is right
        if not re.search(action, finding["advice"] or ""):
            found.append(f"advice without {action}: {finding['advice']}")
        return found

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
        print(f"{self.kind()} seed {self.seed}: {self.length / 1e6:.1f} ms; {gains or 'no gain'}; "
              f"{self.program}")
        for finding in self.findings[:4]:
            saving = finding.get("saving_ns") or {"low": 0, "high": 0}
            print(f"    {finding['severity']:8} {finding['id']}: {finding['title']} "
                  f"[{saving['low'] / 1e6:.1f}, {saving['high'] / 1e6:.1f}] ms")

        for fault in self.faults():
            print(f"    {fault}")

    def kind(self):
        return causes.CONTROL + self.control if self.control else "+".join(self.causes) or "clean"


def judge(task):
    """Makes a run and reads its report."""
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
        self.faultless = sum(r.is_right() and not r.faults() for r in results)
        savings = [saving for r in results for saving in r.savings()]
        self.savings = len(savings)
        self.within, self.width = causes.fit(savings)


def grouped(results):
    groups = {}
    for result in results:
        groups.setdefault(result.kind(), []).append(result)
    return {kind: Group(group) for kind, group in groups.items()}


def run(options):
    kinds = [() if kind == "clean" else tuple(kind.split("+"))
             for kind in options.cause or causes.kinds()]
    runs = [(kind, options.first + n) for kind in kinds for n in range(options.count)]
    pairs = causes.pairs()
    runs += [(pairs[n % len(pairs)], options.first + n // len(pairs))
             for n in range(options.pairs)]
    tasks = [(options.program, kind, seed, options.keep) for kind, seed in runs]
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        return list(pool.map(judge, tasks, chunksize=4))


def right_of(groups):
    """Runs that are right, and savings that hold the gain, by cause; pairs together."""
    found = {}
    for kind, group in groups.items():
        if "+" not in kind:
            found[kind] = group.right
            if group.savings:
                found[f"{kind}, savings"] = group.within
    return found | {"pairs": sum(group.right for kind, group in groups.items() if "+" in kind)}


def less_than_before(groups, path):
    before, now = json.loads(path.read_text(encoding="utf-8")), right_of(groups)
    return [f"{kind}: {now[kind]} are right, {right} were"
            for kind, right in before.items() if now.get(kind, right) < right]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cause", nargs="*")
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--keep")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--reached", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--pages", type=pathlib.Path)
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    results = run(options)
    for result in results:
        if options.verbose or not result.is_right() or result.faults():
            result.show()
    groups = grouped(results)
    for kind, group in groups.items():
        print(f"{kind:13} right {group.right} of {group.runs}; {group.savings} savings, "
              f"{group.within} hold the gain, median width {group.width and round(group.width, 2)}"
              f"; {group.faultless} say the right amounts and advice")
    if options.pages:
        pages.write(options.pages / "CAUSES.md", pages.of_causes(results, groups))
        pages.write(options.pages / "FINDINGS.md", pages.of_findings(results))
    if options.update:
        text = json.dumps(right_of(groups), indent=1)
        options.reached.write_text(text + "\n", encoding="utf-8")
    elif options.reached:
        for fault in (faults := less_than_before(groups, options.reached)):
            print(fault)
        return bool(faults)
    return 0


if __name__ == "__main__":
    sys.exit(main())
