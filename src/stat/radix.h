/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integers into ascending order. */
#ifndef TA_STAT_RADIX_H
#define TA_STAT_RADIX_H

#include "traceanalyze/base.h"

/* Sorts `n` values that lie within [least, largest]. */
void ta_radix_sort(int64_t *values, size_t n, int64_t least, int64_t largest);

/* The same for values of half the size. */
void ta_radix_sort_narrow(uint32_t *values, size_t n, uint32_t least, uint32_t largest);

#endif
