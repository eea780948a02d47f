#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Phases and steps of real traces against reference figures, which come from the raw events alone:
every call of an encoder, the denoiser and the decoder, on host and device, to the nanosecond."""
import argparse
import json
import pathlib
import subprocess
import sys

from reports import Report

PHASES = {"text_encoders": "text encode", "steps": "denoise", "vae_decoder": "VAE decode"}


def ns(us):
    return round(us * 1000)


def expected_call(call):
    return (ns(call["host_start_us"]), round(call["host_dur_ms"] * 1e6), ns(call["gpu_first_us"]),
            round(call["gpu_span_ms"] * 1e6), round(call["gpu_busy_ms"] * 1e6))


def found_call(row):
    return tuple(row[key] for key in ("host_start_ns", "host_dur_ns", "gpu_start_ns", "gpu_dur_ns",
                                      "gpu_busy_ns"))


def faults_of(golden, report):
    # The references are written in microseconds, rounded: half a microsecond either way.
    for part, phase in PHASES.items():
        calls, rows = golden.get(part, []), report.rows("diffusion.calls", phase=phase)
        if len(calls) != len(rows):
            yield f"{phase}: {len(rows)} calls, not {len(calls)}"
            continue
        for number, (call, row) in enumerate(zip(calls, rows)):
            for want, found in zip(expected_call(call), found_call(row)):
                if abs(want - found) > 1001:
                    yield f"{phase} {number}: {found_call(row)}, not {expected_call(call)}"
                    break
    steps = [row for row in report.rows("steps.by_step") if row["source"] != "marker"]
    if len(steps) != len(golden["steps"]):
        yield f"{len(steps)} steps, not {len(golden['steps'])}"
    loop = report.row("diffusion.loops")
    if loop["images"] != golden["images"]:
        yield f"{loop['images']} images, not {golden['images']}"
    for key, name, within in (("steps_per_s", "steps_per_s_from_gpu", 1e-4),
                              ("images_per_s", "images_per_s", 1e-2)):
        if name in golden and abs(loop[key] / golden[name] - 1) > within:
            yield f"{key}: {loop[key]}, not {golden[name]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    args = parser.parse_args()
    goldens = sorted((args.shared / "goldens" / "diffusion").glob("*.json"))
    if not goldens:
        print(f"skipped: no reference figures in {args.shared}")
        return 77
    failed = 0
    for path in goldens:
        golden = json.loads(path.read_text())
        traces = args.shared / "traces" / golden["trace"]
        report = Report(subprocess.run([args.program, "report", traces, "--json", "--no-config"],
                                       check=True, capture_output=True, text=True).stdout)
        for fault in faults_of(golden, report):
            print(f"{path.stem}: {fault}")
            failed += 1
    print(f"{len(goldens)} references, {failed} faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
