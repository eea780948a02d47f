#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranks that only encode or decode have their phases where another rank denoises, and nowhere else;
ranges called "transformer" are a denoiser where only a diffusion has what is around them.

usage: test_stages_of_ranks.py --program TRACEANALYZE
"""
import pathlib
import tempfile

import reports
from small import DECODER, ENCODER, LAYERS, Program


def expect(what, found, wanted):
    if found != wanted:
        raise AssertionError(f"{what}: {found}, not {wanted}")


def encoding(rank, world, module):
    """Two encoders for each of three prompts."""
    trace = Program(rank, world)
    for _ in range(3):
        start = trace.host
        for encoder in ("CLIPTextModel", "LlamaModel"):
            trace.call(encoder, ENCODER, module=module)
        if not module:
            trace.span("encode_prompt", "user_annotation", start, trace.host, 1)
        trace.host += 900_000
    return trace


def denoising(rank, world):
    trace = Program(rank, world)
    trace.host += 300_000
    for _ in range(3):
        for _ in range(4):
            trace.step("denoise_step")
    return trace


def decoding(rank, world, module):
    trace = Program(rank, world)
    trace.host += 700_000
    for _ in range(3):
        trace.call("AutoencoderKL" if module else "vae_decode", DECODER, module=module)
        trace.host += 700_000
    return trace


def chatting(rank, world):
    """A language model on its own rank: its modules are encoders' in other programs."""
    trace = Program(rank, world)
    for _ in range(40):
        trace.call("LlamaModel", LAYERS, module=True)
    return trace


def report_of(program, folder, traces):
    for trace in traces:
        trace.write(folder / f"rank{trace.rank}.json")
    return reports.read(program, folder)


def judge_apart(program, folder, module):
    report = report_of(program, folder, [encoding(0, 4, module), denoising(1, 4), denoising(2, 4),
                                         decoding(3, 4, module)])
    expect("loops", [row["rank"] for row in report.rows("diffusion.loops")], [1, 2])
    found = {(row["rank"], row["phase"]): row["times"] for row in report.rows("phases.by_rank")}
    expect("encodes", found.get((0, "text encode")), 3)
    expect("decodes", found.get((3, "VAE decode")), 3)
    expect("denoises", (found.get((1, "denoise")), found.get((0, "denoise"))), (1, None))
    calls = report.rows("diffusion.calls", rank=0)
    expect("calls of encoders", len(calls), 6 if module else 3)
    expect("images of calls", {row["image"] for row in calls}, {None})
    kernels = sum(ns for _, ns in DECODER) * 3
    expect("work of the decoder", report.cell("phases.by_rank", "gpu_busy_ns", rank=3,
                                              phase="VAE decode"), kernels)
    expect("compared", report.cell("phases.over_ranks", "ranks", phase="VAE decode"), 1)


def judge_silent(program, folder, traces, what):
    report = report_of(program, folder, traces)
    for table in ("diffusion.loops", "phases.by_rank", "phases.stages", "diffusion.calls",
                  "phases.over_ranks", "phases.alone"):
        expect(f"{what}: {table}", report.rows(table), [])


def transformers(around, operators=True):
    trace = Program()
    for _ in range(6):
        trace.call("transformer", LAYERS)
        around(trace)
    return trace


def with_name(name, category="user_annotation"):
    def add(trace):
        start = trace.host
        trace.schedule()
        trace.span(name, category, start, trace.host, 1)
    return add


HINTS = (("scheduler.step", "user_annotation"), ("apply_guidance", "user_annotation"),
         ("diffusers/schedulers/scheduling_euler_discrete.py(300): step", "python_function"),
         ("nn.Module: TimestepEmbedding_0", "python_function"))
NO_HINTS = (("sampler", "user_annotation"), ("Scheduler.schedule", "user_annotation"),
            ("vllm/v1/core/sched/scheduler.py(170): schedule", "python_function"),
            ("Optimizer.step#Adam.step", "user_annotation"))


def main():
    program = reports.program_of_arguments()

    def judge(what, *args):
        with tempfile.TemporaryDirectory() as folder:
            return what(program, pathlib.Path(folder), *args)

    judge(judge_apart, True)
    judge(judge_apart, False)
    judge(judge_silent, [decoding(0, 1, True)], "a decoder alone")
    judge(judge_silent, [encoding(0, 2, True), chatting(1, 2)], "a language model and encoders")
    for hint in HINTS:
        report = judge(report_of, [transformers(with_name(*hint))])
        expect(f"steps with {hint[0]}", report.row("diffusion.loops")["steps"], 6)
    for name in NO_HINTS:
        judge(judge_silent, [transformers(with_name(*name))], name[0])


main()
