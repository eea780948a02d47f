/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The history of one device, replayed: levels after each entry, and what was alive at the peak. */
#ifndef TA_MEMORY_ALLOCATOR_REPLAY_H
#define TA_MEMORY_ALLOCATOR_REPLAY_H

#include "lib/levels.h"
#include "model/allocator.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

/* What a snapshot holds of one device. */
struct device_state {
    const struct ta_alloc_block *blocks; /* of all devices */
    const struct ta_alloc_segment *const *segments;
    size_t n_segments;
    const struct ta_alloc_event *events; /* oldest first */
    size_t n_events;
};

struct replay {
    const struct device_state *device;
    const struct ta_alloc_event *events; /* the device's events */
    size_t n;
    struct ta_levels start, end; /* before the first entry, after the last */
    struct ta_levels peak;       /* each by itself */
    size_t peak_at;              /* entries up to the peak of `allocated`: 0 is before the first */
    struct ta_levels at_reserved_peak; /* with most allocated while most was reserved */
    int64_t first_ns, last_ns;         /* TA_MISSING when the history has no times */
};

/* Replays the history of a device from the level at which it starts, see lib/levels.h. */
struct replay replay_make(const struct device_state *device);

/* A block that was alive. */
struct live_block {
    uint64_t address, requested, size;
    uint32_t frames; /* stack, or UINT32_MAX */
    bool known;      /* its allocation is in the history, or the state has its stack */
    bool gone;
};

struct live_set {
    struct live_block *at;
    size_t n, max;
    struct ta_map by_address; /* index + 1; 0: gone */
    bool failed;
};

/* A block of the state at the end. */
struct live_block live_of_state(const struct ta_alloc_block *block, bool has_history);
/* NULL where an address holds no block. */
struct live_block *live_find(const struct live_set *live, uint64_t address);

/* The blocks alive after so many entries, such as at the peak of `allocated`. */
void replay_live_at(const struct replay *replay, size_t moment, struct live_set *live);
void live_add(struct live_set *live, const struct live_block *block);
void live_remove(struct live_set *live, uint64_t address);
void live_free(struct live_set *live);

/* The blocks whose allocation is in the history and whose end is not. */
void replay_unfreed(const struct replay *replay, struct live_set *live);

#endif
