#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares every figure of every expected.json beside a dump with a cell of our report.

usage: expected.py --program PROGRAM --dumps FOLDER [--only TEXT] [-v]

Each figure is claimed by one row of the tables at the end of this file, which name the cell it
must be in, or say why no report has it.  A figure that no row claims fails the test, as does a
wrong one.
"""
import argparse
import collections
import json
import math
import pathlib
import re
import sys

from reports import Run, leaves

S, MS, US, MIB = 1e9, 1e6, 1e3, 1024.0 * 1024
ANY, INDEX = "*", "#"


class Close:
    """Our value with how far it may be from the expected one, beyond 1e-9 of it."""

    def __init__(self, value, within=0.0):
        self.value, self.within = value, within


class Skip:
    def __init__(self, reason):
        self.reason = reason


def agrees(expected, ours):
    within = 0.0
    if isinstance(ours, Close):
        ours, within = ours.value, ours.within
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        return (isinstance(ours, (int, float)) and not isinstance(ours, bool)
                and math.isclose(expected, ours, rel_tol=1e-9, abs_tol=within))
    return expected == ours


def fits(pattern, path):
    """Whether the path begins as the pattern says: names, "*" for any name, "#" for any index."""
    return len(path) >= len(pattern) and all(
        (isinstance(part, int) if wanted == INDEX else wanted in (ANY, part) or
         isinstance(wanted, tuple) and part in wanted)
        for wanted, part in zip(pattern, path))


class Case:
    """One expected.json: its folder, its document, and the reports that its figures are about."""

    def __init__(self, run, folder):
        self.run, self.folder = run, folder
        self.expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
        for name in ("trace.json", "demo_trace.json"): # these stand among the other files
            if name in self.expected:
                self.expected.setdefault("files", {})[name] = self.expected.pop(name)

    def report(self, name=None):
        return self.run.report(self.folder / name if name else self.folder)

    def at(self, path):
        value = self.expected
        for part in path:
            value = value[part]
        return value

    def claim(self, path):
        """What the map says about a leaf; None when it says nothing."""
        system = self.folder.parent.name
        for pattern, cell in MAP[system if system in MAP else self.folder.name]:
            if fits(pattern, path):
                return cell(self, path) if callable(cell) else cell
        return None

    def check(self):
        """(path, "ok" | a Skip | a fault) of each leaf."""
        for path, expected in leaves(self.expected):
            try:
                ours = self.claim(path)
            except (LookupError, TypeError, ValueError, AttributeError,
                    ZeroDivisionError) as error:
                yield path, f"cannot be looked up: {type(error).__name__}: {error}"
                continue
            if ours is None and expected is not None:
                yield path, f"no row of the map claims it, or our cell is null: {expected!r}"
            elif isinstance(ours, Skip):
                yield path, ours
            elif agrees(expected, ours):
                yield path, "ok"
            else:
                shown = ours.value if isinstance(ours, Close) else ours
                yield path, f"expected {expected!r}, got {shown!r}"


# ---- parts that several systems share --------------------------------------------------------

NOT_A_FIGURE = Skip("names or describes, is no figure")
SHAPE = Skip("how the file is written, not what was measured")
PERCENTILE = Skip("reports have p50, p95 and p99, by linear interpolation")
NOT_RECORDED = Skip("the file keeps sums only; expected.json says so")
OF_THE_CLOCK = Skip("a point of the wall clock; reports have times since the start")


def scaled(value, factor, within=0.0):
    return Close(None if value is None else value / factor, within / factor)


def statistics(row, name, factor):
    """One of count, total, mean …, of a row with durations in ns; the dump's unit is `factor` ns.
    Each duration was rounded to ns."""
    calls = row["calls"]
    columns = {"total": ("total_ns", 0.5 * calls), "mean": ("mean_ns", 0.5), "min": ("min_ns", 0.5),
               "max": ("max_ns", 0.5), "median": ("p50_ns", 0.5), "p95": ("p95_ns", 0.5),
               "p99": ("p99_ns", 0.5)}
    if name == "count":
        return calls
    if name in ("p90", "p95_nearest_rank"):
        return PERCENTILE
    if name == "stddev_population":
        if calls == 1:
            return 0.0 if row.get("stddev_ns") is None else None
        deviation = row.get("stddev_ns")
        if deviation is None:
            return Skip("no column for the deviation of these")
        return scaled(deviation * math.sqrt((calls - 1) / calls), factor, 0.5)
    column, within = columns[name]
    if column not in row:
        return PERCENTILE
    if row[column] is None and name in ("median", "p95", "p99"):
        return NOT_RECORDED
    return scaled(row[column], factor, within * 1.0001)


def of_list(values, name, factor=1.0):
    """A statistic of values that stand in rows of their own."""
    values = sorted(values)

    def quantile(share):
        at = (len(values) - 1) * share
        low = math.floor(at)
        high = min(low + 1, len(values) - 1)
        return values[low] + (values[high] - values[low]) * (at - low)

    if not values:
        return 0 if name == "count" else None
    mean = math.fsum(values) / len(values)
    made = {
        "count": lambda: len(values), "total": lambda: scaled(math.fsum(values), factor,
                                                              0.5 * len(values)),
        "mean": lambda: mean, "min": lambda: values[0], "max": lambda: values[-1],
        "median": lambda: quantile(.5), "p90": lambda: quantile(.9), "p95": lambda: quantile(.95),
        "p99": lambda: quantile(.99),
        "p95_nearest_rank": lambda: values[math.ceil(.95 * len(values)) - 1],
        "stddev_population": lambda: math.sqrt(math.fsum((v - mean) ** 2 for v in values)
                                               / len(values)),
    }[name]()
    if name == "count" or isinstance(made, Close):
        return made
    return scaled(made, factor, 0.5001)


# ---- traces ----------------------------------------------------------------------------------

DEVICE = ("gpu_memcpy", "gpu_memset")


def operation(case, path):
    """Statistics of the spans of one category and name."""
    file, name = path[1], path[-1]
    wanted = case.at(path[:-1])
    report = case.report(file)
    if name in ("category", "name"):
        return wanted[name]
    if wanted["category"] == "kernel":
        row, = report.rows("kernels.by_name", name=wanted["name"])
    elif wanted["category"] in DEVICE:
        memory = re.search(r"\((.*)\)", wanted["name"])
        row, = report.rows("copies.by_memory", memory=memory.group(1))
        if name not in ("count", "total"):
            return Skip("copies have no statistics but count, bytes, time and bandwidth")
        return row["count"] if name == "count" else scaled(row["total_ns"], US, 0.5 * row["count"])
    elif wanted["category"] in ("gpu_user_annotation", "Trace"):
        return Skip("a range of the host seen on the device, or of the profiler: no work")
    else:
        row, = report.rows("ops.by_name", category=wanted["category"], name=wanted["name"])
    return statistics(row, name, US)


def device(case, path):
    report, name = case.report(path[1]), path[3]
    gpu = report.rows("gpu_time.by_rank")
    copies = report.rows("copies.by_direction")
    communication = report.rows("kernels.by_name", **{"class": "comm"})
    kernels = report.rows("kernels.by_name")
    made = {
        "kernels": lambda: sum(row["calls"] for row in kernels),
        "kernel_total_us": lambda: scaled(sum(row["total_ns"] for row in kernels), US, 1),
        "memcpy": lambda: sum(row["count"] for row in copies),
        "memcpy_total_us": lambda: scaled(sum(row["total_ns"] for row in copies), US, 1),
        "memcpy_bytes": lambda: sum(row["bytes"] or 0 for row in copies),
        "memset": lambda: report.total("events.by_kind", "count", phase="X",
                                       category="gpu_memset"),
        "busy_union_us": lambda: scaled(gpu[0]["busy_ns"], US, 1),
        "first_to_last_us": lambda: scaled(gpu[0]["window_ns"], US, 1),
        "busy_percent_of_gpu_window": lambda: Close(100 * gpu[0]["busy_share"], 1e-6),
        "per_pid_busy_us": lambda: scaled(
            report.cell("gpu_time.by_rank", "busy_ns", device=int(path[4])), US, 1),
        "nccl_kernels": lambda: sum(row["calls"] for row in communication),
        "nccl_total_us": lambda: scaled(sum(row["total_ns"] for row in communication), US, 1),
    }
    return made[name]()


def trace_events(case, path):
    return case.report(path[1]).cell("run.files", "events")


def unpaired(case, path):
    """From the account of the file."""
    code = {"unclosed_begin_events": "unfinished", "unmatched_end_events": "unmatched-end"}[path[2]]
    found = case.report(path[1]).document["data_quality"]["files"][0]["findings"]
    return sum(finding["count"] for finding in found if finding["code"] == code)


def trace_identity(case, path):
    run = case.report(path[1]).document["run"]
    return {"rank": run["ranks"][0], "world_size": run["world_size"], "backend": NOT_A_FIGURE}[
        path[2]]


def step_marker(case, path):
    row, = case.report(path[1]).rows("steps.by_step", step=path[3])
    return scaled(row["host_dur_ns"], US, 1)


def trace_phase(case, path):
    return case.report(path[1]).total("events.by_kind", "count", phase=path[3])


def trace_category(case, path):
    category = "" if path[3] == "(none)" else path[3]
    return case.report(path[1]).total("events.by_kind", "count", category=category)


def trace_wall(case, path):
    """From the first start to the last end."""
    return scaled(case.report(path[1]).total("trace.by_rank", "window_ns"), US, 2)


def trace_spans(case, path):
    return case.report(path[1]).total("trace.by_rank", "spans")


def trace_operations(case, path):
    report = case.report(path[1])
    names = {(o["category"], o["name"]) for o in case.at((*path[:2], "operations_us"))
             if o["category"] in ("gpu_user_annotation", "Trace")}
    return (len(report.rows("ops.by_name")) + len(report.rows("kernels.by_name"))
            + len(report.rows("copies.by_memory")) + len(names))


def flows(case, path):
    return case.report(path[1]).total("events.by_kind", "count", phase=path[4], category=path[3])


def counter(case, path):
    column = path[-1]
    name, series = path[3].rsplit("/", 1)
    row, = case.report(path[1]).rows("counters.by_name", counter=name, series=series)
    return Close(row[column], 1e-9)


def instant(case, path):
    return case.report(path[1]).total("instants.by_name", "count", name=path[3])


def memory_instants(case, path):
    """Samples of the counters that [memory] instants are, by "type:device"."""
    if path[-1] in ("alloc_bytes", "free_bytes"):
        return Skip("reports have the levels that torch counts, not the sum of all requests")
    row, = case.report(path[1]).rows("counters.by_name", series="allocated bytes",
                                     counter="Memory of device " + path[3].split(":")[1])
    return row["samples"] if path[-1] == "events" else row["max"]


def trace_map(*prefix):
    """Rows for the figures of a trace at files/NAME or below a name of its own."""
    return [
        ((*prefix, ("form", "kind", "top_level_keys", "displayTimeUnit", "rank_from_name",
                    "viztracer_metadata", "has_file_info", "threads", "processes",
                    "raw_bytes")), SHAPE),
        ((*prefix, ("first_ts_us", "last_end_us", "baseTimeNanoseconds")), OF_THE_CLOCK),
        ((*prefix, ("rank", "world_size", "backend")), trace_identity),
        ((*prefix, "profiler_steps_us"), step_marker),
        ((*prefix, "operations_note"), NOT_A_FIGURE),
        ((*prefix, ("unmatched_end_events", "unclosed_begin_events")), unpaired),
        ((*prefix, "events"), trace_events),
        ((*prefix, "by_phase", ANY), trace_phase),
        ((*prefix, "by_category", ANY), trace_category),
        ((*prefix, ("by_phase", "by_category")), lambda case, path: {}),
        ((*prefix, "span_count"), trace_spans),
        ((*prefix, "wall_us"), trace_wall),
        ((*prefix, "distinct_operations"), trace_operations),
        ((*prefix, "operations_us", INDEX, ANY), operation),
        ((*prefix, "operations_us"), SHAPE),
        ((*prefix, "gpu"), device),
        ((*prefix, "memory_instants"), memory_instants),
        ((*prefix, "instants"), instant),
        ((*prefix, "counters"), counter),
        ((*prefix, "flows"), flows),
    ]



# ---- FramePack -------------------------------------------------------------------------------

REPORT = "profiling_report.json"


def operation_stage(case, path):
    """report/operations/NAME and operations_s/NAME."""
    row, = case.report(REPORT).rows("stages.by_name", stage=path[-2])
    name = path[-1].removesuffix("_s")
    if name == "last":
        return Skip("the last call is no better than any other: reports have the extremes")
    if name == "stddev_population":
        return NOT_RECORDED
    return statistics({"calls": row["calls"], **row}, name, S)


def stage_order(case, path):
    rows = sorted(case.report(REPORT).rows("stages.by_name"), key=lambda row: -row["total_ns"])
    return rows[path[-1]]["stage"]


def iteration(case, path):
    """The loop that the report has; its durations one by one are not kept."""
    row, = case.report(REPORT).rows("iterations.by_name")
    name = path[-1].removesuffix("_s")
    if path[0] == "iterations_per_second":
        return Close(row["per_s"], 1e-6)
    if name == "median_original_upper" or (name == "median" and path[0] == "report"):
        return scaled(row["median_reported_ns"], S, 0.5)
    if name in ("median", "p90", "p95", "p99", "p95_nearest_rank", "stddev_population"):
        return NOT_RECORDED
    return statistics({**row, "calls": row["count"]}, name, S)


def snapshots(case, path):
    report, name = case.report(REPORT), path[-1]
    rows = report.rows("memory.snapshots")
    if path[2] == "labels":
        return rows[path[3]]["label"]
    allocated = [row["allocated_bytes"] for row in rows]
    gaps = [row["reserved_bytes"] - row["allocated_bytes"] for row in rows]
    made = {
        "peak_allocated_mb": lambda: scaled(max(allocated), MIB, 1),
        "peak_allocated_label": lambda: rows[allocated.index(max(allocated))]["label"],
        "peak_reserved_mb": lambda: scaled(max(row["reserved_bytes"] for row in rows), MIB, 1),
        "peak_max_allocated_mb": lambda: scaled(max(row["max_allocated_bytes"] for row in rows),
                                                MIB, 1),
        "largest_reserved_minus_allocated_mb": lambda: scaled(max(gaps), MIB, 1),
        "final_allocated_mb": lambda: scaled(allocated[-1], MIB, 1),
        "span_s": lambda: scaled(rows[-1]["time_ns"], S, 200),
    }
    return made[name]()


def printed(case, path):
    """The same figures as printed, to the digits that were printed."""
    file, what, name = path[0], path[1], path[-1]
    report, row = case.report(file), case.at(path[:-1])
    if what == "timing_rows":
        ours, = report.rows("stages.by_name", stage=row["operation_as_printed"])
        if name == "operation_as_printed":
            return ours["stage"]
        return as_printed(statistics(ours, name.removesuffix("_s"), S), name, ours["calls"])
    if what == "memory_rows":
        ours = report.rows("memory.snapshots")[path[2]]
        column = {"label": "label", "allocated_mb": "allocated_bytes",
                  "reserved_mb": "reserved_bytes", "max_alloc_mb": "max_allocated_bytes"}[name]
        return ours[column] if name == "label" else scaled(ours[column], MIB, 1)
    loop, = report.rows("iterations.by_name")
    if name == "it_per_s":
        return Close(loop["per_s"], 0.005 + loop["per_s"] * 0.001)
    return as_printed(statistics({**loop, "calls": loop["count"]}, name.removesuffix("_s"), S),
                      name, loop["count"])


def as_printed(cell, name, calls):
    """Our mean is that of the printed total; both have three digits of a second."""
    return Close(cell.value, 0.0005 + 0.0005 / calls) if name == "mean_s" else cell


def cache_timeline(case, path):
    report, name = case.report(path[0]), path[1]
    rows = report.rows("caches.hits")
    if name == "events":
        return len(rows)
    if name == "by_cache":
        return len([row for row in rows if row["cache"] == path[2]])
    times = [row["video_ns"] for row in rows]
    return scaled(min(times) if name == "first_s" else max(times), S, 1)


# ---- Inferix ---------------------------------------------------------------------------------

def entry(case, path):
    """The report or raw dump that a figure is about, read alone."""
    return case.at(path[:2]), case.report(case.at(path[:2])["file"])


def inferix_identity(case, path):
    wanted, report = entry(case, path)
    name = path[2]
    if name == "session_id":
        return report.cell("run.sessions", "session")
    if name == "duration_s":
        return scaled(report.cell("run.sessions", "dur_ns"), S, 0.5)
    if name == "tags":
        value = wanted["tags"][path[3]]
        ours = report.cell("run.tags", "value", key=path[3])
        text = json.dumps(value) if not isinstance(value, str) else value
        return value if ours == text or (value is None and ours in (None, "null", "")) else ours
    if name == "rank":
        rank = report.document["run"]["ranks"][0]
        return wanted["rank"] if rank == int(wanted["rank"] or 0) else rank
    return report.document["run"]["world_size"]


def event_count(case, path):
    """Events by kind: their rows."""
    _, report = entry(case, path)
    name = path[-1]
    if name == "event_count" or len(path) < 4:
        return Skip("sum of the counts by name")
    made = {
        "diffusion_step": lambda: len(report.rows("diffusion.steps")),
        "block_computation": lambda: len(report.rows("diffusion.blocks")),
        "layer_computation": lambda: report.total("layers.by_name", "calls"),
        "model_parameters": lambda: len(report.rows("models.parameters")),
        "cache_event": lambda: sum(row[column] or 0 for row in report.rows("caches.by_name")
                                   for column in ("hits", "misses", "evictions")),
    }
    return made.get(name, lambda: len(report.rows("run.happenings", name=name)))()


def inferix_stage(case, path):
    wanted, report = entry(case, path)
    row, = report.rows("stages.by_name", stage=path[3])
    if path[4] == "percent_of_stage_sum":
        total = report.total("stages.by_name", "total_ns")
        return Close(100 * row["total_ns"] / total, 1e-5)
    return statistics(row, path[4].removesuffix("_s"), S)


def stage_sum(case, path):
    _, report = entry(case, path)
    return scaled(report.total("stages.by_name", "total_ns"), S, 20)


def large_stage(case, path):
    """Shares of the sum, as the original takes them."""
    _, report = entry(case, path)
    total = report.total("stages.by_name", "total_ns")
    large = sorted(((row["total_ns"], row["stage"]) for row in report.rows("stages.by_name")
                    if row["total_ns"] > 0.3 * total), reverse=True)
    return large[path[3]][1] if len(path) > 3 else [name for _, name in large]


def durations(table):
    def cell(case, path):
        _, report = entry(case, path)
        where = {"step": int(path[3])} if len(path) > 4 else {}
        values = [row["dur_ns"] for row in report.rows(table, **where)
                  if row["dur_ns"] is not None]
        return of_list(values, path[-1], MS)
    return cell


def originals(case, path):
    """The original's own figure stands beside ours."""
    _, report = entry(case, path)
    if path[-1] == "note":
        return NOT_A_FIGURE
    if path[-1] == "total_frames":
        return report.reported("diffusion", "total_frames")
    return report.cell("throughput.values", "value", metric=path[-1], basis="as_reported")


