# SPDX-License-Identifier: GPL-3.0-or-later
"""A process that launches work as PyTorch does: operators, calls of the runtime, a launch queue of
limited length, streams, waits, ranges, Python frames, collectives.

It says how long the run is, with a defect and without: what a defect costs is the difference.
"""
import collections
import contextlib
import random

import process

QUEUE = 1022       # launches that a stream takes before the host waits
LATENCY = 4000     # ns from the end of a launch to the start of what it launches
COMPUTE, COPIES, LINKS = 7, 24, 20
CALLS = ("diffusers/models/transformers/transformer.py(312): forward",
         *(f"torch/nn/modules/module.py({1739 + 4 * n}): {name}" for n, name in
           enumerate(("_wrapped_call_impl", "_call_impl", "inner", "__getattr__"))),
         "torch/nn/modules/linear.py(124): forward", "torch/nn/functional.py(88): wrapper")


class Host(process.Trace):
    """One rank.  Times are nanoseconds of a host of common speed; `plan.cpu` stretches them."""

    def __init__(self, plan, rank=0):
        start = plan.writing.base_ns + 5_000_000_000 + 40_000 * rank
        super().__init__(plan.gpu.vendor, 4100 + rank, start, rank, plan.ranks,
                         rank % 8, plan.writing)
        self.plan, self.gpu = plan, plan.gpu
        self.cost = plan.cpu * (1.3 if plan.writing.stacks else 1)
        launching = plan.defects.get("launching") or plan.defects.get("recorded")
        if launching:
            self.cost = launching["cpu"]
        # What recording costs, in terms of the estimates of recording_overhead.c.
        self.dear = (plan.defects.get("recorded") or {}).get("times", 0)
        straggler = plan.defects.get("straggler") or {"rank": None}
        # Of kernels: a clock below its best.
        self.stretch = straggler["slow"] if straggler["rank"] == rank else 1.0
        self.externals, self.frames = 0, 0
        self.open = []               # ids of the operators that run
        self.queues = collections.defaultdict(collections.deque)
        self.noises = {}
        self.collectives = 0
        self.ids = 100_000 * (rank + 1)

    # ---- time ------------------------------------------------------------------------------------

    def noise(self, name, spread=0.01):
        """A factor near one; the same for the n-th kernel of a name in every variant of a run."""
        if name not in self.noises:
            self.noises[name] = random.Random(f"{self.plan.seed}/{self.rank}/{name}")
        return max(0.9, self.noises[name].gauss(1, spread))

    def spend(self, ns):
        self.work(max(0, round(ns * self.cost)))

    def until(self, ns):
        self.host = max(self.host, self.rounded(round(ns)))

    # ---- spans of the host -----------------------------------------------------------------------

    @contextlib.contextmanager
    def op(self, name, dims=None, kinds=None, before=2500, after=900, category="cpu_op",
           concrete=None):
        """An operator, with what runs inside it."""
        self.externals += 1
        number, start = self.externals, self.host
        self.open.append(number)
        calls = self.python_calls() if category == "cpu_op" else ()
        self.pay(1600 + 800 * self.plan.shapes)
        self.spend(before)
        yield number
        self.spend(after)
        self.open.pop()
        for call in reversed(calls):
            call()
        args = {"External id": number, "Record function id": 0}
        if self.plan.shapes and dims is not None:
            args |= {"Input Dims": dims, "Input type": kinds or
                     [self.plan.kind if d else "Scalar" for d in dims]}
            if concrete:
                args["Concrete Inputs"] = concrete
        self.span(category, name, start, self.host - start, **args)

    def pay(self, ns):
        self.work(max(0, round(ns * self.dear)))

    def python_calls(self):
        """Opens the functions around an operator, where a recorder follows them; closes each."""
        if "recorded" not in self.plan.defects or not self.writing.stacks:
            return ()
        return [self.python_call(name) for name in CALLS]

    def python_call(self, name):
        self.frames += 1
        number, start = self.frames, self.host
        self.pay(1300)

        def end():
            self.span("python_function", name, start, self.host - start, **{"Python id": number})
        return end

    @contextlib.contextmanager
    def range(self, name):
        """A range that the program marks, and its shadow on the device."""
        if not name:
            yield
            return
        n = len(self.events)
        with self.op(name, category="user_annotation", before=1500) as number:
            yield
        inside = [e for e in self.events[n:] if e.is_activity() and e.tid == COMPUTE]
        if inside and self.plan.shadows:
            first, last = min(e.start for e in inside), max(e.end for e in inside)
            self.span("gpu_user_annotation", name, first, last - first, tid=COMPUTE,
                      pid=self.device, **{"External id": number})

    @contextlib.contextmanager
    def frame(self, name):
        """A Python function."""
        if not self.writing.stacks:
            yield
            return
        self.frames += 1
        number, start = self.frames, self.host
        self.spend(600)
        yield
        self.spend(600)
        self.span("python_function", name, start, self.host - start, **{"Python id": number})

    # ---- calls of the runtime --------------------------------------------------------------------

    def runtime(self, name, ns, category="cuda_runtime"):
        self.ids += 1
        if self.gpu.is_rocm and name.startswith("cuda"):
            name = "hip" + name[4:]
        args = {"External id": self.open[-1]} if self.open else {}
        start = self.host
        self.pay(4000)
        self.spend(ns)
        return self.span(category, name, start, self.host - start,
                         **{"cid" if self.gpu.is_rocm else "cbid": 211, "correlation": self.ids},
                         **args)

    def enqueue(self, call, stream):
        """The call blocks where the queue of the stream is full."""
        queue = self.queues[stream]
        if len(queue) >= QUEUE:
            first = queue.popleft()
            if first > self.host:
                call.dur += first - self.host
                call.end = call.start + call.dur
                self.host = first
        return call

    def occupancy(self, kernel):
        if self.gpu.is_rocm:
            grid = kernel.grid
            if kernel.name.startswith("Cijk"):  # its launch counts threads
                grid = [grid[0] * grid[1] * grid[2] * kernel.block[0], 1, 1]
            return {"kind": "Dispatch Kernel", "grid": grid, "block": kernel.block}
        blocks = kernel.grid[0] * kernel.grid[1] * kernel.grid[2] / self.gpu.sms
        warps = blocks * kernel.block[0] / 32
        resident = min(blocks, self.gpu.resident(kernel.block[0], kernel.registers, kernel.shared))
        return {"queued": 0, "context": 1, "grid": kernel.grid, "block": kernel.block,
                "registers per thread": kernel.registers, "shared memory": kernel.shared,
                "blocks per SM": round(blocks, 4), "warps per SM": round(warps, 4),
                "est. achieved occupancy %": round(
                    100 * resident * kernel.block[0] / self.gpu.threads)}

    def launch(self, kernel, stream=COMPUTE, api=None, after=0, cost=3200):
        """`after`: not before this time, for an event of another stream."""
        if api is None:
            api = "cudaLaunchKernel"
            if self.gpu.is_rocm:
                api = "hipExtModuleLaunchKernel" if kernel.name.startswith("Cijk") else \
                    "hipModuleLaunchKernel" if kernel.name.startswith(("triton", "_", "aiter")) \
                    else "hipLaunchKernel"
            elif kernel.name.startswith(("nvjet", "void cutlass::device_kernel")):
                api = "cudaLaunchKernelExC"
            elif kernel.name.startswith(("triton", "_")):
                api = "cuLaunchKernelEx"
        category = "cuda_driver" if api.startswith("cu") and not api.startswith("cuda") \
            else "cuda_runtime"
        call = self.enqueue(self.runtime(api, cost, category), stream)
        ns = round(kernel.ns * self.noise(kernel.name) * self.stretch)
        return self.on_device(call, kernel.name, ns, stream, after, **self.occupancy(kernel))

    def on_device(self, call, name, ns, stream, after=0, category="kernel", **args):
        free = max(self.free.get((self.device, stream), 0), self.rounded(round(after)))
        pause = 900 if stream == COMPUTE else 0
        start = max(call.end + self.rounded(LATENCY), free + self.rounded(pause))
        if self.open:
            args["External id"] = self.open[-1]
        ns = self.rounded(max(700, ns))
        event = self.span(category, name, start, ns, tid=stream, pid=self.device,
                          device=self.device, stream=stream,
                          correlation=call.args["correlation"], **args)
        self.flows.append((call.args["correlation"], call.start, start, self.device, stream))
        self.free[self.device, stream] = start + ns
        self.queues[stream].append(start)
        return event

    def busy_until(self, stream=COMPUTE):
        return self.free.get((self.device, stream), 0)

    def copy(self, size, to_device=True, pinned=False, blocking=True, stream=COMPUTE, after=0,
             within=("aten::copy_",), rate=None):
        """A copy between host and device; one of pageable memory blocks the host while it runs."""
        with contextlib.ExitStack() as stack:
            for name in within:
                stack.enter_context(self.op(name, [[size // 2], [size // 2], []]))
            call = self.runtime("hipMemcpyWithStream" if self.gpu.is_rocm else "cudaMemcpyAsync",
                                4500)
            rate = rate or self.gpu.link * (1 if pinned else 0.28)
            if self.gpu.is_rocm:
                kind = "HtoD (Host -> Device)" if to_device else "DtoH (Device -> Host)"
            else:
                side = "Pinned" if pinned else "Pageable"
                kind = f"HtoD ({side} -> Device)" if to_device else f"DtoH (Device -> {side})"
            ns = size / rate + 1200
            event = self.on_device(call, f"Memcpy {kind}", round(ns * self.noise("copy")), stream,
                                   after, "gpu_memcpy", bytes=size,
                                   **{"memory bandwidth (GB/s)": round(size / ns, 4)})
            if self.gpu.is_rocm:
                event.args["kind"] = kind[:4]
            if blocking or not pinned:
                self.wait_for(call, event.end, stretch=not blocking)
        return event

    def wait_for(self, call, end, stretch=False):
        """A pageable copy returns when it is staged; others are followed by a wait."""
        if stretch or self.gpu.is_rocm:
            self.until(end + 2000)
            call.dur = self.host - call.start
            call.end = self.host
        else:
            self.synchronize(end)

    def synchronize(self, end=None, name="cudaStreamSynchronize"):
        call = self.runtime(name, 1800)
        end = max((self.busy_until(s) for s in (COMPUTE, COPIES, LINKS)), default=0) \
            if end is None else end
        if end + 1500 > self.host:
            self.until(end + 1500)
            call.dur = self.host - call.start
            call.end = self.host
        return call

    def item(self, within=("aten::item", "aten::_local_scalar_dense"), size=4):
        """Reads a value of the device: the host waits for all that was launched before."""
        with contextlib.ExitStack() as stack:
            for name in within:
                stack.enter_context(self.op(name, [[]], before=1500))
            self.copy(size, to_device=False, within=())

    # ---- ranks -----------------------------------------------------------------------------------

    def collective(self, operator, kind, name, elements):
        """Launches it; the driver says when it ends, once all have come."""
        self.collectives += 1
        facts = {"Collective name": kind, "Group size": self.world, "dtype": "BFloat16",
                 "In msg nelems": elements, "Out msg nelems": elements, "Process Group Name": "0",
                 "Process Group Description": "default_pg",
                 "Process Group Ranks": str(list(range(self.world))), "Seq": self.collectives,
                 "Rank": self.rank}
        if kind == "all_to_allv":
            facts |= {"In split size": str([elements // self.world] * self.world),
                      "Out split size": str([elements // self.world] * self.world)}
        with self.op(operator, [[elements], [elements]]):
            with self.op("record_param_comms") as number:
                call = self.runtime("cudaLaunchKernelExC", 4000)
            self.events[-1].args.update(facts | {"Is asynchronized op": False})
        ready = max(call.end + 4000, self.busy_until(), self.busy_until(LINKS))
        return {"call": call, "name": name, "ready": ready, "facts": facts, "number": number}

    def collective_ends(self, begun, end):
        start = begun["ready"]
        call, facts = begun["call"], begun["facts"]
        where = {} if self.gpu.is_rocm else {
            "context": 1, "grid": [24, 1, 1], "block": [544, 1, 1], "registers per thread": 96,
            "shared memory": 98304}
        self.span("kernel", begun["name"], start, end - start, tid=LINKS, pid=self.device,
                  device=self.device, stream=LINKS, correlation=call.args["correlation"],
                  **{"External id": begun["number"]}, **where, **facts)
        self.flows.append((call.args["correlation"], call.start, start, self.device, LINKS))
        self.free[self.device, LINKS] = self.free[self.device, COMPUTE] = end

    def document(self):
        head = super().document()
        head["deviceProperties"] = [{**self.gpu.properties(), "id": i}
                                    for i in range(max(1, self.world))]
        head["record_shapes"] = int(self.plan.shapes)
        head["with_stack"] = int(self.writing.stacks)
        if "untold" in self.plan.defects:  # the device alone was recorded
            head["traceEvents"] = [e for e in head["traceEvents"] if e["ph"] == "M" or
                                   e.get("cat") in process.ACTIVITIES]
        return head
