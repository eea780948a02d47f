# SPDX-License-Identifier: GPL-3.0-or-later
"""The causes: how each changes the program, and which findings name it."""
import dataclasses
import itertools
import random
import statistics

import pipeline
import planted
import plans
import texts
from cause import Cause
from gpus import GPUS
from model import LINKS

NOISE = 0.02  # of a gain: two runs of the same program differ by more


def offloading(rng):
    layers = rng.randint(2, 10)
    kind = rng.choice(("pageable", "pageable", "pinned", "stream", "staged"))
    return {}, {"kind": kind, "layers": layers}


def unfused(rng):
    return ({"compiled": False, "stacks": 0},
            {"chains": rng.choice((("modulate",), ("modulate", "rotate"), ("modulate", "rotate")))})


def decode(rng):
    if rng.random() < 0.4:
        return {"side": [1024, 1280]}, {"tiles": rng.choice((3, 4))}
    if rng.random() < 0.6:  # what PyTorch does with fp32 convolutions, where the device can
        return ({"side": [1024, 1280],
                 "gpu": [g for g in GPUS if g.capability[0] > 7 and not g.is_rocm]},
                {"kind": "tf32"})
    return {"side": [1024, 1280]}, {"kind": "fp32"}


def compilation(rng):
    what = rng.choice(("dynamo", "dynamo", "dynamo", "autotune", "modules", "graphs"))
    first = what in ("autotune", "modules") or rng.random() < 0.3
    n = rng.choice((1, 1, 2, 3)) if what == "dynamo" else 5
    steps = (0,) if first and what != "graphs" else tuple(sorted(rng.sample(range(1, 6), n)))
    seconds = rng.uniform(*{"dynamo": (0.2, 8), "autotune": (0.1, 3), "modules": (0.1, 1),
                            "graphs": (0.05, 0.3)}[what])
    return {"compiled": True, "stacks": 0}, {"what": what, "steps": steps, "ns": seconds * 1e9}


def attention(rng):
    if rng.random() < 0.3:
        return ({"gpu": [g for g in GPUS if g.attention[0] < g.attention[1]]},
                {"how": "older"})
    return ({"gpu": [g for g in GPUS if g.capability[0] > 7], "frames": 1},
            {"how": "math"})


def waits(rng):
    return ({"between": rng.randint(300, 4000) * 1000, "steps": rng.randint(8, 14)},
            {"where": rng.choice(("step", "step", "block")),
             "kind": rng.choice(("item", "nonzero", "cpu", "mask", "print"))})


def on_host(rng):
    what = rng.choice(("encoder", "encoder", "noise", "image"))
    return {}, {"what": what, "ns": rng.uniform(*{"encoder": (0.2, 5), "noise": (0.004, 0.08),
                                                  "image": (0.05, 0.6)}[what]) * 1e9}


def link(rng):
    gpu = rng.choice([g for g in GPUS if g.capability[0] > 7])
    rate = rng.uniform(2, 6) if LINKS[gpu.name][0] > 18 else rng.uniform(0.8, 3)
    return {"ranks": rng.choice((2, 4)), "steps": 4, "layers": 5, "gpu": gpu}, {"rate": rate}


def guidance(rng):
    return ({"batch": 2, "model": ((1536, 64), (2432, 64)), "tokens": rng.choice((512, 1024, 1536)),
             "side": 512, "compiled": True, "layers": 12,
             "gpu": [g for g in GPUS if g.capability[0] > 8]}, {"forwards": 2})


def breaks(rng):
    return ({"compiled": True, "model": ((1536, 64), (2432, 64)), "frames": 1},
            {"parts": rng.choice((2, 3, 4)), "ns": rng.uniform(0.15, 0.9) * 1e6})


def growth(rng):
    heat = rng.random() < 0.5
    return ({"iterations": rng.randint(4, 6), "steps": 5, "layers": 5, "encoder_layers": 2,
             "marks": "none"},
            {"what": "heat" if heat else "hooks",
             "rate": rng.uniform(0.05, 0.15) if heat else rng.uniform(2, 6)})


def loading(rng):
    return ({"iterations": rng.randint(2, 4), "steps": 4, "layers": 5, "encoder_layers": 2,
             "marks": "none"},
            {"ns": rng.uniform(0.1, 3) * 1e9, "bytes": rng.randint(1, 12) * 10**9, "runs": 9})


