#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks JSON files against a schema, and what a schema cannot say about reports.

usage: validate.py SCHEMA FILE...

Ends with 1 when a file does not fit, 2 when it cannot be checked.
"""
import json
import sys

from jsonschema import Draft202012Validator

TYPES = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
}


def unique_keys(pairs):
    """An object hook that refuses what json.loads would silently overwrite."""
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("an object has a key twice")
    return result


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, object_pairs_hook=unique_keys, parse_constant=no_constant)


def table_faults(table):
    keys = [column["key"] for column in table["columns"]]
    if len(set(keys)) != len(keys):
        yield "a column key is used twice"
    for number, row in enumerate(table["rows"]):
        if len(row) != len(keys):
            yield f"row {number} has {len(row)} cells for {len(keys)} columns"
            continue
        for column, cell in zip(table["columns"], row):
            if cell is not None and not TYPES[column["type"]](cell):
                yield f"row {number}: {column['key']} is no {column['type']}: {cell!r}"


def evidence_faults(finding, tables):
    for evidence in finding["evidence"]:
        table = tables.get(evidence["table"])
        if table is None:
            yield f"evidence names table {evidence['table']}, which the report lacks"
            continue
        keys = [column["key"] for column in table["columns"]]
        if evidence["column"] not in keys:
            yield f"evidence names column {evidence['column']}, which {table['id']} lacks"
            continue
        at = keys.index(evidence["column"])
        rows = [row for row in table["rows"] if row[0] == evidence["row"]]
        if not any(row[at] == evidence["value"] for row in rows):
            yield f"evidence is not in {table['id']}: {evidence['row']!r}, {evidence['column']}"


def account_faults(account, name):
    if account["events_seen"] != account["events_kept"] + account["events_dropped"]:
        yield f"{name}: events seen are not those kept and dropped"
    if account["events_repaired"] > account["events_kept"]:
        yield f"{name}: more events repaired than kept"


def report_faults(report):
    items = [item for section in report["sections"] for item in section["items"]]
    ids = [item["id"] for item in items]
    for twice in sorted({i for i in ids if ids.count(i) > 1}):
        yield f"id {twice} is used twice"
    tables = {item["id"]: item for item in items if item["kind"] == "table"}
    findings = {item["id"]: item for item in items if item["kind"] == "finding"}
    for table in tables.values():
        for fault in table_faults(table):
            yield f"{table['id']}: {fault}"
    for finding in findings.values():
        for fault in evidence_faults(finding, tables):
            yield f"{finding['id']}: {fault}"
    bottleneck = report["verdict"]["bottleneck"]
    if bottleneck is not None and bottleneck not in findings:
        yield f"the bottleneck {bottleneck} is no finding"
    quality = report["data_quality"]
    yield from account_faults(quality["totals"], "totals")
    for account in quality["files"]:
        yield from account_faults(account, account["file"])


def main(arguments):
    if len(arguments) < 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    schema = load(arguments[1])
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    faults = 0
    for path in arguments[2:]:
        try:
            document = load(path)
        except (OSError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            faults += 1
            continue
        errors = sorted(validator.iter_errors(document), key=lambda e: list(map(str, e.path)))
        found = [f"{e.json_path}: {e.message[:200]}" for e in errors]
        if not found and schema.get("$id") == "traceanalyze.report/1":
            found = list(report_faults(document))
        for fault in found[:20]:
            print(f"{path}: {fault}", file=sys.stderr)
        faults += len(found)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
