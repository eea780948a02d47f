#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints how large the code is and how finely it is cut.

usage: figures.py [REPOSITORY] [--folders]

Lines, folders, public headers and functions, and how many functions are called from one place.
A call is the name before a bracket, anywhere in src/, plugins/ and include/.  A function whose
address is taken, in a table of operations for instance, is not counted as called from one place.
"""
import argparse
import collections
import pathlib
import re

TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
TYPE = r"^(?!typedef|#|\s|else|return)\w[\w \t*\n]*?[\s*]"
DEFINITION = re.compile(rf"(?P<type>{TYPE})(?P<name>\w+)\([^;{{}}]*?\)\s*\n\{{", re.MULTILINE)
PROTOTYPE = re.compile(rf"{TYPE}(\w+)\([^;{{}}]*?\)\s*(?:\w+(?:\([^)]*\))?\s*)?;", re.MULTILINE)
CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
NAME = re.compile(r"\b[A-Za-z_]\w*\b(?!\s*\()")


def bare(text):
    """Without comments, and with empty strings; lines stay where they are."""
    def blank(match):
        return '""' if match[0][0] == '"' else re.sub(r"[^\n]", " ", match[0])
    return TEXT.sub(blank, text)


class File:
    """The functions, calls and other names of a file."""

    def __init__(self, path):
        text = bare(path.read_text(encoding="utf-8"))
        self.functions = [(m["name"], "static" in m["type"].split())
                          for m in DEFINITION.finditer(text)]
        self.calls = collections.Counter(CALL.findall(text))
        self.names = collections.Counter(NAME.findall(text))
        self.calls.subtract(name for name, _ in self.functions)
        self.calls.subtract(PROTOTYPE.findall(text))


def called_once(files):
    """Yields (file, name, whether it is called from one place) of every function."""
    calls, names = collections.Counter(), collections.Counter()
    for file in files.values():
        calls.update(file.calls)
        names.update(file.names)
    for path, file in files.items():
        for name, is_static in file.functions:
            c, n = (file.calls, file.names) if is_static else (calls, names)
            yield path, name, c[name] == 1 and n[name] == 0


def lines_of(paths):
    return sum(path.read_text(encoding="utf-8").count("\n") for path in paths)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("repository", nargs="?", default=".", type=pathlib.Path)
    parser.add_argument("--folders", action="store_true", help="functions of each folder as well")
    options = parser.parse_args()
    root = options.repository
    code = {d: sorted((root / d).rglob("*.[ch]")) for d in ("src", "plugins", "include")}
    files = {path: File(path) for paths in code.values() for path in paths}
    functions, once, folders = 0, 0, collections.defaultdict(lambda: [0, 0])
    for path, _, is_once in called_once(files):
        functions, once = functions + 1, once + is_once
        folder = folders["/".join(path.relative_to(root).parts[:2])]
        folder[0], folder[1] = folder[0] + 1, folder[1] + is_once
    exported = sum(len(re.findall(r"^TA_API\b", bare(p.read_text(encoding="utf-8")), re.MULTILINE))
                   for p in code["include"])
    print(f"{len([p for p in (root / 'src').iterdir() if p.is_dir()]):7} folders of src/")
    print(f"{lines_of(code['src'] + code['plugins']):7} lines of src/ and plugins/")
    print(f"{len(code['include']):7} public headers, {exported} functions in them")
    print(f"{functions:7} functions, {100 * once / functions:.1f} % called from one place")
    if options.folders:
        for folder, (n, m) in sorted(folders.items()):
            print(f"{n:7} {folder}, {100 * m / n:.0f} %")


if __name__ == "__main__":
    main()
