/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulations with fixed seeds: intervals hold the true value as often as they say, tests raise no
 * more false alarms than they may, and both see what is there. */
#include "fixture.h"

enum { CASES = 2000, MOST = 200 };

/* ---- intervals --------------------------------------------------------------------------- */

static double exponential(struct noise *noise)
{
    return -log(noise_uniform(noise));
}

static bool holds(const struct ta_estimate *e, double truth)
{
    return e->low <= truth && truth <= e->high;
}

/* One simulated case: whether its 95 % interval holds the truth. */
typedef bool simulation(struct noise *noise);

static bool median_of_60(struct noise *noise)
{
    double x[60];
    struct ta_estimate e;
    for (size_t i = 0; i < 60; i++)
        x[i] = exponential(noise);
    ta_sort_numbers(x, 60);
    ta_quantile_interval(x, 60, 0.5, 0.95, &e);
    return holds(&e, log(2));
}

static bool p90_of_100(struct noise *noise)
{
    double x[100];
    struct ta_estimate e;
    for (size_t i = 0; i < 100; i++)
        x[i] = exponential(noise);
    ta_sort_numbers(x, 100);
    ta_quantile_interval(x, 100, 0.9, 0.95, &e);
    return holds(&e, log(10));
}

static bool shift_of(struct noise *noise, size_t n, size_t m)
{
    double x[MOST], y[MOST];
    struct ta_estimate e;
    fill_normal(noise, x, n, 100, 3);
    fill_normal(noise, y, m, 102, 3);
    assert_true(ta_shift(x, n, y, m, 0.95, &e));
    return holds(&e, 2);
}

static bool shift_of_12(struct noise *noise)
{
    return shift_of(noise, 12, 12);
}

static bool shift_of_40(struct noise *noise)
{
    return shift_of(noise, 30, 40);
}

static bool shift_of_6(struct noise *noise)
{
    return shift_of(noise, 6, 7);
}

static bool ratio_of_15(struct noise *noise)
{
    double x[15], y[20];
    struct ta_estimate e;
    for (size_t i = 0; i < 15; i++)
        x[i] = 50 * exponential(noise);
    for (size_t i = 0; i < 20; i++)
        y[i] = 65 * exponential(noise);
    assert_true(ta_shift_ratio(x, 15, y, 20, 0.95, &e));
    return holds(&e, 1.3);
}

static bool center_of(struct noise *noise, size_t n)
{
    double x[MOST];
    struct ta_estimate e;
    fill_normal(noise, x, n, 7, 1);
    assert_true(ta_center(x, n, 0.95, &e));
    return holds(&e, 7);
}

static bool center_of_20(struct noise *noise)
{
    return center_of(noise, 20);
}

static bool center_of_60(struct noise *noise)
{
    return center_of(noise, 60);
}

static bool welch_of_6(struct noise *noise)
{
    double x[6], y[10];
    struct ta_welch w;
    for (size_t i = 0; i < 6; i++)
        x[i] = exp(3 + 0.05 * noise_normal(noise));
    for (size_t i = 0; i < 10; i++)
        y[i] = exp(3.1 + 0.02 * noise_normal(noise));
    ta_welch_ratio(x, 6, y, 10, 0.95, &w);
    return holds(&w.ratio, exp(0.1));
}

static bool bootstrap_of(struct noise *noise, bool percentile, bool skewed)
{
    double x[40];
    struct ta_estimate e;
    for (size_t i = 0; i < 40; i++)
        x[i] = skewed ? exponential(noise) : 1 + noise_normal(noise);
    const struct ta_bootstrap how = {500, (uint32_t)noise_next(noise), 1, 0.95, percentile};
    assert_true(ta_bootstrap(x, 40, ta_statistic_mean, NULL, &how, &e));
    return holds(&e, 1);
}

static bool bca_of_40(struct noise *noise)
{
    return bootstrap_of(noise, false, false);
}

static bool percentile_of_40(struct noise *noise)
{
    return bootstrap_of(noise, true, false);
}

