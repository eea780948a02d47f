#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares ops.backward and ops.backward_by_module with a slow reading of the same traces.

usage: test_backward.py --program PROGRAM TRACE...

For each span and each device activity the way up its callers is walked until an operator that an
arrow begins or ends at, or a node of the backward pass without one.  All figures must be equal to
the nanosecond."""
import argparse
import collections
import gzip
import json
import pathlib
import re
import sys
from decimal import Decimal

import reports
from test_tree import Trace, nanoseconds

EVALUATE = "autograd::engine::evaluate_function: "
FIGURES = ("forward_device_ns", "backward_device_ns", "forward_host_ns", "backward_host_ns")


def read(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(
        path, encoding="utf-8")
    with opened as stream:
        document = json.load(stream, parse_float=Decimal)
    return document["traceEvents"] if isinstance(document, dict) else document


def links(events, operators):
    """Pairs of operators: of several that begin at once the inner one, and the outer node."""
    ends = {"s": {}, "f": {}}
    for event in events:
        if event.get("cat") == "fwdbwd" and event.get("ph") in ends:
            place = str(event["pid"]), str(event["tid"]), nanoseconds(event["ts"])
            ends[event["ph"]][event["id"]] = operators[place]
    return [(ends["s"][i][-1], ends["f"][i][0]) for i in ends["s"]
            if ends["s"][i] and ends["f"].get(i)]


def module_of(span):
    for outer in [span, *span.ancestors()]:
        if outer.name.startswith("nn.Module: "):
            return re.sub(r"(?<=.)_[0-9]+$", "", outer.name.removeprefix("nn.Module: "))
    return ""


def rows_of(events):
    trace = Trace(events)
    operators = collections.defaultdict(list)
    for span in sorted((s for s in trace.host if s.kind() == "operator"),
                       key=lambda s: (s.start, -s.dur)):
        operators[(*span.thread, span.start)].append(span)
    rows = {name: collections.defaultdict(collections.Counter) for name in ("operator", "module")}
    owners = {}
    for forward, backward in links(events, operators):
        keys = {"operator": (forward.name, backward.name.removeprefix(EVALUATE)),
                "module": (module_of(forward),)}
        outer = backward.parent
        whole = outer if outer and outer.name.startswith(EVALUATE) else backward
        owners.setdefault(id(forward), (keys, "forward"))
        owners.setdefault(id(whole), (keys, "backward"))
        for table, key in keys.items():
            rows[table][key]["calls"] += 1
    if not owners:
        return {}
    for span in trace.host:
        if span.kind() == "operator" and span.name.startswith(EVALUATE) and id(span) not in owners:
            key = "", span.name.removeprefix(EVALUATE)
            owners[id(span)] = {"operator": key}, "backward"
            rows["operator"][key]["calls"] += 1

    def add(span, time, where):
        for outer in [span, *span.ancestors()]:
            if id(outer) in owners:
                keys, which = owners[id(outer)]
                for table, key in keys.items():
                    rows[table][key][f"{which}_{where}_ns"] += time
                return

    for span in trace.host:
        add(span, span.self_ns, "host")
    for activity in trace.activities:
        if activity.launch:
            add(activity.launch, activity.dur, "device")
    return rows


def check(program, path):
    expected = rows_of(read(path))
    report = reports.read(program, path)
    faults = n = 0
    for table, keys, want in (("ops.backward", ("operator", "node"), expected.get("operator", {})),
                              ("ops.backward_by_module", ("module",), expected.get("module", {}))):
        if keys == ("module",) and len(want) < 2:
            want = {}
        got = {tuple(row[key] for key in keys): row for row in report.rows(table)}
        if set(got) != set(want):
            print(f"FAIL {path}: {table} has {set(got) ^ set(want)} on one side only")
            faults += 1
        for key in set(got) & set(want):
            for figure in ("calls", *FIGURES):
                n += 1
                if (got[key][figure] or 0) != want[key][figure]:
                    print(f"FAIL {path}: {table} {key}: {figure} is {got[key][figure]}, "
                          f"expected {want[key][figure]}")
                    faults += 1
    return n, faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    figures = faults = 0
    for path in options.traces:
        n, wrong = check(options.program, path)
        figures, faults = figures + n, faults + wrong
    print(f"{figures} figures, {faults} faults")
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
