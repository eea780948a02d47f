#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks what the terminal says of inputs whose right answer is known.

usage: said.py --program PROGRAM --shared FOLDER

Runs the checker of the shared folder on the cases below: patterns that the text must and must not
match.  A case that is not named here asks for something the program does not do yet.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

CASES = {
    "seeds": ("console_one_run", "denoising_is_a_stage", "steps_cfg", "aggregated",
              "cache_timeline", "cumulative_exports", "zero_tokens", "cuda_tables"),
    "public": ("gh200-fp32-transformer", "pdl", "memory-cpp-frames", "m01", "annotated_table",
               "ts-zero", "rocm-dur", "graph-replays"),
}


def check(args, folder, names, scratch):
    """Whether all statements of these cases hold; the checker prints those that do not."""
    data = args.shared / "data" / folder
    cases = [case for case in json.loads((data / "said.json").read_text(encoding="utf-8"))
             if case["name"] in names]
    missing = set(names) - {case["name"] for case in cases}
    if missing:
        print(f"{folder}: no case named {', '.join(sorted(missing))}")
        return False
    chosen = scratch / f"{folder}.json"
    chosen.write_text(json.dumps(cases), encoding="utf-8")
    print(f"{folder}:", flush=True)
    return subprocess.run([sys.executable, "-B", args.shared / "tools/said.py", args.program, data,
                           chosen], check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        good = [check(args, folder, names, pathlib.Path(scratch))
                for folder, names in CASES.items()]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
