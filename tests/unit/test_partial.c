/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keyed rows that merge: the same rows from any split, in any order. */
#include "analyze/partial.h"

#include "model/trace.h"
#include "stat/dist.h"
#include "trace_fixture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { RANK, NUMBER, NAME, SUM, LEAST, MOST, DIST, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},  [NUMBER] = {"number", TA_FIELD_INT},
    [NAME] = {"name", TA_FIELD_TEXT},  [SUM] = {"sum", TA_FIELD_SUM},
    [LEAST] = {"least", TA_FIELD_MIN}, [MOST] = {"most", TA_FIELD_MAX},
    [DIST] = {"dist", TA_FIELD_DIST},
};

static const struct ta_partial_def def = {"rows", fields, FIELDS};

static int64_t *row_of(struct ta_partial *p, int64_t rank, int64_t number, struct ta_slice name)
{
    return TA_PARTIAL_ROW(p, ta_key_int(rank), ta_key_int(number), ta_key_text(name));
}

static void rows_by_their_keys(void **state)
{
    (void)state;
    struct ta_partial *p = ta_partial_new(&def);
    int64_t *row = row_of(p, 1, 2, TA_LIT("a"));
    for (size_t i = SUM; i < FIELDS; i++)
        assert_true(row[i] == TA_MISSING);
    assert_ptr_equal(row_of(p, 1, 2, TA_LIT("a")), row);
    assert_ptr_not_equal(row_of(p, 2, 1, TA_LIT("a")), row);
    assert_ptr_not_equal(row_of(p, 1, TA_MISSING, TA_LIT("a")), row);
    assert_ptr_not_equal(row_of(p, 1, 2, TA_LIT("")), row);
    assert_ptr_not_equal(row_of(p, 1, 2, TA_LIT("a\0")), row);
    assert_ptr_not_equal(row_of(p, 1, 2, TA_LIT("A")), row);
    assert_int_equal(ta_partial_rows(p), 6);
    assert_true(ta_partial_ok(p));
    ta_partial_free(p);
}

static void missing_is_no_zero(void **state)
{
    (void)state;
    int64_t sum = TA_MISSING, least = TA_MISSING, most = TA_MISSING;
    ta_sum(&sum, TA_MISSING);
    ta_least(&least, TA_MISSING);
    ta_most(&most, TA_MISSING);
    assert_true(sum == TA_MISSING && least == TA_MISSING && most == TA_MISSING);
    ta_sum(&sum, -5);
    ta_least(&least, 3);
    ta_most(&most, -3);
    ta_sum(&sum, TA_MISSING);
    ta_least(&least, TA_MISSING);
    ta_most(&most, TA_MISSING);
    assert_true(sum == -5 && least == 3 && most == -3);
    ta_sum(&sum, 7);
    ta_least(&least, 4);
    ta_least(&least, -9);
    ta_most(&most, -4);
    ta_most(&most, 9);
    assert_true(sum == 2 && least == -9 && most == 9);
    sum = INT64_MAX - 1;
    ta_sum(&sum, 100);
    assert_true(sum == INT64_MAX);
}

/* Groups by one key, by two, by all of them; a rank that is missing is one of its own. */
static void rows_alike_in_the_first_keys_are_a_group(void **state)
{
    (void)state;
    struct ta_partial *p = ta_partial_new(&def);
    row_of(p, 4, 1, TA_LIT("b"));
    row_of(p, 4, 2, TA_LIT("a"));
    row_of(p, 4, 1, TA_LIT("a"));
    row_of(p, TA_MISSING, 1, TA_LIT("a"));
    row_of(p, 5, 2, TA_LIT("a"));
    assert_true(ta_partial_settle(p));
    static const size_t ends[][5] = {
        [RANK] = {1, 4, 4, 4, 5}, [NUMBER] = {1, 3, 3, 4, 5}, [NAME] = {1, 2, 3, 4, 5}};
    for (size_t key = RANK; key <= NAME; key++)
        for (size_t i = 0; i < 5; i++)
            assert_int_equal(ta_partial_group_end(p, i, key), ends[key][i]);
    ta_partial_free(p);
}

