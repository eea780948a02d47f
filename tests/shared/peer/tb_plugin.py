# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of the TensorBoard plug-in."""
import functools
import math

from .causes import blame
from .ledger import DESCRIBES, DIFFERS, RESTATED, LATER, THEIRS, Case, Ledger, Rule, is_number
from .tb_plugin_model import PARTS, Operators, Settings, Steps, device_figures, kernel_table
from .trace import Trace

TITLE = "torch-tb-profiler 0.4.3"
FOLDER = "tb_plugin"

CAUSES = {
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
THREADS = Rule(
    DIFFERS, "Operators of other threads left out",
    "Of backward threads it keeps what it can attach to a module or a step; Python frames take "
    "host time from the operators around them.", proved=False)
BELOW_OPEN = Rule(
    THEIRS, "Device time below an operator, of what the tree kept",
    "The same of operators that are not all in its tree.", proved=False)
UNITS = Rule(
    THEIRS, "Blocks per SM and occupancy of kernels",
    "Means of what the profiler recorded, by duration; missing values count as 0. kernels.waves "
    "has blocks and how well they fill the device.")
STEPS = Rule(
    THEIRS, "Parts of a step",
    "Each moment of a step, stretched to its last kernel, goes to the first of kernel, copy, set, "
    "communication, runtime, data loader and host. steps.by_step has the markers and the work "
    "launched in them, gpu_idle.by_cause what the host did while the device waited.")
STEPS_WRONG = Rule(
    DIFFERS, "Parts of a step that do not add up",
    "A part that fills the step resets what is left, a marker on the track of the device counts "
    "as a step, and collectives of today are not known.", proved=False)
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
    "equal parts of the window.", proved=False)
TENSOR = Rule(
    DIFFERS, "Tensor cores by names of 2021",
    "A list of 18 fragments of names, in which nvjet, wgmma, sm90, sm100 and Tensile are missing. "
    "kernels.matrix_units goes by the table of kernel names.", proved=False)
SHAPES = Rule(
    DIFFERS, "Operators by input shapes",
    "As by name, what its tree merges or leaves out; ops.by_shape has the 500 rows with the most "
    "device time.", proved=False)
LAUNCHES = Rule(
    THEIRS, "Kernels by operator and launch", "By operator, grid, block, registers and shared "
    "memory.", proved=False)
MEMORY = Rule(
    THEIRS, "Memory by operator", "From [memory] instants, whose arguments we do not read.",
    proved=False)
MODULES = Rule(THEIRS, "Modules", "The tree of nn.Module with the work below each.", proved=False)
RANKS = Rule(LATER, "Collectives of several workers", "Compared with the analyses over ranks.",
             proved=False)
SETTING = Rule(DESCRIBES, "Settings, counts of rows, advice in words", "", proved=False)


def canonical(shapes):
    """Shapes written without blanks."""
    return "".join(str(shapes).split())


