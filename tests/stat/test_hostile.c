/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values that no clock gives: every statistic ends, stays within its arrays and says "not defined"
 * rather than something infinite or wrong. */
#include "fixture.h"

enum { MOST = 2100 };

/* ---- samples ----------------------------------------------------------------------------- */

enum kind {
    ZEROS,
    EQUAL,
    ONE_NAN,
    ONE_INFINITE,
    HUGE_BOTH_SIGNS,
    HUGE_POSITIVE,
    DENORMAL,
    MIXED_SCALES,
    TWO_VALUES,
    ONE_ULP_APART,
    SIGNED_ZEROS,
    ORDERED,
    RANDOM_BITS,
    KINDS
};

static double hostile_value(struct noise *noise, enum kind kind, size_t i, size_t n)
{
    const double unit = noise_uniform(noise);
    uint64_t bits;
    double any;
    switch (kind) {
    case EQUAL:
        return 1e17 / 3;
    case ONE_NAN:
        return i == n / 2 ? (double)NAN : unit;
    case ONE_INFINITE:
        return i == n - 1 ? -(double)INFINITY : unit;
    case HUGE_BOTH_SIGNS:
        return (unit < 0.5 ? -1 : 1) * (1.7e308 + 9e306 * unit);
    case HUGE_POSITIVE:
        return 1e308 * (1 + 0.5 * unit);
    case DENORMAL:
        return 5e-324 * floor(100 * unit);
    case MIXED_SCALES:
        return pow(10, 600 * unit - 300);
    case TWO_VALUES:
        return unit < 0.5 ? 1e-300 : 1e300;
    case ONE_ULP_APART:
        return nextafter(1e9, unit < 0.5 ? 0 : 2e9);
    case SIGNED_ZEROS:
        return unit < 0.3 ? -0.0 : unit < 0.6 ? 0.0 : 1;
    case ORDERED:
        return (double)i * 1e300;
    case RANDOM_BITS:
        bits = noise_next(noise);
        memcpy(&any, &bits, sizeof any);
        return isfinite(any) ? any : 1;
    default:
        return 0;
    }
}

static bool is_finite_kind(enum kind kind)
{
    return kind != ONE_NAN && kind != ONE_INFINITE;
}

/* ---- what must hold of any result -------------------------------------------------------- */

static void assert_plain(double value)
{
    if (isinf(value))
        fail_msg("infinite");
}

static void assert_probability(double p)
{
    if (!isnan(p))
        assert_within(p, 0, 1);
}

static void assert_estimate(const struct ta_estimate *e)
{
    assert_plain(e->value);
    assert_plain(e->low);
    assert_plain(e->high);
    assert_true(isnan(e->low) == isnan(e->high));
    if (e->low > e->high)
        fail_msg("from %.17g to %.17g", e->low, e->high);
}

/* ---- all calls --------------------------------------------------------------------------- */

static void try_sorted(const double *values, size_t n)
{
    double sorted[MOST], z[MOST], qn;
    uint64_t counts[256] = {0};
    memcpy(sorted, values, n * sizeof *values);
    ta_sort_numbers(sorted, n);
    struct ta_estimate e;
    struct ta_fences fences;
    struct ta_classes split;
    struct ta_bins bins;
    const double shares[] = {0, 0.5, 0.99, 1, -1, (double)NAN};
    for (size_t i = 0; i < 6; i++) {
        ta_quantile_interval(sorted, n, shares[i], 0.95, &e);
        assert_estimate(&e);
        assert_plain(ta_trimmed_mean(sorted, n, shares[i]));
        ta_quantile_interval(sorted, n, 0.5, shares[i], &e);
        assert_estimate(&e);
    }
    assert_plain(ta_mad(sorted, n));
    assert_plain(ta_robust_cv(sorted, n));
    assert_true(ta_qn(sorted, n, &qn));
    assert_plain(qn);
    ta_modified_z(sorted, n, values, n, z);
    ta_tukey_fences(sorted, n, &fences);
    assert_plain(fences.severe_high);
    ta_two_classes(sorted, n, &split);
    assert_true(split.n_low <= n);
    for (int is_log = 0; is_log < 2; is_log++) {
        (is_log ? ta_bins_log : ta_bins_linear)(sorted, n, &bins);
        assert_true(bins.n_bins <= 200);
        memset(counts, 0, sizeof counts);
        ta_bins_count(&bins, sorted, n, counts);
        uint64_t counted = 0;
        for (size_t i = 0; i < bins.n_bins; i++)
            counted += counts[i];
        assert_int_equal(counted, bins.n_bins ? n : 0);
    }
}

