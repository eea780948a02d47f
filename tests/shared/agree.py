#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks whether the numbers that a finding says agree with its evidence.

usage: agree.py --program PROGRAM --shared FOLDER [--samples FOLDER]

A number of the evidence that is nearly one of the title or of the sentence after it, but not quite,
looks like the same quantity with two values.  It is right where the sentences say it as well, or
the share that it has of the other ("97.3 % of it"), and where it is the window that shares are of.
"""
import argparse
import pathlib
import re
import sys

from reports import Run

UNITS = {"ns": ("ns", 1), "µs": ("ns", 1e3), "ms": ("ns", 1e6), "s": ("ns", 1e9),
         "min": ("ns", 6e10), "h": ("ns", 3.6e12), "%": ("ratio", 0.01), "KiB": ("bytes", 2**10),
         "MiB": ("bytes", 2**20), "GiB": ("bytes", 2**30), "GB/s": ("bytes_per_s", 1e9)}
SPACES = "[\u00a0\u2009\u202f ]"
NUMBER = rf"(\d+(?:{SPACES}\d{{3}})*(?:\.\d+)?)"
QUANTITY = re.compile(rf"(?<![\w.=/]){NUMBER}{SPACES}?({'|'.join(UNITS)})(?!\w)")
SAME, NEARLY = 0.006, 0.06  # three digits are shown


def quantities(text):
    """(unit, value, as it stands there)"""
    for found in QUANTITY.finditer(text or ""):
        unit, factor = UNITS[found[2]]
        yield unit, float(re.sub(SPACES, "", found[1])) * factor, found[0]


def apart(one, other):
    return abs(one / other - 1) if one and other else 1


def disagreements(finding):
    said = [q for part in ("title", "why") for q in quantities(finding.get(part))]
    shares = [value for unit, value, _ in said if unit == "ratio"]
    found = [(e["unit"], e["value"], f"{e['table']}.{e['column']}") for e in finding["evidence"]
             if isinstance(e["value"], (int, float)) and not isinstance(e["value"], bool)
             and e["column"] != "window_ns" and not e["column"].startswith("saving_")]
    found = [e for e in found if all(unit != e[0] or apart(value, e[1]) > SAME
                                     for unit, value, _ in said)]
    for unit, value, text in said:
        for other in found:
            ratio = min(value, other[1]) / max(value, other[1]) if value and other[1] else 1
            if unit == other[0] and SAME < apart(value, other[1]) < NEARLY and \
                    (unit == "ratio" or all(apart(share, ratio) > SAME for share in shares)):
                yield f"{text} and {other[2]}, {other[1]:g}"


def inputs(shared, samples):
    for folder in (shared / "data/traces", shared / "data/public", samples):
        if folder:
            yield from sorted(path for path in folder.iterdir() if path.suffix != ".md")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    parser.add_argument("--samples", type=pathlib.Path)
    options = parser.parse_args()
    run, findings, wrong = Run(options.program), 0, 0
    for path in inputs(options.shared, options.samples):
        report = run.report(path)
        for finding in report.findings if report else ():
            findings += 1
            for fault in disagreements(finding):
                wrong += 1
                print(f"{path.name}: {finding['id']}: {fault}: {finding['title']}")
    print(f"{findings} findings, {wrong} disagreements")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
