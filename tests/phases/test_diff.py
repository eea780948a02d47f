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
import sized
from pairs import How

NUMBER = r"[0-9.]+"
TIME = rf"{NUMBER} [mµ]?s"
LESS, MORE = "less time", "more time"


def said(direction, reason, subject="The", made="image"):
    """The two sentences: what a run takes, and where most of the change comes from."""
    part = (r"(Most|(Nearly|More than) all) of the (saving|increase) "
            rf"\({TIME}( (of|against) {TIME})?( an {made})?\)")
    return (rf"{subject} {made} takes {TIME} instead of {TIME}: {NUMBER}( %)? "
            rf"{direction} \(one run each[^)]*\)\. {part} {reason}")


# Base and new run, each (how, values of the plan), and what the first line says; None: no phase.
PAIRS = {
    "same": ((How(), {}), (How(noise=1), {}), None),
    "steps": ((How(), {"steps": 4}), (How(), {"steps": 8}),
              said(MORE, r"comes from 8 denoising steps instead of 4")),
    "step_time": ((How(stretch=1.2), {}), (How(), {}),
                  said(LESS, r"comes from the 8 denoising steps, (which take .* each instead "
                       r"of|(partly|mostly|mainly)? ?because)")),
    "cached": ((How(), {}), (How(cached=(2, 3, 5, 6)), {}),
               said(LESS, r"comes from shortened passes of the denoiser, which are 4 of 8 "
                    r"instead of none, as with a step cache")),
    "guidance": ((How(passes=2), {}), (How(passes=1), {}),
                 said(LESS, r"comes from the 8 denoising steps, which run the denoiser once "
                      r"instead of twice and take .* each instead of ")),
    "decoder": ((How(), {}), (How(decoder=4), {}),
                said(MORE, r"comes from VAE decode, (which takes .* instead of|"
                     r"(partly|mostly|mainly)? ?because)")),
    "encoder": ((How(encodes=False), {"encoder_layers": 24, "steps": 2, "layers": 2}),
                (How(), {"encoder_layers": 24, "steps": 2, "layers": 2}),
                said(MORE, r"comes from text encode, which is new and takes ")),
    "images": ((How(), {"iterations": 2}), (How(), {"iterations": 3}), None),
    "smaller": ((How(), pairs.sized(1024)), (How(), pairs.sized(512)),
                said(LESS, r"comes from 4× fewer image tokens",
                     r"With smaller images \(1024×1024 → 512×512\) the")),
    "larger": ((How(), pairs.sized(768)), (How(), pairs.sized(1280)),
               said(MORE, r"comes from 2.8× more image tokens",
                    r"With larger images \(768×768 → 1280×1280\) the")),
    "smaller_and_faster": ((How(stretch=2), pairs.sized(1024)), (How(), pairs.sized(768)),
                           said(LESS, r"comes from (the 8 denoising steps, which take .*, and "
                                r"another \S+ m?s from 1.8× fewer image tokens|1.8× fewer image "
                                r"tokens, and another \S+ m?s from the 8 denoising steps, which)",
                                r"With smaller images .* the")),
    "smaller_more_steps": ((How(), pairs.sized(1024, steps=6)), (How(), pairs.sized(768, steps=20)),
                           said(MORE, r"comes from 20 denoising steps instead of 6; 1.8× fewer "
                                r"image tokens work against it \(-",
                                r"With smaller images \(1024×1024 → 768×768\) the")),
    "images_and_steps": ((How(), {"iterations": 2}), (How(), {"iterations": 3, "steps": 12}),
                         said(MORE, r"comes from 12 denoising steps instead of 8", "An")),
}


# The same of runs whose kernels take as long as their shapes say.
SIZED = {
    "batch": ((sized.pictures, {"side": 1024}), (sized.pictures, {"side": 1024, "batch": 4}),
              r"With batches of 4 instead of 1 an image takes .*: [0-9.]+ % less time"),
    "images of another size": (
        (sized.pictures, {"side": 1024}), (sized.pictures, {"side": 512}),
        said(LESS, r"comes from 4× fewer image tokens\.",
             r"With smaller images \(1024×1024 → 512×512\) the")),
    "size, batch and steps": (
        (sized.pictures, {"side": 1024, "batch": 2}),
        (sized.pictures, {"side": 768, "batch": 4, "steps": 9}),
        said(LESS, r"comes from 1.8× fewer image tokens; 9 denoising steps instead of 6 work "
             r"against it \(\+",
             r"With smaller images \(1024×1024 → 768×768\) and batches of 4 instead of 2 an")),
    "frames": ((sized.video, {"latents": 21}), (sized.video, {"latents": 13}),
               said(LESS, r"comes from 1.6× fewer image tokens\.",
                    r"With shorter videos \(81 → 49 frames\) the", "video")),
    "size and frames": (
        (sized.video, {"latents": 13}), (sized.video, {"latents": 21, "width": 832, "height": 480}),
        said("times as long", r"comes from 6.5× more image tokens",
             r"With larger videos \(416×240 of 49 frames → 832×480 of 81 frames\) the", "video")),
    "layers": ((sized.pictures, {"side": 512}), (sized.pictures, {"side": 512, "layers": 9}),
               said(MORE, r"comes from the 6 denoising steps, which run 9 layers instead of 5 "
                    r"and take ")),
}


