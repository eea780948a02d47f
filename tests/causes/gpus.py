# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs: what their kernels are called and how long they take when they are well tuned.

The names are from PyTorch 2.x with the libraries of each device; the shares of the peak are
what these libraries reach on large shapes.
"""
import dataclasses
import math

import process

BYTES = {"bf16": 2, "fp16": 2, "fp32": 4, "tf32": 4, "fp8": 1}
TYPES = {"bf16": "c10::BFloat16", "fp16": "c10::Half", "fp32": "float", "fp8": "c10::Float8_e4m3fn"}


@dataclasses.dataclass(frozen=True)
class Gpu:
    name: str
    vendor: object
    capability: tuple
    sms: int
    memory: int              # bytes
    bandwidth: float         # bytes per ns
    peaks: dict              # TFLOP/s by type
    gemm: float              # share of the peak that large GEMMs reach
    attention: tuple         # that fused attention reaches, the oldest kernel and the best one
    link: float              # bytes per ns from the host, pinned memory
    precision: str = "bf16"  # that its programs use
    shared: int = 233_472    # bytes of an SM that blocks share
    sm_clock: int = 1980     # MHz at its best
    power: int = 700         # limit, W

    @property
    def is_rocm(self):
        return self.vendor is process.ROCM

    def properties(self):
        major, minor = self.capability
        more = {} if self.is_rocm else {"regsPerMultiprocessor": 65536,
                                        "sharedMemPerBlockOptin": self.shared - 1024,
                                        "sharedMemPerMultiprocessor": self.shared}
        return {"id": 0, "name": self.name, "totalGlobalMem": self.memory, "computeMajor": major,
                "computeMinor": minor, "maxThreadsPerBlock": 1024,
                "maxThreadsPerMultiprocessor": self.threads,
                "regsPerBlock": 131072 if self.is_rocm else 65536,
                "warpSize": 64 if self.is_rocm else 32,
                "sharedMemPerBlock": 65536 if self.is_rocm else 49152, "numSms": self.sms, **more}

    @property
    def threads(self):
        return 1536 if self.capability == (8, 9) else 2048

    def resident(self, threads, registers, shared):
        """Blocks of a kernel that an SM holds at a time."""
        return max(1, min(self.threads // threads, 65536 // (registers * threads),
                          self.shared // (shared + 1024), 32))


def cuda(name, capability, **facts):
    return Gpu(name, dataclasses.replace(process.CUDA, device=name), capability, **facts)


GPUS = (
    cuda("NVIDIA H100 80GB HBM3", (9, 0), sms=132, memory=85_028_896_768, bandwidth=3350,
         peaks={"bf16": 989, "fp16": 989, "tf32": 494, "fp32": 67, "fp8": 1979}, gemm=0.68,
         attention=(0.37, 0.66), link=52),
    cuda("NVIDIA A100-SXM4-80GB", (8, 0), sms=108, memory=85_097_971_712, bandwidth=2039,
         peaks={"bf16": 312, "fp16": 312, "tf32": 156, "fp32": 19.5}, gemm=0.80,
         attention=(0.64, 0.64), link=25, shared=167_936, sm_clock=1410, power=400),
    cuda("NVIDIA GeForce RTX 4090", (8, 9), sms=128, memory=25_282_805_760, bandwidth=1008,
         peaks={"bf16": 165, "fp16": 165, "tf32": 82, "fp32": 82, "fp8": 330}, gemm=0.92,
         attention=(0.88, 0.88), link=25, shared=102_400, sm_clock=2520, power=450),
    cuda("Tesla V100-SXM2-32GB", (7, 0), sms=80, memory=34_079_899_648, bandwidth=900,
         peaks={"fp16": 125, "fp32": 15.7}, gemm=0.72, attention=(0.42, 0.42), link=12,
         shared=98_304, precision="fp16", sm_clock=1530, power=300),
    Gpu("AMD Instinct MI300X", process.ROCM, (9, 4), sms=304, memory=206_141_652_992,
        bandwidth=5300, peaks={"bf16": 1307, "fp16": 1307, "tf32": 654, "fp32": 163, "fp8": 2615},
        gemm=0.52, attention=(0.22, 0.44), link=52, sm_clock=2100, power=750),
)


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel of some shape: what a recorder writes of it, and its time."""
    name: str
    ns: float
    grid: list
    block: list
    registers: int = 32
    shared: int = 0


