/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stable merge sort against one that is obvious. */
#include "base/merge_sort.h"

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

/* Order of `n` keys that begins with `mix` and goes on upwards, or downwards. */
static size_t comparisons_for(size_t n, const int32_t *mix, size_t n_mix, int32_t step)
{
    const int32_t sign = 1;
    struct item *items = calloc(n, sizeof *items);
    assert_non_null(items);
    for (size_t i = 0; i < n; i++) {
        items[i].key = i < n_mix ? mix[i] : items[i - 1].key + step;
        items[i].place = (int32_t)i;
        items[i].check = items[i].key ^ items[i].place;
    }
    comparisons = 0;
    assert_true(ta_merge_sort(items, n, sizeof *items, by_key, &sign));
    assert_sorted(items, n, sign);
    free(items);
    return comparisons;
}

/* One element that belongs to the front, behind many, as a step is that is written at its end. */
static void strays_from_afar_cost_little(void **state)
{
    (void)state;
    enum { N = 20000 };
    int32_t *mix = calloc(N, sizeof *mix);
    assert_non_null(mix);
    for (int32_t i = 0; i < N; i++)
        mix[i] = i % 500 == 499 ? i - 499 : i;
    assert_true(comparisons_for(N, mix, N, 1) < N + N / 20);
    free(mix);
}

/* No order costs more than merging does: here each element belongs before all others. */
static void the_worst_order_is_bounded(void **state)
{
    (void)state;
    enum { N = 1 << 15 };
    static const int32_t first[] = {1 << 20};
    assert_true(comparisons_for(N, first, 1, -1) < 20 * N);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_and_keeps_the_order_of_equals),
        cmocka_unit_test(random_small_arrays),
        cmocka_unit_test(ordered_input_costs_one_look),
        cmocka_unit_test(strays_from_afar_cost_little),
        cmocka_unit_test(the_worst_order_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
