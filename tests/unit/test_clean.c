/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text of records that is passed on: as it stands, or as the JSON that the scanner makes of it. */
#include "parse/json/clean.h"

#include "read/reader.h"
#include "files.h"
#include "trace_fixture.h"

#include <stdio.h>

static struct ta_shared shared;

enum { PH, ARGS };
static const struct ta_slice nested[] = {{"id", 2}};
static const struct ta_record_schema schema = {.array = "traceEvents",
                                               .mark = PH,
                                               .field = {[PH] = "ph", [ARGS] = "args"},
                                               .nested = ARGS,
                                               .nested_keys = nested,
                                               .n_nested_keys = 1};

/* Reads `text` as an array of one record, whose text must be `expected` and whose id `id`. */
static void check(const char *text, const char *expected, const char *id)
{
    struct ta_ctx ctx;
    struct ta_quality quality;
    struct ta_clean clean = {0};
    struct ta_slice got;
    enum ta_json_item item;
    char document[4096];
    ta_ctx_init(&ctx, &shared);
    ta_quality_init(&quality);
    const int n = snprintf(document, sizeof document, "[%s]", text);
    struct ta_reader *reader =
        ta_reader_open(&ctx, NULL, fixture_memory(document, (size_t)n), &quality);
    assert_non_null(reader);
    struct ta_json *json = ta_json_new(&ctx, reader, &schema);
    assert_non_null(json);
    assert_int_equal(ta_json_next(&ctx, json, &item), TA_OK);
    assert_int_equal(item, TA_JSON_RECORD);
    assert_true(ta_clean_record(json, &clean, &got));
    assert_int_equal(got.len, strlen(expected));
    assert_memory_equal(got.ptr, expected, got.len);
    const struct ta_token *token = &json->record.nested[0];
    if (id) {
        assert_int_not_equal(token->type, TA_TOKEN_ABSENT);
        assert_true(token->ptr >= got.ptr && token->ptr + token->len <= got.ptr + got.len);
        assert_true(ta_slice_equal(ta_json_text(json, token), ta_slice_of(id)));
    }
    ta_json_free(json);
    ta_reader_close(reader);
    ta_clean_free(&clean);
    ta_quality_free(&quality);
}

static void what_is_json_stays(void **state)
{
    static const char *const texts[] = {
        "{\"ph\": \"X\"}",
        "{ \"ph\"\n:\t\"X\" , \"args\": {\"id\": 17, \"a\": [1, {}, [], \"\\u00e9\\n\"]} }",
        "{\"ph\": \"X\", \"v\": [-1.5e-300, true, null, \"\xc3\xa9\"]}"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check(texts[i], texts[i], i == 1 ? "17" : NULL);
}

static void what_is_not_is_repaired(void **state)
{
    static const struct {
        const char *text, *expected, *id;
    } cases[] = {
        {"{\"ph\": \"X\", \"args\": {\"v\": NaN, \"id\": -inf}}",
         "{\"ph\":\"X\",\"args\":{\"v\":null,\"id\":null}}", NULL},
        {"{\"ph\": \"X\",, \"args\": {\"id\": 5,}, /* why */ \"a\": [1,,2,]}",
         "{\"ph\":\"X\",\"args\":{\"id\":5},\"a\":[1,2]}", "5"},
        {"{\"ph\": \"X\", \"t\t\": \"a\tb\x01\", \"args\": {\"id\": \"q\x02\"}}",
         "{\"ph\":\"X\",\"t\\u0009\":\"a\\u0009b\\u0001\",\"args\":{\"id\":\"q\\u0002\"}}",
         "q\x02"},
        {"{\"ph\": \"X\", \"n\": \"bad \xff \\q \\ud800 \\\"x\\\\\"}",
         "{\"ph\":\"X\",\"n\":\"bad \xef\xbf\xbd \\\\q \xef\xbf\xbd \\\"x\\\\\"}", NULL},
        {"{\"ph\": \"X\", \"v\": N/A, \"e\": {}, \"l\": [[], {\"a\": {\"b\": [nan]}}]}",
         "{\"ph\":\"X\",\"v\":null,\"e\":{},\"l\":[[],{\"a\":{\"b\":[null]}}]}", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i].text, cases[i].expected, cases[i].id);
}

/* Deeper values than the limit allows are null, whatever is in them. */
static void depth(void **state)
{
    (void)state;
    struct ta_ctx ctx;
    ta_ctx_init(&ctx, &shared);
    shared.limits[TA_LIMIT_DEPTH] = 8;
    check("{\"ph\": \"X\", \"v\": [[[[[[[[[[1, oops \"]\" }]]]]]]]]], \"w\": NaN}",
          "{\"ph\":\"X\",\"v\":[[[[[[[null]]]]]]],\"w\":null}", NULL);
    ta_shared_init(&shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_json_stays),
                                       cmocka_unit_test(what_is_not_is_repaired),
                                       cmocka_unit_test(depth)};
    ta_shared_init(&shared);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
