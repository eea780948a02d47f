# SPDX-License-Identifier: GPL-3.0-or-later
"""A program that runs on one or several ranks in step, and what its graph capture looks like."""
import dataclasses

from process import CUDA, KERNELS, OPERATORS, REDUCE, Trace, Writing

MARKERS = ("profiler", "sglang", "vllm", "xdit", "optimizer", "loader", "ranges", "nvtx",
           "pipeline", "none")
# How each marker calls a first step that may differ, and the others.
NAMES = {"profiler": [("ProfilerStep#{}",) * 2],
         "sglang": [("step[EXTEND bs=2 toks=2048]", "step[DECODE bs=8]")],
         "vllm": [("execute_context_2(2048)_generation_0(0)",
                   "execute_context_0(0)_generation_8(8)"),
                  ("execute_2_context_2(sq2048sk2048sqsq4sqsk4)_generation_0(sq0sk0sqsq0sqsk0)",
                   "execute_8_context_0(sq0sk0sqsq0sqsk0)_generation_8(sq8sk4096sqsq8sqsk4096)")],
         "xdit": [("execute_diffusion_1_256x256",) * 2],
         "ranges": [("denoise_step",) * 2, ("step {}",) * 2, ("transformer_forward",) * 2],
         "nvtx": [("iteration {}",) * 2, ("generate batch=4 tokens=64",) * 2,
                  ("unet bs=2 512x768",) * 2]}
CATEGORIES = {"nvtx": ("nvtx", "NVTX", "user_annotation")}
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


@dataclasses.dataclass
class Plan:
    """What every rank does."""
    vendor: object = CUDA
    ranks: int = 1
    steps: int = 6
    kernels: list = dataclasses.field(default_factory=list)  # (operator, kernel, ns) of a step
    marker: str = "profiler"
    names: tuple = ()       # what a marker calls the first step and the others
    category: str = "user_annotation"  # of markers
    is_wrapped: bool = False  # one range around all
    replayed: bool = False  # a step replays a graph instead of launching kernels
    node_ids: bool = False
    named: bool = False     # calls that launch kernels name them while a graph is captured
    branches: bool = False  # of the graph
    overlap: int = 0        # by dependent launch, ns
    before: int = 0         # host work before the first step, in each, and after the last
    between: int = 0
    after: int = 0
    crossing: bool = False  # ranges that cross the Python frames which open and close them
    asynchronous: bool = False  # the host does not wait for the devices after each step
    late: tuple = (0, 0)    # (rank, ns): its recording begins later
    devices: int = 1        # that one process drives
    writing: object = dataclasses.field(default_factory=Writing)


def drawn_plan(rng, **options):
    """A plan by chance; `options` are what the case needs."""
    vendor = options.pop("vendor", None) or rng.choice(tuple(KERNELS))
    kernels = []
    for _ in range(rng.randint(8, 16)):
        kind = rng.randrange(4)
        kernels.append((OPERATORS[kind], KERNELS[vendor][kind],
                        rng.randint(*((60_000, 160_000) if kind < 2 else (8_000, 30_000)))))
    writing = Writing(fraction=rng.random() < 0.7, packed=rng.random() < 0.5,
                      stacks=rng.random() < 0.3, distributed=rng.random() < 0.7,
                      names=rng.random() < 0.8, window=rng.random() < 0.8,
                      unit=rng.choice(("ms", "ns")),
                      base_ns=rng.choice((0, 1_763_164_800_000_000_000)))
    plan = Plan(vendor, steps=rng.randint(5, 9), kernels=kernels, marker=rng.choice(MARKERS),
                is_wrapped=rng.random() < 0.3, writing=writing)
    for name, value in options.items():
        setattr(plan, name, value)
    if plan.crossing:
        plan.writing.stacks = True
    if plan.marker in NAMES:
        first, others = rng.choice(NAMES[plan.marker])
        plan.names = (rng.choice((first, others)), others)
        plan.category = rng.choice(CATEGORIES.get(plan.marker, ("user_annotation",)))
    plan.is_wrapped = (plan.marker == "pipeline" or
                       plan.marker in ("ranges", "nvtx") and plan.is_wrapped)
    return plan


def processes(rng, plan, start, first_pid=None):
    """One per rank, not yet running."""
    first_pid = first_pid or rng.randint(1000, 40000)
    return [Trace(plan.vendor, first_pid + rank, start + rng.randint(0, 200) * 1000, rank,
                  plan.ranks, rank % 8, plan.writing) for rank in range(plan.ranks)]


def replay(rng, plan, trace, graph=1, kernels=None):
    """One launch, and the kernels of the graph one after the other, or two at a time."""
    trace.work(20_000)
    call = trace.call(plan.vendor.graph_launch, 60_000)
    start = max(call.start + call.dur + 6000, trace.free.get((trace.device, 7), 0))
    start = trace.rounded(start)
    for number, (_, name, ns) in enumerate(kernels or plan.kernels):
        ns = trace.rounded(ns + rng.randint(-500, 500))
        ids = {"graph id": graph, "graph node id": 64 + number} if plan.node_ids else {}
        event = trace.span("kernel", name, start, ns, tid=7, pid=trace.device,
                           device=trace.device, stream=7, correlation=call.args["correlation"],
                           **ids)
        if not (plan.branches and number % 2 == 0):
            start = trace.rounded(start + ns + 1000)
        trace.free[trace.device, 7] = max(trace.free.get((trace.device, 7), 0), event.end)
    return call


