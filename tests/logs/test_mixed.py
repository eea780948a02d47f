#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""One log with what many writers print: bars of progress, torch's tables of operators and of
memory, an error of the allocator, the texts of Inferix, and the tables of FramePack.  Every figure
is read, whatever is in front of the lines, and no beginning of the log gives a wrong one.

usage: test_mixed.py PROGRAM [STEP]
"""
import pathlib
import subprocess
import sys
import tempfile

import reports

MS, GIB, MIB = 10**6, 2**30, 2**20

INFERIX = """=== Profiling Metrics (wan) ===
Profiling session 'wan' started
GPU: Memory 8192MB / 24576MB (33.3%), Util 85.0%, Temp 72.5°C
Profiling results:
  - Initialization/caching time: 69.75 ms (11.00%)
  - VAE decoding time: 168.50 ms (26.50%)
  - Total time: 637.25 ms
📊 Diffusion Analysis:
   - Total Steps: 28
   - FPS (Frames Per Second): 69.25
Profiling session 'wan' ended (duration: 1.75s)
"""
RULE = "=" * 80 + "\n"
LINE = "-" * 80 + "\n"
FRAMEPACK = f"""
{RULE}PROFILING SUMMARY - Top Operations by Total Time
{RULE}Operation                                             Count      Total       Mean        Min \
       Max
{LINE}vae_decode                                                4      1.710s      0.428s      \
0.421s      0.436s
text encoding (llama)                                     2      0.500s      0.250s      0.240s \
     0.260s
{RULE}

{RULE}MEMORY USAGE SUMMARY
{RULE}Label                                     Allocated     Reserved    Max Alloc
{LINE}1: worker start                               1024.5M      2048.0M      3072.5M
{RULE}

