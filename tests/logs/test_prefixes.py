#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every prefix of a log is read without a wrong figure: what a run that was cut has printed until
then is a part of what the whole log says.

A prefix may be refused, with a reason, or have fewer rows; a row of it has the value of the same
row of the whole log, or, of what adds up and grows (iterations done, time elapsed, calls, samples),
one that is no larger.

usage: test_prefixes.py PROGRAM SAMPLES [SHARED]
Each file is cut at every byte up to a limit on the number of cuts; beyond it at a sample of them.
"""
import concurrent.futures
import pathlib
import random
import subprocess
import sys
import tempfile

import reports
import test_logs

CUTS = 150 # of a file

# What is printed once and stays: each value of a prefix is one of the whole log.
EXACT = {
    "memory.failures": ("device", "wanted_bytes", "device_bytes", "device_free_bytes",
                        "allocated_bytes", "reserved_bytes"),
    "models.loads": ("model", "loaded_bytes", "offloaded_bytes", "usable_bytes"),
    "progress.bars": ("loop", "total"),
    "progress.over_time": ("loop", "done", "elapsed_ns", "iteration_ns"),
    "diffusion.steps": ("step_ns", "dur_ns"),
    "run.happenings": ("kind", "data"),
    "run.tags": ("key", "value"),
    "figures.reported": ("group", "figure", "value"),
    "ops.summed": ("name", "calls", "self_device_ns", "device_ns", "host_ns", "self_host_ns"),
}
# Reasons and places, of which a prefix may have the beginning.
CUT_TEXTS = ("data",)
# What adds up over a log: no value of a prefix is above the largest of the whole log's.
GROWS = {
    "progress.bars": ("done", "elapsed_ns"),
    "iterations.by_name": ("count", "total_ns", "max_ns"),
    "stages.by_name": ("calls", "total_ns"),
    "telemetry.by_rank": ("samples", "max"),
    "memory.by_rank": ("peak_reserved_bytes", "peak_allocated_bytes", "total_bytes"),
    "throughput.values": (),
}
# The value of a name in the whole log bounds the values of the prefix where rows have one.
NAMES = {"iterations.by_name": ("loop",), "stages.by_name": ("stage",),
         "telemetry.by_rank": ("device", "signal")}
LOWER = {"telemetry.by_rank": ("min",)}


def texts():
    """Logs of the writers that the tests know, one file each and one with all."""
    kinds = {
        "bars": "hello\n" + test_logs.bar("Denoising", [9] + [2.3] * 6 + [7.9] * 5) +
                test_logs.bar("", [0.4] * 12, "\n") + "frames: 7it [00:16, 2.41s/it]\n",
        "errors": test_logs.TRACE + test_logs.NEW_ERROR + "\n" + test_logs.OLD_ERROR + "\n",
        "comfyui": test_logs.COMFY,
        "stages": test_logs.STAGES,
        "compiled": test_logs.recompilation("step in /a/b/adam.py:191", [test_logs.GUARD]) * 2 +
                    test_logs.graph_break("/a/b/model.py:17", "call of print"),
    }
    kinds["all"] = "".join(test_logs.with_prefix("[rank0]: ", text.replace("\r", "\n"))
                           for text in kinds.values())
    return {f"{name}.log": text.encode() for name, text in kinds.items()}


def files_of(folders):
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.stat().st_size < 200_000 and \
                    path.suffix in (".log", ".txt", ".csv", ".json"):
                found[f"{path.parent.name}/{path.name}"] = path.read_bytes()
    return found


class Reader:
    def __init__(self, program, scratch):
        self.program, self.scratch = program, scratch

    def read(self, name, data):
        """The report of some bytes, or None and why they are refused."""
        path = self.scratch / name
        path.write_bytes(data)
        done = reports.call(self.program, "report", path)
        path.unlink()
        if done.returncode == 0:
            return reports.Report(done.stdout), ""
        return None, f"exit {done.returncode}: {done.stderr.decode('utf-8', 'replace')}"


def values(report, table, column):
    return [row[column] for row in report.rows(table) if row.get(column) is not None]


def faults_of(part, whole):
    """What a prefix says that the whole log does not."""
    faults = []
    for table, columns in EXACT.items():
        for column in columns:
            known = values(whole, table, column)
            wrong = [value for value in values(part, table, column) if value not in known and
                     not (column in CUT_TEXTS and any(text.startswith(value) for text in known))]
            if wrong:
                faults.append(f"{table}.{column} has {wrong[:3]}")
    for table, columns in GROWS.items():
        for row in part.rows(table):
            names = {key: row.get(key) for key in NAMES.get(table, ())}
            same = whole.rows(table, **names)
            for column in columns:
                most = max((other[column] for other in same if other.get(column) is not None),
                           default=0)
                if row.get(column) is not None and row[column] > most:
                    faults.append(f"{table}.{column} of {names} is {row[column]}, not {most}")
            for column in LOWER.get(table, ()):
                least = min((other[column] for other in same), default=0)
                if row[column] < least:
                    faults.append(f"{table}.{column} of {names} is {row[column]}, not {least}")
    return faults


def cuts_of(data, chance):
    if len(data) <= CUTS:
        return range(1, len(data))
    return sorted(chance.sample(range(1, len(data)), CUTS))


def check_file(reader, name, data):
    whole, why = reader.read(f"whole-{name.replace('/', '-')}", data)
    if whole is None:
        return [] if why.startswith("exit 3") else [f"{name}: {why}"]
    faults = []
    for cut in cuts_of(data, random.Random(len(data))):
        part, why = reader.read(f"{cut}-{name.replace('/', '-')}", data[:cut])
        if part is None:
            if not why.startswith("exit 3"):
                faults.append(f"{name} cut at {cut}: {why}")
            continue
        faults += [f"{name} cut at {cut}, after {data[max(0, cut - 30):cut]!r}: {fault}"
                   for fault in faults_of(part, whole)]
    return faults


def main():
    program, samples, *shared = sys.argv[1:]
    folders = [pathlib.Path(samples)]
    if shared:
        public = pathlib.Path(shared[0]) / "data" / "public"
        folders += [path for path in sorted(public.glob("[fd][0-9]*"))]
        if len(folders) < 2:
            print(f"{public} is not there")
            return 77
    files = {**texts(), **files_of(folders)} if not shared else files_of(folders[1:])
    faults = []
    with tempfile.TemporaryDirectory() as scratch, \
            concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        reader = Reader(program, pathlib.Path(scratch))
        for found in pool.map(lambda item: check_file(reader, *item), files.items()):
            faults += found
    for fault in faults[:40]:
        print(fault)
    print(f"{len(files)} files, {len(faults)} faults")
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
