# SPDX-License-Identifier: GPL-3.0-or-later
"""Diffusion pipelines with step caches, decoders of all sizes, videos made block by block, and
records of memory.

Defects, by the name of the cause: "cache", "decoding", "video", "memory".  They say what the
program does; what of it is wrong, planted.py knows.
"""
import contextlib

import gpus
from gpus import BYTES
from pipeline import Pipeline

MIB = 2**20
CHANNELS, HEIGHT, WIDTH = 16, 60, 104  # of the latents of a video of 832×480
DECIDES = "diffusers/hooks/first_block_cache.py(133): _should_compute_remaining_blocks"


class Cached(Pipeline):
    """`hits`: steps that keep `keep` blocks; `leak`: what these steps do besides, `ns` or `times`;
    `decides`: whether each step after the first reads a value to decide."""

    now = 0

    def step(self, number):
        self.now = number
        yield from super().step(number)

    def transformer(self, batch):
        cache, plan = self.defect("cache"), self.plan
        if not cache:
            yield from super().transformer(batch)
            return
        rows, width, is_hit = batch * plan.tokens, plan.hidden, self.now in cache["hits"]
        with self.frame("nn.Module: FluxTransformer2DModel_0"):
            self.linear(rows, width, 64)
            for layer in range(plan.layers):
                if layer == 1 and cache["decides"] and self.now:
                    self.decide()
                if is_hit and layer >= cache["keep"]:
                    self.skip(cache, rows, width)
                    continue
                with self.frame(f"nn.Module: TransformerBlock_{layer}"):
                    yield from self.block(layer, batch, rows, width)
            if is_hit:
                self.elementwise("aten::add", [1, rows, width], extra=([1, rows, width],))
            self.head(rows, width)

    def decide(self):
        """The difference from the step before: small kernels, and a value that the host reads."""
        with self.frame(DECIDES):
            self.open_eager = True
            for name in ("aten::sub", "aten::abs", "aten::mean", "aten::div"):
                self.small(name)
            self.item()
            self.open_eager = False

    def skip(self, cache, rows, width):
        """A block that the cache answers."""
        self.open_eager = True
        if cache["leak"] == "python":  # hooks, and dictionaries of what was kept
            self.spend(cache["ns"])
        elif cache["leak"] == "forecast":  # what the block would say is a series of terms
            for _ in range(cache["times"]):
                self.elementwise("aten::mul", [1, rows, width], 1, extra=([],))
                self.elementwise("aten::add", [1, rows, width], extra=([1, rows, width],))
        elif cache["leak"] == "host":  # what is kept of it lies in the host's memory
            self.copy(rows * width * BYTES[self.gpu.precision],
                      within=("aten::to", "aten::_to_copy", "aten::copy_"))
        self.open_eager = False


class Decoding(Cached):
    """`fused`: norm, activation and addition are one kernel each with what is before them."""

    decoded = 0  # from its first kernel to the end of the last, ns

    def decode(self):
        n = len(self.events)
        super().decode()
        work = [event for event in self.events[n:] if event.is_activity()]
        self.decoded += max(e.end for e in work) - min(e.start for e in work)

    def residual(self, height, inputs, outputs, kind):
        if not (self.defect("decoding") or {}).get("fused"):
            super().residual(height, inputs, outputs, kind)
            return
        n = inputs * height * height * BYTES[kind]
        self.launch(gpus.stream(self.gpu, "triton_red_fused_native_group_norm_silu_1", n, n))
        self.conv(height, inputs, outputs, kind)


