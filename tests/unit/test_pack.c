/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packs: what is put comes back, and what is no pack does no harm. */
#include "trace_fixture.h"

#include "base/pack.h"

static void numbers_come_back(void **state)
{
    (void)state;
    static const int64_t edges[] = {0,  1,   -1,   15,        -16,       16,         -17,
                                    31, 511, 1024, INT64_MAX, INT64_MIN, -INT64_MAX, TA_MISSING};
    const size_t n = sizeof edges / sizeof *edges;
    struct ta_pack pack = {0};
    struct rng rng = {7};
    int64_t random[500];
    for (size_t i = 0; i < n; i++)
        ta_pack_int(&pack, edges[i]);
    for (size_t i = 0; i < 500; i++) {
        random[i] = (int64_t)(rng_next(&rng) >> rng_below(&rng, 64)) * (i % 2 ? 1 : -1);
        ta_pack_int(&pack, random[i]);
    }
    struct ta_unpack in = ta_unpack_from((struct ta_slice){pack.at, pack.n});
    for (size_t i = 0; i < n; i++)
        assert_int_equal(ta_unpack_int(&in), edges[i]);
    for (size_t i = 0; i < 500; i++)
        assert_int_equal(ta_unpack_int(&in), random[i]);
    assert_false(in.bad);
    assert_ptr_equal(in.at, in.end);
    assert_int_equal(ta_unpack_int(&in), 0);
    assert_true(in.bad);
    for (size_t i = 0; i < pack.n; i++)
        assert_true(pack.at[i] > ' ' && pack.at[i] < 127);
    ta_pack_free(&pack);
}

/* Small numbers take one character: lists of them stay small. */
static void small_numbers_are_short(void **state)
{
    (void)state;
    struct ta_pack pack = {0};
    ta_pack_int(&pack, 0);
    ta_pack_int(&pack, 15);
    ta_pack_int(&pack, -15);
    ta_pack_int(&pack, TA_MISSING);
    assert_int_equal(pack.n, 4);
    ta_pack_int(&pack, 16);
    assert_int_equal(pack.n, 6);
    ta_pack_int(&pack, 1000000);
    assert_int_equal(pack.n, 11);
    ta_pack_free(&pack);
}

static void texts_come_back(void **state)
{
    (void)state;
    struct ta_pack pack = {0}, tail = {0};
    ta_pack_text(&pack, TA_LIT("all\0reduce"));
    ta_pack_text(&tail, TA_LIT(""));
    ta_pack_int(&tail, 3);
    ta_pack_join(&pack, &tail);
    struct ta_unpack in = ta_unpack_from((struct ta_slice){pack.at, pack.n});
    assert_true(ta_slice_equal(ta_unpack_text(&in), TA_LIT("all\0reduce")));
    assert_true(ta_slice_equal(ta_unpack_text(&in), TA_LIT("")));
    assert_int_equal(ta_unpack_index(&in, 4), 3);
    assert_false(in.bad);
    ta_pack_free(&pack);
    ta_pack_free(&tail);
}

/* Every prefix, and bytes changed at random: reading ends, and stays within the text. */
static void damage_is_seen(void **state)
{
    (void)state;
    struct ta_pack pack = {0};
    for (int64_t i = 0; i < 40; i++) {
        ta_pack_int(&pack, i * i * i * 977);
        ta_pack_text(&pack, TA_LIT("nccl"));
    }
    struct rng rng = {11};
    for (size_t round = 0; round < 2000; round++) {
        char *copy = malloc(pack.n);
        assert_non_null(copy);
        memcpy(copy, pack.at, pack.n);
        const size_t n = round < pack.n ? round : rng_damage(&rng, copy, pack.n);
        struct ta_unpack in = ta_unpack_from((struct ta_slice){copy, n});
        for (size_t i = 0; i < 40; i++) {
            ta_unpack_int(&in);
            const struct ta_slice text = ta_unpack_text(&in);
            assert_true(text.len == 0 || (text.ptr >= copy && text.ptr + text.len <= copy + n));
        }
        assert_true(in.bad || round >= pack.n);
        free(copy);
    }
    struct ta_unpack in = ta_unpack_from(TA_LIT("5"));
    assert_int_equal(ta_unpack_index(&in, 2), 0);
    assert_true(in.bad);
    ta_pack_free(&pack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(small_numbers_are_short),
        cmocka_unit_test(texts_come_back),
        cmocka_unit_test(damage_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
