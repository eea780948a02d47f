/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slips in rows of declared tables: the report says which table and column. */
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NAME, CALLS };

static const struct ta_column rows_columns[] = {
    [NAME] = {"name", "Name", TA_TEXT, .doc = "A name"},
    [CALLS] = {"calls", "Calls", TA_COUNT, .doc = "A count"},
};
static const struct ta_table_def rows = {"toy.rows", "Rows", TA_COLUMNS(rows_columns)};
static const struct ta_table_def other = {"toy.other", "Other", TA_COLUMNS(rows_columns)};

static struct ta_report *report;
static struct ta_section_builder *section;

static int set_up(void **state)
{
    (void)state;
    static const struct ta_table_def *const defs[] = {&rows, NULL};
    report = ta_report_new();
    section = ta_report_open_section(report, "toy", "Toy");
    ta_declare_tables(section, defs);
    return report ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    ta_report_free(report);
    return 0;
}

static void assert_fault(const char *fault)
{
    assert_non_null(ta_report_fault(report));
    assert_string_equal(ta_report_fault(report), fault);
}

static void whole_rows_are_no_fault(void **state)
{
    (void)state;
    TA_ROW(section, rows, [NAME] = ta_text(TA_LIT("a")), [CALLS] = ta_int(1));
    TA_ROW(section, rows, [NAME] = ta_null(), [CALLS] = ta_null());
    ta_close_tables(section);
    assert_null(ta_report_fault(report));
    assert_int_equal(ta_report_freeze(report), TA_OK);
    assert_int_equal(ta_report_table(report, "toy.rows")->n_rows, 2);
}

static void a_cell_too_few_is_a_fault(void **state)
{
    (void)state;
    TA_ROW(section, rows, [NAME] = ta_text(TA_LIT("a")));
    assert_fault("A row has no cell for a column: table=toy.rows, column=calls");
}

static void a_cell_of_another_type_is_a_fault(void **state)
{
    (void)state;
    TA_ROW(section, rows, [NAME] = ta_text(TA_LIT("a")), [CALLS] = ta_num(0.5));
    assert_fault("A cell is not of the type of its column: table=toy.rows, column=calls");
}

static void a_table_that_is_not_declared_is_a_fault(void **state)
{
    (void)state;
    ta_add_row(ta_rows(section, &other), NULL);
    assert_fault("A table is filled that is not declared: table=toy.other, column=");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(whole_rows_are_no_fault),
        TEST(a_cell_too_few_is_a_fault),
        TEST(a_cell_of_another_type_is_a_fault),
        TEST(a_table_that_is_not_declared_is_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
