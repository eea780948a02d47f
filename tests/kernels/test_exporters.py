#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Work of devices in what other exporters write: Ascend, Intel, JAX, torch before Kineto, Horovod.

Their kernels and copies are work of a device and never time of the host; what they draw a second
time counts once.

usage: test_exporters.py --program PROGRAM
"""
import json
import pathlib
import sys
import tempfile

import reports

STEP = 1000  # µs


def name_process(pid, name):
    return {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}


def name_thread(pid, tid, name):
    return {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}


def span(name, pid, tid, ts, dur, **more):
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, **more}


def arrow(category, number, begin, end):
    """From a span to a span."""
    both = {"cat": category, "name": f"{category}{number}", "id": str(number)}
    return [{**both, "ph": "s", **{k: begin[k] for k in ("pid", "tid", "ts")}},
            {**both, "ph": "f", "bp": "e", **{k: end[k] for k in ("pid", "tid", "ts")}}]


def ascend():
    """torch_npu's trace_view.json: times are texts, and two processes view the hardware again."""
    events = [name_process(31, "Python"), name_process(32, "Ascend Hardware"),
              name_process(33, "Overlap Analysis"), name_process(34, "Communication")]
    for i in range(4):
        ts = 1786700000000000 + STEP * i
        text = lambda offset, ts=ts: f"{ts + offset}.500"
        events += [span("aten::mm", 31, 31, text(0), 100, cat="cpu_op"),
                   span("aclnnMatmul_MatMulV3", 32, 2, text(50), 400),
                   span("MEMCPY_ASYNC", 32, 2, text(500), 50),
                   span("EVENT_WAIT", 32, 3, text(600), 300),
                   span("Computing", 33, 1, text(50), 400), span("Free", 33, 4, text(550), 500),
                   span("hcom_allReduce__231_0", 34, 1, text(0), 10)]
    return events, {"device": 0, "window": 3500, "compute": 1600, "memcpy": 200, "busy": 1800,
                    "kernels": {"aclnnMatmul_MatMulV3": 4}, "host": {"aten::mm"},
                    "copies": {"other": 4}}


def ascend_launches(linked):
    """CANN's calls, apart from the Python of the same thread, which another thread's queue hands
    over; linked by arrows, by numbers, or by both, or by an arrow from the operator alone."""
    events = []
    for i in range(4):
        ts = 1786700000000000 + STEP * i
        text = lambda offset, ts=ts: f"{ts + offset}.250"
        number = {"args": {"connection_id": 70 + i}} if linked in ("numbers", "both") else {}
        operator = span("aten::mm", 31, 31, text(0), 100, cat="cpu_op")
        call = span("Node@launch", 35, 31, text(20), 30, **number)
        kernel = span("aclnnMm_MatMulV2", 32, 2, text(300), 400, **number)
        events += [operator, call, kernel,
                   span("AscendCL@aclnnMm", 35, 31, text(10), 50,
                        args={"connection_id": 9000 + i}),
                   span("AscendCL@aclrtSynchronizeStream", 35, 31, text(500), 200)]
        if linked in ("arrows", "both"):
            events += arrow("HostToDevice", (70 + i) << 32, call, kernel)
        if linked != "numbers":
            events += arrow("async_npu", kernel["ts"], operator, kernel)
    events += [name_process(31, "Python"), name_process(32, "Ascend Hardware"),
               name_process(35, "CANN")]
    delay = 200000 if linked == "operators" else 250000  # after the end of what launched
    return events, {"linked": 4, "delay": delay, "op": {("aten::mm", "aclnnMm_MatMulV2", 4)}}


def intel():
    """Kineto on XPUs: M is memory of the host; a wait is a call and a row of the device."""
    events = []
    for i in range(4):
        ts, first = STEP * i, 10 * i
        copy = "Memcpy M2D (HOST -> DEVICE)" if i % 2 else "zeCommandListAppendMemoryCopy(D2M)"
        args = lambda n, first=first: {"correlation": first + n}
        events += [span("aten::mm", 7, 7, ts, 100, cat="cpu_op"),
                   span("urEnqueueKernelLaunch", 7, 7, ts + 10, 20, cat="xpu_runtime",
                        args=args(1)),
                   span("gemm", 0, 1, ts + 50, 200, cat="kernel", args={**args(1), "device": 0}),
                   span("urEnqueueUSMMemcpy", 7, 7, ts + 40, 20, cat="xpu_runtime", args=args(2)),
                   span(copy, 0, 1, ts + 300, 100, cat="gpu_memcpy",
                        args={**args(2), "device": 0, "bytes": 1000}),
                   span("urQueueFinish", 7, 7, ts + 100, 400, cat="xpu_runtime", args=args(3)),
                   span("xpu_sync", 0, 1, ts + 100, 400, cat="xpu_sync", args=args(3))]
    return events, {"device": 0, "window": 3350, "compute": 800, "memcpy": 400, "busy": 1200,
                    "kernels": {"gemm": 4}, "copies": {"HtoD": 2, "DtoH": 2},
                    "host": {"aten::mm", "urEnqueueKernelLaunch", "urEnqueueUSMMemcpy",
                             "urQueueFinish"}}


