/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hash map against a plain array. */
#include "traceanalyze/base.h"

#include "trace_fixture.h"

static void nothing_is_found_in_an_empty_map(void **state)
{
    (void)state;
    struct ta_map map = {0};
    assert_null(ta_map_find(&map, 0));
    assert_null(ta_map_find(&map, UINT64_MAX));
    ta_map_free(&map);
}

static void the_first_insertion_sets_the_preset(void **state)
{
    (void)state;
    struct ta_map map = {0};
    assert_int_equal(*ta_map_at(&map, 0, 5), 5);
    assert_int_equal(*ta_map_at(&map, 0, 6), 5);
    *ta_map_at(&map, 0, 7) = 8;
    assert_int_equal(*ta_map_find(&map, 0), 8);
    assert_int_equal(*ta_map_at(&map, UINT64_MAX, 1), 1);
    assert_int_equal(map.n, 2);
    assert_false(map.failed);
    ta_map_free(&map);
    assert_null(ta_map_find(&map, 0));
}

/* Keys that differ in few bits, as pairs of small ids do, and keys one block apart. */
static uint64_t key_of(size_t i)
{
    switch (i % 4) {
    case 0:
        return i;
    case 1:
        return (uint64_t)i << 32;
    case 2:
        return (uint64_t)i << 32 | 1;
    default:
        return ~(uint64_t)i;
    }
}

static void many_keys(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct ta_map map = {0};
    for (size_t i = 0; i < N; i++)
        assert_int_equal(*ta_map_at(&map, key_of(i), i + 1), i + 1);
    assert_int_equal(map.n, N);
    for (size_t i = 0; i < N; i++) {
        const uint64_t *value = ta_map_find(&map, key_of(i));
        assert_non_null(value);
        assert_int_equal(*value, i + 1);
    }
    for (size_t i = N; i < 2 * N; i++)
        assert_null(ta_map_find(&map, key_of(i)));
    ta_map_free(&map);
}

static void random_keys_as_in_an_array(void **state)
{
    (void)state;
    enum { KEYS = 500 };
    struct rng rng = {99};
    struct ta_map map = {0};
    uint64_t value_of[KEYS];
    bool known[KEYS] = {false};
    size_t n = 0;
    for (int round = 0; round < 20000; round++) {
        const size_t k = rng_below(&rng, KEYS);
        const uint64_t preset = rng_next(&rng);
        uint64_t *found = ta_map_find(&map, k * 4096);
        assert_int_equal(found != NULL, known[k]);
        if (found)
            assert_true(*found == value_of[k]);
        if (rng_below(&rng, 3))
            continue;
        uint64_t *at = ta_map_at(&map, k * 4096, preset);
        if (!known[k])
            value_of[k] = preset;
        n += !known[k];
        known[k] = true;
        assert_true(*at == value_of[k]);
        *at = ++value_of[k];
    }
    assert_int_equal(map.n, n);
    ta_map_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_found_in_an_empty_map),
        cmocka_unit_test(the_first_insertion_sets_the_preset),
        cmocka_unit_test(many_keys),
        cmocka_unit_test(random_keys_as_in_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
