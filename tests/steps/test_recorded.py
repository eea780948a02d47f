#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps, forwards, blocks, images and phases of pipelines recorded on a GPU without any marker or
operator (recorded/record.py), against what the pipelines did and what CUDA events measured.

usage: test_recorded.py --program TRACEANALYZE [--only NAME]
"""
import argparse
import json
import pathlib
import subprocess
import sys

from reports import Report

FOLDER = pathlib.Path(__file__).resolve().parent / "recorded"
PHASES = {"text encode": ("text encode",), "denoise": ("step", "cache update"),
          "VAE decode": ("VAE decode",)}
LAYERS = {"picture": 8, "guided": 6, "heun": 6, "video": 6}  # record.py; by the name's beginning
NEAR = 0.01  # of the time from the first span to the last


def stretches(spans):
    """Spans that only a short gap parts are one."""
    merged = []
    for span in sorted(spans, key=lambda span: span["begin_ms"]):
        if merged and span["begin_ms"] - merged[-1][1] < 1:
            merged[-1][1] = max(merged[-1][1], span["end_ms"])
        else:
            merged.append([span["begin_ms"], span["end_ms"]])
    return sum(end - begin for begin, end in merged)


def counts_of(report):
    loop = report.rows("diffusion.loops")
    if not loop:
        return {"images": 0, "steps": 0, "forwards": 0}
    row = loop[0]
    counts = {key: row[key] for key in ("images", "steps", "forwards", "blocks")}
    counts["cached"] = [step["step"] for step in report.rows("caches.steps")
                        if step["class"] != "full"]
    return counts


def faults_of(name, truth, report):
    counts = counts_of(report)
    for row in report.rows("diffusion.loops"):
        layers = next(n for start, n in LAYERS.items() if name.startswith(start))
        if row["layers"] != layers:
            yield f"{row['layers']} layers, not {layers}"
    truth["forwards"] = truth.get("forwards", 0) + truth.get("cache_updates", 0)
    for key in ("images", "steps", "forwards", "blocks", "cached"):
        if key in truth and counts.get(key) != truth[key]:
            yield f"{key}: {counts.get(key)}, not {truth[key]}"
    # The second call of a Heun step needs the result of the first: it is no guidance.
    guided = [row["passes"] for row in report.rows("guidance.by_rank")]
    if guided != ([2] if name in ("guided_one_by_one", "video") else []):
        yield f"guidance in passes: {guided}"
    spans = truth["spans"]
    if not spans:
        return
    window = max(span["end_ms"] for span in spans) - min(span["begin_ms"] for span in spans)
    rows = report.rows("phases.stages")
    for phase, names in PHASES.items():
        want = stretches(span for span in spans if span["name"] in names)
        found = sum(row["gpu_dur_ns"] for row in rows if row["phase"] == phase) / 1e6
        if abs(found - want) > NEAR * window:
            yield f"{phase}: {found:.2f} ms, not {want:.2f} of {window:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--only")
    options = parser.parse_args()
    failed = 0
    names = sorted(path.name.removesuffix(".truth.json") for path in FOLDER.glob("*.truth.json"))
    assert len(names) > 10
    for name in [options.only] if options.only else names:
        truth = json.loads((FOLDER / f"{name}.truth.json").read_text())
        done = subprocess.run([options.program, "report", FOLDER / f"{name}.json.gz", "--json",
                               "--no-config"], check=True, capture_output=True, text=True)
        for fault in faults_of(name, truth, Report(done.stdout)):
            print(f"{name}: {fault}")
            failed += 1
    print(f"{len(names)} recordings, {failed} faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
