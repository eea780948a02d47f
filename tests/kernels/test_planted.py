#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants a fault in the simulated job and compares the advice with what the fault really costs.

usage: test_planted.py --program TRACEANALYZE --generator TRACEANALYZE-GENERATE

Without a plant no rule on kernels speaks.  With one, its rule does, and the fault's true cost, the
window with it minus the window without it, lies within the estimate, by a fifth of either end.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

RULES = {"kernel_attention", "kernel_units", "kernel_fusion", "kernel_waves", "interruptions"}
PLANTS = {"unfused-attention": "attention-unfused", "fp32": "matrix-units-idle",
          "casts": "casts-layout", "narrow": "waves-underfilled",
          "allocation": "steady-allocation"}


def report_of(options, folder, plant):
    traces, out = folder / plant, folder / (plant + "-report")
    subprocess.run([options.generator, "--variant", "optimized", "--ranks", "1", "--blocks", "3",
                    "--layers", "12", "--plant", plant, "-o", str(traces)], check=True)
    subprocess.run([options.program, "report", str(traces), "-q", "--format", "json", "-o",
                    str(out)], check=True)
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    items = [i for s in report["sections"] for i in s["items"]]
    findings = [i for i in items if i["kind"] == "finding" and i["rule"] in RULES]
    table = next(i for i in items if i["id"] == "gpu_time.by_rank")
    column = [c["key"] for c in table["columns"]].index("window_ns")
    return findings, max(row[column] for row in table["rows"])


def check(plant, findings, cost):
    found = [f for f in findings if f["id"] == PLANTS[plant]]
    others = [f["title"] for f in findings if f["id"] != PLANTS[plant]]
    if len(found) != 1 or others:
        return "%s: %s is found %d times, and %s" % (plant, PLANTS[plant], len(found), others)
    low, high = found[0]["saving_ns"]["low"], found[0]["saving_ns"]["high"]
    print("%-18s costs %9.3f ms, estimated %9.3f to %9.3f ms: %s"
          % (plant, cost / 1e6, low / 1e6, high / 1e6, found[0]["title"]))
    if not 0.8 * low <= cost <= 1.2 * high:
        return "%s: the cost of %d ns is not within %d to %d ns" % (plant, cost, low, high)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--generator", required=True)
    options = parser.parse_args()
    faults = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        findings, clean_ns = report_of(options, folder, "none")
        if findings:
            faults.append("nothing is planted, but: %s" % [f["title"] for f in findings])
        for plant in PLANTS:
            findings, window_ns = report_of(options, folder, plant)
            faults.append(check(plant, findings, window_ns - clean_ns))
    faults = [fault for fault in faults if fault]
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
