/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Documents as trees: numbers keep their text, damage costs what is damaged, all is accounted. */
#include "base/convert.h"
#include "base/quality.h"
#include "traceanalyze/document.h"

#include "read/reader.h"
#include "trace_fixture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

struct document {
    struct ta_shared shared;
    struct ta_ctx ctx;
    struct ta_quality quality;
    struct ta_builder builder; /* counts what is lost */
    json_t *root;
};

static void read_bytes(struct document *d, const void *bytes, size_t size)
{
    ta_shared_init(&d->shared);
    ta_ctx_init(&d->ctx, &d->shared);
    ta_quality_init(&d->quality);
    d->builder = (struct ta_builder){.dropped = 0};
    struct ta_reader *reader =
        ta_reader_open(&d->ctx, NULL, fixture_memory(bytes, size), &d->quality);
    assert_non_null(reader);
    d->root = ta_document_read(&d->ctx, reader, &d->builder);
    ta_reader_close(reader);
}

static void read_text(struct document *d, const char *text)
{
    read_bytes(d, text, strlen(text));
}

static void end(struct document *d)
{
    json_decref(d->root);
    ta_quality_free(&d->quality);
}

static const json_t *member(const struct document *d, const char *key)
{
    return json_object_get(d->root, key);
}

static void assert_slice(struct ta_slice text, const char *expected)
{
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.ptr, expected, text.len);
}

static void assert_shown(const json_t *value, const char *expected)
{
    char buffer[256];
    assert_slice(ta_document_show(value, buffer, sizeof buffer), expected);
}

/* ---- values -------------------------------------------------------------------------------- */

static void test_numbers_keep_their_text(void **state)
{
    (void)state;
    struct document d;
    read_text(&d, "{\"f\": 0.1000000000000000055511151231257827, \"i\": -12, \"e\": 1.5E+3,"
                  " \"big\": 123456789012345678901234567890, \"s\": \"1.5\", \"t\": true,"
                  " \"n\": null, \"o\": {\"a\": [1, \"x\"]}}");
    assert_slice(ta_document_text(member(&d, "f")), "0.1000000000000000055511151231257827");
    assert_slice(ta_document_text(member(&d, "i")), "-12");
    assert_slice(ta_document_text(member(&d, "e")), "1.5E+3");
    assert_slice(ta_document_text(member(&d, "big")), "123456789012345678901234567890");
    assert_slice(ta_document_text(member(&d, "t")), "true");
    assert_null(ta_document_text(member(&d, "n")).ptr);
    assert_null(ta_document_text(member(&d, "none")).ptr);
    assert_true(ta_document_is_number(member(&d, "f")));
    assert_false(ta_document_is_text(member(&d, "f")));
    assert_false(ta_document_is_number(member(&d, "s")));
    assert_true(ta_document_is_text(member(&d, "s")));
    assert_int_equal(ta_document_decimal(member(&d, "f"), 9), 100000000);
    assert_int_equal(ta_document_integer(member(&d, "i")), -12);
    assert_int_equal(ta_document_integer(member(&d, "e")), 1500);
    assert_true(ta_document_integer(member(&d, "big")) == TA_MISSING);
    assert_true(ta_document_double(member(&d, "big")) == 123456789012345678901234567890.0);
    assert_true(ta_document_double(member(&d, "s")) == 1.5);
    assert_true(isnan(ta_document_double(member(&d, "t"))));
    assert_true(ta_document_integer(member(&d, "t")) == TA_MISSING);
    assert_shown(d.root, "{\"f\":0.1000000000000000055511151231257827,\"i\":-12,\"e\":1.5E+3,"
                         "\"big\":123456789012345678901234567890,\"s\":\"1.5\",\"t\":true,"
                         "\"n\":null,\"o\":{\"a\":[1,\"x\"]}}");
    assert_no_finding(&d.quality);
    end(&d);
}

