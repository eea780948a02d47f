#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks which folder of src/ uses which other: what they include, and what they are linked to.

usage: layers.py [REPOSITORY [BUILD]]

A folder includes the headers of the folders that docs/ARCHITECTURE.md allows it, and uses symbols
of no other, whichever header declares them.  Built-in plugins include the public headers, those of
plugins/lib/, and those of the folders of src/ that the row of their kind names; they use symbols of
these, and nobody uses a symbol of a plugin.  The program, src/cli, uses what the public headers
declare, as any other program does, and of the library's inside the few helpers that are named here.
Symbols are read, with nm, from the object files of the build folder.

Prints a line per fault and per wrong row of the table, and ends with 1 when there is one.
"""
import collections
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)

# A row "| `src/x` | `src/a`, `src/b/c` |" of the table in docs/ARCHITECTURE.md; `src` itself
# has the pipeline, `plugins/x` all plugins of a kind.
FOLDER = r"`(?:src|plugins)(?:/\w+)*`"
ROW = re.compile(rf"^\| ({FOLDER}) \| (–|{FOLDER}(?:, {FOLDER})*) \|$", re.MULTILINE)

# Library → where its headers may be included; src/cli/cmd_help.c prints the versions of all.
LIBRARIES = {
    "gsl/": ("src/stat/", "src/cli/cmd_help.c"),
    "isa-l": ("src/read/", "src/base/deflate.c", "src/cli/cmd_help.c"),
    "zlib.h": ("src/base/deflate.c", "src/read/", "src/render/chart/", "src/analyze/summary/",
               "src/cli/cmd_help.c"),
    "cairo": ("src/render/chart/", "src/cli/cmd_help.c", "plugins/output/"),
    "pango": ("src/render/chart/", "src/cli/cmd_help.c", "plugins/output/",
              "src/render/chart/draw.h"),
    "glib": ("plugins/output/",),
    "mpi.h": ("src/cli/mpi/",),
    "yaml.h": ("src/base/yaml/", "src/cli/cmd_help.c"),
    "regex.h": ("nobody, use base/regex.h",),
}

# The program, and what it uses of src/ that is not public: helpers that know nothing of traces,
# reports and plugins.
PROGRAM = "src/cli"
HELPERS = ("src/base/limits", "src/base/memory", "src/base/regex", "src/base/stopwatch",
           "src/base/suggest", "src/base/value", "src/base/vec", "src/base/visible",
           "src/base/what_if",
           "src/base/yaml/core", "src/base/yaml/file", "src/base/yaml/yaml")


def is_of_program(folder):
    return folder == PROGRAM or folder.startswith(f"{PROGRAM}/")


def includes(path):
    """(line, is quoted, name) of every #include."""
    text = path.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match[1] == '"', match[2]


def read_table(root):
    """Folder → folders whose headers it includes besides its own, in order of the rows."""
    text = (root / "docs/ARCHITECTURE.md").read_text(encoding="utf-8")
    return {folder.strip("`"): re.findall(r"(?:src|plugins)[/\w]*", others)
            for folder, others in ROW.findall(text)}


def folder_of(name):
    """The folder of a header that is included as "name"."""
    tree = "plugins" if name.startswith("lib/") else "src"
    return pathlib.PurePosixPath(tree, name).parent.as_posix()


def row_of(source):
    """The row that says what a file, a path from the root, may use."""
    if source.parts[0] == "plugins":
        return "/".join(source.parts[:2])
    return source.parent.as_posix()


def cycle_faults(table):
    """Cycles between the folders right below src/, each with all that is in it."""
    def top(folder):
        return "/".join(folder.split("/")[:2])

    after = collections.defaultdict(set)
    for folder, others in table.items():
        after[top(folder)].update(top(other) for other in others if top(other) != top(folder))

    def reached(start):
        found, left = set(), [start]
        while left:
            for other in after[left.pop()] - found:
                found.add(other)
                left.append(other)
        return found

    for folder in list(after):
        if folder in reached(folder):
            yield f"{folder}/ uses folders that use {folder}/"


def table_faults(root, table, linked):
    """What is wrong with the rows: cycles, and what the folder does not use."""
    before = set()
    for folder, others in table.items():
        pattern = "**/*.[ch]" if folder.startswith("plugins/") else "*.[ch]"
        used = {folder_of(name) for path in (root / folder).glob(pattern)
                for _, quoted, name in includes(path) if quoted}
        for other in others:
            if other not in before:
                yield f"{folder}/ names {other}/, which does not come before it"
            elif linked is not None and other not in used | linked[folder]:
                yield f"{folder}/ names {other}/ and does not use it"
        before.add(folder)
    yield from cycle_faults(table)


def is_helper(path):
    """Whether a file of src/ is one that the program may use."""
    return path.rsplit(".", 1)[0] in HELPERS


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
    if is_of_program(folder) and not (is_of_program(target) or is_helper(f"src/{name}")):
        return "the program includes public headers, its own, and those of HELPERS"
    if target == folder or target in table[folder]:
        return None
    return f"{folder}/ may not include {target}/"


