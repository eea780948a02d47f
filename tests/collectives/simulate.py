# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of many ranks as it happens, and the traces that their profilers would write of it.

Ranks compute and meet in collectives.  Each has a clock of its own.  What is planted, an operation
that takes longer, a copy, a host that is late, on one rank, is known, and so is when each rank
entered and left each collective.  Times are integer nanoseconds.
"""
import json
import random

COMM = {"allreduce": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "_allgather_base": "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "all_to_all": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
        "all_to_allv": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
        "broadcast": "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)"}
DTYPES = {"BFloat16": 2, "Float": 4}


class Plan:
    """What a run does; `culprit` is (rank, kind, share of the compute time, first step), and, when
    it is not late to the end, how many steps."""

    def __init__(self, ranks=8, steps=12, seed=1, culprit=None, groups=None, noise=0.01,
                 clocks=True, spread=0.002, ops=("allreduce", "_allgather_base"), drop=(),
                 facts=True, transfer=180_000, elements=None, slow=None, description="tp",
                 splits=None, device=None, passes=None):
        self.ranks, self.steps, self.seed, self.culprit = ranks, steps, seed, culprit
        self.groups = groups or [list(range(ranks))]
        self.noise, self.clocks, self.spread, self.ops = noise, clocks, spread, ops
        self.drop, self.facts, self.transfer = set(drop), facts, transfer
        self.elements = elements or [1 << 20] * len(self.ops)  # of each operation
        self.description = description
        self.slow = slow or {}  # group → how many times as long its transfers take
        self.splits = splits  # of all_to_allv, as recorded: a text by rank
        self.device = device  # its name
        self.passes = passes  # name of a range around each half of the operations of a step


class Rank:
    """The events of one rank, in true time, and the clock they are written by."""

    def __init__(self, rank, rng, plan):
        self.rank, self.now, self.events, self.ids = rank, 1_000_000, [], 0
        self.comm = []  # (group, op, start, end), true times
        self.device = plan.device
        self.speed = 1 + rng.gauss(0, plan.spread)
        self.offset = rng.randint(-5_000_000, 5_000_000) if plan.clocks and rank else 0
        self.drift = rng.uniform(-20e-6, 20e-6) if plan.clocks and rank else 0.0

    def local(self, time):
        return time + self.offset + round(self.drift * time)

    def span(self, cat, name, pid, tid, start, dur, **args):
        begin, end = self.local(start), self.local(start + dur)
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
                            "ts": begin / 1000, "dur": (end - begin) / 1000, "args": args})

    def launch(self, name, dur, lead, cat="kernel", stream=7, op=None, **args):
        """Puts an activity on the device at `now`, launched `lead` before."""
        self.ids += 1
        start = self.now - lead
        if op:
            self.span("cpu_op", op, 1, 1, start - 2000, 6000, **args)
        self.span("cuda_runtime", "cudaMemcpyAsync" if cat == "gpu_memcpy" else "cudaLaunchKernel",
                  1, 1, start, 2000, correlation=self.ids)
        self.span(cat, name, 0, stream, self.now, dur, correlation=self.ids, device=self.rank % 8,
                  stream=stream, **args)
        self.now += dur


def facts(plan, group, op, elements, dtype, blank):
    """`blank`: what the writer puts between elements of a list."""
    ranks = plan.groups[group]
    if not plan.facts:
        return {}
    gathered = elements * len(ranks) if op == "_allgather_base" else elements
    return {"Collective name": op, "Process Group Name": str(group), "dtype": dtype,
            "Process Group Description": plan.description,
            "Process Group Ranks": str(ranks).replace(" ", blank),
            "Group size": len(ranks), "In msg nelems": elements, "Out msg nelems": gathered}


def work(plan, rank, step, rng):
    """What a rank does between two collectives."""
    culprit, kind, share, first, *steps = plan.culprit or (None, None, 0, 0)
    if culprit != rank.rank or step < first or step >= first + (steps or [plan.steps])[0]:
        kind, share = None, 0
    parts = (("gemm_bf16", 400_000, "aten::mm"), ("flash_fwd_kernel", 600_000, "aten::sdpa"))
    total = sum(p[1] for p in parts)
    for name, dur, op in parts:
        dur = round(dur * rank.speed * (1 + rng.gauss(0, plan.noise)))
        if kind == "kernel" and name == "flash_fwd_kernel":
            dur += round(total * share)
        rank.launch(name, dur, 150_000, op=op)
    if kind == "copy":
        rank.launch("Memcpy HtoD (Pageable -> Device)", round(total * share), 100_000,
                    op="aten::copy_", cat="gpu_memcpy")
    if kind == "gap":
        gap = round(total * share)
        rank.span("cpu_op", "tokenize", 1, 1, rank.now - 5000, gap)
        rank.now += gap
        rank.launch("copy_kernel", 2000, 4000, op="aten::copy_")


def meet(plan, members, group, op, elements, rng, index):
    """A collective of `members`: nobody leaves before the last has come."""
    starts = {r.rank: r.now for r in members}
    size = max(0.05, elements / (1 << 20)) * plan.slow.get(group, 1)
    end = max(starts.values()) + round(plan.transfer * size * (1 + abs(rng.gauss(0, 0.02))))
    if op == "broadcast":  # the root leaves when it has sent
        end = None
    for r in members:
        leave = (r.now + plan.transfer if end is None else end) + rng.randint(0, 600)
        if (r.rank, index) not in plan.drop:
            dur = leave - r.now
            r.launch(COMM[op], dur, 50_000, stream=20,
                     **facts(plan, group, op, elements, "BFloat16",
                             " " if r.rank % 2 else ""),
                     **(plan.splits(r.rank) if plan.splits and op == "all_to_allv" else {}))
            r.comm.append((group, op, starts[r.rank], leave, elements, index))
        r.now = leave


def simulate(plan):
    rng = random.Random(plan.seed)
    ranks = [Rank(r, rng, plan) for r in range(plan.ranks)]
    index = 0
    for step in range(plan.steps):
        begin = [r.now for r in ranks]
        for i, (op, elements) in enumerate(zip(plan.ops, plan.elements)):
            if plan.passes and i % (len(plan.ops) // 2) == 0:
                half = [r.now for r in ranks]
            for r in ranks:
                work(plan, r, step, rng)
            for group, members in enumerate(plan.groups):
                meet(plan, [ranks[m] for m in members], group, op, elements, rng, index)
            index += 1
            if plan.passes and (i + 1) % (len(plan.ops) // 2) == 0:
                for r in ranks:
                    r.span("user_annotation", plan.passes, 1, 1, half[r.rank] - 152_000,
                           r.now - half[r.rank] - 8_000)
        for r in ranks:
            r.span("user_annotation", f"ProfilerStep#{step}", 1, 1, begin[r.rank] - 160_000,
                   r.now - begin[r.rank])
    return ranks


def write(ranks, folder):
    for r in ranks:
        device = getattr(r, "device", None)
        properties = {"deviceProperties": [{"id": d, "name": device} for d in range(8)]}
        text = json.dumps({**(properties if device else {}),
                           "distributedInfo": {"backend": "nccl", "rank": r.rank,
                                               "world_size": len(ranks)},
                           "traceEvents": r.events})
        (folder / f"rank{r.rank}.json").write_text(text)
