# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of Holistic Trace Analysis."""
import collections

from . import hta_delays, hta_memory, hta_path, hta_sequences, hta_ties
from .hta_independent import independent, name_of
from .hta_model import COMMUNICATION, COMPUTATION, MEMORY, Model, Settings, class_of, describe
from .hta_rank import TABLES, Rank
from .ledger import DIFFERS, THEIRS, Case, Ledger, Rule, agree

TITLE = "Holistic Trace Analysis 0.6.1"
FOLDER = "hta"

FOLDED = Rule(
    DIFFERS, "Statistics of sums, not of kernels",
    "The default call folds all but ten names and groups again: minimum, maximum, mean and "
    "deviation are then of the sums of names, so minimum = maximum = total. Ours are of the "
    "executions.")
WHOLE = Rule(
    DIFFERS, "Each segment cut to whole µs",
    "Times per set of classes add up segments that are truncated one by one. Ours are exact.")
THREE = Rule(
    THEIRS, "Three classes at a time",
    "gpu_time.overlap has the classes by pairs, which do not tell when three run at a time.")
BY_STREAM = Rule(
    THEIRS, "Idle time by stream",
    "The gaps of one stream while others work are no idle time of a device, and a gap counts whole "
    "as that of the host although part of it is the latency of the launch. gpu_idle.by_cause "
    "splits the gaps of the device, by what the launching thread did.")
QUEUE = Rule(
    THEIRS, "Queue length by change, not by time",
    "Statistics over the moments of change, of operations launched and not started, for a list of "
    "calls by name. launch_queue.by_rank weighs by time, and counts whatever a call launched.")
COPIES = Rule(
    THEIRS, "Bandwidth of copies by change, not by time",
    "Statistics of the profiler's own value over the moments of change. copies.by_direction has "
    "bytes over time.")
COPY_SPREAD = Rule(
    THEIRS, "Spread of single kinds of copies",
    "gpu_time.by_name has number and total of each kind of copy; minimum, maximum and deviation "
    "only kernels.by_name.")
LAUNCHES = Rule(
    THEIRS, "Launch statistics of four calls",
    "Only cudaLaunchKernel, cudaLaunchKernelExC, cudaMemcpyAsync and cudaMemsetAsync: no Triton, "
    "no graph, nothing of AMD. launches.by_rank links by correlation id whatever the call is "
    "named, and kernels.small has the kernels shorter than their launch.")
GPU_RANGES = Rule(
    THEIRS, "Ranges on the device",
    "The profiler draws annotations of the host on the device as well. We leave these rows out: "
    "they are no work.")
RANKS = Rule(
    THEIRS, "Slow ranks",
    "The two that begin a collective latest, by step, on clocks taken for the same: of two ranks "
    "always both. stragglers.by_rank goes by what each takes between collectives, and marks none "
    "without evidence.")


