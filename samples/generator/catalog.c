/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of catalog.h, in the names that PyTorch 2.8 with CUDA 12.9 writes on an H200. */
#include "catalog.h"

const int stream_number[STREAM_COUNT] = {7, 20, 24};

const struct api_desc api_table[API_COUNT] = {
    [API_LAUNCH_KERNEL] = {"cudaLaunchKernel", 211, false, true},
    [API_LAUNCH_KERNEL_EX] = {"cudaLaunchKernelExC", 430, false, true},
    [API_DRIVER_LAUNCH] = {"cuLaunchKernelEx", 652, true, true},
    [API_MEMCPY_ASYNC] = {"cudaMemcpyAsync", 41, false, true},
    [API_STREAM_SYNCHRONIZE] = {"cudaStreamSynchronize", 131, false, false},
    [API_EVENT_SYNCHRONIZE] = {"cudaEventSynchronize", 137, false, false},
    [API_EVENT_RECORD] = {"cudaEventRecord", 135, false, false},
    [API_STREAM_WAIT_EVENT] = {"cudaStreamWaitEvent", 147, false, false},
    [API_EVENT_QUERY] = {"cudaEventQuery", 138, false, false},
    [API_MALLOC] = {"cudaMalloc", 20, false, false},
};

/* Pageable memory goes through the driver's staging buffer, hence a quarter of the link. */
const struct copy_desc copy_table[COPY_KIND_COUNT] = {
    [COPY_HTOD_PAGEABLE] = {"Memcpy HtoD (Pageable -> Device)", 11800},
    [COPY_HTOD_PINNED] = {"Memcpy HtoD (Pinned -> Device)", 52600},
    [COPY_DTOH_PAGEABLE] = {"Memcpy DtoH (Device -> Pageable)", 7400},
    [COPY_DTOH_PINNED] = {"Memcpy DtoH (Device -> Pinned)", 49800},
    [COPY_DTOD] = {"Memcpy DtoD (Device -> Device)", 1740000},
};

/* Tables from here on: one entry per line or aligned block. */
/* clang-format off */

#define VECTORIZED(functor, arrays)                                                                \
    "void at::native::vectorized_elementwise_kernel<4, " functor ", std::array<char*, " arrays     \
    "> >(int, " functor ", std::array<char*, " arrays ">)"
#define BINARY(functor)                                                                            \
    VECTORIZED("at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "           \
               "at::native::binary_internal::" functor "<float> >", "3ul")
#define UNARY(function, type)                                                                      \
    VECTORIZED("at::native::" function "(at::TensorIteratorBase&)::{lambda()#1}::operator()()"     \
               " const::{lambda(" type ")#1}", "2ul")
#define FLASH_TRAITS "128, 128, 64, 4"
#define FLASH(flags)                                                                               \
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<" FLASH_TRAITS    \
    ", false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<" FLASH_TRAITS        \
    ", cutlass::bfloat16_t> >, " flags ">(pytorch_flash::Flash_fwd_params)"
#define SM90(kind, layout, tile, library)                                                          \
    "sm90_xmma_" kind "_bf16bf16_bf16f32_f32_" layout "_tilesize" tile                             \
    "_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_" library
#define NCCL(name) "ncclDevKernel_" name "(ncclDevKernelArgsStorage<4096ul>)"
#define ELEMENTWISE { 878, 1, 1 }, { 128, 1, 1 }, 24, 0, 87, API_LAUNCH_KERNEL

