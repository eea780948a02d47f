#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that every table, column, chart, rule, file and test that docs/ANALYSES.md names exists.

usage: analyses.py --root REPOSITORY --build FOLDER [--document FILE]
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

NAMED = re.compile(r"`([^`]+)`")
TEST = re.compile(r"\b[a-z]+\.[a-z][\w.-]*\w")
HEADER = ["what", "in the report", "computed in", "proved by"]


def rows(text):
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| ") and len(cells) == len(HEADER) and cells != HEADER:
            yield cells


def test_names(build):
    done = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
                          capture_output=True)
    return {test["name"] for test in json.loads(done.stdout)["tests"]}


def is_documented(named, results):
    """Whether docs/RESULTS.md, which lint.docs holds against the program, has a table, column,
    chart or rule of this name."""
    table, column = ".".join(named.split(".")[:2]), named.split(".")[2:]
    if "." not in named or table.startswith("diff."):
        return f"`{named}`" in results
    _, _, rest = results.partition(f"#### `{table}`")
    return bool(rest) and (not column or f"| `{column[0]}` |" in rest.split("\n###")[0])


def faults(args, text):
    results = (args.root / "docs/RESULTS.md").read_text(encoding="utf-8")
    tests, n = test_names(args.build), 0
    for what, tables, files, proofs in rows(text):
        n += 1
        for cell, pattern in ((tables, NAMED), (files, NAMED), (proofs, TEST)):
            if not pattern.findall(cell):
                yield f"{what}: a cell names nothing: {cell!r}"
        for name in NAMED.findall(tables):
            if not is_documented(name, results):
                yield f"{what}: there is no table, column, chart or rule {name}"
        for name in NAMED.findall(files):
            if not (args.root / name).is_file():
                yield f"{what}: there is no file {name}"
        for name in TEST.findall(proofs):
            if name not in tests:
                yield f"{what}: there is no test {name}"
    if n < 40:
        yield f"only {n} rows were found"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--document", type=pathlib.Path)
    args = parser.parse_args()
    document = args.document or args.root / "docs/ANALYSES.md"
    found = list(faults(args, document.read_text(encoding="utf-8")))
    for fault in found:
        print(f"{document.name}: {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
