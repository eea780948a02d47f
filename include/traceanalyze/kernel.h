/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the name of a kernel says of it; the table is src/model/kernel_names.def. */
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

/* What a kernel does.  TA_KERNEL_COLLECTIVE holds all that ta_kernel_classify() calls
 * communication, and collectives that are fused with other work. */
enum ta_kernel_kind {
    TA_KERNEL_GEMM,
    TA_KERNEL_ATTENTION,
    TA_KERNEL_CONV,
    TA_KERNEL_NORM,
    TA_KERNEL_SOFTMAX,
    TA_KERNEL_ELEMENTWISE,
    TA_KERNEL_COPY, /* copies, casts, changes of layout, concatenation */
    TA_KERNEL_REDUCE,
    TA_KERNEL_INDEX, /* gather, scatter, embedding, sort, select */
    TA_KERNEL_RANDOM,
    TA_KERNEL_QUANT,
    TA_KERNEL_TRITON, /* made by a compiler of Triton programs; its name does not say more */
    TA_KERNEL_COLLECTIVE,
    TA_KERNEL_OTHER,
    TA_KERNEL_KIND_COUNT
};

/* Whether a name shows the use of a matrix unit (tensor core, MFMA). */
enum ta_matrix_unit { TA_MATRIX_ANY, TA_MATRIX_YES, TA_MATRIX_NO };

/* Type of the inputs of a product. */
enum ta_precision {
    TA_PRECISION_ANY, /* the name does not say */
    TA_PRECISION_FP64,
    TA_PRECISION_FP32,
    TA_PRECISION_TF32,
    TA_PRECISION_FP16,
    TA_PRECISION_BF16,
    TA_PRECISION_FP8,
    TA_PRECISION_INT8,
    TA_PRECISION_FP4,
    TA_PRECISION_COUNT
};

struct ta_kernel_facts {
#ifdef __cplusplus
    enum ta_kernel_class class_;
#else
    enum ta_kernel_class class;
#endif
    enum ta_kernel_kind kind;
    const char *family; /* library or algorithm, "" when the kind says it all; a constant */
    bool known;         /* false when no row of the table matches; the kind is "other" then */
    enum ta_matrix_unit matrix;  /* of products, convolutions and attention; else ANY */
    enum ta_precision precision; /* likewise */
};

/* Some microseconds: call it once per name, not per event. */
TA_API struct ta_kernel_facts ta_kernel_describe(struct ta_slice name);

/* "gemm", "attention", …, "comm", "other"; a constant. */
TA_API const char *ta_kernel_kind_name(enum ta_kernel_kind kind);

/* The name as people say it: of a function of C++ without the type it returns, scopes and
 * parameters; other names as they are.  Writes at most `size` bytes, never more than the name has,
 * and gives their number; no zero after them. */
TA_API size_t ta_kernel_brief(struct ta_slice name, char *out, size_t size);

/* "fp32", "bf16", …, "unknown"; a constant. */
TA_API const char *ta_precision_name(enum ta_precision precision);

TA_END_DECLS

#endif
