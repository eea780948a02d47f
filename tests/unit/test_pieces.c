/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of a file stand in their order, whoever writes them. */
#include "base/write/file.h"
#include "base/write/pieces.h"
#include "render/base64.h"

#include "files.h"
#include "trace_fixture.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <unistd.h>

/* The largest piece is longer than the buffer of a file. */
enum { PIECES = 60, LARGEST = 200 * 1000, ROOM = PIECES * LARGEST };

static struct ta_shared shared;

struct writing {
    size_t bad;       /* the piece that fails; PIECES: none */
    atomic_int begun; /* pieces */
};

static size_t length_of(size_t i)
{
    return i % 7 == 3 ? 0 : i % 11 == 5 ? LARGEST : i * 37;
}

static enum ta_status write_piece(struct ta_ctx *ctx, struct ta_file *out, size_t i, void *user)
{
    struct writing *writing = user;
    atomic_fetch_add(&writing->begun, 1);
    assert_int_equal(ctx->helpers, 0); /* they are at work already, or there are none */
    ta_putf(out, "<%zu>", i);
    for (size_t k = 0; k < length_of(i); k += 100)
        ta_puts(out, "0123456789012345678901234567890123456789012345678901234567890123456789"
                     "012345678901234567890123456789");
    ta_putc(out, '\n');
    return i == writing->bad ? ta_fail(ctx, TA_ERR_INPUT, "bad piece") : TA_OK;
}

/* Writes them all into a file, and gives what it holds. */
static enum ta_status write_all(size_t helpers, struct writing *writing, char *content, size_t *n)
{
    struct ta_ctx ctx;
    struct ta_file file;
    const int fd = fixture_memory("", 0);
    ta_ctx_init(&ctx, &shared);
    ctx.helpers = helpers;
    assert_true(ta_file_start(&file, fd, true, strdup("memory")));
    ta_puts(&file, "before\n");
    const enum ta_status status = ta_put_pieces(&ctx, &file, PIECES, write_piece, writing);
    assert_int_equal(ctx.helpers, helpers);
    ta_puts(&file, "behind\n");
    const uint64_t written = ta_file_bytes(&file);
    assert_int_equal(ta_file_close(&ctx, &file), TA_OK);
    ta_file_end(&file);
    *n = (size_t)pread(fd, content, ROOM, 0);
    assert_int_equal(*n, written);
    close(fd);
    return status;
}

static void in_their_order(void **state)
{
    (void)state;
    static char expected[ROOM], content[ROOM];
    struct writing writing = {.bad = PIECES};
    size_t n, size;
    assert_int_equal(write_all(0, &writing, expected, &size), TA_OK);
    assert_memory_equal(expected, "before\n<0>\n<1>", 14);
    for (size_t helpers = 0; helpers < 5; helpers++) {
        writing.begun = 0;
        assert_int_equal(write_all(helpers, &writing, content, &n), TA_OK);
        assert_int_equal(writing.begun, PIECES);
        assert_int_equal(n, size);
        assert_memory_equal(content, expected, n);
    }
}

/* Pieces before it are in the file, none behind it is. */
static void one_fails(void **state)
{
    (void)state;
    static char content[ROOM];
    for (size_t helpers = 0; helpers < 5; helpers++) {
        struct writing writing = {.bad = 20};
        size_t n;
        assert_int_equal(write_all(helpers, &writing, content, &n), TA_ERR_INPUT);
        content[n] = '\0';
        assert_non_null(strstr(content, "<19>"));
        assert_null(strstr(content, "<21>"));
    }
}

/* Sizes around those of groups, lines and pieces. */
static void base64_as_others_have_it(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,    1,          2,          3,          4,
                                   3071, 3072,       3073,       3 << 16,    (3 << 16) + 1,
                                   1000, 500 * 1000, 500 * 1001, 500 * 1002, (3 << 17) - 1};
    static unsigned char bytes[1 << 20];
    static char content[ROOM];
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof bytes; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        bytes[i] = (unsigned char)(random >> 33);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t helpers = 0; helpers < 3; helpers++) {
            struct ta_ctx ctx;
            struct ta_file file;
            const int fd = fixture_memory("", 0);
            ta_ctx_init(&ctx, &shared);
            ctx.helpers = helpers;
            assert_true(ta_file_start(&file, fd, true, strdup("memory")));
            assert_int_equal(ta_put_base64(&ctx, &file, bytes, sizes[i]), TA_OK);
            assert_int_equal(ta_file_close(&ctx, &file), TA_OK);
            ta_file_end(&file);
            const size_t n = (size_t)pread(fd, content, ROOM, 0);
            close(fd);
            char *expected = g_base64_encode(bytes, sizes[i]);
            assert_int_equal(n, strlen(expected));
            assert_memory_equal(content, expected, n);
            g_free(expected);
        }
}

/* A piece in memory that could not grow makes the file fail that it is part of. */
static void without_memory(void **state)
{
    (void)state;
    struct ta_ctx ctx;
    struct ta_file file, draft;
    const int fd = fixture_memory("", 0);
    ta_ctx_init(&ctx, &shared);
    assert_true(ta_file_start(&file, fd, true, strdup("memory")));
    ta_file_start_draft(&draft);
    ta_puts(&draft, "something");
    draft.error = ENOMEM; /* as when it could not grow */
    ta_puts(&draft, "more");
    ta_file_take(&file, &draft);
    assert_int_equal(ta_file_close(&ctx, &file), TA_ERR_NOMEM);
    ta_file_end(&file);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_their_order),
        cmocka_unit_test(one_fails),
        cmocka_unit_test(base64_as_others_have_it),
        cmocka_unit_test(without_memory),
    };
    ta_shared_init(&shared);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
