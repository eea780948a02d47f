# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of TraceLens."""
import collections
import functools

from . import rocprof, tracelens_ranks, tracelens_replay, tracelens_rows
from .causes import blame
from .ledger import DESCRIBES, DIFFERS, RESTATED, THEIRS, Case, Ledger, Rule, agree, \
    is_number
from .trace import trace_at
from .tracelens_model import Contract, Links, Model, Settings, Tree, is_communication, spread

TITLE = "TraceLens 0.1.0"
FOLDER = "tracelens"

CAUSES = {
    "linked": Rule(
        DIFFERS, "Work without a pair of flow events left out",
        "Work whose launch lies before the recording, and calls whose flow begins nowhere "
        "(hipMemset, hipMemsetAsync), are left out without a word. We count all that ran."),
    "memset": Rule(
        DIFFERS, "Memory sets counted as computation",
        "A memory set computes nothing. We keep it apart, below communication."),
    "names": Rule(
        DIFFERS, "Communication by three words",
        "nccl, rccl and cross_device_reduce: multimem all-reduce kernels are called computation. "
        "Ours go by the table of kernel names."),
    "doubles": Rule(
        DIFFERS, "Sums of doubles",
        "Ends of events are sums of doubles, which are up to 0.5 ns apart at these stamps. Ours "
        "are integers."),
    "tree": Rule(
        DIFFERS, "Operators by a tree that leaves events out",
        "A call that ends after the operator around it is left out of the tree, and what it "
        "launched with it; operators named execute are passed over."),
    "external": Rule(
        DIFFERS, "Launches by External id",
        "Hand-made traces whose calls have no correlation id are linked by the id of the operator. "
        "We link by correlation id alone."),
}
SUBTREE = Rule(
    THEIRS, "Device time below an operator",
    "With what the operators that it called launched; ops.device_time is what it launched itself.")
UNIONS = Rule(
    RESTATED, "Union of each operator for itself",
    "Their sum is of the union of the work of each single call; ops.device_time has the sum of "
    "durations and the union over all calls.")
NO_COMM = Rule(
    RESTATED, "Share of the operators, without communication",
    "Percentages are of the sum of the rows, communication and unlinked work left out.")
CATEGORIES = Rule(
    RESTATED, "Categories of operators",
    "A table of operator names, where ours is of kernel names (kernels.by_class). The sum over its "
    "operators in ops.device_time is theirs.")
BY_OP = Rule(
    THEIRS, "Kernels by operator and stream",
    "Kernels by name, operator that launched them and stream.")
HISTOGRAM = Rule(
    THEIRS, "Histogram of short kernels",
    "100 bins between the shortest and the longest below 10 µs; kernels.small has their number and "
    "time, kernels.duration_ecdf the distribution of all.")
MODULES = Rule(
    THEIRS, "Operators by module",
    "The nn.Module around an operator, from recorded Python frames, and the category of the "
    "operator. ops.by_module and ops.module_tree have device time by module.")
RECOMPUTED = Rule(
    THEIRS, "Recomputation told apart",
    "Work below the function of activation checkpointing that computes again, with a window of its "
    "own for each part.")
SETTING = Rule(DESCRIBES, "Settings and remarks", "", proved=False)


class Subject:
    """A trace, our report of it, and models by their settings."""

    def __init__(self, path, run):
        self.trace, self.report, self.folder = trace_at(path), run.report(path), path.parent
        self.classes = {row["name"]: row["class"] for row in self.report.rows("kernels.by_name")}
        self.links, self.tree = Links(self.trace), Tree(self.trace)
        self.contract = Contract(self.trace)
        self.model = functools.cache(self._model)

    def _model(self, settings):
        return Model(self.trace, settings, self.classes, self.links,
                     self.tree if settings.tree else self.contract)

    def cell(self, column):
        return self.report.total("gpu_time.by_rank", column) / 1e3

    def both(self, first, second):
        return sum(row["both_ns"] for row in self.report.rows("gpu_time.overlap")
                   if {row["first"], row["second"]} == {first, second}) / 1e3

    @functools.cached_property
    def timeline(self):
        """Our figures by the names of gpu_timeline."""
        return {"total_time": self.cell("window_ns"), "busy_time": self.cell("busy_ns"),
                "idle_time": self.cell("idle_ns"), "computation_time": self.cell("compute_ns"),
                "total_comm_time": self.cell("comm_ns"),
                "total_memcpy_time": self.cell("memcpy_ns"),
                "exposed_comm_time": self.cell("comm_exposed_ns"),
                "exposed_memcpy_time": self.cell("memcpy_exposed_ns")}


