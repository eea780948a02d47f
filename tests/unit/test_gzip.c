/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gzip members, what may stand around them, and damage at every byte. */
#include "base/quality.h"
#include "read/reader.h"

#include "trace_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <zlib.h>

/* ---- making members -------------------------------------------------------------------- */

enum { FTEXT = 1, HCRC = 2, EXTRA = 4, NAME = 8, COMMENT = 16 };

/* A member with the header fields that `flags` asks for. */
static void add_member(struct text *out, const char *content, size_t size, int flags)
{
    size_t gz_size;
    unsigned char *gz = fixture_gzip(content, size, &gz_size);
    const size_t start = out->n;
    text_put(out, gz, 10);
    out->at[start + 3] = (char)flags;
    if (flags & EXTRA)
        text_put(out,
                 "\x05\x00"
                 "ab\x01\x00\x1f",
                 7);
    if (flags & NAME)
        text_put(out, "rank0.json", 11);
    if (flags & COMMENT)
        text_put(out, "made by nobody\xff", 16);
    if (flags & HCRC) {
        const uint32_t crc =
            (uint32_t)crc32(0, (const unsigned char *)out->at + start, (unsigned)(out->n - start));
        const char word[2] = {(char)(crc & 0xff), (char)(crc >> 8 & 0xff)};
        text_put(out, word, 2);
    }
    text_put(out, gz + 10, gz_size - 10);
    free(gz);
}

/* What a reader gives of these bytes. */
struct content {
    struct text text;
    struct ta_quality quality;
    bool early;
    uint64_t bytes, raw_bytes;
};

static void read_in_steps(const void *bytes, size_t size, size_t step, struct content *content)
{
    *content = (struct content){.early = false};
    ta_quality_init(&content->quality);
    struct ta_reader *reader =
        ta_reader_open(&fixture.ctx, NULL, fixture_memory(bytes, size), &content->quality);
    assert_non_null(reader);
    char *block = malloc(step);
    assert_non_null(block);
    size_t got;
    while ((got = ta_reader_read(reader, block, step)))
        text_put(&content->text, block, got);
    assert_int_equal(ta_reader_read(reader, block, step), 0);
    free(block);
    content->early = ta_reader_ended_early(reader);
    content->bytes = ta_reader_bytes(reader);
    content->raw_bytes = ta_reader_raw_bytes(reader);
    ta_reader_close(reader);
}

static void read_content(const void *bytes, size_t size, struct content *content)
{
    read_in_steps(bytes, size, 1000, content);
}

static void content_free(struct content *content)
{
    text_free(&content->text);
    ta_quality_free(&content->quality);
}

static void assert_content(const struct content *content, const void *bytes, size_t size)
{
    assert_int_equal(content->text.n, size);
    if (size)
        assert_memory_equal(content->text.at, bytes, size);
    assert_int_equal(content->raw_bytes, size);
}

static uint64_t file_offset(const struct content *content, enum ta_quality_code code)
{
    return content->quality.slots[code].file_offset;
}

/* ---- whole files ------------------------------------------------------------------------ */

static void header_fields_are_skipped(void **state)
{
    (void)state;
    for (int flags = 0; flags < 32; flags++) {
        struct text gz = {0};
        struct content content;
        add_member(&gz, "{\"a\": 1}", 8, flags);
        read_content(gz.at, gz.n, &content);
        assert_content(&content, "{\"a\": 1}", 8);
        assert_no_finding(&content.quality);
        assert_false(content.early);
        assert_int_equal(content.bytes, gz.n);
        content_free(&content);
        text_free(&gz);
    }
}

static void members_are_joined(void **state)
{
    (void)state;
    struct text gz = {0};
    struct content content;
    add_member(&gz, "one ", 4, 0);
    add_member(&gz, "", 0, 0); /* some writers end with an empty one */
    add_member(&gz, "two ", 4, NAME);
    add_member(&gz, "three", 5, EXTRA | COMMENT);
    read_content(gz.at, gz.n, &content);
    assert_content(&content, "one two three", 13);
    assert_no_finding(&content.quality);
    content_free(&content);
    text_free(&gz);
}

static void zeros_between_and_behind_members_are_padding(void **state)
{
    (void)state;
    char zeros[700] = {0};
    struct text gz = {0};
    struct content content;
    add_member(&gz, "one ", 4, 0);
    text_put(&gz, zeros, 512);
    add_member(&gz, "two", 3, 0);
    text_put(&gz, zeros, sizeof zeros);
    read_content(gz.at, gz.n, &content);
    assert_content(&content, "one two", 7);
    assert_no_finding(&content.quality);
    assert_false(content.early);
    content_free(&content);
    text_free(&gz);
}