def dequantized(rng):
    form = rng.choice(("nf4", "fp8", "gguf"))
    # The kernel that casts fp8 does not name the type: only recorded types tell what it is.
    types = {"shapes": True} if form == "fp8" else {}
    return ({"model": ((3072, 128), (5120, 128)), "frames": 1, "side": [512, 768], **types},
            {"format": form})


def retries(rng):
    return {}, {"share": rng.uniform(0.2, 1), "ns": rng.uniform(0.4, 3) * 1e6}


def clocks(rng):
    """The clock falls inside the run, or is low in all of it, where a power cap that leaves three
    quarters of it is usual; telemetry lies next to the trace."""
    begins = rng.choice((0, 0.3, 0.5))
    return ({"gpu": [g for g in GPUS if not g.is_rocm]},
            {"slow": rng.uniform(0.5, 0.85 if begins else 0.74), "from": begins})


def launching(rng):
    """Small kernels of an eager program on a slow host; with a graph the host costs nothing."""
    return ({"compiled": False, "model": ((1536, 64), (2432, 64)), "stacks": 0, "batch": 1,
             "tokens": rng.choice((256, 512, 768)), "side": 512, "layers": 14,
             "between": 40_000, "gpu": [g for g in GPUS if g.capability[0] > 8]},
            {"cpu": rng.uniform(3, 7)})


def straggler(rng):
    ranks = rng.choice((2, 4))
    return ({"ranks": ranks, "steps": 6, "layers": 5,
             "gpu": [g for g in GPUS if LINKS[g.name][0] > 100]},
            {"rank": rng.randrange(ranks), "slow": rng.uniform(1.1, 1.6)})


def loading_input(rng):
    return {"marks": "profiler"}, {"ns": rng.uniform(0.005, 0.3) * 1e9}


def without_tensor_cores(rng):
    return ({"gpu": [g for g in GPUS if g.capability[0] >= 8 and not g.is_rocm and
                     g.peaks["tf32"] > g.peaks["fp32"]]}, {"kind": "fp32"})


def casts(rng):
    hidden, size = rng.choice(((3072, 128), (5120, 128), (1536, 64), (2432, 64)))
    return ({"compiled": False, "stacks": 0, "model": [(hidden, size)]},
            {"of": rng.choice(((hidden,), (hidden, 4 * hidden), (hidden, 3 * hidden, 4 * hidden))),
             "needed": rng.choice((0, 1, 2))})


def odd_sizes(rng):
    return ({"gpu": [g for g in GPUS if g.capability[0] >= 8 and not g.is_rocm]},
            {"slower": rng.uniform(1.4, 3.3)})


def exposed(rng):
    """Split in parts, all but the first of them overlap with attention; large messages."""
    return ({"ranks": rng.choice((2, 4)), "steps": 4, "layers": 5,
             "gpu": [g for g in GPUS if LINKS[g.name][0] < 100 and g.capability[0] >= 8]},
            {"larger": rng.randint(2, 6), "left": 1, "without": rng.uniform(0.25, 0.6)})


def slow_gemms(rng):
    """Kernels that a library chose badly for some shapes."""
    return {"shapes": True}, {"reached": rng.uniform(0.1, 0.28), "best": rng.uniform(0.35, 0.6)}


def emptied(rng):
    return {}, {"blocks": rng.randint(5, 40), "ns": rng.uniform(0.05, 0.6) * 1e6}


def recorded(rng):
    """A slow host, slowed further by a recorder that follows Python."""
    fixed, defect = launching(rng)
    return fixed | {"stacks": 1}, defect | {"times": 2 ** rng.uniform(-1, 1)}


def lone(rng):
    """The others wait for it, as far as they are not late themselves."""
    ranks = rng.choice((2, 4))
    ns = rng.uniform(0.004, 0.08) * 1e9
    return ({"ranks": ranks, "steps": 6, "layers": 5, "gpu": [g for g in GPUS if
                                                              LINKS[g.name][0] > 100]},
            {"rank": rng.randrange(ranks), "ns": ns, "all": ns,
             "others": rng.choice((0, 0, 0, 0.3))})


