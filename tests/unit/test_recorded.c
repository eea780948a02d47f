/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows, counters and instants of traces, of one file and of several. */
#include "trace_fixture.h"

#include "report/report.h"

#include <stdio.h>

#define EVENTS(text) "{\"traceEvents\":[" text "]}"

/* Rows of a table as "a|b|c", one after the other. */
static void rows_of(const struct ta_report *report, const char *id, char *out, size_t size)
{
    const struct ta_table *table = ta_report_table(report, id);
    char number[TA_UNIT_TEXT_MAX];
    size_t n = 0;
    out[0] = '\0';
    for (size_t row = 0; table && row < table->n_rows; row++)
        for (size_t i = 0; i < table->n_columns; i++) {
            const struct ta_cell *cell = ta_table_cell(table, row, i);
            const char *end = i + 1 < table->n_columns ? "|" : ";";
            if (cell->kind == TA_CELL_TEXT)
                n += (size_t)snprintf(out + n, size - n, "%.*s%s", (int)cell->text.len,
                                      cell->text.ptr, end);
            else if (cell->kind == TA_CELL_NULL)
                n += (size_t)snprintf(out + n, size - n, "-%s", end);
            else
                n += (size_t)snprintf(out + n, size - n, "%s%s",
                                      ta_number_format(number, ta_cell_number(cell, 0)), end);
        }
}

static void assert_rows(const char *const *texts, size_t n, const char *id, const char *wanted)
{
    struct fixture f;
    struct reading readings[2];
    char rows[1024];
    fixture_open(&f);
    for (size_t i = 0; i < n; i++)
        fixture_read_text(&f, texts[i], &readings[i]);
    struct ta_report *report = fixture_report(&f, readings, n);
    rows_of(report, id, rows, sizeof rows);
    assert_string_equal(rows, wanted);
    ta_report_free(report);
    for (size_t i = 0; i < n; i++)
        reading_free(&readings[i]);
    fixture_close(&f);
}

static void test_the_window_is_that_of_the_spans(void **state)
{
    (void)state;
    assert_rows((const char *[]){EVENTS(
                    "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler (0)\",\"pid\":1,"
                    "\"tid\":9,\"ts\":0,\"dur\":900},"
                    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":5,"
                    "\"dur\":10},"
                    "{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":20},"
                    "{\"ph\":\"E\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":21},"
                    "{\"ph\":\"i\",\"name\":\"c\",\"pid\":1,\"tid\":2,\"ts\":99}")},
                1, "trace.by_rank", "0|2|3|16000;");
    assert_rows((const char *[]){EVENTS("{\"ph\":\"i\",\"name\":\"c\",\"pid\":1,\"ts\":9}")}, 1,
                "trace.by_rank", "");
}

#define COUNT(ts, args)                                                                            \
    "{\"ph\":\"C\",\"name\":\"m\",\"pid\":7,\"tid\":1,\"ts\":" ts ",\"args\":{" args "}}"

static void test_counters_by_series(void **state)
{
    (void)state;
    assert_rows(
        (const char *[]){EVENTS(COUNT("3", "\"a\":-2.5") "," COUNT(
            "1", "\"a\":-4,\"b\":0") "," COUNT("2", "\"a\":1e300") "," COUNT("9", "\"c\":"
                                                                                  "\"x\""))},
        1, "counters.by_name", "0|7|m|a|3|-4|1e300|-2.5;0|7|m|b|1|0|0|0;");
}

/* Of two files the latest sample is not known: their clocks may differ. */
static void test_counters_of_several_processes(void **state)
{
    (void)state;
    assert_rows((const char *[]){EVENTS(COUNT("1", "\"a\":1")), EVENTS(COUNT("2", "\"a\":5"))}, 2,
                "counters.by_name", "0|7|m|a|1|1|1|1;1|7|m|a|1|5|5|5;");
    assert_rows((const char *[]){EVENTS(COUNT(
                    "1", "\"a\":1") ",{\"ph\":\"C\",\"name\":\"m\",\"pid\":7,\"tid\":2,\"ts\":2,"
                                    "\"args\":{\"a\":3}}")},
                1, "counters.by_name", "0|7|m|a|2|1|3|-;");
}

static void test_instants_by_name(void **state)
{
    (void)state;
    assert_rows(
        (const char *[]){EVENTS("{\"ph\":\"i\",\"cat\":\"x\",\"name\":\"a\",\"pid\":1,\"ts\":1},"
                                "{\"ph\":\"I\",\"cat\":\"x\",\"name\":\"a\",\"pid\":1,\"ts\":2},"
                                "{\"ph\":\"i\",\"name\":\"a\",\"pid\":1,\"ts\":3}")},
        1, "instants.by_name", "0||a|1;0|x|a|2;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_window_is_that_of_the_spans),
        cmocka_unit_test(test_counters_by_series),
        cmocka_unit_test(test_counters_of_several_processes),
        cmocka_unit_test(test_instants_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
