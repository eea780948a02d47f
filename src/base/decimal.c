/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/decimal.h"

#include "traceanalyze/report.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Beyond this a double is no exact integer and digits of it would be invented. */
#define LARGEST_EXACT 9007199254740992.0 /* 2^53 */

typedef unsigned __int128 wide;

/* Products stay below this, so that twice their remainders can be compared. */
enum { WIDE_BITS = 126 };

/* Digits that always suffice for a double, and that nearly always do. */
enum { DIGITS_MOST = 17, DIGITS_USUAL = 15 };

/* ---- exact, for numbers that are neither huge nor tiny --------------------------------------- */

/* A value × 10^scale as a fraction. */
struct fraction {
    wide over, under;
    wide whole, rest; /* of the division */
    wide ulp;         /* the distance to the next double, as `over` */
    bool is_lowest;   /* the next double below is half as far */
    bool is_even;     /* halfway values are read as this one */
};

static unsigned bits_of(wide value)
{
    const uint64_t high = (uint64_t)(value >> 64), low = (uint64_t)value;
    return high  ? 128 - (unsigned)__builtin_clzll(high)
           : low ? 64 - (unsigned)__builtin_clzll(low)
                 : 0;
}

/* 10^n for n up to 38. */
static wide power_of_ten(int n)
{
    enum { HALF = 19 };
    static const uint64_t powers[HALF + 1] = {
        UINT64_C(1),
        UINT64_C(10),
        UINT64_C(100),
        UINT64_C(1000),
        UINT64_C(10000),
        UINT64_C(100000),
        UINT64_C(1000000),
        UINT64_C(10000000),
        UINT64_C(100000000),
        UINT64_C(1000000000),
        UINT64_C(10000000000),
        UINT64_C(100000000000),
        UINT64_C(1000000000000),
        UINT64_C(10000000000000),
        UINT64_C(100000000000000),
        UINT64_C(1000000000000000),
        UINT64_C(10000000000000000),
        UINT64_C(100000000000000000),
        UINT64_C(1000000000000000000),
        UINT64_C(10000000000000000000),
    };
    return n <= HALF ? powers[n] : (wide)powers[HALF] * powers[n - HALF];
}

/* False when it takes more bits than there are. */
static bool make_fraction(double value, int scale, struct fraction *f)
{
    enum { POWER_MAX = 27 };
    int exponent;
    const uint64_t mantissa = (uint64_t)ta_whole(ldexp(frexp(value, &exponent), DBL_MANT_DIG));
    exponent -= DBL_MANT_DIG;
    const int up = exponent > 0 ? exponent : 0, down = exponent < 0 ? -exponent : 0;
    if (scale > POWER_MAX || -scale > POWER_MAX || up > WIDE_BITS || down > WIDE_BITS)
        return false;
    const wide times = power_of_ten(scale > 0 ? scale : 0);
    const wide parts = power_of_ten(scale < 0 ? -scale : 0);
    if (bits_of(times) + DBL_MANT_DIG + (unsigned)up > WIDE_BITS ||
        bits_of(parts) + (unsigned)down > WIDE_BITS)
        return false;
    f->ulp = times << up;
    f->over = f->ulp * mantissa;
    f->under = parts << down;
    f->whole = f->over / f->under;
    f->rest = f->over - f->whole * f->under;
    f->is_lowest = mantissa == UINT64_C(1) << (DBL_MANT_DIG - 1);
    f->is_even = mantissa % 2 == 0;
    return true;
}

static uint64_t rounded(const struct fraction *f)
{
    const uint64_t whole = (uint64_t)f->whole;
    const wide twice = f->rest * 2;
    return whole + (twice > f->under || (twice == f->under && whole % 2));
}

/* Whether the integer over 10^scale is read as the value and not as a double next to it. */
static bool reads_back(const struct fraction *f, uint64_t integer)
{
    const wide shown = integer * f->under;
    const bool is_below = shown < f->over;
    const wide twice = (is_below ? f->over - shown : shown - f->over) * 2;
    const wide reach = is_below && f->is_lowest ? f->ulp / 2 : f->ulp;
    return twice < reach || (twice == reach && f->is_even);
}

static struct ta_decimal decimal_from(uint64_t integer, int n, int scale)
{
    struct ta_decimal d = {.n = n, .point = n - scale};
    for (int i = n; i-- > 0; integer /= 10)
        d.digits[i] = (char)('0' + integer % 10);
    return d;
}

