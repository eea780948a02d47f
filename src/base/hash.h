/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hashing for tables in memory; never reaches a product. */
#ifndef TA_BASE_HASH_H
#define TA_BASE_HASH_H

#include "traceanalyze/base.h"

/* Both halves of the product, so that no bit of either factor is lost. */
static inline uint64_t ta_hash_fold(uint64_t a, uint64_t b)
{
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Spreads the bits of a 64-bit key. */
static inline uint64_t ta_hash_mix(uint64_t x)
{
    return ta_hash_fold(x ^ UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xbf58476d1ce4e5b9));
}

static inline uint64_t ta_hash_word(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* 16 bytes a multiplication; the last ones may be taken twice.  A seed that nobody can know keeps
 * texts from being made to collide. */
static inline uint64_t ta_hash_bytes(const char *bytes, size_t size, uint64_t seed)
{
    const uint64_t first = UINT64_C(0xa0761d6478bd642f) ^ seed;
    const uint64_t second = UINT64_C(0xe7037ed1a0b428db);
    uint64_t hash = size * UINT64_C(0x9e3779b97f4a7c15);
    if (size < 8) {
        uint64_t word = 0;
        if (size < 4) {
            for (size_t i = 0; i < size; i++)
                word = word << 8 | (unsigned char)bytes[i];
        } else {
            uint32_t head, tail;
            memcpy(&head, bytes, sizeof head);
            memcpy(&tail, bytes + size - sizeof tail, sizeof tail);
            word = (uint64_t)head << 32 | tail;
        }
        return ta_hash_fold(hash ^ first, word ^ second);
    }
    const char *const last = bytes + size - 8;
    for (; size > 16; bytes += 16, size -= 16)
        hash = ta_hash_fold(ta_hash_word(bytes) ^ first, ta_hash_word(bytes + 8) ^ hash);
    return ta_hash_fold(ta_hash_word(size > 8 ? bytes : last) ^ first,
                        ta_hash_word(last) ^ hash ^ second);
}

#endif
