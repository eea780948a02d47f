#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was not recorded is not zero: without a category of events no finding appears and no saving
grows, but for findings that say what is missing.

usage: test_removed.py --program TRACEANALYZE --generator GENERATOR [--verbose]

Traces are made, clean and with one cause planted; then the events of a category are taken out of
all ranks, or of the first one.
"""
import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import reports

PLANTS = ("none", "slow-dispatch", "sync")

# What is taken out: of category and name, whether the event is of it.
REMOVED = {
    "operators": lambda cat, name: cat in ("cpu_op", "Operator"),
    "Python functions": lambda cat, name: cat == "python_function",
    "calls": lambda cat, name: cat in ("cuda_runtime", "cuda_driver", "hip_runtime"),
    "kernels": lambda cat, name: cat == "kernel",
    "copies": lambda cat, name: cat in ("gpu_memcpy", "gpu_memset"),
    "collectives": lambda cat, name: cat == "kernel" and "nccl" in name.lower(),
    "ranges": lambda cat, name: cat in ("user_annotation", "gpu_user_annotation"),
    "memory": lambda cat, name: cat == "cpu_instant_event",
    "flows": lambda cat, name: cat == "ac2g",
    "host": lambda cat, name: cat in ("cpu_op", "python_function", "user_annotation",
                                      "cuda_runtime", "cuda_driver", "hip_runtime"),
}

OF_ONE_RANK = ("kernels", "collectives", "calls", "host")

# Findings that say what is missing; a share of the kernel time, which grows with what is left; and
# copies that no call is known to wait for, where those that a call waits for are another finding.
EXPECTED = {"trust", "begun-inside", "waves-underfilled", "exposed-copies"}

# A device is idle, whatever is known of the cause: together they have no more than its idle time.
OF_IDLE = ("gpu-idle", "launch-bound", "input-bound", "sync-wait", "value-read",
           "steady-allocation", "host-before", "host-after", "late-launches", "interruptions")


def read(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def write_without(source, target, removed, every_rank):
    target.mkdir()
    for number, path in enumerate(sorted(source.iterdir())):
        document = read(path)
        if every_rank or number == 0:
            document["traceEvents"] = [
                event for event in document["traceEvents"]
                if not removed(str(event.get("cat")), str(event.get("name")))]
        with open(target / path.name.removesuffix(".gz"), "w", encoding="utf-8") as file:
            file.write(json.dumps(document))


def savings(report):
    """Id → the most that a finding saves; and the idle time of the device that has most."""
    found = {f["id"]: f["saving_ns"]["high"] if f["saving_ns"] else 0 for f in report.findings}
    found["idle"] = max((row["idle_ns"] for row in report.rows("gpu_idle.by_rank")), default=0)
    return found


def compare(before, report):
    """What is said now and was not before."""
    for finding in report.findings:
        id, title = finding["id"], finding["title"]
        if id in EXPECTED or id.startswith("damage") or finding["severity"] == "info":
            continue
        if id not in before and id not in OF_IDLE:
            yield f"{id} appears: {title}"
            continue
        most = before["idle"] if id in OF_IDLE else before[id]
        saving = finding["saving_ns"]["high"] if finding["saving_ns"] else 0
        if saving > 1.02 * most + 1000:
            yield f"{id} saves {saving / 1e6:.3f} ms, at most {most / 1e6:.3f} ms before: {title}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--plant", action="append")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="traceanalyze-removed-") as scratch:
        for plant in options.plant or PLANTS:
            whole = pathlib.Path(scratch) / plant
            subprocess.run([options.generator, "--variant", "optimized", "--ranks", "2", "--blocks",
                            "2", "--layers", "6", "--plant", plant, "-o", whole], check=True,
                           stdout=subprocess.DEVNULL)
            before = savings(reports.read(options.program, whole))
            for what, removed in REMOVED.items():
                # Of one rank: what ranks are compared by.
                for every_rank in (True, False)[:1 + (what in OF_ONE_RANK)]:
                    part = pathlib.Path(scratch) / f"{plant}-{what}-{every_rank}"
                    write_without(whole, part, removed, every_rank)
                    try:
                        report = reports.read(options.program, part)
                    except AssertionError as error:
                        print(f"{plant}, without {what}: {str(error)[:200]}")
                        failed += 1
                        continue
                    of = "all ranks" if every_rank else "the first rank"
                    for text in compare(before, report):
                        print(f"{plant}, without {what} of {of}: {text}")
                        failed += 1
                    if options.verbose:
                        print(f"{plant}, without {what} of {of}: "
                              f"{report.document['verdict']['headline']}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
