#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the cells of an output with those of report.json, for every table of every sample.

usage: test_cells.py --program PROGRAM --root REPOSITORY [--input PATH...] csv|html|md|pdf|text

A table of an output has to be one of report.json, each of its columns a column of that table under
the same heading, and each of its rows a row with the same numbers in those columns.  So no output
works a figure out for itself or shows one under the heading of another.
"""
import argparse
import base64
import collections
import csv
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

from reports import Report
from units import plain, texts

SAMPLES = ["video-4ranks", "video-4ranks-optimized", "inferix-4ranks", "framepack-pair/baseline",
           "framepack-pair/regressed", "diffulex"]
SKIPPED = 77
NUMBERS = ("integer", "number")
MISSING = {"–", ""}
BARS = re.compile(r"[█▉▊▋▌▍▎▏▓▒░·x~o^'<,?:#$-]+")


class Table:
    """One table of report.json."""

    def __init__(self, item):
        self.id, self.title, self.rows = item["id"], item["title"], item["rows"]
        self.columns = item["columns"]
        self.keys = [column["key"] for column in self.columns]
        self.unit_at = self.keys.index("unit") if "unit" in self.keys else None

    def titled(self, title):
        """Numbers of the columns with this heading."""
        return [i for i, column in enumerate(self.columns) if flat(column["title"]) == title]

    def shown(self, row, column):
        """All texts that the cell may have for people; None where any will do: only numbers are
        compared."""
        value = self.rows[row][column]
        if value is None:
            return MISSING
        if self.columns[column]["type"] not in NUMBERS:
            return None
        unit = self.columns[column]["unit"]
        own = self.rows[row][self.unit_at] if self.unit_at is not None else None
        return texts(value, unit) | (texts(value, own) if own and unit == "none" else set())

    def has_row(self, cells):
        """Whether some row has these texts: (numbers of columns, text) of each cell."""
        return any(all(self.fits(row, columns, text) for columns, text in cells)
                   for row in range(len(self.rows)))

    def fits(self, row, columns, text):
        return any(allowed is None or text in allowed
                   for allowed in (self.shown(row, column) for column in columns))


def flat(text):
    return " ".join(plain(text).split())


class Faults(list):
    """What does not hold, and how much was looked at."""

    def __init__(self):
        super().__init__()
        self.cells = collections.Counter()

    def compare(self, table, heads, rows):
        """Holds the rows of a table, a list of texts each, against those of report.json."""
        columns = [table.titled(head) for head in heads]
        for head, found in zip(heads, columns):
            if not found:
                self.append(f"{table.id}: report.json has no column “{head}”")
        known = [i for i, found in enumerate(columns) if found]
        for row in rows:
            cells = [(columns[i], row[i]) for i in known]
            self.cells[table.id] += len(cells)
            if not table.has_row(cells):
                self.append(f"{table.id}: report.json has no row with "
                            f"{[(heads[i], row[i]) for i in known]}")


def by_title(tables):
    found = collections.defaultdict(list)
    for table in tables:
        found[flat(table.title)].append(table)
    return found


def one_by_title(titles, title, heads):
    """The table with this title; of several, the one that has all these columns."""
    return next((table for table in titles[title] if all(table.titled(head) for head in heads)),
                titles[title][0])


# ---- outputs -------------------------------------------------------------------------------


def check_all(faults, where, found, tables):
    """Every table of report.json is named there, once and in its order."""
    wanted = [flat(table.title) for table in tables]
    if found != wanted:
        faults.append(f"{where} lack {[title for title in wanted if title not in found]}, have "
                      f"{[title for title in found if title not in wanted]}, or another order")


def check_csv(folder, tables, faults):
    written = {path.stem for path in (folder / "tables").iterdir()}
    wanted = {table.id for table in tables} | {"findings", "data_quality"}
    if written != wanted:
        faults.append(f"files and tables differ: {sorted(written ^ wanted)}")
    for table in tables:
        with open(folder / "tables" / f"{table.id}.csv", newline="", encoding="utf-8") as file:
            heads, *rows = csv.reader(file)
        if heads != table.keys:
            faults.append(f"{table.id}: keys are {heads}")
        if len(rows) != len(table.rows):
            faults.append(f"{table.id}: {len(rows)} rows of {len(table.rows)}")
        for number, (ours, exact) in enumerate(zip(rows, table.rows)):
            faults.cells[table.id] += len(ours)
            for key, text, value, column in zip(heads, ours, exact, table.columns):
                if column["type"] in NUMBERS and (
                        text != "" if value is None else not text or not is_exactly(text, value)):
                    faults.append(f"{table.id} row {number}: {key} is {text!r}, not {value!r}")


class Page(html.parser.HTMLParser):
    """Tables of the HTML report: of each its keys, headings and rows of (exact value, text)."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.current, self.cell, self.rest = {}, None, None, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        id_ = attrs.get("id", "")
        if tag == "div" and attrs.get("class") == "table" and id_.startswith("t-"):
            self.current = self.tables[id_[2:]] = {"keys": [], "heads": [], "rows": [], "rest": []}
        elif self.current is None:
            return
        elif tag == "tr":
            self.current["rows"].append((id_, []))
        elif tag == "th" and "data-key" in attrs:
            self.current["keys"].append(attrs["data-key"])
            self.cell = self.current["heads"]
            self.cell.append("")
        elif tag in ("td", "th") and attrs.get("scope") != "col":
            self.cell = [attrs.get("data-v"), ""]
            self.current["rows"][-1][1].append(self.cell)
        elif tag == "script" and attrs.get("type") == "application/json" and not id_:
            self.rest = ""

    def handle_data(self, data):
        if self.rest is not None:
            self.rest += data
        elif self.cell is not None:
            self.cell[-1] += data

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.cell = None
        elif tag == "script" and self.rest is not None:
            rows, self.rest = json.loads(self.rest), None
            if isinstance(rows, str):  # those of long tables are deflated
                rows = json.loads(zlib.decompress(base64.b64decode(rows)))
            self.current["rest"] = rows


