/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hash map from 64-bit keys to 64-bit values: correlation ids, pairs of ids, row caches. */
#ifndef TRACEANALYZE_MAP_H
#define TRACEANALYZE_MAP_H

#include "base.h"

TA_BEGIN_DECLS

/* Zero-initialize, free with ta_map_free().  Iteration order is not offered on purpose: it would
 * leak hash order into products. */
struct ta_map {
    struct ta_map_slot *slots;
    size_t n, mask;
    bool failed; /* out of memory: entries are missing */
};

/* The value of a key, or NULL.  Valid until the next insertion. */
TA_API uint64_t *ta_map_find(const struct ta_map *map, uint64_t key);

/* The value of a key, inserted as `preset` when new; NULL when out of memory (map->failed). */
TA_API uint64_t *ta_map_at(struct ta_map *map, uint64_t key, uint64_t preset);

TA_API void ta_map_free(struct ta_map *map);

TA_END_DECLS

#endif
