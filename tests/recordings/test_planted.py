#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares what the program says of made recordings with what was planted in them.

usage: test_planted.py --program TRACEANALYZE [--count 60] [--first 0] [--seed 1] [--kind KIND]
                       [--keep FOLDER] [--verbose]

Of each kind 99 of 100 folders have to be recognized with all figures right; in clean ones nothing
may be.  A folder that fails is named by its number; `--first N --count 1 --keep FOLDER` writes it
where it can be looked at.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import make
import reports
from process import KERNELS, OPERATORS

DAMAGE = ("zero-time", "overlong")
SOUND = {"capture", "iterations", "cycles", "coordinator", "host-twin", "merged", "foreign-merge",
         "strays", "data-parallel", "dependent-launch", "branches", "crossing", "window"}
LEAST = 0.99


def codes(report):
    """Code → number, over files and the whole."""
    found = collections.Counter()
    quality = report.document["data_quality"]
    for part in (quality, *quality["files"]):
        for note in part["findings"]:
            found[note["code"]] += note["count"]
    return found


def devices(report, truth):
    """Ranks, and for each device window, busy time and number of activities."""
    said = {(r["rank"], r["device"]): (r["window_ns"], r["busy_ns"])
            for r in report.rows("gpu_time.by_rank")}
    right = {(rank, device): (d["window_ns"], d["busy_ns"])
             for rank, of in truth["ranks"].items() for device, d in of["devices"].items()}
    if said != right:
        yield f"busy times {said}, expected {right}"


def ranks(report, truth):
    if report.document["run"]["ranks"] != sorted(truth["ranks"]):
        yield f"ranks {report.document['run']['ranks']}, expected {sorted(truth['ranks'])}"


def steps(report, truth):
    """Where the program marks a step, its time is that of the range; between the calls of a
    training loop it is what lies between them."""
    marker = truth["marker"]
    if marker in ("optimizer", "loader") and "zero-time" in truth["kinds"]:
        return  # which calls are left to lie between depends on which lost their times
    for rank, of in truth["ranks"].items():
        if of["steps"] is None:
            rows = report.rows("steps.by_step", rank=rank)
            if any(r["source"] in ("marker", "record") for r in rows):
                yield f"steps by a marker, though there is none: {[r['step'] for r in rows]}"
            continue
        said = sorted(r["host_dur_ns"] for r in report.rows("steps.by_step", rank=rank))
        right = sorted(of["steps"])
        between = 15_000 if marker in ("optimizer", "loader") else 0
        if len(said) != len(right) or any(abs(a - b) > between for a, b in zip(said, right)):
            yield f"steps of rank {rank} {said}, expected {right} ({marker})"


# What a step of each name does: phase, batch, width and height, tokens.
WORK = {"step[EXTEND bs=2 toks=2048]": ("prefill", 2, None, None, 2048),
        "step[DECODE bs=8]": ("decode", 8, None, None, 8),
        "execute_context_2(": ("prefill", 2, None, None, 2048),
        "execute_2_context_2(": ("prefill", 2, None, None, 2048),
        "execute_context_0(": ("decode", 8, None, None, 8),
        "execute_8_context_0(": ("decode", 8, None, None, 8),
        "execute_diffusion_1_256x256": (None, 1, 256, 256, None),
        "generate batch=4 tokens=64": (None, 4, None, None, 64),
        "unet bs=2 512x768": (None, 2, 512, 768, None)}


def work_of_steps(report, truth):
    """Prefill and decode, batch sizes and resolutions apart, with number and tokens of all steps of
    a kind; where kernels are missing some steps do not count."""
    if not set(truth["kinds"]) <= SOUND:
        return
    for rank, of in truth["ranks"].items():
        steps, tokens = collections.Counter(), {}
        for name in of["names"]:
            what = next((work for start, work in WORK.items() if name.startswith(start)), None)
            if not what:
                break
            steps[what[:4]] += 1
            tokens[what[:4]] = what[4] and tokens.get(what[:4], 0) + what[4]
        else:
            right = {kind: (n, tokens[kind]) for kind, n in steps.items()}
            keys = ("phase", "batch", "width", "height")
            said = {tuple(r[key] for key in keys): (r["steps"], r["tokens"])
                    for r in report.rows("steps.by_kind", rank=rank)}
            if right and said != right:
                yield f"work of rank {rank} is {said}, expected {right}"


