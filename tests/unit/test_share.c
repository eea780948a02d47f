/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks shared out: each is done once, and failures do not depend on the number of threads. */
#include "base/share.h"

#include "trace_fixture.h"

enum { TASKS = 200 };

struct doing {
    atomic_int done[TASKS];
    size_t first_bad, second_bad; /* tasks that fail */
    atomic_bool second_failed;    /* what the first waits for, so that it fails later */
    bool waits;
};

static enum ta_status do_it(struct ta_ctx *ctx, size_t i, void *user)
{
    struct doing *doing = user;
    atomic_fetch_add(&doing->done[i], 1);
    if (i == doing->second_bad) {
        atomic_store(&doing->second_failed, true);
        return ta_fail(ctx, TA_ERR_INPUT, "second");
    }
    if (i != doing->first_bad)
        return TA_OK;
    while (doing->waits && !atomic_load(&doing->second_failed))
        continue;
    return ta_fail(ctx, TA_ERR_NOMEM, "first");
}

static struct ta_shared shared;

static void each_task_is_done_once(void **state)
{
    (void)state;
    for (size_t helpers = 0; helpers < 5; helpers++)
        for (size_t n = 0; n <= TASKS; n += n < 4 ? 1 : 49) {
            struct doing doing = {.first_bad = TASKS, .second_bad = TASKS};
            struct ta_ctx ctx;
            ta_ctx_init(&ctx, &shared);
            ctx.helpers = helpers;
            assert_int_equal(ta_share_out(&ctx, TA_STAGE_ANALYZE, n, do_it, &doing), TA_OK);
            for (size_t i = 0; i < TASKS; i++)
                assert_int_equal(doing.done[i], i < n);
        }
}

/* Whichever thread fails first: what the first failing task says is said. */
static void the_first_failure_counts(void **state)
{
    (void)state;
    for (size_t helpers = 0; helpers < 5; helpers++) {
        struct doing doing = {.first_bad = 7, .second_bad = 8, .waits = helpers > 0};
        struct ta_ctx ctx;
        ta_ctx_init(&ctx, &shared);
        ctx.helpers = helpers;
        assert_int_equal(ta_share_out(&ctx, TA_STAGE_ANALYZE, TASKS, do_it, &doing), TA_ERR_NOMEM);
        assert_string_equal(ta_ctx_causes(&ctx), "first");
        for (size_t i = 0; i < 8; i++)
            assert_int_equal(doing.done[i], 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_task_is_done_once),
                                       cmocka_unit_test(the_first_failure_counts)};
    ta_shared_init(&shared);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
