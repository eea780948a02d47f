/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the entries of an allocator's history move its levels.
 *
 * Histories are rings: the first entries may be lost, and with them the level that they start
 * from.  So the state at the end is where the levels are known, and the start follows from it. */
#ifndef TA_LIB_LEVELS_H
#define TA_LIB_LEVELS_H

#include "model/allocator.h"

#include <traceanalyze/dump.h>

/* Bytes at a moment.  `allocated` falls when the program lets go of memory, `active` when the
 * memory can be used again: both count blocks, as torch counts them and as `reserved` is
 * made of.  `requested` and `requested_active` are what was asked for of them. */
struct ta_levels {
    int64_t allocated, active, reserved, requested, requested_active;
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
    const int64_t block = ta_levels_bytes(event->block_bytes);
    switch (event->action) {
    case TA_ALLOC_ALLOC:
        levels->allocated = ta_add_sat(levels->allocated, block);
        levels->active = ta_add_sat(levels->active, block);
        levels->requested = ta_add_sat(levels->requested, size);
        levels->requested_active = ta_add_sat(levels->requested_active, size);
        break;
    case TA_ALLOC_FREE_REQUESTED:
        levels->allocated = ta_add_sat(levels->allocated, -block);
        levels->requested = ta_add_sat(levels->requested, -size);
        break;
    case TA_ALLOC_FREE_COMPLETED:
        levels->active = ta_add_sat(levels->active, -block);
        levels->requested_active = ta_add_sat(levels->requested_active, -size);
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

/* Adds a segment with its blocks, which are the blocks of all segments, to the levels of a state.
 */
static inline void ta_levels_add(const struct ta_alloc_segment *segment,
                                 const struct ta_alloc_block *blocks, struct ta_levels *state)
{
    state->reserved = ta_add_sat(state->reserved, ta_levels_bytes(segment->total));
    for (size_t b = segment->first; b < segment->first + segment->n; b++) {
        const int64_t size = ta_levels_bytes(blocks[b].size);
        const int64_t requested = ta_levels_bytes(blocks[b].requested);
        if (blocks[b].state == TA_BLOCK_ALLOCATED) {
            state->allocated = ta_add_sat(state->allocated, size);
            state->requested = ta_add_sat(state->requested, requested);
        }
        if (blocks[b].state != TA_BLOCK_INACTIVE) {
            state->active = ta_add_sat(state->active, size);
            state->requested_active = ta_add_sat(state->requested_active, requested);
        }
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

/* The lower of each level. */
static inline void ta_levels_least(struct ta_levels *lowest, const struct ta_levels *levels)
{
    lowest->allocated = ta_min_i64(lowest->allocated, levels->allocated);
    lowest->active = ta_min_i64(lowest->active, levels->active);
    lowest->reserved = ta_min_i64(lowest->reserved, levels->reserved);
    lowest->requested = ta_min_i64(lowest->requested, levels->requested);
    lowest->requested_active = ta_min_i64(lowest->requested_active, levels->requested_active);
}

/* The levels before the first of `n` entries of a device, whose state at the end is `state`. */
static inline struct ta_levels ta_levels_start(const struct ta_levels *state,
                                               const struct ta_alloc_event *events, size_t n)
{
    struct ta_levels change = {0}, lowest = {0};
    for (size_t i = 0; i < n; i++) {
        ta_levels_step(&events[i], &change);
        ta_levels_least(&lowest, &change);
    }
    return (struct ta_levels){
        .allocated = ta_levels_start_of(state->allocated, change.allocated, lowest.allocated),
        .active = ta_levels_start_of(state->active, change.active, lowest.active),
        .reserved = ta_levels_start_of(state->reserved, change.reserved, lowest.reserved),
        .requested = ta_levels_start_of(state->requested, change.requested, lowest.requested),
        .requested_active = ta_levels_start_of(state->requested_active, change.requested_active,
                                               lowest.requested_active),
    };
}

#endif
