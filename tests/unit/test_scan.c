/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lexical layer of JSON: values, their prefixes, what is repaired and where it is wrong. */
#include "parse/json/scan.h"

#include "trace_fixture.h"

#include <stdio.h>

/* A scan of an exact copy, so that reading beyond the end shows. */
struct window {
    struct scan scan;
    uint64_t stack[2];
    char *bytes;
};

static void open_window(struct window *w, const char *text, size_t size)
{
    w->bytes = malloc(size ? size : 1);
    assert_non_null(w->bytes);
    memcpy(w->bytes, text, size);
    w->scan = (struct scan){.p = w->bytes,
                            .end = w->bytes + size,
                            .string_limit = 1000,
                            .number_limit = 20,
                            .stack = w->stack,
                            .stack_limit = 100};
}

static size_t place(const struct window *w)
{
    return (size_t)(w->scan.p - w->bytes);
}

static enum scan_result value_of(struct window *w, const char *text, size_t size,
                                 struct ta_token *token)
{
    open_window(w, text, size);
    return scan_value(&w->scan, token);
}

/* ---- good values ----------------------------------------------------------------------- */

static const struct {
    const char *text;
    enum ta_token_type type;
} good[] = {
    {"\"\"", TA_TOKEN_STRING},
    {"\"a\"", TA_TOKEN_STRING},
    {"\"0123456789abcdef\\n\\\"\\\\\\/\\b\\f\\r\\t\"", TA_TOKEN_STRING},
    {"\"\\u0041\\ud83d\\udd25 \u00e9\u6f22\U0001f525\"", TA_TOKEN_STRING},
    {"0", TA_TOKEN_NUMBER},
    {"-0", TA_TOKEN_NUMBER},
    {"10.25", TA_TOKEN_NUMBER},
    {"-1.5e+10", TA_TOKEN_NUMBER},
    {"1E5", TA_TOKEN_NUMBER},
    {"2e-7", TA_TOKEN_NUMBER},
    {"true", TA_TOKEN_TRUE},
    {"false", TA_TOKEN_FALSE},
    {"null", TA_TOKEN_NULL},
    {"NaN", TA_TOKEN_BAD},
    {"-NaN", TA_TOKEN_BAD},
    {"nan", TA_TOKEN_BAD},
    {"Infinity", TA_TOKEN_BAD},
    {"-Infinity", TA_TOKEN_BAD},
    {"inf", TA_TOKEN_BAD},
    {"-inf", TA_TOKEN_BAD},
    {"infinity", TA_TOKEN_BAD},
    {"N/A", TA_TOKEN_BAD},
    {"NA", TA_TOKEN_BAD},
    {"{}", TA_TOKEN_OBJECT},
    {"{ \"a\" : [ 1 , { } , \"]\" ] , \"b\" : { \"c\" : null } }", TA_TOKEN_OBJECT},
    {"[]", TA_TOKEN_ARRAY},
    {"[[],[[{}]],\"a\",-1]", TA_TOKEN_ARRAY},
};

/* A whole value is taken to its last byte; of anything less one cannot know. */
static void values_and_their_prefixes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char text[128];
        const size_t n = strlen(good[i].text);
        const bool ends_itself = strchr("\"}]", good[i].text[n - 1]) != NULL;
        const bool quoted = good[i].type == TA_TOKEN_STRING;
        snprintf(text, sizeof text, "%s,", good[i].text);
        for (size_t size = 1; size <= n + 1; size++) {
            struct window w;
            struct ta_token token = {0};
            const enum scan_result result = value_of(&w, text, size, &token);
            const bool whole = size > n || (size == n && ends_itself);
            if (result != (whole ? SCAN_OK : SCAN_MORE))
                fail_msg("%.*s gives %d", (int)size, text, result);
            if (whole) {
                assert_int_equal(token.type, good[i].type);
                assert_int_equal(place(&w), n);
                assert_int_equal(token.len, quoted ? n - 2 : n);
                assert_int_equal(token.ptr - w.bytes, quoted ? 1 : 0);
                assert_int_equal(w.scan.notes,
                                 good[i].type == TA_TOKEN_BAD ? 1u << NOTE_NUMBER : 0);
            }
            free(w.bytes);
        }
    }
}

static void scalars_end_where_json_says(void **state)
{
    (void)state;
    static const char ends[] = ",}] \n\r\t:/";
    for (size_t i = 0; i < sizeof ends - 1; i++) {
        static const char *const texts[] = {"12", "true", "NaN", "1.5e3"};
        for (size_t t = 0; t < 4; t++) {
            char text[16];
            struct window w;
            struct ta_token token;
            const size_t n = (size_t)snprintf(text, sizeof text, "%s%c", texts[t], ends[i]);
            assert_int_equal(value_of(&w, text, n, &token), SCAN_OK);
            assert_int_equal(token.len, n - 1);
            free(w.bytes);
        }
    }
}

