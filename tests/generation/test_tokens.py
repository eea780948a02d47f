#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pixels, frames, batch, guidance and tokens of made pipelines whose sizes are known: a transformer
of text and picture, packed latents, cross-attention, a U-Net, a video that is decoded in groups of
frames, tiles; and of a real trace, whose shapes are read a second time here.

usage: test_tokens.py --program PROGRAM [--shared FOLDER]
"""
import argparse
import gzip
import json
import math
import pathlib
import random
import sys
import tempfile

import reports

FLASH = "flash_fwd_kernel"
GEMM = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_tn"
CONV = "sm90_xmma_fprop_implicit_gemm_bf16"
ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, float>"


class Trace:
    """Events of one thread and one stream; times in µs."""

    def __init__(self, rank=0, world=1):
        self.events, self.host, self.device, self.number = [], 100, 100, 0
        self.rank, self.world = rank, world
        self.attention_ns = self.kernel_ns = self.steps = 0
        self.attention_flop = self.flop = 0

    def span(self, name, category, start, end, **args):
        self.events.append({"ph": "X", "name": name, "cat": category, "pid": 1, "tid": 1,
                            "ts": start, "dur": end - start, "args": args})

    def op(self, name, dims, kernel, us=20, values=None, kinds=None):
        """An operator that launches a kernel."""
        start, self.number = self.host, self.number + 1
        self.span("cudaLaunchKernel", "cuda_runtime", start + 1, start + 4,
                  correlation=self.number)
        self.host += 6
        args = {"Input Dims": dims, "Input type": kinds or ["c10::BFloat16" if d else ""
                                                            for d in dims]}
        if values:
            args["Concrete Inputs"] = values
        self.span(name, "cpu_op", start, self.host, **args)
        self.device = max(self.device, self.host) + us
        self.events.append({"ph": "X", "name": kernel, "cat": "kernel", "pid": 0, "tid": 7,
                            "ts": self.device - us, "dur": us,
                            "args": {"device": 0, "stream": 7, "correlation": self.number}})

    def module(self, name, body):
        start = self.host
        self.host += 2
        body()
        self.host += 2
        self.span(f"nn.Module: {name}_0", "python_function", start, self.host)
        self.host += 3

    # ---- parts of models ---------------------------------------------------------------------

    def attention(self, batch, heads, queries, keys, size, us=90):
        q, k = [batch, heads, queries, size], [batch, heads, keys, size]
        self.op("aten::_scaled_dot_product_flash_attention", [q, k, k, [], [], [], []], FLASH, us,
                ["", "", "", "0.", "False", "False", ""])
        self.attention_ns += 1000 * us
        self.kernel_ns += 1000 * us
        self.attention_flop += 4 * batch * heads * queries * keys * size
        self.flop += 4 * batch * heads * queries * keys * size

    def linear(self, rows, n, k, us=40):
        self.op("aten::mm", [[rows, k], [k, n]], GEMM, us)
        self.kernel_ns += 1000 * us
        self.flop += 2 * rows * n * k

    def conv(self, dims, out, kernel, stride=1, padding=None, us=30):
        n = len(dims) - 2
        kernel = [kernel] * n if isinstance(kernel, int) else kernel
        stride = [stride] * n if isinstance(stride, int) else stride
        padding = [size // 2 for size in kernel] if padding is None else padding
        told = ["", "", "", str(stride), str(padding), str([1] * n), "False", str([0] * n), "1"]
        # As PyTorch does it: one operator in another, the outer one adds the bias.
        start, sizes = self.host, [dims, [out, dims[1], *kernel]]
        inner = ["", "", *told[4:2:-1], told[5], "1", "False", "False", "True"]
        self.op("aten::cudnn_convolution", [*sizes, *[[]] * 7], CONV, us, inner)
        self.op("aten::add_", [dims, [out], []], ELEMENTWISE, 2)
        self.host += 1
        self.span("aten::convolution", "cpu_op", start, self.host, **{
            "Input Dims": [*sizes, [out], *[[]] * 6], "Concrete Inputs": told,
            "Input type": [*["c10::BFloat16"] * 3, *[""] * 6]})
        self.kernel_ns += 2000
        made = [(d + 2 * p - k) // s + 1
                for d, p, k, s in zip(dims[2:], padding, kernel, stride)]
        self.kernel_ns += 1000 * us
        self.flop += math.prod(made) * dims[0] * out * (2 * dims[1] * math.prod(kernel) + 1)
        return [dims[0], out, *made]

    def encoder(self, name, words, length, prompts=1, width=768):
        def body():
            self.op("aten::embedding", [[words, width], [prompts, length], [], [], []],
                    "indexSelect", 5, kinds=["c10::BFloat16", "long", "", "", ""])
            self.op("aten::embedding", [[512, width], [1, length], [], [], []],
                    "indexSelect", 5, kinds=["c10::BFloat16", "long", "", "", ""])
            self.attention(prompts, 12, length, length, 64, 10)
        before = self.sums()
        self.module(name, body)
        self.restore(before)

    def decoder(self, dims, scale, out=3, name="Decoder"):
        """Of latents `dims`; one pass."""
        def body():
            made = self.conv(dims, 512, 3)
            made[1] = 128
            for i in range(-2, 0):
                made[i] *= scale[-1]
            if len(dims) == 5:
                made[2] = scale[0](made[2])
            self.conv(made, 128, 3)
            self.conv(made, out, 3)
        before = self.sums()
        self.module(name, body)
        self.restore(before)

    def scheduler(self):
        before = self.sums()
        for _ in range(6):
            self.op("aten::mul", [[1, 64], []], ELEMENTWISE, 3)
        self.restore(before)

    def sums(self):
        return self.attention_ns, self.kernel_ns, self.attention_flop, self.flop

    def restore(self, sums):
        """What is not of the denoiser does not count."""
        self.attention_ns, self.kernel_ns, self.attention_flop, self.flop = sums

    def denoise(self, name, body, steps, passes=1):
        self.steps = steps
        for _ in range(steps):
            for _ in range(passes):
                self.module(name, body)
            self.scheduler()

    def write(self, path):
        trace = {"traceEvents": self.events,
                 "distributedInfo": {"rank": self.rank, "world_size": self.world}}
        path.write_text(json.dumps(trace))

    def shares(self, frames=1):
        """`frames`: of all images or videos; None where nobody can say."""
        return {"attention_share": self.attention_ns / self.kernel_ns,
                "attention_flop_share": self.attention_flop / self.flop,
                "step_flop": self.flop / self.steps,
                "frame_flop": self.flop / frames if frames else None}


# ---- pipelines -----------------------------------------------------------------------------------

def joint(rng, pictures=None, guided=None):
    """As SD 3.5: a convolution makes patches; text and picture are one sequence."""
    trace = Trace()
    h, w = rng.choice((64, 96, 128, 160)), rng.choice((64, 96, 128, 160))
    pictures, guided = pictures or rng.choice((1, 1, 3)), rng.random() < 0.5 \
        if guided is None else guided
    batch, text = pictures * (1 + guided), 77 + 256
    tokens = h * w // 4 + text
    for _ in range(1 + guided):
        trace.encoder("CLIPTextModelWithProjection", 49408, 77, pictures)
        trace.encoder("T5EncoderModel", 32128, 256, pictures, 4096)

    def forward():
        trace.conv([batch, 16, h, w], 1536, 2, 2, [0, 0])
        for _ in range(5):
            trace.linear(batch * tokens, 4608, 1536)
            trace.attention(batch, 24, tokens, tokens, 64)
            trace.linear(batch * tokens, 1536, 1536)
    trace.denoise("SD3Transformer2DModel", forward, rng.randint(3, 6))
    trace.decoder([pictures, 16, h, w], [8])
    return trace, {
        "width": 8 * w, "height": 8 * h, "frames": 1, "batch": pictures, "forward_batch": batch,
        "guidance": "batched" if guided else "none", "tokens": tokens, "image_tokens": h * w // 4,
        "text_tokens": text, "text_in": "joint", "text_lengths": "77 + 256", "heads": 24,
        "text_pairs_share": 1 - (h * w / 4 / tokens) ** 2, "latents": f"16×{h}×{w}",
        "frame_tokens": None, **trace.shares(pictures)}


def packed(rng):
    """As FLUX: latents come packed, the first layer is linear; guidance is an input."""
    trace = Trace()
    h, w, text = rng.choice((64, 96, 128)), rng.choice((64, 128)), rng.choice((256, 512))
    tokens = h * w // 4 + text
    trace.encoder("CLIPTextModel", 49408, 77)
    trace.encoder("T5EncoderModel", 32128, text, 1, 4096)

    def forward():
        for _ in range(4):
            trace.linear(tokens, 9216, 3072)
            trace.attention(1, 24, tokens, tokens, 128)
    trace.denoise("FluxTransformer2DModel", forward, rng.randint(2, 5))
    trace.decoder([1, 16, h, w], [8])
    return trace, {"width": 8 * w, "height": 8 * h, "frames": 1, "batch": 1, "forward_batch": 1,
                   "guidance": "none", "tokens": tokens, "image_tokens": h * w // 4,
                   "text_tokens": text, "text_in": "joint", "text_lengths": f"77 + {text}",
                   **trace.shares()}


def video(rng, tiles=False):
    """As Wan: patches of a video, cross-attention to the text, guidance in two calls; the decoder
    makes one latent after the other, the first is one frame and each other one four."""
    trace = Trace()
    t, h, w = rng.choice((5, 9, 13)), rng.choice((30, 60)) * 2, rng.choice((26, 52)) * 2
    tokens = t * h * w // 4
    trace.encoder("UMT5EncoderModel", 256384, 512, 1, 4096)
    trace.encoder("UMT5EncoderModel", 256384, 512, 1, 4096)

    def forward():
        trace.conv([1, 16, t, h, w], 1536, (1, 2, 2), (1, 2, 2), (0, 0, 0))
        for _ in range(4):
            trace.linear(tokens, 1536, 1536)
            trace.attention(1, 12, tokens, tokens, 128)
            trace.attention(1, 12, tokens, 512, 128, 20)
    trace.denoise("WanTransformer3DModel", forward, rng.randint(3, 5), passes=2)
    pieces = 4 if tiles else 1

    def decode():
        for _ in range(pieces):
            for i in range(t):
                trace.conv([1, 16, 1, h // (2 if tiles else 1), w // (2 if tiles else 1)], 384,
                           (1, 1, 1), 1, (0, 0, 0))
                frames = 4 if i else 1
                trace.conv([1, 96, frames + 2, 8 * h // (2 if tiles else 1) + 2,
                            8 * w // (2 if tiles else 1) + 2], 3, 3, 1, (0, 0, 0))
    before = trace.sums()
    trace.module("WanDecoder3d", decode)
    trace.restore(before)
    return trace, {"width": 8 * w, "height": 8 * h, "frames": None if tiles else 4 * t - 3,
                   "batch": 1, "forward_batch": 1, "guidance": "sequential", "tokens": tokens,
                   "image_tokens": tokens, "text_tokens": 512, "text_in": "cross",
                   "text_lengths": "512", "latents": f"16×{t}×{h}×{w}", "text_pairs_share": None,
                   "frame_tokens": h * w // 4, **trace.shares(None if tiles else 4 * t - 3)}


def unet(rng):
    """As SDXL: attention at two resolutions, over fewer places than latents."""
    trace = Trace()
    side, pictures = rng.choice((96, 128)), rng.choice((1, 2, 4))
    trace.encoder("CLIPTextModel", 49408, 77, pictures)
    trace.encoder("CLIPTextModel", 49408, 77, pictures)

    def forward():
        trace.conv([2 * pictures, 4, side, side], 320, 3)
        for scale, heads in ((2, 10), (4, 20), (2, 10)):
            n = (side // scale) ** 2
            for _ in range(2):
                trace.attention(2 * pictures, heads, n, n, 64, 400 // scale ** 2)
                trace.attention(2 * pictures, heads, n, 77, 64, 10)
                trace.linear(2 * pictures * n, 640, 640)
    trace.denoise("UNet2DConditionModel", forward, rng.randint(3, 6))

    def decode():
        for _ in range(pictures):  # one after the other, to save memory
            trace.conv([1, 4, side, side], 512, 3)
            trace.conv([1, 128, 8 * side, 8 * side], 3, 3)
    before = trace.sums()
    trace.module("Decoder", decode)
    trace.restore(before)
    return trace, {"width": 8 * side, "height": 8 * side, "frames": 1, "batch": pictures,
                   "forward_batch": 2 * pictures, "guidance": "batched",
                   "tokens": (side // 2) ** 2, "image_tokens": (side // 2) ** 2,
                   "text_tokens": 77, "text_in": "cross", "latents": f"4×{side}×{side}",
                   "frame_tokens": None, **trace.shares(pictures)}


def video_in_tiles(rng):
    return video(rng, tiles=True)


def tiled(rng):
    """A picture that is decoded in tiles: its size is that of the latents."""
    trace, wanted = joint(rng, pictures=1, guided=True)
    trace.events = [e for e in trace.events if e["name"] != "nn.Module: Decoder_0"]
    h, w = wanted["height"] // 8, wanted["width"] // 8
    last = max(i for i, e in enumerate(trace.events) if e["name"].startswith("nn.Module: SD3"))
    # What the whole decoder launched goes, and a decoder of tiles comes.
    convs = [i for i, e in enumerate(trace.events) if i > last and
             e["name"] in ("aten::convolution", "aten::cudnn_convolution")]
    assert len(convs) == 6
    trace.events = [e for i, e in enumerate(trace.events) if i not in convs]

    def decode():
        for _ in range(9):
            trace.conv([1, 16, h // 2, w // 2], 512, 3)
            trace.conv([1, 128, 4 * h, 4 * w], 3, 3)
    trace.module("Decoder", decode)
    return trace, wanted


def without_shapes(rng):
    trace, _ = joint(rng)
    for event in trace.events:
        for key in ("Input Dims", "Input type", "Concrete Inputs"):
            event["args"].pop(key, None)
    return trace, None


# ---- checks --------------------------------------------------------------------------------------

def fits(found, wanted):
    if isinstance(wanted, float):
        return found is not None and abs(found - wanted) <= 1e-3 * abs(wanted)
    return found == wanted


def check_made(program, folder, pipeline, seed):
    trace, wanted = pipeline(random.Random(seed))
    path = folder / f"{pipeline.__name__}{seed}.json"
    trace.write(path)
    rows = reports.read(program, path).tables.get("diffusion.tokens", [])
    if wanted is None:
        return [] if not rows else [f"{pipeline.__name__} {seed}: a row without shapes: {rows}"]
    if len(rows) != 1:
        return [f"{pipeline.__name__} {seed}: {len(rows)} rows"]
    return [f"{pipeline.__name__} {seed}: {key} is {rows[0].get(key)}, not {value}"
            for key, value in wanted.items() if not fits(rows[0].get(key), value)]


def check_ranks(program, folder):
    """Two ranks that have a prediction each: guidance cannot be told, and is not denied."""
    target = folder / "ranks"
    target.mkdir()
    for rank in range(2):
        trace, _ = joint(random.Random(3), pictures=1, guided=False)
        for event in trace.events:  # each rank encodes both prompts
            if event["name"] == "aten::embedding":
                event["args"]["Input Dims"][1][0] = 2
        trace.rank, trace.world = rank, 2
        trace.write(target / f"rank{rank}.json")
    found = [row["guidance"] for row in reports.read(program, target).tables["diffusion.tokens"]]
    return [] if found == ["unknown"] * 2 else [f"guidance of two ranks: {found}"]


def check_name(program, folder):
    """A range whose name has the size of the warm-up."""
    trace, wanted = joint(random.Random(5), pictures=1)
    end = max(e["ts"] + e["dur"] for e in trace.events)
    trace.span("execute_diffusion_1_256x256", "user_annotation", 50, end + 10)
    trace.write(folder / "named.json")
    report = reports.read(program, folder / "named.json")
    row = [r for r in report.tables["steps.by_kind"] if r["kind"] == "execute_diffusion"][0]
    found = row["width"], row["height"], row["batch"]
    if found != (wanted["width"], wanted["height"], 1):
        return [f"sizes of a step whose name is wrong: {found}"]
    loop = report.tables["diffusion.loops"][0]["loop"]
    size = f" {wanted['width']}×{wanted['height']} "
    return [] if size in loop else [f"loop {loop} without {size}"]


def check_real(program, shared):
    """Shapes of SD 3.5 large, read again, without the program's ways."""
    folder = shared / "traces/xdit_sd_3.5"
    events = json.load(gzip.open(folder / "profile_trace_rank_0.json.gz"))["traceEvents"]
    ops = [e for e in events if e.get("cat") == "cpu_op" and "Input Dims" in e.get("args", {})]
    joint_, flop = None, 0
    for event in ops:
        dims = event["args"]["Input Dims"]
        if event["name"] == "aten::_flash_attention_forward" and dims[0][1] > 1000 and \
                dims[0][2] > 1:
            joint_ = dims[0]
            flop += 4 * dims[0][0] * dims[0][1] ** 2 * dims[0][2] * dims[0][3]
    patches = next(e["args"]["Input Dims"] for e in ops if e["name"] == "aten::convolution")
    pixels = [e["args"]["Input Dims"] for e in ops if e["name"] == "aten::convolution"][-1]
    lengths = sorted({e["args"]["Input Dims"][1][1] for e in ops if e["name"] == "aten::embedding"
                      and e["args"]["Input Dims"][0][0] > 20000})
    image = (patches[0][2] // patches[1][2]) * (patches[0][3] // patches[1][3])
    row = reports.read(program, folder).tables["diffusion.tokens"][0]
    wanted = {"width": pixels[0][3], "height": pixels[0][2], "batch": pixels[0][0],
              "forward_batch": joint_[0], "tokens": joint_[1], "image_tokens": image,
              "text_tokens": joint_[1] - image, "text_lengths": " + ".join(map(str, lengths)),
              "heads": joint_[2], "frames": 1,
              "guidance": "batched" if joint_[0] == 2 * pixels[0][0] else "none",
              "text_pairs_share": 1 - (image / joint_[1]) ** 2}
    return [f"SD 3.5: {key} is {row[key]}, not {value}" for key, value in wanted.items()
            if not fits(row[key], value)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--shared", type=pathlib.Path)
    options = parser.parse_args()
    faults = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for pipeline in (joint, packed, video, video_in_tiles, unet, tiled, without_shapes):
            for seed in range(6):
                faults += check_made(options.program, folder, pipeline, seed)
        faults += check_ranks(options.program, folder) + check_name(options.program, folder)
    if options.shared and (options.shared / "traces/xdit_sd_3.5").is_dir():
        faults += check_real(options.program, options.shared)
    print("\n".join(faults) or "all sizes and tokens are those that were made")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
