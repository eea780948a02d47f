# SPDX-License-Identifier: GPL-3.0-or-later
"""The definitions of the TensorBoard plug-in torch-tb-profiler 0.4.3, applied to a trace; what is
questionable in them can be switched off. Times are microseconds."""
import collections
import dataclasses
import functools
import re

from .trace import intersection, length, mean, minus, number, union

RUNTIME = ("runtime", "cuda_runtime", "mtia_runtime", "glow_runtime", "xpu_runtime",
           "privateuse1_runtime")
LOADER = re.compile(r"^enumerate\((DataLoader|DataPipe)\)#.*\.__next__$")
COLLECTIVE = re.compile(r"^(nccl|gloo):(broadcast|reduce|all_reduce|all_gather|reduce_scatter)$")
PARTS = ("kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec")
HOST = ("operator", "python", "annotation")
NO_OPERATOR = ("DataParallel.forward", "DistributedDataParallel.forward")


@dataclasses.dataclass(frozen=True)
class Settings:
    """What the plug-in does that changes figures."""
    merged: bool = True   # a single child of the name of its parent is merged into it
    dropped: bool = True  # an operator that ends after its parent is left out, with all below it
    by_id: bool = True    # calls belong to the operator of their External id, not by time
    driver: bool = True   # calls of the driver are not read


def kind_of(span):
    """The type of an event; None for what is not read."""
    cat = (span.cat or "").lower()
    if span.kind:
        return span.kind
    if cat in RUNTIME:
        return "runtime"
    return {"cpu_op": "operator", "operator": "operator", "python": "python",
            "python_function": "python_function", "user_annotation": "annotation",
            "gpu_user_annotation": "annotation"}.get(cat)


def us(span):
    return span.us, span.us + span.dus


class Node:
    __slots__ = ("span", "children", "calls", "start", "end", "name")

    def __init__(self, span):
        self.span, self.name, self.children, self.calls = span, span.name, [], []
        self.start, self.end = us(span)


class Operators:
    """The tree of operators of each thread, and their figures."""

    def __init__(self, trace, settings):
        self.settings = settings
        self.nodes, by_id = [], {}
        threads = collections.defaultdict(list)
        for span in trace.spans:
            kind = kind_of(span)
            if kind == "operator" or span.name.startswith("ProfilerStep#") and kind == "annotation":
                threads[span.pid, span.tid].append(Node(span))
        self.threads = {thread: self._nest(nodes) for thread, nodes in threads.items()}
        for node in self.nodes:
            ident = node.span.args.get("External id", node.span.args.get("external id"))
            if node.span.is_op and ident:
                by_id[ident] = node
        self._give_calls(trace, by_id)
        work = collections.defaultdict(list)
        for span in trace.device:
            if span.correlation >= 0:
                work[span.correlation].append(span)
        self.work = work
        if settings.merged:
            self.nodes = [node for node in self.nodes if not self._is_merged(node)]

    def _nest(self, nodes):
        nodes.sort(key=lambda node: (node.start, -node.end))
        stack = []
        for node in nodes:
            while stack and stack[-1].end <= node.start and \
                    not (stack[-1].end == node.start == node.end):
                stack.pop()
            if stack and node.end > stack[-1].end and self.settings.dropped:
                continue
            if stack:
                stack[-1].children.append(node)
            stack.append(node)
            self.nodes.append(node)
        return nodes

    def _give_calls(self, trace, by_id):
        by_time = self._by_time(trace) if not self.settings.by_id else {}
        for span in trace.spans:
            if kind_of(span) != "runtime" and (self.settings.driver or not span.is_call):
                continue
            if self.settings.by_id:
                ident = span.args.get("External id", span.args.get("external id"))
                node = by_id.get(ident) if ident else None
            else:
                node = by_time.get(id(span))
            if node:
                node.calls.append(span)

    def _by_time(self, trace):
        """{call: innermost open operator of its thread}"""
        out, kept = {}, set(map(id, self.nodes))
        threads = collections.defaultdict(list)
        for span in trace.spans:
            if span.is_call:
                threads[span.pid, span.tid].append(span)
        for thread, calls in threads.items():
            nodes, place, running = self.threads.get(thread, []), 0, []
            for call in sorted(calls, key=lambda span: span.us):
                while place < len(nodes) and nodes[place].start <= call.us:
                    if nodes[place].span.is_op and id(nodes[place]) in kept:
                        running.append(nodes[place])
                    place += 1
                running = [node for node in running if node.end > call.us]
                if running:
                    out[id(call)] = running[-1]
        return out

    def _is_merged(self, node):
        """Whether a node goes into its parent; gives its calls and children to it."""
        return id(node) in self._merged

    @functools.cached_property
    def _merged(self):
        gone = set()
        for node in self.nodes:
            while len(node.children) == 1 and node.children[0].name == node.name and \
                    node.span.is_op:
                child = node.children[0]
                gone.add(id(child))
                node.calls += child.calls
                node.children = child.children
        return gone

    def _device(self, node):
        return sum(span.dus for call in node.calls for span in self.work.get(call.correlation, ()))

    @functools.cached_property
    def table(self):
        """{name: calls, host and device figures}"""
        total = {}
        for node in reversed(self.nodes):
            total[id(node)] = self._device(node) + sum(total.get(id(child), 0.0)
                                                       for child in node.children)
        out = collections.defaultdict(collections.Counter)
        for node in self.nodes:
            if not node.span.is_op or \
                    node.name.startswith(("Optimizer.", "ProfilerStep#", *NO_OPERATOR)):
                continue
            row = out[node.name]
            row["calls"] += 1
            row["host_total"] += node.end - node.start
            row["host_self"] += node.end - node.start - \
                sum(child.end - child.start for child in node.children) - \
                sum(call.dus for call in node.calls)
            row["device_self"] += self._device(node)
            row["device_total"] += total[id(node)]
        return out


