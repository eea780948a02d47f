/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of merging: times of clocks that are off and drift, ids that stay apart. */
#include "merge/ids.h"
#include "merge/merge.h"

#include "trace_fixture.h"

static void times(void **state)
{
    (void)state;
    const struct ta_clock_shift still = {.offset_ns = -5};
    assert_int_equal(ta_clock_forth(&still, 12), 7);
    /* 20 parts in a million: 20 µs in a second, on both sides of the origin. */
    const struct ta_clock_shift fast = {
        .offset_ns = 1000, .drift_ppt = 20000000, .origin_ns = 3000000000};
    assert_int_equal(ta_clock_forth(&fast, 3000000000), 3000001000);
    assert_int_equal(ta_clock_forth(&fast, 4000000000), 4000021000);
    assert_int_equal(ta_clock_forth(&fast, 2000000000), 1999981000);
    /* Halves of ns go away from zero: 25 µs × 20e-6 = 0.5 ns. */
    assert_int_equal(ta_clock_forth(&fast, 3000025000), 3000026001);
    assert_int_equal(ta_clock_forth(&fast, 3000024999), 3000025999);
    assert_int_equal(ta_clock_forth(&fast, 2999975000), 2999975999);
}

static void times_at_the_ends(void **state)
{
    (void)state;
    const struct ta_clock_shift clock = {.offset_ns = INT64_MAX, .drift_ppt = -500000000};
    assert_int_equal(ta_clock_forth(&clock, INT64_MAX), INT64_MAX - INT64_C(4611686018427388));
    const struct ta_clock_shift back = {.offset_ns = INT64_MIN + 1};
    assert_int_equal(ta_clock_forth(&back, INT64_MIN + 1), INT64_MIN + 1);
}

static void expect_id(struct merge_ids *ids, const char *text, int64_t expected)
{
    int64_t number;
    assert_true(merge_ids_number(ids, ta_slice_of(text), &number));
    assert_int_equal(number, expected);
}

static void ids_of_traces(void **state)
{
    (void)state;
    struct merge_ids ids = {.limit = 16};
    int64_t number;
    merge_ids_next(&ids, 0);
    expect_id(&ids, "0", 0);
    expect_id(&ids, "9999999999", 9999999999);
    expect_id(&ids, "10000000000", 9000000000000001);
    expect_id(&ids, "0x1f", 9000000000000002);
    expect_id(&ids, "007", 9000000000000003);
    expect_id(&ids, "-1", 9000000000000004);
    expect_id(&ids, "0x1f", 9000000000000002);
    merge_ids_next(&ids, 2);
    expect_id(&ids, "9999999999", 29999999999);
    expect_id(&ids, "0x1f", 9000000000000005);
    assert_false(merge_ids_number(&ids, TA_LIT(""), &number));
    assert_false(ids.is_full || ids.failed);
    merge_ids_free(&ids);
}

static void too_many_ids(void **state)
{
    (void)state;
    struct merge_ids ids = {.limit = 2};
    int64_t number;
    expect_id(&ids, "a", 9000000000000001);
    expect_id(&ids, "b", 9000000000000002);
    assert_false(merge_ids_number(&ids, TA_LIT("c"), &number));
    assert_true(ids.is_full);
    assert_false(ids.failed);
    expect_id(&ids, "a", 9000000000000001);
    merge_ids_next(&ids, 1); /* the next trace has as many of its own */
    expect_id(&ids, "c", 9000000000000003);
    merge_ids_free(&ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(times), cmocka_unit_test(times_at_the_ends),
                                       cmocka_unit_test(ids_of_traces),
                                       cmocka_unit_test(too_many_ids)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
