/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Radix sort, least significant byte first.  Samples of a distribution come in no order and lie
 * close together, so two to four passes do what takes a comparing sort 16 rounds of unpredictable
 * branches. */
#include "stat/radix.h"

#include <stdlib.h>

enum {
    DIGITS = 256,
    FEW = 48 /* fewer are not worth the counting */
};

static void insertion_sort(int64_t *values, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const int64_t value = values[i];
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

static int by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static inline size_t digit_of(int64_t value, int64_t least, unsigned shift)
{
    return ((uint64_t)value - (uint64_t)least) >> shift & (DIGITS - 1);
}

/* One stable pass by the byte at `shift`. */
static void sort_by_digit(const int64_t *from, int64_t *to, size_t n, int64_t least, unsigned shift)
{
    size_t place[DIGITS] = {0};
    for (size_t i = 0; i < n; i++)
        place[digit_of(from[i], least, shift)]++;
    for (size_t digit = 0, below = 0; digit < DIGITS; digit++) {
        const size_t count = place[digit];
        place[digit] = below;
        below += count;
    }
    for (size_t i = 0; i < n; i++)
        to[place[digit_of(from[i], least, shift)]++] = from[i];
}

void ta_radix_sort(int64_t *values, size_t n, int64_t least, int64_t largest)
{
    if (n <= FEW) {
        insertion_sort(values, n);
        return;
    }
    int64_t *spare = reallocarray(NULL, n, sizeof *spare);
    if (!spare) { /* slower, but needs no memory of ours */
        qsort(values, n, sizeof *values, by_value);
        return;
    }
    int64_t *from = values, *to = spare;
    const uint64_t range = (uint64_t)largest - (uint64_t)least;
    for (unsigned shift = 0; shift < 64 && range >> shift; shift += 8) {
        sort_by_digit(from, to, n, least, shift);
        int64_t *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != values)
        memcpy(values, from, n * sizeof *values);
    free(spare);
}
