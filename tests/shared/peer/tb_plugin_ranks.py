# SPDX-License-Identifier: GPL-3.0-or-later
"""The distributed view of the TensorBoard plug-in: collectives of workers, matched by position.
Times are microseconds."""
import collections
import math

from .ledger import THEIRS, Rule
from .tb_plugin_model import COLLECTIVE, kind_of, us
from .trace import intersection, length, union

BYTES = {"long": 8, "long int": 8, "float": 4, "int": 4, "half": 2, "c10::half": 2,
         "c10::bfloat16": 2, "uint8": 1}
STEPS = Rule(
    THEIRS, "Steps of workers, and waiting in them",
    "Computation, overlap, communication and the rest of a step; the calls of collectives count as "
    "communication, and what is shortest over the workers as transfer. gpu_time.by_rank has the "
    "same of the window by kernels, collectives.by_kind what is waiting.")
CALLS = Rule(
    THEIRS, "Collectives of a worker",
    "Calls, bytes, and time of call and kernel together. collectives.by_kind has kernels, and the "
    "transfer as the time from the last arrival on.")


class Collective:
    """A call with its kernels; what of it is transfer is known once all workers are."""

    def __init__(self, span, kernels):
        self.name, self.size = span.name, size_of(span)
        self.ranges = [us(span)] + sorted(us(kernel) for kernel in kernels)
        self.transfer = []


def size_of(span):
    kinds = span.args.get("Input type", [])
    return sum(math.prod(dims) * BYTES.get(kind.lower(), 0)
               for dims, kind in zip(span.args.get("Input Dims", []), kinds))


def ident_of(span):
    return span.args.get("External id", span.args.get("external id"))


class Worker:
    def __init__(self, trace):
        below = collections.defaultdict(list)
        for span in trace.device:
            if span.kind == "kernel":
                below[ident_of(span)].append(span)
        host = [span for span in trace.spans if kind_of(span) == "operator"]
        calls = sorted((span for span in host if COLLECTIVE.match(span.name)),
                       key=lambda span: span.us)
        own = {id(kernel) for call in calls for kernel in below[ident_of(call)]}
        self.collectives = [Collective(call, below[ident_of(call)]) for call in calls]
        # Without kernels, operators take their place.
        work = [us(span) for kernels in below.values() for span in kernels
                if id(span) not in own] or \
            [us(span) for span in host if not COLLECTIVE.match(span.name)]
        self.step = [[min(span.us for span in host), max(us(span)[1] for span in host)]]
        self.work = intersection(union(work), self.step)

    def parts(self):
        """Computation, overlap, communication, and the rest of the step."""
        spans = intersection(union(one for call in self.collectives for one in call.ranges),
                             self.step)
        both = length(intersection(spans, self.work))
        busy, moving = length(self.work), length(spans)
        return [busy - both, both, moving - both, length(self.step) - busy - moving + both]

    def waits(self):
        """Transfer and waiting."""
        moving = length(union(one for call in self.collectives for one in call.transfer))
        return [moving, length(union(one for call in self.collectives
                                     for one in call.ranges)) - moving]

    def rows(self):
        """{name: calls, bytes, time, transfer, each with its mean but the first}"""
        groups = collections.defaultdict(list)
        for call in self.collectives:
            groups[call.name].append(call)
        out = {}
        for name, calls in groups.items():
            sums = [sum(call.size for call in calls)] + [
                length(union(one for call in calls for one in getattr(call, what)))
                for what in ("ranges", "transfer")]
            out[name] = [len(calls)] + [figure for total in sums
                                        for figure in (total, math.floor(total / len(calls) + .5))]
        return out


def match(workers):
    """What is shortest over the workers, at the end of each one's own, is transfer."""
    for calls in zip(*(worker.collectives for worker in workers)):
        for ranges in zip(*(call.ranges for call in calls)):
            least = min(end - start for start, end in ranges)
            for call, (_, end) in zip(calls, ranges):
                call.transfer.append((end - least, end))


def check(case, traces):
    """`traces`: by the names of the workers."""
    if not case.has("distributed"):
        return
    workers = {name: Worker(trace) for name, trace in traces.items()}
    match(workers.values())
    for table, figures in (("steps_to_overlap", Worker.parts), ("steps_to_wait", Worker.waits)):
        for step in case.at("distributed").get(table, {}):
            for name, worker in workers.items():
                for place, value in enumerate(figures(worker)):
                    case.check(("distributed", table, step, name, place), None, [(STEPS, value)])
    for name, part in case.at("distributed").get("comm_ops", {}).items():
        own = workers[name].rows()
        for index, row in enumerate(part["rows"]):
            for place, value in enumerate(own.get(row[0], []), 1):
                case.check(("distributed", "comm_ops", name, "rows", index, place), None,
                           [(CALLS, value)])
