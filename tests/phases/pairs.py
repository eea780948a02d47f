# SPDX-License-Identifier: GPL-3.0-or-later
"""Two runs of one diffusion program, of which the second does something else."""
import dataclasses
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "causes"))
import gpus  # noqa: E402
import pipeline  # noqa: E402
import plans  # noqa: E402


@dataclasses.dataclass
class How:
    """What a run does, besides its plan."""
    stretch: float = 1.0   # of the kernels of the denoiser
    decoder: float = 1.0   # and of the VAE
    cached: tuple = ()     # steps that a cache answers, but for one block
    passes: int = 1        # of the denoiser in a step, each of its own range
    encodes: bool = True
    noise: int = 0         # another one makes another run of the same program


class Single(pipeline.Pipeline):
    def how(self):
        return self.plan.defects["how"]

    def denoiser(self, number):
        plan, how = self.plan, self.how()
        self.stretch = how.stretch
        if number in how.cached:
            self.plan = dataclasses.replace(plan, layers=1)
        with self.range("transformer"):
            yield from self.transformer(plan.batch)
        self.plan, self.stretch = plan, 1.0

    def generate(self, turn):
        plan, how = self.plan, self.how()
        if how.encodes:
            with self.range("encode_prompt"):
                self.encode()
        for number in range(plan.steps):
            for _ in range(how.passes):
                yield from self.denoiser(number)
            self.open_eager = True
            for name in ("aten::sub", "aten::mul", "aten::add"):
                self.small(name)
            self.open_eager = False
            self.scheduler()
        self.stretch = how.decoder
        with self.range("vae_decode"):
            self.decode()
        self.stretch = 1.0
        self.postprocess()


def plan_of(seed, how, **fixed):
    rng = random.Random(f"pairs/{seed}")
    values = {"marks": "stages", "stacks": 0, "side": 1024, "layers": 6, "steps": 8,
              "turns": "generate"} | fixed
    plan = plans.drawn(rng, f"{seed}/{how.noise}", gpu=[gpus.GPUS[0]], **values)
    return dataclasses.replace(plan, batch=fixed.get("batch", 1), defects={"how": how})


def sized(side, **fixed):
    """A picture whose tokens can be told from those of the text."""
    return {"side": side, "tokens": (side // 16) ** 2 + plans.TOKENS, "shapes": True} | fixed


def make(path, seed, how, **fixed):
    """Writes the trace of a run; returns its length."""
    ranks, total = pipeline.run(plan_of(seed, how, **fixed), Single)
    path.parent.mkdir(parents=True, exist_ok=True)
    ranks[0].write(path)
    return total
