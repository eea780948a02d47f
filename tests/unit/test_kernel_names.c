/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the table of kernel names says of names that libraries really use. */
#include "model/kernel.h"
#include "traceanalyze/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ATEN "void at::native::"
#define ANON "(anonymous namespace)::"

struct expectation {
    const char *name;
    enum ta_kernel_kind kind;
    const char *family;
    enum ta_matrix_unit matrix;
    enum ta_precision precision;
};

#define GEMM(family, matrix, precision, name)                                                      \
    {                                                                                              \
        name, TA_KERNEL_GEMM, family, TA_MATRIX_##matrix, TA_PRECISION_##precision                 \
    }
#define CONV(family, matrix, precision, name)                                                      \
    {                                                                                              \
        name, TA_KERNEL_CONV, family, TA_MATRIX_##matrix, TA_PRECISION_##precision                 \
    }
#define ATTENTION(family, matrix, precision, name)                                                 \
    {                                                                                              \
        name, TA_KERNEL_ATTENTION, family, TA_MATRIX_##matrix, TA_PRECISION_##precision            \
    }
#define PLAIN(kind, family, name)                                                                  \
    {                                                                                              \
        name, TA_KERNEL_##kind, family, TA_MATRIX_ANY, TA_PRECISION_ANY                            \
    }

static const struct expectation products[] = {
    GEMM("cublas", YES, FP16, "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_32x6_tn"),
    GEMM("cublas", YES, BF16, "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"),
    GEMM("cublas", YES, FP16, "volta_h884gemm_256x128_ldg8_tn"),
    GEMM("cublas", YES, FP16, "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_nn"),
    GEMM("cublas", YES, TF32, "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_stage4"),
    GEMM("cublas", YES, BF16, "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize32x32x64_stage6"),
    GEMM("cublas", YES, FP8, "sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x128x128"),
    GEMM("cublas", YES, BF16, "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNT"),
    GEMM("cublas", YES, BF16, "nvjet_sm103_tst_256x16_64x6_4x1_v_bz_TNT"),
    GEMM("cublas", YES, FP16, "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTN"),
    GEMM("cublas", YES, FP8, "nvjet_qqtst_128x128_128x6_2x1_v_bz_TNT"),
    GEMM("cublas", NO, FP32, "volta_sgemm_128x64_nt"),
    GEMM("cublas", NO, FP32, "ampere_sgemm_32x128_tn"),
    GEMM("cutlass", YES, TF32,
         "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4>(Params)"),
    GEMM("cutlass", YES, BF16,
         "void "
         "cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8>"),
    GEMM("cutlass", YES, FP16,
         "void cutlass::Kernel<cutlass_75_tensorop_f16_s1688gemm_f16_256x64_nn>"),
    GEMM("cutlass", NO, FP32, "void cutlass::Kernel<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>"),
    GEMM(
        "cutlass", YES, FP8,
        "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int>, "
        "cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized"
        "FP8<5>, cute::tuple<cute::C<128>>, cutlass::float_e4m3_t>>>"),
    GEMM("gemv", NO, FP32, "void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16>"),
    GEMM("gemv", NO, BF16,
         "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, "
         "__nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, false>"),
    GEMM("split-k sum", ANY, BF16,
         "void cublasLt::splitKreduce_kernel<32, 16, int, __nv_bfloat16>"),
    GEMM("tensile", YES, BF16,
         "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x224x64_MI16x16x1_SN"),
    GEMM("tensile", YES, FP16, "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB0"),
    GEMM("tensile", YES, FP32, "Cijk_Ailk_Bljk_SB_MT64x64x32_MI16x16x4x1_SN_1LDSB0"),
    GEMM("tensile", NO, FP32, "Cijk_Ailk_Bljk_SB_MT64x64x16_SE_K1"),
    GEMM("tensile", YES, FP8,
         "Cijk_Alik_Bljk_F8BS_BH_Bias_HAS_SAB_SAV_UserArgs_MT256x256x128_MI16x16x1"),
    GEMM("deepgemm", YES, FP8, "void deep_gemm::fp8_gemm_kernel<4096u, 7168u, 128u, 128u, 128u>"),
    GEMM("deepgemm", YES, FP8, "void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 2112u, 7168u>"),
    GEMM("trtllm-gen", YES, FP8,
         "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x8x512u2_s5_et128x8_m128x8x32_sm100f"),
    GEMM("trtllm-gen", YES, BF16, "bmm_Bfloat16_Bfloat16Bfloat16_Fp32_t128x8x128_s6_sm100f"),
    GEMM("fused moe", YES, ANY, "fused_moe_kernel"),
    GEMM("fused moe", YES, BF16, "aiter_fused_moe_kernel_bf16"),
    GEMM("quantized", YES, BF16,
         "void marlin::Marlin<__nv_bfloat16, 1125899906843648l, 256, 4, 16, 4>"),
    GEMM("quantized", YES, FP8, "_w8a8_block_fp8_matmul"),
    GEMM("skinny", ANY, ANY, "wvSplitK_hf_sml_"),
    GEMM("lora", ANY, ANY, "_lora_shrink_kernel"),
    GEMM("aiter", YES, BF16, "_ZN5aiter33bf16gemm_outf32_tn_96x64_splitkE"),
    GEMM("ck", YES, ANY, "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3>"),
    CONV("cudnn", YES, TF32,
         "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16_"
         "stage4"),
    CONV("cudnn", YES, FP16,
         "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_f16_s16816fprop_optimized"
         "_f16_128x128_32x4_nhwc_align8>"),
    CONV("cudnn", NO, FP32, "volta_scudnn_128x64_relu_interior_nn_v1"),
    CONV("cudnn", NO, FP32,
         "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int)"),
    CONV("cudnn", NO, FP32, "void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1>"),
    CONV("winograd", NO, FP32, "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1"),
    CONV("implicit gemm", YES, BF16,
         "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt256x128x32_wt32x32x8_gkgs"),
    CONV("depthwise", NO, BF16,
         ATEN ANON "conv_depthwise2d_forward_kernel<1, c10::BFloat16, int>(PackedTensorAccessor)"),
    CONV("ck", YES, ANY,
         "_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_"
         "v3INS_28G"),
    CONV("causal", NO, BF16,
         "void causal_conv1d_fwd_kernel<Causal_conv1d_fwd_traits<c10::BFloat16>>"),
};

