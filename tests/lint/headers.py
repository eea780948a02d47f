#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles each public header by itself and all of them together, as C17 and as C++17, with
warnings as errors: programs in both languages are built against them.

usage: headers.py REPOSITORY INCLUDE...

INCLUDE are folders of headers that the build has made.

Ends with 77 where there is no compiler of C++.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]


def flags_of_jansson():
    """Where the header of jansson is, which document.h includes."""
    done = subprocess.run(["pkg-config", "--cflags", "jansson"], capture_output=True, text=True,
                          check=False)
    return done.stdout.split() if done.returncode == 0 else None


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
    flags = [*jansson, *(f"-I{folder}" for folder in [include, *sys.argv[2:]])]
    with tempfile.TemporaryDirectory() as folder:
        failed = sum(compile_all(compiler, language, flags, names, pathlib.Path(folder))
                     for compiler, language in ((shutil.which("cc") or "gcc", ("c", "gnu17")),
                                                (cxx, ("cpp", "c++17"))))
    print(f"{len(names)} headers, {failed} faults")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
