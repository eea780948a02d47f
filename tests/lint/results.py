#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the tables of docs/RESULTS.md of what the program declares.

usage: results.py --program TRACEANALYZE [--document FILE] [--update]

A line "<!-- tables: WHAT -->" begins a part that is made and "<!-- end -->" ends it.  WHAT is
"sections" (the tables of analyses, by section of a report), "scalars" (theirs, and "diff_scalars"
of comparisons), or the beginning of the ids of tables that the program makes itself ("diff").
Without --update the document must be up to date.
"""
import argparse
import difflib
import json
import pathlib
import re
import subprocess
import sys
import textwrap

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/RESULTS.md"
PART = re.compile(r"(<!-- tables: ([\w.]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
WIDTH = 100
ITEM = re.compile(r"(\*|\d+\.) ")


def wrapped(text):
    """Paragraphs and lists of a description, as lines."""
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield ""
        for line in paragraph.split("\n"):
            item = ITEM.match(line)
            yield from textwrap.wrap(line, WIDTH, break_long_words=False, break_on_hyphens=False,
                                     subsequent_indent=" " * item.end() if item else "")


def row_of(key, kind, declared):
    """A column or a scalar, as a row; `kind` is a cell of its type, or empty."""
    unit, better = declared["unit"], declared["polarity"]
    what = declared["doc"].replace("|", "\\|")
    return (f"| `{key}` | {kind}{'' if unit == 'none' else unit} | "
            f"{'' if better == 'neutral' else better} | {what} |")


def made_of(table):
    """The table, as lines of Markdown."""
    doc = table["doc"] or ""
    charts = [f"`{chart['id']}`" for chart in table["charts"] if f"`{chart['id']}`" not in doc]
    ends = [f"Chart{'s' if len(charts) > 1 else ''} {', '.join(charts)}."] if charts else []
    if table["maker"] and f"`{table['maker']}`" not in doc:
        ends.append(f"Analysis `{table['maker']}`.")
    yield f"#### `{table['id']}`"
    yield ""
    if doc:
        yield from wrapped(doc)
        yield ""
    if ends:
        yield " ".join(ends)
        yield ""
    yield "| column | type | unit | better | what |"
    yield "|---|---|---|---|---|"
    for column in table["columns"]:
        yield row_of(column["key"], f"{column['type']} | ", column)
    yield ""


def part(what, declared):
    if what in ("scalars", "diff_scalars"):
        yield "| id | unit | better | what |"
        yield "|---|---|---|---|"
        for scalar in declared["scalars"]:
            if (scalar["maker"] is not None) == (what == "scalars"):
                yield row_of(scalar["id"], "", scalar)
        yield ""
        return
    if what != "sections":
        for table in declared["tables"]:
            if not table["section"] and table["id"].startswith(what + "."):
                yield from made_of(table)
        return
    for section in declared["sections"]:
        tables = [table for table in declared["tables"] if table["section"] == section["id"]]
        if not tables:
            continue
        yield f"### Section `{section['id']}`: {section['title']}"
        yield ""
        for table in tables:
            yield from made_of(table)


def made(text, declared):
    return PART.sub(lambda found: found[1] + "\n" + "\n".join(part(found[2], declared)) + "\n" +
                    found[3], text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--document", type=pathlib.Path, default=DOCUMENT)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    done = subprocess.run([args.program, "plugins", "--json", "--no-config"], capture_output=True,
                          text=True, check=True)
    text = args.document.read_text(encoding="utf-8")
    now = made(text, json.loads(done.stdout))
    missing = [table["id"] for table in json.loads(done.stdout)["tables"]
               if f"\n#### `{table['id']}`\n" not in now]
    if missing:
        print(f"{args.document} has no part for: {', '.join(missing)}")
        return 1
    if args.update:
        args.document.write_text(now, encoding="utf-8")
    elif now != text:
        print("".join(list(difflib.unified_diff(text.splitlines(True), now.splitlines(True),
                                                str(args.document), "declared", n=0))[:40]), end="")
        print(f"It is not what the program declares; run {sys.argv[0]} --program {args.program} "
              "--update")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
