/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which findings are told by others, and which stay. */
#include "recommend/stories.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { FINDINGS = 2 };

/* What the last rank does by itself, and a finding that ranks wait. */
static void make_pair(struct ta_found found[FINDINGS], int64_t own_ns, int64_t waited_ns)
{
    static const struct ta_evidence evidence = {.table = "steps.by_rank"};
    found[0] = (struct ta_found){{.id = "own",
                                  .evidence = &evidence,
                                  .n_evidence = 1,
                                  .saving_low_ns = 0,
                                  .saving_high_ns = own_ns,
                                  .confidence = 1},
                                 {.rank = 2, .is_last = true, .of_others = 0}};
    found[1] = (struct ta_found){{.id = "waiting",
                                  .evidence = &evidence,
                                  .n_evidence = 1,
                                  .gain = TA_GAIN_RANKS,
                                  .saving_low_ns = waited_ns,
                                  .saving_high_ns = waited_ns,
                                  .confidence = 1},
                                 {.rank = TA_MISSING, .of_others = 1}};
}

/* Nothing is told, so nothing is written: there is no advice. */
static size_t left_of(int64_t own_ns, int64_t waited_ns)
{
    static const struct ta_refs none;
    struct ta_found found[FINDINGS];
    make_pair(found, own_ns, waited_ns);
    return ta_stories_join(NULL, &none, found, FINDINGS);
}

static void waiting_of_unknown_cost_stays(void **state)
{
    (void)state;
    assert_int_equal(left_of(1000, TA_MISSING), FINDINGS);
    assert_int_equal(left_of(TA_MISSING, TA_MISSING), FINDINGS);
}

static void longer_waiting_stays(void **state)
{
    (void)state;
    assert_int_equal(left_of(1000, 2000), FINDINGS);
    assert_int_equal(left_of(TA_MISSING, 2000), FINDINGS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_of_unknown_cost_stays),
        cmocka_unit_test(longer_waiting_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
