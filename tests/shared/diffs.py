#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares runs of ../shared and holds what `diff` says against figures computed elsewhere.

usage: diffs.py --program PROGRAM --shared FOLDER [--only TEXT] [-v]

  * pairs of traces, related and not: kernels and operators of both sides equal the exact figures of
    each trace; the terms of every window add up to its change to the nanosecond, with nothing left
    over, or the comparison says why there are none;
  * the same pairs as reports that were saved: a comparison runs the analyses that it reads alone,
    and nothing that it says may lack the others;
  * pairs of dumps that were recorded before and after a known change: times and calls of stages and
    operations equal those of expected_diff.json.
"""
import argparse
import collections
import json
import pathlib
import shutil
import sys
import tempfile

import reports

SIDES = ("base", "new")
# Far neighbors in the order of names have nothing in common.
STRIDES = (1, 7)
# Files of a dump folder that are not of the dump.
FIGURES = ("contract.json", "expected.json", "README.md")


class Faults:
    def __init__(self, verbose):
        self.verbose, self.count, self.checks = verbose, 0, 0

    def check(self, what, holds, *details):
        self.checks += 1
        if holds:
            return
        self.count += 1
        if self.count <= 40 or self.verbose:
            print(what, *details)


def compare(program, before, after):
    return reports.read(program, before, after, command="diff")


# ---- saved reports ------------------------------------------------------------------------------

class Saved:
    """Whole reports of runs, each written once."""

    def __init__(self, program, folder):
        self.program, self.folder, self.paths = program, folder, {}

    def path(self, source):
        if source not in self.paths:
            path = self.folder / f"{len(self.paths)}.json"
            document = reports.read(self.program, source).document
            path.write_text(json.dumps(document), encoding="utf-8")
            self.paths[source] = path
        return self.paths[source]


def check_saved(faults, name, found, saved, before, after):
    other = compare(saved.program, saved.path(before), saved.path(after))
    for section, theirs in zip(found.document["sections"], other.document["sections"]):
        faults.check(f"{name}: other items in {section['id']} of saved reports",
                     section["items"] == theirs["items"],
                     [item["id"] for item in section["items"] if item not in theirs["items"]])


# ---- windows ----------------------------------------------------------------------------------

def check_windows(faults, name, found, lengths=None):
    """Every window is explained; `lengths` are those of the longest, where they are known."""
    windows, bars = found.rows("diff.windows"), found.rows("diff.waterfall")
    if not windows:
        said = [text for text in found.missing if "is not explained" in text]
        faults.check(f"{name}: no window, and no reason", said)
        faults.check(f"{name}: bars without a window", not bars)
        return
    longest = windows[0]
    faults.check(f"{name}: the first window is not the longest", longest["window"] == "longest")
    total = sum(row["delta_ns"] for row in bars)
    faults.check(f"{name}: the waterfall does not close", total == longest["delta_ns"], total)
    for row in windows:
        faults.check(f"{name}: a window has a residual", row["residual_ns"] == 0, row)
        faults.check(f"{name}: a window's change",
                     row["delta_ns"] == row["new_ns"] - row["base_ns"])
    for row in bars + found.rows("diff.waterfall_by_rank"):
        faults.check(f"{name}: effects of {row['term']}", row["delta_ns"] ==
                     row["count_effect_ns"] + row["rate_effect_ns"])
    ranks = collections.Counter()
    for row in found.rows("diff.waterfall_by_rank"):
        ranks[row["rank"], row["device"]] += row["delta_ns"]
    for row in windows[1:]:
        faults.check(f"{name}: the waterfall of rank {row['base_rank']} does not close",
                     ranks[row["base_rank"], row["base_device"]] == row["delta_ns"])
    for side, length in zip(SIDES, lengths or ()):
        faults.check(f"{name}: window of {side}", longest[f"{side}_ns"] == length, length,
                     longest[f"{side}_ns"])


# ---- traces with exact figures ------------------------------------------------------------------

def table_of(golden, table):
    entry = golden["tables"].get(table)
    if not entry:
        return []
    return [dict(zip(entry["columns"], row)) for row in entry["rows"]]


def is_whole(golden, table):
    return golden["tables"].get(table, {}).get("complete", True)


def totals_by_name(golden, table):
    totals = collections.defaultdict(lambda: [0, 0])
    for row in table_of(golden, table):
        totals[row["name"]][0] += row["calls"]
        totals[row["name"]][1] += row["total_ns"]
    return totals


def check_names(faults, name, found, goldens, table, source):
    """Each side's names with their calls and times, from rows that may have two names."""
    if not all(is_whole(golden, source) for golden in goldens):
        return
    for side, golden in zip(SIDES, goldens):
        wanted, had = totals_by_name(golden, source), {}
        for row in found.rows(table):
            if row["status"] == ("added" if side == "base" else "removed"):
                faults.check(f"{name}: {table} {row['name']}", row[f"{side}_total_ns"] == 0)
                continue
            own = row["name"] if side == "base" else row["matched_as"] or row["name"]
            faults.check(f"{name}: {table} has {own} twice", own not in had)
            had[own] = [row[f"{side}_calls"], row[f"{side}_total_ns"]]
        faults.check(f"{name}: {table} of {side}", had == dict(wanted),
                     [key for key in set(had) | set(wanted) if had.get(key) != wanted.get(key)][:3])
    for row in found.rows(table):
        faults.check(f"{name}: {table} change of {row['name']}",
                     row["delta_ns"] == row["new_total_ns"] - row["base_total_ns"])


