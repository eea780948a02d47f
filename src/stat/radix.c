/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Radix sort, least significant digit first. Samples of a distribution come in no order and lie
 * close together, so one to four passes do what takes a comparing sort 16 rounds of unpredictable
 * branches.
 *
 * The sort key is the distance of a value from the least. All of it is inlined, so that there is a
 * sort of its own for each size of a value. */
#include "stat/radix.h"

#include <stdlib.h>

enum {
    FEW = 48, /* fewer are not worth the counting */
    NARROW_DIGIT = 8,
    WIDE_DIGIT = 11,
    MANY = 2048 /* worth the counters of a wide digit, where those save a pass */
};

#define RADIX_INLINE static inline __attribute__((always_inline))

/* Values of one size. */
struct values {
    void *at;
    size_t n;
    uint64_t least;
    bool is_narrow; /* uint32_t, not int64_t */
};

RADIX_INLINE size_t size_of(const struct values *v)
{
    return v->is_narrow ? sizeof(uint32_t) : sizeof(int64_t);
}

RADIX_INLINE uint64_t get(const struct values *v, size_t i)
{
    const uint64_t value =
        v->is_narrow ? ((const uint32_t *)v->at)[i] : (uint64_t)((const int64_t *)v->at)[i];
    return value - v->least;
}

RADIX_INLINE void put(const struct values *v, size_t i, uint64_t above)
{
    if (v->is_narrow)
        ((uint32_t *)v->at)[i] = (uint32_t)(above + v->least);
    else
        ((int64_t *)v->at)[i] = (int64_t)(above + v->least);
}

RADIX_INLINE void insertion_sort(const struct values *v)
{
    for (size_t i = 1; i < v->n; i++) {
        const uint64_t value = get(v, i);
        size_t at = i;
        for (; at > 0 && get(v, at - 1) > value; at--)
            put(v, at, get(v, at - 1));
        put(v, at, value);
    }
}

/* One stable pass by the digit of `bits` bits at `shift`. */
RADIX_INLINE void sort_by_digit(const struct values *from, const struct values *to, unsigned shift,
                                unsigned bits)
{
    uint32_t place[1 << WIDE_DIGIT];
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    memset(place, 0, sizeof *place << bits);
    for (size_t i = 0; i < from->n; i++)
        place[get(from, i) >> shift & mask]++;
    for (size_t digit = 0, below = 0; digit <= mask; digit++) {
        const size_t count = place[digit];
        place[digit] = (uint32_t)below;
        below += count;
    }
    for (size_t i = 0; i < from->n; i++) {
        const uint64_t value = get(from, i);
        put(to, place[value >> shift & mask]++, value);
    }
}

static unsigned passes(uint64_t range, unsigned bits)
{
    const unsigned used = range ? 64 - (unsigned)__builtin_clzll(range) : 0;
    return (used + bits - 1) / bits;
}

/* `range`: of the largest value above the least.  False without memory. */
RADIX_INLINE bool sort(const struct values *v, uint64_t range)
{
    if (v->n <= FEW) {
        insertion_sort(v);
        return true;
    }
    struct values from = *v, to = *v;
    void *const spare = to.at = reallocarray(NULL, v->n, size_of(v));
    if (!spare)
        return false;
    const unsigned narrow = passes(range, NARROW_DIGIT), wide = passes(range, WIDE_DIGIT);
    const bool is_wide = v->n >= MANY && wide < narrow;
    for (unsigned pass = 0; pass < (is_wide ? wide : narrow); pass++) {
        if (is_wide)
            sort_by_digit(&from, &to, pass * WIDE_DIGIT, WIDE_DIGIT);
        else
            sort_by_digit(&from, &to, pass * NARROW_DIGIT, NARROW_DIGIT);
        void *const sorted = to.at;
        to.at = from.at;
        from.at = sorted;
    }
    if (from.at != v->at)
        memcpy(v->at, from.at, v->n * size_of(v));
    free(spare);
    return true;
}

/* ---- without memory: slower, but in place --------------------------------------------------- */

static int by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int by_narrow_value(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* ---- each size ------------------------------------------------------------------------------ */

void ta_radix_sort(int64_t *values, size_t n, int64_t least, int64_t largest)
{
    const struct values v = {values, n, (uint64_t)least, false};
    if (n > UINT32_MAX || !sort(&v, (uint64_t)largest - (uint64_t)least))
        qsort(values, n, sizeof *values, by_value);
}

void ta_radix_sort_narrow(uint32_t *values, size_t n, uint32_t least, uint32_t largest)
{
    const struct values v = {values, n, least, true};
    if (n > UINT32_MAX || !sort(&v, largest - least))
        qsort(values, n, sizeof *values, by_narrow_value);
}
