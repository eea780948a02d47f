/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decimal digits of doubles: the same as printf()'s, whatever the locale, at a hundredth of its
 * cost for the numbers that reports are full of. */
#ifndef TA_BASE_DECIMAL_H
#define TA_BASE_DECIMAL_H

#include "traceanalyze/base.h"

/* A magnitude as 0.DDD × 10^point. */
struct ta_decimal {
    char digits[20];
    int n, point;
};

/* A value ≥ 0 rounded to n significant digits, 1 … 17; exact halves go to the even digit.  One that
 * is infinite has no digits. */
struct ta_decimal ta_decimal_of(double value, int n);

/* The fewest digits, 15 at least, that read back as the same value; finite and ≥ 0. */
struct ta_decimal ta_decimal_exact(double value);

/* Without the zeros at the end. */
struct ta_decimal ta_decimal_trimmed(struct ta_decimal d);

/* Smallest number that is written with leading zeros. */
#define TA_SMALLEST_FIXED 1e-4

/* These write a text, end it with a null and give where that is: the digits with a decimal point
 * where it belongs, … */
char *ta_decimal_put_fixed(char *at, const struct ta_decimal *d);
/* … with an exponent, … */
char *ta_decimal_put_scientific(char *at, const struct ta_decimal *d);
/* … and an integer. */
char *ta_decimal_integer(char *at, int64_t value);

#endif
