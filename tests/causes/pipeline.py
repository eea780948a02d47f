# SPDX-License-Identifier: GPL-3.0-or-later
"""A diffusion pipeline: text encoder, denoising steps of a transformer, VAE decode, on one or
several ranks.  `Plan` says which; its defects say what the program does badly.

Without defects the kernels are near what the device can do and the host is far ahead.
"""
import dataclasses
import random

import gpus
import process
from gpus import BYTES, TYPES, Kernel
from host import COMPUTE, COPIES, Host

ENCODER = 4096            # width of the text encoder
TOKENS = 512              # of a prompt
FLOAT8 = ("void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
          "at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}::operator()()"
          " const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul>, 4, TrivialOffsetCalculator<1,"
          " unsigned int>, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::"
          "LoadWithCast<1>, at::native::memory::StoreWithCast<1> >(int, at::native::"
          "direct_copy_kernel_cuda(at::TensorIteratorBase&))")
NF4 = ("void kDequantizeBlockwise<{}, 512, 64, 8, 2>(float*, unsigned char*, float*, {}*, int, "
       "int)")
EXCHANGE = {True: "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
            False: "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"}
# Bytes per ns that an all-to-all reaches between a rank and another, and to all others: NVLink with
# switches, links of one pair each, PCIe.
LINKS = {"NVIDIA H100 80GB HBM3": (300, 300), "NVIDIA A100-SXM4-80GB": (190, 190),
         "AMD Instinct MI300X": (48, 340), "Tesla V100-SXM2-32GB": (40, 120),
         "NVIDIA GeForce RTX 4090": (18, 18)}


@dataclasses.dataclass
class Plan:
    seed: object
    gpu: gpus.Gpu
    hidden: int = 3072
    size: int = 128          # of a head
    tokens: int = 4608
    batch: int = 1
    layers: int = 8
    steps: int = 8
    side: int = 1024         # of the image, pixels
    channels: int = 128      # of the last blocks of the VAE
    encoder_layers: int = 6
    compiled: bool = True
    is_best: bool = True     # the newest attention kernel
    marks: str = "none"      # ranges: none, profiler, steps, stages
    shapes: bool = True
    shadows: bool = True
    cpu: float = 1.0         # how long the host takes
    between: int = 300_000   # host work of the scheduler in each step
    ranks: int = 1
    iterations: int = 1
    turns: str = "generate"  # what marks each of them
    defects: dict = dataclasses.field(default_factory=dict)
    writing: object = dataclasses.field(default_factory=process.Writing)

    @property
    def kind(self):
        return TYPES[self.gpu.precision]


