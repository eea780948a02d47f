/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What covers an activity, against a look at every nanosecond. */
#include "model/cover.h"

#include "trace_fixture.h"

enum { MOST = 40 };

static bool is_multiple(const void *user, const struct ta_activity *activity)
{
    return activity->kernel % *(const uint32_t *)user == 0;
}

/* Activities of two devices in the order of the model. */
struct made {
    struct ta_activity at[MOST];
    int64_t ts[MOST], dur[MOST];
    size_t n;
};

static void make(struct made *m, struct rng *rng)
{
    m->n = rng_below(rng, MOST) + 1;
    const size_t second = rng_below(rng, m->n);
    for (size_t i = 0; i < m->n; i++) {
        const bool first = i == 0 || i == second;
        m->ts[i] = (first ? 0 : m->ts[i - 1]) + (int64_t)rng_below(rng, 4);
        m->dur[i] = (int64_t)rng_below(rng, rng_below(rng, 3) ? 6 : 50);
        m->at[i] = (struct ta_activity){
            .span = (ta_row)i, .kernel = (uint32_t)rng_below(rng, 6), .device = i < second ? 3 : 7};
    }
}

static int64_t slowly(const struct made *m, size_t of, uint32_t modulus)
{
    int64_t covered = 0;
    for (int64_t t = m->ts[of]; t < m->ts[of] + m->dur[of]; t++) {
        bool any = false;
        for (size_t i = 0; i < m->n; i++)
            any |= i != of && m->at[i].device == m->at[of].device &&
                   is_multiple(&modulus, &m->at[i]) && m->ts[i] <= t && t < m->ts[i] + m->dur[i];
        covered += any;
    }
    return covered;
}

static void as_every_nanosecond_says(void **state)
{
    (void)state;
    struct rng rng = {20};
    for (int round = 0; round < 2000; round++) {
        struct made m;
        make(&m, &rng);
        const uint32_t modulus = 1 + (uint32_t)rng_below(&rng, 3);
        struct ta_cover cover = {.activities = {.n = m.n, .at = m.at},
                                 .spans = {.n = m.n, .ts = m.ts, .dur = m.dur},
                                 .counts = is_multiple,
                                 .user = &modulus};
        for (size_t i = 0; i < m.n; i++)
            if (rng_below(&rng, 2))
                assert_int_equal(ta_cover_of(&cover, i), slowly(&m, i, modulus));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_every_nanosecond_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
