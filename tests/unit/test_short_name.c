/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names at a length that fits a sentence: what is left out, and where they are cut. */
#include "report/short_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 40 };

static const struct {
    const char *name, *text;
} examples[] = {
    {"aten::mm", "aten::mm"},
    {"Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"},
    {"", ""},
    /* Functions lose what they return, scopes and parameters, and arguments of templates before
     * anything is cut. */
    {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     "ncclDevKernel_AllGather_RING_LL"},
    {"void at::native::(anonymous namespace)::cat<float, at::Array<int, 2> >(float*, int)",
     "cat<float, Array<int, 2>>"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)",
     "vectorized_elementwise_kernel"},
    {"void Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_64x64>(Params)",
     "cutlass_80_tensorop_f16_s16816gemm_relu_…"},
    /* But not where little would be left. */
    {"void Launch2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_64x64>(Params)",
     "Launch2<cutlass_80_tensorop_f16_s16816ge…"},
    /* Cut between words, not behind a separator. */
    {"a_function::with_parts::of_its_name::that_are_too_many",
     "a_function::with_parts::of_its_name…"},
    /* A word that is too long by itself is cut between characters. */
    {"ääääääääääääääääääääääääääääääääääääääää", "ääääääääääääääääääää…"},
    {"x0123456789012345678901234567890123456789z", "x012345678901234567890123456789012345678…"},
    /* Frames of Python lose folders, and files of compilers their hashes. */
    {"torch/cuda/graphs.py(137): replay", "torch/cuda/graphs.py(137): replay"},
    {"/opt/conda/lib/python3.11/site-packages/torch/nn/linear.py(12): forward",
     "torch/nn/linear.py(12): forward"},
    {"/tmp/torchinductor_root/ov/cov463qhi2m2kw6ldmzzijfv5t3cjjklfci3qly3nsw6upcskct3.py(2533): "
     "call",
     "call (compiled code, line 2533)"},
    {"/tmp/torchinductor_me/a/b.py(1): call", "call (compiled code, line 1)"},
    /* Call sites of memory keep the folder of their file. */
    {"forward (/home/me/project/app/vae.py:31)", "app/vae.py:31 (forward)"},
    {"forward (vae.py:31)", "vae.py:31 (forward)"},
    {"gather() (memory_snapshot.cpp:0)", "gather() (memory_snapshot.cpp:0)"},
    /* Brackets that nobody closes. */
    {"void broken<float, (unfinished and therefore all that is left", "void broken"},
};

static void test_names(void **state)
{
    (void)state;
    struct ta_arena arena = {0};
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct ta_slice text = ta_short_name(&arena, ta_slice_of(examples[i].name), MOST);
        char copy[128] = "";
        assert_true(text.len < sizeof copy);
        memcpy(copy, text.len ? text.ptr : "", text.len);
        assert_string_equal(copy, examples[i].text);
    }
    ta_arena_free(&arena);
}

/* Whatever the length, the text is no longer than asked for, and whole characters. */
static void test_lengths(void **state)
{
    (void)state;
    struct ta_arena arena = {0};
    const struct ta_slice name = TA_LIT("kernel€<int>(€uro, x.py(3): y) und ünf::zehn");
    for (size_t most = 1; most < 2 * name.len; most++) {
        const struct ta_slice text = ta_short_name(&arena, name, most);
        assert_true(text.len <= most + sizeof "…" - 1);
        assert_true(text.len == 0 || ((unsigned char)text.ptr[0] & 0xC0) != 0x80);
    }
    ta_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
