#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small model run three ways: eager, captured, and replayed.

usage: test_replays.py TRACEANALYZE

The kernels of a replay get the operators, modules and shapes of the capture, so tables by operator
equal the eager run's, and tables of the host equal the run's without a map.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import reports

PROGRAM = sys.argv[1]

GEMM = "sm90_xmma_gemm_bf16bf16_tn_n"
FLASH = "pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>"
NORM = "void at::native::vectorized_layer_norm_kernel<float>(int)"
EACH = "void at::native::vectorized_elementwise_kernel<4, at::native::"
ADD, GELU = EACH + "CUDAFunctor_add<c10::BFloat16>>", EACH + "GeluCUDAKernel<c10::BFloat16>>"

# Of each layer: module, the operator and the one around it, shapes for a batch, kernel, and ns for
# each item of the batch.
LAYERS = [
    ("Norm_0", "aten::layer_norm", "aten::native_layer_norm",
     lambda b: [[b, 64, 512], [], [512], [512]], NORM, 900),
    ("Linear_0", "aten::linear", "aten::addmm",
     lambda b: [[1536], [b * 64, 512], [512, 1536]], GEMM, 5200),
    ("Attention_0", "aten::scaled_dot_product_attention", "aten::_flash_attention_forward",
     lambda b: [[b, 64, 8, 64]] * 3, FLASH, 4100),
    ("Linear_1", "aten::linear", "aten::addmm",
     lambda b: [[512], [b * 64, 512], [512, 512]], GEMM, 2100),
    (None, None, "aten::add", lambda b: [[b, 64, 512], [b, 64, 512], []], ADD, 700),
    ("Linear_2", "aten::linear", "aten::addmm",
     lambda b: [[2048], [b * 64, 512], [512, 2048]], GEMM, 6600),
    ("GELU_0", None, "aten::gelu", lambda b: [[b, 64, 2048], []], GELU, 1300),
]

MLP = {kernel for *_, kernel, _ in LAYERS[5:]}


class Trace:
    """The events of one recording; times are integer microseconds."""

    def __init__(self, names=False, correlation=1):
        self.events, self.now, self.names, self.ids = [], 1000, names, correlation
        self.dated = False

    def span(self, cat, name, ts, dur, pid=1, tid=1, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts,
                            "dur": dur, "args": args})

    def call(self, name, dur=2, **args):
        self.ids += 1
        self.span("cuda_runtime", name, self.now, dur, correlation=self.ids, **args)
        self.now += dur
        return self.ids

    def kernel(self, name, ts, ns, correlation, batch, stream=7, **args):
        self.span("kernel", name, ts, ns / 1000, 0, stream, correlation=correlation, device=0,
                  stream=stream, grid=[batch * 64, 1, 1], block=[128, 1, 1], **args)

    def layers(self, batch, launch):
        """The host of one pass through the model; `launch` gets the kernel of each layer."""
        start, first = self.now, len(self.events)
        for module, outer, op, shapes, kernel, ns in LAYERS:
            begin = self.now
            self.now += 6
            launch(kernel, ns * batch)
            self.now += 4
            types = ["c10::BFloat16" if s else "" for s in shapes(batch)]
            args = {"Input Dims": shapes(batch), "Input type": types,
                    "Concrete Inputs": [""] * len(types)}
            self.span("cpu_op", op, begin + 3, self.now - begin - 4, **args)
            if outer:
                self.span("cpu_op", outer, begin + 2, self.now - begin - 3, **args)
            if module:
                self.span("python_function", f"nn.Module: {module}", begin + 1,
                          self.now - begin - 1)
            self.span("user_annotation", "mlp" if kernel in MLP else "attention", begin,
                      self.now - begin)
        self.span("python_function", "nn.Module: Model_0", start - 1, self.now - start + 2)
        self.events[first:] = sorted(self.events[first:], key=lambda e: (e["ts"], -e["dur"]))
        self.now += 5

    def capture(self, batch, name=None, kernels=None):
        """Captures the model; what is launched runs nothing."""
        start = self.now
        self.now += 2
        self.call("cudaStreamBeginCapture")
        def launch(kernel, ns):
            extra = {"kernel": kernel} if self.names else {}
            self.call("cudaLaunchKernel", **extra)
        self.now += 2
        self.layers(batch, launch)
        self.call("cudaStreamEndCapture")
        self.call("cudaGraphInstantiateWithFlags")
        if name:
            self.span("user_annotation", name, start, self.now - start)

    def eager(self, batch, marker="step"):
        start = self.now
        self.now += 2
        device = [self.now + 40]
        def launch(kernel, ns):
            correlation = self.call("cudaLaunchKernel")
            self.kernel(kernel, device[0], ns, correlation, batch)
            device[0] += ns // 1000 + 1
        self.layers(batch, launch)
        self.now = max(self.now, device[0]) + 20
        self.span("user_annotation", marker, start, self.now - start)

    def replay(self, batch, marker="step", streams=1, node=None, layers=LAYERS):
        """A replay; `streams` branches side by side, on one stream when it is negative."""
        start = self.now
        self.now += 2
        correlation = self.call("cudaGraphLaunch", 8)
        at = [self.now + 4] * abs(streams)
        for i, (_, _, _, _, kernel, ns) in enumerate(layers):
            stream = i % abs(streams)
            args = {"graph node id": node + i, "graph id": 5} if node else {}
            late = 3 if abs(streams) > 1 and i == 1 else 0
            self.kernel(kernel, at[stream] + late, ns * batch, correlation, batch,
                        7 + (stream if streams > 0 else 0), **args)
            at[stream] += ns * batch // 1000 + 1
        self.now = max(at) + 30
        self.span("user_annotation", marker, start, self.now - start)

    def write(self, path):
        device = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132,
                  "totalGlobalMem": 85000000000}
        document = {"schemaVersion": 1, "deviceProperties": [device], "traceEvents": self.events,
                    **({"baseTimeNanoseconds": 1_764_000_000_000_000_000} if self.dated else {})}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document), encoding="utf-8")
        return path


