/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The critical path: known chains on small traces, and identities on random ones. */
#include "events.h"
#include "report_fixture.h"

static int64_t class(const struct ta_report *report, const char *name)
{
    return report_number(report, "critical_path.by_class", "class", name, "total_ns");
}

#define SPAN(tid, cat, name, ts, dur) EVENT_SPAN(cat, name, tid, ts, dur)
#define LAUNCH(tid, id, ts, dur) EVENT_LAUNCH(id, tid, ts, dur)
#define KERNEL(id, stream, ts, dur) EVENT_KERNEL("k" #id, id, stream, ts, dur)

/* The host stays ahead: the path is the stream. */
static void a_full_queue(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(LAUNCH(1, 1, 0, 5) LAUNCH(1, 2, 5, 5) LAUNCH(
        1, 3, 10, 5) KERNEL(1, 7, 10, 100) KERNEL(2, 7, 112, 100) KERNEL(3, 7, 213, 100));
    assert_int_equal(class(report, "compute"), 300000);
    assert_int_equal(class(report, "queued, same stream"), 3000);
    assert_int_equal(report_sum(report, "critical_path.by_class", "total_ns"), 303000);
    ta_report_free(report);
}

/* Each kernel waits for its launch: the path is the host, but for the way to the last kernel, and
 * for the first kernel nothing of the host lies in the window. */
static void an_empty_queue(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        LAUNCH(1, 1, 0, 5) KERNEL(1, 7, 10, 10) SPAN(1, "cpu_op", "aten::a", 5, 95)
            LAUNCH(1, 2, 90, 5) KERNEL(2, 7, 100, 10) SPAN(1, "cpu_op", "aten::b", 100, 100)
                LAUNCH(1, 3, 190, 5) KERNEL(3, 7, 200, 30));
    assert_int_equal(class(report, "compute"), 30000);
    assert_int_equal(class(report, "launch latency"), 5000);
    assert_int_equal(class(report, "runtime calls"), 10000);
    /* b up to its launch, a behind its launch and from the start of the window to it. */
    assert_int_equal(class(report, "operator dispatch"), 90000 + 5000 + 80000);
    assert_int_equal(report_sum(report, "critical_path.by_class", "total_ns"), 220000);
    ta_report_free(report);
}

/* The host waits for the device before it launches the last kernel. */
static void a_wait(void **state)
{
    (void)state;
    struct ta_report *report =
        report_on_events(LAUNCH(1, 1, 0, 5) KERNEL(1, 7, 10, 100)
                             SPAN(1, "cuda_runtime", "cudaStreamSynchronize", 6, 109)
                                 LAUNCH(1, 2, 115, 5) KERNEL(2, 7, 123, 10));
    assert_int_equal(class(report, "compute"), 110000);
    assert_int_equal(class(report, "return from wait"), 5000);
    assert_int_equal(class(report, "runtime calls"), 5000);
    assert_int_equal(class(report, "launch latency"), 3000);
    assert_int_equal(report_number(report, "critical_path.by_name", "name", "k1", "total_ns"),
                     100000);
    ta_report_free(report);
}

/* A device that is busy but for one moment is not blamed on the host for all of its time. */
static void a_moment_of_idleness(void **state)
{
    (void)state;
    struct text events = {0};
    for (int i = 0; i < 100; i++) { /* launched every 50 µs, 100 µs each: the host gets ahead */
        text_add(&events,
                 "{'ph':'X','cat':'cpu_op','name':'aten::a','pid':1,'tid':1,'ts':%d,"
                 "'dur':49},",
                 i * 50);
        text_add(&events,
                 "{'ph':'X','cat':'cuda_runtime','name':'cudaLaunchKernel','pid':1,"
                 "'tid':1,'ts':%d,'dur':5,'args':{'correlation':%d}},",
                 i * 50 + 40, i + 1);
        text_add(&events,
                 "{'ph':'X','cat':'kernel','name':'k','pid':0,'tid':7,'ts':%d,'dur':100,"
                 "'args':{'correlation':%d,'device':0}},",
                 50 + i * 100, i + 1);
    }
    /* The host takes until 10 060 µs, the device has been done since 10 050. */
    static const char rest[] = SPAN(1, "cpu_op", "aten::slow", 5000, 5070) LAUNCH(1, 200, 10055, 5)
        KERNEL(200, 7, 10062, 10);
    text_put(&events, rest, sizeof rest - 1);
    struct ta_report *report = report_on_events(events.at);
    const int64_t window = report_sum(report, "critical_path.by_rank", "window_ns");
    assert_int_equal(window, 10022000);
    assert_int_equal(report_sum(report, "critical_path.by_class", "total_ns"), window);
    /* While the slow operator runs nothing tells that the host was ahead; before, all does. */
    assert_in_range(class(report, "compute"), 4900000, 5100000);
    ta_report_free(report);
    text_free(&events);
}

/* The backward pass runs on a thread of its own, between two pieces of the main thread. */
static void two_threads(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        SPAN(1, "cpu_op", "aten::forward", 0, 100) LAUNCH(1, 1, 0, 5) KERNEL(1, 7, 10, 10)
            SPAN(2, "cpu_op", "MulBackward0", 100, 100) LAUNCH(2, 2, 190, 5) KERNEL(2, 7, 200, 10)
                SPAN(1, "cpu_op", "aten::step", 200, 100) LAUNCH(1, 3, 290, 5)
                    KERNEL(3, 7, 300, 10));
    assert_int_equal(
        report_number(report, "critical_path.by_name", "name", "MulBackward0", "total_ns"), 95000);
    assert_int_equal(
        report_number(report, "critical_path.by_name", "name", "aten::forward", "total_ns"), 90000);
    assert_int_equal(class(report, "host untraced"), TA_MISSING);
    ta_report_free(report);
}

/* Nothing tells why a kernel began when it did: the path goes to what ended last before it. */
static void without_a_launch(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(LAUNCH(1, 1, 0, 5) KERNEL(
        1, 7, 10, 10) "{'ph':'X','cat':'kernel','name':'lost','pid':0,'tid':8,'ts':50,'dur':10,"
                      "'args':{'device':0}},");
    assert_int_equal(class(report, "compute"), 20000);
    assert_int_equal(class(report, "queued, dependency"), 30000);
    assert_int_equal(report_sum(report, "critical_path.by_rank", "likely"), 1);
    ta_report_free(report);
}

static void paths_add_up(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct text json = {0};
        struct reading r;
        fixture_trace_text(&json, seed, 2000, 0, 0);
        fixture_read_text(&fixture, json.at, &r);
        const struct ta_activities a = ta_trace_activities(r.trace);
        const struct ta_spans s = ta_trace_spans(r.trace);
        int64_t first = INT64_MAX, last = INT64_MIN;
        for (size_t i = 0; i < a.n; i++) {
            first = ta_min_i64(first, s.ts[a.at[i].span]);
            last = ta_max_i64(last, s.ts[a.at[i].span] + s.dur[a.at[i].span]);
        }
        struct ta_report *report = fixture_report(&fixture, &r, 1);
        assert_int_equal(report_sum(report, "critical_path.by_class", "total_ns"), last - first);
        assert_int_equal(report_sum(report, "critical_path.by_name", "total_ns"), last - first);
        ta_report_free(report);
        reading_free(&r);
        text_free(&json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_queue), cmocka_unit_test(an_empty_queue),
        cmocka_unit_test(a_wait),       cmocka_unit_test(a_moment_of_idleness),
        cmocka_unit_test(two_threads),  cmocka_unit_test(without_a_launch),
        cmocka_unit_test(paths_add_up),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
