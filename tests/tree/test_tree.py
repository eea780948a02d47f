#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Call trees, modules and operators against a slow reading of the same traces.

    test_tree.py TRACEANALYZE TRACE-OR-FOLDER...

Every trace below the folders is read with the JSON of the standard library; spans are nested one by
one, paths are texts, and nothing is folded.  All figures must be equal to the nanosecond."""
import bisect
import collections
import gzip
import heapq
import json
import os
import re
import sys
from decimal import ROUND_HALF_UP, Decimal

import reports

DEVICE = {"kernel": "kernel", "mtia_ccp_events": "kernel", "gpu_memcpy": "copy", "memcpy": "copy",
          "gpu_memset": "memset", "memset": "memset"}
NO_HOST = {"gpu_user_annotation", "trace", "cuda_sync", "cuda_profiler_range", "ac2g", "async",
           "async_gpu", "async_cpu_to_gpu", "fwdbwd"}
OTHER = "(no launch recorded)"
IDLE = re.compile(r"^threading\.py\(\d+\): (wait|_wait_for_tstate_lock)$")


def nanoseconds(value):
    return int((Decimal(str(value)) * 1000).to_integral_value(ROUND_HALF_UP))


class Span:
    def __init__(self, event):
        self.name = event["name"]
        self.cat = event.get("cat", "").lower()
        self.start = nanoseconds(event["ts"])
        self.dur = max(0, nanoseconds(event["dur"]))
        self.end = self.start + self.dur
        self.args = event.get("args") or {}
        self.self_ns, self.parent, self.device_ns = 0, None, 0
        self.thread = (str(event.get("pid")), str(event.get("tid")))

    def kind(self):
        if self.cat in DEVICE:
            return DEVICE[self.cat]
        if self.cat in ("cpu_op", "operator"):
            return "operator"
        if self.cat.endswith(("runtime", "driver")):
            return "call"
        if self.cat == "python_function":
            return "module" if self.name.startswith("nn.Module: ") else "python"
        return "range" if self.cat == "user_annotation" else "host"

    def label(self):
        if self.kind() == "module":
            return self.name[len("nn.Module: "):]
        if self.name.startswith("<built-in"):
            return re.split(" at 0x", self.name)[0].removeprefix("<").removesuffix(">")
        return "ProfilerStep" if self.name.startswith("ProfilerStep#") else self.name

    def ancestors(self):
        span = self.parent
        while span:
            yield span
            span = span.parent


def nest(spans):
    """Parent and self time of the spans of one thread: at every moment the last of those that are
    open, in the order of start and then longer first, is the innermost."""
    spans.sort(key=lambda s: (s.start, -s.dur))
    open_spans, now = [], None

    def go_on(until):
        nonlocal now
        while open_spans and now < until:
            inner = open_spans[0][1]
            if inner.end <= now:
                heapq.heappop(open_spans)
                continue
            inner.self_ns += min(inner.end, until) - now
            now = min(inner.end, until)
        now = until

    for i, span in enumerate(spans):
        go_on(span.start)
        while open_spans and open_spans[0][1].end <= span.start:
            heapq.heappop(open_spans)
        span.parent = open_spans[0][1] if open_spans else None
        heapq.heappush(open_spans, (-i, span))
    go_on(max((s.end for s in spans), default=0))


class Trace:
    def __init__(self, events):
        spans = [Span(e) for e in events if e.get("ph") == "X" and "dur" in e and "ts" in e]
        names = {(str(e.get("pid")), str(e.get("tid"))): e["args"]["name"] for e in events
                 if e.get("ph") == "M" and e.get("name") == "thread_name"}
        self.activities = [s for s in spans if s.cat in DEVICE]
        self.host = [s for s in spans if s.cat not in DEVICE and s.cat not in NO_HOST]
        threads = collections.defaultdict(list)
        for span in self.host:
            threads[span.thread].append(span)
        self.roles = {thread: self.role(names.get(thread, "")) for thread in threads}
        calls = {}
        for thread in threads.values():
            nest(thread)
        most = max(threads.values(), key=len, default=[])
        idle = {spans[0].thread for spans in threads.values()
                if spans is not most and all(IDLE.search(s.name) for s in spans)}
        self.host = [s for s in self.host if s.thread not in idle]
        for call in (s for s in self.host if s.kind() == "call"):
            known = calls.setdefault(call.args.get("correlation"), call)
            if call.start < known.start:
                calls[call.args["correlation"]] = call
        for activity in self.activities:
            number = activity.args.get("correlation")
            activity.launch = calls.get(number) if number else None
            activity.op = activity.launch and self.operator(threads, activity.launch)

    @staticmethod
    def role(name):
        inner = re.fullmatch(r"thread [^(]*\((.*)\)", name, re.S)
        text = inner.group(1) if inner else name
        return re.sub(r"(?<=.)[-_#: ]+$", "", re.sub(r"(?<=.)[0-9]+$", "", text)) or "(thread)"

    @staticmethod
    def operator(threads, call):
        """The last one before the call that is open: spans are in the order of their start."""
        spans = threads[call.thread]
        for i in range(bisect.bisect_right(spans, call.start, key=lambda s: s.start) - 1, -1, -1):
            span = spans[i]
            if (call.start < span.end and span.kind() == "operator" and
                    not span.name.startswith("ProfilerStep#")):
                return span
        return call

    def path(self, span):
        return (self.roles[span.thread],) + tuple(
            s.label() for s in reversed([span, *span.ancestors()]))


def add_tree(trace, nodes, modules):
    for span in trace.host:
        nodes[trace.path(span)][0] += 1
        nodes[trace.path(span)][1] += span.self_ns
    for thread, role in trace.roles.items():
        nodes[(role,)][0] += 1
    for activity in trace.activities:
        above = trace.path(activity.launch) if activity.launch else (OTHER,)
        nodes[above + (activity.label(),)][0] += 1
        nodes[above + (activity.label(),)][2] += activity.dur
        if not activity.launch:
            nodes[above]
    if not any(s.kind() == "module" for s in trace.host):
        return
    for spans, column in ((trace.host, 1), (trace.activities, 2)):
        for span in spans:
            host = span if column == 1 else span.launch
            way = [] if host is None else [s.label() for s in reversed([host, *host.ancestors()])
                                           if s.kind() == "module"]
            node = modules[tuple(way) or ("(outside of modules)",)]
            node[column] += span.self_ns if column == 1 else span.dur
            node[0] += span.kind() == "module"


def add_operators(trace, rows):
    for activity in trace.activities:
        for span in [activity.launch, *activity.launch.ancestors()] if activity.launch else []:
            span.device_ns += activity.dur
    called = {id(a.launch): a.launch for a in trace.activities if a.op and a.op is a.launch}
    for span in [s for s in trace.host if s.kind() == "operator"] + list(called.values()):
        row = rows[span.label(), span.kind()]
        row["calls"] += 1
        row["host_self_ns"] += span.self_ns
        if span.kind() == "operator" and any(
                s.kind() == "operator" and s.name == span.name and s.end > span.start
                for s in span.ancestors()):
            continue
        row["host_total_ns"] += span.dur
        row["device_total_ns"] += span.device_ns
    for activity in trace.activities:
        key = (activity.op.label(), activity.op.kind()) if activity.op else (OTHER, "unlinked")
        rows[key]["device_self_ns"] += activity.dur
        rows[key]["kernels"] += activity.kind() == "kernel"
        if not activity.op:
            rows[key]["device_total_ns"] += activity.dur


def add_classes(trace, rows):
    def class_of(span):
        return re.sub(r"(?<=.)_[0-9]+$", "", span.label())

    names = collections.defaultdict(set)
    for span in (s for s in trace.host if s.kind() == "module"):
        row = rows[class_of(span)]
        row["calls"] += 1
        names[class_of(span)].add(span.label())
    for spans, what in ((trace.host, "host"), (trace.activities, "device")):
        for span in spans:
            host = span if what == "host" else span.launch
            modules = [s for s in ([host, *host.ancestors()] if host else [])
                       if s.kind() == "module"]
            time = span.self_ns if what == "host" else span.dur
            for name in {class_of(m) for m in modules}:
                rows[name][f"{what}_total_ns"] += time
            if modules:
                rows[class_of(modules[0])][f"{what}_self_ns"] += time
    for name, instances in names.items():
        rows[name]["instances"] = max(rows[name]["instances"], len(instances))


# ---- what the program says ---------------------------------------------------------------------

def nodes_of(rows):
    """Sums by path: the same names in another kind are another row."""
    paths, nodes = {}, collections.defaultdict(lambda: [0, 0, 0])
    for row in rows:
        paths[row["node"]] = paths.get(row["parent"], ()) + (row["name"],)
        node = nodes[paths[row["node"]]]
        for i, key in enumerate(("calls", "host_self_ns", "device_self_ns")):
            node[i] += row[key] or 0
    return nodes


def compare(what, expected, found, problems):
    for key in sorted(set(expected) | set(found), key=str):
        if expected.get(key) != found.get(key):
            problems.append(f"{what} {key}: expected {expected.get(key)}, found {found.get(key)}")


def check(program, path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        document = json.load(file, parse_float=Decimal)
    trace = Trace(document if isinstance(document, list) else document["traceEvents"])
    nodes, modules = (collections.defaultdict(lambda: [0, 0, 0]) for _ in range(2))
    operators, classes = (collections.defaultdict(collections.Counter) for _ in range(2))
    add_tree(trace, nodes, modules)
    add_operators(trace, operators)
    add_classes(trace, classes)
    tables = reports.read(program, path, "--set", "call_tree.nodes=100000").tables
    problems = []
    compare("node", nodes, nodes_of(tables.get("ops.call_tree", [])), problems)
    found = nodes_of(tables.get("ops.module_tree", []))
    found.pop((), None)
    compare("module", {k: v for k, v in modules.items() if any(v)},
            {k: v for k, v in found.items() if any(v)}, problems)
    for what, table, key, expected in (
            ("operator", "ops.by_operator", ("name", "kind"), operators),
            ("class", "ops.by_module", ("module",), classes)):
        rows = tables.get(table, [])
        for row in rows:
            name = tuple(row[k] for k in key)
            for column, value in expected.pop(name if len(name) > 1 else name[0], {}).items():
                if value != (row[column] or 0):
                    problems.append(f"{what} {name} {column}: expected {value}, "
                                    f"found {row[column]}")
        problems += [f"{what} {name} is missing" for name in expected]
    working = sum(r["working_ns"] for r in tables.get("ops.by_name", []))
    host = sum(r["host_self_ns"] or 0 for r in tables.get("ops.call_tree", []))
    if working != host:
        problems.append(f"host times add up to {host}, in ops.by_name to {working}")
    busy = sum(r["busy_ns"] for r in tables.get("gpu_time.by_rank", []))
    exposed = sum(r["device_exposed_ns"] or 0 for r in tables.get("ops.by_operator", []))
    if busy != exposed:
        problems.append(f"exposed times add up to {exposed}, busy is {busy}")
    return len(nodes), problems


def traces_below(places):
    for place in places:
        if os.path.isfile(place):
            yield place
        for folder, _, names in sorted(os.walk(place)):
            for name in sorted(names):
                if name.endswith((".json", ".json.gz")) and "trace" in name:
                    yield os.path.join(folder, name)


def main():
    program, *places = sys.argv[1:]
    n, wrong = 0, 0
    for path in traces_below(places):
        count, problems = check(program, path)
        n += 1
        wrong += bool(problems)
        print(f"{'FAIL' if problems else 'ok  '}  {path}: {count} nodes")
        for problem in problems[:12]:
            print(f"      {problem}")
    if n == 0:
        print("no trace found")
    sys.exit(1 if wrong or n == 0 else 0)


if __name__ == "__main__":
    main()
