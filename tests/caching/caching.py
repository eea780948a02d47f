# SPDX-License-Identifier: GPL-3.0-or-later
"""Diffusion pipelines with a step cache: in some steps the model runs its first blocks only."""
import gpus
import pipeline
import plans


class Cached(pipeline.Pipeline):
    """`cache` of the plan: `hits`, for each pass the steps that are answered, from 0; `keep`, the
    blocks that these run; `decision`, whether each step after the first reads a value to decide;
    `wait`, host time that a cached step wastes; `frames`, whether functions of the cache are
    recorded."""

    def __init__(self, plan, rank):
        super().__init__(plan, rank)
        self.cache, self.now, self.image = plan.cache, 0, 0
        self.forwards = []  # what was planted: image, step, pass, hit, activities

    def generate(self, turn):
        self.image = turn + 1
        yield from super().generate(turn)

    def step(self, number):
        self.now, self.turn = number, 0
        yield from super().step(number)

    def decide(self):
        """The difference from the step before: small kernels, and a value that the host reads."""
        with self.frame("diffusers/hooks/first_block_cache.py(133): "
                        "_should_compute_remaining_blocks"):
            self.open_eager = True
            for name in ("aten::sub", "aten::abs", "aten::mean", "aten::div"):
                self.small(name)
            self.item()
            self.open_eager = False

    def transformer(self, batch):
        turn, plan = self.turn, self.plan
        self.turn += 1
        hit = self.now in self.cache["hits"][turn]
        rows, width = batch * plan.tokens // plan.ranks, plan.hidden
        first = len(self.events)
        with self.frame("nn.Module: FluxTransformer2DModel_0"):
            self.linear(rows, width, 64)
            for layer in range(plan.layers):
                if layer == 1 and self.cache["decision"] and self.now:
                    self.decide()
                if hit and layer >= self.cache["keep"]:
                    break
                yield from self.block(layer, batch, rows, width)
            if hit:
                self.spend(self.cache["wait"])
                self.elementwise("aten::add", [1, rows, width], extra=([1, rows, width],))
            self.head(rows, width)
        work = [event for event in self.events[first:] if event.is_activity()]
        self.forwards.append({"image": self.image, "step": self.now + 1, "pass": turn + 1,
                              "hit": hit, "start": min(event.start for event in work),
                              "end": max(event.end for event in work)})


def plan_of(rng, seed, **fixed):
    """A plan by chance, and the cache."""
    guided = rng.random() < 0.4
    steps = rng.randint(12, 30)
    plan = plans.drawn(rng, seed, steps=steps, layers=rng.randint(8, 14), compiled=False,
                       gpu=[g for g in gpus.GPUS if "V100" not in g.name],
                       **fixed)
    if guided:
        plan.batch = 2
        plan.defects["C10"] = {}
    else:
        plan.batch = 1
    warm = rng.randint(1, 5)
    share = rng.uniform(0.15, 0.7)
    passes = 2 if guided else 1
    hits = [sorted(i for i in range(warm, steps - 1) if rng.random() < share)
            for _ in range(passes)]
    plan.cache = {"hits": hits, "keep": rng.choice((0, 1, 1, 2)), "decision": rng.random() < 0.6,
                  "wait": rng.choice((0, 0, 5e6))}
    plan.cache_guided = guided
    plan.iterations = rng.choice((1, 1, 2))
    return plan


def run(plan):
    """One rank, which has run."""
    rank = Cached(plan, 0)
    for _ in rank.program():
        pass
    return rank
