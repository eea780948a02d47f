#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of recordings with things planted in them, and what is true of each.

usage: make.py FOLDER [--count N] [--seed S] [--kind KIND]
  writes N folders, with what is true of each next to it; without --kind every fifth is clean, the
  others have one kind planted or two

A case is a layout, which says what files there are, and at most one change, which says what
happened to the events.  Each draws from its own seed, so case 17 of seed 1 is the same in every
run.
"""
import argparse
import dataclasses
import json
import pathlib
import random
import sys

from program import Plan, capture, drawn_plan, processes, run
from process import KERNELS, OPERATORS, REDUCE, Trace

START = 1_764_000_000_000_000_000  # ns since 1970
HOSTS = ("gpu-node.cluster.local", "dgx_a100-04", "ip-10-0-3-7.ec2.internal", "vm", "warmup-box",
         "iteration-lab", "tp0.lab")


@dataclasses.dataclass
class Case:
    """What is written, and what is true of it."""
    kinds: list
    files: dict = dataclasses.field(default_factory=dict)  # path → Trace
    kind_of: dict = dataclasses.field(default_factory=dict)  # path → what the file is
    counted: list = dataclasses.field(default_factory=list)  # traces whose figures are shown
    runs: list = dataclasses.field(default_factory=list)     # of each run its number of ranks
    recordings: int = 1
    plan: Plan = None
    damage: dict = dataclasses.field(default_factory=dict)  # code → number
    facts: dict = dataclasses.field(default_factory=dict)   # of the change
    texts: dict = dataclasses.field(default_factory=dict)   # path → what is no recording

    def add(self, path, trace, kind, counts=True):
        self.files[path] = trace
        self.kind_of[path] = kind
        if counts:
            self.counted.append(trace)

    def steps(self, trace):
        if self.plan.marker in ("pipeline", "none"):
            return None
        return [e.dur for e in trace.steps if not e.timeless and e.start >= trace.begin]

    def replayed(self):
        """Operator that a capture knows → device time of the kernels that replays of it ran; None
        where not each rank has a capture, or where kernels of a replay have no order: they lost
        their times, or branches ran side by side and nodes have no numbers."""
        captures = sum(kind == "graph_capture" for kind in self.kind_of.values())
        if captures < len(self.counted) or "zero-time" in self.kinds or \
                self.plan.branches and not self.plan.node_ids and not self.plan.named:
            return None
        operator, total = dict(zip(KERNELS[self.plan.vendor], OPERATORS)), {}
        for trace in self.counted:
            launches = {e.args["correlation"] for e in trace.events
                        if e.name == self.plan.vendor.graph_launch and not e.timeless}
            for event in trace.activities():
                if event.args["correlation"] in launches:
                    name = operator[event.name]
                    total[name] = total.get(name, 0) + event.dur
        return total

    def truth(self):
        return {"kinds": self.kinds, "files": self.kind_of, "runs": self.runs,
                "recordings": self.recordings, "marker": self.plan.marker,
                "damage": self.damage, "facts": self.facts, "replayed": self.replayed(),
                "ranks": {t.rank: {"devices": t.devices(), "program": t.program(),
                                   "steps": self.steps(t),
                                   "names": [e.name for e in t.steps if not e.timeless]}
                          for of in self.counted for t in (of, *of.extra_ranks)}}

    def write(self, folder):
        for path, trace in self.files.items():
            trace.write(folder / path)
        for path, text in self.texts.items():
            (folder / path).write_text(text, encoding="latin-1")
        (folder.parent / f"{folder.name}.truth.json").write_text(json.dumps(self.truth(), indent=1))


# ---- names --------------------------------------------------------------------------------------

class Names:
    """How a program calls its files."""

    def __init__(self, rng, plan):
        self.host = rng.choice(HOSTS)
        self.ending = ".json.gz" if plan.writing.packed else ".json"
        self.style = rng.choice(("rank", "vllm", "vllm-groups", "sglang", "xdit", "hta", "torch",
                                 "worker"))
        self.tensor = plan.ranks  # ranks that share a stage of SGLang's pipeline
        if self.style == "sglang" and plan.ranks in (4, 8) and rng.random() < 0.4 and \
                plan.writing.distributed:
            self.tensor //= 2  # of several stages only the content tells the rank
        self.stamp = START // 10**6 + rng.randint(0, 10**6)
        self.part = rng.choice(("", "-DP-0", "-PP-0", "-DP-0-PP-0-EP-{rank}"))
        if self.tensor < plan.ranks:
            self.part = "-PP-{stage}"

    def file(self, trace, stem=""):
        rank = trace.rank
        part = self.part.format(rank=rank, stage=rank // self.tensor)
        return {"rank": f"{stem}rank{rank}",
                "vllm-groups": f"{stem}dp0_pp0_tp{rank}_dcp0_ep{rank}_rank{rank}."
                               f"{self.stamp}00{rank}.pt.trace",
                "worker": f"{stem}worker{rank}_step_12.{self.stamp + 3 * rank}.pt.trace",
                "vllm": f"{stem}3f2a-rank-{rank}.{self.stamp}000{rank}.pt.trace",
                "sglang": f"{stem}1764000000.5-TP-{rank % self.tensor}{part}.trace",
                "xdit": f"{stem}profile_trace_rank_{rank}",
                "hta": f"{stem}rank-{rank}.Nov_24_10_20_3{rank}.{trace.pid}.pt.trace",
                "torch": f"{stem}{self.host}_{trace.pid:06}.{self.stamp + rank}.pt.trace",
                }[self.style] + self.ending


# ---- layouts: what files there are ---------------------------------------------------------------

def plain(rng, case, plan):
    names = Names(rng, plan)
    for trace in run(rng, plan, processes(rng, plan, START)):
        case.add(names.file(trace), trace, "run")
    case.runs = [plan.ranks]


def capture_with_run(rng, case, plan):
    """As vLLM, SGLang and xDiT do, or in one folder."""
    names = Names(rng, plan)
    traces = run(rng, plan, processes(rng, plan, START))
    style = rng.choice(("vllm", "sglang", "plain"))
    few = rng.random() < 0.3
    for trace in traces:
        case.add(names.file(trace), trace, "run")
        if few and trace.rank:
            continue
        path = {"vllm": f"capture_traces/graph_capture_rank_{trace.rank}.{names.stamp}.pt.trace",
                "sglang": f"capture_traces/bs_8_rank{trace.rank}",
                "plain": f"graph_capture_rank{trace.rank}"}[style] + names.ending
        case.add(path, capture(rng, plan, trace), "graph_capture", counts=False)
    case.runs = [plan.ranks]


def capture_alone(rng, case, plan):
    names = Names(rng, plan)
    plan.marker = "none"
    for trace in processes(rng, plan, START):
        case.add(names.file(trace, "capture_traces/"), capture(rng, plan, trace), "graph_capture")
    case.runs = [plan.ranks]


def again(rng, traces, plan):
    """The same processes, after a pause."""
    pause = rng.randint(300, 3000) * 10**6
    start = max(t.host for t in traces) + pause
    found = []
    for trace in traces:
        new = Trace(trace.vendor, trace.pid, start + rng.randint(0, 50) * 1000, trace.rank,
                    trace.world, trace.device, trace.writing)
        new.ids = trace.ids + 100
        found.append(new)
    return found


def iterations(rng, case, plan):
    """Numbered by the program, perhaps after a warm-up."""
    names = Names(rng, plan)
    names.style = "xdit"
    folders = rng.random() < 0.3
    traces, count = processes(rng, plan, START), rng.randint(2, 4)
    case.recordings = count + (rng.random() < 0.5)
    for number in range(count - case.recordings, count):
        label = f"iteration_{number}" if number >= 0 else "warmup"
        for trace in run(rng, plan, traces):
            name = names.file(trace)
            path = f"{label}/{name}" if folders else \
                name.replace(names.ending, f"_{label}{names.ending}")
            case.add(path, trace, "iteration" if number >= 0 else "warm_up", number == count - 1)
        traces = again(rng, traces, plan)
    case.runs = [plan.ranks]


def cycles(rng, case, plan):
    """As the schedule of torch writes them: only the time in the name differs."""
    names = Names(rng, plan)
    names.style = rng.choice(("torch", "vllm"))
    case.recordings = rng.randint(2, 4)
    traces = processes(rng, plan, START)
    for number in range(case.recordings):
        names.stamp = max(t.host for t in traces) // 10**6
        for trace in run(rng, plan, traces):
            case.add(names.file(trace), trace, "cycle", number == case.recordings - 1)
        traces = again(rng, traces, plan)
    case.runs = [plan.ranks]


def several_runs(rng, case, plan):
    """The default folder of cache-dit: a run per name; or a folder per run."""
    plan.writing.distributed = True
    folders = rng.random() < 0.3
    stems = rng.sample(("flux_cp", "flux_tp", "flux_test", "wan_usp", "profile_1764000000"),
                       rng.randint(2, 4))
    many = plan.ranks if plan.ranks > 8 else 0
    for number, stem in enumerate(sorted(stems)):
        alone = stem in ("flux_test", "profile_1764000000")
        plan.ranks = 1 if alone else many + rng.randint(2, 4)
        start = START + number * rng.randint(40, 400) * 10**9
        traces = run(rng, plan, processes(rng, plan, start, 4000 + 100 * number))
        for trace in traces:
            name = f"{stem}-rank{trace.rank}" if plan.ranks > 1 else stem
            name = f"{stem}/rank{trace.rank}" if folders else name
            case.add(f"{name}.trace.json" + ".gz" * plan.writing.packed, trace, "run", False)
        case.runs.append(plan.ranks)
    case.recordings = len(stems)


def host_only(rng, plan, trace, pid):
    """A process, or a second recorder of one, that sees no device."""
    other = Trace(plan.vendor, pid, trace.begin, trace.rank, trace.world, trace.device,
                  plan.writing)
    other.work(100_000)
    while other.host < trace.host:
        other.compute(rng.randint(50_000, 400_000), rng.choice(("schedule", "detokenize")))
        other.work(20_000)
    return other


def coordinator(rng, case, plan):
    """vLLM: the process of the front end is recorded, too."""
    names = Names(rng, plan)
    names.style = "vllm"
    traces = run(rng, plan, processes(rng, plan, START))
    for trace in traces:
        case.add(names.file(trace), trace, "run")
    other = host_only(rng, plan, traces[0], traces[0].pid - 7)
    other.world, other.writing = 1, dataclasses.replace(plan.writing, distributed=False)
    case.add(f"{names.host}_{other.pid}.async_llm.{names.stamp}.pt.trace{names.ending}", other,
             "host_process", False)
    case.runs = [plan.ranks]


def host_twin(rng, case, plan):
    """Of each rank a second file without its device."""
    plan.writing.distributed = True
    for trace in run(rng, plan, processes(rng, plan, START)):
        ending = ".json.gz" if plan.writing.packed else ".json"
        case.add(f"rank{trace.rank}{ending}", trace, "run")
        case.add(f"rank{trace.rank}_host{ending}", host_only(rng, plan, trace, trace.pid),
                 "host_process", False)
    case.runs = [plan.ranks]


def merged(rng, case, plan):
    """Ranks that the test merges into one file with the program."""
    plain(rng, case, plan)


def foreign_merge(rng, case, plan):
    """Somebody put the events of all ranks into one file: with the rank in the names of
    processes or in their labels, as SGLang in front of pids, or one after the other and nothing
    else.  Ids of launches are those of other ranks as well."""
    style = rng.choice(("names", "labels", "sglang", "bare"))
    traces = processes(rng, plan, START)
    for trace in traces:
        trace.ids = 1000
    run(rng, plan, traces)
    plan.writing.names = plan.writing.names or style in ("names", "labels")
    for trace in traces:
        rank = trace.rank
        if style == "names":
            trace.label = f"rank {rank}: python3"
            trace.move = lambda pid, rank=rank: pid + 100_000 * (rank + 1)
        elif style == "labels":
            trace.prefix = f"rank {rank} "
            trace.move = lambda pid, rank=rank: pid + 100_000 * (rank + 1)
        elif style == "sglang":
            trace.move = lambda pid, rank=rank: f"[TP{rank:02}] {pid}"
    first = traces[0]
    first.extra_ranks = traces[1:]
    case.facts["style"] = style
    case.add("merged.json" + ".gz" * plan.writing.packed, first, "run")
    case.runs = [plan.ranks]


STRAYS = {"config.json": '{"lr": 0.0001, "model": "flux"}', "README.md": "# Notes\n",
          "train.log": "step 1 loss 2.31\nstep 2 loss 2.30\n", "loss.png": "\x89PNG\r\n",
          "requirements.txt": "torch==2.11.0\n", "config_rank1.json": '{"rank": 1, "lr": 0.1}',
          "loss_rank0.json": "[2.31, 2.30, 2.25]\n",
          "metrics_rank0.json": '[{"step": 1, "loss": 2.31}, {"step": 2, "loss": 2.3}]'}


def strays(rng, case, plan):
    """Files that are no recordings lie in the folder."""
    plain(rng, case, plan)
    case.texts = {name: STRAYS[name] for name in rng.sample(sorted(STRAYS), rng.randint(1, 3))}
    case.facts["strays"] = sorted(case.texts)


def data_parallel(rng, case, plan):
    """One process, several devices: one rank."""
    plan.devices = rng.randint(2, 4)
    plain(rng, case, plan)
    for trace in case.files.values():
        trace.free.clear()


SEVERAL = (2, 3, 4, 8)
LAYOUTS = {
    "plain": (plain, lambda rng: {"ranks": rng.choice((1, 1, 1, 2, 4, 8))}),
    "capture": (capture_with_run, lambda rng: {
        "ranks": rng.choice((1, 1, 2, 4, 8)), "replayed": True, "node_ids": rng.random() < 0.5,
        "named": rng.random() < 0.3}),
    "capture-alone": (capture_alone, lambda rng: {"ranks": rng.choice((1, 2))}),
    "iterations": (iterations, lambda rng: {"ranks": rng.choice((1, 1, 2, 4))}),
    "cycles": (cycles, lambda rng: {"ranks": rng.choice((1, 1, 2, 4))}),
    "runs": (several_runs, lambda rng: {}),
    "coordinator": (coordinator, lambda rng: {"ranks": rng.choice((1, 2, 4))}),
    "host-twin": (host_twin, lambda rng: {"ranks": rng.choice((1, 2, 4))}),
    "merged": (merged, lambda rng: {"ranks": rng.choice(SEVERAL)}),
    "foreign-merge": (foreign_merge, lambda rng: {"ranks": rng.choice(SEVERAL)}),
    "strays": (strays, lambda rng: {"ranks": rng.choice((1, 1, 2))}),
    "data-parallel": (data_parallel, lambda rng: {"ranks": 1}),
}


# ---- changes: what happened to the events -------------------------------------------------------

def zero_time(rng, case, trace):
    """The times of a part of the events were not written."""
    middle = (trace.begin + trace.host) // 2
    part = rng.choice(("second half", "first half", "kernels of the second half",
                       "operators of the second half"))
    for event in trace.events:
        late = event.start >= middle
        event.timeless = (not late if part == "first half" else
                          late and (part == "second half" or
                                    event.is_activity() and part.startswith("kernels") or
                                    event.category == "cpu_op" and part.startswith("operators")))
    trace.flows = []
    case.facts["part"] = part
    case.damage["zero-time"] = sum(e.timeless for e in trace.events)


def overlong(rng, case, trace, category="kernel", collective=False):
    """An activity that is written to end long after others on its stream have begun."""
    stream = [e for e in trace.activities() if (e.name == REDUCE) == collective]
    stream.sort(key=lambda e: e.start)
    over = 3 if collective else rng.randint(12, 30)
    candidates = [i for i, e in enumerate(stream[:-over]) if e.category == category]
    case.damage["overlong"] = min(len(candidates), 1 if collective else rng.randint(1, 3))
    for at in rng.sample(candidates, case.damage["overlong"]):
        event, last = stream[at], stream[at + over]
        event.dur = trace.rounded(last.start + 2000 - event.start)
        event.end = stream[at + 1].start


def overlong_copy(rng, case, trace):
    overlong(rng, case, trace, category="gpu_memcpy")


def overlong_collective(rng, case, trace):
    overlong(rng, case, trace, collective=True)


def out_of_order(rng, case, trace):
    """The ids of some kernels are swapped: they start after what was launched later."""
    kernels = sorted((e for e in trace.activities() if e.name != REDUCE and e.category == "kernel"),
                     key=lambda e: e.start)
    for at in rng.sample(range(0, len(kernels) - 8, 9), min(5, (len(kernels) - 8) // 9)):
        one, other = kernels[at].args, kernels[at + 6].args
        one["correlation"], other["correlation"] = other["correlation"], one["correlation"]
    trace.flows = []


def drop(trace, gone):
    """Takes events out of the recording, with their flows."""
    keys = {(e.args["correlation"], e.start) for e in gone}
    trace.events = [e for e in trace.events if not any(e is g for g in gone)]
    trace.flows = [f for f in trace.flows if (f[0], f[2]) not in keys]


def replays_lost(rng, case, trace):
    """Of many replays few have kernels."""
    launches = [e for e in trace.events if e.name == case.plan.vendor.graph_launch]
    kept = {e.args["correlation"] for e in rng.sample(launches, rng.randint(1, 3))}
    replayed = {e.args["correlation"] for e in launches}
    drop(trace, [e for e in trace.activities()
                 if e.args["correlation"] in replayed - kept])
    case.facts.update(launches=len(launches), lost=len(launches) - len(kept))


def replays_cut(rng, case, trace):
    """The device's recording began inside the first replay, ended inside the last one, or both."""
    launches = [e.args["correlation"] for e in trace.events
                if e.name == case.plan.vendor.graph_launch]
    for at in rng.sample((0, -1), rng.randint(1, 2)):
        kernels = sorted((e for e in trace.activities()
                          if e.args["correlation"] == launches[at]), key=lambda e: e.start)
        n = rng.randint(1, len(kernels) - 1)
        drop(trace, kernels[:n] if at == 0 else kernels[n:])
    case.facts["cut"] = True


