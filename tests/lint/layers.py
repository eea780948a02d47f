#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks what may include what: stages only earlier ones, plugins only the public headers.

usage: layers.py [REPOSITORY]

Prints a line per wrong #include and ends with 1 when there is one.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)

# Folder of src/ → folders whose headers it may include besides its own and <traceanalyze/…>.
# Stages stand in the order of the flow; "run" calls them.
MAY_INCLUDE = {
    "base": (),
    "config": ("base",),
    "hardware": ("base", "config"),
    "stat": ("base",),
    "model": ("base",),
    "plugin": ("base",),
    "pickle": ("base",),
    "read": ("base",),
    "discover": ("base", "read"),
    "parse": ("base", "model", "read"),
    "normalize": ("base", "model", "parse"),
    "result": ("base",),
    "idle": (),
    "timeline": ("base", "model"),
    "analyze": ("base", "stat", "model", "plugin", "result"),
    "recommend": ("base", "plugin", "result", "analyze"),
    "diff": ("base", "read", "result"),
    "gate": ("base", "diff", "result"),
    "scaling": ("base", "diff", "plugin", "recommend", "result", "stat"),
    "render": ("base", "result"),
    "merge": ("base", "model", "read", "parse", "render"),
    "summary": ("base", "stat", "model", "plugin", "analyze", "run"),
    "run": ("base", "hardware", "stat", "model", "plugin", "read", "discover", "parse", "normalize",
         "result", "timeline", "analyze", "recommend", "summary"),
    "cli": ("base", "config", "plugin", "result", "render", "merge", "diff", "gate",
            "scaling", "run"),
    "mpi": ("base", "cli", "run"),
}

# Library → where its headers may be included; src/cli/cmd_help.c prints the versions of all.
LIBRARIES = {
    "gsl/": ("src/stat/", "src/cli/cmd_help.c"),
    "isa-l": ("src/read/", "src/cli/cmd_help.c"),
    "zlib.h": ("src/read/", "src/discover/", "src/render/", "src/summary/", "src/cli/cmd_help.c"),
    "cairo": ("src/render/", "src/cli/cmd_help.c", "plugins/output/"),
    "pango": ("src/render/", "src/cli/cmd_help.c", "plugins/output/",
              "include/traceanalyze/draw.h"),
    "glib": ("plugins/output/",),
    "mpi.h": ("src/mpi/",),
    "yaml.h": ("src/config/", "src/cli/cmd_help.c"),
}


def includes(path):
    """(line, is quoted, name) of every #include."""
    text = path.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match[1] == '"', match[2]


def source_fault(root, path, name):
    """What is wrong with #include "name" in a file of src/, or None."""
    folder = path.relative_to(root / "src").parts[0]
    if folder not in MAY_INCLUDE:
        return f"src/{folder}/ has no place in the flow: add it to tests/lint/layers.py"
    if name.startswith("traceanalyze/"):
        return None if (root / "include" / name).exists() else "no such public header"
    if not (root / "src" / name).exists():
        return "quoted names are paths below src/ or traceanalyze/…"
    target = name.split("/")[0]
    if target == folder or target in MAY_INCLUDE[folder]:
        return None
    return f"src/{folder}/ may not include src/{target}/"


def plugin_fault(root, path, quoted, name):
    own = path.parent if path.parent.parent.parent == root / "plugins" else None
    if quoted:
        is_own = own and "/" not in name and ((own / name).exists() or
                                              name == f"embedded_{own.name}.h")
        # Plugins for the files of one producer, "inferix_raw.c" and so on, may share "inferix.h".
        is_own = is_own or not own and path.name.startswith(name.removesuffix(".h") + "_") and (
            path.parent / name).exists()
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


def fault(root, path, quoted, name):
    place = path.relative_to(root).as_posix()
    if not quoted and library_fault(place, name):
        return library_fault(place, name)
    if place.startswith("src/"):
        return source_fault(root, path, name) if quoted else None
    if place.startswith("plugins/"):
        return plugin_fault(root, path, quoted, name)
    return public_fault(root, path, quoted, name)


def main(arguments):
    root = pathlib.Path(arguments[1] if len(arguments) > 1 else ".").resolve()
    files = sorted(path for folder in ("include", "src", "plugins")
                   for path in (root / folder).rglob("*.[ch]"))
    faults = 0
    for path in files:
        for line, quoted, name in includes(path):
            wrong = fault(root, path, quoted, name)
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