/* name, mean ns, grid, block, registers, shared memory, occupancy, launching call */
const struct kernel_desc kernel_table[KERNEL_COUNT] = {
    [KERNEL_LAYER_NORM] = { "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel"
                            "<c10::BFloat16, float, false>(int, float, c10::BFloat16 const*, "
                            "c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, "
                            "c10::BFloat16*)",
                            5600, { 1170, 1, 1 }, { 32, 4, 1 }, 40, 24, 62, API_LAUNCH_KERNEL },
    [KERNEL_MUL] = { BINARY("MulFunctor"), 3900, ELEMENTWISE },
    [KERNEL_ADD] = { VECTORIZED("at::native::CUDAFunctor_add<c10::BFloat16>", "3ul"), 4000,
                     ELEMENTWISE },
    [KERNEL_SUB] = { VECTORIZED("at::native::CUDAFunctor_add<float>", "3ul"), 2400, ELEMENTWISE },
    [KERNEL_POW] = { UNARY("pow_tensor_scalar_kernel_impl<float>", "float"), 5200, ELEMENTWISE },
    [KERNEL_MEAN] = { "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
                      "at::native::MeanOps<float, float, float, float>, unsigned int, float, 4, "
                      "4> >(at::native::ReduceOp<float, at::native::MeanOps<float, float, float, "
                      "float>, unsigned int, float, 4, 4>)",
                      6100, { 293, 1, 1 }, { 32, 16, 1 }, 32, 16, 71, API_LAUNCH_KERNEL },
    [KERNEL_CAT] = { "void at::native::(anonymous namespace)::CatArrayBatchedCopy_vectorized"
                     "<at::native::(anonymous namespace)::OpaqueType<2u>, unsigned int, 4, 64, "
                     "64, 16, 8>(char*, at::native::(anonymous namespace)::CatArrInputTensor"
                     "Metadata<at::native::(anonymous namespace)::OpaqueType<2u>, unsigned int, "
                     "64, 64>, at::native::(anonymous namespace)::TensorSizeStride<unsigned int, "
                     "4u>, int, unsigned int)",
                     5400, { 528, 2, 1 }, { 256, 1, 1 }, 38, 0, 75, API_LAUNCH_KERNEL },
    [KERNEL_GELU] = { UNARY("GeluCUDAKernelImpl", "c10::BFloat16"), 9800, ELEMENTWISE },
    [KERNEL_SILU] = { UNARY("(anonymous namespace)::silu_kernel", "c10::BFloat16"), 61000,
                      ELEMENTWISE },
    [KERNEL_CLAMP] = { UNARY("(anonymous namespace)::clamp_scalar_kernel_impl", "c10::BFloat16"),
                       19000, ELEMENTWISE },
    [KERNEL_TO_UINT8] = { UNARY("bfloat16_to_uint8_copy_kernel_cuda", "c10::BFloat16"), 15000,
                          ELEMENTWISE },
    [KERNEL_SOFTMAX] = { "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, "
                         "c10::BFloat16, float, 9, false, false>(c10::BFloat16*, c10::BFloat16 "
                         "const*, int, int, int, bool const*, int, bool)",
                         21000, { 8192, 1, 1 }, { 32, 4, 1 }, 40, 0, 94, API_LAUNCH_KERNEL },
    [KERNEL_EMBEDDING] = { "void at::native::(anonymous namespace)::vectorized_gather_kernel<16, "
                           "long>(char*, char*, long*, int, long, long, long, long, bool)",
                           4700, { 512, 1, 1 }, { 256, 1, 1 }, 24, 0, 78, API_LAUNCH_KERNEL },
    [KERNEL_GROUP_MOMENTS] = { "void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel"
                               "<c10::BFloat16>(long, float, c10::BFloat16 const*, "
                               "c10::BFloat16*, c10::BFloat16*)",
                               64000, { 32, 1, 1 }, { 512, 1, 1 }, 36, 0, 12, API_LAUNCH_KERNEL },
    [KERNEL_GROUP_SCALE] = { UNARY("(anonymous namespace)::GroupNormKernelImplInternal",
                                   "c10::BFloat16, float, float"), 58000, ELEMENTWISE },
    [KERNEL_UPSAMPLE] = { "void at::native::(anonymous namespace)::upsample_nearest3d_out_frame"
                          "<c10::BFloat16, &at::native::nearest_neighbor_compute_source_index>("
                          "c10::BFloat16 const*, unsigned long, unsigned long, unsigned long, "
                          "unsigned long, c10::BFloat16*, float, float, float)",
                          83000, { 4680, 1, 1 }, { 256, 1, 1 }, 32, 0, 96, API_LAUNCH_KERNEL },
    [KERNEL_GEMM_QKV] = { "nvjet_tst_192x192_64x4_1x2_h_bz_coopB_bias_TNT", 47000,
                          { 24, 6, 1 }, { 384, 1, 1 }, 168, 197632, 18, API_LAUNCH_KERNEL_EX },
    [KERNEL_GEMM_PROJECT] = { "nvjet_tst_128x192_64x5_2x1_v_bz_coopA_bias_TNT", 20000,
                              { 8, 10, 1 }, { 384, 1, 1 }, 168, 206848, 18,
                              API_LAUNCH_KERNEL_EX },
    [KERNEL_GEMM_UP] = { "nvjet_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT", 61000,
                         { 70, 5, 1 }, { 384, 1, 1 }, 168, 197632, 18, API_LAUNCH_KERNEL_EX },
    [KERNEL_GEMM_DOWN] = { "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_bias_TNN", 57000,
                           { 12, 10, 1 }, { 384, 1, 1 }, 168, 197632, 18, API_LAUNCH_KERNEL_EX },
    [KERNEL_GEMM_TEXT] = { SM90("gemm", "tn_n", "128x128x64", "cublas"), 88000,
                           { 32, 4, 1 }, { 384, 1, 1 }, 168, 166912, 18, API_LAUNCH_KERNEL_EX },
    [KERNEL_GEMM_BATCHED] = { SM90("gemm", "nn_n", "64x128x64", "cublas"), 26000,
                              { 8, 4, 64 }, { 256, 1, 1 }, 128, 114176, 25,
                              API_LAUNCH_KERNEL_EX },
    [KERNEL_FLASH] = { FLASH("false, false, false, false, true, true, false, false"), 74000,
                       { 37, 1, 3 }, { 128, 1, 1 }, 255, 81920, 12, API_LAUNCH_KERNEL },
    [KERNEL_FLASH_CROSS] = { FLASH("false, false, false, false, false, true, false, false"),
                             11000, { 10, 1, 12 }, { 128, 1, 1 }, 255, 81920, 12,
                             API_LAUNCH_KERNEL },
    [KERNEL_CONV_WIDE] = { SM90("fprop_implicit_gemm", "nhwckrsc_nhwc", "128x128x64", "cudnn"),
                           288000, { 1248, 1, 1 }, { 384, 1, 1 }, 168, 213504, 18,
                           API_LAUNCH_KERNEL_EX },
    [KERNEL_CONV_NARROW] = { SM90("fprop_implicit_gemm", "nhwckrsc_nhwc", "64x64x64", "cudnn"),
                             172000, { 2496, 1, 1 }, { 384, 1, 1 }, 168, 115200, 18,
                             API_LAUNCH_KERNEL_EX },
    [KERNEL_FUSED_NORM] = { "triton_poi_fused_add_mul_native_layer_norm_0", 7400,
                            { 1170, 1, 1 }, { 128, 1, 1 }, 32, 16, 81, API_DRIVER_LAUNCH },
    [KERNEL_FUSED_RMS] = { "triton_red_fused_mean_mul_pow_rsqrt_1", 7900,
                           { 2340, 1, 1 }, { 256, 1, 1 }, 40, 32, 75, API_DRIVER_LAUNCH },
    [KERNEL_FUSED_ROPE] = { "triton_poi_fused_cat_mul_2", 6200,
                            { 1404, 1, 1 }, { 128, 1, 1 }, 28, 0, 84, API_DRIVER_LAUNCH },
    [KERNEL_FUSED_RESIDUAL] = { "triton_poi_fused_add_mul_3", 4900,
                                { 878, 1, 1 }, { 128, 1, 1 }, 22, 0, 87, API_DRIVER_LAUNCH },
    [KERNEL_FUSED_SCHEDULER] = { "triton_poi_fused_add_mul_sub_4", 3300,
                                 { 146, 1, 1 }, { 128, 1, 1 }, 20, 0, 27, API_DRIVER_LAUNCH },
    [KERNEL_GEMM_FP32] = { "ampere_sgemm_128x64_tn", 240000, { 70, 10, 1 }, { 256, 1, 1 }, 122,
                           16384, 25, API_LAUNCH_KERNEL },
    [KERNEL_GEMM_NARROW] = { "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", 80000,
                             { 33, 1, 1 }, { 256, 1, 1 }, 230, 147456, 3, API_LAUNCH_KERNEL },
    /* 57.4 MB of weights and activations at 67.6 % of the bandwidth of an H200; without tensor
     * cores the FLOPs of 56 rows take 1.92 times as long, and the FLOPs of 8 rows less than the
     * bytes. */
    [KERNEL_THIN_MATRIX] = { "cutlass_80_tensorop_s1688gemm_64x128_16x6_tn_align4", 17700,
                             { 528, 1, 1 }, { 256, 1, 1 }, 122, 16384, 50, API_LAUNCH_KERNEL },
    [KERNEL_THIN_VECTOR] = { "ampere_sgemm_64x32_sliced1x4_tn", 33984, { 528, 1, 1 },
                             { 256, 1, 1 }, 122, 16384, 50, API_LAUNCH_KERNEL },
    [KERNEL_ROW_VECTOR] = { "ampere_sgemm_32x32_sliced1x4_tn", 17700, { 528, 1, 1 }, { 256, 1, 1 },
                            122, 16384, 50, API_LAUNCH_KERNEL },
    [KERNEL_CAST] = { UNARY("bfloat16_copy_kernel_cuda", "float"), 40000, ELEMENTWISE },
    [KERNEL_SEND_RECV] = { NCCL("SendRecv"), 0, { 16, 1, 1 }, { 544, 1, 1 }, 96, 82240, 3,
                           API_LAUNCH_KERNEL_EX },
    [KERNEL_ALL_GATHER] = { NCCL("AllGather_RING_LL"), 0, { 16, 1, 1 }, { 544, 1, 1 }, 96, 82240,
                            3, API_LAUNCH_KERNEL_EX },
    [KERNEL_BROADCAST] = { NCCL("Broadcast_RING_LL"), 0, { 4, 1, 1 }, { 544, 1, 1 }, 96, 82240,
                           1, API_LAUNCH_KERNEL_EX },
    [KERNEL_ALL_REDUCE] = { NCCL("AllReduce_Sum_bf16_RING_LL"), 0, { 24, 1, 1 }, { 544, 1, 1 }, 96,
                            82240, 4, API_LAUNCH_KERNEL_EX },
    [KERNEL_ALL_REDUCE_FLAG] = { NCCL("AllReduce_Max_i64_TREE_LL"), 0, { 1, 1, 1 }, { 544, 1, 1 },
                                 96, 82240, 1, API_LAUNCH_KERNEL_EX },
};

