#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one golden case: commands in a folder, what they must print, and the files they must write.

usage: run_case.py --program PROGRAM --root REPOSITORY [--sanitized] CASE

CASE is a folder:

  cmd            one command per line, `[NAME=VALUE...] traceanalyze ARGUMENT... [< FILE]` or
                 `show FILE`, and a filter after it or not; lines that begin with # say what the
                 case is about
  in/            input files of this case alone
  expect.stdout  what the commands print, all after another; no such file: nothing
  expect.stderr  the same for standard error; times, speeds and memory of -v show as #
  expect.status  their exit codes, a line each; no such file: all 0
  expect.files   files that exist afterwards and did not before, a line each; no such file: none;
                 a line with * is for any number of others
  expect/PATH    content of such a file, byte for byte; as expect/PATH.subset the JSON values
                 that it must have (it may have more members); in a report "tables", "scalars"
                 and "findings" stand for rows, values and severities by id
  limits         `peak_mib N`: the largest resident size of a command

A filter leaves of what a command prints what the case is about, so that a new table or chart
changes the cases of such lists and no others.  TITLE and LINE are patterns with * and ?.

  | parts TITLE...     parts of a report by their titles: tables, findings, chapters
  | without TITLE...   all other parts
  | lines LINE...      lines
  | same FILE          nothing where it is equal to the file, else how it differs