def encodes(rng):
    """Few steps of a small model, as of distilled ones, behind a large text encoder."""
    return ({"model": ((1536, 64), (2432, 64)), "steps": rng.randint(2, 6), "layers": 6,
             "side": 512, "frames": 1, "encoder_layers": rng.randint(12, 24), "marks": "stages",
             "tokens": 1024,
             "gpu": [g for g in GPUS if g.capability[0] >= 8 and not g.is_rocm]},
            {"times": 2, "batch": 1})


def alone(rng):
    ranks = rng.choice((2, 4))
    return ({"ranks": ranks, "steps": 4, "layers": 5, "marks": "stages", "side": [1024, 1280],
             "gpu": [g for g in GPUS if LINKS[g.name][0] > 100]}, {"parts": 1})


def extra(rng):
    """Kernels that some steps launch more than others; each step ends with a value that is read."""
    steps = rng.randint(12, 20)
    return ({"steps": steps, "layers": 5, "between": 20_000, "compiled": True,
             "marks": rng.choice(("profiler", "steps"))},
            {"steps": tuple(rng.sample(range(2, steps), rng.choice((1, 2, 2)))),
             "times": rng.randint(20, 120)})


def untold(rng):
    """A slow host of which nothing was recorded."""
    name = rng.choice(("launching", "C7", "input"))
    fixed, defect = CAUSES[name].plant(rng)
    return fixed | {"stacks": 0}, {"of": name, "how": defect}


NO_LAUNCHES = r"^(?!.*wait.* for the host)(?!.*launch).*"  # what is said of a slow host

CAUSES = {
    "C1": Cause("weights offloaded and copied in every step", (), r"weight|offload|cop(y|ies)",
                offloading, texts.offloaded),
    "C2": Cause("allocations that fail or are retried", (), r"allocat|memory", retries,
                texts.out_of_memory),
    "C3": Cause("chains of small kernels that could be fused", (), r"fus|element-wise|chain",
                unfused),
    "C4": Cause("VAE decode in fp32 or in tiles", (), r"VAE|decode|fp32|convolution", decode),
    "C5": Cause("compilation in the steps", (), r"compil|autotun|modules|captur|re-record",
                compilation, texts.recompiles, alone=True),
    "C6": Cause("attention without the best kernel", (), r"attention", attention),
    "C7": Cause("waits for single values", (), NO_LAUNCHES + r"wait",
                waits),
    "C8": Cause("computes on the CPU", (), r"CPU|host comput", on_host, texts.encoder_on_cpu),
    "C9": Cause("a slow link", (), r"link|GB/s|P2P|PCIe", link, alone=True),
    "C10": Cause("two forwards in a step", (), r"twice|two|guidance|CFG", guidance, alone=True),
    "C11": Cause("graph breaks", (), r"break", breaks, texts.broken_graphs, alone=True),
    "C12": Cause("slower from run to run", (), r"slower", growth, texts.slower_runs,
                 alone=True),
    "C13": Cause("loads in each run", (), r"\bload", loading, texts.loads_in_each_prompt,
                 alone=True),
    "C14": Cause("clocks below what the device can do", (), r"clock|thermal|power|throttl", clocks,
                 texts.slow_clocks),
    "C15": Cause("device memory that overflows into the host's", (),
                 r"host('s)? memory|PCIe|memory is full|overflow", None, texts.spilled),
    "C16": Cause("a step cache that never hits", (), r"cache", None, texts.idle_cache),
    "C17": Cause("quantized weights dequantized at each call", (), r"quanti|fp8|float8|nf4",
                 dequantized),
    "C18": Cause("timing without synchronizing", (), r"synchron|first step", None,
                 texts.unsynchronized, places=4),  # what saves time comes first
    # What is found besides the causes of the threads.
    "launching": Cause("a host that launches too slowly", (), r"launch", launching, alone=True),
    "straggler": Cause("one rank slower than the others", (), r"straggler|late|slow", straggler,
                       alone=True),
    "input": Cause("batches loaded by the process itself", (), r"loading", loading_input,
                   alone=True),
    "fp32": Cause("GEMMs without tensor cores", (), r"without tensor cores", without_tensor_cores,
                  alone=True),
    "casts": Cause("casts between layers", (), r"cast", casts, alone=True),
    "odd": Cause("GEMMs of odd sizes", (), r"odd sizes", odd_sizes, alone=True),
    "exposed": Cause("communication that nothing overlaps", (), r"overlap|exposed|waits? in|moves",
                     exposed, alone=True),
    "untold": Cause("a slow host that was not recorded", (), r"idle", untold, alone=True,
                    least=0.12),
    "slow": Cause("GEMMs far below the roofline", (), r"GEMMs? (run|shape)", slow_gemms,
                  alone=True),
    "emptied": Cause("memory given back in each step", (), r"memory", emptied, alone=True),
    "recorded": Cause("a slow host whose Python was recorded", (), r"launch", recorded, alone=True),
    "encodes": Cause("a prompt and its negative encoded one by one", (), r"twice|several times",
                     encodes, alone=True),
    "alone": Cause("one rank decodes while others wait", (), r"alone|while .* wait", alone,
                   alone=True),
    "extra": Cause("work that only some steps do", (), r"steps take far longer", extra, alone=True),
    "lone": Cause("one rank computes on the CPU", (), r"straggler|CPU", lone, alone=True),
    **planted.CAUSES,
}
CONTROL = "no "  # begins the kind of a run in which a cause is planted that is none
TEXTS = 0.25  # of the runs whose cause can be in a log as well


