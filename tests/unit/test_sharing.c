/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The busy time of a device divided between the activities that run: the parts of all names add up
 * to it, on random traces and under more concurrency than is shared out. */
#include "report_fixture.h"

#include <stdio.h>

static int64_t exposed(const struct ta_report *report, const char *name)
{
    return report_number(report, "gpu_time.by_name", "name", name, "exposed_ns");
}

static void add_kernel(struct text *json, const char *name, int stream, int ts, int dur)
{
    text_add(json,
             "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":0,\"tid\":%d,\"ts\":%d.000,"
             "\"dur\":%d.001,\"args\":{\"device\":0}},",
             name, stream, ts, dur);
}

/* a 0…10.001, b 5…15.001, c 5…8.001, all in µs. */
static void three_at_once(void **state)
{
    (void)state;
    struct text json = {0};
    text_add(&json, "{\"traceEvents\":[");
    add_kernel(&json, "a", 1, 0, 10);
    add_kernel(&json, "b", 2, 5, 10);
    add_kernel(&json, "c", 3, 5, 3);
    text_add(&json, "{}]}");
    struct ta_report *report = report_on_text(json.at);
    /* 3001 ns of three: 1001, 1000, 1000; then 2000 ns of two; then b alone for 5000. */
    assert_int_equal(exposed(report, "a"), 5000 + 1001 + 1000);
    assert_int_equal(exposed(report, "b"), 1000 + 1000 + 5000);
    assert_int_equal(exposed(report, "c"), 1000);
    assert_int_equal(report_sum(report, "gpu_time.by_name", "exposed_ns"), 15001);
    ta_report_free(report);
    text_free(&json);
}

/* More at once than are shared out: the sum holds all the same. */
static void a_crowd(void **state)
{
    (void)state;
    struct text json = {0};
    char name[16];
    text_add(&json, "{\"traceEvents\":[");
    for (int i = 0; i < 700; i++) {
        snprintf(name, sizeof name, "k%d", i % 7);
        add_kernel(&json, name, i, i, 1000 - i);
    }
    text_add(&json, "{}]}");
    struct ta_report *report = report_on_text(json.at);
    assert_int_equal(report_sum(report, "gpu_time.by_name", "exposed_ns"),
                     report_sum(report, "gpu_time.by_rank", "busy_ns"));
    ta_report_free(report);
    text_free(&json);
}

static void random_traces(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct text json = {0};
        fixture_trace_text(&json, seed, 2000, 0, 0);
        struct ta_report *report = report_on_text(json.at);
        assert_true(report_sum(report, "gpu_time.by_rank", "busy_ns") > 0);
        assert_int_equal(report_sum(report, "gpu_time.by_name", "exposed_ns"),
                         report_sum(report, "gpu_time.by_rank", "busy_ns"));
        ta_report_free(report);
        text_free(&json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_at_once),
        cmocka_unit_test(a_crowd),
        cmocka_unit_test(random_traces),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