def judge_sized(program, folder, name):
    *sides, wanted = SIZED[name]
    paths = [folder / f"{side}.json" for side in ("base", "new")]
    for path, (make, values) in zip(paths, sides):
        make(path, **values)
    report = reports.read(program, *paths, command="diff")
    line = report.document["verdict"]["headline"]
    if not re.match(wanted, line):
        raise AssertionError(f"{name}: {line!r} does not begin with {wanted!r}")
    check_sums(name, report, [reports.read(program, path) for path in paths])
    return line


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
        parts = [row[f"{part}_effect_ns"] for part in ("count", "mix", "size", "rate")]
        if sum(parts) != row["delta_ns"] or row["new_ns"] - row["base_ns"] != row["delta_ns"]:
            raise AssertionError(f"{name}: {row}")


def check_loop(name, report, plans):
    for what, values in (("images", [plan.iterations for plan in plans]),
                         ("steps", [plan.iterations * plan.steps for plan in plans])):
        row = report.row("diff.loop", what=what)
        if [row["base"], row["new"]] != values:
            raise AssertionError(f"{name}: {row}, planted {values}")


def check_size(name, report, runs, planned):
    """What fewer or more tokens explain of denoising, by the shapes that were planned: the time of
    linear layers follows the tokens, of attention their square; never more than what changed."""
    rows = {row["phase"]: row for row in report.rows("diff.phases")}
    sides = [plan.side for plan in planned]
    if sides[0] == sides[1] and planned[0].batch == planned[1].batch:
        if any(row["size_effect_ns"] for row in rows.values()):
            raise AssertionError(f"{name}: a size effect of images of one size")
        return
    tokens = planned[1].tokens / planned[0].tokens
    share = runs[0].row("diffusion.tokens")["attention_share"]
    work = (1 - share) * tokens + share * tokens ** 2
    for phase, ratio in (("denoise", work), ("VAE decode", (sides[1] / sides[0]) ** 2)):
        row = rows[phase]
        ratio *= planned[1].batch / planned[0].batch
        times = [row[f"{side}_ns"] / row[f"{side}_calls"] for side in ("base", "new")]
        calls = (row["base_calls"] + row["new_calls"]) / 2
        bounds = sorted((0, times[1] - times[0]))
        wanted = min(max((ratio - 1) * times[0], bounds[0]), bounds[1]) * calls
        if abs(row["size_effect_ns"] - wanted) > 2:
            raise AssertionError(f"{name}: {phase} changes by {row['size_effect_ns']} for its size,"
                                 f" wanted {wanted}")


def judge(program, folder, name, seed):
    *sides, wanted = PAIRS[name]
    paths = [folder / f"{side}.pt.trace.json" for side in ("base", "new")]
    for path, (how, fixed) in zip(paths, sides):
        pairs.make(path, f"{name}/{seed}", how, **fixed)
    report = reports.read(program, *paths, command="diff")
    line = report.document["verdict"]["headline"]
    if wanted and not re.match(wanted, line):
        raise AssertionError(f"{name}/{seed}: {line!r} does not begin with {wanted!r}")
    if "size" not in name and re.search("kernels alike|device or clock", line) and "with" in line:
        raise AssertionError(f"{name}/{seed}: {line!r} takes other images for other kernels")
    if not wanted and re.search("denoising step|denoiser|VAE|encode|[Ww]ith", line):
        raise AssertionError(f"{name}/{seed}: {line!r} tells of a phase")
    runs = [reports.read(program, path) for path in paths]
    planned = [pairs.plan_of(f"{name}/{seed}", how, **fixed) for how, fixed in sides]
    check_sums(name, report, runs)
    check_loop(name, report, planned)
    if name != "guidance" and name != "cached":  # their passes change, too
        check_size(name, report, runs, planned)
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
    for name in SIZED:
        with tempfile.TemporaryDirectory() as temporary:
            folder = (options.keep or pathlib.Path(temporary)) / name
            print(f"{name}: {judge_sized(options.program, folder, name)}")


main()