static const struct expectation attentions[] = {
    ATTENTION(
        "flash 2 of torch", YES, BF16,
        "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<128, 128, "
        "64, 4, false, false, cutlass::bfloat16_t>>(pytorch_flash::Flash_fwd_params)"),
    ATTENTION("flash 2", YES, BF16,
              "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, cutlass::bfloat16_t>>"),
    ATTENTION(
        "flash 3", YES, BF16,
        "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
        "CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>>, cutlass::bfloat16_t>>>>"),
    ATTENTION(
        "flash 4", YES, BF16,
        "kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100FlashAttentionForwardSm100_object_at__"
        "tensorptrbf16gmemalign16o"),
    ATTENTION(
        "flashmla", YES, BF16,
        "void flash_fwd_splitkv_mla_kernel<Flash_fwd_kernel_traits_mla<576, cutlass::bfloat16_t>>"),
    ATTENTION(
        "cudnn", YES, BF16,
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_bf16_knob_7_64x128x128_4x1x1"),
    ATTENTION(
        "memory-efficient", YES, BF16,
        "fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<>)"),
    ATTENTION("sage", YES, INT8,
              "void qk_int_sv_f8_attn_kernel<128, 64, 32, 64, 128, (DataType)1>"),
    ATTENTION("sage", YES, INT8, "void qk_int8_sv_f16_accum_f32_attn_buf_kernel<128u, 64u>"),
    ATTENTION("sparse sage", YES, INT8, "void qk_int8_sv_f8_accum_f32_block_sparse_attn_inst_buf"),
    ATTENTION("flex", ANY, ANY, "triton_tem_fused_flex_attention_0"),
    ATTENTION("flashinfer", ANY, BF16,
              "void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<"
              "__nv_bfloat16>>"),
    ATTENTION("flashinfer", ANY, ANY, "BatchDecodeWithPagedKVCacheKernel"),
    ATTENTION("trtllm-gen", YES, BF16, "fmhaSm100fKernel_QkvBfloat16OBfloat16H128PagedKvCausalP64"),
    ATTENTION("aiter", YES, BF16, "_ZN5aiter37fmha_fwd_hd128_bf16_causal_rtz_groupE"),
    ATTENTION("ck", YES, BF16,
              "_ZN7ck_tile6kentryILi1ENS_13FmhaFwdKernelINS_29BlockFmhaPipelineDF16b"),
    ATTENTION("aotriton", YES, ANY, "attn_fwd"),
    ATTENTION("aotriton", YES, ANY, "bwd_kernel_dk_dv"),
    ATTENTION("paged (ROCm)", YES, BF16,
              "void paged_attention_ll4mi_QKV_mfma16_kernel<__hip_bfloat16, "
              "(vllm::Fp8KVCacheDataType)0, 1, 128>"),
    ATTENTION("paged", ANY, FP16,
              "void vllm::paged_attention_v2_kernel<unsigned short, __half, 128>"),
    ATTENTION("triton", ANY, ANY, "kernel_unified_attention_2d"),
    ATTENTION("triton", ANY, ANY, "_fwd_grouped_kernel_stage1"),
    ATTENTION("linear", ANY, ANY, "chunk_gated_delta_rule_fwd_kernel_h_blockdim64"),
};

static const struct expectation others[] = {
    PLAIN(TRITON, "pointwise", "triton_poi_fused__scaled_dot_product_flash_attention_cat_0"),
    PLAIN(TRITON, "reduction", "triton_red_fused_native_layer_norm_mul_3"),
    PLAIN(TRITON, "template", "triton_tem_fused_addmm_7"),
    PLAIN(COLLECTIVE, "",
          "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
    PLAIN(COLLECTIVE, "fused all-reduce",
          "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<3>"),
    PLAIN(NORM, "batch norm", "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>"),
    PLAIN(NORM, "layer norm", ATEN ANON "vectorized_layer_norm_kernel<c10::BFloat16, float>(int)"),
    PLAIN(NORM, "rms norm", "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>"),
    PLAIN(NORM, "group norm", ATEN ANON "ComputeFusedParamsCUDAKernel<float>(long, long, long)"),
    PLAIN(NORM, "rms norm", "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1EEEvPT0_"),
    PLAIN(SOFTMAX, "", "void (anonymous namespace)::softmax_warp_forward<float, float, float, 8>"),
    PLAIN(SOFTMAX, "", ATEN ANON "cunn_SoftMaxForward<4, c10::Half, float, c10::Half>"),
    PLAIN(REDUCE, "aten",
          ATEN "reduce_kernel<512, 1, at::native::ReduceOp<float, NormTwoOps<float>>>"),
    PLAIN(REDUCE, "loss", ATEN ANON "nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>"),
    PLAIN(REDUCE, "scan", "void cub::DeviceScanKernel<cub::AgentScanPolicy<128, 15, int>>"),
    PLAIN(REDUCE, "pool", ATEN ANON "max_pool_forward_nchw<float, float>(int, float const*)"),
    PLAIN(COPY, "copy", ATEN "elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda(x)>"),
    PLAIN(COPY, "cast",
          ATEN "unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(x), "
               "at::native::memory::LoadWithCast<1>, StoreWithCast<1>>"),
    PLAIN(COPY, "copy",
          ATEN "unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(x), "
               "at::native::memory::LoadWithoutCast>"),
    PLAIN(COPY, "cast",
          ATEN "vectorized_elementwise_kernel<4, at::native::bfloat16_copy_kernel_cuda>"),
    PLAIN(COPY, "cat", ATEN ANON "CatArrayBatchedCopy_aligned16_contig<OpaqueType<2u>, 3, 128, 1>"),
    PLAIN(COPY, "layout", "void cudnn::ops::nchwToNhwcKernel<__half, __half, float, false, true>"),
    PLAIN(COPY, "layout", "batched_transpose_32x32_half"),
    PLAIN(COPY, "fill", "__amd_rocclr_fillBufferAligned"),
    PLAIN(COPY, "copy", "__amd_rocclr_copyBuffer"),
    PLAIN(RANDOM, "", ATEN ANON "distribution_elementwise_grid_stride_kernel<float, 4>"),
    PLAIN(RANDOM, "dropout", ATEN ANON "fused_dropout_kernel_vec<float, float, unsigned int>"),
    PLAIN(RANDOM, "sampling", "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024>"),
    PLAIN(QUANT, "quantize", "void vllm::scaled_fp8_quant_kernel_strided<c10::BFloat16>"),
    PLAIN(QUANT, "quantize", "_per_token_group_quant_8bit_colmajor"),
    PLAIN(QUANT, "dequantize", "void kDequantizeBlockwise<__nv_bfloat16, 512, 64, 8, 2>"),
    PLAIN(INDEX, "", ATEN "index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<x>>"),
    PLAIN(INDEX, "", ATEN "vectorized_gather_kernel<16, long>(char*, char*, long*, int)"),
    PLAIN(INDEX, "sort",
          "void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long>>"),
    PLAIN(INDEX, "resample", ATEN ANON "upsample_nearest2d_out_frame<float>"),
    PLAIN(INDEX, "kv cache", "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>"),
    PLAIN(INDEX, "moe routing", "void vllm::moe::topkGatingSoftmax<4, 64, 4, 16, int>"),
    PLAIN(INDEX, "moe routing", "void vllm::moe::moe_align_block_size_kernel<int>"),
    PLAIN(INDEX, "embedding",
          "void split_embedding_codegen_forward_unweighted_kernel<float>(at::PhiloxCudaState)"),
    PLAIN(ELEMENTWISE, "aten",
          ATEN "vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>"),
    PLAIN(ELEMENTWISE, "activation",
          "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel>"),
    PLAIN(ELEMENTWISE, "rotary", "void vllm::rotary_embedding_kernel<c10::BFloat16, true>"),
    PLAIN(ELEMENTWISE, "fill",
          ATEN "vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>"),
    PLAIN(ELEMENTWISE, "optimizer",
          "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>>"),
    PLAIN(OTHER, "wait", "at::cuda::(anonymous namespace)::spin_kernel(long)"),
    PLAIN(OTHER, "fft", "void regular_fft<512u, EPT<8u>, 32u, 1u>"),
};

static void check(const struct expectation *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct ta_kernel_facts got = ta_kernel_describe(ta_slice_of(rows[i].name));
        if (!got.known || got.kind != rows[i].kind || strcmp(got.family, rows[i].family) != 0 ||
            got.matrix != rows[i].matrix || got.precision != rows[i].precision)
            fail_msg("%s:\n  %s, \"%s\", matrix unit %d, %s", rows[i].name,
                     got.known ? ta_kernel_kind_name(got.kind) : "not known", got.family,
                     (int)got.matrix, ta_precision_name(got.precision));
    }
}

static void names_of_products(void **state)
{
    (void)state;
    check(products, sizeof products / sizeof *products);
}

/* ---- the tables of names --------------------------------------------------------------------- */

enum { COLUMNS = 4, NAME = COLUMNS - 1 };

/* Cuts a line at its tabs; the name, which is last, may be anything else. */
static void cut(char *line, char *columns[COLUMNS])
{
    line[strcspn(line, "\n")] = '\0';
    for (int i = 0; i < COLUMNS; i++) {
        columns[i] = line;
        line += strcspn(line, "\t");
        if (i + 1 < COLUMNS) {
            assert_int_equal(*line, '\t');
            *line++ = '\0';
        }
    }
}

/* Whether a name tells what its row says, but for columns of "-"; prints what differs. */
static bool tells(char *const row[COLUMNS], const char *const got[NAME])
{
    bool same = true;
    for (int i = 0; i < NAME; i++)
        same &= strcmp(row[i], "-") == 0 || strcmp(row[i], got[i]) == 0;
    if (!same)
        print_error("%s:\n  %s, %s, %s\n", row[NAME], got[0], got[1], got[2]);
    return same;
}

/* Class, matrix unit, type of the inputs. */
static bool product_tells(char *const row[COLUMNS])
{
    static const char *const units[] = {
        [TA_MATRIX_ANY] = "unknown", [TA_MATRIX_YES] = "yes", [TA_MATRIX_NO] = "no"};
    const struct ta_kernel_facts got = ta_kernel_describe(ta_slice_of(row[NAME]));
    const char *const columns[] = {ta_kernel_kind_name(got.kind), units[got.matrix],
                                   ta_precision_name(got.precision)};
    return tells(row, columns);
}

/* Class, library or algorithm, type of the inputs. */
static bool kernel_tells(char *const row[COLUMNS])
{
    const struct ta_kernel_facts got = ta_kernel_describe(ta_slice_of(row[NAME]));
    const char *const columns[] = {got.known ? ta_kernel_kind_name(got.kind) : "unknown",
                                   got.family, ta_precision_name(got.precision)};
    return tells(row, columns);
}

static void check_table(const char *path, size_t least, bool (*row_tells)(char *const *))
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *line = NULL;
    size_t size = 0, rows = 0, wrong = 0;
    while (getline(&line, &size, file) > 0) {
        if (line[0] == '#' || line[0] == '\n')
            continue;
        char *columns[COLUMNS];
        cut(line, columns);
        rows++;
        wrong += !row_tells(columns);
    }
    free(line);
    fclose(file);
    assert_true(rows >= least);
    assert_int_equal(wrong, 0);
}