static void an_empty_member_is_empty(void **state)
{
    (void)state;
    struct text gz = {0};
    struct content content;
    add_member(&gz, "", 0, 0);
    read_content(gz.at, gz.n, &content);
    assert_content(&content, "", 0);
    assert_no_finding(&content.quality);
    content_free(&content);
    text_free(&gz);
}

/* More than any buffer on the way holds. */
static void large_content(void **state)
{
    (void)state;
    enum { SIZE = 3000000 };
    struct rng rng = {8};
    char *bytes = malloc(SIZE);
    assert_non_null(bytes);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)(i % 1000 < 500 ? rng_next(&rng) & 0xff : 'a');
    struct text gz = {0};
    struct content content;
    for (size_t at = 0; at < SIZE; at += SIZE / 3)
        add_member(&gz, bytes + at, SIZE / 3, 0);
    read_content(gz.at, gz.n, &content);
    assert_content(&content, bytes, SIZE);
    assert_no_finding(&content.quality);
    assert_int_equal(content.bytes, gz.n);
    content_free(&content);
    text_free(&gz);
    free(bytes);
}

/* ---- damage ----------------------------------------------------------------------------- */

static void trailing_bytes(void **state)
{
    (void)state;
    static const char *const tails[] = {"garbage", "\x1f", "\x1fxx", "\x8b\x1f"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        struct text gz = {0};
        struct content content;
        add_member(&gz, "content", 7, 0);
        const size_t end = gz.n;
        text_put(&gz, tails[i], strlen(tails[i]));
        read_content(gz.at, gz.n, &content);
        assert_content(&content, "content", 7);
        assert_finding(&content.quality, TA_Q_GZIP_TRAILING, 1, TA_NO_OFFSET);
        assert_int_equal(file_offset(&content, TA_Q_GZIP_TRAILING), end);
        assert_no_finding_but(&content.quality, TA_Q_GZIP_TRAILING);
        assert_false(content.early); /* all of the content is there */
        content_free(&content);
        text_free(&gz);
    }
}

static void wrong_checksum_and_length(void **state)
{
    (void)state;
    for (size_t at = 1; at <= 8; at++) {
        struct text gz = {0};
        struct content content;
        add_member(&gz, "first ", 6, 0);
        const size_t end = gz.n;
        gz.at[end - at] ^= 0x10;
        add_member(&gz, "second", 6, 0);
        read_content(gz.at, gz.n, &content);
        assert_content(&content, "first second", 12);
        assert_finding(&content.quality, TA_Q_GZIP_CHECKSUM, 1, TA_NO_OFFSET);
        assert_int_equal(file_offset(&content, TA_Q_GZIP_CHECKSUM), end);
        assert_non_null(
            strstr(content.quality.slots[TA_Q_GZIP_CHECKSUM].text, at > 4 ? "checksum" : "length"));
        assert_no_finding_but(&content.quality, TA_Q_GZIP_CHECKSUM);
        content_free(&content);
        text_free(&gz);
    }
}

static void corrupt_data(void **state)
{
    (void)state;
    struct text gz = {0};
    struct content content;
    add_member(&gz, "whole ", 6, 0);
    const size_t end = gz.n;
    add_member(&gz, "lost", 4, 0);
    gz.at[end + 10] = (char)0xff; /* a block of a type that does not exist */
    read_content(gz.at, gz.n, &content);
    assert_content(&content, "whole ", 6);
    assert_finding(&content.quality, TA_Q_GZIP_CORRUPT, 1, TA_NO_OFFSET);
    assert_true(file_offset(&content, TA_Q_GZIP_CORRUPT) > end + 10 &&
                file_offset(&content, TA_Q_GZIP_CORRUPT) <= gz.n);
    assert_no_finding_but(&content.quality, TA_Q_GZIP_CORRUPT);
    assert_true(content.early);
    content_free(&content);
    text_free(&gz);
}

/* RFC 1952 knows one method and five flags; what else a header says would be read wrongly. */
static void headers_of_unknown_meaning(void **state)
{
    (void)state;
    enum { METHOD_AT = 2, FLAGS_AT = 3 };
    static const struct {
        size_t at;
        unsigned char byte;
        const char *says;
    } headers[] = {
        {METHOD_AT, 0, "compression method 0x00"},
        {METHOD_AT, 7, "compression method 0x07"},
        {METHOD_AT, 9, "compression method 0x09"},
        {METHOD_AT, 0xff, "compression method 0xff"},
        {FLAGS_AT, 0x20, "flags 0x20"},
        {FLAGS_AT, 0x40, "flags 0x40"},
        {FLAGS_AT, 0x80 | NAME, "flags 0x88"},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        for (int member = 0; member < 3; member++) {
            struct text gz = {0};
            struct content content;
            size_t start = 0;
            for (int m = 0; m < 3; m++) {
                start = m == member ? gz.n : start;
                add_member(&gz, "content", 7, 0);
            }
            gz.at[start + headers[i].at] = (char)headers[i].byte;
            read_content(gz.at, gz.n, &content);
            assert_content(&content, "contentcontent", 7 * (size_t)member);
            assert_finding(&content.quality, TA_Q_GZIP_CORRUPT, 1, TA_NO_OFFSET);
            assert_int_equal(file_offset(&content, TA_Q_GZIP_CORRUPT), start + headers[i].at);
            assert_non_null(strstr(content.quality.slots[TA_Q_GZIP_CORRUPT].text, headers[i].says));
            assert_no_finding_but(&content.quality, TA_Q_GZIP_CORRUPT);
            assert_true(content.early);
            content_free(&content);
            text_free(&gz);
        }
    }
}