Commands run in an empty folder that holds in/, a copy of tests/golden/inputs/ as inputs/, and a
link samples/.  TA_UPDATE_GOLDEN=1 writes what the commands do into the case instead.
"""
import argparse
import difflib
import fnmatch
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile

KEPT = ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS")


class Case:
    def __init__(self, folder, scratch):
        self.folder, self.scratch = folder, scratch
        self.updating = os.environ.get("TA_UPDATE_GOLDEN") == "1"
        self.faults = []

    def text(self, name):
        path = self.folder / name
        return path.read_bytes() if path.exists() else b""

    def expect(self, name, actual, default=b""):
        """Compares with a file of the case, or rewrites it; the default needs no file."""
        path = self.folder / name
        if self.updating:
            path.unlink(missing_ok=True)
            if actual != default:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(actual)
            return
        wanted = path.read_bytes() if path.exists() else default
        if wanted != actual:
            self.faults.append(f"{name} differs:\n{difference(wanted, actual)}")


def difference(wanted, actual):
    lines = [[shown(line) for line in text.splitlines()] for text in (wanted, actual)]
    found = list(difflib.unified_diff(*lines, "expected", "actual", lineterm="", n=1))
    return "\n".join(found[:40]) or "only the end of the last line"


def shown(line):
    text = line.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


# ---- running ----------------------------------------------------------------------------------

def prepare(case, root):
    shutil.copytree(root / "tests/golden/inputs", case.scratch / "inputs")
    (case.scratch / "samples").symlink_to(root / "samples")
    if (case.folder / "in").is_dir():
        shutil.copytree(case.folder / "in", case.scratch, dirs_exist_ok=True)


class Command:
    """A line of `cmd`."""

    def __init__(self, line):
        words, self.settings, self.source, self.filter = shlex.split(line), {}, None, []
        while words and re.match(r"[A-Z_]+=", words[0]):
            name, value = words.pop(0).split("=", 1)
            self.settings[name] = value
        if "|" in words:
            self.filter = words[words.index("|") + 1:]
            words = words[:words.index("|")]
        if "<" in words:
            self.source = words[words.index("<") + 1]
            words = words[:words.index("<")]
        self.verb, *self.words = words or [""]
        self.is_known = self.verb == "traceanalyze" or (self.verb == "show" and len(words) == 2)
        self.is_known &= not self.filter or self.filter[0] in FILTERS


def read_commands(case):
    for line in case.text("cmd").decode().splitlines():
        if line.strip() and not line.startswith("#"):
            command = Command(line)
            if not command.is_known:
                sys.exit(f"{case.folder.name}: no such command: {line}")
            yield command


# ---- filters ----------------------------------------------------------------------------------

def is_any(patterns, text):
    return any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns)


def parts_of(text):
    """(title, lines) of the parts of a report: in Markdown from heading to heading, in text from a
    line at the margin that follows an empty one."""
    lines = text.splitlines(keepends=True)
    is_markdown = text.startswith("<!--")
    starts, plain = [], [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in lines]
    for i, line in enumerate(plain):
        is_start = line.startswith("#") if is_markdown else \
            line[:1].strip() and (i == 0 or not plain[i - 1])
        if i == 0 or is_start:
            starts.append(i)
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        yield plain[start].lstrip("# "), "".join(lines[start:end])


def parts(_, text, titles):
    found = list(parts_of(text))
    absent = [title for title in titles if not any(is_any([title], had) for had, _ in found)]
    return "".join(part for had, part in found if is_any(titles, had)) + \
        "".join(f"no part {title}\n" for title in absent)


def without(_, text, titles):
    return "".join(part for had, part in parts_of(text) if not is_any(titles, had))


def lines_like(_, text, patterns):
    return "".join(line for line in text.splitlines(keepends=True)
                   if is_any(patterns, line.rstrip("\n")))


def same(case, text, names):
    wanted = (case.scratch / names[0]).read_bytes()
    actual = text.encode("utf-8", "surrogateescape")
    return "" if wanted == actual else difference(wanted, actual) + "\n"


FILTERS = {"parts": parts, "without": without, "lines": lines_like, "same": same}


def filtered(case, command, out):
    if not command.filter:
        return out
    name, *words = command.filter
    text = FILTERS[name](case, out.decode("utf-8", "surrogateescape"), words)
    return text.encode("utf-8", "surrogateescape")


def environment(case, settings):
    env = {name: os.environ[name] for name in KEPT if name in os.environ}
    env.update(HOME=str(case.scratch), LC_ALL="C.UTF-8", TZ="UTC", TERM="xterm-256color",
               SOURCE_DATE_EPOCH="1700000000", COLUMNS="80")
    env.update(settings)
    return env


def run(case, program, command):
    if command.verb == "show":
        return filtered(case, command, (case.scratch / command.words[0]).read_bytes()), b"", None
    source = case.scratch / command.source if command.source else os.devnull
    with open(source, "rb") as stdin:
        with subprocess.Popen([program, *command.words], cwd=case.scratch, stdin=stdin,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=environment(case, command.settings)) as process:
            out, err = process.communicate(timeout=250)
    return filtered(case, command, out), err, process.returncode


def files_below(folder):
    for base, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if not os.path.islink(os.path.join(base, f))]
        for name in names:
            yield os.path.relpath(os.path.join(base, name), folder)


def named(case, made):
    """The files with those that a pattern of expect.files is for replaced by the pattern."""
    listed = case.text("expect.files").decode().splitlines()
    patterns = [line for line in listed if "*" in line]
    others = {name: pattern for name in made if name not in listed
              for pattern in patterns if fnmatch.fnmatchcase(name, pattern)}
    return sorted({others.get(name, name) for name in made} | set(patterns))


# ---- comparing --------------------------------------------------------------------------------

def without_measures(log):
    """Messages of -v without what no two runs have in common."""
    def hidden(line):
        if not line.startswith((b"traceanalyze: info: ", b'{"level":"info"')):
            return line
        line = re.sub(rb" *[0-9]+\.[0-9]+(?= (s|million events/s|MB/s|MiB)\b)", rb" #", line)
        return re.sub(rb"(_s|peak_bytes)=[0-9.]+", rb"\1=#", line)
    return b"".join(map(hidden, log.splitlines(keepends=True)))


def subset_faults(wanted, actual, place="$"):
    if isinstance(wanted, dict) and isinstance(actual, dict):
        for key, value in wanted.items():
            if key not in actual:
                yield f"{place}.{key} is missing"
            else:
                yield from subset_faults(value, actual[key], f"{place}.{key}")
    elif isinstance(wanted, list) and isinstance(actual, list) and len(wanted) == len(actual):
        for number, pair in enumerate(zip(wanted, actual)):
            yield from subset_faults(*pair, f"{place}[{number}]")
    elif type(wanted) is not type(actual) or wanted != actual:
        yield f"{place}: expected {json.dumps(wanted)[:200]}, got {json.dumps(actual)[:200]}"


def same_shape(wanted, actual):
    """The actual values in the places that the old expectation has."""
    if isinstance(wanted, dict) and isinstance(actual, dict):
        return {key: same_shape(value, actual[key]) for key, value in wanted.items()
                if key in actual}
    if isinstance(wanted, list) and isinstance(actual, list) and len(wanted) == len(actual):
        return [same_shape(*pair) for pair in zip(wanted, actual)]
    return actual


def with_items_by_id(document):
    """A report with its items where a subset can name them."""
    if "sections" not in document:
        return document
    items = [item for section in document["sections"] for item in section["items"]]

    def by_id(kind, member):
        return {item["id"]: item[member] for item in items if item["kind"] == kind}
    return {**document, "tables": by_id("table", "rows"), "scalars": by_id("scalar", "value"),
            "findings": by_id("finding", "severity")}


def compare_subset(case, path, product):
    wanted = json.loads(path.read_bytes())
    actual = with_items_by_id(json.loads(product.read_bytes()))
    if case.updating:
        text = json.dumps(same_shape(wanted, actual), indent=2, ensure_ascii=False)
        # The innermost lists, rows of tables mostly, take a line each.
        text = re.sub(r"\[\s+([^][{}]*?)\s+\]",
                      lambda row: "[" + re.sub(r",\n\s+", ", ", row[1]) + "]", text)
        path.write_text(text + "\n", encoding="utf-8")
        return
    for fault in list(subset_faults(wanted, actual))[:20]:
        case.faults.append(f"{path.relative_to(case.folder)}: {fault}")


def compare_files(case):
    base = case.folder / "expect"
    for path in sorted(base.rglob("*")) if base.is_dir() else ():
        if path.is_dir():
            continue
        is_subset = path.suffix == ".subset"
        product = case.scratch / path.relative_to(base)
        product = product.with_suffix("") if is_subset else product
        if not product.is_file():
            case.faults.append(f"{product.relative_to(case.scratch)} was not written")
        elif is_subset:
            compare_subset(case, path, product)
        else:
            case.expect(str(path.relative_to(case.folder)), product.read_bytes())


def check_limits(case):
    for line in case.text("limits").decode().splitlines():
        name, value = line.split()
        if name != "peak_mib":
            sys.exit(f"{case.folder.name}: unknown limit {name}")
        # The largest of all commands; what this program held when it forked is a part of it.
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
        if peak > int(value):
            case.faults.append(f"a command needed {peak} MiB, the limit is {value} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--sanitized", action="store_true", help="memory limits mean nothing")
    parser.add_argument("case", type=pathlib.Path)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="golden-") as scratch:
        case = Case(args.case.resolve(), pathlib.Path(scratch))
        prepare(case, args.root.resolve())
        before = set(files_below(case.scratch))
        done = [run(case, args.program.resolve(), command) for command in read_commands(case)]
        if not done:
            sys.exit(f"{case.folder.name}: no command")
        made = sorted(set(files_below(case.scratch)) - before)
        case.expect("expect.stdout", b"".join(out for out, _, _ in done))
        case.expect("expect.stderr", b"".join(without_measures(err) for _, err, _ in done))
        codes = [code for _, _, code in done if code is not None]
        case.expect("expect.status", "".join(f"{code}\n" for code in codes).encode(),
                    b"0\n" * len(codes))
        case.expect("expect.files", "".join(f"{name}\n" for name in named(case, made)).encode())
        compare_files(case)
        if not args.sanitized:
            check_limits(case)
    for fault in case.faults:
        print(f"{case.folder.name}: {fault}")
    return 1 if case.faults else 0


if __name__ == "__main__":
    sys.exit(main())
