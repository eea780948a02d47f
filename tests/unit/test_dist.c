/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distributions against sums and sorted samples. */
#include "stat/dist.h"

#include "trace_fixture.h"

#include <inttypes.h>
#include <math.h>

static int by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Quantile of type 7 by its definition: linear between the order statistics around 1 + (n - 1) p.
 */
static long double quantile_of(const int64_t *sorted, size_t n, unsigned percent)
{
    const long double place = (long double)(n - 1) * percent / 100;
    const size_t at = (size_t)floorl(place);
    if (at + 1 >= n)
        return (long double)sorted[n - 1];
    return (long double)sorted[at] +
           (place - (long double)at) * (long double)(sorted[at + 1] - sorted[at]);
}

static long double deviation_of(const int64_t *samples, size_t n)
{
    __int128 sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += samples[i];
    const long double mean = (long double)sum / (long double)n;
    long double around = 0;
    for (size_t i = 0; i < n; i++)
        around += ((long double)samples[i] - mean) * ((long double)samples[i] - mean);
    return sqrtl(around / (long double)(n - 1));
}

static void assert_near(double value, long double expected, long double relative)
{
    if (fabsl((long double)value - expected) > relative * fabsl(expected))
        fail_msg("%.17g is not near %.17Lg", value, expected);
}

/* Durations as they are: small ones, spread over decades, and all alike around a large value. */
static int64_t sample(struct rng *rng, int kind)
{
    switch (kind) {
    case 0:
        return (int64_t)rng_below(rng, 300);
    case 1:
        return (int64_t)(rng_next(rng) >> (8 + rng_below(rng, 50)));
    case 2:
        return INT64_C(1700000000000000) + (int64_t)rng_below(rng, 1000);
    default:
        return (int64_t)rng_below(rng, 2) * INT64_C(36000000000);
    }
}

static void assert_as_sorted(struct ta_dist *dist, int64_t *samples, size_t n)
{
    __int128 sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += samples[i];
    qsort(samples, n, sizeof *samples, by_value);
    ta_dist_settle(dist);
    assert_int_equal(ta_dist_count(dist), n);
    assert_int_equal(ta_dist_min(dist), samples[0]);
    assert_int_equal(ta_dist_max(dist), samples[n - 1]);
    assert_true(ta_dist_sum(dist) == (sum > INT64_MAX ? INT64_MAX : (int64_t)sum));
    assert_near(ta_dist_mean(dist), (long double)sum / (long double)n, 1e-15L);
    if (n > 1)
        assert_near(ta_dist_stddev(dist), deviation_of(samples, n), 1e-9L);
    for (unsigned percent = 0; percent <= 100; percent++)
        assert_near(ta_dist_quantile(dist, percent), quantile_of(samples, n, percent), 1e-15L);
}

static void moments_and_quantiles_as_by_sorting(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 4, 5, 10, 21, 100, 101, 1000, 4097};
    struct rng rng = {2};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int kind = 0; kind < 4; kind++) {
            struct ta_dist dist = {0};
            int64_t *samples = calloc(sizes[s], sizeof *samples);
            assert_non_null(samples);
            for (size_t i = 0; i < sizes[s]; i++)
                ta_dist_add(&dist, samples[i] = sample(&rng, kind));
            assert_as_sorted(&dist, samples, sizes[s]);
            ta_dist_free(&dist);
            free(samples);
        }
    }
}

static void known_values(void **state)
{
    (void)state;
    struct ta_dist dist = {0};
    for (int64_t i = 1; i <= 10; i++)
        ta_dist_add(&dist, i * 10);
    ta_dist_settle(&dist);
    assert_true(ta_dist_mean(&dist) == 55.0);
    assert_near(ta_dist_stddev(&dist), 30.276503540974916654L, 1e-15L);
    assert_near(ta_dist_quantile(&dist, 50), 55.0L, 0);
    assert_near(ta_dist_quantile(&dist, 95), 95.5L, 1e-15L);
    assert_near(ta_dist_quantile(&dist, 99), 99.1L, 1e-15L);
    ta_dist_free(&dist);
}