static bool bca_of_skewed(struct noise *noise)
{
    return bootstrap_of(noise, false, true);
}

static void fill_chain(struct noise *noise, double *x, size_t n, double rho)
{
    double last = noise_normal(noise) / sqrt(1 - rho * rho);
    for (size_t i = 0; i < n; i++)
        x[i] = last = rho * last + noise_normal(noise);
}

static bool mean_of_chain(struct noise *noise, size_t block)
{
    double x[MOST];
    struct ta_estimate e;
    fill_chain(noise, x, MOST, 0.6);
    const struct ta_bootstrap how = {300, (uint32_t)noise_next(noise), block, 0.95, true};
    assert_true(ta_bootstrap(x, MOST, ta_statistic_mean, NULL, &how, &e));
    return holds(&e, 0);
}

static bool chain_by_values(struct noise *noise)
{
    return mean_of_chain(noise, 1);
}

static bool chain_by_blocks(struct noise *noise)
{
    return mean_of_chain(noise, 0);
}

static bool line_of_30(struct noise *noise, bool robust, bool outliers)
{
    double x[30], y[30];
    for (size_t i = 0; i < 30; i++) {
        x[i] = 10 * noise_uniform(noise);
        y[i] = 3 + 0.5 * x[i] + noise_normal(noise);
        if (outliers && noise_next(noise) % 20 == 0)
            y[i] += 100;
    }
    struct ta_line line;
    struct ta_slope slope;
    if (robust)
        assert_true(ta_robust_line(x, y, 30, 0.95, &line));
    else
        assert_true(ta_theil_sen(x, y, 30, 0.95, &slope));
    return holds(robust ? &line.slope : &slope.slope, 0.5);
}

static bool theil_sen_of_30(struct noise *noise)
{
    return line_of_30(noise, false, false);
}

static bool bisquare_of_30(struct noise *noise)
{
    return line_of_30(noise, true, false);
}

static bool bisquare_with_outliers(struct noise *noise)
{
    return line_of_30(noise, true, true);
}

static void test_intervals(void **state)
{
    (void)state;
    /* Order statistics of few values cannot give 95 %, only more.  The bootstrap of few values
     * gives less, and much less where values depend on each other and blocks are short.  The error
     * of the bisquare line takes some of what least squares would say, so outliers widen it. */
    const struct {
        const char *name;
        simulation *run;
        double least, most;
    } rows[] = {
        {"median of 60", median_of_60, 0.94, 0.98},
        {"p90 of 100", p90_of_100, 0.94, 0.98},
        {"shift of 12", shift_of_12, 0.93, 0.97},
        {"shift of 30 and 40", shift_of_40, 0.93, 0.97},
        {"shift of 6 and 7", shift_of_6, 0.94, 0.98},
        {"ratio of 15 and 20", ratio_of_15, 0.93, 0.97},
        {"center of 20", center_of_20, 0.93, 0.97},
        {"center of 60", center_of_60, 0.93, 0.97},
        {"Welch of 6 and 10", welch_of_6, 0.93, 0.97},
        {"BCa of 40", bca_of_40, 0.92, 0.97},
        {"percentile of 40", percentile_of_40, 0.92, 0.97},
        {"BCa of 40, skewed", bca_of_skewed, 0.90, 0.97},
        {"chain of 200 by values", chain_by_values, 0.55, 0.75},
        {"chain of 200 by blocks", chain_by_blocks, 0.82, 0.95},
        {"Theil-Sen of 30", theil_sen_of_30, 0.93, 0.97},
        {"bisquare of 30", bisquare_of_30, 0.93, 0.97},
        {"bisquare of 30 with outliers", bisquare_with_outliers, 0.93, 0.995},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct noise noise = {1000 + r};
        size_t held = 0;
        for (size_t i = 0; i < CASES; i++)
            held += rows[r].run(&noise);
        const double share = (double)held / CASES;
        print_message("%-30s %.2f %%\n", rows[r].name, 100 * share);
        assert_within(share, rows[r].least, rows[r].most);
    }
}

