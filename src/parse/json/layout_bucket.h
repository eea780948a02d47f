/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding a known gap by the keys in its text; compiled for each instruction set. */
#ifndef TA_PARSE_LAYOUT_BUCKET_H
#define TA_PARSE_LAYOUT_BUCKET_H

#include "parse/json/layout.h"
#include "parse/json/vector.h"

/* Removes the lowest bit and returns where it was; 64 when there is none. */
static inline unsigned take_bit(uint64_t *bits)
{
    const unsigned at = *bits ? (unsigned)__builtin_ctzll(*bits) : 64;
    *bits &= *bits - 1;
    return at;
}

/* What a gap is looked up by: the first key in its text, and when an object opens right after that,
 * the first key in it as well. At least GAP_BYTES can be read; the bytes there need not belong to
 * the gap. */
static inline struct ta_slice layout_keys(const char *text)
{
    uint64_t quotes = vector_equal64(text, TA_QUOTE);
    const unsigned start = take_bit(&quotes), end = take_bit(&quotes);
    if (end == 64)
        return (struct ta_slice){text, 0};
    const uint64_t braces = vector_equal64(text, TA_BRACE) >> end << end;
    (void)take_bit(&quotes);
    const unsigned last = take_bit(&quotes);
    const unsigned brace = braces ? (unsigned)__builtin_ctzll(braces) : 62;
    const bool opens = last < 64 && brace <= end + 3 && text[brace + 1] != '}';
    return (struct ta_slice){text + start, (opens ? last : end) - start};
}

/* The first `n` of eight bytes, n <= 8. */
static inline uint64_t word_of(const char *text, size_t n)
{
    static const uint64_t masks[] = {
        0,
        UINT64_C(0xff),
        UINT64_C(0xffff),
        UINT64_C(0xffffff),
        UINT64_C(0xffffffff),
        UINT64_C(0xffffffffff),
        UINT64_C(0xffffffffffff),
        UINT64_C(0xffffffffffffff),
        UINT64_MAX,
    };
    uint64_t word;
    memcpy(&word, text, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word & masks[n];
}

/* By the length of the keys and their first 16 bytes, without a branch: keys that come in no order
 * cannot be predicted.  Gaps without a key, which end records, have the first bucket. */
static inline struct gap **layout_bucket(struct layout *layout, struct ta_slice keys)
{
    const size_t n = keys.len < 16 ? keys.len : 16, head = n < 8 ? n : 8;
    const uint64_t hash = (word_of(keys.ptr, head) ^ keys.len) * UINT64_C(0x9e3779b97f4a7c15) ^
                          word_of(ta_slice_at(keys, 8), n - head) * UINT64_C(0xff51afd7ed558ccd);
    return &layout->bucket[(hash ^ hash >> 32) * UINT64_C(0xc4ceb9fe1a85ec53) >> 54];
}

static inline struct gap *layout_chained(struct gap *chain, const char *text, uint8_t from)
{
    for (struct gap *gap = chain; gap; gap = gap->chain)
        if (gap->from == from && vector_matches(text, gap->text, gap->length, gap->mask))
            return gap;
    return NULL;
}

/* The known gap at the cursor. */
__attribute__((noinline)) static struct gap *layout_known(struct layout *layout, const char *text,
                                                          uint8_t from)
{
    struct gap *gap = layout_chained(*layout_bucket(layout, layout_keys(text)), text, from);
    return gap ? gap : layout_chained(layout->bucket[0], text, from);
}

#endif
