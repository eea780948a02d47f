/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The statistics against tables made by scipy and numpy (tables.py): every case of a table names a
 * call, its samples and options, and the figures it must give. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "stat/compare.h"
#include "stat/fit.h"
#include "stat/resample.h"
#include "stat/sample.h"
#include "stat/series.h"
#include "traceanalyze/stat.h"

enum { VALUES = 512, FIGURES = 12 };

/* ---- a case ------------------------------------------------------------------------------ */

struct figure {
    const char *name;
    double values[VALUES];
    size_t n; /* of a list; 0 is a single number */
};

struct test_case {
    const json_t *json;
    double *x, *y, *p, *at, *sorted; /* copies of exactly the length, so that sanitizers see */
    size_t n, m, n_p, n_at;
    struct figure figures[FIGURES];
    size_t n_figures;
    bool done;
};

static double number_of(const json_t *json)
{
    if (json_is_string(json))
        return json_string_value(json)[0] == '-' ? -(double)INFINITY : (double)INFINITY;
    return json_is_number(json) ? json_number_value(json) : (double)NAN;
}

static double *read_list(const json_t *json, size_t *n)
{
    *n = json_array_size(json);
    double *values = malloc(*n * sizeof *values + 1);
    assert_non_null(values);
    for (size_t i = 0; i < *n; i++)
        values[i] = number_of(json_array_get(json, i));
    return values;
}

static const json_t *option_json(const struct test_case *c, const char *name)
{
    return json_object_get(json_object_get(c->json, "with"), name);
}

static double option(const struct test_case *c, const char *name)
{
    assert_non_null(option_json(c, name));
    return number_of(option_json(c, name));
}

static void put_list(struct test_case *c, const char *name, const double *values, size_t n)
{
    assert_true(c->n_figures < FIGURES && n <= VALUES);
    struct figure *figure = &c->figures[c->n_figures++];
    figure->name = name;
    figure->n = n;
    for (size_t i = 0; i < n; i++)
        figure->values[i] = values[i];
}

static void put(struct test_case *c, const char *name, double value)
{
    put_list(c, name, &value, 1);
}

static void put_estimate(struct test_case *c, const struct ta_estimate *e)
{
    put(c, "value", e->value);
    put(c, "low", e->low);
    put(c, "high", e->high);
}

/* ---- calls ------------------------------------------------------------------------------- */

static void call_moments(struct test_case *c)
{
    struct ta_moments m;
    ta_moments(c->x, c->n, &m);
    put(c, "mean", m.mean);
    put(c, "variance", m.variance);
    put(c, "skewness", m.skewness);
    put(c, "kurtosis", m.kurtosis);
    put(c, "min", m.min);
    put(c, "max", m.max);
}

static void call_quantile_interval(struct test_case *c)
{
    struct ta_estimate e;
    ta_quantile_interval(c->sorted, c->n, option(c, "share"), option(c, "confidence"), &e);
    put_estimate(c, &e);
}

static void call_mad(struct test_case *c)
{
    put(c, "mad", ta_mad(c->sorted, c->n));
    put(c, "robust_cv", ta_robust_cv(c->sorted, c->n));
}

static void call_trimmed_mean(struct test_case *c)
{
    put(c, "value", ta_trimmed_mean(c->sorted, c->n, option(c, "share")));
}

static void call_qn(struct test_case *c)
{
    double qn;
    c->done = ta_qn(c->sorted, c->n, &qn);
    put(c, "value", qn);
}

static void call_hampel(struct test_case *c)
{
    bool marks[VALUES];
    double numbers[VALUES];
    size_t n = 0;
    c->done = ta_hampel(c->x, c->n, (size_t)option(c, "window"), option(c, "t"), marks, &n);
    for (size_t i = 0; i < c->n; i++)
        numbers[i] = marks[i];
    put_list(c, "marks", numbers, c->n);
    put(c, "n", (double)n);
}

static void call_modified_z(struct test_case *c)
{
    double z[VALUES];
    ta_modified_z(c->sorted, c->n, c->at, c->n_at, z);
    put_list(c, "z", z, c->n_at);
}

static void call_tukey(struct test_case *c)
{
    struct ta_fences f;
    ta_tukey_fences(c->sorted, c->n, &f);
    put(c, "mild_low", f.mild_low);
    put(c, "mild_high", f.mild_high);
    put(c, "severe_low", f.severe_low);
    put(c, "severe_high", f.severe_high);
}

static void call_two_classes(struct test_case *c)
{
    struct ta_classes s;
    ta_two_classes(c->sorted, c->n, &s);
    put(c, "threshold", s.threshold);
    put(c, "mean_low", s.mean_low);
    put(c, "mean_high", s.mean_high);
    put(c, "n_low", (double)s.n_low);
    put(c, "separation", s.separation);
    put(c, "valid", s.valid);
}

