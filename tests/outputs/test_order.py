#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of tables are in the order that is declared, and every open table has one.

usage: test_order.py --program TRACEANALYZE --root SOURCES [--shared DATA]

What a table is sorted by is in its declaration, printed by `traceanalyze plugins --json`.  Open
tables without one keep the order of the analysis, which is one of rank and time here; or one of
severity, or of a time that depends on what was recorded.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import reports

# Open tables of a chapter whose rows ascend by these columns: by rank, by device, in time.
ASCENDING = {
    "allocations.by_allocator": "rank",
    "caches.by_name": "rank cache",
    "diffusion.blocks": "rank index",
    "diffusion.by_rank": "rank",
    "diffusion.loops": "rank",
    "gpu_time.by_rank": "rank device",
    "launches.graphs": "rank",
    "memory.by_rank": "rank device",
    "memory.churn": "rank label device",
    "memory.failures": "rank label device index",
    "memory.fragmentation": "rank label device",
    "memory.peaks": "rank label device",
    "memory.segments": "rank label device",
    "memory.size_classes": "rank label device",
    "memory.snapshots": "rank index",
    "models.loads": "rank index",
    "ops.call_tree": "node",
    "ops.totals": "rank device",
    "phases.by_rank": "rank",  # then in the order of the program
    "playback.by_video": "rank video",
    "progress.bars": "rank bar",
    "progress.pauses": "rank index",
    "requests.by_rank": "rank",
    "run.happenings": "rank index",
    "run.sessions": "rank index",
    "steps.by_step": "rank",  # then in time, last a single one around the others
    "stragglers.by_rank": "rank",
    "streaming.by_rank": "rank",
    "telemetry.by_rank": "rank",  # then by device, first what is of none
    "telemetry.window": "rank device",
    "throughput.values": "rank",
}
# Those that descend by the first of these columns that says something.
DESCENDING = {
    "memory.sites": "peak_bytes total_bytes unfreed_bytes",
    "ops.backward": "device_ns backward_host_ns",
    "ops.backward_by_module": "device_ns backward_host_ns",
    "ops.by_operator": "device_self_ns host_self_ns",
    "ops.summed": "self_device_ns self_cpu_ns",
    "stacks.folded": "total_ns samples",
}
# Those whose order no column shows: the most telling first, or one row for each question.
BY_MEANING = {"ranks.outliers", "ranks.parts", "parts.metrics", "diffusion.plan",
              "diffusion.block_law", "steps.jitter", "phases.alone", "caches.speedup",
              "memory.site_phases", "scaling.by_world_size"}

SAMPLES = ("video-4ranks", "inferix-4ranks", "console-logs", "diffulex", "framepack-pair/baseline")
SHARED = ("traces/xdit_sd_3.5", "traces/mi300_qwen1.5_0.5b", "traces/synthetic_nccl_4rank",
          "traces/cpu_only_five_steps", "traces/vllm_decode_full_graph",
          "traces/tb_resnet50_nw4", "public/memory-cpp-frames", "public/f05_nvidia_smi_query",
          "public/t02_table_annotations", "seeds/dx_pyt", "seeds/inf_dec")


def key_of(cell):
    """Sorts as the program does: what is missing comes last."""
    return (cell is None, cell if cell is not None else 0)


def column(table, key):
    keys = [column["key"] for column in table["columns"]]
    at = keys.index(key)
    return [row[at] for row in table["rows"]]


def ascends(table, keys):
    rows = list(zip(*(map(key_of, column(table, key)) for key in keys)))
    return all(a <= b for a, b in zip(rows, rows[1:]))


def descends(cells):
    said = [cell for cell in cells if cell is not None]
    ends = cells[len(said):]  # what is missing comes last
    return all(a >= b for a, b in zip(said, said[1:])) and all(cell is None for cell in ends)


def follows_declaration(table, of):
    groups = [None] * len(table["rows"])
    if of["within"]:
        groups = column(table, of["within"])
        if not ascends(table, [of["within"]]):
            return False
    cells = column(table, of["order"])
    for group in dict.fromkeys(groups):
        own = [cell for cell, other in zip(cells, groups) if other == group]
        if of["descending"] and not descends(own):
            return False
        if not of["descending"] and sorted(own, key=key_of) != own:
            return False
    return True


def is_in_order(table, of):
    """None where nothing says what its order is."""
    name = table["id"]
    if of["order"]:
        return follows_declaration(table, of)
    if name in ASCENDING:
        return ascends(table, ASCENDING[name].split())
    if name in DESCENDING:
        said = [key for key in DESCENDING[name].split() if any(column(table, key))]
        return not said or descends(column(table, said[0]))
    return True if name in BY_MEANING else None


def faults_of(program, declared, chapters, path):
    report = json.loads(subprocess.run(
        [program, "--no-config", "report", "-q", path, "--json"], check=True, timeout=300,
        capture_output=True).stdout)
    for section in report["sections"]:
        for table in section["items"]:
            if table["kind"] != "table" or table["id"] not in declared:
                continue
            of = declared[table["id"]]
            is_open = of["tier"] == "answer" and section["id"] not in chapters
            in_order = is_in_order(table, of) if is_open or of["order"] else True
            if in_order is None:
                yield f"{path}: {table['id']} is open, and nothing says what it is sorted by"
            elif not in_order:
                yield f"{path}: {table['id']} is not in its order"


# Sections of the appendix, whose tables list what was read, and what the program itself sorts.
NOT_OPEN = {"run", "health", "reported", "data_quality", "method", "findings", "gates"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--root", required=True, type=pathlib.Path)
    parser.add_argument("--shared", type=pathlib.Path)
    arguments = parser.parse_args()
    declared = json.loads(subprocess.run([arguments.program, "plugins", "--json"], check=True,
                                         timeout=60, capture_output=True).stdout)["tables"]
    declared = {table["id"]: table for table in declared if table["maker"]}
    inputs = [arguments.root / "samples" / name for name in SAMPLES]
    if arguments.shared and arguments.shared.is_dir():
        inputs += [arguments.shared / name for name in SHARED]
    faults = [f"{name} declares its order already"
              for name in [*ASCENDING, *DESCENDING, *BY_MEANING]
              if name not in declared or declared[name]["order"]]
    for path in inputs:
        faults += faults_of(arguments.program, declared, NOT_OPEN, path)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