def window(report, truth):
    for rank, of in truth["ranks"].items():
        rows = report.rows("run.window", rank=rank)
        start, end = of["program"]
        if len(rows) != 1:
            yield f"{len(rows)} windows of rank {rank}"
            continue
        if {"merged", "foreign-merge"} & set(truth["kinds"]):
            start = rows[0]["start_ns"]  # the file has an origin of its own
            end += start - of["program"][0]
        if (abs(rows[0]["start_ns"] - start) * 100 > end - start or
              abs(rows[0]["window_ns"] - (end - start)) * 100 > end - start):
            yield (f"window of rank {rank} is {rows[0]['window_ns']} from {rows[0]['start_ns']}, "
                   f"expected {end - start} from {start}")


def damage(report, truth):
    said = {code: n for code, n in codes(report).items() if code in DAMAGE}
    if said != truth["damage"]:
        yield f"damage {said}, expected {truth['damage']}"
    if "overlap" in codes(report):
        yield "spans are said to cross"
    if set(truth["kinds"]) <= SOUND and (
            report.finding("trust") or report.document["data_quality"]["status"] == "lossy"):
        yield f"sound, but not trusted: {report.document['data_quality']['status']}"


def files(report, truth):
    rows = {r["file"]: r["kind"] for r in report.rows("recordings.files")}
    right = {**truth["files"], **{name: "not_read" for name in truth["facts"].get("strays", ())}}
    if "capture-alone" in truth["kinds"]:
        right = {path: rows.get(path) for path in right}  # what it is called is in the headline
    if not rows and set(right.values()) == {"run"}:
        return  # the table is only there where files are something else, too
    if rows != right:
        yield f"files {rows}, expected {right}"


def overview(report, truth):
    rows = report.rows("runs.overview")
    if truth["recordings"] > 1 and len(rows) != truth["recordings"]:
        yield f"{len(rows)} rows in runs.overview, expected {truth['recordings']}"
    if len(truth["runs"]) > 1:
        said = sorted(r["ranks"] for r in rows)
        if said != sorted(truth["runs"]):
            yield f"runs of {said} ranks, expected {sorted(truth['runs'])}"


def text_of(report):
    """All that people are told: headline, titles and advice of findings, notes."""
    return "\n".join([report.document["verdict"]["headline"],
                      *(f"{f['title']} {f['advice']}" for f in report.findings),
                      *(note["text"] for part in (report.document["data_quality"],
                                                  *report.document["data_quality"]["files"])
                        for note in part["findings"])])


# What people are told where files are not simply ranks of one run.
TOLD = {"capture": "graph capture", "capture-alone": "graph capture",
        "iterations": "recordings of one program", "cycles": "recordings of one program",
        "coordinator": "no device work", "host-twin": "no device work", "strays": "not read"}


def told(report, truth):
    notes = [note["text"] for note in report.document["data_quality"]["findings"]
             if note["code"] == "recordings"]
    right = [TOLD[kind] for kind in truth["kinds"] if kind in TOLD]
    if len(notes) != len(right) or any(text not in note for text, note in zip(right, notes)):
        yield f"files are said to be {notes}, expected {right}"


def mapped(report, truth):
    """Replayed kernels have the operators of their capture, or none."""
    for row in report.rows("kernels.by_op"):
        right = {operator for kernels in KERNELS.values()
                 for kernel, operator in zip(kernels, OPERATORS) if kernel == row["name"]}
        if row["op"] in OPERATORS and right and row["op"] not in right:
            yield f"{row['name']} is said to be of {row['op']}"
    if truth["replayed"] is None:
        return
    said = {r["name"]: r["device_total_ns"] for r in report.rows("ops.device_time")}
    for name, total in truth["replayed"].items():
        if said.get(name) != total:
            yield f"{name} is said to take {said.get(name)} in replays, expected {total}"


