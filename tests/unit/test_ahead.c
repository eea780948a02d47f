/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading ahead on another thread changes nothing but the time. */
#include "read/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/context.h"
#include "base/quality.h"
#include "read/inflate.h"

/* ---- material --------------------------------------------------------------------------- */

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

/* Something like a trace, so that it is compressed about as well. */
static struct bytes make_text(size_t n)
{
    struct bytes text = {malloc(n + 100), 0};
    assert_non_null(text.at);
    uint64_t seed = 11;
    while (text.n < n)
        text.n += (size_t)sprintf(
            (char *)text.at + text.n, "{\"ph\": \"X\", \"ts\": %u.%03u, \"name\": \"op%u\"},\n",
            (unsigned)(next_random(&seed) % 100000), (unsigned)(next_random(&seed) % 1000),
            (unsigned)(next_random(&seed) % 30));
    text.n = n;
    return text;
}

static void add_member(struct bytes *out, const unsigned char *content, size_t n)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 3, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    const size_t most = deflateBound(&z, n) + 32;
    out->at = realloc(out->at, out->n + most);
    assert_non_null(out->at);
    z.next_in = (unsigned char *)content;
    z.avail_in = (unsigned)n;
    z.next_out = out->at + out->n;
    z.avail_out = (unsigned)most;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->n += most - z.avail_out;
    deflateEnd(&z);
}

/* In members of random sizes up to `most`. */
static struct bytes make_gzip(struct bytes text, size_t most)
{
    struct bytes file = {0};
    uint64_t seed = 3;
    for (size_t at = 0; at < text.n;) {
        const size_t left = text.n - at, n = 1 + next_random(&seed) % most;
        add_member(&file, text.at + at, n < left ? n : left);
        at += n < left ? n : left;
    }
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

/* ---- reading ---------------------------------------------------------------------------- */

struct setting {
    const char *inflater;
    bool ahead;
    size_t most; /* bytes per call */
    size_t stop; /* read no more than about this */
};

/* What a reader gives of a file. */
struct outcome {
    unsigned long hash;
    uint64_t n, bytes, raw_bytes, progress;
    struct ta_quality quality;
    bool early;
};

static void read_file(struct ta_shared *shared, struct bytes file, struct setting setting,
                      struct outcome *o)
{
    struct ta_ctx ctx;
    ta_ctx_init(&ctx, shared);
    shared->inflater = setting.inflater;
    *o = (struct outcome){.hash = 0};
    ta_quality_init(&o->quality);
    struct ta_reader *reader = ta_reader_open(&ctx, NULL, file_of(file), &o->quality);
    unsigned char *block = malloc(setting.most);
    assert_non_null(reader);
    assert_non_null(block);
    if (setting.ahead)
        ta_reader_read_ahead(reader);
    uint64_t seed = setting.most;
    size_t got = 1;
    while (got && o->n < setting.stop) {
        got = ta_reader_read(reader, (char *)block, 1 + next_random(&seed) % setting.most);
        o->hash = crc32_z(o->hash, block, got);
        o->n += got;
    }
    o->early = ta_reader_ended_early(reader);
    o->bytes = ta_reader_bytes(reader);
    o->raw_bytes = ta_reader_raw_bytes(reader);
    ta_reader_close(reader);
    o->progress = atomic_exchange(&shared->read, 0);
    free(block);
}

static void assert_equal_outcomes(const struct outcome *a, const struct outcome *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->hash, b->hash);
    assert_int_equal(a->early, b->early);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->raw_bytes, b->raw_bytes);
    assert_int_equal(a->progress, b->progress);
    for (int i = 0; i < TA_Q_COUNT; i++) {
        const struct ta_quality_slot *x = &a->quality.slots[i], *y = &b->quality.slots[i];
        assert_int_equal(x->count, y->count);
        if (!x->count)
            continue;
        assert_int_equal(x->first, y->first);
        assert_int_equal(x->last, y->last);
        assert_int_equal(x->file_offset, y->file_offset);
        assert_string_equal(x->text, y->text);
    }
}

/* The same with and without reading ahead, however much is taken at a time. */
static void assert_no_difference(struct ta_shared *shared, struct bytes file)
{
    static const size_t most[] = {3000, 600000, 5000000};
    for (const struct ta_inflater *const *i = ta_inflaters; *i; i++) {
        struct outcome alone, ahead;
        read_file(shared, file, (struct setting){(*i)->name, false, 1 << 19, SIZE_MAX}, &alone);
        for (size_t m = 0; m < sizeof most / sizeof *most; m++) {
            read_file(shared, file, (struct setting){(*i)->name, true, most[m], SIZE_MAX}, &ahead);
            assert_equal_outcomes(&alone, &ahead);
            ta_quality_free(&ahead.quality);
        }
        ta_quality_free(&alone.quality);
    }
}