def run_program(*args):
    return subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, check=False)


def report(trace, *maps):
    """The tables of a report, by id, and its scalars."""
    read = reports.read(PROGRAM, trace, *[word for path in maps for word in ("--map", path)])
    return read.tables, read.scalars


def only(rows, *columns):
    return sorted([tuple(row[c] for c in columns) for row in rows], key=str)


FAILED = []


def check(what, condition, *details):
    if not condition:
        FAILED.append(what)
        print("failed:", what, *details)


BY_OPERATOR = {
    "ops.device_time": ("name", "calls", "kernels", "device_total_ns", "device_busy_ns"),
    "kernels.by_op": ("op", "name", "within", "calls", "total_ns"),
    "kernels.by_phase": ("phase", "class", "calls", "total_ns"),
    "ops.by_module": ("module", "instances", "calls", "device_total_ns", "device_self_ns"),
    "roofline.by_op": ("name", "class", "shape", "type", "calls", "busy_ns", "flop", "bytes"),
    "attention.by_backend": ("backend", "source", "calls", "kernels", "total_ns"),
    "ops.by_operator": ("name", "device_total_ns", "device_self_ns", "kernels"),
}
OF_HOST = ("ops.by_name", "ops.by_caller", "launches.by_rank", "gpu_time.by_rank", "steps.by_step",
           "files.kinds", "launches.graphs")


def check_equal(what, tables, eager, calls=("cudaGraphLaunch",)):
    for table, columns in BY_OPERATOR.items():
        mapped = [row for row in tables.get(table, []) if row.get("name") not in calls]
        check(f"{what}: {table}", only(mapped, *columns) == only(eager[table], *columns),
              "\n ", only(mapped, *columns), "\n ", only(eager[table], *columns))


def test_equal(folder):
    """One batch size: names of kernels in the capture or not, and all in one file."""
    eager = Trace()
    for _ in range(5):
        eager.eager(4)
    eager_tables, _ = report(eager.write(folder / "eager.json"))
    for names in (False, True):
        capture, replays = Trace(names), Trace()
        capture.capture(4, "capture_4")
        for _ in range(5):
            replays.replay(4)
        what = "named" if names else "unnamed"
        path = capture.write(folder / what / "capture_traces" / "capture_rank_0.json")
        trace = replays.write(folder / what / "run_rank_0.json")
        tables, scalars = report(trace, path)
        check_equal(what, tables, eager_tables)
        check(f"{what}: share", scalars.get("replays_mapped_share") == 1, scalars)
        graphs = tables["launches.replays"]
        check(f"{what}: graphs", only(graphs, "graph", "nodes", "replays", "mapped_kernels") ==
              [("capture_4", 7, 5, 35)], graphs)
        plain, plain_scalars = report(trace)
        check(f"{what}: no map", "launches.replays" not in plain and
              "replays_mapped_share" not in plain_scalars)
        for table in OF_HOST:
            check(f"{what}: host {table}", tables.get(table) == plain.get(table),
                  tables.get(table), plain.get(table))
    both = Trace()
    both.capture(4, "capture_4")
    for _ in range(5):
        both.replay(4)
    tables, scalars = report(both.write(folder / "both.json"))
    check("one file: share", scalars.get("replays_mapped_share") == 1, scalars)
    check("one file: operators", only(tables["kernels.by_op"], "op", "name", "calls", "total_ns") ==
          only(eager_tables["kernels.by_op"], "op", "name", "calls", "total_ns"))


