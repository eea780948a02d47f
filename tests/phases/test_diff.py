#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `diff` says of two runs of a diffusion: what was planted is named first, two runs of the
same program tell nothing, and the changes of the phases add up to the change of the window.

usage: test_diff.py --program TRACEANALYZE [--seeds N] [--keep FOLDER]
"""
import argparse
import pathlib
import re
import tempfile

import pairs
import reports
from pairs import How

# Base and new run, each (how, values of the plan), and what the first line says; None: no phase.
PAIRS = {
    "same": ((How(), {}), (How(noise=1), {}), None),
    "steps": ((How(), {"steps": 4}), (How(), {"steps": 8}),
              r"Slower by .*: 8 denoising steps instead of 4: \+.* of \+.* an image"),
    "step_time": ((How(stretch=1.2), {}), (How(), {}),
                  r"Faster by .*: each of the 8 denoising steps takes .* instead of .*: "
                  r"-.* of -.* an image"),
    "cached": ((How(), {}), (How(cached=(2, 3, 5, 6)), {}),
               r"Faster by .*: 4 of 8 passes of the denoiser are shortened, as by a step cache, "
               r"none before: -"),
    "guidance": ((How(passes=2), {}), (How(passes=1), {}),
                 r"Faster by .*: each of the 8 denoising steps runs the denoiser once instead of "
                 r"twice, and takes .* instead of "),
    "decoder": ((How(), {}), (How(decoder=4), {}),
                r"Slower by .*: VAE decode takes .* instead of .*: \+"),
    "encoder": ((How(encodes=False), {"encoder_layers": 24, "steps": 2, "layers": 2}),
                (How(), {"encoder_layers": 24, "steps": 2, "layers": 2}),
                r"Slower by .*: text encode takes .*, and was not there before: \+"),
    "images": ((How(), {"iterations": 2}), (How(), {"iterations": 3}), None),
    "images_and_steps": ((How(), {"iterations": 2}), (How(), {"iterations": 3, "steps": 12}),
                         r"Slower by .* per image: 12 denoising steps instead of 8: \+.* of "),
}


def check_sums(name, report, runs):
    """Rows add up to the change of the program's window, and each is the sum of its effects."""
    rows = report.rows("diff.phases")
    windows = [run.row("run.window")["window_ns"] for run in runs]
    if sum(row["delta_ns"] for row in rows) != windows[1] - windows[0]:
        raise AssertionError(f"{name}: the changes add up to "
                             f"{sum(row['delta_ns'] for row in rows)}, not {windows}")
    for side, window in zip(("base_ns", "new_ns"), windows):
        if sum(row[side] for row in rows) != window:
            raise AssertionError(f"{name}: {side} of the phases is not the window")
    for row in rows:
        parts = [row[f"{part}_effect_ns"] for part in ("count", "mix", "rate")]
        if sum(parts) != row["delta_ns"] or row["new_ns"] - row["base_ns"] != row["delta_ns"]:
            raise AssertionError(f"{name}: {row}")


def check_loop(name, report, plans):
    for what, values in (("images", [plan.iterations for plan in plans]),
                         ("steps", [plan.iterations * plan.steps for plan in plans])):
        row = report.row("diff.loop", what=what)
        if [row["base"], row["new"]] != values:
            raise AssertionError(f"{name}: {row}, planted {values}")


def judge(program, folder, name, seed):
    *sides, said = PAIRS[name]
    paths = [folder / f"{side}.pt.trace.json" for side in ("base", "new")]
    for path, (how, fixed) in zip(paths, sides):
        pairs.make(path, f"{name}/{seed}", how, **fixed)
    report = reports.read(program, *paths, command="diff")
    line = report.document["verdict"]["headline"]
    if said and not re.match(said, line):
        raise AssertionError(f"{name}/{seed}: {line!r} does not begin with {said!r}")
    if not said and re.search("denoising step|denoiser|VAE|encode", line):
        raise AssertionError(f"{name}/{seed}: {line!r} tells of a phase")
    check_sums(name, report, [reports.read(program, path) for path in paths])
    check_loop(name, report, [pairs.plan_of(f"{name}/{seed}", how, **fixed)
                              for how, fixed in sides])
    return line


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    for name in PAIRS:
        for seed in range(options.seeds):
            with tempfile.TemporaryDirectory() as temporary:
                folder = (options.keep or pathlib.Path(temporary)) / f"{name}-{seed}"
                print(f"{name}: {judge(options.program, folder, name, seed)}")


main()