def buffer_full(rng, case, trace):
    """No activity after a time."""
    limit = trace.begin + (trace.host - trace.begin) * rng.randint(40, 70) // 100
    gone = [e for e in trace.activities() if e.start > limit]
    drop(trace, gone)
    case.facts["lost"] = len(gone)


def begun_inside(rng, case, trace):
    """The recorder began in a step: what the host did before is not there, its kernels are."""
    trace.begin = trace.steps[1].start + trace.steps[1].dur // 2
    drop(trace, [e for e in trace.activities() if e.start < trace.begin])
    trace.events = [e for e in trace.events if e.is_activity() or e.start >= trace.begin]
    known = {e.args["correlation"] for e in trace.events if e.category == "cuda_runtime"}
    trace.flows = [f for f in trace.flows if f[0] in known]
    case.facts["without_launch"] = sum(e.args["correlation"] not in known
                                       for e in trace.activities())


def no_collectives(rng, case, trace):
    """The recording of one rank lacks its collectives."""
    drop(trace, [e for e in trace.activities() if e.name == REDUCE])
    case.facts["rank"] = trace.rank


def late_recording(rng, case, trace):
    case.facts.update(rank=case.plan.late[0], late_ns=case.plan.late[1])


def nothing(rng, case, trace):
    """The plan says it all."""


