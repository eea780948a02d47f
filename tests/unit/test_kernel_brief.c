/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of kernels as people say them. */
#include "model/kernel.h"
#include "traceanalyze/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *name, const char *brief)
{
    char out[512];
    const size_t n = ta_kernel_brief(ta_slice_of(name), out, sizeof out);
    out[n] = '\0';
    assert_string_equal(out, brief);
}

static void functions(void **state)
{
    (void)state;
    check("void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<128, 128, "
          "64, 4, false, cutlass::bfloat16_t> >(pytorch_flash::Flash_fwd_params)",
          "flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, bfloat16_t>>");
    check("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
          "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
    check("(anonymous namespace)::store_kvcache(int*, long)", "store_kvcache");
    check("void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float>(float*, int)",
          "cunn_SoftMaxForward<4, float>");
    check("std::enable_if<!std::is_same<int, long>::value, void>::type vllm::norm<8>(int, int)",
          "norm<8>");
    check("void splitKreduce_kernel<32, 16, char const*>(int)",
          "splitKreduce_kernel<32, 16, char const*>");
}

/* Of a library of templates the first argument is the kernel. */
static void wrapped(void **state)
{
    (void)state;
    check("void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<"
          "flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1> >, 8>, int> > >"
          "(flash::FlashAttnFwdSm90<int>::Params)",
          "FlashAttnFwdSm90<CollectiveMainloopFwdSm90<2, tuple<C<1>>, 8>, int>");
    check("void cutlass::Kernel< cutlass_80_tensorop_s1688gemm_64x64_16x6_nt_align4 , 3>"
          "(cutlass_80_tensorop_s1688gemm_64x64_16x6_nt_align4::Params)",
          "cutlass_80_tensorop_s1688gemm_64x64_16x6_nt_align4");
    check("void cutlass::Kernel2<>(int)", "void cutlass::Kernel2<>(int)");
    check("void my::Kernel(int)", "Kernel");
    check("void outer<a::Kernel2<b::inner, 4>, 5>(int)", "outer<inner, 5>");
}

static void lambdas(void **state)
{
    (void)state;
    check("void at::native::vectorized_elementwise_kernel<4, "
          "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::"
          "{lambda()#1}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int)",
          "vectorized_elementwise_kernel<4, GeluCUDAKernelImpl, array<char*, 2ul>>");
}

static void others(void **state)
{
    (void)state;
    check("Memcpy DtoD (Device -> Device)", "Memcpy DtoD (Device -> Device)");
    check("torch/nn/modules/module.py(1755): _call_impl",
          "torch/nn/modules/module.py(1755): _call_impl");
    check("execute_context_0(0)_generation_1(1)", "execute_context_0(0)_generation_1(1)");
    check("aten::mm", "aten::mm");
    check("## forward ##", "## forward ##");
    check("<built-in method call>", "<built-in method call>");
    check("_ZN5aiter18add_rmsnorm_kernelIDF16bLi256EEEvPT_S2_", "add_rmsnorm_kernel");
    check("_Z12rotary_embedPfS_", "rotary_embed");
    check("_ZN9999x", "_ZN9999x");
    check("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x64_MI16x16x1_SN_WG32_8_1",
          "Cijk_Alik_Bljk_BBS_MT256x128x64");
    check("", "");
}

/* Whatever the brackets, nothing beyond the name is read and no more written than it has. */
static void hostile(void **state)
{
    (void)state;
    static const char *const names[] = {"a<",
                                        "a<b,",
                                        "a<<<<<<<<",
                                        "a<b::{lambda",
                                        "x::operator()",
                                        "a<b> c<d",
                                        "f<'lambda'(int)>",
                                        "a(b",
                                        "Kernel<",
                                        "Kernel<Kernel<Kernel<a",
                                        "Kernel<a, b<c",
                                        "void ",
                                        "a<>::b("};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char out[64];
        const size_t length = strlen(names[i]);
        char *exact = malloc(length + 1); /* so that sanitizers see a byte too far */
        memcpy(exact, names[i], length);
        assert_true(ta_kernel_brief((struct ta_slice){exact, length}, out, sizeof out) <= length);
        assert_true(ta_kernel_brief((struct ta_slice){exact, length}, out, 1) <= 1);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions), cmocka_unit_test(wrapped), cmocka_unit_test(lambdas),
        cmocka_unit_test(others),    cmocka_unit_test(hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
