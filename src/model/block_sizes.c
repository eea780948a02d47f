/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How large the blocks were that a history only knows the requests of.
 *
 * A history has what was asked for; torch counts what it hands out: requests are rounded up, and a
 * block keeps what is left of a larger free one when that is too little to be split off.  The state
 * at the end has the sizes of the blocks that are still there, so histories are walked backwards
 * from it.  Of a block that is gone the least that it can have taken is known: its request, rounded
 * up as torch does. */
#include "model/block_sizes.h"

#include "model/allocator.h"

#include <traceanalyze/base.h>

#include <stdlib.h>

/* kMinBlockSize of c10/cuda/CUDACachingAllocator. */
#define BLOCK_LEAST UINT64_C(512)
#define MIB (UINT64_C(1) << 20)

static unsigned floor_of_log2(uint64_t value)
{
    return 63U - (unsigned)__builtin_clzll(value);
}

/* round_size() of torch's allocator. */
static uint64_t round_up(const struct ta_allocator *allocator, uint64_t size)
{
    if (size < BLOCK_LEAST)
        return BLOCK_LEAST;
    /* roundup_power2_divisions has a number of steps between powers of two for each of them from 1
     * MiB up; the outermost ones hold for all that is smaller or larger. */
    const unsigned log2 = floor_of_log2(size), first = floor_of_log2(MIB);
    const unsigned index = log2 < first ? 0 : log2 - first;
    const uint64_t divisions =
        allocator->divisions[index < TA_ALLOC_DIVISIONS ? index : TA_ALLOC_DIVISIONS - 1];
    uint64_t step = BLOCK_LEAST;
    if (divisions > 1 && size / divisions >= BLOCK_LEAST && size != BLOCK_LEAST * divisions) {
        const uint64_t floor = UINT64_C(1) << floor_of_log2(size);
        step = floor >> floor_of_log2(divisions);
        if (step == 0)
            step = floor;
    }
    return (size + step - 1) / step * step;
}

/* ---- one device ---------------------------------------------------------------------------- */

/* Before an entry, its address holds another block, or none, than after it. */
static bool walk_back(const struct ta_allocator *allocator, struct ta_alloc_event *event,
                      struct ta_map *sizes)
{
    if (event->action > TA_ALLOC_FREE_COMPLETED)
        return true;
    uint64_t *size = ta_map_at(sizes, event->address, 0);
    if (!size)
        return false;
    const uint64_t least = round_up(allocator, event->size);
    const bool ends = event->action == TA_ALLOC_FREE_COMPLETED;
    event->block_bytes = ends || *size < least ? least : *size;
    *size = event->action == TA_ALLOC_ALLOC ? 0 : event->block_bytes;
    return true;
}

static bool find_of_device(const struct ta_allocator *allocator,
                           const struct ta_alloc_segment *const *segments, size_t n_segments,
                           struct ta_alloc_event *events, size_t n_events)
{
    struct ta_map sizes = {0};
    bool done = true;
    for (size_t s = 0; s < n_segments && done; s++) {
        const struct ta_alloc_segment *segment = segments[s];
        for (size_t b = segment->first; b < segment->first + segment->n; b++) {
            const struct ta_alloc_block *block = &allocator->blocks[b];
            uint64_t *size =
                block->state == TA_BLOCK_INACTIVE ? NULL : ta_map_at(&sizes, block->address, 0);
            if (size)
                *size = block->size;
        }
        done = !sizes.failed;
    }
    for (size_t e = n_events; e-- > 0 && done;)
        done = walk_back(allocator, &events[e], &sizes);
    ta_map_free(&sizes);
    return done;
}

/* ---- all devices --------------------------------------------------------------------------- */

static int by_device(const void *left, const void *right)
{
    const struct ta_alloc_segment *const *a = left, *const *b = right;
    if ((*a)->device != (*b)->device)
        return (*a)->device < (*b)->device ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

/* Both lists stand by device, so each is gone through once, however many devices a file names. */
bool ta_block_sizes_find(struct ta_allocator *allocator)
{
    struct ta_alloc_event *events = allocator->events;
    const struct ta_alloc_segment **segments = calloc(allocator->n_segments + 1, sizeof *segments);
    bool done = segments != NULL;
    for (size_t i = 0; done && i < allocator->n_segments; i++)
        segments[i] = &allocator->segments[i];
    if (done && allocator->n_segments)
        qsort(segments, allocator->n_segments, sizeof *segments, by_device);
    for (size_t first = 0, end, s = 0; done && first < allocator->n_events; first = end) {
        const int64_t device = events[first].device;
        for (end = first; end < allocator->n_events && events[end].device == device;)
            end++;
        while (s < allocator->n_segments && segments[s]->device < device)
            s++;
        const size_t from = s;
        while (s < allocator->n_segments && segments[s]->device == device)
            s++;
        done = find_of_device(allocator, segments + from, s - from, events + first, end - first);
    }
    free(segments);
    return done;
}
