#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares what two builds report of the same inputs, all but the words meant for people.

usage: equal.py OLD_BINARY NEW_BINARY [FOLDER_OR_FILE...] [--allow-gone FILE] [--jobs N] [-v]
       equal.py --self-test BINARY

Both programs make a report of every file and of every folder below the operands (without operands:
samples/ and the folders traces, dumps, seeds and public of ../shared/data), compare neighbors and
pairs named "...baseline" and "...optimized", and, of folders with several ranks, reduce and
aggregate them and compare world sizes.  Ids, keys, units, cells, their order, findings with their
evidence, accounts, codes and charts must be equal, and so must exit codes.  Left out are only
titles, docs, notes, headlines, advice, thresholds, captions and legends of charts, and the version.

FILE lists ids of tables that the new program no longer reports, one in a line; # begins a comment.
--self-test changes a report in every place, one place at a time, and looks whether that is found.
"""
import argparse
import concurrent.futures
import copy
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ("traces", "dumps", "seeds", "public")
WORDS = {"title", "doc", "note", "headline", "advice", "threshold", "caption"}
NO_INPUT = {".c", ".h", ".cmake"}
NOT_RUNS = {"expected.json", "contract.json", "README.md"}  # figures of a dump beside it
LARGEST_RUN = 64  # files; larger folders are collections of runs
SHOWN = 5
SECONDS = 300


# ---- what is compared -------------------------------------------------------------------------

def is_word(key, value):
    """A label that is a text is the legend of a chart; one that is a list names its columns."""
    return key in WORDS or (key == "label" and isinstance(value, (str, type(None))))


def without_words(value):
    """A document without what is written for people."""
    if isinstance(value, dict):
        return {key: without_words(below) for key, below in value.items()
                if not is_word(key, below)}
    if isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        return [without_words(below) for below in value]
    return value


def comparable(document, gone):
    document["generator"].pop("version", None)
    sections = []
    for section in document["sections"]:
        had = len(section["items"])
        section["items"] = [item for item in section["items"] if item.get("id") not in gone
                            or item["kind"] != "table"]
        # A section that held nothing but such tables may be gone as well.
        if section["items"] or not had:
            sections.append(section)
    document["sections"] = sections
    # Cells are values and never words: only the rest is looked through.
    rows = {}
    for section in sections:
        for item in section["items"]:
            if item["kind"] == "table":
                rows[item["id"]] = item.pop("rows")
    document = without_words(document)
    for section in document["sections"]:
        for item in section["items"]:
            if item["kind"] == "table":
                item["rows"] = rows[item["id"]]
    return document


def name_of(value):
    """What an item of a list is called, if it has a name."""
    if isinstance(value, dict):
        for key in ("id", "key", "file", "code", "column"):
            if isinstance(value.get(key), str):
                return value[key]
    return None


def brief(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:117] + "..."


def list_differences(old, new, place, names):
    old_names, new_names = list(map(name_of, old)), list(map(name_of, new))
    if old_names != new_names:
        gone = [name for name in old_names if name not in new_names]
        more = [name for name in new_names if name not in old_names]
        yield f"{place}: " + (f"without {gone[:8]}, with {more[:8]}" if gone or more else
                              "in another order or number")
    elif len(old) != len(new):
        yield f"{place}: {len(old)} became {len(new)}"
    else:
        for number, (before, after) in enumerate(zip(old, new)):
            label = names[number] if names else old_names[number] or number
            yield from differences(before, after, f"{place}[{label}]")


def differences(old, new, place=""):
    if isinstance(old, dict) and isinstance(new, dict):
        if old.keys() != new.keys():
            yield f"{place}: members {sorted(old.keys() ^ new.keys())} are not in both"
        keys = [column["key"] for column in old["columns"]] if "rows" in old else None
        for key in old.keys() & new.keys():
            if key == "rows" and old.get("columns") == new.get("columns"):
                yield from row_differences(old[key], new[key], place, keys)
            else:
                yield from differences(old[key], new[key], f"{place}.{key}")
    elif isinstance(old, list) and isinstance(new, list):
        if old != new or repr(old) != repr(new):
            yield from list_differences(old, new, place, None)
    elif type(old) is not type(new) or old != new:
        yield f"{place}: {brief(old)} became {brief(new)}"


def row_differences(old, new, place, keys):
    if len(old) != len(new):
        yield f"{place}: {len(old)} rows became {len(new)}"
    for number, (before, after) in enumerate(zip(old, new)):
        if before != after or repr(before) != repr(after):
            if len(before) != len(after) or len(before) != len(keys):
                yield f"{place} row {number}: {brief(before)} became {brief(after)}"
            else:
                yield from list_differences(before, after, f"{place} row {number}", keys)


def compare_texts(old, new, gone=frozenset()):
    """The differences of two printed documents."""
    if old == new:
        return []
    try:
        documents = [comparable(json.loads(text), gone) for text in (old, new)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return [f"not two reports: {error!r}"]
    return list(differences(*documents))


# ---- what is run --------------------------------------------------------------------------------

class Side:
    """One program, with a folder for what it writes."""

    def __init__(self, program, folder):
        self.program, self.folder = program.resolve(), folder

    def call(self, *words):
        done = subprocess.run([self.program, *map(str, words)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=SECONDS,
                              check=False)
        return done.returncode, done.stdout

    def document(self, command, *inputs):
        return self.call(command, "--no-config", "-q", "-j", "1", "--json", *inputs)

    def aggregated(self, number, folder):
        """The report of summaries that this program wrote, one per rank."""
        parts = self.folder / str(number)
        code, _ = self.call("reduce", "--no-config", "-q", "-o", parts, folder)
        return self.document("aggregate", parts) if code == 0 else (code, b"")


def is_input(path):
    return path.is_file() and path.suffix not in NO_INPUT and path.name not in NOT_RUNS \
        and path.name != "CMakeLists.txt"


def runs_below(operand):
    """Every file, and every folder of several files that may be one run."""
    if not operand.is_dir():
        yield operand
        return
    for folder in (operand, *sorted(path for path in operand.rglob("*") if path.is_dir())):
        inputs = sum(map(is_input, folder.rglob("*")))
        if 1 < inputs <= LARGEST_RUN:
            yield folder
        yield from sorted(filter(is_input, folder.iterdir()))


def pairs(runs):
    """Neighbors of one kind, and what was recorded before and after a change."""
    for before, after in itertools.pairwise(runs):
        if before.is_dir() == after.is_dir() and (before.is_dir() or before.suffix == ".gz"):
            yield before, after
    for run in runs:
        if "baseline" in run.name:
            for word in ("optimized", "regressed"):
                after = run.with_name(run.name.replace("baseline", word))
                if after.exists():
                    yield run, after


class Work:
    """What is called for one comparison: a title, and a function of a side."""

    def __init__(self, title, call):
        self.title, self.call = title, call


def plan(operands):
    found = [list(dict.fromkeys(runs_below(operand))) for operand in operands]
    runs = list(dict.fromkeys(itertools.chain(*found)))
    for run in runs:
        yield Work(f"report {run}", lambda side, run=run: side.document("report", run))
    for pair in dict.fromkeys(itertools.chain(*map(pairs, found))):
        yield Work("diff {} {}".format(*pair),
                   lambda side, pair=pair: side.document("diff", *pair))
    for number, folder in enumerate(run for run in runs if run.is_dir()):
        yield Work(f"reduce, aggregate {folder}", lambda side, number=number, folder=folder:
                   side.aggregated(number, folder))
        first = next((path for path in sorted(folder.rglob("*")) if is_input(path)), None)
        yield Work(f"scaling {first} {folder}", lambda side, first=first, folder=folder:
                   side.document("scaling", first, folder))


def check(work, old, new, gone):
    """(Whether there was a report, what differs)."""
    try:
        (old_code, before), (new_code, after) = work.call(old), work.call(new)
    except subprocess.TimeoutExpired:
        return False, [f"no end after {SECONDS} s"]
    if old_code != new_code:
        return bool(before), [f"exit code {old_code} became {new_code}"]
    return bool(before), compare_texts(before, after, gone)


def compare_all(options):
    gone = frozenset()
    if options.allow_gone:
        lines = options.allow_gone.read_text(encoding="utf-8").splitlines()
        gone = frozenset(filter(None, (line.partition("#")[0].strip(" \t`*-") for line in lines)))
    operands = options.operands or [path for path in (
        ROOT / "samples", *(ROOT.parent / "shared/data" / name for name in SHARED))
        if path.is_dir()]
    absent = [str(path) for path in operands if not path.exists()]
    if absent:
        sys.exit(f"no such file or folder: {', '.join(absent)}")
    works, reports, wrong = list(plan(operands)), 0, 0
    with tempfile.TemporaryDirectory(prefix="equal-") as scratch:
        sides = [Side(program, pathlib.Path(scratch) / name)
                 for program, name in ((options.programs[0], "old"), (options.programs[1], "new"))]
        for side in sides:
            side.folder.mkdir()
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            done = pool.map(lambda work: check(work, *sides, gone), works)
            for work, (has_report, faults) in zip(works, done):
                reports += has_report
                wrong += bool(faults)
                if faults:
                    print(f"{work.title}: {len(faults)} differences")
                    for fault in faults[:None if options.verbose else SHOWN]:
                        print(f"    {fault}", flush=True)
    print(f"{len(works)} runs of each program, {reports} with a report; {wrong} differ")
    return 1 if wrong or not reports else 0


# ---- looking whether changes are found --------------------------------------------------------

def may_change(path, value):
    return path[-2:] == ("generator", "version") or ("rows" not in path and
                                                     is_word(path[-1], value))


def changed(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1 if abs(value) < 2 ** 52 else -value
    return (value or "") + "x"


def places(value, path=()):
    """(path, parent, key) of everything in a document."""
    for key, below in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield (*path, key), value, key
        if isinstance(below, (dict, list)):
            yield from places(below, (*path, key))


def mutations(document):
    """Changes the document in one place after another, and says where and whether it matters."""
    for path, parent, key in places(document):
        kept = parent[key]
        if isinstance(kept, (dict, list)):
            if kept:
                parent[key] = kept[:-1] if isinstance(kept, list) else dict(list(kept.items())[:-1])
                last = list(kept)[-1] if isinstance(kept, dict) else len(kept) - 1
                yield (*path, last), not may_change((*path, last), kept[last]), "removed"
            if isinstance(kept, list) and len(kept) > 1 and kept[0] != kept[1]:
                parent[key] = [kept[1], kept[0], *kept[2:]]
                yield path, True, "swapped"
            parent[key] = [*kept, None] if isinstance(kept, list) else {**kept, "more": 1}
            yield path, True, "added"
        else:
            parent[key] = changed(kept)
            yield path, not may_change(path, kept), "changed"
            if isinstance(kept, int) and not isinstance(kept, bool):
                parent[key] = float(kept)
                yield path, True, "as a float"
        parent[key] = kept


def shortened(document):
    """At most three rows of each table: the others add nothing but time."""
    for section in document["sections"]:
        for item in section["items"]:
            if item["kind"] == "table":
                item["rows"] = item["rows"][:3]
    return document


def self_test(program):
    made = missed = 0
    with tempfile.TemporaryDirectory(prefix="equal-") as scratch:
        side = Side(program, pathlib.Path(scratch))
        _, text = side.document("report", ROOT / "samples/framepack-pair/regressed")
    document = shortened(json.loads(text))
    whole = json.dumps(document).encode()
    assert not compare_texts(whole, json.dumps(document, indent=1).encode()), "equal documents"
    table = next(item["id"] for section in document["sections"] for item in section["items"]
                 if item["kind"] == "table")
    less = copy.deepcopy(document)
    for section in less["sections"]:
        section["items"] = [item for item in section["items"] if item.get("id") != table]
    assert compare_texts(whole, json.dumps(less).encode()), "a table is gone"
    assert not compare_texts(whole, json.dumps(less).encode(), frozenset([table])), "it may be"
    for path, matters, what in mutations(document):
        made += 1
        if bool(compare_texts(whole, json.dumps(document).encode())) != matters:
            missed += 1
            print(".".join(map(str, path)), what, "is not found" if matters else "is found")
    print(f"{made} changes, {missed} judged wrongly")
    return 1 if missed or not made else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--self-test", type=pathlib.Path, metavar="BINARY")
    parser.add_argument("--allow-gone", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-v", "--verbose", action="store_true", help="show all differences")
    parser.add_argument("programs", type=pathlib.Path, nargs="*")
    options = parser.parse_args()
    if options.self_test:
        return self_test(options.self_test)
    if len(options.programs) < 2:
        parser.error("two programs are needed")
    options.operands = options.programs[2:]
    return compare_all(options)


if __name__ == "__main__":
    sys.exit(main())
