#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recording is, from its raw events, without the program.

usage: survey.py TRACES [--truth truth.json] [--only TEXT]
  prints what is found in each file below TRACES, or compares it with truth.json

How the figures of truth.json come about:
  * Times are the decimal texts of the file times 1000, rounded to whole nanoseconds, never through
    a float, and counted from the earliest span of the file.
  * recording: the span of category Trace ("PyTorch Profiler (0)") that the recorder writes about
    itself; without it there is none.
  * devices: kernels, copies and memsets by `args.device`, else by a numeric pid: first start, first
    start to last end, union, number.
  * program: first start to last end of device activities, and of operators, annotations of the
    program and calls that launched an activity, these clipped to the recording.  Left out are
    Python frames, of which the outer ones run over the whole recording, what the recorder writes
    about itself, and the synchronization with which it stops.
  * steps: spans of the marker that truth.json names, which a reader of the trace chose; for
    "Optimizer.step" a step ends with the optimizer and begins where the one before ended, the
    first with the first span that the loop records.
  * damage: events with time 0 and duration 0 in a file whose other events lie elsewhere;
    activities that end 20 µs and more after the next one on their stream began; activities
    without their launch; launches without their activity; of graph launches those without any
    kernel.
  * work: what the name of a marker says of batch, tokens and pixels, read by hand.
