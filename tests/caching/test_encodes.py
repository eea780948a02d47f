#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Encoders that run several times for an image: which, how often again, and how long the device
works for that; encoders that run once are not named.

usage: test_encodes.py --program PROGRAM --causes FOLDER

FOLDER is tests/causes, which makes the pipelines.
"""
import argparse
import importlib
import pathlib
import random
import sys
import tempfile

import reports


def make(pipeline, plans, gpus, seed, times):
    """A pipeline whose encoder runs so often for each image; its file, and the work of each run."""
    class Encoding(pipeline.Pipeline):
        def encode(self):
            for _ in range(times):
                first = len(self.events)
                with self.frame("nn.Module: T5EncoderModel_0"):
                    super().encode()
                work.append(sum(e.dur for e in self.events[first:] if e.is_activity()))

        def transformer(self, batch):
            with self.frame("nn.Module: SD3Transformer2DModel_0"):
                yield from super().transformer(batch)

        def decode(self):
            with self.frame("nn.Module: Decoder_0"):
                super().decode()

    work = []
    rng = random.Random(seed)
    plan = plans.drawn(rng, seed, stacks=1, steps=4, layers=4, compiled=False,
                       gpu=[g for g in gpus.GPUS if not g.is_rocm], marks="none")
    plan.iterations = rng.choice((1, 2))
    rank = Encoding(plan, 0)
    for _ in rank.program():
        pass
    return rank, work, plan.iterations


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--causes", required=True)
    args = parser.parse_args()
    sys.path.insert(0, args.causes)
    modules = [importlib.import_module(name) for name in ("pipeline", "plans", "gpus")]
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(8):
            times = seed % 4 or 2
            rank, work, images = make(*modules, seed, times)
            path = pathlib.Path(folder) / f"{seed}.json"
            rank.write(path)
            report = reports.read(args.program, path)
            rows = report.rows("diffusion.encodes")
            if times == 1:
                assert not rows and not report.finding("repeated-encodes"), (seed, rows)
                continue
            again = sum(ns for i, ns in enumerate(work) if i % times)
            assert len(rows) == 1, (seed, rows)
            found = (rows[0]["model"], rows[0]["calls"], rows[0]["again"], rows[0]["images"])
            assert found == ("T5EncoderModel_0", times * images, (times - 1) * images, images), \
                (seed, found, times, images)
            assert abs(rows[0]["again_busy_ns"] - again) <= 2 * len(work), (seed, rows, again)
            assert rows[0]["again_ns"] >= rows[0]["again_busy_ns"], (seed, rows)
            finding = report.finding("repeated-encodes")
            assert finding and (times > 2 or "runs twice" in finding["title"]), (seed, finding)


if __name__ == "__main__":
    main()