/* The byte before numbers cannot begin a text, since it is no UTF-8. */
static void test_no_text_is_a_number(void **state)
{
    (void)state;
    struct document d;
    read_text(&d, "{\"a\": \"\xff"
                  "12\", \"b\": \"\\u00ff12\", \"c\": \"\"}");
    assert_slice(ta_document_text(member(&d, "a")), "\xef\xbf\xbd"
                                                    "12");
    assert_true(ta_document_is_text(member(&d, "a")));
    assert_true(ta_document_is_text(member(&d, "b")));
    assert_true(ta_document_is_text(member(&d, "c")));
    assert_true(ta_document_integer(member(&d, "a")) == TA_MISSING);
    assert_finding(&d.quality, TA_Q_TEXT_ENCODING, 1, 7);
    end(&d);
}

static void test_words_for_numbers_are_null(void **state)
{
    (void)state;
    struct document d;
    read_text(&d, "[NaN, Infinity, -Infinity, nan, inf, -inf, N/A, \"NaN\", 7]");
    for (size_t i = 0; i < 7; i++)
        assert_true(json_is_null(json_array_get(d.root, i)));
    assert_true(isnan(ta_document_double(json_array_get(d.root, 7))));
    assert_int_equal(ta_document_integer(json_array_get(d.root, 8)), 7);
    assert_finding(&d.quality, TA_Q_BAD_NUMBER, 7, 1);
    assert_non_null(strstr(d.quality.slots[TA_Q_BAD_NUMBER].text, "NaN, at byte offset 1;"));
    end(&d);
}

static void test_texts_are_made_sound(void **state)
{
    (void)state;
    struct document d;
    static const char text[] = "\xef\xbb\xbf{\"lone\": \"a\\ud800b\", \"pair\": \"\\ud83d\\ude00\","
                               " \"nul\": \"a\\u0000b\", \"control\": \"a\tb\", \"k\\u0000y\": 1}";
    read_bytes(&d, text, sizeof text - 1);
    assert_slice(ta_document_text(member(&d, "lone")), "a\xef\xbf\xbd"
                                                       "b");
    assert_slice(ta_document_text(member(&d, "pair")), "\xf0\x9f\x98\x80");
    assert_int_equal(ta_document_text(member(&d, "nul")).len, 3);
    assert_slice(ta_document_text(member(&d, "control")), "a\tb");
    assert_int_equal(ta_document_integer(member(&d, "k y")), 1);
    assert_int_equal(ta_quality_count(&d.quality, TA_Q_TEXT_ENCODING), 1);
    assert_int_equal(ta_quality_count(&d.quality, TA_Q_TEXT_CONTROL), 1);
    end(&d);
}

static void test_last_of_repeated_keys_wins(void **state)
{
    (void)state;
    struct document d;
    read_text(&d, "{\"a\": 1, \"b\": 2, \"a\": 3}");
    assert_int_equal(ta_document_integer(member(&d, "a")), 3);
    assert_finding(&d.quality, TA_Q_DUPLICATE_KEY, 1, 18);
    end(&d);
}

static void test_deep_values_are_skipped(void **state)
{
    (void)state;
    struct document d;
    struct text text = {0};
    text_add(&text, "{\"deep\": ");
    for (int i = 0; i < 100000; i++)
        text_add(&text, "[");
    for (int i = 0; i < 100000; i++)
        text_add(&text, "]");
    text_add(&text, ", \"after\": 1}");
    read_bytes(&d, text.at, text.n);
    assert_int_equal(ta_document_integer(member(&d, "after")), 1);
    assert_int_equal(ta_quality_count(&d.quality, TA_Q_TOO_DEEP), 1);
    end(&d);
    text_free(&text);
}

/* ---- damage -------------------------------------------------------------------------------- */

static void test_cut_document_keeps_what_is_whole(void **state)
{
    (void)state;
    struct document d;
    read_text(&d, "{\"a\": {\"x\": 1, \"rows\": [{\"r\": 1}, {\"r\": 2}, {\"r\": 3");
    assert_shown(d.root, "{\"a\":{\"x\":1,\"rows\":[{\"r\":1},{\"r\":2}]}}");
    assert_int_equal(ta_quality_count(&d.quality, TA_Q_TRUNCATED), 1);
    end(&d);
}

