#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the commands of README.md, so that what a newcomer types first works.

usage: run_readme.py --program PROGRAM --root REPOSITORY

Takes the blocks marked `sh` and of them the lines that call traceanalyze or ./run with anything
but `test`.  They run in an empty folder with a link samples/ and a folder traces/; all must end
with 0.  Runs to compare are folders before/ and after/, and three of each with a number.  Ends with
77, "skipped", when there is no README.md.
"""
import argparse
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile

SKIPPED = 77
CALL = re.compile(r"(?:\S+=\S+ +)*(?:\./run|traceanalyze|build/traceanalyze)(?= +(?!test\b)\S)")


def commands(text):
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            line = line.removeprefix("$ ").strip()
            if CALL.match(line):
                yield line


def missing_tool(line):
    """The first program behind a pipe that this machine lacks."""
    tools = re.findall(r"\| *([a-z0-9_-]+)", line)
    return next((tool for tool in tools if not shutil.which(tool)), None)


def prepare(folder, root, program):
    (folder / "samples").symlink_to(root / "samples")
    (folder / "build").mkdir()
    for name in ("traces", "before", "before-1", "before-2", "before-3"):
        shutil.copytree(root / "samples/video-4ranks", folder / name)
    for name in ("after", "after-1", "after-2", "after-3"):
        shutil.copytree(root / "samples/video-4ranks-optimized", folder / name)
    for name in ("run", "traceanalyze", "build/traceanalyze"):
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec "{program}" "$@"\n', encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


def run(folder, line):
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", line], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return True
    print(f"{line}\n  ended with {done.returncode}\n{done.stderr}")
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    args = parser.parse_args()
    readme = args.root / "README.md"
    if not readme.exists():
        print("skipped: there is no README.md")
        return SKIPPED
    found = list(commands(readme.read_text(encoding="utf-8")))
    lines = [line for line in found if not missing_tool(line)]
    for line in found:
        if line not in lines:
            print(f"not run, {missing_tool(line)} is missing: {line}")
    if not lines:
        print("README.md has no command that could be run")
        return 1
    with tempfile.TemporaryDirectory(prefix="readme-") as scratch:
        folder = pathlib.Path(scratch)
        prepare(folder, args.root.resolve(), args.program.resolve())
        results = [run(folder, line) for line in lines]
    print(f"{sum(results)} of {len(results)} commands of README.md ended with 0")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
