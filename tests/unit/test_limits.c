/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes as text, and --limit NAME=VALUE. */
#include "base/context.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct ta_shared shared;
static struct ta_ctx ctx;

static int setup(void **state)
{
    (void)state;
    ta_shared_init(&shared);
    ta_ctx_init(&ctx, &shared);
    return 0;
}

static uint64_t size_of(const char *text)
{
    uint64_t size = 0;
    assert_true(ta_size_parse(text, &size));
    return size;
}

static void reads_sizes(void **state)
{
    (void)state;
    assert_int_equal(size_of("0"), 0);
    assert_int_equal(size_of("250"), 250);
    assert_int_equal(size_of("2k"), 2048);
    assert_int_equal(size_of("2KiB"), 2048);
    assert_int_equal(size_of("64MiB"), 64 << 20);
    assert_int_equal(size_of("1.5GiB"), 3 * (INT64_C(1) << 29));
    assert_int_equal(size_of("64B"), 64);
}

static void refuses_other_text(void **state)
{
    (void)state;
    static const char *const bad[] = {"",    "x",   "-1",   "1x",  "1KiBB",
                                      "nan", "inf", "1e99", "1 k", "1kiB2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t size = 77;
        assert_false(ta_size_parse(bad[i], &size));
        assert_int_equal(size, 77);
    }
}

static void starts_with_defaults(void **state)
{
    (void)state;
    for (int i = 0; i < TA_LIMIT_COUNT; i++) {
        assert_non_null(ta_limit_name((enum ta_limit)i));
        assert_int_equal(ta_ctx_limit(&ctx, (enum ta_limit)i), ta_limit_default((enum ta_limit)i));
    }
    assert_int_equal(ta_ctx_limit(&ctx, TA_LIMIT_RATIO), 250);
}

static void sets_a_limit(void **state)
{
    (void)state;
    assert_int_equal(ta_limits_set(&ctx, "event=1MiB"), TA_OK);
    assert_int_equal(ta_ctx_limit(&ctx, TA_LIMIT_EVENT), 1 << 20);
    assert_int_equal(ta_ctx_limit(&ctx, TA_LIMIT_STRING), ta_limit_default(TA_LIMIT_STRING));
}

static void refuses_bad_limits(void **state)
{
    (void)state;
    static const char *const bad[] = {"depth",      "depth=",   "depth=two", "depth=7",
                                      "=3",         "deep=100", "DEPTH=100", "",
                                      "depth=100x", "event=1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(ta_limits_set(&ctx, bad[i]), TA_ERR_USAGE);
    assert_int_equal(ta_ctx_limit(&ctx, TA_LIMIT_DEPTH), ta_limit_default(TA_LIMIT_DEPTH));
    assert_int_equal(ta_limits_set(&ctx, "deep=100"), TA_ERR_USAGE);
    assert_non_null(strstr(ta_ctx_causes(&ctx), "deep=100"));
    assert_non_null(strstr(ta_ctx_causes(&ctx), "depth"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(reads_sizes, setup),
        cmocka_unit_test_setup(refuses_other_text, setup),
        cmocka_unit_test_setup(starts_with_defaults, setup),
        cmocka_unit_test_setup(sets_a_limit, setup),
        cmocka_unit_test_setup(refuses_bad_limits, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