static void what_is_not_defined(void **state)
{
    (void)state;
    struct ta_dist dist = {0};
    ta_dist_settle(&dist);
    assert_int_equal(ta_dist_count(&dist), 0);
    assert_true(ta_dist_min(&dist) == TA_MISSING && ta_dist_max(&dist) == TA_MISSING);
    assert_true(isnan(ta_dist_mean(&dist)) && isnan(ta_dist_stddev(&dist)));
    assert_true(isnan(ta_dist_quantile(&dist, 50)));
    ta_dist_add(&dist, -5); /* the caller's error counts as 0 */
    ta_dist_settle(&dist);
    assert_int_equal(ta_dist_min(&dist), 0);
    assert_true(isnan(ta_dist_stddev(&dist)));
    assert_true(ta_dist_quantile(&dist, 99) == 0.0);
    ta_dist_free(&dist);
}

/* The longest spans of the model, more of them than int64 can add up. */
static void large_sums_stay_at_the_end(void **state)
{
    (void)state;
    struct ta_dist dist = {0};
    for (int i = 0; i < 300; i++)
        ta_dist_add(&dist, (INT64_C(1) << 56) + i % 2);
    ta_dist_settle(&dist);
    assert_true(ta_dist_sum(&dist) == INT64_MAX);
    assert_near(ta_dist_mean(&dist), 72057594037927936.5L, 1e-15L);
    assert_near(ta_dist_stddev(&dist), sqrtl(0.25L * 300 / 299), 1e-12L);
    ta_dist_free(&dist);
    struct ta_dist extremes = {0};
    ta_dist_add(&extremes, INT64_MAX);
    ta_dist_add(&extremes, 0);
    ta_dist_settle(&extremes);
    assert_near(ta_dist_quantile(&extremes, 50), (long double)INT64_MAX / 2, 1e-15L);
    assert_near(ta_dist_stddev(&extremes), (long double)INT64_MAX / sqrtl(2), 1e-12L);
    ta_dist_free(&extremes);
}

/* Beyond 65 536 samples quantiles are within 0.5 %, all else stays exact. */
static void many_samples(void **state)
{
    (void)state;
    enum { N = 200000 };
    int64_t *samples = calloc(N, sizeof *samples);
    assert_non_null(samples);
    for (int kind = 0; kind < 4; kind++) {
        struct rng rng = {(uint64_t)kind + 40};
        struct ta_dist dist = {0};
        __int128 sum = 0;
        for (size_t i = 0; i < N; i++) {
            samples[i] = sample(&rng, kind);
            sum += samples[i];
            ta_dist_add(&dist, samples[i]);
        }
        assert_non_null(dist.buckets);
        assert_true(dist.max_samples < TA_DIST_EXACT / 64);
        qsort(samples, N, sizeof *samples, by_value);
        ta_dist_settle(&dist);
        assert_int_equal(ta_dist_count(&dist), N);
        assert_int_equal(ta_dist_min(&dist), samples[0]);
        assert_int_equal(ta_dist_max(&dist), samples[N - 1]);
        assert_near(ta_dist_mean(&dist), (long double)sum / N, 1e-15L);
        assert_near(ta_dist_stddev(&dist), deviation_of(samples, N), 1e-9L);
        for (unsigned percent = 0; percent <= 100; percent++) {
            /* Between two far samples the interpolation may sit anywhere: compare with both. */
            const size_t at = (size_t)((uint64_t)(N - 1) * percent / 100);
            const long double value = (long double)ta_dist_quantile(&dist, percent);
            const long double low = (long double)samples[at];
            const long double high = (long double)samples[at + 1 < N ? at + 1 : at];
            if (value < low * 0.995L || value > high * 1.005L)
                fail_msg("p%u is %Lg, not %Lg to %Lg", percent, value, low, high);
        }
        ta_dist_free(&dist);
    }
    free(samples);
}

static void the_last_exact_sample(void **state)
{
    (void)state;
    struct ta_dist dist = {0};
    for (int64_t i = 0; i < TA_DIST_EXACT; i++)
        ta_dist_add(&dist, i * 1000);
    assert_null(dist.buckets);
    ta_dist_settle(&dist);
    assert_near(ta_dist_quantile(&dist, 50), 32767500.0L, 0);
    ta_dist_add(&dist, 65536000);
    assert_non_null(dist.buckets);
    assert_true(dist.max_samples < TA_DIST_EXACT / 64);
    ta_dist_settle(&dist);
    assert_near(ta_dist_quantile(&dist, 50), 32768000.0L, 0.005L);
    assert_int_equal(ta_dist_count(&dist), TA_DIST_EXACT + 1);
    ta_dist_free(&dist);
}