class Check:
    def __init__(self, case, subject):
        self.case, self.subject, self.report = case, subject, subject.report

    def figure(self, path, settings, figure, ours=None, within=0.0, ways=()):
        """Ours, or what the settings of TraceLens make of the trace."""
        theirs = self.case.leaves[path]
        if self.case.check(path, ours, ways, within) is None:
            self.case.check(path, ours, blame(
                CAUSES, settings, lambda chosen: figure(self.subject.model(chosen)), theirs,
                ours, within), within)

    def timeline(self, part, settings):
        """gpu_timeline, in ms with shares, or in ms alone."""
        for path in self.case.below(part):
            if not is_number(self.case.leaves[path]):
                continue
            row, unit = path[1], path[2] if len(path) > 2 else "ms"
            if row in ("n", "n_gpu_events"):
                self.case.check(path, self.report.total("launches.by_rank", "activities"))
                continue

            def shown(timeline, row=row, unit=unit):
                if not timeline:
                    return None
                if unit == "ms":
                    return timeline[row] / 1e3
                return 100 * timeline[row] / timeline["total_time"]

            self.figure(path, settings, lambda model, shown=shown: shown(model.timeline),
                        shown(self.subject.timeline), 2e-5 if unit == "pct" else 0.0)

    def kernels(self):
        for index, row in enumerate(self.case.golden.get("kernels_by_name", ())):
            ours = self.report.rows("kernels.by_name", name=row["name"])[0]
            columns = {"count": ours["calls"], "sum_us": ours["total_ns"] / 1e3,
                       "mean_us": ours["mean_ns"] / 1e3, "min_us": ours["min_ns"] / 1e3,
                       "max_us": ours["max_ns"] / 1e3}
            for key, value in columns.items():
                self.case.check(("kernels_by_name", index, key), value)
        if "kernels_total" in self.case.golden:
            rows = self.report.rows("kernels.by_name")
            for key, value in (("distinct", len(rows)), ("count", sum(r["calls"] for r in rows)),
                               ("sum_us", sum(r["total_ns"] for r in rows) / 1e3)):
                self.case.check(("kernels_total", key), value)

    def short(self):
        settings = Settings(linked=False)
        small = (self.report.rows("kernels.small") or [{}])[0]
        for part in ("short_kernels", "short_kernels_all"):
            if part not in self.case.golden:
                continue
            for key, value in (("count", small.get("small")),
                               ("sum_us", (small.get("small_ns") or 0) / 1e3),
                               ("threshold_us", 10)):
                if (part, key) in self.case.leaves:
                    self.case.check((part, key), value)
        if "short_kernels" in self.case.golden:
            low, high, counts = self.subject.model(settings).histogram()
            for key, value in (("first_edge", low), ("last_edge", high), ("bins", len(counts))):
                self.case.check(("short_kernels", key), None, [(HISTOGRAM, value)])
            theirs = self.case.at("short_kernels", "counts")
            near = sum(abs(a - b) for a, b in zip(theirs, counts)) <= 4 # at edges of bins
            for index, count in enumerate(theirs):
                self.case.check(("short_kernels", "counts", index), None,
                                [(HISTOGRAM, count if near else None)])

    def ops(self):
        settings = Settings(linked=True)
        total = sum(row["sum_us"] for row in self.case.golden.get("ops_summary", ()))
        for index, row in enumerate(self.case.golden.get("ops_summary", ())):
            ours = (self.report.rows("ops.device_time", name=row["name"]) or [None])[0]
            name, at = row["name"], ("ops_summary", index)

            def count(model, name=name):
                return model.ops[name][0]

            def work(model, name=name):
                return model.ops[name][1]

            summed = ours["device_total_ns"] / 1e3 if ours else None
            alone = self.union_of(name)
            self.figure((*at, "count"), settings, count, ours and ours["calls"])
            spacing = 1e-3 * row["count"] + 1e-3
            ways = [(UNIONS, row["sum_us"])] if alone is not None and \
                agree(row["sum_us"], alone, spacing) else []
            self.figure((*at, "sum_us"), settings, work, summed, 0.0, ways)
            if "mean_us" in row:
                same = self.case.entries.get((*at, "sum_us")), self.case.entries.get((*at, "count"))
                self.case.check((*at, "mean_us"), summed / ours["calls"] if ours else None,
                                [(entry.rule or UNIONS, row["sum_us"] / row["count"])
                                 for entry in same[:1] if entry])
                self.case.check((*at, "pct"), None,
                                [(NO_COMM, 100 * row["sum_us"] / total)], 1e-5)
                self.figure((*at, "subtree_sum_us"), settings,
                            lambda model, name=name: model.subtrees[name], summed, 0.0,
                            [(UNIONS, row["sum_us"]),
                             (SUBTREE, self.subject.model(settings).subtrees[name])])
        for path in self.case.below("ops_summary"):
            if "categories" in path:
                self.case.say(SETTING, *path)

    def union_of(self, name):
        model = self.subject.model(Settings(linked=False, doubles=False, tree=False, names=False))
        return model.ops[name][1] if name in model.ops else None

    def categories(self):
        """Sums over the operators of a category, by the categories of ops_summary."""
        sums = collections.defaultdict(lambda: [0, 0.0])
        mixed = set()
        for row in self.case.golden.get("ops_summary", ()):
            if len(row["categories"]) > 1:
                mixed |= set(row["categories"])
            for category in row["categories"]:
                sums[category][0] += row["count"]
                sums[category][1] += row["sum_us"] / 1e3
        total = sum(row["sum_ms"] for row in self.case.golden.get("ops_by_category", ()))
        for index, row in enumerate(self.case.golden.get("ops_by_category", ())):
            at, category = ("ops_by_category", index), row["category"]
            for key, value in (("count", sums[category][0]), ("sum_ms", sums[category][1]),
                               ("pct", 100 * row["sum_ms"] / total)):
                known = value if category not in mixed or key == "pct" else row[key]
                self.case.check((*at, key), None, [(CATEGORIES, known)],
                                1e-3 if key == "pct" else 2e-6)

    def by_operator(self):
        settings = Settings(linked=False)
        model = self.subject.model(settings)
        total = (self.subject.model(Settings(linked=True)).timeline or
                 model.timeline).get("total_time")
        everything = sum(sum(values) for values in model.op_kernels.values())
        for index, row in enumerate(self.case.golden.get("kernel_summary_top", ())):
            values = model.op_kernels.get((row["op"], row["kernel"], row["stream"])) or \
                row["op"] is None and [value for (_, *key), values in model.op_kernels.items()
                                       if key == [row["kernel"], row["stream"]]
                                       for value in values]
            if not values:
                continue
            columns = {**spread(values), "pct_of_kernels": 100 * sum(values) / everything,
                       "pct_of_total": 100 * sum(values) / total, "stream": row["stream"]}
            for key, value in columns.items():
                self.case.check(("kernel_summary_top", index, key), None, [(BY_OP, value)], 1e-5)

    def modules(self):
        """Sums by the category of operators and the module around them."""
        category = self.single_categories()
        for at in (("ops_by_category_and_module",),
                   ("published_inference_report", "ops_by_category_and_module")):
            if "ops_by_category_and_module" not in self.case.golden or not self.case.has(*at):
                continue
            rows = self.case.at(*at)
            sums = collections.defaultdict(lambda: [0, 0.0])
            for (op, module), (count, time) in self.subject.model(
                    Settings(linked=True)).by_module.items():
                sums[category.get(op), module][0] += count
                sums[category.get(op), module][1] += time / 1e3
            total = sum(row["sum_ms"] for row in rows)
            for index, row in enumerate(rows):
                count, time = sums[row["category"], row["module"]]
                for key, value in (("count", count), ("sum_ms", time),
                                   ("pct", 100 * row["sum_ms"] / total)):
                    self.case.check((*at, index, key), None, [(MODULES, value)],
                                    1e-3 if key == "pct" else 1e-6 * max(count, 1))

    def recomputed(self):
        """What checkpointing computes again, beside the rest."""
        split = self.case.golden.get("recompute_split", {})
        if not split:
            return
        parts = self.subject.model(Settings(linked=True)).recomputed
        for index, row in enumerate(split["gpu_timeline"]):
            timeline, _ = parts[row["is_recompute"]]
            self.case.check(("recompute_split", "gpu_timeline", index, "ms"), None,
                            [(RECOMPUTED, timeline[row["type"]] / 1e3)])
        category = self.single_categories()
        for index, row in enumerate(split["ops_by_category"]):
            _, ops = parts[row["is_recompute"]]
            own = [ops[op] for op in ops if category.get(op) == row["category"]]
            for key, value in (("count", sum(count for count, _ in own)),
                               ("sum_ms", sum(time for _, time in own) / 1e3)):
                self.case.check(("recompute_split", "ops_by_category", index, key), None,
                                [(RECOMPUTED, value)], 1e-6 * max(row["count"], 1))

    def single_categories(self):
        """{operator: category} of those that have one."""
        return {row["name"]: row["categories"][0]
                for row in self.case.golden.get("ops_summary", ())
                if len(row["categories"]) == 1}

    def rest(self):
        golden = self.case.golden
        comm = self.report.rows("kernels.by_name", **{"class": "comm"})
        if "collective_kernels_all" in golden:
            theirs = [span for span in self.subject.trace.device
                      if span.kind == "kernel" and is_communication(span.name)]
            self.case.check(("collective_kernels_all", "count"), sum(r["calls"] for r in comm),
                            [(CAUSES["names"], len(theirs))])
            self.case.check(("collective_kernels_all", "sum_us"),
                            sum(r["total_ns"] for r in comm) / 1e3,
                            [(CAUSES["names"], sum(span.dus for span in theirs))])
            tracelens_ranks.check_single(self.case, theirs)
            self.case.label("collectives_single_rank")
        if "ops_by_category_and_module" not in golden:
            tracelens_replay.check(self.case, self.subject.model, self.subject.folder,
                                   self.single_categories())
        for part in ("ops_summary", "ops_by_category", "unified_by_category", "unified_top",
                     "unified_rows", "perf_sheets"):
            if not golden.get(part):
                self.case.say(SETTING, part)
        self.case.say(SETTING, "published_inference_report", "note")
        self.case.label()
        for part in ("trace", "file", "what", "tool", "units", "arch", "linked_equals_all",
                     "published_csv_agrees_with_run", "kernels_by_name_agrees_with_tool",
                     "kernel_summary_rows", "gpu_timeline_linked_only", "gpu_timeline_all_events"):
            if part.startswith("gpu_timeline"):
                part = (part, "definition")
            self.case.say(SETTING, *([part] if isinstance(part, str) else part))

    def check(self):
        self.timeline("gpu_timeline_linked_only", Settings(linked=True))
        self.timeline("gpu_timeline_all_events", Settings(linked=False))
        self.kernels()
        self.short()
        self.ops()
        self.categories()
        self.by_operator()
        self.modules()
        self.recomputed()
        tracelens_rows.Rows(self.case, self.subject).check()
        self.rest()


def path_of(golden, traces):
    name = golden["trace"]
    if name.startswith("tl_unit"):
        return traces / "tl_unit" / f"{name}.json"
    return traces / name / golden["file"]


def check(goldens, traces, run, only=""):
    ledger = Ledger(TITLE)
    for path, golden in goldens:
        if path.parent.name == "diff" or only not in path.stem:
            continue
        case = Case(path.stem, golden)
        ledger.cases.append(case)
        if path.stem.startswith("rocprof"):
            rocprof.Check(case, traces / golden["trace"]).check(SETTING)
        elif path.stem.startswith("synthetic_nccl"):
            tracelens_ranks.Check(case, traces / golden["trace"], run).check()
        else:
            Check(case, Subject(path_of(golden, traces), run)).check()
    return ledger
