#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants a fault in the simulated job and compares the advice with what the fault really costs.

usage: test_planted.py --program PROGRAM --generator TRACEANALYZE-GENERATE WHAT

WHAT is kernels, memory, job or recording.

Without a plant no rule speaks.  With one, its rule does, and the fault's true cost, the window with
it minus the window without it, lies within the estimate, by a fifth of either end.  Faults of a job
of four ranks may have company, named here: ranks that are held up make the others wait.  Faults of
the recording cost nothing; the checks of the traces have to find them with their size.
"""
import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import reports

RULES = {"kernel_attention", "kernel_units", "kernel_fusion", "kernel_waves", "interruptions",
         "damage", "launch_bound", "sync_wait", "blocking_copies", "copies", "exposed_comm",
         "input_bound", "gpu_idle", "trust", "slow_link"}
# plant: its finding, and others that may come with it
KERNELS = {"unfused-attention": ("attention-unfused", ()), "fp32": ("matrix-units-idle", ()),
           "casts": ("casts-layout", ()),
           "allocation": ("steady-allocation", ("gpu-idle",))}
JOB = {"slow-dispatch": ("launch-bound", ("exposed-comm",)), "sync": ("sync-wait", ()),
       "value-read": ("value-read", ()), "pageable": ("pageable-copy", ()),
       "slow-input": ("input-bound", ("sync-wait", "launch-bound")),
       "slow-link": ("link-bandwidth", ())}


def report_of(options, folder, plant, ranks):
    traces = folder / plant
    subprocess.run([options.generator, "--variant", "optimized", "--ranks", str(ranks),
                    "--blocks", "3", "--layers", "12", "--plant", plant, "-o", str(traces)],
                   check=True, stdout=subprocess.DEVNULL)
    report = reports.read(options.program, traces)
    # The model runs FlashAttention 2 on an H200, whatever is planted.
    report.findings = [found for found in report.findings
                       if found["rule"] in RULES and found["id"] != "attention-backend"]
    report.window = max(row["window_ns"] for row in report.rows("gpu_time.by_rank"))
    report.checks = {row["check"]: row for row in report.rows("health.checks")}
    return report


def check_cost(plant, wanted, company, report, cost):
    found = [f for f in report.findings if f["id"] == wanted]
    others = [f["title"] for f in report.findings if f["id"] not in (wanted,) + company]
    if len(found) != 1 or others:
        return ["%s: %s is found %d times, and %s" % (plant, wanted, len(found), others)]
    low, high = found[0]["saving_ns"]["low"], found[0]["saving_ns"]["high"]
    if found[0]["title"].startswith(("Recording", "The recorder")):
        # What the profiler explains is no saving, but the generator's takes no time.
        explained = max((row for row in report.rows("recording.explained")
                         if row["kind"] == "dispatch"), key=lambda row: row["idle_ns"])
        low, high = low + explained["high_ns"], high + explained["explained_ns"]
    print("%-18s costs %9.3f ms, estimated %9.3f to %9.3f ms: %s"
          % (plant, cost / 1e6, low / 1e6, high / 1e6, found[0]["title"]))
    if not 0.8 * low <= cost <= 1.2 * high:
        return ["%s: the cost of %d ns is not within %d to %d ns" % (plant, cost, low, high)]
    return []


def check_costs(options, folder, plants, ranks):
    clean = report_of(options, folder, "none", ranks)
    faults = ["nothing is planted, but: %s" % f["title"] for f in clean.findings]
    for plant, (wanted, company) in plants.items():
        report = report_of(options, folder, plant, ranks)
        faults += check_cost(plant, wanted, company, report, report.window - clean.window)
    return faults


def check_memory_bound(options, folder):
    """Of products that memory bounds on matrix units, only what is beyond can be gained: the same
    products take 1.92 times as long without, and those of few rows no longer at all."""
    matrix, vector, row = (report_of(options, folder, plant, 1)
                           for plant in ("thin-matrix", "thin-vector", "row-vector"))
    faults = check_cost("thin-vector", "matrix-units-idle", (), vector,
                        vector.window - matrix.window)
    for plant, report in (("thin-matrix", matrix), ("row-vector", row)):
        faults += ["%s: %s" % (plant, f["title"]) for f in report.findings]
    units = {r["matrix_unit"]: r["total_ns"] for r in row.tables["kernels.matrix_units"]}
    kernels = sum(r["total_ns"] for r in row.tables["kernels.by_class"])
    if units.get("no", 0) < 0.1 * kernels:
        faults.append("row-vector: too little time without matrix units to tell: %s" % units)
    return faults


def check_recording(options, folder):
    faults = []

    def near(plant, check, report, wanted, tolerance):
        value = report.checks[check]["value"]
        print("%-18s %s: %g" % (plant, check, value))
        if abs(value - wanted) > tolerance * wanted or report.checks[check]["holds"]:
            faults.append("%s: %s is %g, expected %g" % (plant, check, value, wanted))
    clean = report_of(options, folder, "none", 4)
    faults += ["nothing is planted, but %s fails" % name
               for name, row in clean.checks.items() if not row["holds"]]
    lost = report_of(options, folder, "lost-kernels", 4)
    kernels = sum(row["calls"] for row in clean.tables["kernels.by_name"])
    recorded = sum(row["calls"] for row in lost.tables["kernels.by_name"])
    near("lost-kernels", "kernels lost", lost, (kernels - recorded) / kernels, 0.2)
    if [f["id"] for f in lost.findings if f["severity"] != "info"] != ["damage-lost-kernels"]:
        faults.append("lost-kernels: findings that are more than hints: %s" % lost.findings)
    shifted = report_of(options, folder, "clock-shift", 4)
    near("clock-shift", "lead of activities", shifted, 400000, 0.02)
    if shifted.checks["activities before their call"]["holds"]:
        faults.append("clock-shift: no activity begins before its call")
    slowed = report_of(options, folder, "buffers", 4)
    held = sum(row["total_ns"] for row in slowed.tables["ops.by_name"]
               if row["name"] == "Activity Buffer Request")
    near("buffers", "profiler overhead", slowed, held / (4 * slowed.window), 0.2)
    if any(f["id"] == "launch-bound" for f in slowed.findings):
        faults.append("buffers: the profiler's time counts as dispatch")
    return faults


def rename_kernels(path, every):
    """Gives every so many-th kernel of a trace another name; returns what is then in common."""
    pack = gzip.open if path.suffix == ".gz" else open
    with pack(path, "rt", encoding="utf-8") as file:
        document = json.load(file)
    kernels = [event for event in document["traceEvents"] if event.get("cat") == "kernel"]
    for event in kernels[::every]:
        event["name"] = "something_else"
    with pack(path, "wt", encoding="utf-8") as file:
        file.write(json.dumps(document))
    renamed = len(kernels[::every])
    return (len(kernels) - renamed) / (len(kernels) + renamed)


def check_strange_ranks(options, folder):
    """A rank that runs other kernels is found; two that do the same are stages of a pipeline."""
    report_of(options, folder, "none", 4)
    traces = sorted(path for path in (folder / "none").iterdir() if path.is_file())

    def compared():
        report = reports.read(options.program, folder / "none")
        rows = {row["rank"]: row for row in report.rows("health.kernels")}
        checks = {row["check"]: row for row in report.rows("health.checks")}
        return rows, checks["kernels in common"]
    wanted = rename_kernels(traces[2], 5)
    rows, check = compared()
    faults = []
    # Names that share a class with another look alike.
    if (not wanted - 1e-9 < rows[2]["likeness"] < wanted + 0.05 or check["holds"]
            or check["value"] != rows[2]["likeness"]):
        faults.append("rank 2 is %g like the others, expected %g" % (rows[2]["likeness"], wanted))
    if any(rows[rank]["likeness"] != 1 or rows[rank]["nearest"] == 2 for rank in (0, 1, 3)):
        faults.append("the other ranks are not alike: %s" % rows)
    rename_kernels(traces[3], 5)
    rows, check = compared()
    if not check["holds"] or rows[2]["nearest"] != 3 or rows[0]["nearest"] != 1:
        faults.append("two stages are taken for strange ranks: %s" % rows)
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--generator", required=True)
    parser.add_argument("what", choices=("kernels", "memory", "job", "recording"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        faults = {"kernels": lambda: check_costs(options, folder, KERNELS, 1),
                  "memory": lambda: check_memory_bound(options, folder),
                  "job": lambda: check_costs(options, folder, JOB, 4),
                  "recording": lambda: (check_recording(options, folder)
                                         + check_strange_ranks(options, folder))}[options.what]()
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
