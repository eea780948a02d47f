/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of the allocator: segments, and the blocks they are split into. */
#include "model/allocator.h"
#include "snapshot.h"

#include <inttypes.h>

/* ---- blocks -------------------------------------------------------------------------------- */

enum { B_ADDRESS, B_SIZE, B_REQUESTED, B_STATE, B_FRAMES, B_HISTORY, B_FIELDS };

static const char *const block_names[B_FIELDS] = {
    [B_ADDRESS] = "address", [B_SIZE] = "size",     [B_REQUESTED] = "requested_size",
    [B_STATE] = "state",     [B_FRAMES] = "frames", [B_HISTORY] = "history",
};

/* "active_pending_free" is what torch writes, "active_awaiting_free" what its documentation says.
 */
static bool take_state(const struct snapshot *s, ta_object object, enum ta_block_state *state)
{
    static const struct {
        const char *name;
        enum ta_block_state state;
    } states[] = {
        {"active_allocated", TA_BLOCK_ALLOCATED},
        {"active_pending_free", TA_BLOCK_PENDING_FREE},
        {"active_awaiting_free", TA_BLOCK_PENDING_FREE},
        {"inactive", TA_BLOCK_INACTIVE},
    };
    const struct ta_slice text = ta_object_text(s->objects, object);
    for (size_t i = 0; text.ptr && i < sizeof states / sizeof *states; i++)
        if (ta_slice_equal(text, ta_slice_of(states[i].name))) {
            *state = states[i].state;
            return true;
        }
    return false;
}

/* The newest entry of the history that the oldest files keep per block: what was asked for, and
 * where. */
static void take_block_history(struct snapshot *s, ta_object history, bool has_requested,
                               struct ta_alloc_block *block)
{
    static const char *const names[] = {"real_size", "frames"};
    const ta_object newest = ta_object_item(s->objects, history, 0);
    ta_object values[2];
    if (ta_object_kind(s->objects, history) != TA_OBJECT_LIST ||
        ta_object_kind(s->objects, newest) != TA_OBJECT_DICT)
        return;
    snapshot_fields(s, newest, names, 2, values);
    if (!has_requested)
        snapshot_size(s, values[0], &block->requested);
    if (block->frames == UINT32_MAX)
        block->frames = snapshot_stack(s, values[1]);
}

/* A block at `address`, unless it says otherwise; false when it cannot be used. */
static bool read_block(struct snapshot *s, ta_object object, uint64_t address,
                       struct ta_alloc_block *block)
{
    ta_object values[B_FIELDS];
    if (!snapshot_record(s, object, "block"))
        return false;
    snapshot_fields(s, object, block_names, B_FIELDS, values);
    *block = (struct ta_alloc_block){.address = address, .frames = UINT32_MAX};
    if (!snapshot_size(s, values[B_SIZE], &block->size) ||
        !take_state(s, values[B_STATE], &block->state)) {
        snapshot_drop(s, object, "block", "has no usable size or state");
        return false;
    }
    if (values[B_ADDRESS] != TA_NO_OBJECT)
        block->address = snapshot_address(s, values[B_ADDRESS]);
    const bool has_requested = snapshot_size(s, values[B_REQUESTED], &block->requested);
    block->frames = snapshot_stack(s, values[B_FRAMES]);
    if (block->state == TA_BLOCK_INACTIVE)
        return true;
    /* Without a word on what was asked for, nothing is known to be wasted. */
    if (!has_requested)
        block->requested = block->size;
    take_block_history(s, values[B_HISTORY], has_requested, block);
    return true;
}

static void read_blocks(struct snapshot *s, ta_object blocks, struct ta_alloc_segment *segment)
{
    uint64_t address = segment->address;
    segment->first = s->blocks.n;
    for (size_t i = 0; i < ta_object_size(s->objects, blocks) && !s->failed; i++) {
        struct ta_alloc_block block;
        if (!read_block(s, ta_object_item(s->objects, blocks, i), address, &block))
            continue;
        struct ta_alloc_block *added = LIST_ADD(s, &s->blocks);
        if (!added)
            return;
        *added = block;
        address += block.size;
        s->kept++;
    }
    segment->n = s->blocks.n - segment->first;
}

/* ---- segments ------------------------------------------------------------------------------ */

