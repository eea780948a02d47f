#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all findings of a report save together lies between what the surest one saves and their sum,
and no text output leaves it out.  Of savings that add up to the run, or to much more than is
certain, what is certain is said, and which finding saves it.

usage: test_together.py --program TRACEANALYZE INPUT
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from reports import Report

UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
SENTENCE = re.compile(r"All findings together save ([\d.]+) (\S+) to ([\d.]+) (\S+) \(")
CERTAIN = re.compile(r"Savings overlap: finding (\d+) alone saves at least ([\d.]+) (\S+) \(")
WIDE = 2.5


def said(text):
    """The lower and upper end in ns."""
    found = SENTENCE.search(" ".join(text.split()))
    return found and tuple(float(found[i]) * UNITS[found[i + 1]] for i in (1, 3))


def certain(text):
    """The number of a finding and what it saves at least in ns."""
    found = CERTAIN.search(" ".join(text.split()))
    return found and (int(found[1]), float(found[2]) * UNITS[found[3]])


def check(form, text, savings):
    lows = [saving["low"] if saving else 0 for saving in savings]
    highs = [saving["high"] for saving in savings if saving and saving["high"] > 0]
    least = max(lows)
    assert bool(said(text)) != bool(certain(text)), f"{form} does not say what all findings save"
    if certain(text):
        number, low = certain(text)
        assert abs(lows[number - 1] / least - 1) < 1e-9, (form, number, lows)
        assert abs(low / least - 1) < 0.01, (form, low, least)
        assert sum(highs) > WIDE * least, (form, highs, least)
        return
    low, high = said(text)
    assert abs(low / least - 1) < 0.01, (form, low, least)
    assert 1.1 * max(highs) * 0.99 < high < 1.01 * sum(highs), (form, high, highs)


def loop():
    """Steps of which the GPU waits a part for launches, and copies from pageable memory in the
    rest: as savings nearly all of it."""
    events, now = [], 0
    for i in range(100):
        copy = {"device": 0, "stream": 7, "correlation": 2 * i + 1, "bytes": 1 << 20}
        for category, name, thread, start, length, args in (
                ("cpu_op", "aten::add", 1, 0, 1100, {}),
                ("cuda_runtime", "cudaLaunchKernel", 1, 1080, 10, {"correlation": 2 * i}),
                ("kernel", "elementwise_kernel", 7, 1095, 15,
                 {"device": 0, "stream": 7, "correlation": 2 * i}),
                ("cuda_runtime", "cudaMemcpyAsync", 1, 1105, 890, {"correlation": 2 * i + 1}),
                ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 7, 1115, 870, copy)):
            events.append({"ph": "X", "cat": category, "name": name,
                           "pid": 0 if thread == 7 else 1, "tid": thread, "ts": now + start,
                           "dur": length, "args": args})
        now += 2000
    return {"schemaVersion": 1, "traceEvents": events}


def check_whole_run(program):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "rank0.json")
        path.write_text(json.dumps(loop()), encoding="utf-8")
        text = subprocess.run([program, "report", path, "--no-config", "--format", "text", "-o",
                               "-"], check=True, capture_output=True, text=True).stdout
    text = " ".join(text.split())
    assert certain(text) and not said(text), text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("input")
    options = parser.parse_args()

    def report(form):
        return subprocess.run([options.program, "report", options.input, "--no-config", "--format",
                               form, "-o", "-"], check=True, capture_output=True, text=True).stdout

    savings = [finding["saving_ns"] for finding in Report(report("json")).findings]
    assert sum(bool(saving) for saving in savings) > 2
    for form in ("text", "md", "html", "json"):
        check(form, report(form), savings)
    check_whole_run(options.program)
    print(f"{len(savings)} findings")


if __name__ == "__main__":
    sys.exit(main())
