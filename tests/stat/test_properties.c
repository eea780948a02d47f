/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fast ways against the plain definition on samples too large for a table, and what must not
 * change when a sample is moved, scaled or put into another order. */
#include "fixture.h"

/* ---- pairs without listing them ---------------------------------------------------------- */

/* Median and the two order statistics of an interval that found `low` and `high` among them. */
static void assert_median(double *all, size_t n, const struct ta_estimate *found, double rel)
{
    ta_sort_numbers(all, n);
    assert_near(found->value, n % 2 ? all[n / 2] : all[n / 2 - 1] / 2 + all[n / 2] / 2, rel);
    size_t below = 0, above = 0;
    for (size_t i = 0; i < n; i++) {
        below += all[i] < found->low;
        above += all[i] > found->high;
    }
    /* As many below as above, but for ties at the ends. */
    size_t low_end = below, high_end = above;
    while (low_end < n && all[low_end] <= found->low)
        low_end++;
    while (high_end < n && all[n - 1 - high_end] >= found->high)
        high_end++;
    assert_true(low_end > below && high_end > above);
    assert_true(below < high_end && above < low_end);
}

static void test_shift(void **state)
{
    (void)state;
    struct noise noise = {1};
    for (size_t round = 0; round < 8; round++) {
        const size_t n = 150 + (size_t)(noise_next(&noise) % 300), m = 100 + round * 40;
        double *x = numbers(n), *y = numbers(m), *all = numbers(n * m);
        fill_normal(&noise, x, n, 1000, 30);
        fill_normal(&noise, y, m, 1010, 60);
        for (size_t i = 0; i < n && round % 2; i++) /* ties */
            x[i] = floor(x[i] / 8);
        for (size_t j = 0; j < m && round % 2; j++)
            y[j] = floor(y[j] / 8);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < m; j++)
                all[i * m + j] = y[j] - x[i];
        struct ta_estimate e;
        assert_true(ta_shift(x, n, y, m, 0.95, &e));
        assert_median(all, n * m, &e, 0);
        free(x);
        free(y);
        free(all);
    }
}

static void test_center(void **state)
{
    (void)state;
    struct noise noise = {2};
    for (size_t n = 51; n < 900; n += 170) {
        double *x = numbers(n), *all = numbers(n * (n + 1) / 2);
        fill_normal(&noise, x, n, -3, 40);
        size_t pairs = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = i; j < n; j++)
                all[pairs++] = (x[i] + x[j]) / 2;
        struct ta_estimate e;
        assert_true(ta_center(x, n, 0.95, &e));
        assert_median(all, pairs, &e, 0);
        free(x);
        free(all);
    }
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* kind: 0 noise around a line, 1 few different y, 2 few different x and y, 3 heavy tails, 4 x NULL
 * and huge offsets, 5 few different x, 6 each point 30 times */
static void make_points(struct noise *noise, int kind, double *x, double *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = kind == 4 ? (double)i : 100 * noise_uniform(noise);
        if (kind == 2 || kind == 5)
            x[i] = floor(x[i] / 20);
        y[i] = 2 * x[i] + 10 * noise_normal(noise);
        if (kind == 1 || kind == 2)
            y[i] = floor(y[i] / 40);
        if (kind == 6 && i % 30) {
            x[i] = x[i - 1];
            y[i] = y[i - 1];
        }
        if (kind == 3)
            y[i] += 1 / (noise_uniform(noise) - 0.5);
        if (kind == 4)
            y[i] = 1.7e15 + floor(y[i]);
    }
}

static void test_theil_sen(void **state)
{
    (void)state;
    struct noise noise = {3};
    const size_t n = 1200;
    double *x = numbers(n), *y = numbers(n), *all = numbers(n * n / 2);
    for (int kind = 0; kind < 7; kind++) {
        make_points(&noise, kind, x, y, n);
        size_t pairs = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                if (x[i] < x[j])
                    all[pairs++] = (y[j] - y[i]) / (x[j] - x[i]);
        qsort(all, pairs, sizeof *all, by_value);
        struct ta_slope s;
        assert_true(ta_theil_sen(kind == 4 ? NULL : x, y, n, 0.95, &s));
        const double expected =
            pairs % 2 ? all[pairs / 2] : (all[pairs / 2 - 1] + all[pairs / 2]) / 2;
        /* Where slopes are far apart it is the very one; else rounding of the centered points may
         * move the rank by a few. */
        const double step =
            kind == 0 || kind == 5 ? 1e-11 : all[pairs / 2 + 8] - all[pairs / 2 - 8];
        assert_within(s.slope.value - expected, -step - 1e-12, step + 1e-12);
        assert_true(s.slope.low <= expected && expected <= s.slope.high);
    }
    free(x);
    free(y);
    free(all);
}