/* Figures may be asked at any time, and samples of all sizes added after that. */
static void more_samples_after_settling(void **state)
{
    (void)state;
    struct rng rng = {5};
    struct ta_dist often = {0}, once = {0};
    for (int64_t i = 0; i < 2 * TA_DIST_EXACT; i++) {
        const int64_t value = sample(&rng, 1);
        ta_dist_add(&often, value);
        ta_dist_add(&once, value);
        if (i > TA_DIST_EXACT - 10 && i % 1009 == 0) {
            ta_dist_settle(&often);
            assert_int_equal(ta_dist_count(&often), i + 1);
        }
    }
    ta_dist_settle(&often);
    ta_dist_settle(&once);
    assert_int_equal(often.n_samples, 0);
    assert_true(often.n == once.n && often.sum == once.sum && often.squares == once.squares);
    assert_true(often.min == once.min && often.max == once.max);
    assert_memory_equal(often.buckets, once.buckets, TA_DIST_BUCKETS * sizeof *once.buckets);
    ta_dist_free(&often);
    ta_dist_free(&once);
}

/* One value that takes more than 32 bits, wherever it comes. */
static void small_values_and_a_large_one(void **state)
{
    (void)state;
    enum { N = 100 };
    for (int large = 0; large < N; large += 9) {
        struct ta_dist first = {0}, second = {0};
        for (int i = 0; i < N; i++)
            ta_dist_add(i < N / 2 ? &first : &second, i == large ? INT64_C(1) << 40 : i);
        ta_dist_merge(&first, &second);
        ta_dist_settle(&first);
        for (int i = 0; i < N - 1; i++)
            assert_int_equal(ta_dist_sample(&first, (size_t)i), i < large ? i : i + 1);
        assert_int_equal(ta_dist_sample(&first, N - 1), INT64_C(1) << 40);
        ta_dist_free(&first);
        ta_dist_free(&second);
    }
}

static void last_value(void *user, int64_t value, int64_t at_or_below)
{
    (void)at_or_below;
    *(int64_t *)user = value;
}

/* Every bucket lies where its samples are, at the largest values too: merging one sample into a
 * histogram puts it into its bucket. */
static void each_bucket_is_near_its_samples(void **state)
{
    (void)state;
    struct rng rng = {77};
    struct ta_dist zeros = {0};
    for (int i = 0; i <= TA_DIST_EXACT; i++)
        ta_dist_add(&zeros, 0);
    for (int round = 0; round < 3000; round++) {
        const int64_t value = (int64_t)(rng_next(&rng) >> (1 + rng_below(&rng, 63)));
        struct ta_dist one = {0}, both = {0};
        ta_dist_add(&one, value);
        ta_dist_merge(&both, &zeros);
        ta_dist_merge(&both, &one);
        int64_t reached = -1;
        ta_dist_walk(&both, last_value, &reached); /* the midpoint, not clipped to the extremes */
        assert_near((double)reached, (long double)value, 1 / 256.0L);
        ta_dist_free(&both);
        ta_dist_free(&one);
    }
    ta_dist_free(&zeros);
}

/* ---- merging --------------------------------------------------------------------------- */

struct walked {
    uint64_t hash;
    int64_t last_value, last_count;
    size_t n;
};

static void walk_step(void *user, int64_t value, int64_t at_or_below)
{
    struct walked *w = user;
    assert_true(w->n == 0 || (value > w->last_value && at_or_below > w->last_count));
    w->last_value = value;
    w->last_count = at_or_below;
    w->hash = (w->hash ^ (uint64_t)value) * UINT64_C(0x100000001b3);
    w->hash = (w->hash ^ (uint64_t)at_or_below) * UINT64_C(0x100000001b3);
    w->n++;
}

