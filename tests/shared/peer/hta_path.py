# SPDX-License-Identifier: GPL-3.0-or-later
"""The critical path of Holistic Trace Analysis 0.6.1: the longest path by weight through a graph of
the starts and ends of operators, calls and work of the device. Times are microseconds."""
import collections
import functools
import itertools
import re

from .hta_model import COMMUNICATION, MTIA_CALL, QUEUE_CALLS, class_of
from .ledger import THEIRS, Rule

PATH = Rule(
    THEIRS, "Critical path over the host from the first event",
    "The longest path by weight through a window of the host, which need not reach the device: a "
    "GPU that is 99 % busy comes out as 100 % bound by the CPU. critical_path.by_class covers the "
    "window of the device, and adds up to it.")
COINCIDENT = Rule(
    THEIRS, "Kernels behind a launch, or behind a kernel",
    "Where a call and the start of a kernel fall on the same µs their order is open, and so is "
    "which of the two edges a kernel gets. Theirs lies between what both orders give; the path "
    "does not hang on it.")

OPERATORS = {"cpu_op", "cuda_runtime", "cuda_driver"}
BLOCKING = {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventQuery",
            "cudaEventSynchronize"}
WHOLE = ("Context Sync", "Stream Sync") # waits that last until what they wait for has ended
FAR_US = 1500
OPERATOR, DEPENDENCY, SYNC, LAUNCH, KERNELS = (
    "critical_path_operator", "critical_path_dependency", "critical_path_sync_dependency",
    "critical_path_kernel_launch_delay", "critical_path_kernel_kernel_delay")


class Node:
    __slots__ = ("row", "is_start", "ts", "into")

    def __init__(self, row, is_start):
        self.row, self.is_start = row, is_start
        self.ts = row.ts if is_start else row.end
        self.into = {}


class Edge:
    __slots__ = ("kind", "weight", "row")

    def __init__(self, kind, weight, row):
        self.kind, self.weight, self.row = kind, weight, row


