# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of other tools about two traces, beside those of a comparison."""
import bisect
import collections
import dataclasses
import functools
import math

from . import hta_model, hta_rank, tb_plugin_tree, tracelens_tree
from .causes import blame
from .ledger import DESCRIBES, DIFFERS, OTHER, RESTATED, THEIRS, Case, Ledger, Rule, is_number
from .trace import trace_at

TITLE = "comparisons of traces, all three"
FOLDER = "."

FIRST_STEP = Rule(
    DIFFERS, "The first step of each trace",
    "Of runs with steps only what the calls of the first one launched is compared, and that is the "
    "one that warms up. We compare whole runs and say what a step takes.")
NO_STEP = Rule(
    DIFFERS, "Work of no step left out",
    "What was launched before the first marker, or by no call that is recorded, is compared with "
    "nothing. We count it.")
CAUSES = {"first_step": FIRST_STEP, "any_step": NO_STEP,
          **{name: hta_rank.CAUSES[name] for name in ("inward", "any_stream")}}
SHORT = Rule(
    RESTATED, "Names without arguments",
    "Kernels that differ in arguments of templates or of functions are added up. diff.kernels "
    "keeps them apart and joins a renamed one with what it was.")
MAIN = Rule(
    DIFFERS, "Operators of the main thread, within steps",
    "What other threads run - all of the backward pass - is not compared, nor what is between "
    "steps. diff.ops has all.")
DEVICE = Rule(
    THEIRS, "Device time by operator, compared",
    "With what the operators that it called launched. diff.kernels has device time by kernel, and "
    "ops.device_time of each run that by operator.")
SELF = Rule(
    THEIRS, "Own time of an operator, compared",
    "Without children and calls of the runtime. diff.ops has totals, ops.by_name of each run own "
    "times.")
PARTS = Rule(
    THEIRS, "Parts between modules",
    "Steps are cut at modules, optimizers and data loading that both runs have, and the parts laid "
    "side by side: time of the host and of the device below each, and of the device where there is "
    "any. diff.waterfall has the change of the whole window by name.")
UNLINKED = Rule(
    DIFFERS, "Work without an operator above it left out",
    "Kernels of graph replays and calls outside of operators are in no tree: most of a decode step "
    "is not compared, and no total says so. Our terms add up to the change of the window.")
TREE = Rule(
    OTHER, "Sums by node of a merged tree",
    "Trees of Python frames and operators are matched position by position, and kernels belong to "
    "the lowest node that both have: what it is called hangs on the order of the walk. Each sum "
    "lies between what the shortest and the longest as many kernels below nodes of that name take, "
    "and all together are what operators launched. Kernels that took the place of others are in "
    "diff.sets.")
NEAREST = Rule(
    THEIRS, "Device time by nearest operator, compared",
    "Without memory sets. diff.kernels has device time by kernel, and ops.device_time of each run "
    "that by operator.")
SETTINGS = Rule(DESCRIBES, "Names and settings", "No figures.", proved=False)


class Side:
    """One trace of a pair, with its report."""

    def __init__(self, path, run):
        self.path, self.trace, self.report = path, trace_at(path), run.report(path)


class Found:
    """What a comparison says of the names of each side, in (calls, ns)."""

    def __init__(self, comparison):
        self.names = [collections.defaultdict(collections.Counter) for _ in range(2)]
        for table, kind in (("diff.ops", "CPU"), ("diff.kernels", "GPU"), ("diff.copies", "GPU")):
            for row in comparison.rows(table):
                own = (row["name"], row["matched_as"] or row["name"])
                for side, word in enumerate(("base", "new")):
                    if row["status"] != ("added", "removed")[side]:
                        self.names[side][own[side]][kind, "count"] += row[f"{word}_calls"]
                        self.names[side][own[side]][kind, "us"] += row[f"{word}_total_ns"] / 1e3

    def value(self, side, kind, what, name):
        row = self.names[side].get(name, {})
        kinds = ("CPU", "GPU") if kind == "ALL" else (kind,)
        return sum(row.get((one, what), 0) for one in kinds)


# ---- Holistic Trace Analysis --------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Settings:
    """What HTA does to a pair of traces that changes figures."""
    inward: bool
    first_step: bool = True
    any_step: bool = True
    any_stream: bool = True