static void put_bins(struct test_case *c, bool is_log)
{
    struct ta_bins bins;
    uint64_t counts[VALUES] = {0};
    double numbers[VALUES], edges[VALUES];
    (is_log ? ta_bins_log : ta_bins_linear)(c->sorted, c->n, &bins);
    ta_bins_count(&bins, c->sorted, c->n, counts);
    for (size_t i = 0; i <= bins.n_bins; i++) {
        numbers[i] = (double)counts[i];
        edges[i] = ta_bins_edge(&bins, i);
    }
    put(c, "n", (double)bins.n_bins);
    put_list(c, "counts", numbers, bins.n_bins);
    put_list(c, "edges", edges, bins.n_bins + 1);
}

static void call_bins(struct test_case *c)
{
    put_bins(c, false);
}

static void call_bins_log(struct test_case *c)
{
    put_bins(c, true);
}

static void call_shift(struct test_case *c)
{
    struct ta_estimate e;
    c->done = ta_shift(c->x, c->n, c->y, c->m, option(c, "confidence"), &e);
    put_estimate(c, &e);
}

static void call_shift_ratio(struct test_case *c)
{
    struct ta_estimate e;
    c->done = ta_shift_ratio(c->x, c->n, c->y, c->m, option(c, "confidence"), &e);
    put_estimate(c, &e);
}

static void call_center(struct test_case *c)
{
    struct ta_estimate e;
    c->done = ta_center(c->x, c->n, option(c, "confidence"), &e);
    put_estimate(c, &e);
}

static void call_mann_whitney(struct test_case *c)
{
    struct ta_rank_test t;
    c->done = ta_mann_whitney(c->x, c->n, c->y, c->m, &t);
    put(c, "u", t.u);
    put(c, "cliff", t.cliff);
    put(c, "z", t.z);
    put(c, "p", t.p);
    put(c, "exact", t.exact);
}

static void call_welch(struct test_case *c)
{
    struct ta_welch w;
    ta_welch_ratio(c->x, c->n, c->y, c->m, option(c, "confidence"), &w);
    put(c, "ratio", w.ratio.value);
    put(c, "low", w.ratio.low);
    put(c, "high", w.ratio.high);
    put(c, "t", w.t);
    put(c, "df", w.df);
    put(c, "p", w.p);
}

static void call_log_spread(struct test_case *c)
{
    struct ta_log_spread spread;
    ta_log_spread_of(c->x, c->n, c->y, c->m, &spread);
    put(c, "sd", spread.sd);
    put(c, "df", spread.df);
}

static void call_spread_ratio(struct test_case *c)
{
    const double df = option(c, "df");
    const struct ta_log_spread spread = {option(c, "sd"), df < 0 ? INFINITY : df};
    struct ta_welch w;
    ta_spread_ratio(c->x, c->n, c->y, c->m, &spread, option(c, "confidence"), &w);
    put(c, "ratio", w.ratio.value);
    put(c, "low", w.ratio.low);
    put(c, "high", w.ratio.high);
    put(c, "t", w.t);
    put(c, "df", w.df);
    put(c, "p", w.p);
}

static void call_benjamini_hochberg(struct test_case *c)
{
    c->done = ta_benjamini_hochberg(c->p, c->n_p, c->p); /* in place */
    put_list(c, "q", c->p, c->n_p);
}

static void call_detectable(struct test_case *c)
{
    put(c, "value",
        ta_detectable(option(c, "sd"), (size_t)option(c, "a"), (size_t)option(c, "b"),
                      option(c, "alpha"), option(c, "power")));
}

static void call_bootstrap(struct test_case *c)
{
    const bool is_mean = json_string_value(option_json(c, "statistic"))[2] == 'a';
    const struct ta_bootstrap how = {(size_t)option(c, "rounds"), (uint32_t)option(c, "seed"),
                                     (size_t)option(c, "block"), option(c, "confidence"),
                                     option(c, "percentile") != 0};
    struct ta_estimate e;
    c->done =
        ta_bootstrap(c->x, c->n, is_mean ? ta_statistic_mean : ta_statistic_median, NULL, &how, &e);
    put_estimate(c, &e);
}

static void call_bootstrap_ratio(struct test_case *c)
{
    const struct ta_bootstrap how = {(size_t)option(c, "rounds"), (uint32_t)option(c, "seed"),
                                     (size_t)option(c, "block"), option(c, "confidence"), true};
    struct ta_estimate e;
    c->done = ta_bootstrap_ratio(c->x, c->n, c->y, c->m, ta_statistic_median, NULL, &how, &e);
    put_estimate(c, &e);
}

