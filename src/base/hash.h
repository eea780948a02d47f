/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hashing for tables in memory; never reaches a product. */
#ifndef TA_BASE_HASH_H
#define TA_BASE_HASH_H

#include "traceanalyze/base.h"

/* Spreads the bits of a 64-bit key (the finalizer of splitmix64). */
static inline uint64_t ta_hash_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline uint64_t ta_hash_bytes(const char *bytes, size_t size)
{
    uint64_t hash = size * UINT64_C(0x9e3779b97f4a7c15);
    while (size >= 8) {
        uint64_t word;
        memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
        bytes += 8;
        size -= 8;
    }
    uint64_t tail = 0;
    if (size)
        memcpy(&tail, bytes, size);
    return ta_hash_mix(hash ^ tail);
}

#endif