static void try_series(const double *values, size_t n)
{
    bool marks[MOST];
    size_t n_marked = 0;
    double size;
    struct ta_moments moments;
    struct ta_trend trend;
    struct ta_slope slope;
    struct ta_changes changes;
    struct ta_warm_up warm_up;
    ta_moments(values, n, &moments);
    assert_plain(moments.mean);
    assert_plain(moments.stddev);
    assert_plain(moments.kurtosis);
    const size_t windows[] = {0, 1, 2, 11, 12, 5 * MOST};
    for (size_t i = 0; i < 6; i++) {
        assert_true(ta_hampel(values, n, windows[i], 3, marks, &n_marked));
        assert_true(n_marked <= n);
        assert_plain(ta_autocorrelation(values, n, windows[i]));
    }
    assert_true(ta_effective_size(values, n, &size));
    if (n && !isnan(size))
        assert_within(size, 1, (double)n);
    assert_true(ta_mann_kendall(values, n, &trend));
    assert_probability(trend.p);
    assert_true(ta_theil_sen(NULL, values, n, 0.95, &slope));
    assert_estimate(&slope.slope);
    assert_true(ta_change_points(values, n, &changes));
    for (size_t i = 0; i < changes.n; i++)
        assert_true(changes.at[i] >= 3 && changes.at[i] + 3 <= n &&
                    (i == 0 || changes.at[i] >= changes.at[i - 1] + 3));
    free(changes.at);
    ta_warm_up(values, n, &warm_up);
    assert_true(warm_up.cut <= n / 2);
    assert_plain(warm_up.mean);
}

static void try_random(const double *x, size_t n, const double *y, size_t m)
{
    struct ta_estimate e;
    struct ta_permutation permutation;
    for (size_t block = 0; block < 3; block++) {
        const struct ta_bootstrap how = {25, 0, block * 7, 0.95, block == 1};
        assert_true(ta_bootstrap(x, n, ta_statistic_mean, NULL, &how, &e));
        assert_estimate(&e);
        assert_true(ta_bootstrap_ratio(x, n, y, m, ta_statistic_median, NULL, &how, &e));
        assert_estimate(&e);
        assert_true(ta_permutation_test(x, n, y, m, 30, block * 7, 0, &permutation));
        assert_probability(permutation.p);
        assert_plain(permutation.difference);
    }
}

static void try_pair(const double *x, size_t n, const double *y, size_t m)
{
    struct ta_estimate e;
    struct ta_rank_test test;
    struct ta_welch welch;
    const double levels[] = {0.95, 0, 1, (double)NAN, 1e-300, 1 - 1e-16};
    for (size_t i = 0; i < 6; i++) {
        assert_true(ta_shift(x, n, y, m, levels[i], &e));
        assert_estimate(&e);
        assert_true(ta_shift_ratio(x, n, y, m, levels[i], &e));
        assert_estimate(&e);
        assert_true(ta_center(x, n, levels[i], &e));
        assert_estimate(&e);
        ta_welch_ratio(x, n, y, m, levels[i], &welch);
        assert_estimate(&welch.ratio);
        assert_probability(welch.p);
        struct ta_log_spread spread;
        ta_log_spread_of(x, n, y, m, &spread);
        assert_true(isnan(spread.sd) || spread.sd >= 0);
        ta_spread_ratio(x, n, y, m, &spread, levels[i], &welch);
        assert_estimate(&welch.ratio);
        assert_probability(welch.p);
    }
    assert_true(ta_mann_whitney(x, n, y, m, &test));
    assert_probability(test.p);
    ta_rank_test_thin(&test, 0.3);
    assert_probability(test.p);
    double q[MOST];
    assert_true(ta_benjamini_hochberg(x, n, q));
    try_random(x, n, y, m);
}

static void try_points(const double *x, const double *y, size_t n)
{
    struct ta_slope slope;
    struct ta_line line;
    struct ta_correlation correlation;
    struct ta_amdahl amdahl;
    struct ta_usl usl;
    double curve[MOST];
    assert_true(ta_theil_sen(x, y, n, 0.95, &slope));
    assert_estimate(&slope.slope);
    assert_plain(slope.intercept);
    assert_true(ta_robust_line(x, y, n, 0.95, &line));
    assert_estimate(&line.slope);
    assert_plain(line.intercept);
    assert_true(ta_spearman(x, y, n, &correlation));
    assert_probability(correlation.p);
    if (!isnan(correlation.rho))
        assert_within(correlation.rho, -1, 1);
    ta_amdahl(x, y, n, &amdahl);
    if (!isnan(amdahl.serial))
        assert_within(amdahl.serial, 0, 1);
    assert_true(ta_usl(x, y, n, &usl));
    if (!isnan(usl.sigma))
        assert_true(usl.sigma >= 0 && usl.sigma <= 1 && usl.kappa >= 0);
    if (n)
        assert_plain(ta_integral(x, y, n, x[0], x[n - 1]));
    assert_true(ta_curve(x, y, n, y, n, curve));
}