def test_batches(folder):
    """Graphs that differ in their batch alone: told apart by numbers, by size, or not at all."""
    order = [8, 8, 4, 1, 4, 8]
    for what, named, marked in (("numbers", True, True), ("sizes", False, False)):
        eager, capture, replays = Trace(), Trace(), Trace()
        for batch in (8, 4, 1):
            capture.capture(batch, f"capture_{batch}_FULL" if named else None)
        for batch in order:
            marker = f"step[DECODE bs={batch}]" if marked else "step"
            eager.eager(batch, marker)
            replays.replay(batch, marker)
        eager_tables, _ = report(eager.write(folder / what / "eager.json"))
        tables, _ = report(replays.write(folder / what / "run.json"),
                           capture.write(folder / what / "capture.json"))
        check_equal(f"batches by {what}", tables, eager_tables)
        check(f"batches by {what}: graphs", len(tables["launches.replays"]) == (3 if named else 1),
              tables["launches.replays"])
    # One of three captures is replayed, and nothing says which: operators, but no shapes.
    capture, replays = Trace(), Trace()
    for batch in (8, 4, 1):
        capture.capture(batch)
    replays.replay(4)
    tables, _ = report(replays.write(folder / "untold" / "run.json"),
                       capture.write(folder / "untold" / "capture.json"))
    check("untold: operators", only(tables["ops.device_time"], "name", "kernels") ==
          only(report_one(folder, 4)["ops.device_time"], "name", "kernels"))
    check("untold: no shapes", not tables.get("roofline.by_op"), tables.get("roofline.by_op"))
    check("untold: said", "shapes" in (tables["launches.replays"][0]["note"] or ""))


def report_one(folder, batch):
    eager = Trace()
    eager.eager(batch)
    return report(eager.write(folder / f"eager_{batch}.json"))[0]


def test_branches(folder):
    """Branches that run at the same time begin in another order than they were captured in."""
    eager = report_one(folder, 4)
    for what, names, node, known in (("order", False, None, False), ("names", True, None, True),
                                     ("numbers", False, 17179869184, True),
                                     ("one stream", False, None, False)):
        capture, replays = Trace(names), Trace()
        capture.capture(4)
        replays.replay(4, streams=-2 if what == "one stream" else 2, node=node)
        tables, scalars = report(replays.write(folder / what / "run.json"),
                                 capture.write(folder / what / "capture.json"))
        share = scalars["replays_mapped_share"]
        check(f"branches by {what}: share", share == (1 if known else 0), share)
        columns = ("op", "name", "calls", "total_ns")
        mapped = only(tables["kernels.by_op"], *columns)
        check(f"branches by {what}: operators",
              (mapped == only(eager["kernels.by_op"], *columns)) == known, mapped)
        note = tables["launches.replays"][0]["note"]
        check(f"branches by {what}: reason", known or "branches" in note, note)


def rename(trace, old, new):
    """Calls a kernel, or an operator, otherwise."""
    for event in trace.events:
        if event["name"] == old:
            event["name"] = new
        if event["args"].get("kernel") == old:
            event["args"]["kernel"] = new