def longest_window(golden):
    return max((row["window_ns"] for row in table_of(golden, "gpu_time.by_rank")), default=None)


def trace_pairs(goldens):
    for stride in STRIDES:
        for i, golden in enumerate(goldens):
            yield golden, goldens[(i + stride) % len(goldens)]


def check_traces(args, faults, saved):
    goldens = []
    for path in sorted((args.shared / "data/goldens/exact").glob("*.json")):
        golden = json.loads(path.read_text(encoding="utf-8"))
        if golden.get("schema") == "exact-figures/1":
            goldens.append(golden)
    for number, pair in enumerate(trace_pairs(goldens)):
        name = " → ".join(golden["trace"] for golden in pair)
        if args.only and args.only not in name:
            continue
        paths = [args.shared / "data/traces" / golden["input"] for golden in pair]
        try:
            found = compare(args.program, *paths)
        except AssertionError as error:
            faults.check(f"{name}: {error}", False)
            continue
        lengths = [longest_window(golden) for golden in pair]
        check_windows(faults, name, found, lengths if all(lengths) else None)
        check_names(faults, name, found, pair, "diff.kernels", "kernels.by_name")
        check_names(faults, name, found, pair, "diff.ops", "ops.by_name")
        if number < len(goldens):
            check_saved(faults, name, found, saved, *paths)


# ---- dumps --------------------------------------------------------------------------------------

def nanoseconds(seconds):
    return round(seconds * 1e9)


def check_total(faults, name, rows, stage, before, after, calls=None):
    row = rows.get(stage)
    faults.check(f"{name}: no {stage}", row)
    if not row:
        return
    for side, seconds in zip(SIDES, (before, after)):
        wanted, had = nanoseconds(seconds), row[f"{side}_total_ns"]
        faults.check(f"{name}: {stage} {side}", abs(had - wanted) <= 2 * row[f"{side}_calls"], had,
                     wanted)
    if calls:
        faults.check(f"{name}: calls of {stage}", [row["base_calls"], row["new_calls"]] == calls)


def check_figure(faults, name, found, metric, before, after, within=0.0):
    rows = [row for row in found.rows("diff.metrics") if row["metric"] == metric]
    faults.check(f"{name}: no {metric}", rows)
    for row in rows:
        for side, wanted in zip(SIDES, (before, after)):
            faults.check(f"{name}: {metric} {side}",
                         abs(row[side] - wanted) <= within + 1e-9 * abs(wanted), row[side], wanted)


def check_framepack(faults, name, found, expected):
    rows = {row["name"]: row for row in found.rows("diff.stages")}
    for stage, figures in expected["operations"].items():
        total = figures["total_s"]
        check_total(faults, name, rows, stage, total["baseline"], total["optimized"],
                    figures["count"])


KINDS = {"kernel": "diff.kernels", "gpu_memcpy": "diff.copies", "gpu_memset": "diff.copies"}


def check_operations(faults, name, found, operations):
    """Operations of traces by category and name."""
    rows = {(kind, row["name"]): row for kind in ("diff.kernels", "diff.copies", "diff.ops")
            for row in found.rows(kind)}
    for key, figures in operations.items():
        category, operation = key.split("|", 1)
        if category.startswith("gpu_user"):
            continue
        total = figures["total_us"]
        row = rows.get((KINDS.get(category, "diff.ops"), operation))
        check_total(faults, name, {operation: row}, operation, total["baseline"] / 1e6,
                    total["optimized"] / 1e6, figures["count"])


def check_annotated(faults, name, found, expected):
    check_operations(faults, name, found, expected["operations"])
    busy = expected["gpu_busy_union_us"]
    for row in found.rows("diff.windows")[:1]:
        for side, word in zip(SIDES, ("baseline", "optimized")):
            idle = sum(bar[f"{side}_ns"] for bar in found.rows("diff.waterfall")
                       if bar["kind"] == "idle")
            # Small causes are in the term of all that is small.
            other = sum(bar[f"{side}_ns"] for bar in found.rows("diff.waterfall")
                        if bar["kind"] == "other")
            gap = row[f"{side}_ns"] - nanoseconds(busy[word] / 1e6)
            faults.check(f"{name}: busy time {side}", idle - 1 <= gap <= idle + other + 1, gap,
                         idle, other)