/* The two ways of finding slopes meet at 1024 points. */
static void test_theil_sen_bound(void **state)
{
    (void)state;
    struct noise noise = {4};
    enum { N = 1030 };
    double x[N], y[N];
    for (int kind = 0; kind < 4; kind += 3) {
        make_points(&noise, kind, x, y, N);
        struct ta_slope few, many;
        /* The points beyond 1024 lie on the line, so that they hardly change it. */
        assert_true(ta_theil_sen(x, y, 1024, 0.95, &few));
        for (size_t i = 1024; i < N; i++)
            y[i] = few.intercept + few.slope.value * x[i];
        assert_true(ta_theil_sen(x, y, N, 0.95, &many));
        assert_within(many.slope.value / few.slope.value, 0.99, 1.01);
    }
}

static void test_theil_sen_large(void **state)
{
    (void)state;
    struct noise noise = {5};
    const size_t n = 30000;
    double *x = numbers(n), *y = numbers(n);
    struct ta_slope s;
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)i;
        y[i] = 0.25 * x[i] + (noise_next(&noise) % 5 ? 0 : 1e6 * noise_uniform(&noise));
    }
    assert_true(ta_theil_sen(NULL, y, n, 0.95, &s));
    assert_within(s.slope.value, 0.2499, 0.2501 + 1); /* outliers on one side lift it */
    for (size_t i = 0; i < n; i++)
        y[i] = floor(3 * noise_uniform(&noise));
    assert_true(ta_theil_sen(x, y, n, 0.95, &s));
    assert_near(s.slope.value, 0, 0);
    for (size_t i = 0; i < n; i++)
        y[i] = 7 - 0.125 * x[i];
    assert_true(ta_theil_sen(x, y, n, 0.95, &s));
    assert_near(s.slope.value, -0.125, 1e-9);
    assert_near(s.slope.low, -0.125, 1e-9);
    free(x);
    free(y);
}

/* ---- series ------------------------------------------------------------------------------ */

static void test_mann_kendall(void **state)
{
    (void)state;
    struct noise noise = {6};
    for (size_t n = 3; n < 400; n += 1 + n / 3) {
        double x[400];
        for (size_t i = 0; i < n; i++)
            x[i] = n % 2 ? noise_normal(&noise) : floor(6 * noise_uniform(&noise));
        int64_t s = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++)
                s += (x[j] > x[i]) - (x[j] < x[i]);
        struct ta_trend t;
        assert_true(ta_mann_kendall(x, n, &t));
        assert_int_equal(t.s, s);
    }
}