def capture_alone(report, truth):
    if "captur" not in text_of(report):
        yield "not said to be a capture"


def replays_lost(report, truth):
    lost, launches = truth["facts"]["lost"], truth["facts"]["launches"]
    if not re.search(rf"\b{lost} of (the )?{launches}\b", text_of(report)):
        yield f"not said that {lost} of {launches} replays have no kernels"
    yield from idle(report, truth)


def buffer_full(report, truth):
    if not re.search(r"buffer|not recorded|no kernel", text_of(report)):
        yield "not said that the kernels of the end are missing"
    yield from idle(report, truth)


def idle(report, truth):
    """What was not recorded is not idle time that somebody could save: no more than a device idled
    before kernels were taken out."""
    for finding in report.findings:
        if finding["saving_ns"] and finding["saving_ns"]["high"] > truth["facts"]["idle_ns"] and \
                finding["id"] in ("gpu-idle", "launch-bound", "late-launches", "sync-wait"):
            yield f"saves what was not recorded: {finding['title']}"


def no_suspect(report, truth):
    """A rank whose recording is short of something holds nobody up."""
    for finding in report.findings:
        if finding["id"] in ("straggler", "late-rank", "load-balance") and \
                f"Rank {truth['facts']['rank']}" in finding["title"]:
            yield f"suspects the rank: {finding['title']}"


def strays(report, truth):
    """They are listed, and neither damage nor loss."""
    if report.document["data_quality"]["status"] == "lossy" and not truth["damage"]:
        yield "what is no recording is said to be lost"
    said = json.dumps(report.document)
    for name in truth["facts"]["strays"]:
        if name not in said:
            yield f"{name} is not listed"


def late_recording(report, truth):
    """The rank that the others wait for waits for nobody: no more than its transfers is saved."""
    yield from no_suspect(report, truth)
    for finding in report.findings:
        if finding["id"] == "exposed-comm" and finding["saving_ns"]:
            shown = report.cell("gpu_time.by_rank", "comm_exposed_ns", rank=truth["facts"]["rank"])
            if finding["saving_ns"]["high"] > 1.1 * shown:
                yield f"saves the wait for a later recording: {finding['saving_ns']}"


OF_ALL = (ranks, devices, steps, work_of_steps, window, damage, files, overview, told)
OF_KIND = {"capture": (mapped,), "capture-alone": (capture_alone,), "replays-lost": (replays_lost,),
           "buffer-full": (buffer_full,), "out-of-order": (idle,), "no-collectives": (no_suspect,),
           "late-recording": (late_recording,), "strays": (strays,)}


def judge(program, case, folder):
    """What is wrong about a folder."""
    truth = case.truth()
    if "merged" in truth["kinds"]:
        merged = folder.parent / f"{folder.name}.json.gz"
        subprocess.run([program, "--no-config", "merge", "-q", folder, "-o", merged], check=True,
                       capture_output=True)
        truth["files"] = {merged.name: "run"}
        folder = merged
    try:
        report = reports.read(program, folder)
    except AssertionError as error:
        return [str(error)[:300]]
    several = len(truth["runs"]) > 1
    checks = (files, overview) if several else OF_ALL
    if "capture-alone" in truth["kinds"]:
        checks = (ranks, devices, damage)
    for kind in truth["kinds"]:
        checks = [*checks, *OF_KIND.get(kind, ())]
    return [text for check in checks for text in check(report, truth)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    made, right = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        root = options.keep or pathlib.Path(scratch)
        for number, case in make.cases(options.first + options.count, options.seed, options.kind):
            if number < options.first:
                continue
            folder = root / f"{number:03}-{'+'.join(case.kinds) or 'clean'}"
            case.write(folder)
            wrong = judge(options.program, case, folder)
            for kind in case.kinds or ["clean"]:
                made[kind] += 1
                right[kind] += not wrong
            for text in wrong if options.verbose else wrong[:1]:
                print(f"{folder.name}: {text[:400]}")
    failed = [kind for kind in made if right[kind] < LEAST * made[kind]]
    for kind in sorted(made):
        print(f"{kind}: {right[kind]} of {made[kind]}{' WRONG' if kind in failed else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
