/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decimal text to integers: exact, halves away from zero, never through a double. */
#include "base/number.h"
#include "traceanalyze/document.h"

#include "trace_fixture.h"

#include <inttypes.h>
#include <stdio.h>

struct example {
    const char *text;
    int shift;
    int64_t value;
};

static void exact_values(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"0", 0, 0},
        {"-0", 3, 0},
        {"7", 0, 7},
        {"7", 3, 7000},
        {"-7.25", 3, -7250},
        {"1700000000123456.789", 3, INT64_C(1700000000123456789)},
        {"9007199254740993", 0, INT64_C(9007199254740993)}, /* 2^53 + 1 */
        {"1e3", 0, 1000},
        {"1E+3", 0, 1000},
        {"1.5e3", 0, 1500},
        {"12000e-3", 0, 12},
        {"1e-3", 3, 1},
        {"0.000000000000000000000000000001e30", 0, 1},
        {"100000000000000000000000000000e-29", 0, 1},
        {"9223372036854775807", 0, INT64_MAX},
        {"-9223372036854775807", 0, -INT64_MAX},
        {"9223372036854775.807", 3, INT64_MAX},
        {"9223372036854775807.4999", 0, INT64_MAX},
        {"0e999999999999999999999", 0, 0},
        {"0.000e-5", 3, 0},
        {"1e-999999999999999999999", 3, 0},
        {"5", -1, 1},
        {"4", -1, 0},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        int64_t value = 42;
        if (ta_decimal_parse(ta_slice_of(examples[i].text), examples[i].shift, &value) !=
                TA_DECIMAL_OK ||
            value != examples[i].value)
            fail_msg("%s is %" PRId64, examples[i].text, value);
    }
}

static void halves_go_away_from_zero(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"0.0005", 3, 1},       {"0.00049999999999999999999", 3, 0},
        {"-0.0005", 3, -1},     {"-0.00049999999999999999999", 3, 0},
        {"1.2345", 3, 1235},    {"1.2344999", 3, 1234},
        {"-1.2345", 3, -1235},  {"-1.2344999", 3, -1234},
        {"2.5", 0, 3},          {"-2.5", 0, -3},
        {"0.5", 0, 1},          {"0.05", 0, 0},
        {"5e-1", 0, 1},         {"5e-2", 0, 0},
        {"99.9995", 3, 100000}, {"-99.9995", 3, -100000},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        int64_t value = 42;
        if (ta_decimal_parse(ta_slice_of(examples[i].text), examples[i].shift, &value) !=
                TA_DECIMAL_OK ||
            value != examples[i].value)
            fail_msg("%s is %" PRId64, examples[i].text, value);
    }
}

/* A value that does not fit is never another value: rounding up may not wrap either. */
static void out_of_range(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "9223372036854775808",
        "-9223372036854775808",
        "9223372036854775807.5",
        "-9223372036854775807.5",
        "18446744073709551615",
        "18446744073709551616",
        "18446744073709551615.5",
        "-18446744073709551615.9",
        "1e19",
        "1e400",
        "-1e99999999999999999",
        "123456789012345678901234567890",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t value = 42;
        if (ta_decimal_parse(ta_slice_of(texts[i]), 0, &value) != TA_DECIMAL_OUT_OF_RANGE)
            fail_msg("%s is %" PRId64, texts[i], value);
        assert_int_equal(value, 42);
    }
    int64_t value = 42;
    assert_int_equal(ta_decimal_parse(TA_LIT("9223372036854775.8075"), 3, &value),
                     TA_DECIMAL_OUT_OF_RANGE);
}

static void not_a_number(void **state)
{
    (void)state;
    static const char *const texts[] = {"",    "-",     "+1",   ".5",  "1.",  "1e",  "1e+",
                                        "1e-", " 1",    "1 ",   "1,5", "NaN", "inf", "0x1",
                                        "--1", "1.5.2", "1e5e", "1_0", "e5",  "-.5", "1.e5"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t value = 42;
        if (ta_decimal_parse(ta_slice_of(texts[i]), 0, &value) != TA_DECIMAL_NOT_A_NUMBER)
            fail_msg("\"%s\" is %" PRId64, texts[i], value);
        assert_int_equal(value, 42);
    }
    int64_t value = 42;
    assert_int_equal(ta_decimal_parse((struct ta_slice){"1\0", 2}, 0, &value),
                     TA_DECIMAL_NOT_A_NUMBER);
}