@dataclasses.dataclass
class Case:
    """A run with its files, and what is true of it."""
    causes: tuple
    plan: object = None
    ranks: list = None
    length: int = 0
    gain: dict = dataclasses.field(default_factory=dict)  # cause → ns; empty: not known
    texts: dict = dataclasses.field(default_factory=dict)  # files that are not traces
    control: str = ""        # the cause that this run does not have
    amounts: dict = dataclasses.field(default_factory=dict)  # of its evidence, see Cause

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        end = ".json.gz" if self.plan and self.plan.writing.packed else ".json"
        for trace in self.ranks or ():
            name = f"run-rank{trace.rank}" if trace.world > 1 else "run"
            trace.write(folder / f"{name}.pt.trace{end}")
        for name, content in self.texts.items():
            if isinstance(content, bytes):
                (folder / name).write_bytes(content)
            else:
                (folder / name).write_text(content, encoding="utf-8")


def fit(savings):
    """Of (gain, low, high): how many ranges hold the gain, and their median width."""
    within = sum(low - NOISE * gain <= gain <= high + NOISE * gain for gain, low, high in savings)
    widths = [high / low if low > 0 else float("inf") for _, low, high in savings]
    return within, statistics.median(widths) if widths else None


def length(plan):
    return pipeline.run(plan)[1]


def kinds():
    """All, with the controls of those that have one."""
    return ("clean", *CAUSES, *(CONTROL + name for name in planted.CAUSES))


def pairs():
    """Of causes that one program can have, both in its trace."""
    names = [name for name, cause in CAUSES.items() if cause.plant and not cause.alone]
    return list(itertools.combinations(names, 2))


def both(first, second):
    """What two causes want of a plan: of lists what is in both, else what the first wants."""
    found = {**second, **first}
    for key in first.keys() & second.keys():
        if isinstance(first[key], list) and isinstance(second[key], list):
            found[key] = [v for v in first[key] if v in second[key]] or first[key]
    return found


def make_texts(names, seed):
    rng = random.Random(f"{'+'.join(names)}/{seed}/texts")
    files = (CAUSES[names[0]].write if names else texts.clean)(rng)
    gains = {names[0]: round(files.gain * 1e9)} if files.gain else {}
    return Case(tuple(names), length=round(files.seconds * 1e9), gain=gains, texts=files.content)


def make(names, seed):
    """The case of these causes; none: a clean run.  Drawn again until each is worth a look."""
    if names and names[0].removeprefix(CONTROL) in planted.CAUSES:
        return make_planted(names[0].removeprefix(CONTROL), names[0].startswith(CONTROL), seed)
    write = CAUSES[names[0]].write if len(names) == 1 else None if names else texts.clean
    plant = not names or all(CAUSES[name].plant for name in names)
    if write and (not plant or random.Random(f"{names}/{seed}").random() < TEXTS):
        return make_texts(names, seed)
    return make_trace(names, seed)


