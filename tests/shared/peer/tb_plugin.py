# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of the TensorBoard plug-in."""
import dataclasses
import functools
import math

from . import tb_plugin_ranks
from .causes import blame
from .ledger import DESCRIBES, DIFFERS, RESTATED, THEIRS, Case, Ledger, Rule, is_number
from .tb_plugin_model import PARTS, Steps, device_figures, kernel_table, utilization
from .tb_plugin_tree import Operators, Settings, uses_units, without_effect
from .trace import trace_at

TITLE = "torch-tb-profiler 0.4.3"
FOLDER = "tb_plugin"

CAUSES = {
    "backward": Rule(
        DIFFERS, "Backward operators left out",
        "Of the threads of the backward pass it keeps what hangs on a module of the main thread by "
        "the arrows of the profiler, while the main thread lasts. Our calls are all records."),
    "python": Rule(
        DIFFERS, "Python below an operator is its own time",
        "Functions of Python and ranges that run within an operator are not in the tree. Our own "
        "times are what nothing below covers."),
    "frames": Rule(
        DIFFERS, "Modules take time from operators",
        "Frames of modules and annotations of collectives are nodes among the operators: their "
        "time is taken off the operator around them."),
    "merged": Rule(
        DIFFERS, "Operators merged into their parent",
        "A single child with the name of its parent (aten::div, redispatched operators) is merged "
        "into it. Our calls are the records of the file."),
    "dropped": Rule(
        DIFFERS, "Operators that end after their parent left out",
        "A span that ends after the one around it is left out, with all below it. We keep it: the "
        "time that both cover belongs to the later one."),
    "by_id": Rule(
        DIFFERS, "Launches by External id",
        "A call belongs to the operator of the same External id, wherever it ran. Ours go by "
        "thread and time."),
    "driver": Rule(
        DIFFERS, "Calls of the driver not read",
        "Triton kernels and others launched through cuLaunchKernel belong to no operator, and the "
        "calls are not taken off its self time."),
}
BELOW = Rule(
    THEIRS, "Device time below an operator, of what the tree kept",
    "The same of operators that are not all in its tree.")
UNITS = Rule(
    THEIRS, "Blocks per SM and occupancy of kernels",
    "Means of what the profiler recorded, by duration; missing values count as 0. kernels.waves "
    "has blocks and how well they fill the device.")
STEPS = Rule(
    THEIRS, "Parts of a step",
    "Each moment of a step, stretched to its last kernel, goes to the first of kernel, copy, set, "
    "communication, runtime, data loader and host. A part that fills all steps resets what is "
    "left, a marker on the track of the device counts as a step, and collectives of today are "
    "kernels. steps.by_step has the markers and the work launched in them, gpu_idle.by_cause what "
    "the host did while the device waited.")
EFFICIENCY = Rule(
    RESTATED, "SM efficiency of another window",
    "Over the time from the first step to the last; kernels.occupancy has it over the window of "
    "the device.")
DEVICE = Rule(
    THEIRS, "Utilization within steps",
    "Kernels alone, over the time from the first step to the last. Our busy share is of the "
    "window of the device, with copies.")
TIMELINE = Rule(
    THEIRS, "Utilization over time", "In buckets of powers of ten µs; gpu_time.over_time has 100 "
    "equal parts of the window.")
TENSOR = Rule(
    DIFFERS, "Tensor cores by names of 2021",
    "A list of 18 fragments of names, in which nvjet, wgmma, sm90, sm100 and Tensile are missing. "
    "kernels.matrix_units goes by the table of kernel names.")
SHAPES = Rule(
    THEIRS, "Operators by input shapes, below our first 500",
    "ops.by_shape has the 500 rows with the most device time.")
LAUNCHES = Rule(
    THEIRS, "Kernels by operator and launch", "By operator, grid, block, registers and shared "
    "memory. Kernels without a call are counted once for each track that has steps.")
MEMORY = Rule(
    THEIRS, "Memory by operator", "Changes of memory below each operator. Ours are counters over "
    "time.")
MODULES = Rule(
    THEIRS, "Modules", "The tree of nn.Module with the work below each, and with all calls that "
    "have no External id below the first.")
SETTING = Rule(DESCRIBES, "Settings, counts of rows, advice in words", "", proved=False)


SHAPE_COLUMNS = (("calls", "calls", 1), ("host_total", "host_total_ns", 1e3),
                 ("host_self", "host_self_ns", 1e3), ("device_self", "device_self_ns", 1e3))