#define BF16 "\"c10::BFloat16\""
#define BF16_2 "[" BF16 ", " BF16 "]"
#define BF16_3 "[" BF16 ", " BF16 ", " BF16 "]"
#define ACTIVATION "[1, $T, 1536]"
#define HEADS "[1, $H, $S, 128]"
#define PLAIN(op, dims, types) { op, dims, types }
#define SAME_SHAPE(op) PLAIN(op, "[" ACTIVATION ", " ACTIVATION ", []]",                           \
                             "[" BF16 ", " BF16 ", \"Scalar\"]")
#define ROW_FACTOR(op) PLAIN(op, "[" ACTIVATION ", [1, 1, 1536]]", BF16_2)
#define LINEAR(m, k, n, kernel, bytes)                                                             \
    { .levels = { PLAIN("aten::linear", "[[1, " m ", " k "], [" n ", " k "], [" n "]]", BF16_3),   \
                  PLAIN("aten::addmm", "[[" n "], [" m ", " k "], [" k ", " n "], [], []]",        \
                        "[" BF16 ", " BF16 ", " BF16 ", \"Scalar\", \"Scalar\"]") },               \
      .kernels = { kernel }, .host_ns = 2600, .output_bytes = bytes }
#define FLOAT "\"float\""
#define LINEAR_FP32(m, kernel)                                                                     \
    { .levels = { PLAIN("aten::linear", "[[1, " m ", 1536], [8960, 1536], [8960]]",                \
                        "[" FLOAT ", " FLOAT ", " FLOAT "]"),                                      \
                  PLAIN("aten::addmm", "[[8960], [" m ", 1536], [1536, 8960], [], []]",            \
                        "[" FLOAT ", " FLOAT ", " FLOAT ", \"Scalar\", \"Scalar\"]") },            \
      .kernels = { kernel }, .host_ns = 2600 }
