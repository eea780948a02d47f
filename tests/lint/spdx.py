#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that every file says its licence first, keeps to 100 columns, and ends in one newline.

usage: spdx.py [REPOSITORY]

Looks at the files that git knows, or at all where there is no git.  Data has no licence line.
"""
import pathlib
import subprocess
import sys

LICENCE = "SPDX-License-Identifier: GPL-3.0-or-later"
CODE = {".c", ".h", ".in", ".py", ".sh", ".cmake", ".mjs", ".js", ".css", ".supp", ".dict"}
CODE_NAMES = {"CMakeLists.txt", "run", "asan", "tsan", "lint", "coverage", ".clang-tidy"}
# Formats without comments, or whose first line is taken.
FREE = {".supp", ".in"}
WIDTH = 100
BUILDS = ("build", ".git", "node_modules", "__pycache__")


def files(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return sorted(root / name for name in listed.stdout.split("\0") if name)
    return sorted(p for p in root.rglob("*") if not any(part.startswith(BUILDS)
                                                        for part in p.relative_to(root).parts))


def faults(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    first = lines[1] if lines[0].startswith("#!") and len(lines) > 1 else lines[0]
    if LICENCE not in first and path.suffix not in FREE:
        yield 1, f"the first line is no \"{LICENCE}\""
    for number, line in enumerate(lines, 1):
        if len(line) > WIDTH and path.suffix in (".c", ".h", ".py", ".cmake", ".sh"):
            yield number, f"{len(line)} columns, {WIDTH} are allowed"
        if line != line.rstrip():
            yield number, "blanks at the end"
    if lines[-1] or (len(lines) > 1 and not lines[-2]):
        yield len(lines), "the file does not end in exactly one newline"


def main(arguments):
    root = pathlib.Path(arguments[1] if len(arguments) > 1 else ".").resolve()
    code = [path for path in files(root) if path.is_file() and not path.is_symlink() and
            (path.suffix in CODE or path.name in CODE_NAMES)]
    found = [(path, *fault) for path in code for fault in faults(path)]
    for path, line, text in found:
        print(f"{path.relative_to(root)}:{line}: {text}")
    print(f"{len(code)} files, {len(found)} faults")
    return 1 if found or not code else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
