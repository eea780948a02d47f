# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of manual pages and completions share: the program, and what it knows."""
import functools
import os
import pathlib
import re
import subprocess

PROGRAM = pathlib.Path(os.environ["TA_PROGRAM"]).resolve()
BUILD = pathlib.Path(os.environ["TA_BUILD"])
ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False,
                          timeout=60, **options)


@functools.cache
def printed(*arguments):
    done = run(PROGRAM, *arguments)
    assert done.returncode == 0 and not done.stderr, (arguments, done.stderr)
    return done.stdout


@functools.cache
def commands():
    overview = printed("help").split("Commands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\w+) ", overview, re.MULTILINE)


def option_names():
    """All options by the source of the table: a test of help must not rest on help."""
    source = (ROOT / "src/cli/options.c").read_text(encoding="utf-8")
    rows = re.findall(r'^    \{"([a-z-]+)",.*?\b(FLAG|COUNT|TEXTS?|CHOICE|WHOLE|NUMBER|EXTENT)\(',
                      source, re.MULTILINE | re.DOTALL)
    assert len(rows) > 60, len(rows)
    return {name: kind not in ("FLAG", "COUNT") for name, kind in rows}


@functools.cache
def options():
    """{command: its options}, as the parser takes them: `schema` has the global ones alone, and
    refuses any other with the list of commands that have it."""
    found = {command: set() for command in commands()}
    for name, takes_value in option_names().items():
        done = run(PROGRAM, "schema", f"--{name}=auto" if takes_value else f"--{name}", "x")
        where = re.search(r"Option --\S+ does not go with 'schema', only with: ([\w, ]+) \(see",
                          done.stderr)
        for command in where[1].split(", ") if where else commands():
            found[command].add(name)
    return found
