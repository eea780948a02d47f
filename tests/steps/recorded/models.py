# SPDX-License-Identifier: GPL-3.0-or-later
"""Denoisers, decoders and text encoders of plain PyTorch, with the structure of well-known ones and
fewer layers: their kernels come in the same order and sizes as those of the real models."""
import math

import torch
import torch.nn.functional as F
from torch import nn


def sinusoids(t, width=256):
    rates = torch.exp(-math.log(10000) * torch.arange(width // 2, device=t.device) / (width // 2))
    angles = t.float()[:, None] * rates[None]
    return torch.cat([angles.cos(), angles.sin()], -1)


def positions(n, width, device):
    """Cosines and sines of rotary embeddings of a sequence."""
    rates = torch.exp(-9 * torch.arange(width // 2, device=device).float() / (width // 2))
    angles = torch.arange(n, device=device).float()[:, None] * rates[None]
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    a, b = x.float().chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).to(x.dtype)


def plain_norm(width):
    return nn.LayerNorm(width, elementwise_affine=False)


class TimestepEmbedding(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear_1, self.linear_2 = nn.Linear(256, width), nn.Linear(width, width)

    def forward(self, t):
        return self.linear_2(F.silu(self.linear_1(sinusoids(t).to(self.linear_1.weight.dtype))))


class Attention(nn.Module):
    def __init__(self, width, heads, context=None):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(width, width)
        self.to_k, self.to_v = (nn.Linear(context or width, width) for _ in range(2))
        self.to_out = nn.Linear(width, width)
        self.norm_q, self.norm_k = nn.RMSNorm(width // heads), nn.RMSNorm(width // heads)

    def heads_of(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, context=None, rotary=None, past=None):
        """`past`: keys and values of earlier blocks, a list that is extended when it is given."""
        context = x if context is None else context
        q = self.norm_q(self.heads_of(self.to_q(x)))
        k = self.norm_k(self.heads_of(self.to_k(context)))
        v = self.heads_of(self.to_v(context))
        if rotary is not None:
            q, k = rotate(q, *rotary), rotate(k, *rotary)
        if past is not None:
            past.append((k, v))
            k, v = (torch.cat(part, 2) for part in zip(*past))
        x = F.scaled_dot_product_attention(q, k, v)
        return self.to_out(x.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x), approximate="tanh"))


# ---- a transformer of text and picture: blocks of two streams, then of one, as FLUX.1 -----------

class DoubleBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.shift_image, self.shift_text = (nn.Linear(width, 6 * width) for _ in range(2))
        self.norm = plain_norm(width)
        self.attention = Attention(width, heads)
        self.feed_image, self.feed_text = FeedForward(width), FeedForward(width)

    def shifted(self, x, scale, shift):
        return self.norm(x) * (1 + scale[:, None]) + shift[:, None]

    def forward(self, image, text, when, rotary):
        i = self.shift_image(F.silu(when)).chunk(6, -1)
        t = self.shift_text(F.silu(when)).chunk(6, -1)
        both = torch.cat([self.shifted(text, t[0], t[1]), self.shifted(image, i[0], i[1])], 1)
        both = self.attention(both, rotary=rotary)
        text = text + t[2][:, None] * both[:, :text.shape[1]]
        image = image + i[2][:, None] * both[:, text.shape[1]:]
        image = image + i[5][:, None] * self.feed_image(self.shifted(image, i[3], i[4]))
        text = text + t[5][:, None] * self.feed_text(self.shifted(text, t[3], t[4]))
        return image, text


class SingleBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.shift, self.norm = nn.Linear(width, 3 * width), plain_norm(width)
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(5 * width, width)

    def forward(self, x, when, rotary):
        scale, shift, gate = self.shift(F.silu(when)).chunk(3, -1)
        y = self.norm(x) * (1 + scale[:, None]) + shift[:, None]
        attended = self.attention(y, rotary=rotary)
        y = self.down(torch.cat([attended, F.gelu(self.up(y), approximate="tanh")], -1))
        return x + gate[:, None] * y


class TextImageTransformer(nn.Module):
    def __init__(self, double=3, single=5, width=3072, heads=24, channels=64, text=4096):
        super().__init__()
        self.size = width // heads
        self.embed_image, self.embed_text = nn.Linear(channels, width), nn.Linear(text, width)
        self.embed_time = TimestepEmbedding(width)
        self.two_streams = nn.ModuleList(DoubleBlock(width, heads) for _ in range(double))
        self.one_stream = nn.ModuleList(SingleBlock(width, heads) for _ in range(single))
        self.norm, self.shift = plain_norm(width), nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, channels)

    def first(self, x, text, t):
        """The embeddings and the first block."""
        x, text, when = self.embed_image(x), self.embed_text(text), self.embed_time(t)
        rotary = positions(x.shape[1] + text.shape[1], self.size, x.device)
        return *self.two_streams[0](x, text, when, rotary), when, rotary

    def rest(self, x, text, when, rotary):
        for block in self.two_streams[1:]:
            x, text = block(x, text, when, rotary)
        x = torch.cat([text, x], 1)
        for block in self.one_stream:
            x = block(x, when, rotary)
        return x[:, text.shape[1]:]

    def last(self, x, when):
        scale, shift = self.shift(F.silu(when)).chunk(2, -1)
        return self.out(self.norm(x) * (1 + scale[:, None]) + shift[:, None])

    def forward(self, x, text, t):
        x, text, when, rotary = self.first(x, text, t)
        return self.last(self.rest(x, text, when, rotary), when)


# ---- a transformer of video with cross-attention to the text, as Wan ----------------------------

class VideoBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.shift = nn.Parameter(torch.randn(1, 6, width) / width**0.5)
        self.norm_1, self.norm_3 = plain_norm(width), plain_norm(width)
        self.norm_2 = nn.LayerNorm(width)
        self.self_attention, self.cross_attention = (Attention(width, heads) for _ in range(2))
        self.feed = FeedForward(width)

    def forward(self, x, text, when, rotary, past):
        s = (self.shift + when).chunk(6, 1)
        y = self.norm_1(x) * (1 + s[1]) + s[0]
        x = x + self.self_attention(y, rotary=rotary, past=past) * s[2]
        x = x + self.cross_attention(self.norm_2(x), text)
        return x + self.feed(self.norm_3(x) * (1 + s[4]) + s[3]) * s[5]


class VideoTransformer(nn.Module):
    def __init__(self, layers=6, width=1536, heads=12, channels=16, text=4096):
        super().__init__()
        self.size = width // heads
        self.embed_video = nn.Conv3d(channels, width, (1, 2, 2), (1, 2, 2))
        self.embed_text, self.embed_time = nn.Linear(text, width), TimestepEmbedding(width)
        self.shift = nn.Linear(width, 6 * width)
        self.blocks = nn.ModuleList(VideoBlock(width, heads) for _ in range(layers))
        self.norm, self.out = plain_norm(width), nn.Linear(width, 4 * channels)

    def forward(self, x, text, t, past=None):
        """`past`: of each block, what its self-attention keeps; it is extended."""
        batch, channels, frames, height, width = x.shape
        y = self.embed_video(x).flatten(2).transpose(1, 2)
        text, when = self.embed_text(text), self.shift(F.silu(self.embed_time(t)))
        rotary = positions(y.shape[1], self.size, x.device)
        for i, block in enumerate(self.blocks):
            y = block(y, text, when.view(batch, 6, -1), rotary, past[i] if past else None)
        y = self.out(self.norm(y)).view(batch, frames, height // 2, width // 2, channels, 2, 2)
        return y.permute(0, 4, 1, 2, 5, 3, 6).reshape(x.shape)


# ---- a U-Net with cross-attention, as SDXL ------------------------------------------------------

class ResnetBlock(nn.Module):
    def __init__(self, channels, out, when=None):
        super().__init__()
        self.norm_1, self.norm_2 = nn.GroupNorm(32, channels), nn.GroupNorm(32, out)
        self.conv_1 = nn.Conv2d(channels, out, 3, padding=1)
        self.conv_2 = nn.Conv2d(out, out, 3, padding=1)
        self.shift = nn.Linear(when, out) if when else None
        self.short = nn.Conv2d(channels, out, 1) if channels != out else nn.Identity()

    def forward(self, x, when=None):
        y = self.conv_1(F.silu(self.norm_1(x)))
        if when is not None:
            y = y + self.shift(F.silu(when))[:, :, None, None]
        return self.short(x) + self.conv_2(F.silu(self.norm_2(y)))


class CrossBlock(nn.Module):
    def __init__(self, width, context):
        super().__init__()
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(width) for _ in range(3))
        self.self_attention = Attention(width, width // 64)
        self.cross_attention = Attention(width, width // 64, context)
        self.feed = FeedForward(width)

    def forward(self, x, text):
        x = x + self.self_attention(self.norm_1(x))
        x = x + self.cross_attention(self.norm_2(x), text)
        return x + self.feed(self.norm_3(x))


class Level(nn.Module):
    """A residual block, and transformer blocks over all pixels."""

    def __init__(self, channels, out, when, depth, context):
        super().__init__()
        self.resnet = ResnetBlock(channels, out, when)
        self.blocks = nn.ModuleList(CrossBlock(out, context) for _ in range(depth))

    def forward(self, x, when, text):
        x = self.resnet(x, when)
        y = x.flatten(2).transpose(1, 2)
        for block in self.blocks:
            y = block(y, text)
        return y.transpose(1, 2).reshape(x.shape)


class UNet(nn.Module):
    def __init__(self, widths=(320, 640, 1280), depths=(0, 1, 2), context=4096):
        super().__init__()
        when = 4 * widths[0]
        self.embed_time = TimestepEmbedding(when)
        self.conv_in = nn.Conv2d(4, widths[0], 3, padding=1)
        before = (widths[0], *widths)
        self.down = nn.ModuleList(Level(a, b, when, n, context)
                                  for a, b, n in zip(before, widths, depths))
        self.halve = nn.ModuleList(nn.Conv2d(w, w, 3, 2, 1) for w in widths[:-1])
        self.middle = ResnetBlock(widths[-1], widths[-1], when)
        after = (*widths[1:], widths[-1])
        self.up = nn.ModuleList(Level(a + b, b, when, n, context)
                                for a, b, n in reversed([*zip(after, widths, depths)]))
        self.norm = nn.GroupNorm(32, widths[0])
        self.conv_out = nn.Conv2d(widths[0], 4, 3, padding=1)

    def forward(self, x, text, t):
        when, x, kept = self.embed_time(t), self.conv_in(x), []
        for i, level in enumerate(self.down):
            x = level(x, when, text)
            kept.append(x)
            if i < len(self.halve):
                x = self.halve[i](x)
        x = self.middle(x, when)
        for i, level in enumerate(self.up):
            if i:
                x = F.interpolate(x, scale_factor=2.0, mode="nearest")
            x = level(torch.cat([x, kept.pop()], 1), when, text)
        return self.conv_out(F.silu(self.norm(x)))


# ---- decoders -----------------------------------------------------------------------------------

class ImageDecoder(nn.Module):
    """Latents to eight times as many pixels a side."""

    def __init__(self, channels, widths=(512, 512, 256, 128)):
        super().__init__()
        before = (widths[0], *widths)
        self.conv_in = nn.Conv2d(channels, widths[0], 3, padding=1)
        self.blocks = nn.ModuleList(nn.Sequential(ResnetBlock(a, b), ResnetBlock(b, b))
                                    for a, b in zip(before, widths))
        self.larger = nn.ModuleList(nn.Conv2d(w, w, 3, padding=1) for w in widths[:-1])
        self.norm = nn.GroupNorm(32, widths[-1])
        self.conv_out = nn.Conv2d(widths[-1], 3, 3, padding=1)

    def forward(self, z):
        x = self.conv_in(z)
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i < len(self.larger):
                x = self.larger[i](F.interpolate(x, scale_factor=2.0, mode="nearest"))
        return self.conv_out(F.silu(self.norm(x)))


class CausalBlock(nn.Module):
    def __init__(self, channels, out):
        super().__init__()
        self.conv_1 = nn.Conv3d(channels, out, 3, padding=(0, 1, 1))
        self.conv_2 = nn.Conv3d(out, out, 3, padding=(0, 1, 1))
        self.short = nn.Conv3d(channels, out, 1) if channels != out else nn.Identity()

    def forward(self, x):
        y = self.conv_1(F.pad(F.silu(F.normalize(x, dim=1)), (0, 0, 0, 0, 2, 0)))
        return self.short(x) + self.conv_2(F.pad(F.silu(F.normalize(y, dim=1)), (0, 0, 0, 0, 2, 0)))


class VideoDecoder(nn.Module):
    """One latent frame at a time, each to a frame of eight times as many pixels a side."""

    def __init__(self, channels=16, widths=(384, 384, 192, 96)):
        super().__init__()
        before = (widths[0], *widths)
        self.conv_in = nn.Conv3d(channels, widths[0], 3, padding=(0, 1, 1))
        self.blocks = nn.ModuleList(nn.Sequential(CausalBlock(a, b), CausalBlock(b, b))
                                    for a, b in zip(before, widths))
        self.larger = nn.ModuleList(nn.Conv2d(w, w, 3, padding=1) for w in widths[:-1])
        self.conv_out = nn.Conv3d(widths[-1], 3, 3, padding=(0, 1, 1))

    def frame(self, z):
        x = self.conv_in(F.pad(z, (0, 0, 0, 0, 2, 0)))
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i < len(self.larger):
                y = F.interpolate(x[:, :, 0], scale_factor=2.0, mode="nearest-exact")
                x = self.larger[i](y)[:, :, None]
        return self.conv_out(F.pad(x, (0, 0, 0, 0, 2, 0)))

    def forward(self, z):
        return torch.cat([self.frame(z[:, :, i:i + 1]) for i in range(z.shape[2])], 2)
