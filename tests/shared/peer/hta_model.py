# SPDX-License-Identifier: GPL-3.0-or-later
"""The definitions of Holistic Trace Analysis 0.6.1, applied to a trace; what is questionable in
them can be switched off one by one. Times are microseconds."""
import collections
import dataclasses
import functools
import itertools
import math

from .trace import deviation, length, intersection, mean, minus, number, quantile, union

COMPUTATION, COMMUNICATION, MEMORY, OTHER = "COMPUTATION", "COMMUNICATION", "MEMORY", "OTHER"
NEVER_COMPUTATION = ("nccl", "hip", "hccl", "Stream Wait Event", "runFunction", "job_exe", "packet",
                     "pe_exe", "cpum_exe_subgraph", "collective_subgraph_execution")
STREAM_IDLE_CATEGORIES = {"kernel", "Kernel", "gpu_memset", "Memset", "gpu_memcpy", "Memcpy",
                          "mtia_ccp_events"}
QUEUE_CALLS = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx",
               "cudaMemcpyAsync", "cudaMemsetAsync", "hipLaunchKernel", "hipExtModuleLaunchKernel",
               "hipMemcpyAsync", "hipMemsetAsync", "hipMemcpyWithStream"}
LAUNCH_CALLS = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync"}
MTIA_CALL = "runFunction - job_prep_and_submit_for_execution"


@dataclasses.dataclass(frozen=True)
class Settings:
    """What HTA does that changes figures."""
    inward: bool         # fractional times are rounded inward to whole microseconds
    last_step: bool      # the last step is dropped, and what its calls launched
    any_stream: bool = True  # whatever has a stream counts as work of the device
    prefixes: bool = True    # classes by the start of the name, else as we have them
    doubles: bool = True     # times are doubles, which at stamps since 1970 are 0.25 µs apart


class Row:
    __slots__ = ("name", "cat", "ts", "dur", "stream", "correlation", "span")

    def __init__(self, span, settings, origin):
        self.name, self.cat, self.span = span.name, span.cat, span
        if settings.inward:
            start = math.ceil(span.us)
            self.ts, self.dur = start - origin, math.floor(span.us + span.dus) - start
        elif settings.doubles:
            self.ts, self.dur = span.us - origin, span.dus
        else:
            self.ts, self.dur = (span.ts - origin) / 1e3, span.dur / 1e3
        stream = span.args.get("stream", -1)
        try:
            self.stream = int(stream)
        except (TypeError, ValueError):
            self.stream = -1
        self.correlation = span.correlation

    @property
    def end(self):
        return self.ts + self.dur


def parsed(trace):
    """The spans that become rows."""
    return [span for span in trace.spans if span.cat and span.cat != "Trace"]


def origin_of(traces, settings):
    """The earliest start of all ranks, from which times count."""
    spans = [span for trace in traces for span in parsed(trace)]
    if settings.inward:
        return min((math.ceil(span.us) for span in spans), default=0)
    if settings.doubles:
        return min((span.us for span in spans), default=0)
    return min((span.ts for span in spans), default=0)


@functools.cache
def class_of(name):
    if name.startswith(("nccl", "hip", "hccl")) or "ncclKernel" in name:
        return COMMUNICATION
    if name.startswith(("Memcpy", "Memset", "dma")):
        return MEMORY
    if name.startswith(NEVER_COMPUTATION) or \
            (name.startswith("cuda") and "LaunchKernel" in name) or \
            any(word in name for word in ("Memcpy", "Memset", "dma", "Sync")):
        return OTHER
    return COMPUTATION


def describe(values):
    if not values:
        return {"count": 0}
    return {"count": len(values), "mean": mean(values), "std": deviation(values),
            "min": min(values), "25%": quantile(values, .25), "50%": quantile(values, .5),
            "75%": quantile(values, .75), "max": max(values)}


def once(method):
    """A method of a model whose value is kept."""
    @functools.wraps(method)
    def kept(self, *args):
        key = (method.__name__, *args)
        if key not in self.known:
            self.known[key] = method(self, *args)
        return self.known[key]
    return kept