def timesteps(case, path):
    _, report = entry(case, path)
    values = [row["timestep"] for row in report.rows("diffusion.steps")]
    finite = [value for value in values if value is not None]
    name = path[-1]
    if name == "timestep_nonfinite":
        return len(values) - len(finite)
    return Close({"n": len, "min": min, "max": max,
                  "mean": lambda v: math.fsum(v) / len(v)}[name](finite), 1e-12)


def blocks(case, path):
    _, report = entry(case, path)
    name, rows = path[-1], report.rows("diffusion.blocks")
    memory = [row["memory_bytes"] for row in rows if row["memory_bytes"] is not None]
    made = {
        "frames": lambda: report.cell("diffusion.by_rank", "frames"),
        "avg_block_size": lambda: report.cell("diffusion.by_rank", "frames_per_block"),
        "fps": lambda: Close(report.cell("throughput.values", "value", metric="fps",
                                         basis="blocks"), 1e-6),
        "bps": lambda: Close(report.cell("throughput.values", "value", metric="bps",
                                         basis="blocks"), 1e-6),
        "first_block_delay_s": lambda: scaled(rows[0]["dur_ns"], S, 1),
        "peak_memory_mb_finite": lambda: scaled(max(memory, default=None), MIB, 1),
        "min_memory_mb_finite": lambda: scaled(min(memory, default=None), MIB, 1),
        "avg_memory_mb_finite": lambda: scaled(math.fsum(memory) / len(memory) if memory else None,
                                               MIB, 1),
        "nonfinite_memory_values": lambda: len(rows) - len(memory),
    }
    return made[name]()


