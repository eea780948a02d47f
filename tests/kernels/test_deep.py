#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deep stacks cost no more than flat ones: spans nested in one another, and calls in the innermost.

usage: test_deep.py --program TRACEANALYZE

A walk to the outermost span for every call would take sixteen times as long for four times as many
of both.  Compared is the processor time of the same run, the least of a few.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SMALL, LARGE, TIMES_MOST, ROUNDS = 5000, 20000, 8, 3

AROUND = {
    "operators": ("cpu_op", "aten::op%d"),
    "ranges": ("user_annotation", "range %d"),
    "functions": ("python_function", "model.py(%d): forward"),
}
CALLS = ("cudaLaunchKernel", "cudaDeviceSynchronize", "cudaMemcpy", "cudaMalloc", "backward")
DEVICE = {
    "cudaLaunchKernel": ("kernel", "add_kernel"),
    "backward": ("kernel", "mm_kernel"),
    "cudaMemcpy": ("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)"),
}


def span(cat, name, tid, start, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": dur,
            "args": args}


def events(around, n):
    """Each span lies in the one before; calls of all kinds take turns in the last one."""
    cat, name = AROUND[around]
    end = 100 * n
    for i in range(n):
        yield span(cat, name % (i % 50), 1, i, 2 * end - 2 * i)
    for i in range(n):
        start, call = n + 5 + 50 * i, CALLS[i % len(CALLS)]
        if call == "backward":
            yield span("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 1, start - 1,
                       30, **{"Sequence number": i, "Fwd thread id": 1})
        runtime = "cudaLaunchKernel" if call == "backward" else call
        yield span("cuda_runtime", runtime, 1, start, 2 if call == CALLS[0] else 20,
                   correlation=i + 1)
        if call in DEVICE:
            yield span(*DEVICE[call], 7, start + 10, 20, correlation=i + 1, stream=7, device=0,
                       bytes=4096)


def processor_time(program, trace, out):
    before = os.times()
    subprocess.run([program, "report", trace, "-q", "-j1", "--format=json", "-o", out],
                   check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user - before.children_user +
            after.children_system - before.children_system)


def least_time(program, folder, around, n):
    trace = folder / "trace.json"
    with open(trace, "w", encoding="utf-8") as file:
        file.write(json.dumps({"traceEvents": list(events(around, n))}))
    return min(processor_time(program, trace, folder / "out") for _ in range(ROUNDS))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    slow = False
    with tempfile.TemporaryDirectory() as name:
        for around in AROUND:
            small, large = (least_time(program, pathlib.Path(name), around, n)
                            for n in (SMALL, LARGE))
            print("%s: %.2f s, %.2f s" % (around, small, large))
            slow |= large > TIMES_MOST * max(small, 0.01)
    if slow:
        sys.exit("four times as deep takes more than %d times as long" % TIMES_MOST)


if __name__ == "__main__":
    main()
