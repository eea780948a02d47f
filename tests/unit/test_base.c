/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers with a fraction become whole ones: at the edges, and for what is no number. */
#include "traceanalyze/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_whole(void **state)
{
    (void)state;
    const struct {
        double value;
        int64_t whole;
    } cases[] = {
        {0.0, 0},
        {-0.0, 0},
        {0.5, 0},
        {-0.5, 0},
        {0x1.fffffffffffffp-1, 0},
        {1.5, 1},
        {-1.5, -1},
        {2.5, 2},
        {1e-320, 0},
        {0x1p53 + 2, (INT64_C(1) << 53) + 2},
        {0x1p62, INT64_C(1) << 62},
        {-0x1p62, -(INT64_C(1) << 62)},
        {0x1.fffffffffffffp62, INT64_MAX - 1023}, /* the largest double below 2^63 */
        {-0x1.fffffffffffffp62, -(INT64_MAX - 1023)},
        {0x1p63, INT64_MAX},
        {0x1.0000000000001p63, INT64_MAX},
        {1.8e19, INT64_MAX},
        {1e308, INT64_MAX},
        {INFINITY, INT64_MAX},
        {-0x1p63, -INT64_MAX}, /* INT64_MIN says that there is none */
        {-1e19, -INT64_MAX},
        {-INFINITY, -INT64_MAX},
        {NAN, TA_MISSING},
        {-NAN, TA_MISSING},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(ta_whole(cases[i].value), cases[i].whole);
}

static void test_whole_size(void **state)
{
    (void)state;
    assert_int_equal(ta_whole_size(0.0), 0);
    assert_int_equal(ta_whole_size(-0.5), 0);
    assert_int_equal(ta_whole_size(-1e300), 0);
    assert_int_equal(ta_whole_size(NAN), 0);
    assert_int_equal(ta_whole_size(3.99), 3);
    assert_int_equal(ta_whole_size(0x1p31), UINT32_C(1) << 31);
    assert_int_equal(ta_whole_size(0x1p64), PTRDIFF_MAX);
    assert_int_equal(ta_whole_size(INFINITY), PTRDIFF_MAX);
}

static void test_whole_int(void **state)
{
    (void)state;
    assert_int_equal(ta_whole_int(-2.75), -2);
    assert_int_equal(ta_whole_int(0x1p31 - 1), INT_MAX);
    assert_int_equal(ta_whole_int(0x1p31 - 0.5), INT_MAX);
    assert_int_equal(ta_whole_int(0x1p31), INT_MAX);
    assert_int_equal(ta_whole_int(1e19), INT_MAX);
    assert_int_equal(ta_whole_int(-0x1p31), -INT_MAX);
    assert_int_equal(ta_whole_int(-1e19), -INT_MAX);
    assert_int_equal(ta_whole_int(NAN), 0);
}

/* Cut between characters, where there is one at all. */
static void test_slice_head(void **state)
{
    (void)state;
    const struct ta_slice text = TA_LIT("a\u2192b");
    static const size_t lengths[] = {0, 1, 1, 1, 4, 5, 5};
    for (size_t most = 0; most < sizeof lengths / sizeof *lengths; most++)
        assert_int_equal(ta_slice_head(text, most).len, lengths[most]);
    assert_int_equal(ta_slice_head((struct ta_slice){NULL, 0}, 0).len, 0);
    assert_int_equal(ta_slice_head(TA_LIT("\x92\x92"), 1).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slice_head),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_whole_size),
        cmocka_unit_test(test_whole_int),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
