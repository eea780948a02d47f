#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The public headers are few, each says what it is for, and they are C17 and C++17.

usage: headers.py REPOSITORY INCLUDE...

INCLUDE are folders of headers that the build has made.  Each header is compiled by itself, and all
of them together, in both languages, with warnings as errors.

Ends with 77 where there is no compiler of C++.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

# As many may be public, with those that the build makes; docs/adr/0034-what-is-public.md.
MOST_HEADERS = 22

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]


def flags_of_jansson():
    """Where the header of jansson is, which document.h includes."""
    done = subprocess.run(["pkg-config", "--cflags", "jansson"], capture_output=True, text=True,
                          check=False)
    return done.stdout.split() if done.returncode == 0 else None


def is_said(path):
    """Whether a header begins with a comment, after its license."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return len(lines) > 1 and lines[1].startswith("/* ") and len(lines[1]) > 20


def count_faults(include, made):
    """How many headers are too many or say nothing of themselves; says which."""
    headers = sorted((include / "traceanalyze").glob("*.h"))
    all_headers = [*headers, *(path for folder in made
                               for path in pathlib.Path(folder, "traceanalyze").glob("*.h"))]
    silent = [path for path in headers if not is_said(path)]
    for path in silent:
        print(f"{path.name}: no comment says what it is for")
    if len(all_headers) > MOST_HEADERS:
        print(f"{len(all_headers)} public headers, {MOST_HEADERS} are the most")
    return len(silent) + (len(all_headers) > MOST_HEADERS)


def compile_all(compiler, language, flags, names, folder):
    """Compiles a file per header and one with all; says what failed."""
    failed = 0
    for group in [[name] for name in names] + [names]:
        source = folder / f"includes.{language[0]}"
        source.write_text("".join(f"#include <traceanalyze/{name}>\n" for name in group) +
                          "int main(void) { return 0; }\n", encoding="utf-8")
        done = subprocess.run([compiler, f"-std={language[1]}", *WARNINGS, *flags, source],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            failed += 1
            print(f"{' '.join(group)} as {language[1]}:\n{done.stderr}")
    return failed


def main():
    include = pathlib.Path(sys.argv[1]).resolve() / "include"
    names = sorted(path.name for path in (include / "traceanalyze").glob("*.h"))
    cxx, jansson = shutil.which("c++") or shutil.which("g++"), flags_of_jansson()
    if not cxx or jansson is None:
        print("skipped: no compiler of C++, or no jansson")
        return 77
    faults = count_faults(include, sys.argv[2:])
    flags = [*jansson, *(f"-I{folder}" for folder in [include, *sys.argv[2:]])]
    with tempfile.TemporaryDirectory() as folder:
        failed = sum(compile_all(compiler, language, flags, names, pathlib.Path(folder))
                     for compiler, language in ((shutil.which("cc") or "gcc", ("c", "gnu17")),
                                                (cxx, ("cpp", "c++17"))))
    print(f"{len(names)} headers, {faults + failed} faults")
    return 1 if faults or failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