#define ATTENTION(q, kv, kernel)                                                                   \
    { .levels = { PLAIN("aten::scaled_dot_product_attention",                                      \
                        "[" q ", " kv ", " kv ", [], [], [], []]", SDPA_TYPES),                    \
                  PLAIN("aten::_scaled_dot_product_flash_attention",                               \
                        "[" q ", " kv ", " kv ", [], [], [], []]", SDPA_TYPES),                    \
                  PLAIN("aten::_flash_attention_forward",                                          \
                        "[" q ", " kv ", " kv ", [], [], [], [], [], [], []]", SDPA_TYPES) },      \
      .kernels = { kernel }, .host_ns = 3800, .output_bytes = 3594240 }
#define SDPA_TYPES                                                                                 \
    "[" BF16 ", " BF16 ", " BF16 ", \"Scalar\", \"Scalar\", \"Scalar\", \"\"]"
#define VIDEO(channels) "[1, " channels ", 4, 240, 208]"
#define CONV(channels, kernel)                                                                     \
    { .levels = { CONV_LEVEL("aten::conv3d", channels), CONV_LEVEL("aten::convolution", channels), \
                  CONV_LEVEL("aten::_convolution", channels),                                      \
                  PLAIN("aten::cudnn_convolution",                                                 \
                        "[" VIDEO(channels) ", [" channels ", " channels ", 3, 3, 3], [], [], "    \
                        "[], [], [], [], []]",                                                     \
                        "[" BF16 ", " BF16 ", \"ScalarList\", \"ScalarList\", \"ScalarList\", "    \
                        "\"Scalar\", \"Scalar\", \"Scalar\", \"Scalar\"]") },                      \
      .kernels = { kernel }, .host_ns = 6500, .output_bytes = 38338560 }