class HtaSide:
    """One side as HTA counts it."""

    def __init__(self, side):
        self.spans = hta_model.parsed(side.trace)
        steps = sorted((span.ts, span.end) for span in self.spans
                       if span.name.startswith("ProfilerStep#") and stream_of(span) < 0)
        self.steps, self.starts = steps, [start for start, _ in steps]
        called = {span.correlation: span for span in self.spans
                  if stream_of(span) < 0 and span.correlation > 0}
        self.step = {id(span): self.step_of(span if stream_of(span) < 0
                                            else called.get(span.correlation))
                     for span in self.spans}
        self.sums = functools.cache(self._sums)

    def step_of(self, span):
        """Number of the step in which a call or operator starts, from 1; 0 for none."""
        number = bisect.bisect_right(self.starts, span.ts) if span else 0
        return number if number and span.ts < self.steps[number - 1][1] else 0

    def _sums(self, settings):
        """{(name, kind): [calls, us]}"""
        out = collections.defaultdict(lambda: [0, 0.0])
        for span in self.spans:
            on_device = stream_of(span) >= 0 if settings.any_stream else bool(span.kind)
            if not settings.any_stream and not on_device and not is_host(span):
                continue
            step = self.step[id(span)]
            if settings.first_step and step != 1 or settings.any_step and not step:
                continue
            us = span.dur / 1e3
            if settings.inward:
                us = math.floor(span.us + span.dus) - math.ceil(span.us)
            entry = out[span.name, "GPU" if on_device else "CPU"]
            entry[0] += 1
            entry[1] += us
        return out

    def value(self, settings, kind, what, name):
        kinds = ("CPU", "GPU") if kind == "ALL" else (kind,)
        sums = self.sums(settings)
        return sum(sums[name, one][what == "us"] for one in kinds if (name, one) in sums)


def stream_of(span):
    try:
        return int(span.args.get("stream", -1))
    except (TypeError, ValueError):
        return -1


NO_HOST_SPANS = {"gpu_user_annotation", "trace", "cuda_sync", "cuda_profiler_range", "ac2g",
                 "async", "async_gpu", "async_cpu_to_gpu", "fwdbwd"}


def is_host(span):
    return not span.kind and (span.cat or "").lower() not in NO_HOST_SPANS


def short(name):
    """A name without what stands in brackets, and without the type it returns."""
    if name.startswith("Mem"):
        return name
    out = []
    for char in name.replace("->", ""):
        out.append(char)
        if char in ">)":
            opening = "<" if char == ">" else "("
            while out and out.pop() != opening:
                pass
    return "".join(out).split(" ")[-1]


class Hta:
    def __init__(self, case, sides, found):
        self.case, self.found = case, found
        self.sides = [HtaSide(side) for side in sides]
        self.fractional = sides[0].trace.fractional or sides[1].trace.fractional

    def claim(self, path, settings, value, ours):
        self.case.check(path, ours, blame(CAUSES, settings, value, self.case.leaves[path], ours))

    def row(self, at, kind, settings):
        name = self.case.at(*at)["name"]
        for what in ("count", "us"):
            for word, parts in (("control", (0,)), ("test", (1,)), ("diff", (1, 0))):
                signs = (1, -1)

                def value(settings, parts=parts, what=what):
                    return sum(sign * self.sides[side].value(settings, kind, what, name)
                               for sign, side in zip(signs, parts))

                ours = sum(sign * self.found.value(side, kind, what, name)
                           for sign, side in zip(signs, parts))
                self.claim((*at, f"{word}_{what}"), settings, value, ours)

    def totals(self, at, side, settings):
        for kind, row in self.case.at(*at).items():
            for what in row:
                def value(settings, kind=kind, what=what):
                    sums = self.sides[side].sums(settings)
                    return sum(entry[what == "us"] for (_, one), entry in sums.items()
                               if kind in ("ALL", one))

                ours = sum(self.found.value(side, kind, what, name)
                           for name in self.found.names[side])
                self.claim((*at, kind, what), settings, value, ours)

    def changes(self, at, settings):
        """How many names have more calls, fewer, and so on."""
        def counts(side, settings):
            out = collections.Counter()
            for (name, _), entry in self.sides[side].sums(settings).items():
                out[name] += entry[0]
            return out

        def sizes(before, after):
            out = collections.Counter()
            for name in before.keys() | after.keys():
                a, b = before[name], after[name]
                out["added" if not a else "deleted" if not b else "increased" if b > a else
                    "decreased" if b < a else "unchanged"] += 1
            return out

        ours = sizes(*(collections.Counter({name: self.found.value(side, "ALL", "count", name)
                                            for name in self.found.names[side]})
                       for side in range(2)))
        for key in self.case.at(*at):
            self.claim((*at, key), settings, lambda settings, key=key: sizes(
                *(counts(side, settings) for side in range(2)))[key], ours[key])

    def shortened(self, at, settings):
        name = self.case.at(*at)["name"]
        values = {}
        for what in ("count", "us"):
            for side, word in enumerate(("control", "test")):
                values[f"{word}_{what}"] = sum(
                    entry[what == "us"] for (long, kind), entry in
                    self.sides[side].sums(settings).items()
                    if kind == "GPU" and short(long) == name)
            values[f"diff_{what}"] = values[f"test_{what}"] - values[f"control_{what}"]
        for key, value in values.items():
            self.case.check((*at, key), None, [(SHORT, value)])

    def check(self):
        for variant in ("default", "exact"):
            if variant not in self.case.golden:
                continue
            first = Settings(inward=variant == "default" and self.fractional)
            for part in ("ALL", "CPU", "GPU", "GPU_all_steps", "GPU_short_names"):
                settings = dataclasses.replace(first, first_step=part != "GPU_all_steps")
                for index in range(len(self.case.at(variant, part))):
                    at = (variant, part, index)
                    if part == "GPU_short_names":
                        self.shortened(at, settings)
                    else:
                        self.row(at, part.split("_")[0], settings)
            self.changes((variant, "ops_diff_sizes"), first)
            for side, word in enumerate(("control_totals", "test_totals")):
                self.totals((variant, word), side, first)
            for part in ("control_rank", "test_rank", "control_steps", "test_steps", "ops_diff"):
                self.case.say(SETTINGS, variant, part)


