#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of denoising steps are those that were made: of the denoiser, of guidance and
scheduler, idle, and on the host; the figures are counted here tick by tick.

usage: test_step_parts.py --program TRACEANALYZE
"""
import pathlib
import random
import statistics
import tempfile

import reports
from small import LAYERS, SCHEDULER, Program

TICK = 1000  # all device times are multiples of it


class Planned(Program):
    """Keeps of each step what its passes and what else was launched, on host and device."""

    def __init__(self):
        super().__init__()
        self.denoiser, self.steps, self.own = "unet", [], False
        self.host = 1000

    def kernel(self, name, ns, thread=1, stream=7):
        self.host = -(-self.host // TICK) * TICK
        super().kernel(name, ns, thread, stream)
        begin = self.streams[stream] - ns
        if self.steps:
            self.steps[-1]["denoiser" if self.own else "other"].append((begin, begin + ns))

    def one(self, kind, block, passes, rng):
        self.steps.append({"kind": kind, "block": block, "denoiser": [], "other": [],
                           "host": self.host, "host_denoiser": 0})
        for _ in range(passes):
            layers = LAYERS if kind == 0 else LAYERS[:3]
            start, self.own = self.host, True
            self.call("unet", [(name, ns + TICK * rng.randint(0, 20)) for name, ns in layers])
            self.own = False
            self.steps[-1]["host_denoiser"] += self.host - 700 - start
        for name, ns in SCHEDULER:
            self.kernel(name, TICK * rng.randint(1, 9), stream=rng.choice((7, 7, 9)))
        self.host += TICK * rng.choice((0, 30, 400))


def made(seed):
    rng = random.Random(seed)
    trace = Planned()
    blocks, passes, cached = rng.choice((1, 3)), rng.choice((1, 2)), rng.random() < 0.5
    for block in range(blocks):
        trace.encode()
        for i in range(rng.randint(8, 14)):
            trace.one(int(cached and i % 3 == 2), block, passes, rng)
        # What belongs to no step is not counted: the last step of a block has no end.
        trace.decode()
    return trace


def ticks(spans, start, end):
    return {at for a, b in spans for at in range(max(a, start) // TICK, min(b, end) // TICK)}


def truth(trace):
    everything = [span for step in trace.steps for key in ("denoiser", "other")
                  for span in step[key]]
    passes = [span for step in trace.steps for span in step["denoiser"]]
    figures = {}
    for step, after in zip(trace.steps, trace.steps[1:]):
        if step["block"] != after["block"]:
            continue
        start = min(a for a, _ in step["denoiser"])
        end = min(a for a, _ in after["denoiser"])
        own, busy = ticks(passes, start, end), ticks(everything, start, end)
        host = after["host"] - step["host"]
        figures.setdefault(step["kind"], []).append({
            "step_ns": end - start, "denoiser_ns": TICK * len(own),
            "other_ns": TICK * len(busy - own), "idle_ns": end - start - TICK * len(busy),
            "host_ns": host, "host_denoiser_ns": step["host_denoiser"],
            "host_other_ns": host - step["host_denoiser"]})
    return figures


def judge(program, folder, seed):
    trace = made(seed)
    path = folder / "run.json"
    trace.write(path)
    rows = reports.read(program, path).rows("diffusion.step_parts")
    figures = truth(trace)
    if {row["kind"] for row in rows} != set(figures):
        raise AssertionError(f"{seed}: kinds {[row['kind'] for row in rows]}")
    for row in rows:
        of = figures[row["kind"]]
        wanted = {key: statistics.median(step[key] for step in of) for key in of[0]}
        wanted["steps"] = len(of)
        for part in ("denoiser", "other"):
            wanted[f"{part}_share"] = statistics.median(step[f"{part}_ns"] / step["step_ns"]
                                                        for step in of)
        for key, value in wanted.items():
            if abs(row[key] - value) > 1e-6 * max(1, abs(value)):
                raise AssertionError(f"{seed}: {key} is {row[key]}, not {value}: {row}")


def judge_none(program, folder):
    """In turns the time until the next step is another image's; training has no steps of this."""
    trace = Program()
    for _ in range(6):
        for thread in (1, 2):
            trace.step(thread=thread)
    other = Program()
    other.denoiser = "train_step"
    for _ in range(6):
        other.step()
        other.kernel("multi_tensor_apply_kernel_adam", 9000)
    for name, one in (("turns", trace), ("training", other)):
        path = folder / f"{name}.json"
        one.write(path)
        rows = reports.read(program, path).rows("diffusion.step_parts")
        if rows:
            raise AssertionError(f"{name}: {rows}")


def main():
    program = reports.program_of_arguments()
    for seed in range(10):
        with tempfile.TemporaryDirectory() as folder:
            judge(program, pathlib.Path(folder), seed)
    with tempfile.TemporaryDirectory() as folder:
        judge_none(program, pathlib.Path(folder))


main()