def end_to_end(case, path):
    _, report = entry(case, path)
    return Close(report.cell("throughput.values", "value", metric="fps", basis="wall"), 1e-6)


SIGNALS = {"memory_used_mb": ("memory_used", MIB), "memory_total_mb": ("memory_total", MIB),
           "utilization_percent": ("utilization", 0.01), "usage_percent": ("utilization", 0.01),
           "temperature_c": ("temperature", 1), "power_w": ("power", 1)}


def samples(case, path):
    """Sums over the devices as the report's timeline has them."""
    wanted, report = entry(case, path)
    kind, name = path[2], path[3]
    used = report.rows("telemetry.by_rank", signal=f"{kind}_memory_used")
    if name in ("samples_before_session_start", "all_zero"):
        return Skip("says something about the profiler, not about the run")
    if name == "samples":
        early = wanted[kind]["samples_before_session_start"]
        return used[0]["samples"] + early if used else zeros(wanted[kind])
    if name == "energy_wh_trapezoid":
        energy = report.rows("energy.by_rank")
        return Close(energy[0]["energy_wh"], 1e-6) if energy else zeros(wanted[kind]["power_w"])
    if name == "energy_wh_in_file":
        joule = report.reported("gpu_power", "total_energy_joules")
        return None if joule is None else Close(joule / 3600, 1e-9)
    if name == "peak_memory_percent":
        share = report.reported("gpu_memory", "peak_utilization_ratio")
        return Close(100 * share, 1e-9) if share is not None else zeros(wanted[kind])
    signal, factor = SIGNALS[name]
    rows = report.rows("telemetry.by_rank", signal=f"{kind}_{signal}")
    if not rows:
        return zeros(wanted[kind][name])
    column = {"avg": "mean"}.get(path[-1], path[-1] if len(path) > 4 else "max")
    if rows[0]["samples"] < wanted[kind]["samples"]:
        return Skip("a first reading of the host of 0 and a power of 0 are no samples")
    return scaled(rows[0][column], factor, 1e-6)