def all_reduce(rng, traces, number):
    """Nobody leaves before the last has come."""
    begun = []
    for trace in traces:
        start = trace.host
        trace.work(3000)
        call = trace.call(trace.vendor.launch, 4000)
        free = max(trace.free.get((trace.device, s), 0) for s in (7, 20))
        begun.append((trace, call, max(call.start + call.dur + 6000, free)))
        trace.work(1000)
        trace.span("cpu_op", "c10d::allreduce_", start, trace.host - start)
    end = max(start for _, _, start in begun) + traces[0].rounded(rng.randint(80_000, 120_000))
    for trace, call, start in begun:
        trace.span("kernel", REDUCE, start, end - start, tid=20, pid=trace.device,
                   device=trace.device, stream=20, correlation=call.args["correlation"],
                   **{"Collective name": "allreduce", "Process Group Name": "0", "Seq": number,
                      "Process Group Ranks": str([t.rank for t in traces]),
                      "Group size": len(traces), "dtype": "BFloat16",
                      "In msg nelems": 1 << 20, "Out msg nelems": 1 << 20})
        trace.free[trace.device, 7] = trace.free[trace.device, 20] = end


FRAME_NS = 3000  # that a Python function takes before it opens or closes a range, and after it


def frames(trace, plan, start):
    """What Python does in a step; a range may open and close in the middle of two functions."""
    trace.span("python_function", "torch/nn/modules/module.py(1775): _call_impl",
               start + FRAME_NS, trace.host - start - 2 * FRAME_NS)
    if plan.crossing:
        for at, name in ((start, "__enter__"), (trace.host, "__exit__")):
            trace.span("python_function", f"torch/autograd/profiler.py(744): {name}",
                       at - FRAME_NS, 2 * FRAME_NS)


def begin_step(plan, trace):
    trace.work(FRAME_NS)
    start = trace.host
    trace.work(FRAME_NS)
    if plan.marker in ("optimizer", "loader"):
        start = trace.host
    if plan.marker == "loader":
        trace.compute(40_000, "aten::stack")
        trace.mark(LOADER, start)
    if plan.marker in ("optimizer", "loader"):
        zero = trace.host
        trace.compute(10_000, "aten::zero_")
        trace.mark("Optimizer.zero_grad#AdamW.zero_grad", zero)
    return start


def end_step(plan, trace, number, start):
    trace.work(FRAME_NS)
    if plan.marker in ("optimizer", "loader"):
        optimizer = trace.host
        trace.operator("aten::_fused_adamw_", KERNELS[plan.vendor][2], 20_000)
        trace.wait()
        trace.mark("Optimizer.step#AdamW.step", optimizer)
        trace.steps.append(trace.span("none", "", start, trace.host - start))
        trace.events.pop()
    if plan.names:
        trace.mark(plan.names[number > 0].format(number + 3), start, plan.category, is_step=True)
        if plan.writing.stacks:
            frames(trace, plan, start)
    trace.work(5000)


def work_of_step(rng, plan, trace):
    if plan.between:
        trace.compute(plan.between, "aten::_cat")
    trace.copy(12_000)
    if plan.replayed:
        replay(rng, plan, trace)
        return
    for number, (operator, name, ns) in enumerate(plan.kernels):
        trace.operator(operator, name, ns + rng.randint(-500, 500), overlap=plan.overlap,
                       device=trace.device + number % plan.devices)


def run(rng, plan, traces):
    """All steps, on all ranks side by side."""
    for trace in traces:
        trace.begin = trace.host
        trace.work(150_000)
        if plan.late[0] == trace.rank:
            trace.host += plan.late[1]
            trace.begin = trace.host - 150_000
        trace.opened = trace.host
        if plan.before:
            trace.compute(plan.before, "aten::embedding")
    for number in range(plan.steps):
        starts = [begin_step(plan, t) for t in traces]
        for trace in traces:
            work_of_step(rng, plan, trace)
        if len(traces) > 1:
            all_reduce(rng, traces, number)
        for trace, start in zip(traces, starts):
            if not plan.asynchronous:
                trace.wait()
            end_step(plan, trace, number, start)
    for trace in traces:
        trace.wait()
        if plan.after:
            trace.compute(plan.after, "aten::clamp")
        if plan.is_wrapped:
            trace.mark("pipeline", trace.opened)
        if plan.writing.stacks:
            trace.span("python_function", "generate.py(31): main", trace.begin + 1000,
                       trace.host - trace.begin)
    return traces


def capture(rng, plan, run_trace, seconds=20):
    """What the recorder sees of the process while it captures the graph of a step: launches
    without kernels, and two kernels before."""
    trace = Trace(plan.vendor, run_trace.pid, run_trace.begin - seconds * 10**9, run_trace.rank,
                  run_trace.world, run_trace.device, plan.writing)
    trace.ids -= 500
    trace.work(100_000)
    for _ in range(2):
        trace.operator("aten::fill_", KERNELS[plan.vendor][2], 5000, stream=29)
    trace.wait()
    trace.call(plan.vendor.begin_capture, 4000)
    for operator, kernel, _ in plan.kernels:
        start = trace.host
        trace.work(20_000)
        trace.call(plan.vendor.launch, 3000, **({"kernel": kernel} if plan.named else {}))
        trace.work(1000)
        trace.span("cpu_op", operator, start, trace.host - start,
                   **{"Input Dims": [[256, 512], [512, 512]]})
    trace.call(plan.vendor.end_capture, 20_000)
    trace.call(plan.vendor.instantiate, 600_000)
    if plan.writing.stacks:
        trace.span("python_function", "capture.py(12): capture", trace.begin + 1000,
                   trace.host - trace.begin)
    return trace
