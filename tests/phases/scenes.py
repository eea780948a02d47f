# SPDX-License-Identifier: GPL-3.0-or-later
"""Diffusion on several ranks, of which some decode or encode for the others."""
import dataclasses
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "causes"))
import gpus  # noqa: E402
import pipeline  # noqa: E402
import plans  # noqa: E402
from model import LINKS  # noqa: E402

REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
SPREAD = "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


@dataclasses.dataclass
class Scene:
    """Who does a phase, and what the others do meanwhile."""
    decodes: tuple = ()   # ranks; none: all
    encodes: tuple = ()
    after: str = "barrier"  # what comes behind the decode: barrier, broadcast, nothing
    marks_all: bool = True  # all ranks enter the range, whether they decode or not
    is_split: bool = False  # each decodes its part
    works_on: bool = False  # the others denoise another image meanwhile
    slow: dict = dataclasses.field(default_factory=dict)  # phase and rank: times its kernels


class Ranked(pipeline.Pipeline):
    """One rank of a scene."""

    def scene(self):
        return self.plan.defects["scene"]

    def meet(self, operator, kind, name, elements):
        begun = self.collective(operator, kind, name, elements)
        end = yield begun["ready"], 20_000 + elements / 100
        self.collective_ends(begun, end)

    def decode_here(self):
        scene = self.scene()
        self.stretch = scene.slow.get(("decode", self.rank), 1.0)
        self.decode_all(scene)
        self.stretch = 1.0

    def decode_all(self, scene):
        if scene.is_split:
            self.decode_image(self.plan.side // 2)
        else:
            self.decode()

    def generate(self, turn):
        plan, scene = self.plan, self.scene()
        encodes = not scene.encodes or self.rank in scene.encodes
        decodes = not scene.decodes or self.rank in scene.decodes
        if encodes:
            with self.range("encode_prompt"):
                self.encode()
        if scene.encodes:
            yield from self.meet("c10d::broadcast_", "broadcast", SPREAD, plans.TOKENS * 4096)
        self.stretch = scene.slow.get(("denoise", self.rank), 1.0)
        for number in range(plan.steps):
            yield from self.step(number)
        self.stretch = 1.0
        with self.range("vae_decode" if decodes or scene.marks_all else ""):
            if decodes:
                self.decode_here()
            elif scene.works_on:
                with self.range("transformer"):
                    for _ in range(3):
                        self.linear(plan.tokens, 4 * plan.hidden, 4 * plan.hidden)
            if scene.after == "broadcast":
                yield from self.meet("c10d::broadcast_", "broadcast", SPREAD,
                                     3 * plan.side ** 2)
        if scene.after == "barrier":
            yield from self.meet("c10d::barrier", "allreduce", REDUCE, 1)
        if decodes:
            self.postprocess()


def plan_of(seed, scene, **fixed):
    rng = random.Random(f"phases/{seed}")
    fast = [g for g in gpus.GPUS if LINKS[g.name][0] > 100]
    values = {"ranks": rng.choice((2, 4)), "marks": "stages", "stacks": 0, "gpu": fast,
              "side": [1024, 1280]} | fixed
    plan = plans.drawn(rng, seed, **values)
    return dataclasses.replace(plan, batch=1, defects={"scene": scene})


def make(folder, seed, scene, **fixed):
    """Writes the traces of all ranks; returns the ranks and the length of the run."""
    plan = plan_of(seed, scene, **fixed)
    ranks, total = pipeline.run(plan, Ranked)
    folder.mkdir(parents=True, exist_ok=True)
    for rank in ranks:
        rank.write(folder / f"run-rank{rank.rank}.pt.trace.json")
    return ranks, total
