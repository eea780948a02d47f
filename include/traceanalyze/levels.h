/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the entries of an allocator's history move its levels.
 *
 * Histories are rings: the first entries may be lost, and with them the level that they start
 * from.  So the state at the end is where the levels are known, and the start follows from it. */
#ifndef TRACEANALYZE_LEVELS_H
#define TRACEANALYZE_LEVELS_H

#include "dump.h"

TA_BEGIN_DECLS

/* Bytes at a moment.  `allocated` falls when the program lets go of memory, `active` when the
 * memory can be used again; both are what was asked for, as histories hold no rounded sizes. */
struct ta_levels {
    int64_t allocated, active, reserved;
};

/* Sizes are below 2^52, so only sums of very many saturate. */
static inline int64_t ta_levels_bytes(uint64_t bytes)
{
    return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

/* Applies an entry. */
static inline void ta_levels_step(const struct ta_alloc_event *event, struct ta_levels *levels)
{
    const int64_t size = ta_levels_bytes(event->size);
    switch (event->action) {
    case TA_ALLOC_ALLOC:
        levels->allocated = ta_add_sat(levels->allocated, size);
        levels->active = ta_add_sat(levels->active, size);
        break;
    case TA_ALLOC_FREE_REQUESTED:
        levels->allocated = ta_add_sat(levels->allocated, -size);
        break;
    case TA_ALLOC_FREE_COMPLETED:
        levels->active = ta_add_sat(levels->active, -size);
        break;
    case TA_ALLOC_SEGMENT_ALLOC:
    case TA_ALLOC_SEGMENT_MAP:
        levels->reserved = ta_add_sat(levels->reserved, size);
        break;
    case TA_ALLOC_SEGMENT_FREE:
    case TA_ALLOC_SEGMENT_UNMAP:
        levels->reserved = ta_add_sat(levels->reserved, -size);
        break;
    default:
        break;
    }
}

/* Adds a segment with its blocks, which are those of all segments, to the levels of a state. */
static inline void ta_levels_add(const struct ta_alloc_segment *segment,
                                 const struct ta_alloc_block *blocks, struct ta_levels *state)
{
    state->reserved = ta_add_sat(state->reserved, ta_levels_bytes(segment->total));
    for (size_t b = segment->first; b < segment->first + segment->n; b++) {
        const int64_t size = ta_levels_bytes(blocks[b].requested);
        if (blocks[b].state == TA_BLOCK_ALLOCATED)
            state->allocated = ta_add_sat(state->allocated, size);
        if (blocks[b].state != TA_BLOCK_INACTIVE)
            state->active = ta_add_sat(state->active, size);
    }
}

/* A level cannot have been below zero: a history that says so lacks part of the state, and starts
 * that much higher. */
static inline int64_t ta_levels_start_of(int64_t end, int64_t change, int64_t lowest)
{
    const int64_t start = ta_add_sat(end, -change);
    const int64_t least = ta_add_sat(start, ta_min_i64(lowest, 0));
    return least < 0 ? ta_add_sat(start, -least) : start;
}

/* The levels before the first of `n` entries of a device, whose state at the end is `state`. */
static inline struct ta_levels ta_levels_start(const struct ta_levels *state,
                                               const struct ta_alloc_event *events, size_t n)
{
    struct ta_levels change = {0}, lowest = {0};
    for (size_t i = 0; i < n; i++) {
        ta_levels_step(&events[i], &change);
        lowest.allocated = ta_min_i64(lowest.allocated, change.allocated);
        lowest.active = ta_min_i64(lowest.active, change.active);
        lowest.reserved = ta_min_i64(lowest.reserved, change.reserved);
    }
    return (struct ta_levels){
        .allocated = ta_levels_start_of(state->allocated, change.allocated, lowest.allocated),
        .active = ta_levels_start_of(state->active, change.active, lowest.active),
        .reserved = ta_levels_start_of(state->reserved, change.reserved, lowest.reserved),
    };
}

TA_END_DECLS

#endif
