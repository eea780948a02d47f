# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports of the program, for tests that look at their figures.  ctest puts this folder on
PYTHONPATH."""
import argparse
import json
import subprocess


class Report:
    """A JSON document of the program: of `report`, `diff` or `scaling`."""

    def __init__(self, text):
        self.document = json.loads(text)
        self.tables, self.scalars, self.findings, self.missing = {}, {}, [], []
        for section in self.document["sections"]:
            self.missing.append(section.get("missing", ""))
            for item in section["items"]:
                if item["kind"] == "table":
                    keys = [column["key"] for column in item["columns"]]
                    self.tables[item["id"]] = [dict(zip(keys, row)) for row in item["rows"]]
                elif item["kind"] == "scalar":
                    self.scalars[item["id"]] = item["value"]
                elif item["kind"] == "finding":
                    self.findings.append(item)

    def rows(self, table, **where):
        """Rows as dictionaries, those with these values; none of a table that is not there."""
        return [row for row in self.tables.get(table, ())
                if all(row.get(key) == value for key, value in where.items())]

    def row(self, table, **where):
        """The one row with these values."""
        rows = self.rows(table, **where)
        if len(rows) != 1:
            raise AssertionError(f"{table} has {len(rows)} rows with {where}: "
                                 f"{self.tables.get(table)}")
        return rows[0]

    def cell(self, table, column, **where):
        """The cell of the one row with these values; None without."""
        rows = self.rows(table, **where)
        if len(rows) > 1:
            raise LookupError(f"{table} has {len(rows)} rows with {where}")
        return rows[0][column] if rows else None

    def total(self, table, column, **where):
        rows = self.rows(table, **where)
        return sum(row[column] for row in rows) if rows else 0

    def reported(self, group, figure):
        return self.cell("figures.reported", "value", group=group, figure=figure)

    def finding(self, id_):
        """The first finding of this id; None without."""
        return next((found for found in self.findings if found["id"] == id_), None)


def program_of_arguments():
    """The program that a test is called with: --program PROGRAM."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    return parser.parse_args().program


def call(program, command, *words):
    """Runs a command that prints JSON, whatever configuration is about."""
    return subprocess.run([program, "--no-config", command, "-q", "--json", *map(str, words)],
                          stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=240)


def read(program, *words, command="report"):
    """The report of a run that succeeds."""
    done = call(program, command, *words)
    if done.returncode != 0:
        raise AssertionError(f"exit {done.returncode}: {done.stderr.decode('utf-8', 'replace')}")
    return Report(done.stdout)


class Run:
    """The reports of one program, each made once; None where it fails."""

    def __init__(self, program):
        self.program, self.made = program, {}

    def report(self, path):
        if path not in self.made:
            done = call(self.program, "report", path)
            self.made[path] = Report(done.stdout) if done.returncode == 0 else None
        return self.made[path]

    def comparison(self, base, new):
        done = subprocess.run([self.program, "diff", "-q", "--no-config", "--json", base, new],
                              capture_output=True, check=True)
        return Report(done.stdout)


def leaves(value, path=()):
    """(path, value) of all that stands in a JSON document but empty lists and objects."""
    if isinstance(value, dict) and value:
        for key, below in value.items():
            yield from leaves(below, (*path, key))
    elif isinstance(value, list) and value:
        for index, below in enumerate(value):
            yield from leaves(below, (*path, index))
    else:
        yield path, value
