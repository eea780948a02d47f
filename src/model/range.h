/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranges of numbers of a profiler (enum ta_range of traceanalyze/input.h): their ends, and which
 * numbers are in them. */
#ifndef TA_MODEL_RANGE_H
#define TA_MODEL_RANGE_H

#include "traceanalyze/input.h"

/* What has the range, "A rank"; the ends, which are in it. */
const char *ta_range_what(enum ta_range range);
int64_t ta_range_least(enum ta_range range);
int64_t ta_range_most(enum ta_range range);

/* Whether a number is in the range; NAN is not. */
bool ta_range_has(enum ta_range range, int64_t value);
bool ta_range_has_real(enum ta_range range, double value);
/* Whether all numbers in a text are, "[4, 106, 1]" or "50.5"; so are none. */
bool ta_range_has_all(enum ta_range range, struct ta_slice text);

/* The range of an argument of events by its key; TA_RANGE_ANY where any value may be. */
enum ta_range ta_range_of_arg(struct ta_slice key);

#endif
