#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts operators by input shapes in a trace and compares with ops.by_shape.

usage: test_shapes.py --program TRACEANALYZE --trace FILE

Calls and host time of each row are counted from the events; the device time of an operator over all
its shapes is that of ops.device_time.
"""
import argparse
import collections
import decimal
import gzip
import json
import pathlib
import sys

import reports

OPERATORS = ("cpu_op", "operator")


def nanoseconds(text):
    return int((decimal.Decimal(text) * 1000).to_integral_value(decimal.ROUND_HALF_UP))


def counted(path):
    """{(name, shapes): calls, host time in ns}, and the operators that ever lack shapes"""
    events = json.loads(gzip.open(path).read(), parse_float=str)["traceEvents"]
    out, bare = collections.defaultdict(lambda: [0, 0]), set()
    for event in events:
        if event.get("ph") != "X" or event.get("cat", "").lower() not in OPERATORS:
            continue
        dims = event.get("args", {}).get("Input Dims")
        if dims is None:
            bare.add(event["name"])
            continue
        row = out[event["name"], json.dumps(dims)]
        row[0] += 1
        row[1] += nanoseconds(event["dur"])
    return out, bare


def faults_of(found, wanted, bare):
    rows = found.get("ops.by_shape", [])
    if not rows or len(rows) != len(wanted):
        yield f"{len(rows)} rows, expected {len(wanted)}"
    device = collections.Counter()
    for row in rows:
        key = row["name"], json.dumps(json.loads(row["shapes"]))
        if [row["calls"], row["host_total_ns"]] != wanted.get(key):
            yield (f"{key}: {row['calls']} calls, {row['host_total_ns']} ns; "
                   f"expected {wanted.get(key)}")
        device[row["name"]] += row["device_self_ns"]
    launched = {row["name"]: row["device_total_ns"] for row in found["ops.device_time"]}
    for name, total in device.items():
        if name not in bare and total != launched.get(name, 0):
            yield f"{name}: {total} ns on the device, in ops.device_time {launched.get(name, 0)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--trace", type=pathlib.Path, required=True)
    args = parser.parse_args()
    faults = list(faults_of(reports.read(args.program, args.trace).tables, *counted(args.trace)))
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
