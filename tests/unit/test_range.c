/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers at the ends of their ranges, and texts of them. */
#include "base/quality.h"
#include "model/range.h"
#include "trace_fixture.h"

#include <math.h>
#include <stdio.h>

static void test_ends(void **state)
{
    (void)state;
    for (int i = 0; i < TA_RANGE_COUNT; i++) {
        const enum ta_range range = (enum ta_range)i;
        const int64_t least = ta_range_least(range), most = ta_range_most(range);
        assert_true(ta_range_what(range)[0] != '\0');
        assert_true(least < most);
        assert_true(ta_range_has(range, least));
        assert_true(ta_range_has(range, most));
        assert_false(ta_range_has(range, least - 1));
        assert_false(ta_range_has(range, most + 1));
        assert_false(ta_range_has(range, INT64_MAX));
        assert_false(ta_range_has(range, TA_MISSING));
        assert_true(ta_range_has_real(range, (double)least));
        assert_true(ta_range_has_real(range, (double)most));
        assert_false(ta_range_has_real(range, NAN));
        assert_false(ta_range_has_real(range, INFINITY));
        assert_false(ta_range_has_real(range, -INFINITY));
        assert_false(ta_range_has_real(range, 1.8e19));
    }
    assert_false(ta_range_has_real(TA_RANGE_RATIO, nextafter(1, 2)));
    assert_true(ta_range_has_real(TA_RANGE_RATIO, 0.5));
}

static void test_texts(void **state)
{
    (void)state;
    const struct {
        const char *text;
        bool fits;
    } cases[] = {
        {"[4, 106, 1]", true},
        {"[4,106,1]", true},
        {"[]", true},
        {"", true},
        {"auto", true}, /* no number: others say what it is */
        {"device", true},
        {"0.006757", true},
        {"4294967295", true},
        {"4294967296", false},
        {"[1, 4294967296, 1]", false},
        {"[1, 1, 1e10]", false},
        {"-1", false},
        {"[1, -1, 1]", false},
        {"9223372036854775808", false},
        {"1e308", false},
        {"1e400", false},
        {"1.8e19", false},
        {"-0", true},
        {"5e-324", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(ta_range_has_all(TA_RANGE_GRID, ta_slice_of(cases[i].text)),
                         cases[i].fits);
    assert_true(ta_range_has_all(TA_RANGE_PERCENT, TA_LIT("99.99")));
    assert_false(ta_range_has_all(TA_RANGE_PERCENT, TA_LIT("100.5")));
    assert_false(ta_range_has_all(TA_RANGE_PERCENT, TA_LIT("-1.5")));
}

static void test_arguments(void **state)
{
    (void)state;
    assert_int_equal(ta_range_of_arg(TA_LIT("device")), TA_RANGE_DEVICE);
    assert_int_equal(ta_range_of_arg(TA_LIT("est. achieved occupancy %")), TA_RANGE_PERCENT);
    assert_int_equal(ta_range_of_arg(TA_LIT("correlation")), TA_RANGE_ANY);
    assert_int_equal(ta_range_of_arg(TA_LIT("")), TA_RANGE_ANY);
}

/* ---- at the door --------------------------------------------------------------------------- */

/* Two kernels that differ in one argument, which the second should not have. */
static void read_pair(const char *key, const char *good, const char *bad, struct reading *r)
{
    char text[1024];
    const char *const kernel =
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":1,\"tid\":7,\"ts\":%d,"
        "\"dur\":5,\"args\":{\"%s\":%s}}";
    int n = snprintf(text, sizeof text, "{\"traceEvents\":[");
    n += snprintf(text + n, sizeof text - (size_t)n, kernel, 10, key, good);
    n += snprintf(text + n, sizeof text - (size_t)n, ",");
    n += snprintf(text + n, sizeof text - (size_t)n, kernel, 20, key, bad);
    snprintf(text + n, sizeof text - (size_t)n, "]}");
    fixture_read_text(&fixture, text, r);
}

static void test_arguments_of_events(void **state)
{
    (void)state;
    static const struct {
        const char *key, *good, *bad;
    } cases[] = {
        {"device", "3", "9223372036854775807"},
        {"device", "-1", "4294967296"},
        {"device", "0", "-9223372036854775808"},
        {"device", "0", "1e308"},
        {"grid", "[64, 1, 1]", "[1, 18446744073709551615, 1]"},
        {"grid", "[64, 1, 1]", "[-1, 1, 1]"},
        {"block", "[1024, 1, 1]", "[1, 1e19, 1]"},
        {"blocks per SM", "0.006757", "9223372036854775807"},
        {"est. achieved occupancy %", "100", "1.8e19"},
        {"est. achieved occupancy %", "0", "101"},
        {"est. achieved occupancy %", "37.5", "-3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading r;
        read_pair(cases[i].key, cases[i].good, cases[i].bad, &r);
        assert_int_equal(r.status, TA_OK);
        assert_int_equal(r.kept, 2);
        assert_int_equal(ta_quality_count(&r.quality, TA_Q_BAD_NUMBER), 1);
        assert_true(r.quality.slots[TA_Q_BAD_NUMBER].first > 60); /* the second event */
        assert_int_equal(ta_trace_args(r.trace, cases[i].key).n, 1);
        reading_free(&r);
    }
}

static void test_facts_of_files(void **state)
{
    (void)state;
    static const char *const facts[] = {
        "\"distributedInfo\": {\"rank\": 9223372036854775807, \"world_size\": 2}",
        "\"distributedInfo\": {\"rank\": 1e19, \"world_size\": 2}",
        "\"distributedInfo\": {\"rank\": 4294967296}",
        "\"distributedInfo\": {\"world_size\": 4294967296}",
        "\"deviceProperties\": [{\"id\": 9223372036854775807, \"numSms\": 132}]",
        "\"deviceProperties\": [{\"id\": 0, \"numSms\": 1e308}]",
        "\"baseTimeNanoseconds\": 9223372036854774784",
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        char text[512];
        struct reading r;
        snprintf(text, sizeof text,
                 "{%s, \"traceEvents\": [{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1}]}",
                 facts[i]);
        fixture_read_text(&fixture, text, &r);
        assert_int_equal(r.status, TA_OK);
        assert_int_equal(r.rank, TA_MISSING);
        assert_int_equal(ta_quality_count(&r.quality, TA_Q_BAD_NUMBER), 1);
        assert_int_equal(r.quality.slots[TA_Q_BAD_NUMBER].first, 1);
        reading_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),           cmocka_unit_test(test_texts),
        cmocka_unit_test(test_arguments),      cmocka_unit_test(test_arguments_of_events),
        cmocka_unit_test(test_facts_of_files),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
