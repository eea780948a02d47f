/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ticks: round numbers in the unit shown, inside the axis, for values from nothing to hours. */
#include "render/chart/axis.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_sound(const struct ta_axis *axis)
{
    assert_true(isfinite(axis->from) && isfinite(axis->to) && axis->from < axis->to);
    assert_in_range(axis->n_ticks, 1, TA_AXIS_TICKS_MAX);
    double slack = (axis->to - axis->from) * 1e-6;
    for (size_t i = 0; i < axis->n_ticks; i++) {
        assert_true(axis->ticks[i] >= axis->from - slack && axis->ticks[i] <= axis->to + slack);
        assert_true(i == 0 || axis->ticks[i] > axis->ticks[i - 1]);
    }
}

static void test_round_steps(void **state)
{
    (void)state;
    struct ta_axis axis = ta_axis_linear(0, 3.3e9, TA_UNIT_NS, 8, TA_AXIS_TIGHT);
    assert_sound(&axis);
    assert_int_equal(axis.n_ticks, 7);
    for (size_t i = 0; i < axis.n_ticks; i++)
        assert_true(fabs(axis.ticks[i] - 0.5e9 * (double)i) < 1);
    char text[TA_UNIT_TEXT_MAX];
    assert_string_equal(ta_axis_format(text, &axis, axis.ticks[3]), "1.5");
    assert_string_equal(ta_axis_symbol(&axis), "s");
}

static void test_round_ends(void **state)
{
    (void)state;
    struct ta_axis axis = ta_axis_linear(403, 447, TA_UNIT_NS, 5, TA_AXIS_ROUND);
    assert_sound(&axis);
    assert_true(axis.from == 400 && axis.to == 450);
    assert_true(axis.ticks[0] == axis.from && axis.ticks[axis.n_ticks - 1] == axis.to);
}

static void test_sizes_go_by_1024(void **state)
{
    (void)state;
    struct ta_axis axis = ta_axis_linear(0, 3.5 * 1024 * 1024, TA_UNIT_BYTES, 4, TA_AXIS_TIGHT);
    assert_sound(&axis);
    assert_true(axis.ticks[1] == 1024 * 1024);
    char text[TA_UNIT_TEXT_MAX];
    assert_string_equal(ta_axis_format(text, &axis, axis.ticks[1]), "1");
}

static void test_whole_units_are_not_split(void **state)
{
    (void)state;
    struct ta_axis axis = ta_axis_linear(0, 2, TA_UNIT_NS, 10, TA_AXIS_TIGHT);
    assert_sound(&axis);
    assert_int_equal(axis.n_ticks, 3);
}

static void test_any_range_is_usable(void **state)
{
    (void)state;
    static const double values[] = {0,    1,    7,   999,  1e3, 123456,  1e9,
                                    3e12, 1e18, -50, 1e-9, NAN, INFINITY};
    enum { N = sizeof values / sizeof *values };
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < N; k++)
            for (size_t want = 0; want < 30; want++) {
                struct ta_axis axis = ta_axis_linear(values[i], values[k], TA_UNIT_NS, want,
                                                     want % 2 ? TA_AXIS_TIGHT : TA_AXIS_ROUND);
                assert_sound(&axis);
            }
}

static void test_decades(void **state)
{
    (void)state;
    struct ta_axis axis = ta_axis_log(31, 2.1e6, TA_UNIT_NS, 9);
    assert_sound(&axis);
    assert_int_equal(axis.n_ticks, 5);
    for (size_t i = 0; i < axis.n_ticks; i++)
        assert_true(fabs(log10(axis.ticks[i]) - (double)(i + 2)) < 1e-9);
    char text[TA_UNIT_TEXT_MAX];
    assert_string_equal(ta_axis_format(text, &axis, axis.ticks[1]), "1 µs");
    assert_string_equal(ta_axis_symbol(&axis), "");
    axis = ta_axis_log(113e6, 180e6, TA_UNIT_NS, 9); /* less than a decade */
    assert_true(axis.n_ticks >= 2);
}

static void test_decades_of_all_times(void **state)
{
    (void)state;
    /* One nanosecond to three hours on a narrow and on a wide page, and a single value. */
    for (size_t want = 0; want < 30; want++) {
        struct ta_axis axis = ta_axis_log(1, 1.08e13, TA_UNIT_NS, want);
        assert_sound(&axis);
        assert_true(axis.n_ticks <= (want < 2 ? 2 : want) + 1);
        axis = ta_axis_log(5, 5, TA_UNIT_NS, want);
        assert_true(axis.from < axis.to);
    }
}

/* Sizes from a number to a film: ticks are powers of two that have round names. */
static void test_octaves_of_sizes(void **state)
{
    (void)state;
    char text[TA_UNIT_TEXT_MAX];
    for (size_t want = 2; want < 40; want++) {
        struct ta_axis axis = ta_axis_log(3, 3e9, TA_UNIT_BYTES, want);
        assert_in_range(axis.n_ticks, 1, want + 1);
        for (size_t i = 0; i < axis.n_ticks; i++)
            assert_null(strchr(ta_axis_format(text, &axis, axis.ticks[i]), '.'));
    }
    struct ta_axis axis = ta_axis_log(3, 3e9, TA_UNIT_BYTES, 8);
    assert_int_equal(axis.n_ticks, 6);
    assert_string_equal(ta_axis_format(text, &axis, axis.ticks[1]), "1 KiB");
    assert_string_equal(ta_axis_format(text, &axis, axis.ticks[5]), "1 GiB");
}

/* Numbers of ranks double; far apart they are powers of ten. */
static void test_octaves_of_counts(void **state)
{
    (void)state;
    struct ta_axis axis = ta_axis_log(1, 64, TA_UNIT_COUNT, 9);
    assert_int_equal(axis.n_ticks, 7);
    for (size_t i = 0; i < axis.n_ticks; i++)
        assert_true(axis.ticks[i] == exp2((double)i));
    axis = ta_axis_log(1, 1e6, TA_UNIT_COUNT, 9);
    assert_true(fabs(axis.ticks[1] / axis.ticks[0] - 10) < 1e-9);
}

static void test_shares(void **state)
{
    (void)state;
    struct ta_axis linear = ta_axis_linear(0, 200, TA_UNIT_NONE, 4, TA_AXIS_TIGHT);
    assert_true(ta_axis_share(&linear, 50) == 0.25);
    assert_true(ta_axis_share(&linear, -1) == 0 && ta_axis_share(&linear, 201) == 1);
    struct ta_axis log_axis = ta_axis_log(1, 10000, TA_UNIT_NONE, 4);
    assert_true(fabs(ta_axis_share(&log_axis, 100) - 0.5) < 1e-12);
    assert_true(ta_axis_share(&log_axis, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_steps),
        cmocka_unit_test(test_round_ends),
        cmocka_unit_test(test_sizes_go_by_1024),
        cmocka_unit_test(test_whole_units_are_not_split),
        cmocka_unit_test(test_any_range_is_usable),
        cmocka_unit_test(test_decades),
        cmocka_unit_test(test_decades_of_all_times),
        cmocka_unit_test(test_octaves_of_sizes),
        cmocka_unit_test(test_octaves_of_counts),
        cmocka_unit_test(test_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
