#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of devices against a slow reading of the same simulated traces.

usage: test_slow.py --program TRACEANALYZE --generator TRACEANALYZE-GENERATE

The traces are read with the JSON of the standard library, times as integers of ns.  What runs when
is worked out instant by instant, between all starts and ends of activities, with fractions;
whatever the program divides into whole ns may differ by one ns for each instant.
"""
import argparse
import collections
import decimal
import fractions
import gzip
import itertools
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import reports

CLASSES = {"gpu_memcpy": "memcpy", "gpu_memset": "memset"}
BINS = 100


def nanoseconds(number):
    return int(decimal.Decimal(number) * 1000)


class Trace:
    def __init__(self, path):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            document = json.load(file, parse_float=str, parse_int=str)
        self.rank = int(document["distributedInfo"]["rank"])
        spans = [event for event in document["traceEvents"] if event["ph"] == "X"]
        for span in spans:
            span["start"] = nanoseconds(span["ts"])
            span["end"] = span["start"] + nanoseconds(span["dur"])
        self.origin = min(span["start"] for span in spans)
        self.ops = [span for span in spans if span["cat"] == "cpu_op"]
        self.calls = {span["args"]["correlation"]: span for span in spans
                      if span["cat"] in ("cuda_runtime", "cuda_driver")
                      and "correlation" in span.get("args", {})}
        self.work = [span for span in spans if span["cat"] == "kernel" or span["cat"] in CLASSES]
        for span in self.work:
            span["class"] = CLASSES.get(span["cat"]) or (
                "comm" if "nccl" in span["name"] else "compute")
            span["call"] = self.calls.get(span["args"].get("correlation"))
        self.start = min(span["start"] for span in self.work)
        self.end = max(span["end"] for span in self.work)

    def instants(self):
        """(start, end, what runs) for each stretch in which the same activities run."""
        events = sorted([(span["start"], 1, i) for i, span in enumerate(self.work)]
                        + [(span["end"], 0, i) for i, span in enumerate(self.work)])
        running, before = set(), None
        for time, begins, i in events:
            if running and time > before:
                yield before, time, [self.work[k] for k in running]
            before = time
            (running.add if begins else running.discard)(i)

    def op_around(self, call):
        """The name of the innermost operator around a call; None without one."""
        around = [op for op in self.ops if op["tid"] == call["tid"] and op["pid"] == call["pid"]
                  and op["start"] <= call["start"] and call["end"] <= op["end"]]
        return max(around, key=lambda op: (op["start"], -op["end"]))["name"] if around else None


class Checker:
    def __init__(self):
        self.faults, self.compared = [], 0

    def same(self, what, got, wanted, tolerance=0):
        self.compared += 1
        if got is None or abs(got - wanted) > tolerance:
            self.faults.append("%s: expected %s, got %s" % (what, wanted, got))


def check_times(check, report, trace, stretches):
    """Shares of the parts of the program's window, overlap of classes, exposed time of names."""
    window = report.row("run.window", rank=trace.rank)
    begin = trace.origin + window["start_ns"]
    exposed, both = collections.Counter(), collections.Counter()
    shares = collections.defaultdict(lambda: [0] * BINS)
    length = fractions.Fraction(window["window_ns"], BINS)
    for start, end, running in stretches:
        classes = sorted({span["class"] for span in running})
        for span in running:
            exposed[span["class"], span["name"]] += fractions.Fraction(end - start, len(running))
        for i, first in enumerate(classes):
            both.update({(first, second): end - start for second in classes[i:]})
        for name in ["busy"] + [{"memcpy": "copy"}.get(name, name) for name in classes]:
            part = int((start - begin) / length)
            while part < BINS and begin + part * length < end:
                low = max(fractions.Fraction(start), begin + part * length)
                high = min(fractions.Fraction(end), begin + (part + 1) * length)
                shares[name][part] += max(high - low, 0)
                part += 1
    rows = report.rows("gpu_time.over_time", rank=trace.rank)
    check.same("parts of the window", len(rows), BINS)
    for row in rows:
        for name in ("busy", "compute", "comm", "copy"):
            check.same("%s share of part %d" % (name, row["bin"]), row[name + "_share"],
                       float(shares[name][row["bin"]] / length), 2 / float(length))
    names = {(row["class"], row["name"]): row["exposed_ns"]
             for row in report.rows("gpu_time.by_rank_name", rank=trace.rank)}
    check.same("names", len(names), len(exposed))
    for key, time in exposed.items():
        check.same("exposed time of %s" % (key,), names.get(key), float(time), len(stretches))
    check.same("sum of exposed times", sum(names.values()),
               sum(end - start for start, end, _ in stretches))
    for row in report.rows("gpu_time.overlap", rank=trace.rank):
        pair = tuple(sorted((row["first"], row["second"])))
        check.same("overlap of %s and %s" % pair, row["both_ns"], both[pair])
        check.same("shorter of %s and %s" % pair, row["shorter_ns"],
                   min(both[name, name] for name in pair))