def waves(gpu, blocks, resident=1):
    """How much longer the last, partly filled wave makes it: its blocks run faster, having more of
    the device, which hides half."""
    rounds = blocks / gpu.sms / resident
    return 1 + (math.ceil(rounds) / rounds - 1) / 2 if rounds > 1 else 1 / max(rounds, 0.05)


# Tiles of GEMMs and the share of the best one's speed that each reaches, of which libraries choose.
TILES = {"rocm": (((256, 224), 1), ((256, 128), 0.96), ((128, 96), 0.88), ((64, 96), 0.75)),
         9: (((128, 256), 1), ((192, 192), 0.99), ((128, 128), 0.92), ((64, 128), 0.8)),
         8: (((128, 256), 1), ((128, 128), 0.95), ((128, 64), 0.86), ((64, 64), 0.72)),
         7: (((256, 128), 1), ((128, 128), 0.96), ((128, 64), 0.88), ((64, 64), 0.72))}


def best_tile(gpu, m, n, batch, tiles):
    """(tile, how much longer it takes than at the best speed)."""
    def cost(choice):
        (rows, columns), share = choice
        return waves(gpu, batch * math.ceil(m / rows) * math.ceil(n / columns)) / share
    chosen = min(tiles, key=cost)
    return chosen[0], cost(chosen)


def gemm_name(gpu, kind, tile):
    size = f"{tile[0]}x{tile[1]}"
    if gpu.is_rocm:
        letters = {"bf16": "BBS_BH", "fp16": "HHS_BH", "fp32": "S_B"}[kind]
        return (f"Cijk_Alik_Bljk_{letters}_Bias_HA_S_SAV_UserArgs_MT{size}x64_MI16x16x1_SN_LDSB0_"
                "AFC1_AG0_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTLA0_DTLB0_DTVA1_DTVB0")
    if kind == "fp32":
        return {7: "volta_sgemm_128x128_tn", 8: "ampere_sgemm_128x128_tn"}.get(
            gpu.capability[0], "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_"
            "warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas")
    if gpu.capability[0] == 9:
        return f"nvjet_tst_{size}_64x{4 if tile[1] > 128 else 6}_2x1_v_bz_coopA_bias_TNT"
    if gpu.capability[0] == 8:
        return (f"ampere_{kind}_s16816gemm_{kind}_{size}_ldg8_f2f_stages_64x"
                f"{3 if tile[1] > 128 else 4}_tn")
    return f"volta_fp16_s884gemm_fp16_{size}_ldg8_f2f_tn"


def gemm(gpu, m, n, k, kind, batch=1):
    tiles = TILES["rocm" if gpu.is_rocm else gpu.capability[0]]
    tile, longer = best_tile(gpu, m, n, batch, tiles if kind != "fp32" else (((128, 128), 1),))
    best = gpu.peaks[kind] * 1000 * (gpu.gemm if kind != "fp32" else 0.85)
    ns = max(2 * batch * m * n * k / best * longer,
             batch * BYTES[kind] * (m * k + n * k + m * n) / (0.8 * gpu.bandwidth))
    return Kernel(gemm_name(gpu, kind, tile), ns + 1500,
                  [math.ceil(m / tile[0]), math.ceil(n / tile[1]), batch],
                  [384 if gpu.capability[0] == 9 else 256, 1, 1],
                  168 if gpu.capability[0] == 9 else 224, min(gpu.shared - 2048, 147_456))


def unaligned(kernel, gpu, slower):
    """The same GEMM of an odd size: a kernel that loads one element at a time."""
    return dataclasses.replace(kernel, ns=kernel.ns * slower, name=(
        f"void cutlass::Kernel2<cutlass_80_tensorop_{gpu.precision}_s16816gemm_relu_"
        f"{gpu.precision}_128x128_32x5_tn_align1>(cutlass_80_tensorop_{gpu.precision}_s16816gemm_"
        f"relu_{gpu.precision}_128x128_32x5_tn_align1::Params)"))


