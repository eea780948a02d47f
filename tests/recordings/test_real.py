#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares what the program takes real recordings for with truth.json.

usage: test_real.py --program TRACEANALYZE --traces FOLDER [--only TEXT] [--page docs/RECORDINGS.md]

truth.json was worked out from the raw events by survey.py and by reading them.  With --page the
table of that document is held against truth.json, or rewritten with TA_UPDATE_GOLDEN=1.
"""
import argparse
import json
import os
import pathlib
import sys

import reports

HERE = pathlib.Path(__file__).resolve().parent
MARKS = ("<!-- of truth.json: begin -->\n", "<!-- of truth.json: end -->\n")
DAMAGE = ("zero-time", "overlong")
WITNESSES = {"distributedInfo": "content", "file name": "name", "order": "position"}


def inputs(files):
    """What is given to the program: the files of a run together.  Folders of unit tests hold
    recordings that have nothing to do with each other."""
    found = {}
    for name in files:
        parts = name.split("/")
        depth = {"tb_unit": 2, "tl_unit": 2, "kineto_flow_fix": 2}.get(parts[0], 1)
        found.setdefault("/".join(parts[:depth]), []).append(name)
    return found


class Expect:
    """Collects what does not hold."""

    def __init__(self):
        self.count, self.wrong = 0, []

    def true(self, what, holds):
        self.count += 1
        if not holds:
            self.wrong.append(what)

    def equal(self, what, ours, right):
        self.true(f"{what} is {ours}, expected {right}", ours == right)


def refusal(expect, options, name, file):
    done = reports.call(options.program, "report", options.traces / name)
    said = done.stderr.decode("utf-8", "replace")
    expect.true(f"it is read, though it is {file['refused']}", done.returncode != 0)
    expect.true(f"not refused as {file['refused']}: {said}", file["refused"] in said)


def path_of(options, key, name):
    """As the report writes the path of a file: below the input."""
    return os.path.relpath(name, key) if (options.traces / key).is_dir() else name.split("/")[-1]


def devices(expect, report, rank, file):
    rows = report.rows("gpu_time.by_rank", rank=rank)
    expect.equal("devices", [r["device"] for r in rows], [d["device"] for d in file["devices"]])
    for row, device in zip(rows, file["devices"]):
        for key in ("window_ns", "busy_ns"):
            expect.equal(f"{key} of device {row['device']}", row[key], device[key])


def steps(expect, report, rank, file):
    """Those of ProfilerStep exactly; where a program does not name its steps, the border between
    two is a matter of taste: the end of one or the beginning of the next."""
    rows = [r for r in report.rows("steps.by_step", rank=rank)
            if r["source"] in ("marker", "record")]  # the denoiser's are of another test
    right = [end - start for start, end in file["steps"]]
    expect.equal("number of steps", len(rows), len(right))
    if file["marker"].startswith("^ProfilerStep"):
        expect.equal("steps", sorted(r["host_dur_ns"] for r in rows), sorted(right))
    elif len(rows) == len(right) > 1:
        for row, ns in zip(sorted(rows, key=lambda r: r["host_start_ns"]), right):
            expect.true(f"{row['step']} takes {row['host_dur_ns']}, expected about {ns}",
                        abs(row["host_dur_ns"] - ns) <= ns // 50)


def work(expect, report, rank, file):
    """What the marker says that a step does."""
    rows = [r for r in report.rows("steps.by_kind", rank=rank) if r["kind"] != "denoising step"]
    keys = file["work"].keys()
    if report.rows("diffusion.tokens", rank=rank):
        keys -= {"width", "height"}  # shapes win over names
    expect.equal("kinds of steps", [{key: r[key] for key in keys} for r in rows],
                 [{key: file["work"][key] for key in keys}])


def window(expect, report, rank, file):
    row = report.row("run.window", rank=rank)
    start, end = file["program"]
    for what, ours, right in (("start", row["start_ns"], start),
                              ("length", row["window_ns"], end - start)):
        expect.true(f"the program's window: {what} is {ours}, expected {right}",
                    abs(ours - right) <= (end - start) // 100)


def step_time(expect, report, files):
    """No step is longer than what was recorded, also where its marker is written to be."""
    longest = max((end - start for f in files
                   for start, end in [f["recording"] or f["program"] or (0, 0)]), default=0)
    step = report.scalars.get("step_time_p50_ns")
    expect.true(f"a step takes {step}, the window is {longest}",
                step is None or step * 99 <= longest * 100)


def check(expect, options, key, names, truth):
    report = reports.read(options.program, options.traces / key)
    listed = {r["path"]: r for r in report.rows("run.files")}
    known = {r["file"]: r for r in report.rows("recordings.files")}
    read = {f["file"]: f for f in report.document["data_quality"]["files"]}
    codes = [found["code"] for part in (report.document["data_quality"],
                                        *report.document["data_quality"]["files"])
             for found in part["findings"]]
    step_time(expect, report, [truth[name] for name in names])
    for code in DAMAGE:
        expect.true(f"sound, but said to be {code}", code not in codes)
    for name in names:
        file, path = truth[name], path_of(options, key, name)
        # The table is only there where not all files are simply ranks.
        expect.equal("kind", known[path]["kind"] if known else "run", file["kind"])
        if file["kind"] == "graph_capture" and len(names) > 1:
            continue
        rank = listed[path]["rank"]
        expect.equal("rank", rank, file["rank"])
        expect.equal("witness of the rank", read[path]["rank_source"],
                     WITNESSES[file["rank_from"]])
        if "devices" in file:
            devices(expect, report, rank, file)
        else:
            expect.equal("devices", report.rows("gpu_time.by_rank", rank=rank), [])
        if "steps" in file:
            steps(expect, report, rank, file)
        if "work" in file:
            work(expect, report, rank, file)
        if file["program"]:
            window(expect, report, rank, file)


# ---- the page -----------------------------------------------------------------------------------

def amount(ns):
    """Three digits and a unit."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 1000)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns < 1000 * size else f"{ns // size} {unit}"
    return f"{ns} ns"


def row(name, file):
    if "refused" in file:
        return f"| {name} | Refused: {file['refused']} | – | – | – |"
    world = f" of {file['world_size']}" if file["world_size"] else ""
    kind = {"run": f"Rank {file['rank']}{world}", "graph_capture": "Graph capture"}[file["kind"]]
    window_ns = [amount(d["window_ns"]) for d in file.get("devices", ())]
    program = file["program"] and amount(file["program"][1] - file["program"][0])
    count = len(file.get("steps", ()))
    marker = (file["marker"] or "").strip("^").replace("\\", "").rstrip("#[_")
    return (f"| {name} | {kind}. {file['what']} | {program or '–'} | "
            f"{', '.join(window_ns) or '–'} | {f'{count} × `{marker}`' if count else '–'} |")


def table(truth):
    return "".join(line + "\n" for line in (
        "| file | what it is | program | device | steps |", "|---|---|---|---|---|",
        *(row(name, file) for name, file in truth.items())))


def page(expect, path, truth):
    text = path.read_text(encoding="utf-8")
    before, rest = text.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    new = before + MARKS[0] + table(truth) + MARKS[1] + after
    if os.environ.get("TA_UPDATE_GOLDEN") == "1":
        path.write_text(new, encoding="utf-8")
    else:
        expect.true("the table is not that of truth.json; TA_UPDATE_GOLDEN=1 rewrites it",
                    new == text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--traces", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--page", type=pathlib.Path)
    options = parser.parse_args()
    truth = json.loads((HERE / "truth.json").read_text(encoding="utf-8"))["files"]
    count, failed = 0, 0

    def judge(what, run, *words):
        nonlocal count, failed
        expect = Expect()
        try:
            run(expect, *words)
        except AssertionError as error:
            expect.true(str(error)[:300], False)
        count, failed = count + expect.count, failed + len(expect.wrong)
        for text in expect.wrong:
            print(f"{what}: {text}")

    if options.page:
        judge(options.page.name, page, options.page, truth)
    if not options.traces.is_dir():
        print(f"skipped: no {options.traces}")
        return 1 if failed else 77
    for key, names in inputs(truth).items():
        if options.only in key:
            if "refused" in truth[names[0]]:
                judge(key, refusal, options, names[0], truth[names[0]])
            else:
                judge(key, check, options, key, names, truth)
    print(f"{count} statements, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
