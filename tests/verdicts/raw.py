#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints from raw events where the time of a Chrome trace goes, without the program.

usage: raw.py TRACE...

For each device: window of the program (host spans and device activities), busy time, time by
class of kernel, the longest kernels, what the host did while the device was idle (innermost span,
runtime call, operator of the thread that launched what ended the gap), the longest gaps, and what
the host did before the first activity and after the last.  It is for those who write a verdict;
the classes are rough on purpose, so that they owe nothing to the program's table of names.
"""
import bisect
import collections
import gzip
import json
import pathlib
import re
import sys

DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "mtia_ccp_events"}
NOT_HOST = DEVICE | {"gpu_user_annotation", "trace", "cuda_sync", "cuda_profiler_range", "ac2g",
                     "async", "async_gpu", "async_cpu_to_gpu", "fwdbwd"}
CLASSES = (
    ("comm", r"nccl|rccl|multimem|cross_device_reduce|shot_all_?reduce|nvshmem"),
    ("attention", r"attn|attention|fmha|flash|mla"),
    ("conv", r"conv|wgrad|dgrad|igemm|winograd|implicit"),
    ("gemm", r"gemm|cijk|nvjet|gemv|cublas|matmul|bmm_|dot_kernel|cutlass"),
    ("norm", r"norm|bn_"),
    ("softmax", r"softmax"),
    ("triton", r"triton"),
    ("elementwise", r"elementwise|vectorized|copy|cat|fill|multi_tensor|cast|foreach"),
    ("reduce or index", r"reduce|index|gather|scatter|sort|topk|arange|scan"),
)


def load(path):
    data = pathlib.Path(path).read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    trace = json.loads(data.decode("utf-8", "replace"), strict=False)
    return trace["traceEvents"] if isinstance(trace, dict) else trace


def spans_of(events):
    spans = []
    for event in events:
        if event.get("ph") == "X" and "ts" in event and "dur" in event:
            start, length = float(event["ts"]), float(event["dur"])
            spans.append({"name": str(event.get("name")), "start": start, "end": start + length,
                          "kind": str(event.get("cat", "")).lower(),
                          "args": event.get("args") or {},
                          "thread": (event.get("pid"), event.get("tid"))})
    return spans


def union(spans):
    merged = []
    for start, end in sorted((span["start"], span["end"]) for span in spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(intervals):
    return sum(end - start for start, end in intervals)


def time_text(us):
    return "%.3f s" % (us / 1e6) if us >= 1e6 else \
        "%.2f ms" % (us / 1e3) if us >= 1e3 else "%.1f us" % us


def class_of(span):
    if span["kind"].endswith("memcpy") or span["kind"].endswith("memset"):
        return span["kind"][-6:]
    name = span["name"].lower()
    return next((word for word, pattern in CLASSES if re.search(pattern, name)), "other")


class Thread:
    """The stack of open spans of one host thread at any time."""

    def __init__(self, spans):
        self.times, self.stacks = [], []
        stack = []
        for span in sorted(spans, key=lambda span: (span["start"], -span["end"])):
            while stack and stack[-1]["end"] <= span["start"]:
                self.add(stack.pop()["end"], stack)
            stack.append(span)
            self.add(span["start"], stack)
        while stack:
            self.add(stack.pop()["end"], stack)

    def add(self, time, stack):
        self.times.append(time)
        self.stacks.append(tuple(span for span in stack
                                 if not span["name"].startswith("ProfilerStep")))

    def did(self, start, end):
        """Time by innermost span, by runtime call and by operator within [start, end)."""
        inner, calls, operators = (collections.Counter() for _ in range(3))
        at = bisect.bisect_right(self.times, start) - 1
        while start < end:
            stack = self.stacks[at] if at >= 0 else ()
            until = min(self.times[at + 1] if at + 1 < len(self.times) else end, end)
            if until > start:
                for counter, kinds in ((inner, None), (calls, ("runtime", "driver")),
                                       (operators, ("cpu_op", "operator"))):
                    names = [span["name"] for span in stack
                             if kinds is None or span["kind"].endswith(kinds)]
                    counter[names[-1][:70] if names else "nothing"] += until - start
                start = until
            at += 1
        return inner, calls, operators


def ranked(counter, most=8):
    return "; ".join("%s %s" % (name, time_text(us)) for name, us in counter.most_common(most))


class Host:
    def __init__(self, spans):
        self.spans = [span for span in spans if span["kind"] not in NOT_HOST]
        by_thread = collections.defaultdict(list)
        for span in self.spans:
            by_thread[span["thread"]].append(span)
        self.threads = {thread: Thread(own) for thread, own in by_thread.items()}
        self.launches = {}
        for span in self.spans:
            if span["kind"].endswith(("runtime", "driver")) and span["args"].get("correlation"):
                self.launches.setdefault(span["args"]["correlation"], span)

    def launch_of(self, activity):
        return self.launches.get(activity["args"].get("correlation"))


def print_gaps(host, activities, busy, main, began):
    first = {}
    for activity in sorted(activities, key=lambda activity: activity["start"]):
        first.setdefault(activity["start"], activity)
    gaps = [(before[1], after[0]) for before, after in zip(busy, busy[1:])]
    sums = [collections.Counter() for _ in range(3)]
    delivery, told = 0, []
    for start, end in gaps:
        activity = first[end]
        launch = host.launch_of(activity)
        thread = launch["thread"] if launch else main
        until = min(end, max(start, launch["end"])) if launch else end
        delivery += end - until
        if thread is None:
            continue
        did = host.threads[thread].did(start, until)
        for total, part in zip(sums, did):
            total.update(part)
        told.append((end - start, start - began, activity["name"], did[0]))
    print("   idle between activities %s in %d gaps, of it %s from the launch's end to the start"
          % (time_text(sum(end - start for start, end in gaps)), len(gaps), time_text(delivery)))
    for what, total in zip(("innermost", "runtime", "operator"), sums):
        print("   idle, by %s: %s" % (what, ranked(total)))
    for gap, at, name, inner in sorted(told, key=lambda entry: -entry[0])[:6]:
        print("   gap %s at +%s before %s: %s" % (time_text(gap), time_text(at), name[:60],
                                                 ranked(inner, 4)))


def print_device(host, device, activities):
    busy = union(activities)
    spans = host.spans + activities
    began, ended = min(s["start"] for s in spans), max(s["end"] for s in spans)
    print("  device %s: window %s, from first to last activity %s, busy %s, before %s, after %s"
          % (device, time_text(ended - began), time_text(busy[-1][1] - busy[0][0]),
             time_text(length(busy)), time_text(busy[0][0] - began),
             time_text(ended - busy[-1][1])))
    classes, names = collections.Counter(), collections.defaultdict(list)
    for activity in activities:
        classes[class_of(activity)] += activity["end"] - activity["start"]
        names[activity["name"]].append(activity["end"] - activity["start"])
    print("   by class: " + ranked(classes, 12))
    rest = [a for a in activities if class_of(a) not in ("comm", "memcpy", "memset")]
    comm = [a for a in activities if class_of(a) == "comm"]
    if comm:
        print("   communication %s, exposed %s"
              % (time_text(length(union(comm))),
                 time_text(length(union(rest + comm)) - length(union(rest)))))
    for name, times in sorted(names.items(), key=lambda item: -sum(item[1]))[:8]:
        print("   %6d x %s = %s, longest %s: %s"
              % (len(times), time_text(sum(times) / len(times)), time_text(sum(times)),
                 time_text(max(times)), name[:110]))
    launchers = collections.Counter(launch["thread"] for launch in map(host.launch_of, activities)
                                    if launch)
    main = launchers.most_common(1)[0][0] if launchers else None
    print_gaps(host, activities, busy, main, began)
    if main is not None:
        for what, start, end in (("before", began, busy[0][0]), ("after", busy[-1][1], ended)):
            if end - start > 0.01 * (ended - began):
                print("   %s: %s" % (what, ranked(host.threads[main].did(start, end)[0])))


def print_trace(path):
    spans = spans_of(load(path))
    host = Host(spans)
    print("%s: %d spans" % (path, len(spans)))
    for span in [s for s in host.spans if s["name"].startswith("ProfilerStep")][:12]:
        print("  %s %s" % (span["name"], time_text(span["end"] - span["start"])))
    devices = collections.defaultdict(list)
    for span in spans:
        if span["kind"] in DEVICE:
            devices[span["args"].get("device", span["thread"][0])].append(span)
    for device, activities in sorted(devices.items(), key=str):
        print_device(host, device, activities)
    calls = collections.defaultdict(list)
    for span in host.spans:
        if span["kind"].endswith(("runtime", "driver")):
            calls[span["name"]].append(span["end"] - span["start"])
    for name, times in sorted(calls.items(), key=lambda item: -sum(item[1]))[:8]:
        print("  runtime: %6d x %s = %s, longest %s"
              % (len(times), name, time_text(sum(times)), time_text(max(times))))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for trace in sys.argv[1:]:
        print_trace(trace)
