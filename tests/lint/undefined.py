# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds what is undefined for some input and what no compiler warns of, in the syntax tree.

usage: undefined.py ROOT BUILD

* A floating-point number becomes an integer: by a cast as written, by a conversion, or by lround()
  and its like.  A trace can hold any number, so there is one function that looks first whether it
  fits.
* Something is added to the address of a slice, which may be NULL where there is nothing.

The functions that may are in include/traceanalyze/base.h.  BUILD has compile_commands.json; what
the sources include must have been generated.  Ends with 77 where clang-query is not installed.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

FOLDERS = ("src/", "plugins/", "include/")
FILES_AT_A_TIME = 30

ROUNDING = ", ".join(f'"{name}{kind}"' for name in ("lround", "llround", "lrint", "llrint")
                     for kind in ("", "f", "l"))

# What is looked for: its name, a matcher, the function that may, and what is said of others.
RULES = (
    ("cast",
     'anyOf(castExpr(hasCastKind("CK_FloatingToIntegral")),'
     ' binaryOperator(hasAnyOperatorName("+=", "-=", "*=", "/="),'
     ' hasLHS(hasType(isInteger())), hasRHS(hasType(realFloatingPointType()))),'
     f' callExpr(callee(functionDecl(hasAnyName({ROUNDING})))))',
     "ta_whole", "a floating-point number becomes an integer: use ta_whole() and its like"),
    ("slice",
     'binaryOperator(hasAnyOperatorName("+", "-"), hasType(pointerType()),'
     ' hasEitherOperand(ignoringParenImpCasts(memberExpr(member(fieldDecl(hasName("ptr"),'
     ' hasParent(recordDecl(hasName("ta_slice")))))))))',
     "ta_slice_at", "something is added to the address of a slice: use ta_slice_at() and its like"),
)


def matcher():
    rules = ", ".join(f'expr({what}, unless(hasAncestor(functionDecl(hasName("{allowed}")))))'
                      f'.bind("{name}")' for name, what, allowed, _ in RULES)
    return f"expr(anyOf({rules}), unless(isExpansionInSystemHeader()))"


def sources(root, build):
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    names = {os.path.normpath(os.path.join(entry["directory"], entry["file"]))
             for entry in commands}
    wanted = tuple(f"{root}/{folder}" for folder in FOLDERS)
    # A folder that was not configured again still has the commands of files that are gone.
    return sorted(name for name in names if name.startswith(wanted) and os.path.exists(name))


def query(tool, root, build, files):
    """What is found in the files and what they include, below the root: (place, rule)."""
    done = subprocess.run(
        [tool, "-p", build, "-c", "set bind-root false", "-c", "set output diag",
         "-c", "match " + matcher(), *files],
        capture_output=True, text=True, cwd=root, check=False)
    output = done.stdout + done.stderr
    broken = re.findall(r"^.*: (?:fatal )?error: .*$|^.*Error (?:parsing|building).*$", output,
                        re.MULTILINE)
    if broken or done.returncode:
        raise RuntimeError("\n".join(broken) or output)
    found = re.findall(r'^(.*:\d+:\d+): note: "(\w+)" binds here$', output, re.MULTILINE)
    places = ((os.path.relpath(os.path.join(root, place), root), rule) for place, rule in found)
    return [place for place in places if place[0].startswith(FOLDERS)]


def main():
    root, build = (pathlib.Path(text).resolve() for text in sys.argv[1:3])
    tool = shutil.which("clang-query-14") or shutil.which("clang-query")
    if not tool:
        print("undefined: skipped, clang-query is not installed")
        return 77
    files = sources(root, build)
    parts = [files[at:at + FILES_AT_A_TIME] for at in range(0, len(files), FILES_AT_A_TIME)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda part: query(tool, root, build, part), parts)
        places = sorted({place for part in found for place in part})
    said = {name: text for name, _, _, text in RULES}
    for place, rule in places:
        print(f"{place}: {said[rule]} (include/traceanalyze/base.h)")
    print(f"{len(files)} files, {len(places)} places")
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main())