def plugin_fault(root, table, path, quoted, name):
    own = path.parent if path.parent.parent.parent == root / "plugins" else None
    if quoted and "/" in name and not name.startswith("../"):
        row, target = row_of(path.relative_to(root)), folder_of(name)
        if not any((root / tree / name).exists() for tree in ("plugins", "src")):
            return f"{target}/ has no such header"
        allowed = target == row or target in table.get(row, [])
        return None if allowed else f"{row}/ may not include {target}/"
    if quoted:
        is_own = own and "/" not in name and ((own / name).exists() or
                                              name == f"embedded_{own.name}.h")
        # Plugins for the files of one producer, "nvidia_smi_dmon.c" and so on, may share
        # "nvidia_smi.h" beside them.
        plugin, shared = (own.name, name.removeprefix("../")) if own else (path.name, name)
        is_own = is_own or (shared != name) == bool(own) and "/" not in shared and (
            plugin.startswith(shared.removesuffix(".h") + "_") and (path.parent / name).exists())
        return None if is_own else "plugins include public headers, their own, those of their row"
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
        return plugin_fault(root, table, path, quoted, name)
    return public_fault(root, path, quoted, name)


def objects(root, build):
    """Object file → source of src/ or plugins/ that it is made from."""
    found = {}
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    for command in commands:
        source = pathlib.Path(command["file"]).resolve()
        if not any(source.is_relative_to(root / folder) for folder in ("src", "plugins")):
            continue
        words = command.get("arguments") or shlex.split(command["command"])
        path = pathlib.Path(command["directory"], words[words.index("-o") + 1])
        if path.exists():
            found[str(path)] = source.relative_to(root)
    return found


def symbols(found):
    """(source, symbol, whether it is defined there) of all external symbols."""
    nm = shutil.which("nm") or "llvm-nm"
    paths = list(found)
    for i in range(0, len(paths), 200):
        output = subprocess.run([nm, "-A", "-P", "-g", *paths[i:i + 200]], check=True,
                                capture_output=True, text=True).stdout
        for line in output.splitlines():
            place, rest = line.split(": ", 1)
            name, kind = rest.split()[:2]
            yield found[place], name, kind not in "Uwv"


def links(found):
    """(source, symbol, source that defines it) where these are of different folders."""
    defined, used = {}, []
    for source, name, is_defined in symbols(found):
        if is_defined:
            defined[name] = source
        else:
            used.append((source, name))
    for source, name in used:
        if name in defined and defined[name].parent != source.parent:
            yield source, name, defined[name]


def public_names(root):
    """Functions and variables that the public headers export."""
    names = set()
    for path in (root / "include/traceanalyze").glob("*.h"):
        text = path.read_text(encoding="utf-8")
        names.update(re.findall(r"\bTA_API\b[^;{}()]*?\b(ta_\w+)\s*[(\[;]", text))
    return names


def program_fault(public, name, definer):
    """What is wrong with a symbol that the program uses, or None."""
    if name in public or is_helper(definer.as_posix()):
        return None
    return "the program uses what public headers declare, and HELPERS"


def link_fault(table, public, source, name, definer):
    """What is wrong with a symbol of `definer` that `source` uses, or None."""
    if source.parts[0] != "src":
        row, target = row_of(source), definer.parent.as_posix()
        if target in table.get(row, []) or name in public:
            return None
        return f"{row}/ may not use {target}/" if definer.parts[0] == "src" else \
            "a plugin uses no other"
    if definer.parts[0] != "src":
        return "a plugin is used through the registry"
    folder, target = source.parent.as_posix(), definer.parent.as_posix()
    if is_of_program(folder) and not is_of_program(target):
        return program_fault(public, name, definer)
    if target in table.get(folder, []):
        return None
    return f"{folder}/ may not use {target}/"


def link_faults(table, public, found):
    """Lines of what is linked wrongly, and the folders that each row is linked to."""
    faults, linked = [], collections.defaultdict(set)
    for source, name, definer in links(found):
        linked[row_of(source)].add(definer.parent.as_posix())
        wrong = link_fault(table, public, source, name, definer)
        if wrong:
            faults.append(f"{source.as_posix()}: {name}() of {definer.as_posix()}: {wrong}")
    return sorted(faults), linked


def main(arguments):
    root = pathlib.Path(arguments[1] if len(arguments) > 1 else ".").resolve()
    files = sorted(path for folder in ("include", "src", "plugins")
                   for path in (root / folder).rglob("*.[ch]"))
    table = read_table(root)
    faults, linked, found = [], None, {}
    if len(arguments) > 2:
        found = objects(root, pathlib.Path(arguments[2]).resolve())
        if not found:
            print(f"no object files of src/ in {arguments[2]}")
            return 1
        faults, linked = link_faults(table, public_names(root), found)
    faults += [f"docs/ARCHITECTURE.md: {wrong}" for wrong in table_faults(root, table, linked)]
    for path in files:
        for line, quoted, name in includes(path):
            wrong = fault(root, table, path, quoted, name)
            if wrong:
                faults.append(f"{path.relative_to(root)}:{line}: {name}: {wrong}")
    for line in faults:
        print(line)
    if not files:
        print(f"no sources below {root}")
        return 1
    print(f"{len(files)} files, {len(found)} objects, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