def fused_attention(gpu, batch, heads, queries, keys, size, kind, is_best=True):
    """Flash attention where the device has it, of the newest generation or the one before."""
    rounded = 64 if size <= 64 else 128
    element = {"bf16": "cutlass::bfloat16_t", "fp16": "cutlass::half_t"}[kind]
    rows = 128
    if gpu.is_rocm:
        name = f"aiter::fmha_fwd_hd{rounded}_bf16_rtna" if is_best else "attn_fwd"
    elif gpu.capability[0] == 9 and is_best:
        name = ("void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<"
                "flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1>"
                f">, cute::tuple<cute::C<128>, cute::C<176>, cute::C<{rounded}>>, {rounded}, "
                f"{element}, float, cutlass::arch::Sm90, false, false, false, false, false, false, "
                "false, true, true, false, false>>>>(Params)")
    elif gpu.capability[0] >= 8:
        name = (f"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<{rounded}, 128, 64, "
                f"4, false, false, {element}, Flash_kernel_traits<{rounded}, 128, 64, 4, {element}>"
                " >, false, false, false, false, true, true, false, false>("
                "pytorch_flash::Flash_fwd_params)")
    else:
        name = ("fmha_cutlassF_f16_aligned_64x64_rf_sm70(PyTorchMemEffAttention::AttentionKernel<"
                "cutlass::half_t, cutlass::arch::Sm70, true, 64, 64, 64, true, true>::Params)")
        rows = 64
    blocks = batch * heads * math.ceil(queries / rows)
    threads, registers, shared = (384, 168, 200_704) if "Sm90" in name else \
        (128, 240, 49_152) if gpu.capability[0] >= 8 else (128, 160, 40_960)
    resident = 1 if gpu.is_rocm else gpu.resident(threads, registers, shared)
    share = gpu.attention[is_best] * (1 if rounded == 128 else 0.85)
    flops = 4 * batch * heads * queries * keys * size
    ns = flops / (gpu.peaks[kind] * 1000 * share) * waves(gpu, blocks, resident)
    return Kernel(name, ns + 3000, [math.ceil(queries / rows), batch, heads], [threads, 1, 1],
                  registers, shared)


