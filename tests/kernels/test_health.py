#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants defects in a made-up recording, each of a known size, and looks for its check.

usage: test_health.py --program TRACEANALYZE

A sound recording keeps all limits and is trusted whole; with a defect its check says how large it
is and does not hold, all other checks but those named here do, and the trust score is the product
of what the penalties leave.
"""
import copy
import json
import math
import pathlib
import sys
import tempfile

import reports

OPS = 100
HOST = 2 * OPS  # spans: an operator and a call each


def sound(kernels=OPS):
    events = []
    for i in range(OPS):
        at = 1000.0 + 100 * i
        events += [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
                    "ts": at + 0.001, "dur": 51.0},
                   {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                    "tid": 1, "ts": at + 10, "dur": 5.0, "args": {"correlation": i + 1}}]
        if i < kernels:
            events.append({"ph": "X", "cat": "kernel", "name": "k%d" % (i % 3), "pid": 0, "tid": 7,
                           "ts": at + 20, "dur": 20.0,
                           "args": {"device": 0, "stream": 7, "correlation": i + 1}})
    return {"traceEvents": events}


def host_rows(document, category):
    return [event for event in document["traceEvents"] if event.get("cat") == category]


def drop_records(document):
    document["traceEvents"] += ["no event"] * 30


def spoil_times(document):
    for event in host_rows(document, "cpu_op")[10:20]:
        event["dur"] = -3.0


def set_the_clock(document):
    late = copy.deepcopy(host_rows(document, "cpu_op")[-4:])
    for event in late:
        event["ts"] += 2 * 3600e6
    document["traceEvents"] += late


def cross(document):
    for event in host_rows(document, "cpu_op")[5:11]:
        event["dur"] = 130.0  # into the next one, which is to end behind it


def lose_ranks(document):
    document["distributedInfo"] = {"rank": 0, "world_size": 4}


def hold_up(document):
    document["traceEvents"].append({"ph": "X", "cat": "overhead", "name": "Activity Buffer Request",
                                    "pid": 1, "tid": 9, "ts": 1500.0, "dur": 2000.0})


def round_times(document):
    for event in document["traceEvents"]:
        event["ts"], event["dur"] = float(round(event["ts"])), float(round(event["dur"]))


def lose_categories(document):
    """As tools write that know no categories, but name the process of a device."""
    for event in document["traceEvents"]:
        del event["cat"]
    document["traceEvents"].append({"ph": "M", "pid": 0, "name": "process_name",
                                    "args": {"name": "GPU0"}})


# check: what plants it, its value, the tolerance, other checks that it spoils
EXTENT = 100 * (OPS - 1) + 51  # of the host, from the first operator to the end of the last
DEFECTS = {
    "records dropped": (drop_records, 30 / (3 * OPS + 30), 0, ()),
    "bad times": (spoil_times, 10 / (3 * OPS), 1e-9, ()),
    "times far away": (set_the_clock, 4 / (3 * OPS + 4), 1e-9, ()),
    "devices as the host's": (lose_categories, 1 / 3, 1e-9, ()),
    "spans that cross": (cross, 6 / HOST, 1e-9, ()),
    "ranks missing": (lose_ranks, 3 / 4, 0, ()),
    "profiler overhead": (hold_up, 2000 / EXTENT, 1e-9, ()),
    "resolution": (round_times, 1000, None, ()),
}


class Checker:
    def __init__(self, program, folder):
        self.program, self.folder, self.faults, self.made = program, folder, [], 0

    def checks_of(self, files):
        self.made += 1
        source = self.folder / str(self.made)
        source.mkdir()
        for name, content in files.items():
            (source / name).write_text(content, encoding="utf-8")
        report = reports.read(self.program, source)
        rows = {row["check"]: row for row in report.rows("health.checks")}
        left = math.prod(1 - row["penalty"] for row in rows.values())
        headline = report.document["verdict"]["headline"]
        if ("form that is not known" in headline) != ("devices as the host's" in rows):
            self.faults.append("the first line: " + headline)
        self.want("trust", report.scalars["trust_score"], left, 1e-12)
        return rows

    def want(self, what, got, wanted, tolerance):
        if got is None or abs(got - wanted) > (tolerance or 0) * abs(wanted) + 1e-12:
            self.faults.append("%s: expected %s, got %s" % (what, wanted, got))

    def look(self, check, rows, wanted, tolerance=1e-9, company=()):
        if check not in rows:
            self.faults.append("%s: there is no such check" % check)
            return
        self.want(check, rows[check]["value"], wanted, tolerance)
        broken = {name for name, row in rows.items() if not row["holds"]}
        if check not in broken or broken - {check, *company}:
            self.faults.append("%s: these do not hold: %s" % (check, sorted(broken)))


def dmon(seconds):
    """What nvidia-smi dmon -o DT writes at these seconds."""
    lines = ["#Date       Time        gpu     sm     fb",
             "#YYYYMMDD   HH:MM:SS    Idx      %     MB"]
    lines += [" 20261121   09:%02d:%02d    0     50   1000" % divmod(second, 60)
              for second in seconds]
    return "\n".join(lines) + "\n"


def main():
    program = reports.program_of_arguments()
    with tempfile.TemporaryDirectory() as scratch:
        checker = Checker(program, pathlib.Path(scratch))
        rows = checker.checks_of({"trace.json": json.dumps(sound())})
        checker.faults += ["sound: %s does not hold" % name
                           for name, row in rows.items() if not row["holds"] or row["penalty"]]
        for check, (plant, wanted, tolerance, company) in DEFECTS.items():
            document = sound()
            plant(document)
            checker.look(check, checker.checks_of({"trace.json": json.dumps(document)}), wanted,
                         tolerance, company)
        ranks = {"rank%d.json" % rank: json.dumps(
            {"distributedInfo": {"rank": rank, "world_size": 3}, **sound(OPS if rank else 60)})
            for rank in range(3)}
        checker.look("fewest activities", checker.checks_of(ranks), 0.6, 1e-9,
                     ("kernels lost", "kernels in common"))
        even = {"trace.json": json.dumps(sound()), "gpu.log": dmon(range(60))}
        rows = checker.checks_of(even)
        checker.want("no holes", rows["holes in samples"]["value"], 0, 0)
        even["gpu.log"] = dmon([*range(30), *range(50, 81)])
        checker.look("holes in samples", checker.checks_of(even), 21 / 80)
    for fault in checker.faults:
        print(fault, file=sys.stderr)
    return 1 if checker.faults else 0


if __name__ == "__main__":
    sys.exit(main())
