#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks what the terminal shows of every sample: the list of charts, and the width of the report.

usage: test_lists.py --program PROGRAM --root REPOSITORY

`chart --list` names the charts of report.json in its order, then the timeline where there is one,
and no line of a report is wider than the terminal.  Charts of a report.json that is read again are
those of its inputs.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unicodedata

import reports
from test_cells import SAMPLES

WIDTHS = (60, 80, 140)


def output(program, *words, columns=80):
    done = subprocess.run([program, *words], check=True, capture_output=True,
                          env=dict(os.environ, COLUMNS=str(columns)))
    return done.stdout.decode("utf-8").splitlines()


def charts_of(report):
    """(id, title) of every chart, in order."""
    for section in report.document["sections"]:
        for item in section["items"]:
            chart = item.get("chart")
            while chart:
                yield chart["id"], chart["title"]
                chart = chart.get("next")


def check_charts(program, sample):
    listed = [tuple(line.split(maxsplit=1)) for line in
              output(program, "chart", "--no-config", "--list", sample)]
    if listed and listed[-1][0] == "timeline":
        listed.pop()
    wanted = list(charts_of(reports.read(program, sample)))
    if listed != wanted:
        yield f"--list and report.json differ: {sorted(set(listed) ^ set(wanted)) or 'the order'}"


def drawn(program, folder, source):
    """Name → SVG of all charts of a source but the timeline, whose slices no report.json has."""
    output(program, "chart", "--no-config", "-q", "all", str(source), "--format", "svg",
           "-o", str(folder))
    return {file.name: file.read_bytes() for file in folder.glob("*.svg")
            if file.name != "timeline.svg"}


def check_saved(program, sample):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        saved = folder / "report.json"
        saved.write_text("\n".join(output(program, "report", "--no-config", "-q", "-o", "-",
                                          "--format", "json", sample)), encoding="utf-8")
        first = drawn(program, folder / "first", sample)
        again = drawn(program, folder / "again", saved)
    for chart in sorted(first.keys() | again.keys()):
        if first.get(chart) != again.get(chart):
            yield f"{chart} is another one when report.json is read again"


def cells(line):
    return sum(0 if unicodedata.combining(char) else
               2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


def check_width(program, sample):
    for width in WIDTHS:
        for line in output(program, "report", "--no-config", "-q", "-o", "-", "--format", "text",
                           sample, columns=width):
            if cells(line) > width:
                yield f"wider than {width} columns: {line}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    args = parser.parse_args()
    failed = False
    for name in SAMPLES:
        sample = args.root / "samples" / name
        for fault in [*check_charts(args.program, sample), *check_saved(args.program, sample),
                      *check_width(args.program, sample)]:
            failed = True
            print(f"{name}: {fault}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