def jax():
    """A GPU has streams, and views of what runs on them."""
    events = [name_process(1, "/device:GPU:3"), name_thread(1, 14, "Stream #14(Compute,MemcpyH2D)"),
              name_thread(1, 2, "XLA Modules"), name_thread(1, 3, "XLA Ops"),
              name_process(701, "/host:CPU"), name_thread(701, 5, "python3")]
    for i in range(4):
        ts = STEP * i
        events += [span("PjitFunction(step)", 701, 5, ts, 90),
                   span("triton_softmax_14", 1, 14, ts + 50, 300),
                   span("MemcpyH2D", 1, 14, ts + 400, 100), span("jit_step", 1, 2, ts + 50, 450),
                   span("softmax.14", 1, 3, ts + 50, 300)]
    return events, {"device": 3, "window": 3450, "compute": 1200, "memcpy": 400, "busy": 1600,
                    "kernels": {"triton_softmax_14": 4}, "copies": {"HtoD": 4},
                    "host": {"PjitFunction(step)"}}


def tpu():
    """A TPU has no streams: its operators are its work."""
    events = [name_process(3, "/device:TPU:2"), name_thread(3, 1, "XLA Ops"),
              name_thread(3, 2, "XLA Modules"), name_thread(3, 3, "Steps")]
    for i in range(3):
        events += [span("fusion", 3, 1, STEP * i, 300), span("jit_step", 3, 2, STEP * i, 400),
                   span(str(i), 3, 3, STEP * i, 500)]
    return events, {"device": 2, "window": 2300, "compute": 900, "memcpy": 0, "busy": 900,
                    "kernels": {"fusion": 3}, "copies": {}, "host": set()}


def before_kineto():
    """torch.autograd.profiler: an operator's time on the device encloses the times of its parts."""
    events = []
    for i in range(3):
        ts = STEP * i
        flow = {"name": "aten::linear", "id": i, "cat": "cpu_to_cuda", "args": {}}
        events += [span("aten::linear", "CPU functions", 1, ts, 400),
                   {**flow, "ph": "s", "ts": ts, "tid": 1, "pid": "CPU functions"},
                   {**flow, "ph": "f", "ts": ts + 50, "tid": 0, "pid": "CUDA functions"},
                   span("aten::linear", "CUDA functions", 0, ts + 50, 300),
                   span("aten::mm", "CUDA functions", 0, ts + 60, 200)]
    return events, {"device": 0, "window": 2200, "compute": 600, "memcpy": 0, "busy": 600,
                    "kernels": {"aten::mm": 3}, "copies": {}, "host": {"aten::linear"}}


def jax_launches():
    """Calls of the driver and what they launch have a number, which is a text."""
    events = [name_process(1, "/device:GPU:0"), name_thread(1, 14, "Stream #14(Compute)"),
              name_process(701, "/host:CPU")]
    for i in range(1, 4):
        number = {"args": {"correlation_id": str(i)}}
        events += [span("PjitFunction(step)", 701, 5, STEP * i, 90),
                   span("cuLaunchKernel", 701, 5, STEP * i + 40, 5, **number),
                   span("loop_fusion", 1, 14, STEP * i + 100, 300, **number)]
    return events, {"linked": 3, "delay": 55000, "op": {(None, "loop_fusion", 3)}}


def old_launches():
    """torch before Kineto: arrows from operators, whose ends are named after what is there."""
    events = []
    for i in range(3):
        operator = span("conv2d", "CPU functions", 1, STEP * i, 400)
        kernel = span("implicit_convolve", "CUDA functions", 0, STEP * i + 50, 300)
        begin, end = arrow("cpu_to_cuda", i, operator, kernel)
        events += [operator, {**begin, "name": "conv2d"}, {**end, "name": "implicit_convolve"},
                   kernel]
    return events, {"linked": 3, "delay": None, "op": {("conv2d", "implicit_convolve", 3)}}


def check_launches(program, name, made, folder):
    """Which call and which operator launched what."""
    events, expected = made
    path = folder / f"launches_{name}.json"
    path.write_text(json.dumps(events), encoding="utf-8")
    report = reports.read(program, path)
    row = report.row("launches.by_rank")
    found = {"linked": row["linked"], "delay": row["delay_p50_ns"],
             "op": {(r["op"], r["name"], r["calls"]) for r in report.rows("kernels.by_op")}}
    if found == expected:
        return True
    print(f"launches of {name}: {found}\n  instead of {expected}")
    return False


