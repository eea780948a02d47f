/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Global alignment of two sequences in memory that is linear in their length (Hirschberg 1975). */
#ifndef TA_DIFF_ALIGN_H
#define TA_DIFF_ALIGN_H

#include <stdbool.h>
#include <stddef.h>

/* How well element i of the first and k of the second sequence go together: above 0 when they may
 * stand beside each other, 0 when not. */
typedef int diff_fit(const void *user, size_t i, size_t k);

#define DIFF_GAP ((size_t)-1)

/* Finds an alignment of largest sum of fits, none of which is above `most`; other[i] becomes the
 * element of the second sequence beside element i, or DIFF_GAP.  What fits that well at both ends
 * stands beside each other; of several alignments of the rest it is the one that pairs late
 * elements last.  The same for the same input.  O(n m) of the rest.  False without memory. */
bool diff_align(diff_fit *fit, const void *user, int most, size_t n, size_t m, size_t *other);

#endif
