/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is kept of the traces, between map() in roofline.c and the tables in tables.c. */
#ifndef TA_ROOFLINE_ROOFLINE_H
#define TA_ROOFLINE_ROOFLINE_H

#include "lib/work.h"

#include <traceanalyze/analysis.h>

/* PART_KERNELS has the fields of PART_OPS with the name of a kernel in place of the operator, for
 * calls that launched this kernel alone. */
enum { PART_OPS, PART_LACKS, PART_DEVICES, PART_FLOPS, PART_KERNELS };

/* Kernels whose names say how they multiply. */
enum evidence { EVIDENCE_NONE, EVIDENCE_MATRIX, EVIDENCE_TF32, EVIDENCE_VECTOR, EVIDENCES };

/* A device by what the file says of it: three keys of a partial. */
#define DEVICE_KEYS DEVICE_NAME, DEVICE_UNITS, DEVICE_BYTES

/* Calls of one kind: an operator, shapes and types, on devices of one kind. */
enum {
    OP_NAME,
    OP_CLASS,
    OP_SHAPE,
    OP_TYPE,
    OP_FLOP,  /* of a call */
    OP_BYTES, /* of a call */
    OP_DEVICE,
    OP_DEVICE_UNITS,
    OP_DEVICE_BYTES,
    OP_CALLS,
    OP_KERNELS,
    OP_BUSY,     /* union on each device, added */
    OP_EVIDENCE, /* time of its kernels by enum evidence */
    OP_FIELDS = OP_EVIDENCE + EVIDENCES
};

/* Kernels whose work is not known. */
enum { LACK_NAME, LACK_WHY, LACK_CALLS, LACK_KERNELS, LACK_TOTAL, LACK_FIELDS };

/* Times of a device. */
enum {
    DEV_RANK,
    DEV_DEVICE,
    DEV_NAME,
    DEV_UNITS,
    DEV_BYTES,
    DEV_CAPABILITY,
    DEV_KERNEL_NS,       /* sum over kernels that compute */
    DEV_COVERED_NS,      /* of it: work known */
    DEV_FLOP_NS,         /* of it: FLOPs known too */
    DEV_PRODUCT_NS,      /* kernels of GEMMs, convolutions and attention */
    DEV_PRODUCT_FLOP_NS, /* of them: FLOPs known */
    DEV_BUSY_NS,         /* union of all activities */
    DEV_START,
    DEV_END,
    DEV_FIELDS
};

/* FLOPs of a device by type; in two parts, whose sums stay within 64 bits. */
enum {
    FLOPS_RANK,
    FLOPS_DEVICE,
    FLOPS_CLASS,
    FLOPS_TYPE,
    FLOPS_EVIDENCE,
    FLOPS_HIGH,
    FLOPS_LOW,
    FLOPS_FIELDS
};
enum { FLOPS_SHIFT = 32 };

extern const struct ta_table_def roofline_by_op, roofline_by_kernel, roofline_by_rank,
    roofline_unknown;

enum { ROOFLINE_MFU, ROOFLINE_PEAK_SHARE, ROOFLINE_KNOWN, ROOFLINE_SCALARS };
extern const struct ta_scalar_def roofline_scalars[ROOFLINE_SCALARS];

/* What the tables take from gpu_time.program. */
enum { ROOFLINE_RANK, ROOFLINE_DEVICE, ROOFLINE_WINDOW };

enum ta_status roofline_finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                               const struct ta_refs *in, struct ta_section_builder *out);

#endif
