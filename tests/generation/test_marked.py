#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Made traces of diffusion whose structure is known: images, blocks, steps, guidance, layers,
cached steps, phases; marked by modules, by ranges or by functions, but for decoding, which may have
no mark.  What the report says of them must be what was made, exactly."""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from reports import Report

DENOISERS = ("SD3Transformer2DModel", "FluxTransformer2DModel", "xFuserFluxTransformer2DWrapper",
             "WanTransformer3DModel", "HunyuanVideoTransformer3DModelPacked", "CausalWanModel",
             "UNet2DConditionModel", "QwenImageTransformer2DModel", "StableAudioDiTModel", "Flux")
ENCODERS = ("CLIPTextModelWithProjection", "T5EncoderModel", "UMT5EncoderModel", "LlamaModel",
            "Qwen2_5_VLForConditionalGeneration")
DECODERS = ("Decoder", "WanDecoder3d", "DecoderTiny", "HunyuanVideoDecoder3D")
RANGES = {"text encode": ("encode_prompt", "text_encoder", "Text Encoding"),
          "denoise": ("denoise_step_{}", "denoising step {}", "unet_forward", "dit_forward"),
          "VAE decode": ("vae_decode", "VAE.decode", "decode_latents")}
FUNCTIONS = {"text encode": "diffusers/pipelines/flux/pipeline_flux.py(310): encode_prompt",
             "denoise": "diffusers/models/transformers/transformer_flux.py(644): forward",
             "VAE decode": "diffusers/models/autoencoders/autoencoder_kl.py(310): decode"}


class Trace:
    """Events of one thread and one stream; times are integers of nanoseconds."""

    def __init__(self, rng):
        self.rng, self.events = rng, []
        self.host, self.device, self.correlation = 1000, 0, 0
        self.calls = []

    def span(self, name, category, start, end, **args):
        self.events.append({"ph": "X", "name": name, "cat": category, "pid": 1, "tid": 1,
                            "ts": start / 1000, "dur": (end - start) / 1000, "args": args})

    def kernel(self, name, ns, layer_grid=(1, 1, 1)):
        """A launch on the host and the kernel on the device; returns its start and end."""
        self.correlation += 1
        start = self.host
        self.host += self.rng.randint(2000, 5000)
        self.span("cudaLaunchKernel", "cuda_runtime", start, self.host,
                  correlation=self.correlation)
        begin = max(self.device, self.host + 1000)
        self.device = begin + ns
        self.events.append({"ph": "X", "name": name, "cat": "kernel", "pid": 0, "tid": 7,
                            "ts": begin / 1000, "dur": ns / 1000,
                            "args": {"device": 0, "stream": 7, "correlation": self.correlation,
                                     "grid": list(layer_grid)}})
        return begin, begin + ns

    def rest(self, ns):
        self.host += ns


class Plan:
    def __init__(self, rng):
        self.by = rng.choice(("module", "module", "range", "function"))
        self.images = rng.choice((1, 1, 2, 3))
        self.blocks = rng.choice((1, 1, 1, 2, 4))
        self.steps = rng.randint(2, 12)
        self.forwards = rng.choice((1, 1, 2, 2)) if self.by != "function" else 1
        self.step_ranges = self.by == "module" and rng.random() < 0.3
        self.layers = rng.randint(2, 8)
        self.cached = [rng.random() < 0.4 and step > 0 for step in range(self.steps)]
        if rng.random() < 0.6:
            self.cached = [False] * self.steps
        self.scheduler = rng.randint(5, 9)
        self.denoiser, self.decoder = rng.choice(DENOISERS), rng.choice(DECODERS)
        self.encoders = rng.sample(ENCODERS, rng.randint(1, 2))
        self.ranges = {phase: rng.choice(names) for phase, names in RANGES.items()}
        if self.forwards > 1 and self.by == "range":  # the calls are in the steps
            self.ranges["denoise"] = "unet_forward"
        self.tail = rng.choice((0, 0, 1))  # guidance is left out in the last third
        self.repeats_prompt = self.images > 1
        # How blocks end: a decode that is marked, one that is not, or none at all.
        self.decode = rng.choice(("marked", "marked", "hidden", "none"))
        self.begins = rng.randint(4, 14)  # what a block launches before its first step
        self.refreshes = self.forwards == 1 and self.steps > 1 and rng.random() < 0.2
        if self.decode == "none" and self.blocks > 1:
            self.tail = 0  # ends of blocks cannot be told from steps without guidance
        if self.by == "range" and self.decode != "marked":  # by a name that others have not
            self.ranges["denoise"] = "denoise_step_{}" if self.forwards == 1 else "unet_forward"


def call(trace, plan, phase, model, number, kernels):
    """One call of a model, that launches these kernels."""
    name = {"module": f"nn.Module: {model}_0", "function": FUNCTIONS[phase],
            "range": plan.ranges[phase].format(number)}[plan.by]
    category = "user_annotation" if plan.by == "range" else "python_function"
    start = trace.host
    trace.rest(700)
    times = [trace.kernel(*kernel) for kernel in kernels]
    trace.rest(900)
    trace.span(name, category, start, trace.host)
    trace.calls.append((phase, start, trace.host - start, times[0][0], times[-1][1] - times[0][0],
                        sum(end - begin for begin, end in times), len(kernels)))
    trace.rest(500)


def layers_of(plan, n):
    kernels = []
    for _ in range(n):
        kernels += [("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_tn", 40000),
                    ("flash_fwd_kernel", 90000, (64, 2, 24)),
                    ("vectorized_layer_norm_kernel", 8000)]
    return kernels


def decode(trace, plan, block):
    n = trace.rng.randint(8, 16)
    kernels = [("cudnn_conv2d_fprop_implicit_gemm", 50000)] * n
    if plan.decode == "marked":
        call(trace, plan, "VAE decode", plan.decoder, block, kernels)
        return
    first = trace.host
    times = [trace.kernel(*kernel) for kernel in kernels]
    trace.calls.append(("VAE decode", first, trace.host - first, times[0][0],
                        times[-1][1] - times[0][0], sum(end - begin for begin, end in times), n))


def build(plan, rng):
    trace = Trace(rng)
    truth = {"steps": 0, "forwards": 0, "full": 0}
    for image in range(plan.images):
        for encoder in plan.encoders if image == 0 or plan.repeats_prompt else ():
            call(trace, plan, "text encode", encoder, 0,
                 [("sm80_xmma_gemm_f16f16", 9000)] * rng.randint(3, 6))
        for block in range(plan.blocks):
            for _ in range(plan.begins):
                trace.kernel("distribution_elementwise_grid_stride_kernel", 4000)
            for step in range(plan.steps):
                begin = trace.host
                trace.rest(300)
                forwards = plan.forwards
                if plan.tail and plan.steps >= 6 and step >= plan.steps - plan.steps // 3:
                    forwards = 1
                for _ in range(forwards):
                    kernels = layers_of(plan, 1 if plan.cached[step] else plan.layers)
                    call(trace, plan, "denoise", plan.denoiser, step, kernels)
                    truth["forwards"] += 1
                    truth["full"] += not plan.cached[step]
                for _ in range(plan.scheduler):
                    trace.kernel("vectorized_elementwise_kernel", 4000)
                trace.rest(300)
                if plan.step_ranges:
                    trace.span(f"denoising step {step}", "user_annotation", begin, trace.host)
                truth["steps"] += 1
            if plan.refreshes:  # keys and values of what is finished, for the next block
                call(trace, plan, "denoise", plan.denoiser, plan.steps,
                     layers_of(plan, plan.layers))
                for event in ("steps", "forwards", "full"):
                    truth[event] += 1
            if plan.decode != "none":
                decode(trace, plan, block)
            trace.rest(2000)
    return trace, truth


def expected_images(plan):
    """What is decoded again without another prompt is an image of a denoiser of images, else a
    block."""
    name = {"module": plan.denoiser, "function": FUNCTIONS["denoise"], "range": ""}[plan.by].lower()
    makes_videos = any(word in name for word in ("video", "3d", "wan"))
    makes_images = not makes_videos and any(word in name for word in ("2d", "flux"))
    if plan.decode == "none":
        return plan.images
    if not makes_images and not makes_videos and plan.by == "module" and plan.decode == "marked":
        makes_videos = "3d" in plan.decoder.lower()
    return plan.images * (plan.blocks if makes_images else 1)


def faults_of(plan, trace, truth, report):
    loops = report.rows("diffusion.loops")
    if len(loops) != 1:
        yield f"{len(loops)} loops"
        return
    loop = loops[0]
    origin = min(event["ts"] for event in trace.events)
    forwards = plan.forwards if not (plan.tail and plan.steps >= 6 and plan.forwards > 1) else None
    for key, want in (("source", plan.by), ("images", expected_images(plan)),
                      ("blocks", plan.images * (1 if plan.decode == "none" else plan.blocks)),
                      ("steps", truth["steps"]),
                      ("forwards", truth["forwards"]), ("full", truth["full"]),
                      ("forwards_per_step", forwards), ("layers", plan.layers)):
        if loop[key] != want:
            yield f"{key}: {loop[key]}, not {want}"
    rows = report.rows("diffusion.calls")
    found = [(row["phase"], row["host_start_ns"] + round(origin * 1000), row["host_dur_ns"],
              row["gpu_start_ns"] + round(origin * 1000), row["gpu_dur_ns"], row["gpu_busy_ns"],
              row["kernels"]) for row in rows]
    if found != trace.calls:
        differ = next((pair for pair in zip(found, trace.calls) if pair[0] != pair[1]), None)
        yield f"calls: {len(found)}, not {len(trace.calls)}; {differ}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="where the traces with faults stay")
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.count):
            rng = random.Random(args.seed * 1000003 + number)
            plan = Plan(rng)
            trace, truth = build(plan, rng)
            path = pathlib.Path(folder) / "trace.json"
            path.write_text(json.dumps({"traceEvents": trace.events}))
            printed = subprocess.run([args.program, "report", path, "--json", "--no-config"],
                                     check=True, capture_output=True, text=True).stdout
            faults = list(faults_of(plan, trace, truth, Report(printed)))
            for fault in faults:
                print(f"{number}: {fault}\n   {vars(plan)}")
            if faults and args.keep:
                (args.keep / f"{number}.json").write_text(path.read_text())
            failed += bool(faults)
    print(f"{args.count} traces, {failed} with faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