# Figures of an operator, and of how many doubles that are rounded each is the sum in a call.
TERMS = {"calls": 0, "host_total": 4, "host_self": 40, "device_self": 4, "device_total": 40}
LAUNCH_COLUMNS = ("calls", "total", "mean", "min", "max", "blocks_per_sm", "occupancy")
FLAGS = ("tc_used", "tc_eligible", "op_tc_eligible")
MODULE_COLUMNS = ("occurrences", "operators", "host_total", "host_self", "device_total",
                  "device_self")


def canonical(shapes):
    """Shapes written without blanks."""
    return "".join(str(shapes).split())


class Worker:
    """One file, our report of it, and the models."""

    def __init__(self, path, run):
        self.trace, self.report = trace_at(path), run.report(path)
        self.model = functools.cache(functools.partial(Operators, self.trace))
        self.classes = {row["name"]: row["class"]
                        for row in (self.report.rows("kernels.by_name") if self.report else ())}

    def operators(self, settings):
        return self.model(dataclasses.replace(settings, **self.idle))

    @functools.cached_property
    def idle(self):
        return without_effect(self.trace)

    @functools.cached_property
    def steps(self):
        return Steps(self.trace)

    @functools.cached_property
    def spacing(self):
        """Of doubles at the stamps of the trace."""
        return math.ulp(max((span.us for span in self.trace.spans), default=1.0))

    @functools.cached_property
    def by_shape(self):
        rows = self.report.rows("ops.by_shape") if self.report else ()
        return {(row["name"], canonical(row["shapes"])): row for row in rows}

    @functools.cached_property
    def kernels(self):
        return kernel_table(self.trace)

    @functools.cached_property
    def launches(self):
        return self.operators(Settings()).launches(self.trace)

    @functools.cached_property
    def memory(self):
        return self.operators(Settings()).memory(self.trace)

    def ours(self, name):
        """Our figures of an operator."""
        if not self.report:
            return {}
        rows = [row for row in self.report.rows("ops.by_name", name=name)
                if row["category"].lower() in ("cpu_op", "operator")]
        if not rows:
            return {}
        device = self.report.total("ops.device_time", "device_total_ns", name=name)
        below = sum(row["device_total_ns"] or 0 for row in self.report.rows(
            "ops.by_operator", name=name, kind="operator"))
        return {"calls": sum(row["calls"] for row in rows),
                "host_total": sum(row["total_ns"] for row in rows) / 1e3,
                "host_self": sum(row["self_ns"] for row in rows) / 1e3,
                "device_self": device / 1e3,
                "device_total": below / 1e3}