/* A file that is cut gives the content before the cut, and says so: at the borders of members it
 * is whole, and of a member's first byte alone nothing is known. */
static void every_cut(void **state)
{
    (void)state;
    struct text gz = {0}, whole = {0};
    size_t ends[3];
    for (int m = 0; m < 3; m++) {
        char content[400];
        for (size_t i = 0; i < sizeof content; i++)
            content[i] = (char)('a' + (i * i + (size_t)m) % 23);
        text_put(&whole, content, sizeof content);
        add_member(&gz, content, sizeof content, m == 1 ? HCRC | EXTRA | NAME | COMMENT : 0);
        ends[m] = gz.n;
    }
    size_t before = 0;
    for (size_t cut = 2; cut <= gz.n; cut++) {
        struct content content;
        read_content(gz.at, cut, &content);
        const bool border = cut == ends[0] || cut == ends[1] || cut == ends[2];
        const bool one_byte = cut == ends[0] + 1 || cut == ends[1] + 1;
        assert_true(content.text.n >= before && content.text.n <= whole.n);
        before = content.text.n;
        if (before)
            assert_memory_equal(content.text.at, whole.at, before);
        for (size_t m = 0; m < 3; m++)
            if (cut >= ends[m])
                assert_true(before >= (m + 1) * 400);
        const enum ta_quality_code code = one_byte ? TA_Q_GZIP_TRAILING : TA_Q_GZIP_TRUNCATED;
        assert_finding(&content.quality, code, !border, TA_NO_OFFSET);
        if (!border && !one_byte)
            assert_int_equal(file_offset(&content, TA_Q_GZIP_TRUNCATED), cut);
        assert_no_finding_but(&content.quality, code);
        assert_int_equal(content.early, !border && !one_byte);
        content_free(&content);
    }
    assert_int_equal(before, whole.n);
    text_free(&gz);
    text_free(&whole);
}

/* Whatever byte is wrong: the content is the right one, or something was said. */
static void every_byte_wrong(void **state)
{
    (void)state;
    struct text gz = {0};
    char whole[300];
    for (size_t i = 0; i < sizeof whole; i++)
        whole[i] = (char)(i % 7 ? 'x' : 'a' + i % 19);
    add_member(&gz, whole, sizeof whole, NAME);
    for (size_t at = 2; at < gz.n; at++) {
        for (int bit = 0; bit < 8; bit++) {
            struct content content;
            gz.at[at] = (char)(gz.at[at] ^ 1 << bit);
            read_content(gz.at, gz.n, &content);
            const bool same =
                content.text.n == sizeof whole && memcmp(content.text.at, whole, sizeof whole) == 0;
            if (!same && !ta_quality_reaches(&content.quality, TA_QUALITY_LOSS))
                fail_msg("bit %d of byte %zu changes the content silently", bit, at);
            gz.at[at] = (char)(gz.at[at] ^ 1 << bit);
            content_free(&content);
        }
    }
    text_free(&gz);
}

/* A find of the fuzzer: ISA-L goes on behind the damage and stumbles later, and how much of that
 * was handed out depended on how much was asked for at a time. */
static void damage_is_the_same_in_any_steps(void **state)
{
    (void)state;
    static const size_t steps[] = {37, 5000, 65536, 300000};
    struct content first, other;
    static char gz[16384];
    FILE *file = fopen(TA_FUZZ_FINDS "/gzip-steps.gz", "rb");
    assert_non_null(file);
    const size_t size = fread(gz, 1, sizeof gz, file);
    fclose(file);
    read_in_steps(gz, size, steps[0], &first);
    assert_int_equal(ta_quality_count(&first.quality, TA_Q_GZIP_CORRUPT), 1);
    for (size_t i = 1; i < sizeof steps / sizeof *steps; i++) {
        read_in_steps(gz, size, steps[i], &other);
        assert_content(&other, first.text.at, first.text.n);
        assert_int_equal(other.early, first.early);
        content_free(&other);
    }
    content_free(&first);
}