/* ---- bad values ------------------------------------------------------------------------- */

static void errors_have_a_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at;
    } bad[] = {
        {"0.-05,", 2},
        {"1.,", 2},
        {"1.e5,", 2},
        {"01,", 0},
        {"-01,", 1},
        {"1e,", 2},
        {"1e+,", 3},
        {"12x,", 2},
        {"1\",", 1},
        {".5,", 0},
        {"+1,", 0},
        {"tru,", 0},
        {"True,", 0},
        {"nulll,", 0},
        {"NaN0,", 0},
        {"x", 0},
        {"'a'", 0},
        {"]", 0},
        {",", 0},
        {"[1 2]", 3},
        {"[1}", 2},
        {"[}", 1},
        {"{]", 1},
        {"{1:2}", 1},
        {"{\"a\" 1}", 5},
        {"{\"a\",}", 4},
        {"{\"a\":}", 5},
        {"{\"a\":1 \"b\":2}", 7},
        {"{\"a\":1,b:2}", 7},
        {"[1,x]", 3},
        {"{\"a\":[1,2}", 9},
        {"[1/2]", 2},
        {"--1,", 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct window w;
        struct ta_token token;
        const enum scan_result result = value_of(&w, bad[i].text, strlen(bad[i].text), &token);
        if (result != SCAN_BAD || place(&w) != bad[i].at)
            fail_msg("%s gives %d at %zu", bad[i].text, result, place(&w));
        free(w.bytes);
    }
}

/* ---- strings ----------------------------------------------------------------------------- */

/* The eight bytes at a time find what one byte at a time finds. */
static void every_byte_at_every_place(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        for (size_t at = 0; at < 20; at++) {
            char text[32];
            memset(text, 'a', sizeof text);
            text[0] = text[22] = '"';
            text[at + 1] = (char)byte;
            struct window w;
            struct ta_token token = {0};
            const enum scan_result result = value_of(&w, text, 24, &token);
            assert_int_equal(result, SCAN_OK);
            assert_int_equal(token.len, byte == '"' ? at : 21);
            assert_int_equal(place(&w), byte == '"' ? at + 2 : 23);
            const uint32_t note = byte == 0 || byte >= 0x80 ? 1u << NOTE_ENCODING
                                  : byte < 0x20             ? 1u << NOTE_CONTROL
                                  : byte == '\\'            ? 1u << NOTE_ESCAPE
                                                            : 0;
            assert_int_equal(w.scan.notes, note);
            if (note)
                assert_int_equal(w.scan.note_place[__builtin_ctz(note)] - w.bytes, at + 1);
            /* Raw controls but NUL are kept, so the text is right as it is. */
            assert_int_equal(token.plain, note == 0 || note == 1u << NOTE_CONTROL);
            free(w.bytes);
        }
    }
}

static void escapes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t notes;
        size_t at;
    } cases[] = {
        {"\"\\u00e9\"", 0, 0},
        {"\"\\uD83D\\uDD25\"", 0, 0},
        {"\"ab\\u12\"", 1u << NOTE_ESCAPE, 3},
        {"\"\\u12g4\"", 1u << NOTE_ESCAPE, 1},
        {"\"\\U0041\"", 1u << NOTE_ESCAPE, 1},
        {"\"a\\ b\"", 1u << NOTE_ESCAPE, 2},
        {"\"\\ud83d\"", 1u << NOTE_ENCODING, 1},
        {"\"\\ud83d....x\"", 1u << NOTE_ENCODING, 1},
        {"\"\\ud83d\\u0041\"", 1u << NOTE_ENCODING, 1},
        {"\"\\ud83d\\n\"", 1u << NOTE_ENCODING, 1},
        {"\"\\udd25\"", 1u << NOTE_ENCODING, 1},
        {"\"\\ud83d\\ud83d\\udd25\"", 1u << NOTE_ENCODING, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct window w;
        struct ta_token token = {0};
        const size_t n = strlen(cases[i].text);
        assert_int_equal(value_of(&w, cases[i].text, n, &token), SCAN_OK);
        assert_int_equal(w.scan.notes, cases[i].notes);
        if (cases[i].notes)
            assert_int_equal(w.scan.note_place[__builtin_ctz(cases[i].notes)] - w.bytes,
                             cases[i].at);
        assert_int_equal(token.len, n - 2);
        assert_int_equal(token.plain, 0);
        free(w.bytes);
        /* The border of a window never makes it another string. */
        for (size_t size = 1; size < n; size++) {
            assert_int_equal(value_of(&w, cases[i].text, size, &token), SCAN_MORE);
            free(w.bytes);
        }
    }
}

