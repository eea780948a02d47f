/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots of PyTorch's caching allocator: its segments and blocks, its history, and who asked. */
#ifndef TA_MODEL_ALLOCATOR_H
#define TA_MODEL_ALLOCATOR_H

#include "traceanalyze/dump.h"

/* A call site: frames of a stack, innermost first, "function (file:line)", interned as one text per
 * frame. */
struct ta_frames {
    uint32_t n;
    const ta_str *at;
};

enum ta_block_state { TA_BLOCK_INACTIVE, TA_BLOCK_ALLOCATED, TA_BLOCK_PENDING_FREE };

struct ta_alloc_block {
    uint64_t address, size, requested;
    enum ta_block_state state;
    uint32_t frames; /* index into stacks, or UINT32_MAX */
};

struct ta_alloc_segment {
    int64_t device;
    uint64_t address, total, allocated, active, requested, stream;
    bool small, expandable;
    int64_t pool[2];
    uint32_t frames;
    size_t first, n; /* its blocks */
};

enum ta_alloc_action {
    TA_ALLOC_ALLOC,
    TA_ALLOC_FREE_REQUESTED,
    TA_ALLOC_FREE_COMPLETED,
    TA_ALLOC_SEGMENT_ALLOC,
    TA_ALLOC_SEGMENT_FREE,
    TA_ALLOC_SEGMENT_MAP,
    TA_ALLOC_SEGMENT_UNMAP,
    TA_ALLOC_OOM,
    TA_ALLOC_SNAPSHOT,
    TA_ALLOC_OTHER
};

struct ta_alloc_event {
    int64_t device;
    enum ta_alloc_action action;
    uint64_t address, size; /* of an OOM: what the device had left, what was wanted */
    uint64_t block_bytes;   /* of the block, found when the allocator becomes part of a trace:
                             * `size` rounded up, and what could not be split off, where the state
                             * at the end knows it */
    int64_t time_ns;        /* since 1970; TA_MISSING in the oldest files */
    uint32_t frames;
};

/* Powers of two from 1 MiB to 32 GiB, for which the allocator may be set to round up coarsely. */
enum { TA_ALLOC_DIVISIONS = 16 };

/* State and history of PyTorch's caching allocator. */
struct ta_allocator {
    struct ta_alloc_segment *segments;
    struct ta_alloc_block *blocks;
    struct ta_alloc_event *events; /* of all devices, each in order */
    struct ta_frames *stacks;
    size_t n_segments, n_blocks, n_events, n_stacks;
    uint64_t divisions[TA_ALLOC_DIVISIONS]; /* roundup_power2_divisions; 0: sizes are rounded up to
                                             * 512 bytes */
};

/* Copies the allocator into the trace; at most one per file. */
enum ta_status ta_builder_set_allocator(struct ta_ctx *ctx, struct ta_builder *builder,
                                        const struct ta_allocator *allocator) TA_MUST_CHECK;

/* NULL when the file is none. */
const struct ta_allocator *ta_trace_allocator(const struct ta_trace *trace);

#endif
