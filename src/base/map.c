/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Open addressing with linear probing; at most 5/8 full. */
#include "traceanalyze/base.h"

#include "base/hash.h"

#include <stdlib.h>

/* An unused slot has key 0.  Key 0 itself has the slot after the table, with any other key. */
struct ta_map_slot {
    uint64_t key, value;
};

static struct ta_map_slot *slot_of(const struct ta_map *map, uint64_t key)
{
    if (key == 0)
        return &map->slots[map->mask + 1];
    size_t at = ta_hash_mix(key) & map->mask;
    while (map->slots[at].key && map->slots[at].key != key)
        at = (at + 1) & map->mask;
    return &map->slots[at];
}

static inline uint64_t *find(const struct ta_map *map, uint64_t key)
{
    if (!map->slots)
        return NULL;
    struct ta_map_slot *slot = slot_of(map, key);
    return slot->key ? &slot->value : NULL;
}

uint64_t *ta_map_find(const struct ta_map *map, uint64_t key)
{
    return find(map, key);
}

static bool grow(struct ta_map *map)
{
    const size_t old = map->slots ? map->mask + 1 : 0, size = old ? old * 2 : 64;
    struct ta_map_slot *before = map->slots;
    struct ta_map_slot *slots = calloc(size + 1, sizeof *slots);
    if (!slots)
        return false;
    map->slots = slots;
    map->mask = size - 1;
    for (size_t i = 0; i < old; i++)
        if (before[i].key)
            *slot_of(map, before[i].key) = before[i];
    if (before)
        slots[size] = before[old];
    free(before);
    return true;
}

/* Of a key that is not there, out of the way that nearly all go. */
static __attribute__((noinline)) uint64_t *insert(struct ta_map *map, uint64_t key, uint64_t preset)
{
    if ((!map->slots || map->n * 8 >= (map->mask + 1) * 5) && !grow(map)) {
        map->failed = true;
        return NULL;
    }
    struct ta_map_slot *slot = slot_of(map, key);
    *slot = (struct ta_map_slot){key ? key : 1, preset};
    map->n++;
    return &slot->value;
}

uint64_t *ta_map_at(struct ta_map *map, uint64_t key, uint64_t preset)
{
    uint64_t *value = find(map, key);
    return value ? value : insert(map, key, preset);
}

void ta_map_free(struct ta_map *map)
{
    free(map->slots);
    *map = (struct ta_map){0};
}