/* False when another way is needed; `value` > 0. */
static bool exact_digits(double value, int n, struct ta_decimal *d, bool *is_exact)
{
    const uint64_t most = (uint64_t)power_of_ten(n), least = most / 10;
    int scale =
        n - 1 - ta_whole_int(floor(log10(value))); /* or a neighbor, next to a power of ten */
    for (int tries = 0; tries < 2; tries++) {
        struct fraction f;
        if (!make_fraction(value, scale, &f) || f.whole >= (wide)most * 10)
            return false;
        const uint64_t whole = (uint64_t)f.whole;
        if (whole < least) {
            scale++;
        } else if (whole >= most) {
            scale--;
        } else {
            const uint64_t integer = rounded(&f);
            *d = integer < most ? decimal_from(integer, n, scale)
                                : decimal_from(least, n, scale - 1); /* 999.6 is 1.00e3 */
            *is_exact = reads_back(&f, integer);
            return true;
        }
    }
    return false;
}

/* ---- by the library, for all the others ------------------------------------------------------ */

/* Takes only digits and exponent of the text: the decimal point depends on the locale. */
static struct ta_decimal printed_digits(double value, int n, bool *is_exact)
{
    char text[48];
    snprintf(text, sizeof text, "%.*e", n - 1, value);
    struct ta_decimal d = {.n = 0};
    const char *at = text;
    for (; *at && *at != 'e'; at++)
        if (*at >= '0' && *at <= '9' && d.n < (int)sizeof d.digits)
            d.digits[d.n++] = *at;
    d.point = *at ? (int)strtol(at + 1, NULL, 10) + 1 : 1;
    *is_exact = strtod(text, NULL) == value; /* the same locale */
    return d;
}

static struct ta_decimal digits_of(double value, int n, bool *is_exact)
{
    struct ta_decimal d;
    if (value > 0 && isfinite(value) && exact_digits(value, n, &d, is_exact))
        return d;
    return printed_digits(value, n, is_exact);
}

/* ---- both ----------------------------------------------------------------------------------- */

struct ta_decimal ta_decimal_of(double value, int n)
{
    bool is_exact;
    return digits_of(value, n, &is_exact);
}

struct ta_decimal ta_decimal_exact(double value)
{
    int n = value < DBL_MIN ? 1 : DIGITS_USUAL; /* subnormal numbers have fewer digits */
    for (;; n++) {
        bool is_exact;
        const struct ta_decimal d = digits_of(value, n, &is_exact);
        if (is_exact || n == DIGITS_MOST)
            return d;
    }
}

struct ta_decimal ta_decimal_trimmed(struct ta_decimal d)
{
    while (d.n > 1 && d.digits[d.n - 1] == '0')
        d.n--;
    return d;
}

char *ta_decimal_integer(char *at, int64_t value)
{
    char digits[20];
    size_t n = 0;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[n++] = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (value < 0)
        *at++ = '-';
    while (n)
        *at++ = digits[--n];
    *at = '\0';
    return at;
}

/* ---- as text --------------------------------------------------------------------------------- */

char *ta_decimal_put_fixed(char *at, const struct ta_decimal *d)
{
    if (d->point <= 0)
        at = stpcpy(at, "0.");
    for (int i = d->point; i < 0; i++)
        *at++ = '0';
    for (int i = 0; i < d->n || i < d->point; i++) {
        if (i == d->point && i > 0)
            *at++ = '.';
        *at++ = (char)(i < d->n ? d->digits[i] : '0');
    }
    *at = '\0';
    return at;
}

char *ta_decimal_put_scientific(char *at, const struct ta_decimal *d)
{
    struct ta_decimal mantissa = *d;
    mantissa.point = 1;
    at = ta_decimal_put_fixed(at, &mantissa);
    return at + snprintf(at, 8, "e%d", d->point - 1);
}

char *ta_number_format(char text[TA_UNIT_TEXT_MAX], double value)
{
    if (fabs(value) < LARGEST_EXACT && value == trunc(value)) {
        ta_decimal_integer(text, ta_whole(value));
        return text;
    }
    const double magnitude = fabs(value);
    const struct ta_decimal d = ta_decimal_trimmed(ta_decimal_exact(magnitude));
    char *at = text;
    if (value < 0)
        *at++ = '-';
    if (magnitude >= LARGEST_EXACT || magnitude < TA_SMALLEST_FIXED)
        ta_decimal_put_scientific(at, &d);
    else
        ta_decimal_put_fixed(at, &d);
    return text;
}
