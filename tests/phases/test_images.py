#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several prompts in one recording are told apart, and each decode is of the image that it shows.

usage: test_images.py --program TRACEANALYZE
"""
import dataclasses
import pathlib
import tempfile

import pairs
import pipeline
import reports

# Encode, denoise or decode, in this order: what a program does for three prompts, and the images.
PROGRAMS = {
    "one after the other": ("EDVEDVEDV", (1, 1, 1, 2, 2, 2, 3, 3, 3)),
    "the next prompt before the decode": ("EDEVDEVDV", (1, 1, 2, 1, 2, 3, 2, 3, 3)),
    "all decodes at the end": ("EDEDEDVVV", (1, 1, 2, 2, 3, 3, 1, 2, 3)),
}
PHASES = {"E": "text encode", "D": "denoise", "V": "VAE decode"}


class Several(pairs.Single):
    def generate(self, turn):
        for phase in self.plan.defects["program"]:
            if phase == "E":
                with self.range("encode_prompt"):
                    self.encode()
            elif phase == "D":
                for number in range(self.plan.steps):
                    yield from self.denoiser(number)
                    self.scheduler()
            else:
                with self.range("vae_decode"):
                    self.decode()


def judge(program, folder, name):
    order, images = PROGRAMS[name]
    plan = dataclasses.replace(pairs.plan_of("images", pairs.How(), layers=3, steps=4),
                               defects={"how": pairs.How(), "program": order})
    ranks, _ = pipeline.run(plan, Several)
    path = folder / "run.pt.trace.json"
    ranks[0].write(path)
    report = reports.read(program, path)
    found = [(row["phase"], row["image"]) for row in report.rows("phases.stages")]
    wanted = [(PHASES[phase], image) for phase, image in zip(order, images)]
    if found != wanted:
        raise AssertionError(f"{name}: {found}, not {wanted}")
    loop = report.row("diffusion.loops")
    if (loop["images"], loop["steps"]) != (3, 12) or loop["image_ns"] is None:
        raise AssertionError(f"{name}: {loop}")


def main():
    program = reports.program_of_arguments()
    for name in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            judge(program, pathlib.Path(folder), name)


main()
