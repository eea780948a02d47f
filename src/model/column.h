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

/* Number of rows from which on the total can be estimated. */
enum { COLUMN_TELLS_FROM = 32 * 1024 };

/* What is read in whole blocks counts a little more than what the rows came from: without this much
 * room to spare, columns would grow a last time for a few rows at the end. */
#define COLUMN_SPARE 1.1

/* The beginning of an input may be unlike the rest of it. */
enum { COLUMN_GROWTH_MAX = 1024 };

static inline size_t columns_half(size_t max)
{
    return max < 256 ? 256 : max + max / 2;
}

/* How many rows of so many bytes to make room for when there are `max`, from `share` of the input,
 * 0 … 1, or 0 when that is not known.  Room that is not used takes no memory, but what is copied
 * when a column grows does, twice. */
static inline size_t columns_room(const struct ta_store *store, size_t max, double share,
                                  size_t bytes)
{
    const size_t half = columns_half(max);
    if (share <= 0 || max < COLUMN_TELLS_FROM)
        return half;
    const double expected = (double)max / share * COLUMN_SPARE, least = (double)max * 1.125,
                 most = (double)max * COLUMN_GROWTH_MAX;
    const size_t room = ta_whole_size(expected < least ? least : expected < most ? expected : most);
    return room <= half || ta_store_has_plenty(store, room * bytes) ? room : half;
}

/* Makes room for row number `n` in all columns, for as many as are expected if memory has that
 * much; false without any. */
static inline bool columns_grow(struct ta_store *store, const struct column_ref *columns,
                                size_t count, size_t n, size_t *max, double share)
{
    if (n < *max)
        return true;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += columns[i].size;
    size_t more = columns_room(store, *max, share, bytes);
    for (size_t i = 0; i < count; i++) {
        void **at = columns[i].at;
        void *grown = ta_store_resize(store, *at, more, columns[i].size);
        if (!grown && more > columns_half(*max)) {
            more = columns_half(*max);
            grown = ta_store_resize(store, *at, more, columns[i].size);
        }
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
                                           1, (vec)->n, &(vec)->max, 0)                            \
         ? ((vec)->at[(vec)->n++] = (__VA_ARGS__), true)                                           \
         : false)

#endif
