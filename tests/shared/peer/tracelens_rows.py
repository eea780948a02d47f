# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of TraceLens about units of work: its unified table, and those by kind of operator."""
import collections
import functools

from .ledger import THEIRS, Rule, agree
from .tracelens_model import Settings
from .tracelens_units import Unit, Units, spread
from .tracelens_work import has_model, strides_that_count, work_of

UNITS = Rule(
    THEIRS, "Units of work",
    "One row per outermost operator with a model of its work, per operator below which none has "
    "one, and per kernel that is left, by shapes and types. ops.by_shape has operators by shapes.")
RATES = Rule(
    THEIRS, "Models of work, and rates by them",
    "FLOPs and bytes of models with the faults below, and means of the rates of single calls. "
    "roofline.by_op has rates of all calls together.")
NESTED = Rule(
    THEIRS, "Operators with a model, nested ones too",
    "By parameters and strides, also those that launched nothing.")
SHARED = Rule(
    THEIRS, "Shares of the units of work",
    "Of the sum of their rows, communication and unlinked work left out.")
KINDS = {"Reduce_fwd": "reduce", "UnaryElementwise": "elementwise",
         "BinaryElementwise": "elementwise"}


def names(value):
    """Lists as text, as their tables have them."""
    if value is None:
        return None
    if isinstance(value, list):
        return "(" + ", ".join(map(names, value)) + ("," if len(value) == 1 else "") + ")"
    return repr(value)


def shape_key(unit):
    """What the rows of the unified table that have the same name, shapes and types differ in comes
    last."""
    args = unit.span.args
    return (unit.name, names(args.get("Input Dims")), names(args.get("Input type")),
            str(args.get("Input Strides")), str(args.get("Concrete Inputs")), unit.span.tid)


def rates(units, work, arch):
    """What follows from the work of each of the units and their times."""
    out = {}
    if work is None:
        return out
    times = [unit.time for unit in units if unit.time]
    flops, size = work.flops, work.size
    if flops is not None:
        out["gflops"] = flops / 1e9
        if times:
            out["tflops_mean"] = sum(flops / time for time in times) / len(times) / 1e6
    if size is not None:
        out["data_moved_mib"] = size / 2**20
        if flops is not None and size:
            out["flops_per_byte"] = flops / size
        if times:
            out["tbps_mean"] = sum(size / time for time in times) / len(times) / 1e6
    peak = arch.get("max_achievable_tflops", {}).get(work.unit)
    if peak and flops is not None and size is not None:
        roofline = max(flops / peak / 1e6, size / arch["mem_bw_gbps"] / 1e3)
        out["roofline_us"] = roofline
        if times:
            out["pct_roofline_mean"] = 100 * sum(roofline / time for time in times) / len(times)
    return out


