/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Timelines: what slices look like. */
#include "traceanalyze/timeline.h"

static const struct ta_slice_look looks[TA_SLICE_KIND_COUNT] = {
    [TA_SLICE_GEMM] = {"GEMM", TA_INK_COMPUTE},
    [TA_SLICE_ATTENTION] = {"Attention", TA_INK_ATTENTION},
    [TA_SLICE_CONV] = {"Convolution", TA_INK_CONV},
    [TA_SLICE_POINTWISE] = {"Pointwise", TA_INK_POINTWISE},
    [TA_SLICE_NORM] = {"Norm or softmax", TA_INK_NORM},
    [TA_SLICE_FUSED] = {"Fused (Triton)", TA_INK_FUSED},
    [TA_SLICE_MOVE] = {"Copy or indexing kernel", TA_INK_MOVE},
    [TA_SLICE_REDUCE] = {"Reduction", TA_INK_REDUCE},
    [TA_SLICE_KERNEL] = {"Other kernel", TA_INK_KERNEL},
    [TA_SLICE_COMM] = {"Communication", TA_INK_COMM},
    [TA_SLICE_MEMCPY] = {"Copy", TA_INK_MEMCPY},
    [TA_SLICE_MEMSET] = {"Memory set", TA_INK_MEMSET},
    [TA_SLICE_OP] = {"Operator", TA_INK_OP},
    [TA_SLICE_RUNTIME] = {"Runtime call", TA_INK_RUNTIME},
    [TA_SLICE_HOST] = {"Other host code", TA_INK_HOST},
    [TA_SLICE_RANGE] = {"Annotation", TA_INK_RANGE},
    [TA_SLICE_SYNC] = {"Synchronization", TA_INK_SYNC},
    [TA_SLICE_PHASE] = {"Phase or step", TA_INK_TEXT},
};

const struct ta_slice_look *ta_slice_look(enum ta_slice_kind kind)
{
    return &looks[(unsigned)kind < TA_SLICE_KIND_COUNT ? kind : TA_SLICE_HOST];
}