def test_names(folder):
    """Kernels of branches that have one name: of several modules, and of several operators."""
    def mapped(what, rename_to=None):
        capture, replays = Trace(True), Trace()
        capture.capture(4)
        replays.replay(4, streams=2)
        for trace in (capture, replays):
            rename(trace, FLASH, rename_to or FLASH)
        return report(replays.write(folder / what / "run.json"),
                      capture.write(folder / what / "capture.json"))
    tables, _ = mapped("modules")
    modules = {row["module"] for row in tables["ops.by_module"]}
    check("names: module of one node", "Norm" in modules, modules)
    check("names: no module of several", not any("Linear" in m for m in modules), modules)
    note = tables["launches.replays"][0]["note"]
    check("names: said", note and "modules" in note, note)
    tables, scalars = mapped("operators", GEMM)
    by_op = only(tables["kernels.by_op"], "op", "name", "calls")
    check("names: several operators", (None, GEMM, 4) in by_op and
          ("aten::add", ADD, 1) in by_op and len(by_op) == 4, by_op)
    check("names: share", scalars["replays_mapped_share"] == 3 / 7, scalars)


def cut(trace, replay, kept):
    """Takes kernels out of a replay: those that are not kept."""
    launches = [e["args"]["correlation"] for e in trace.events if e["name"] == "cudaGraphLaunch"]
    kernels = sorted((e for e in trace.events if e["cat"] == "kernel" and
                      e["args"]["correlation"] == launches[replay]), key=lambda e: e["ts"])
    gone = {id(e) for i, e in enumerate(kernels) if i not in kept}
    trace.events = [e for e in trace.events if id(e) not in gone]


def test_parts(folder):
    """Of the first replay the last kernels were recorded, of the last one the first."""
    for what, node, last, known, note in (
            ("order", None, range(5), 5, "only a part"),
            ("numbers", 64, range(5), 5, "only a part"),
            ("one of three", None, (1,), 0, "which one"), ("numbered", 64, (1,), 1, "only a part"),
            ("gap", None, (0, 2), 0, "as many nodes"), ("numbered gap", 64, (0, 2), 2, "a part")):
        capture, replays = Trace(), Trace()
        capture.capture(4)
        for _ in range(3):
            replays.replay(4, node=node)
        cut(replays, 0, range(3, 7))
        cut(replays, 2, last)
        tables, scalars = report(replays.write(folder / what / "run.json"),
                                 capture.write(folder / what / "capture.json"))
        ran = [LAYERS[i] for i in (*range(3, 7), *range(7), *(last if known else ()))]
        right = {}
        for _, _, op, _, kernel, ns in ran:
            calls, total = right.get((op, kernel), (0, 0))
            right[op, kernel] = calls + 1, total + 4 * ns
        said = {(row["op"], row["name"]): (row["calls"], row["total_ns"])
                for row in tables["kernels.by_op"] if row["op"]}
        check(f"parts by {what}: operators", said == right, said, right)
        modules = {row["module"]: row["device_total_ns"] for row in tables["ops.by_module"]}
        by_module = sum(4 * ns for module, *_, ns in ran if "Linear" in str(module))
        check(f"parts by {what}: module", modules["Linear"] == by_module, modules)
        share = (4 + 7 + known) / (4 + 7 + len(last))
        check(f"parts by {what}: share", scalars["replays_mapped_share"] == share, scalars)
        notes = [row["note"] or "" for row in tables["launches.replays"]]
        check(f"parts by {what}: said", any(note in text for text in notes), notes)


def test_small_graph(folder):
    """As many kernels as a smaller graph has, where the recording ends, may be a part."""
    capture, replays = Trace(), Trace()
    capture.capture(4)
    capture.call("cudaStreamBeginCapture")
    for _ in range(2):
        start = capture.now
        capture.call("cudaLaunchKernel")
        capture.span("cpu_op", "aten::linear", start - 1, capture.now - start + 2)
        capture.now += 3
    capture.call("cudaStreamEndCapture")
    for _ in range(3):
        replays.replay(4)
    cut(replays, 2, range(2))
    tables, _ = report(replays.write(folder / "run.json"), capture.write(folder / "capture.json"))
    calls = {row["name"]: row["kernels"] for row in tables["ops.device_time"]}
    check("small graph: operators", "aten::linear" not in calls or calls["aten::addmm"] == 6, calls)
    check("small graph: said", any("small graph" in (row["note"] or "")
                                   for row in tables["launches.replays"]),
          tables["launches.replays"])


