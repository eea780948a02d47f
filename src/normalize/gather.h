/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns in a new order. */
#ifndef TA_NORMALIZE_GATHER_H
#define TA_NORMALIZE_GATHER_H

#include "base/store.h"

/* Inlined, so that an element is one load and one store. */
static inline __attribute__((always_inline)) void ta_gather(void *to, const void *from, size_t size,
                                                            const ta_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy((char *)to + i * size, (const char *)from + rows[i] * size, size);
}

/* Row i of a column becomes what was row rows[i], of `n` rows.  The new column is made in the
 * memory of a spare one with elements of the same size, and the old one is the spare then: nothing
 * is copied back. */
#define TA_GATHER(column, spare, rows, n)                                                          \
    do {                                                                                           \
        _Static_assert(sizeof *(column) == sizeof *(spare), "one size of element");                \
        void *const old_column = (column);                                                         \
        ta_gather((spare), old_column, sizeof *(column), (rows), (n));                             \
        (column) = (void *)(spare);                                                                \
        (spare) = old_column;                                                                      \
    } while (0)

/* Gives back what a column of `n` elements does not need. */
#define TA_FIT(store, column, n)                                                                   \
    ((column) = ta_store_fit((store), (column), (n) * sizeof *(column)))

#endif
