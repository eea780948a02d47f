# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of PyTorch, with the kernels that they launch for a shape on a device."""
import dataclasses

import gpus
from gpus import BYTES, TYPES, Kernel
from host import Host

FLOAT8 = ("void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
          "at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}::operator()()"
          " const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul>, 4, TrivialOffsetCalculator<1,"
          " unsigned int>, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::"
          "LoadWithCast<1>, at::native::memory::StoreWithCast<1> >(int, at::native::"
          "direct_copy_kernel_cuda(at::TensorIteratorBase&))")
NF4 = ("void kDequantizeBlockwise<{}, 512, 64, 8, 2>(float*, unsigned char*, float*, {}*, int, "
       "int)")


class Operators(Host):
    """`defect(name)` is what the plan says of a cause, or None."""

    open_eager = False  # in a compiled program: the part that is not compiled

    def defect(self, name):
        return self.plan.defects.get(name)

    def linear(self, m, n, k, bias=True, kind=None):
        is_large = m > 1 and n >= self.plan.hidden
        kind = kind or (is_large and (self.defect("fp32") or {}).get("kind")) or self.gpu.precision
        if is_large and self.defect("C17"):
            self.dequantize(n, k, self.defect("C17")["format"])
        if is_large and self.defect("casts") and n in self.defect("casts")["of"]:
            self.cast([1, m, k], "fp32")
            self.cast([1, m, k], self.gpu.precision)
        if is_large and k == self.plan.hidden and n == k:  # the heads of attention, joined: needed
            for _ in range((self.defect("casts") or {}).get("needed", 0)):
                with self.op("aten::contiguous", [[1, m, k]]):
                    self.elementwise("aten::copy_", [1, m, k], 1, extra=([1, m, k], []))
        kernel = gpus.gemm(self.gpu, m, n, k, kind)
        if is_large and self.defect("slow") and n != self.plan.hidden:
            ns = 2 * m * n * k / (self.gpu.peaks[kind] * 1000 * self.defect("slow")["reached"])
            kernel = dataclasses.replace(kernel, ns=ns)
        if is_large and self.defect("odd") and n != self.plan.hidden:
            n -= 3
            kernel = gpus.unaligned(kernel, self.gpu, self.defect("odd")["slower"])
        outer = "aten::linear" if not (self.plan.compiled and not self.open_eager) else None
        inner = "aten::addmm" if bias else "aten::mm"
        dims = [[n], [m, k], [k, n], [], []] if bias else [[m, k], [k, n]]
        kinds = [TYPES.get(kind, "float") if d else "Scalar" for d in dims]
        if outer is None:
            with self.op(inner, dims, kinds, before=1500):
                self.launch(kernel)
            return
        with self.op(outer, [[m, k], [n, k], [n]] if bias else [[m, k], [n, k]],
                     [kinds[0]] * (3 if bias else 2)):
            with self.op(inner, dims, kinds):
                self.launch(kernel)

    def dequantize(self, n, k, form):
        wide = BYTES[self.gpu.precision] * n * k
        if form == "nf4":
            word = {"bf16": "__nv_bfloat16", "fp16": "__half"}[self.gpu.precision]
            with self.op("bitsandbytes::dequantize_4bit", [[n * k // 2, 1], [n * k // 64], []],
                         ["unsigned char", "float", "Scalar"]):
                self.launch(gpus.stream(self.gpu, NF4.format(word, word), n * k // 2, wide, 64, 8))
            return
        if form == "gguf":  # ComfyUI-GGUF unpacks blocks with operators of PyTorch
            for name in ("aten::bitwise_and", "aten::__rshift__", "aten::sub", "aten::mul"):
                functor = f"at::native::BUnaryFunctor<{self.plan.kind}>"
                with self.op(name, [[n * k // 32, 32], []], ["unsigned char", "Scalar"]):
                    self.launch(gpus.stream(self.gpu, gpus.vectorized(functor, 2), wide // 2, wide))
            return
        with self.op("aten::to", [[n, k], []], [TYPES["fp8"], "Scalar"], before=1200):
            with self.op("aten::_to_copy", [[n, k], []], [TYPES["fp8"], "Scalar"]):
                with self.op("aten::copy_", [[n, k], [n, k], []],
                             [self.plan.kind, TYPES["fp8"], "Scalar"]):
                    self.launch(gpus.stream(self.gpu, FLOAT8, n * k, wide))

    def elementwise(self, operator, dims, inputs=None, kind=None, written=None, extra=()):
        """Of the whole tensor `dims`; small other inputs are free."""
        kind = kind or self.gpu.precision
        n = 1
        for d in dims:
            n *= d
        read = (inputs or (2 if operator in ("aten::add", "aten::mul") else 1)) * n * BYTES[kind]
        name = gpus.elementwise_name("to_float" if written == "fp32" else operator, kind)
        write = n * BYTES[written or kind]
        with self.op(operator, [dims, *extra], [TYPES[kind], *(TYPES[kind] for _ in extra)]):
            self.launch(gpus.stream(self.gpu, name, read, write))

    def cast(self, dims, to):
        kind = self.gpu.precision
        source = "fp32" if to == kind else kind
        name = "aten::copy_"
        with self.op("aten::to", [dims, []], [TYPES[source], "Scalar"], before=900):
            with self.op("aten::_to_copy", [dims, []], [TYPES[source], "Scalar"]):
                self.elementwise(name, dims, 1, source, to, (dims, []))

    def reduction(self, operator, name, dims, kind=None):
        kind = kind or self.gpu.precision
        n = 1
        for d in dims:
            n *= d
        with self.op(operator, [dims, []], [TYPES[kind], "Scalar"]):
            self.launch(Kernel(name, n * BYTES[kind] / (0.8 * self.gpu.bandwidth) + 2500,
                               [max(1, n // 4096), 1, 1], [512, 1, 1]))

    def fused(self, name, read, written):
        """One kernel that Triton made of a chain."""
        if self.plan.compiled and not self.open_eager:
            with self.op(f"triton_{name}", before=1500):
                self.launch(gpus.stream(self.gpu, f"triton_{name}", read, written, 256, 8, 40))
        else:
            self.spend(4000)
            self.launch(gpus.stream(self.gpu, f"_{name}_kernel", read, written, 256, 8, 40))

    def attention(self, batch, heads, queries, keys, size):
        kind = self.gpu.precision
        dims = [[batch, heads, queries, size]] + [[batch, heads, keys, size]] * 2
        how = (self.defect("C6") or {}).get("how")
        if how == "math":
            self.math_attention(batch, heads, queries, keys, size)
            return
        kernel = gpus.fused_attention(self.gpu, batch, heads, queries, keys, size, kind,
                                      self.plan.is_best and how != "older")
        if self.gpu.capability[0] == 7:
            names = ("aten::scaled_dot_product_attention",
                     "aten::_scaled_dot_product_efficient_attention",
                     "aten::_efficient_attention_forward")
        elif "FlashAttnFwdSm90" in kernel.name:
            names = ("flash_attn_3::fwd",)
        elif kernel.name.startswith("aiter"):
            names = ("aiter::_flash_attn_forward", "aiter::fmha_v3_fwd")
        else:
            names = ("aten::scaled_dot_product_attention",
                     "aten::_scaled_dot_product_flash_attention", "aten::_flash_attention_forward")
        if self.plan.compiled and not self.open_eager:
            names = names[-2:]
        self.nested(names, dims, kernel)

    def nested(self, names, dims, kernel):
        with self.op(names[0], dims, [self.plan.kind] * len(dims)):
            if len(names) > 1:
                self.nested(names[1:], dims, kernel)
            else:
                self.launch(kernel)

    def math_attention(self, batch, heads, queries, keys, size):
        kind, n = self.gpu.precision, batch * heads
        dims = [[batch, heads, queries, size]] + [[batch, heads, keys, size]] * 2
        scores = [batch, heads, queries, keys]
        with self.op("aten::scaled_dot_product_attention", dims, [self.plan.kind] * 3):
            with self.op("aten::_scaled_dot_product_attention_math", dims, [self.plan.kind] * 3):
                self.elementwise("aten::mul", dims[0], 1, extra=([],))
                self.elementwise("aten::mul", dims[1], 1, extra=([],))
                self.batched(n, queries, keys, size)
                with self.op("aten::softmax", [scores, [], []]):
                    with self.op("aten::_softmax", [scores, [], []]):
                        moved = n * queries * keys * BYTES[kind]
                        self.launch(gpus.stream(self.gpu, gpus.SOFTMAX.format(TYPES[kind]),
                                                moved, moved, 1024))
                self.batched(n, queries, size, keys)

    def batched(self, n, rows, columns, inner):
        with self.op("aten::matmul", [[n, rows, inner], [n, inner, columns]]):
            with self.op("aten::bmm", [[n, rows, inner], [n, inner, columns]]):
                self.launch(gpus.gemm(self.gpu, rows, columns, inner, self.gpu.precision, n))

    def norm(self, dims):
        with self.op("aten::layer_norm", [dims, [], [dims[-1]]]):
            with self.op("aten::native_layer_norm", [dims, [], [dims[-1]]]):
                n = dims[0] * dims[1] * dims[2] * BYTES[self.gpu.precision]
                self.launch(gpus.stream(self.gpu, gpus.LAYER_NORM.format(self.plan.kind), n, n,
                                        256, 8))

    def residual(self, height, inputs, outputs, kind):
        dims = [1, inputs, height, height]
        n = inputs * height * height * BYTES[kind]
        c = TYPES.get(kind, "float")
        with self.op("aten::group_norm", [dims, [], [inputs]], [c, "Scalar", c]):
            with self.op("aten::native_group_norm", [dims, [inputs]], [c, c]):
                self.launch(Kernel(gpus.GROUP_NORM.format(c), n / (0.85 * self.gpu.bandwidth) +
                                   2500, [32, 1, 1], [512, 1, 1]))
                self.launch(gpus.stream(self.gpu, gpus.elementwise_name(
                    "aten::mul", "fp32" if c == "float" else self.gpu.precision), n, n))
        self.elementwise("aten::silu", dims, 1, "fp32" if c == "float" else None)
        self.conv(height, inputs, outputs, kind)
        self.elementwise("aten::add", dims, 2, "fp32" if c == "float" else None, extra=(dims,))

    def conv(self, height, inputs, outputs, kind):
        c = TYPES.get(kind, "float")
        moved = inputs * height * height * 4
        dims = [[1, inputs, height, height], [outputs, inputs, 3, 3], [outputs]]
        library = "aten::miopen_convolution" if self.gpu.is_rocm else "aten::cudnn_convolution"
        with self.op("aten::conv2d", dims, [c] * 3, before=800):
            with self.op("aten::convolution", dims, [c] * 3, before=800):
                with self.op("aten::_convolution", dims, [c] * 3, before=800):
                    with self.op(library, dims, [c] * 3):
                        if kind == "tf32":  # tensor cores want channels last
                            self.launch(gpus.stream(self.gpu, gpus.TO_LAST, moved, moved))
                        self.launch(gpus.convolution(self.gpu, 1, height, height, inputs, outputs,
                                                     kind))

    def small(self, operator="aten::mul"):
        """An operator on the latents."""
        n = (self.plan.side // 8) ** 2 * 16
        name = gpus.elementwise_name(operator if operator in ("aten::add", "aten::mul") else
                                     "aten::mul", self.gpu.precision)
        with self.op(operator, [[1, 16, self.plan.side // 8, self.plan.side // 8], []]):
            self.launch(gpus.stream(self.gpu, name, n * 2, n * 2))
