/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of intervals against a map of single points. */
#include "stat/interval.h"
#include "traceanalyze/model.h"
#include "traceanalyze/stat.h"

#include "trace_fixture.h"

enum { POINTS = 160 };

struct bitmap {
    bool at[POINTS];
};

static void add_both(struct ta_intervals *set, struct bitmap *map, int64_t start, int64_t end)
{
    ta_intervals_add(set, start, end);
    for (int64_t i = start; i < end; i++)
        map->at[i] = true;
}

static void make_random(struct rng *rng, struct ta_intervals *set, struct bitmap *map)
{
    const size_t n = rng_below(rng, 14);
    for (size_t i = 0; i < n; i++) {
        const int64_t a = (int64_t)rng_below(rng, POINTS), b = (int64_t)rng_below(rng, POINTS);
        const int64_t length = (int64_t)rng_below(rng, 20);
        if (rng_below(rng, 2))
            add_both(set, map, a, ta_min_i64(a + length, POINTS));
        else
            add_both(set, map, a, b); /* half of them empty or reversed */
    }
}

static int64_t count(const struct bitmap *map)
{
    int64_t n = 0;
    for (size_t i = 0; i < POINTS; i++)
        n += map->at[i];
    return n;
}

/* The same points, in disjoint intervals that ascend and do not touch. */
static void assert_same(const struct ta_intervals *set, const struct bitmap *map)
{
    size_t at = 0;
    for (size_t i = 0; i < set->n; i++) {
        assert_true(set->at[i].start < set->at[i].end);
        assert_true(i == 0 || set->at[i - 1].end < set->at[i].start);
    }
    for (int64_t p = 0; p < POINTS; p++) {
        while (at < set->n && set->at[at].end <= p)
            at++;
        assert_int_equal(at < set->n && set->at[at].start <= p, map->at[p]);
    }
    assert_int_equal(ta_intervals_length(set), count(map));
}

static void random_sets_as_by_points(void **state)
{
    (void)state;
    struct rng rng = {7};
    for (int round = 0; round < 20000; round++) {
        struct ta_intervals a = {0}, b = {0};
        struct bitmap in_a = {0}, in_b = {0};
        make_random(&rng, &a, &in_a);
        make_random(&rng, &b, &in_b);
        ta_intervals_unite(&a);
        ta_intervals_unite(&b);
        assert_same(&a, &in_a);
        int64_t outside = 0;
        for (size_t i = 0; i < POINTS; i++)
            outside += in_a.at[i] && !in_b.at[i];
        assert_int_equal(ta_intervals_outside(&a, &b), outside);
        ta_intervals_join(&a, &b);
        for (size_t i = 0; i < POINTS; i++)
            in_a.at[i] |= in_b.at[i];
        assert_same(&a, &in_a);
        assert_same(&b, &in_b);
        ta_intervals_free(&a);
        ta_intervals_free(&b);
    }
}

static void touching_intervals_become_one(void **state)
{
    (void)state;
    struct ta_intervals set = {0};
    ta_intervals_add(&set, 10, 20);
    ta_intervals_add(&set, 0, 10);
    ta_intervals_add(&set, 5, 5);
    ta_intervals_add(&set, 30, 20);
    ta_intervals_unite(&set);
    assert_int_equal(set.n, 1);
    assert_int_equal(set.at[0].start, 0);
    assert_int_equal(set.at[0].end, 20);
    ta_intervals_free(&set);
    assert_null(set.at);
}

static void empty_sets(void **state)
{
    (void)state;
    struct ta_intervals none = {0}, some = {0};
    ta_intervals_unite(&none);
    assert_int_equal(ta_intervals_length(&none), 0);
    ta_intervals_add(&some, -5, 5);
    ta_intervals_unite(&some);
    assert_int_equal(ta_intervals_outside(&none, &some), 0);
    assert_int_equal(ta_intervals_outside(&some, &none), 10);
    ta_intervals_join(&none, &some);
    assert_int_equal(ta_intervals_length(&none), 10);
    ta_intervals_free(&none);
    ta_intervals_free(&some);
}

static void stretches_of_random_sets(void **state)
{
    (void)state;
    struct rng rng = {11};
    for (int round = 0; round < 20000; round++) {
        struct ta_intervals set = {0};
        struct bitmap map = {0};
        make_random(&rng, &set, &map);
        ta_intervals_unite(&set);
        const int64_t from = (int64_t)rng_below(&rng, POINTS),
                      to = (int64_t)rng_below(&rng, POINTS);
        int64_t covered = 0;
        for (int64_t i = from; i < to; i++)
            covered += map.at[i];
        assert_int_equal(ta_intervals_within(&set, from, to), covered);
        int64_t between = 0;
        for (int64_t i = from; set.n && i < to; i++)
            between += !map.at[i] && i >= set.at[0].start && i < set.at[set.n - 1].end;
        assert_int_equal(ta_intervals_gaps(&set, from, to), between);
        const size_t behind = ta_intervals_behind(&set, from);
        assert_true(behind == set.n || set.at[behind].end > from);
        assert_true(behind == 0 || set.at[behind - 1].end <= from);
        for (size_t guess = 0; guess <= set.n + 1; guess++)
            assert_int_equal(ta_intervals_near(&set, from, guess), behind);
        size_t guess = rng_below(&rng, set.n + 2);
        const int64_t within = ta_intervals_within(&set, from, to);
        assert_int_equal(ta_intervals_within_near(&set, from, to, &guess), within);
        ta_intervals_free(&set);
    }
}

/* Stamps of a trace reach ± 2^62 ns, spans 2^56 ns beyond. */
static void far_ends(void **state)
{
    (void)state;
    const int64_t far = INT64_C(1) << 62;
    struct ta_intervals set = {0}, middle = {0};
    ta_intervals_add(&set, far - 10, far);
    ta_intervals_add(&set, -far, -far + 10);
    ta_intervals_unite(&set);
    assert_int_equal(ta_intervals_length(&set), 20);
    ta_intervals_add(&middle, -far + 5, far - 5);
    assert_int_equal(ta_intervals_outside(&set, &middle), 10);
    ta_intervals_free(&set);
    ta_intervals_free(&middle);
}

static int by_time(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Lists in order one behind the other, of which one may be much longer; and lists in none. */
static void times_in_order(void **state)
{
    (void)state;
    enum { TIMES = 400, LISTS = 4 };
    struct rng rng = {9};
    for (int round = 0; round < 5000; round++) {
        int64_t times[TIMES], expected[TIMES];
        const size_t lists = rng_below(&rng, LISTS);
        size_t n = 0;
        for (size_t list = 0; list < lists; list++) {
            const size_t end = n + rng_below(&rng, rng_below(&rng, 2) ? 8 : TIMES / LISTS);
            const bool is_ordered = rng_below(&rng, 8) != 0;
            for (int64_t last = (int64_t)rng_below(&rng, 20); n < end; n++) {
                last = is_ordered ? last + (int64_t)rng_below(&rng, 4) : (int64_t)rng_next(&rng);
                times[n] = last;
            }
        }
        memcpy(expected, times, n * sizeof *times);
        if (n)
            qsort(expected, n, sizeof *expected, by_time);
        ta_sort_times(times, n);
        assert_memory_equal(times, expected, n * sizeof *times);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_sets_as_by_points),
        cmocka_unit_test(stretches_of_random_sets),
        cmocka_unit_test(touching_intervals_become_one),
        cmocka_unit_test(empty_sets),
        cmocka_unit_test(far_ends),
        cmocka_unit_test(times_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