What a file is, its rank, host and process, the reasons and the remarks are written by hand.
"""
import argparse
import collections
import gzip
import json
import pathlib
import re
import sys
from fractions import Fraction

DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "mtia_ccp_events"}
OPERATOR = {"cpu_op", "operator"}
LAUNCH = re.compile(r"launch|memcpy|memset", re.IGNORECASE)
GRAPH_LAUNCH = re.compile(r"^(cuda|hip|cu)GraphLaunch")
OVERLONG_NS = 20_000


def nanoseconds(text):
    value = Fraction(str(text)) * 1000
    return int(value + Fraction(1, 2)) if value >= 0 else -int(-value + Fraction(1, 2))


class Span:
    """A span of a trace; times are absolute."""

    def __init__(self, event):
        args = event.get("args")
        self.args = args if isinstance(args, dict) else {}
        self.category = str(event.get("cat") or "").lower()
        self.name = str(event.get("name") or "")
        self.pid, self.tid = str(event.get("pid")), str(event.get("tid"))
        self.start = nanoseconds(event["ts"])
        self.end = self.start + max(0, nanoseconds(event.get("dur") or 0))

    def is_call(self):
        return self.category.endswith(("runtime", "driver"))

    def device(self):
        value = self.args.get("device", self.pid)
        return int(value) if str(value).isdigit() else None

    def correlation(self):
        return self.args.get("correlation", self.args.get("Correlation ID"))


def union(spans):
    """Length of the union of [start, end)."""
    total, reach = 0, None
    for start, end in sorted((s.start, s.end) for s in spans):
        if reach is None or start > reach:
            total, reach = total + end - start, end
        elif end > reach:
            total, reach = total + end - reach, end
    return total


class Trace:
    """The spans of one file."""

    def __init__(self, path):
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        document = json.loads(data, parse_float=str, strict=False)
        self.head = document if isinstance(document, dict) else {}
        events = document if isinstance(document, list) else document.get("traceEvents")
        if events is None:
            raise ValueError("no traceEvents")
        self.events = [e for e in events if isinstance(e, dict)]
        self.spans = [Span(e) for e in self.events if e.get("ph") == "X" and "ts" in e]
        self.without_times = 0
        if any(s.start for s in self.spans):
            timed = [s for s in self.spans if s.start or s.end]
            # A file whose times are counted from 0 has one such span at most.
            if min(s.start for s in timed) > 10**9:
                self.without_times = len(self.spans) - len(timed)
                self.spans = timed
        self.origin = min((s.start for s in self.spans), default=0)
        self.activities = [s for s in self.spans if s.category in DEVICE]
        self.calls = [s for s in self.spans if s.is_call()]

    def interval(self, start, end):
        return [start - self.origin, end - self.origin]

    def recording(self):
        """Of the recorder, absolute; None without."""
        found = [s for s in self.spans if s.category == "trace"]
        return (found[0].start, found[0].end) if found else None

    def devices(self):
        by_device = collections.defaultdict(list)
        for activity in self.activities:
            by_device[activity.device()].append(activity)
        return [{"device": device, "activities": len(of),
                 "start_ns": min(s.start for s in of) - self.origin,
                 "window_ns": max(s.end for s in of) - min(s.start for s in of),
                 "busy_ns": union(of)} for device, of in sorted(by_device.items(), key=str)]

    def program(self):
        """Start and end of what the program did; None without."""
        started = {s.correlation() for s in self.activities}
        first, last = self.recording() or (None, None)
        work = [(s.start, s.end) for s in self.activities]
        for s in self.spans:
            if (s.category in OPERATOR or s.category == "user_annotation" or
                    s.is_call() and LAUNCH.search(s.name) and s.correlation() in started):
                start = s.start if first is None else max(s.start, first)
                end = s.end if last is None else min(s.end, last)
                if start <= end:
                    work.append((start, end))
        if not work:
            return None
        return self.interval(min(start for start, _ in work), max(end for _, end in work))

    def steps(self, marker):
        """[start, end] of each; None without a marker."""
        if marker is None:
            return None
        host = sorted((s for s in self.spans if s.category in OPERATOR | {"user_annotation"}),
                      key=lambda s: (s.start, -s.end))
        marks = [s for s in host if re.search(marker, s.name)]
        if marker.startswith("^Optimizer"):
            first = re.compile(r"^Optimizer\.zero_grad|^enumerate\(DataLoader\)")
            begin = next(s.start for s in host if first.search(s.name))
            found = []
            for mark in marks:
                found.append(self.interval(begin, mark.end))
                begin = mark.end
            return found
        return [self.interval(s.start, s.end) for s in marks]

    def damage(self):
        """Counts of what is not as it should be; what is 0 is left out."""
        streams = collections.defaultdict(list)
        for s in self.activities:
            if s.category != "mtia_ccp_events":
                streams[s.pid, s.tid].append(s)
        overlong = 0
        for of in streams.values():
            of.sort(key=lambda s: (s.start, s.end))
            overlong += sum(s.end > after.start + OVERLONG_NS for s, after in zip(of, of[1:]))
        calls = {s.correlation() for s in self.calls}
        started = {s.correlation() for s in self.activities}
        launches = [s for s in self.calls if re.search(r"LaunchKernel|LaunchCooperative", s.name)]
        graphs = [s for s in self.calls if GRAPH_LAUNCH.search(s.name)]
        return {key: value for key, value in {
            "without_times": self.without_times,
            "overlong": overlong,
            "without_launch": sum(s.correlation() not in calls for s in self.activities)
            if self.calls else 0,
            "launches_without_activity": sum(s.correlation() not in started for s in launches),
            "graph_launches": len(graphs),
            "graph_launches_without_kernels": sum(s.correlation() not in started for s in graphs),
        }.items() if value}

    def capture(self):
        """Calls that only a graph capture makes."""
        count = collections.Counter()
        for s in self.calls:
            for what in ("BeginCapture", "EndCapture", "GraphInstantiate"):
                count[what] += what in s.name
        return {what: n for what, n in count.items() if n}


def survey(path, marker=None):
    trace = Trace(path)
    recording = trace.recording()
    return {"recording": recording and trace.interval(*recording), "program": trace.program(),
            "devices": trace.devices(), "steps": trace.steps(marker), "damage": trace.damage(),
            "capture": trace.capture()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("traces", type=pathlib.Path)
    parser.add_argument("--truth", type=pathlib.Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if not options.truth:
        for path in sorted(p for p in options.traces.rglob("*") if p.is_file()):
            if options.only in str(path):
                try:
                    print(path.relative_to(options.traces), json.dumps(survey(path)))
                except (ValueError, UnicodeDecodeError) as error:
                    print(path.relative_to(options.traces), "not read:", str(error)[:60])
        return 0
    wrong = 0
    for name, file in json.loads(options.truth.read_text())["files"].items():
        if "refused" in file or options.only not in name:
            continue
        found = survey(options.traces / name, file.get("marker"))
        for key, value in found.items():
            if file.get(key) != value and (value or file.get(key)):
                wrong += 1
                print(f"{name}: {key} is {file.get(key)}, found {value}")
    print(f"{wrong} differ")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
