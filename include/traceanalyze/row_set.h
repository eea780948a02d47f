/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set of rows that says at once how many of them lie below one: the place of its value in a
 * column ordered by row.  A bit per row and a sum per 32 of them, so that it stays in the cache
 * where a list of places would not. */
#ifndef TRACEANALYZE_ROW_SET_H
#define TRACEANALYZE_ROW_SET_H

#include "base.h"

TA_BEGIN_DECLS

struct ta_row_word {
    uint32_t bits, below;
};

/* Words that hold rows [0, n). */
static inline size_t ta_row_set_words(size_t n)
{
    return n / 32 + 1;
}

static inline uint32_t ta_row_set_count(uint32_t x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    return ((x + (x >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

static inline void ta_row_set_add(struct ta_row_word *set, ta_row row)
{
    set[row / 32].bits |= UINT32_C(1) << row % 32;
}

/* Sums up a set to which all rows were added; returns how many there are. */
static inline uint32_t ta_row_set_sum(struct ta_row_word *set, size_t n_words)
{
    uint32_t n = 0;
    for (size_t i = 0; i < n_words; i++) {
        set[i].below = n;
        n += ta_row_set_count(set[i].bits);
    }
    return n;
}

static inline bool ta_row_set_has(const struct ta_row_word *set, ta_row row)
{
    return set[row / 32].bits >> row % 32 & 1;
}

/* How many rows of the set lie below `row`. */
static inline size_t ta_row_set_place(const struct ta_row_word *set, ta_row row)
{
    const struct ta_row_word *word = &set[row / 32];
    return word->below + ta_row_set_count(word->bits & ((UINT32_C(1) << row % 32) - 1));
}

TA_END_DECLS

#endif
