/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns in a new order. */
#ifndef TA_NORMALIZE_GATHER_H
#define TA_NORMALIZE_GATHER_H

#include "base/store.h"

/* Inlined, so that an element is one load and one store. */
static inline __attribute__((always_inline)) void
ta_gather(void *to, const void *from, size_t size, const ta_row *rows, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        memcpy((char *)to + i * size, (const char *)from + rows[i] * size, size);
}

/* Rows [first, end) of the column `to` become what rows[first …] of `from` are. */
#define TA_GATHER_PART(to, from, rows, first, end)                                                 \
    do {                                                                                           \
        _Static_assert(sizeof *(to) == sizeof *(from), "one size of element");                     \
        ta_gather((to), (from), sizeof *(to), (rows), (first), (end));                             \
    } while (0)

/* Two columns with elements of the same size take over each other's memory. */
#define TA_SWAP(a, b)                                                                              \
    do {                                                                                           \
        _Static_assert(sizeof *(a) == sizeof *(b), "one size of element");                         \
        void *const taken = (a);                                                                   \
        (a) = (void *)(b);                                                                         \
        (b) = taken;                                                                               \
    } while (0)

/* Row i of a column becomes what was row rows[i], of `n` rows.  The new column is made in the
 * memory of a spare one with elements of the same size, and the old one is the spare then: nothing
 * is copied back. */
#define TA_GATHER(column, spare, rows, n)                                                          \
    do {                                                                                           \
        TA_GATHER_PART((spare), (column), (rows), 0, (n));                                         \
        TA_SWAP((column), (spare));                                                                \
    } while (0)

/* Gives back what a column of `n` elements does not need. */
#define TA_FIT(store, column, n)                                                                   \
    ((column) = ta_store_fit((store), (column), (n) * sizeof *(column)))

#endif
