/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chain of causes, and the times of threads. */
#include "base/context.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/utf8.h"

static struct ta_shared shared;
static struct ta_ctx ctx;

static int begin(void **state)
{
    (void)state;
    ta_shared_init(&shared);
    ta_ctx_init(&ctx, &shared);
    return 0;
}

static void causes_read_from_the_outside_in(void **state)
{
    (void)state;
    assert_string_equal(ta_ctx_causes(&ctx), "");
    assert_int_equal(ta_fail(&ctx, TA_ERR_INPUT, "No %s", "file"), TA_ERR_INPUT);
    assert_int_equal(ta_cause(&ctx, TA_ERR_INPUT, "Cannot read %d", 7), TA_ERR_INPUT);
    assert_string_equal(ta_ctx_causes(&ctx), "Cannot read 7: No file");
    assert_int_equal(ta_fail(&ctx, TA_ERR_NOMEM, "New"), TA_ERR_NOMEM);
    assert_string_equal(ta_ctx_causes(&ctx), "New");
}

/* Of a message with a long path both ends stay, in whole characters. */
static void long_messages_lose_their_middle(void **state)
{
    (void)state;
    for (size_t n = 400; n < 700; n++) {
        char *path = malloc(3 * n + 1);
        assert_non_null(path);
        for (size_t i = 0; i < n; i++)
            memcpy(path + 3 * i, "€", 3);
        path[3 * n] = '\0';
        ta_fail(&ctx, TA_ERR_OUTPUT, "Cannot write: path=\"%s\", reason=%s", path, "too long");
        const char *text = ta_ctx_causes(&ctx);
        assert_true(strlen(text) < 1024);
        assert_ptr_equal(strstr(text, "Cannot write: path=\"€€€"), text);
        assert_string_equal(strstr(text, "€\", "), "€\", reason=too long");
        assert_non_null(strstr(text, "€ … €"));
        assert_int_equal(ta_utf8_valid(text, strlen(text)), strlen(text));
        free(path);
    }
}

static void times_add_up(void **state)
{
    (void)state;
    struct ta_times a = {0}, b = {0};
    ta_times_start(&a);
    for (volatile int i = 0; i < 1000000; i++)
        ;
    ta_times_lap(&a, TA_STAGE_READ);
    const struct ta_lap since = a.since, read = a.stages[TA_STAGE_READ];
    assert_true(read.wall_ns > 0 && read.cpu_ns > 0);
    assert_int_equal(a.stages[TA_STAGE_ANALYZE].wall_ns, 0);
    ta_times_lap(&a, TA_STAGE_ANALYZE);
    assert_int_equal(a.stages[TA_STAGE_ANALYZE].wall_ns, a.since.wall_ns - since.wall_ns);
    b.stages[TA_STAGE_READ] = (struct ta_lap){.wall_ns = 5, .cpu_ns = 7};
    ta_times_add(&a, &b);
    assert_int_equal(a.stages[TA_STAGE_READ].wall_ns, read.wall_ns + 5);
    assert_int_equal(a.stages[TA_STAGE_READ].cpu_ns, read.cpu_ns + 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(causes_read_from_the_outside_in, begin),
        cmocka_unit_test_setup(long_messages_lose_their_middle, begin),
        cmocka_unit_test(times_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
