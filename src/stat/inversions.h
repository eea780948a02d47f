/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs of a list that are in the wrong order, counted while sorting. */
#ifndef TA_STAT_INVERSIONS_H
#define TA_STAT_INVERSIONS_H

#include "traceanalyze/base.h"

/* Sorts `keys` and counts the pairs i < j with keys[i] > keys[j]; with `equal` those with
 * keys[i] == keys[j] too.  `spare` has room for n.  O(n log n). */
uint64_t ta_inversions(double *keys, double *spare, size_t n, bool equal);

#endif
