# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of diffusion by chance, with what is true of them, and runs of other programs.

Nothing in the traces says what runs but the names, the order and the times of kernels.
"""
import dataclasses
import json
import random

import gpus
from kernels import OPS
from models import Encoder, Scheduler, Transformer, Unet, Vae, Vision

MOST = 9000  # kernels of a trace, about
COMPUTE, COPIES, OTHERS = 7, 20, 13


@dataclasses.dataclass
class Call:
    phase: str
    image: int
    block: int = 0
    step: int = -1
    hit: bool = False
    layers: int = 0
    first: int = 0  # of the events
    last: int = 0


class Recorder:
    """Events of a device; drops some of them."""

    def __init__(self, rng):
        self.rng = rng
        self.now = 10_000_000 + rng.randrange(10 ** 9)
        self.events, self.calls = [], []
        self.bound = rng.choice(("device", "host", "graphs"))
        self.jitter = rng.choice((0.0, 0.01, 0.05, 0.15))
        self.lost = rng.choice((0, 0, 0.002, 0.01, 0.02))
        self.noise = rng.choice((0, 0, 0, 0.003, 0.01))
        self.own_stream = rng.random() < 0.3
        self.host = rng.randint(8_000, 40_000)
        self.n = 0

    def add(self, name, ns, stream=COMPUTE, category="kernel"):
        self.n += 1
        if self.rng.random() < self.lost:
            return
        self.events.append((category, name, self.now, ns, stream))

    def run(self, kernels, graph=False):
        rng = self.rng
        for name, ns in kernels:
            ns = max(900, round(ns * max(0.5, rng.gauss(1, self.jitter)))) if self.jitter else ns
            gap = rng.randint(600, 1600)
            if self.bound == "host" and not graph:
                gap = max(gap, round(self.host * rng.uniform(0.6, 1.6) - ns))
            self.now += gap
            self.add(name, ns)
            self.now += ns
            if self.noise and rng.random() < self.noise:
                if self.own_stream:
                    self.add("void monitor::probe_kernel(int*)", 3000, OTHERS)
                else:
                    self.now += 800
                    name = rng.choice((OPS["fill"], OPS["add"], "void monitor::probe_kernel(int*)",
                                       OPS["copy"]))
                    self.add(name, 2000)
                    self.now += 2000

    def pause(self, ns):
        self.now += round(ns * self.rng.uniform(0.7, 1.4))

    def copy(self, what, ns=2500):
        self.now += 900
        self.add(what, ns, COPIES if self.own_stream and "HtoD" in what else COMPUTE,
                 "gpu_memcpy")
        self.now += ns

    def call(self, call, kernels, graph=False):
        call.first = len(self.events)
        self.run(kernels, graph)
        call.last = len(self.events) - 1
        self.calls.append(call)

    def write(self, path, launches):
        out = [{"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "python"}}]
        for n, (category, name, start, ns, stream) in enumerate(self.events):
            args = {"device": 0, "context": 1, "stream": stream, "correlation": n + 1}
            if launches:
                out.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel",
                            "pid": 4000, "tid": 4000, "ts": (start - 9000) / 1000, "dur": 4.0,
                            "args": {"correlation": n + 1}})
            out.append({"ph": "X", "cat": category, "name": name, "pid": 0, "tid": stream,
                        "ts": start / 1000, "dur": ns / 1000, "args": args})
        with open(path, "w", encoding="ascii") as file:
            file.write(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": out}))


# ---- diffusion ----------------------------------------------------------------------------------

def denoiser(rng, gpu, most):
    """A model with about `most` kernels at most."""
    says = rng.random() < 0.7
    if rng.random() < 0.25 and most > 500:
        width = rng.choice((320, 384))
        depths = rng.choice(((1, 1, 0), (1, 1, 1, 0), (0, 1, 2), (0, 1, 3)))
        return Unet(rng, gpu, rng.choice(("eager", "eager", "compiled")),
                    rng.choice((64, 96, 128)), width, depths, says)
    how = rng.choice(("eager", "eager", "compiled", "opaque", "handmade"))
    cross = rng.random() < 0.35
    width = rng.choice((1152, 1536, 2432, 3072))
    each = {True: 60, False: 38}[how == "eager"] * (1 + 0.4 * cross)
    layers = rng.randint(4, max(4, min(40, int(most / each))))
    single = 0 if cross or rng.random() < 0.6 else rng.randint(1, 2 * layers)
    return Transformer(rng, gpu, how, layers - (layers * single // (layers + single) if single
                       else 0), min(single, layers), rng.choice((1024, 2304, 4096, 8192)), width,
                       cross, says)


def hits(rng, steps):
    """Which steps reuse an earlier one."""
    how = rng.choice(("every", "chance", "middle"))
    if how == "every":
        n = rng.randint(2, 4)
        return [i % n != 0 for i in range(steps)]
    first = rng.randint(1, max(1, steps // 4))
    if how == "middle":
        last = rng.randint(0, 2)
        return [first <= i < steps - last and i % 2 == 0 for i in range(steps)]
    share = rng.uniform(0.2, 0.7)
    return [i >= first and rng.random() < share for i in range(steps)]


def diffusion(rng, path, short=False):
    gpu = rng.choice(gpus.GPUS)
    rec = Recorder(rng)
    steps = rng.choice((2, 3, 4, rng.randint(2, 50), rng.randint(5, 30), rng.randint(2, 50)))
    video = rng.random() < 0.2
    n_blocks = rng.randint(2, 5) if video else 1
    images = 1 if video else rng.choice((1, 1, 1, 2, 3))
    guides = rng.choice(("none", "batched", "sequential"))
    if video:
        steps = rng.randint(2, 6)
    per_step = 2 if guides == "sequential" else 1
    calls = steps * n_blocks * images * per_step
    model = denoiser(rng, gpu, MOST / calls)
    scheduler = Scheduler(rng, gpu, rng.choice(("flow", "ddim", "dpm", "unipc",
                                                "euler_ancestral")), guides)
    cached = None
    if steps >= 4 and not video and rng.random() < 0.4:
        cached = rng.choice(model.caches)
        model.decides = rng.random() < 0.5
        model.kept = rng.randint(1, max(1, min(3, model.layers - 1))) \
            if isinstance(model, Transformer) else 1
    encoders = [Encoder(rng, gpu, rng.randint(4, 12), rng.choice((768, 1280, 2048)),
                        rng.choice((77, 77, 256)), rng.random() < 0.6)
                for _ in range(rng.choice((0, 1, 1, 2, 3)))]
    side = rng.choice((512, 768, 1024))
    vae = Vae(rng, gpu, side, 128)
    says = model.says and model.how in ("eager", "compiled")
    decodes = not says or rng.random() < 0.9
    tiles = rng.choice((1, 1, 1, 4, 9))
    graph = rec.bound == "graphs"
    other_text = 128 if guides == "sequential" and rng.random() < 0.15 else None
    refreshes = video and rng.random() < 0.6  # the cache of keys and values, after each block
    noises = refreshes or rng.random() < 0.7
    start_image = rng.random() < 0.15
    kind = f"{type(model).__name__}/{model.how}/{guides}/{cached or 'full'}"
    number = 0
    if not graph and rng.random() < 0.5:
        graph = rng.random() < 0.3
    pattern = [False] * steps
    forwards = {}

    def forward(hit, text):
        if (hit, text) not in forwards:
            forwards[hit, text] = model.forward(cached if hit else None, text)
        return forwards[hit, text]

    for image in range(images):
        if cached:
            pattern = hits(rng, steps)
        rec.pause(300_000)
        if encoders and (image == 0 or rng.random() < 0.7 or not decodes):
            for _ in range(2 if guides != "none" else 1):
                for encoder in encoders:
                    rec.copy("Memcpy HtoD (Pageable -> Device)")
                    rec.call(Call("text", image), encoder.forward())
                    rec.pause(80_000)
        if start_image:
            rec.call(Call("image", image), Vision(rng, gpu, "eager").forward()
                     if video else vae.encode())
        rec.run([(OPS["randn"], 5000), (OPS["mul"], 3000)])
        rec.copy("Memcpy HtoD (Pageable -> Device)")
        rec.pause(300_000)
        for block in range(n_blocks):
            if video and noises:
                rec.run([(OPS["randn"], 6000), (OPS["copy"], 3000)])
            for step in range(steps):
                rec.run(scheduler.before(step))
                for branch in range(per_step):
                    if graph:
                        rec.copy("Memcpy DtoD (Device -> Device)")
                    text = other_text if branch and other_text else None
                    rec.call(Call("denoise", image, block, number, pattern[step],
                                  model.attention_calls()), forward(pattern[step], text), graph)
                    rec.pause(rng.choice((0, 0, 50_000)))
                rec.run(scheduler.after(step, step == steps - 1))
                if video and step < steps - 1 and noises:
                    rec.run([(OPS["randn"], 6000), (OPS["mul"], 3000), (OPS["add"], 3000)])
                rec.pause(rng.choice((0, 100_000)))
                number += 1
            if refreshes:
                rec.call(Call("denoise", image, block, -1, False, model.attention_calls()),
                         forward(False, None), graph)
            if video:
                rec.run([(OPS["copy"], 9000)])
                if decodes and rng.random() < 0:
                    pass
            if decodes and (video and n_blocks % 2 == 0 or block == n_blocks - 1):
                decode = []
                for _ in range(tiles):
                    decode += vae.decode(side if tiles == 1 else side // 2)
                    if tiles > 1:
                        decode += [(OPS["mul"], 4000), (OPS["add"], 4000)]
                rec.call(Call("decode", image, block), decode)
        rec.run([(OPS["mul"], 3000), (OPS["add"], 3000), (OPS["clamp"], 3000)])
        rec.copy("Memcpy DtoH (Device -> Pageable)", 50_000)
    rec.write(path, rng.random() < 0.5)
    denoise = [c for c in rec.calls if c.phase == "denoise"]
    return {"kind": kind, "steps": number, "forwards": len(denoise), "images": images,
            "blocks": n_blocks, "per_step": per_step,
            "hits": [c.hit for c in denoise], "layers": model.attention_calls(),
            "calls": [dataclasses.asdict(c) for c in rec.calls], "cached": cached,
            "decodes": decodes, "video": video, "tiles": tiles, "lost": rec.lost,
            "noise": rec.noise, "scheduler": scheduler.kind, "kernels": rec.n,
            "times": [(rec.events[c.first][2], rec.events[c.last][2] + rec.events[c.last][3])
                      for c in rec.calls if c.first <= c.last],
            "text": len(encoders), "other_text": bool(other_text), "refreshes": refreshes}
