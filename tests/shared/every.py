#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads every real input there is, for the sanitizers that the program is built with.

usage: every.py --program PROGRAM --data FOLDER reports|folders|diffs

`reports` makes a report of each file in several formats, `folders` one of each folder, with a check
and a merged trace, `diffs` compares each file with the one before, and one that has everything
with it.
An input may be none (exit code 3), but nothing may be undefined or leaked.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDERS = ("traces", "dumps", "seeds", "public", "crashes")
EVERYTHING = "traces/tb_unit/tb_unit_all_categories/worker0.json"
LARGEST_COMPARED = 1_500_000  # bytes, as stored: the larger ones say nothing more of comparisons
SECONDS = 240
DEFECT = re.compile(r"runtime error: .*|ERROR: \w*Sanitizer.*|TA-E07\d.*")


def files(data):
    return sorted(path for folder in FOLDERS for path in (data / folder).rglob("*")
                  if path.is_file() and path.suffix not in (".md", ".yaml"))


def reports(data, out):
    for path in files(data):
        yield ["report", "--no-config", "-q", "--format", "json,html,csv,md,text", "-o", out, path]


def folders(data, out):
    for number, folder in enumerate(sorted({path.parent for path in files(data)})):
        yield ["report", "--no-config", "-q", "--format", "json,html,pdf", "-o", out, folder]
        yield ["check", "--no-config", folder]
        yield ["merge", "--no-config", "-q", "-o", out.with_name(f"{number}.json.gz"), folder]


def diffs(data, out):
    before = data / EVERYTHING
    for path in files(data):
        if path.stat().st_size > LARGEST_COMPARED or path.name.startswith("slow_"):
            continue
        for pair in ((data / EVERYTHING, path), (path, before)):
            yield ["diff", "--no-config", "-q", "--format", "json,html,text", "-o", out, *pair]
        before = path


def judge(program, arguments):
    """What is wrong with a run, or None."""
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True,
                              errors="replace", timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"no end after {SECONDS} s"
    defect = DEFECT.search(done.stderr + done.stdout)
    if defect:
        return defect[0] + "\n" + done.stderr[:3000]
    return None if done.returncode in (0, 1, 3, 4) else f"exit code {done.returncode}: " \
        f"{done.stderr[:500]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("what", choices=("reports", "folders", "diffs"))
    options = parser.parse_args()
    runs = {"reports": reports, "folders": folders, "diffs": diffs}[options.what]
    ran = wrong = 0
    with tempfile.TemporaryDirectory() as out:
        for arguments in runs(options.data, pathlib.Path(out) / "out"):
            ran += 1
            fault = judge(options.program, arguments)
            if fault:
                wrong += 1
                print(" ".join(map(str, arguments)), fault, sep="\n", flush=True)
    print(f"{ran} runs, {wrong} wrong")
    return 1 if wrong or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
