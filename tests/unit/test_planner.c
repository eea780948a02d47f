/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads shared out among files: how many workers, and who gets help. */
#include "ingest/planner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { MOST = 8, PART = 10 };

/* Sizes by falling size, a minus in front of packed ones; 0 ends them.  Helpers as expected. */
struct example {
    size_t threads;
    int sizes[MOST];
    size_t workers, spare, helpers[MOST];
};

static const struct example examples[] = {
    /* one file: as many parts as threads, and parts no smaller than they may be */
    {1, {100}, 1, 0, {0}},
    {2, {100}, 1, 1, {1}},
    {4, {100}, 1, 3, {3}},
    {16, {100}, 1, 15, {9}},
    {4, {19}, 1, 3, {0}},
    {4, {20}, 1, 3, {1}},
    /* packed: three at most; of a small one, one inflates ahead */
    {1, {-100}, 1, 0, {0}},
    {2, {-100}, 1, 1, {1}},
    {8, {-100}, 1, 7, {2}},
    {4, {-19}, 1, 3, {1}},
    /* as many files as threads: one each */
    {2, {100, 90}, 2, 0, {0, 0}},
    {2, {-100, -90}, 2, 0, {0, 0}},
    {3, {-19, 5}, 2, 1, {1, 0}},
    {3, {-100, 5}, 1, 2, {2, 0}},
    /* one that is much larger than the rest */
    {2, {100, 5}, 1, 1, {1, 0}},
    {4, {100, 5, 5, 5}, 2, 2, {2, 0, 0, 0}},
    {4, {-100, 5, 5, 5}, 2, 2, {2, 0, 0, 0}},
    {4, {-19, 5, 5, 5}, 4, 0, {0, 0, 0, 0}},
    /* two of them */
    {6, {100, 100, 5}, 2, 4, {2, 2, 0}}, /* the last one waits for 38 instead of 50 */
    {8, {100, 100}, 2, 6, {3, 3}},
    /* more threads than files */
    {8, {100, -90, 5}, 3, 5, {3, 2, 0}},
    /* those that come later take what is free then */
    {1, {100, -90, 80}, 1, 0, {0, 2, 7}},
    /* nothing to read */
    {4, {0}, 1, 3, {0}},
};

static struct ta_planned planned(uint64_t size, bool is_packed)
{
    return (struct ta_planned){.bytes = size,
                               .most = ta_planner_most(size, is_packed, PART),
                               .is_packed = is_packed,
                               .helpers = 77};
}

static void check(const struct example *e)
{
    struct ta_planned files[MOST] = {{0}};
    struct ta_planner planner;
    size_t n = 0;
    for (; n < MOST && e->sizes[n]; n++) {
        const int size = e->sizes[n];
        files[n] = planned((uint64_t)(size < 0 ? -size : size), size < 0);
    }
    ta_planner_init(&planner, e->threads, files, n);
    if (planner.n_workers != e->workers || atomic_load(&planner.spare) != e->spare)
        fail_msg("%zu threads, first file %d: %zu workers and %zu spare", e->threads, e->sizes[0],
                 planner.n_workers, atomic_load(&planner.spare));
    size_t busy = planner.n_workers;
    for (size_t i = 0; i < n; i++) {
        if (files[i].helpers != e->helpers[i])
            fail_msg("%zu threads, first file %d: %zu help file %zu", e->threads, e->sizes[0],
                     files[i].helpers, i);
        busy += i < planner.n_workers ? files[i].helpers : 0;
    }
    assert_true(busy <= e->threads);
}

static void threads_for_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        check(&examples[i]);
}

/* Whatever the sizes, no more threads work at the start than there are. */
static void never_too_many(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        struct ta_planned files[MOST];
        struct ta_planner planner;
        uint64_t size = 1000;
        const size_t n = (seed >> 33) % MOST, threads = 1 + (seed >> 40) % 12;
        for (size_t i = 0; i < n; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            size = size * (1 + (seed >> 50) % 8) / 8 + 1;
            files[i] = planned(size, (seed >> 45) % 4 == 0);
        }
        ta_planner_init(&planner, threads, files, n);
        size_t busy = planner.n_workers;
        for (size_t i = 0; i < n && i < planner.n_workers; i++)
            busy += files[i].helpers;
        assert_true(planner.n_workers >= 1 && (n == 0 || planner.n_workers <= n));
        assert_true(busy <= threads);
        assert_int_equal(atomic_load(&planner.spare), threads - planner.n_workers);
    }
}

static void helpers_are_lent(void **state)
{
    (void)state;
    struct ta_planned file = planned(100, false);
    struct ta_planner planner;
    ta_planner_init(&planner, 4, &file, 1);
    assert_int_equal(ta_planner_take(&planner, 2), 2);
    assert_int_equal(ta_planner_take(&planner, 2), 1);
    assert_int_equal(ta_planner_take(&planner, 2), 0);
    ta_planner_give(&planner, 3);
    assert_int_equal(ta_planner_take(&planner, 9), 3);
}

static void parts_are_large(void **state)
{
    (void)state;
    assert_int_equal(ta_planner_most(2 * TA_PART_BYTES - 1, false, 0), 1);
    assert_int_equal(ta_planner_most(2 * TA_PART_BYTES, false, 0), 2);
    assert_int_equal(ta_planner_most(99 * TA_PART_BYTES, false, 0), 99);
    assert_int_equal(ta_planner_most(99 * TA_PART_BYTES, true, 0), TA_PACKED_MOST);
    assert_int_equal(ta_planner_most(0, true, 0), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_for_files),
        cmocka_unit_test(never_too_many),
        cmocka_unit_test(helpers_are_lent),
        cmocka_unit_test(parts_are_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
