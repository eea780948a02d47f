/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kinds of kernels, as charts and timelines show them. */
#include "model/families.h"

static const struct ta_family families[TA_KERNEL_KIND_COUNT] = {
    [TA_KERNEL_GEMM] = {"GEMM", TA_SLICE_GEMM},
    [TA_KERNEL_ATTENTION] = {"attention", TA_SLICE_ATTENTION},
    [TA_KERNEL_CONV] = {"convolution", TA_SLICE_CONV},
    [TA_KERNEL_NORM] = {"normalization", TA_SLICE_NORM},
    [TA_KERNEL_SOFTMAX] = {"softmax", TA_SLICE_NORM},
    [TA_KERNEL_ELEMENTWISE] = {"elementwise", TA_SLICE_POINTWISE},
    [TA_KERNEL_COPY] = {"copy kernels", TA_SLICE_MOVE},
    [TA_KERNEL_REDUCE] = {"reduction", TA_SLICE_REDUCE},
    [TA_KERNEL_INDEX] = {"indexing", TA_SLICE_MOVE},
    [TA_KERNEL_RANDOM] = {"random numbers", TA_SLICE_KERNEL},
    [TA_KERNEL_QUANT] = {"quantization", TA_SLICE_KERNEL},
    [TA_KERNEL_TRITON] = {"fused (Triton)", TA_SLICE_FUSED},
    [TA_KERNEL_COLLECTIVE] = {"communication", TA_SLICE_COMM},
    [TA_KERNEL_OTHER] = {"other", TA_SLICE_KERNEL},
};

const struct ta_family *ta_kernel_family(enum ta_kernel_kind kind)
{
    return &families[(unsigned)kind < TA_KERNEL_KIND_COUNT ? kind : TA_KERNEL_OTHER];
}
