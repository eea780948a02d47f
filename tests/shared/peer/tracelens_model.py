# SPDX-License-Identifier: GPL-3.0-or-later
"""The definitions of TraceLens 0.1.0, applied to a trace; what is questionable in them can be
switched off. Times are microseconds."""
import bisect
import collections
import dataclasses
import functools
import itertools
import re

from .trace import length, mean, minus, union

COPY_KERNELS = ("MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST",
                "MEMORY_COPY_DEVICE_TO_DEVICE", "__amd_rocclr_copyBuffer")
NUMBER = re.compile(r"_\d+$")
COMM, COPY, COMPUTE = "comm", "memcpy", "computation"


@dataclasses.dataclass(frozen=True)
class Settings:
    """What TraceLens does that changes figures."""
    linked: bool          # only activities whose launch was found by a pair of flow events
    memset: bool = True   # memory sets count as computation
    names: bool = True    # communication by three words in the name, else as we have it
    doubles: bool = True  # ends of events are sums of doubles
    tree: bool = True     # operators by its tree, else by time on the thread of the call
    external: bool = True # links by External id where the first launch has no correlation id


class Activity:
    __slots__ = ("span", "name", "start", "end", "stream", "kind")

    def __init__(self, span, settings, classes, origin):
        self.span, self.name = span, span.name
        self.start, self.end = (span.ts - origin) / 1e3, (span.end - origin) / 1e3
        if settings.doubles:
            self.start, self.end = span.us, span.us + span.dus
        self.stream = span.args.get("stream")
        self.kind = kind_of(span, settings, classes)

    @property
    def dur(self):
        return self.span.dus


def is_communication(name):
    return any(word in name.lower() for word in ("nccl", "rccl", "cross_device_reduce"))


def kind_of(span, settings, classes):
    if span.kind == "memcpy" or span.name.startswith(COPY_KERNELS):
        return COPY
    if is_communication(span.name) if settings.names else classes.get(span.name) == "comm":
        return COMM
    if span.kind == "memset" and not settings.memset:
        return "memset"
    return COMPUTE


def flows(trace):
    """Identifiers of launch flows that begin, and where they end."""
    starts, ends = set(), {}
    for event in trace.events:
        if event.get("cat") == "ac2g":
            if event.get("ph") == "s":
                starts.add(event.get("id"))
            elif event.get("ph") == "f":
                ends[event.get("id")] = event.get("pid"), event.get("tid")
    return starts, ends


class Links:
    """Activities by the call that launched them, as TraceLens finds them."""

    def __init__(self, trace):
        self.calls = [span for span in trace.spans
                      if (span.cat or "").lower() in ("cuda_runtime", "cuda_driver")]
        first = next((call for call in self.calls if "launch" in call.name.lower()), None)
        self.external = first is not None and "correlation" not in first.args
        key = "External id" if self.external else "correlation"
        starts, ends = flows(trace)
        by_place, by_key = {}, collections.defaultdict(list)
        for span in trace.device:
            by_place[span.pid, span.tid, span.args.get(key)] = span
            by_key[span.args.get(key)].append(span)
        self.work, self.call = {}, {}
        for call in self.calls:
            ident = call.args.get(key)
            if ident is None:
                continue
            if "GraphLaunch" in call.name:
                work = by_key.get(ident, [])
            else:
                found = by_place.get((*ends.get(ident, (None, None)), ident))
                work = [found] if ident in starts and ident in ends and found else []
            if work:
                self.work[call] = work
            for span in work:
                self.call[span] = call


class Tree:
    """Parents of operators and calls by time on their thread; what breaks nesting is left out."""

    def __init__(self, trace):
        threads = collections.defaultdict(list)
        for span in trace.spans:
            if (span.cat or "").lower() in ("cpu_op", "cuda_runtime", "cuda_driver"):
                threads[span.pid, span.tid].append(span)
        self.parent = {}
        for spans in threads.values():
            spans.sort(key=lambda span: span.us)
            stack = []
            for span in spans:
                end = span.us + span.dus
                while stack and stack[-1].us + stack[-1].dus <= span.us:
                    stack.pop()
                while stack and end > stack[-1].us + stack[-1].dus and \
                        stack[-1].us + stack[-1].dus - span.us < 1:
                    stack.pop()
                if stack and end > stack[-1].us + stack[-1].dus:
                    continue
                self.parent[span] = stack[-1] if stack else None
                stack.append(span)

    def launcher(self, call):
        """The first operator above a call, or the call."""
        above = self.parent.get(call)
        while above is not None and (not above.is_op or above.name == "execute"):
            above = self.parent.get(above)
        return above or call


class Frames:
    """Spans of threads that are looked for around others."""

    def __init__(self, trace, wanted):
        threads = collections.defaultdict(list)
        for span in trace.spans:
            if wanted(span.name):
                threads[span.pid, span.tid].append(span)
        self.threads = {key: (sorted(span.us for span in spans),
                              sorted(spans, key=lambda span: span.us))
                        for key, spans in threads.items()}

    def around(self, span):
        """The innermost one; None without."""
        starts, frames = self.threads.get((span.pid, span.tid), ((), ()))
        end = span.us + span.dus
        return next((frame for frame in reversed(frames[:bisect.bisect_right(starts, span.us)])
                     if frame.us + frame.dus >= end), None)


def module_name(frame):
    return NUMBER.sub("", frame.name) if frame else "NA"


