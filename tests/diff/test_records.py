#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares sessions whose denoising steps have one record, or two as of classifier-free guidance.

usage: test_records.py --program PROGRAM

All steps of a session take the same time, so there is no warm-up, however many records they have;
with a first step that takes longer there is one.
"""
import json
import pathlib
import sys
import tempfile

import reports

STEPS, START = 40, 1764000000.0


def session(records, step_s, first_s):
    """A report of one block: `records` events for each step, which add up to its time."""
    events, now = [], START
    for step in range(STEPS):
        for _ in range(records):
            now += (first_s if step == 0 else step_s) / records
            events.append({"name": "diffusion_step", "timestamp": now, "data": {
                "step": step, "timestep": 1 - step / STEPS, "block_size": 3,
                "computation_time_ms": (first_s if step == 0 else step_s) / records * 1000,
                "guidance_scale": 5.0}})
    return {"session_info": {"id": "t2v", "start_time": START, "end_time": now,
                             "duration": now - START, "tags": {}},
            "summary": {}, "gpu_metrics": {}, "cpu_metrics": {}, "stage_analysis": {},
            "events": events, "recommendations": []}


def compare(program, before, after):
    with tempfile.TemporaryDirectory() as scratch:
        paths = []
        for name, document in (("before", before), ("after", after)):
            folder = pathlib.Path(scratch) / name
            folder.mkdir()
            paths.append(folder / "profiling_report_t2v_20261124_064213.json")
            paths[-1].write_text(json.dumps(document), encoding="utf-8")
        return reports.read(program, *paths, command="diff")


def main():
    program = reports.program_of_arguments()
    wrong = 0
    for records in (1, 2):
        for first_s in (0.2, 2.0):
            report = compare(program, session(1, 0.2, 0.2), session(records, 0.2, first_s))
            steps = report.row("diff.normalized", basis="step")
            steady = report.rows("diff.normalized", basis="steady_step")
            good = steps["new_units"] == STEPS and len(steady) == (first_s > 0.2)
            if steady:
                good = good and steady[0]["new_units"] == STEPS - 1
                good = good and abs(steady[0]["new_ns"] / 0.2e9 - 1) < 0.01
            if not good:
                wrong += 1
                print(f"{records} records, first step {first_s} s: {steps}, {steady}")
    print(f"{4 - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