/* Wherever a document is cut, reading it ends, with rows of the whole one. */
static void test_every_prefix(void **state)
{
    (void)state;
    static const char whole[] = "[{\"a\": [1.5, \"\\u00e4\", true]}, {\"b\": {\"c\": -1e5}}, null]";
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        struct document d;
        read_bytes(&d, whole, n);
        if (d.root) {
            assert_in_range(json_array_size(d.root), 1, 3);
            assert_int_equal(ta_quality_count(&d.quality, TA_Q_TRUNCATED), 1);
            char buffer[200];
            const struct ta_slice first =
                ta_document_show(json_array_get(d.root, 0), buffer, sizeof buffer);
            assert_slice(first, "{\"a\":[1.5,\"\xc3\xa4\",true]}");
        } else {
            assert_int_equal(d.ctx.status, TA_ERR_INPUT);
        }
        end(&d);
    }
}

/* Reads a broken document and looks at what is left of it, where it was found broken, and how many
 * elements that cost. */
static void assert_left(const char *text, const char *left, uint64_t at, uint64_t lost)
{
    struct document d;
    read_text(&d, text);
    assert_non_null(d.root);
    assert_shown(d.root, left);
    assert_finding(&d.quality, TA_Q_SYNTAX, 1, at);
    assert_int_equal(d.builder.dropped, lost);
    end(&d);
}

static void test_a_broken_member_costs_itself(void **state)
{
    (void)state;
    assert_left("{\"a\": [1, 2], \"b\": tensor(0.75), \"c\": 3}", "{\"a\":[1,2],\"c\":3}", 19, 0);
    assert_left("{\"a\": 12,5, \"b\": 2}", "{\"b\":2}", 9, 0);
    assert_left("{\"a\": {\"x\": 0.-05, \"y\": 1}, \"b\": 2}", "{\"a\":{\"y\":1},\"b\":2}", 14, 0);
    assert_left("{\"a\" {\"x\": 1}, \"b\": 2}", "{\"b\":2}", 5, 0);
    assert_left("{\"a\": {\"x\": 1}}, \"b\": 2}", "{\"a\":{\"x\":1},\"b\":2}", 15, 0);
    assert_left("{\"a\": {\"x\": 1}, \"b\": ?}", "{\"a\":{\"x\":1}}", 21, 0);
}

static void test_a_broken_element_costs_itself(void **state)
{
    (void)state;
    assert_left("[{\"a\": 1}, {\"a\": 2,5}, {\"a\": 3}]", "[{\"a\":1},{\"a\":3}]", 19, 1);
    assert_left("[{\"a\": 1}, {\"a\" 2}]", "[{\"a\":1}]", 16, 1);
    assert_left("[{\"a\": 1}x, {\"a\": 2}]", "[{\"a\":1},{\"a\":2}]", 9, 0);
    assert_left("[1, 0.-05, 3]", "[1,3]", 6, 1);
    assert_left("[{\"r\": [{\"b\": 1}, {\"b\": ?}, {\"b\": 3}]}, {\"r\": []}]",
                "[{\"r\":[{\"b\":1},{\"b\":3}]},{\"r\":[]}]", 24, 1);
    /* A record that is wrong in one place may be wrong in others. */
    assert_left("{\"e\": [{\"n\": \"x\", \"d\": {\"k\": 1, \"m\": .5}}, {\"n\": \"y\"}], \"z\": 1}",
                "{\"e\":[{\"n\":\"y\"}],\"z\":1}", 37, 1);
}