#define CONV_LEVEL(op, channels)                                                                   \
    PLAIN(op, "[" VIDEO(channels) ", [" channels ", " channels ", 3, 3, 3], [" channels            \
          "], [], [], [], []]",                                                                    \
          "[" BF16 ", " BF16 ", " BF16 ", \"ScalarList\", \"ScalarList\", \"ScalarList\", "        \
          "\"Scalar\"]")
#define UNARY_VIDEO(op, kernel)                                                                    \
    { .levels = { PLAIN(op, "[" VIDEO("96") "]", "[" BF16 "]") }, .kernels = { kernel } }
#define SCHEDULER(op, kernel)                                                                      \
    { .levels = { PLAIN(op, "[[1, 3, 16, 60, 26], [1, 3, 16, 60, 26]]",                            \
                        "[\"float\", \"float\"]") }, .kernels = { kernel } }
#define TRITON(kernel_name, kernel)                                                                \
    { .levels = { PLAIN(kernel_name, "[[$T, 1536], [1, 1536], [$T, 1536], [], []]",                \
                        "[" BF16 ", " BF16 ", " BF16 ", \"Scalar\", \"Scalar\"]") },               \
      .kernels = { kernel }, .host_ns = 1200, .triton = true }
#define ALL_TO_ALL(dims)                                                                           \
    { .levels = { PLAIN("c10d::alltoall_base_", "[" dims ", " dims ", [], [], [], [], []]",        \
                        "[" BF16 ", " BF16 ", \"\", \"\", \"\", \"Scalar\", \"Scalar\"]") },       \
      .host_ns = 3500 }
#define ALL_REDUCE(dims)                                                                           \
    { .levels = { PLAIN("c10d::allreduce_", "[" dims ", [], [], [], []]",                          \
                        "[\"TensorList\", \"\", \"\", \"\", \"Scalar\"]") },                       \
      .host_ns = 3500 }
#define ALL_GATHER(out, in)                                                                        \
    { .levels = { PLAIN("c10d::_allgather_base_", "[" out ", " in ", [], [], []]",                 \
                        "[" BF16 ", " BF16 ", \"\", \"Scalar\", \"Scalar\"]") },                   \
      .host_ns = 3500 }
#define POINT_TO_POINT(op)                                                                         \
    { .levels = { PLAIN(op, "[[[$K]], [], [], []]",                                                \
                        "[\"TensorList\", \"\", \"Scalar\", \"Scalar\"]") },                       \
      .host_ns = 3500 }
#define COPY(dims, type)                                                                           \
    { .levels = { PLAIN("aten::to", "[" dims ", [], [], [], [], [], []]", COPY_TYPES(type)),       \
                  PLAIN("aten::_to_copy", "[" dims ", [], [], [], [], [], []]",                    \
                        COPY_TYPES(type)),                                                         \
                  PLAIN("aten::copy_", "[" dims ", " dims ", []]",                                 \
                        "[\"" type "\", \"" type "\", \"Scalar\"]") },                             \
      .host_ns = 1800 }
#define COPY_TYPES(type)                                                                           \
    "[\"" type "\", \"Scalar\", \"\", \"Device\", \"\", \"Scalar\", \"Scalar\"]"

