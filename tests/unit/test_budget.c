/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares of --memory-limit: what files are thought to need, and who waits for whom. */
#include "ingest/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

static void content_of_files(void **state)
{
    (void)state;
    assert_int_equal(ta_budget_content(100, false, 7), 100);
    assert_int_equal(ta_budget_content(100, true, 1500), 1500);
    assert_int_equal(ta_budget_content(100, true, 20), 100); /* damaged, or of many members */
    /* 5 GiB in 500 MiB: the trailer has turned over once. */
    assert_int_equal(ta_budget_content(500 * MIB, true, (uint32_t)(1024 * MIB)), 5120 * MIB);
    assert_int_equal(ta_budget_content(500 * MIB, true, (uint32_t)(3000 * MIB)), 3000 * MIB);
}

/* A second thread that wants a share. */
struct waiter {
    struct ta_budget *budget;
    uint64_t content, taken;
    atomic_bool has;
};

static void *wait_for_share(void *argument)
{
    struct waiter *waiter = argument;
    waiter->taken = ta_budget_take(waiter->budget, waiter->content);
    atomic_store(&waiter->has, true);
    return NULL;
}

/* What is too large for the limit is read all the same, but alone. */
static void one_file_always_fits(void **state)
{
    (void)state;
    struct ta_budget budget;
    assert_true(ta_budget_init(&budget, 50 * MIB));
    const uint64_t first = ta_budget_take(&budget, 1000 * MIB);
    assert_true(first > 300 * MIB && first < 310 * MIB);
    struct waiter waiter = {.budget = &budget, .content = 1};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_share, &waiter), 0);
    /* It can never get its share now, however long one waits. */
    for (int i = 0; i < 1000; i++)
        assert_false(atomic_load(&waiter.has));
    ta_budget_give(&budget, first, 1000 * MIB, 0);
    pthread_join(thread, NULL);
    assert_true(atomic_load(&waiter.has));
    ta_budget_give(&budget, waiter.taken, 1, 0);
    assert_int_equal(budget.taken, 0);
    ta_budget_free(&budget);
}

static void files_that_fit_do_not_wait(void **state)
{
    (void)state;
    struct ta_budget budget;
    assert_true(ta_budget_init(&budget, 100 * MIB));
    const uint64_t a = ta_budget_take(&budget, 100 * MIB), b = ta_budget_take(&budget, 100 * MIB);
    assert_true(a == b && a > 37 * MIB && a < 39 * MIB);
    ta_budget_give(&budget, a, 100 * MIB, 0);
    ta_budget_give(&budget, b, 100 * MIB, 0);
    ta_budget_free(&budget);
}

/* The first file read replaces the guess; later ones can only add to it. */
static void estimates_learn(void **state)
{
    (void)state;
    struct ta_budget budget;
    assert_true(ta_budget_init(&budget, 1000 * MIB));
    uint64_t taken = ta_budget_take(&budget, 100 * MIB);
    ta_budget_give(&budget, taken, 100 * MIB, 10 * MIB);
    taken = ta_budget_take(&budget, 100 * MIB);
    assert_true(taken > 18 * MIB && taken < 19 * MIB);
    ta_budget_give(&budget, taken, 100 * MIB, 50 * MIB);
    taken = ta_budget_take(&budget, 100 * MIB);
    assert_true(taken > 57 * MIB && taken < 59 * MIB);
    ta_budget_give(&budget, taken, 100 * MIB, 5 * MIB);
    assert_true(budget.per_mille > 490);
    /* Small files say nothing. */
    taken = ta_budget_take(&budget, 1000);
    ta_budget_give(&budget, taken, 1000, 100000);
    assert_true(budget.per_mille < 510);
    ta_budget_free(&budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_of_files),
        cmocka_unit_test(one_file_always_fits),
        cmocka_unit_test(files_that_fit_do_not_wait),
        cmocka_unit_test(estimates_learn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