enum {
    S_DEVICE,
    S_ADDRESS,
    S_TOTAL,
    S_ALLOCATED,
    S_ACTIVE,
    S_REQUESTED,
    S_STREAM,
    S_TYPE,
    S_POOL,
    S_EXPANDABLE,
    S_FRAMES,
    S_BLOCKS,
    S_FIELDS
};

static const char *const segment_names[S_FIELDS] = {
    [S_DEVICE] = "device",        [S_ADDRESS] = "address",
    [S_TOTAL] = "total_size",     [S_ALLOCATED] = "allocated_size",
    [S_ACTIVE] = "active_size",   [S_REQUESTED] = "requested_size",
    [S_STREAM] = "stream",        [S_TYPE] = "segment_type",
    [S_POOL] = "segment_pool_id", [S_EXPANDABLE] = "is_expandable",
    [S_FRAMES] = "frames",        [S_BLOCKS] = "blocks",
};

/* Where the file states no valid size, the sum of the blocks is the size. */
static uint64_t take_size(struct snapshot *s, const ta_object *values, int field, uint64_t sum)
{
    uint64_t size;
    if (snapshot_size(s, values[field], &size))
        return size;
    if (values[field] != TA_NO_OBJECT && sum) {
        const uint64_t offset = ta_object_offset(s->objects, values[field]);
        ta_quality_add(s->quality, TA_Q_BAD_NUMBER, offset,
                       "\"%s\" of a segment is no size, at byte offset %" PRIu64
                       "; what its blocks add up to counts",
                       segment_names[field], offset);
    }
    return sum;
}

static bool take_sizes(struct snapshot *s, const ta_object *values,
                       struct ta_alloc_segment *segment)
{
    struct ta_alloc_segment sums = {0};
    /* What the blocks of a segment add up to. */
    for (size_t i = 0; i < segment->n; i++) {
        const struct ta_alloc_block *block = &s->blocks.at[segment->first + i];
        sums.total += block->size;
        if (block->state == TA_BLOCK_INACTIVE)
            continue;
        sums.active += block->size;
        sums.requested += block->requested;
        if (block->state == TA_BLOCK_ALLOCATED)
            sums.allocated += block->size;
    }
    segment->total = take_size(s, values, S_TOTAL, sums.total);
    segment->allocated = take_size(s, values, S_ALLOCATED, sums.allocated);
    segment->active = take_size(s, values, S_ACTIVE, sums.active);
    segment->requested = take_size(s, values, S_REQUESTED, sums.requested);
    return segment->total > 0;
}

static int64_t device_of(struct snapshot *s, ta_object value)
{
    const int64_t device = snapshot_integer(s, value, TA_MISSING);
    return device == TA_MISSING ? device
                                : ta_builder_number(s->builder, TA_RANGE_DEVICE, device,
                                                    ta_object_offset(s->objects, value));
}

void snapshot_read_segments(struct snapshot *s, ta_object segments)
{
    for (size_t i = 0; i < ta_object_size(s->objects, segments) && !s->failed; i++) {
        const ta_object object = ta_object_item(s->objects, segments, i);
        ta_object values[S_FIELDS];
        if (!snapshot_record(s, object, "segment"))
            continue;
        snapshot_fields(s, object, segment_names, S_FIELDS, values);
        const ta_object pool = values[S_POOL];
        struct ta_alloc_segment segment = {
            .device = device_of(s, values[S_DEVICE]),
            .address = snapshot_address(s, values[S_ADDRESS]),
            .stream = snapshot_address(s, values[S_STREAM]),
            .small = ta_slice_equal(ta_object_text(s->objects, values[S_TYPE]), TA_LIT("small")),
            .expandable = ta_object_is_true(s->objects, values[S_EXPANDABLE]),
            .pool = {snapshot_integer(s, ta_object_item(s->objects, pool, 0), 0),
                     snapshot_integer(s, ta_object_item(s->objects, pool, 1), 0)},
            .frames = snapshot_stack(s, values[S_FRAMES]),
        };
        if (ta_object_kind(s->objects, values[S_BLOCKS]) == TA_OBJECT_LIST)
            read_blocks(s, values[S_BLOCKS], &segment);
        if (!take_sizes(s, values, &segment)) {
            snapshot_drop(s, object, "segment", "has neither a size nor blocks");
            continue;
        }
        struct ta_alloc_segment *added = LIST_ADD(s, &s->segments);
        if (added)
            *added = segment;
        s->kept++;
    }
}
