#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The growth of a video's blocks, and of attention alone, is what was made.

usage: test_attention_growth.py --program TRACEANALYZE
"""
import pathlib
import random
import tempfile

import reports
from small import Program

GEMM, FLASH = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_tn", "flash_fwd_kernel"
NORM = "vectorized_layer_norm_kernel"
STEPS, LAYERS = 4, 3


def made(blocks, rng, noise=0, attention=FLASH, decoder="WanDecoder3d",
         denoiser="WanTransformer3DModel"):
    """Returns the trace and what a block's passes take more than those of the one before."""
    trace = Program()
    trace.encoder, trace.denoiser, trace.decoder = "CLIPTextModel", denoiser, decoder
    trace.module = True
    trace.encode()
    more, other = 1000 * rng.randint(2, 9), 1000 * rng.randint(0, 2)
    for block in range(blocks):
        for _ in range(STEPS):
            def vary(ns):
                return ns + rng.randint(-noise, noise)
            trace.call(denoiser, [(GEMM, vary(40000 + other * block)),
                                  (attention, vary(90000 + more * block)),
                                  (NORM, 8000)] * LAYERS, module=True)
            trace.schedule()
        trace.decode()
    return trace, STEPS * LAYERS * more, STEPS * LAYERS * other


def rows_of(program, folder, trace):
    path = pathlib.Path(folder) / "run.json"
    trace.write(path)
    return reports.read(program, path).rows("diffusion.attention_growth")


def expect(name, found, wanted, share=1e-6):
    if found is None or abs(found - wanted) > share * max(abs(wanted), 1000):
        raise AssertionError(f"{name} is {found}, not {wanted}")


def main():
    program = reports.program_of_arguments()
    times = STEPS * LAYERS
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(4):
            rng = random.Random(seed)
            trace, more, other = made(rng.randint(7, 10), rng)
            row, = rows_of(program, folder, trace)
            expect("growth", row["growth_ns"], more + other)
            expect("growth of attention", row["attention_growth_ns"], more)
            expect("base", row["base_ns"], times * (40000 + 90000 + 8000))
            expect("base of attention", row["attention_base_ns"], times * 90000)
            trace, more, other = made(12, rng, noise=900)
            row, = rows_of(program, folder, trace)
            expect("growth, noisy", row["growth_ns"], more + other, 0.1)
            expect("growth of attention, noisy", row["attention_growth_ns"], more, 0.1)
            if not row["attention_growth_low_ns"] < row["attention_growth_ns"] < \
                    row["attention_growth_high_ns"]:
                raise AssertionError(f"{row}")
        nothing = {"few blocks": made(6, rng)[0],
                   "images": made(9, rng, decoder="Decoder",
                                  denoiser="FluxTransformer2DModel")[0]}
        for name, trace in nothing.items():
            if rows_of(program, folder, trace):
                raise AssertionError(f"{name} have growth")


main()
