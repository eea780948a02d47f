/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replaying the history of a device. */
#include "replay.h"

#include <stdlib.h>

/* Sizes are below 2^52, so only sums of very many saturate. */
static int64_t bytes_of(uint64_t bytes)
{
    return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

/* ---- levels -------------------------------------------------------------------------------- */

void replay_step(const struct ta_alloc_event *event, struct levels *levels)
{
    const int64_t size = bytes_of(event->size);
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

/* What the snapshot says about the moment after the last entry. */
static struct levels state_of(const struct device_state *device)
{
    struct levels state = {0};
    for (size_t i = 0; i < device->n_segments; i++) {
        const struct ta_alloc_segment *segment = device->segments[i];
        state.reserved = ta_add_sat(state.reserved, bytes_of(segment->total));
        for (size_t b = segment->first; b < segment->first + segment->n; b++) {
            const struct ta_alloc_block *block = &device->blocks[b];
            const int64_t size = bytes_of(block->requested);
            if (block->state == TA_BLOCK_ALLOCATED)
                state.allocated = ta_add_sat(state.allocated, size);
            if (block->state != TA_BLOCK_INACTIVE)
                state.active = ta_add_sat(state.active, size);
        }
    }
    return state;
}

/* A level cannot have been below zero: a history that says so lacks part of the state, and starts
 * that much higher. */
static int64_t start_level(int64_t end, int64_t change, int64_t lowest)
{
    const int64_t start = ta_add_sat(end, -change);
    const int64_t least = ta_add_sat(start, ta_min_i64(lowest, 0));
    return least < 0 ? ta_add_sat(start, -least) : start;
}

static void find_start(struct replay *r)
{
    const struct levels state = state_of(r->device);
    struct levels change = {0}, lowest = {0};
    for (size_t i = 0; i < r->n; i++) {
        replay_step(&r->events[i], &change);
        lowest.allocated = ta_min_i64(lowest.allocated, change.allocated);
        lowest.active = ta_min_i64(lowest.active, change.active);
        lowest.reserved = ta_min_i64(lowest.reserved, change.reserved);
    }
    r->start = (struct levels){
        .allocated = start_level(state.allocated, change.allocated, lowest.allocated),
        .active = start_level(state.active, change.active, lowest.active),
        .reserved = start_level(state.reserved, change.reserved, lowest.reserved),
    };
}

static void find_times(struct replay *r)
{
    r->first_ns = r->last_ns = TA_MISSING;
    for (size_t i = 0; i < r->n; i++) {
        ta_least(&r->first_ns, r->events[i].time_ns);
        ta_most(&r->last_ns, r->events[i].time_ns);
    }
}

struct replay replay_make(const struct device_state *device)
{
    struct replay r = {.device = device, .events = device->events, .n = device->n_events};
    find_times(&r);
    find_start(&r);
    r.end = r.peak = r.at_reserved_peak = r.start;
    for (size_t i = 0; i < r.n; i++) {
        replay_step(&r.events[i], &r.end);
        r.peak.active = ta_max_i64(r.peak.active, r.end.active);
        if (r.end.allocated > r.peak.allocated) {
            r.peak.allocated = r.end.allocated;
            r.peak_at = i + 1;
        }
        if (r.end.reserved > r.peak.reserved ||
            (r.end.reserved == r.peak.reserved && r.end.allocated > r.at_reserved_peak.allocated)) {
            r.peak.reserved = r.end.reserved;
            r.at_reserved_peak = r.end;
        }
    }
    return r;
}

/* ---- blocks -------------------------------------------------------------------------------- */

static void live_add(struct live_set *live, const struct live_block *block)
{
    if (live->n == live->max) {
        const size_t max = live->max ? live->max * 2 : 256;
        struct live_block *grown = reallocarray(live->at, max, sizeof *grown);
        if (!grown) {
            live->failed = true;
            return;
        }
        live->at = grown;
        live->max = max;
    }
    uint64_t *slot = ta_map_at(&live->by_address, block->address, 0);
    if (!slot) {
        live->failed = true;
        return;
    }
    if (*slot) /* an address holds one block at a time: the other one's end was lost */
        live->at[*slot - 1].gone = true;
    live->at[live->n++] = *block;
    *slot = live->n;
}

static struct live_block *live_find(struct live_set *live, uint64_t address)
{
    const uint64_t *slot = ta_map_find(&live->by_address, address);
    return slot && *slot ? &live->at[*slot - 1] : NULL;
}

static void live_remove(struct live_set *live, uint64_t address)
{
    uint64_t *slot = ta_map_find(&live->by_address, address);
    if (!slot || !*slot)
        return;
    live->at[*slot - 1].gone = true;
    *slot = 0;
}

void live_free(struct live_set *live)
{
    free(live->at);
    ta_map_free(&live->by_address);
}

static void add_state(const struct replay *r, struct live_set *live)
{
    for (size_t i = 0; i < r->device->n_segments; i++) {
        const struct ta_alloc_segment *segment = r->device->segments[i];
        for (size_t b = segment->first; b < segment->first + segment->n; b++) {
            const struct ta_alloc_block *block = &r->device->blocks[b];
            if (block->state == TA_BLOCK_ALLOCATED)
                live_add(live, &(struct live_block){.address = block->address,
                                                    .size = block->requested,
                                                    .frames = block->frames,
                                                    .known = true});
        }
    }
}

/* From the state at the end backwards to the peak, then from the first entry up to it for the
 * places of allocation. */
void replay_live(const struct replay *r, struct live_set *live)
{
    *live = (struct live_set){.failed = false};
    add_state(r, live);
    for (size_t i = r->n; i-- > r->peak_at;) {
        const struct ta_alloc_event *event = &r->events[i];
        if (event->action == TA_ALLOC_ALLOC)
            live_remove(live, event->address);
        if (event->action == TA_ALLOC_FREE_REQUESTED)
            live_add(live, &(struct live_block){.address = event->address,
                                                .size = event->size,
                                                .frames = UINT32_MAX});
    }
    for (size_t i = 0; i < r->peak_at; i++) {
        const struct ta_alloc_event *event = &r->events[i];
        struct live_block *block =
            event->action == TA_ALLOC_ALLOC ? live_find(live, event->address) : NULL;
        if (block) {
            block->known = true;
            block->frames = event->frames;
        }
    }
}

void replay_unfreed(const struct replay *r, struct live_set *live)
{
    *live = (struct live_set){.failed = false};
    for (size_t i = 0; i < r->n; i++) {
        const struct ta_alloc_event *event = &r->events[i];
        if (event->action == TA_ALLOC_ALLOC)
            live_add(live, &(struct live_block){.address = event->address,
                                                .size = event->size,
                                                .frames = event->frames,
                                                .known = true});
        if (event->action == TA_ALLOC_FREE_COMPLETED)
            live_remove(live, event->address);
    }
}