static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 6, 9, 33, 200, MOST};

static void test_all_kinds(void **state)
{
    (void)state;
    struct noise noise = {1};
    double *x = numbers(MOST), *y = numbers(MOST);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const size_t n = sizes[s];
            for (size_t i = 0; i < n; i++)
                x[i] = hostile_value(&noise, (enum kind)kind, i, n);
            for (size_t i = 0; i < n; i++)
                y[i] = hostile_value(&noise, (enum kind)(noise_next(&noise) % KINDS), i, n);
            if (is_finite_kind((enum kind)kind)) /* what is sorted holds no NaN */
                try_sorted(x, n);
            try_series(x, n);
            try_pair(x, n, x, n);
            try_pair(x, n, y, n);
            try_pair(y, n, x, n / 2);
            try_points(x, x, n);
            try_points(x, y, n);
            try_points(y, x, n);
        }
    free(x);
    free(y);
}

/* ---- said in the headers ----------------------------------------------------------------- */

static void test_nothing_from_nothing(void **state)
{
    (void)state;
    struct ta_moments moments;
    struct ta_estimate e;
    struct ta_rank_test test;
    struct ta_slope slope;
    ta_moments(NULL, 0, &moments);
    assert_true(moments.n == 0 && isnan(moments.mean) && isnan(moments.max));
    ta_quantile_interval(NULL, 0, 0.5, 0.95, &e);
    assert_true(isnan(e.value));
    assert_true(ta_shift(NULL, 0, NULL, 0, 0.95, &e));
    assert_true(isnan(e.value));
    assert_true(ta_mann_whitney(NULL, 0, NULL, 0, &test));
    assert_true(isnan(test.p));
    assert_true(ta_theil_sen(NULL, NULL, 0, 0.95, &slope));
    assert_true(isnan(slope.slope.value));
}

static void refuse(double wrong)
{
    double x[20], y[20];
    for (size_t i = 0; i < 20; i++) {
        x[i] = (double)i;
        y[i] = (double)(i * i % 7);
    }
    y[11] = wrong;
    struct ta_estimate e;
    struct ta_rank_test test;
    struct ta_trend trend;
    struct ta_line line;
    struct ta_changes changes;
    assert_true(ta_shift(x, 20, y, 20, 0.95, &e));
    assert_true(isnan(e.value));
    assert_true(ta_mann_whitney(x, 20, y, 20, &test));
    assert_true(isnan(test.p) && isnan(test.u));
    assert_true(ta_mann_kendall(y, 20, &trend));
    assert_true(isnan(trend.p));
    assert_true(ta_robust_line(x, y, 20, 0.95, &line));
    assert_true(line.method == TA_LINE_NONE && isnan(line.slope.value));
    assert_true(ta_change_points(y, 20, &changes));
    assert_true(changes.n == 0 && isnan(changes.sigma));
}

static void test_nan_is_seen(void **state)
{
    (void)state;
    refuse((double)NAN);
    refuse((double)INFINITY);
    refuse(-(double)INFINITY);
}

/* The least sizes for a 95 % interval, as the headers tell them. */
static void test_least_sizes(void **state)
{
    (void)state;
    double x[300];
    for (size_t i = 0; i < 300; i++)
        x[i] = (double)i;
    const struct {
        double share;
        size_t least;
    } rows[] = {{0.5, 6}, {0.9, 29}, {0.95, 59}, {0.99, 299}};
    struct ta_estimate e;
    for (size_t r = 0; r < 4; r++) {
        ta_quantile_interval(x, rows[r].least, rows[r].share, 0.95, &e);
        assert_true(!isnan(e.low));
        ta_quantile_interval(x, rows[r].least - 1, rows[r].share, 0.95, &e);
        assert_true(isnan(e.low) && !isnan(e.value));
    }
    assert_true(ta_shift(x, 4, x, 4, 0.95, &e));
    assert_true(!isnan(e.low));
    assert_true(ta_shift(x, 3, x, 3, 0.95, &e));
    assert_true(isnan(e.low) && e.value == 0);
    assert_true(ta_center(x, 6, 0.95, &e));
    assert_true(!isnan(e.low));
    assert_true(ta_center(x, 5, 0.95, &e));
    assert_true(isnan(e.low) && e.value == 2);
    struct ta_slope slope;
    assert_true(ta_theil_sen(NULL, x, 5, 0.95, &slope));
    assert_true(!isnan(slope.slope.low));
    assert_true(ta_theil_sen(NULL, x, 4, 0.95, &slope));
    assert_true(isnan(slope.slope.low) && slope.slope.value == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds),
        cmocka_unit_test(test_nothing_from_nothing),
        cmocka_unit_test(test_nan_is_seen),
        cmocka_unit_test(test_least_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