/* ---- limits ----------------------------------------------------------------------------- */

static void a_bomb_is_stopped(void **state)
{
    (void)state;
    enum { MIB = 70 };
    struct text gz = {0};
    z_stream z = {0};
    static unsigned char block[1 << 20], out[1 << 16];
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
    for (int i = 0; i <= MIB; i++) {
        z.next_in = block;
        z.avail_in = i < MIB ? sizeof block : 0;
        do {
            z.next_out = out;
            z.avail_out = sizeof out;
            deflate(&z, i < MIB ? Z_NO_FLUSH : Z_FINISH);
            text_put(&gz, out, sizeof out - z.avail_out);
        } while (z.avail_out == 0);
    }
    deflateEnd(&z);
    struct ta_quality quality;
    ta_quality_init(&quality);
    struct ta_reader *reader =
        ta_reader_open(&fixture.ctx, NULL, fixture_memory(gz.at, gz.n), &quality);
    assert_non_null(reader);
    while (ta_reader_read(reader, (char *)block, sizeof block))
        ;
    const uint64_t stopped = ta_reader_raw_bytes(reader);
    assert_true(stopped > UINT64_C(64) << 20 && stopped < UINT64_C(66) << 20);
    assert_finding(&quality, TA_Q_LIMIT, 1, stopped);
    assert_non_null(strstr(quality.slots[TA_Q_LIMIT].text, "\"ratio\""));
    assert_true(ta_reader_ended_early(reader));
    ta_reader_close(reader);
    ta_quality_free(&quality);
    text_free(&gz);
}

static void the_limit_of_expanded_bytes(void **state)
{
    (void)state;
    enum { SIZE = 300000, LIMIT = 100000 };
    char *bytes = malloc(SIZE);
    assert_non_null(bytes);
    memset(bytes, 'x', SIZE);
    const uint64_t before = fixture.shared.limits[TA_LIMIT_EXPANDED];
    fixture.shared.limits[TA_LIMIT_EXPANDED] = LIMIT;
    struct content content;
    read_content(bytes, SIZE, &content);
    fixture.shared.limits[TA_LIMIT_EXPANDED] = before;
    assert_true(content.text.n >= LIMIT && content.text.n < SIZE);
    assert_finding(&content.quality, TA_Q_LIMIT, 1, content.text.n);
    assert_non_null(strstr(content.quality.slots[TA_Q_LIMIT].text, "\"expanded\""));
    assert_true(content.early);
    content_free(&content);
    free(bytes);
}

/* ---- what is opened ------------------------------------------------------------------------ */

static void assert_refused(const char *path, const char *what)
{
    struct ta_quality quality;
    ta_quality_init(&quality);
    assert_null(ta_reader_open(&fixture.ctx, path, -1, &quality));
    assert_int_equal(fixture.ctx.status, TA_ERR_INPUT);
    if (!strstr(ta_ctx_causes(&fixture.ctx), what))
        fail_msg("%s: %s", path, ta_ctx_causes(&fixture.ctx));
    assert_no_finding(&quality);
    ta_quality_free(&quality);
}

/* Files are read; what would block or never end is not, and says what it is. */
static void only_files_are_opened(void **state)
{
    (void)state;
    char folder[64], path[128];
    fixture_folder(folder);
    assert_refused(folder, "a folder");
    assert_refused("/dev/zero", "a device");
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(path, "a named pipe"); /* without waiting for a writer */
    snprintf(path, sizeof path, "%s/none", folder);
    assert_refused(path, "No such file");
    fixture_write(path, "{}", 2);
    struct ta_quality quality;
    ta_quality_init(&quality);
    struct ta_reader *reader = ta_reader_open(&fixture.ctx, path, -1, &quality);
    assert_non_null(reader);
    char block[8];
    assert_int_equal(ta_reader_read(reader, block, sizeof block), 2);
    ta_reader_close(reader);
    ta_quality_free(&quality);
    fixture_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_fields_are_skipped),
        cmocka_unit_test(members_are_joined),
        cmocka_unit_test(zeros_between_and_behind_members_are_padding),
        cmocka_unit_test(an_empty_member_is_empty),
        cmocka_unit_test(large_content),
        cmocka_unit_test(trailing_bytes),
        cmocka_unit_test(wrong_checksum_and_length),
        cmocka_unit_test(corrupt_data),
        cmocka_unit_test(headers_of_unknown_meaning),
        cmocka_unit_test(every_cut),
        cmocka_unit_test(every_byte_wrong),
        cmocka_unit_test(damage_is_the_same_in_any_steps),
        cmocka_unit_test(a_bomb_is_stopped),
        cmocka_unit_test(the_limit_of_expanded_bytes),
        cmocka_unit_test(only_files_are_opened),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
