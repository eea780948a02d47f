/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is deflated comes back, whatever its size, and is the same with any number of threads. */
#include "base/deflate.h"

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

/* What cannot be packed takes little more than before, and what repeats next to nothing; with
 * each library, as the last part of a stream and before others. */
static void each_library(void **state)
{
    (void)state;
    char *bytes = malloc(MEBIBYTE), *back = malloc(MEBIBYTE + 1);
    assert_non_null(bytes);
    assert_non_null(back);
    for (ta_deflate_part *const *with = ta_deflate_parts; *with; with++)
        for (int is_random = 0; is_random < 2; is_random++)
            for (int is_last = 0; is_last < 2; is_last++) {
                uint64_t random = 1;
                for (size_t k = 0; k < MEBIBYTE; k++) {
                    random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
                    bytes[k] = (char)(is_random ? random >> 40 : 'a');
                }
                struct ta_deflated packed = {0};
                assert_true((*with)((struct ta_slice){bytes, MEBIBYTE}, is_last, &packed));
                assert_in_range(packed.size, 1,
                                is_random ? MEBIBYTE + MEBIBYTE / 1000 : MEBIBYTE / 50);
                z_stream stream = {.next_in = packed.bytes,
                                   .avail_in = (uInt)packed.size,
                                   .next_out = (Bytef *)back,
                                   .avail_out = MEBIBYTE + 1};
                assert_int_equal(inflateInit2(&stream, -MAX_WBITS), Z_OK);
                assert_int_equal(inflate(&stream, Z_SYNC_FLUSH), is_last ? Z_STREAM_END : Z_OK);
                assert_int_equal(stream.total_out, MEBIBYTE);
                assert_int_equal(stream.avail_in, 0);
                assert_memory_equal(back, bytes, MEBIBYTE);
                inflateEnd(&stream);
                free(packed.bytes);
            }
    free(bytes);
    free(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_around_those_of_parts),
                                       cmocka_unit_test(each_library)};
    ta_shared_init(&shared);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
