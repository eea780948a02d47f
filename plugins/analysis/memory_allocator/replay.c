/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replaying the history of a device. */
#include "replay.h"

#include "base/vec.h"
#include "model/allocator.h"

#include <stdlib.h>

struct replay replay_make(const struct device_state *device)
{
    struct replay r = {.device = device, .events = device->events, .n = device->n_events};
    r.first_ns = r.last_ns = TA_MISSING;
    for (size_t i = 0; i < r.n; i++) {
        ta_least(&r.first_ns, r.events[i].time_ns);
        ta_most(&r.last_ns, r.events[i].time_ns);
    }
    struct ta_levels state = {0};
    for (size_t i = 0; i < r.device->n_segments; i++)
        ta_levels_add(r.device->segments[i], r.device->blocks, &state);
    r.start = ta_levels_start(&state, r.events, r.n);
    r.end = r.peak = r.at_reserved_peak = r.start;
    for (size_t i = 0; i < r.n; i++) {
        ta_levels_step(&r.events[i], &r.end);
        r.peak.active = ta_max_i64(r.peak.active, r.end.active);
        r.peak.requested = ta_max_i64(r.peak.requested, r.end.requested);
        r.peak.requested_active = ta_max_i64(r.peak.requested_active, r.end.requested_active);
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

void live_add(struct live_set *live, const struct live_block *block)
{
    if (!ta_vec_grow((void **)&live->at, &live->max, live->n, sizeof *live->at)) {
        live->failed = true;
        return;
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

struct live_block *live_find(const struct live_set *live, uint64_t address)
{
    const uint64_t *slot = ta_map_find(&live->by_address, address);
    return slot && *slot ? &live->at[*slot - 1] : NULL;
}

void live_remove(struct live_set *live, uint64_t address)
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

/* Stacks are recorded as the history is, so a block without one is older than the history, unless
 * an entry says otherwise. */
struct live_block live_of_state(const struct ta_alloc_block *block, bool has_history)
{
    return (struct live_block){.address = block->address,
                               .requested = block->requested,
                               .size = block->size,
                               .frames = block->frames,
                               .known = !has_history || block->frames != UINT32_MAX};
}

/* From the state at the end backwards to the moment, then from the first entry up to it for the
 * places of allocation. */
void replay_live_at(const struct replay *r, size_t moment, struct live_set *live)
{
    *live = (struct live_set){.failed = false};
    /* The blocks of the state at the end: what was let go is not in use, but its stack is known. */
    for (size_t i = 0; i < r->device->n_segments; i++) {
        const struct ta_alloc_segment *segment = r->device->segments[i];
        for (size_t b = segment->first; b < segment->first + segment->n; b++) {
            const struct ta_alloc_block *block = &r->device->blocks[b];
            struct live_block one = live_of_state(block, r->n > 0);
            one.gone = block->state == TA_BLOCK_PENDING_FREE;
            if (block->state != TA_BLOCK_INACTIVE)
                live_add(live, &one);
        }
    }
    for (size_t i = r->n; i-- > moment;) {
        const struct ta_alloc_event *event = &r->events[i];
        if (event->action == TA_ALLOC_ALLOC)
            live_remove(live, event->address);
        if (event->action == TA_ALLOC_FREE_REQUESTED) {
            /* The block that is in use before it is let go: one that waits in the state, or one of
             * which nothing but this is known. */
            struct live_block *waiting = live_find(live, event->address);
            if (waiting && waiting->gone)
                waiting->gone = false;
            else
                live_add(live, &(struct live_block){.address = event->address,
                                                    .requested = event->size,
                                                    .size = event->block_bytes,
                                                    .frames = UINT32_MAX});
        }
    }
    for (size_t i = 0; i < moment; i++) {
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
                                                .requested = event->size,
                                                .size = event->block_bytes,
                                                .frames = event->frames,
                                                .known = true});
        if (event->action == TA_ALLOC_FREE_COMPLETED)
            live_remove(live, event->address);
    }
}