class Worker:
    """One file, our report of it, and the models."""

    def __init__(self, path, run):
        self.trace, self.report = Trace(path), run.report(path)
        self.operators = functools.cache(functools.partial(Operators, self.trace))
        self.classes = {row["name"]: row["class"]
                        for row in (self.report.rows("kernels.by_name") if self.report else ())}

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
        ours = {row["name"]: self.worker.ours(row["name"]) for row in self.part["operators"]}
        spacing = self.worker.spacing
        for index, row in enumerate(self.part["operators"]):
            name, mine = row["name"], ours[row["name"]]
            for key in ("calls", "host_total", "host_self", "device_self", "device_total"):
                path = (*self.at, "operators", index, key)
                within = 0.0 if key == "calls" else spacing * 4 * row["calls"]
                if self.case.check(path, mine.get(key), (), within) is None:
                    self.case.check(path, mine.get(key), blame(
                        CAUSES, Settings(), lambda settings, name=name, key=key:
                        self.worker.operators(settings).table[name][key], row[key],
                        None, within), within)
                if path not in self.case.entries and self.may_lack(row, mine):
                    self.case.say(THREADS, *path)
                if key == "device_total":
                    self.case.say(BELOW_OPEN, *path)

    @staticmethod
    def may_lack(row, mine):
        """Whether the plug-in has fewer calls, or less time in them, than were recorded."""
        return bool(mine) and (row["calls"] < mine["calls"] or
                               abs(row["host_self"] - mine["host_self"]) > 1e-3 or
                               row["device_self"] < mine["device_self"])

    def shapes(self):
        """Operators by input shapes, where all calls of the operator have the same figures."""
        for part in ("operators_by_input_shape", "operators_by_input_shape_top100"):
            for index, row in enumerate(self.part.get(part, ())):
                mine = self.worker.by_shape.get((row["name"], canonical(row["input_shape"])))
                if not mine:
                    continue
                within = self.worker.spacing * 4 * row["calls"]
                columns = {"calls": mine["calls"], "host_total": mine["host_total_ns"] / 1e3,
                           "host_self": mine["host_self_ns"] / 1e3,
                           "device_self": mine["device_self_ns"] / 1e3}
                for key, value in columns.items():
                    self.case.check((*self.at, part, index, key), value, (),
                                    0.0 if key == "calls" else within)
                self.case.say(BELOW_OPEN, *self.at, part, index, "device_total")

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
        wrong = len(rows) != len(self.part["steps"]) or \
            not all(row["sums_to_total"] for row in self.part["steps"])
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
                both = rows[index]["overlap"] if index < len(rows) else 0
                if key in ("computation", "communication") and value is not None:
                    self.case.check((*self.at, "comm_overlap_per_step", index, key), None,
                                    [(STEPS, value), (STEPS, value + both)], .01)
                else:
                    self.case.check((*self.at, "comm_overlap_per_step", index, key), None,
                                    [(STEPS, value)], .01)
        if wrong or any(row["communication"] for row in self.part["steps"]):
            for part in ("steps", "step_average", "step_average_pct", "comm_overlap_per_step"):
                if part in self.part:
                    self.case.say(STEPS_WRONG, *self.at, part)

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
        for part, rule in (("operators_by_input_shape", SHAPES),
                           ("operators_by_input_shape_top100", SHAPES),
                           ("kernels_by_op", LAUNCHES),
                           ("kernels_by_op_and_launch_top100", LAUNCHES),
                           ("memory_by_op", MEMORY), ("memory_peak_bytes", MEMORY),
                           ("memory_events", MEMORY), ("memory_columns", SETTING),
                           ("gpu_util_timeline", TIMELINE), ("modules", MODULES),
                           ("modules_depth2", MODULES), ("tc_used_ratio", TENSOR),
                           ("tc_eligible_ops_kernel_ratio", TENSOR), ("recommendations", SETTING)):
            if part in self.part:
                self.case.say(rule, *self.at, part)
        for path in self.case.below(*self.at):
            if path[-1] in ("tensor_core_kernel_time_ratio", "tc_ratio", "tc_self_pct",
                            "tc_total_pct", "tc_used", "tc_eligible"):
                self.case.say(TENSOR, *path)
        self.case.label(*self.at)

    def check(self):
        self.operators()
        self.shapes()
        self.kernels()
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
            for index, part in enumerate(golden["workers"]):
                Check(case, Worker(folder / part["file"], run), "workers", index).check()
            case.say(RANKS, "distributed")
        else:
            Check(case, Worker(traces / golden["trace"] / golden["file"], run)).check()
        for leaf, value in case.leaves.items():
            if not is_number(value) or leaf[0] in ("schema_version", "modules_count") or \
                    str(leaf[0]).endswith("_count") or leaf[0] == "kernels_launched_by_driver_api":
                case.say(SETTING, *leaf)
    return ledger
