/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units, polarities, and the only place where a number becomes text for people. */
#ifndef TRACEANALYZE_UNIT_H
#define TRACEANALYZE_UNIT_H

#include "base.h"

TA_BEGIN_DECLS

enum ta_unit {
    TA_UNIT_NONE,
    TA_UNIT_NS,    /* shown as ns, µs, ms, s or min */
    TA_UNIT_BYTES, /* shown as B, KiB, MiB, GiB */
    TA_UNIT_COUNT, /* shown with thin groups of three digits */
    TA_UNIT_RATIO, /* 0…1, shown as a percentage */
    TA_UNIT_PER_S,
    TA_UNIT_BYTES_PER_S, /* shown as GB/s, powers of ten as in device data sheets */
    TA_UNIT_CELSIUS,
    TA_UNIT_WATT,
    TA_UNIT_JOULE,
    TA_UNIT_FLOP,
    TA_UNIT_FLOP_PER_S,
    TA_UNIT_HERTZ, /* a clock: "per_s" in report.json, shown as MHz */
    /* Differences: their names in report.json are the names of what is compared, they are shown
     * with their sign, "+1.25 ms". */
    TA_UNIT_NS_CHANGE,
    TA_UNIT_BYTES_CHANGE,
    TA_UNIT_COUNT_CHANGE,
    TA_UNIT_RATIO_CHANGE,  /* relative to something: +5 % */
    TA_UNIT_CHANGE,        /* of values whose unit is in the row */
    TA_UNIT_POINTS_CHANGE, /* a ratio minus another: +5 pp */
    TA_UNIT_PER_S_CHANGE,
    TA_UNIT_BYTES_PER_S_CHANGE,
    TA_UNIT_CELSIUS_CHANGE,
    TA_UNIT_WATT_CHANGE,
    TA_UNIT_JOULE_CHANGE,
    TA_UNIT_FLOP_CHANGE,
    TA_UNIT_FLOP_PER_S_CHANGE,
    TA_UNIT_COUNT_OF_UNITS
};

/* Which way a value is better. */
enum ta_polarity { TA_NEUTRAL, TA_LOWER, TA_HIGHER };

/* Room for any number that ta_unit_format() writes, terminator included. */
#define TA_UNIT_TEXT_MAX 48

/* Whether a word is what comes after a number, "ms" or "%". */
TA_API bool ta_unit_is_symbol(struct ta_slice word);

/* Name of the unit in report.json ("bytes_per_s"); a constant. */
TA_API const char *ta_unit_name(enum ta_unit unit);

/* "neutral", "lower" or "higher"; a constant. */
TA_API const char *ta_polarity_name(enum ta_polarity polarity);

/* Writes a value for people: three significant digits and the fitting prefix ("412 ms",
 * "1.25 GiB", "18.4 %"; shares below 1 % get two decimals, counts all their digits).  Never
 * depends on the locale; "" for what is not finite.  Returns `text`. */
TA_API char *ta_unit_format(char text[TA_UNIT_TEXT_MAX], double value, enum ta_unit unit);

/* Room for what ta_unit_format_pair() writes. */
#define TA_UNIT_PAIR_MAX 104

/* Two values that are to be compared, "45 s → 428 s": with the prefix of the smaller one as long as
 * that leaves the larger one readable, and without zeros that say nothing.  Returns `text`. */
TA_API char *ta_unit_format_pair(char text[TA_UNIT_PAIR_MAX], double before, double after,
                                 enum ta_unit unit);

/* ta_unit_format() for axis ticks: all ticks of an axis share the prefix that suits `largest`.
 * With `suffix` false the unit itself is left out. */
TA_API char *ta_unit_format_tick(char text[TA_UNIT_TEXT_MAX], double value, double largest,
                                 enum ta_unit unit, bool suffix);

/* The unit word that ta_unit_format_tick() uses for `largest`, for axis titles: "ms", "GB/s". */
TA_API const char *ta_unit_symbol(double largest, enum ta_unit unit);

/* Writes the shortest decimal text that reads back as the same double, without exponent
 * sign surprises ("1e+20" is "1e20"); not finite values are the caller's error. */
TA_API char *ta_number_format(char text[TA_UNIT_TEXT_MAX], double value);

TA_END_DECLS

#endif