static void call_permutation(struct test_case *c)
{
    struct ta_permutation t;
    c->done = ta_permutation_test(c->x, c->n, c->y, c->m, (size_t)option(c, "rounds"),
                                  (size_t)option(c, "block"), (uint32_t)option(c, "seed"), &t);
    put(c, "difference", t.difference);
    put(c, "p", t.p);
    put(c, "exact", t.exact);
}

static void call_effective_size(struct test_case *c)
{
    double size;
    c->done = ta_effective_size(c->x, c->n, &size);
    put(c, "value", size);
    put(c, "lag_1", ta_autocorrelation(c->x, c->n, 1));
}

static void call_mann_kendall(struct test_case *c)
{
    struct ta_trend t;
    c->done = ta_mann_kendall(c->x, c->n, &t);
    put(c, "s", (double)t.s);
    put(c, "tau", t.tau);
    put(c, "z", t.z);
    put(c, "p", t.p);
}

static void call_theil_sen(struct test_case *c)
{
    struct ta_slope s;
    c->done = ta_theil_sen(c->x, c->y, c->n, option(c, "confidence"), &s);
    put(c, "slope", s.slope.value);
    put(c, "low", s.slope.low);
    put(c, "high", s.slope.high);
    put(c, "intercept", s.intercept);
}

static void call_change_points(struct test_case *c)
{
    struct ta_changes found = {NULL, 0, 0};
    double at[VALUES];
    c->done = ta_change_points(c->x, c->n, &found);
    for (size_t i = 0; i < found.n && i < VALUES; i++)
        at[i] = (double)found.at[i];
    put_list(c, "at", at, found.n);
    put(c, "sigma", found.sigma);
    free(found.at);
}

static void call_warm_up(struct test_case *c)
{
    struct ta_warm_up w;
    ta_warm_up(c->x, c->n, &w);
    put(c, "cut", (double)w.cut);
    put(c, "steady", w.steady);
    put(c, "mean", w.mean);
    put(c, "stddev", w.stddev);
}

static void call_robust_line(struct test_case *c)
{
    struct ta_line line;
    c->done = ta_robust_line(c->x, c->y, c->n, 0.95, &line);
    put(c, "method", line.method);
    put(c, "slope", line.slope.value);
    put(c, "low", line.slope.low);
    put(c, "high", line.slope.high);
    put(c, "sigma", line.sigma);
    put(c, "intercept", line.intercept);
}

static void call_spearman(struct test_case *c)
{
    struct ta_correlation r;
    c->done = ta_spearman(c->x, c->y, c->n, &r);
    put(c, "rho", r.rho);
    put(c, "p", r.p);
}

static void call_amdahl(struct test_case *c)
{
    struct ta_amdahl a;
    ta_amdahl(c->x, c->y, c->n, &a);
    put(c, "serial", a.serial);
    put(c, "se", a.se);
    put(c, "ceiling", a.ceiling);
}

static void call_usl(struct test_case *c)
{
    struct ta_usl u;
    c->done = ta_usl(c->x, c->y, c->n, &u);
    put(c, "sigma", u.sigma);
    put(c, "kappa", u.kappa);
    put(c, "se_sigma", u.se_sigma);
    put(c, "se_kappa", u.se_kappa);
    put(c, "peak", u.peak);
    put(c, "is_amdahl", u.is_amdahl);
}

static void call_karp_flatt(struct test_case *c)
{
    put(c, "value", ta_karp_flatt(option(c, "size"), option(c, "speedup")));
}

static void call_integral(struct test_case *c)
{
    put(c, "value", ta_integral(c->x, c->y, c->n, option(c, "from"), option(c, "to")));
}

static void call_curve(struct test_case *c)
{
    double values[VALUES];
    c->done = ta_curve(c->x, c->y, c->n, c->at, c->n_at, values);
    put_list(c, "value", values, c->n_at);
}

