/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growable arrays: what is pushed may depend on the array as it was. */
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct numbers {
    TA_VEC(size_t);
};

static struct numbers *count(struct numbers *numbers, int *calls)
{
    ++*calls;
    return numbers;
}

static void a_value_sees_the_array_as_it_was(void **state)
{
    (void)state;
    struct numbers list = {0};
    for (size_t i = 0; i < 1000; i++)
        assert_true(ta_vec_push(&list, list.n + (list.n ? list.at[list.n - 1] : 0)));
    assert_int_equal(list.n, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(list.at[i], i * (i + 1) / 2);
    free(list.at);
}

static void arguments_are_evaluated_once(void **state)
{
    (void)state;
    struct numbers list = {0};
    int calls = 0;
    size_t next = 5;
    assert_true(ta_vec_push(count(&list, &calls), next++));
    assert_int_equal(calls, 1);
    assert_int_equal(next, 6);
    assert_int_equal(list.at[0], 5);
    free(list.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_sees_the_array_as_it_was),
        cmocka_unit_test(arguments_are_evaluated_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