def test_nearest(folder):
    """Runs of one folder that capture the same kernels: each has its own captures.  Where there is
    none, captures that tell the same are as good as one; those that differ are none."""
    def write(operators, bare_process=1):
        for number, (run, operator) in enumerate(operators.items()):
            capture, replays = Trace(), Trace()
            capture.dated = replays.dated = True
            capture.now += 60_000_000 * number
            replays.now += 60_000_000 * number + 30_000_000
            capture.capture(4)
            replays.replay(4)
            rename(capture, "aten::addmm", operator)
            if run == "second":
                for event in capture.events + replays.events:
                    event["pid"] = 2 if event["cat"] != "kernel" else 0
            capture.write(root / run / "capture_traces" / "graph_capture_rank_0.json")
            replays.write(root / run / f"{run}_rank_0.json")
        bare = Trace()
        bare.dated = True
        bare.now += 300_000_000
        bare.replay(4)
        for event in bare.events:
            if event["cat"] != "kernel":
                event["pid"] = bare_process
        bare.write(root / "third" / "third_rank_0.json")
        out = root.parent / f"{root.name}-report"
        done = run_program("report", root, "--format", "json", "-o", out)
        check("nearest: runs", done.returncode == 0, done.stderr)
        return {path.parent.name.partition("-")[0]: reports.Report(path.read_text())
                for path in out.glob("*/report.json")}
    def operators_of(of):
        return {row["op"] for row in of.rows("kernels.by_op", name=GEMM)}
    root = folder / "differ"
    differ = write({"first": "aten::addmm", "second": "aten::_scaled_mm"})
    check("nearest: first", operators_of(differ["first"]) == {"aten::addmm"})
    check("nearest: second", operators_of(differ["second"]) == {"aten::_scaled_mm"})
    check("nearest: none", differ["third"].scalars["replays_mapped_share"] == 1 and
          operators_of(differ["third"]) == {"aten::addmm"}, differ["third"].tables)
    root = folder / "process"
    process = write({"first": "aten::addmm", "second": "aten::_scaled_mm"}, 2)
    check("nearest: process", operators_of(process["third"]) == {"aten::_scaled_mm"})
    root = folder / "unknown"
    unknown = write({"first": "aten::addmm", "second": "aten::_scaled_mm"}, 3)["third"]
    note = unknown.rows("launches.replays")[0]["note"] or ""
    check("nearest: unknown", unknown.scalars["replays_mapped_share"] == 0 and
          "other operators" in note, unknown.rows("launches.replays"))
    root = folder / "alike"
    alike = write({"first": "aten::addmm", "second": "aten::addmm"}, 3)["third"]
    check("nearest: alike", alike.scalars["replays_mapped_share"] == 1)
    text = run_program("check", folder / "alike").stdout
    check("nearest: check", "graph captures that name the kernels of the replayed graphs" in text,
          text)


def test_check(folder):
    """`check` says in one line each what captures are, and that replays have no kernels."""
    capture, replays = Trace(), Trace()
    capture.capture(4)
    for _ in range(5):
        replays.replay(4)
    for replay in (1, 3):
        cut(replays, replay, ())
    capture.write(folder / "capture_traces" / "graph_capture_rank_0.json")
    replays.write(folder / "run_rank_0.json")
    text = run_program("check", folder).stdout
    check("check: map", "graph capture that names the kernels of the replayed graphs" in text, text)
    check("check: lost", "2 of 5 graph replays have no kernels, 40 % of all kernels" in text, text)


def test_folder(folder):
    """A capture beside its run is found and counts in no time; --map of it gives the same."""
    capture, replays = Trace(True), Trace()
    for batch in (8, 4):
        capture.capture(batch, f"capture_{batch}")
    for batch in (8, 4, 4, 8):
        replays.replay(batch, f"execute_{batch}")
    path = capture.write(folder / "run" / "capture_traces" / "graph_capture_rank_0.json")
    trace = replays.write(folder / "run" / "graph_execution_rank_0.json")
    found, scalars = report(folder / "run")
    named, _ = report(trace, path)
    check("folder: share", scalars.get("replays_mapped_share") == 1, scalars)
    for table in (*BY_OPERATOR, *OF_HOST):
        check(f"folder: {table}", found.get(table) == named.get(table), found.get(table),
              named.get(table))
    why = [row["why"] for row in found["recordings.files"] if row["kind"] == "graph_capture"]
    check("folder: said", len(why) == 1 and "100 %" in why[0], found["recordings.files"])
    # A second recording of the process, which replays what the first one captured.
    first, second = Trace(), Trace()
    first.capture(4, "capture_4")
    first.replay(4)
    second.replay(4)
    first.write(folder / "cycles" / "host_77.1000000000000000000.pt.trace.json")
    second.now += 5_000_000
    second.write(folder / "cycles" / "host_77.1000000005000000000.pt.trace.json")
    _, scalars = report(folder / "cycles")
    check("cycles: share", scalars.get("replays_mapped_share") == 1, scalars)