static struct ta_shared new_shared(void)
{
    struct ta_shared shared;
    ta_shared_init(&shared);
    return shared;
}

static void whole_files(void **unused)
{
    (void)unused;
    struct ta_shared shared = new_shared();
    /* Around the sizes of the probe, of a block and of the ring. */
    static const size_t sizes[] = {0, 65536, 65537, 65536 + (1 << 19), 65537 + (1 << 21), 4000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct bytes text = make_text(sizes[i]), gz = make_gzip(text, 2 << 20),
                     many = make_gzip(text, 40000);
        assert_no_difference(&shared, text);
        assert_no_difference(&shared, gz);
        assert_no_difference(&shared, many);
        free(text.at);
        free(gz.at);
        free(many.at);
    }
}

static void damaged_files(void **unused)
{
    (void)unused;
    struct ta_shared shared = new_shared();
    struct bytes text = make_text(5000000), gz = make_gzip(text, 3 << 20);
    uint64_t seed = 29;
    for (int i = 0; i < 12; i++) {
        const size_t at = 20 + next_random(&seed) % (gz.n - 20);
        const unsigned char right = gz.at[at];
        assert_no_difference(&shared, (struct bytes){gz.at, at});
        gz.at[at] ^= (unsigned char)(1 + next_random(&seed) % 255);
        assert_no_difference(&shared, gz);
        gz.at[at] = right;
    }
    free(text.at);
    free(gz.at);
}

static void checksums_and_trailing_bytes(void **unused)
{
    (void)unused;
    struct ta_shared shared = new_shared();
    struct bytes text = make_text(3000000), gz = make_gzip(text, 1 << 20);
    struct outcome o;
    add_member(&gz, text.at, 10);
    gz.at[gz.n - 8] ^= 1;
    gz.at = realloc(gz.at, gz.n + 3);
    assert_non_null(gz.at);
    memcpy(gz.at + gz.n, "end", 3);
    gz.n += 3;
    assert_no_difference(&shared, gz);
    read_file(&shared, gz, (struct setting){NULL, true, 1000, SIZE_MAX}, &o);
    assert_int_equal(o.n, text.n + 10);
    assert_int_equal(ta_quality_count(&o.quality, TA_Q_GZIP_CHECKSUM), 1);
    assert_int_equal(ta_quality_count(&o.quality, TA_Q_GZIP_TRAILING), 1);
    ta_quality_free(&o.quality);
    free(text.at);
    free(gz.at);
}

static void limits(void **unused)
{
    (void)unused;
    struct ta_shared shared = new_shared();
    struct bytes zeros = {calloc(1, 80 << 20), 80 << 20}, bomb = {0};
    assert_non_null(zeros.at);
    add_member(&bomb, zeros.at, zeros.n);
    assert_no_difference(&shared, bomb);
    shared.limits[TA_LIMIT_EXPANDED] = 3333333;
    assert_no_difference(&shared, bomb);
    struct outcome o;
    read_file(&shared, bomb, (struct setting){NULL, true, 70000, SIZE_MAX}, &o);
    assert_int_equal(o.n, 3333333);
    assert_true(o.early);
    assert_int_equal(o.quality.slots[TA_Q_LIMIT].first, 3333333);
    ta_quality_free(&o.quality);
    free(zeros.at);
    free(bomb.at);
}

static void utf16(void **unused)
{
    (void)unused;
    struct ta_shared shared = new_shared();
    struct bytes text = make_text(900000), wide = {malloc(2 * 900000 + 2), 2 * 900000 + 2};
    assert_non_null(wide.at);
    memcpy(wide.at, "\xff\xfe", 2);
    for (size_t i = 0; i < text.n; i++) {
        wide.at[2 + 2 * i] = text.at[i];
        wide.at[3 + 2 * i] = 0;
    }
    assert_no_difference(&shared, wide);
    free(text.at);
    free(wide.at);
}

/* Scans in place as a parser does: keeps some bytes at the end of each block, which must be there
 * before the next one, and now and then more than can be lent. */