def host_times(rng):
    """Work of the host that counts: before, in, or after the steps."""
    long = {"before": rng.randint(5, 20), "between": rng.randint(1, 3), "after": rng.randint(5, 20)}
    return {key: long[key] * 10**6 for key in rng.sample(sorted(long), rng.randint(1, 3))}


# name → (what happens to one trace, what the plan needs)
CHANGES = {
    "zero-time": (zero_time, lambda rng: {}),
    "overlong-kernel": (overlong, lambda rng: {"replayed": False}),
    "overlong-copy": (overlong_copy, lambda rng: {"replayed": False}),
    "overlong-collective": (overlong_collective, lambda rng: {
        "ranks": rng.choice(SEVERAL), "replayed": False}),
    "out-of-order": (out_of_order, lambda rng: {"replayed": False}),
    "dependent-launch": (nothing, lambda rng: {"overlap": rng.randint(1, 9) * 1000,
                                               "replayed": False}),
    "branches": (nothing, lambda rng: {"replayed": True, "branches": True,
                                       "node_ids": rng.random() < 0.5}),
    "replays-lost": (replays_lost, lambda rng: {"replayed": True, "steps": rng.randint(20, 40)}),
    "replays-cut": (replays_cut, lambda rng: {"replayed": True, "ranks": 1}),
    "buffer-full": (buffer_full, lambda rng: {"replayed": False}),
    "begun-inside": (begun_inside, lambda rng: {
        "replayed": False, "marker": "profiler", "asynchronous": True, "ranks": 1}),
    "no-collectives": (no_collectives, lambda rng: {"ranks": rng.choice(SEVERAL)}),
    "late-recording": (late_recording, lambda rng: {
        "ranks": rng.choice(SEVERAL), "late": (1, rng.randint(4, 9) * 10**6)}),
    "crossing": (nothing, lambda rng: {"crossing": True}),
    "window": (nothing, host_times),
}
# Layouts that a change fits to, besides plain ones: the figures of all their files are shown.
TOGETHER = {"capture": ("zero-time", "replays-lost", "replays-cut", "branches", "crossing",
                        "window"),
            "iterations": ("overlong-kernel", "window", "dependent-launch"),
            "cycles": ("overlong-copy", "window", "crossing"),
            "coordinator": ("zero-time", "overlong-kernel", "window"),
            "host-twin": ("window", "dependent-launch"),
            "foreign-merge": ("overlong-kernel", "window"),
            "strays": ("zero-time", "window")}