NO_READINGS = Skip("zeros in place of readings are no samples")


def zeros(expected):
    """A signal without samples: the file has zeros in place of them."""
    given = [value for path, value in leaves(expected)
             if path[-1:] not in (("samples",), ("samples_before_session_start",), ("all_zero",))]
    return None if any(value and value is not True for value in given) else NO_READINGS


def layer(case, path):
    _, report = entry(case, path)
    row, = report.rows("layers.by_name", layer=path[3])
    return statistics(row, path[4], MS)


def parameters(case, path):
    _, report = entry(case, path)
    if path[2] == "parameters_total":
        return report.scalars["parameters"]
    return report.cell("models.parameters", "parameters", model=path[3])


def cache(case, path):
    wanted, report = entry(case, path)
    row, = report.rows("caches.by_name")
    kinds = wanted["cache_by_type"]
    if path[2] == "cache_requests":
        return row["hits"] + row["misses"] + (row["evictions"] or 0)
    if path[2] == "cache_by_type":
        kind = path[3].rstrip("es").rstrip("s")
        column = {"hit": "hits", "mi": "misses", "eviction": "evictions"}[kind]
        same = sum(count for name, count in kinds.items()
                   if name.rstrip("es").rstrip("s") == kind)
        return kinds[path[3]] if row[column] == same else row[column]
    if path[2] == "cache_hit_rate_original":
        return report.reported("cache", "hit_rate")
    return Close(row["hit_ratio"], 1e-12)


def streaming(case, path):
    _, report = entry(case, path)
    row, = report.rows("streaming.by_rank")
    made = {
        "note": lambda: NOT_A_FIGURE,
        "total_streaming_events": lambda: row["events"],
        "total_frames_streamed": lambda: row["frames"],
        "total_dropped_frames": lambda: row["dropped"],
        "drop_rate_percent": lambda: Close(100 * row["drop_ratio"], 1e-9),
        "avg_encoding_time_ms": lambda: scaled(row["encode_mean_ns"], MS, 0.5),
        "avg_network_latency_ms": lambda: scaled(row["network_mean_ns"], MS, 0.5),
        "current_fps": lambda: Close(row["fps"], 1e-9) if row["events"] > 1 else Skip(
            "one event has no rate; the original writes 0"),
    }
    return made[path[-1]]()


def allocations(case, path):
    _, report = entry(case, path)
    name = path[-1]
    if path[3] == "fragmentation_analysis":
        return report.reported("allocation", name)
    row, = report.rows("allocations.by_allocator", allocator=path[4])
    made = {
        "total_allocations": row["allocations"], "total_deallocations": row["deallocations"],
        "total_bytes_allocated": row["bytes"], "max_allocation_size_bytes": row["max_bytes"],
        "min_allocation_size_bytes": row["min_bytes"],
        "avg_allocation_size_bytes": Close(row["bytes"] / (row["allocations"]
                                                           + row["deallocations"]), 1e-6),
    }
    return made[name]


def advice(case, path):
    """The originals' own recommendations, in their words."""
    _, report = entry(case, path)
    row = report.rows("advice.reported")[path[3]]
    return row[path[4]]


def raw(case, path):
    wanted, report = entry(case, path)
    name = path[2]
    if name in ("kind", "session_id", "cpu_cores"):
        return NOT_A_FIGURE
    if name == "gpu_samples":
        return max(row["samples"] for row in
                   report.rows("telemetry.by_rank", signal="gpu_memory_used"))
    if name == "cpu_samples":
        return report.cell("telemetry.by_rank", "samples", signal="cpu_memory_used")
    number = int(path[3].removeprefix("gpu_"))
    column, signal, factor = {
        "samples": ("samples", "gpu_memory_used", 1),
        "peak_memory_used_mb": ("max", "gpu_memory_used", MIB),
        "avg_utilization": ("mean", "gpu_utilization", 0.01),
        "peak_temperature": ("max", "gpu_temperature", 1),
        "power_samples": ("samples", "gpu_power", 1)}[path[4]]
    value = report.cell("telemetry.by_rank", column, signal=signal, device=number)
    if value is None and path[4] == "power_samples":
        return 0
    return scaled(value, factor, 1e-9)


def over_ranks(case, path):
    """across_ranks of Inferix: the folder read as one run."""
    report, metric, what = case.report(), path[1], path[-1]
    if metric == "ranks":
        return report.document["run"]["ranks"][path[2]]
    if metric == "world_size_tag":
        return report.document["run"]["world_size"]
    name = path[2] if metric == "stage_total_s" else None
    expected = case.at(path[:3] if name else path[:2])
    per_rank = {rank: metric_of_rank(report, metric, name, int(rank))
                for rank in expected["per_rank"]}
    if "per_rank" in path:
        return per_rank[what]
    values = {rank: cell.value for rank, cell in per_rank.items()}
    within = max(cell.within for cell in per_rank.values())
    mean = math.fsum(values.values()) / len(values)
    by_value = sorted(values, key=lambda rank: (values[rank], int(rank)))
    most = [rank for rank in values if values[rank] == max(values.values())]
    return {"min": lambda: Close(min(values.values()), within),
            "max": lambda: Close(max(values.values()), within),
            "avg": lambda: Close(mean, within),
            "sum": lambda: Close(math.fsum(values.values()), within * len(values)),
            "rank_of_min": lambda: int(by_value[0]), "rank_of_max": lambda: int(most[0]),
            "imbalance_max_over_avg": lambda: Close(max(values.values()) / mean, 1e-6)}[what]()


