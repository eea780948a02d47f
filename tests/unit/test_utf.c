/* SPDX-License-Identifier: GPL-3.0-or-later */
/* UTF-8 by its definition, and UTF-16 to UTF-8 across any block borders. */
#include "base/utf8.h"

#include "read/reader.h"
#include "read/utf16.h"
#include "trace_fixture.h"

#include <stdio.h>

/* ---- UTF-8 ---------------------------------------------------------------------------- */

static bool is_scalar(uint32_t code)
{
    return code < 0xd800 || (code > 0xdfff && code <= 0x10ffff);
}

/* The table of RFC 3629, section 4, written out. */
static size_t length_by_table(const unsigned char *s, size_t size)
{
    static const struct {
        unsigned char lead_low, lead_high, low, high;
        size_t n;
    } rows[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t r = 0; size && r < sizeof rows / sizeof *rows; r++) {
        if (s[0] < rows[r].lead_low || s[0] > rows[r].lead_high || rows[r].n > size)
            continue;
        bool good = rows[r].n == 1 || (s[1] >= rows[r].low && s[1] <= rows[r].high);
        for (size_t i = 2; i < rows[r].n; i++)
            good &= s[i] >= 0x80 && s[i] <= 0xbf;
        return good ? rows[r].n : 0;
    }
    return 0;
}

static void every_code_point_comes_back(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        char bytes[4];
        const size_t n = ta_utf8_encode(code, bytes);
        assert_int_equal(n, code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
        assert_int_equal(ta_utf8_length(bytes, n), is_scalar(code) ? n : 0);
        if (is_scalar(code))
            assert_int_equal(ta_utf8_decode(bytes, n), code);
        for (size_t cut = 0; cut < n; cut++)
            assert_int_equal(ta_utf8_length(bytes, cut), 0);
    }
}

/* All pairs of first bytes, with good and bad continuations behind them. */
static void every_lead_byte_as_the_table_says(void **state)
{
    (void)state;
    static const unsigned char edges[] = {0x00, 0x41, 0x7f, 0x80, 0xbf, 0xc0, 0xff};
    for (unsigned first = 0; first < 256; first++)
        for (unsigned second = 0; second < 256; second++)
            for (size_t third = 0; third < sizeof edges; third++)
                for (size_t fourth = 0; fourth < sizeof edges; fourth++) {
                    const unsigned char s[4] = {(unsigned char)first, (unsigned char)second,
                                                edges[third], edges[fourth]};
                    for (size_t size = 0; size <= 4; size++)
                        if (ta_utf8_length((const char *)s, size) != length_by_table(s, size))
                            fail_msg("%02x %02x %02x %02x of %zu bytes", s[0], s[1], s[2], s[3],
                                     size);
                }
}

static void the_longest_valid_prefix(void **state)
{
    (void)state;
    char text[40];
    for (size_t bad = 0; bad < sizeof text; bad++) {
        memset(text, 'a', sizeof text);
        assert_int_equal(ta_utf8_valid(text, bad), bad);
        text[bad] = (char)0xff;
        assert_int_equal(ta_utf8_valid(text, sizeof text), bad);
        if (bad + 1 == sizeof text)
            continue;
        memcpy(text + bad, "\xc3\xa9", 2);
        assert_int_equal(ta_utf8_valid(text, sizeof text), sizeof text);
        assert_int_equal(ta_utf8_valid(text, bad + 1), bad);
    }
    assert_int_equal(ta_utf8_valid("", 0), 0);
}

/* ---- UTF-16 --------------------------------------------------------------------------- */

struct example {
    const char *big; /* UTF-16, big endian */
    size_t size;
    const char *utf8; /* a byte FF for each lone surrogate */
    bool is_cut;      /* ends within a character */
};

#define BIG(bytes) bytes, sizeof(bytes) - 1

static const struct example examples[] = {
    {BIG(""), "", false},
    {BIG("\0a\0b"), "ab", false},
    {BIG("\0\xe9\x6f\x22"), "\u00e9\u6f22", false},
    {BIG("\xd8\x3d\xdd\x25"), "\U0001f525", false},
    {BIG("\xd8\0\xdc\0\xdb\xff\xdf\xff"), "\U00010000\U0010ffff", false},
    {BIG("\xd8\x3d\0a"),
     "\xff"
     "a",
     false}, /* high alone */
    {BIG("\xdd\x25\0a"),
     "\xff"
     "a",
     false},                                                    /* low alone */
    {BIG("\xd8\x3d\xd8\x3d\xdd\x25"), "\xff\U0001f525", false}, /* high twice */
    {BIG("\xd8\x3d\xdd\x25\xdd\x25"), "\U0001f525\xff", false}, /* low twice */
    {BIG("\0a\xd8\x3d"), "a", true},                            /* ends in a pair */
    {BIG("\0a\0"), "a", true},                                  /* ends in a unit */
    {BIG("\xd8\x3d\xdd"), "", true},                            /* in both */
    {BIG("\xff\xff\xfe\xff"), "\uffff\ufeff", false},
};