class Check:
    """A golden of one worker, or the part of a golden about one."""

    def __init__(self, case, worker, *at):
        self.case, self.worker, self.at = case, worker, at
        self.part = case.at(*at)

    def operators(self):
        for index, row in enumerate(self.part["operators"]):
            self.figures(("operators", index), row, self.worker.ours(row["name"]),
                         lambda model, name=row["name"]: model.table[name])

    def figures(self, path, row, ours, row_of, last=BELOW):
        """A row of an operator: ours, or what the settings of the plug-in make of the trace."""
        spacing, theirs = self.worker.spacing, row_of(self.worker.operators(Settings()))
        for key in TERMS:
            at, mine = (*self.at, *path, key), ours.get(key)
            within = TERMS[key] * spacing * row["calls"]
            if self.case.check(at, mine, (), within) is None:
                ways = blame(CAUSES, Settings(), lambda settings, key=key: row_of(
                    self.worker.operators(settings))[key], row[key], mine, within)
                if mine is None or key == "device_total":
                    ways.append((last, theirs[key]))
                self.case.check(at, mine, ways, within)

    def shapes(self):
        """Operators by input shapes."""
        for part in ("operators_by_input_shape", "operators_by_input_shape_top100"):
            for index, row in enumerate(self.part.get(part, ())):
                key = row["name"], canonical(row["input_shape"])
                mine = self.worker.by_shape.get(key, {})
                ours = {name: mine[column] / unit for name, column, unit in SHAPE_COLUMNS
                        if column in mine}
                self.figures((part, index), row, ours, lambda model, key=key: model.shapes[key],
                             BELOW if mine else SHAPES)

    def launches(self):
        for part in ("kernels_by_op", "kernels_by_op_and_launch_top100"):
            for index, row in enumerate(self.part.get(part, ())):
                found = self.worker.launches.get((row["name"], row["op"], *(
                    canonical(row[key]) for key in ("grid", "block", "regs", "shared"))), {})
                for key in LAUNCH_COLUMNS:
                    if key in row:
                        self.case.check((*self.at, part, index, key), None,
                                        [(LAUNCHES, found.get(key))],
                                        self.worker.spacing * 4 * row["calls"])

    def modules(self):
        def walk(rows, *path):
            for index, row in enumerate(rows):
                found = self.worker.operators(Settings()).modules.get((row["name"], row["id"]), {})
                at = (*path, index)
                within = self.worker.spacing * (4 * row["occurrences"] + 40)
                for key in MODULE_COLUMNS:
                    value = found.get("calls" if key == "occurrences" else key, 0)
                    self.case.check((*at, key), None, [(MODULES, value if found else None)],
                                    within if key[-5:] in ("total", "_self") else 0.0)
                walk(row.get("children", ()), *at, "children")
                if (*at, "children_omitted") in self.case.leaves:
                    self.case.put(SETTING, (*at, "children_omitted"))

        for part in ("modules", "modules_depth2"):
            walk(self.part.get(part, ()), *self.at, part)

    def timeline(self):
        for device, buckets in (self.part.get("gpu_util_timeline") or {}).get(
                "buckets", {}).items():
            mine = utilization(self.worker.trace, device)
            for index, _ in enumerate(buckets):
                for side in range(2):
                    self.case.check((*self.at, "gpu_util_timeline", "buckets", device, index, side),
                                    None, [(TIMELINE, mine[index][side] if index < len(mine)
                                            else None)], self.worker.spacing + 1e-6)

    def memory(self):
        if "memory_by_op" not in self.part:
            return
        rows, peaks = self.worker.memory
        for device, operators in (self.part["memory_by_op"] or {}).items():
            for name, sums in operators.items():
                for index, _ in enumerate(sums[:6]):
                    self.case.check((*self.at, "memory_by_op", device, name, index), None,
                                    [(MEMORY, rows[device].get(name, [None] * 6)[index])])
                # Last the calls, which are among the operators.
                self.case.put(SETTING, (*self.at, "memory_by_op", device, name, 6))
        for device in self.part.get("memory_peak_bytes") or {}:
            self.case.check((*self.at, "memory_peak_bytes", device), None,
                            [(MEMORY, peaks.get(device))])
        if "memory_events" in self.part:
            report = self.worker.report
            self.case.check((*self.at, "memory_events"),
                            report.total("instants.by_name", "count", name="[memory]"))

    def tensor(self):
        """What runs on matrix units, by a list of names."""
        model = self.worker.operators(Settings())
        shares, eligible = model.units
        for index, row in enumerate(self.part["operators"]):
            for key in ("self", "total"):
                at = (*self.at, "operators", index, f"tc_{key}_pct")
                if at in self.case.leaves:
                    self.case.check(at, None, [(TENSOR, shares.get(row["name"], {}).get(key))])
        kernels = [span for span in self.worker.trace.device if span.kind == "kernel"]
        used = sum(span.dus for span in kernels if uses_units(span.name))
        share = used / max(sum(span.dus for span in kernels), 1e-9)
        for path in self.case.below(*self.at):
            if path[-1] in ("tensor_core_kernel_time_ratio", "tc_ratio", "tc_used_ratio"):
                self.case.check(path, None, [(TENSOR, share)])
            elif path[-1] == "tc_eligible_ops_kernel_ratio":
                self.case.check(path, None, [(TENSOR, eligible)], 1e-5)

    def kernels(self):
        for index, row in enumerate(self.part.get("kernels", ())):
            mine = self.worker.report.rows("kernels.by_name", name=row["name"])[0]
            for key, value in (("calls", mine["calls"]), ("total", mine["total_ns"] / 1e3),
                               ("mean", mine["mean_ns"] / 1e3), ("min", mine["min_ns"] / 1e3),
                               ("max", mine["max_ns"] / 1e3)):
                self.case.check((*self.at, "kernels", index, key), value)
            for key in ("blocks_per_sm", "occupancy"):
                self.case.check((*self.at, "kernels", index, key), None,
                                [(UNITS, self.worker.kernels[row["name"]][key])])

    def steps(self):
        rows = self.worker.steps.table
        keys = (*PARTS, "other", "total")
        for index, row in enumerate(self.part["steps"]):
            mine = rows[index] if index < len(rows) else {}
            for key in keys:
                self.case.check((*self.at, "steps", index, key), None,
                                [(STEPS, mine.get(key))], .01)
        for part, scale in (("step_average", None), ("step_average_pct", 100)):
            for key in self.part.get(part, ()):
                value = sum(row[key] for row in rows) / len(rows) if rows else None
                whole = sum(row["total"] for row in rows) / len(rows) if rows else None
                if scale and whole:
                    value = scale * value / whole
                self.case.check((*self.at, part, key), None, [(STEPS, value)], .01)
        shown = {"computation": "computation", "communication": "only_communication",
                 "overlap": "overlap", "other": "rest"}
        for index, row in enumerate(self.part["comm_overlap_per_step"]):
            for key, column in shown.items():
                value = rows[index].get(column) if index < len(rows) else None
                both = rows[index].get("overlap", 0) if index < len(rows) else 0
                if key in ("computation", "communication") and value is not None:
                    self.case.check((*self.at, "comm_overlap_per_step", index, key), None,
                                    [(STEPS, value), (STEPS, value + both)], .01)
                else:
                    self.case.check((*self.at, "comm_overlap_per_step", index, key), None,
                                    [(STEPS, value)], .01)
        for part in ("steps", "step_average", "step_average_pct", "comm_overlap_per_step"):
            self.case.label(*self.at, part)

    def device(self):
        for device in self.part["gpu"]:
            window = self.worker.steps.window()
            mine = device_figures(self.worker.trace, window, device)
            ours = self.ours_of_device(device, window[1] - window[0])
            for key, value in mine.items():
                path = (*self.at, "gpu", device, key)
                ways = [(DEVICE, value), (DEVICE, round(value or 0, 6))]
                if ours.get("est_sm_efficiency") is not None and key == "est_sm_efficiency":
                    ways.insert(0, (EFFICIENCY, ours[key]))
                self.case.check(path, ours.get("est_achieved_occupancy_pct")
                                if key == "est_achieved_occupancy_pct" else None, ways, 1e-6)

    def ours_of_device(self, device, length):
        """Figures of kernels.occupancy; the time of multiprocessors in use over their window."""
        report = self.worker.report
        rows = [row for row in (report.rows("kernels.occupancy") if report else ())
                if str(row["device"]) == device]
        if len(rows) != 1 or not length:
            return {}
        row, occupancy = rows[0], rows[0]["occupancy"]
        used = None if row["sm_efficiency"] is None else row["sm_efficiency"] * row["window_ns"]
        return {"est_achieved_occupancy_pct": None if occupancy is None else 100 * occupancy,
                "est_sm_efficiency": None if used is None else used / 1000 / length}

    def rest(self):
        for part in ("memory_columns", "recommendations"):
            if part in self.part:
                self.case.say(SETTING, *self.at, part)
        for path in self.case.below(*self.at):
            if path[-1] in ("bucket_size", "bucket_unit") or path[-1] in FLAGS or \
                    path[-2:-1] and path[-2] in ("grid", "block") or \
                    path[-1] in ("regs", "shared", "id"):
                self.case.put(SETTING, path)
        self.case.label(*self.at)

    def check(self):
        self.operators()
        self.shapes()
        self.kernels()
        self.launches()
        self.modules()
        self.timeline()
        self.memory()
        self.tensor()
        self.steps()
        self.device()
        self.rest()


def check(goldens, traces, run, only=""):
    ledger = Ledger(TITLE)
    for path, golden in goldens:
        if path.parent.name == "diff" or only not in path.stem:
            continue
        case = Case(path.stem, golden)
        ledger.cases.append(case)
        if "workers" in golden:
            folder = traces / "tb_unit" / golden["trace"]
            made = [Worker(folder / part["file"], run) for part in golden["workers"]]
            for index, worker in enumerate(made):
                Check(case, worker, "workers", index).check()
            tb_plugin_ranks.check(case, {part["file"].split(".")[0]: worker.trace
                                         for part, worker in zip(golden["workers"], made)})
        else:
            Check(case, Worker(traces / golden["trace"] / golden["file"], run)).check()
        for leaf, value in case.leaves.items():
            if not is_number(value) or leaf[0] in ("schema_version", "modules_count") or \
                    str(leaf[0]).endswith("_count") or leaf[0] == "kernels_launched_by_driver_api":
                case.put(SETTING, leaf)
    return ledger
