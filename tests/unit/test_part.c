/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where parts of a stream meet: who stops where, and who is passed over. */
#include "parse/part.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { PARTS = 4 };

static struct ta_part_board board;
static struct ta_part parts[PARTS];

static int make_parts(void **state)
{
    static const uint64_t cuts[] = {100, 200, 300};
    (void)state;
    assert_true(ta_part_board_init(&board));
    ta_parts_init(parts, PARTS, &board, cuts);
    return 0;
}

static int free_parts(void **state)
{
    (void)state;
    ta_part_board_free(&board);
    return 0;
}

static void a_border_is_first_the_cut(void **state)
{
    (void)state;
    assert_int_equal(ta_part_border(&parts[0]), 100);
    assert_int_equal(ta_part_border(&parts[2]), 300);
    assert_int_equal(ta_part_border(&parts[3]), UINT64_MAX);
}

/* Behind the cut the border is the start, and there the part ends. */
static void a_part_that_fits(void **state)
{
    (void)state;
    ta_part_announce(&parts[1], 130);
    assert_false(ta_part_at_border(&parts[0], 110, true));
    assert_int_equal(ta_part_border(&parts[0]), 130);
    assert_true(ta_part_at_border(&parts[0], 130, true));
    assert_ptr_equal(parts[0].reached, &parts[1]);
    assert_false(atomic_load(&parts[1].passed));
    assert_false(parts[0].unsure);
    /* It stays so, whatever is asked afterwards. */
    assert_true(ta_part_at_border(&parts[0], 130, false));
    assert_false(atomic_load(&parts[1].passed));
}

static void what_is_said_first_counts(void **state)
{
    (void)state;
    ta_part_announce(&parts[1], 130);
    ta_part_announce(&parts[1], TA_PART_NONE);
    assert_true(ta_part_at_border(&parts[0], 130, true));
}

/* At the start, but in another state. */
static void a_wrong_guess(void **state)
{
    (void)state;
    ta_part_announce(&parts[1], 130);
    assert_false(ta_part_at_border(&parts[0], 130, false));
    assert_true(atomic_load(&parts[1].passed));
    assert_int_equal(ta_part_border(&parts[0]), 200);
    ta_part_announce(&parts[2], 200);
    assert_true(ta_part_at_border(&parts[0], 200, true));
    assert_ptr_equal(parts[0].reached, &parts[2]);
}

/* A long event leads over two parts at once; there was nothing to be found in one of them. */
static void passed_over(void **state)
{
    (void)state;
    ta_part_announce(&parts[1], 150);
    ta_part_announce(&parts[2], TA_PART_NONE);
    ta_part_announce(&parts[3], 310);
    assert_false(ta_part_at_border(&parts[0], 305, true));
    assert_int_equal(ta_part_border(&parts[0]), 310);
    assert_true(ta_part_at_border(&parts[0], 310, true));
    assert_ptr_equal(parts[0].reached, &parts[3]);
}

static void nothing_behind_the_last(void **state)
{
    (void)state;
    for (int i = 1; i < PARTS; i++)
        ta_part_announce(&parts[i], TA_PART_NONE);
    assert_false(ta_part_at_border(&parts[0], 1000, true));
    assert_int_equal(ta_part_border(&parts[0]), UINT64_MAX);
    assert_null(parts[0].reached);
}

/* Only the first part is sure to be right; others end nobody's reading. */
static void only_the_first_ends_others(void **state)
{
    (void)state;
    ta_part_announce(&parts[2], 210);
    ta_part_announce(&parts[3], 310);
    assert_false(ta_part_at_border(&parts[1], 250, true));
    assert_false(atomic_load(&parts[2].passed));
    ta_part_announce(&parts[1], 110);
    assert_false(ta_part_at_border(&parts[0], 120, true));
    assert_true(atomic_load(&parts[1].passed));
    assert_int_equal(ta_part_border(&parts[1]), 0);
    assert_true(ta_part_at_border(&parts[1], 260, true));
    assert_true(parts[1].unsure);
    assert_null(parts[1].reached);
}

static void *announce_later(void *start)
{
    ta_part_announce(&parts[1], *(const uint64_t *)start);
    return NULL;
}

/* The reader that is ahead of the search waits for it. */
static void a_start_is_awaited(void **state)
{
    (void)state;
    uint64_t start = 140;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, announce_later, &start), 0);
    assert_true(ta_part_at_border(&parts[0], 140, true));
    pthread_join(thread, NULL);
    assert_ptr_equal(parts[0].reached, &parts[1]);
}

int main(void)
{
#define WITH_PARTS(test) cmocka_unit_test_setup_teardown(test, make_parts, free_parts)
    const struct CMUnitTest tests[] = {
        WITH_PARTS(a_border_is_first_the_cut),
        WITH_PARTS(a_part_that_fits),
        WITH_PARTS(what_is_said_first_counts),
        WITH_PARTS(a_wrong_guess),
        WITH_PARTS(passed_over),
        WITH_PARTS(nothing_behind_the_last),
        WITH_PARTS(only_the_first_ends_others),
        WITH_PARTS(a_start_is_awaited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
