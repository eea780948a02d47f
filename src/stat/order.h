/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Doubles as integers in the same order, so that halving a range of them ends after 64 steps. */
#ifndef TA_STAT_ORDER_H
#define TA_STAT_ORDER_H

#include "traceanalyze/base.h"

/* Not for NaN; −0 and 0 are the same. */
static inline int64_t ta_order_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static inline double ta_order_value(int64_t order)
{
    const int64_t bits = order < 0 ? INT64_MIN - order : order;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Between low and high; low where they are next to each other. */
static inline int64_t ta_order_middle(int64_t low, int64_t high)
{
    return low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);
}

#endif