def metric_of_rank(report, metric, stage, rank):
    def cell(table, column, factor, within, **where):
        return scaled(report.cell(table, column, rank=rank, **where), factor, within)
    if metric == "first_block_delay_s":
        first = report.rows("diffusion.blocks", rank=rank)[0]
        return scaled(first["dur_ns"], S, 1)
    if metric == "step_total_ms":
        return scaled(report.total("diffusion.steps", "dur_ns", rank=rank), MS, 100)
    if metric.startswith("gpu_"):
        column, signal, factor = {"gpu_peak_memory_mb": ("max", "gpu_memory_used", MIB),
                                  "gpu_avg_utilization": ("mean", "gpu_utilization", 0.01)}[metric]
        return cell("telemetry.by_rank", column, factor, 1e-6, signal=signal)
    if metric == "cpu_avg_usage":
        return scaled(report.cell("figures.reported", "value", rank=rank, group="cpu_utilization",
                                  figure="avg_usage_ratio"), 0.01, 1e-6)
    if metric == "stage_total_s":
        return cell("stages.by_name", "total_ns", S, 1, stage=stage)
    if metric in ("block_fps", "block_bps"):
        return cell("throughput.values", "value", 1, 1e-6, metric=metric[-3:], basis="blocks")
    table, column, factor = {
        "duration_s": ("run.sessions", "dur_ns", S),
        "step_mean_ms": ("diffusion.by_rank", "step_mean_ns", MS),
        "block_mean_ms": ("diffusion.by_rank", "block_mean_ns", MS),
        "peak_block_memory_mb": ("diffusion.by_rank", "block_memory_bytes", MIB)}[metric]
    return cell(table, column, factor, 1)


def flat(case, path):
    report, name = case.report(), path[1]
    if name == "n":
        return len(report.document["run"]["ranks"])
    kind, figure = name.split(".")
    signal, factor = {
        "memory_used_mb": ("memory_used", MIB), "memory_total_mb": ("memory_total", MIB),
        "utilization_percent": ("utilization", .01), "usage_percent": ("utilization", .01),
        "temperature_celsius": ("temperature", 1),
        "memory_utilization_percent": ("", .01)}[figure]
    if not signal:
        return Skip("memory used over total, which stand in rows of their own")
    values = [row["mean"] / factor
              for row in report.rows("telemetry.by_rank", signal=f"{kind}_{signal}")]
    return Close({"min": min, "max": max, "avg": lambda v: math.fsum(v) / len(v)}[path[2]](values),
                 1e-6)


def console(case, path):
    report, name = case.report(path[0]), path[1]
    blocks_ns = [row["dur_ns"] for row in report.rows("diffusion.blocks")]
    if name == "blocks_ms":
        return scaled(blocks_ns[path[2]], MS, 1)
    if name == "blocks_stats_ms":
        return of_list(blocks_ns, path[2], MS)
    if name == "total_ms":
        sessions = report.rows("run.sessions")
        return scaled(sessions[0]["dur_ns"], MS, 1) if sessions else console_stage(report, name)
    return console_stage(report, name)


def console_stage(report, name):
    words = {"initialization_ms": "init", "diffusion_ms": "diffusion", "vae_ms": "vae",
             "total_ms": "total"}
    row, = [row for row in report.rows("stages.by_name")
            if words[name] in row["stage"].lower()]
    return scaled(row["total_ns"], MS, 1)


def event_timer(case, path):
    report, wanted = case.report(path[0]), case.at(path[:2])
    row, = report.rows("stages.by_name", stage=f"{wanted['from']} → {wanted['to']}")
    return wanted[path[2]] if path[2] != "elapsed_s" else scaled(row["total_ns"], S, 1)


def live_console(case, path):
    report, name = case.report(path[0]), path[1]
    if name in ("copied_from", "note"):
        return NOT_A_FIGURE
    if name == "blocks":
        return len([line for line in case.at(("live_console_mojibake.txt", "gpu_lines"))
                    if line]) and report.cell("telemetry.by_rank", "samples",
                                              signal="gpu_memory_used")
    kind = name.removesuffix("_lines")
    if path[3] == "memory_percent":
        return Skip("memory used over total, which stand in rows of their own")
    signal, factor = {"memory_used_mb": ("memory_used", MIB), "memory_total_mb": (
        "memory_total", MIB), "utilization": ("utilization", .01), "cpu_percent": (
            "utilization", .01), "temperature": ("temperature", 1)}[path[3]]
    expected = [line[path[3]] for line in case.at(path[:2])]
    row, = report.rows("telemetry.by_rank", signal=f"{kind}_{signal}")
    column = "max" if expected[path[2]] == max(expected) else "min"
    return scaled(row[column], factor, 1e-6)


def extract(case, path):
    report = case.report("benchmark_results.json")
    group, figure, factor = {
        "total_steps": ("diffusion", "total_steps", 1),
        "avg_block_size": ("diffusion", "avg_block_size", 1),
        "fps": ("diffusion", "fps", 1), "bps": ("diffusion", "bps", 1),
        "total_blocks": ("block", "total_blocks", 1), "block_fps": ("block", "fps", 1),
        "peak_memory_mb": ("block", "peak_memory_usage_bytes", MIB),
        "avg_block_time_ms": ("block", "avg_computation_time_ns", MS),
        "avg_step_time_ms": ("diffusion", "avg_computation_time_ns", MS)}[path[1]]
    value = report.reported(group, figure)
    if value is None and path[1] == "avg_step_time_ms":
        return Skip("the extract asks for a key that no report has and writes 0 for it")
    return scaled(value, factor, 1)


# ---- Diffulex --------------------------------------------------------------------------------

def sections(case, path):
    """Sections of one metrics file, JSON or CSV."""
    report, name = case.report(path[1]), path[2]
    rows = report.rows("stages.by_name")
    total = sum(row["total_ns"] for row in rows)
    tokens = report.rows("sections.tokens")
    made = {
        "rows": lambda: sum(row["calls"] for row in rows),
        "sections": lambda: sum(row["calls"] for row in rows),
        "names": lambda: path_name(rows, case, path),
        "duration_total_s": lambda: scaled(total, S, len(rows)),
        "tokens_total": lambda: sum(row["tokens"] or 0 for row in tokens),
        "avg_throughput": lambda: Close(sum(row["tokens"] or 0 for row in tokens) / total * S,
                                        1e-3),
        "duration_s": lambda: of_list([row["total_ns"] for row in rows], path[3], S),
        "longest_section": lambda: max(rows, key=lambda row: row["total_ns"])["stage"],
        "percent_of_total": lambda: Close(
            100 * report.cell("stages.by_name", "total_ns", stage=path[3]) / total, 1e-5),
        "throughput_per_section": lambda: rate(
            report.cell("sections.tokens", "tokens_per_s", section=path[3]), 1e-3),
    }
    return made[name]()


def rate(value, within):
    """Where no tokens were recorded the original writes 0."""
    return Skip("a rate of nothing recorded is none") if value is None else Close(value, within)


def path_name(rows, case, path):
    wanted = case.at(path)
    return wanted if any(row["stage"] == wanted for row in rows) else None


