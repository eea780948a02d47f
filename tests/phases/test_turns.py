#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of one prompt, blocks of a video, requests and what is denoised in turns are told apart.

usage: test_turns.py --program TRACEANALYZE
"""
import pathlib
import tempfile

import reports
from small import LAYERS, Program


def named(denoiser, decoder, module=True):
    trace = Program()
    trace.encoder, trace.denoiser, trace.decoder = "CLIPTextModel", denoiser, decoder
    trace.module = module
    if not module:
        trace.encoder = "encode_prompt"
    return trace


def images_of_a_prompt():
    trace = named("SD3Transformer2DModel", "Decoder")
    trace.run("EDVDVDV")
    return trace, {"images": 3, "blocks": 3, "prompts": 1, "steps": 12, "at_once": 1,
                   "loop": "1 prompt × 3 images × 4 steps × 1 forward × 3 layers"}


def images_of_prompts():
    trace = named("FluxTransformer2DModel", "Decoder")
    trace.run("EDVDVEDVDV")
    return trace, {"images": 4, "blocks": 4, "prompts": 2, "steps": 16,
                   "loop": "2 prompts × 2 images × 4 steps × 1 forward × 3 layers"}


def blocks_of_a_video():
    trace = named("WanTransformer3DModel", "WanDecoder3d")
    trace.run("EDVDVDV")
    return trace, {"images": 1, "blocks": 3, "prompts": 1,
                   "loop": "1 video × 3 blocks × 4 steps × 1 forward × 3 layers"}


def by_convolutions(name, images):
    trace = named("dit", "vae_decode", module=False)
    trace.run("EDVDV")
    trace.operator(name)
    return trace, {"images": images, "blocks": 2}


def neither():
    trace = named("dit", "vae_decode", module=False)
    trace.run("EDVDV")
    return trace, {"images": 1, "blocks": 2,
                   "loop": "1 video × 2 blocks or images × 4 steps × 1 forward × 3 layers"}


def encoded_before():
    """Two prompts are encoded, then an image of each is made."""
    trace = named("dit", "vae_decode", module=False)
    trace.operator("aten::conv2d")
    trace.run("EEDVDV")
    return trace, {"images": 2, "prompts": 2,
                   "loop": "2 images × 4 steps × 1 forward × 3 layers"}


def requests():
    trace = named("SD3Transformer2DModel", "Decoder")
    for number in (7, 9):
        start = trace.host
        trace.run("EDVDV")
        trace.span(f"request {number}", "user_annotation", start, trace.host, 1)
    return trace, {"images": 4, "prompts": 2, "requests": 2,
                   "loop": "2 requests × 2 images × 4 steps × 1 forward × 3 layers"}


def turns(how, of=2, steps=5, ends=True):
    """Images in turns; the second one begins a step later."""
    trace = Program()
    where = {"threads": lambda k: {"thread": 1 + k}, "streams": lambda k: {"stream": 7 + k},
             "names": lambda k: {}}[how]
    names = ["unet" if how != "names" else f"unet_step req_id={k}" for k in range(of)]
    if ends:
        for k in range(of):
            trace.encode(**where(k))
    for turn in range(steps + of - 1):
        for k in range(of):
            if k <= turn < steps + k:
                trace.step(names[k], **where(k))
                if ends and turn == steps + k - 1:
                    trace.decode(**where(k))
    return trace, {"images": of, "blocks": of, "steps": of * steps, "at_once": of,
                   "loop": f"{of} images ({of} at a time, in turns) × {steps} steps × 1 forward × "
                           "3 layers"}


def apart(how):
    """The two passes of guidance have a thread or a stream each."""
    trace = Program()
    trace.encode()
    for _ in range(5):
        trace.call("unet", LAYERS)
        trace.call("unet", LAYERS, **({"thread": 2} if how == "threads" else {"stream": 9}))
        trace.schedule()
    trace.decode()
    return trace, {"images": 1, "at_once": 1}


def untold():
    """The second request joins; nobody can say whose a step is after that."""
    trace = Program()
    trace.run("EDED")
    trace.decode()
    trace.run("DV")
    return trace, {"images": 2, "at_once": None, "steps": 12, "blocks": 2,
                   "loop": "2 images (in turns) · 12 steps in all × 1 forward × 3 layers"}


CASES = {
    "images of a prompt": images_of_a_prompt,
    "images of prompts": images_of_prompts,
    "blocks of a video": blocks_of_a_video,
    "convolutions of images": lambda: by_convolutions("aten::conv2d", 2),
    "convolutions of a video": lambda: by_convolutions("aten::conv3d", 1),
    "blocks or images": neither,
    "encoded before": encoded_before,
    "requests": requests,
    "turns by threads": lambda: turns("threads"),
    "turns by streams": lambda: turns("streams", 3),
    "turns by names": lambda: turns("names", 3),
    "turns without ends": lambda: turns("threads", 2, 6, ends=False),
    "guidance on threads": lambda: apart("threads"),
    "guidance on streams": lambda: apart("streams"),
    "nobody can say": untold,
}


def judge(program, folder, name):
    trace, wanted = CASES[name]()
    path = folder / "run.json"
    trace.write(path)
    report = reports.read(program, path)
    loop = report.row("diffusion.loops")
    for key, value in wanted.items():
        if loop[key] != value:
            raise AssertionError(f"{name}: {key} is {loop[key]}, not {value}: {loop}")
    shares = [row["share"] for row in report.rows("phases.by_rank")]
    if max(shares) > 1 or loop["at_once"] == 1 and sum(shares) > 1.001:
        raise AssertionError(f"{name}: phases have {shares} of the window")
    for row in report.rows("phases.by_rank"):
        if row["gpu_idle_ns"] is not None and row["gpu_idle_ns"] < 0:
            raise AssertionError(f"{name}: {row}")


def main():
    program = reports.program_of_arguments()
    for name in CASES:
        with tempfile.TemporaryDirectory() as folder:
            judge(program, pathlib.Path(folder), name)


main()
