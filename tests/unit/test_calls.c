/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runtime calls by id against a plain list. */
#include "normalize/calls.h"

#include "trace_fixture.h"

enum { CALLS = 3000 };

/* Ids that count up, with gaps, far apart, page by page in turn, and at the end of the range. */
static int64_t id_of(struct rng *rng, int kind, size_t i)
{
    switch (kind) {
    case 0:
        return (int64_t)i + 1;
    case 1:
        return (int64_t)i * 7 + 31;
    case 2:
        return (int64_t)(rng_next(rng) >> 1) | 1;
    case 3:
        return (int64_t)(i % 2 ? 1 : 5000) * TA_CALLS_PAGE + (int64_t)(i / 2 % TA_CALLS_PAGE);
    default:
        return INT64_MAX - (int64_t)rng_below(rng, CALLS);
    }
}

/* The earliest call with an id; of those that start together the first. */
static ta_row expected(const int64_t *ids, const int64_t *ts, int64_t id)
{
    ta_row found = TA_NO_ROW;
    for (ta_row i = 0; i < CALLS; i++)
        if (ids[i] == id && (found == TA_NO_ROW || ts[i] < ts[found]))
            found = i;
    return found;
}

static void finds_the_earliest(void **state)
{
    (void)state;
    struct rng rng = {23};
    int64_t ids[CALLS], ts[CALLS];
    for (int kind = 0; kind < 5; kind++) {
        struct ta_calls calls = {.ts = ts};
        for (ta_row i = 0; i < CALLS; i++) {
            ids[i] = id_of(&rng, kind, i);
            ts[i] = (int64_t)rng_below(&rng, 4);
            assert_true(ta_calls_put(&calls, ids[i], i));
        }
        for (ta_row i = 0; i < CALLS; i++) {
            assert_int_equal(ta_calls_find(&calls, ids[i]), expected(ids, ts, ids[i]));
            const int64_t other = ids[i] > 1 ? ids[i] - 1 : 1;
            assert_int_equal(ta_calls_find(&calls, other), expected(ids, ts, other));
        }
        ta_calls_free(&calls);
    }
}

static void nothing_is_found_before_it_is_put(void **state)
{
    (void)state;
    static const int64_t ts[] = {5, 6};
    struct ta_calls calls = {.ts = ts};
    assert_int_equal(ta_calls_find(&calls, 3), TA_NO_ROW);
    assert_int_equal(ta_calls_find(&calls, 3), TA_NO_ROW);
    assert_true(ta_calls_put(&calls, 3, 1));
    assert_int_equal(ta_calls_find(&calls, 3), 1);
    assert_int_equal(ta_calls_find(&calls, 4), TA_NO_ROW);
    assert_int_equal(ta_calls_find(&calls, 3 + TA_CALLS_PAGE), TA_NO_ROW);
    assert_true(ta_calls_put(&calls, 3 + TA_CALLS_PAGE, 0));
    assert_int_equal(ta_calls_find(&calls, 3 + TA_CALLS_PAGE), 0);
    assert_int_equal(ta_calls_find(&calls, 3), 1);
    ta_calls_free(&calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_earliest),
        cmocka_unit_test(nothing_is_found_before_it_is_put),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
