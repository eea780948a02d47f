/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classes of kernels by their names. */
#include "model/kernel.h"
#include "traceanalyze/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void communication(void **state)
{
    (void)state;
    static const char *const names[] = {
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "NCCLDEVKERNEL_SendRecv",
        "void nccl__kernel<int>",
        "nccl::all_reduce(ncclDevKernel_Generic)", /* the second nccl, not the first */
        "ncclSymDevKernel_AllGather_LL",
        "rcclGenericKernel",
        "hcom_allReduce__231_0",
        "mscclKernel_RCCL",
        "nvshmemi_transfer_kernel",
        "void nvshmem_put<...>",
        "multimem_all_reduce_kernel",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>",
        "one_shot_all_reduce_kernel",
        "one_shot_allreduce",
        "oneshot_all_reduce",
        "oneShotAllReduce_is_not_written_so_oneshot_allreduce",
        "two_shot_all_reduce",
        "two_shot_allreduce",
        "twoshot_all_reduce",
        "TwoShot_AllReduce",
        "deep_ep::internode::dispatch",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ta_kernel_classify(ta_slice_of(names[i])) != TA_KERNEL_COMM)
            fail_msg("\"%s\" is not comm", names[i]);
}

static void computation(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",
        "n",
        "nccl",
        "kernel",
        "ncclComm(kernel)", /* the word ends before */
        "nccl::kernel",
        "kernel_nccl",
        "my ncclX kernel",
        "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm>",
        "flash_fwd_kernel",
        "Memcpy HtoD",
        "void at::native::reduce_kernel<512, 1>",
        "one_shot",
        "all_reduce",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ta_kernel_classify(ta_slice_of(names[i])) != TA_KERNEL_COMPUTE)
            fail_msg("\"%s\" is not compute", names[i]);
    assert_int_equal(ta_kernel_classify((struct ta_slice){NULL, 0}), TA_KERNEL_COMPUTE);
}

/* A name is a slice: what follows it in memory does not count, and NUL does not end it. */
static void names_are_slices(void **state)
{
    (void)state;
    static const char text[] = "ncclDevKernel";
    for (size_t n = 0; n < sizeof text - 1; n++)
        assert_int_equal(ta_kernel_classify((struct ta_slice){text, n}), TA_KERNEL_COMPUTE);
    assert_int_equal(ta_kernel_classify((struct ta_slice){text, sizeof text - 1}), TA_KERNEL_COMM);
    assert_int_equal(ta_kernel_classify(TA_LIT("a\0rccl")), TA_KERNEL_COMM);
}

static void class_names(void **state)
{
    (void)state;
    assert_string_equal(ta_kernel_class_name(TA_KERNEL_COMPUTE), "compute");
    assert_string_equal(ta_kernel_class_name(TA_KERNEL_COMM), "comm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(communication),
        cmocka_unit_test(computation),
        cmocka_unit_test(names_are_slices),
        cmocka_unit_test(class_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