static void assert_identical(const struct ta_dist *a, const struct ta_dist *b)
{
    assert_true(a->n == b->n && a->sum == b->sum && a->squares == b->squares);
    assert_true(a->min == b->min && a->max == b->max);
    const double x[] = {ta_dist_mean(a), ta_dist_stddev(a), ta_dist_quantile(a, 1),
                        ta_dist_quantile(a, 50), ta_dist_quantile(a, 99)};
    const double y[] = {ta_dist_mean(b), ta_dist_stddev(b), ta_dist_quantile(b, 1),
                        ta_dist_quantile(b, 50), ta_dist_quantile(b, 99)};
    assert_memory_equal(x, y, sizeof x);
    struct walked u = {0}, v = {0};
    ta_dist_walk(a, walk_step, &u);
    ta_dist_walk(b, walk_step, &v);
    assert_true(u.hash == v.hash && u.n == v.n);
    assert_int_equal(u.last_count, a->n);
}

/* Samples dealt to parts, parts merged in a random order, and in a tree: the same to the bit. */
static void check_merging(struct rng *rng, size_t n, int kind)
{
    enum { PARTS = 7 };
    struct ta_dist whole = {0}, parts[PARTS] = {{0}}, chain = {0}, tree[PARTS] = {{0}};
    for (size_t i = 0; i < n; i++) {
        const int64_t value = sample(rng, kind);
        ta_dist_add(&whole, value);
        ta_dist_add(&parts[rng_below(rng, PARTS)], value);
    }
    size_t order[PARTS];
    for (size_t i = 0; i < PARTS; i++)
        order[i] = i;
    for (size_t i = PARTS - 1; i > 0; i--) {
        const size_t j = rng_below(rng, i + 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (size_t i = 0; i < PARTS; i++)
        ta_dist_merge(&chain, &parts[order[i]]);
    for (size_t i = 0; i < PARTS; i++)
        ta_dist_merge(&tree[i], &parts[order[i]]);
    for (size_t step = 1; step < PARTS; step *= 2)
        for (size_t i = 0; i + step < PARTS; i += 2 * step)
            ta_dist_merge(&tree[i], &tree[i + step]);
    ta_dist_settle(&whole);
    ta_dist_settle(&chain);
    ta_dist_settle(&tree[0]);
    assert_identical(&whole, &chain);
    assert_identical(&whole, &tree[0]);
    ta_dist_free(&whole);
    ta_dist_free(&chain);
    for (size_t i = 0; i < PARTS; i++) {
        ta_dist_free(&parts[i]);
        ta_dist_free(&tree[i]);
    }
}

static void merging_gives_the_same_in_any_order(void **state)
{
    (void)state;
    struct rng rng = {123};
    for (int round = 0; round < 200; round++)
        check_merging(&rng, rng_below(&rng, 300), round % 4);
    /* Around the number of exact samples: no part has buckets, the whole has. */
    static const size_t sizes[] = {TA_DIST_EXACT - 1, TA_DIST_EXACT, TA_DIST_EXACT + 1,
                                   3 * TA_DIST_EXACT, 10 * TA_DIST_EXACT};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        check_merging(&rng, sizes[s], (int)s % 4);
}

static void merging_nothing_changes_nothing(void **state)
{
    (void)state;
    struct ta_dist empty = {0}, some = {0};
    ta_dist_add(&some, 5);
    ta_dist_merge(&some, &empty);
    assert_int_equal(ta_dist_count(&some), 1);
    assert_int_equal(ta_dist_min(&some), 5);
    ta_dist_merge(&empty, &some);
    assert_int_equal(ta_dist_min(&empty), 5);
    assert_int_equal(ta_dist_max(&empty), 5);
    assert_int_equal(ta_dist_count(&some), 1);
    ta_dist_free(&empty);
    ta_dist_free(&some);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_and_quantiles_as_by_sorting),
        cmocka_unit_test(known_values),
        cmocka_unit_test(what_is_not_defined),
        cmocka_unit_test(large_sums_stay_at_the_end),
        cmocka_unit_test(many_samples),
        cmocka_unit_test(the_last_exact_sample),
        cmocka_unit_test(more_samples_after_settling),
        cmocka_unit_test(small_values_and_a_large_one),
        cmocka_unit_test(each_bucket_is_near_its_samples),
        cmocka_unit_test(merging_gives_the_same_in_any_order),
        cmocka_unit_test(merging_nothing_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
