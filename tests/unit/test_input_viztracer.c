/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is special about traces of VizTracer: its metadata, objects, counters, unfinished calls,
 * functions as events, ranks in names of processes. */
#include "base/quality.h"
#include "trace_fixture.h"

#include "traceanalyze/analysis.h"
#include "traceanalyze/model.h"

#include <stdio.h>

#define CALL(pid, name, ts, dur)                                                                   \
    "{\"pid\": " pid ", \"tid\": " pid ", \"ts\": " ts ", \"dur\": " dur ", \"name\": \"" name     \
    "\", \"cat\": \"FEE\", \"ph\": \"X\"}"

static void test_metadata(void **state)
{
    (void)state;
    struct reading r;
    fixture_read_text(&fixture,
                      "{\"traceEvents\": [" CALL(
                          "7", "f (a.py:1)", "1.5",
                          "2.502999983713812") "], \"viztracer_metadata\": {\"version\": \"1.1\", "
                                               "\"overflow\": false, "
                                               "\"baseTimeNanoseconds\": 1795219294474513084}}",
                      &r);
    assert_int_equal(r.status, TA_OK);
    assert_no_finding(&r.quality);
    assert_int_equal(ta_trace_base_ns(r.trace), 1795219294474513084);
    const struct ta_spans spans = ta_trace_spans(r.trace);
    assert_int_equal(spans.n, 1);
    assert_int_equal(spans.ts[0], 1500);
    assert_int_equal(spans.dur[0], 2503);
    assert_int_equal(r.rank, TA_MISSING);
    reading_free(&r);
}

static void test_overflow(void **state)
{
    (void)state;
    struct reading r;
    static const char text[] = "{\"traceEvents\": [" CALL(
        "7", "f", "1", "2") "], "
                            "\"viztracer_metadata\": {\"overflow\": true}}";
    fixture_read_text(&fixture, text, &r);
    const char *key = strstr(text, "\"viztracer_metadata\"");
    assert_finding(&r.quality, TA_Q_EVENTS_LOST, 1, (uint64_t)(key - text));
    assert_int_equal(ta_quality_info(TA_Q_EVENTS_LOST)->severity, TA_QUALITY_LOSS);
    assert_int_equal(r.kept, 1);
    assert_int_equal(ta_trace_base_ns(r.trace), TA_MISSING);
    reading_free(&r);
}

static void test_metadata_of_wrong_type(void **state)
{
    (void)state;
    static const char *const values[] = {"[]",
                                         "null",
                                         "\"overflow\"",
                                         "true",
                                         "{\"overflow\": \"true\", \"baseTimeNanoseconds\": []}",
                                         "{\"overflow\": 1}",
                                         "{\"overflow\": {\"a\": true}}"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct reading r;
        struct text text = {NULL, 0, 0};
        text_add(&text, "{\"traceEvents\": [%s], \"viztracer_metadata\": %s}",
                 CALL("7", "f", "1", "2"), values[i]);
        fixture_read_text(&fixture, text.at, &r);
        assert_int_equal(r.status, TA_OK);
        assert_no_finding(&r.quality);
        assert_int_equal(ta_trace_base_ns(r.trace), TA_MISSING);
        reading_free(&r);
        text_free(&text);
    }
}