class Video(Decoding):
    """`blocks` of `latents` latent frames, each denoised and then decoded; block n attends to the
    keys of those before it, `window` of them at most; `late`: blocks before which the host is busy
    for `ns`, or that take `times` the steps; `named`: whether the decoder is a module.  `ready`:
    when the frames of each block are, and when the first began."""

    def __init__(self, plan, rank):
        super().__init__(plan, rank)
        self.context, self.ready = 0, []

    def generate(self, turn):
        video = self.defect("video")
        if not video:
            yield from super().generate(turn)
            return
        stages = self.plan.marks == "stages"
        with self.range("encode_prompt" if stages else ""):
            self.encode()
        for number in range(video["blocks"]):
            self.context = min(number, video["window"])
            is_late, steps = number in video["late"], self.plan.steps
            if is_late and video["what"] == "steps":
                steps *= video["times"]
            elif is_late:
                with self.frame("app/prompts.py(88): switch_prompt"):
                    with self.op("aten::randn", [[]], before=video["ns"] / self.cost):
                        pass
            begun = len(self.events)
            for step in range(steps):
                yield from self.step(step)
            if number == 0:
                self.ready.append(min(e.start for e in self.events[begun:] if e.is_activity()))
            with self.range("vae_decode" if stages else ""):
                with self.frame("nn.Module: WanDecoder3d_0") if video["named"] else \
                        contextlib.nullcontext():
                    self.decode_frames(video["latents"], number == 0)
            self.ready.append(self.busy_until())
            self.synchronize()

    def transformer(self, batch):
        video = self.defect("video")
        if not video:
            yield from super().transformer(batch)
            return
        latents, width = video["latents"], self.plan.hidden
        tokens = latents * HEIGHT * WIDTH // 4
        with self.frame("nn.Module: CausalWanModel_0"):
            self.convolve([1, CHANNELS, latents, HEIGHT, WIDTH], [width, CHANNELS, 1, 2, 2],
                          [1, 2, 2], [0, 0, 0])
            for layer in range(self.plan.layers):
                with self.frame(f"nn.Module: CausalWanAttentionBlock_{layer}"):
                    yield from self.block(layer, batch, tokens, width)
            self.head(tokens, width)

    def attention(self, batch, heads, queries, keys, size):
        super().attention(batch, heads, queries, keys * (self.context + 1), size)

    def attention_growth(self):
        """What the attention of a block takes more for each block before it, ns."""
        plan = self.plan
        tokens = self.defect("video")["latents"] * HEIGHT * WIDTH // 4
        times = [gpus.fused_attention(self.gpu, plan.batch, plan.hidden // plan.size, tokens,
                                      tokens * n, plan.size, self.gpu.precision, plan.is_best).ns
                 for n in (1, 2)]
        return plan.steps * plan.layers * (times[1] - times[0])

    def decode_frames(self, latents, is_first):
        """Of a causal decoder: the first latent frame of a video is one frame, others are four."""
        frames, height, width = latents, HEIGHT, WIDTH
        self.open_eager = True
        for level, channels in enumerate((384, 384, 192, 96)):
            for _ in range(2):
                self.convolve([1, channels, frames, height, width], [channels, channels, 3, 3, 3],
                              [1, 1, 1], [1, 1, 1])
            if level < 3:
                frames = frames if level == 2 else 2 * frames - (1 if is_first else 0)
                height, width = 2 * height, 2 * width
        self.convolve([1, 96, frames, height, width], [3, 96, 3, 3, 3], [1, 1, 1], [1, 1, 1])
        self.open_eager = False

    def convolve(self, dims, weight, stride, padding):
        """A convolution in three dimensions."""
        places = dims[2] * dims[3] * dims[4] // (stride[1] * stride[2])
        kernel = gpus.convolution(self.gpu, 1, places, 1, weight[1], weight[0],
                                  self.gpu.precision, weight[2] * weight[3] * weight[4])
        with self.op("aten::convolution", [dims, weight, [weight[0]], *[[]] * 6],
                     [self.plan.kind] * 3 + ["Scalar"] * 6,
                     concrete=["", "", "", str(stride), str(padding), "[1, 1, 1]", "False",
                               "[0, 0, 0]", "1"]):
            self.launch(kernel)


class Diffusion(Video):
    """Records of memory: the allocator gives what is asked for and keeps what it has.  `held`:
    bytes from the beginning; `works`: of a step while it runs; `keeps`: that each step does not
    give
    back, the first `rises` steps do not count; `decodes`: of the decoder; `spare`: that the
    allocator has in pieces when the decoder asks, `gathers`: and by then in each step."""

    def __init__(self, plan, rank):
        super().__init__(plan, rank)
        self.notes, self.used, self.kept = [], 0, 0

    def take(self, size):
        self.used += size
        self.kept = max(self.kept, self.used)
        self.note(size)

    def note(self, size):
        self.work(500)
        self.notes.append((self.host, size, self.used, self.kept))

    @contextlib.contextmanager
    def memory(self, size):
        """While it is used, in four parts."""
        if not self.defect("memory") or not size:
            yield
            return
        for _ in range(4):
            self.take(size // 4)
        yield
        for _ in range(4):
            self.take(-(size // 4))

    def step(self, number):
        memory = self.defect("memory") or {}
        if memory and number == 0:
            self.take(memory["held"])
        with self.memory(memory.get("works", 0)):
            yield from super().step(number)
        if memory.get("gathers"):
            self.kept += memory["gathers"]
        if memory.get("keeps") and number < memory.get("rises", 10**6):
            self.take(memory["keeps"])

    def decode(self):
        memory = self.defect("memory") or {}
        self.kept += memory.get("spare", 0)
        with self.memory(memory.get("decodes", 0)):
            super().decode()

    def document(self):
        head = super().document()
        if self.defect("memory"):
            head["profile_memory"] = 1
        for at, size, used, kept in self.notes:
            head["traceEvents"].append({
                "ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]",
                "pid": self.pid, "tid": self.pid, "ts": self.stamp(at - self.writing.base_ns),
                "args": {"Total Reserved": kept, "Total Allocated": used, "Bytes": size,
                         "Addr": 4096, "Device Id": self.device, "Device Type": 1}})
        return head