def horovod(program, folder):
    """A tensor is a process without threads; what it goes through begins and ends, and the file has
    no end.  Ticks say when each rank was ready."""
    lines, expected = ["["], {"NEGOTIATE_ALLREDUCE": 70, "ALLREDUCE": 600, "NCCL_ALLREDUCE": 500,
                              "MEMCPY_IN_FUSION_BUFFER": 60}
    for pid in (1, 2):
        lines.append(json.dumps({**name_process(pid, f"grads_{pid}"), "tid": 0}) + ",")
    for i in range(3):
        lines.append(json.dumps({"ph": "i", "name": "CYCLE_START", "ts": 7000 * i + 5, "s": "g"})
                     + ",")
        for pid in (1, 2):
            at = 7000 * i + 100 * pid
            for name, phase, ts in (("NEGOTIATE_ALLREDUCE", "B", 0), ("0", "X", 10), ("1", "X", 60),
                                    (None, "E", 70), ("ALLREDUCE", "B", 80),
                                    ("MEMCPY_IN_FUSION_BUFFER", "B", 90), (None, "E", 150),
                                    ("NCCL_ALLREDUCE", "B", 150), (None, "E", 650),
                                    (None, "E", 680)):
                event = {"ph": phase, "ts": at + ts, "pid": pid}
                if name:
                    event["name"] = name
                if phase == "X":
                    event["dur"] = 0
                lines.append(json.dumps(event) + ",")
    path = folder / "horovod.json"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = reports.read(program, path)
    found = {r["name"]: (r["calls"], r["total_ns"]) for r in report.rows("ops.by_name")}
    right = {**{name: (6, 6000 * us) for name, us in expected.items()}, "0": (6, 0), "1": (6, 0)}
    if found == right and not report.rows("gpu_time.by_rank") and \
            not report.rows("kernels.by_name"):
        return True
    print(f"horovod: {found}\n  instead of {right}")
    return False


def nccl(program, folder):
    """NCCL's profiler plugins write asynchronous spans: collectives, and what proxies do."""
    events = []
    for i in range(3):
        for name, category, start, length in (("AllReduce", "COLL", 0, 500),
                                              ("ProgressStep", "PROXY", 100, 200 + 100 * i)):
            both = {"name": name, "cat": category, "id": i, "pid": 4, "tid": 1}
            events += [{**both, "ph": "b", "ts": STEP * i + start, "args": {"Seq": i}},
                       {**both, "ph": "e", "ts": STEP * i + start + length}]
    path = folder / "nccl.json"
    path.write_text(json.dumps(events), encoding="utf-8")
    found = [(row["name"], row["count"], row["total_ns"], row["max_ns"])
             for row in reports.read(program, path).rows("asyncs.by_name")]
    if found == [("AllReduce", 3, 1500000, 500000), ("ProgressStep", 3, 900000, 400000)]:
        return True
    print(f"nccl: {found}")
    return False


def check(program, exporter, folder):
    events, expected = exporter()
    path = folder / f"{exporter.__name__}.json"
    path.write_text(json.dumps(events), encoding="utf-8")
    report = reports.read(program, path)
    row = report.row("gpu_time.by_rank")
    found = {"device": row["device"], "window": row["window_ns"] / 1000,
             "busy": row["busy_ns"] / 1000, "compute": row["compute_ns"] / 1000,
             "memcpy": row["memcpy_ns"] / 1000,
             "kernels": {row["name"]: row["calls"] for row in report.rows("kernels.by_name")},
             "copies": {row["direction"]: row["count"]
                        for row in report.rows("copies.by_direction")},
             "host": {row["name"] for row in report.rows("ops.by_name")}}
    if found == expected:
        return True
    print(f"{exporter.__name__}: {found}\n  instead of {expected}")
    return False


def main():
    program = reports.program_of_arguments()
    with tempfile.TemporaryDirectory() as folder:
        done = [check(program, exporter, pathlib.Path(folder))
                for exporter in (ascend, intel, jax, tpu, before_kineto)]
        made = {f"ascend_{linked}": ascend_launches(linked)
                for linked in ("arrows", "numbers", "both", "operators")}
        made |= {"jax": jax_launches(), "old": old_launches()}
        done += [check_launches(program, name, of, pathlib.Path(folder))
                 for name, of in made.items()]
        done += [nccl(program, pathlib.Path(folder)), horovod(program, pathlib.Path(folder))]
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
