#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts words that make readers stop, in comments and documents, as docs/WORDS.md lists them.

usage: words.py [REPOSITORY] [--list WORD]

Ends with 1 where there are more of a word than docs/WORDS.md says are left; --list prints where a
word is.
"""
import argparse
import pathlib
import re
import sys

ROW = re.compile(r"^\| ([a-z][a-z ]*) \| [^|]+ \| (\d+) \|$", re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "docs/*.md", "src/cli/manual/*.txt")
CODE = ("src/**/*.[ch]", "plugins/**/*.[ch]", "include/**/*.h", "samples/**/*.[ch]")


# Columns as results.py writes them: their words are strings of the program.
MADE = re.compile(r"^\| `\w+` \|.*$", re.MULTILINE)


def texts(root):
    """(path, text, line of its start) of all that is read by people."""
    for pattern in DOCUMENTS:
        for path in sorted(root.glob(pattern)):
            if path.name != "WORDS.md":
                yield path, MADE.sub("", path.read_text(encoding="utf-8")), 1
    for pattern in CODE:
        for path in sorted(root.glob(pattern)):
            code = path.read_text(encoding="utf-8")
            for comment in COMMENT.finditer(code):
                yield path, comment[0], 1 + code.count("\n", 0, comment.start())


def places(found, word):
    """A line for each use; a comment may break between two words."""
    pattern = re.compile(r"\b" + word.replace(" ", r"[\s*]+") + r"\b", re.IGNORECASE)
    for path, text, line in found:
        for match in pattern.finditer(text):
            yield f"{path}:{line + text.count(chr(10), 0, match.start())}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", default=".", type=pathlib.Path)
    parser.add_argument("--list", metavar="WORD")
    args = parser.parse_args()
    found = list(texts(args.root))
    if args.list:
        print("\n".join(places(found, args.list)))
        return 0
    rows = ROW.findall((args.root / "docs/WORDS.md").read_text(encoding="utf-8"))
    faults = 0
    for word, left in rows:
        uses = list(places(found, word))
        if len(uses) > int(left):
            print(f"\"{word}\": {len(uses)} uses, {left} are left from earlier; docs/WORDS.md has "
                  f"better words, and --list \"{word}\" says where they are: {uses[0]} …")
            faults += 1
    print(f"{len(rows)} words, {faults} faults")
    return 1 if faults or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
