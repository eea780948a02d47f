/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can happen in a run: the operators, kernels, copies, collectives and calls, as tables. */
#ifndef GENERATOR_CATALOG_H
#define GENERATOR_CATALOG_H

#include <stdbool.h>
#include <stdint.h>

enum { OP_LEVELS = 4, OP_KERNELS = 2 };

enum stream {
    STREAM_COMPUTE,
    STREAM_NCCL,
    STREAM_COPY,
    STREAM_COUNT,
};

/* The stream numbers that the trace shows. */
extern const int stream_number[STREAM_COUNT];

enum api {
    API_LAUNCH_KERNEL,
    API_LAUNCH_KERNEL_EX,
    API_DRIVER_LAUNCH,
    API_MEMCPY_ASYNC,
    API_STREAM_SYNCHRONIZE,
    API_EVENT_SYNCHRONIZE,
    API_EVENT_RECORD,
    API_STREAM_WAIT_EVENT,
    API_EVENT_QUERY,
    API_MALLOC,
    API_COUNT,
};

struct api_desc {
    const char *name;
    int cbid;                /* CUPTI callback id of the function */
    bool driver;             /* category cuda_driver, not cuda_runtime */
    bool starts_device_work; /* gets an ac2g flow to the activity of the same correlation */
};

extern const struct api_desc api_table[API_COUNT];

enum copy_kind {
    COPY_HTOD_PAGEABLE,
    COPY_HTOD_PINNED,
    COPY_DTOH_PAGEABLE,
    COPY_DTOH_PINNED,
    COPY_DTOD,
    COPY_KIND_COUNT,
};

struct copy_desc {
    const char *name;
    int64_t bytes_per_us; /* what the link sustains for this kind of memory */
};

extern const struct copy_desc copy_table[COPY_KIND_COUNT];

/* clang-format off */
enum kernel {
    KERNEL_NONE,
    KERNEL_LAYER_NORM, KERNEL_MUL, KERNEL_ADD, KERNEL_SUB, KERNEL_POW, KERNEL_MEAN, KERNEL_CAT,
    KERNEL_GELU, KERNEL_SILU, KERNEL_CLAMP, KERNEL_TO_UINT8, KERNEL_SOFTMAX, KERNEL_EMBEDDING,
    KERNEL_GROUP_MOMENTS, KERNEL_GROUP_SCALE, KERNEL_UPSAMPLE,
    KERNEL_GEMM_QKV, KERNEL_GEMM_PROJECT, KERNEL_GEMM_UP, KERNEL_GEMM_DOWN, KERNEL_GEMM_TEXT,
    KERNEL_GEMM_BATCHED, KERNEL_FLASH, KERNEL_FLASH_CROSS, KERNEL_CONV_WIDE, KERNEL_CONV_NARROW,
    KERNEL_FUSED_NORM, KERNEL_FUSED_RMS, KERNEL_FUSED_ROPE, KERNEL_FUSED_RESIDUAL,
    KERNEL_FUSED_SCHEDULER,
    KERNEL_GEMM_FP32, KERNEL_GEMM_NARROW, KERNEL_CAST,
    KERNEL_THIN_MATRIX, KERNEL_THIN_VECTOR, KERNEL_ROW_VECTOR,
    KERNEL_SEND_RECV, KERNEL_ALL_GATHER, KERNEL_BROADCAST,
    KERNEL_ALL_REDUCE, KERNEL_ALL_REDUCE_FLAG,
    KERNEL_COUNT,
};
/* clang-format on */

struct kernel_desc {
    const char *name;
    int64_t mean_ns; /* at four ranks */
    int grid[3], block[3];
    int registers, shared_memory, occupancy;
    enum api launched_by;
};

extern const struct kernel_desc kernel_table[KERNEL_COUNT];