class Variant:
    """One way in which HTA was run on a trace."""

    def __init__(self, case, ranks, name):
        self.case, self.ranks, self.name = case, ranks, name
        self.at = ("variants", name)

    def rank(self, number):
        return self.ranks[int(number)]

    def figure(self, path, number, figure, ours=None, within=0.0, ways=()):
        rank = self.rank(number)
        theirs = self.case.leaves[path]
        if self.case.check(path, ours, ways, within) is None:
            self.case.check(path, ours, rank.ways(figure, self.name, theirs, ours, within),
                            within)

    def model(self, path, number, rule, value, within=0.0):
        """A figure that we do not have, and what the definition gives."""
        self.case.check(path, None, [(rule, value)], within)

    # ---- parts of a golden ----

    def temporal(self):
        cells = {"kernel_time(us)": "window_ns", "idle_time(us)": "idle_ns",
                 "compute_time(us)": "compute_ns"}
        at = (*self.at, "temporal_breakdown")
        if not isinstance(self.case.at(*at), list):
            return self.case.say(TABLES, *at)
        for index, row in enumerate(self.case.at(*at)):
            rank = self.rank(row["rank"])
            ours = {key: rank.cell(column) for key, column in cells.items()}
            ours["non_compute_time(us)"] = rank.cell("busy_ns") - rank.cell("compute_ns")
            for key, whole in (("idle_time_pctg", "idle_time(us)"),
                               ("compute_time_pctg", "compute_time(us)"),
                               ("non_compute_time_pctg", "non_compute_time(us)")):
                ours[key] = 100 * ours[whole] / ours["kernel_time(us)"]
            for key in ours:
                self.figure((*at, index, key), row["rank"],
                            lambda model, key=key: model.temporal().get(key), ours[key],
                            .00501 if key.endswith("pctg") else 0.0)
            self.case.check((*at, index, "rank"), row["rank"])
        return None

    def overlap(self):
        at = (*self.at, "comm_comp_overlap")
        for index, row in enumerate(self.case.at(*at)):
            rank = self.rank(row["rank"])
            comm = rank.cell("comm_ns")
            ours = 100 * rank.both("compute", "comm") / comm if comm else None
            path = (*at, index, "comp_comm_overlap_pctg")
            if row["comp_comm_overlap_pctg"] is None and \
                    rank.model(rank.settings(self.name)).overlap() is None:
                self.case.check(path, None, [(TABLES, None)])
            else:
                self.figure(path, row["rank"], Model.overlap, ours, .00501)
            self.case.check((*at, index, "rank"), row["rank"])

    def by_type(self):
        at = (*self.at, "kernel_breakdown", "by_type")
        numbers = sorted(self.ranks)
        rank = self.rank(numbers[0])
        whole = rank.fractional and self.name != "default"

        def share(models, kind, truncate):
            sums = collections.Counter()
            for model in models:
                sums.update(model.by_type(truncate))
            return sums[kind], 100 * sums[kind] / max(sums.total(), 1e-9)

        for index, row in enumerate(self.case.at(*at)):
            kind = row["kernel_type"]
            for place, key, within in ((0, "sum", 0.0), (1, "percentage", .0501)):
                path = (*at, index, key)

                def figure(model, kind=kind, place=place, truncate=whole):
                    others = [self.rank(number).model(model.settings) for number in numbers]
                    return share(others, kind, truncate)[place]

                ours = None if self.has_three() else self.ours_by_type(kind)[place]
                plain = share([self.rank(number).model(rank.settings(self.name))
                               for number in numbers], kind, False)[place]
                ways = []
                if whole and not agree(row[key], plain, within) and \
                        agree(row[key], rank.value(figure, rank.settings(self.name)), within):
                    ways = [(WHOLE, row[key])]
                elif ours is None and not self.exists(numbers[0]):
                    ways = [(THREE, plain)]
                if whole and ours is not None and self.case.check(path, ours, (), within):
                    continue # segments cut to whole microseconds are not ours, whatever else is off
                self.figure(path, numbers[0], figure, None if whole else ours, within, ways)
        self.case.label(*at)

    def exists(self, number):
        """Whether a setting of the tool can change a figure of this variant."""
        rank = self.rank(number)
        settings = rank.settings(self.name)
        return settings.inward or settings.last_step and len(rank.steps) > 1

    def has_three(self):
        """Whether work of three classes ever runs at a time."""
        return any(len(kind.split(" overlapping ")) == 3
                   for rank in self.ranks.values()
                   for kind in rank.model(Settings(False, False, False, doubles=False))
                   .by_type(False))

    def ours_by_type(self, kind):
        """Of pairs of classes: enough while no three run at a time."""
        alone, total = {}, 0.0
        for rank in self.ranks.values():
            if rank.cell("busy_ns") is None:
                continue
            compute, comm = rank.cell("compute_ns"), rank.cell("comm_ns")
            memory = rank.cell("memcpy_ns") + rank.cell("memset_ns") - \
                rank.both("memcpy", "memset")
            with_comm = rank.both("compute", "comm")
            with_memory = rank.both("compute", "memcpy") + rank.both("compute", "memset")
            comm_memory = rank.both("comm", "memcpy") + rank.both("comm", "memset")
            parts = {COMPUTATION: compute - with_comm - with_memory,
                     COMMUNICATION: comm - with_comm - comm_memory,
                     MEMORY: memory - with_memory - comm_memory,
                     f"{COMPUTATION} overlapping {COMMUNICATION}": with_comm,
                     f"{COMPUTATION} overlapping {MEMORY}": with_memory,
                     f"{COMMUNICATION} overlapping {MEMORY}": comm_memory}
            for part, value in parts.items():
                alone[part] = alone.get(part, 0.0) + value
            total += sum(parts.values())
        return alone.get(kind, 0.0), 100 * alone.get(kind, 0.0) / max(total, 1e-9)

    def our_kernel(self, rank, kind, name):
        if kind == MEMORY or class_of(name) == MEMORY:
            row = (rank.report.rows("gpu_time.by_name", name=name, **{"class": "memcpy"}) or
                   rank.report.rows("gpu_time.by_name", name=name, **{"class": "memset"}) or
                   rank.report.rows("kernels.by_name", name=name))
        else:
            row = rank.report.rows("kernels.by_name", name=name)
        if not row:
            return {}
        row = row[0]
        out = {"count": row["calls"], "sum (us)": row["total_ns"] / 1e3,
               "mean (us)": row["total_ns"] / row["calls"] / 1e3}
        if "min_ns" in row:
            out.update({"min (us)": row["min_ns"] / 1e3, "max (us)": row["max_ns"] / 1e3,
                        "stddev": (row["stddev_ns"] or 0) / 1e3})
        return out

    def kernels(self, part, method):
        at = (*self.at, *part)
        args = [frozenset(row["name"] for row in self.case.at(*at))] \
            if method == "default_kernels" else []
        for index, row in enumerate(self.case.at(*at)):
            rank = self.rank(row["rank"])
            kind, name = row["kernel_type"], row["name"]
            ours = self.our_kernel(rank, kind, name)
            for key in row:
                path = (*at, index, key)
                if key in ("name", "kernel_type", "rank"):
                    continue
                ways = []
                model = rank.model(rank.settings(self.name))
                plain = model.by_name().get(name, {}).get(key)
                if method == "default_kernels":
                    folded = model.default_kernels(*args).get((kind, name), {}).get(key)
                    if plain is None or not agree(folded, plain):
                        ways = [(FOLDED, folded)]
                if ours and key not in ours:
                    ways.append((COPY_SPREAD, plain))
                self.figure(path, row["rank"], lambda model, key=key, name=name:
                            model.by_name().get(name, {}).get(key), ours.get(key), 0.0, ways)
        self.keys(TABLES, *at)

    def idle_by_stream(self):
        at = (*self.at, "idle_time_breakdown")
        if "error" in self.case.at(*at):
            return self.case.say(TABLES, *at)
        for index, row in enumerate(self.case.at(*at, "rows")):
            rank = self.rank(row["rank"])
            kinds = rank.model(rank.settings(self.name)).gaps().get(row["stream"], {})
            total = sum(sum(values) for values in kinds.values())
            gap = sum(kinds.get(row["idle_category"], []))
            self.model((*at, "rows", index, "idle_time"), row["rank"], BY_STREAM, gap,
                       .00501)
            self.model((*at, "rows", index, "idle_time_ratio"), row["rank"], BY_STREAM,
                       gap / total if total else None, .00501)
        for index, row in enumerate(self.case.at(*at, "interval_stats")):
            rank = self.rank(row["rank"])
            kinds = rank.model(rank.settings(self.name)).gaps().get(row["stream"], {})
            told = describe(kinds.get(row["idle_category"], []))
            for key in ("count", "mean", "std", "min", "25%", "50%", "75%", "max"):
                self.model((*at, "interval_stats", index, key), row["rank"], BY_STREAM,
                           told.get(key), .00501)
        self.keys(BY_STREAM, *at)
        return None

    def keys(self, rule, *at):
        """Numbers that name a row, beside claimed ones: rank and stream."""
        beside = {leaf[:-1] for leaf in self.case.entries}
        for leaf in self.case.below(*at):
            if leaf[-1] in ("rank", "stream") and leaf[:-1] in beside and \
                    leaf not in self.case.entries:
                self.case.check(leaf, None, [(rule, self.case.leaves[leaf])])
        self.case.label(*at)

    def by_rank(self, part):
        """(path, rank, rows) of a part that holds a list or null for each rank."""
        for number, rows in (self.case.at(*self.at, part) or {}).items():
            yield (*self.at, part, number), self.rank(number), rows

    def queue(self):
        for at, rank, rows in self.by_rank("queue_length_summary"):
            if not rows:
                self.case.say(TABLES, *at)
                continue
            model = rank.model(rank.settings(self.name))
            for index, row in enumerate(rows):
                told = describe(model.queue_lengths().get(row["stream"], []))
                for key in told:
                    self.case.check((*at, index, f"queue_length/{key}"), None,
                                    [(QUEUE, told[key])])
                hta_ties.check(self.case, (*at, index), "queue_length/",
                               model.queue().get(row["stream"], []))
            self.keys(QUEUE, *at)
        for at, rank, rows in self.by_rank("queue_full"):
            model = rank.model(rank.settings(self.name))
            if rows == []:
                self.case.check(at, None, [(QUEUE, [] if not model.queue_full() else None)])
            for index, row in enumerate(rows):
                full = model.queue_full().get(row["stream"])
                first = min(row.ts for row in model.rows)
                last = max(row.ts for row in model.rows)
                self.case.check((*at, index, "duration_at_max_queue_length"), None,
                                [(QUEUE, full)])
                self.case.check((*at, index, "relative_duration_at_max_queue_length"), None,
                                [(QUEUE, full / (last - first) if full else None)], 1e-5)
            self.keys(QUEUE, *at)

    def bandwidth(self):
        for at, rank, rows in self.by_rank("memory_bw_summary"):
            if not rows:
                self.case.say(TABLES, *at)
                continue
            model = rank.model(rank.settings(self.name))
            for index, row in enumerate(rows):
                told = describe(model.bandwidth().get(row["name"], []))
                for key in told:
                    self.case.check((*at, index, f"memory_bw_gbps/{key}"), None,
                                    [(COPIES, told[key])], 1e-5)
                hta_ties.check(self.case, (*at, index), "memory_bw_gbps/",
                               model.copies().get(row["name"], []), 0)
            self.keys(COPIES, *at)

    def launch_statistics(self):
        for at, rank, row in self.by_rank("cuda_launch_stats"):
            pairs = rank.model(rank.settings(self.name)).launches()
            columns = {"cpu_duration": [call.dur for call, _ in pairs],
                       "gpu_duration": [work.dur for _, work in pairs],
                       "launch_delay": [max(0, work.ts - call.end) for call, work in pairs]}
            counts = {
                "pairs": len(pairs),
                "gpu_shorter_than_cpu": sum(w.dur < c.dur for c, w in pairs),
                "short_kernels_as_plotted": sum(w.dur < c.dur and c.dur <= 50 for c, w in pairs),
                "runtime_over_50us": sum(c.dur > 50 for c, _ in pairs),
                "launch_delay_over_100us": sum(d > 100 for d in columns["launch_delay"])}
            for key, value in counts.items():
                self.case.check((*at, key), None, [(LAUNCHES, value)])
            for column, values in columns.items():
                self.case.check((*at, "sum", column), None, [(LAUNCHES, sum(values))])
                told = describe(values)
                for key in row["describe"][column]:
                    self.case.check((*at, "describe", column, key), None,
                                    [(LAUNCHES, told.get(key))])

    def annotations(self):
        for part, cat in (("user_annotation_breakdown_cpu", "user_annotation"),
                          ("user_annotation_breakdown_gpu", "gpu_user_annotation")):
            at = (*self.at, part)
            if not self.case.at(*at):
                self.case.say(TABLES, *at)
                continue
            for index, row in enumerate(self.case.at(*at)):
                rank = self.rank(row["rank"])
                found = rank.report.rows("ops.by_name", category=cat, name=row["name"])
                ours = {}
                if found:
                    ours = {f"{key} (us)": found[0][column] / 1e3 for key, column in
                            (("sum", "total_ns"), ("max", "max_ns"), ("min", "min_ns"),
                             ("mean", "mean_ns"))}
                    ours["stddev"] = (found[0]["stddev_ns"] or 0) / 1e3
                for key in ("sum (us)", "max (us)", "min (us)", "mean (us)", "stddev"):
                    path = (*at, index, key)
                    if cat == "user_annotation":
                        self.figure(path, row["rank"],
                                    lambda model, key=key, name=row["name"], cat=cat:
                                    model.annotations(cat).get(name, {}).get(key), ours.get(key))
                    else:
                        model = rank.model(rank.settings(self.name))
                        self.model(path, row["rank"], GPU_RANGES,
                                   model.annotations(cat).get(row["name"], {}).get(key))
            self.keys(TABLES, *at)

    def events(self):
        for number, row in self.case.at(*self.at, "events").items():
            at = (*self.at, "events", number)
            rank = self.rank(number)
            counts = collections.Counter()
            for kind in rank.report.rows("events.by_kind", phase="X"):
                counts[kind["category"]] += kind["count"]
            for cat in row["rows_by_cat"]:
                self.figure((*at, "rows_by_cat", cat), number, lambda model, cat=cat:
                            model.counts()[0][cat], counts[cat])
            for cat in row["rows_with_stream_by_cat"]:
                device = any(span.cat == cat and span.kind for span in rank.trace.device)
                self.figure((*at, "rows_with_stream_by_cat", cat), number, lambda model, cat=cat:
                            model.counts()[1][cat],
                            counts[cat] if device else 0)
            for key, place in (("negative_duration_rows", 2),
                               ("negative_duration_rows_with_stream", 3)):
                self.figure((*at, key), number,
                            lambda model, place=place: model.counts()[place], 0)
            self.case.say(TABLES, *at)

    def delays(self):
        at = (*self.at, "aten_op_kernels_and_delay")
        if self.case.has(*at):
            settings = next(iter(self.ranks.values())).settings(self.name)
            hta_delays.check(self.case, at, [rank.model(settings) for rank in self.ranks.values()])
            self.case.label(*at)
            for part in ("rows", "error"):
                self.case.say(TABLES, *at, part)

    def critical_path(self):
        for index, entry in enumerate(self.case.golden["variants"][self.name].get("critical_path",
                                                                                  ())):
            at = (*self.at, "critical_path", index)
            if "error" not in entry:
                rank = self.rank(entry["rank"])
                hta_path.check(self.case, at, rank.model(rank.settings(self.name)))
                self.case.label(*at)
            for part in ("rank", "instance", "annotation", "success", "error"):
                self.case.say(TABLES, *at, part)

    def sequences(self):
        at = (*self.at, "frequent_kernel_sequences")
        if not self.case.has(*at):
            return
        rank = next(iter(self.ranks.values()))
        hta_sequences.check(self.case, at, rank.model(rank.settings(self.name)))
        self.case.label(*at)
        for name in self.case.at(*at):
            for part in ("error", "top"):
                if part == "error" or not self.case.at(*at, name).get(part):
                    self.case.say(TABLES, *at, name, part)

    def check(self):
        self.temporal()
        self.overlap()
        self.by_type()
        self.kernels(("kernel_breakdown", "kernels"), "kernels")
        if self.case.has(*self.at, "kernel_breakdown_default_call"):
            self.kernels(("kernel_breakdown_default_call",), "default_kernels")
        self.idle_by_stream()
        self.queue()
        self.bandwidth()
        self.launch_statistics()
        self.annotations()
        self.events()
        self.delays()
        self.critical_path()
        self.sequences()
        for place, rank in enumerate(sorted(self.ranks)):
            if len(self.ranks) == 2 and self.case.has(*self.at, "potential_stragglers"):
                self.case.check((*self.at, "potential_stragglers", place), None, [(RANKS, rank)])
        for part, rule in (("cupti_counters", TABLES), ("profiler_steps", TABLES)):
            self.case.say(rule, *self.at, part)
        for part in ("names_of_type_OTHER", "kernel_rows", "error"):
            self.case.say(TABLES, *self.at, "kernel_breakdown", part)
        for leaf, value in self.case.leaves.items():
            if value == [] and leaf[:2] == self.at:
                self.case.say(TABLES, *leaf)


