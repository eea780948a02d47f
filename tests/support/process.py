# SPDX-License-Identifier: GPL-3.0-or-later
"""One process as it runs, and the file that its recorder writes.

A process has a thread that launches work and devices that do it.  All times are integers, in
nanoseconds since 1970, until the file is written.  What was planted changes the events; what is
true of them, such as the busy time of a device, is worked out here from the plan and not from the
file.
"""
import dataclasses
import gzip
import json

ACTIVITIES = ("kernel", "gpu_memcpy", "gpu_memset")


@dataclasses.dataclass(frozen=True)
class Vendor:
    """What a recorder of this vendor calls things."""
    device: str
    launch: str
    copy: str
    graph_launch: str
    begin_capture: str
    end_capture: str
    instantiate: str
    wait: str
    to_device: str
    to_host: str
    head: dict = dataclasses.field(compare=False)


CUDA = Vendor("NVIDIA H100 80GB HBM3", "cudaLaunchKernel", "cudaMemcpyAsync", "cudaGraphLaunch",
              "cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaGraphInstantiateWithFlags",
              "cudaStreamSynchronize", "Memcpy HtoD (Pageable -> Device)",
              "Memcpy DtoH (Device -> Pinned)",
              {"cuda_driver_version": 12080, "cuda_runtime_version": 12080, "cupti_version": 26})
ROCM = Vendor("AMD Instinct MI300X", "hipLaunchKernel", "hipMemcpyWithStream", "hipGraphLaunch",
              "hipStreamBeginCapture", "hipStreamEndCapture", "hipGraphInstantiateWithFlags",
              "hipStreamSynchronize", "CopyHostToDevice", "CopyDeviceToHost",
              {"roctracer_version": "4.1", "hip_runtime_version": 60443483})
KERNELS = {
    CUDA: ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas",
           "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, cutlass::bfloat16_t>>",
           "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
           "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>"),
    ROCM: ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1",
           "void attention_fwd_kernel<128, true>",
           "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
           "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>"),
}
OPERATORS = ("aten::addmm", "aten::_scaled_dot_product_flash_attention", "aten::add",
             "aten::native_layer_norm")
REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


@dataclasses.dataclass
class Event:
    """A span; `end` is where a reader may believe that it ends."""
    category: str
    name: str
    pid: int
    tid: int
    start: int
    dur: int
    args: dict
    end: int = 0
    timeless: bool = False  # written without its time

    def __post_init__(self):
        self.end = self.start + self.dur

    def is_activity(self):
        return self.category in ACTIVITIES


@dataclasses.dataclass
class Writing:
    """How a file is written."""
    fraction: bool = True  # of a microsecond
    base_ns: int = 0       # times are counted from here
    unit: str = "ms"       # that a viewer shows
    packed: bool = True
    stacks: bool = False
    distributed: bool = True
    names: bool = True     # processes and threads have names
    window: bool = True    # the recorder writes from when to when it recorded


