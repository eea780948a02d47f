#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The logs of samples/console-logs: their figures, what reports say of them first, and the same
logs beside the trace of a run.

usage: test_samples.py PROGRAM SAMPLES
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import reports

FAULTS = []


def expect(what, found, expected):
    if found != expected:
        FAULTS.append(f"{what}: {found} instead of {expected}")


def says(report, *texts):
    headline = report.document["verdict"]["headline"]
    for text in texts:
        expect(f"{text!r} in {headline!r}", text in headline, True)


def seconds(rows, key):
    return [round(row[key] / 1e9, 2) for row in rows]


def prompts(read):
    slow, fast = read("comfyui-offloaded.log"), read("comfyui-fp8.log")
    expect("iterations", [row["done"] for row in slow.rows("progress.bars")], [20] * 4)
    expect("first iterations", seconds(slow.rows("progress.bars"), "first_ns"), [21.5] * 4)
    expect("weights", {row["offloaded_bytes"] for row in slow.rows("models.loads", model="Wan22")},
           {round(18518.44 * 2**20)})
    expect("prompts", slow.row("iterations.by_name", loop="prompt")["count"], 2)
    says(slow, "Wan22 has 18.1 GiB of its 26.6 GiB of weights offloaded to host memory")
    expect("all weights on the GPU", fast.scalars["offloaded_bytes"], 0)
    expect("nothing to say of weights", fast.finding("offloaded-weights"), None)


def memory(read):
    report = read("out-of-memory.log")
    row = report.row("memory.failures")
    expect("the error", [round(row[key] / 2**30, 6) for key in ("wanted_bytes", "device_free_bytes",
                                                      "device_bytes", "allocated_bytes")],
           [3.38, 1.21, 23.53, 17.62])
    expect("failures", report.scalars["failed_allocations"], 1)
    says(report, "an allocation of 3.38 GiB", "1.21 GiB free")


def device(read):
    report = read("nvidia-smi.csv")
    row = report.row("telemetry.limits", limit="gpu_thermal_slowdown")
    expect("heat", [row["temperature"], row["clock"] / 1e6, row["clock_else"] / 1e6],
           [87, 1230, 2505])
    says(report, "Heat lowers the GPU clock from 2\u202f505 MHz to 1\u202f230 MHz")


def servers(read):
    report = read("sglang-perf.json")
    steps = report.rows("diffusion.steps")
    expect("steps", [len(steps), steps[0]["dur_ns"]], [30, 812_406_000])
    says(report, "Text encoding takes 34.2 %")
    report = read("vllm-omni.json")
    says(report, "A request takes 4.61 s", "0.216 requests")
    expect("stages", report.row("stages.by_name", stage="diffuse")["total_ns"], 80_400_000_000)


def comparison(program, samples):
    report = reports.read(program, samples / "comfyui-offloaded.log", samples / "comfyui-fp8.log",
                          command="diff")
    says(report, "6.1 times faster", "18.1 GiB of its weights are no longer offloaded")


def readme(program, samples):
    """What README.md shows of the comparison is what the terminal shows."""
    root = samples.parent.parent
    text = (root / "README.md").read_text(encoding="utf-8")
    shown = text.split("comfyui-fp8.log\n```\n\n```\n", 1)[1].split("```", 1)[0]
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run([program, "--no-config", "diff", "--color=never", "-o", scratch,
                               samples / "comfyui-offloaded.log", samples / "comfyui-fp8.log"],
                              capture_output=True, check=True, text=True,
                              env={**os.environ, "COLUMNS": "96"})
    expect("the terminal shows what README.md does", shown in done.stdout, True)


def beside_a_trace(program, samples):
    """A log adds to a trace and changes none of its figures."""
    trace = samples.parent / "video-4ranks-optimized" / "wan-t2v-rank0.pt.trace.json.gz"
    alone = reports.read(program, trace)
    both = reports.read(program, trace, samples / "comfyui-fp8.log", samples / "nvidia-smi.csv")
    for table in ("gpu_time.by_rank", "kernels.by_name", "run.steps"):
        expect(f"{table} beside a log", both.rows(table), alone.rows(table))
    expect("the log is read, too", len(both.rows("progress.bars")), 4)


def main():
    program, samples = sys.argv[1], pathlib.Path(sys.argv[2])

    def read(name):
        return reports.read(program, samples / name)

    for part in (prompts, memory, device, servers):
        part(read)
    comparison(program, samples)
    readme(program, samples)
    beside_a_trace(program, samples)
    for fault in FAULTS:
        print(fault)
    return len(FAULTS) > 0


if __name__ == "__main__":
    sys.exit(main())