static void limits_of_scalars(void **state)
{
    (void)state;
    char text[1100];
    struct window w;
    struct ta_token token;
    memset(text, 'x', sizeof text);
    text[0] = '"';
    for (size_t n = 999; n <= 1002; n++) {
        text[n + 1] = '"';
        assert_int_equal(value_of(&w, text, n + 2, &token), SCAN_OK);
        assert_int_equal(w.scan.notes, n > 1000 ? 1u << NOTE_LONG : 0);
        assert_int_equal(token.plain, n <= 1000);
        assert_int_equal(token.len, n);
        text[n + 1] = 'x';
        free(w.bytes);
    }
    for (int n = 19; n <= 21; n++) {
        const size_t size =
            (size_t)snprintf(text, sizeof text, "%.*s,", n, "123456789012345678901");
        assert_int_equal(value_of(&w, text, size, &token), SCAN_OK);
        assert_int_equal(token.type, n > 20 ? TA_TOKEN_BAD : TA_TOKEN_NUMBER);
        assert_int_equal(w.scan.notes, n > 20 ? 1u << NOTE_NUMBER : 0);
        free(w.bytes);
    }
}

/* ---- structure ---------------------------------------------------------------------------- */

static void depth(void **state)
{
    (void)state;
    for (size_t n = 98; n <= 102; n++) {
        char text[512];
        size_t size = 0;
        for (size_t i = 0; i < n; i++)
            text[size++] = '[';
        for (size_t i = 0; i < n; i++)
            text[size++] = ']';
        struct window w;
        struct ta_token token;
        assert_int_equal(value_of(&w, text, size, &token), SCAN_OK);
        assert_int_equal(place(&w), size);
        assert_int_equal(w.scan.notes, n > 100 ? 1u << NOTE_DEEP : 0);
        if (n > 100)
            assert_int_equal(w.scan.note_place[NOTE_DEEP] - w.bytes, 100);
        free(w.bytes);
    }
}

static void commas_and_comments_are_noted_once(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t notes;
        size_t comma, comment;
    } cases[] = {
        {"[1,2]", 0, 0, 0},
        {"[,1]", 1u << NOTE_COMMA, 1, 0},
        {"[1,]", 1u << NOTE_COMMA, 3, 0},
        {"[1,,2,,3]", 1u << NOTE_COMMA, 3, 0},
        {"{,\"a\":1,}", 1u << NOTE_COMMA, 1, 0},
        {"[/**/1/* , */,//\n2]", 1u << NOTE_COMMENT, 0, 1},
        {"{\"a\"/*:*/:/*]*/1}", 1u << NOTE_COMMENT, 0, 4},
        {"[1,/*x*/,2]", 1u << NOTE_COMMA | 1u << NOTE_COMMENT, 8, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct window w;
        struct ta_token token;
        const size_t n = strlen(cases[i].text);
        assert_int_equal(value_of(&w, cases[i].text, n, &token), SCAN_OK);
        assert_int_equal(place(&w), n);
        assert_int_equal(w.scan.notes, cases[i].notes);
        if (cases[i].comma)
            assert_int_equal(w.scan.note_place[NOTE_COMMA] - w.bytes, cases[i].comma);
        if (cases[i].comment)
            assert_int_equal(w.scan.note_place[NOTE_COMMENT] - w.bytes, cases[i].comment);
        free(w.bytes);
        for (size_t size = 1; size < n; size++) {
            assert_int_equal(value_of(&w, cases[i].text, size, &token), SCAN_MORE);
            free(w.bytes);
        }
    }
}

/* ---- skipping blindly ----------------------------------------------------------------------- */

static void blind_skipping_in_pieces(void **state)
{
    (void)state;
    static const char *const values[] = {
        "{\"a\":[1,{\"]\":\"}\"}],\"b\\\"}\":{}}",
        "[[[\"\\\\\"],\"[\"]]",
        "\"a]\\\"}\"",
        "{}",
        "[nonsense 1 2}]",
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const size_t n = strlen(values[i]);
        const bool closes_early = values[i][1] == 'n'; /* brackets are counted, not matched */
        for (size_t piece = 1; piece <= n + 3; piece++) {
            char text[64];
            struct blind state_of = {0};
            size_t at = 0;
            enum scan_result result = SCAN_MORE;
            snprintf(text, sizeof text, "%s,]}", values[i]);
            while (result == SCAN_MORE) {
                struct window w;
                const size_t size = strlen(text) - at < piece ? strlen(text) - at : piece;
                assert_true(size > 0);
                open_window(&w, text + at, size);
                result = scan_blind(&w.scan, &state_of);
                at += place(&w);
                free(w.bytes);
            }
            assert_int_equal(result, SCAN_OK);
            assert_int_equal(at, closes_early ? n - 1 : n);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_their_prefixes),
        cmocka_unit_test(scalars_end_where_json_says),
        cmocka_unit_test(errors_have_a_place),
        cmocka_unit_test(every_byte_at_every_place),
        cmocka_unit_test(escapes),
        cmocka_unit_test(limits_of_scalars),
        cmocka_unit_test(depth),
        cmocka_unit_test(commas_and_comments_are_noted_once),
        cmocka_unit_test(blind_skipping_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
