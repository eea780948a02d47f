/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inversions, by merge sort from the bottom up. */
#include "stat/inversions.h"

enum { RUN = 8 }; /* sorted by insertion first */

static uint64_t insert(double *keys, size_t n, bool equal)
{
    uint64_t count = 0;
    for (size_t i = 1; i < n; i++) {
        const double key = keys[i];
        size_t at = i;
        for (; at > 0 && (keys[at - 1] > key || (equal && keys[at - 1] == key)); at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
        count += i - at;
    }
    return count;
}

/* Each key of the right half passes all keys still waiting in the left one. */
static uint64_t merge(const double *from, double *to, size_t middle, size_t n, bool equal)
{
    uint64_t count = 0;
    size_t i = 0, j = middle;
    for (size_t at = 0; at < n; at++) {
        const bool passes =
            j < n && (i == middle || from[j] < from[i] || (equal && from[j] == from[i]));
        if (passes)
            count += middle - i;
        to[at] = passes ? from[j++] : from[i++];
    }
    return count;
}

uint64_t ta_inversions(double *keys, double *spare, size_t n, bool equal)
{
    uint64_t count = 0;
    for (size_t at = 0; at < n; at += RUN)
        count += insert(keys + at, n - at < RUN ? n - at : RUN, equal);
    double *from = keys, *to = spare;
    for (size_t width = RUN; width < n; width *= 2) {
        for (size_t at = 0; at < n; at += 2 * width) {
            const size_t left = n - at;
            count += merge(from + at, to + at, left < width ? left : width,
                           left < 2 * width ? left : 2 * width, equal);
        }
        double *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != keys)
        memcpy(keys, from, n * sizeof *keys);
    return count;
}
