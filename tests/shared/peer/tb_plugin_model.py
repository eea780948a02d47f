# SPDX-License-Identifier: GPL-3.0-or-later
"""The definitions of the TensorBoard plug-in torch-tb-profiler 0.4.3, applied to a trace; what is
questionable in them can be switched off. Times are microseconds."""
import collections
import functools
import re

from .trace import intersection, length, mean, minus, number, union

RUNTIME = ("runtime", "cuda_runtime", "mtia_runtime", "glow_runtime", "xpu_runtime",
           "privateuse1_runtime")
LOADER = re.compile(r"^enumerate\((DataLoader|DataPipe)\)#.*\.__next__$")
COLLECTIVE = re.compile(r"^(nccl|gloo):(broadcast|reduce|all_reduce|all_gather|reduce_scatter)$")
PARTS = ("kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec")
HOST = ("operator", "python", "annotation")


@functools.cache
def kind_of_category(category):
    category = (category or "").lower()
    if category in RUNTIME:
        return "runtime"
    return {"cpu_op": "operator", "operator": "operator", "python": "python",
            "python_function": "python_function", "user_annotation": "annotation",
            "gpu_user_annotation": "annotation"}.get(category)


def kind_of(span):
    """The type of an event; None for what is not read."""
    return span.kind or kind_of_category(span.cat)


def us(span):
    return span.us, span.us + span.dus


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
        launched, seen = [], set()
        for mark, _ in self.marks: # what lies in two of them belongs to the first
            launched.append([span for span in self._launched(*mark) if id(span) not in seen])
            seen.update(map(id, launched[-1]))
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
            before = max(start, end)
            steps.append((name, start, before, len(spans)))
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

    def parts(self):
        """{part: what of all steps goes to it}. Nothing left is taken for nothing taken yet."""
        whole = union([(start, end) for _, start, end, _ in self.steps])
        free, out = whole, {}
        for part in PARTS:
            free = free or whole
            out[part] = intersection(free, self.covers[part])
            free = minus(free, self.covers[part])
        out["other"] = free
        return out

    @functools.cached_property
    def table(self):
        """A row per step; without any event of the host one that ends before it begins."""
        if not self.marks:
            zeros = (*PARTS, "other", "overlap", "computation", "only_communication")
            return [{"name": "0", **dict.fromkeys(zeros, 0), "total": 1 - 2**64,
                     "rest": 1 - 2**64}]
        rows, parts = [], self.parts()
        for name, start, end, _ in self.steps:
            inside = [[start, end]]
            row = {"name": name, "total": end - start,
                   **{part: length(intersection(inside, times)) for part, times in parts.items()}}
            kernel, comm = self.covers["kernel"], self.covers["communication"]
            if not kernel:
                kernel = self.covers["cpu_exec"]
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


def utilization(trace, device):
    """(start, share of kernels) of buckets of the smallest power of ten µs that gives at most 100;
    the last takes what is left, and its end follows."""
    marks = [us(span) for span in trace.spans if span.name == "PyTorch Profiler (0)"] or \
        [us(span) for span in trace.spans]
    first, last = min(start for start, _ in marks), max(end for _, end in marks)
    size = 1
    while (last - first) / size > 100:
        size *= 10
    starts = [first + place * size for place in range(max(int((last - first) // size), 1))]
    ends = starts[1:] + [last]
    busy = union([us(span) for span in trace.device if span.kind == "kernel"
                  and str(span.args.get("device", span.pid)) == device])
    edges = list(zip(starts, ends))
    covered = dict.fromkeys(starts, 0.0)
    place = 0
    for low, high in intersection([list(edge) for edge in edges], busy):
        while place + 1 < len(starts) and starts[place + 1] <= low:
            place += 1
        covered[starts[place]] += high - low
    return [(start, covered[start] / (end - start) if end > start else 0.0)
            for start, end in edges] + [(last, 0)]


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