/* clang-format off */
enum op {
    OP_LIST_END,                /* ends the operator lists of workload.c */
    OP_LAYER_NORM, OP_SCALE, OP_SHIFT, OP_LINEAR_QKV, OP_RMS_POW, OP_RMS_MEAN, OP_RMS_SCALE,
    OP_ROPE_MUL, OP_ROPE_CAT, OP_ATTENTION, OP_LINEAR_OUT, OP_GATE, OP_RESIDUAL, OP_LINEAR_CROSS,
    OP_ATTENTION_CROSS, OP_LINEAR_UP, OP_GELU, OP_LINEAR_DOWN,
    OP_FUSED_NORM, OP_FUSED_RMS, OP_FUSED_ROPE, OP_FUSED_RESIDUAL, OP_FUSED_SCHEDULER,
    OP_SCHED_SUB, OP_SCHED_MUL, OP_SCHED_ADD,
    OP_EMBEDDING, OP_LINEAR_TEXT, OP_TEXT_SCORES, OP_SOFTMAX, OP_TEXT_GELU, OP_TEXT_ADD,
    OP_CONV_WIDE, OP_CONV_NARROW, OP_GROUP_NORM, OP_SILU, OP_UPSAMPLE, OP_CLAMP, OP_TO_UINT8,
    OP_LOAD_BATCH, OP_STACK, OP_RESIZE_HOST,
    OP_COPY_WEIGHTS, OP_COPY_TIMESTEP, OP_COPY_CACHE, OP_COPY_FRAMES, OP_ITEM,
    OP_LINEAR_FP32, OP_LINEAR_NARROW, OP_CAST,
    OP_LINEAR_THIN_MATRIX, OP_LINEAR_THIN_VECTOR, OP_LINEAR_ROW_VECTOR,
    OP_QKV_TO_HEADS, OP_HEADS_TO_TOKENS, OP_ALL_GATHER, OP_BROADCAST,
    OP_ALL_REDUCE, OP_ALL_REDUCE_FLAG, OP_GATHER_GUIDANCE, OP_GATHER_DATA, OP_SEND, OP_RECEIVE,
    OP_COUNT,
};
/* clang-format on */

/*
 * dims and types are the values of "Input Dims" and "Input type".  "$T" and the other letters
 * of shape_value() in text.c stand for numbers that depend on the options.
 */
struct op_level {
    const char *name, *dims, *types;
};

struct op_desc {
    struct op_level levels[OP_LEVELS]; /* outermost first; unused levels have no name */
    enum kernel kernels[OP_KERNELS];
    int64_t host_ns;      /* its own work on the host, besides launching */
    int64_t output_bytes; /* allocated for the result; 0 = not recorded */
    bool triton;          /* recorded by Inductor, with other arguments */
};

extern const struct op_desc op_table[OP_COUNT];

/* What the ranks of a process group share; the order of the groups of one rank. */
enum dimension {
    DIM_WORLD,
    DIM_SEQUENCE, /* Ulysses: all-to-all around attention */
    DIM_TENSOR,   /* weights, all-reduced */
    DIM_RING,     /* keys and values, passed on from rank to rank */
    DIM_GUIDANCE, /* with and without the prompt */
    DIM_DATA,     /* videos */
    DIM_COUNT,
};

enum collective {
    COLLECTIVE_QKV_TO_HEADS,
    COLLECTIVE_HEADS_TO_TOKENS,
    COLLECTIVE_GATHER_LATENTS,
    COLLECTIVE_BROADCAST_PROMPT,
    COLLECTIVE_SUM_PARTS,
    COLLECTIVE_AGREE,
    COLLECTIVE_GATHER_GUIDANCE,
    COLLECTIVE_GATHER_DATA,
    COLLECTIVE_SEND,
    COLLECTIVE_RECEIVE,
    COLLECTIVE_COUNT,
};

enum peer { PEER_NONE, PEER_NEXT, PEER_PREVIOUS };

/* in and out are element counts, with the same placeholders. */
struct collective_desc {
    enum op op;
    enum kernel kernel;
    const char *name, *range, *in, *out, *dtype;
    enum dimension dimension;
    int64_t transfer_ns; /* from the last arrival to the common end, in the job of workload.c */
    enum peer peer;
    int traffic; /* times that each byte passes a rank's link, for large groups */
};

extern const struct collective_desc collective_table[COLLECTIVE_COUNT];

#endif