static void test_a_lost_comma_costs_nothing(void **state)
{
    (void)state;
    struct document d;
    read_text(&d, "{\"a\": [{\"x\": 1} {\"x\": 2}]\n \"b\": 3}");
    assert_shown(d.root, "{\"a\":[{\"x\":1},{\"x\":2}],\"b\":3}");
    assert_no_finding_but(&d.quality, TA_Q_COMMA);
    end(&d);
}

/* Quotes and brackets that are damaged, where each item has its line. */
static void test_lines_tell_where_items_begin(void **state)
{
    (void)state;
    assert_left("{\n  \"e\": [\n    {\n      \"n\": \"a\"b\"\n    },\n    {\n      \"n\": \"c\"\n  "
                "  }\n  ],\n"
                "  \"z\": 1\n}",
                "{\"e\":[{\"n\":\"c\"}],\"z\":1}", 31, 1);
    assert_left(
        "{\n  \"e\": [\n    {\n      \"n\": {\n        \"k\": 1\n    },\n    {\n      \"n\": 2\n"
        "    }\n  ],\n  \"z\": 1\n}",
        "{\"e\":[{\"n\":2}],\"z\":1}", 56, 1);
    /* The last element, behind which nothing looks like it. */
    assert_left("{\n  \"e\": [\n    {\"n\": 1},\n    {\"n\": [2}\n  ],\n  \"z\": 1\n}",
                "{\"e\":[{\"n\":1}],\"z\":1}", 37, 1);
    assert_left("{\n\t\"s\": {\r\n\t\t\"a\": \"b,\r\n\t\t\"c\": 1\r\n\t},\r\n\t\"z\": 1\r\n}",
                "{\"s\":{\"c\":1},\"z\":1}", 26, 0);
}

/* The same on one line: on goes what looks like the element before. */
static void test_likeness_tells_where_elements_begin(void **state)
{
    (void)state;
    assert_left("{\"g\": [{\"t\": 1, \"u\": {\"t\": 2}}, {\"t\": 3, \"u\": \"a\"b\"}, {\"u\": 9}, "
                "{\"t\": 4,"
                " \"u\": 5}], \"z\": 6}",
                "{\"g\":[{\"t\":1,\"u\":{\"t\":2}},{\"t\":4,\"u\":5}],\"z\":6}", 49, 1);
    /* The records of another array have other keys. */
    assert_left("{\"g\": [{\"t\": 1, \"u\": 2}, {\"t\": {\"x\": 3, \"u\": 4}], \"c\": [{\"t\": 1, "
                "\"v\": 2}]}",
                "{\"g\":[{\"t\":1,\"u\":2}]}", 47, 1);
}

/* However often a large document is damaged, reading it takes time in proportion to its size. */
static void test_damage_everywhere(void **state)
{
    (void)state;
    struct document d;
    struct text text = {0};
    text_add(&text, "{\"e\": [{\"t\": 1}");
    for (int i = 0; i < 100000; i++)
        text_add(&text, ", {\"t\": [}");
    text_add(&text, "], \"z\": 1}");
    read_bytes(&d, text.at, text.n);
    assert_int_equal(json_array_size(member(&d, "e")), 1);
    assert_true(ta_quality_count(&d.quality, TA_Q_SYNTAX) > 0);
    end(&d);
    text_free(&text);
}

static void test_what_follows_is_said(void **state)
{
    (void)state;
    struct document d;
    read_text(&d, " [1] \n{\"b\": 2}");
    assert_shown(d.root, "[1]");
    assert_finding(&d.quality, TA_Q_TRAILING_TEXT, 1, 6);
    end(&d);
    read_text(&d, "[1,] \n\n");
    assert_shown(d.root, "[1]");
    assert_no_finding_but(&d.quality, TA_Q_COMMA);
    end(&d);
}

static void assert_refused(const char *text, const char *says)
{
    struct document d;
    read_text(&d, text);
    assert_null(d.root);
    assert_int_equal(d.ctx.status, TA_ERR_INPUT);
    if (!strstr(ta_ctx_causes(&d.ctx), says))
        fail_msg("\"%s\" does not say \"%s\"", ta_ctx_causes(&d.ctx), says);
    end(&d);
}

