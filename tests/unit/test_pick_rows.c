/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rows people are shown of tables that are too long. */
#include "report/report.h"
#include "report/tables.h"
#include "traceanalyze/chart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROWS = 40, SHOWN = 3 };

static const struct ta_column by_rank[] = {
    {"rank", "Rank", TA_INTEGER, .doc = ""},
    {"size", "Size", TA_BYTES, .doc = ""},
    {"calls", "Calls", TA_COUNT, .better = TA_LOWER, .doc = ""},
    {"busy", "Busy", TA_RATIO, .better = TA_HIGHER, .doc = ""},
};
static const struct ta_column with_units[] = {
    {"rank", "Rank", TA_INTEGER, .doc = ""},
    {"value", "Value", TA_INTEGER, .better = TA_LOWER, .doc = ""},
    {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW, .doc = ""},
    {"busy", "Busy", TA_RATIO, .doc = ""},
};
static const struct ta_column by_name[] = {
    {"name", "Name", TA_INTEGER, .doc = ""},
    {"size", "Size", TA_BYTES, .doc = ""},
    {"calls", "Calls", TA_COUNT, .better = TA_LOWER, .doc = ""},
    {"busy", "Busy", TA_RATIO, .better = TA_HIGHER, .doc = ""},
};

/* Forty rows, two of each rank (or all of rank 0); row 7 has no value, and 30 is the least busy. */
static struct ta_report *make(const struct ta_column *columns, int ranks,
                              const struct ta_chart *chart)
{
    struct ta_report *report = ta_report_new();
    struct ta_section_builder *section = ta_report_open_section(report, "a", "A");
    struct ta_table_builder *table = ta_add_table(section, "a.b", "B", columns, 4);
    for (int64_t i = 0; i < ROWS; i++)
        TA_CELLS(table, ta_int(i / 2 % ranks), ta_int(i), ta_int(i),
                 i == 7 ? ta_null() : ta_num(i == 30 ? 0.1 : 1 - 0.001 * (double)i));
    if (chart)
        ta_add_chart(table, chart);
    assert_int_equal(ta_report_freeze(report), TA_OK);
    return report;
}

static void the_worst_of_many_ranks_come_first(void **state)
{
    (void)state;
    struct ta_report *report = make(by_rank, ROWS, NULL);
    const struct ta_table *table = ta_report_table(report, "a.b");
    const size_t measure = ta_table_measure(table, SHOWN);
    assert_int_equal(measure, 3); /* of which more is better; a count is the second choice */
    assert_false(ta_table_more_is_worse(table, measure));
    size_t rows[ROWS];
    assert_true(ta_table_pick_rows(table, measure, ROWS, rows));
    const size_t expected[] = {30, 39, 38};
    assert_memory_equal(rows, expected, sizeof expected);
    assert_int_equal(rows[ROWS - 1], 7);
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(ta_table_place(table, measure, rows[i]), i);
    assert_int_equal(ta_table_measure(table, ROWS), SIZE_MAX); /* all are shown */
    ta_report_free(report);
}

static void other_orders_are_kept(void **state)
{
    (void)state;
    static const struct ta_chart lines = {.id = "a",
                                          .title = "A",
                                          .kind = TA_CHART_LINES,
                                          .x = "size",
                                          .y = {{.column = "busy", .label = "Busy"}}};
    struct ta_report *reports[] = {make(by_name, ROWS, NULL), make(with_units, ROWS, NULL),
                                   make(by_rank, 1, NULL), make(by_rank, ROWS, &lines),
                                   make(by_rank, 10, NULL)};
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        const struct ta_table *table = ta_report_table(reports[i], "a.b");
        assert_int_equal(ta_table_measure(table, SHOWN), SIZE_MAX);
        size_t rows[SHOWN];
        assert_true(ta_table_pick_rows(table, SIZE_MAX, SHOWN, rows));
        for (size_t k = 0; k < SHOWN; k++)
            assert_int_equal(rows[k], k);
        assert_int_equal(ta_table_place(table, SIZE_MAX, 17), 17);
        ta_report_free(reports[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worst_of_many_ranks_come_first),
        cmocka_unit_test(other_orders_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