def ranks_of(case, folder, run):
    out = {info["rank"]: Rank(folder / name_of(info["file"]), run,
                              info["fractional_timestamps"]) for info in case.at("files")}
    for rank in out.values():
        rank.peers = list(out.values())
    return out


def folder_of(name, traces, file):
    """The trace folder of a golden: of the same name, or the one that holds its file."""
    if (traces / name).is_dir():
        return traces / name
    return next(path.parent for path in traces.glob("*/*") if path.name == name_of(file))


def check(goldens, traces, run, only=""):
    ledger = Ledger(TITLE)
    for path, golden in goldens:
        if path.stem.startswith("diff__") or only not in path.stem:
            continue
        case = Case(path.stem, golden)
        ledger.cases.append(case)
        if "variants" not in golden:
            hta_memory.check(case, traces / golden["name"] / golden["files"][0]["file"])
            for part in ("name", "tool", "files", "columns"):
                case.say(TABLES, part)
            continue
        folder = folder_of(path.stem, traces, case.at("files")[0]["file"])
        case.trace = folder.name
        ranks = ranks_of(case, folder, run)
        independent(case, ranks)
        for name in case.at("variants"):
            Variant(case, ranks, name).check()
        for part in ("name", "tool", "files", "variant_notes"):
            case.say(TABLES, part)
    return ledger


def rounded_idle(path, run):
    """Idle time of a trace without golden as the default of the tool has it, and ours."""
    rank = Rank(path, run, True)
    return (rank.model(Settings(True, True)).temporal()["idle_time(us)"], rank.cell("idle_ns"))
