# SPDX-License-Identifier: GPL-3.0-or-later
"""Units of work of TraceLens 0.1.0: which operators a row of its unified table stands for, and how
long the device worked for each. Times are microseconds."""
import collections
import statistics

from .trace import length, union
from .tracelens_model import COMM
from .tracelens_work import has_model


class Unit:
    """An operator with all that it launched, or one activity whose launcher did more than that."""
    __slots__ = ("name", "span", "time")

    def __init__(self, name, span, works):
        self.name, self.span = name, span
        self.time = length(union([(work.start, work.end) for work in works]))

    def argument(self, key):
        return self.span.args.get(key)


class Units:
    """All units of a model's tree."""

    def __init__(self, model):
        self.tree = model.tree
        self.below, self.own, self.children = ({}, collections.defaultdict(list),
                                               collections.defaultdict(list))
        for work in model.work:
            call = model.links.call.get(work.span)
            if call is not None and call in self.tree.parent and work.kind != COMM:
                self.hang(call, work)
        self.over_models = set()
        for span in self.tree.parent:
            if span.is_op and has_model(span.name):
                self.mark(self.tree.parent[span])
        self.all = []
        for root in [span for span in self.below if self.tree.parent[span] is None]:
            self.walk(root)

    def hang(self, call, work):
        """Counts an activity with its call and with all above it."""
        self.own[call].append(work)
        span = call
        while span is not None:
            above = self.tree.parent[span]
            if span not in self.below:
                self.below[span] = []
                self.children[above].append(span)
            self.below[span].append(work)
            span = above

    def mark(self, span):
        """Notes that something below has a model."""
        while span is not None and span not in self.over_models:
            self.over_models.add(span)
            span = self.tree.parent[span]

    def walk(self, span):
        if span.is_op and has_model(span.name):
            self.all.append(Unit(span.name, span, self.below[span]))
            return
        children = self.children[span]
        calls = [child for child in children if not child.is_op]
        if span.is_op and calls and span not in self.over_models:
            self.all.append(Unit(span.name, span, self.below[span]))
            return
        for child in children:
            if child.is_op:
                self.walk(child)
        for call in calls if span.is_op else [span]:
            for work in self.own[call]:
                self.all.append(Unit(f"{span.name}->{work.name} (Synthetic Op)", span, [work]))

    def groups(self, key):
        """Lists of units by what `key` makes of them."""
        out = collections.defaultdict(list)
        for unit in self.all:
            out[key(unit)].append(unit)
        return out


def spread(units):
    """Figures of the times of a group."""
    times = [unit.time for unit in units]
    return {"count": len(times), "kernel_us_sum": sum(times),
            "kernel_us_mean": sum(times) / len(times), "kernel_us_min": min(times),
            "kernel_us_max": max(times), "kernel_us_median": statistics.median(times)}
