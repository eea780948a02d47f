#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dumps of several runs in one folder, as their profilers leave them there: each run keeps the
figures that it has alone.

usage: test_dumps.py --program TRACEANALYZE --dumps FOLDER
"""
import argparse
import itertools
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import reports

SKIPPED = 77

# Folders of one run each, and where their files lie in the folder of several.
FOLDERS = {
    "sessions of ranks": [("inferix/pair_baseline", "."), ("inferix/pair_optimized", ".")],
    "sessions of one name": [("inferix/single_rich", "."), ("inferix/single_slow", "."),
                             ("inferix/single_torchcuda", ".")],
    "worlds of several sizes": [("inferix/ranks1", "a"), ("inferix/ranks4", "b"),
                                ("inferix/ranks8_straggler", "c/d")],
    "sessions of one process, and a run": [("inferix/quirks", "."),
                                                 ("inferix/single_nogpu", ".")],
    "folders of fixed names": [("framepack/baseline", "a"), ("framepack/optimized", "b"),
                               ("framepack/nocuda", "c")],
    "folders of fixed names without traces": [("framepack/as_shipped", "a"),
                                              ("framepack/profile_demo", "b")],
    "exports": [("diffulex/simple_v1", "."), ("diffulex/documented_usage_v1", ".")],
    "exports with traces of their own": [("diffulex/pytorch_v1", "."),
                                         ("diffulex/viztracer_v2", "."),
                                         ("diffulex/simple_v1", ".")],
    "exports that overwrote traces": [("diffulex/viztracer_v1_no_trace", "."),
                                      ("diffulex/pytorch_v3", ".")],
    "exports in folders": [("diffulex/baseline", "a"), ("diffulex/optimized", "b")],
}
ONE_RUN = ["inferix/quirks", "inferix/ranks4", "inferix/ranks8_straggler",
           "inferix/flat_summaries8", "framepack/baseline", "diffulex/pytorch_v3",
           "diffulex/torch_session_tp4"]
NO_INPUT = ("contract.json", "expected.json")


def put_together(dumps, parts, folder):
    """A copy of each run in the folder; two consoles of one name get another one."""
    for number, (run, place) in enumerate(parts):
        for path in sorted((dumps / run).rglob("*")):
            if path.is_dir() or path.name in NO_INPUT or path.suffix == ".html":
                continue
            target = folder / place / path.relative_to(dumps / run)
            others = [dumps / other for other, where in parts if other != run and where == place]
            if target.exists() or any((other / path.name).exists() for other in others):
                # Users redirect consoles, and name what they aggregate.
                assert "console" in path.name or "aggregate" in path.name, path
                target = target.with_name(f"run{number}_{path.name}")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)


def figures(report):
    """What a report says of its run, but for where its files are."""
    tables = {name: rows for name, rows in report.tables.items()
              if not name.startswith(("recordings.", "runs.", "run.files"))}
    for rows in tables.values():
        for row in rows:
            for key in list(row):
                if key in ("file", "path", "trace"):
                    del row[key]
    return report.scalars, tables


def differences(alone, together):
    (scalars, tables), (others, other_tables) = figures(alone), figures(together)
    for name in sorted(scalars.keys() | others.keys()):
        if scalars.get(name) != others.get(name):
            yield f"{name}: {scalars.get(name)} alone, {others.get(name)}"
    for name in sorted(tables.keys() | other_tables.keys()):
        if tables.get(name) != other_tables.get(name):
            pair = next(((a, b) for a, b in itertools.zip_longest(
                tables.get(name, []), other_tables.get(name, [])) if a != b), None)
            yield f"{name}: {pair}"


def judge(program, dumps, parts, folder):
    """What is wrong of a folder of several runs."""
    put_together(dumps, parts, folder)
    overview = reports.read(program, folder)
    rows = overview.rows("runs.overview")
    files = overview.rows("recordings.files")
    if len(rows) != len(parts):
        yield f"{len(rows)} runs: {[row['run'] for row in rows]}"
        return
    yield from (f"{row['file']}: {row['why']}" for row in files if not row["run"])
    names = []
    for number, (run, place) in enumerate(parts):
        own = folder.with_name(f"{folder.name}-{number}")
        put_together(dumps, [(run, ".")], own)
        mine = {row["run"] for row in files if row["file"].rsplit("/", 1)[-1] in
                [path.name for path in own.rglob("profil*")] and
                (place == "." or row["file"].startswith(f"{place}/"))}
        if len(mine) != 1:
            yield f"{run}: its reports are of {mine}"
            continue
        names += mine
        together = reports.read(program, folder, "--run", names[-1])
        yield from (f"{run}: {text}" for text in
                    differences(reports.read(program, own), together))
    diff = reports.call(program, "diff", folder, "--run", names[0], "--run", names[1])
    if json.loads(diff.stdout)["run"]["title"] != f"{names[0]} → {names[1]}":
        yield f"diff: {diff.stderr}"


def kept_aside(program, dumps, folder):
    """Reports of a fixed name that a user renamed, in one folder; no session tells them apart."""
    folder.mkdir()
    for run in ("baseline", "optimized"):
        shutil.copy(dumps / "framepack" / run / "profiling_report.json",
                    folder / f"profiling_report_{run}.json")
    rows = reports.read(program, folder).rows("runs.overview")
    if [row["run"] for row in rows] != ["profiling_report_baseline", "profiling_report_optimized"]:
        yield f"{rows}"


def without_samples(program, dumps, folder):
    """Sessions of one rank without samples, which would say that one process had both."""
    for path in (dumps / "inferix/quirks/profiling_reports").glob("profiling_report_*"):
        document = json.loads(path.read_text(encoding="utf-8"))
        document.update(gpu_metrics={}, cpu_metrics={})
        document["session_info"]["tags"] = {"rank": 0}
        folder.mkdir(exist_ok=True)
        (folder / path.name).write_text(json.dumps(document), encoding="utf-8")
    rows = reports.read(program, folder).rows("runs.overview")
    if [row["ranks"] for row in rows] != [1, 1]:
        yield f"{rows}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--dumps", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    if not arguments.dumps.is_dir():
        print(f"skipped: {arguments.dumps} is not there")
        return SKIPPED
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, (what, parts) in enumerate(FOLDERS.items()):
            folder = pathlib.Path(scratch) / f"case{number}"
            failed += [f"{what}: {text}"
                       for text in judge(arguments.program, arguments.dumps, parts, folder)]
        for test in (kept_aside, without_samples):
            folder = pathlib.Path(scratch) / test.__name__
            failed += [f"{test.__name__}: {text}"
                       for text in test(arguments.program, arguments.dumps, folder)]
        for run in ONE_RUN:
            rows = reports.read(arguments.program, arguments.dumps / run).rows("runs.overview")
            failed += [f"{run}: {[row['run'] for row in rows]}"] if rows else []
    print("\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
