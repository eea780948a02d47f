/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that launched something, against a look through all activities. */
#include "model/launched.h"

#include "trace_fixture.h"

static bool launches(const struct ta_trace *trace, ta_row row)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    bool any = false;
    for (size_t i = 0; i < activities.n; i++)
        any |= activities.at[i].launch == row;
    return any;
}

static size_t linked(const struct ta_trace *trace)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    size_t n = 0;
    for (size_t i = 0; i < activities.n; i++)
        n += activities.at[i].launch != TA_NO_ROW;
    return n;
}

static void each_call_has_its_number(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct text text = {0};
        struct reading r;
        fixture_trace_text(&text, seed, 400, 0, 0);
        fixture_read(&fixture, text.at, text.n, &r);
        const struct ta_launched *launched = ta_trace_launched(r.trace);
        size_t n = 0;
        assert_non_null(launched);
        for (ta_row row = 0; row < ta_trace_spans(r.trace).n; row++) {
            const bool expected = launches(r.trace, row);
            assert_int_equal(ta_launched_has(launched, row), expected);
            if (expected)
                assert_int_equal(ta_launched_place(launched, row), n++);
        }
        assert_true(n > 0);
        assert_int_equal(launched->n, n);
        assert_int_equal(launched->n_activities, linked(r.trace));
        assert_ptr_equal(ta_trace_launched(r.trace), launched);
        reading_free(&r);
        text_free(&text);
    }
}

static void a_host_alone_launches_nothing(void **state)
{
    (void)state;
    struct reading r;
    fixture_read_events(&fixture,
                        "{'ph':'X','cat':'cpu_op','name':'a','pid':1,'tid':1,'ts':0,'dur':5},", &r);
    const struct ta_launched *launched = ta_trace_launched(r.trace);
    assert_non_null(launched);
    assert_int_equal(launched->n, 0);
    assert_false(ta_launched_has(launched, 0));
    reading_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_has_its_number),
        cmocka_unit_test(a_host_alone_launches_nothing),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