def stream(gpu, name, read, written, threads=128, per_thread=4, registers=32):
    """A kernel that does nothing but move bytes."""
    elements = max(1, written // 2)
    blocks = max(1, math.ceil(elements / (threads * per_thread)))
    ns = (read + written) / (0.85 * gpu.bandwidth) + 1800
    return Kernel(name, ns, [blocks, 1, 1], [threads, 1, 1], registers)


def convolution_name(gpu, kind, tile):
    size = f"{tile[0]}x{tile[1]}"
    if gpu.is_rocm:
        word, rest = ("fp32", "16_wt32x32x2_ws2x1_wr2x2_ta1x4x4x1_1x4x1x64_tb1x4x2x1") \
            if kind == "fp32" else ("bf16", "32_wt32x32x8_ws2x1_wr2x2_ta1x8x4x1_1x4x1x64_tb1x8x2x1")
        return f"igemm_fwd_gtcx3_nhwc_{word}_bx0_ex1_bt{size}x{rest}_1x4x1x64"
    if kind == "fp32":
        return ("implicit_convolve_sgemm" if gpu.capability[0] == 7 else
                "sm80_xmma_fprop_implicit_gemm_indexed_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize"
                f"{size}x8_stage3_warpsize2x2x1_g1_ffma_aligna4_alignc4_execute_kernel__5x_cudnn")
    if kind == "tf32":
        return ("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize"
                f"{size}x16_stage4_warpsize2x2x1_g1_tensor16x8x8_alignc4_execute_kernel__5x_cudnn")
    if gpu.capability[0] == 7:
        return f"volta_fp16_s884cudnn_fp16_{size}_ldg8_relu_f2f_exp_interior_nhwc_tn_v1"
    if gpu.capability[0] == 8:
        return (f"sm80_xmma_fprop_implicit_gemm_{kind}{kind}_{kind}f32_f32_nhwckrsc_nhwc_tilesize"
                f"{size}x32_stage3_warpsize4x2x1_g1_tensor16x8x16_kernel_cudnn")
    return (f"sm90_xmma_fprop_implicit_gemm_{kind}{kind}_{kind}f32_f32_nhwckrsc_nhwc_tilesize"
            f"{size}x64_warpgroupsize1x1x1_g1_execute_segment_k_off_kernel__5x_cudnn")


def convolution(gpu, batch, height, width, inputs, outputs, kind, taps=9):
    """An implicit GEMM."""
    m, n, k = batch * height * width, outputs, inputs * taps
    tile, longer = best_tile(gpu, m, n, 1, (((256, 128), 1), ((128, 128), 0.95), ((128, 64), 0.88),
                                            ((64, 64), 0.75)))
    share = 0.75 if kind == "fp32" else 0.8 * gpu.gemm
    ns = max(2 * m * n * k / (gpu.peaks[kind] * 1000 * share) * longer,
             BYTES[kind] * m * (inputs + outputs) / (0.75 * gpu.bandwidth))
    return Kernel(convolution_name(gpu, kind, tile), ns + 3000,
                  [math.ceil(m / tile[0]), math.ceil(n / tile[1]), 1], [256, 1, 1], 224,
                  min(gpu.shared - 2048, 98_304))


# ---- kernels of ATen that move bytes ------------------------------------------------------------

def vectorized(functor, n_tensors):
    return (f"void at::native::vectorized_elementwise_kernel<4, {functor}, std::array<char*, "
            f"{n_tensors}ul> >(int, {functor}, std::array<char*, {n_tensors}ul>)")


def functor(operator, kind):
    """What the kernel of an element-wise operator is called."""
    c = TYPES[kind]
    binary = f"at::native::binary_internal::MulFunctor<{'float'}>"
    return {
        "aten::add": (f"at::native::CUDAFunctor_add<{c}>", 3),
        "aten::mul": (f"at::native::BinaryFunctor<{c}, {c}, {c}, {binary} >", 3),
        "aten::neg": ("at::native::neg_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::"
                      f"operator()() const::{{lambda()#4}}::operator()() const::{{lambda({c})#1}}",
                      2),
        "aten::pow": ("at::native::(anonymous namespace)::pow_tensor_scalar_kernel_impl<float, "
                      "float>(at::TensorIteratorBase&, float)::{lambda(float)#1}", 2),
        "aten::rsqrt": ("at::native::rsqrt_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::"
                        "operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}",
                        2),
        "aten::gelu": ("at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::"
                       "GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() "
                       f"const::{{lambda({c})#1}}", 2),
        "aten::silu": ("at::native::(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)::"
                       "{lambda()#1}::operator()() const::{lambda()#4}::operator()() const::"
                       f"{{lambda({c})#1}}", 2),
        "aten::copy_": ("at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::"
                        "{lambda(float)#1}", 2),
        "to_float": ("at::native::bfloat16tofloat32_copy_kernel_cuda(at::TensorIteratorBase&)::"
                     "{lambda(c10::BFloat16)#1}", 2),
    }[operator]


def elementwise_name(operator, kind):
    return vectorized(*functor(operator, kind))


LAYER_NORM = ("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<{0}, float, "
              "false>(int, float, {0} const*, {0} const*, {0} const*, float*, float*, {0}*)")
MEAN = ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<"
        "float, float, float, float>, unsigned int, float, 4, 4> >(at::native::ReduceOp<float, "
        "at::native::MeanOps<float, float, float, float>, unsigned int, float, 4, 4>)")
CAT = ("void at::native::(anonymous namespace)::CatArrayBatchedCopy_vectorized<at::native::"
       "(anonymous namespace)::OpaqueType<2u>, unsigned int, 3, 128, 1, 16, 8>(char*, at::native::"
       "(anonymous namespace)::CatArrInputTensorMetadata<at::native::(anonymous namespace)::"
       "OpaqueType<2u>, unsigned int, 128, 1>, at::native::(anonymous namespace)::TensorSizeStride"
       "<unsigned int, 4u>, int, unsigned int)")
SOFTMAX = ("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, {0}, float, {0}, "
           "at::native::(anonymous namespace)::SoftMaxForwardEpilogue>({0}*, {0} const*, int)")
GROUP_NORM = ("void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<{0}>(long, float, "
              "{0} const*, {0}*, {0}*)")
GATHER = ("void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, "
          "long, long, long, bool)")
NEAREST = ("void at::native::(anonymous namespace)::upsample_nearest2d_nhwc_out_frame<{0}, &at::"
           "native::nearest_neighbor_compute_source_index>({0} const*, {0}*, unsigned long, "
           "unsigned long, unsigned long, unsigned long, unsigned long, float, float, unsigned "
           "long)")
TO_LAST = ("void cudnn::engines_precompiled::nchwToNhwcKernel<float, float, float, false, true, "
           "(cudnnKernelDataType_t)0>(cudnn::engines_precompiled::nchw2nhwc_params_t<float>, float "
           "const*, float*)")