const struct op_desc op_table[OP_COUNT] = {
    [OP_LAYER_NORM] = { .levels = { PLAIN("aten::layer_norm",
                                          "[" ACTIVATION ", [], [], [], [], []]",
                                          "[" BF16 ", \"ScalarList\", \"\", \"\", \"Scalar\", "
                                          "\"Scalar\"]"),
                                    PLAIN("aten::native_layer_norm",
                                          "[" ACTIVATION ", [], [], [], []]",
                                          "[" BF16 ", \"ScalarList\", \"\", \"\", \"Scalar\"]") },
                        .kernels = { KERNEL_LAYER_NORM }, .host_ns = 900 },
    [OP_SCALE] = { .levels = { ROW_FACTOR("aten::mul") }, .kernels = { KERNEL_MUL } },
    [OP_SHIFT] = { .levels = { SAME_SHAPE("aten::add") }, .kernels = { KERNEL_ADD } },
    [OP_LINEAR_QKV] = LINEAR("$T", "1536", "4608", KERNEL_GEMM_QKV, 10782720),
    [OP_RMS_POW] = { .levels = { PLAIN("aten::pow", "[[1, $T, 3072], []]",
                                       "[\"float\", \"Scalar\"]") }, .kernels = { KERNEL_POW } },
    [OP_RMS_MEAN] = { .levels = { PLAIN("aten::mean", "[[1, $T, 3072], [], [], []]",
                                        "[\"float\", \"ScalarList\", \"Scalar\", \"\"]") },
                      .kernels = { KERNEL_MEAN }, .host_ns = 1500 },
    [OP_RMS_SCALE] = { .levels = { ROW_FACTOR("aten::mul") }, .kernels = { KERNEL_MUL } },
    [OP_ROPE_MUL] = { .levels = { PLAIN("aten::mul", "[[1, $T, 12, 128], [1, $T, 1, 128]]",
                                        BF16_2) }, .kernels = { KERNEL_MUL } },
    [OP_ROPE_CAT] = { .levels = { PLAIN("aten::cat", "[[[1, $T, 12, 64], [1, $T, 12, 64]], []]",
                                        "[\"TensorList\", \"Scalar\"]") },
                      .kernels = { KERNEL_CAT }, .host_ns = 1600 },
    [OP_ATTENTION] = ATTENTION(HEADS, "[1, $H, $S, 128]", KERNEL_FLASH),
    [OP_LINEAR_OUT] = LINEAR("$T", "1536", "1536", KERNEL_GEMM_PROJECT, 3594240),
    [OP_GATE] = { .levels = { ROW_FACTOR("aten::mul") }, .kernels = { KERNEL_MUL } },
    [OP_RESIDUAL] = { .levels = { SAME_SHAPE("aten::add") }, .kernels = { KERNEL_ADD } },
    [OP_LINEAR_CROSS] = LINEAR("$T", "1536", "1536", KERNEL_GEMM_PROJECT, 3594240),
    [OP_ATTENTION_CROSS] = ATTENTION("[1, 12, $T, 128]", "[1, 12, 512, 128]", KERNEL_FLASH_CROSS),
    [OP_LINEAR_UP] = LINEAR("$T", "1536", "8960", KERNEL_GEMM_UP, 20966400),
    [OP_GELU] = { .levels = { PLAIN("aten::gelu", "[[1, $T, 8960], []]",
                                    "[" BF16 ", \"Scalar\"]") }, .kernels = { KERNEL_GELU } },
    [OP_LINEAR_DOWN] = LINEAR("$T", "8960", "1536", KERNEL_GEMM_DOWN, 3594240),
    [OP_LINEAR_FP32] = LINEAR_FP32("$T", KERNEL_GEMM_FP32),
    [OP_LINEAR_THIN_MATRIX] = LINEAR_FP32("56", KERNEL_THIN_MATRIX),
    [OP_LINEAR_THIN_VECTOR] = LINEAR_FP32("56", KERNEL_THIN_VECTOR),
    [OP_LINEAR_ROW_VECTOR] = LINEAR_FP32("8", KERNEL_ROW_VECTOR),
    [OP_LINEAR_NARROW] = LINEAR("$T", "1536", "1536", KERNEL_GEMM_NARROW, 3594240),
    [OP_CAST] = { .levels = { PLAIN("aten::to", "[" ACTIVATION ", [], [], [], []]",
                                    "[\"float\", \"Scalar\", \"Scalar\", \"Scalar\", \"\"]"),
                              PLAIN("aten::_to_copy", "[" ACTIVATION ", [], [], [], [], [], []]",
                                    "[\"float\", \"Scalar\", \"\", \"\", \"\", \"Scalar\", \"\"]"),
                              PLAIN("aten::copy_", "[" ACTIVATION ", " ACTIVATION ", []]",
                                    "[" BF16 ", \"float\", \"Scalar\"]") },
                  .kernels = { KERNEL_CAST }, .host_ns = 900 },
    [OP_FUSED_NORM] = TRITON("triton_poi_fused_add_mul_native_layer_norm_0", KERNEL_FUSED_NORM),
    [OP_FUSED_RMS] = TRITON("triton_red_fused_mean_mul_pow_rsqrt_1", KERNEL_FUSED_RMS),
    [OP_FUSED_ROPE] = TRITON("triton_poi_fused_cat_mul_2", KERNEL_FUSED_ROPE),
    [OP_FUSED_RESIDUAL] = TRITON("triton_poi_fused_add_mul_3", KERNEL_FUSED_RESIDUAL),
    [OP_FUSED_SCHEDULER] = TRITON("triton_poi_fused_add_mul_sub_4", KERNEL_FUSED_SCHEDULER),
    [OP_SCHED_SUB] = SCHEDULER("aten::sub", KERNEL_SUB),
    [OP_SCHED_MUL] = SCHEDULER("aten::mul", KERNEL_MUL),
    [OP_SCHED_ADD] = SCHEDULER("aten::add", KERNEL_ADD),
    [OP_EMBEDDING] = { .levels = { PLAIN("aten::embedding",
                                         "[[256384, 4096], [1, 512], [], [], []]",
                                         "[" BF16 ", \"long int\", \"Scalar\", \"Scalar\", "
                                         "\"Scalar\"]"),
                                   PLAIN("aten::index_select", "[[256384, 4096], [], [512]]",
                                         "[" BF16 ", \"Scalar\", \"long int\"]") },
                       .kernels = { KERNEL_EMBEDDING } },
    [OP_LINEAR_TEXT] = LINEAR("512", "4096", "4096", KERNEL_GEMM_TEXT, 4194304),
    [OP_TEXT_SCORES] = { .levels = { PLAIN("aten::matmul", "[[1, 64, 512, 64], [1, 64, 64, 512]]",
                                           BF16_2),
                                     PLAIN("aten::bmm", "[[64, 512, 64], [64, 64, 512]]",
                                           BF16_2) },
                         .kernels = { KERNEL_GEMM_BATCHED }, .host_ns = 3100 },
    [OP_SOFTMAX] = { .levels = { PLAIN("aten::softmax", "[[1, 64, 512, 512], [], []]",
                                       "[" BF16 ", \"Scalar\", \"\"]"),
                                 PLAIN("aten::_softmax", "[[1, 64, 512, 512], [], []]",
                                       "[" BF16 ", \"Scalar\", \"Scalar\"]") },
                     .kernels = { KERNEL_SOFTMAX } },
    [OP_TEXT_GELU] = { .levels = { PLAIN("aten::gelu", "[[1, 512, 10240], []]",
                                         "[" BF16 ", \"Scalar\"]") },
                       .kernels = { KERNEL_GELU } },
    [OP_TEXT_ADD] = { .levels = { PLAIN("aten::add", "[[1, 512, 4096], [1, 512, 4096], []]",
                                        "[" BF16 ", " BF16 ", \"Scalar\"]") },
                      .kernels = { KERNEL_ADD } },
    [OP_CONV_WIDE] = CONV("192", KERNEL_CONV_WIDE),
    [OP_CONV_NARROW] = CONV("96", KERNEL_CONV_NARROW),
    [OP_GROUP_NORM] = { .levels = { PLAIN("aten::group_norm",
                                          "[" VIDEO("192") ", [], [192], [192], [], []]",
                                          "[" BF16 ", \"Scalar\", " BF16 ", " BF16
                                          ", \"Scalar\", \"Scalar\"]"),
                                    PLAIN("aten::native_group_norm",
                                          "[" VIDEO("192") ", [192], [192], [], [], [], [], []]",
                                          "[" BF16 ", " BF16 ", " BF16 ", \"Scalar\", \"Scalar\","
                                          " \"Scalar\", \"Scalar\", \"Scalar\"]") },
                        .kernels = { KERNEL_GROUP_MOMENTS, KERNEL_GROUP_SCALE },
                        .host_ns = 2200 },
    [OP_SILU] = UNARY_VIDEO("aten::silu", KERNEL_SILU),
    [OP_UPSAMPLE] = UNARY_VIDEO("aten::upsample_nearest3d", KERNEL_UPSAMPLE),
    [OP_CLAMP] = UNARY_VIDEO("aten::clamp", KERNEL_CLAMP),
    [OP_TO_UINT8] = UNARY_VIDEO("aten::to", KERNEL_TO_UINT8),
    [OP_LOAD_BATCH] = { .levels = { PLAIN("enumerate(DataLoader)#_SingleProcessDataLoaderIter."
                                          "__next__", "[]", "[]") }, .host_ns = 74000 },
    [OP_STACK] = { .levels = { PLAIN("aten::stack", "[[[3, 480, 832], [3, 480, 832]], []]",
                                     "[\"TensorList\", \"Scalar\"]"),
                               PLAIN("aten::cat", "[[[1, 3, 480, 832], [1, 3, 480, 832]], []]",
                                     "[\"TensorList\", \"Scalar\"]") }, .host_ns = 52000 },
    [OP_RESIZE_HOST] = { .levels = { PLAIN("aten::upsample_bicubic2d",
                                           "[[2, 3, 480, 832], [], [], [], []]",
                                           "[\"float\", \"ScalarList\", \"Scalar\", \"Scalar\", "
                                           "\"Scalar\"]") }, .host_ns = 97000 },
    [OP_COPY_WEIGHTS] = COPY("[8960, 1536]", "c10::BFloat16"),
    [OP_COPY_TIMESTEP] = COPY("[1]", "float"),
    [OP_COPY_CACHE] = { .levels = { PLAIN("aten::copy_", "[[1, $S, $H, 128], [1, $S, $H, 128], []]",
                                          "[" BF16 ", " BF16 ", \"Scalar\"]") } },
    [OP_COPY_FRAMES] = COPY("[1, 3, 4, 480, 208]", "unsigned char"),
    [OP_ITEM] = { .levels = { PLAIN("aten::item", "[[]]", "[\"float\"]"),
                              PLAIN("aten::_local_scalar_dense", "[[]]", "[\"float\"]") },
                  .host_ns = 900 },
    [OP_QKV_TO_HEADS] = ALL_TO_ALL("[$Q]"),
    [OP_HEADS_TO_TOKENS] = ALL_TO_ALL("[$O]"),
    [OP_ALL_GATHER] = { .levels = { PLAIN("c10d::_allgather_base_", "[[$M], [$L], [], [], []]",
                                          "[" BF16 ", " BF16 ", \"\", \"Scalar\", \"Scalar\"]") },
                        .host_ns = 3500 },
    [OP_BROADCAST] = { .levels = { PLAIN("c10d::broadcast_", "[[[1, 512]], [], [], [], [], []]",
                                         "[\"TensorList\", \"\", \"Scalar\", \"Scalar\", "
                                         "\"Scalar\", \"Scalar\"]") }, .host_ns = 3500 },
    [OP_ALL_REDUCE] = ALL_REDUCE("[[$A]]"),
    [OP_ALL_REDUCE_FLAG] = ALL_REDUCE("[[1]]"),
    [OP_GATHER_GUIDANCE] = ALL_GATHER("[$P]", "[$N]"),
    [OP_GATHER_DATA] = ALL_GATHER("[$D]", "[$N]"),
    [OP_SEND] = POINT_TO_POINT("c10d::send"),
    [OP_RECEIVE] = POINT_TO_POINT("c10d::recv_"),
};

