/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables with a header line: separators, columns by name, damaged rows. */
#include "trace_fixture.h"

#include "parse/text/csv.h"
#include "read/reader.h"

#include <math.h>

enum { NAME, COUNT, TIME, COLUMNS };

static const ta_csv_name columns[COLUMNS] = {
    [NAME] = "Name", [COUNT] = "Instances|Calls", [TIME] = "Time"};
static const ta_csv_name others[1] = {"scope"};
static const struct ta_csv_shape shapes[] = {
    {columns, COLUMNS, TIME, "Color"},
    {others, 1, 1, NULL},
};

struct table {
    struct fixture f;
    struct ta_quality quality;
    struct ta_reader *reader;
    struct ta_builder builder;
    struct ta_csv *csv;
};

static void open_table(struct table *t, const char *text)
{
    fixture_open(&t->f);
    ta_quality_init(&t->quality);
    t->reader = ta_reader_open(&t->f.ctx, NULL, fixture_memory(text, strlen(text)), &t->quality);
    assert_non_null(t->reader);
    assert_true(ta_builder_init(&t->builder, &t->quality, 0, NULL, 0, 1000));
    t->csv = ta_csv_new(&t->f.ctx, t->reader, shapes, 2);
}

static enum ta_status close_table(struct table *t)
{
    const enum ta_status status = ta_csv_close(&t->f.ctx, t->csv, &t->builder, TA_OK);
    ta_builder_free(&t->builder);
    ta_reader_close(t->reader);
    ta_quality_free(&t->quality);
    fixture_close(&t->f);
    return status;
}

#define assert_cell(table, column, expected)                                                       \
    do {                                                                                           \
        const struct ta_slice cell_ = ta_csv_text((table)->csv, (column));                         \
        assert_int_equal(cell_.len, strlen(expected));                                             \
        assert_memory_equal(cell_.ptr, (expected), cell_.len);                                     \
    } while (0)

static void columns_are_found_by_name(void **state)
{
    (void)state;
    struct table t;
    open_table(&t, "preamble\n Time ,Calls,\"Name\"\r\n1.5,3,\"a,\"\"b\"\"\"\r\n\r\n2.5,4,c\r\n");
    assert_non_null(t.csv);
    assert_int_equal(t.csv->shape, 0);
    assert_int_equal(ta_csv_column(t.csv, NAME), 2);
    assert_true(ta_csv_next(t.csv));
    assert_cell(&t, NAME, "a,\"b\"");
    assert_int_equal(ta_csv_integer(t.csv, COUNT), 3);
    assert_int_equal(ta_csv_decimal(t.csv, TIME, 3), 1500);
    assert_int_equal(t.csv->line, 3);
    assert_int_equal(t.csv->offset, 30);
    assert_true(ta_csv_next(t.csv));
    assert_cell(&t, NAME, "c");
    assert_int_equal(t.csv->line, 5);
    assert_false(ta_csv_next(t.csv));
    assert_int_equal(t.csv->kept, 2);
    assert_no_finding(&t.quality);
    assert_int_equal(close_table(&t), TA_OK);
}

/* A column that is not needed may be missing; the second shape fits when the first does not. */
static void a_shape_needs_only_its_first_columns(void **state)
{
    (void)state;
    struct table t;
    open_table(&t, "Name\tInstances\nx\t7\n");
    assert_true(ta_csv_next(t.csv));
    assert_false(ta_csv_has(t.csv, TIME));
    assert_int_equal(ta_csv_decimal(t.csv, TIME, 0), TA_MISSING);
    assert_int_equal(close_table(&t), TA_OK);
    open_table(&t, "rank,scope\n1,a\n");
    assert_int_equal(t.csv->shape, 1);
    assert_int_equal(close_table(&t), TA_OK);
    assert_int_equal(ta_csv_recognize(TA_LIT("x\nName,Calls\n"), shapes, 2), 0);
    assert_true(ta_csv_recognize(TA_LIT("Name,Color\n"), shapes, 2) == SIZE_MAX);
}

