#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks what includes what: folders of src/ as docs/ARCHITECTURE.md says, plugins only the public
headers.

usage: layers.py [REPOSITORY]

Prints a line per wrong #include and per wrong row of the table, and ends with 1 when there is one.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)

# A row "| `src/x` | `src/a`, `src/b/c` |" of the table in docs/ARCHITECTURE.md; `src` itself
# has the pipeline.
FOLDER = r"`src(?:/\w+)*`"
ROW = re.compile(rf"^\| ({FOLDER}) \| (–|{FOLDER}(?:, {FOLDER})*) \|$", re.MULTILINE)

# Library → where its headers may be included; src/cli/cmd_help.c prints the versions of all.
LIBRARIES = {
    "gsl/": ("src/stat/", "src/cli/cmd_help.c"),
    "isa-l": ("src/read/", "src/base/deflate.c", "src/cli/cmd_help.c"),
    "zlib.h": ("src/base/deflate.c", "src/read/", "src/render/chart/", "src/analyze/summary/",
               "src/cli/cmd_help.c"),
    "cairo": ("src/render/chart/", "src/cli/cmd_help.c", "plugins/output/"),
    "pango": ("src/render/chart/", "src/cli/cmd_help.c", "plugins/output/",
              "include/traceanalyze/draw.h"),
    "glib": ("plugins/output/",),
    "mpi.h": ("src/cli/mpi/",),
    "yaml.h": ("src/config/", "src/cli/cmd_help.c"),
    "regex.h": ("nobody, use base/regex.h",),
}


def includes(path):
    """(line, is quoted, name) of every #include."""
    text = path.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match[1] == '"', match[2]


def read_table(root):
    """Folder of src/ → folders whose headers it includes besides its own, in order of the rows."""
    text = (root / "docs/ARCHITECTURE.md").read_text(encoding="utf-8")
    return {folder.strip("`"): re.findall(r"src[/\w]*", others)
            for folder, others in ROW.findall(text)}


def folder_of(name):
    """The folder of a header that is included as "name"."""
    return pathlib.PurePosixPath("src", name).parent.as_posix()


def table_faults(root, table):
    """What is wrong with the rows: circles, and what no file of the folder includes."""
    above = set()
    for folder, others in table.items():
        used = {folder_of(name) for path in (root / folder).glob("*.[ch]")
                for _, quoted, name in includes(path) if quoted}
        for other in others:
            if other not in above:
                yield f"{folder}/ names {other}/, which does not stand above it"
            elif other not in used:
                yield f"{folder}/ names {other}/ and does not include it"
        above.add(folder)


def source_fault(root, table, path, name):
    """What is wrong with #include "name" in a file of src/, or None."""
    folder = path.parent.relative_to(root).as_posix()
    if folder not in table:
        return f"{folder}/ is not in the table of docs/ARCHITECTURE.md"
    if name.startswith("traceanalyze/"):
        return None if (root / "include" / name).exists() else "no such public header"
    if not (root / "src" / name).exists():
        return "quoted names are paths below src/ or traceanalyze/…"
    target = folder_of(name)
    if target == folder or target in table[folder]:
        return None
    return f"{folder}/ may not include {target}/"


def plugin_fault(root, path, quoted, name):
    own = path.parent if path.parent.parent.parent == root / "plugins" else None
    if quoted:
        is_own = own and "/" not in name and ((own / name).exists() or
                                              name == f"embedded_{own.name}.h")
        # Plugins for the files of one producer, "inferix_raw.c", "inferix_report/" and so on, may
        # share "inferix.h" beside them.
        plugin, shared = (own.name, name.removeprefix("../")) if own else (path.name, name)
        is_own = is_own or (shared != name) == bool(own) and "/" not in shared and (
            plugin.startswith(shared.removesuffix(".h") + "_") and (path.parent / name).exists())
        return None if is_own else "plugins include <traceanalyze/…> and headers of their folder"
    if name.startswith("traceanalyze/"):
        return None if (root / "include" / name).exists() else "no such public header"
    return None


def public_fault(root, path, quoted, name):
    if quoted and not (path.parent / name).exists():
        return "public headers include each other and nothing of src/"
    return None


def library_fault(place, name):
    for library, places in LIBRARIES.items():
        if name.startswith(library) and not place.startswith(places):
            return f"{library} belongs to {', '.join(places)}"
    return None


def fault(root, table, path, quoted, name):
    place = path.relative_to(root).as_posix()
    if not quoted and library_fault(place, name):
        return library_fault(place, name)
    if place.startswith("src/"):
        return source_fault(root, table, path, name) if quoted else None
    if place.startswith("plugins/"):
        return plugin_fault(root, path, quoted, name)
    return public_fault(root, path, quoted, name)


def main(arguments):
    root = pathlib.Path(arguments[1] if len(arguments) > 1 else ".").resolve()
    files = sorted(path for folder in ("include", "src", "plugins")
                   for path in (root / folder).rglob("*.[ch]"))
    table = read_table(root)
    faults = 0
    for wrong in table_faults(root, table):
        faults += 1
        print(f"docs/ARCHITECTURE.md: {wrong}")
    for path in files:
        for line, quoted, name in includes(path):
            wrong = fault(root, table, path, quoted, name)
            if wrong:
                faults += 1
                print(f"{path.relative_to(root)}:{line}: {name}: {wrong}")
    if not files:
        print(f"no sources below {root}")
        return 1
    print(f"{len(files)} files, {faults} wrong includes")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
