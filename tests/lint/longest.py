#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the longest functions of src/ and plugins/, for people to judge.

usage: longest.py [REPOSITORY [NUMBER]]
"""
import pathlib
import re
import sys

OPENING = re.compile(r"(\w+)\([^;]*$")


def functions(path):
    """(lines, first line, name): in this style a body begins and ends in the first column."""
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines):
        if line != "{":
            continue
        head = number - 1
        while head > 0 and lines[head].startswith(" "):
            head -= 1
        named = OPENING.search(lines[head])
        end = next((n for n in range(number, len(lines)) if lines[n] == "}"), number)
        if named:
            yield end - head + 1, head + 1, named[1]


def main(arguments):
    root = pathlib.Path(arguments[1] if len(arguments) > 1 else ".").resolve()
    number = int(arguments[2]) if len(arguments) > 2 else 20
    found = [(*function, path.relative_to(root)) for folder in ("src", "plugins")
             for path in (root / folder).rglob("*.c") for function in functions(path)]
    lengths = sorted(length for length, *_ in found)
    print(f"{len(found)} functions, half of them under {lengths[len(lengths) // 2] + 1} lines, "
          f"nine of ten under {lengths[len(lengths) * 9 // 10] + 1}; the longest:")
    for length, line, name, path in sorted(found, key=lambda f: (-f[0], str(f[3])))[:number]:
        print(f"{length:5} lines  {name}()  {path}:{line}")


if __name__ == "__main__":
    main(sys.argv)
