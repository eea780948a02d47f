/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the name of a kernel tells about it; the table is src/model/kernel.c. */
#ifndef TRACEANALYZE_KERNEL_H
#define TRACEANALYZE_KERNEL_H

#include "base.h"

TA_BEGIN_DECLS

enum ta_kernel_class {
    TA_KERNEL_COMPUTE, /* everything that is not known to move data between ranks */
    TA_KERNEL_COMM,    /* collectives and point-to-point transfers */
    TA_KERNEL_CLASS_COUNT
};

TA_API enum ta_kernel_class ta_kernel_classify(struct ta_slice name);

/* "compute", "comm"; a constant. */
TA_API const char *ta_kernel_class_name(enum ta_kernel_class kernel_class);

TA_END_DECLS

#endif
