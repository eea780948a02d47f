/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every inflater gives the same content and the same findings, whole streams and damaged ones. */
#include "read/inflate.h"

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
#include "read/reader.h"

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
    return *state;
}

static size_t random_below(uint64_t *state, size_t n)
{
    return (size_t)(next_random(state) >> 16) % n;
}

/* Text that repeats itself at all distances, with some noise. */
static struct bytes make_content(size_t n, uint64_t seed)
{
    struct bytes content = {malloc(n + 1), n};
    assert_non_null(content.at);
    for (size_t i = 0; i < n;) {
        size_t run = 1 + random_below(&seed, 80), from = random_below(&seed, i + 1);
        for (; run && i < n; run--, i++)
            content.at[i] = run % 9 ? content.at[from + i % 7 < i ? from + i % 7 : i / 2]
                                    : (unsigned char)('!' + random_below(&seed, 90));
    }
    return content;
}

/* How streams are made, so that all kinds of blocks occur. */
static const struct {
    int level, strategy;
} kinds[] = {{0, Z_DEFAULT_STRATEGY},
             {1, Z_DEFAULT_STRATEGY},
             {6, Z_DEFAULT_STRATEGY},
             {9, Z_FILTERED},
             {6, Z_FIXED},
             {6, Z_HUFFMAN_ONLY}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* `wrap`: −15 raw deflate, 31 a gzip member.  Appends. */
static void add_stream(struct bytes *out, struct bytes content, size_t kind, int wrap)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, kinds[kind].level, Z_DEFLATED, wrap, 9, kinds[kind].strategy),
                     Z_OK);
    const size_t most = deflateBound(&z, content.n) + 32;
    out->at = realloc(out->at, out->n + most);
    assert_non_null(out->at);
    z.next_in = content.at;
    z.avail_in = (unsigned)content.n;
    z.next_out = out->at + out->n;
    z.avail_out = (unsigned)most;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->n += most - z.avail_out;
    deflateEnd(&z);
}

static void add_zeros(struct bytes *out, size_t n)
{
    out->at = realloc(out->at, out->n + n);
    assert_non_null(out->at);
    memset(out->at + out->n, 0, n);
    out->n += n;
}

/* ---- inflaters by themselves -------------------------------------------------------------- */

/* Inflates with random amounts of input and room; what follows the stream must be left. */
static void inflate_in_pieces(const struct ta_inflater *inflater, void *state, struct bytes stream,
                              struct bytes content, size_t most, uint64_t seed)
{
    unsigned char *out = malloc(content.n + 1);
    assert_non_null(out);
    struct ta_inflate_io io = {stream.at + TA_INFLATE_HELD, NULL, out, NULL};
    enum ta_inflate_result result = TA_INFLATE_MORE;
    const char *error = NULL;
    while (result == TA_INFLATE_MORE) {
        const size_t left = (size_t)(stream.at + stream.n - io.in);
        const size_t room = (size_t)(out + content.n + 1 - io.out);
        const size_t in = random_below(&seed, most + 1), max = 1 + random_below(&seed, most);
        assert_true(room > 0);
        io.in_end = io.in + (in < left ? in : left);
        io.out_end = io.out + (max < room ? max : room);
        result = inflater->run(state, &io, &error);
    }
    assert_int_equal(result, TA_INFLATE_END);
    assert_ptr_equal(io.in, stream.at + stream.n - 20);
    assert_int_equal(io.out - out, content.n);
    assert_memory_equal(out, content.at, content.n);
    assert_int_equal(ta_inflate_crc(0, out, content.n), crc32(0, content.at, (unsigned)content.n));
    free(out);
}

static void streams_of_all_kinds_in_pieces(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {0, 1, 5, 300, 70000, 400000};
    for (const struct ta_inflater *const *i = ta_inflaters; *i; i++) {
        void *state = (*i)->open();
        assert_non_null(state);
        for (size_t kind = 0; kind < KINDS; kind++) {
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                struct bytes content = make_content(sizes[s], 7 + kind), stream = {0};
                add_zeros(&stream, TA_INFLATE_HELD);
                add_stream(&stream, content, kind, -15);
                add_zeros(&stream, 20);
                static const size_t most[] = {3, 100, 40000, 1000000};
                for (size_t m = sizes[s] > 1000; m < 4; m++) {
                    (*i)->reset(state);
                    inflate_in_pieces(*i, state, stream, content, most[m], 3 + m);
                }
                free(content.at);
                free(stream.at);
            }
        }
        (*i)->close(state);
    }
}