class Rows:
    """Claims the figures of these tables in one golden."""

    def __init__(self, case, subject):
        self.case, self.report = case, subject.report
        self.model = subject.model(Settings(linked=True))

    @functools.cached_property
    def units(self):
        return Units(self.model)

    @functools.cached_property
    def by_shape(self):
        return self.units.groups(shape_key)

    def claim(self, at, row, rule, figures, ours=None):
        for key, value in figures.items():
            if key in row and (*at, key) not in self.case.entries:
                self.case.check((*at, key), (ours or {}).get(key), [(rule, value)])

    def ours(self, name, work):
        """Work of products as our roofline has it."""
        if "K" not in work.params:
            return {}
        shape = "".join(f"{key}={work.params[key]} " for key in ("B", "M", "N", "K")
                        if key != "B" or work.params[key] > 1).strip()
        if work.params["bias"] == "True":
            shape += " + bias"
        found = self.report.rows("roofline.by_op", name=name, shape=shape)
        return {"gflops": found[0]["flop"] / 1e9,
                "data_moved_mib": found[0]["bytes"] / 2**20} if len(found) == 1 else {}

    def unified(self):
        rows = self.case.golden.get("unified_top", ())
        if "unified_rows" in self.case.golden:
            self.case.check(("unified_rows",), None, [(UNITS, len(self.by_shape))])
        groups = collections.defaultdict(list)
        for key, units in self.by_shape.items() if rows else ():
            groups[key[:3]].append(units)
        total = sum(unit.time for unit in self.units.all) if rows else 0
        for index, row in enumerate(rows):
            at = ("unified_top", index)
            found = groups[row["name"], row["input_dims"], row["input_type"]]
            units = next((units for units in found if len(units) == row["count"] and agree(
                row["kernel_us_sum"], sum(unit.time for unit in units))), None)
            if not units:
                continue
            times = spread(units)
            self.claim(at, row, UNITS, times)
            self.claim(at, row, SHARED, {"pct": 100 * times["kernel_us_sum"] / total})
            work = work_of(units[0].span) if units[0].name == units[0].span.name else None
            if work and row["gflops"] is not None:
                self.claim(at, row, RATES, rates(units, work, {}), self.ours(row["name"], work))

    def categories(self):
        """Sums of all units, by the category that the rows of their name have."""
        rows = self.case.golden.get("unified_top", ())
        known = {row["name"]: row["category"] for row in rows}
        for row in self.case.golden.get("ops_summary", ()):
            if len(row["categories"]) == 1:
                known.setdefault(row["name"], row["categories"][0])
        for kind, sheet in self.case.golden.get("perf_sheets", {}).items():
            for row in sheet if kind in KINDS else ():
                known.setdefault(row["op"], KINDS[kind])
        sums = collections.defaultdict(lambda: [0, 0.0])
        for unit in self.units.all if rows else ():
            row = sums[known.get(unit.name)]
            row[0] += 1
            row[1] += unit.time
        total = sum(time for _, time in sums.values())
        for index, row in enumerate(self.case.golden.get("unified_by_category", ())):
            count, time = sums[row["category"]]
            at = ("unified_by_category", index)
            self.claim(at, row, UNITS, {"count": count, "sum_us": round(time, 3)})
            self.claim(at, row, SHARED, {"pct": 100 * time / total})

    @functools.cached_property
    def sheets(self):
        """{(operator, strides): [(work, units)]} of all operators with a model."""
        groups = {}
        for span in self.units.tree.parent:
            work = work_of(span) if span.is_op and has_model(span.name) else None
            if work is None:
                continue
            key = (span.name, *sorted((name, str(value)) for name, value in work.params.items()),
                   strides_that_count(span, work))
            groups.setdefault(key, (work, []))[1].append(
                Unit(span.name, span, self.units.below.get(span, [])))
        out = collections.defaultdict(list)
        for key, group in groups.items():
            out[key[0]].append(group)
        return out

    def by_kind(self):
        for kind, rows in self.case.golden.get("perf_sheets", {}).items():
            for index, row in enumerate(rows):
                at = ("perf_sheets", kind, index)
                for work, units in self.sheets[row["op"]]:
                    if kind.startswith("Reduce_bwd"):
                        units = [self.backward(unit) for unit in units]
                    times = spread(units)
                    if not all(agree(row["params"].get(key), value)
                               for key, value in work.params.items()) or \
                            not all(agree(row[key], times[key])
                                    for key in ("count", "kernel_us_sum", "kernel_us_max")):
                        continue
                    self.claim(at, row, NESTED, times)
                    self.claim((*at, "params"), row["params"], NESTED, work.params)
                    self.claim(at, row, RATES,
                               rates(units, work, self.case.golden.get("arch") or {}),
                               self.ours(row["op"], work))
                    break

    def backward(self, unit):
        """The work of the backward pass of an operator, by the number that both have."""
        number = unit.argument("Sequence number")
        span = self.evaluated.get(number)
        return Unit(unit.name, unit.span, self.units.below.get(span, ()))

    @functools.cached_property
    def evaluated(self):
        return {span.args.get("Sequence number"): span for span in self.units.tree.parent
                if span.name.startswith("autograd::engine::evaluate_function")}

    def check(self):
        self.unified()
        self.categories()
        self.by_kind()