def make(rng, layout, change, **fixed):
    """A case by chance; `fixed` are options of its plan, such as the number of ranks."""
    build, layout_needs = LAYOUTS[layout]
    alter, change_needs = CHANGES.get(change, (nothing, lambda rng: {}))
    plan = drawn_plan(rng, **{**layout_needs(rng), **change_needs(rng), **fixed})
    case = Case([k for k in (layout, change) if k not in ("plain", None)], plan=plan)
    build(rng, case, plan)
    if change:
        case.facts["idle_ns"] = max(d["window_ns"] - d["busy_ns"] for t in case.counted
                                    for d in t.devices().values())
        with_times = [t for t in case.counted if t.rank != case.plan.late[0] or not plan.late[1]]
        alter(rng, case, rng.choice(with_times or case.counted))
    return case


def kinds():
    """(layout, change) of every kind alone and of those that fit together; a clean one first."""
    yield "plain", None
    for layout in LAYOUTS:
        if layout != "plain":
            yield layout, None
    for change in CHANGES:
        yield "plain", change
    for layout, changes in TOGETHER.items():
        for change in changes:
            yield layout, change


def cases(count, seed, kind=None):
    """`count` cases: one in five clean, the others go round the kinds."""
    planted = [k for k in kinds() if k != ("plain", None)]
    if kind:
        planted = [k for k in planted if kind in k] or [("plain", None)]
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        clean = number % 5 == 0 and not kind
        place = number if kind else number - number // 5 - 1
        layout, change = ("plain", None) if clean else planted[place % len(planted)]
        yield number, make(rng, layout, change)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind")
    options = parser.parse_args()
    for number, case in cases(options.count, options.seed, options.kind):
        case.write(options.folder / f"{number:03}-{'+'.join(case.kinds) or 'clean'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
