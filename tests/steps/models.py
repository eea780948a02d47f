# SPDX-License-Identifier: GPL-3.0-or-later
"""Models of diffusion: denoisers, text encoders, decoders, schedulers, as lists of kernels."""
from kernels import Net


def time_embedding(net, width, says=True):
    """Sines and cosines of powers, and two layers."""
    if net.how == "eager":
        net.ops("arange mul exp mul sin cos cat cast")
    else:
        net.fused("time", "arange cat cos div exp mul sin unsqueeze" if says else "cat mul",
                  says=says)
    net.linear(1, width, 256)
    net.fused("time silu", "silu")
    net.linear(1, width, width)


class Transformer(Net):
    """A DiT: joint blocks of image and text, then single ones; or with cross-attention."""

    def __init__(self, rng, gpu, how, layers, single, tokens, width, cross, says):
        super().__init__(rng, gpu, how)
        self.layers, self.single, self.tokens, self.width = layers, single, tokens, width
        self.cross, self.says = cross, says
        self.math = rng.random() < 0.08
        self.best = rng.random() < 0.7
        self.patch = rng.choice(("conv", "linear"))
        self.text = rng.choice((77, 256, 512))
        self.dual = not cross and rng.random() < 0.5
        self.norms = rng.choice(("layer", "rms"))

    def normed(self, site, n):
        if self.norms == "rms" and self.how == "eager":
            self.ops("cast pow mean add rsqrt mul cast mul", n)
        elif self.how == "eager":
            self.norm(n)
            self.ops("add mul add", n)
        else:
            self.fused(site, "mul native_layer_norm add", n)

    def head(self, text):
        m, width = self.tokens, self.width
        time_embedding(self, width, self.says)
        self.linear(text, width, 4096)
        self.fused("head text", "gelu", text * width)
        if self.patch == "conv":
            self.conv(int(m ** 0.5) + 1, 16, width, 4)
            self.ops("copy", m * width)
        else:
            self.linear(m, width, 64)
        self.fused("head add", "add", m * width)

    def tail(self):
        m, width = self.tokens, self.width
        self.fused("tail silu", "silu")
        self.linear(1, 2 * width, width)
        self.normed("tail norm", m * width)
        self.linear(m, 64, width)
        self.ops("copy", m * 64)

    def joint(self, text, skip_attention=False):
        m, width = self.tokens, self.width
        n = m * width
        streams = (("image", m), ("text", text)) if self.dual else (("image", m),)
        for name, rows in streams:
            self.fused(f"{name} silu", "silu")
            self.linear(1, 6 * width, width)
            self.normed(f"{name} norm1", rows * width)
            self.linear(rows, 3 * width, width)
            self.fused(f"{name} rotate", "cast mul neg cat mul add cast", rows * width)
        if not skip_attention:
            rows = m + (text if self.dual else 0)
            self.attention(width // 64, rows, rows, 64, self.best, self.math)
        for name, rows in streams:
            self.linear(rows, width, width)
            self.fused(f"{name} gate1", "mul add", rows * width)
        if self.cross:
            self.normed("cross norm", n)
            self.linear(m, width, width)
            self.linear(text, 2 * width, width)
            self.attention(width // 64, m, text, 64, self.best, self.math)
            self.linear(m, width, width)
            self.fused("cross add", "add", n)
        for name, rows in streams:
            self.normed(f"{name} norm2", rows * width)
            self.linear(rows, 4 * width, width)
            self.fused(f"{name} gelu", "gelu", 4 * rows * width)
            self.linear(rows, width, 4 * width)
            self.fused(f"{name} gate2", "mul add", rows * width)

    def alone(self, text, skip_attention=False):
        m, width = self.tokens + text, self.width
        self.fused("alone silu", "silu")
        self.linear(1, 3 * width, width)
        self.normed("alone norm", m * width)
        self.linear(m, 7 * width, width)
        self.fused("alone rotate", "mul neg cat mul add", m * width)
        if not skip_attention:
            self.attention(width // 64, m, m, 64, self.best, self.math)
        self.fused("alone gelu", "gelu cat", 5 * m * width)
        self.linear(m, width, 5 * width)
        self.fused("alone gate", "mul add", m * width)

    def blocks(self, first, last, text, skip_attention=False):
        for i in range(first, last):
            (self.joint if i < self.layers else self.alone)(text, skip_attention)

    def forward(self, cached=None, text=None):
        """`cached`: what a call does that reuses an earlier one."""
        text = text or self.text
        all_ = self.layers + self.single
        self.head(text)
        if cached is None:
            self.blocks(0, all_, text)
            if self.decides:
                self.fused("keep", "sub", self.tokens * self.width)
        elif cached == "all":
            self.fused("reuse", "add", self.tokens * self.width)
        elif cached == "first":
            self.blocks(0, self.kept, text)
            self.fused("reuse", "add", self.tokens * self.width)
        elif cached == "ends":
            self.blocks(0, self.kept, text)
            self.fused("reuse", "add", self.tokens * self.width)
            self.blocks(all_ - 1, all_, text)
        elif cached == "attention":
            self.blocks(0, all_, text, True)
        self.tail()
        return self.take()

    caches = ("all", "first", "ends", "attention")
    decides, kept = False, 1

    def attention_calls(self):
        return self.layers * (1 + self.cross) + self.single


class Unet(Net):
    """Convolutions and attention at several resolutions."""

    def __init__(self, rng, gpu, how, side, width, depths, says):
        super().__init__(rng, gpu, how)
        self.side, self.width, self.depths, self.says = side, width, depths, says
        self.best = rng.random() < 0.5
        self.text = 77

    def residual(self, side, inputs, outputs):
        n = side * side * inputs
        self.group_norm(n)
        self.ops("silu", n)
        self.conv(side, inputs, outputs)
        self.ops("silu")
        self.linear(1, outputs, 4 * self.width)
        self.ops("add", n)
        self.group_norm(n)
        self.ops("silu", n)
        self.conv(side, outputs, outputs)
        if inputs != outputs:
            self.conv(side, inputs, outputs, 1)
        self.ops("add", n)

    def attend(self, side, width, depth, text):
        m = side * side
        n = m * width
        self.group_norm(n)
        self.ops("copy", n)
        self.linear(m, width, width)
        for _ in range(depth):
            for keys in (m, text):
                self.norm(n)
                for rows in (m, keys, keys):
                    self.linear(rows, width, width)
                self.attention(width // 64, m, keys, 64, self.best)
                self.linear(m, width, width)
                self.fused("attend add", "add", n)
            self.norm(n)
            self.linear(m, 8 * width, width)
            self.fused("geglu", "gelu mul", 4 * n)
            self.linear(m, width, 4 * width)
            self.fused("attend add", "add", n)
        self.linear(m, width, width)
        self.ops("copy add", n)

    def level(self, i):
        return max(4, self.side >> i), self.width * min(1 << i, 4)

    def forward(self, cached=None, text=None):
        text = text or self.text
        last = len(self.depths)
        deepest = 1 if cached == "deep" else last
        time_embedding(self, 4 * self.width, self.says)
        self.conv(self.side, 4, self.width)
        inputs = self.width
        for i in range(deepest):
            side, width = self.level(i)
            for _ in range(2):
                self.residual(side, inputs, width)
                inputs = width
                if self.depths[i]:
                    self.attend(side, width, self.depths[i], text)
            if i + 1 < deepest:
                self.conv(side // 2, width, width)
        if deepest == last:
            side, width = self.level(last - 1)
            self.residual(side, width, width)
            self.attend(side, width, max(1, self.depths[-1]), text)
            self.residual(side, width, width)
        for i in reversed(range(deepest)):
            side, width = self.level(i)
            for _ in range(3):
                self.ops("cat", side * side * width)
                self.residual(side, 2 * width, width)
                if self.depths[i]:
                    self.attend(side, width, self.depths[i], text)
            if i:
                self.ops("nearest", side * side * width)
                self.conv(2 * side, width, width)
        self.group_norm(self.side ** 2 * self.width)
        self.ops("silu", self.side ** 2 * self.width)
        self.conv(self.side, self.width, 4)
        return self.take()

    caches = ("deep",)
    decides, kept = False, 1

    def attention_calls(self):
        n = sum(5 * d for d in self.depths) + max(1, self.depths[-1])
        return 2 * n


class Encoder(Net):
    """Of text."""

    def __init__(self, rng, gpu, layers, width, tokens, fused):
        super().__init__(rng, gpu, "eager")
        self.layers, self.width, self.tokens, self.fuses = layers, width, tokens, fused
        self.rope = rng.random() < 0.3

    def forward(self):
        m, width = self.tokens, self.width
        self.ops("gather")
        if self.rope:
            self.linear(64, m, 1)
            self.ops("cat cos sin cast cast")
        else:
            self.ops("gather add")
        for _ in range(self.layers):
            if self.fuses:
                self.norm(m * width)
            else:
                self.ops("cast pow mean add rsqrt mul cast mul", m * width)
            for _ in range(3):
                self.linear(m, width, width)
            self.attention(width // 64, m, m, 64, False, not self.fuses)
            self.linear(m, width, width)
            self.ops("add", m * width)
            if self.fuses:
                self.norm(m * width)
            else:
                self.ops("cast pow mean add rsqrt mul cast mul", m * width)
            self.linear(m, 4 * width, width)
            self.ops("gelu", 4 * m * width)
            self.linear(m, width, 4 * width)
            self.ops("add", m * width)
        self.norm(m * width)
        if self.fuses:
            self.ops("argmax index")
        return self.take()


class Vision(Net):
    """Encodes an image to condition on."""

    def forward(self, layers=6, m=257, width=1024):
        self.conv(16, 3, width, 196)
        self.ops("copy cat add")
        self.norm(m * width)
        for _ in range(layers):
            self.norm(m * width)
            for _ in range(3):
                self.linear(m, width, width)
            self.attention(width // 64, m, m)
            self.linear(m, width, width)
            self.ops("add")
            self.norm(m * width)
            self.linear(m, 4 * width, width)
            self.ops("gelu")
            self.linear(m, width, 4 * width)
            self.ops("add")
        return self.take()


class Vae(Net):
    def __init__(self, rng, gpu, side, width):
        super().__init__(rng, gpu, "eager")
        self.side, self.width = side, width
        self.attends = rng.random() < 0.7
        self.tiny = rng.random() < 0.1

    def residual(self, side, inputs, outputs):
        n = side * side * outputs
        for k in range(2):
            if not self.tiny:
                self.group_norm(n)
            self.ops("silu", n)
            self.conv(side, inputs if k == 0 else outputs, outputs)
        if inputs != outputs:
            self.conv(side, inputs, outputs, 1)
        self.ops("add", n)

    def middle(self, side, width):
        self.residual(side, width, width)
        if self.attends and not self.tiny:
            self.group_norm(side * side * width)
            for _ in range(3):
                self.linear(side * side, width, width)
            self.attention(1, side * side, side * side, 64, False)
            self.linear(side * side, width, width)
        self.residual(side, width, width)

    def decode(self, side=None):
        side = (side or self.side) // 8
        width = 4 * self.width
        self.ops("div add")
        self.conv(side, 16, width)
        self.middle(side, width)
        for level in range(4):
            inner = max(self.width, width >> max(0, level - 1))
            for _ in range(3):
                self.residual(side, width >> max(0, level - 2), inner)
            if level < 3:
                self.ops("nearest", 4 * side * side * inner)
                side *= 2
                self.conv(side, inner, inner)
        self.ops("silu")
        self.conv(side, self.width, 3)
        return self.take()

    def encode(self):
        side = self.side
        self.conv(side, 3, self.width)
        for level in range(4):
            width = self.width << min(level, 2)
            for _ in range(2):
                self.residual(side, width, width)
            if level < 3:
                side //= 2
                self.conv(side, width, width)
        self.middle(side, 4 * self.width)
        self.conv(side, 4 * self.width, 32)
        self.ops("exp mul randn add")
        return self.take()


class Scheduler(Net):
    """What runs between calls of the denoiser: guidance, then the step."""

    def __init__(self, rng, gpu, kind, guides):
        super().__init__(rng, gpu, "eager")
        self.kind, self.guides = kind, guides

    def before(self, number):
        """Prepares the input."""
        if self.guides == "batched":
            self.ops("cat")
        if self.kind == "euler_ancestral":
            self.ops("add sqrt div")
        self.ops("copy" if self.guides == "copies" else "")
        return self.take()

    def after(self, number, last):
        if self.guides in ("batched", "sequential"):
            self.ops("sub mul add")
        if self.kind == "flow":
            if number == 0:
                self.ops("scan index cast")
            self.ops("cast sub mul add cast")
        elif self.kind == "ddim":
            self.ops("mul sub div mul mul add")
        elif self.kind == "dpm":  # the second order needs two outputs
            self.ops("mul sub div")
            self.ops("mul mul sub" if number == 0 or last else "mul sub mul mul sub mul sub")
        elif self.kind == "unipc":
            self.ops("mul sub div")
            if number:
                self.ops("sub div")
                self.linear(1, 64, 2)
                self.ops("mul sub mul add sub")
            self.ops("mul mul sub cast")
        elif self.kind == "euler_ancestral":
            self.ops("mul sub sub div mul add randn mul add")
        return self.take()