class Steps:
    """Steps as the plug-in cuts them, and their parts."""

    def __init__(self, trace):
        self.trace = trace
        self.kinds = [(span, kind_of(span)) for span in trace.spans]
        marks = sorted((us(span), span.name.partition("#")[2]) for span, kind in self.kinds
                       if kind in ("annotation", "operator") and
                       re.fullmatch(r"ProfilerStep#\d+", span.name))
        if not marks:
            host = [us(span) for span, kind in self.kinds if kind == "operator"]
            marks = [((min(start for start, _ in host), max(end for _, end in host)), "0")] \
                if host else []
        self.marks = marks
        self.work = collections.defaultdict(list)
        for span in trace.device:
            self.work[span.correlation].append(span)
        self.steps = self._cut()

    def _launched(self, start, end):
        return [span for call, kind in self.kinds if kind == "runtime" and call.correlation >= 0
                and start <= call.us and call.us + call.dus <= end
                for span in self.work.get(call.correlation, ())]

    def _cut(self):
        launched = [self._launched(*mark) for mark, _ in self.marks]
        inside = {id(span) for spans in launched for span in spans}
        before = None
        if launched and launched[0]:
            first = min(span.us for span in launched[0])
            ends = [us(span)[1] for span in self.trace.device
                    if id(span) not in inside and us(span)[1] <= first]
            before = max(ends, default=None)
        steps = []
        for (mark, name), spans in zip(self.marks, launched):
            start = mark[0] if before is None else max(before, mark[0])
            end = max([mark[1], *(us(span)[1] for span in spans)])
            steps.append((name, start, max(start, end), len(spans)))
            before = end
        while steps and any(step[3] for step in steps) and not steps[-1][3]:
            steps.pop()
        if len(steps) > 1 and steps[-1][3] < .8 * steps[-2][3]:
            steps.pop()
        return steps

    @functools.cached_property
    def covers(self):
        """Intervals by part, in the order of their priority."""
        ids = {span.args.get("External id", span.args.get("external id"))
               for span, kind in self.kinds
               if kind in ("operator", "annotation") and COLLECTIVE.match(span.name)}
        parts = collections.defaultdict(list)
        for span, kind in self.kinds:
            ident = span.args.get("External id", span.args.get("external id"))
            if kind == "kernel" and ident in ids and ident is not None:
                kind = "communication"
            elif kind in ("operator", "annotation") and COLLECTIVE.match(span.name):
                kind = "communication"
            elif kind in ("operator", "annotation") and LOADER.match(span.name):
                kind = "dataloader"
            elif kind in ("operator", "annotation") and span.name.startswith("ProfilerStep#"):
                continue
            elif kind in HOST:
                kind = "cpu_exec"
            if kind:
                parts[kind].append(us(span))
        return {part: union(parts[part]) for part in PARTS}

    @functools.cached_property
    def table(self):
        """A row per step."""
        rows = []
        for name, start, end, _ in self.steps:
            row, free = {"name": name, "total": end - start}, [[start, end]]
            for part in PARTS:
                row[part] = length(intersection(free, self.covers[part]))
                free = minus(free, self.covers[part])
            row["other"] = length(free)
            kernel, comm = self.covers["kernel"], self.covers["communication"]
            if not kernel and not comm:
                kernel = self.covers["cpu_exec"]
            inside = [[start, end]]
            both = length(intersection(intersection(kernel, comm), inside))
            row["overlap"] = both
            row["computation"] = length(intersection(kernel, inside)) - both
            row["only_communication"] = length(intersection(comm, inside)) - both
            row["rest"] = row["total"] - row["computation"] - row["only_communication"] - both
            rows.append(row)
        return rows

    def window(self):
        return (self.steps[0][1], self.steps[-1][2]) if self.steps else (0, 0)


