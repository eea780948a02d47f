# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparisons of TraceLens, as far as they do not hang on how it walks two trees: what the nearest
operators launched; and of a node of its merged tree, whatever it is matched with, between what its
figures lie. Times are microseconds."""
import collections
import functools
import re

from .ledger import agree

PATH = {"cpu_op", "python_function", "cuda_runtime", "hip_runtime", "cuda_driver", "hip_driver",
        "user_annotation"}


def folded(name):
    """A name of Python code without the line."""
    return re.sub(r"\(\d+\)", "", name)


class Work:
    """What was launched below an operator, and what leads to it."""

    def __init__(self, trace):
        self.chains = self._chains(trace)
        below = [span for span in trace.device if any(node.is_op for node in self.path(span))]
        self.launched = [span for span in below if span.kind != "memset"]
        on_path = {id(node) for span in trace.device for node in (*self.path(span), span)}
        self.nodes = len(on_path)

    @staticmethod
    def _chains(trace):
        """{correlation: what is open around the call, and the call}"""
        threads, out = collections.defaultdict(list), {}
        for span in trace.spans:
            if (span.cat or "").lower() in PATH:
                threads[span.pid, span.tid].append(span)
        for spans in threads.values():
            stack = []
            for span in sorted(spans, key=lambda span: (span.ts, -span.dur, span.order)):
                while stack and stack[-1].end <= span.ts and \
                        not stack[-1].end == span.ts == span.end:
                    stack.pop()
                stack.append(span)
                if span.is_call and span.correlation > 0:
                    out.setdefault(span.correlation, list(stack))
        return out

    def path(self, span):
        return self.chains.get(span.correlation, ())

    def operators(self):
        """{nearest operator: [number of activities, time]}"""
        out = collections.defaultdict(lambda: [0, 0.0])
        for span in self.launched:
            row = out[next(node.name for node in reversed(self.path(span)) if node.is_op)]
            row[0] += 1
            row[1] += span.dus
        return out

    @functools.cached_property
    def below(self):
        """{name: durations of the activities below nodes of that name, ascending}"""
        out = collections.defaultdict(list)
        for span in self.launched:
            for name in {folded(node.name) for node in self.path(span)} | {folded(span.name)}:
                out[name].append(span.dus)
        return {name: sorted(times) for name, times in out.items()}

    def may_be(self, names, count, time):
        """Whether so many activities below nodes of one of these names can take that time."""
        return any(count <= len(times) and
                   sum(times[:count]) - 0.01 <= time <= sum(times[len(times) - count:]) + 0.01
                   for times in (self.below.get(name, []) for name in names))


def check_operators(case, rule, works):
    sums = [work.operators() for work in works]
    for index, row in enumerate(case.golden.get("by_cpu_op", ())):
        (calls, before), (more, after) = (side.get(row["op"], (0, 0.0)) for side in sums)
        at = ("by_cpu_op", index)
        for key, value in (("baseline_us", before), ("variant_us", after),
                           ("baseline_kernels", calls), ("variant_kernels", more),
                           ("diff_us", after - before)):
            if (*at, key) not in case.entries: # it may be ours
                case.check((*at, key), None, [(rule, value)])
        if before:
            case.check((*at, "pct"), None, [(rule, 100 * (after - before) / before)], 1e-4)


def check_nodes(case, rule, works):
    """Rows of the merged tree; all of them together are what was launched below operators."""
    rows = case.golden.get("by_lca_name", ())
    for side, (work, word) in enumerate(zip(works, ("baseline", "variant"))):
        whole = sum(row[f"{word}_kernels"] for row in rows) == len(work.launched) and agree(
            sum(row[f"{word}_us"] for row in rows), sum(span.dus for span in work.launched), 1e-3)
        for index, row in enumerate(rows):
            names = row["lca"].split(" | ")
            at = ("by_lca_name", index)
            count, time = row[f"{word}_kernels"], row[f"{word}_us"]
            if whole and work.may_be(names[side:] or names, count, time):
                case.put(rule, (*at, f"{word}_us"))
                case.put(rule, (*at, f"{word}_kernels"))
    for index, row in enumerate(rows):
        case.check(("by_lca_name", index, "diff_us"), None,
                   [(rule, row["variant_us"] - row["baseline_us"])])


def check_counts(case, rule, works):
    rows, nodes = case.golden["gpu_rows"], case.golden["merged_nodes"]
    for work, word in zip(works, ("trace1", "trace2")):
        path = ("gpu_rows", word) if isinstance(rows, dict) else ("gpu_rows",)
        case.check(path, None, [(rule, len(work.launched))])
        if nodes["combined"] + nodes.get(word, 0) <= work.nodes:
            for key in {"combined", word} & nodes.keys():
                case.put(rule, ("merged_nodes", key))
    if case.has("by_lca_name"):
        case.check(("by_lca_name_rows",), None, [(rule, len(case.at("by_lca_name")))])
        if len(case.at("by_lca_name")) <= case.golden["lca_groups"] <= \
                max(len(work.launched) for work in works):
            case.put(rule, ("lca_groups",))
