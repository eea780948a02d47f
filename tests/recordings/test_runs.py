#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of several runs, and of several recordings of one, through the commands that take them.

usage: test_runs.py --program TRACEANALYZE
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import make
import reports


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


def several_runs(program, root):
    folder, truth = written("runs", root)
    out = root / "out"
    subprocess.run([program, "--no-config", "report", "-q", folder, "-o", out], check=True,
                   capture_output=True)
    rows = table(out / "report.json", "runs.overview")
    names = [row["run"] for row in rows]
    assert sorted(row["ranks"] for row in rows) == sorted(truth["runs"]), rows
    page = (out / "report.html").read_text(encoding="utf-8")
    for row in rows:
        own = json.loads((out / row["run"] / "report.json").read_text(encoding="utf-8"))
        assert len(own["run"]["ranks"]) == row["ranks"], row
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
    first = reports.call(program, "report", "--run", rows[0]["recording"], folder)
    notes = json.loads(first.stdout)["data_quality"]["findings"]
    said = [note["text"] for note in notes if note["code"] == "recordings"]
    assert said and said[0].endswith(f"the figures are of {rows[0]['recording']}"), said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    failed = 0
    for test in (several_runs, several_recordings):
        with tempfile.TemporaryDirectory() as scratch:
            try:
                test(program, pathlib.Path(scratch))
            except AssertionError as error:
                print(f"{test.__name__}: {error}")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
