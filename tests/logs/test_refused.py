#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts that hold no figure are refused by name, however long they are, and for little more than
reading them costs.

usage: test_refused.py PROGRAM
"""
import pathlib
import random
import subprocess
import sys
import tempfile
import time

MEGABYTES = 100
# Of what `wc` takes, which counts words, lines and bytes; and what a start costs.
TIMES, START_S = 4, 0.3


def seconds(*words):
    """The shortest of three runs: others use the machine, too."""
    best = None
    for _ in range(3):
        start = time.monotonic()
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        took = time.monotonic() - start
        best = took if best is None else min(best, took)
    return best, done


def refused(program, path):
    """How long a refusal takes, and what is said."""
    took, done = seconds(program, "--no-config", "report", "-q", "--json", str(path))
    if done.returncode != 3 or done.stdout:
        raise AssertionError(f"{path.name} is not refused: exit {done.returncode}, "
                             f"{done.stdout[:200]}")
    return took, done.stderr.decode("utf-8", "replace")


def words_of(chance):
    """Lines as programs print them, without a figure that anyone knows."""
    words = "server started with 4 workers on port 8080 request id took its cache of model step " \
            "done loading in out at INFO WARNING 12 0.5 100% [ ] | / : - error".split()
    return "".join(" ".join(chance.choices(words, k=12)) + "\n" for _ in range(20000))


def main():
    program, faults = sys.argv[1], 0
    chance = random.Random(5)
    texts = {"log.txt": words_of(chance).encode(),
             "random.txt": bytes(chance.choices(range(32, 127), k=1 << 20)),
             "random.bin": chance.randbytes(1 << 20)}
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in texts.items():
            path = pathlib.Path(scratch) / name
            path.write_bytes(text)
            _, said = refused(program, path)
            if "offset" in said or len(said) < 40:
                print(f"{name} is not refused by name: {said}")
                faults += 1
            with path.open("wb") as out:
                for _ in range(MEGABYTES * 1000000 // len(text)):
                    out.write(text)
            reading, _ = seconds("wc", str(path))
            took, said = refused(program, path)
            print(f"{name}: {took:.2f} s, wc {reading:.2f} s: {said.strip()[:120]}")
            if took > START_S + TIMES * reading:
                print(f"{name}: refusing takes too long")
                faults += 1
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())
