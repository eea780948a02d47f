# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of a golden of Holistic Trace Analysis that were computed apart from the tool."""
import dataclasses

from .hta_model import COMMUNICATION, COMPUTATION, MEMORY, Settings
from .hta_rank import CAUSES, TABLES
from .ledger import agree
from .trace import length

INDEPENDENT = {"span_ns": "window_ns", "busy_ns": "busy_ns", "idle_ns": "idle_ns",
               "compute_ns": "compute_ns", "communication_ns": "comm_ns"}


def independent(case, ranks):
    """Unions computed apart from the tool, by its classes."""
    for file, choices in case.at("independent").items():
        rank = next(rank for rank in ranks.values() if rank.path.name == name_of(file))
        for choice in choices:
            settings = Settings(False, False, choice == "any_event_with_a_stream",
                                doubles=False)
            for path in case.below("independent", file, choice):
                check_independent(case, rank, settings, path)


def name_of(file):
    return file.rsplit("/", 1)[-1]


def check_independent(case, rank, settings, path):
    key = path[3]
    ours = None
    if key in INDEPENDENT and rank.cell("busy_ns") is not None:
        ours = round(1e3 * rank.cell(INDEPENDENT[key]))
    elif key == "memory_ns" and rank.cell("busy_ns") is not None:
        ours = round(1e3 * (rank.cell("memcpy_ns") + rank.cell("memset_ns") -
                            rank.both("memcpy", "memset")))
    elif key == "non_compute_ns" and rank.cell("busy_ns") is not None:
        ours = round(1e3 * (rank.cell("busy_ns") - rank.cell("compute_ns")))
    elif key == "events":
        ours = rank.report.total("launches.by_rank", "activities")
    theirs = case.leaves[path]

    def figure(model):
        return exact(model, path)

    ways = []
    value = figure(rank.model(settings))
    if agree(theirs, value, .5):
        if not settings.any_stream:
            rule = CAUSES["prefixes"]
        else:
            without = figure(rank.model(dataclasses.replace(settings, any_stream=False)))
            rule = CAUSES["prefixes"] if agree(without, value) else CAUSES["any_stream"]
        ways = [(TABLES if ours is None else rule, theirs)]
    case.check(path, ours, ways, .5)


def exact(model, path):
    """A figure of `independent` in ns, from a model without rounding."""
    key, below = path[3], path[4:]
    kinds = {"compute_ns": COMPUTATION, "communication_ns": COMMUNICATION, "memory_ns": MEMORY,
             "other_ns": "OTHER"}
    if key == "events":
        return len(model.device)
    if key in kinds:
        return 1e3 * length(model.intervals(kinds[key]))
    if key in ("span_ns", "busy_ns", "idle_ns", "non_compute_ns"):
        told = model.temporal()
        if not told:
            return 0
        return 1e3 * {"span_ns": told["kernel_time(us)"], "idle_ns": told["idle_time(us)"],
                      "busy_ns": told["kernel_time(us)"] - told["idle_time(us)"],
                      "non_compute_ns": told["non_compute_time(us)"]}[key]
    if key == "overlap_pct_of_communication":
        return model.overlap()
    if key in ("compute_and_communication_ns", "compute_and_memory_ns"):
        other = COMMUNICATION if key == "compute_and_communication_ns" else MEMORY
        return 1e3 * length(model.intervals(COMPUTATION)) - \
            1e3 * model.uncovered(COMPUTATION, [other])
    if key == "count_by_type":
        return sum(model.kind(row) == below[0] for row in model.device)
    if key == "sum_ns_by_type":
        return 1e3 * sum(row.dur for row in model.device if model.kind(row) == below[0])
    return None
