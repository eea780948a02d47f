/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers with units next to each other: pairs, ticks of an axis. */
#ifndef TA_REPORT_UNIT_H
#define TA_REPORT_UNIT_H

#include "traceanalyze/report.h"

/* Whether a word is what comes after a number, "ms" or "%". */
bool ta_unit_is_symbol(struct ta_slice word);

/* Whether it is of differences, whose sign is shown. */
bool ta_unit_is_change(enum ta_unit unit);

/* The change from one to the other: a small one has a smaller prefix than they have, none has a
 * larger one. */
char *ta_unit_format_change(char text[TA_UNIT_TEXT_MAX], double change, double before, double after,
                            enum ta_unit unit);

/* Both values, "45 s → 428 s", without zeros that say nothing.  Returns `text`. */
char *ta_unit_format_pair(char text[TA_UNIT_PAIR_MAX], double before, double after,
                          enum ta_unit unit);

/* ta_unit_format() for axis ticks: all ticks of an axis share the prefix that suits `largest`.
 * With `suffix` false the unit itself is left out. */
char *ta_unit_format_tick(char text[TA_UNIT_TEXT_MAX], double value, double largest,
                          enum ta_unit unit, bool suffix);

/* The unit word that ta_unit_format_tick() uses for `largest`, for axis titles: "ms", "GB/s". */
const char *ta_unit_symbol(double largest, enum ta_unit unit);

#endif
