/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Axes: round tick values for linear and logarithmic scales. */
#ifndef TA_CHART_AXIS_H
#define TA_CHART_AXIS_H

#include "traceanalyze/report.h"

enum { TA_AXIS_TICKS_MAX = 24 };

struct ta_axis {
    enum ta_unit unit;
    double from, to; /* values at the two ends, from < to */
    bool log;
    double ticks[TA_AXIS_TICKS_MAX]; /* ascending, inside [from, to] */
    size_t n_ticks;
};

/* Whether the ends of a linear axis are moved outwards to ticks. */
enum ta_axis_ends { TA_AXIS_TIGHT, TA_AXIS_ROUND };

/* About `want` ticks at multiples of 1, 2 or 5 times a power of ten of the unit's prefix (of
 * ms, MiB, …).  Values may be equal or not finite; the axis is usable in any case. */
struct ta_axis ta_axis_linear(double low, double high, enum ta_unit unit, size_t want,
                              enum ta_axis_ends ends);

/* Powers of ten, with 2 and 5 between them where there is room; powers of two of sizes and of small
 * counts, such as of ranks.  `low` must be > 0. */
struct ta_axis ta_axis_log(double low, double high, enum ta_unit unit, size_t want);

/* Place of a value as a share of the axis, 0…1; values outside are put on the nearer end. */
double ta_axis_share(const struct ta_axis *axis, double value);

/* Text of a tick. On a linear axis all ticks share a prefix and the unit is in the title; on a
 * logarithmic one each tick carries its own. */
char *ta_axis_format(char text[TA_UNIT_TEXT_MAX], const struct ta_axis *axis, double tick);

/* "ms", or "" when ticks carry their units or there is none. */
const char *ta_axis_symbol(const struct ta_axis *axis);

#endif