static void names_of_all_libraries(void **state)
{
    (void)state;
    check_table(TA_PRODUCT_NAMES, 500, product_tells);
    check_table(TA_KERNEL_NAMES, 3500, kernel_tells);
}

static void names_of_attention(void **state)
{
    (void)state;
    check(attentions, sizeof attentions / sizeof *attentions);
}

static void names_of_all_else(void **state)
{
    (void)state;
    check(others, sizeof others / sizeof *others);
}

/* What no row matches is said to be unknown, not guessed. */
static void unknown_names(void **state)
{
    (void)state;
    static const char *const names[] = {"", "k", "Kernel", "my_kernel_7", "foo<int>(int)"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct ta_kernel_facts got = ta_kernel_describe(ta_slice_of(names[i]));
        assert_false(got.known);
        assert_int_equal(got.kind, TA_KERNEL_OTHER);
    }
}

/* Letter case is ignored, a name longer than the buffer is seen to its end, and what is
 * communication by the fixed words is so by class. */
static void agree_with_each_other(void **state)
{
    (void)state;
    enum { LONG = 100000 };
    char *text = malloc(LONG);
    assert_non_null(text);
    memset(text, 'n', LONG);
    memcpy(text + LONG - 12, "VOLTA_SGEMM_", 12);
    const struct ta_slice name = {text, LONG};
    assert_int_equal(ta_kernel_describe(name).kind, TA_KERNEL_GEMM);
    assert_int_equal(ta_kernel_classify(name), TA_KERNEL_COMPUTE);
    memcpy(text + LONG - 12, "x_deep_ep::x", 12);
    assert_int_equal(ta_kernel_describe(name).kind, TA_KERNEL_COLLECTIVE);
    assert_int_equal(ta_kernel_classify(name), TA_KERNEL_COMM);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_products),  cmocka_unit_test(names_of_all_libraries),
        cmocka_unit_test(names_of_attention), cmocka_unit_test(names_of_all_else),
        cmocka_unit_test(unknown_names),      cmocka_unit_test(agree_with_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
