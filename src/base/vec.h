/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growable arrays: `struct { T *at; size_t n, max; }` members and one function to grow them. */
#ifndef TA_BASE_VEC_H
#define TA_BASE_VEC_H

#include "traceanalyze/base.h"

#include <stdlib.h>

/* Declares the members of a growable array of T. */
#define TA_VEC(type)                                                                               \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t n, max;                                                                             \
    }

/* Grows an array of `size`-byte elements to hold at least n + 1; false without memory. */
static inline bool ta_vec_grow(void **at, size_t *max, size_t n, size_t size)
{
    if (n < *max)
        return true;
    size_t more = *max < 16 ? 32 : *max + *max / 2;
    void *grown = reallocarray(*at, more, size);
    if (!grown)
        return false;
    *at = grown;
    *max = more;
    return true;
}

/* Appends a value; false without memory.  Both arguments are evaluated once, and before anything
 * of the array changes: a value may look at the array and its length. */
#define ta_vec_push(vec, ...)                                                                      \
    __extension__({                                                                                \
        __auto_type ta_vec_ = (vec);                                                               \
        const __typeof__(*ta_vec_->at) ta_value_ = (__VA_ARGS__);                                  \
        const bool ta_done_ =                                                                      \
            ta_vec_grow((void **)&ta_vec_->at, &ta_vec_->max, ta_vec_->n, sizeof *ta_vec_->at);    \
        if (ta_done_)                                                                              \
            ta_vec_->at[ta_vec_->n++] = ta_value_;                                                 \
        ta_done_;                                                                                  \
    })

#endif