static void semicolons_bring_decimal_commas(void **state)
{
    (void)state;
    struct table t;
    open_table(&t, "Name;Calls;Time\nx;7;9,9\ny;1;1,000,5\n");
    assert_true(ta_csv_next(t.csv));
    assert_int_equal(ta_csv_decimal(t.csv, TIME, 1), 99);
    assert_float_equal(ta_csv_double(t.csv, TIME), 9.9, 0);
    assert_true(ta_csv_next(t.csv));
    assert_int_equal(ta_csv_decimal(t.csv, TIME, 1), TA_MISSING); /* two commas are no number */
    assert_finding(&t.quality, TA_Q_BAD_NUMBER, 1, 24);
    assert_int_equal(close_table(&t), TA_OK);
}

/* The decimal mark is decided once, by the numbers that can be read in one way only. */
static void one_number_form_is_decided_for_a_file(void **state)
{
    (void)state;
    static const struct {
        const char *cell, *other; /* of another row: what decides */
        int64_t value;            /* in tenths */
    } cases[] = {
        {"9,9", "1", 99},
        {"1,234", "1", 12340},
        {"1,234", "0,5", 12},
        {"1,234", "7,211,034", 12340},
        {"1,234", "1,234.5", 12340},
        {"1.234", "1", 12},
        {"1.234", "19,0", 12340},
        {"1.234.567,5", "19,0", 12345675},
        {"7,211,034,880", "1", 72110348800},
        {"285 118 634", "19,0", 2851186340},
        {"285\u202f118\u00a0634", "1", 2851186340},
        {"285\u202f118\u202f634,5", "1", 2851186345},
        {"285\xa0" "118", "1", 2851180}, /* Latin-1 */
        {"1'000'000.5", "1", 10000005},
        {"12,34,567", "1", TA_MISSING},
        {"1234,567", "12.5", TA_MISSING}, /* the other form loses against more of one */
        {"12,3456,789", "1", TA_MISSING},
        {"+19,0", "3,5", 190},
        {"-0,5", "3,5", -5},
        {"1,5e3", "3,5", 15000},
        {"1 2", "3", TA_MISSING},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t;
        struct text text = {0};
        text_add(&text, "Name,Calls,Time\nx,1,\"%s\"\ny,1,\"%s\"\nz,1,\"%s\"\n", cases[i].cell,
                 cases[i].other, cases[i].other);
        open_table(&t, text.at);
        assert_true(ta_csv_next(t.csv));
        assert_int_equal(ta_csv_decimal(t.csv, TIME, 1), cases[i].value);
        assert_int_equal(close_table(&t), TA_OK);
        text_free(&text);
    }
    struct table t;
    open_table(&t, "Name,Calls,Time\nx,\"1,000\",\"9.5\"\n");
    assert_true(ta_csv_next(t.csv));
    assert_int_equal(ta_csv_integer(t.csv, COUNT), 1000);
    assert_finding(&t.quality, TA_Q_NUMBER_FORM, 1, 16);
    assert_int_equal(close_table(&t), TA_OK);
}

static void cells_may_have_several_lines(void **state)
{
    (void)state;
    struct table t;
    open_table(&t, "Name,Calls,Time\n\"a\r\n\"\"b\"\"\",7,1\nc, \"8\",2\n");
    assert_true(ta_csv_next(t.csv));
    assert_cell(&t, NAME, "a\n\"b\"");
    assert_int_equal(t.csv->line, 2);
    assert_int_equal(ta_csv_integer(t.csv, COUNT), 7);
    assert_true(ta_csv_next(t.csv));
    assert_int_equal(t.csv->line, 4);
    assert_int_equal(t.csv->offset, 31);
    assert_int_equal(ta_csv_integer(t.csv, COUNT), 8); /* after a blank */
    assert_false(ta_csv_next(t.csv));
    assert_no_finding(&t.quality);
    assert_int_equal(close_table(&t), TA_OK);
    /* A quote that closes nowhere, or in a later row, takes that row alone. */
    open_table(&t, "Name,Calls,Time\n\"a,1,2\nb,3,4\n\"c\",5,6\n\"d\n\"e\",7,8\n");
    for (int64_t calls = 3; calls <= 7; calls += 2) {
        assert_true(ta_csv_next(t.csv));
        assert_int_equal(ta_csv_integer(t.csv, COUNT), calls);
    }
    assert_false(ta_csv_next(t.csv));
    assert_int_equal(t.csv->line, 6);
    assert_int_equal(t.csv->dropped, 2);
    assert_int_equal(close_table(&t), TA_OK);
}