class Model:
    """One rank of a trace as HTA holds it. `classes` tells our class of a kernel by its name."""

    def __init__(self, rows, settings, classes, names_of_steps):
        self.settings, self.classes, self.known = settings, classes, {}
        self.first_row = rows[0] if rows else None
        if settings.last_step and len(names_of_steps) > 1:
            rows = self._without_last_step(rows, names_of_steps)
        self.rows = rows
        self.device = [row for row in rows
                       if (row.stream != -1 if settings.any_stream else row.span.kind)]
        self._link()

    @staticmethod
    def _without_last_step(rows, names):
        last = max((row.ts for row in rows if row.name in names and row.stream == -1), default=None)
        if last is None:
            return rows
        kept = [row for row in rows if row.stream == -1 and row.ts < last]
        called = {row.correlation for row in kept if row.correlation >= 0}
        return [row for row in rows if row.stream != -1 and row.correlation in called] + kept

    def _link(self):
        calls = {}
        for row in self.rows:
            if row.stream == -1 and row.correlation >= 0:
                calls[row.correlation] = row
        self.launch = {row: calls[row.correlation] for row in self.device
                       if row.correlation in calls}

    def kind(self, row):
        if not self.settings.prefixes and row.span.kind == "kernel":
            return COMMUNICATION if self.classes.get(row.name) == "comm" else COMPUTATION
        return class_of(row.name)

    @once
    def intervals(self, kind=None):
        return union([(row.ts, row.end) for row in self.device
                      if kind is None or self.kind(row) == kind])

    # ---- breakdowns ----

    @once
    def temporal(self):
        busy = self.intervals()
        if not busy:
            return {}
        span = busy[-1][1] - busy[0][0]
        idle, compute = span - length(busy), length(self.intervals(COMPUTATION))
        rest = span - compute - idle
        return {"kernel_time(us)": span, "idle_time(us)": idle, "compute_time(us)": compute,
                "non_compute_time(us)": rest, "idle_time_pctg": 100 * idle / span,
                "compute_time_pctg": 100 * compute / span,
                "non_compute_time_pctg": 100 * rest / span}

    @once
    def overlap(self):
        comm = self.intervals(COMMUNICATION)
        if not comm or not length(comm):
            return None
        return 100 * length(intersection(comm, self.intervals(COMPUTATION))) / length(comm)

    @once
    def by_type(self, whole):
        """Time per set of classes that run together; `whole` truncates each segment. A row that
        ends before it starts leaves a class at one less than nothing for a moment."""
        kinds = (COMPUTATION, COMMUNICATION, MEMORY)
        names = {sum(1 << bit for bit in bits): " overlapping ".join(kinds[bit] for bit in bits)
                 for size in (1, 2, 3) for bits in itertools.combinations(range(3), size)}
        changes = collections.Counter()
        for bit, kind in enumerate(kinds):
            for start, end in self.intervals(kind):
                changes[start] += 1 << bit
                changes[end] -= 1 << bit
        out, running = collections.Counter(), 0
        for start, end in itertools.pairwise(sorted(changes)):
            running += changes[start]
            if running in names:
                out[names[running]] += int(end - start) if whole else end - start
        return out

    @once
    def kernels(self):
        """Statistics by class and name."""
        groups = collections.defaultdict(list)
        for row in self.device:
            groups[self.kind(row), row.name].append(row.dur)
        return {key: {"count": len(values), "sum (us)": sum(values), "max (us)": max(values),
                      "min (us)": min(values), "stddev": deviation(values) or 0,
                      "mean (us)": mean(values)} for key, values in groups.items()}

    @once
    def by_name(self):
        return {name: row for (_, name), row in self.kernels().items()}

    @once
    def default_kernels(self, kept=frozenset(), most=10, share=.8):
        """The default call: beyond ten names statistics of the sums of names. Of names with equal
        sums, whose order is open, those that it kept come first."""
        out = {}
        by_kind = collections.defaultdict(dict)
        for (kind, name), row in self.kernels().items():
            by_kind[kind][name] = row
        for kind, names in by_kind.items():
            if len(names) <= most:
                out.update({(kind, name): row for name, row in names.items()})
                continue
            order = sorted(names, key=lambda name: (-names[name]["sum (us)"], name not in kept))
            running = list(itertools.accumulate(names[name]["sum (us)"] for name in order))
            limit = quantile(running, share)
            groups = collections.defaultdict(list)
            for place, name in enumerate(order):
                other = running[place] > limit or place >= most
                groups["others" if other else name].append(names[name]["sum (us)"])
            for name, sums in groups.items():
                out[kind, name] = {"sum (us)": sum(sums), "max (us)": max(sums),
                                   "min (us)": min(sums), "mean (us)": mean(sums),
                                   "stddev": deviation(sums) or 0}
        return out

    # ---- streams ----

    @once
    def gaps(self, patience=30):
        """{stream: {category: gaps}}"""
        streams = collections.defaultdict(list)
        for row in self.device:
            if row.cat in STREAM_IDLE_CATEGORIES:
                streams[row.stream].append(row)
        out = {}
        for stream, rows in streams.items():
            rows.sort(key=lambda row: row.ts)
            kinds = collections.defaultdict(list)
            for before, row in itertools.pairwise(rows):
                gap = row.ts - before.end
                launch = self.launch.get(row)
                if launch is None and row.correlation >= 0:
                    launch = self.first_row
                kind = "other"
                if launch is not None and launch.ts > before.end:
                    kind = "host_wait"
                elif gap < patience:
                    kind = "kernel_wait"
                kinds[kind].append(gap)
            out[stream] = kinds
        return out

    @once
    def queue(self):
        """{stream: changes of the number launched and not started, in the order of time}"""
        last = {}
        for row, call in self.launch.items():
            if call.name in QUEUE_CALLS or call.name == MTIA_CALL:
                last.setdefault(call, []).append(row)
        streams = collections.defaultdict(list)
        for call, rows in last.items():
            streams[rows[-1].stream].append((call.ts, 1))
            for row in rows:
                streams[row.stream].append((row.ts, -1))
        return {stream: sorted(changes, key=lambda change: change[0])
                for stream, changes in streams.items()}

    @once
    def queue_lengths(self):
        return {stream: list(itertools.accumulate(step for _, step in changes))
                for stream, changes in self.queue().items()}

    @once
    def queue_full(self, limit=1024):
        """{stream: time at the limit}"""
        out = {}
        for stream, changes in self.queue().items():
            lengths = itertools.accumulate(step for _, step in changes)
            at = [ts for ts, _ in changes]
            full = sum(after - ts for (ts, after), queued in zip(itertools.pairwise(at), lengths)
                       if queued >= limit)
            if full:
                out[stream] = full
        return out

    @once
    def copies(self):
        """{kind of copy: changes of the bandwidth in the order of time}"""
        starts, ends = collections.defaultdict(list), collections.defaultdict(list)
        for row in self.device:
            if class_of(row.name) != MEMORY:
                continue
            name = "Memset" if row.name.startswith("Memset") else row.name[:11]
            value = number(row.span.args.get("memory bandwidth (GB/s)"))
            starts[name].append((row.ts, value))
            ends[name].append((row.ts + max(row.dur, 1), -value))
        return {name: sorted(starts[name] + ends[name], key=lambda change: change[0])
                for name in starts}

    @once
    def bandwidth(self):
        """{kind of copy: bandwidth at each change}"""
        out = {}
        for name, changes in self.copies().items():
            sums = itertools.accumulate(value for _, value in changes)
            values = [value for value in sums if value > 0]
            if values:
                out[name] = values
        return out

    @once
    def launches(self):
        """Pairs of call and activity."""
        return [(call, row) for row, call in self.launch.items()
                if call.name in LAUNCH_CALLS or call.name == MTIA_CALL]

    @once
    def annotations(self, cat):
        groups = collections.defaultdict(list)
        for row in self.rows:
            if row.cat == cat:
                groups[row.name].append(row.dur)
        return {name: {"sum (us)": sum(values), "max (us)": max(values), "min (us)": min(values),
                       "stddev": deviation(values) or 0, "mean (us)": mean(values)}
                for name, values in groups.items()}

    @once
    def counts(self):
        """Rows by category, rows of the device by category, and those that end before they
        start."""
        return (collections.Counter(row.cat for row in self.rows),
                collections.Counter(row.cat for row in self.device),
                sum(row.dur < 0 for row in self.rows), sum(row.dur < 0 for row in self.device))

    def uncovered(self, kind, others):
        """Time of a class that the others do not cover."""
        cover = union([tuple(pair) for other in others for pair in self.intervals(other)])
        return length(minus(self.intervals(kind), cover))
