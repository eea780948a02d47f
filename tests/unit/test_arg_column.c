/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of an argument: however they come, what was put in comes out. */
#include "model/arg_column.h"

#include "model/column.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* What is put in. */
struct value {
    int64_t value;
    bool is_text;
};

/* More than the first room, so that a column has grown before and after it changes. */
enum { MANY = 3000 };

static struct value plain(size_t i)
{
    return (struct value){(int64_t)i * 7 - 50, false};
}

static struct value text(size_t i)
{
    return (struct value){(int64_t)i, true};
}

/* The last one does not fit into four bytes, nor do some of the first ones below. */
static struct value late_wide(size_t i)
{
    return (struct value){i == MANY - 1 ? INT64_C(1) << 40 : (int64_t)i, false};
}

static struct value extreme(size_t i)
{
    static const int64_t values[] = {
        INT32_MAX, INT32_MIN, INT32_MAX + INT64_C(1), INT32_MIN - INT64_C(1), INT64_MIN, INT64_MAX,
        -1,        0};
    return (struct value){values[i % 8], false};
}

static struct value mixed(size_t i)
{
    return (struct value){i % 5 == 3 ? INT64_C(5) << 33 : (int64_t)i, i % 7 == 2};
}

static struct value (*const makers[])(size_t) = {plain, text, late_wide, extreme, mixed};
enum { MAKERS = sizeof makers / sizeof *makers };

static void fill(struct arg_column *a, struct value (*make)(size_t), size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct value v = make(i);
        assert_true(arg_column_add(NULL, a, (ta_row)(2 * i), v.value, v.is_text, 0));
    }
}

static void assert_holds(const struct arg_column *a, size_t from, struct value (*make)(size_t),
                         size_t n)
{
    const struct ta_args view = arg_column_view(a);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(ta_args_value(&view, from + i), make(i).value);
        assert_int_equal(ta_args_is_text(&view, from + i), make(i).is_text);
        assert_int_equal(arg_column_value(a, from + i), make(i).value);
        assert_int_equal(arg_column_is_text(a, from + i), make(i).is_text);
        assert_int_equal(view.row[from + i], 2 * i);
    }
}

static void what_was_put_in(void **state)
{
    (void)state;
    for (size_t m = 0; m < MAKERS; m++) {
        struct arg_column a = {.n = 0};
        fill(&a, makers[m], MANY);
        assert_int_equal(a.n, MANY);
        assert_holds(&a, 0, makers[m], MANY);
        arg_column_free(NULL, &a);
    }
}

static void one_behind_the_other(void **state)
{
    (void)state;
    for (size_t first = 0; first < MAKERS; first++)
        for (size_t second = 0; second < MAKERS; second++) {
            struct arg_column a = {.n = 0};
            fill(&a, makers[first], MANY);
            fill(&a, makers[second], MANY);
            assert_holds(&a, 0, makers[first], MANY);
            assert_holds(&a, MANY, makers[second], MANY);
            arg_column_free(NULL, &a);
        }
}

/* Also when one of them is empty, or was and is filled again. */
static void columns_agree(void **state)
{
    (void)state;
    for (size_t first = 0; first < MAKERS; first++)
        for (size_t second = 0; second < MAKERS; second++)
            for (size_t n = 0; n <= MANY; n += MANY) {
                struct arg_column a = {.n = 0}, b = {.n = 0};
                fill(&a, makers[first], n);
                fill(&b, makers[second], MANY);
                assert_true(arg_columns_agree(NULL, &a, NULL, &b));
                assert_int_equal(a.is_wide, b.is_wide);
                assert_int_equal(a.texts, b.texts);
                assert_int_equal(arg_column_size(&a), arg_column_size(&b));
                assert_holds(&a, 0, makers[first], n);
                assert_holds(&b, 0, makers[second], MANY);
                b.n = 0;
                fill(&b, makers[first], MANY);
                assert_holds(&b, 0, makers[first], MANY);
                arg_column_free(NULL, &a);
                arg_column_free(NULL, &b);
            }
}

static void small_ones_are_small(void **state)
{
    (void)state;
    struct arg_column a = {.n = 0};
    fill(&a, plain, 100);
    assert_int_equal(arg_column_size(&a), 8);
    assert_true(arg_column_add(NULL, &a, 1000, INT64_MAX, false, 0));
    assert_int_equal(arg_column_size(&a), 12);
    assert_true(arg_column_add(NULL, &a, 1001, 5, true, 0));
    assert_int_equal(arg_column_size(&a), 13);
    arg_column_free(NULL, &a);
}

/* ---- how columns grow ----------------------------------------------------------------------- */

static void room_by_the_share_that_was_read(void **state)
{
    (void)state;
    const size_t n = 1000 * 1000;
    assert_int_equal(columns_room(NULL, 0, 0.5, 8), 256);
    assert_int_equal(columns_room(NULL, 1000, 0.5, 8), 1500); /* too few to tell */
    assert_int_equal(columns_room(NULL, n, 0, 8), n + n / 2); /* nobody knows the share */
    assert_in_range(columns_room(NULL, n, 0.5, 8), 2 * n + n / 10, 2 * n + n / 4);
    assert_int_equal(columns_room(NULL, n, 1, 8), n + n / 8);
    assert_int_equal(columns_room(NULL, n, 1e-9, 8), COLUMN_GROWTH_MAX * n);
    struct ta_space space = TA_SPACE_INIT;
    space.limit = 1 << 30;
    const struct ta_store store = {.space = &space};
    assert_in_range(columns_room(&store, n, 0.25, 8), 4 * n, 5 * n); /* 32 MB of 512 */
    assert_int_equal(columns_room(&store, n, 0.02, 8), n + n / 2);   /* 400 MB */
    space.held = 60 << 20;
    assert_int_equal(columns_room(&store, n, 0.25, 8), n + n / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_in),
        cmocka_unit_test(one_behind_the_other),
        cmocka_unit_test(columns_agree),
        cmocka_unit_test(small_ones_are_small),
        cmocka_unit_test(room_by_the_share_that_was_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
