# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs whose kernels take as long as their shapes say: 1 µs for every GFLOP, whatever is asked of
the program."""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "generation"))
import test_tokens  # noqa: E402

FLOP_PER_US = 1e9
LAYERS, TEXT, WIDTH = 5, 333, 1536


class Timed(test_tokens.Trace):
    def attention(self, batch, heads, queries, keys, size, us=None):
        flop = 4 * batch * heads * queries * keys * size
        super().attention(batch, heads, queries, keys, size, flop / FLOP_PER_US)

    def linear(self, rows, n, k, us=None):
        super().linear(rows, n, k, 2 * rows * n * k / FLOP_PER_US)

    def conv(self, dims, out, kernel, stride=1, padding=None, us=None):
        pixels = math.prod(dims[2:]) * dims[0]
        size = kernel ** 2 if isinstance(kernel, int) else math.prod(kernel)
        return super().conv(dims, out, kernel, stride, padding,
                            2 * pixels * dims[1] * out * size / FLOP_PER_US)


def pictures(path, side, batch=1, steps=6, layers=LAYERS):
    trace, latent = Timed(), side // 8
    tokens = (latent // 2) ** 2 + TEXT
    trace.encoder("CLIPTextModelWithProjection", 49408, 77, batch)
    trace.encoder("T5EncoderModel", 32128, 256, batch, 4096)

    def forward():
        trace.conv([batch, 16, latent, latent], WIDTH, 2, 2, [0, 0])
        for _ in range(layers):
            trace.linear(batch * tokens, 4608, WIDTH)
            trace.attention(batch, 24, tokens, tokens, 64)
            trace.linear(batch * tokens, WIDTH, WIDTH)
    trace.denoise("SD3Transformer2DModel", forward, steps)
    trace.decoder([batch, 16, latent, latent], [8])
    path.parent.mkdir(parents=True, exist_ok=True)
    trace.write(path)


def video(path, latents, width=416, height=240, steps=4, layers=LAYERS):
    """The decoder makes one frame of the first latent and four of each other."""
    trace, h, w = Timed(), height // 8, width // 8
    tokens = latents * h * w // 4
    trace.encoder("UMT5EncoderModel", 256384, 512, 1, 4096)

    def forward():
        trace.conv([1, 16, latents, h, w], WIDTH, (1, 2, 2), (1, 2, 2), (0, 0, 0))
        for _ in range(layers):
            trace.linear(tokens, WIDTH, WIDTH)
            trace.attention(1, 12, tokens, tokens, 128)
            trace.attention(1, 12, tokens, 512, 128)
    trace.denoise("WanTransformer3DModel", forward, steps)

    def decode():
        for i in range(latents):
            trace.conv([1, 16, 1, h, w], 384, (1, 1, 1), 1, (0, 0, 0))
            frames = 4 if i else 1
            trace.conv([1, 96, frames + 2, 8 * h + 2, 8 * w + 2], 3, 3, 1, (0, 0, 0))
    trace.module("WanDecoder3d", decode)
    path.parent.mkdir(parents=True, exist_ok=True)
    trace.write(path)
