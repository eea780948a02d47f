/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is deflated comes back, whatever its size, and is the same with any number of threads. */
#include "traceanalyze/deflate.h"

#include "trace_fixture.h"

#include <zlib.h>

enum { MEBIBYTE = 1 << 20 };

static struct ta_shared shared;

static void check(const char *bytes, size_t n)
{
    unsigned char *first = NULL;
    size_t first_size = 0;
    for (size_t helpers = 0; helpers < 4; helpers++) {
        struct ta_ctx ctx;
        unsigned char *packed;
        size_t size;
        ta_ctx_init(&ctx, &shared);
        ctx.helpers = helpers;
        assert_true(ta_deflate(&ctx, (struct ta_slice){bytes, n}, &packed, &size));
        if (helpers == 0) {
            first = packed;
            first_size = size;
            continue;
        }
        assert_int_equal(size, first_size);
        assert_memory_equal(packed, first, size);
        free(packed);
    }
    uLongf length = n;
    char *back = malloc(n + 1);
    assert_non_null(back);
    assert_int_equal(uncompress((Bytef *)back, &length, first, first_size), Z_OK);
    assert_int_equal(length, n);
    assert_memory_equal(back, bytes, n);
    free(back);
    free(first);
}

static void sizes_around_those_of_parts(void **state)
{
    static const size_t sizes[] = {
        0, 1, 1000, MEBIBYTE - 1, MEBIBYTE, MEBIBYTE + 1, 3 * MEBIBYTE, 3 * MEBIBYTE + 12345};
    (void)state;
    char *bytes = malloc(4 * MEBIBYTE);
    assert_non_null(bytes);
    uint64_t random = 1;
    for (size_t i = 0; i < 4 * MEBIBYTE; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        bytes[i] = (char)(i % 3 ? random >> 33 : i >> 9); /* hard to pack, and easy */
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check(bytes, sizes[i]);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_around_those_of_parts)};
    ta_shared_init(&shared);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