def section(case, path):
    row, = case.report(path[1]).rows("stages.by_name", stage=path[3])
    return statistics(row, path[4], S) if row["calls"] > 1 else of_list([row["total_ns"]], path[4],
                                                                        S)


def section_memory(case, path):
    rows = [row for row in case.report(path[1]).rows("figures.reported", group="sections")
            if row["figure"].endswith("/host_memory_change_bytes")]
    return Close(sum(row["value"] for row in rows) / MIB, 1e-6) if rows else zeros(case.at(path))


def summary_in_file(case, path):
    """The file's own sums are ours; of its rate, which counts loading, the note says so."""
    report, name = case.report(path[1]), path[-1]
    rows = report.rows("stages.by_name")
    duration = sum(row["total_ns"] for row in rows)
    if name.startswith("avg_throughput"):
        return rate(report.cell("figures.reported", "value", group="sections",
                                figure="tokens_per_s"), 0.005)
    return {"total_sections": lambda: sum(row["calls"] for row in rows),
            "total_duration_sec": lambda: scaled(duration, S, len(rows)),
            "total_duration_s": lambda: Close(duration / S, 0.005 + 5e-5 * len(rows)),
            "total_tokens": lambda: report.total("sections.tokens", "tokens")}[name]()


def custom_metric(case, path):
    """Each value stands in figures.reported, below the section that has it."""
    values = [row["value"] for row in case.report(path[1]).rows("figures.reported", group="custom")
              if row["figure"].endswith(f"/{path[3]}")]
    finite = [value for value in values if value is not None]
    name, wanted = path[4], case.at(path[:4])
    if name in ("n", "nonfinite"):  # NaN and infinities are no values
        return wanted[name] if len(finite) == wanted["n"] - wanted["nonfinite"] else None
    if not finite:
        return None
    return Close({"min": min, "max": max,
                  "avg": lambda v: math.fsum(v) / len(v)}[name](finite), 1e-9)


def summary_text(case, path):
    """The summary as text, to the digits that were printed."""
    report = case.report(path[1])
    if path[2] == "sections":
        wanted = case.at(path[:4])
        row, = report.rows("stages.by_name", stage=wanted["name"])
        return row["stage"] if path[4] == "name" else scaled(row["total_ns"], S, 1)
    return summary_in_file(case, path)


def stage_timing(case, path):
    report, name = case.report(path[1]), path[2]
    rows = report.rows("stages.by_name")
    if name == "rows":
        return sum(row["calls"] for row in rows)
    if name == "ranks":
        wanted = case.at(path)
        rank = None if wanted == "" else int(wanted)
        return wanted if any(row["rank"] == rank for row in rows) else None
    if name == "scopes":
        wanted = case.at(path)
        return wanted if any(row["stage"].startswith(f"{wanted}/") for row in rows) else None
    if name == "exceptions":
        failed = case.at((*path[:2], "exceptions"))
        count = sum(row["exceptions"] or 0 for row in rows)
        return case.at(path) if len(failed) == count else count
    wanted = case.at(path[:4])
    rank = None if wanted["rank"] == "" else int(wanted["rank"])
    row, = report.rows("stages.by_name", rank=rank, stage=f"{wanted['scope']}/{wanted['stage']}")
    if path[4] in ("scope", "rank", "stage"):
        return wanted[path[4]]
    if path[4] == "cpu_ms":
        return statistics(row, path[5], MS)
    if path[5] == "count":
        return row["calls"] if row["device_ns"] is not None else 0
    if path[5] == "total":
        return scaled(row["device_ns"], MS, row["calls"])
    return Skip("of the times by device events reports have the sum; those by the host clock have "
                "statistics")


def operator_rows(case, path):
    report, name = case.report(path[1]), path[2]
    rows = report.rows("ops.summed")
    made = {
        "rows": lambda: len(rows),
        "calls_total": lambda: sum(row["calls"] for row in rows),
        "self_cpu_total_us": lambda: scaled(sum(row["self_cpu_ns"] for row in rows), US, 1),
        "top5_by_self_cpu": lambda: sorted(rows, key=lambda row: -row["self_cpu_ns"])[
            path[3]]["name"],
    }
    if name != "markers":
        return made[name]()
    row, = report.rows("ops.summed", name=path[3])
    column = {"count": "calls", "cpu_time_total_us": "cpu_ns",
              "self_cpu_time_total_us": "self_cpu_ns"}[path[4]]
    return row[column] if column == "calls" else scaled(row[column], US, 1)


def folded(case, path):
    report, name = case.report(path[1]), path[2]
    rows = report.rows("stacks.folded")
    if name == "lines":
        return Skip("lines of stacks that are equal but for an address are one row")
    if name == "total":
        return scaled(sum(row["total_ns"] for row in rows), US, 1)
    return scaled(sum(row["total_ns"] for row in rows if row["stack"].split(";")[-1] == path[3]),
                  US, 1)


DIFFULEX = {
    "diffulex-metrics": sections, "diffulex-metrics-csv": sections,
    "diffulex-summary-text": summary_text, "summary text in a .json file": summary_text,
    "stage-timing-csv": stage_timing, "torch-op-rows": operator_rows,
    "torch-op-rows-csv": operator_rows, "merged-op-csv": operator_rows, "folded-stacks": folded,
}


def diffulex(case, path):
    """By the kind that expected.json gives the file."""
    kind = case.at(path[:2]).get("kind")
    if path[2] in ("kind", "note", "columns", "backends"):
        return SHAPE
    if kind == "diffulex-metrics" and len(path) > 3:
        special = {"by_name": section, "summary_in_file": summary_in_file,
                   "custom_metrics": custom_metric}.get(path[2])
        if special:
            return special(case, path)
    if path[2] == "memory_delta_mb_sum":
        return section_memory(case, path)
    if path[2] == "gpu_utilization_delta":
        return gpu_delta(case, path)
    if kind in DIFFULEX:
        return DIFFULEX[kind](case, path)
    for pattern, cell in trace_map("files", ANY):
        if fits(pattern, path):
            return cell(case, path) if callable(cell) else cell
    return None


def gpu_delta(case, path):
    if len(path) < 4:
        return case.at(path)
    change = case.report(path[1]).cell("figures.reported", "value", group="sections",
                                       figure=f"{path[3]}/gpu_utilization_change")
    return Close(change * 100, 1e-6)


# ---- cache-dit, torch memory, nvidia-smi -----------------------------------------------------

def ascend(case, path):
    wanted, name = case.at(path[:2]), path[2]
    report = case.report(wanted["directory"])
    if name == "directory":
        return NOT_A_FIGURE
    if name == "rank":
        return case.report().document["run"]["ranks"][path[1]]
    kernels = report.rows("kernels.by_name")
    if name == "kernels":
        return sum(row["calls"] for row in kernels)
    if name == "kernel_total_us":
        return scaled(sum(row["total_ns"] for row in kernels), US, 1)
    if name == "by_type_us":
        row, = [row for row in kernels if path[3] in row["name"]]
        return statistics(row, path[4], US)
    if name == "steps":
        return ascend_step(report, wanted["steps"][path[3]], path[4])
    return report.total("run.files", "events", format="chrome_json")