class Graph:
    """`launch_first` tells the order of a launch and a start at the same time."""

    def __init__(self, model, rows, launch_first=True):
        self.model, self.rows, self.launch_first = model, rows, launch_first
        self.nodes, self.start, self.end = [], {}, {}
        self.edges = collections.Counter()
        kept = set(rows)
        self.device = sorted((row for row in model.device if row in kept),
                             key=lambda row: row.ts)
        self.calls = {row.correlation: row for row in rows
                      if row.stream == -1 and row.cat in OPERATORS and row.correlation >= 0}
        self.parents = self.enclosing()
        self.host()
        self.work()

    def add(self, row):
        for is_start, nodes in ((True, self.start), (False, self.end)):
            node = Node(row, is_start)
            nodes[row] = node
            self.nodes.append(node)

    def link(self, before, after, kind, row=None, weight=None):
        if weight is None:
            weight = after.ts - before.ts
        self.edges[kind] += before not in after.into
        after.into[before] = Edge(kind, weight, row)

    # ---- the host ----

    def threads(self):
        out, names = collections.defaultdict(list), collections.defaultdict(set)
        for row in self.rows:
            place = row.span.pid, row.span.tid
            if row.stream == -1 and row.cat != "python_function":
                names[place].update(word for word in ("forward", "autograd") if word in row.name)
                if row.cat in OPERATORS:
                    out[place].append(row)
        forward, backward = ([place for place in out if word in names[place]]
                             for word in ("forward", "autograd"))
        if len(forward) == len(backward) == 1 and forward != backward:
            out[forward[0]] += out.pop(backward[0])
        return out

    def enclosing(self):
        """{row: the innermost one around it on its thread, whatever it is}"""
        out, threads = {}, collections.defaultdict(list)
        for row in self.rows:
            if row.stream == -1:
                threads[row.span.pid, row.span.tid].append(row)
        for rows in threads.values():
            stack = []
            for row in sorted(rows, key=lambda row: (row.ts, -row.dur)):
                while stack and stack[-1].end <= row.ts:
                    stack.pop()
                out[row] = stack[-1] if stack else None
                stack.append(row)
        return out

    def host(self):
        for rows in self.threads().values():
            self.thread(rows)

    def thread(self, rows):
        """Enters and leaves the calls of a thread in the order of the stack."""
        rows = sorted(rows, key=lambda row: (row.ts, -row.dur))
        stack, last, top = [], None, None
        for row in rows:
            while stack and stack[-1].end <= row.ts:
                last, top = self.leave(stack, last, top)
            self.add(row)
            node = self.start[row]
            if not stack and top is not None:
                self.link(top, node, DEPENDENCY, None, 0)
            if last is not None:
                self.link(last, node, OPERATOR, self.within(last))
            last = node
            stack.append(row)
        while stack:
            last, top = self.leave(stack, last, top)

    def within(self, node):
        """What was running after a start or an end of the host."""
        return node.row if node.is_start else self.parents[node.row]

    def leave(self, stack, last, top):
        row = stack.pop()
        node = self.end[row]
        self.link(last, node, OPERATOR, row, 0 if row.name in BLOCKING else None)
        return (node, top) if stack else (None, node)

    # ---- the device ----

    def queued(self):
        """{row: length of the queue of its stream after its launch, or its start}. A launch goes
        with the stream of the last activity that it launched."""
        changes = collections.defaultdict(list)
        last = {}
        for row, call in self.model.launch.items():
            if call.name in QUEUE_CALLS or call.name == MTIA_CALL:
                last.setdefault(call, []).append(row)
        for call, rows in last.items():
            changes[rows[-1].stream].append((call.ts, 1, call))
            for row in rows:
                changes[row.stream].append((row.ts, -1, row))
        out = {}
        for stream in changes.values():
            stream.sort(key=lambda change: (change[0], -change[1] if self.launch_first else 0))
            lengths = itertools.accumulate(step for _, step, _ in stream)
            out.update((row, length) for (_, _, row), length in zip(stream, lengths))
        return out

    def records(self):
        """{correlation of a cudaEventRecord: start of the call}"""
        return {row.correlation: row for row in self.rows if row.name == "cudaEventRecord"}

    def awaited(self, row):
        """The activity that ran last on a stream when an event was recorded there, by its launch;
        None when nothing tells."""
        args = row.span.args
        record = self.recorded.get(args.get("wait_on_cuda_event_record_corr_id"))
        if record is None:
            return None
        launched = [(call.ts, work) for work, call in self.model.launch.items()
                    if work in self.start and work.span.kind and call.ts < record.ts
                    and work.stream == args.get("wait_on_stream")]
        return max(launched, key=lambda pair: pair[0])[1] if launched else None

    def work(self):
        self.queue, self.recorded = self.queued(), self.records()
        for row in self.device:
            self.add(row)
        before, waits = {}, collections.defaultdict(list)
        rows = [row for row in self.rows if row.stream != -1 or row.cat == "cuda_sync"]
        for row in sorted(rows, key=lambda row: row.end if row.name in WHOLE else row.ts):
            if row.cat == "cuda_sync":
                self.synchronize(row, before, waits)
            elif row.span.kind:
                self.run(row, before.get(row.stream), waits.pop(row.stream, ()))
                before[row.stream] = row

    def run(self, row, previous, awaited):
        start, call = self.start[row], self.model.launch.get(row)
        self.link(start, self.end[row], OPERATOR, row)
        if call is not None:
            behind = [other for other in (previous, *awaited[:1]) if other is not None]
            if call in self.start and self.queue.get(call) == 1 and self.queue.get(row) == 0 and \
                    all(other.end < call.ts for other in behind):
                self.link(self.start[call], start, LAUNCH)
            elif previous is not None and row.ts - previous.end < FAR_US and \
                    all(other.end <= previous.end for other in awaited):
                self.link(self.end[previous], start, KERNELS, previous)
        for other in awaited: # one that still runs pushes what it is awaited by back
            self.link(self.end[other], start, SYNC, None, min(row.ts - other.end, 0))

    def synchronize(self, row, before, waits):
        if row.name == "Stream Wait Event":
            awaited = self.awaited(row)
            if awaited is not None:
                waits[row.stream].append(awaited)
            return
        call = self.calls.get(row.correlation)
        if call is None or call not in self.end:
            return
        ended = {"Stream Sync": [before[row.stream]] if row.stream in before else [],
                 "Context Sync": list(before.values()),
                 "Event Sync": [self.awaited(row)]}.get(row.name, [])
        for other in ended:
            if other is not None:
                self.link(self.end[other], self.end[call], SYNC, None, 0)

    # ---- the path ----

    def longest(self):
        """Of paths of the same length the first one, in the order of nodes and edges."""
        waiting = {node: len(node.into) for node in self.nodes}
        after = collections.defaultdict(list)
        for node in self.nodes:
            for other in node.into:
                after[other].append(node)
        free = [node for node in self.nodes if not waiting[node]]
        best = {}
        while free:
            generation, free = free, []
            for node in generation:
                most, via = None, node
                for other, edge in node.into.items():
                    length = best[other][0] + edge.weight
                    if most is None or length > most:
                        most, via = length, other
                best[node] = most or 0, via
                for other in after.get(node, ()):
                    waiting[other] -= 1
                    if not waiting[other]:
                        free.append(other)
        node = max(best, key=lambda node: best[node][0])
        path = [node]
        while best[node][1] is not node:
            node = best[node][1]
            path.append(node)
        return path[::-1]


