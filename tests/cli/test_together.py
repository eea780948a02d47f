#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all findings of a report save together lies between what the surest one saves and their sum,
and no text output leaves it out.

usage: test_together.py --program TRACEANALYZE INPUT
"""
import argparse
import re
import subprocess
import sys

from reports import Report

UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
SENTENCE = re.compile(r"All findings together save ([\d.]+) (\S+) to ([\d.]+) (\S+) \(")


def said(text):
    """The lower and upper end in ns."""
    found = SENTENCE.search(" ".join(text.split()))
    return found and tuple(float(found[i]) * UNITS[found[i + 1]] for i in (1, 3))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("input")
    options = parser.parse_args()

    def report(form):
        return subprocess.run([options.program, "report", options.input, "--no-config", "--format",
                               form, "-o", "-"], check=True, capture_output=True, text=True).stdout

    savings = [finding["saving_ns"] for finding in Report(report("json")).findings
               if finding["saving_ns"] and finding["saving_ns"]["high"] > 0]
    assert len(savings) > 2
    least = max(saving["low"] for saving in savings)
    largest, most = (f(saving["high"] for saving in savings) for f in (max, sum))
    for form in ("text", "md", "html", "json"):
        ends = said(report(form))
        assert ends, f"{form} does not say what all findings save"
        low, high = ends
        assert abs(low / least - 1) < 0.01, (form, low, least)
        assert 1.1 * largest * 0.99 < high < 1.01 * most, (form, largest, high, most)
    print(f"{len(savings)} findings: {least} to {most} ns")


if __name__ == "__main__":
    sys.exit(main())
