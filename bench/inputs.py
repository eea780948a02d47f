# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces to measure with, made once by traceanalyze-generate and kept in a folder."""
import fcntl
import pathlib
import shutil
import subprocess
import sys
from typing import NamedTuple

UNITS = {"k": 10**3, "M": 10**6, "G": 10**9}


def size_bytes(text):
    """The number that the generator understands by a size such as "100M"."""
    factor = UNITS.get(text[-1:], 1)
    return int(text[:-1] if text[-1:] in UNITS else text) * factor


class Trace(NamedTuple):
    """A folder of generated traces; the size is that of the JSON of one rank."""
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
         "--layout", trace.layout, "--gzip" if trace.packed else "--plain", "-o", folder],
        check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench: cannot make {trace.folder}: {done.stderr.strip()}")


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
            unfinished.rename(folder)
    return sorted(folder.iterdir())