static void test_refusals_name_the_place(void **state)
{
    (void)state;
    assert_refused("", "byte offset 0");
    assert_refused("  x", "byte offset 2");
    assert_refused("12", "byte offset 0");
    assert_refused("{", "ends before the first whole value, at byte offset 1");
    assert_refused("[\"abc", "ends before");
    assert_refused("{x: 1}", "broken before the first whole value, at byte offset 1");
}

static void test_large_document(void **state)
{
    (void)state;
    struct document d;
    struct text text = {0};
    text_add(&text, "[");
    for (int i = 0; i < 100000; i++)
        text_add(&text, "%s%d.5", i ? ", " : "", i);
    text_add(&text, "]");
    read_bytes(&d, text.at, text.n);
    assert_int_equal(json_array_size(d.root), 100000);
    assert_int_equal(ta_document_decimal(json_array_get(d.root, 99999), 1), 999995);
    end(&d);
    text_free(&text);
}

/* Whatever bytes come, reading ends with a tree of sound texts or with a message. */
static void test_any_bytes(void **state)
{
    (void)state;
    static const char good[] = "{\"a\": [1.5, -2e3, \"\\u00e4\\ud83d\\ude00\", true, null, NaN],"
                               " \"b\": {\"c\": [{}, []], \"c\": \"\xc3\xa4\\n\"}}";
    static const char bytes[] = "{}[]\",:\\u0d8-+.eE1 \t\n\0\xff\xc3/*NntfI";
    struct rng rng = {3};
    for (int round = 0; round < 20000; round++) {
        char text[sizeof good];
        memcpy(text, good, sizeof text);
        for (uint64_t n = rng_below(&rng, 4) + 1; n; n--)
            text[rng_below(&rng, sizeof text - 1)] = bytes[rng_below(&rng, sizeof bytes - 1)];
        struct document d;
        read_bytes(&d, text, sizeof text - 1 - rng_below(&rng, 2) * rng_below(&rng, 90));
        char buffer[256];
        if (d.root)
            assert_in_range(ta_document_show(d.root, buffer, sizeof buffer).len, 2, 200);
        else
            assert_int_equal(d.ctx.status, TA_ERR_INPUT);
        end(&d);
    }
}

/* ---- conversions --------------------------------------------------------------------------- */

static void test_decimals(void **state)
{
    (void)state;
    assert_int_equal(ta_text_decimal(TA_LIT(" 1.0000000005 "), 9), 1000000001);
    assert_int_equal(ta_text_decimal(TA_LIT("-1.0000000005"), 9), -1000000001);
    assert_int_equal(ta_text_decimal(TA_LIT("+2"), 3), 2000);
    assert_true(ta_text_decimal(TA_LIT("+-2"), 3) == TA_MISSING);
    assert_true(ta_text_decimal(TA_LIT(""), 0) == TA_MISSING);
    assert_true(ta_text_decimal(TA_LIT("1,5"), 0) == TA_MISSING);
    assert_true(ta_text_decimal(TA_LIT("9223372036854775808"), 0) == TA_MISSING);
    assert_int_equal(ta_text_integer(TA_LIT("3.000")), 3);
    assert_int_equal(ta_text_integer(TA_LIT("-7")), -7);
    assert_true(ta_text_integer(TA_LIT("3.001")) == TA_MISSING);
    assert_true(ta_text_integer(TA_LIT("15e-1")) == TA_MISSING);
    assert_true(ta_text_integer(TA_LIT("9007199254740993.5")) == TA_MISSING);
    assert_true(isnan(ta_text_double(TA_LIT("0x10"))));
    assert_true(isnan(ta_text_double(TA_LIT("inf"))));
    assert_true(isnan(ta_text_double(TA_LIT("1e999"))));
    assert_true(ta_text_double(TA_LIT("1e-3")) == 0.001);
}