/* operator, kernel, name, range, elements in, out, type, dimension, transfer ns, peer, traffic */
const struct collective_desc collective_table[COLLECTIVE_COUNT] = {
    [COLLECTIVE_QKV_TO_HEADS] = { OP_QKV_TO_HEADS, KERNEL_SEND_RECV, "all_to_all",
                                  "nccl:all_to_all", "$Q", "$Q", "BFloat16", DIM_SEQUENCE, 33000,
                                  PEER_NONE, 1 },
    [COLLECTIVE_HEADS_TO_TOKENS] = { OP_HEADS_TO_TOKENS, KERNEL_SEND_RECV, "all_to_all",
                                     "nccl:all_to_all", "$O", "$O", "BFloat16", DIM_SEQUENCE,
                                     19000, PEER_NONE, 1 },
    [COLLECTIVE_GATHER_LATENTS] = { OP_ALL_GATHER, KERNEL_ALL_GATHER, "_allgather_base",
                                    "nccl:_all_gather_base", "$L", "$M", "BFloat16", DIM_SEQUENCE,
                                    24000, PEER_NONE, 1 },
    [COLLECTIVE_BROADCAST_PROMPT] = { OP_BROADCAST, KERNEL_BROADCAST, "broadcast",
                                      "nccl:broadcast", "512", "512", "Long", DIM_WORLD, 12000,
                                      PEER_NONE, 1 },
    [COLLECTIVE_SUM_PARTS] = { OP_ALL_REDUCE, KERNEL_ALL_REDUCE, "allreduce", "nccl:all_reduce",
                               "$A", "$A", "BFloat16", DIM_TENSOR, 40000, PEER_NONE, 2 },
    [COLLECTIVE_AGREE] = { OP_ALL_REDUCE_FLAG, KERNEL_ALL_REDUCE_FLAG, "allreduce",
                           "nccl:all_reduce", "1", "1", "Long", DIM_WORLD, 14000, PEER_NONE, 2 },
    [COLLECTIVE_GATHER_GUIDANCE] = { OP_GATHER_GUIDANCE, KERNEL_ALL_GATHER, "_allgather_base",
                                     "nccl:_all_gather_base", "$N", "$P", "BFloat16",
                                     DIM_GUIDANCE, 11000, PEER_NONE, 1 },
    [COLLECTIVE_GATHER_DATA] = { OP_GATHER_DATA, KERNEL_ALL_GATHER, "_allgather_base",
                                 "nccl:_all_gather_base", "$N", "$D", "BFloat16", DIM_DATA, 22000,
                                 PEER_NONE, 1 },
    [COLLECTIVE_SEND] = { OP_SEND, KERNEL_SEND_RECV, "send", "nccl:send", "$K", "$K",
                          "BFloat16", DIM_RING, 25000, PEER_NEXT, 1 },
    [COLLECTIVE_RECEIVE] = { OP_RECEIVE, KERNEL_SEND_RECV, "recv", "nccl:recv", "$K", "$K",
                             "BFloat16", DIM_RING, 25000, PEER_PREVIOUS, 1 },
};
