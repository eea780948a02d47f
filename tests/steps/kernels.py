# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels that models launch, by what programs them: eager operators, a compiler, or fused by hand.

A model is a list of kernels, (name, ns); real libraries use these names for the shape on the
device, with what a compiler or a program makes up drawn by chance.
"""
import functools

import gpus
from gpus import Kernel

FUSED = ("add", "mul", "view", "split", "unsqueeze", "clone", "slice", "transpose", "addmm",
         "native_layer_norm", "silu", "gelu", "mean", "rsqrt", "_to_copy", "cat", "permute")
HANDMADE = ("fused_{}_kernel", "_{}_fwd", "void ops::{}<c10::BFloat16, 8>(c10::BFloat16*, int)",
            "{}_bf16_vec8", "__myl_{}_0x5cf1", "void {}Kernel<__nv_bfloat16>(Params)")
UNARY = "at::native::{}_kernel_cuda(at::TensorIteratorBase&)::{{lambda()#1}}"
OPS = {op: gpus.vectorized(UNARY.format(op), 2)
       for op in ("sin", "cos", "exp", "sqrt", "tanh", "sigmoid", "neg", "rsqrt")}
OPS |= {op: gpus.elementwise_name(f"aten::{op}", "bf16")
        for op in ("add", "mul", "pow", "gelu", "silu")}
OPS |= {"cast": gpus.elementwise_name("aten::copy_", "bf16"),
        "sub": gpus.vectorized("at::native::AUnaryFunctor<float, float, float, sub>", 2),
        "div": gpus.vectorized("at::native::BUnaryFunctor<float, float, float, div>", 2),
        "clamp": gpus.vectorized("at::native::clamp_scalar_kernel", 2),
        "fill": gpus.vectorized("at::native::FillFunctor<float>", 1),
        "arange": "void (anonymous namespace)::elementwise_kernel_with_index<int, at::native::"
                  "arange_cuda_out(c10::Scalar const&)>(int, float*)",
        "copy": "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
                "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)>>(int)",
        "mean": gpus.MEAN, "cat": gpus.CAT,
        "gather": "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int)",
        "argmax": "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::"
                  "ArgMaxOps<float>, unsigned int, long, 4, 4> >(float)",
        "randn": "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_"
                 "kernel<float, 4, at::native::templates::cuda::normal_and_transform>(long)",
        "index": "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel>",
        "scan": "void at_cuda_detail::cub::DeviceScanKernel<int>(int*, int*)",
        "nearest": gpus.NEAREST.format("c10::BFloat16")}
TINY = 2200


def opaque(rng):
    return f"triton_{rng.choice(('poi', 'red', 'per'))}_fused"


class Net:
    """What one model launches; `how` is eager, compiled, opaque (a compiler whose names tell
    nothing) or handmade."""

    def __init__(self, rng, gpu, how):
        self.rng, self.gpu, self.how = rng, gpu, how
        self.sites = {}
        self.out = []

    def take(self):
        out, self.out = self.out, []
        return out

    def add(self, name, ns):
        self.out.append((name, max(1000, int(ns))))

    def kernel(self, kernel):
        self.add(kernel.name, kernel.ns)

    @functools.lru_cache(maxsize=4096)
    def sized(self, n):
        return max(TINY, 4 * n / (0.85 * self.gpu.bandwidth))

    def ops(self, names, n=1):
        """One kernel of ATen for each."""
        for name in names.split():
            self.add(OPS[name], self.sized(n))

    def fused(self, site, names, n=1, says=False):
        """The same by one kernel, where they are not eager."""
        if self.how == "eager":
            self.ops(names, n)
            return
        if site not in self.sites:
            words = names.split() if says else self.rng.sample(FUSED, self.rng.randint(2, 5))
            kind = self.rng.choice(("poi", "red", "per"))
            self.sites[site] = {
                "compiled": f"triton_{kind}_fused_{'_'.join(words)}_{len(self.sites)}",
                "opaque": f"triton_{kind}_fused_{len(self.sites)}",
                "handmade": self.rng.choice(HANDMADE).format("_".join(words[:3]) +
                                                             str(len(self.sites) % 3))}[self.how]
        self.add(self.sites[site], self.sized(n))

    def linear(self, m, n, k, low=None):
        self.kernel(linear(self.gpu, m, n, k))

    def attention(self, heads, queries, keys, size=64, best=True, math=False):
        if math:
            self.kernel(linear(self.gpu, heads * queries, keys, size))
            self.add(gpus.SOFTMAX.format("c10::BFloat16"), self.sized(heads * queries * keys))
            self.kernel(linear(self.gpu, heads * queries, size, keys))
        else:
            self.kernel(attention(self.gpu, heads, queries, keys, size, best))

    def norm(self, n=1):
        self.add(gpus.LAYER_NORM.format("c10::BFloat16"), self.sized(n))

    def group_norm(self, n):
        self.add(gpus.GROUP_NORM.format("c10::BFloat16"), self.sized(n))

    def conv(self, side, inputs, outputs, taps=9, n=1):
        self.kernel(convolution(self.gpu, n, side, inputs, outputs, taps))


@functools.lru_cache(maxsize=65536)
def linear(gpu, m, n, k):
    return gpus.gemm(gpu, m, n, k, gpu.precision)


@functools.lru_cache(maxsize=4096)
def attention(gpu, heads, queries, keys, size, best):
    return gpus.fused_attention(gpu, 1, heads, queries, keys, size, gpu.precision, best)


@functools.lru_cache(maxsize=4096)
def convolution(gpu, n, side, inputs, outputs, taps):
    return gpus.convolution(gpu, n, side, side, inputs, outputs, gpu.precision, taps)


gpus.Gpu.__hash__ = lambda self: hash(self.name)  # its peaks are a dict
assert Kernel
