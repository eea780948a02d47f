#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds tables, columns and scalars looked up by a literal, and ids of plugins in the core.

usage: literals.py [REPOSITORY]

Readers name tables, columns and scalars in lists of references, which are checked when the program
starts; the core reads columns as what they are (`.read_as`).  So code looks none of them up by a
string, and no string of src/ is the id of a plugin, or of a table or scalar that a plugin declares.
What is left is listed below with its reason.  Ends with 1 where there is more, or less.
"""
import argparse
import pathlib
import re
import sys

LOOKUP = re.compile(
    r'\bta_(?:report_(?:table|scalar|finding)|table_column|sort_rows'
    r'|row_(?:number|integer|text|reads))'
    r'\((?:[^;"()]|\([^()"]*\))*"|\bta_old_\w+|\bTA_OLD_\w+'
    r'|\bstrn?cmp\([\w.\[\]>-]*(?:->|\.)(?:id|key), "\w+"')
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')
TABLE = re.compile(r'\bstruct ta_table_def \w+ = \{\s*"([^"]+)"')
SCALARS = re.compile(r"\bstruct ta_scalar_def \w+(?:\[\])? = \{(.*?)\n?\};", re.DOTALL)
SCALAR = re.compile(r'(?:\A|\{)\s*"(\w+)"')
# Outputs and charts are chosen by name, on the command line and by it.
PLUGIN = re.compile(r"\bTA_PLUGIN\(\s*(?:analysis|advice|headline|input),\s*(\w+)")

# What is left, by reason: (file, text).
SECTION = "the id of a section, whose order is decided in one place"
WORD = "a word of the input's or of a table's own, as people read it"
SETTING = "a setting of a plugin, as users write it, for what a profiler's configuration says"
FIGURE = "a figure that the comparison makes itself, or a column of its own table"
KEY = "a column of whichever table is drawn; no role says yet what it is"
LEFT = {
    ("src/report/sections.c", "gpu_time"): SECTION,
    ("src/report/sections.c", "critical_path"): SECTION,
    ("src/report/sections.c", "call_tree"): SECTION,
    ("src/cli/config_profiling.c", "diffusion.steps"): SETTING,
    ("src/cli/config_profiling.c", "diffusion.blocks"): SETTING,
    ("src/compare/figures.c", "step_time_p50_ns"): FIGURE,
    ("src/compare/mix.c", "kernels_by_class"): FIGURE,
    ("src/compare/scaling/speed.c", "energy_j"): FIGURE,
    ("src/compare/step_classes.c", "step_time"): FIGURE,
    ("src/model/dump.c", "gpu_utilization"): WORD,
    ("src/model/dump.c", "gpu_temperature"): WORD,
    ("src/report/word.c", "chrome_json"): WORD,
    ("src/report/word.c", "first_block_ns"): WORD,
    ("src/report/evidence.c", 'strcmp(column->key, "index"'): KEY,
    ("plugins/analysis/ranks/figures.c",
     'strcmp(m->table->columns[column].key, "value"'): KEY,
}


def code_of(path):
    """The text with comments blanked, so that lines stay where they are."""
    return COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), path.read_text(encoding="utf-8"))


def declared(texts):
    """Ids of plugins and of what they declare."""
    ids = set()
    for text in texts:
        ids.update(TABLE.findall(text))
        ids.update(PLUGIN.findall(text))
        for block in SCALARS.findall(text):
            ids.update(SCALAR.findall(block))
    return {id_ for id_ in ids if re.search("[._]", id_)}  # one word alone is a word like others


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", default=".", type=pathlib.Path)
    root = parser.parse_args().root
    texts = {path.relative_to(root).as_posix(): code_of(path) for folder in ("src", "plugins")
             for path in sorted((root / folder).rglob("*.[ch]"))}
    ids = declared(text for name, text in texts.items() if name.startswith("plugins/"))
    found = []
    for name, text in texts.items():
        matches = [(m.start(), m[0], "is looked up by a literal") for m in LOOKUP.finditer(text)]
        if name.startswith("src/"):
            matches += [(m.start(), m[1], "is the id of a plugin, or of what one declares")
                        for m in STRING.finditer(text) if m[1] in ids]
        for start, what, why in matches:
            found.append((name, 1 + text.count("\n", 0, start), " ".join(what.split()), why))
    left = {(name, what) for name, _, what, _ in found}
    faults = [f"{name}:{line}: {what} {why}" for name, line, what, why in found
              if (name, what) not in LEFT]
    faults += [f"{name}: {what} is gone; take it off the list" for name, what in LEFT
               if (name, what) not in left and (root / name).exists()]
    print("\n".join(faults), f"{len(ids)} ids, {len(found)} literals, {len(LEFT)} kinds allowed",
          sep="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
