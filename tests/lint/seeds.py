#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that every table, column, chart and rule that docs/SEEDS.md names exists.

usage: seeds.py --root REPOSITORY --program TRACEANALYZE [--document FILE]

Rules come from `traceanalyze rules`; whether there is a table or column says the program, which
refuses rules about others; charts are what the analyses define.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

NAMED = re.compile(r"`([^`]+)`")


def rows(text):
    """Cells of the rows of the document's table: promised, here, what is different."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 3 and cells[0] != "promised":
            yield cells


def chart_ids(root):
    found = set()
    for path in (root / "plugins/analysis").rglob("*.c"):
        text = path.read_text(encoding="utf-8")
        found.update(re.findall(r"\.id = \"([a-z][a-z-]+)\"", text))
    return found


def compared_ids(root):
    """Tables of comparisons, which no rule looks at."""
    found = set()
    for path in (root / "src/compare").glob("*.c"):
        found.update(re.findall(r'"(diff\.[a-z_]+)"', path.read_text(encoding="utf-8")))
    return found


def rule_ids(program):
    done = subprocess.run([program, "rules", "--no-config", "--json"], check=True,
                          capture_output=True)
    return {rule["id"] for rule in json.loads(done.stdout)["rules"]}


def table_fault(program, trace, named):
    """What the program says about a rule on this table or column; None when it takes it."""
    table, column = (".".join(named.split(".")[:2]), named.split(".")[2:])
    rule = {"table": table, "column": column[0] if column else "no_such_column", "threshold": 0}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rules.yaml"
        path.write_text(json.dumps({"rules": {"named": rule}}), encoding="utf-8")
        done = subprocess.run([program, "report", "--no-config", "-q", "--json", trace,
                               "--rules", path], check=False, capture_output=True, text=True)
    if "There is no table" in done.stderr or (column and "has no column" in done.stderr):
        return done.stderr.strip()
    return None


def faults(root, program, text):
    known = chart_ids(root) | rule_ids(program) | compared_ids(root)
    trace = root / "tests/golden/inputs/tiny.json"
    seen, n = {}, 0
    for promised, here, _ in rows(text):
        n += 1
        names = NAMED.findall(here)
        if not names:
            yield f"{promised}: names nothing"
        for name in names:
            if name not in seen:
                seen[name] = (None if name in known else
                              table_fault(program, trace, name) if "." in name else
                              "no chart or rule")
            if seen[name]:
                yield f"{promised}: {name}: {seen[name]}"
    if n < 30:
        yield f"only {n} rows were found"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--document", type=pathlib.Path)
    args = parser.parse_args()
    document = args.document or args.root / "docs/SEEDS.md"
    found = list(faults(args.root, args.program, document.read_text(encoding="utf-8")))
    for fault in found:
        print(f"{document.name}: {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
