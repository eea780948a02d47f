#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of several runs, and of several recordings of one, through the commands that take them.

usage: test_runs.py --program TRACEANALYZE
"""
import argparse
import dataclasses
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import make
import process
import reports
import test_planted


def written(kind, root):
    """The first made folder that has this kind alone."""
    for number, case in make.cases(60, 1, kind):
        if case.kinds == [kind]:
            folder = root / f"{kind}-{number}"
            case.write(folder)
            return folder, case.truth()
    raise AssertionError(f"no folder of {kind}")


def table(path, name):
    for section in json.loads(path.read_text(encoding="utf-8"))["sections"]:
        for item in section["items"]:
            if item.get("id") == name:
                keys = [column["key"] for column in item["columns"]]
                return [dict(zip(keys, row)) for row in item["rows"]]
    return []


def scalar(report, name):
    return next((item["value"] for section in report["sections"] for item in section["items"]
                 if item.get("id") == name), None)


def captures_of_runs(program, root):
    """Each capture is of the run that it lies next to, and joins no runs."""
    folder = root / "captures"
    for number, (_, case) in zip(range(2), make.cases(400, 40, "capture")):
        case.write(folder / f"run{number}")
    out = root / "captures-out"
    subprocess.run([program, "--no-config", "report", "-q", folder, "-o", out], check=True,
                   capture_output=True)
    rows = [row for row in table(out / "report.json", "recordings.files")
            if row["kind"] != "not_read"]
    runs = {}
    for row in rows:
        runs.setdefault(row["file"].split("/")[0], set()).add(row["run"])
    assert any(row["kind"] == "graph_capture" for row in rows), rows
    assert len(runs) == 2 and all(len(names) == 1 for names in runs.values()), rows
    assert runs["run0"] != runs["run1"], rows


def several_runs(program, root):
    folder, truth = written("runs", root)
    out = root / "out"
    subprocess.run([program, "--no-config", "report", "-q", folder, "-o", out], check=True,
                   capture_output=True)
    rows = table(out / "report.json", "runs.overview")
    names = [row["run"] for row in rows]
    assert sorted(row["ranks"] for row in rows) == sorted(truth["runs"]), rows
    page = (out / "report.html").read_text(encoding="utf-8")
    assert '<p class="facts"><span>' in page, "the line on devices begins with what is not there"
    for row in rows:
        own = json.loads((out / row["run"] / "report.json").read_text(encoding="utf-8"))
        assert len(own["run"]["ranks"]) == row["ranks"], row
        assert row["window_ns"] == scalar(own, "program_window_ns"), row
        assert f'href="{row["run"]}/report.html"' in page, row
        alone = reports.call(program, "report", "--run", row["run"], folder)
        assert json.loads(alone.stdout)["run"]["ranks"] == own["run"]["ranks"], row
    diff = reports.call(program, "diff", folder, "--run", names[0], "--run", names[1])
    title = json.loads(diff.stdout)["run"]["title"]
    assert title == f"{names[0]} → {names[1]}", title
    assert reports.call(program, "diff", folder, folder).returncode == 2
    wrong = reports.call(program, "report", "--run", "nothing", folder)
    assert wrong.returncode == 2 and names[0].encode() in wrong.stderr, wrong.stderr
    gate = reports.call(program, "report", "--fail-on", "finding>=high", folder)
    assert gate.returncode == 2 and b"--run" in gate.stderr, gate.stderr
    check = reports.call(program, "check", folder)
    assert check.returncode == 0 and b"rank-duplicate" not in check.stdout, check.stdout


def several_recordings(program, root):
    folder, truth = written("iterations", root)
    report = reports.read(program, folder)
    rows = report.rows("runs.overview")
    assert len(rows) == truth["recordings"], rows
    assert [row["chosen"] for row in rows] == [False] * (len(rows) - 1) + [True], rows
    assert report.rows("runs.spread") or len(rows) < 3
    page = subprocess.run([program, "--no-config", "report", "-q", folder, "--format", "html",
                           "-o", "-"], check=True, capture_output=True).stdout
    assert b"The figures are of iteration_" in page.partition(b"<h2")[0]
    first = reports.call(program, "report", "--run", rows[0]["recording"], folder)
    notes = json.loads(first.stdout)["data_quality"]["findings"]
    said = [note["text"] for note in notes if note["code"] == "recordings"]
    assert said and said[0].startswith(f"The figures are of {rows[0]['recording']}, "), said


def drawn(program, root):
    """The timeline has the ranks of the run, on one clock; a capture is none of them."""
    folder, _ = written("capture", root)
    page = subprocess.run([program, "--no-config", "report", "-q", folder, "--format", "html",
                           "-o", "-"], check=True, capture_output=True).stdout
    text = re.search(r'id="s-timeline".*?<p class="prose">(.*?)</p>', page.decode(), re.DOTALL)[1]
    assert "slices on" in text and "side by side" not in text, text


def alone(program, root):
    """What the name of a file says stays true when it is given without the others."""
    for number, case in make.cases(60, 1, "iterations"):
        if case.kinds == ["iterations"] and "warm_up" in case.kind_of.values():
            break
    case.write(root)
    kinds = case.kind_of.items()
    warm = next(path for path, kind in kinds if kind == "warm_up")
    steady = [path for path, kind in kinds if kind == "iteration"]
    if warm.rpartition("/")[0]:
        return  # the folder has the name
    for path, kind in ((warm, "warm_up"), (steady[0], "iteration")):
        rows = reports.read(program, root / path).rows("recordings.files")
        assert [row["kind"] for row in rows] == [kind], rows
    said = json.loads(reports.call(program, "diff", root / warm, root / steady[0]).stdout)
    assert "warm" in said["verdict"]["headline"], said["verdict"]
    said = json.loads(reports.call(program, "diff", root / steady[0], root / steady[-1]).stdout)
    assert "Not like" not in said["verdict"]["headline"], said["verdict"]


def other_devices(program, root):
    """What was recorded at one time on devices of two vendors, or of two models, is two runs; two
    models are one run where one world says so."""
    other = dataclasses.replace(process.CUDA, device="NVIDIA H200")
    for name, vendors, distributed in (("vendors", (process.CUDA, process.ROCM), False),
                                       ("models", (process.CUDA, other), False),
                                       ("one model", (process.CUDA, process.CUDA), False),
                                       ("world", (process.CUDA, other), True)):
        folder = root / name
        for rank, (vendor, host) in enumerate(zip(vendors, ("green", "red"))):
            rng = random.Random(3)
            plan = make.drawn_plan(rng, ranks=2, steps=3, vendor=process.CUDA,
                                   writing=process.Writing(distributed=distributed))
            plan.vendor = process.ROCM if vendor is process.ROCM else process.CUDA
            traces = make.processes(rng, plan, make.START, 100)
            traces[rank].vendor = vendor
            make.run(rng, plan, traces)[rank].write(folder / f"{host}.json")
        rows = reports.read(program, folder).rows("runs.overview")
        wanted = [] if name in ("one model", "world") else ["green", "red"]
        assert sorted(row["run"] for row in rows) == wanted, (name, rows)


def many_files(program, root):
    """More files than have a pile each are told apart as few are."""
    layouts = {"plain": 80, "capture": 80, "iterations": 40, "cycles": 40, "runs": 66,
               "coordinator": 70, "host-twin": 40}
    for number, (layout, ranks) in enumerate(layouts.items()):
        case = make.make(random.Random(number), layout, None, ranks=ranks, steps=3)
        assert len(case.files) > 64, layout
        folder = root / layout
        case.write(folder)
        wrong = test_planted.judge(program, case, folder)
        assert not wrong, f"{layout}: {wrong}"


def many_files_without_names(program, root):
    """Where names say nothing, files are told apart by what is in them, and read again."""
    case = make.make(random.Random(1), "capture", None, ranks=66, steps=3,
                     writing=process.Writing(distributed=True))
    paths = sorted(case.files)
    random.Random(1).shuffle(paths)
    names = {path: f"{number:03}.json" for number, path in enumerate(paths)}
    case.files = {names[path]: trace for path, trace in case.files.items()}
    case.kind_of = {names[path]: kind for path, kind in case.kind_of.items()}
    assert len(paths) > 64
    case.write(root / "mixed")
    wrong = test_planted.judge(program, case, root / "mixed")
    assert not wrong, wrong


def summaries(program, root):
    """Recordings are told apart in summaries as in their traces."""
    for number, layout in enumerate(("capture", "iterations", "cycles", "host-twin", "runs")):
        case = make.make(random.Random(number), layout, None)
        folder, reduced = root / layout, root / f"{layout}-summaries"
        case.write(folder)
        subprocess.run([program, "--no-config", "reduce", "-q", folder, "-o", reduced], check=True,
                       capture_output=True)
        wrong = [text for text in test_planted.judge(program, case, reduced)
                 if "in replays" not in text]  # no kernel is left to be mapped
        assert not wrong, f"{layout}: {wrong}"


def started_anew(program, root):
    """A process that is started again under the same names makes another run."""
    for restarts in (False, True):
        folder = root / f"restarts-{restarts}"
        for part in (0, 1):
            rng = random.Random(7)
            plan = make.drawn_plan(rng, ranks=2, steps=3)
            start = make.START + part * 90 * 10**9
            pid = 4000 + 500 * (part and restarts)
            for trace in make.run(rng, plan, make.processes(rng, plan, start, pid)):
                trace.write(folder / f"worker{trace.rank}.{trace.host // 10**6}.pt.trace.json")
        rows = reports.read(program, folder).rows("runs.overview")
        assert len({row["run"] for row in rows}) == 1 + restarts, rows


def hosts_of_any_name(program, root):
    """Files of torch's default name, HOST_PID.STAMP: what a host is called says nothing, and the
    process of vLLM that takes requests is no rank, even where no content says which are."""
    for host in ("warmup-1", "iteration_3-node", "step-5", "tp0.lab"):
        folder, rng = root / host, random.Random(3)
        plan = make.drawn_plan(rng, ranks=2, steps=3)
        plan.writing.distributed = False
        first = traces = make.processes(rng, plan, make.START)
        for _ in range(2):
            for trace in make.run(rng, plan, traces):
                trace.write(folder / f"{host}_{trace.pid}.{trace.host // 10**6}.pt.trace.json")
            traces = make.again(rng, traces, plan)
        other = make.host_only(rng, plan, first[0], first[0].pid - 7)
        other.write(folder / f"{host}_{other.pid}.async_llm.{other.host // 10**6}.pt.trace.json")
        report = reports.read(program, folder)
        rows = report.rows("recordings.files")
        kinds = sorted(row["kind"] for row in rows)
        assert kinds == ["cycle"] * 4 + ["host_process"], rows
        assert report.document["run"]["ranks"] == [0, 1], report.document["run"]["ranks"]
        assert {row["recording"] for row in rows if row["counts"]} == {"cycle_0", "cycle_1"}, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    failed = 0
    for test in (several_runs, captures_of_runs, several_recordings, drawn, alone, other_devices,
                 many_files, many_files_without_names, summaries, started_anew, hosts_of_any_name):
        with tempfile.TemporaryDirectory() as scratch:
            try:
                test(program, pathlib.Path(scratch))
            except AssertionError as error:
                print(f"{test.__name__}: {error}")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