/* More rows than a chunk holds: addresses stay. */
static void addresses_are_stable(void **state)
{
    (void)state;
    enum { N = 5000 };
    struct ta_partial *p = ta_partial_new(&def);
    int64_t *rows[N];
    for (int i = 0; i < N; i++) {
        char name[16];
        const int n = snprintf(name, sizeof name, "%d", i);
        rows[i] = row_of(p, i % 3, i, (struct ta_slice){name, (size_t)n});
        rows[i][SUM] = i;
    }
    for (int i = 0; i < N; i++) {
        char name[16];
        const int n = snprintf(name, sizeof name, "%d", i);
        assert_ptr_equal(row_of(p, i % 3, i, (struct ta_slice){name, (size_t)n}), rows[i]);
        assert_int_equal(rows[i][SUM], i);
    }
    assert_int_equal(ta_partial_rows(p), N);
    ta_partial_free(p);
}

static void a_cache_stands_for_keys(void **state)
{
    (void)state;
    struct ta_partial *p = ta_partial_new(&def);
    struct ta_map cache = {0};
    const struct ta_key keys[] = {ta_key_int(1), ta_key_int(2), ta_key_text(TA_LIT("x"))};
    int64_t *row = ta_partial_cached(p, &cache, 77, keys);
    assert_ptr_equal(ta_partial_row(p, keys), row);
    assert_ptr_equal(ta_partial_cached(p, &cache, 77, keys), row);
    assert_ptr_equal(ta_partial_cached(p, &cache, 78, keys), row);
    assert_int_equal(ta_partial_rows(p), 1);
    ta_map_free(&cache);
    ta_partial_free(p);
}

static void rows_are_read_in_order(void **state)
{
    (void)state;
    struct ta_partial *p = ta_partial_new(&def);
    row_of(p, 1, 0, TA_LIT("b"));
    row_of(p, 1, 0, TA_LIT("ab"));
    row_of(p, 1, 0, TA_LIT(""));
    row_of(p, 1, -5, TA_LIT("z"));
    row_of(p, 1, TA_MISSING, TA_LIT("z"));
    row_of(p, 0, 9, TA_LIT("\xff"));
    row_of(p, 1, 0, TA_LIT("a\0"));
    row_of(p, 1, 0, TA_LIT("a"));
    assert_true(ta_partial_settle(p));
    static const struct {
        int64_t rank, number;
        struct ta_slice name;
    } expected[] = {
        {0, 9, {"\xff", 1}}, {1, TA_MISSING, {"z", 1}}, {1, -5, {"z", 1}}, {1, 0, {"", 0}},
        {1, 0, {"a", 1}},    {1, 0, {"a\0", 2}},        {1, 0, {"ab", 2}}, {1, 0, {"b", 1}},
    };
    assert_int_equal(ta_partial_rows(p), 8);
    for (size_t i = 0; i < 8; i++) {
        const int64_t *row = ta_partial_at(p, i);
        assert_true(row[RANK] == expected[i].rank && row[NUMBER] == expected[i].number);
        assert_true(ta_slice_equal(ta_partial_text(p, row, NAME), expected[i].name));
        assert_null(ta_partial_dist_at(p, row, DIST));
    }
    ta_partial_free(p);
}

static void a_partial_without_keys(void **state)
{
    (void)state;
    static const struct ta_field only[] = {{"sum", TA_FIELD_SUM}};
    static const struct ta_partial_def one = {"one", only, 1};
    struct ta_partial *p = ta_partial_new(&one), *q = ta_partial_new(&one);
    ta_sum(&ta_partial_row(p, NULL)[0], 5);
    ta_sum(&ta_partial_row(p, NULL)[0], 6);
    ta_sum(&ta_partial_row(q, NULL)[0], 7);
    ta_partial_merge(p, q);
    assert_int_equal(ta_partial_rows(p), 1);
    assert_true(ta_partial_settle(p));
    assert_int_equal(ta_partial_at(p, 0)[0], 18);
    ta_partial_free(p);
    ta_partial_free(q);
}

