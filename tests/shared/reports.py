# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports of the program, for tests that look at their figures."""
import json
import subprocess


class Report:
    """The tables and scalars of report.json."""

    def __init__(self, text):
        self.document = json.loads(text)
        self.tables, self.scalars = {}, {}
        for section in self.document["sections"]:
            for item in section["items"]:
                if item["kind"] == "table":
                    keys = [column["key"] for column in item["columns"]]
                    self.tables[item["id"]] = [dict(zip(keys, row)) for row in item["rows"]]
                elif item["kind"] == "scalar":
                    self.scalars[item["id"]] = item["value"]

    def rows(self, table, **where):
        return [row for row in self.tables.get(table, ())
                if all(row.get(key) == value for key, value in where.items())]

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


class Run:
    """The reports of one program, each made once."""

    def __init__(self, program):
        self.program, self.made = program, {}

    def report(self, path):
        if path not in self.made:
            done = subprocess.run([self.program, "report", "-q", "--no-config", "--json", path],
                                  capture_output=True, check=False)
            self.made[path] = Report(done.stdout) if done.returncode == 0 else None
        return self.made[path]

    def comparison(self, base, new):
        done = subprocess.run([self.program, "diff", "-q", "--no-config", "--json", base, new],
                              capture_output=True, check=True)
        return Report(done.stdout)


def leaves(value, path=()):
    if isinstance(value, dict) and value:
        for key, below in value.items():
            yield from leaves(below, (*path, key))
    elif isinstance(value, list) and value:
        for index, below in enumerate(value):
            yield from leaves(below, (*path, index))
    else:
        yield path, value
