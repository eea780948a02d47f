#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records diffusion pipelines on a GPU, for the recordings beside this file: of each a trace
(NAME.json.gz) and what is true of it (NAME.truth.json): counts, and what CUDA events measured.

usage: record.py FOLDER [--only NAME,NAME]

Needs PyTorch 2 and transformers.  The weights are random; nothing is downloaded.
"""
import argparse
import contextlib
import functools
import gzip
import json
import pathlib

import torch
import transformers
from torch.profiler import ProfilerActivity

import models

DEVICE, TYPE = "cuda", torch.bfloat16
SIDE, VIDEO = 1024, (480, 832)


@functools.cache
def made(make):
    """Random weights, and the same module whenever it is asked for."""
    torch.manual_seed(0)
    with torch.device(DEVICE):
        return make().to(DEVICE, TYPE).eval()


@functools.cache
def compiled(make, **how):
    return torch.compile(made(make), **how)


def clip():
    return transformers.CLIPTextModel(transformers.CLIPTextConfig(num_hidden_layers=6))


def t5():
    return transformers.T5EncoderModel(transformers.T5Config(
        d_model=4096, d_ff=10240, num_layers=3, num_heads=64, d_kv=64, vocab_size=32128,
        feed_forward_proj="gated-gelu"))


def llama():
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        hidden_size=2048, intermediate_size=5632, num_hidden_layers=8, num_attention_heads=16,
        num_key_value_heads=8, vocab_size=32000))


def latent_decoder():
    return models.ImageDecoder(4)


def picture_decoder():
    return models.ImageDecoder(16)


class Truth:
    def __init__(self):
        self.spans, self.facts = [], {}

    @contextlib.contextmanager
    def span(self, name, **more):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        yield
        last.record()
        self.spans.append((name, first, last, more))

    def as_json(self):
        """Times in ms from the first span on."""
        start = self.spans[0][1] if self.spans else None
        spans = [{"name": name, **more, "begin_ms": round(start.elapsed_time(first), 4),
                  "end_ms": round(start.elapsed_time(last), 4)}
                 for name, first, last, more in self.spans]
        return json.dumps({**self.facts, "spans": spans}, separators=(",", ":"))


# ---- parts of pipelines -------------------------------------------------------------------------

def encode(truth):
    ids = torch.randint(0, 99, (1, 512), device=DEVICE)
    with truth.span("text encode"):
        made(clip)(ids[:, :77])
    with truth.span("text encode"):
        return made(t5)(ids)[0]


def decode(truth, decoder, latent):
    with truth.span("VAE decode"):
        pixels = (made(decoder)(latent) / 2 + 0.5).clamp(0, 1)
    return pixels.float().cpu()


def sigmas(steps):
    return [1 - i / steps for i in range(steps + 1)]


def when(sigma, batch=1):
    return torch.full((batch,), 1000 * sigma, device=DEVICE)


def euler(x, direction, sigma, following):
    return (x.float() + (following - sigma) * direction.float()).to(x.dtype)


def random(*shape):
    return torch.randn(*shape, device=DEVICE, dtype=TYPE)


def unpacked(x):
    n = SIDE // 16
    return x.view(1, n, n, 16, 2, 2).permute(0, 3, 1, 4, 2, 5).reshape(1, 16, 2 * n, 2 * n)


# ---- pipelines ----------------------------------------------------------------------------------

def picture(truth, steps=4, images=1, denoiser=None):
    denoiser = denoiser or functools.partial(made, models.TextImageTransformer)
    text, sigma = encode(truth), sigmas(steps)
    for image in range(images):
        x = random(1, (SIDE // 16) ** 2, 64)
        for i in range(steps):
            with truth.span("step", image=image):
                with truth.span("forward"):
                    direction = denoiser()(x, text, when(sigma[i]))
                x = euler(x, direction, sigma[i], sigma[i + 1])
        decode(truth, picture_decoder, unpacked(x))
    truth.facts = {"images": images, "steps": images * steps, "forwards": images * steps}


def cached_picture(truth, steps=9):
    """From the third step on, two of three reuse what the blocks after the first one changed."""
    net, text, sigma = made(models.TextImageTransformer), encode(truth), sigmas(steps)
    reused = [i > 2 and i % 3 != 0 for i in range(steps)]
    x, before, change = random(1, (SIDE // 16) ** 2, 64), None, None
    for i in range(steps):
        with truth.span("step", cached=reused[i]), truth.span("forward"):
            first, *more = net.first(x, text, when(sigma[i]))
            if before is not None:
                ((first - before).abs().mean() / before.abs().mean()).item()
            before = first
            last = first + change if reused[i] else net.rest(first, *more)
            change = last - first
            x = euler(x, net.last(last, more[1]), sigma[i], sigma[i + 1])
    decode(truth, picture_decoder, unpacked(x))
    truth.facts = {"images": 1, "steps": steps, "forwards": steps,
                   "cached": [i + 1 for i in range(steps) if reused[i]]}


def guided(truth, steps=5, one_by_one=False, denoiser=None):
    denoiser = denoiser or functools.partial(made, models.UNet)
    text, sigma = encode(truth), sigmas(steps)
    both = torch.cat([text, text])
    x = random(1, 4, SIDE // 8, SIDE // 8)
    for i in range(steps):
        with truth.span("step"):
            if one_by_one:
                parts = []
                for _ in range(2):
                    with truth.span("forward"):
                        parts.append(denoiser()(x, text, when(sigma[i])))
            else:
                with truth.span("forward"):
                    parts = denoiser()(torch.cat([x, x]), both, when(sigma[i], 2)).chunk(2)
            x = euler(x, parts[0] + 5 * (parts[1] - parts[0]), sigma[i], sigma[i + 1])
    decode(truth, latent_decoder, x)
    truth.facts = {"images": 1, "steps": steps, "forwards": steps * (1 + one_by_one)}


def heun(truth, steps=5):
    """Two calls a step and one in the last: the second one corrects the first."""
    text, sigma, forwards = encode(truth), sigmas(steps), 0
    x = random(1, 4, SIDE // 8, SIDE // 8)
    for i in range(steps):
        with truth.span("step"):
            with truth.span("forward"):
                first = made(models.UNet)(x, text, when(sigma[i]))
            y = euler(x, first, sigma[i], sigma[i + 1])
            forwards += 1
            if i < steps - 1:
                with truth.span("forward"):
                    second = made(models.UNet)(y, text, when(sigma[i + 1]))
                y = euler(x, (first + second) / 2, sigma[i], sigma[i + 1])
                forwards += 1
            x = y
    decode(truth, latent_decoder, x)
    truth.facts = {"images": 1, "steps": steps, "forwards": forwards, "two_calls": True}


def video(truth, steps=4, frames=5):
    net, texts, sigma = made(models.VideoTransformer), [encode(truth), encode(truth)], sigmas(steps)
    x = random(1, 16, frames, VIDEO[0] // 8, VIDEO[1] // 8)
    for i in range(steps):
        with truth.span("step"):
            parts = []
            for text in texts:
                with truth.span("forward"):
                    parts.append(net(x, text, when(sigma[i])))
            x = euler(x, parts[1] + 5 * (parts[0] - parts[1]), sigma[i], sigma[i + 1])
    decode(truth, models.VideoDecoder, x)
    truth.facts = {"images": 1, "steps": steps, "forwards": 2 * steps}


def video_by_blocks(truth, blocks=4, steps=3, frames=3):
    """Each block of frames attends to those before it, whose keys one more forward makes."""
    net, text, sigma = made(models.VideoTransformer), encode(truth), sigmas(steps)
    past = [[] for _ in net.blocks]
    for block in range(blocks):
        x = random(1, 16, frames, VIDEO[0] // 8, VIDEO[1] // 8)
        for i in range(steps):
            with truth.span("step", block=block):
                with truth.span("forward"):
                    x = x - sigma[i] * net(x, text, when(sigma[i]), [[*kept] for kept in past])
                if i < steps - 1:
                    x = (1 - sigma[i + 1]) * x + sigma[i + 1] * torch.randn_like(x)
        with truth.span("cache update"):
            net(x, text, when(0.0), past)
        decode(truth, models.VideoDecoder, x)
    truth.facts = {"images": 1, "blocks": blocks, "steps": blocks * steps,
                   "forwards": blocks * steps, "cache_updates": blocks}


def tokens(truth, n=12):
    made(llama).generate(torch.randint(0, 99, (1, 128), device=DEVICE), max_new_tokens=n,
                         min_new_tokens=n, do_sample=False, pad_token_id=0)
    truth.facts = {"images": 0, "steps": 0}


def training(truth, steps=4):
    net = torch.nn.Sequential(*[models.FeedForward(1024) for _ in range(6)]).to(DEVICE)
    optimizer = torch.optim.AdamW(net.parameters())
    with torch.enable_grad():
        for _ in range(steps):
            net(torch.randn(64, 128, 1024, device=DEVICE)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    truth.facts = {"images": 0, "steps": 0}


def by_compiler(pipeline, make, **how):
    return functools.partial(pipeline, denoiser=functools.partial(compiled, make, **how))


PIPELINES = {
    "picture": picture,
    "picture_compiled": by_compiler(picture, models.TextImageTransformer),
    "picture_graphs": by_compiler(picture, models.TextImageTransformer, mode="reduce-overhead"),
    "pictures": functools.partial(picture, images=3, steps=3),
    "picture_cached": cached_picture,
    "guided": guided,
    "guided_compiled": by_compiler(guided, models.UNet),
    "guided_one_by_one": functools.partial(guided, one_by_one=True),
    "heun": heun,
    "video": video,
    "video_blocks": video_by_blocks,
    "tokens": tokens,
    "training": training,
}


def record(folder, name, pipeline):
    with torch.no_grad():
        for _ in range(3):  # compiles, and captures graphs
            pipeline(Truth())
        torch.cuda.synchronize()
        truth = Truth()
        with torch.profiler.profile(activities=[ProfilerActivity.CUDA]) as profiler:
            pipeline(truth)
            torch.cuda.synchronize()
    path = folder / f"{name}.json"
    profiler.export_chrome_trace(str(path))
    (folder / f"{name}.json.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
    path.unlink()
    (folder / f"{name}.truth.json").write_text(truth.as_json() + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(PIPELINES))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        record(options.folder, name, PIPELINES[name])
        print(name, flush=True)


if __name__ == "__main__":
    main()
