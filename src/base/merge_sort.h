/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stable sort for lists that are nearly in order, as in traces.
 *
 * Strays are first carried home, as long as that costs a few moves per element. What remains are
 * runs as long as the lists that a profiler wrote one after the other, and these are merged in
 * pairs. O(n) for ordered input, O(n log n) at worst.
 *
 * All of it is inlined, so that each call becomes a sort of its own for one type: with a call per
 * comparison and per element moved it would cost several times as much. */
#ifndef TA_BASE_MERGE_SORT_H
#define TA_BASE_MERGE_SORT_H

#include "base/store.h"

#include <assert.h>

enum {
    TA_SORT_CREDIT = 8,    /* places that strays of a run may be carried back per element of it */
    TA_SORT_RUN = 16,      /* a run that ends for want of credit is longer than this */
    TA_SORT_ITEM_MAX = 128 /* bytes of an element */
};

#define TA_SORT_INLINE static inline __attribute__((always_inline))

typedef int ta_sort_order(const void *a, const void *b, const void *user);

/* How many of the `n` ordered elements before the one at `item` come after it.  Looks 1, 2, 4, …
 * places back and then halves the last step. */
TA_SORT_INLINE size_t ta_sort_back(const char *item, size_t n, size_t size, ta_sort_order *compare,
                                   const void *user)
{
    size_t near = 0, far = 1;
    while (far <= n && compare(item - far * size, item, user) > 0) {
        near = far;
        far *= 2;
    }
    if (far > n + 1)
        far = n + 1;
    while (near + 1 < far) {
        const size_t middle = near + (far - near) / 2;
        if (compare(item - middle * size, item, user) > 0)
            near = middle;
        else
            far = middle;
    }
    return near;
}

/* Length of the ascending run at the start of `n` elements, strays carried home.  A run ends where
 * its strays have used up its credit.  As the one at place i is carried i places at most, that
 * takes more than TA_SORT_RUN elements, which bounds the number of runs. */
TA_SORT_INLINE size_t ta_sort_run(char *at, size_t n, size_t size, ta_sort_order *compare,
                                  const void *user)
{
    char stray[TA_SORT_ITEM_MAX];
    size_t carried = 0;
    for (size_t i = 1; i < n; i++) {
        char *item = at + i * size;
        const size_t back = ta_sort_back(item, i, size, compare, user);
        if (back == 0)
            continue;
        carried += back;
        if (carried > (i + TA_SORT_RUN / 4) * TA_SORT_CREDIT)
            return i;
        char *const home = item - back * size;
        memcpy(stray, item, size);
        memmove(home + size, home, back * size);
        memcpy(home, stray, size);
    }
    return n;
}

/* Merges the runs [a, b) and [b, end) into `out`; equal elements of the first come first. */
TA_SORT_INLINE void ta_sort_merge(const char *a, const char *b, const char *end, char *out,
                                  size_t size, ta_sort_order *compare, const void *user)
{
    const char *const a_end = b;
    while (a < a_end && b < end) {
        const bool second = compare(a, b, user) > 0;
        memcpy(out, second ? b : a, size);
        b += second ? size : 0;
        a += second ? 0 : size;
        out += size;
    }
    memcpy(out, a, (size_t)(a_end - a));
    memcpy(out + (a_end - a), b, (size_t)(end - b));
}

/* Merges runs that end at `ends`, pair by pair, until one is left.  Returns where it is: `from` or
 * `to`, which is of the same size. */
TA_SORT_INLINE char *ta_sort_runs(char *from, char *to, size_t *ends, size_t n_runs, size_t size,
                                  ta_sort_order *compare, const void *user)
{
    for (; n_runs > 1; n_runs = (n_runs + 1) / 2) {
        size_t start = 0;
        for (size_t run = 0; run < n_runs; run += 2) {
            const size_t middle = ends[run], end = run + 1 < n_runs ? ends[run + 1] : middle;
            ta_sort_merge(from + start * size, from + middle * size, from + end * size,
                          to + start * size, size, compare, user);
            ends[run / 2] = start = end;
        }
        char *const merged = to;
        to = from;
        from = merged;
    }
    return from;
}

/* Sorts `n` elements of `size` bytes with spare memory from a store; false without memory, the
 * elements then in some order. */
TA_SORT_INLINE bool ta_merge_sort_in(struct ta_store *store, void *base, size_t n, size_t size,
                                     ta_sort_order *compare, const void *user)
{
    assert(size <= TA_SORT_ITEM_MAX);
    const size_t first = ta_sort_run(base, n, size, compare, user);
    if (first == n)
        return true;
    size_t *ends = ta_store_resize(store, NULL, n / TA_SORT_RUN + 2, sizeof *ends), n_runs = 1;
    char *spare = ta_store_resize(store, NULL, n, size);
    const bool done = ends && spare;
    if (done) {
        for (size_t at = ends[0] = first; at < n; at = ends[n_runs++])
            ends[n_runs] = at + ta_sort_run((char *)base + at * size, n - at, size, compare, user);
        const char *const sorted = ta_sort_runs(base, spare, ends, n_runs, size, compare, user);
        if (sorted != base)
            memcpy(base, sorted, n * size);
    }
    ta_store_free(store, ends);
    ta_store_free(store, spare);
    return done;
}

/* The same with plain memory. */
TA_SORT_INLINE bool ta_merge_sort(void *base, size_t n, size_t size, ta_sort_order *compare,
                                  const void *user)
{
    return ta_merge_sort_in(NULL, base, n, size, compare, user);
}

#endif
