/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The window shows every byte of a stream in its place, and zeros behind them. */
#include "parse/json/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/context.h"
#include "base/quality.h"

struct bytes {
    unsigned char *at;
    size_t n;
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 16;
}

/* No byte of it is zero, so that padding cannot be taken for content. */
static struct bytes make_text(size_t n)
{
    struct bytes text = {malloc(n), n};
    assert_non_null(text.at);
    uint64_t seed = 5;
    for (size_t i = 0; i < n; i++)
        text.at[i] = (unsigned char)('!' + next_random(&seed) % 64);
    return text;
}

static struct bytes make_gzip(struct bytes text)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    struct bytes file = {malloc(deflateBound(&z, text.n)), deflateBound(&z, text.n)};
    assert_non_null(file.at);
    z.next_in = text.at;
    z.avail_in = (unsigned)text.n;
    z.next_out = file.at;
    z.avail_out = (unsigned)file.n;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    file.n -= z.avail_out;
    deflateEnd(&z);
    return file;
}

static int file_of(struct bytes bytes)
{
    const int fd = memfd_create("test", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.at, bytes.n), bytes.n);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* One file under a window. */
struct view {
    struct ta_shared shared;
    struct ta_ctx ctx;
    struct ta_quality quality;
    struct ta_reader *reader;
    struct window window;
};

static void open_view(struct view *v, struct bytes file, size_t block, bool ahead, size_t most)
{
    ta_shared_init(&v->shared);
    v->shared.block = block;
    ta_ctx_init(&v->ctx, &v->shared);
    ta_quality_init(&v->quality);
    v->reader = ta_reader_open(&v->ctx, NULL, file_of(file), &v->quality);
    assert_non_null(v->reader);
    if (ahead)
        ta_reader_read_ahead(v->reader);
    assert_true(window_init(&v->window, v->reader, most));
}

static void close_view(struct view *v)
{
    window_free(&v->window);
    ta_reader_close(v->reader);
    ta_quality_free(&v->quality);
}

static void assert_shows(const struct window *w, struct bytes text)
{
    static const char zeros[TA_PADDING];
    const size_t at = (size_t)window_offset(w, window_at(w)), n = w->end - w->at;
    assert_true(at + n <= text.n);
    /* cmocka compares byte by byte, which takes long. */
    assert_int_equal(memcmp(window_at(w), text.at + at, n), 0);
    assert_memory_equal(w->buffer + w->end, zeros, TA_PADDING);
}

/* Goes through the whole file as a parser does, which reads on until a value has ended: mostly a
 * short one, now and then one of up to `longest` bytes. */
static void go_through(struct bytes text, struct bytes file, size_t block, bool ahead,
                       size_t longest)
{
    struct view v;
    uint64_t seed = block + longest;
    open_view(&v, file, block, ahead, longest);
    assert_shows(&v.window, text);
    while (!v.window.ended) {
        const size_t value = 1 + next_random(&seed) % (next_random(&seed) % 512 ? 300 : longest);
        bool checked = false;
        while (v.window.end - v.window.at < value && window_more(&v.window)) {
            /* All that is kept, once per value: a block may be a single byte. */
            if (!checked)
                assert_shows(&v.window, text);
            checked = true;
        }
        if (v.window.end - v.window.at >= value)
            v.window.at += value;
    }
    assert_shows(&v.window, text);
    assert_false(v.window.failed);
    assert_int_equal(v.window.base + v.window.end, text.n);
    close_view(&v);
}

static void every_block_size(void **unused)
{
    (void)unused;
    static const size_t blocks[] = {1, 2, 63, 4096, 65536, 300000, 0, 5000000};
    struct bytes text = make_text(1500000);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        /* A byte at a time is slow where much is kept. */
        const size_t longest = blocks[i] && blocks[i] < 64 ? 400 : 200000;
        const struct bytes part = {text.at, longest < 1000 ? 100000 : text.n};
        struct bytes gz = make_gzip(part);
        go_through(part, part, blocks[i], false, longest);
        go_through(part, gz, blocks[i], false, longest);
        go_through(part, gz, blocks[i], true, longest);
        free(gz.at);
    }
    free(text.at);
}

/* What fits does not depend on the size of a block, nor on who inflates, as long as a block that is
 * lent is no larger by itself. */
static void room_ends_at_the_same_place(void **unused)
{
    (void)unused;
    static const size_t blocks[] = {100, 70000, 0, 3000000};
    struct bytes text = make_text(2000000), gz = make_gzip(text);
    size_t fits = 0;
    for (size_t i = 0; i < 2 * sizeof blocks / sizeof *blocks; i++) {
        struct view v;
        const bool packed = i % 2 && blocks[i / 2] < 1000000;
        open_view(&v, packed ? gz : text, blocks[i / 2], packed, 100000);
        while (window_more(&v.window))
            assert_shows(&v.window, text);
        assert_shows(&v.window, text);
        assert_false(v.window.ended);
        assert_false(v.window.failed);
        assert_true(v.window.end > 100000 && v.window.end < text.n);
        assert_true(i == 0 || v.window.end == fits);
        fits = v.window.end;
        v.window.at += 1000;
        assert_true(window_more(&v.window));
        assert_shows(&v.window, text);
        close_view(&v);
    }
    free(text.at);
    free(gz.at);
}

static void empty_stream(void **unused)
{
    (void)unused;
    struct view v;
    const struct bytes nothing = {(unsigned char *)"", 0};
    open_view(&v, nothing, 0, false, 1000);
    assert_shows(&v.window, nothing);
    assert_false(window_more(&v.window));
    assert_true(v.window.ended);
    assert_shows(&v.window, nothing);
    close_view(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_size),
        cmocka_unit_test(room_ends_at_the_same_place),
        cmocka_unit_test(empty_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