class Trace:
    """The events of one process."""

    def __init__(self, vendor, pid, start, rank=0, world=1, device=0, writing=None):
        self.vendor, self.pid, self.rank, self.world, self.device = vendor, pid, rank, world, device
        self.writing = writing or Writing()
        self.begin = self.host = start
        self.events, self.steps, self.free = [], [], {}
        self.ids, self.instants, self.flows = 1000 * (rank + 1), [], []
        self.extra_ranks = []  # traces that are written into the same file
        self.label = None      # of a rank among those: what its processes are called
        self.prefix = ""       # and what their labels begin with
        self.move = lambda pid: pid  # what somebody who merged files made of a pid

    # ---- what happens ----------------------------------------------------------------------------

    def rounded(self, ns):
        return ns if self.writing.fraction else max(1000, ns // 1000 * 1000)

    def span(self, category, name, start, dur, tid=None, pid=None, **args):
        event = Event(category, name, self.pid if pid is None else pid,
                      self.pid if tid is None else tid, start, dur, args)
        self.events.append(event)
        return event

    def work(self, ns):
        """The host computes."""
        self.host += self.rounded(ns)

    def call(self, name, ns, **args):
        self.ids += 1
        ns = self.rounded(ns)
        event = self.span("cuda_runtime", name, self.host, ns, correlation=self.ids, **args)
        self.host += ns
        return event

    def activity(self, call, name, ns, category="kernel", stream=7, device=None, lag=6000,
                 overlap=0, **args):
        """Starts on the device once it is launched and what came before it on the stream is done,
        or `overlap` before that."""
        device = self.device if device is None else device
        free = self.free.get((device, stream), 0)
        start = max(call.start + call.dur + self.rounded(lag), free - overlap)
        ns = self.rounded(ns)
        self.free[device, stream] = max(free, start + ns)
        self.flows.append((call.args["correlation"], call.start, start, device, stream))
        return self.span(category, name, start, ns, tid=stream, pid=device, device=device,
                         stream=stream, correlation=call.args["correlation"], **args)

    def operator(self, operator, name, ns, **options):
        """An operator that launches one kernel."""
        start = self.host
        self.work(3000)
        call = self.call(self.vendor.launch, 4000)
        kernel = self.activity(call, name, ns, **options)
        self.work(1000)
        self.span("cpu_op", operator, start, self.host - start, **{"External id": self.ids})
        return kernel

    def copy(self, ns, to_device=True):
        start = self.host
        self.work(2000)
        call = self.call(self.vendor.copy, 5000)
        name = self.vendor.to_device if to_device else self.vendor.to_host
        copy = self.activity(call, name, ns, category="gpu_memcpy", bytes=1 << 20)
        self.work(1000)
        self.span("cpu_op", "aten::copy_", start, self.host - start)
        return copy

    def wait(self):
        """Until the devices are done."""
        start = self.host
        self.work(1000)
        call = self.call(self.vendor.wait, 2000)
        done = self.rounded(max(self.free.values(), default=0)) + 1000
        if done > self.host:
            call.dur += done - self.host
            call.end = call.start + call.dur
            self.host = done
        self.work(1000)
        self.span("cpu_op", "aten::item", start, self.host - start)

    def compute(self, ns, name="aten::embedding"):
        """An operator of the host that launches nothing."""
        start = self.host
        self.work(ns)
        self.span("cpu_op", name, start, self.host - start)

    def mark(self, name, start, category="user_annotation", is_step=False):
        event = self.span(category, name, start, self.host - start)
        if is_step:
            self.steps.append(event)
        return event

    # ---- what is true ----------------------------------------------------------------------------

    def activities(self):
        return [e for e in self.events if e.is_activity() and not e.timeless]

    def devices(self):
        """Device → figures of the contract, from what a reader may believe."""
        found = {}
        for event in self.activities():
            found.setdefault(event.args["device"], []).append((event.start, event.end))
        return {device: {"activities": len(spans),
                         "window_ns": max(e for _, e in spans) - min(s for s, _ in spans),
                         "busy_ns": covered(spans)} for device, spans in found.items()}

    def origin(self):
        """The first span of the file, that of the recorder included."""
        first = min(e.start for e in self.events if not e.timeless)
        return min(first, self.begin) if self.writing.window else first

    def program(self):
        """From the first work of the program to its last, since the first span of the file."""
        launched = {e.args["correlation"] for e in self.activities()}
        work = [e for e in self.events if not e.timeless and (
            e.is_activity() or e.category in ("cpu_op", "user_annotation") or
            e.category == "cuda_runtime" and e.args["correlation"] in launched)]
        origin = self.origin()
        return [min(e.start for e in work) - origin, max(e.end for e in work) - origin]

    # ---- the file --------------------------------------------------------------------------------

    def stamp(self, ns):
        """Text of a time in microseconds."""
        return f"{ns // 1000}.{ns % 1000:03d}" if self.writing.fraction else str(ns // 1000)

    def record(self, event):
        start, dur = event.start - self.writing.base_ns, event.dur
        record = {"ph": "X", "cat": event.category, "name": event.name,
                  "pid": self.move(event.pid), "tid": event.tid, "ts": self.stamp(start),
                  "dur": self.stamp(dur), "args": event.args}
        if event.timeless:
            record["ts"] = record["dur"] = "0" if not self.writing.fraction else "0.000"
        return record

    def records(self):
        """Of all events but the span of the recorder about itself."""
        found = [self.record(e) for e in self.events]
        if self.writing.names:
            found = self.name_records() + found
        for correlation, launch, start, device, stream in self.flows:
            for phase, ns, pid, tid in (("s", launch, self.pid, self.pid),
                                        ("f", start, device, stream)):
                found.append({"ph": phase, "id": correlation, "pid": self.move(pid), "tid": tid,
                              "ts": self.stamp(ns - self.writing.base_ns), "cat": "ac2g",
                              "name": "ac2g", **({"bp": "e"} if phase == "f" else {})})
        return found

    def name_records(self):
        first = self.stamp(self.begin - self.writing.base_ns)
        found = []
        for pid, label in ((self.pid, "CPU"), *((d, f"GPU {d}") for d in range(8))):
            if pid == self.pid or pid <= max(self.device, 0):
                for name, args in (("process_name", {"name": self.label or "python3"}),
                                   ("process_labels", {"labels": self.prefix + label})):
                    found.append({"ph": "M", "name": name, "pid": self.move(pid), "tid": 0,
                                  "ts": first, "args": args})
        return found

    def recorder(self):
        """The spans that the recorder writes about itself."""
        last = max(e.start + e.dur for t in (self, *self.extra_ranks) for e in t.events
                   if not e.timeless and e.end == e.start + e.dur)
        base = self.writing.base_ns
        return [{"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans",
                 "tid": "PyTorch Profiler", "ts": self.stamp(self.begin - base),
                 "dur": self.stamp(last + 5000 - self.begin), "args": {"Op count": 0}},
                {"ph": "i", "s": "g", "name": "Iteration Start: PyTorch Profiler", "pid": "Traces",
                 "tid": "Trace PyTorch Profiler", "ts": self.stamp(self.begin - base)},
                {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "",
                 "ts": self.stamp(last + 9000 - base)}]

    def document(self):
        writing = self.writing
        head = {"schemaVersion": 1, **self.vendor.head, "displayTimeUnit": writing.unit,
                "deviceProperties": [{"id": i, "name": self.vendor.device, "numSms": 132}
                                     for i in range(max(1, self.device + 1))]}
        if writing.stacks:
            head.update(with_stack=1, record_shapes=1)
        if writing.distributed and self.world > 1:
            head["distributedInfo"] = {
                "backend": "nccl", "rank": self.rank, "world_size": self.world, "pg_count": 1,
                "pg_config": [{"pg_name": "0", "pg_desc": "default_pg",
                               "backend_config": "cuda:nccl", "pg_size": self.world,
                               "ranks": list(range(self.world))}], "nccl_version": "2.27.5"}
        if writing.base_ns:
            head["baseTimeNanoseconds"] = writing.base_ns
        head["traceEvents"] = [r for t in (self, *self.extra_ranks) for r in t.records()]
        if writing.window:
            head["traceEvents"] += self.recorder()
        return head

    def write(self, path):
        """Numbers stand in the text as Kineto writes them: without quotes, with three decimals."""
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.document())
        for key in ("ts", "dur"):
            text = unquoted(text, key)
        data = text.encode()
        path.write_bytes(gzip.compress(data, 1) if self.writing.packed else data)


def unquoted(text, key):
    parts = text.split(f'"{key}": "')
    return parts[0] + "".join(f'"{key}": ' + part.replace('"', "", 1) for part in parts[1:])


def covered(spans):
    """Length of the union."""
    total, reach = 0, None
    for start, end in sorted(spans):
        if reach is None or start > reach:
            total, reach = total + end - start, end
        elif end > reach:
            total, reach = total + end - reach, end
    return total