def ascend_step(report, wanted, name):
    row, = [row for row in report.rows("steps.by_step")
            if str(wanted["step"]) in str(row["step"])]
    column = {"stage_us": "host_dur_ns"}.get(name)
    if name == "step":
        return wanted["step"]
    if column:
        return scaled(row[column], US, 1)
    return Skip("of a step that the Ascend tool summed up, reports have the length")


def allocator(case, path):
    file, name = path[1], path[2]
    report = case.report(file)
    rows = [{**state, **segments} for state, segments in
            zip(report.rows("memory.fragmentation"), report.rows("memory.segments"))]

    def total(column):
        return sum(row[column] for row in rows)
    last = path[-1]
    if name in ("pickle_protocol", "bytes", "top_level_keys", "external_annotations"):
        return SHAPE
    if name == "segments":
        if path[3] in ("by_type", "by_stream"):
            return Skip("by pool and stream: no table of a report")
        if path[3] == "by_device":
            return report.cell("memory.fragmentation", "reserved_bytes", device=int(path[4]))
        return total({"count": "segments", "total_bytes": "reserved_bytes",
                      "allocated_bytes": "allocated_bytes",
                      "active_bytes": "allocated_bytes"}[path[3]]) + (
                          total("pending_bytes") if path[3] == "active_bytes" else 0)
    if name == "blocks_by_state":
        if last == "count":
            return Skip("reports count blocks of all states together")
        return total({"active_allocated": "allocated_bytes", "inactive": "free_bytes",
                      "active_pending_free": "pending_bytes"}[path[3]])
    if name == "internal_fragmentation_bytes":
        return total("internal_bytes")
    if name == "inactive_bytes":
        return total("free_bytes")
    if name == "largest_inactive_block":
        return max(row["largest_free_bytes"] or 0 for row in rows)
    if name == "external_fragmentation_percent_of_reserved":
        return Close(100 * total("free_bytes") / total("reserved_bytes"), 1e-9)
    if name == "live_by_site":
        return site(report, case.at(path[:4]), last, "held")
    return history(case, path, report)


def site(report, wanted, name, which, device=None):
    """Sites of the program, counted alike: file:line:function."""
    where = {} if device is None else {"device": device}
    if name == "site":
        return wanted["site"]
    rows = [row for row in report.rows("memory.sites", **where)
            if site_key(row["site"]) == wanted["site"]]
    if not rows:
        return Skip("the site is not the innermost frame of the program: see site_key()")
    column = f"{which}_blocks" if name == "count" else f"{which}_bytes"
    return sum(row[column] for row in rows)


def site_key(text):
    """file:line:function of our "function (file:line)"."""
    found = re.fullmatch(r"(.*) \((.*):(\d+)\)", text)
    return f"{found.group(2)}:{found.group(3)}:{found.group(1)}" if found else text


def history(case, path, report):
    wanted, name = case.at(path[:4]), path[4]
    row = (report.rows("memory.churn", device=wanted["device"]) or [None])[0]
    if row:
        row = {**row, **report.rows("memory.peaks", device=wanted["device"])[0]}
    action = {"alloc": "allocations", "segment_alloc": "segment_allocations",
              "segment_free": "segment_frees", "oom": "ooms"}
    if name == "device":
        return wanted["device"]
    if name == "entries":
        return row["entries"] if row else 0
    if name in ("by_action", "not_freed") and len(path) < 6:
        return wanted[name] if not row else None
    if name == "by_action":
        if path[5] in action:
            return row[action[path[5]]]
        if path[5] in ("free_completed", "free_requested"):
            return Skip("both are entries of one free: frees counts it once")
        return Skip("an entry that changes no amount")
    if name == "oom":
        failure = report.rows("memory.failures", device=wanted["device"])
        if len(path) < 6:
            return [] if not failure else None
        return failure[path[5]][{"size": "wanted_bytes", "device_free": "device_free_bytes"}[
            path[6]]]
    if name in ("first_time_us", "last_time_us"):
        return OF_THE_CLOCK
    if name in ("replay_peak_entry_index", "frees_without_alloc", "free_requested_not_completed"):
        return Skip("of the replay by itself")
    if name == "not_freed":
        return site(report, wanted["not_freed"][path[5]], path[6], "unfreed", wanted["device"])
    if wanted["frees_without_alloc"] and name.startswith("replay_peak"):
        return Skip("expected.json replays from nothing where the beginning was dropped; we from "
                    "what must have been there")
    return replay(row, name)


def replay(row, name):
    column = {"replay_peak_requested_bytes": "peak_allocated_bytes",
              "replay_end_requested_bytes": "unfreed_bytes",
              "replay_peak_reserved_bytes": "peak_reserved_bytes"}[name]
    return row[column] if row else 0


def memory_summary(case, path):
    report, name = case.report(path[1]), path[2]
    if name in ("ooms", "retries"):
        return report.cell("memory.by_rank", name)
    column = {("Allocated memory", 1): "peak_allocated_bytes",
              ("GPU reserved memory", 1): "peak_reserved_bytes"}.get((path[3], path[4]))
    now = {("Allocated memory", 0): "allocated_bytes",
           ("GPU reserved memory", 0): "reserved_bytes"}.get((path[3], path[4]))
    if not column and not now:
        return Skip("of the summary reports have allocated and reserved memory, now and at most")
    wanted = case.at(path)
    value = report.cell("memory.by_rank", column) if column else report.rows(
        "memory.snapshots")[-1][now]
    return wanted if size_of(wanted) == value else value


def size_of(text):
    number, unit = text.split()
    return int(number) * {"B": 1, "KB": 1024, "MB": 1024 ** 2, "KiB": 1024, "MiB": 1024 ** 2,
                          "GB": 1024 ** 3, "GiB": 1024 ** 3}[unit]


def cachedit(case, path):
    if path[1].endswith(".pickle"):
        return allocator(case, path)
    if path[1].endswith(".txt"):
        return memory_summary(case, path)
    for pattern, cell in trace_map("files", ANY):
        if fits(pattern, path):
            return cell(case, path) if callable(cell) else cell
    return None


def trace_over_ranks(case, path):
    """across_ranks of traces: each rank read alone, since operators are over all ranks."""
    metric, what = path[1], path[-1]
    if metric == "ranks":
        return case.report().document["run"]["ranks"][path[2]]
    files = {str(found["rank_from_name"]): name for name, found in case.expected["files"].items()
             if "rank_from_name" in found and "operations_us" in found}
    values = {}
    for rank in case.at(path[:2])["per_rank"]:
        report = case.report(files[rank])
        if metric == "wall_us":
            values[rank] = report.total("trace.by_rank", "window_ns") / US
        elif metric == "events":
            values[rank] = report.cell("run.files", "events")
        elif metric == "gpu_busy_union_us":
            values[rank] = report.total("gpu_time.by_rank", "busy_ns") / US
        elif metric in ("kernel_total_us", "nccl_total_us"):
            where = {"class": "comm"} if metric.startswith("nccl") else {}
            values[rank] = report.total("kernels.by_name", "total_ns", **where) / US
        else:
            name = metric.removeprefix("total_us:")
            values[rank] = report.total("ops.by_name", "total_ns", name=name) / US
    if "per_rank" in path:
        return Close(values[what], 1e-2)
    most = [rank for rank in values if values[rank] == max(values.values())]
    return {"min": lambda: Close(min(values.values()), 1e-2),
            "max": lambda: Close(max(values.values()), 1e-2),
            "avg": lambda: Close(math.fsum(values.values()) / len(values), 1e-2),
            "rank_of_max": lambda: int(most[0])}[what]()