def device_figures(trace, window, device):
    """Utilization, SM efficiency and occupancy of a device within a window."""
    start, end = window
    kernels = [span for span in trace.device if span.kind == "kernel"
               and str(span.args.get("device", span.pid)) == device]
    inside = [(span, max(start, span.us), min(end, us(span)[1])) for span in kernels]
    inside = [(span, low, high) for span, low, high in inside if low < high]
    busy = length(union([(low, high) for _, low, high in inside]))
    out = {"utilization": busy / (end - start) if end > start else None}
    out["est_sm_efficiency"] = sm_efficiency(inside, end - start)
    known = [(number(span.args["est. achieved occupancy %"]), high - low)
             for span, low, high in inside if "est. achieved occupancy %" in span.args]
    time = sum(part for _, part in known)
    out["est_achieved_occupancy_pct"] = \
        sum(value * part for value, part in known) / time if time else None
    return out


def sm_efficiency(inside, window):
    changes = collections.Counter()
    some = False
    for span, low, high in inside:
        blocks = number(span.args.get("blocks per SM"))
        if blocks > 0:
            some = True
            changes[low] += blocks
            changes[high] -= blocks
    if not some or not window:
        return None
    total, running, before = 0.0, 0.0, None
    for at in sorted(changes):
        if before is not None:
            total += min(1.0, running) * (at - before)
        running, before = running + changes[at], at
    return total / window


def kernel_table(trace):
    """{kernel: statistics, blocks and occupancy weighted by duration}"""
    groups = collections.defaultdict(list)
    for span in trace.device:
        if span.kind == "kernel":
            groups[span.name].append(span)
    return {name: of_kernels(spans) for name, spans in groups.items()}


def of_kernels(spans):
    times = [span.dus for span in spans]
    total = sum(times)

    def weighted(key):
        if not total:
            return 0.0
        return sum(number(span.args.get(key)) * span.dus for span in spans) / total

    return {"calls": len(spans), "total": total, "mean": mean(times), "min": min(times),
            "max": max(times), "blocks_per_sm": weighted("blocks per SM"),
            "occupancy": weighted("est. achieved occupancy %")}