def test_marks(folder):
    """Kernels that the program marked have the mark for an operator, unless a capture is known."""
    replays = Trace()
    for _ in range(3):
        replays.replay(4)
    for event in replays.events:
        if event["cat"] == "kernel":
            event["args"]["name"] = "mlp" if event["name"] in MLP else "attention"
    path = replays.write(folder / "run.json")
    tables, _ = report(path)
    marked = only(tables["ops.device_time"], "name", "calls", "kernels")
    check("marks: operators", marked == [("attention", 3, 9), ("mlp", 3, 12)], marked)
    capture = Trace()
    capture.capture(4)
    tables, _ = report(path, capture.write(folder / "capture.json"))
    check("marks: captured", "aten::addmm" in {row["name"] for row in tables["ops.device_time"]})


def test_recorded(_folder):
    """A small diffusion transformer on an H200: three eager steps with batches of 8, 4 and 1, and
    eight replays of graphs for batches of 4 and 1, captured in a file each."""
    here = pathlib.Path(__file__).resolve().parent / "h200"
    eager, _ = report(here / "eager_rank_0.pt.trace.json.gz")
    replayed, scalars = report(here / "replayed")
    check("recorded: share", scalars.get("replays_mapped_share") == 1, scalars)
    check("recorded: graphs", only(replayed["launches.replays"], "graph", "replays", "kernels") ==
          [("capture_1_DECODE", 3, 366), ("capture_4_DECODE", 5, 610)])
    for table, key, count in (("ops.device_time", "name", "kernels"),
                              ("ops.device_time", "name", "calls"),
                              ("ops.by_module", "module", "calls")):
        per_step = [{row[key]: row[count] / steps for row in tables[table] if row[count]}
                    for tables, steps in ((eager, 3), (replayed, 8))]
        check(f"recorded: {count} of {table}", per_step[0] == per_step[1], *per_step)
    shares = [{row["module"]: row["device_share"] for row in tables["ops.by_module"]}
              for tables in (eager, replayed)]
    for module, share in shares[0].items():
        check(f"recorded: share of {module}", abs(share - shares[1].get(module, 0)) < 0.05,
              share, shares[1].get(module))
    batches = {row["shape"].split()[0] for row in replayed["roofline.by_op"]
               if row["name"] == "aten::addmm"}
    check("recorded: shapes", {"M=1024", "M=256"} <= batches, batches)


def test_others(folder):
    """Captures of other graphs map nothing."""
    replays = Trace()
    replays.replay(4, layers=LAYERS[:5])
    run_path = replays.write(folder / "run.json")
    capture = Trace()
    capture.capture(4)
    tables, scalars = report(run_path, capture.write(folder / "longer.json"))
    check("longer: share", scalars["replays_mapped_share"] == 0)
    names = {row["name"] for row in tables["ops.device_time"]}
    check("longer: graph", names == {"cudaGraphLaunch"}, names)
    turned = Trace()
    turned.replay(4, layers=LAYERS[1:] + LAYERS[:1])
    for names in (True, False):  # as many nodes, but products where norms were
        capture = Trace(names)
        capture.capture(4)
        _, scalars = report(turned.write(folder / "turned.json"),
                            capture.write(folder / "same_length.json"))
        check(f"same length, names {names}", scalars["replays_mapped_share"] == 0, scalars)
    done = run_program("report", run_path, "--map", run_path, "--format", "json", "-o", "-",
                       "--no-config")
    check("no capture: fails", done.returncode != 0 and "--map" in done.stderr, done.stderr)
    done = run_program("report", run_path, "--map", folder / "none.json", "-o", "-",
                       "--no-config")
    check("no file: fails", done.returncode != 0, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as name:
        for test in (test_equal, test_batches, test_branches, test_names, test_parts,
                     test_small_graph, test_nearest, test_check, test_folder, test_marks,
                     test_recorded, test_others):
            test(pathlib.Path(name) / test.__name__)
    print("failed:" if FAILED else "passed", len(FAILED) or "")
    return bool(FAILED)


if __name__ == "__main__":
    sys.exit(main())