# ---- TraceLens ----------------------------------------------------------------------------------

MEMSETS = Rule(
    DIFFERS, "Memory sets left out",
    "They are in the trees, and in no sum. Ours are all device activities.")


def has_operator(side):
    """Time of kernels and copies whose call stands in an operator, of those and memory sets, and of
    all device activities."""
    threads = collections.defaultdict(list)
    for span in side.trace.spans:
        if span.is_op:
            threads[span.pid, span.tid].append((span.ts, span.end))
    calls = {}
    for span in side.trace.spans:
        if span.is_call and span.correlation > 0:
            calls.setdefault(span.correlation, span)
    listed = inside = every = 0
    for span in side.trace.device:
        call = calls.get(span.correlation)
        every += span.dur
        if call and any(start <= call.ts < end for start, end in threads[call.pid, call.tid]):
            inside += span.dur
            listed += span.dur * (span.kind != "memset")
    return listed / 1e3, inside / 1e3, every / 1e3


def check_tracelens(case, sides, found):
    for side, (word, column) in enumerate((("trace1", "baseline"), ("trace2", "variant"))):
        report = sides[side].report
        listed, inside, every = has_operator(sides[side])
        ours = sum(found.value(side, "GPU", "us", name) for name in found.names[side])
        if case.has("kernel_time_by_source", word):
            rule = UNLINKED if inside < every else MEMSETS
            ways = [(rule, listed)] if abs(ours - every) < 1e-3 else []
            case.check(("kernel_time_by_source", word), ours, ways)
        for index, row in enumerate(case.golden.get("by_cpu_op", ())):
            cells = report.rows("ops.device_time", name=row["op"])
            own = cells[0] if cells else {"device_total_ns": 0, "kernels": 0}
            case.check(("by_cpu_op", index, f"{column}_us"), own["device_total_ns"] / 1e3)
            case.check(("by_cpu_op", index, f"{column}_kernels"), own["kernels"])
    if case.golden.get("identical"):
        comparison = found.comparison
        case.check(("identical",), all(row["delta_ns"] == 0
                                       for table in ("diff.ops", "diff.kernels")
                                       for row in comparison.rows(table)))
    works = [tracelens_tree.Work(side.trace) for side in sides]
    tracelens_tree.check_operators(case, NEAREST, works)
    tracelens_tree.check_nodes(case, TREE, works)
    tracelens_tree.check_counts(case, TREE, works)


# ---- TensorBoard plug-in ------------------------------------------------------------------------

class WithinSteps:
    """A trace with the operators that the main thread runs within steps."""

    def __init__(self, trace):
        steps = [span for span in trace.spans if span.name.startswith("ProfilerStep#")]
        main = (steps[0].pid, steps[0].tid)
        self.device, self.events = trace.device, trace.events
        self.spans = [span for span in trace.spans if not span.is_op or
                      (span.pid, span.tid) == main and
                      any(step.ts <= span.ts and span.end <= step.end for step in steps)]