def check_ranks(faults, name, found, expected):
    """Operations of all ranks: sums over them."""
    sums = {}
    for rank in expected["per_rank"].values():
        for key, figures in rank["operations"].items():
            into = sums.setdefault(key, {"total_us": {"baseline": 0.0, "optimized": 0.0},
                                         "count": [0, 0]})
            for side in into["total_us"]:
                into["total_us"][side] += figures["total_us"][side]
            into["count"] = [a + b for a, b in zip(into["count"], figures["count"])]
    # Of each rank only the operations that changed most are listed: those of all ranks count.
    listed = [set(rank["operations"]) for rank in expected["per_rank"].values()]
    check_operations(faults, name, found,
                     {key: sums[key] for key in set.intersection(*listed)})


def check_inferix(faults, name, found, expected):
    rows = {row["name"]: row for row in found.rows("diff.stages")}
    for stage, figures in expected["stages"].items():
        average, row = figures["avg_over_ranks"], rows.get(stage)
        faults.check(f"{name}: no {stage}", row)
        for side, word in zip(SIDES, ("baseline", "optimized") if row else ()):
            # Every rank that has the stage runs it as often: all of it once, parts twice.
            ranks = row[f"{side}_calls"] / (1 if stage == "run_inference" else 2)
            faults.check(f"{name}: {stage} {side}",
                         abs(row[f"{side}_total_ns"] / ranks - average[word] * 1e9) < 8,
                         row[f"{side}_total_ns"] / ranks, average[word] * 1e9)
    for metric, theirs, unit in (("step_time.mean", "step_mean_ms", 1e6),
                                 ("block_time.mean", "block_mean_ms", 1e6)):
        figure = expected["metrics"][theirs]
        check_figure(faults, name, found, metric, figure["baseline"] * unit,
                     figure["optimized"] * unit, within=1)


def check_viztracer(faults, name, found, expected):
    rows = {row["name"]: row for row in found.rows("diff.ops")}
    for operation, figures in expected["operations_us"].items():
        total = figures["total"]
        check_total(faults, name, rows, operation, total["baseline"] / 1e6,
                    total["optimized"] / 1e6, figures["count"])


def check_diffulex(faults, name, found, expected):
    rows = {row["name"]: row for row in found.rows("diff.stages")}
    for stage, figures in expected["sections"].items():
        total = figures["duration_s"]
        check_total(faults, name, rows, stage, total["baseline"], total["optimized"])
    for figures in expected["stage_timing_cpu_ms"]:
        total = figures["total"]
        check_total(faults, name, rows, f"{figures['scope']}/{figures['stage']}",
                    total["baseline"] / 1e3, total["optimized"] / 1e3)


DUMPS = (
    ("framepack/pair_expected_diff.json", check_framepack),
    ("framepack/kineto_pair_expected_diff.json", check_annotated),
    ("viztracer/pair_expected_diff.json", check_viztracer),
    ("diffulex/pair_expected_diff.json", check_diffulex),
    ("cache-dit/pair_expected_diff.json", check_ranks),
    ("cache-dit/kineto_pair_expected_diff.json", check_ranks),
    ("inferix/pair_expected_diff.json", check_inferix),
)


def copy_dump(source, target):
    shutil.copytree(source, target, ignore=lambda _, names: [n for n in names if n in FIGURES])
    return target


def check_dumps(args, faults, saved):
    for path, check in DUMPS:
        if args.only and args.only not in path:
            continue
        path = args.shared / "data/dumps" / path
        expected = json.loads(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory(prefix="traceanalyze-diffs-") as scratch:
            sides = [copy_dump(path.parent / expected[side], pathlib.Path(scratch) / side)
                     for side in ("baseline", "optimized")]
            name = f"{path.parent.name} {expected['baseline']}"
            found = compare(args.program, *sides)
            check_saved(faults, name, found, saved, *sides)
        check_windows(faults, name, found)
        check(faults, name, found, expected)
    missing = {str(path.relative_to(args.shared / "data/dumps"))
               for path in (args.shared / "data/dumps").rglob("*expected_diff.json")} - \
        {path for path, _ in DUMPS}
    faults.check("pairs that are not checked", not missing, missing)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    parser.add_argument("--only")
    parser.add_argument("-v", action="store_true", dest="verbose")
    args = parser.parse_args()
    faults = Faults(args.verbose)
    with tempfile.TemporaryDirectory(prefix="traceanalyze-saved-") as folder:
        saved = Saved(args.program, pathlib.Path(folder))
        check_traces(args, faults, saved)
        check_dumps(args, faults, saved)
    print(f"{faults.checks} checks, {faults.count} failed")
    return 1 if faults.count or not faults.checks else 0


if __name__ == "__main__":
    sys.exit(main())