/* ---- false alarms ------------------------------------------------------------------------ */

/* p of a test where there is nothing to see. */
typedef double null_test(struct noise *noise);

static double rank_test_of(struct noise *noise, size_t n, size_t m)
{
    double x[MOST], y[MOST];
    struct ta_rank_test t;
    fill_normal(noise, x, n, 5, 1);
    fill_normal(noise, y, m, 5, 1);
    assert_true(ta_mann_whitney(x, n, y, m, &t));
    return t.p;
}

static double exact_rank_test(struct noise *noise)
{
    return rank_test_of(noise, 7, 9);
}

static double normal_rank_test(struct noise *noise)
{
    return rank_test_of(noise, 20, 25);
}

static double tied_rank_test(struct noise *noise)
{
    double x[30], y[30];
    struct ta_rank_test t;
    for (size_t i = 0; i < 30; i++) {
        x[i] = floor(4 * noise_uniform(noise));
        y[i] = floor(4 * noise_uniform(noise));
    }
    assert_true(ta_mann_whitney(x, 30, y, 30, &t));
    return t.p;
}

static double chain_rank_test(struct noise *noise, bool thinned)
{
    double x[60], y[60], n_x, n_y;
    struct ta_rank_test t;
    fill_chain(noise, x, 60, 0.6);
    fill_chain(noise, y, 60, 0.6);
    assert_true(ta_mann_whitney(x, 60, y, 60, &t));
    assert_true(ta_effective_size(x, 60, &n_x) && ta_effective_size(y, 60, &n_y));
    if (thinned)
        ta_rank_test_thin(&t, (n_x + n_y) / 120);
    return t.p;
}

static double plain_chain(struct noise *noise)
{
    return chain_rank_test(noise, false);
}

static double thinned_chain(struct noise *noise)
{
    return chain_rank_test(noise, true);
}

static double trend_test(struct noise *noise)
{
    double x[30];
    struct ta_trend t;
    fill_normal(noise, x, 30, 5, 1);
    assert_true(ta_mann_kendall(x, 30, &t));
    return t.p;
}

static double welch_test(struct noise *noise)
{
    double x[8], y[5];
    struct ta_welch w;
    for (size_t i = 0; i < 8; i++)
        x[i] = exp(0.1 * noise_normal(noise));
    for (size_t i = 0; i < 5; i++)
        y[i] = exp(0.3 * noise_normal(noise));
    ta_welch_ratio(x, 8, y, 5, 0.95, &w);
    return w.p;
}

static double permutation_test(struct noise *noise)
{
    double x[12], y[14];
    struct ta_permutation t;
    fill_normal(noise, x, 12, 5, 1);
    fill_normal(noise, y, 14, 5, 1);
    assert_true(ta_permutation_test(x, 12, y, 14, 399, 1, (uint32_t)noise_next(noise), &t));
    assert_false(t.exact);
    return t.p;
}

static double correlation_test(struct noise *noise)
{
    double x[20], y[20];
    struct ta_correlation r;
    fill_normal(noise, x, 20, 5, 1);
    fill_normal(noise, y, 20, 5, 1);
    assert_true(ta_spearman(x, y, 20, &r));
    return r.p;
}

static void test_false_alarms(void **state)
{
    (void)state;
    const struct {
        const char *name;
        null_test *run;
        double least, most;
    } rows[] = {
        {"exact rank test", exact_rank_test, 0.03, 0.06},
        {"normal rank test", normal_rank_test, 0.035, 0.062},
        {"rank test with ties", tied_rank_test, 0.035, 0.062},
        {"rank test of chains", plain_chain, 0.28, 0.38},
        {"rank test of chains, thinned", thinned_chain, 0.05, 0.12},
        {"Mann-Kendall", trend_test, 0.035, 0.062},
        {"Welch", welch_test, 0.035, 0.065},
        {"permutation", permutation_test, 0.035, 0.062},
        {"Spearman", correlation_test, 0.035, 0.062},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct noise noise = {2000 + r};
        size_t alarms = 0;
        for (size_t i = 0; i < CASES; i++)
            alarms += rows[r].run(&noise) < 0.05;
        const double share = (double)alarms / CASES;
        print_message("%-30s %.2f %%\n", rows[r].name, 100 * share);
        assert_within(share, rows[r].least, rows[r].most);
    }
}