{RULE}ITERATION PROFILING: diffusion_step
{RULE}Total iterations: 48
Total time:       1.165s
Mean time/iter:   0.024s (41.25 it/s)
Min time:         0.020s
Max time:         0.045s
Median time:      0.023s
{RULE}
"""
MEMORY = """|===========================================================================|
|                  PyTorch CUDA memory summary, device ID 1                 |
|---------------------------------------------------------------------------|
|            CUDA OOMs: 2            |        cudaMalloc retries: 5         |
|===========================================================================|
|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
|---------------------------------------------------------------------------|
| Allocated memory      |    2560 MiB|    4096 MiB|     915 MB |  694350 KB |
| GPU reserved memory   |    3072 MiB|    5120 MiB|  483328 KB |  229376 KB |
|===========================================================================|
"""
ERROR = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 1 has a "
         "total capacity of 23.50 GiB of which 512.00 MiB is free. Including non-PyTorch memory, "
         "this process has 22.75 GiB memory in use. Of the allocated memory 20.25 GiB is "
         "allocated by PyTorch, and 1.50 GiB is reserved by PyTorch but unallocated.\n")
OPERATORS = (("aten::conv2d", 12, 1.25, 30.5), ("aten::mm", 120, 2.5, 10.25),
             ("cudaLaunchKernel", 4096, 9.75, 0))
HEADS = ("Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "Self CUDA",
         "Self CUDA %", "CUDA total", "CUDA time avg", "# of Calls")


def table(rows, heads=HEADS, between=None):
    """The table as torch prints it; a line of somebody else after its first row."""
    ruler = "  ".join(["-" * 24] + ["-" * 12] * (len(heads) - 1)) + "  \n"
    lines = [ruler, "  ".join(f"{head:>{24 if i == 0 else 12}}"
                              for i, head in enumerate(heads)) + "  \n", ruler]
    for name, calls, host, device in rows:
        cells = [f"{name:>24}", "10.00%", f"{host:.3f}ms", "20.00%", f"{host:.3f}ms",
                 "1.000us", f"{device:.3f}ms", "5.00%", f"{device:.3f}ms", "1.000us", str(calls)]
        lines.append("  ".join([cells[0]] + [f"{cell:>12}" for cell in cells[1:]]) + "  \n")
    if between:
        lines.insert(4, between)
    host, device = (sum(row[i] for row in rows) for i in (2, 3))
    return "".join(lines) + ruler + f"Self CPU time total: {host:.3f}ms\n" \
        f"Self CUDA time total: {device:.3f}ms\n\n"


def bar(name, done, total, seconds, end):
    return f"{name}: {100 * done // total:3d}%|{'█' * (10 * done // total):10s}| {done}/{total} " \
           f"[{seconds // 60:02d}:{seconds % 60:02d}<00:10, {seconds / max(done, 1):5.2f}s/it]{end}"


BARS = "".join(bar("Denoising", n, 20, 2 * n, "\r") for n in range(20)) + \
    bar("Denoising", 20, 20, 40, "\n")
MIXED = ("loading the model\n", BARS, table(OPERATORS, between=bar("Saving", 1, 2, 4, "\n")),
         ERROR, INFERIX, FRAMEPACK, MEMORY, bar("Saving", 2, 2, 8, "\n"), "done\n")

PREFIXES = ("", "2025-09-30 21:14:00,123 INFO server.main: ", "[12-16 08:13:02] ",
            "INFO 09-30 21:14:00 [worker.py:123] ", "INFO:__main__:", "\x1b[36mINFO\x1b[0m: ",
            "\x1b[2K")


def with_prefix(prefix, text):
    return "".join(f"{prefix}{line}\n" for line in text.split("\n")[:-1])


def rows_of(report):
    """What the log holds, by table."""
    return {
        "operators": [(row["name"], row["calls"], row["self_cpu_ns"], row["self_device_ns"])
                      for row in report.rows("ops.summed")],
        "totals": [(row["device"], row["host_ns"], row["device_ns"])
                   for row in report.rows("ops.totals")],
        "bars": [(row["loop"], row["done"], row["total"], row["elapsed_ns"] // 10**9)
                 for row in report.rows("progress.bars")],
        "failures": [(row["wanted_bytes"], row["device_free_bytes"], row["allocated_bytes"])
                     for row in report.rows("memory.failures")],
        "stages": sorted((row["stage"], row["calls"], row["total_ns"])
                         for row in report.rows("stages.by_name")),
        "sessions": [(row["session"], row["dur_ns"]) for row in report.rows("run.sessions")],
        "figures": sorted((row["group"], row["figure"], round(row["value"], 3))
                          for row in report.rows("figures.reported")),
        "marks": sorted((row["label"], row["allocated_bytes"], row["reserved_bytes"])
                        for row in report.rows("memory.snapshots")),
        "iterations": [(row["loop"], row["count"], row["total_ns"], row["median_reported_ns"])
                       for row in report.rows("iterations.by_name")],
        "telemetry": sorted((row["signal"], row["max"])
                            for row in report.rows("telemetry.by_rank")),
    }


WHOLE = {
    "operators": [("aten::conv2d", 12, 1_250_000, 30_500_000),
                  ("aten::mm", 120, 2_500_000, 10_250_000),
                  ("cudaLaunchKernel", 4096, 9_750_000, 0)],
    "totals": [("CUDA", 13_500_000, 40_750_000)],
    "bars": [("Denoising", 20, 20, 40), ("Saving", 2, 2, 8)],
    "failures": [(2.5 * GIB, GIB / 2, 20.25 * GIB)],
    "stages": [("Initialization/caching", 1, 69_750_000), ("VAE decoding", 1, 168_500_000),
               ("text encoding (llama)", 2, 500 * MS), ("vae_decode", 4, 1710 * MS)],
    "sessions": [("wan", 1750 * MS)],
    "marks": [("1: worker start", int(1024.5 * MIB), 2 * GIB),
              ("memory summary", int(2.5 * GIB), 3 * GIB)],
    "iterations": [("Denoising", 20, 40_000 * MS, None), ("Saving", 2, 8_000 * MS, None),
                   ("diffusion_step", 48, 1165 * MS, 23 * MS)],
    "telemetry": [("gpu_memory_total", 24 * GIB), ("gpu_memory_used", 8 * GIB),
                  ("gpu_temperature", 72.5), ("gpu_utilization", 0.85)],
}
FIGURES = [("diffusion", "total_steps", 28), ("diffusion", "fps", 69.25),
           ("iterations", "iterations_per_s", 41.25), ("pipeline", "total_time_ns", 637_250_000),
           ("operators", "self_cpu_total_ns", 13_500_000),
           ("operators", "self_device_total_ns", 40_750_000),
           ("stage", "Initialization/caching/share_ratio", 0.11),
           ("stage", "VAE decoding/share_ratio", 0.265)]


class Checks:
    def __init__(self, program, scratch):
        self.program, self.path, self.faults = program, scratch / "run.log", 0

    def expect(self, what, found, expected):
        if found != expected:
            print(f"{what}: {found}\n  instead of {expected}")
            self.faults += 1

    def read(self, text):
        self.path.write_bytes(text.encode() if isinstance(text, str) else text)
        return reports.read(self.program, self.path)

    def whole(self):
        for prefix in PREFIXES:
            report = self.read("".join(with_prefix(prefix, part) for part in MIXED))
            for key, expected in WHOLE.items():
                self.expect(f"{key} after {prefix!r}", sorted(rows_of(report)[key], key=str),
                            sorted(expected, key=str))
            self.expect(f"figures after {prefix!r}", rows_of(report)["figures"], sorted(FIGURES))
            self.expect(f"records after {prefix!r}", report.document["data_quality"]["status"],
                        "clean")

    def orders(self):
        """Whatever comes first, all of it is read."""
        for first in range(len(MIXED)):
            report = self.read("".join(MIXED[first:] + MIXED[:first]))
            for key in WHOLE:
                if key not in ("bars", "iterations"):
                    self.expect(f"{key}, from part {first} on",
                                sorted(rows_of(report)[key], key=str),
                                sorted(WHOLE[key], key=str))

    def ranks(self):
        """Tables whose lines lie between each other, as two ranks print them."""
        other = (("aten::conv2d", 12, 1.5, 31.5), ("aten::add", 7, 0.5, 1.5))
        tables = [with_prefix(f"[rank{i}]: ", table(rows)).splitlines()
                  for i, rows in enumerate((OPERATORS, other))]
        lines = [line for i in range(max(map(len, tables)))
                 for rank in tables for line in rank[i:i + 1]]
        report = self.read("\n".join(lines) + "\n")
        self.expect("operators of ranks",
                    sorted((row["rank"], row["name"], row["self_device_ns"])
                           for row in report.rows("ops.summed")),
                    sorted((rank, name, int(device * MS)) for rank, rows in
                           enumerate((OPERATORS, other)) for name, _, _, device in rows))

    def tables_of_steps(self):
        """A table at each step is a recording each."""
        steps = [[(name, calls, host * n, device * n) for name, calls, host, device in OPERATORS]
                 for n in (1, 2, 4)]
        report = self.read("".join(f"step {n}\n{table(rows)}" for n, rows in enumerate(steps)))
        self.expect("operators of steps", rows_of(report)["operators"][0],
                    ("aten::conv2d", 36, 7 * 1_250_000, 7 * 30_500_000))

    def layouts(self):
        """torch's tables as people paste them, with lines of a bar around."""
        markdown = "| Name | Self CPU | CPU total | Self CUDA | CUDA total | # of Calls |\n" \
                   "|---|---|---|---|---|---|\n" + "".join(
                       f"| {name} | {host:.3f}ms | {host:.3f}ms | {device:.3f}ms | "
                       f"{device:.3f}ms | {calls} |\n" for name, calls, host, device in OPERATORS)
        for what, text in {"Markdown": markdown,
                           "comments": with_prefix("# ", table(OPERATORS)),
                           "blanks": " ".join(table(OPERATORS).replace("\n", "\0").split(" "))
                           .replace("\0", "\n")}.items():
            report = self.read(BARS + text)
            self.expect(what, sorted(rows_of(report)["operators"], key=str),
                        sorted(WHOLE["operators"], key=str))
            self.expect(f"bars beside {what}", rows_of(report)["bars"], WHOLE["bars"][:1])

    def others(self):
        """Two runs beside each other: what one log has is no copy of what the other has."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "a.log").write_text(BARS + FRAMEPACK)
            (folder / "b.log").write_text(BARS.replace("Denoising", "Telemetry sampling"))
            report = reports.read(self.program, folder)
            self.expect("loops of two logs", sorted(row["loop"] for row in
                                                    report.rows("progress.bars")),
                        ["Denoising", "Telemetry sampling"])

    def damaged(self):
        """A row that cannot be read is accounted for with its line and place."""
        text = BARS + table(OPERATORS).replace("4096", "many")
        report = self.read(text)
        at = text.encode().index(b"        cudaLaunchKernel")
        found = report.document["data_quality"]["files"][0]["findings"]
        self.expect("its code and place", [(entry["code"], entry["byte_offset"])
                                           for entry in found], [("bad-record", at)])

    def prefixes(self, step):
        """What the log begins with gives figures of the whole log, or none."""
        text = "".join(MIXED).encode()
        allowed = dict(WHOLE, figures=FIGURES)
        for n in range(0, len(text), step):
            self.path.write_bytes(text[:n])
            done = subprocess.run([self.program, "report", "--format", "json", "-o", "-",
                                   self.path], capture_output=True, text=True, check=False)
            if done.returncode not in (0, 3):
                self.expect(f"{n} bytes", done.returncode, 0)
            if done.returncode:
                continue
            found = rows_of(reports.Report(done.stdout))
            for name, count, total, seconds in found.pop("bars"):
                self.expect(f"{n} bytes, {name}", (total, seconds), {
                    "Denoising": (20, 2 * count), "Saving": (2, 4 * count)}[name])
            for name, count, total, median in found.pop("iterations"):
                each = {"Denoising": 2000 * MS, "Saving": 4000 * MS}.get(name)
                ok = total == each * count if each else \
                    count in (48, None) and total in (1165 * MS, None) and \
                    median in (23 * MS, None)
                self.expect(f"{n} bytes, {name}: {count}, {total}, {median}", ok, True)
            for name, host, device in found.pop("totals"):
                ok = host in (1_250_000, 3_750_000, 13_500_000, None) and device in (
                    30_500_000, 40_750_000, None) # of the rows that are there
                self.expect(f"{n} bytes, {name}: {host}, {device}", ok, True)
            for name, ns in found.pop("sessions"):
                self.expect(f"{n} bytes, session {name}", ns in (1750 * MS, 637_250_000, None),
                            True)
            for row in found.pop("marks"):
                self.expect(f"{n} bytes, {row}", any(
                    row[0] == mark[0] and row[1] in (mark[1], None) and row[2] in (mark[2], None)
                    for mark in WHOLE["marks"]), True)
            for row in found.pop("failures"):
                self.expect(f"{n} bytes, {row}", all(
                    a in (b, None) for a, b in zip(row, WHOLE["failures"][0])), True)
            for key, rows in found.items():
                self.expect(f"{n} bytes, {key}", [row for row in rows if row not in allowed[key]],
                            [])


def main():
    with tempfile.TemporaryDirectory() as scratch:
        checks = Checks(sys.argv[1], pathlib.Path(scratch))
        checks.whole()
        checks.orders()
        checks.ranks()
        checks.tables_of_steps()
        checks.layouts()
        checks.others()
        checks.damaged()
        checks.prefixes(int(sys.argv[2]) if len(sys.argv) > 2 else 23)
    return 1 if checks.faults else 0


if __name__ == "__main__":
    sys.exit(main())