/* A slow wave has more positive lags than are summed one by one. */
static void test_effective_size(void **state)
{
    (void)state;
    enum { N = 4096 }; /* a power of 2: what is behind the end must not come round */
    double x[N], mean = 0, squares = 0, time = 1;
    for (size_t i = 0; i < N; i++)
        x[i] = 1e6 + sin((double)i / 400);
    for (size_t i = 0; i < N; i++)
        mean += x[i] / N;
    for (size_t i = 0; i < N; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    for (size_t lag = 1; lag < N; lag++) {
        double rho = 0;
        for (size_t i = 0; i + lag < N; i++)
            rho += (x[i] - mean) * (x[i + lag] - mean) / squares;
        if (rho <= 0)
            break;
        time += 2 * rho * (1 - (double)lag / N);
    }
    assert_within(time, 500, 3000);
    double size;
    assert_true(ta_effective_size(x, N, &size));
    assert_near(size, N / time, 1e-6);
}

/* The best partition by trying every start for every end. */
static double best_cost(const double *scaled, size_t n)
{
    double *cost = numbers(n + 1);
    const double penalty = 3 * log((double)n);
    for (size_t end = 1; end <= n; end++)
        cost[end] = (double)INFINITY;
    cost[0] = -penalty;
    for (size_t end = 3; end <= n; end++)
        for (size_t from = 0; from + 3 <= end; from++) {
            double sum = 0, squares = 0;
            for (size_t i = from; i < end; i++)
                sum += scaled[i];
            for (size_t i = from; i < end; i++)
                squares += pow(scaled[i] - sum / (double)(end - from), 2);
            cost[end] = fmin(cost[end], cost[from] + squares + penalty);
        }
    const double best = cost[n];
    free(cost);
    return best;
}

static double cost_of_found(const double *scaled, size_t n, const struct ta_changes *found)
{
    double cost = 3 * log((double)n) * (double)found->n;
    for (size_t s = 0; s <= found->n; s++) {
        const size_t from = s ? found->at[s - 1] : 0, end = s < found->n ? found->at[s] : n;
        assert_true(end >= from + 3);
        double sum = 0;
        for (size_t i = from; i < end; i++)
            sum += scaled[i];
        for (size_t i = from; i < end; i++)
            cost += pow(scaled[i] - sum / (double)(end - from), 2);
    }
    return cost;
}

static void test_pelt_is_optimal(void **state)
{
    (void)state;
    struct noise noise = {7};
    enum { MOST = 120 };
    for (size_t round = 0; round < 2000; round++) {
        /* Short segments with large steps, too: a start that looks bad may still win where the next
         * one is not long enough yet. */
        const bool is_short = round % 10;
        const size_t n = 6 + (size_t)(noise_next(&noise) % (is_short ? 30 : MOST - 6));
        double x[MOST], level = 0;
        for (size_t i = 0; i < n; i++) {
            if (noise_next(&noise) % (is_short ? 3 : 6) == 0)
                level = (is_short ? 15 : 6) * noise_uniform(&noise);
            x[i] = level + noise_normal(&noise);
        }
        struct ta_changes found;
        assert_true(ta_change_points(x, n, &found));
        for (size_t i = 0; i < n; i++) /* no value is 50 σ̂ away */
            x[i] /= found.sigma;
        assert_near(cost_of_found(x, n, &found), best_cost(x, n), 1e-9);
        free(found.at);
    }
}

static void test_pelt_finds_planted(void **state)
{
    (void)state;
    struct noise noise = {8};
    size_t right = 0, false_alarms = 0;
    enum { ROUNDS = 500, N = 28 };
    for (size_t round = 0; round < ROUNDS; round++) {
        double x[N];
        struct ta_changes found;
        fill_normal(&noise, x, N, 100, 1);
        assert_true(ta_change_points(x, N, &found));
        false_alarms += found.n > 0;
        free(found.at);
        for (size_t i = 17; i < N; i++)
            x[i] += 12;
        assert_true(ta_change_points(x, N, &found));
        right += found.n == 1 && found.at[0] == 17;
        free(found.at);
    }
    /* 96 % and 6 % when the method was chosen. */
    assert_within((double)right / ROUNDS, 0.93, 1);
    assert_within((double)false_alarms / ROUNDS, 0, 0.09);
}

static void test_pelt_long(void **state)
{
    (void)state;
    struct noise noise = {9};
    const size_t n = 100000, planted[] = {20011, 20500, 70002};
    double *x = numbers(n);
    for (size_t i = 0; i < n; i++)
        x[i] = 50 + noise_normal(&noise) + (i >= planted[0] ? 20 : 0) - (i >= planted[1] ? 12 : 0) +
               (i >= planted[2] ? 15 : 0);
    struct ta_changes found;
    assert_true(ta_change_points(x, n, &found));
    assert_int_equal(found.n, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(found.at[i], planted[i]);
    free(found.at);
    fill_normal(&noise, x, n, 5, 1);
    assert_true(ta_change_points(x, n, &found));
    assert_int_equal(found.n, 0);
    free(found.at);
    free(x);
}

/* Steps to levels far from the median are not hidden by the bound on outliers. */
static void test_pelt_far_levels(void **state)
{
    (void)state;
    struct noise noise = {10};
    double x[100];
    for (size_t i = 0; i < 100; i++)
        x[i] = (i < 60 ? 100 : i < 80 ? 200 : 300) + 0.1 * noise_normal(&noise);
    struct ta_changes found;
    assert_true(ta_change_points(x, 100, &found));
    assert_int_equal(found.n, 2);
    assert_int_equal(found.at[0], 60);
    assert_int_equal(found.at[1], 80);
    free(found.at);
}

static void test_warm_up(void **state)
{
    (void)state;
    struct noise noise = {11};
    enum { N = 200 };
    double x[N];
    fill_normal(&noise, x, N, 40, 0.5);
    for (size_t i = 0; i < 30; i++)
        x[i] += 30 * exp(-(double)i / 6);
    struct ta_warm_up w;
    ta_warm_up(x, N, &w);
    assert_true(w.steady);
    assert_within((double)w.cut, 15, 40);
    assert_within(w.mean, 39.8, 40.3);
    for (size_t i = 0; i < N; i++)
        x[i] = (double)i;
    ta_warm_up(x, N, &w);
    assert_false(w.steady);
}

/* ---- invariance -------------------------------------------------------------------------- */

enum { SIZE = 61 };

/* Figures of a sample that keep, move or scale with it. */
struct figures {
    double moving[8];  /* a · x + b */
    double scaling[4]; /* a · x */
    double fixed[10];
};

static void describe(const double *x, const double *y, size_t n, struct figures *f)
{
    double sorted[SIZE];
    memcpy(sorted, x, n * sizeof *x);
    ta_sort_numbers(sorted, n);
    struct ta_moments m;
    struct ta_estimate median, center, shift;
    struct ta_fences fences;
    struct ta_rank_test test;
    struct ta_permutation permutation;
    double qn;
    ta_moments(x, n, &m);
    ta_quantile_interval(sorted, n, 0.5, 0.95, &median);
    ta_tukey_fences(sorted, n, &fences);
    assert_true(ta_center(x, n, 0.95, &center));
    assert_true(ta_shift(x, n, y, n, 0.95, &shift));
    assert_true(ta_mann_whitney(x, n, y, n, &test));
    assert_true(ta_qn(sorted, n, &qn));
    assert_true(ta_permutation_test(x, n, y, n, 200, 1, 5, &permutation));
    *f = (struct figures){
        .moving = {m.mean, median.value, median.low, median.high, center.value, center.low,
                   ta_trimmed_mean(sorted, n, 0.1), fences.severe_high},
        .scaling = {m.stddev, ta_mad(sorted, n), qn, shift.value},
        .fixed = {m.skewness, m.kurtosis, test.u, test.z, test.p, test.cliff, permutation.p},
    };
}

static void compare(const struct figures *a, const struct figures *b, double factor, double offset)
{
    for (size_t i = 0; i < 8; i++)
        assert_near(b->moving[i], factor * a->moving[i] + offset, 1e-12);
    for (size_t i = 0; i < 4; i++)
        assert_near(b->scaling[i], factor * a->scaling[i], 1e-10);
    for (size_t i = 0; i < 10; i++)
        assert_near(b->fixed[i], a->fixed[i], 1e-10);
}

static void test_invariance(void **state)
{
    (void)state;
    struct noise noise = {12};
    const double factors[] = {1, 1024, 0.125, 3.7}, offsets[] = {0, 4096, -250, 1e6};
    double x[SIZE], y[SIZE], moved_x[SIZE], moved_y[SIZE];
    fill_normal(&noise, x, SIZE, 1000, 50);
    fill_normal(&noise, y, SIZE, 1010, 60);
    struct figures plain, moved;
    describe(x, y, SIZE, &plain);
    for (size_t k = 0; k < 4; k++) {
        for (size_t i = 0; i < SIZE; i++) {
            moved_x[i] = factors[k] * x[i] + offsets[k];
            moved_y[i] = factors[k] * y[i] + offsets[k];
        }
        describe(moved_x, moved_y, SIZE, &moved);
        compare(&plain, &moved, factors[k], offsets[k]);
    }
    /* Order matters to no figure but the random ones. */
    shuffle(&noise, x, SIZE);
    shuffle(&noise, y, SIZE);
    describe(x, y, SIZE, &moved);
    moved.fixed[6] = plain.fixed[6];
    compare(&plain, &moved, 1, 0);
}

static void test_exchange(void **state)
{
    (void)state;
    struct noise noise = {13};
    for (size_t n = 2; n < 20; n++) {
        double x[20], y[20];
        fill_normal(&noise, x, n, 50, 3);
        fill_normal(&noise, y, n + 1, 52, 3);
        struct ta_estimate there, back;
        struct ta_rank_test forward, backward;
        struct ta_welch up, down;
        assert_true(ta_shift(x, n, y, n + 1, 0.95, &there));
        assert_true(ta_shift(y, n + 1, x, n, 0.95, &back));
        assert_near(there.value, -back.value, 1e-12);
        assert_near(there.low, -back.high, 1e-12);
        assert_true(ta_mann_whitney(x, n, y, n + 1, &forward));
        assert_true(ta_mann_whitney(y, n + 1, x, n, &backward));
        assert_near(forward.p, backward.p, 1e-12);
        assert_near(forward.cliff, -backward.cliff, 1e-12);
        ta_welch_ratio(x, n, y, n + 1, 0.95, &up);
        ta_welch_ratio(y, n + 1, x, n, 0.95, &down);
        assert_near(up.ratio.value, 1 / down.ratio.value, 1e-12);
        assert_near(up.ratio.low, 1 / down.ratio.high, 1e-12);
    }
}

static void test_lines_move(void **state)
{
    (void)state;
    struct noise noise = {14};
    double x[SIZE], y[SIZE], moved_x[SIZE], moved_y[SIZE];
    fill_normal(&noise, x, SIZE, 0, 10);
    for (size_t i = 0; i < SIZE; i++) {
        y[i] = 3 + 2 * x[i] + noise_normal(&noise);
        moved_x[i] = 8 * x[i] + 1e5;
        moved_y[i] = 2 * y[i] - 1e4;
    }
    struct ta_line plain, moved;
    struct ta_slope slope, moved_slope;
    assert_true(ta_robust_line(x, y, SIZE, 0.95, &plain));
    assert_true(ta_robust_line(moved_x, moved_y, SIZE, 0.95, &moved));
    assert_near(moved.slope.value, plain.slope.value / 4, 1e-7);
    assert_near(moved.slope.high, plain.slope.high / 4, 1e-7);
    assert_near(moved.at_mean.value, 2 * plain.at_mean.value - 1e4, 1e-7);
    assert_true(ta_theil_sen(x, y, SIZE, 0.95, &slope));
    assert_true(ta_theil_sen(moved_x, moved_y, SIZE, 0.95, &moved_slope));
    assert_near(moved_slope.slope.value, slope.slope.value / 4, 1e-9);
    assert_near(moved_slope.slope.low, slope.slope.low / 4, 1e-9);
}

static void test_seed(void **state)
{
    (void)state;
    /* FNV-1a of "steps", 0x1f, "rank 0". */
    uint32_t hash = 2166136261u;
    for (const char *at = "steps\x1frank 0"; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    assert_int_equal(ta_seed(TA_LIT("steps"), TA_LIT("rank 0")), hash);
    assert_true(ta_seed(TA_LIT("a"), TA_LIT("bc")) != ta_seed(TA_LIT("ab"), TA_LIT("c")));
}

static void test_bits_repeat(void **state)
{
    (void)state;
    struct noise noise = {15};
    double x[SIZE];
    fill_normal(&noise, x, SIZE, 7, 1);
    const struct ta_bootstrap how = {500, 77, 0, 0.95, false};
    struct ta_estimate first, again;
    assert_true(ta_bootstrap(x, SIZE, ta_statistic_median, NULL, &how, &first));
    assert_true(ta_bootstrap(x, SIZE, ta_statistic_median, NULL, &how, &again));
    assert_memory_equal(&first, &again, sizeof first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shift),
        cmocka_unit_test(test_center),
        cmocka_unit_test(test_theil_sen),
        cmocka_unit_test(test_theil_sen_bound),
        cmocka_unit_test(test_theil_sen_large),
        cmocka_unit_test(test_mann_kendall),
        cmocka_unit_test(test_effective_size),
        cmocka_unit_test(test_pelt_is_optimal),
        cmocka_unit_test(test_pelt_finds_planted),
        cmocka_unit_test(test_pelt_long),
        cmocka_unit_test(test_pelt_far_levels),
        cmocka_unit_test(test_warm_up),
        cmocka_unit_test(test_invariance),
        cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_lines_move),
        cmocka_unit_test(test_seed),
        cmocka_unit_test(test_bits_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