static void names(void **unused)
{
    (void)unused;
    assert_ptr_equal(ta_inflater_find(NULL), ta_inflaters[0]);
    assert_ptr_equal(ta_inflater_find("auto"), ta_inflaters[0]);
    assert_ptr_equal(ta_inflater_find("zlib"), &ta_inflater_zlib);
    assert_null(ta_inflater_find("zip"));
    assert_true(ta_inflater_zlib.strict);
    for (const struct ta_inflater *const *i = ta_inflaters; *i; i++)
        assert_ptr_equal(ta_inflater_find((*i)->name), *i);
}

/* ---- through the reader ------------------------------------------------------------------- */

/* What a reader gives of a file. */
struct outcome {
    struct bytes content;
    struct ta_quality quality;
    bool early;
    uint64_t bytes;
};

static int file_of(struct bytes bytes, bool as_pipe)
{
    int fd[2] = {-1, -1};
    if (as_pipe) {
        assert_int_equal(pipe(fd), 0);
        assert_true(bytes.n <= 65536); /* what a pipe holds without a reader */
    } else {
        fd[0] = fd[1] = memfd_create("test", MFD_CLOEXEC);
    }
    assert_true(fd[1] >= 0);
    assert_int_equal(write(fd[1], bytes.at, bytes.n), bytes.n);
    if (as_pipe)
        close(fd[1]);
    else
        lseek(fd[0], 0, SEEK_SET);
    return fd[0];
}

static void read_bytes(const char *inflater, struct bytes file, bool as_pipe, size_t most,
                       struct outcome *o)
{
    struct ta_shared shared;
    struct ta_ctx ctx;
    ta_shared_init(&shared);
    ta_ctx_init(&ctx, &shared);
    shared.inflater = inflater;
    *o = (struct outcome){.early = false};
    ta_quality_init(&o->quality);
    struct ta_reader *reader = ta_reader_open(&ctx, NULL, file_of(file, as_pipe), &o->quality);
    assert_non_null(reader);
    size_t got, max = 0;
    do {
        if (max - o->content.n < most) {
            max = 2 * max + most;
            o->content.at = realloc(o->content.at, max);
            assert_non_null(o->content.at);
        }
        got = ta_reader_read(reader, (char *)o->content.at + o->content.n, most);
        o->content.n += got;
    } while (got);
    o->early = ta_reader_ended_early(reader);
    o->bytes = ta_reader_bytes(reader);
    assert_int_equal(ta_reader_raw_bytes(reader), o->content.n);
    ta_reader_close(reader);
}

static void outcome_free(struct outcome *o)
{
    free(o->content.at);
    ta_quality_free(&o->quality);
}

static void assert_same_findings(const struct ta_quality *a, const struct ta_quality *b)
{
    for (int i = 0; i < TA_Q_COUNT; i++) {
        assert_int_equal(a->slots[i].count, b->slots[i].count);
        if (!a->slots[i].count)
            continue;
        assert_int_equal(a->slots[i].first, b->slots[i].first);
        assert_int_equal(a->slots[i].file_offset, b->slots[i].file_offset);
        assert_string_equal(a->slots[i].text, b->slots[i].text);
    }
}

/* All inflaters agree on a file.  One that is not strict may read what zlib refuses, if it is the
 * `whole` content, which the checksums tell. */
static void assert_all_agree(struct bytes file, size_t most, struct bytes whole)
{
    struct outcome first, other;
    read_bytes("zlib", file, false, most, &first);
    for (const struct ta_inflater *const *i = ta_inflaters; *i; i++) {
        read_bytes((*i)->name, file, false, most, &other);
        const bool saved = first.content.n < other.content.n && other.content.n == whole.n &&
                           !ta_quality_reaches(&other.quality, TA_QUALITY_INFO);
        assert_int_equal(other.content.n, saved ? whole.n : first.content.n);
        if (other.content.n)
            assert_memory_equal(other.content.at, saved ? whole.at : first.content.at,
                                other.content.n);
        if (!saved) {
            assert_same_findings(&other.quality, &first.quality);
            assert_int_equal(other.early, first.early);
            assert_int_equal(other.bytes, first.bytes);
        }
        outcome_free(&other);
    }
    outcome_free(&first);
}

/* Members with all kinds of blocks, and padding; returns the content. */
static struct bytes make_file(size_t member, struct bytes *file)
{
    struct bytes whole = {malloc(KINDS * member), 0};
    assert_non_null(whole.at);
    *file = (struct bytes){0};
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct bytes content = make_content(member, 90 + kind);
        add_stream(file, content, kind, 31);
        if (kind == 2)
            add_zeros(file, 300);
        memcpy(whole.at + whole.n, content.at, member);
        whole.n += member;
        free(content.at);
    }
    return whole;
}