def harmless(rng, plan):
    """What a good program may do as well: several ranks, several images, a cheap wait a step."""
    kind = rng.choice(("plain", "plain", "ranks", "images", "waits"))
    if kind == "ranks" and LINKS[plan.gpu.name][0] > 100:
        return dataclasses.replace(plan, ranks=2, steps=8)
    if kind == "images":
        return dataclasses.replace(plan, iterations=3, steps=6, layers=5, marks="none")
    if kind == "waits":
        waiting = dataclasses.replace(plan, between=20_000,
                                      defects={"C7": {"where": "step", "kind": "item"}})
        if length(waiting) < 1.004 * length(dataclasses.replace(waiting, defects={})):
            return waiting
    return plan


def without(name, defects):
    """The defects of the program that does not have this one."""
    left = {k: v for k, v in defects.items() if k != name}
    if name == "untold":
        return without(defects[name]["of"], left)
    if name == "C13":  # who loads once still loads in the first run
        left[name] = {**defects[name], "runs": 1}
    if name == "launching":  # as with a graph
        left[name] = {"cpu": 0.02}
    if name == "lone":  # the others as before
        left[name] = {**defects[name], "ns": 0}
    if name == "extra":
        left[name] = {**defects[name], "steps": ()}
    if name == "encodes":
        left[name] = {"times": 1, "batch": 2}
    if name == "slow":
        left[name] = {"reached": defects[name]["best"]}
    if name == "recorded":
        left[name] = {"cpu": 0.02}
    if name == "casts":
        left[name] = {**defects[name], "of": ()}
    if name == "fp32":
        left[name] = {"kind": "tf32"}
    if name == "exposed":
        left[name] = {**defects[name], "left": defects[name]["without"]}
    return left


def make_planted(name, is_control, seed):
    """A cause of planted.py, or its control."""
    cause = CAUSES[name]
    for attempt in range(400):
        rng = random.Random(f"{is_control}/{name}/{seed}/{attempt}")
        fixed, defect = (cause.control if is_control else cause.plant)(rng)
        plan = plans.drawn(rng, f"{seed}/{attempt}", **fixed)
        plan = dataclasses.replace(plan, defects={cause.defect: defect})
        ranks, total = pipeline.run(plan, cause.kind)
        worth = cause.good if is_control else cause.worth
        if worth and not worth(ranks):
            continue
        if is_control:
            return Case((), plan, ranks, total, control=name)
        gains = {name: total - planted.length(cause.mended(plan))} if cause.mended else {}
        if all(cause.least <= gain / total <= cause.most for gain in gains.values()):
            return Case((name,), plan, ranks, total, gains,
                        amounts=cause.amounts(ranks) if cause.amounts else {})
    raise AssertionError(f"no run with {name} that is worth a look")


def make_trace(names, seed):
    for attempt in range(40):
        rng = random.Random(f"{'+'.join(names)}/{seed}/{attempt}")
        fixed, defects = {}, {}
        for name in names:
            wanted, defects[name] = CAUSES[name].plant(rng)
            fixed = both(fixed, wanted)
        if "untold" in defects:
            defects[defects["untold"]["of"]] = defects["untold"]["how"]
        plan = plans.drawn(rng, f"{seed}/{attempt}", **fixed)
        plan = dataclasses.replace(plan, defects=defects)
        if not names:
            plan = harmless(rng, plan)
        ranks, total = pipeline.run(plan)
        gains = {}
        for name in names:
            left = without(name, defects)
            if name == "alone":  # each decodes its part
                left[name] = {"parts": plan.ranks}
            kept = total
            if name == "recorded":  # what the recorder costs is no gain
                kept = length(dataclasses.replace(plan, defects={name: {**defects[name],
                                                                        "times": 0}}))
            gains[name] = kept - length(dataclasses.replace(plan, defects=left))
        if all(CAUSES[name].least <= gain / total <= CAUSES[name].most
               for name, gain in gains.items()):
            case = Case(tuple(names), plan, ranks, total, gains)
            if not names and not plan.gpu.is_rocm and rng.random() < 0.2:
                case.texts["gpu.csv"] = texts.clocks(rng, plan.gpu, 60, 1)
            if "C14" in defects:
                case.texts["gpu.csv"] = texts.clocks(rng, plan.gpu, 60, defects["C14"]["slow"],
                                                     defects["C14"]["from"])
            return case
    raise AssertionError(f"no run with {names} where all are worth a look")