/* ---- merging ------------------------------------------------------------------------------ */

/* Adds what one event may add. */
static void add_random(struct ta_partial *p, struct rng *rng)
{
    static const struct ta_slice names[] = {{"", 0}, {"a", 1}, {"a\0b", 3}, {"b", 1}, {"\xc3", 1}};
    int64_t *row = row_of(p, (int64_t)rng_below(rng, 4), (int64_t)rng_below(rng, 3) - 1,
                          names[rng_below(rng, 5)]);
    const int64_t value = (int64_t)(rng_next(rng) >> rng_below(rng, 60)) >> 4;
    if (rng_below(rng, 4))
        ta_sum(&row[SUM], value);
    if (rng_below(rng, 2))
        ta_least(&row[LEAST], value);
    if (rng_below(rng, 2))
        ta_most(&row[MOST], value);
    if (rng_below(rng, 3))
        ta_dist_add(ta_partial_dist(p, row, DIST), value);
}

static void assert_same_bits(double x, double y)
{
    assert_memory_equal(&x, &y, sizeof x);
}

static void assert_identical(struct ta_partial *a, struct ta_partial *b)
{
    assert_true(ta_partial_settle(a));
    assert_true(ta_partial_settle(b));
    assert_int_equal(ta_partial_rows(a), ta_partial_rows(b));
    for (size_t i = 0; i < ta_partial_rows(a); i++) {
        const int64_t *x = ta_partial_at(a, i), *y = ta_partial_at(b, i);
        assert_true(x[RANK] == y[RANK] && x[NUMBER] == y[NUMBER]);
        assert_true(x[SUM] == y[SUM] && x[LEAST] == y[LEAST] && x[MOST] == y[MOST]);
        assert_true(ta_slice_equal(ta_partial_text(a, x, NAME), ta_partial_text(b, y, NAME)));
        const struct ta_dist *u = ta_partial_dist_at(a, x, DIST);
        const struct ta_dist *v = ta_partial_dist_at(b, y, DIST);
        assert_int_equal(u == NULL, v == NULL);
        if (!u)
            continue;
        assert_int_equal(ta_dist_count(u), ta_dist_count(v));
        assert_same_bits(ta_dist_mean(u), ta_dist_mean(v));
        assert_same_bits(ta_dist_quantile(u, 50), ta_dist_quantile(v, 50));
        if (ta_dist_count(u) > 1)
            assert_same_bits(ta_dist_stddev(u), ta_dist_stddev(v));
    }
}

/* Deals the same events to parts and merges these in a random tree. */
static void check_merging(struct rng *rng, size_t n)
{
    enum { PARTS = 6 };
    struct ta_partial *whole = ta_partial_new(&def), *parts[PARTS];
    for (size_t i = 0; i < PARTS; i++)
        parts[i] = ta_partial_new(&def);
    for (size_t i = 0; i < n; i++) {
        struct rng again = *rng;
        add_random(whole, rng);
        add_random(parts[rng_below(&(struct rng){rng->state + i}, PARTS)], &again);
    }
    for (size_t left = PARTS; left > 1; left--) {
        const size_t last = left - 1, into = rng_below(rng, last);
        const size_t swap = rng_below(rng, left);
        struct ta_partial *moved = parts[swap];
        parts[swap] = parts[last];
        parts[last] = moved;
        if (rng_below(rng, 2))
            ta_partial_merge(parts[into], parts[last]);
        else
            ta_partial_drain(parts[into], parts[last]);
        ta_partial_free(parts[last]);
    }
    assert_identical(whole, parts[0]);
    ta_partial_free(whole);
    ta_partial_free(parts[0]);
}

