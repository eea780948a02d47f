#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shared library exports what the public headers declare, each function with a comment, and not
too many.

usage: exports.py NM LIBRARY REPOSITORY

LIBRARY is the shared library.  A comment above a paragraph of declarations, lines without a blank
one between them, is a comment on all of them.
"""
import pathlib
import re
import subprocess
import sys

# docs/adr/0034-what-is-public.md
MOST_FUNCTIONS = 186

# A function or variable with its comment or the declaration before it.
DECLARED = re.compile(r"\bTA_API\b[^;{}()]*?\b(ta_\w+)\s*[(\[;]")

# What a plugin defines, and no library.
OF_PLUGINS = {"ta_plugin_entry"}


def exported(nm, library):
    """Symbol → its kind, of all that the library exports; each has a version."""
    output = subprocess.run([nm, "-D", "-P", "--defined-only", library], check=True,
                            capture_output=True, text=True).stdout
    symbols = {}
    for line in output.splitlines():
        name, kind = line.split()[:2]
        name, _, version = name.partition("@@")
        if kind != "A":  # the version itself
            symbols[name if version else f"{name}, without a version,"] = kind
    return symbols


def declared(root):
    """(header, name, whether a comment says what it is) of all that is declared."""
    for path in sorted((root / "include/traceanalyze").glob("*.h")):
        text = path.read_text(encoding="utf-8")
        for match in DECLARED.finditer(text):
            paragraph = text[text.rfind("\n\n", 0, match.start()):match.start()]
            yield path.name, match[1], "/*" in paragraph


def faults(symbols, declarations):
    names = {name for _, name, _ in declarations}
    for name in sorted(set(symbols) - names):
        yield f"{name} is exported, and no public header declares it"
    for name in sorted(names - set(symbols) - OF_PLUGINS):
        yield f"{name} is declared TA_API and not exported"
    for header, name, is_said in declarations:
        if not is_said:
            yield f"{header}: no comment says what {name} does"
    functions = [name for name, kind in symbols.items() if kind == "T"]
    if len(functions) > MOST_FUNCTIONS:
        yield f"{len(functions)} functions are exported, {MOST_FUNCTIONS} are the most"


def main():
    nm, library, root = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    symbols, declarations = exported(nm, library), list(declared(root))
    found = list(faults(symbols, declarations))
    for line in found:
        print(line)
    print(f"{sum(kind == 'T' for kind in symbols.values())} functions, {len(found)} faults")
    return 1 if found or not symbols else 0


if __name__ == "__main__":
    sys.exit(main())