class Parts:
    """What runs within steps, cut where both runs call the same of what parts are told by."""

    def __init__(self, sides):
        self.trees = [tb_plugin_tree.Operators(side.trace, tb_plugin_tree.Settings())
                      for side in sides]
        self.nodes = [[child for step in tree.nodes if step.name.startswith("ProfilerStep#")
                       for child in step.children] for tree in self.trees]

    def pairs(self):
        """Lists of nodes of each side, between cuts and at them; none are empty on both."""
        def key(node):
            cuts = tb_plugin_tree.is_module(node.span) or node.name.startswith(
                ("Optimizer.step", "enumerate(DataLoader)", tb_plugin_tree.BACKWARD))
            return node.name if cuts else None

        left, right = self.nodes
        out, done, start = [], 0, 0
        for place, node in enumerate(left):
            if key(node) is None:
                continue
            same = next((i for i in range(done, len(right)) if key(right[i]) == key(node)), None)
            if same is None:
                continue
            out += [(left[start:place], right[done:same]), ([node], [right[same]])]
            start, done = place + 1, same + 1
        out.append((left[start:], right[done:]))
        return [pair for pair in out if pair[0] or pair[1]]

    def figures(self, side, nodes):
        """Host, device, and the device where there is any, of the whole lists."""
        device = [self.trees[side].device[id(node)][1] for node in nodes]
        host = [node.end - node.start for node in nodes]
        return {"host": sum(host), "device": sum(device),
                "total": sum(own or other for own, other in zip(device, host))}

    def check(self, case):
        pairs = self.pairs()
        whole = [[node for pair in pairs for node in pair[side]] for side in range(2)]
        for index, row in enumerate(case.at("nodes")):
            numbers = [int(number) for number in row["path"].split("-")]
            pair = whole if len(numbers) == 1 else pairs[numbers[1]]
            for side, word in enumerate(("left", "right")):
                for what, value in self.figures(side, pair[side]).items():
                    case.check(("nodes", index, f"{word}_{what}"), None, [(PARTS, value)])
            case.check(("nodes", index, "children"), None,
                       [(PARTS, len(pairs) if pair is whole else 0)])


def check_tb_plugin(case, sides, found):
    Parts(sides).check(case)
    settings = tb_plugin_tree.Settings()
    theirs = [tb_plugin_tree.Operators(WithinSteps(side.trace), settings).table for side in sides]
    plain = [tb_plugin_tree.Operators(
        side.trace, dataclasses.replace(settings, merged=False, dropped=False, frames=False,
                                        backward=False)).table
        for side in sides]
    for index, row in enumerate(case.at("ops")):
        for side, word in enumerate(("left", "right")):
            at = ("ops", index, word)
            if not row[word]:
                continue
            model, whole = theirs[side][row["op"]], plain[side][row["op"]]
            for key, column, ours in (("calls", "calls", "count"), ("host", "host_total", "us")):
                value = found.value(side, "CPU", ours, row["op"])
                proof = [(MAIN, model[column])] if abs(whole[column] - value) < 1e-3 else []
                case.check((*at, key), value, proof)
            for key, column, rule in (("device", "device_total", DEVICE),
                                      ("self_device", "device_self", DEVICE),
                                      ("self_host", "host_self", SELF)):
                case.check((*at, key), None, [(rule, model[column])])
        for key, column, rule in (("self_device_delta", "device_self", DEVICE),
                                  ("self_host_delta", "host_self", SELF)):
            values = [theirs[side][row["op"]][column] if row[word] else 0
                      for side, word in enumerate(("left", "right"))]
            case.check(("ops", index, key), None, [(rule, values[1] - values[0])])


# ---- together -----------------------------------------------------------------------------------

def only_file(folder):
    return next(path for path in sorted(folder.iterdir()) if ".json" in path.name)


def pair_of(golden, traces):
    if "control" in golden:
        return [traces / golden["control"], traces / golden["test"]]
    names = golden["pair"].split("_vs_") if "baseline" not in golden else \
        [golden["baseline"], golden["variant"]]
    if len(names) == 2 and not (traces / names[1]).is_dir():
        names[1] = names[0].rsplit("_", 1)[0] + "_" + names[1]
    return [only_file(traces / name) for name in names]


def is_comparison(path):
    return path.parent.name == "diff" or path.stem.startswith("diff__")


def check(goldens, traces, run, only=""):
    ledger = Ledger(TITLE)
    for path, golden in goldens:
        if not is_comparison(path) or only not in path.stem:
            continue
        case = Case(path.stem, golden)
        ledger.cases.append(case)
        pair = pair_of(golden, traces)
        sides = [Side(file, run) for file in pair]
        comparison = run.comparison(*pair)
        found = Found(comparison)
        found.comparison = comparison
        if "control" in golden:
            Hta(case, sides, found).check()
        elif path.parent.parent.name == "tracelens":
            check_tracelens(case, sides, found)
        else:
            check_tb_plugin(case, sides, found)
        for leaf, value in case.leaves.items():
            if not is_number(value):
                case.say(SETTINGS, *leaf)
    return ledger