static const struct {
    const char *name;
    void (*run)(struct test_case *c);
} calls[] = {
    {"moments", call_moments},
    {"quantile_interval", call_quantile_interval},
    {"mad", call_mad},
    {"trimmed_mean", call_trimmed_mean},
    {"qn", call_qn},
    {"hampel", call_hampel},
    {"modified_z", call_modified_z},
    {"tukey", call_tukey},
    {"two_classes", call_two_classes},
    {"bins", call_bins},
    {"bins_log", call_bins_log},
    {"shift", call_shift},
    {"shift_ratio", call_shift_ratio},
    {"center", call_center},
    {"mann_whitney", call_mann_whitney},
    {"welch", call_welch},
    {"log_spread", call_log_spread},
    {"spread_ratio", call_spread_ratio},
    {"benjamini_hochberg", call_benjamini_hochberg},
    {"detectable", call_detectable},
    {"bootstrap", call_bootstrap},
    {"bootstrap_ratio", call_bootstrap_ratio},
    {"permutation", call_permutation},
    {"effective_size", call_effective_size},
    {"mann_kendall", call_mann_kendall},
    {"theil_sen", call_theil_sen},
    {"change_points", call_change_points},
    {"warm_up", call_warm_up},
    {"robust_line", call_robust_line},
    {"spearman", call_spearman},
    {"amdahl", call_amdahl},
    {"usl", call_usl},
    {"karp_flatt", call_karp_flatt},
    {"integral", call_integral},
    {"curve", call_curve},
};

/* ---- running ----------------------------------------------------------------------------- */

static bool is_near(double value, double expected, double rel, double near)
{
    if (isnan(expected) || isinf(expected))
        return isnan(expected) ? isnan(value) : value == expected;
    return fabs(value - expected) <= rel * fabs(expected) + near;
}

static const struct figure *find_figure(const struct test_case *c, const char *name)
{
    for (size_t i = 0; i < c->n_figures; i++)
        if (strcmp(c->figures[i].name, name) == 0)
            return &c->figures[i];
    return NULL;
}

/* Prints what is wrong; returns the number of wrong figures. */
static size_t compare(const struct test_case *c, size_t index)
{
    const char *const call = json_string_value(json_object_get(c->json, "call"));
    const double rel = json_number_value(json_object_get(c->json, "rel"));
    const double near = json_number_value(json_object_get(c->json, "near"));
    size_t faults = 0;
    const char *name;
    json_t *expected;
    json_object_foreach((json_t *)(uintptr_t)json_object_get(c->json, "expect"), name, expected)
    {
        const struct figure *figure = find_figure(c, name);
        const size_t n = json_is_array(expected) ? json_array_size(expected) : 1;
        if (!figure || figure->n != n) {
            print_error("case %zu, %s: %s has another length\n", index, call, name);
            faults++;
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            const double value =
                number_of(json_is_array(expected) ? json_array_get(expected, i) : expected);
            if (is_near(figure->values[i], value, rel, near))
                continue;
            print_error("case %zu, %s: %s[%zu] is %.17g, not %.17g\n", index, call, name, i,
                        figure->values[i], value);
            faults++;
        }
    }
    return faults;
}

static size_t run_case(const json_t *json, size_t index)
{
    struct test_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->json = json;
    c->done = true;
    c->x = read_list(json_object_get(json, "x"), &c->n);
    c->y = read_list(json_object_get(json, "y"), &c->m);
    c->p = read_list(json_object_get(json, "p"), &c->n_p);
    c->at = read_list(json_object_get(json, "at"), &c->n_at);
    c->sorted = read_list(json_object_get(json, "x"), &c->n);
    ta_sort_numbers(c->sorted, c->n);
    const char *const call = json_string_value(json_object_get(json, "call"));
    size_t which = 0;
    while (which < sizeof calls / sizeof *calls && strcmp(calls[which].name, call) != 0)
        which++;
    assert_true(which < sizeof calls / sizeof *calls);
    calls[which].run(c);
    assert_true(c->done);
    const size_t faults = compare(c, index);
    free(c->x);
    free(c->y);
    free(c->p);
    free(c->at);
    free(c->sorted);
    free(c);
    return faults;
}

static void run_table(const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s.json", TA_STAT_TABLES, name);
    json_error_t error;
    json_t *table = json_load_file(path, 0, &error);
    if (!table)
        fail_msg("%s: %s", path, error.text);
    const json_t *cases = json_object_get(table, "cases");
    assert_true(json_array_size(cases) > 0);
    size_t faults = 0;
    for (size_t i = 0; i < json_array_size(cases); i++)
        faults += run_case(json_array_get(cases, i), i);
    json_decref(table);
    assert_int_equal(faults, 0);
}

static void test_sample(void **state)
{
    (void)state;
    run_table("sample");
}

static void test_compare(void **state)
{
    (void)state;
    run_table("compare");
}

static void test_resample(void **state)
{
    (void)state;
    run_table("resample");
}

static void test_series(void **state)
{
    (void)state;
    run_table("series");
}

static void test_fit(void **state)
{
    (void)state;
    run_table("fit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample),   cmocka_unit_test(test_compare),
        cmocka_unit_test(test_resample), cmocka_unit_test(test_series),
        cmocka_unit_test(test_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
