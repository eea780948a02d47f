/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stable merge sort against one that is obvious. */
#include "normalize/normalize.h"

#include "trace_fixture.h"

/* Elements of an odd size, so that a wrong stride shows. */
struct item {
    int32_t key;
    int32_t place;
    int32_t check;
};

static size_t comparisons;

static int by_key(const void *left, const void *right, const void *user)
{
    const struct item *a = left, *b = right;
    const int32_t sign = *(const int32_t *)user;
    comparisons++;
    return a->key == b->key ? 0 : (a->key < b->key ? -1 : 1) * sign;
}

static void fill(struct item *items, size_t n, struct rng *rng, int kind)
{
    for (size_t i = 0; i < n; i++) {
        const int32_t at = (int32_t)i;
        items[i].key = kind == 0   ? at                                  /* ordered */
                       : kind == 1 ? -at                                 /* reversed */
                       : kind == 2 ? (int32_t)rng_below(rng, 1000000)    /* random */
                       : kind == 3 ? (int32_t)rng_below(rng, 4)          /* mostly equal */
                       : kind == 4 ? (rng_below(rng, 50) ? at : at - 30) /* nearly ordered */
                                   : at % 64;                            /* runs */
        items[i].place = at;
        items[i].check = items[i].key ^ at;
    }
}

static void assert_sorted(const struct item *items, size_t n, int32_t sign)
{
    bool *seen = calloc(n + 1, sizeof *seen);
    assert_non_null(seen);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(items[i].check, items[i].key ^ items[i].place);
        assert_false(seen[items[i].place]);
        seen[items[i].place] = true;
        if (i == 0)
            continue;
        const int32_t before = items[i - 1].key * sign, here = items[i].key * sign;
        assert_true(before < here || (before == here && items[i - 1].place < items[i].place));
    }
    free(seen);
}

static void sorts_and_keeps_the_order_of_equals(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 31, 64, 65, 500, 4097};
    struct rng rng = {3};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int kind = 0; kind < 6; kind++) {
            for (int32_t sign = -1; sign <= 1; sign += 2) {
                struct item *items = calloc(sizes[s] + 1, sizeof *items);
                assert_non_null(items);
                fill(items, sizes[s], &rng, kind);
                assert_true(ta_merge_sort(items, sizes[s], sizeof *items, by_key, &sign));
                assert_sorted(items, sizes[s], sign);
                free(items);
            }
        }
    }
}

static void random_small_arrays(void **state)
{
    (void)state;
    struct rng rng = {11};
    const int32_t sign = 1;
    for (int round = 0; round < 20000; round++) {
        struct item items[16];
        const size_t n = rng_below(&rng, 17);
        fill(items, n, &rng, 3);
        assert_true(ta_merge_sort(items, n, sizeof *items, by_key, &sign));
        assert_sorted(items, n, sign);
    }
}

static void ordered_input_costs_one_look(void **state)
{
    (void)state;
    enum { N = 10000 };
    struct rng rng = {5};
    const int32_t sign = 1;
    struct item *items = calloc(N, sizeof *items);
    assert_non_null(items);
    fill(items, N, &rng, 0);
    comparisons = 0;
    assert_true(ta_merge_sort(items, N, sizeof *items, by_key, &sign));
    assert_true(comparisons < N);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_and_keeps_the_order_of_equals),
        cmocka_unit_test(random_small_arrays),
        cmocka_unit_test(ordered_input_costs_one_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
