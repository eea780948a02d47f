/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of one table that grow in step. */
#ifndef TA_MODEL_COLUMN_H
#define TA_MODEL_COLUMN_H

#include "base/store.h"

/* One column: where its address is kept, and the size of an element. */
struct column_ref {
    void *at; /* T ** */
    size_t size;
};

#define COLUMN(pointer)                                                                            \
    {                                                                                              \
        &(pointer), sizeof *(pointer)                                                              \
    }

/* Makes room for row number `n` in all columns; false without memory. */
static inline bool columns_grow(struct ta_store *store, const struct column_ref *columns,
                                size_t count, size_t n, size_t *max)
{
    if (n < *max)
        return true;
    const size_t more = *max < 256 ? 256 : *max + *max / 2;
    for (size_t i = 0; i < count; i++) {
        void **at = columns[i].at;
        void *grown = ta_store_resize(store, *at, more, columns[i].size);
        if (!grown)
            return false;
        *at = grown;
    }
    *max = more;
    return true;
}

/* ta_vec_push() for a list of as many items as there are rows. */
#define column_push(store, vec, ...)                                                               \
    ((vec)->n < (vec)->max || columns_grow((store), &(const struct column_ref)COLUMN((vec)->at),   \
                                           1, (vec)->n, &(vec)->max)                               \
         ? ((vec)->at[(vec)->n++] = (__VA_ARGS__), true)                                           \
         : false)

#endif
