# SPDX-License-Identifier: GPL-3.0-or-later
"""groff and man format every page without a warning, and nothing of the marks is left in it."""
import os
import shutil
import sys

import manual

SKIPPED = 77


def check(name, path, *command):
    done = manual.run(*command, path, env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
    if done.returncode or done.stderr:
        print(f"{name}: {command[0]} ended with {done.returncode}:\n{done.stderr}")
        return 1
    return 0


def check_text(name, path):
    """What people read: no backticks, no unresolved escapes, no line that is too long."""
    text = manual.run("groff", "-man", "-Tutf8", "-P-cbou", path).stdout
    faults = [line for line in text.splitlines()
              if "`" in line or "\\f" in line or line.lstrip().startswith((".TP", ".PP", ".IP"))]
    for line in faults:
        print(f"{name}: {line.strip()}")
    if len(text.splitlines()) < 20:
        print(f"{name}: hardly a page:\n{text}")
    return len(faults) + (len(text.splitlines()) < 20)


def main():
    if not shutil.which("groff"):
        print("skipped: no groff (Debian package groff-base)")
        return SKIPPED
    faults = 0
    pages = manual.printed("help", "--list").split()
    for name in pages:
        path = manual.BUILD / "man" / name
        faults += check(name, path, "groff", "-man", "-Tutf8", "-ww", "-z")
        faults += check_text(name, path)
        if shutil.which("man"):
            faults += check(name, path, "man", "--warnings", "-E", "UTF-8", "-Tutf8", "-l")
    print(f"{len(pages)} pages, {faults} faults" +
          ("" if shutil.which("man") else "; no man (Debian package man-db), groff alone"))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