def dmon(case, path):
    report, name = case.report(path[0]), path[1]
    rows = report.rows("telemetry.by_rank")
    if name in ("header_blocks", "columns"):
        return SHAPE
    if name == "rows":
        return report.document["data_quality"]["files"][0]["events_seen"]
    number = int(path[2])
    if path[3] in ("samples", "sm_missing"):
        most = max(row["samples"] for row in rows if row["device"] == number)
        valid = report.cell("telemetry.by_rank", "samples", device=number,
                            signal="gpu_utilization")
        return most if path[3] == "samples" else most - valid
    signal, factor = {"sm_percent": ("gpu_utilization", .01), "pclk_mhz": ("gpu_clock", 1e6),
                      "fb_mb": ("gpu_memory_used", MIB)}[path[3]]
    column = {"n": "samples", "avg": "mean", "peak": "max"}.get(path[4], path[4])
    value = report.cell("telemetry.by_rank", column, device=number, signal=signal)
    return value if column == "samples" else scaled(value, factor, 1e-9)


PAIR = Skip("a comparison of two runs, which is the business of diff")

# ---- the map ---------------------------------------------------------------------------------

COMMON = [(("system",), NOT_A_FIGURE), (("definitions",), NOT_A_FIGURE), (("notes",), NOT_A_FIGURE),
          (("note",), NOT_A_FIGURE), (("what",), NOT_A_FIGURE)]

INFERIX = [
    *COMMON,
    ((("reports", "raw"), INDEX, ("file", "kind")), NOT_A_FIGURE),
    (("reports", INDEX, ("start_time_unix_s", "end_time_unix_s")), OF_THE_CLOCK),
    (("reports", INDEX, ("session_id", "duration_s", "tags", "rank", "world_size")),
     inferix_identity),
    (("reports", INDEX, ("event_count", "event_counts_by_name")), event_count),
    (("reports", INDEX, "stages_nested_note"), NOT_A_FIGURE),
    (("reports", INDEX, "stages", ANY, ANY), inferix_stage),
    (("reports", INDEX, "stages"), lambda case, path: {}),
    (("reports", INDEX, "stage_sum_s"), stage_sum),
    (("reports", INDEX, "stages_over_30_percent"), large_stage),
    (("reports", INDEX, ("diffusion_steps_ms", "diffusion_steps_ms_by_step_index")),
     durations("diffusion.steps")),
    (("reports", INDEX, "steps_original_formula"), originals),
    (("reports", INDEX, ("timestep_finite", "timestep_nonfinite")), timesteps),
    (("reports", INDEX, "blocks_ms"), durations("diffusion.blocks")),
    (("reports", INDEX, "blocks"), blocks),
    (("reports", INDEX, "end_to_end_fps"), end_to_end),
    (("reports", INDEX, ("gpu", "cpu")), samples),
    (("reports", INDEX, "layers_ms"), layer),
    (("reports", INDEX, ("models", "parameters_total")), parameters),
    (("reports", INDEX, ("cache_requests", "cache_by_type", "cache_hit_rate_of_lookups",
                         "cache_hit_rate_original")), cache),
    (("reports", INDEX, "streaming"), streaming),
    (("reports", INDEX, "memory_analysis_in_file"), allocations),
    (("reports", INDEX, "recommendations_in_file", INDEX), advice),
    (("reports", INDEX, "recommendations_in_file"), lambda case, path: []),
    (("reports",), lambda case, path: []),
    (("raw", INDEX), raw),
    (("across_ranks",), over_ranks),
    (("flat_summaries",), flat),
    (("pipeline_console.txt",), console),
    (("event_timer_console.txt",), event_timer),
    (("live_console_mojibake.txt",), live_console),
    (("file",), NOT_A_FIGURE),
    (("as_written",), extract),
]

FRAMEPACK = [
    *COMMON,
    (("report", ("file", "timestamp_unix_s")), NOT_A_FIGURE),
    (("report", "operations"), operation_stage),
    (("operations_s",), operation_stage),
    (("report", "order_by_total"), stage_order),
    (("report", "sum_of_totals_s"), lambda case, path: scaled(
        case.report(REPORT).total("stages.by_name", "total_ns"), S, 50)),
    (("report", "iteration_stats", ANY), iteration),
    (("report", "iteration_stats"), lambda case, path: {}),
    ((("iterations_s", "iterations_per_second"),), iteration),
    (("report", "memory_snapshot_count"), lambda case, path: len(
        case.report(REPORT).rows("memory.snapshots"))),
    (("report", "memory"), snapshots),
    (("timing_summary.txt", ANY, INDEX), printed),
    (("timing_summary.txt", "iteration"), printed),
    (("timing_summary.txt",), lambda case, path: []),
    (("cache_timeline.md",), cache_timeline),
]

MAP = {
    "viztracer": [*COMMON, *trace_map("files", ANY)],
    "framepack": [*FRAMEPACK, *trace_map("files", ANY)],
    "inferix": INFERIX,
    "diffulex": [*COMMON, (("files", ANY, ANY), diffulex)],
    "cache-dit": [*COMMON, (("files", ANY, ANY), cachedit), (("ranks", INDEX), ascend),
                  (("across_ranks",), trace_over_ranks)],
    "torch-memory": [*COMMON, (("sizes",), NOT_A_FIGURE), (("files", ANY, ANY), allocator),
                     (("pair",), PAIR)],
    "nvidia-smi": [*COMMON, ((ANY,), dmon)],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--dumps", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="folders whose path holds this text")
    parser.add_argument("-v", action="store_true", help="show all faults")
    args = parser.parse_args()
    folders = sorted(path.parent for path in args.dumps.rglob("expected.json")
                     if args.only in str(path.parent))
    run = Run(args.program)
    agreeing, faulty, skipped = 0, 0, collections.Counter()
    for folder in folders:
        results = list(Case(run, folder).check())
        faults = [(path, what) for path, what in results
                  if what != "ok" and not isinstance(what, Skip)]
        skipped.update(what.reason for _, what in results if isinstance(what, Skip))
        agreeing += sum(1 for _, what in results if what == "ok")
        faulty += len(faults)
        for path, what in faults if args.v else faults[:10]:
            print(f"{folder.relative_to(args.dumps)}: {'/'.join(map(str, path))}: {what}")
        if len(faults) > 10 and not args.v:
            print(f"{folder.relative_to(args.dumps)}: {len(faults) - 10} more")
    for reason, count in skipped.most_common() if args.v else ():
        print(f"{count:6} {reason}")
    print(f"{len(folders)} folders: {agreeing} figures agree, {skipped.total()} are no figures of "
          f"a report, {faulty} do not agree")
    return 1 if faulty or not folders else 0


if __name__ == "__main__":
    sys.exit(main())
