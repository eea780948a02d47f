#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What denoising steps need of host and device: of made traces, whose host and device are simulated
to the nanosecond, and of a real trace, counted a second time here; and where host and device need
the same, found here by halving.

usage: test_host_budget.py --program PROGRAM [--shared FOLDER]
"""
import argparse
import bisect
import gzip
import json
import pathlib
import random
import statistics
import sys
import tempfile

import reports

GEMM = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_tn"
FLASH = "flash_fwd_kernel"
SCALE = "void at::native::vectorized_elementwise_kernel<4, float>"


class Machine:
    """One thread that launches, one stream that works; integers of nanoseconds."""

    def __init__(self):
        self.events, self.host, self.device, self.number = [], 1_000_000, 0, 0
        self.begin_step()

    def begin_step(self):
        self.step = {"start": self.host, "waits": 0, "launches": 0, "device": 0, "ahead": 0}

    def end_step(self):
        step, self.step = self.step, None
        return {"host": self.host - step["start"] - step["waits"], **step}

    def span(self, name, category, start, end, **args):
        self.events.append({"ph": "X", "name": name, "cat": category, "pid": 1, "tid": 1,
                            "ts": start / 1000, "dur": (end - start) / 1000, "args": args})

    def work(self, ns):
        self.host += ns

    def kernel(self, name, ns):
        begin = max(self.device, self.host + 2000)
        self.device = begin + ns
        self.events.append({"ph": "X", "name": name, "cat": "kernel", "pid": 0, "tid": 7,
                            "ts": begin / 1000, "dur": ns / 1000,
                            "args": {"device": 0, "stream": 7, "correlation": self.number,
                                     "grid": [64, 1, 1]}})
        self.step["device"] += ns
        return begin

    def call(self, name, ns, **args):
        start, self.host = self.host, self.host + ns
        self.span(name, "cuda_runtime", start, self.host, **args)

    def launch(self, kernels, name="cudaLaunchKernel", op="aten::mm", ns=4000):
        start = self.host
        self.work(3000)
        self.number += 1
        self.call(name, ns, correlation=self.number)
        end = self.host
        first = [self.kernel(*kernel) for kernel in kernels][-1]
        self.work(1000)
        self.span(op, "cpu_op", start, self.host)
        self.step["launches"] += 1
        self.step["ahead"] = first - end

    def full_queue(self, ns):
        """A launch that returns when there is room: the device works all along."""
        assert self.device > self.host + ns + 1000
        self.number += 1
        self.call("cudaLaunchKernel", ns, correlation=self.number)
        end = self.host
        self.step["waits"] += ns
        self.step["launches"] += 1
        self.step["ahead"] = self.kernel(GEMM, 50_000) - end

    def synchronize(self, name="cudaStreamSynchronize"):
        start, until = self.host, max(self.device, self.host) + 3000
        self.host = until
        self.span(name, "cuda_runtime", start, until)
        return max(0, self.device - start)

    def module(self, name, body):
        start = self.host
        self.work(2000)
        body()
        self.work(1500)
        self.span(f"nn.Module: {name}_0", "python_function", start, self.host)


def made(rng):
    """Returns the events, and the truth of each kind of step."""
    machine, truth = Machine(), {}
    kind = rng.choice(("launches", "launches", "graph", "waits", "full", "cached"))
    kernels, slow, between = rng.randint(20, 60), rng.choice((20_000, 90_000)), 5000
    steps = rng.randint(4, 9)
    machine.begin_step()
    machine.module("CLIPTextModel", lambda: machine.launch([(GEMM, 5000)]))

    def forward(short):
        def body():
            if kind == "graph":
                machine.launch([(GEMM if i % 2 else FLASH, slow) for i in range(kernels)],
                               "cudaGraphLaunch", "replay", 20_000)
                return
            for i in range(4 if short else kernels):
                machine.work(rng.randint(500, 1500))
                machine.launch([(GEMM if i % 2 else FLASH, slow)])
            if kind == "full" and machine.device > machine.host + 400_000:
                machine.full_queue(300_000)
        return body

    machine.work(20_000)
    for step in range(steps):
        short = kind == "cached" and step % 2 == 1
        machine.begin_step()
        machine.module("FluxTransformer2DModel", forward(short))
        last = step == steps - 1
        if not last:
            for _ in range(6):
                machine.launch([(SCALE, 3000)], op="aten::mul")
            machine.work(between)
            if kind == "waits":
                machine.step["waits"] += machine.synchronize()
        truth.setdefault(int(short), []).append(machine.end_step())
        machine.begin_step()
        if last:
            for _ in range(6):
                machine.launch([(SCALE, 3000)], op="aten::mul")
    machine.begin_step()
    machine.synchronize("cudaDeviceSynchronize")
    machine.module("Decoder", lambda: machine.launch(
        [("cudnn_conv2d_fprop_implicit_gemm", 50_000)]))
    return machine.events, truth


def near(what, found, wanted, slack=1e-6):
    if found is None or abs(found - wanted) > slack * max(1, abs(wanted)):
        return [f"{what} is {found}, not {wanted}"]
    return []


def check_made(program, folder, seed):
    events, truth = made(random.Random(seed))
    path = folder / f"made{seed}.json"
    path.write_text(json.dumps({"traceEvents": events, "distributedInfo": {"rank": 0}}))
    rows = reports.read(program, path).tables.get("steps.host_budget", [])
    if [row["kind"] for row in rows] != sorted(truth):
        return [f"seed {seed}: kinds {[row['kind'] for row in rows]} instead of {sorted(truth)}"]
    faults = []
    for row in rows:
        steps = truth[row["kind"]]
        faults += near(f"seed {seed}: number of steps", row["steps"], len(steps))
        for column, key in (("host_ns", "host"), ("device_ns", "device")):
            faults += near(f"seed {seed}: {column}", row[column],
                           statistics.median(step[key] for step in steps))
        for column, key in (("waits_ns", "waits"), ("launches", "launches"),
                            ("run_ahead_ns", "ahead")):
            faults += near(f"seed {seed}: {column}", row[column],
                           statistics.mean(step[key] for step in steps))
    return faults


def check_finding(program, folder):
    """A host that is near the device is said, one that is far from it or that bounds is not."""
    faults = []
    for us, said in ((12, True), (40, False), (3, False)):
        machine = Machine()
        for _ in range(6):
            machine.begin_step()
            start = machine.host
            for i in range(60):
                machine.launch([(GEMM if i % 2 else FLASH, us * 1000)])
            machine.span("dit_forward", "user_annotation", start, machine.host)
            for _ in range(6):
                machine.launch([(SCALE, us * 1000)], op="aten::mul")
        machine.synchronize("cudaDeviceSynchronize")
        path = folder / f"near{us}.json"
        path.write_text(json.dumps({"traceEvents": machine.events,
                                    "distributedInfo": {"rank": 0}}))
        report = reports.read(program, path)
        bound = report.tables["steps.host_budget"][0]["bound"]
        found = [f for f in report.findings if f["id"] == "host-near-bound"]
        if bool(found) != said or (found and found[0]["severity"] != "info"):
            faults.append(f"kernels of {us} µs: {found}")
        faults += [] if bound == ("host" if us < 8 else "device") else [f"{us} µs: {bound}"]
    return faults


# ---- a real trace --------------------------------------------------------------------------------

def check_real(program, shared):
    folder = shared / "traces/xdit_sd_3.5"
    events = json.load(gzip.open(folder / "profile_trace_rank_0.json.gz"),
                       parse_float=lambda text: round(float(text) * 1000),
                       parse_int=int)["traceEvents"]
    spans = [e for e in events if e.get("ph") == "X" and e.get("dur") is not None]
    modules = sorted((e for e in spans if "SD3Transformer2DModel" in e["name"]),
                     key=lambda e: e["ts"])
    thread = modules[0]["tid"]
    steps = [(m["ts"], modules[i + 1]["ts"] if i + 1 < len(modules) else m["ts"] + m["dur"])
             for i, m in enumerate(modules)]
    launches = {e["args"]["correlation"]: e for e in spans if e.get("cat") == "cuda_runtime"
                and e["tid"] == thread and "correlation" in e.get("args", {})}
    device = sorted((e for e in spans if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")),
                    key=lambda e: e["ts"])
    starts, busy, made_of = [step[0] for step in steps], [0] * len(steps), [0] * len(steps)
    reached = [0] * len(steps)
    for event in device:
        launch = launches.get(event["args"].get("correlation"))
        if not launch:
            continue
        at = bisect.bisect(starts, launch["ts"]) - 1
        if at < 0 or launch["ts"] >= steps[at][1]:
            continue
        end = event["ts"] + event["dur"]
        busy[at] += max(0, end - max(event["ts"], reached[at]))
        reached[at] = max(reached[at], end)
        made_of[at] += 1
    row = reports.read(program, folder).tables["steps.host_budget"][0]
    host = statistics.median(end - start for start, end in steps)
    return near("SD 3.5: host_ns", row["host_ns"], host - row["waits_ns"], 1e-4) + \
        near("SD 3.5: device_ns", row["device_ns"], statistics.median(busy), 1e-6) + \
        near("SD 3.5: launches", row["launches"], statistics.mean(made_of), 0.02) + \
        ([] if row["bound"] == "either" and row["recorder_ns"] > 0 else
         [f"SD 3.5, recorded with stacks: bound is {row['bound']}"]) + check_turn(program, folder)


def check_turn(program, folder):
    """Host and device need the same there, by the law that the table of resolutions shows."""
    report = reports.read(program, folder)
    row = report.tables["steps.host_budget"][0]
    now = report.tables["diffusion.tokens"][0]
    text, share = now["tokens"] - now["image_tokens"], now["attention_share"]

    def device(scale):
        grown = (text + scale * now["image_tokens"]) / now["tokens"]
        return row["device_ns"] * (share * grown ** 2 + (1 - share) * grown)

    wanted, low, high = row["host_ns"] - row["recorder_ns"], 0.0, 16.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if device(middle) < wanted else (low, middle)
    faults = []
    if abs(row["turn_width"] - now["width"] * low ** 0.5) > 8:
        faults.append(f"turns at {row['turn_width']}, not {now['width'] * low ** 0.5}")
    for other in report.tables["diffusion.resolutions"]:
        scale = other["width"] * other["height"] / now["width"] / now["height"]
        faults += near(f"device at {other['width']}", other["device_ns"], device(scale))
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--shared", type=pathlib.Path)
    options = parser.parse_args()
    faults = []
    with tempfile.TemporaryDirectory() as temporary:
        for seed in range(24):
            faults += check_made(options.program, pathlib.Path(temporary), seed)
        faults += check_finding(options.program, pathlib.Path(temporary))
    if options.shared and (options.shared / "traces/xdit_sd_3.5").is_dir():
        faults += check_real(options.program, options.shared)
    print("\n".join(faults[:40]) or "host and device need what was made")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
