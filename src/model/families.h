/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What kernels of a kind are called in charts, and which slices they are: that decides their ink
 * everywhere, in charts, on the timeline, and in the picture of the run. */
#ifndef TA_MODEL_FAMILIES_H
#define TA_MODEL_FAMILIES_H

#include "traceanalyze/model.h"
#include "traceanalyze/timeline.h"

struct ta_family {
    const char *title; /* "normalization" */
    enum ta_slice_kind slice;
};

/* A constant. */
const struct ta_family *ta_kernel_family(enum ta_kernel_kind kind);

#endif
