#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the checkers of ../shared, the folder of real and damaged traces beside the repository.

usage: run_shared.py --program PROGRAM --root REPOSITORY [--sanitized] figures|identities|dumps|
       expected|peers|roofline|tracelens|diffs|said|truth|agree|faults|every [CLASS]

`figures` compares the tables of real traces with figures computed elsewhere, `identities` looks
whether sums close, `dumps` compares the tables of dumps of other profilers, `expected` every figure
that stands beside a dump, `peers` every figure of other tools about real traces, `roofline` FLOPs
and what follows from them, `tracelens` FLOPs of that tool, `diffs` comparisons of many pairs of
runs, `said` and `truth` what the terminal says and what the report holds of inputs whose right
answer is known, `agree` whether the numbers that findings say agree with their evidence; `faults
CLASS` runs one class of damaged inputs; `every reports|folders|diffs` reads every input there is,
for sanitizers to look at.  Ends with 77, "skipped", when the folder is not there.
"""
import argparse
import pathlib
import subprocess
import sys

SKIPPED = 77

def figures(args, shared):
    return [shared / "tools/goldencheck.py", "--traces", shared / "data/traces",
            "--goldens", shared / "data/goldens/exact",
            "--cmd", f"{args.program} report {{in}} -q --format json -o {{out}}"]


def dumps(args, shared):
    return [shared / "tools/goldencheck.py", "--dumps", shared / "data/dumps",
            "--cmd", f"{args.program} report {{in}} -q --format json -o {{out}}"]


def identities(args, shared):
    return [pathlib.Path(__file__).parent / "identities.py", "--program", args.program,
            "--traces", shared / "data/traces"]


def expected(args, shared):
    return [pathlib.Path(__file__).parent / "expected.py", "--program", args.program,
            "--dumps", shared / "data/dumps"]


def peers(args, shared):
    return [pathlib.Path(__file__).parent / "peers.py", "--program", args.program,
            "--shared", shared, "--document", args.root / "docs/PEERS.md"]


def roofline(args, shared, what="reference"):
    return [pathlib.Path(__file__).parent / "roofline.py", "--program", args.program,
            "--shared", shared, "--devices", args.root / "src/hardware/devices.yaml", what]


def tracelens(args, shared):
    return roofline(args, shared, "tracelens")


def diffs(args, shared):
    return [pathlib.Path(__file__).parent / "diffs.py", "--program", args.program,
            "--shared", shared]


def said(args, shared):
    return [pathlib.Path(__file__).parent / "said.py", "--program", args.program,
            "--shared", shared]


def truth(args, shared):
    return [pathlib.Path(__file__).parent / "truth.py", "--program", args.program,
            "--shared", shared]


def agree(args, shared):
    return [pathlib.Path(__file__).parent / "agree.py", "--program", args.program,
            "--shared", shared, "--samples", args.root / "samples"]


def every(args, shared):
    return [pathlib.Path(__file__).parent / "every.py", "--program", args.program,
            "--data", shared / "data", args.name]


def faults(args, shared):
    report = f"{args.program} report --format"
    command = [shared / "tools/faultcheck.py", "--manifest", shared / "data/faults/manifest.json",
               "--class", args.name, "--jobs", "1", "--out-dir", "--determinism",
               "--cmd", f"{report} json -o {{out}} {{in}}",
               "--cmd-for", f"stdout={report} json -o - {{in}}",
               "--cmd-for", f"config={report} json --config {{in}} -o {{out}} {{good}}",
               "--cmd-for", f"plugin={report} json --plugin-path {{in}} -o {{out}} {{good}}"]
    for kind in ("html", "csv", "text"):
        command += ["--also", f"{kind}={report} {kind} -o {{out}} {{in}}"]
    if args.sanitized:
        command += ["--mem-scale", "6", "--timeout", "240"]
    return command


CHECKS = {"figures": figures, "identities": identities, "dumps": dumps, "expected": expected,
          "peers": peers, "roofline": roofline, "tracelens": tracelens, "diffs": diffs,
          "said": said, "truth": truth, "agree": agree, "faults": faults, "every": every}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--sanitized", action="store_true", help="more memory and time")
    parser.add_argument("what", choices=tuple(CHECKS))
    parser.add_argument("name", nargs="?", help="class of faults, or what is made of every input")
    args = parser.parse_args()
    shared = args.root.resolve().parent / "shared"
    if not (shared / "tools").is_dir():
        print(f"skipped: there is no folder {shared} with real traces and their checkers")
        return SKIPPED
    command = CHECKS[args.what](args, shared)
    done = subprocess.run([sys.executable, "-B", *map(str, command)], check=False)
    return 0 if done.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