def drawn(rng, seed, **fixed):
    """A plan by chance; `fixed` are values that it must have, or lists to choose from."""
    def choose(key, values):
        given = fixed.pop(key, values)
        return rng.choice(given) if isinstance(given, (list, tuple)) else given

    gpu = choose("gpu", gpus.GPUS)
    hidden, size = choose("model", ((3072, 128), (5120, 128), (1536, 64), (2432, 64)))
    side = choose("side", (768, 1024, 1280))
    frames = choose("frames", (1, 1, 3))
    writing = process.Writing(
        fraction=True, packed=rng.random() < 0.5, stacks=rng.random() < fixed.pop("stacks", 0.2),
        distributed=True, names=rng.random() < 0.9, window=rng.random() < 0.9,
        base_ns=rng.choice((0, 1_763_164_800_000_000_000)))
    values = {
        "tokens": ((side // 16) ** 2 * frames + 64) // 64 * 64 + TOKENS,
        "batch": rng.choice((1, 1, 2)) if size == 64 else 1, "layers": rng.randint(6, 10),
        "steps": rng.randint(6, 10), "side": side, "encoder_layers": rng.randint(3, 6),
        "compiled": rng.random() < 0.6, "marks": rng.choice(("none", "profiler", "steps", "stages",
                                                             "stages")),
        "shapes": rng.random() < 0.7, "shadows": rng.random() < 0.6,
        "turns": rng.choice(("generate", "ProfilerStep#", "inference")),
        "cpu": rng.uniform(0.8, 1.4), "between": round(rng.uniform(0.1, 0.6) * 1e6)}
    return Plan(seed, gpu, hidden, size, writing=writing, **(values | fixed))


class Pipeline(Host):
    def defect(self, name):
        return self.plan.defects.get(name)

    # ---- operators -------------------------------------------------------------------------------

    def linear(self, m, n, k, bias=True, kind=None):
        kind = kind or self.gpu.precision
        quantized = self.defect("C17")
        if quantized and m > 1 and n >= self.plan.hidden:
            self.dequantize(n, k, quantized["format"])
        outer = "aten::linear" if not (self.plan.compiled and not self.open_eager) else None
        inner = "aten::addmm" if bias else "aten::mm"
        dims = [[n], [m, k], [k, n], [], []] if bias else [[m, k], [k, n]]
        if outer is None:
            with self.op(inner, dims, before=1500):
                self.launch(gpus.gemm(self.gpu, m, n, k, kind))
            return
        with self.op(outer, [[m, k], [n, k], [n]] if bias else [[m, k], [n, k]]):
            with self.op(inner, dims):
                self.launch(gpus.gemm(self.gpu, m, n, k, kind))

    open_eager = False  # in a compiled program: the part that is not compiled

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

    # ---- text encoder ----------------------------------------------------------------------------

    def encode(self):
        if self.defect("C8") and self.defect("C8")["what"] == "encoder":
            self.encode_on_host(self.defect("C8")["ns"])
            return
        self.open_eager = True
        self.copy(TOKENS * 8, within=("aten::to", "aten::_to_copy", "aten::copy_"))
        with self.op("aten::embedding", [[32128, ENCODER], [1, TOKENS]]):
            self.launch(gpus.stream(self.gpu, gpus.GATHER, TOKENS * ENCODER * 2,
                                    TOKENS * ENCODER * 2))
        dims = [1, TOKENS, ENCODER]
        for layer in range(self.plan.encoder_layers):
            with self.frame(f"nn.Module: T5Block_{layer}"):
                self.norm(dims)
                for _ in range(3):
                    self.linear(TOKENS, ENCODER, ENCODER, bias=False)
                self.encoder_attention()
                self.linear(TOKENS, ENCODER, ENCODER, bias=False)
                self.elementwise("aten::add", dims, extra=(dims,))
                self.norm(dims)
                self.linear(TOKENS, 10240, ENCODER, bias=False)
                self.elementwise("aten::gelu", [1, TOKENS, 10240])
                self.linear(TOKENS, 10240, ENCODER, bias=False)
                self.elementwise("aten::mul", [1, TOKENS, 10240], extra=([1, TOKENS, 10240],))
                self.linear(TOKENS, ENCODER, 10240, bias=False)
                self.elementwise("aten::add", dims, extra=(dims,))
        self.norm(dims)
        self.open_eager = False

    def encoder_attention(self):
        heads, size = ENCODER // 64, 64
        kind = self.gpu.precision
        kernel = gpus.fused_attention(self.gpu, 1, heads, TOKENS, TOKENS, size, kind, False)
        dims = [[1, heads, TOKENS, size]] * 3
        flash = self.gpu.capability[0] > 7
        self.nested(("aten::scaled_dot_product_attention",
                     "aten::_scaled_dot_product_flash_attention" if flash else
                     "aten::_scaled_dot_product_efficient_attention",
                     "aten::_flash_attention_forward" if flash else
                     "aten::_efficient_attention_forward"), dims, kernel)

    def norm(self, dims):
        with self.op("aten::layer_norm", [dims, [], [dims[-1]]]):
            with self.op("aten::native_layer_norm", [dims, [], [dims[-1]]]):
                n = dims[0] * dims[1] * dims[2] * BYTES[self.gpu.precision]
                self.launch(gpus.stream(self.gpu, gpus.LAYER_NORM.format(self.plan.kind), n, n,
                                        256, 8))

    def encode_on_host(self, ns):
        """The same operators, none of which launches anything."""
        layers = self.plan.encoder_layers
        parts = [("aten::addmm", 0.26), ("aten::addmm", 0.22), ("aten::bmm", 0.02),
                 ("aten::_softmax", 0.02), ("aten::bmm", 0.02), ("aten::addmm", 0.24),
                 ("aten::gelu", 0.02), ("aten::addmm", 0.2)]
        outer = {"aten::addmm": "aten::linear", "aten::bmm": "aten::matmul",
                 "aten::_softmax": "aten::softmax", "aten::gelu": None}
        for layer in range(layers):
            with self.frame(f"nn.Module: T5Block_{layer}"):
                for name, share in parts:
                    took = ns * share / layers / self.cost * self.noise("host", 0.05)
                    if outer[name]:
                        with self.op(outer[name], [[TOKENS, ENCODER]], ["float"]):
                            with self.op(name, [[TOKENS, ENCODER]], ["float"], before=took):
                                pass
                    else:
                        with self.op(name, [[TOKENS, ENCODER]], ["float"], before=took):
                            pass
        self.copy(TOKENS * ENCODER * 4, within=("aten::to", "aten::_to_copy", "aten::copy_"))

    # ---- transformer -----------------------------------------------------------------------------

    def transformer(self, batch):
        """One forward; a generator, for it may meet other ranks."""
        plan = self.plan
        rows, width = batch * plan.tokens // plan.ranks, plan.hidden
        breaks = self.defect("C11")
        if plan.compiled and not breaks:
            with self.op("TorchDynamo Cache Lookup", before=60_000):
                pass
            with self.op("Torch-Compiled Region: 0/0", before=20_000, after=8000):
                with self.op("## Call CompiledFxGraph fq3yhvx4ab7lwc2hcgkzusaexd2yeg4pgc5wv5v4jtn3"
                             "mzhnnz6g ##", before=15_000, category="user_annotation"):
                    for layer in range(plan.layers):
                        yield from self.block(layer, batch, rows, width)
                    self.head(rows, width)
            return
        for layer in range(plan.layers):
            with self.frame(f"nn.Module: TransformerBlock_{layer}"):
                if breaks:
                    yield from self.broken_block(layer, batch, rows, width, breaks)
                else:
                    self.spend(30_000)
                    yield from self.block(layer, batch, rows, width)
        self.open_eager = bool(breaks)
        self.head(rows, width)
        self.open_eager = False

    def broken_block(self, layer, batch, rows, width, breaks):
        """Dynamo leaves compiled code in each block, runs Python, and enters a resumed function."""
        for part in range(breaks["parts"]):
            with self.op("TorchDynamo Cache Lookup", before=breaks["ns"] * 0.55):
                pass
            frame = ("diffusers/models/transformers/transformer.py(312): "
                     f"torch_dynamo_resume_in_forward_at_{341 + 17 * part}" if part else
                     "diffusers/models/transformers/transformer.py(312): forward")
            with self.frame(frame), self.op(f"Torch-Compiled Region: {2 * part + 1}/0",
                                            before=breaks["ns"] * 0.25, after=4000):
                with self.op(f"## Call CompiledFxGraph f{part}yhvx4ab7lwc2hcgkzusaexd2yeg4pgc5wv5v4"
                             "jtn3 ##", before=15_000, category="user_annotation"):
                    yield from self.block(layer, batch, rows, width, part, breaks["parts"])
            self.spend(breaks["ns"] * 0.2)

    def head(self, rows, width):
        self.norm([1, rows, width])
        self.linear(rows, 64, width)

    def block(self, layer, batch, rows, width, part=0, parts=1):
        """The work of a transformer block, or the n-th part of it."""
        plan, moved = self.plan, rows * width * BYTES[self.gpu.precision]
        heads = width // plan.size
        self.offload(layer)
        retries = self.defect("C2")
        if retries and layer < retries["share"] * plan.layers:
            self.retry(retries["ns"])
        work = [
            lambda: self.linear(batch, 6 * width, width),
            lambda: self.modulate(rows, width, moved, is_first=True),
            lambda: self.linear(rows, 3 * width, width),
            lambda: self.rotate(batch, rows, width, heads, moved),
            "exchange",
            lambda: self.attention(batch, heads // plan.ranks, rows * plan.ranks // batch,
                                   rows * plan.ranks // batch, plan.size),
            "exchange",
            lambda: self.linear(rows, width, width),
            lambda: self.modulate(rows, width, moved, is_first=False),
            lambda: self.linear(rows, 4 * width, width),
            lambda: self.activate(rows, width, moved),
            lambda: self.linear(rows, width, 4 * width),
            lambda: self.gate(rows, width, moved),
        ]
        first, last = len(work) * part // parts, len(work) * (part + 1) // parts
        for what in work[first:last]:
            if what == "exchange":
                if plan.ranks > 1:
                    yield from self.exchange(rows * width)
            else:
                what()
        waits = self.defect("C7")
        if waits and waits["where"] == "block":
            self.read_value(waits)

    def modulate(self, rows, width, moved, is_first):
        if self.defect("C3") and "modulate" in self.defect("C3")["chains"]:
            dims = [1, rows, width]
            if not is_first:
                self.elementwise("aten::mul", dims, 1, extra=([1, 1, width],))
                self.elementwise("aten::add", dims, extra=(dims,))
            self.norm(dims)
            self.elementwise("aten::add", [1, 1, width], 1, extra=([],))
            self.elementwise("aten::mul", dims, 1, extra=([1, 1, width],))
            self.elementwise("aten::add", dims, 1, extra=([1, 1, width],))
        elif is_first:
            self.fused("red_fused_add_mul_native_layer_norm_split_unsqueeze_2", moved, moved)
        else:
            self.fused("red_fused_add_addmm_mul_native_layer_norm_split_unsqueeze_view_7",
                       2 * moved, 2 * moved)

    def rotate(self, batch, rows, width, heads, moved):
        if not self.defect("C3") or "rotate" not in self.defect("C3")["chains"]:
            self.fused("per_fused__to_copy_add_cat_mean_mul_pow_rsqrt_transpose_view_4", 3 * moved,
                       2 * moved)
            return
        dims = [batch, heads, rows // batch, self.plan.size]
        one = [batch, heads, rows // batch, 1]
        low = self.gpu.precision
        for _ in range(2):  # queries and keys: root mean square, then rotary
            self.cast(dims, "fp32")
            self.elementwise("aten::pow", dims, 1, "fp32")
            self.reduction("aten::mean", gpus.MEAN, dims, "fp32")
            self.elementwise("aten::add", one, 1, "fp32", extra=([],))
            self.elementwise("aten::rsqrt", one, 1, "fp32")
            self.elementwise("aten::mul", dims, 1, "fp32", extra=(one,))
            self.cast(dims, low)
            self.elementwise("aten::mul", dims, 1, extra=([self.plan.size],))
            self.cast(dims, "fp32")
            self.elementwise("aten::mul", dims, 1, "fp32", extra=(dims[2:],))
            self.elementwise("aten::neg", [*dims[:3], dims[3] // 2], 1, "fp32")
            n = moved * 2
            with self.op("aten::cat", [[], []], ["TensorList", "Scalar"]):
                self.launch(gpus.stream(self.gpu, gpus.CAT, n, n, 128, 8))
            self.elementwise("aten::mul", dims, 1, "fp32", extra=(dims[2:],))
            self.elementwise("aten::add", dims, 2, "fp32", extra=(dims,))
            self.cast(dims, low)

    def activate(self, rows, width, moved):
        if self.defect("C3"):
            self.elementwise("aten::gelu", [1, rows, 4 * width])
        else:
            self.fused("poi_fused_addmm_gelu_view_9", 4 * moved, 4 * moved)

    def gate(self, rows, width, moved):
        if self.defect("C3") and "modulate" in self.defect("C3")["chains"]:
            self.elementwise("aten::mul", [1, rows, width], 1, extra=([1, 1, width],))
            self.elementwise("aten::add", [1, rows, width], extra=([1, rows, width],))
        else:
            self.fused("poi_fused_add_addmm_mul_view_11", 2 * moved, moved)

    def exchange(self, elements):
        """All-to-all of Ulysses: each rank gives the others their heads."""
        slow = self.defect("C9")
        pair, all_ = LINKS[self.gpu.name]
        rate = slow["rate"] if slow else min(pair * (self.world - 1), all_)
        size = elements * BYTES[self.gpu.precision]
        begun = self.collective("c10d::alltoall_base_", "all_to_allv",
                                EXCHANGE[self.gpu.is_rocm], elements)
        ns = 14_000 + size * (self.world - 1) / self.world / rate
        end = yield begun["ready"], ns * self.noise("link", 0.02)
        self.collective_ends(begun, end)

    def offload(self, layer):
        how = self.defect("C1")
        if not how or layer >= how["layers"]:
            return
        size = 18 * self.plan.hidden ** 2 * BYTES[self.gpu.precision]
        within = ("aten::to", "aten::_to_copy", "aten::copy_")
        parts = [size * share // 18 for share in (6, 3, 1, 4, 4)]
        with self.frame("accelerate/hooks.py(328): pre_forward"):
            for part in parts:
                if how["kind"] == "pageable":
                    self.copy(part, within=within)
                elif how["kind"] == "pinned":
                    self.copy(part, pinned=True, blocking=False, within=within)
                else:  # a stream of its own: the weights of a block arrive before it runs
                    self.copy(part, pinned=how["kind"] == "stream", blocking=False, stream=COPIES,
                              within=within)
        if how["kind"] in ("stream", "staged"):
            self.runtime("cudaEventRecordWithFlags", 900)
            self.runtime("cudaStreamWaitEvent", 900)
            ready = self.busy_until(COPIES)
            self.free[self.device, COMPUTE] = max(self.busy_until(), ready)

    def retry(self, ns):
        """An allocation does not fit: the allocator waits, frees what it caches, tries again."""
        with self.op("aten::empty_strided", [[], [], [], [], [], []]):
            self.runtime("cudaMalloc", 90_000)
            self.synchronize(name="cudaDeviceSynchronize")
            for _ in range(3):
                self.runtime("cudaFree", ns / 4)
            self.runtime("cudaMalloc", ns / 4)

    # ---- the loop --------------------------------------------------------------------------------

    def read_value(self, waits):
        if waits["kind"] == "nonzero":
            for name in ("aten::eq", "aten::lt"):
                self.small(name)
            with self.op("aten::nonzero", [[self.plan.steps]]):
                self.launch(Kernel("void at_cuda_detail::cub::DeviceReduceSingleTileKernel<at_cuda"
                                   "_detail::cub::DeviceReducePolicy<bool, unsigned int, at_cuda_"
                                   "detail::cub::Sum>::Policy600, int*, int*, int>", 2500,
                                   [1, 1, 1], [256, 1, 1]))
                self.copy(4, to_device=False, within=())
        elif waits["kind"] == "cpu":
            self.copy(4096, to_device=False, within=("aten::to", "aten::_to_copy", "aten::copy_"))
        elif waits["kind"] == "mask":
            with self.op("aten::index", [[1, self.plan.tokens], []]):
                with self.op("aten::nonzero", [[1, self.plan.tokens]]):
                    self.copy(4, to_device=False, within=())
        elif waits["kind"] == "print":
            for _ in range(4):
                self.item()
        else:
            self.item()

    def small(self, operator="aten::mul"):
        """An operator on the latents."""
        n = (self.plan.side // 8) ** 2 * 16
        name = gpus.elementwise_name(operator if operator in ("aten::add", "aten::mul") else
                                     "aten::mul", self.gpu.precision)
        with self.op(operator, [[1, 16, self.plan.side // 8, self.plan.side // 8], []]):
            self.launch(gpus.stream(self.gpu, name, n * 2, n * 2))

    def scheduler(self):
        """Python computes the step's coefficients, then some small operators."""
        with self.frame("diffusers/schedulers/scheduling_flow_match_euler_discrete.py(300): step"):
            self.open_eager = True
            self.spend(self.plan.between)
            for name in ("aten::sub", "aten::mul", "aten::add", "aten::mul"):
                self.small(name)
            self.open_eager = False

    def step(self, number):
        plan = self.plan
        throttled = self.defect("C14")
        if throttled and number >= throttled["from"] * plan.steps:
            self.stretch = 1 / throttled["slow"]
        noise = self.defect("C8")
        if noise and noise["what"] == "noise":
            with self.op("aten::randn", [[]], before=8000):
                with self.op("aten::normal_", [[1, 16, plan.tokens]], ["float"],
                             before=noise["ns"] / self.cost * self.noise("host", 0.03)):
                    pass
            self.copy(4 * 16 * plan.tokens, within=("aten::to", "aten::_to_copy", "aten::copy_"))
        twice = self.defect("C10")
        with self.range("transformer" if plan.marks == "stages" else ""):
            if twice:
                for _ in range(2):
                    yield from self.transformer(plan.batch // 2)
            else:
                yield from self.transformer(plan.batch)
        if plan.batch > 1 or twice:  # guidance
            self.open_eager = True
            for name in ("aten::sub", "aten::mul", "aten::add"):
                self.small(name)
            self.open_eager = False
        waits = self.defect("C7")
        if waits and waits["where"] == "step":
            self.open_eager = True
            self.read_value(waits)
            self.open_eager = False
        self.scheduler()

    def decode(self):
        tiles = (self.defect("C4") or {}).get("tiles")
        if tiles:
            for _ in range(tiles ** 2):
                self.decode_image(self.plan.side * 5 // 4 // tiles)
                for _ in range(4):  # blends its edges, row by row in Python
                    self.elementwise("aten::mul", [1, 3, 32, self.plan.side], 1, extra=([],))
                    self.elementwise("aten::add", [1, 3, 32, self.plan.side],
                                     extra=([1, 3, 32, self.plan.side],))
        else:
            self.decode_image(self.plan.side)

    def decode_image(self, side):
        kind = (self.defect("C4") or {}).get("kind") or self.gpu.precision
        self.open_eager = True
        height, width = side // 8, 4 * self.plan.channels
        for level in range(4):
            for _ in range(2):
                self.residual(height, width, width, kind)
            if level < 3:
                n = 4 * height * height * width * BYTES[kind]
                with self.op("aten::upsample_nearest2d", [[1, width, height, height]],
                             [TYPES.get(kind, "float")]):
                    self.launch(gpus.stream(self.gpu, gpus.NEAREST.format(TYPES.get(kind, "float")),
                                            n // 4, n))
                height *= 2
                self.conv(height, width, width, kind)
                width = {0: width, 1: width // 2, 2: width // 2}[level]
        self.conv(height, width, 3, kind)
        self.open_eager = False

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

    def postprocess(self):
        """To the range of pixels, to the host; Python makes the image."""
        dims = [1, 3, self.plan.side, self.plan.side]
        self.open_eager = True
        self.elementwise("aten::mul", dims, 1, extra=([],))
        self.elementwise("aten::add", dims, 1, extra=([],))
        self.copy(3 * self.plan.side ** 2 * 2, to_device=False,
                  within=("aten::to", "aten::_to_copy", "aten::copy_"))
        self.open_eager = False
        late = self.defect("C8")
        if late and late["what"] == "image":
            for name, share in (("aten::mul", 0.3), ("aten::clamp", 0.2), ("aten::permute", 0.0),
                                ("aten::round", 0.25), ("aten::to", 0.25)):
                with self.op(name, [dims], ["float"], before=late["ns"] * share / self.cost):
                    pass

    def generate(self, turn):
        plan = self.plan
        stages = plan.marks == "stages"
        loading = self.defect("C13")
        if loading and turn < loading["runs"]:
            self.load(loading)
        with self.range("encode_prompt" if stages else ""):
            self.encode()
        for number in range(plan.steps):
            name = {"profiler": f"ProfilerStep#{number + 3}", "steps": "denoise_step"}
            with self.range(name.get(plan.marks, "")):
                self.compile(number)
                yield from self.step(number)
        with self.range("vae_decode" if stages else ""):
            self.decode()
        self.postprocess()

    def program(self):
        plan = self.plan
        self.begin = self.host
        self.spend(80_000)
        for number in range(plan.iterations):
            self.age(number)
            name = f"{plan.turns}{number + 2}" if plan.turns.endswith("#") else plan.turns
            with self.range(name if plan.iterations > 1 else ""):
                yield from self.generate(number)
        self.synchronize(name="cudaDeviceSynchronize")
        self.spend(40_000)
        with self.op("aten::detach", [[1]]):  # the program ends here
            pass
        self.end = self.host

    # ---- what happens now and then ---------------------------------------------------------------

    def compile(self, number):
        """In the steps of the plan Dynamo compiles the transformer."""
        event = self.defect("C5")
        if not event or number not in event["steps"]:
            return
        ns = event["ns"] * self.noise("compile", 0.1)
        {"dynamo": self.compiled_ranges, "autotune": self.autotuned, "modules": self.modules,
         "graphs": self.captured}[event["what"]](ns)

    def autotuned(self, ns):
        """Triton tries its configurations of each kernel of the graph."""
        n = 6
        for number in range(n):
            with self.op("CachingAutotuner.benchmark_all_configs (dynamo_timed)",
                         category="user_annotation"):
                for _ in range(12):
                    self.spend(ns / n / 14 / self.cost)
                    self.launch(gpus.stream(self.gpu, f"triton_poi_fused_add_mul_{number}", 2**22,
                                            2**22))
                self.synchronize()

    def modules(self, ns):
        """The driver loads the code of kernels when each is launched first."""
        n = 40
        for number in range(n):
            with self.op("aten::mul", [[64], []]):
                self.runtime("hipModuleLoadDataEx" if self.gpu.is_rocm else "cuModuleLoadDataEx",
                             ns / n / self.cost, "cuda_driver")
                self.launch(gpus.stream(self.gpu, gpus.vectorized(f"Functor{number}", 2), 128, 128))

    def captured(self, ns):
        """Trees of CUDA graphs record a graph again, as inputs have moved."""
        self.runtime("cudaStreamBeginCapture", 20_000)
        for _ in range(60):
            with self.op("aten::addmm", [[64]], before=ns / 150 / self.cost):
                self.runtime("cudaLaunchKernel", 4000)
        self.runtime("cudaStreamEndCapture", 60_000)
        self.runtime("cudaGraphInstantiateWithFlags", ns / 2 / self.cost)

    def compiled_ranges(self, ns):
        def part(name, share, inner=()):
            with self.op(f"{name} (dynamo_timed)", category="user_annotation", before=0, after=0):
                left = share - sum(s for _, s, _ in inner)
                self.spend(ns * left / 2 / self.cost)
                for one in inner:
                    part(*one)
                self.spend(ns * left / 2 / self.cost)

        backend = ("compile_fx_inner", 0.62, (
            ("GraphLowering.run", 0.12, ()),
            ("GraphLowering.compile_to_fn", 0.44, (
                ("GraphLowering.codegen", 0.22, (("Scheduler.__init__", 0.08, ()),
                                                 ("Scheduler.codegen", 0.11, ()))),
                ("PyCodeCache.load_by_key_path", 0.2, (("async_compile.wait", 0.18, ()),))))))
        with self.op("TorchDynamo Cache Lookup", before=200_000):
            pass
        part("_compile.compile_inner", 1.0, (
            ("bytecode_tracing", 0.14, ()),
            ("OutputGraph.call_user_compiler", 0.78,
             (("create_aot_dispatcher_function", 0.74, (backend,)),)),
            ("build_guards", 0.03, ())))

    def age(self, number):
        """What a program that runs for long does to later iterations."""
        growth = self.defect("C12")
        if growth and growth["what"] == "heat":
            self.stretch = 1 + growth["rate"] * number
        elif growth:
            self.cost = self.plan.cpu * (1 + growth["rate"] * number)

    def load(self, loading):
        """Weights from disk, through pageable memory; Python parses the files."""
        for _ in range(4):
            with self.frame("safetensors/torch.py(308): load_file"):
                self.spend(loading["ns"] / 4 / self.cost)
            for _ in range(6):
                self.copy(loading["bytes"] // 24,
                          within=("aten::to", "aten::_to_copy", "aten::copy_"))


def run(plan):
    """All ranks as they happen; returns them, and the length of the run in ns."""
    ranks = [Pipeline(plan, rank) for rank in range(plan.ranks)]
    programs = [rank.program() for rank in ranks]
    answers = [None] * len(ranks)
    while True:
        met = []
        for number, program in enumerate(programs):
            try:
                met.append(program.send(answers[number]))
            except StopIteration:
                met.append(None)
        if met[0] is None:
            break
        end = max(ready for ready, _ in met) + round(max(ns for _, ns in met))
        answers = [end] * len(ranks)
    return ranks, max(rank.end - rank.begin for rank in ranks)
