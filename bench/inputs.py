# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces to measure with, made once by traceanalyze-generate and kept in a folder."""
import fcntl
import json
import pathlib
import random
import shutil
import subprocess
import sys
from typing import NamedTuple

UNITS = {"k": 10**3, "M": 10**6, "G": 10**9}


def size_bytes(text):
    """The number that the generator understands by a size such as "100M"."""
    factor = UNITS.get(text[-1:], 1)
    return int(text[:-1] if text[-1:] in UNITS else text) * factor


MIXED = "mixed"  # Kineto's events on one line, their keys and those of their arguments in no order


class Trace(NamedTuple):
    """A folder of generated traces; the size is that of the JSON of one rank.  The layout is one of
    the generator's, or MIXED."""
    size: str
    layout: str = "kineto"
    packed: bool = False
    ranks: int = 1

    @property
    def folder(self):
        return f"{self.layout}-{self.size}-{self.ranks}{'-gz' if self.packed else ''}"


def generate(generator, trace, folder):
    done = subprocess.run(
        [generator, "--ranks", str(trace.ranks), "--target-size", trace.size,
         "--layout", "kineto" if trace.layout == MIXED else trace.layout,
         "--gzip" if trace.packed else "--plain", "-o", folder],
        check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench: cannot make {trace.folder}: {done.stderr.strip()}")


def mixed(chance, members):
    items = list(members.items())
    chance.shuffle(items)
    return dict(items)


def mix(path, seed=1):
    """Writes a trace anew, with the keys of every event in another order."""
    chance = random.Random(seed)
    document = json.loads(path.read_bytes())
    for event in document["traceEvents"]:
        if "args" in event:
            event["args"] = mixed(chance, event["args"])
    document["traceEvents"] = [mixed(chance, event) for event in document["traceEvents"]]
    with open(path, "w", encoding="utf-8") as out:
        out.write(json.dumps(document))


def is_current(folder, generator):
    return folder.is_dir() and folder.stat().st_mtime >= generator.stat().st_mtime


def make(generator, cache, trace):
    """The files of a trace, made unless they are there and younger than the generator."""
    generator, cache = pathlib.Path(generator), pathlib.Path(cache)
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / trace.folder
    # Two tests that start together make the same file once.
    with open(cache / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_current(folder, generator):
            unfinished = cache / "unfinished"
            for stale in (folder, unfinished):
                shutil.rmtree(stale, ignore_errors=True)
            generate(generator, trace, unfinished)
            if trace.layout == MIXED:
                # Apart: what a process has held counts as the memory of those it starts.
                subprocess.run([sys.executable, __file__, *unfinished.iterdir()], check=True)
            unfinished.rename(folder)
    return sorted(folder.iterdir())


if __name__ == "__main__":
    for name in sys.argv[1:]:
        mix(pathlib.Path(name))
