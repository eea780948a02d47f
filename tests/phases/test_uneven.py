#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A phase that takes one rank longer than the others is said, with a saving that holds; a rank that
is slow in all phases is another story, and what hardly matters is none.

usage: test_uneven.py --program TRACEANALYZE [--seeds N]
"""
import argparse
import dataclasses
import pathlib
import re
import tempfile

import reports
import scenes
from scenes import Scene

# The scene, and the rank that the finding names: none where it is silent.
CASES = {
    "decode": (Scene(slow={("decode", 3): 2.0}), 3),
    "decode at the end": (Scene(slow={("decode", 1): 2.5}, after="nothing"), 1),
    "little": (Scene(slow={("decode", 3): 1.04}), None),
    "everywhere": (Scene(slow={("decode", 2): 1.6, ("denoise", 2): 1.6}), None),
    "nowhere": (Scene(), None),
}
FIXED = {"side": 1024, "steps": 4, "layers": 4, "ranks": 4}


def judge(program, folder, name, seed):
    scene, rank = CASES[name]
    _, total = scenes.make(folder / "run", f"uneven/{seed}", scene, **FIXED)
    _, even = scenes.make(folder / "even", f"uneven/{seed}",
                          dataclasses.replace(scene, slow={}), **FIXED)
    report = reports.read(program, folder / "run")
    finding = report.finding("phase-uneven")
    if rank is None:
        assert finding is None, (name, finding["title"])
        return
    row = report.row("phases.uneven", phase="VAE decode")
    times = scene.slow["decode", rank]
    assert row["rank"] == rank and row["ranks"] == 4 and row["waiting"] == 3, (name, row)
    found = row["time_ns"] / row["others_ns"]
    assert abs(found / times - 1) < 0.05, (name, found, times)
    assert finding and re.match(
        f"VAE decoding takes .* longer on rank {rank} than on the others .*, which wait for it$",
        finding["title"]), (name, [f["title"] for f in report.findings])
    gain, saving = total - even, finding["saving_ns"]
    assert saving["low"] <= 1.02 * gain and 0.98 * gain <= saving["high"], (name, gain, saving)
    for story in ("straggler", "exposed-comm", "ranks-wait"):
        assert report.finding(story) is None, (name, report.finding(story)["title"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    for name in CASES:
        for seed in range(options.seeds):
            with tempfile.TemporaryDirectory() as folder:
                judge(options.program, pathlib.Path(folder), name, seed)


main()