def check_html(folder, tables, faults):
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    for table in tables:
        ours = page.tables.get(table.id)
        if ours is None:
            faults.append(f"{table.id}: the page has no such table")
            continue
        if ours["keys"] != table.keys:
            faults.append(f"{table.id}: keys are {ours['keys']}")
        if list(map(flat, ours["heads"])) != [flat(column["title"]) for column in table.columns]:
            faults.append(f"{table.id}: headings are {ours['heads']}")
        rows = [(int(id_.rsplit("-", 1)[1]), cells) for id_, cells in ours["rows"]
                if id_.startswith(f"r-{table.id}-")]
        for place, cells in enumerate(ours["rest"], len(rows)):
            number = cells[len(table.keys)] if len(cells) > len(table.keys) else place
            rows.append((number, [cell if isinstance(cell, list) else [None, "–"]
                                  for cell in cells[:len(table.keys)]]))
        for number, cells in rows:
            check_page_row(table, number, cells, faults)


def is_exactly(text, value):
    return (int(text) if isinstance(value, int) else float(text)) == value


def check_page_row(table, number, cells, faults):
    faults.cells[table.id] += len(cells)
    for at, (exact, text) in enumerate(cells):
        value, allowed = table.rows[number][at], table.shown(number, at)
        if allowed is None:
            continue
        same = exact is None if value is None else exact is not None and is_exactly(exact, value)
        if not same or flat(text) not in allowed:
            faults.append(f"{table.id} row {number}: {table.keys[at]} is {exact!r}, “{text}”, "
                          f"not {value!r}")