static void any_split_and_order_gives_the_same(void **state)
{
    (void)state;
    struct rng rng = {66};
    for (int round = 0; round < 300; round++)
        check_merging(&rng, rng_below(&rng, 400));
}

static void merging_leaves_the_other_alone(void **state)
{
    (void)state;
    struct ta_partial *a = ta_partial_new(&def), *b = ta_partial_new(&def);
    ta_sum(&row_of(a, 0, 0, TA_LIT("x"))[SUM], 1);
    ta_sum(&row_of(b, 0, 0, TA_LIT("x"))[SUM], 10);
    ta_dist_add(ta_partial_dist(b, row_of(b, 0, 0, TA_LIT("x")), DIST), 4);
    ta_partial_merge(a, b);
    ta_partial_merge(a, b);
    assert_true(ta_partial_settle(a));
    assert_true(ta_partial_settle(b));
    assert_int_equal(ta_partial_at(a, 0)[SUM], 21);
    assert_int_equal(ta_dist_count(ta_partial_dist_at(a, ta_partial_at(a, 0), DIST)), 2);
    assert_int_equal(ta_partial_at(b, 0)[SUM], 10);
    assert_int_equal(ta_dist_count(ta_partial_dist_at(b, ta_partial_at(b, 0), DIST)), 1);
    ta_partial_free(a);
    ta_partial_free(b);
}

/* ---- ranks ---------------------------------------------------------------------------------- */

static void placeholders_become_ranks(void **state)
{
    (void)state;
    static const int64_t ranks[] = {5, 3, 5};
    struct ta_partial *p = ta_partial_new(&def);
    for (int64_t file = 0; file < 3; file++) {
        int64_t *row = row_of(p, file, 7, TA_LIT("x"));
        ta_sum(&row[SUM], 1 << file);
        ta_least(&row[LEAST], file);
        ta_most(&row[MOST], file);
        ta_dist_add(ta_partial_dist(p, row, DIST), file);
    }
    assert_true(ta_partial_has_rank(p));
    assert_true(ta_partial_resolve(&p, ranks, 3));
    assert_true(ta_partial_settle(p));
    assert_int_equal(ta_partial_rows(p), 2); /* two files of rank 5 are one row */
    const int64_t *three = ta_partial_at(p, 0), *five = ta_partial_at(p, 1);
    assert_true(three[RANK] == 3 && three[NUMBER] == 7 && three[SUM] == 2);
    assert_true(five[RANK] == 5 && five[SUM] == 5 && five[LEAST] == 0 && five[MOST] == 2);
    assert_int_equal(ta_dist_count(ta_partial_dist_at(p, five, DIST)), 2);
    ta_partial_free(p);
}

/* Ranks that differ keep their rows where they are, and are found there. */
static void rows_of_ranks_of_their_own_stay(void **state)
{
    (void)state;
    enum { FILES = 200 };
    int64_t ranks[FILES];
    struct ta_partial *p = ta_partial_new(&def), *before = p;
    for (int64_t file = 0; file < FILES; file++) {
        ranks[file] = FILES - 1 - file; /* each is the placeholder of another one */
        ta_sum(&row_of(p, file, 7, TA_LIT("x"))[SUM], file);
    }
    assert_true(ta_partial_resolve(&p, ranks, FILES));
    assert_ptr_equal(p, before);
    for (int64_t file = 0; file < FILES; file++)
        assert_int_equal(row_of(p, ranks[file], 7, TA_LIT("x"))[SUM], file);
    assert_true(ta_partial_settle(p));
    assert_int_equal(ta_partial_rows(p), FILES);
    ta_partial_free(p);
}