/* Objects become instants; a call that was open when tracing stopped is counted and not timed. */
static void test_phases(void **state)
{
    (void)state;
    struct reading r;
    const uint32_t needs = fixture.plan.needs;
    fixture.plan.needs |= TA_NEED_INSTANTS | TA_NEED_COUNTERS;
    fixture_read_text(
        &fixture,
        "{\"traceEvents\":[{\"pid\":7,\"tid\":7,\"ts\":1,\"ph\":\"N\",\"id\":\"140\",\"name\":"
        "\"kv\"},"
        "{\"pid\":7,\"tid\":7,\"ts\":2,\"ph\":\"O\",\"id\":\"140\",\"name\":\"kv\",\"args\":{"
        "\"snapshot\":{\"size\":0}}},{\"pid\":7,\"tid\":7,\"ts\":3,\"ph\":\"C\",\"name\":\"queue\","
        "\"args\":{\"depth\":2,\"text\":\"x\"}},{\"pid\":7,\"tid\":7,\"ts\":3,\"ph\":\"i\","
        "\"name\":"
        "\"print - "
        "a\\n\",\"cat\":\"instant\",\"s\":\"t\",\"args\":{}},{\"pid\":7,\"tid\":7,\"ts\":4,"
        "\"ph\":\"D\",\"id\":\"140\",\"name\":\"kv\"},{\"pid\":7,\"tid\":7,\"ts\":5,\"ph\":\"B\","
        "\"name\":\"main (a.py:1)\",\"cat\":\"fee\"}],\"viztracer_metadata\":{\"overflow\":false}}",
        &r);
    fixture.plan.needs = needs;
    assert_int_equal(r.kept, 6);
    const struct ta_instants instants = ta_trace_instants(r.trace);
    assert_int_equal(instants.n, 4);
    assert_int_equal(instants.ts[0], 1000);
    assert_int_equal(instants.ts[3], 4000);
    assert_true(ta_slice_equal(ta_trace_text(r.trace, instants.name[2]), TA_LIT("print - a\n")));
    const struct ta_counters counters = ta_trace_counters(r.trace);
    assert_int_equal(counters.n, 1);
    assert_true(counters.value[0] == 2);
    assert_int_equal(ta_trace_spans(r.trace).n, 0);
    assert_int_equal(r.quality.slots[TA_Q_UNFINISHED].count, 1);
    reading_free(&r);
}

/* Events come in order of their ends; a function that calls itself has time of its own once. */
static void test_nesting(void **state)
{
    (void)state;
    struct reading r;
    fixture_read_text(
        &fixture,
        "{\"traceEvents\": [" CALL("7", "f (a.py:1)", "20", "30") ", " CALL(
            "7", "f (a.py:1)", "10", "50") ", " CALL("7", "main (a.py:9)", "0",
                                                     "100") "], \"viztracer_metadata\": {}}",
        &r);
    const struct ta_spans spans = ta_trace_spans(r.trace);
    assert_int_equal(spans.n, 3);
    assert_int_equal(spans.self[0], 50000);
    assert_int_equal(spans.self[1], 20000);
    assert_int_equal(spans.self[2], 30000);
    assert_int_equal(spans.depth[2], 2);
    reading_free(&r);
}

static int64_t rank_of(const char *first, const char *second)
{
    struct reading r;
    struct text text = {NULL, 0, 0};
    text_add(&text,
             "{\"traceEvents\": [{\"ph\": \"M\", \"pid\": 7, \"tid\": 7, \"name\": "
             "\"process_name\", \"args\": {\"name\": \"%s\"}}, %s, {\"ph\": \"M\", \"pid\": 8, "
             "\"tid\": 8, \"name\": \"process_name\", \"args\": {\"name\": \"%s\"}}, %s]}",
             first, CALL("7", "f", "1", "2"), second, CALL("8", "f", "1", "2"));
    fixture_read_text(&fixture, text.at, &r);
    assert_int_equal(r.status, TA_OK);
    const int64_t rank = r.rank;
    reading_free(&r);
    text_free(&text);
    return rank;
}

static void test_ranks(void **state)
{
    (void)state;
    assert_int_equal(rank_of("MainProcess", "Process-1"), TA_MISSING);
    assert_int_equal(rank_of("MainProcess", "rank 3"), 3);
    assert_int_equal(rank_of("Rank_12", "rank-12"), 12);
    assert_int_equal(rank_of("rank 0", "rank 1"), TA_MISSING);
    assert_int_equal(rank_of("rank", "rank "), TA_MISSING);
    assert_int_equal(rank_of("rank 1 of 4", "franking 2"), TA_MISSING);
    assert_int_equal(rank_of("rank 1234567", "rank -1"), TA_MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_metadata_of_wrong_type),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_ranks),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
