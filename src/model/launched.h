/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which calls of the host launched something on a device: a quarter of the spans or fewer, so what
 * is kept for each of them is far less than what would be kept for each span. */
#ifndef TA_MODEL_LAUNCHED_H
#define TA_MODEL_LAUNCHED_H

#include "traceanalyze/model.h"

/* The calls that are the launch of an activity, each once, in the order of their rows. */
struct ta_launched {
    size_t n, n_activities; /* as many where each call has one */
    struct ta_row_word *rows;
};

/* Of a frozen trace; found once and kept with it; from any thread.  NULL without memory. */
const struct ta_launched *ta_trace_launched(const struct ta_trace *trace);

static inline bool ta_launched_has(const struct ta_launched *launched, ta_row row)
{
    return ta_row_set_has(launched->rows, row);
}

/* Number of such a call among all of them. */
static inline size_t ta_launched_place(const struct ta_launched *launched, ta_row row)
{
    return ta_row_set_place(launched->rows, row);
}

#endif
