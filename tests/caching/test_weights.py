#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters and FLOPs of models by recorded shapes: as many as the pipeline multiplies with, and
of a real trace as many as the models are published with.

usage: test_weights.py --program PROGRAM --causes FOLDER [--shared FOLDER]

FOLDER is tests/causes, which makes the pipelines; real traces are in the other one.
"""
import argparse
import importlib
import pathlib
import random
import sys
import tempfile

import reports

# Billions of parameters as published, and how much less: embeddings, norms and biases.
PUBLISHED = {"SD3Transformer2DModel_0": (8.06, 0.01), "T5EncoderModel_0": (4.76, 0.04),
             "CLIPTextModelWithProjection_1": (0.695, 0.12)}


def make(pipeline, plans, gpus, seed):
    """A pipeline with recorded shapes; elements of weights, and FLOPs of products, of a forward."""
    class Counting(pipeline.Pipeline):
        def linear(self, rows, out, inner, *args, **kwargs):
            planted["weights"] += out * inner
            planted["flop"] += 2 * rows * out * inner
            return super().linear(rows, out, inner, *args, **kwargs)

        def transformer(self, batch):
            planted.update(weights=0, flop=0)
            with self.frame("nn.Module: SD3Transformer2DModel_0"):
                yield from super().transformer(batch)
            forwards.append(dict(planted))

    planted, forwards = {"weights": 0, "flop": 0}, []
    rng = random.Random(seed)
    plan = plans.drawn(rng, seed, stacks=1, steps=3, layers=rng.randint(2, 8), compiled=False,
                       shapes=True, gpu=[g for g in gpus.GPUS if g.precision == "bf16"])
    rank = Counting(plan, 0)
    for _ in rank.program():
        pass
    return rank, forwards[0], plan


def real(program, folder):
    path = pathlib.Path(folder) / "data/traces/xdit_sd_3.5"
    if not path.is_dir():
        return
    report = reports.read(program, path)
    for model, (billions, less) in PUBLISHED.items():
        found = report.row("models.weights", model=model)["parameters"] / 1e9
        assert billions * (1 - less) <= found <= billions, (model, found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--causes", required=True)
    parser.add_argument("--shared")
    args = parser.parse_args()
    sys.path.insert(0, args.causes)
    modules = [importlib.import_module(name) for name in ("pipeline", "plans", "gpus")]
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(6):
            rank, planted, plan = make(*modules, seed)
            path = pathlib.Path(folder) / f"{seed}.json"
            rank.write(path)
            report = reports.read(args.program, path)
            row = report.row("models.weights", phase="denoise")
            assert row["parameters"] == planted["weights"], (seed, row, planted)
            assert row["bytes"] == 2 * planted["weights"], (seed, row, planted)
            # Attention multiplies queries and keys, and scores and values; how many of these a
            # mask leaves is not recorded for all kinds of it.
            rows = plan.batch * plan.tokens // plan.ranks
            attention = 4 * plan.layers * rows * (rows // plan.batch) * plan.hidden
            assert 0.98 * planted["flop"] <= row["mflop"] * 1e6 <= \
                1.02 * (planted["flop"] + attention), (seed, row, planted, attention)
    if args.shared:
        real(args.program, args.shared)


if __name__ == "__main__":
    main()