/* Of 20 tests 15 have nothing to see: false ones among the rejected stay below 5 %. */
static void test_false_discoveries(void **state)
{
    (void)state;
    struct noise noise = {3000};
    double rate = 0, found = 0;
    for (size_t round = 0; round < CASES; round++) {
        double p[20];
        for (size_t i = 0; i < 20; i++)
            p[i] = erfc(fabs(noise_normal(&noise) + (i < 15 ? 0 : 3.5)) / sqrt(2));
        assert_true(ta_benjamini_hochberg(p, 20, p));
        size_t wrong = 0, rejected = 0;
        for (size_t i = 0; i < 20; i++) {
            rejected += p[i] <= 0.05;
            wrong += p[i] <= 0.05 && i < 15;
        }
        rate += rejected ? (double)wrong / (double)rejected / CASES : 0;
        found += (double)(rejected - wrong) / 5 / CASES;
    }
    print_message("false discoveries %.2f %%, found %.1f %%\n", 100 * rate, 100 * found);
    assert_within(rate, 0.02, 0.05);
    assert_within(found, 0.6, 1);
}

/* A difference of the size that can be detected is detected 4 times in 5. */
static void test_power(void **state)
{
    (void)state;
    const struct {
        size_t runs;
        double factor; /* the normal distribution stands for t */
    } rows[] = {{5, 1.14}, {40, 1.01}};
    for (size_t r = 0; r < 2; r++) {
        struct noise noise = {4000 + r};
        const size_t n = rows[r].runs;
        const double sd = 0.01, step = rows[r].factor * ta_detectable(sd, n, n, 0.05, 0.8);
        size_t seen = 0;
        for (size_t i = 0; i < CASES; i++) {
            double x[40], y[40];
            struct ta_welch w;
            for (size_t k = 0; k < n; k++) {
                x[k] = exp(sd * noise_normal(&noise));
                y[k] = exp(step + sd * noise_normal(&noise));
            }
            ta_welch_ratio(x, n, y, n, 0.95, &w);
            seen += w.p < 0.05;
        }
        assert_within((double)seen / CASES, 0.75, 0.83);
    }
}

/* ---- estimators -------------------------------------------------------------------------- */

/* What the headers say of normal values. */
static void test_scales(void **state)
{
    (void)state;
    struct noise noise = {5000};
    double mad = 0, qn = 0, size = 0, large_z = 0;
    for (size_t round = 0; round < CASES; round++) {
        double x[100], z[100], one;
        fill_normal(&noise, x, 100, 0, 2);
        ta_sort_numbers(x, 100);
        mad += TA_MAD_SIGMA * ta_mad(x, 100) / CASES;
        assert_true(ta_qn(x, 100, &one));
        qn += one / CASES;
        fill_normal(&noise, x, 8, 0, 2);
        ta_sort_numbers(x, 8);
        ta_modified_z(x, 8, x, 8, z);
        large_z += (z[0] < -3.5 || z[7] > 3.5) / (double)CASES;
        double chain[MOST];
        fill_chain(&noise, chain, MOST, 0.5);
        assert_true(ta_effective_size(chain, MOST, &one));
        size += one / CASES;
    }
    assert_within(mad, 1.93, 2.03);
    assert_within(qn, 1.97, 2.03);
    assert_within(large_z, 0.12, 0.17);
    assert_within(size, 60, 85); /* 200/3 for endless chains */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_false_alarms),
        cmocka_unit_test(test_false_discoveries),
        cmocka_unit_test(test_power),
        cmocka_unit_test(test_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
