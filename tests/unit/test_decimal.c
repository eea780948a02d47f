/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Digits of doubles are those of printf(), and the fewest that strtod() reads back. */
#include "base/decimal.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t bits = UINT64_C(88172645463325252);

static uint64_t draw(void)
{
    bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
    return bits;
}

/* "d.ddde±x", as printf() writes it with n digits. */
static void print(char *text, const struct ta_decimal *d)
{
    *text++ = d->digits[0];
    if (d->n > 1)
        *text++ = '.';
    memcpy(text, d->digits + 1, (size_t)d->n - 1);
    sprintf(text + d->n - 1, "e%+03d", d->point - 1);
}

static void check_rounded(double value, int n)
{
    const struct ta_decimal d = ta_decimal_of(value, n);
    char text[40], expected[40];
    print(text, &d);
    snprintf(expected, sizeof expected, "%.*e", n - 1, value);
    assert_string_equal(text, expected);
}

static void check_exact(double value)
{
    const struct ta_decimal d = ta_decimal_exact(value);
    char text[40], expected[40];
    print(text, &d);
    int n = 15;
    do
        snprintf(expected, sizeof expected, "%.*e", n - 1, value);
    while (strtod(expected, NULL) != value && ++n <= 17);
    assert_string_equal(text, expected);
}

static void check(double value)
{
    for (int n = 1; n <= 17; n++)
        check_rounded(value, n);
    if (value >= DBL_MIN)
        check_exact(value);
}

/* Values of every size, by bits. */
static void any_value(void **state)
{
    (void)state;
    for (int i = 0; i < 4000; i++) {
        const uint64_t drawn = draw() >> 1;
        double value;
        memcpy(&value, &drawn, sizeof value);
        if (isfinite(value))
            check(value);
    }
}

/* Values as reports have them: ratios, sums, decimals, integers, and those next to them. */
static void usual_values(void **state)
{
    (void)state;
    for (int i = 0; i < 12000; i++) {
        const uint64_t a = draw() >> draw() % 60, b = 1 + (draw() >> (20 + draw() % 40));
        const double power = pow(10, (double)(draw() % 9));
        const double values[] = {(double)a / (double)b, (double)a / power, (double)a,
                                 (double)(a % 1000) / 1000};
        const double value = values[i % 4];
        check(value);
        check(nextafter(value, INFINITY));
        if (value > 0)
            check(nextafter(value, 0));
    }
}

/* Halves go to the even digit, nines over to the next power, powers of two have a nearer neighbor
 * below. */
static void edges(void **state)
{
    (void)state;
    static const double values[] = {0,
                                    0.5,
                                    1.5,
                                    2.5,
                                    0.125,
                                    0.375,
                                    9.995,
                                    99.95,
                                    999.5,
                                    9995,
                                    99999.5,
                                    1e15,
                                    1e16,
                                    1e22,
                                    1e23,
                                    1e-4,
                                    1e-5,
                                    1e-6,
                                    1e-7,
                                    1e-22,
                                    DBL_MIN,
                                    DBL_MAX,
                                    DBL_EPSILON,
                                    9007199254740991,
                                    9007199254740992,
                                    9007199254740993e1,
                                    0.1,
                                    0.2,
                                    0.3,
                                    5e-324};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        check(values[i]);
    for (int exponent = -100; exponent <= 100; exponent++) {
        check(ldexp(1, exponent));
        check(nextafter(ldexp(1, exponent), 0));
        check(nextafter(ldexp(1, exponent), INFINITY));
    }
}

static void trimmed(void **state)
{
    (void)state;
    assert_int_equal(ta_decimal_trimmed(ta_decimal_of(1200, 6)).n, 2);
    assert_int_equal(ta_decimal_trimmed(ta_decimal_of(0, 6)).n, 1);
    assert_int_equal(ta_decimal_trimmed(ta_decimal_of(0.123456, 6)).n, 6);
}

static void integers(void **state)
{
    (void)state;
    static const int64_t values[] = {0, 1, -1, 9, 10, -10, 99, 100, INT64_MAX, INT64_MIN};
    char text[24], expected[24];
    for (size_t i = 0; i < sizeof values / sizeof *values + 1000; i++) {
        const int64_t value =
            i < sizeof values / sizeof *values ? values[i] : (int64_t)draw() >> draw() % 64;
        snprintf(expected, sizeof expected, "%" PRId64, value);
        assert_ptr_equal(ta_decimal_integer(text, value), text + strlen(expected));
        assert_string_equal(text, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_value), cmocka_unit_test(usual_values), cmocka_unit_test(edges),
        cmocka_unit_test(trimmed),   cmocka_unit_test(integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