static void members_and_padding(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {1, 400, 700000}, most[] = {1000, 70000, 1 << 19};
    for (size_t s = 0; s < 3; s++) {
        struct bytes file, whole = make_file(sizes[s], &file);
        struct outcome o;
        for (size_t m = 0; m < 3; m++)
            assert_all_agree(file, most[m], whole);
        read_bytes(NULL, file, false, 70000, &o);
        assert_int_equal(o.content.n, whole.n);
        assert_memory_equal(o.content.at, whole.at, whole.n);
        assert_false(ta_quality_reaches(&o.quality, TA_QUALITY_INFO));
        outcome_free(&o);
        free(file.at);
        free(whole.at);
    }
}

static void every_cut(void **unused)
{
    (void)unused;
    struct bytes file, whole = make_file(600, &file);
    for (size_t n = 2; n <= file.n; n++)
        assert_all_agree((struct bytes){file.at, n}, 250, whole);
    free(file.at);
    free(whole.at);
}

static void every_byte_wrong(void **unused)
{
    (void)unused;
    struct bytes file, whole = make_file(300, &file);
    uint64_t seed = 5;
    for (size_t at = 2; at < file.n; at++) {
        const unsigned char right = file.at[at];
        for (int bit = 0; bit < 10; bit++) {
            /* Each bit wrong, then two bytes that are wrong altogether. */
            const uint64_t wrong = bit < 8 ? right ^ UINT64_C(1) << bit : next_random(&seed);
            file.at[at] = (unsigned char)(wrong & 0xff);
            assert_all_agree(file, 70000, whole);
        }
        file.at[at] = right;
    }
    free(file.at);
    free(whole.at);
}

/* Where the damage lies deep in a large member, most of it is out before it shows. */
static void damage_in_large_members(void **unused)
{
    (void)unused;
    struct bytes content = make_content(3000000, 41), file = {0};
    add_stream(&file, content, 2, 31);
    uint64_t seed = 17;
    for (int i = 0; i < 60; i++) {
        struct outcome strict, o;
        const size_t at = 20 + random_below(&seed, file.n - 20), n = i % 4 ? file.n : at;
        const unsigned char right = file.at[at];
        file.at[at] = (unsigned char)next_random(&seed);
        read_bytes("zlib", (struct bytes){file.at, n}, false, 100000, &strict);
        for (const struct ta_inflater *const *f = ta_inflaters; *f; f++) {
            read_bytes((*f)->name, (struct bytes){file.at, n}, false, 100000, &o);
            /* More came out only where a block broke the rules without being cut short. */
            assert_true(o.content.n >= strict.content.n);
            assert_memory_equal(o.content.at, strict.content.at, strict.content.n);
            for (int code = 0; code < TA_Q_COUNT; code++)
                assert_int_equal(o.quality.slots[code].count, strict.quality.slots[code].count);
            assert_int_equal(o.early, strict.early);
            outcome_free(&o);
        }
        outcome_free(&strict);
        file.at[at] = right;
    }
    free(file.at);
    free(content.at);
}

/* A pipe cannot be read again; no damage is silent all the same. */
static void damage_in_pipes(void **unused)
{
    (void)unused;
    struct bytes content = make_content(300, 23), file = {0};
    add_stream(&file, content, 2, 31);
    for (const struct ta_inflater *const *f = ta_inflaters; *f; f++) {
        for (size_t at = 10; at < file.n; at++) {
            for (int bit = 0; bit < 9; bit++) {
                struct outcome o;
                if (bit < 8)
                    file.at[at] ^= (unsigned char)(1 << bit);
                read_bytes((*f)->name, (struct bytes){file.at, bit < 8 ? file.n : at}, true, 1000,
                           &o);
                const bool whole =
                    o.content.n == content.n && memcmp(o.content.at, content.at, content.n) == 0;
                assert_true(whole || ta_quality_reaches(&o.quality, TA_QUALITY_LOSS));
                outcome_free(&o);
                if (bit < 8)
                    file.at[at] ^= (unsigned char)(1 << bit);
            }
        }
    }
    free(file.at);
    free(content.at);
}

static void an_inflater_that_is_not_there(void **unused)
{
    (void)unused;
    struct ta_shared shared;
    struct ta_ctx ctx;
    struct ta_quality quality;
    ta_shared_init(&shared);
    ta_ctx_init(&ctx, &shared);
    ta_quality_init(&quality);
    shared.inflater = "zip";
    const int fd = file_of((struct bytes){(unsigned char *)"{}", 2}, false);
    assert_null(ta_reader_open(&ctx, NULL, fd, &quality));
    assert_int_equal(ta_ctx_status(&ctx), TA_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_of_all_kinds_in_pieces),
        cmocka_unit_test(names),
        cmocka_unit_test(members_and_padding),
        cmocka_unit_test(every_cut),
        cmocka_unit_test(every_byte_wrong),
        cmocka_unit_test(damage_in_large_members),
        cmocka_unit_test(damage_in_pipes),
        cmocka_unit_test(an_inflater_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