/* Without a line end the last cell may be cut, and says nothing unless it cannot be. */
static void a_file_may_end_within_a_cell(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t time; /* of the last row */
        size_t rows;
        uint64_t lost;
    } cases[] = {
        {"Name,Calls,Time\nx,1,12\ny,2,34\n", 34, 2, 0},
        {"Name,Calls,Time\nx,1,12\ny,2,34", TA_MISSING, 2, 1},
        {"Name,Calls,Time\nx,1,12.50\ny,2,34.25", 34, 2, 0},
        {"Name,Calls,Time\nx,1,12.50\ny,2,34.2", TA_MISSING, 2, 1},
        {"Name,Calls,Time\nx,1,12\ny,2,\"34\"", 34, 2, 0},
        {"Name,Calls,Time\nx,1,12\ny,2,\"34", TA_MISSING, 2, 1},
        {"Name,Calls,Time\nx,1,12\ny,2", 12, 1, 1},
        {"Name,Calls,Time,Color\nx,1,12,red\ny,2,34,re", 34, 2, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t;
        open_table(&t, cases[i].text);
        int64_t time = 0;
        size_t rows = 0;
        for (; ta_csv_next(t.csv); rows++)
            time = ta_csv_decimal(t.csv, TIME, 0);
        assert_int_equal(rows, cases[i].rows);
        assert_int_equal(time, cases[i].time);
        assert_int_equal(ta_quality_count(&t.quality, TA_Q_TRUNCATED), cases[i].lost);
        assert_int_equal(close_table(&t), TA_OK);
    }
}

static void rows_are_read_as_far_as_they_go(void **state)
{
    (void)state;
    struct table t;
    open_table(&t, "Name,Calls,Time,\nx,1,2,\ny,3,4,,,\nz,5\nw,6,7,8,9\nvoid f<int, g>,10,11,,1\n");
    for (int64_t calls = 1; calls <= 6; calls += calls == 5 ? 1 : 2) {
        assert_true(ta_csv_next(t.csv));
        assert_int_equal(ta_csv_integer(t.csv, COUNT), calls);
    }
    assert_false(ta_csv_next(t.csv));
    assert_int_equal(t.csv->repaired, 2); /* z lacks cells, w has more */
    assert_int_equal(t.csv->dropped, 1);  /* cells of the last one are in other columns */
    assert_finding(&t.quality, TA_Q_SYNTAX, 2, 33);
    assert_int_equal(close_table(&t), TA_OK);
}

static void unread_columns_are_named(void **state)
{
    (void)state;
    static const ta_csv_name wanted[] = {"scope"};
    static const struct ta_csv_shape shape = {wanted, 1, 1, "pid|host"};
    struct table t;
    fixture_open(&t.f);
    ta_quality_init(&t.quality);
    static const char text[] = "pid,scope,color,,host,size\n1,a,red,,h,7\n";
    t.reader = ta_reader_open(&t.f.ctx, NULL, fixture_memory(text, strlen(text)), &t.quality);
    assert_true(ta_builder_init(&t.builder, &t.quality, 0, NULL, 0, 1000));
    t.csv = ta_csv_new(&t.f.ctx, t.reader, &shape, 1);
    assert_non_null(t.csv);
    assert_true(ta_csv_next(t.csv));
    struct ta_arena arena = {0};
    size_t n;
    const struct ta_quality_finding *findings = ta_quality_findings(&t.quality, &arena, &n);
    assert_int_equal(n, 1);
    assert_int_equal(findings[0].code, TA_Q_UNREAD_COLUMNS);
    assert_string_equal(findings[0].text, "Columns that are not read: color, size");
    ta_arena_free(&arena);
    assert_int_equal(close_table(&t), TA_OK);
}

