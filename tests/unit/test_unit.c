/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers for people and for JSON: prefixes, rounding, extremes, locales. */
#include "report/unit.h"
#include "traceanalyze/report.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define NNBSP "\xe2\x80\xaf"

struct example {
    double value;
    enum ta_unit unit;
    const char *text;
};

static const struct example examples[] = {
    {0, TA_UNIT_NS, "0 ns"},
    {5, TA_UNIT_NS, "5 ns"},
    {999, TA_UNIT_NS, "999 ns"},
    {12.345, TA_UNIT_NS, "12.3 ns"},
    {999.6, TA_UNIT_NS, "1.00 µs"},
    {1000, TA_UNIT_NS, "1.00 µs"},
    {999499, TA_UNIT_NS, "999 µs"},
    {999500, TA_UNIT_NS, "1.00 ms"},
    {412e6, TA_UNIT_NS, "412 ms"},
    {59.96e9, TA_UNIT_NS, "60.0 s"},
    {90e9, TA_UNIT_NS, "90.0 s"},
    {599.4e9, TA_UNIT_NS, "599 s"},
    {599.9e9, TA_UNIT_NS, "10.0 min"},
    {3600e9, TA_UNIT_NS, "60.0 min"},
    {9.2e18, TA_UNIT_NS, "153" NNBSP "333" NNBSP "333 min"},
    {-1500, TA_UNIT_NS, "-1.50 µs"},
    {0, TA_UNIT_BYTES, "0 B"},
    {1023, TA_UNIT_BYTES, "1" NNBSP "023 B"},
    {1024, TA_UNIT_BYTES, "1.00 KiB"},
    {1048575, TA_UNIT_BYTES, "1.00 MiB"},
    {1342177280, TA_UNIT_BYTES, "1.25 GiB"},
    {0, TA_UNIT_COUNT, "0"},
    {999, TA_UNIT_COUNT, "999"},
    {1234567, TA_UNIT_COUNT, "1" NNBSP "234" NNBSP "567"},
    {-1234, TA_UNIT_COUNT, "-1" NNBSP "234"},
    {12.25, TA_UNIT_COUNT, "12.2"},
    {0.184, TA_UNIT_RATIO, "18.4 %"},
    {1, TA_UNIT_RATIO, "100 %"},
    {0, TA_UNIT_RATIO, "0 %"},
    {0.9996, TA_UNIT_RATIO, "100 %"},
    {0.00412, TA_UNIT_RATIO, "0.41 %"},
    {0.000051, TA_UNIT_RATIO, "0.01 %"},
    {0.00004, TA_UNIT_RATIO, "<0.01 %"},
    {-0.00004, TA_UNIT_RATIO, "-<0.01 %"},
    {0.009999, TA_UNIT_RATIO, "1.00 %"},
    {-0.05, TA_UNIT_RATIO, "-5.00 %"},
    {12.5, TA_UNIT_RATIO, "1" NNBSP "250 %"},
    {24, TA_UNIT_PER_S, "24 /s"},
    {1.784, TA_UNIT_PER_S_CHANGE, "+1.78 /s"},
    {-2e9, TA_UNIT_BYTES_PER_S_CHANGE, "-2.00 GB/s"},
    {2e9, TA_UNIT_BYTES_PER_S_CHANGE, "+2.00 GB/s"},
    {12, TA_UNIT_WATT_CHANGE, "+12 W"},
    {9.7, TA_UNIT_PER_S, "9.70 /s"},
    {3.35e12, TA_UNIT_BYTES_PER_S, "3.35 TB/s"},
    {12.5e9, TA_UNIT_BYTES_PER_S, "12.5 GB/s"},
    {65, TA_UNIT_CELSIUS, "65 °C"},
    {700, TA_UNIT_WATT, "700 W"},
    {1500, TA_UNIT_WATT, "1.50 kW"},
    {989e12, TA_UNIT_FLOP_PER_S, "989 TFLOP/s"},
    {123456, TA_UNIT_NONE, "123456"},
    {0.123456, TA_UNIT_NONE, "0.123"},
    {1e-9, TA_UNIT_NONE, "1.00e-9"},
    {-1e-9, TA_UNIT_NONE, "-1.00e-9"},
    {0.0001, TA_UNIT_NONE, "0.000100"},
    {1e300, TA_UNIT_COUNT, "1.00e300"},
    {-0.0, TA_UNIT_COUNT, "0"},
};

