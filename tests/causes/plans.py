# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs: the device, the model, the host, what is recorded, and what the program does badly."""
import dataclasses

import gpus
import process
from gpus import TYPES

TOKENS = 512  # of a prompt


@dataclasses.dataclass
class Plan:
    seed: object
    gpu: gpus.Gpu
    hidden: int = 3072
    size: int = 128          # of a head
    tokens: int = 4608
    batch: int = 1
    layers: int = 8
    steps: int = 8
    side: int = 1024         # of the image, pixels
    channels: int = 128      # of the last blocks of the VAE
    encoder_layers: int = 6
    compiled: bool = True
    is_best: bool = True     # the newest attention kernel
    marks: str = "none"      # ranges: none, profiler, steps, stages
    shapes: bool = True
    shadows: bool = True
    cpu: float = 1.0         # how long the host takes
    between: int = 300_000   # host work of the scheduler in each step
    ranks: int = 1
    iterations: int = 1
    turns: str = "generate"  # what marks each of them
    defects: dict = dataclasses.field(default_factory=dict)
    writing: object = dataclasses.field(default_factory=process.Writing)

    @property
    def kind(self):
        return TYPES[self.gpu.precision]


def drawn(rng, seed, **fixed):
    """A plan by chance; `fixed` are values that it must have, or lists to choose from."""
    def choose(key, values):
        given = fixed.pop(key, values)
        return rng.choice(given) if isinstance(given, (list, tuple)) else given

    gpu = choose("gpu", gpus.GPUS)
    hidden, size = choose("model", ((3072, 128), (5120, 128), (1536, 64), (2432, 64)))
    side = choose("side", (768, 1024, 1280))
    frames = choose("frames", (1, 1, 3))
    writing = process.Writing(
        fraction=True, packed=rng.random() < 0.5, stacks=rng.random() < fixed.pop("stacks", 0.2),
        distributed=True, names=rng.random() < 0.9, window=rng.random() < 0.9,
        base_ns=rng.choice((0, 1_763_164_800_000_000_000)))
    values = {
        "tokens": ((side // 16) ** 2 * frames + 64) // 64 * 64 + TOKENS,
        "batch": rng.choice((1, 1, 2)) if size == 64 else 1, "layers": rng.randint(6, 10),
        "steps": rng.randint(6, 10), "side": side, "encoder_layers": rng.randint(3, 6),
        "compiled": rng.random() < 0.6, "marks": rng.choice(("none", "profiler", "steps", "stages",
                                                             "stages")),
        "shapes": rng.random() < 0.7, "shadows": rng.random() < 0.6,
        "turns": rng.choice(("generate", "ProfilerStep#", "inference")),
        "cpu": rng.uniform(0.8, 1.4), "between": round(rng.uniform(0.1, 0.6) * 1e6)}
    return Plan(seed, gpu, hidden, size, writing=writing, **(values | fixed))
