/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Global alignment of two sequences in memory that is linear in their length (Hirschberg 1975). */
#ifndef TA_COMPARE_ALIGN_H
#define TA_COMPARE_ALIGN_H

#include <stdbool.h>
#include <stddef.h>

/* How well element i of the first and k of the second sequence go together: above 0 when they may
 * be paired, 0 when not. */
typedef int diff_fit(const void *user, size_t i, size_t k);

/* Elements of the second sequence, ascending. */
struct diff_columns {
    const size_t *at;
    size_t n;
};

/* The only elements that element i of the first may be paired with. */
typedef struct diff_columns diff_choice(const void *user, size_t i);

/* What is to be aligned: n elements with m others. */
struct diff_sequences {
    diff_fit *fit;
    diff_choice *choice; /* NULL: any elements may be paired */
    const void *user;
    int most; /* no fit is above it */
    size_t n, m;
};

#define DIFF_GAP ((size_t)-1)

/* Finds an alignment of largest sum of fits; other[i] becomes the element of the second sequence
 * that is paired with element i, or DIFF_GAP. Elements that fit as well as possible at both ends
 * are paired; of several alignments of the rest it is the one that pairs late elements last. The
 * same for the same input. Linear in the pairs of the rest that are allowed, and no more than O(n
 * m). False without memory. */
bool diff_align(const struct diff_sequences *sequences, size_t *other);

#endif
