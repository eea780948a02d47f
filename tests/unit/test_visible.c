/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text from input cannot act on a terminal. */
#include "base/visible.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SHOWS(literal, expected)                                                                   \
    do {                                                                                           \
        char out[256];                                                                             \
        size_t n = ta_visible(out, sizeof out, TA_LIT(literal));                                   \
        assert_string_equal(out, expected);                                                        \
        assert_int_equal(n, sizeof(expected) - 1);                                                 \
    } while (0)

static void keeps_text(void **state)
{
    (void)state;
    SHOWS("", "");
    SHOWS("aten::mm ~", "aten::mm ~");
    SHOWS("C:\\path", "C:\\path");
    SHOWS("\u00e9\u4e2d\U0001f600", "\u00e9\u4e2d\U0001f600");
}

static void escapes_controls(void **state)
{
    (void)state;
    SHOWS("a\033[31mb", "a\\x1b[31mb");
    SHOWS("\t\r\n", "\\x09\\x0d\\x0a");
    SHOWS("a\0b", "a\\x00b");
    SHOWS("\177", "\\x7f");
    SHOWS("\302\200\302\237\302\240", "\\u0080\\u009f\302\240");
}

static void escapes_bidi_controls(void **state)
{
    (void)state;
    SHOWS("\u200e\u200f\u061c", "\\u200e\\u200f\\u061c");
    SHOWS("\u202a\u202e\u2066\u2069", "\\u202a\\u202e\\u2066\\u2069");
    SHOWS("\u200d\u2029\u206a", "\u200d\u2029\u206a");
}

static void escapes_invalid_utf8(void **state)
{
    (void)state;
    SHOWS("\377x", "\\xffx");
    SHOWS("\300\257", "\\xc0\\xaf");                   /* overlong */
    SHOWS("\355\240\200", "\\xed\\xa0\\x80");          /* surrogate */
    SHOWS("\364\220\200\200", "\\xf4\\x90\\x80\\x80"); /* beyond U+10FFFF */
    SHOWS("\342\202", "\\xe2\\x82");                   /* cut */
}

static void cuts_between_characters(void **state)
{
    (void)state;
    char out[8];
    assert_int_equal(ta_visible(out, 8, TA_LIT("abcdefgh")), 7);
    assert_string_equal(out, "abcdefg");
    assert_int_equal(ta_visible(out, 8, TA_LIT("abcd\033")), 4);
    assert_string_equal(out, "abcd");
    assert_int_equal(ta_visible(out, 4, TA_LIT("ab\u00e9")), 2);
    assert_string_equal(out, "ab");
    assert_int_equal(ta_visible(out, 1, TA_LIT("ab")), 0);
    assert_string_equal(out, "");
    assert_int_equal(ta_visible(out, 0, TA_LIT("ab")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_text),
        cmocka_unit_test(escapes_controls),
        cmocka_unit_test(escapes_bidi_controls),
        cmocka_unit_test(escapes_invalid_utf8),
        cmocka_unit_test(cuts_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