static __int128 power_of_ten(int n)
{
    __int128 power = 1;
    while (n-- > 0)
        power *= 10;
    return power;
}

/* digits × 10^scale by integer arithmetic. */
static enum ta_decimal by_arithmetic(__int128 digits, bool negative, int scale, int64_t *value)
{
    if (scale >= 0) {
        digits *= power_of_ten(scale);
    } else {
        const __int128 divisor = power_of_ten(-scale);
        digits = digits / divisor + (digits % divisor * 2 >= divisor);
    }
    if (digits > INT64_MAX)
        return TA_DECIMAL_OUT_OF_RANGE;
    *value = negative ? -(int64_t)digits : (int64_t)digits;
    return TA_DECIMAL_OK;
}

static void random_numbers_as_by_arithmetic(void **state)
{
    (void)state;
    struct rng rng = {20240601};
    for (int round = 0; round < 300000; round++) {
        const int whole = 1 + (int)rng_below(&rng, 13), fraction = (int)rng_below(&rng, 8);
        const int exponent = (int)rng_below(&rng, 13) - 6, shift = (int)rng_below(&rng, 10);
        const bool negative = rng_below(&rng, 2);
        char text[64];
        size_t n = 0;
        __int128 digits = 0;
        if (negative)
            text[n++] = '-';
        for (int i = 0; i < whole + fraction; i++) {
            /* Fives, nines and zeros are where rounding happens. */
            static const char likely[] = "0123456789550099";
            const char digit = likely[rng_below(&rng, 16)];
            if (i == whole)
                text[n++] = '.';
            text[n++] = digit;
            digits = digits * 10 + (digit - '0');
        }
        text[n] = '\0';
        const bool has_exponent = rng_below(&rng, 2);
        if (has_exponent)
            n += (size_t)snprintf(text + n, sizeof text - n, "e%d", exponent);
        int64_t expected = 0, value = 0;
        const enum ta_decimal result = by_arithmetic(
            digits, negative, shift - fraction + (has_exponent ? exponent : 0), &expected);
        if (ta_decimal_parse((struct ta_slice){text, n}, shift, &value) != result ||
            value != expected)
            fail_msg("%s shifted by %d is %" PRId64 ", not %" PRId64, text, shift, value, expected);
    }
}

static struct ta_token token_of(enum ta_token_type type, const char *text)
{
    return (struct ta_token){text, (uint32_t)strlen(text), (uint8_t)type, 1, 0, 0};
}

static void integers_of_tokens(void **state)
{
    (void)state;
    int64_t value;
    struct ta_token token = token_of(TA_TOKEN_NUMBER, "12");
    assert_true(ta_token_integer(&token, &value));
    assert_int_equal(value, 12);
    token = token_of(TA_TOKEN_STRING, "-3");
    assert_true(ta_token_integer(&token, &value));
    assert_int_equal(value, -3);
    static const char *const bad[] = {"", "-", "1.0", "1e3", "9223372036854775808", "x", "1x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        token = token_of(TA_TOKEN_STRING, bad[i]);
        assert_false(ta_token_integer(&token, &value));
    }
    token = token_of(TA_TOKEN_TRUE, "1");
    assert_false(ta_token_integer(&token, &value));
    token = token_of(TA_TOKEN_BAD, "1");
    assert_false(ta_token_integer(&token, &value));
    assert_int_equal(value, -3);
}

static void doubles_of_tokens(void **state)
{
    (void)state;
    double value = 42;
    struct ta_token token = token_of(TA_TOKEN_NUMBER, "-1.25e2");
    assert_true(ta_token_double(&token, &value));
    assert_true(value == -125.0);
    token = token_of(TA_TOKEN_NUMBER, "0.1");
    assert_true(ta_token_double(&token, &value));
    assert_true(value == 0.1);
    token = token_of(TA_TOKEN_NUMBER, "1e400"); /* infinity is no value */
    assert_false(ta_token_double(&token, &value));
    token = token_of(TA_TOKEN_STRING, "1");
    assert_false(ta_token_double(&token, &value));
    assert_true(value == 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_values),
        cmocka_unit_test(halves_go_away_from_zero),
        cmocka_unit_test(out_of_range),
        cmocka_unit_test(not_a_number),
        cmocka_unit_test(random_numbers_as_by_arithmetic),
        cmocka_unit_test(integers_of_tokens),
        cmocka_unit_test(doubles_of_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
