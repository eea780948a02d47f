/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A GPU whose clock is lower than the clocks of the others, which makes its rank late. */
#ifndef TA_LIB_SLOW_CLOCK_H
#define TA_LIB_SLOW_CLOCK_H

#include <traceanalyze/rule.h>

struct ta_slow_clock {
    bool is_cause;
    double its, others;    /* Hz */
    double heat;           /* °C; NaN where heat is not known to be why */
    bool is_lowered_by_it; /* as the driver says, not only as the temperature makes likely */
};

/* A lower clock is one: below this part of the clock of the others. */
#define TA_CLOCK_LOW 0.97

/* Whether such a clock explains at least half of what the rank takes longer, `excess` as a share of
 * the time of the others.  NaN for what is not known. */
struct ta_slow_clock ta_slow_clock_judge(double its, double others, double excess);

/* ", because heat (91 °C) lowers its GPU's clock to 1 410 MHz (the others: 1 965 MHz)"; "" where
 * the clock is no cause. */
const char *ta_slow_clock_because(struct ta_advice *advice, const struct ta_slow_clock *slow);
const char *ta_slow_clock_advice(struct ta_advice *advice, const struct ta_slow_clock *slow,
                                 double rank);

#endif
