# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that call a model again and again and are not diffusion."""
import gpus
from kernels import OPS, Net
from models import Transformer, Vae, Vision
from pipelines import Recorder

PAGED = ("void vllm::paged_attention_v2_kernel<__nv_bfloat16, 128, 16>(float*)",
         "void flashinfer::BatchDecodeWithPagedKVCacheKernel<true, 128>(Params)",
         "void pytorch_flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 256, 4>>"
         "(Flash_fwd_params)")
STORE = ("void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>(int)",
         "void at::native::index_copy_kernel_impl<at::native::OpaqueType<2>>(int)")
BACKWARD = {
    "norm": "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<c10::BFloat16>()",
    "gamma": "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<float>()",
    "attention": "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd>()",
    "gelu": "void at::native::vectorized_elementwise_kernel<4, at::native::GeluBackwardCUDAKernel"
            "Impl>(int)",
    "conv": "sm80_xmma_dgrad_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x32",
    "weights": "sm80_xmma_wgrad_implicit_gemm_indexed_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_128x128",
    "adam": "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anony"
            "mous namespace)::TensorListMetadata<4>, at::native::FusedAdamMathFunctor<float>>()"}


class Language(Net):
    def __init__(self, rng, gpu, how, layers, width):
        super().__init__(rng, gpu, how)
        self.layers, self.width = layers, width
        self.paged, self.store = rng.choice(PAGED), rng.choice(STORE)
        self.rope = rng.random() < 0.5

    def forward(self, rows, sample):
        width = self.width
        self.ops("gather")
        if self.rope:
            self.linear(64, rows, 1)
            self.ops("cat cos sin mul mul cast cast")
        for layer in range(self.layers):
            self.fused("norm", "cast pow mean add rsqrt mul cast mul", rows * width)
            self.linear(rows, 3 * width, width)
            self.fused("rotate", "mul neg cat mul add", rows * width)
            self.add(self.store, 2500)
            if rows > 16:
                self.attention(width // 64, rows, rows)
            else:
                self.add(self.paged, 9000)
            self.linear(rows, width, width)
            self.ops("add", rows * width)
            self.fused("norm", "cast pow mean add rsqrt mul cast mul", rows * width)
            self.linear(rows, 8 * width, width)
            self.fused("silu", "silu mul", 4 * rows * width)
            self.linear(rows, width, 4 * width)
            self.ops("add", rows * width)
        self.fused("norm", "cast pow mean add rsqrt mul cast mul", rows * width)
        self.linear(1, 32000, width)
        if sample == "greedy":
            self.ops("argmax")
        else:
            self.ops("div exp")
            self.add(gpus.SOFTMAX.format("float"), 9000)
            self.add("void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<float>()", 9000)
            self.add("void flashinfer::sampling::TopKTopPSamplingFromProbKernel<512>()", 9000)
        self.ops("add copy")
        return self.take()


def language(rng, rec, gpu):
    """Serves: a prompt, then token by token; perhaps tokens of an image or of speech, which a
    decoder of convolutions turns into pixels or sound."""
    model = Language(rng, gpu, rng.choice(("eager", "compiled", "handmade")), rng.randint(4, 24),
                     rng.choice((1024, 2048, 4096)))
    sample = rng.choice(("greedy", "chance"))
    speaks = rng.random() < 0.3
    for _ in range(rng.randint(1, 3)):
        if rng.random() < 0.2:
            rec.run(Vision(rng, gpu, "eager").forward())
        rec.run(model.forward(rng.choice((128, 512, 1024)), sample))
        token = model.forward(rng.choice((1, 4, 8)), sample)
        for _ in range(rng.randint(4, 40)):
            rec.run(token, rec.bound == "graphs")
            rec.copy("Memcpy DtoH (Device -> Pinned)")
        if speaks:
            rec.run(Vae(rng, gpu, 512, 128).decode())


class Trained(Transformer):
    """With gradients."""

    def step(self, clips, optimizer):
        self.blocks_forward()
        self.add("void cunn_SoftMaxForward<8, float, float, float>(float*, float const*, int)",
                 9000) if optimizer == "classes" else self.ops("sub pow mean")
        for _ in range(self.layers):
            for n in (4, 1, 3):
                for _ in range(2):
                    self.linear(self.tokens, n * self.width, self.width)
                self.add(BACKWARD["gelu" if n == 4 else "norm"], 20_000)
            self.add(BACKWARD["attention"], 90_000)
            self.add(BACKWARD["gamma"], 9000)
        if clips:
            self.ops("mul")
        for _ in range(4):
            self.add(BACKWARD["adam"], 60_000)
        return self.take()

    def blocks_forward(self):
        if self.says:
            self.head(77)
        self.blocks(0, self.layers + self.single, 77)
        if self.says:
            self.tail()


def training(rng, rec, gpu):
    """Of a transformer, of a denoiser, of a network of convolutions."""
    if rng.random() < 0.3:
        net = Vae(rng, gpu, 256, 128)
        forward = net.decode()
        backward = []
        for name, ns in reversed(forward):
            if "fprop" in name or "conv" in name.lower():
                backward += [(BACKWARD["conv"], ns), (BACKWARD["weights"], ns)]
            else:
                backward.append((name, ns))
        step = forward + backward + [(BACKWARD["adam"], 50_000)] * 3
    else:
        model = Trained(rng, gpu, rng.choice(("eager", "compiled", "handmade")), rng.randint(4, 16),
                        0, rng.choice((1024, 2048)), rng.choice((1152, 2048)), rng.random() < 0.3,
                        rng.random() < 0.4)
        step = model.step(rng.random() < 0.5, rng.choice(("classes", "noise")))
    validates = rng.random() < 0.3
    for number in range(rng.randint(3, 20)):
        rec.copy("Memcpy HtoD (Pinned -> Device)", 90_000)
        rec.run(step)
        if validates and number % 5 == 4:
            rec.run(Vae(rng, gpu, 512, 128).decode())


def vision(rng, rec, gpu):
    """Classifies images, or finds objects in them with convolutions after the attention."""
    detects = rng.random() < 0.4
    layers = rng.randint(4, 16)
    model = Vision(rng, gpu, rng.choice(("eager", "compiled")))
    head = Vae(rng, gpu, 512, 128).decode() if detects else []
    for _ in range(rng.randint(3, 30)):
        rec.copy("Memcpy HtoD (Pinned -> Device)", 40_000)
        rec.run(model.forward(layers) + head)
        model.linear(1, 1000, 1024)
        model.ops("argmax" if rng.random() < 0.3 else "add")
        rec.run(model.take())
        rec.copy("Memcpy DtoH (Device -> Pinned)")


def convolutions(rng, rec, gpu):
    """A network of convolutions: images one by one."""
    net = Vae(rng, gpu, 512, 128)
    net.attends = rng.random() < 0.5
    one = net.encode() + net.decode() if rng.random() < 0.5 else net.encode()
    for _ in range(rng.randint(3, 20)):
        rec.copy("Memcpy HtoD (Pinned -> Device)", 40_000)
        rec.run(one)


def texts(rng, rec, gpu):
    """Embeds texts: a transformer, batch by batch."""
    from models import Encoder
    model = Encoder(rng, gpu, rng.randint(4, 24), rng.choice((768, 1024)), 256,
                    rng.random() < 0.7)
    one = model.forward()
    for _ in range(rng.randint(3, 30)):
        rec.copy("Memcpy HtoD (Pageable -> Device)")
        rec.run(one)
        rec.copy("Memcpy DtoH (Device -> Pinned)")


def unproven(rng, rec, gpu):
    """A transformer called again and again, of which nothing says that it denoises."""
    model = Transformer(rng, gpu, rng.choice(("opaque", "handmade")), rng.randint(4, 16), 0, 2304,
                        1536, rng.random() < 0.3, False)
    one = model.forward()
    for _ in range(rng.randint(3, 30)):
        rec.run(one)
        rec.run([(OPS["mul"], 3000), (OPS["add"], 3000)])


KINDS = (language, training, vision, convolutions, texts, unproven)


def other(rng, path):
    gpu, rec = rng.choice(gpus.GPUS), Recorder(rng)
    kind = rng.choice(KINDS)
    kind(rng, rec, gpu)
    rec.write(path, rng.random() < 0.5)
    return kind.__name__
