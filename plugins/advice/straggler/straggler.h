/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rule of stragglers, in parts: the rule, and what is known of the clock of its GPU. */
#ifndef TA_STRAGGLER_H
#define TA_STRAGGLER_H

#include "lib/slow_clock.h"

/* What the rule reads: columns of tables, see straggler.c. */
enum {
    RANK,
    IS_LATE,
    COST,
    STEP_COST,
    HELD_UP,
    EXCESS,
    LAST_ARRIVALS,
    COLLECTIVES,
    SINCE_STEP,
    SINCE,
    BLAME_RANK,
    BLAME_KIND,
    BLAME_NAME,
    BLAME_WITHIN,
    BLAME_EXCESS,
    SAMPLE_RANK,
    SAMPLE_DEVICE,
    SIGNAL,
    SAMPLE_MEAN,
    LIMIT_RANK,
    LIMIT,
    LIMIT_CLOCK,
    LIMIT_HEAT,
    GPU_RANK,
    GPU_DEVICE,
    COMPUTE,
    WINDOW_RANK,
    WINDOW,
    ALONE_RANK,
    ALONE,
    UNEVEN_RANK,
    UNEVEN
};

/* The median of a column in the rows that a look takes but one; of many others, of the first. */
double straggler_median_of_others(const struct ta_refs *in, const struct ta_look *look, size_t row);

/* A clock below the others, which explains at least half of what its kernels take longer. */
struct ta_slow_clock straggler_clock(const struct ta_refs *in, double rank, double excess,
                                     const struct ta_place *blame);

/* " The GPU of rank 2 runs at 1 410 MHz, the others 1 965 MHz."; "" where it is as theirs. */
const char *straggler_telemetry(const struct ta_refs *in, struct ta_advice *advice, double rank);

#endif