class Contract:
    """Parents as in our reports: the innermost operator of the thread that is open at the start."""

    def __init__(self, trace):
        threads = collections.defaultdict(list)
        for span in trace.spans:
            if span.is_call or span.is_op and not span.name.startswith("ProfilerStep#"):
                threads[str(span.pid), str(span.tid)].append(span)
        self.parent = {}
        for spans in threads.values():
            spans.sort(key=lambda span: (span.ts, span.is_call, -span.dur, span.order))
            running = []
            for span in spans:
                running = [above for above in running if above.end > span.ts]
                self.parent[span] = running[-1] if running else None
                if span.is_op:
                    running.append(span)

    def launcher(self, call):
        return self.parent.get(call) or call


class Model:
    def __init__(self, trace, settings, classes, links, tree):
        self.trace, self.settings, self.links, self.tree = trace, settings, links, tree
        origin = min((span.ts for span in trace.device), default=0)
        self.work = [Activity(span, settings, classes, origin) for span in trace.device
                     if not settings.linked or span in links.call]

    def _call(self, work):
        by_id = self.links.external and not self.settings.external
        return None if by_id else self.links.call.get(work.span)

    @functools.cached_property
    def timeline(self):
        """gpu_timeline in µs."""
        return self.timeline_of(self.work)

    @staticmethod
    def timeline_of(activities):
        def intervals(*kinds):
            return union([(work.start, work.end) for work in activities
                          if not kinds or work.kind in kinds])

        busy = intervals()
        if not busy:
            return {}
        compute, comm, copies = (intervals(kind) for kind in (COMPUTE, COMM, COPY))
        total = busy[-1][1] - busy[0][0]
        return {"total_time": total, "busy_time": length(busy), "idle_time": total - length(busy),
                "computation_time": length(compute), "total_comm_time": length(comm),
                "total_memcpy_time": length(copies),
                "exposed_comm_time": length(minus(comm, compute)),
                "exposed_memcpy_time": length(minus(copies, intervals(COMPUTE, COMM)))}

    @functools.cached_property
    def launchers(self):
        """{launcher: its activities}, without communication."""
        out = collections.defaultdict(list)
        for work in self.work:
            call = self._call(work)
            if call is not None and (work.kind != COMM or not self.settings.tree):
                out[self.tree.launcher(call)].append(work)
        return out

    @functools.cached_property
    def ops(self):
        """{operator: number, sum of the unions of each}"""
        out = collections.defaultdict(lambda: [0, 0.0])
        for launcher, works in self.launchers.items():
            row = out[launcher.name]
            row[0] += 1
            row[1] += length(union([(work.start, work.end) for work in works]))
        return out

    @functools.cached_property
    def by_module(self):
        """{(operator, module): number, sum of the unions of each}"""
        modules = Frames(self.trace, lambda name: name.startswith("nn.Module: "))
        out = collections.defaultdict(lambda: [0, 0.0])
        for launcher, works in self.launchers.items():
            row = out[launcher.name, module_name(modules.around(launcher))]
            row[0] += 1
            row[1] += length(union([(work.start, work.end) for work in works]))
        return out

    @functools.cached_property
    def recomputed(self):
        """{whether it is below the function that computes again: (gpu_timeline, {operator: number,
        sum of the unions of each})}"""
        frames = Frames(self.trace, lambda name: "torch/utils/checkpoint.py" in name
                        and "recompute_fn" in name)
        parts = {True: [], False: []}
        ops = {part: collections.defaultdict(lambda: [0, 0.0]) for part in parts}
        for work in self.work:
            parts[frames.around(self.links.call[work.span]) is not None].append(work)
        for launcher, works in self.launchers.items():
            row = ops[frames.around(launcher) is not None][launcher.name]
            row[0] += 1
            row[1] += length(union([(work.start, work.end) for work in works]))
        return {part: (self.timeline_of(works), ops[part]) for part, works in parts.items()}

    @functools.cached_property
    def op_kernels(self):
        """Durations by operator, or call, kernel and stream."""
        out = collections.defaultdict(list)
        for work in self.work:
            if work.span.kind == "kernel":
                call = self.links.call.get(work.span)
                op = self.tree.launcher(call).name if call is not None else None
                out[op, work.name, work.stream].append(work.dur)
        return out

    @functools.cached_property
    def subtrees(self):
        """{operator: sum of the unions below its launchers}"""
        below = collections.defaultdict(list)
        for work in self.work:
            call = self.links.call.get(work.span)
            while call is not None and call in self.tree.parent:
                below[call].append(work)
                call = self.tree.parent[call]
        out = collections.Counter()
        for launcher in self.launchers:
            out[launcher.name] += length(union([(work.start, work.end)
                                                for work in below.get(launcher, ())]))
        return out

    def short(self, below=10):
        return sorted(work.dur for work in self.work
                      if work.span.kind == "kernel" and work.dur < below)

    def histogram(self, bins=100):
        values = self.short()
        low, high = values[0], values[-1]
        step = (high - low) / bins
        edges = [low + step * i for i in range(bins)]
        places = [bisect.bisect_left(values, edge) for edge in edges] + [len(values)]
        return low, high, [after - before for before, after in itertools.pairwise(places)]


def spread(values):
    return {"count": len(values), "sum_us": sum(values), "mean_us": mean(values),
            "min_us": min(values), "max_us": max(values)}
