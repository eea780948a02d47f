#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes one letter of a name of a table, column or scalar in the code: is that caught?

usage: mutate.py --build FOLDER [--count N] [--seed N] [--only TEXT] [-v]

The names are those in declarations (ids of tables and scalars, keys of columns), references, what
is looked up in a table, and the enumerators by which cells, charts and references name columns.
Each change is compiled with the flags of the build and linked into a program of its own; the
sources stay as they are.  It is caught when

  build     it does not compile or link,
  start     the program does not start (`traceanalyze plugins` checks all declarations), or
  document  `docs/RESULTS.md` is no more what the program declares (tests/lint/results.py): a new
            name of something that nothing else in the code names is a change, not a slip.

Ends with 1 when something is not caught.
"""
import argparse
import collections
import json
import pathlib
import random
import re
import shlex
import string
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "tests/lint/results.py"
WORD = r"\"([a-z][\w.]*)\""
# What kind of name it is, and where: the name is a group, and others are not changed.
NAMES = (
    ("table", re.compile(r"ta_table_def \w+ = \{\s*" + WORD)),
    ("column", re.compile(r"\{\s*" + WORD + r",\s*\"[^\"]*\",\s*TA_(?!INK|UNIT)")),
    ("scalar", re.compile(r"\] = \{" + WORD + r",\s*\"[^\"]*\",\s*TA_UNIT_\w+,\s*TA_[LHN]")),
    ("reading", re.compile(r"\bTA_AS_(\w+)")),
    ("chart", re.compile(r"&\w+_columns\[(\w+)\]")),
    ("cell", re.compile(r"\[([A-Z]\w+)\] =(?= ta_| \w+_(?:or|of)|\s*\w+ \?)")),
    ("reader", re.compile(r"ta_ref_\w+\(&?[\w.>-]+, ([A-Z]\w+)")),
    ("lookup", re.compile(r"ta_(?:table_column|row_\w+|report_table)\([^\"();]*" + WORD)),
    ("brief", re.compile(r"\.unless = " + WORD)),
)
REFS = re.compile(r"struct ta_ref \w+\[\w*\] = \{(.*?)\};", re.DOTALL)
REF = re.compile(r"\[(\w+)\] = \{|" + WORD)

Site = collections.namedtuple("Site", "path kind start end name")


def sites_of(path):
    """The names of a file; tables that a page makes for itself are read by nobody."""
    text = path.read_text(encoding="utf-8")
    if path.is_relative_to(ROOT / "plugins/output"):
        text = re.sub(r"const struct ta_column \w+\[\w*\] = \{.*?\n *\};",
                      lambda found: " " * len(found[0]), text, flags=re.DOTALL)
    for kind, pattern in NAMES:
        for found in pattern.finditer(text):
            yield Site(path, kind, *found.span(1), found[1])
    for block in REFS.finditer(text):
        for found in REF.finditer(block[1]):
            group = 1 if found[1] else 2
            start, end = (block.start(1) + place for place in found.span(group))
            yield Site(path, "reference", start, end, found[group])


def changed(name, rng):
    """The name with another letter in place of one of its letters."""
    place = rng.choice([i for i, letter in enumerate(name) if letter.isalpha()])
    letters = string.ascii_lowercase if name[place].islower() else string.ascii_uppercase
    letter = rng.choice([other for other in letters if other != name[place]])
    return name[:place] + letter + name[place + 1:]


def link_of(folder):
    """The words of the command that links the program, made by make or by ninja; a long list of
    objects is in a file of its own, named by @."""
    link = folder / "CMakeFiles/traceanalyze_cli.dir/link.txt"
    if link.exists():
        words = shlex.split(link.read_text(encoding="utf-8"))
        return [each for word in words for each in (
            shlex.split((folder / word[1:]).read_text(encoding="utf-8"))
            if word.startswith("@") else [word])]
    commands = subprocess.run(["ninja", "-t", "commands", "traceanalyze_cli"], cwd=folder,
                              check=True, capture_output=True, text=True).stdout
    return shlex.split(commands.splitlines()[-1].removeprefix(": && ").removesuffix(" && :"))


class Build:
    def __init__(self, folder, work):
        self.folder, self.work = folder, work
        commands = json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))
        self.commands = {pathlib.Path(row["file"]): shlex.split(row["command"]) for row in commands}
        self.link = link_of(folder)

    def can_link(self, path):
        command = self.commands.get(path)
        return command and command[command.index("-o") + 1] in self.link

    def run(self, command):
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def judge(self, path, text):
        """What catches a file with another text; None: nothing."""
        source, made, program = (self.work / name for name in ("m.c", "m.o", "program"))
        source.write_text(text, encoding="utf-8")
        command = list(self.commands[path])
        made_before = command[command.index("-o") + 1]
        command[command.index("-o") + 1] = str(made)
        command[command.index(str(path))] = str(source)
        if self.run(command + ["-O0", "-U_FORTIFY_SOURCE", "-w", f"-I{path.parent}"]).returncode:
            return "build"
        link = [str(made) if word == made_before else word for word in self.link]
        link[link.index("-o") + 1] = str(program)
        if self.run(link).returncode:
            return "build"
        if self.run([program, "plugins", "--json", "--no-config"]).returncode:
            return "start"
        if self.run([sys.executable, "-B", RESULTS, "--program", program]).returncode:
            return "document"
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="files whose path has this text")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as work:
        build = Build(args.build.resolve(), pathlib.Path(work))
        sites = [site for path in sorted(build.commands) if args.only in str(path)
                 and path.is_relative_to(ROOT) and build.can_link(path)
                 and not path.is_relative_to(args.build.resolve()) for site in sites_of(path)]
        caught = collections.Counter()
        for site in rng.sample(sites, min(args.count, len(sites))):
            text = site.path.read_text(encoding="utf-8")
            name = changed(site.name, rng)
            by = build.judge(site.path, text[:site.start] + name + text[site.end:])
            caught[by] += 1
            if args.verbose or not by:
                print(f"{by or 'NOT CAUGHT'}: {site.path.relative_to(ROOT)}:"
                      f"{1 + text.count(chr(10), 0, site.start)}: {site.kind} {site.name} → {name}",
                      flush=True)
    total = sum(caught.values())
    print(f"{total - caught[None]} of {total} caught, of {len(sites)} names: "
          f"build {caught['build']}, start {caught['start']}, document {caught['document']}")
    return 1 if caught[None] or not total else 0


if __name__ == "__main__":
    sys.exit(main())
