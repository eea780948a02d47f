/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The radix sort against qsort. */
#include "stat/radix.h"

#include "trace_fixture.h"

static int by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void assert_sorts(const int64_t *values, size_t n)
{
    int64_t *sorted = calloc(n + 1, sizeof *sorted), *expected = calloc(n + 1, sizeof *expected);
    assert_non_null(sorted);
    assert_non_null(expected);
    memcpy(sorted, values, n * sizeof *values);
    memcpy(expected, values, n * sizeof *values);
    qsort(expected, n, sizeof *expected, by_value);
    ta_radix_sort(sorted, n, n ? expected[0] : 0, n ? expected[n - 1] : 0);
    assert_memory_equal(sorted, expected, n * sizeof *values);
    /* The bounds need not be tight. */
    memcpy(sorted, values, n * sizeof *values);
    ta_radix_sort(sorted, n, INT64_MIN, INT64_MAX);
    assert_memory_equal(sorted, expected, n * sizeof *values);
    free(sorted);
    free(expected);
}

static void assert_sorts_narrow(const int64_t *values, size_t n)
{
    uint32_t *sorted = calloc(n + 1, sizeof *sorted);
    int64_t *expected = calloc(n + 1, sizeof *expected);
    assert_non_null(sorted);
    assert_non_null(expected);
    for (size_t i = 0; i < n; i++)
        expected[i] = sorted[i] = (uint32_t)values[i];
    qsort(expected, n, sizeof *expected, by_value);
    ta_radix_sort_narrow(sorted, n, n ? (uint32_t)expected[0] : 0,
                         n ? (uint32_t)expected[n - 1] : 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(sorted[i], expected[i]);
    free(sorted);
    free(expected);
}

static void any_number_of_any_values(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 47, 48, 49, 50, 255, 256, 257, 2047, 2048, 5000};
    struct rng rng = {17};
    int64_t values[5000];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (unsigned shift = 0; shift < 64; shift += 7) {
            for (size_t i = 0; i < sizes[s]; i++)
                values[i] = (int64_t)(rng_next(&rng) >> shift);
            assert_sorts(values, sizes[s]);
            assert_sorts_narrow(values, sizes[s]);
        }
    }
}

static void extremes_and_equals(void **state)
{
    (void)state;
    int64_t values[300];
    for (size_t i = 0; i < 300; i++)
        values[i] = i % 3 == 0 ? INT64_MIN : i % 3 == 1 ? INT64_MAX : -1;
    assert_sorts(values, 300);
    for (size_t i = 0; i < 300; i++)
        values[i] = 42;
    assert_sorts(values, 300);
    for (size_t i = 0; i < 300; i++)
        values[i] = (int64_t)(300 - i) * 1000;
    assert_sorts(values, 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_any_values),
        cmocka_unit_test(extremes_and_equals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