static void assert_converted(const struct example *e, bool little, size_t block)
{
    char swapped[64], out[256];
    for (size_t i = 0; i < e->size; i++)
        swapped[i] = e->big[little && (i ^ 1) < e->size ? i ^ 1 : i];
    /* An odd byte at the end is the first of its unit in either order. */
    struct ta_utf16 utf16 = {.order = TA_UTF16_OFF};
    assert_true(ta_utf16_detect(&utf16, little ? "\xff\xfe" : "\xfe\xff", 2));
    size_t n = 0;
    for (size_t at = 0; at < e->size; at += block) {
        const size_t size = e->size - at < block ? e->size - at : block;
        const size_t got = ta_utf16_convert(&utf16, swapped + at, size, out + n);
        assert_true(got <= size / 2 * 3 + 6);
        n += got;
    }
    assert_int_equal(ta_utf16_end(&utf16), e->is_cut);
    assert_false(ta_utf16_end(&utf16));
    assert_int_equal(n, strlen(e->utf8));
    assert_memory_equal(out, e->utf8, n);
}

static void both_orders_in_blocks_of_any_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        for (size_t block = 1; block <= 9; block++) {
            assert_converted(&examples[i], false, block);
            assert_converted(&examples[i], true, block);
        }
}

static void only_marks_of_utf16_are_marks(void **state)
{
    (void)state;
    struct ta_utf16 utf16 = {.order = TA_UTF16_OFF};
    assert_false(ta_utf16_detect(&utf16, "\xff", 1));
    assert_false(ta_utf16_detect(&utf16, "", 0));
    assert_false(ta_utf16_detect(&utf16, "{\0", 2));
    assert_false(ta_utf16_detect(&utf16, "\xef\xbb\xbf", 3));
    assert_false(ta_utf16_active(&utf16));
}

/* ---- through a reader ------------------------------------------------------------------ */

static void add_unit(struct text *utf16, uint32_t unit)
{
    const char bytes[2] = {(char)(unit & 0xff), (char)(unit >> 8)};
    text_put(utf16, bytes, 2);
}

/* The same random text in UTF-16 and UTF-8, lone surrogates and all. */
static void make_texts(struct rng *rng, size_t units, struct text *utf16, struct text *utf8)
{
    add_unit(utf16, 0xfeff);
    for (size_t i = 0; i < units; i++) {
        static const uint32_t codes[] = {'a', '"', 0xe9, 0x6f22, 0xfffd, 0x1f525, 0xd83d, 0xdd25};
        uint32_t code = codes[rng_below(rng, 8)];
        char bytes[4];
        if (code > 0xffff) {
            add_unit(utf16, 0xd800 + ((code - 0x10000) >> 10));
            add_unit(utf16, 0xdc00 + ((code - 0x10000) & 0x3ff));
        } else {
            add_unit(utf16, code);
        }
        if (code == 0xd83d) { /* never before a low one by chance */
            add_unit(utf16, 'x');
            text_put(utf8, "\xffx", 2);
            continue;
        }
        if (code == 0xdd25)
            text_put(utf8, "\xff", 1);
        else
            text_put(utf8, bytes, ta_utf8_encode(code, bytes));
    }
}

/* Callers ask for as little as they like, down to less than a character. */
static void a_reader_gives_any_number_of_bytes(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 4, 5, 7, 64, 4096, 1 << 20};
    struct rng rng = {17};
    struct text utf16 = {0}, utf8 = {0};
    make_texts(&rng, 60000, &utf16, &utf8); /* more than the probe holds */
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct ta_quality quality;
        ta_quality_init(&quality);
        struct ta_reader *reader =
            ta_reader_open(&fixture.ctx, NULL, fixture_memory(utf16.at, utf16.n), &quality);
        assert_non_null(reader);
        assert_finding(&quality, TA_Q_UTF16, 1, 0);
        char *block = malloc(sizes[s]);
        assert_non_null(block);
        size_t n = 0, got;
        while ((got = ta_reader_read(reader, block, sizes[s]))) {
            assert_true(got <= sizes[s] && n + got <= utf8.n);
            assert_memory_equal(block, utf8.at + n, got);
            n += got;
        }
        assert_int_equal(n, utf8.n);
        assert_false(ta_reader_ended_early(reader));
        assert_int_equal(ta_reader_raw_bytes(reader), utf16.n);
        free(block);
        ta_reader_close(reader);
        ta_quality_free(&quality);
    }
    text_free(&utf16);
    text_free(&utf8);
}

static void a_mark_of_utf8_is_no_content(void **state)
{
    (void)state;
    struct ta_quality quality;
    ta_quality_init(&quality);
    struct ta_reader *reader =
        ta_reader_open(&fixture.ctx, NULL, fixture_memory("\xef\xbb\xbf{}", 5), &quality);
    assert_non_null(reader);
    const struct ta_probe probe = ta_reader_probe(reader);
    assert_true(ta_slice_equal(probe.head, TA_LIT("{}")));
    assert_true(probe.whole);
    char block[8];
    assert_int_equal(ta_reader_read(reader, block, sizeof block), 2);
    assert_memory_equal(block, "{}", 2);
    assert_int_equal(ta_reader_read(reader, block, sizeof block), 0);
    assert_no_finding(&quality);
    ta_reader_close(reader);
    ta_quality_free(&quality);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_comes_back),
        cmocka_unit_test(every_lead_byte_as_the_table_says),
        cmocka_unit_test(the_longest_valid_prefix),
        cmocka_unit_test(both_orders_in_blocks_of_any_size),
        cmocka_unit_test(only_marks_of_utf16_are_marks),
        cmocka_unit_test(a_reader_gives_any_number_of_bytes),
        cmocka_unit_test(a_mark_of_utf8_is_no_content),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