def cells_of(line):
    return [flat(re.sub(r"\\(.)", r"\1", cell)) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def check_md(folder, tables, faults):
    titles = by_title(tables)
    parts = re.split(r"^### ", (folder / "report.md").read_text(encoding="utf-8"), flags=re.M)[1:]
    seen = []
    for part in parts:
        title, *lines = part.split("\n")
        title = flat(re.sub(r"\\(.)", r"\1", title))
        grid = [line for line in lines if line.startswith("|")]
        if title not in titles or not grid:
            continue # a finding
        end = next((i for i, line in enumerate(lines) if line.startswith("## ")), len(lines))
        grid = [line for line in lines[:end] if line.startswith("|")]
        seen.append(title)
        heads = cells_of(grid[0])
        faults.compare(one_by_title(titles, title, heads), heads, map(cells_of, grid[2:]))
    check_all(faults, "headings", seen, tables)


def spans_of(lines):
    """Where columns begin and end: they are two blanks apart in every line."""
    width = max(map(len, lines))
    used = [any(at < len(line) and line[at] != " " for line in lines) for at in range(width)]
    spans, start = [], None
    for at in range(width + 2):
        is_gap = not any(used[at:at + 2]) if at < width else True
        if start is None and at < width and used[at]:
            start = at
        elif start is not None and is_gap:
            spans.append((start, at))
            start = None
    return spans


def grid_of(lines, n_heads):
    """Headings and rows of a table that is laid out with blanks.  What has no heading is a bar."""
    spans = spans_of(lines)
    def cut(line):
        return [flat(line[start:end]) for start, end in spans]
    heads = [flat(" ".join(words)) for words in zip(*map(cut, lines[:n_heads]))]
    kept = [i for i, head in enumerate(heads) if head]
    rows = [[cells[i] for i in kept] for cells in map(cut, lines[n_heads:])]
    return [heads[i] for i in kept], rows


def best_grid(table, lines):
    """The heading takes one line or two: whichever gives headings of the table."""
    grids = [grid_of(lines, n) for n in (1, 2) if len(lines) > n]
    return max(grids, key=lambda grid: (sum(bool(table.titled(head)) for head in grid[0])
                                        - sum(not table.titled(head) for head in grid[0])))


# Below the rows: how many there are, what bars mean, and remarks, each below its row.
NO_ROW = re.compile(r"  [\d ]+ of [\d ]+ rows|  [█▓▒░·x~o^'<,?:#$-] \S| {8}\S|\S")


def check_text(folder, tables, faults):
    titles = by_title(tables)
    text = plain((folder / "report.txt").read_text(encoding="utf-8"))
    shown, others = [], []
    for block in text.split("\n\n"):
        title, *lines = block.strip("\n").split("\n")
        if title == "More tables in the report":
            others = flat(" ".join(lines)).split(" · ")
        if title not in titles:
            continue
        shown.append(title)
        lines = lines[:2] + [line for line in lines[2:] if not NO_ROW.match(line)]
        table = titles[title][0]
        heads, rows = best_grid(table, lines)
        faults.compare(one_by_title(titles, title, heads), heads, rows)
    rest = [table for table in tables if flat(table.title) not in shown]
    check_all(faults, "names of more tables", others, rest)


QUANTITY = re.compile(r"(?<![\w.])[+-]?<?\d{1,3}(?: \d{3})*(?:\.\d+)?"
                      r" (?:%|pp|ns|µs|ms|s|min|/s|[KMGT]?i?B(?:/s)?|°C|[kMG]?Hz|W|k?J)(?=\s|$)")


def check_pdf(folder, tables, faults):
    """On paper cells wrap and columns may be one blank apart, so what is compared are quantities
    with a unit: those of a line have to be in one row of the table under whose heading it is."""
    text = subprocess.run(["pdftotext", "-layout", folder / "report.pdf", "-"], check=True,
                          capture_output=True).stdout.decode("utf-8")
    titles, table, in_rows = by_title(tables), None, False
    for line in plain(text).split("\n"):
        if flat(line) in titles:
            table, in_rows = titles[flat(line)][0], False
        elif table and not in_rows:
            in_rows = is_heading(table, line)
        elif not line.strip() or "\f" in line:
            table = None if in_rows else table
        elif table:
            check_paper_line(table, line, faults)


def is_heading(table, line):
    """Whether two columns or more are named: a chart may come between title and table."""
    words = set(map(flat, re.split(r" {2,}", line.strip())))
    return sum(flat(column["title"]) in words for column in table.columns) >= 2


def check_paper_line(table, line, faults):
    quantities = [flat(found) for found in QUANTITY.findall(line)]
    faults.cells[table.id] += len(quantities)
    for row in range(len(table.rows)):
        allowed = set().union(*(table.shown(row, at) or {str(table.rows[row][at])}
                                for at in range(len(table.keys))))
        allowed |= {flat(found) for text in tuple(allowed) for found in QUANTITY.findall(text)}
        if all(is_in(quantity, allowed) for quantity in quantities):
            return
    faults.append(f"{table.id}: report.json has no row with {quantities}: {flat(line)}")


def is_in(quantity, allowed):
    """The number before it may be the end of another cell, 640 of "640 110 ms"; and rank 0 next to
    a phase "s" is no time."""
    words = quantity.split(" ")
    return all(word in allowed for word in words) or any(
        " ".join(words[start:]) in allowed for start in range(len(words) - 1))


CHECKS = {"csv": check_csv, "html": check_html, "md": check_md, "pdf": check_pdf,
          "text": check_text}


def points_of(program):
    """Ids of tables that are the points of a chart: report.json and CSV alone show them."""
    printed = subprocess.run([program, "plugins", "--json", "--no-config"], check=True,
                             capture_output=True, text=True).stdout
    return {table["id"] for table in json.loads(printed)["tables"] if table["tier"] == "points"}


def tables_of(folder, left_out):
    report = Report((folder / "report.json").read_text(encoding="utf-8"))
    return [Table(item) for section in report.document["sections"] for item in section["items"]
            if item["kind"] == "table" and item["id"] not in left_out]


def check_input(args, path, scratch):
    """What of one input's output does not hold."""
    environment = dict(os.environ, COLUMNS="300", SOURCE_DATE_EPOCH="0")
    subprocess.run([args.program, "report", "-q", "-v", "--no-config", path, "-o", scratch,
                    "--paper-detail=full",
                    "--format", f"json,{args.format}"], check=True, env=environment)
    faults = Faults()
    tables = tables_of(scratch, set() if args.format == "csv" else points_of(args.program))
    CHECKS[args.format](scratch, tables, faults)
    if not faults.cells:
        faults.append("no cell was compared")
    print(f"{path}: {sum(faults.cells.values())} cells of {len(faults.cells)} of {len(tables)} "
          f"tables, {len(faults)} faults")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--input", type=pathlib.Path, action="append",
                        help="in place of the samples")
    parser.add_argument("format", choices=tuple(CHECKS))
    args = parser.parse_args()
    if args.format == "pdf" and not shutil.which("pdftotext"):
        print("skipped: pdftotext is not installed")
        return SKIPPED
    failed = False
    for path in args.input or [args.root / "samples" / name for name in SAMPLES]:
        with tempfile.TemporaryDirectory() as scratch:
            for fault in check_input(args, path, pathlib.Path(scratch))[:20]:
                failed = True
                print(f"  {fault}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
