#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""One file with the traces of several ranks, however it was merged, gives the tables of the folder
that it was made of.

usage: test_one_file.py PROGRAM FOLDER...

The folders hold a trace per rank.  Those that are not there are left out.
"""
import copy
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import reports

# Of a device in a made file: five kernels of 50 µs.
BUSY = 250000

# Tables that list files.
OF_FILES = {"run.files", "run.clocks", "recordings.files"}
# Merges of others change the numbers of threads, name threads and counters after ranks, and count
# what processes of no rank have for one of them; they say no size of the world.
OF_PLACES = OF_FILES | {"events.by_kind", "health.checks", "launch_queue.by_stream",
                        "ops.call_tree", "counters.by_name", "ranks.metrics",
                        "ranks.outliers",
                        "costs.values"}  # of all devices of the world, which a file may not say


def load(path):
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def tables(program, path):
    found = dict(reports.read(program, path).tables)
    if "ranks.metrics" in found:
        found["ranks.metrics"] = [row for row in found["ranks.metrics"]
                                  if not row["metric"].startswith(("run.", "events."))]
    return found


# ---- merges of others ----------------------------------------------------------------------------

def is_number(value):
    return isinstance(value, int)


def put_together(event, rank):
    """Nothing is changed: ids of launches collide."""


def label(event, rank):
    event["pid"] = f"[TP{rank:02d}] {event['pid']}"


def shift(event, rank):
    for key in ("pid", "tid"):
        if key in event:
            value = event[key]
            event[key] = value + rank * 10**8 if is_number(value) else f"{value}_{rank * 10**8}"
    if event.get("name") in ("process_name", "thread_name"):
        event["args"]["name"] += f"_rank{rank}"


def fuse(event, rank):
    if is_number(event["pid"]):
        event["pid"] += rank * 10**8
    args = event.setdefault("args", {})
    if "correlation" in args:
        args["correlation"] += rank * 10**9


def name(event, rank):
    if event.get("name") == "process_name":
        event["args"]["name"] = f"rank {rank} {event['args']['name']}"
    if is_number(event["pid"]):
        event["pid"] += rank * 10**6


STYLES = (put_together, label, shift, fuse, name)


def merge(documents, style):
    merged = None
    for rank, document in enumerate(documents):
        document = copy.deepcopy(document)
        for event in document["traceEvents"]:
            if "pid" in event:
                style(event, rank)
        if merged:
            merged["traceEvents"] += document["traceEvents"]
        else:
            merged = document
    merged.pop("distributedInfo", None)
    return merged


def drop_nccl(all_tables):
    """Its version stands in `distributedInfo`, which a joined file does not have."""
    rows = [row for row in all_tables.pop("run.tags", []) if row["key"] != "nccl_version"]
    if rows:
        all_tables["run.tags"] = rows


def are_processes_distinct(documents):
    """Files whose processes have one number cannot be told apart once they are put together."""
    pids = [{event["pid"] for event in document["traceEvents"]
             if str(event.get("cat", "")).endswith("runtime")} for document in documents]
    return sum(map(len, pids)) == len(set().union(*pids))


# ---- comparing -----------------------------------------------------------------------------------

class Checks:
    def __init__(self, program, scratch):
        self.program, self.scratch, self.faults = program, scratch, 0

    def fail(self, text):
        print(text)
        self.faults += 1

    def compare(self, what, expected, found, but):
        for table in sorted((expected.keys() | found.keys()) - but):
            if expected.get(table) != found.get(table):
                self.fail(f"{what}: {table} differs: {str(found.get(table))[:300]} instead of "
                          f"{str(expected.get(table))[:300]}")

    def write(self, document):
        path = self.scratch / "merged.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    def own(self, folder, expected):
        path = self.scratch / "merged.json.gz"
        subprocess.run([self.program, "merge", folder, "-o", path], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for jobs in ("1", "4"):
            found = dict(reports.read(self.program, path, "--jobs", jobs).tables)
            found["ranks.metrics"] = tables(self.program, path).get("ranks.metrics")
            self.compare(f"{folder.name}, merged, {jobs} threads", expected, found, OF_FILES)

    def others(self, folder, expected):
        documents = [load(path) for path in sorted(folder.glob("*.json*"))]
        documents = [document for document in documents if "traceEvents" in document]
        for style in STYLES:
            if style is put_together and not are_processes_distinct(documents):
                continue
            found = tables(self.program, self.write(merge(documents, style)))
            for these in (expected, found):
                drop_nccl(these)
            self.compare(f"{folder.name}, {style.__name__}", expected, found, OF_PLACES)

    def folder(self, folder):
        expected = tables(self.program, folder)
        self.own(folder, expected)
        self.others(folder, expected)

    # ---- made files ----------------------------------------------------------------------------

    def ranks(self, what, events, ranks, devices):
        report = reports.read(self.program, self.write({"traceEvents": events}))
        rows = [(row["rank"], row["device"], row["busy_ns"])
                for row in report.rows("gpu_time.by_rank")]
        if report.document["run"]["ranks"] != ranks or rows != devices:
            self.fail(f"{what}: ranks {report.document['run']['ranks']}, devices {rows}")
        for row in report.rows("launches.by_rank"):
            if row["linked"] != row["activities"] or row["negative"]:
                self.fail(f"{what}: launches {row}")


def launches(pid, device, start, n=5, gap=100, first_id=1, device_pid=None):
    """Kernels of 50 µs, 10 µs after their launches."""
    events = []
    for i in range(n):
        ts = start + i * gap
        common = {"ph": "X", "args": {"correlation": first_id + i}}
        events += [{**common, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": pid,
                    "tid": pid, "ts": ts, "dur": 5},
                   {**common, "cat": "kernel", "name": f"gemm_{pid}", "ts": ts + 10, "dur": 50,
                    "pid": device if device_pid is None else device_pid, "tid": 7,
                    "args": {"correlation": first_id + i, "device": device, "stream": 7}}]
    return events


def by_time(events):
    return sorted(events, key=lambda event: event["ts"])


def made(checks):
    eight = [launches(100 + rank, rank, 7 * rank) for rank in range(8)]
    each = [(rank, rank, BUSY) for rank in range(8)]
    checks.ranks("eight processes", sum(eight, []), list(range(8)), each)
    checks.ranks("eight processes by time", by_time(sum(eight, [])), list(range(8)), each)
    checks.ranks("one process, eight devices",
                 sum((launches(100, device, 7 * device, first_id=1 + 10 * device)
                      for device in range(8)), []),
                 [0], [(0, device, BUSY) for device in range(8)])
    checks.ranks("two processes share a device",
                 launches(100, 0, 0) + launches(200, 0, 1000, first_id=50),
                 [0, 1], [(0, 0, BUSY), (1, 0, BUSY)])
    checks.ranks("two processes share a device, by time",
                 by_time(launches(100, 0, 0) + launches(200, 0, 33, first_id=50)),
                 [0, 1], [(0, 0, BUSY), (1, 0, BUSY)])
    checks.ranks("a process that launches nothing",
                 launches(100, 0, 0) + [{"ph": "X", "cat": "cuda_runtime", "ts": 1, "dur": 2,
                                         "name": "cudaGetDevice", "pid": 200, "tid": 200,
                                         "args": {"correlation": 900}}],
                 [0], [(0, 0, BUSY)])


def next_to_sources(checks):
    """A merged file in the folder of its files counts in no time."""
    folder = checks.scratch / "folder"
    folder.mkdir()
    documents = [{"traceEvents": launches(100 + rank, rank, 7 * rank),
                  "distributedInfo": {"rank": rank, "world_size": 2}} for rank in range(2)]
    for rank, document in enumerate(documents):
        (folder / f"run-TP-{rank}.trace.json").write_text(json.dumps(document), encoding="utf-8")
    (folder / "merged-run.trace.json").write_text(json.dumps(merge(documents, label)),
                                                  encoding="utf-8")
    report = reports.read(checks.program, folder)
    busy = {row["rank"]: row["busy_ns"] for row in report.rows("gpu_time.by_rank")}
    kinds = {row["file"]: row["kind"] for row in report.rows("recordings.files")}
    if busy != {0: BUSY, 1: BUSY} or kinds["merged-run.trace.json"] != "repeat":
        checks.fail(f"a merged file next to its sources: busy {busy}, kinds {kinds}")
    # Nor does it become part of another merge.
    done = subprocess.run([checks.program, "merge", folder, "-o", checks.scratch / "again.json"],
                          capture_output=True, text=True, check=False)
    left_out = "merged-run.trace.json\" is left out: it holds several ranks"
    if done.returncode or left_out not in done.stderr:
        checks.fail(f"a merge with a merged file: {done.returncode}, {done.stderr}")


def main():
    program, folders = sys.argv[1], [pathlib.Path(path) for path in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as scratch:
        checks = Checks(program, pathlib.Path(scratch))
        made(checks)
        next_to_sources(checks)
        for folder in folders:
            if folder.is_dir():
                checks.folder(folder)
            else:
                print(f"left out: {folder}")
    return 1 if checks.faults else 0


if __name__ == "__main__":
    sys.exit(main())