def bound_of(edge):
    if edge.kind == OPERATOR:
        if edge.row is None or edge.row.stream == -1:
            return "cpu_bound"
        return "gpu_communication_bound" if class_of(edge.row.name) == COMMUNICATION \
            else "gpu_compute_bound"
    return {LAUNCH: "gpu_kernel_launch_overhead", KERNELS: "gpu_kernel_kernel_overhead"}.get(
        edge.kind, "none")


@functools.cache
def short(name):
    """Names without what is in brackets, and without the type of a function."""
    if name.startswith(("Memcpy", "Memset")) or not set("<(") & set(name):
        return name
    while True:
        shorter = re.sub(r"<[^<>]*>|\([^()]*\)", "", name)
        if shorter == name:
            return name.split(" ")[-1]
        name = shorter


def window(model, annotation, instance):
    """Rows from the first call to the last of a range: what takes time on the host, the last
    activity of each of its calls, and all waits of streams."""
    host = [row for row in model.rows if row.stream == -1 and row.dur > 0]
    if annotation:
        marks = [row for row in model.rows
                 if annotation in row.name and row.cat == "user_annotation"]
        mark = marks[instance]
        host = [row for row in host if mark.ts <= row.ts <= mark.end]
    calls = set(host)
    last = {call: row for row, call in model.launch.items()}
    return host + [row for row in model.device
                   if row.name == "Stream Wait Event" or
                   (model.launch.get(row) in calls and last[model.launch[row]] is row)]


def summary(graph):
    """The figures of a path as the tool shows them."""
    path = graph.longest()
    edges = [after.into[before] for before, after in itertools.pairwise(path)]
    kinds, bounds = (collections.defaultdict(lambda: [0, 0.0]) for _ in range(2))
    names = collections.Counter()
    for edge in edges:
        for row in (kinds[edge.kind], bounds[bound_of(edge)]):
            row[0] += 1
            row[1] += edge.weight
        if edge.row is not None:
            names[short(edge.row.name)] += edge.weight
    total = sum(edge.weight for edge in edges)
    return {"clipped_rows": len(graph.rows), "nodes_in_graph": len(graph.nodes),
            "edges_in_graph": sum(graph.edges.values()), "graph_edges_by_type": graph.edges,
            "path_nodes": len(path), "path_length_us": total, "path_edge_weight_sum_us": total,
            "first_ts_us": path[0].ts, "last_ts_us": path[-1].ts,
            "path_events": len({node.row for node in path}),
            "path_edges_by_type": {kind: {"edges": n, "us": us}
                                   for kind, (n, us) in kinds.items()},
            "bound_by": {bound: {"edges": n, "us": us} for bound, (n, us) in bounds.items()},
            "bound_by_pct": {"" if bound == "none" else bound: 100 * us / total
                             for bound, (_, us) in bounds.items()},
            "top_events_us": [{"us": us} for us in sorted(names.values(), reverse=True)]}


def found(value, path):
    for part in path:
        if isinstance(value, list) and part >= len(value):
            return None
        value = value[part] if isinstance(value, list) else value.get(part)
        if value is None:
            return None
    return value


def check(case, at, model):
    """Claims the figures of one path."""
    entry = case.at(*at)
    rows = window(model, entry["annotation"], entry["instance"])
    graph = Graph(model, rows)
    ours, other = summary(graph), None
    for leaf in case.below(*at):
        value = found(ours, leaf[len(at):])
        if value is None:
            continue
        if case.check(leaf, None, [(PATH, value)], 1e-5) is None and \
                leaf[-1] in (LAUNCH, KERNELS):
            other = other or Graph(model, rows, launch_first=False).edges
            low, high = sorted((graph.edges[leaf[-1]], other[leaf[-1]]))
            if low <= case.leaves[leaf] <= high:
                case.check(leaf, None, [(COINCIDENT, case.leaves[leaf])])