def check_queue(check, report, trace):
    """Launched and not done, over time."""
    length = fractions.Fraction(trace.end - trace.start, BINS)
    queued = [(min(span["call"]["start"], span["start"]), span["end"])
              for span in trace.work if span["call"]]
    rows = report.rows("launch_queue.over_time", rank=trace.rank)
    check.same("parts of the queue", len(rows), BINS)
    for row in rows:
        low = trace.start + row["part"] * length
        area = sum(max(0, min(end, low + length) - max(start, low)) for start, end in queued)
        check.same("depth in part %d" % row["part"], row["depth_mean"], float(area / length),
                   2 * len(queued) / float(length))
    total = sum(min(end, trace.end) - max(start, trace.start) for start, end in queued)
    check.same("mean depth", report.row("launch_queue.by_rank", rank=trace.rank)["depth_mean"],
               total / (trace.end - trace.start), 1e-9)


def check_delays(check, report, traces):
    delays = collections.defaultdict(list)
    for trace in traces:
        for span in trace.work:
            if span["call"] and span["start"] >= span["call"]["end"]:
                delays[span["cat"] == "kernel"].append(span["start"] - span["call"]["end"])
    for row in report.rows("launch_queue.delays"):
        own = delays["kernel" in row["what"].lower()]
        upto = sum(delay <= row["delay_ns"] for delay in own)
        check.same("%s: launches up to %d ns" % (row["what"], row["delay_ns"]), row["launches"],
                   upto)
        check.same("%s: share up to %d ns" % (row["what"], row["delay_ns"]), row["share"],
                   upto / len(own), 1e-12)


def check_operators(check, report, traces):
    calls, times = collections.Counter(), collections.Counter()
    for trace in traces:
        for span in trace.work:
            if span["cat"] == "kernel":
                key = trace.op_around(span["call"]) if span["call"] else None, span["name"]
                calls[key] += 1
                times[key] += span["end"] - span["start"]
    rows = {(row["op"], row["name"]): row for row in report.rows("kernels.by_op")}
    check.same("kernels by operator", len(rows), len(calls))
    for key, n in calls.items():
        check.same("calls of %s" % (key,), rows.get(key, {}).get("calls"), n)
        check.same("time of %s" % (key,), rows.get(key, {}).get("total_ns"), times[key])


def shortest_interval(values, share):
    """Ends of the shortest interval of sorted values that holds the quantile of what they were
    drawn from 95 times of 100, the most probable of several; by looking at all of them."""
    n = len(values)
    upto = list(itertools.accumulate(math.comb(n, i) * share**i * (1 - share)**(n - i)
                                     for i in range(n + 1)))
    found = [(k - j, -round(upto[k - 1] - upto[j - 1], 10), j, k)
             for j in range(1, n) for k in range(j + 1, n + 1) if upto[k - 1] - upto[j - 1] >= 0.95]
    return [values[place - 1] for place in min(found)[2:]] if found else [None, None]


def check_quantiles(check, report, traces):
    times = collections.defaultdict(list)
    for trace in traces:
        for span in trace.work:
            if span["cat"] == "kernel":
                times[span["name"]].append(span["end"] - span["start"])
    rows = report.rows("kernels.quantiles")
    check.same("kernels with quantiles", len(rows), min(50, len(times)))
    for row in rows:
        own = sorted(times[row["name"]])
        check.same("calls of " + row["name"], row["calls"], len(own))
        if len(own) > 300:
            continue
        for key, share in (("p50", 0.5), ("p95", 0.95)):
            ends = [row[key + "_low_ns"], row[key + "_high_ns"]]
            if ends != shortest_interval(own, share):
                check.faults.append("%s of %s: %s" % (key, row["name"], ends))
            check.compared += 2


def check_copies(check, report, trace):
    for row in report.rows("copies.by_memory", rank=trace.rank):
        own = [span for span in trace.work if span["cat"] == "gpu_memcpy"
               and "(%s)" % row["memory"] in span["name"]]
        size = sum(int(span["args"]["bytes"]) for span in own)
        time = sum(span["end"] - span["start"] for span in own)
        check.same("copies " + row["memory"], row["count"], len(own))
        check.same("bytes " + row["memory"], row["bytes"], size)
        check.same("time " + row["memory"], row["total_ns"], time)
        check.same("rate " + row["memory"], row["bandwidth"], size * 1e9 / time, size / time)
        rates = [r for r in report.rows("copies.bandwidth", rank=trace.rank)
                 if r["direction"] == own[0]["name"].split()[1]
                 and r["memory"] == row["memory"].split(" -> ")[
                     r["direction"] == "DtoH"].lower()]
        check.same("bytes by size, " + row["memory"], sum(r["bytes"] for r in rates), size)
        check.same("time by size, " + row["memory"], sum(r["total_ns"] for r in rates), time)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--generator", required=True)
    options = parser.parse_args()
    check = Checker()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.generator, "--variant", "optimized", "--ranks", "2", "--blocks",
                        "2", "--layers", "6", "-o", folder], check=True, stdout=subprocess.DEVNULL)
        report = reports.read(options.program, folder)
        traces = [Trace(path) for path in sorted(pathlib.Path(folder).glob("*.json.gz"))]
    for trace in traces:
        stretches = list(trace.instants())
        check_times(check, report, trace, stretches)
        check_queue(check, report, trace)
        check_copies(check, report, trace)
    check_delays(check, report, traces)
    check_operators(check, report, traces)
    check_quantiles(check, report, traces)
    print("%d figures of %d traces compared" % (check.compared, len(traces)))
    for fault in check.faults[:40]:
        print(fault, file=sys.stderr)
    return 1 if check.faults or check.compared < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