static void test_mebibytes(void **state)
{
    (void)state;
    assert_int_equal(ta_text_mib(TA_LIT("1")), 1048576);
    assert_int_equal(ta_text_mib(TA_LIT("0.5")), 524288);
    assert_int_equal(ta_text_mib(TA_LIT("-0.5")), -524288);
    assert_int_equal(ta_text_mib(TA_LIT("15.12")), 15854469); /* 15854469.12 */
    assert_int_equal(ta_text_mib(TA_LIT("1e-6")), 1);         /* 1.048576 */
    assert_int_equal(ta_text_mib(TA_LIT("1.5e3")), 1572864000);
    /* 2^-21 MiB are half a byte. */
    assert_int_equal(ta_text_mib(TA_LIT("0.000000476837158203125")), 1);
    assert_int_equal(ta_text_mib(TA_LIT("-0.000000476837158203125")), -1);
    assert_int_equal(ta_text_mib(TA_LIT("0.000000476837158203124")), 0);
    assert_int_equal(ta_text_mib(TA_LIT("8796093022207")), INT64_C(9223372036853727232));
    assert_true(ta_text_mib(TA_LIT("8796093022208")) == TA_MISSING);
    assert_true(ta_text_mib(TA_LIT("x")) == TA_MISSING);
    assert_true(ta_text_mib(TA_LIT("")) == TA_MISSING);
}

/* The digits of all sixteenths of a MiB up to 256, against integer arithmetic. */
static void test_mebibytes_are_exact(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 4096; i++) {
        char text[32];
        const int n = snprintf(text, sizeof text, "%" PRId64 ".%04" PRId64, i / 16, i % 16 * 625);
        assert_int_equal(ta_text_mib((struct ta_slice){text, (size_t)n}), i * 65536);
    }
}

static void test_showing_is_bounded(void **state)
{
    (void)state;
    struct document d;
    struct text text = {0};
    text_add(&text, "{\"long\": \"");
    for (int i = 0; i < 300; i++)
        text_add(&text, "\xc3\xa4");
    text_add(&text, "\", \"q\": \"a\\\"b\\n\"}");
    read_bytes(&d, text.at, text.n);
    char buffer[256];
    assert_int_equal(ta_document_show(member(&d, "long"), buffer, sizeof buffer).len, 200);
    assert_int_equal(ta_document_show(member(&d, "long"), buffer, 7).len, 6);
    assert_int_equal(ta_document_show(d.root, buffer, sizeof buffer).len, 199);
    assert_int_equal(ta_document_show(NULL, buffer, sizeof buffer).len, 0);
    assert_shown(member(&d, "q"), "a\"b\n");
    end(&d);
    text_free(&text);
    read_text(&d, "[\"a\\\"b\\n\", {}]");
    assert_shown(d.root, "[\"a\\\"b\\u000a\",{}]");
    end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_keep_their_text),
        cmocka_unit_test(test_no_text_is_a_number),
        cmocka_unit_test(test_words_for_numbers_are_null),
        cmocka_unit_test(test_texts_are_made_sound),
        cmocka_unit_test(test_last_of_repeated_keys_wins),
        cmocka_unit_test(test_deep_values_are_skipped),
        cmocka_unit_test(test_cut_document_keeps_what_is_whole),
        cmocka_unit_test(test_every_prefix),
        cmocka_unit_test(test_a_broken_member_costs_itself),
        cmocka_unit_test(test_a_broken_element_costs_itself),
        cmocka_unit_test(test_a_lost_comma_costs_nothing),
        cmocka_unit_test(test_lines_tell_where_items_begin),
        cmocka_unit_test(test_likeness_tells_where_elements_begin),
        cmocka_unit_test(test_damage_everywhere),
        cmocka_unit_test(test_what_follows_is_said),
        cmocka_unit_test(test_refusals_name_the_place),
        cmocka_unit_test(test_large_document),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_mebibytes),
        cmocka_unit_test(test_mebibytes_are_exact),
        cmocka_unit_test(test_showing_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