/* Rows that name rank 7, of a table or by their file, meet in one row; those of no rank stay so. */
static void ranks_of_rows_are_those_of_files(void **state)
{
    (void)state;
    const int64_t ranks[] = {4, 7};
    const struct ta_trace trace = {.view.rank = 1};
    assert_true(ta_rank_of_row(&trace, TA_MISSING) == 1);
    assert_true(ta_rank_of_row(&trace, TA_NO_RANK) == TA_MISSING);
    assert_true(ta_rank_of_row(&trace, INT64_MAX) == TA_MISSING);
    const int64_t named[] = {TA_MISSING, 7, 0, TA_NO_RANK, 7};
    struct ta_partial *p = ta_partial_new(&def);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        ta_sum(&row_of(p, ta_rank_of_row(&trace, named[i]), 1, TA_LIT("a"))[SUM], 1);
    assert_true(ta_partial_resolve(&p, ranks, 2));
    assert_true(ta_partial_settle(p));
    assert_int_equal(ta_partial_rows(p), 3);
    static const int64_t expected[3][2] = {{TA_MISSING, 1}, {0, 1}, {7, 3}};
    for (size_t i = 0; i < 3; i++) {
        assert_true(ta_partial_at(p, i)[RANK] == expected[i][0]);
        assert_int_equal(ta_partial_at(p, i)[SUM], expected[i][1]);
    }
    ta_partial_free(p);
}

/* Stretches of three numbers each, of every pair of other keys apart. */
static void neighbors_fold_into_one(void **state)
{
    (void)state;
    static const struct ta_field bins[] = {{"rank", TA_FIELD_RANK},
                                           {"bin", TA_FIELD_INT},
                                           {"sum", TA_FIELD_SUM},
                                           {"from", TA_FIELD_MIN},
                                           {"most", TA_FIELD_MAX}};
    static const struct ta_partial_def table = {"bins", bins, 5};
    struct ta_partial *p = ta_partial_new(&table);
    for (int64_t i = 0; i < 14; i++) {
        int64_t *row = TA_PARTIAL_ROW(p, ta_key_int(i / 7), ta_key_int(i % 7));
        ta_sum(&row[2], 1 << i);
        ta_least(&row[3], i);
        ta_most(&row[4], i);
    }
    assert_true(ta_partial_settle(p));
    static const int64_t expected[6][5] = {{0, 0, 7, 0, 2},      {0, 1, 56, 3, 5},
                                           {0, 2, 64, 6, 6},     {1, 0, 896, 7, 9},
                                           {1, 1, 7168, 10, 12}, {1, 2, 8192, 13, 13}};
    size_t n = 0;
    for (size_t i = 0; i < ta_partial_rows(p); n++) {
        int64_t cells[5];
        i = ta_partial_fold(p, i, 3, cells);
        assert_memory_equal(cells, expected[n], sizeof cells);
    }
    assert_int_equal(n, 6);
    ta_partial_free(p);
}

static void without_ranks_there_is_nothing_to_resolve(void **state)
{
    (void)state;
    static const struct ta_field numbers[] = {{"number", TA_FIELD_INT}, {"sum", TA_FIELD_SUM}};
    static const struct ta_partial_def rankless = {"numbers", numbers, 2};
    struct ta_partial *p = ta_partial_new(&rankless);
    assert_non_null(p);
    assert_false(ta_partial_has_rank(p));
    ta_partial_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_by_their_keys),
        cmocka_unit_test(missing_is_no_zero),
        cmocka_unit_test(addresses_are_stable),
        cmocka_unit_test(a_cache_stands_for_keys),
        cmocka_unit_test(rows_are_read_in_order),
        cmocka_unit_test(rows_alike_in_the_first_keys_are_a_group),
        cmocka_unit_test(a_partial_without_keys),
        cmocka_unit_test(any_split_and_order_gives_the_same),
        cmocka_unit_test(merging_leaves_the_other_alone),
        cmocka_unit_test(placeholders_become_ranks),
        cmocka_unit_test(rows_of_ranks_of_their_own_stay),
        cmocka_unit_test(ranks_of_rows_are_those_of_files),
        cmocka_unit_test(neighbors_fold_into_one),
        cmocka_unit_test(without_ranks_there_is_nothing_to_resolve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
