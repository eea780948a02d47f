#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares figures of our reports with those of truth.json: inputs whose right answer somebody
worked out from the raw records.

usage: truth.py --program PROGRAM --shared FOLDER [--only TEXT]

One function per input.  It is given the input's entry of truth.json and our report, and says with
`expect` what has to hold.
"""
import argparse
import json
import math
import pathlib
import sys

from reports import Run

CASES = {}


def case(path):
    """Registers the check of one input, such as seeds/inf_con4."""
    def register(check):
        CASES[path] = check
        return check
    return register


class Expect:
    """Collects what does not hold of one input."""

    def __init__(self):
        self.count, self.wrong = 0, []

    def close(self, what, ours, right, within=0.005):
        """Our figure is `right`, up to the share `within` to which the truth is rounded."""
        self.true(f"{what}: {ours}, expected {right}",
                  isinstance(ours, (int, float)) and math.isclose(ours, right, rel_tol=within))

    def equal(self, what, ours, right):
        self.true(f"{what}: {ours!r}, expected {right!r}", ours == right)

    def true(self, what, holds):
        self.count += 1
        if not holds:
            self.wrong.append(what)


@case("public/pdl-overlap-same-stream")
def overlap_of_dependent_launches(expect, truth, report):
    row = report.row("gpu_time.by_rank")
    expect.close("window", row["window_ns"] / 1e6, truth["window_ms"])
    expect.close("busy", row["busy_ns"] / 1e6, truth["busy_ms"])


@case("seeds/dx_period")
def exports_of_one_run_count_once(expect, truth, report):
    stages = report.tables["stages.by_name"]
    tokens = report.tables["sections.tokens"]
    total_s = sum(row["total_ns"] for row in stages) / 1e9
    expect.equal("sections", sum(row["calls"] for row in stages), truth["sections"])
    expect.close("time of the sections", total_s, truth["total_s"])
    expect.close("tokens over their time", sum(row["tokens"] for row in tokens) / total_s,
                 truth["tokens_per_s"])
    expect.close("the figure that people see",
                 report.row("throughput.values", metric="tokens_per_s", basis="sections")["value"],
                 truth["tokens_per_s"])
    found = [note["text"] for note in report.document["data_quality"]["findings"]
             if note["code"] == "earlier-export"]
    expect.true(f"the data quality names the exports: {found}",
                len(found) == 1 and "profile_20261124_103005.json" in found[0])


def run_case(run, shared, path, check):
    folder, name = path.split("/")
    data = shared / "data" / folder
    truth = json.loads((data / "truth.json").read_text(encoding="utf-8"))[name]
    expect = Expect()
    report = run.report(data / name)
    if report is None:
        expect.true("the input is refused", False)
    else:
        check(expect, truth, report)
    for wrong in expect.wrong:
        print(f"{path}: {wrong}")
    return expect


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="inputs whose path contains this")
    args = parser.parse_args()
    run = Run(args.program)
    done = [run_case(run, args.shared, path, check) for path, check in sorted(CASES.items())
            if args.only in path]
    failed = sum(len(expect.wrong) for expect in done)
    print(f"{sum(expect.count for expect in done) - failed} passed, {failed} failed")
    return 0 if done and failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
