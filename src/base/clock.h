/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shift from one clock to another, in integers. */
#ifndef TA_BASE_CLOCK_H
#define TA_BASE_CLOCK_H

#include "traceanalyze/base.h"

/* From a clock to the other: t + offset + drift × (t − origin). */
struct ta_clock_shift {
    int64_t offset_ns;
    int64_t drift_ppt; /* ns gained per 1000 s: parts in 10^12 */
    int64_t origin_ns;
};

/* A time on the other clock; the drift's part is rounded to ns, halves away from zero. */
int64_t ta_clock_forth(const struct ta_clock_shift *shift, int64_t ts_ns);

/* The time from which that comes.  Where a drift below zero takes two times to one, it is one of
 * them. */
int64_t ta_clock_back(const struct ta_clock_shift *shift, int64_t ts_ns);

#endif