static void a_header_may_recur(void **state)
{
    (void)state;
    struct table t;
    open_table(&t, "Name,Calls\nx,1\nName,Calls\ny,2\n");
    assert_true(ta_csv_next(t.csv));
    assert_true(ta_csv_next(t.csv));
    assert_cell(&t, NAME, "y");
    assert_false(ta_csv_next(t.csv));
    assert_int_equal(t.csv->kept, 2);
    assert_int_equal(t.csv->dropped, 0);
    assert_no_finding(&t.quality);
    assert_int_equal(close_table(&t), TA_OK);
}

static void damaged_rows_are_accounted_for(void **state)
{
    (void)state;
    struct table t;
    open_table(&t, "Name,Calls,Time\nx\ny,2,3,4,5\n\"z,4,5\nu,nan,inf\nv,many,\nw,7,8\n");
    size_t n = 0;
    while (ta_csv_next(t.csv)) {
        n++;
        assert_int_equal(ta_csv_decimal(t.csv, TIME, 0), n == 1 ? 3 : n == 4 ? 8 : TA_MISSING);
        if (n == 2) {
            assert_cell(&t, NAME, "u");
            assert_int_equal(ta_csv_integer(t.csv, COUNT), TA_MISSING);
        }
    }
    assert_int_equal(n, 4);
    assert_int_equal(t.csv->dropped, 2); /* "x", and "z" whose quote takes the line */
    assert_int_equal(t.csv->repaired, 1);
    assert_finding(&t.quality, TA_Q_BAD_RECORD, 2, 16);
    assert_finding(&t.quality, TA_Q_SYNTAX, 1, 18);
    assert_finding(&t.quality, TA_Q_BAD_NUMBER, 2, 35);
    assert_int_equal(close_table(&t), TA_OK);
}

static void a_dropped_row_was_no_record(void **state)
{
    (void)state;
    struct table t;
    open_table(&t, "Name,Calls\nx,1\n");
    assert_true(ta_csv_next(t.csv));
    ta_csv_drop(t.csv, "Not wanted");
    assert_int_equal(t.csv->kept, 0);
    assert_int_equal(t.csv->dropped, 1);
    assert_finding(&t.quality, TA_Q_BAD_RECORD, 1, 11);
    assert_int_equal(close_table(&t), TA_ERR_INPUT); /* nothing of it can be used */
}

static void an_empty_table_is_no_error(void **state)
{
    (void)state;
    struct table t;
    open_table(&t, "Name,Calls\n");
    assert_false(ta_csv_next(t.csv));
    assert_int_equal(close_table(&t), TA_OK);
}

static void no_header_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\n\n", "a,b\n1,2\n", "Name;Color\n", "\"Name,Calls\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct table t;
        open_table(&t, texts[i]);
        assert_null(t.csv);
        assert_int_equal(ta_ctx_status(&t.f.ctx), TA_ERR_INPUT);
        assert_int_equal(close_table(&t), TA_OK);
    }
}

/* A header of a hundred thousand columns and rows of as many cells. */
static void many_columns_are_limited(void **state)
{
    (void)state;
    struct table t;
    struct text text = {0};
    text_add(&text, "Name,Calls");
    for (int i = 0; i < 100000; i++)
        text_add(&text, ",c%d", i);
    text_add(&text, "\nx,1");
    for (int i = 0; i < 100000; i++)
        text_add(&text, ",");
    open_table(&t, text.at);
    assert_non_null(t.csv);
    assert_true(t.csv->n_headers <= 1024);
    assert_true(ta_csv_next(t.csv));
    assert_cell(&t, NAME, "x");
    assert_int_equal(close_table(&t), TA_OK);
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(a_shape_needs_only_its_first_columns),
        cmocka_unit_test(semicolons_bring_decimal_commas),
        cmocka_unit_test(one_number_form_is_decided_for_a_file),
        cmocka_unit_test(cells_may_have_several_lines),
        cmocka_unit_test(a_file_may_end_within_a_cell),
        cmocka_unit_test(rows_are_read_as_far_as_they_go),
        cmocka_unit_test(unread_columns_are_named),
        cmocka_unit_test(a_header_may_recur),
        cmocka_unit_test(damaged_rows_are_accounted_for),
        cmocka_unit_test(a_dropped_row_was_no_record),
        cmocka_unit_test(an_empty_table_is_no_error),
        cmocka_unit_test(no_header_is_refused),
        cmocka_unit_test(many_columns_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