static void lending(void **unused)
{
    (void)unused;
    struct ta_shared shared = new_shared();
    struct bytes text = make_text(6000000), gz = make_gzip(text, 3 << 20);
    struct ta_quality quality;
    struct ta_ctx ctx;
    ta_ctx_init(&ctx, &shared);
    ta_quality_init(&quality);
    struct ta_reader *reader = ta_reader_open(&ctx, NULL, file_of(gz), &quality);
    assert_non_null(reader);
    assert_false(ta_reader_lends(reader, 0));
    ta_reader_read_ahead(reader);
    char *view = malloc(1 << 20), *own = view;
    assert_non_null(own);
    uint64_t seed = 77;
    size_t at = 0, n = ta_reader_read(reader, own, 1 << 16), got; /* view: text[at, at + n) */
    do {
        assert_memory_equal(view, text.at + at, n);
        const size_t kept = next_random(&seed) % (next_random(&seed) % 4 ? 2000 : 1 << 17);
        const size_t use = kept < n ? n - kept : 0;
        view += use, at += use, n -= use;
        const bool lent = ta_reader_lends(reader, n);
        assert_true(lent || n > 1 << 16 || at < 1 << 16);
        if (lent) {
            got = ta_reader_lend(reader, view, n, &view);
        } else {
            memmove(own, view, n);
            view = own;
            got = ta_reader_read(reader, own + n, next_random(&seed) % (1 << 18) + 1);
        }
        n += got;
    } while (got);
    assert_int_equal(at + n, text.n);
    assert_memory_equal(view, text.at + at, n);
    assert_int_equal(ctx.times.stages[TA_STAGE_INFLATE].wall_ns, 0);
    ta_reader_close(reader);
    assert_true(ctx.times.stages[TA_STAGE_INFLATE].wall_ns > 0);
    assert_true(ctx.times.stages[TA_STAGE_INFLATE].cpu_ns > 0);
    ta_quality_free(&quality);
    free(own);
    free(text.at);
    free(gz.at);
}

/* Closing at any time ends the thread; nothing is told of damage that nobody came to. */
static void closing_early(void **unused)
{
    (void)unused;
    struct ta_shared shared = new_shared();
    struct bytes text = make_text(6000000), gz = make_gzip(text, 3 << 20);
    static const size_t stops[] = {0, 1, 65536, 65537, 600000, 1200000, 4000000, 5900000};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        struct outcome o;
        const struct bytes cut = {gz.at, gz.n - 100};
        read_file(&shared, cut, (struct setting){NULL, true, 9000, stops[i]}, &o);
        assert_true(o.n >= stops[i] && o.n < stops[i] + 9000);
        if (stops[i] < 5000000) {
            assert_false(o.early);
            assert_false(ta_quality_reaches(&o.quality, TA_QUALITY_INFO));
        }
        ta_quality_free(&o.quality);
    }
    free(text.at);
    free(gz.at);
}

static void canceling(void **unused)
{
    (void)unused;
    struct ta_shared shared = new_shared();
    struct bytes text = make_text(12000000), gz = make_gzip(text, 3 << 20);
    struct ta_quality quality;
    struct ta_ctx ctx;
    ta_ctx_init(&ctx, &shared);
    ta_quality_init(&quality);
    struct ta_reader *reader = ta_reader_open(&ctx, NULL, file_of(gz), &quality);
    assert_non_null(reader);
    ta_reader_read_ahead(reader);
    static char block[100000];
    size_t n = ta_reader_read(reader, block, sizeof block), got;
    atomic_store(&shared.canceled, 15);
    while ((got = ta_reader_read(reader, block, sizeof block)))
        n += got;
    assert_true(n < text.n / 2);
    assert_true(ta_reader_ended_early(reader));
    ta_reader_close(reader);
    ta_quality_free(&quality);
    free(text.at);
    free(gz.at);
}

/* Nobody may wait for a thread that waits for a pipe. */
static void pipes_are_read_without(void **unused)
{
    (void)unused;
    struct ta_shared shared = new_shared();
    struct ta_quality quality;
    struct ta_ctx ctx;
    int fd[2];
    ta_ctx_init(&ctx, &shared);
    ta_quality_init(&quality);
    assert_int_equal(pipe(fd), 0);
    char bytes[TA_PROBE_SIZE / 2] = {0}, block[100];
    assert_int_equal(write(fd[1], bytes, sizeof bytes), sizeof bytes);
    assert_int_equal(write(fd[1], bytes, sizeof bytes), sizeof bytes);
    struct ta_reader *reader = ta_reader_open(&ctx, NULL, fd[0], &quality);
    assert_non_null(reader);
    ta_reader_read_ahead(reader);
    assert_int_equal(ta_reader_read(reader, block, sizeof block), sizeof block);
    ta_reader_close(reader); /* while the other end is still open */
    close(fd[1]);
    ta_quality_free(&quality);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_files),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(checksums_and_trailing_bytes),
        cmocka_unit_test(limits),
        cmocka_unit_test(utf16),
        cmocka_unit_test(lending),
        cmocka_unit_test(closing_early),
        cmocka_unit_test(canceling),
        cmocka_unit_test(pipes_are_read_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