static void people_read_three_digits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char text[TA_UNIT_TEXT_MAX];
        assert_string_equal(ta_unit_format(text, examples[i].value, examples[i].unit),
                            examples[i].text);
    }
}

/* No value of any unit may overrun the buffer or come out empty. */
static void extremes_fit(void **state)
{
    (void)state;
    static const double values[] = {
        DBL_MAX,           -DBL_MAX, DBL_MIN,    4.9e-324,          9.2233720368547758e18,
        999999999999999.0, 1e15,     0.00009999, -123456789012345.6};
    for (int unit = 0; unit < TA_UNIT_COUNT_OF_UNITS; unit++) {
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            char text[TA_UNIT_TEXT_MAX], tick[TA_UNIT_TEXT_MAX];
            ta_unit_format(text, values[i], (enum ta_unit)unit);
            ta_unit_format_tick(tick, values[i], values[i], (enum ta_unit)unit, true);
            assert_in_range(strlen(text), 1, TA_UNIT_TEXT_MAX - 1);
            assert_in_range(strlen(tick), 1, TA_UNIT_TEXT_MAX - 1);
        }
    }
}

static void not_finite_is_empty(void **state)
{
    (void)state;
    char text[TA_UNIT_TEXT_MAX];
    assert_string_equal(ta_unit_format(text, (double)NAN, TA_UNIT_NS), "");
    assert_string_equal(ta_unit_format(text, (double)INFINITY, TA_UNIT_COUNT), "");
}

static void ticks_share_a_prefix(void **state)
{
    (void)state;
    char text[TA_UNIT_TEXT_MAX];
    assert_string_equal(ta_unit_format_tick(text, 0, 1e6, TA_UNIT_NS, true), "0 ms");
    assert_string_equal(ta_unit_format_tick(text, 0.5e6, 1e6, TA_UNIT_NS, true), "0.5 ms");
    assert_string_equal(ta_unit_format_tick(text, 1e6, 1e6, TA_UNIT_NS, false), "1");
    assert_string_equal(ta_unit_format_tick(text, 0.3 * 1e6, 1e6, TA_UNIT_NS, false), "0.3");
    assert_string_equal(ta_unit_format_tick(text, 500e9, 1500e9, TA_UNIT_NS, true), "500 s");
    assert_string_equal(ta_unit_format_tick(text, 0.2, 1, TA_UNIT_RATIO, true), "20 %");
    assert_string_equal(ta_unit_format_tick(text, 20000, 50000, TA_UNIT_COUNT, true),
                        "20" NNBSP "000");
    assert_string_equal(ta_unit_format_tick(text, -5, 10, TA_UNIT_NONE, true), "-5");
    assert_string_equal(ta_unit_symbol(1e6, TA_UNIT_NS), "ms");
    assert_string_equal(ta_unit_symbol(900e9, TA_UNIT_NS), "s");
    assert_string_equal(ta_unit_symbol(3e9, TA_UNIT_BYTES_PER_S), "GB/s");
    assert_string_equal(ta_unit_symbol(1, TA_UNIT_RATIO), "%");
    assert_string_equal(ta_unit_symbol(5, TA_UNIT_COUNT), "");
}

static void doubles_read_back(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } exact[] = {
        {0, "0"},
        {-0.0, "0"},
        {5, "5"},
        {-5, "-5"},
        {0.1, "0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {1e20, "1e20"},
        {1e-7, "1e-7"},
        {1.5e-7, "1.5e-7"},
        {5e-324, "5e-324"},
        {123456.789, "123456.789"},
        {0.00001, "1e-5"},
        {0.000123, "0.000123"},
        {-0.25, "-0.25"},
        {999999999.999999, "999999999.999999"},
        {DBL_MAX, "1.7976931348623157e308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {9007199254740993e3, "9.007199254740993e18"},
    };
    char text[TA_UNIT_TEXT_MAX];
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        assert_string_equal(ta_number_format(text, exact[i].value), exact[i].text);
    uint64_t bits = UINT64_C(88172645463325252);
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            assert_true(strtod(ta_number_format(text, value), NULL) == value);
    }
}

/* What has up to six decimals is what 15 digits of the library say. */
static void few_decimals(void **state)
{
    (void)state;
    static const double scales[] = {1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    uint64_t bits = UINT64_C(88172645463325252);
    char text[TA_UNIT_TEXT_MAX], expected[64];
    for (int i = 0; i < 70000; i++) {
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        const double value = (double)((int64_t)(bits >> 20) >> bits % 40) / scales[i % 7];
        if (fabs(value) < 1e-4 || fabs(value) >= 1e9)
            continue;
        snprintf(expected, sizeof expected, "%.15g", value);
        if (strtod(expected, NULL) == value)
            assert_string_equal(ta_number_format(text, value), expected);
    }
}

/* The decimal point of a German locale must not show. */
static void locale_does_not_matter(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
        skip();
    char text[TA_UNIT_TEXT_MAX];
    assert_string_equal(ta_number_format(text, 0.1), "0.1");
    assert_string_equal(ta_number_format(text, 1.5e-9), "1.5e-9");
    assert_string_equal(ta_unit_format(text, 1.25e9, TA_UNIT_NS), "1.25 s");
    assert_string_equal(ta_unit_format_tick(text, 0.5e6, 1e6, TA_UNIT_NS, true), "0.5 ms");
    setlocale(LC_ALL, "C");
}

static void names_are_those_of_the_schema(void **state)
{
    (void)state;
    assert_string_equal(ta_unit_name(TA_UNIT_BYTES_PER_S), "bytes_per_s");
    assert_string_equal(ta_unit_name(TA_UNIT_NONE), "none");
    assert_string_equal(ta_polarity_name(TA_LOWER), "lower");
    for (int unit = 0; unit < TA_UNIT_COUNT_OF_UNITS; unit++)
        assert_non_null(ta_unit_name((enum ta_unit)unit));
}

/* What is compared has one unit, unless that makes one of the two unreadable. */
static void compared_values_share_a_unit(void **state)
{
    (void)state;
    static const struct {
        double before, after;
        enum ta_unit unit;
        const char *first, *second;
    } all[] = {
        {119e9, 159e9, TA_UNIT_NS, "119 s", "159 s"},
        {100e9, 1500e9, TA_UNIT_NS, "1.67 min", "25.0 min"},
        {0.7e6, 5e6, TA_UNIT_NS, "0.700 ms", "5.00 ms"},
        {319e6, 5.19e9, TA_UNIT_NS, "0.319 s", "5.19 s"},
        {10.5e3, 16e6, TA_UNIT_NS, "10.5 µs", "16.0 ms"},
        {0, 40.6e6, TA_UNIT_NS, "0 ms", "40.6 ms"},
        {-883e3, 0, TA_UNIT_NS, "-883 µs", "0 µs"},
        {620.0 * (1 << 20), 1200.0 * (1 << 20), TA_UNIT_BYTES, "0.605 GiB", "1.17 GiB"},
        {0.834, 0.96, TA_UNIT_RATIO, "83.4 %", "96.0 %"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[TA_UNIT_TEXT_MAX];
        assert_string_equal(ta_unit_format_compared(text, all[i].before, all[i].after, all[i].unit),
                            all[i].first);
        assert_string_equal(ta_unit_format_compared(text, all[i].after, all[i].before, all[i].unit),
                            all[i].second);
    }
}

/* "+8.61 min" does not come next to seconds. */
static void changes_have_no_larger_unit(void **state)
{
    (void)state;
    char text[TA_UNIT_TEXT_MAX];
    assert_string_equal(ta_unit_format_change(text, 516e9, 109e9, 625e9, TA_UNIT_NS_CHANGE),
                        "+516 s");
    assert_string_equal(ta_unit_format_change(text, 368e3, 319e6, 319.368e6, TA_UNIT_NS_CHANGE),
                        "+368 µs");
    assert_string_equal(ta_unit_format_change(text, -30e9, 200e9, 170e9, TA_UNIT_NS_CHANGE),
                        "-30.0 s");
}

static void symbols_are_known(void **state)
{
    (void)state;
    static const char *const symbols[] = {"ns", "µs", "min", "%", "GiB", "/s", "kHz", "W", "°C"};
    static const char *const words[] = {"", "3", "of", "n", "mss", "s."};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        assert_true(ta_unit_is_symbol(ta_slice_of(symbols[i])));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_false(ta_unit_is_symbol(ta_slice_of(words[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(people_read_three_digits),
        cmocka_unit_test(extremes_fit),
        cmocka_unit_test(not_finite_is_empty),
        cmocka_unit_test(ticks_share_a_prefix),
        cmocka_unit_test(doubles_read_back),
        cmocka_unit_test(few_decimals),
        cmocka_unit_test(locale_does_not_matter),
        cmocka_unit_test(names_are_those_of_the_schema),
        cmocka_unit_test(symbols_are_known),
        cmocka_unit_test(compared_values_share_a_unit),
        cmocka_unit_test(changes_have_no_larger_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
