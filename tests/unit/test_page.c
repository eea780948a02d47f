/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces in web pages: exactly the object is read, wherever it stands, and nothing of other pages.
 */
#include "read/page.h"

#include "base/context.h"
#include "base/quality.h"
#include "read/reader.h"
#include "trace_fixture.h"

#include <inttypes.h>
#include <stdio.h>

/* A page as VizTracer writes it: a comment, the scripts of the viewer (some MB, the filler), the
 * variable declared in one script, and assigned, read and indexed in a function of it. */
static const char start[] =
    "<!DOCTYPE html>\n<!--\nA license\n-->\n<head>\n<script src=\"https://host/components.js\">"
    "</script>\n<script>\n'use strict';\n\nfunction onTraceViewerImportFail() {\n  "
    "document.body.textContent = 'trace_viewer_full.html is missing';\n}\n</script>\n"
    "<style>\n  html, body { margin: 0px; }\n</style>\n";
static const char object[] =
    "{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"} json_data = {\\\"\\\\\", "
    "\"ts\": 1, \"dur\": 2, \"args\": {\"a\": [1, {}]}}], \"b\": "
    "\"<\\/script>\"}";
static const char end[] =
    "\n\n  function load() {\n    const zipped = /[.]gz$/.test(url);\n  }\n  "
    "importTraces([json_data]).then(onModelLoaded);\n}());\n\nfunction show() {\n  var at = "
    "json_data[\"file_info\"];\n  if (json_data = {}) { return [{}]; }\n}\n</script>\n</head>\n"
    "<body>\n</body>\n</html>\n";

/* What the reader gives of the bytes; the quality stays with the caller. */
static char *read_bytes(const struct text *text, struct ta_quality *quality, size_t *n, size_t step)
{
    char root[64], path[128];
    fixture_folder(root);
    snprintf(path, sizeof path, "%s/page.html", root);
    fixture_write(path, text->at, text->n);
    ta_quality_init(quality);
    struct ta_reader *reader = ta_reader_open(&fixture.ctx, path, -1, quality);
    assert_non_null(reader);
    char *bytes = malloc(text->n + step + 1);
    assert_non_null(bytes);
    *n = 0;
    for (size_t got = 1; got; *n += got)
        got = ta_reader_read(reader, bytes + *n, step);
    ta_reader_close(reader);
    fixture_remove(root);
    return bytes;
}

static void add_filler(struct text *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_add(text, "%s", i % 97 == 0 ? "\n" : "x");
}

/* The object is the same behind any number of bytes, also where blocks of the reader meet. */
static void only_the_object_is_read(void **state)
{
    (void)state;
    static const size_t fillers[] = {0,     1,     500,   65300,  65380, 65392,
                                     65400, 65450, 65536, 131000, 300000};
    static const char *const signs[] = {
        "<script>\nvar json_data;\n(function() {\n  let viewer;\n  json_data = ", "var json_data=",
        "json_data;\njson_data =\n  "};
    for (size_t f = 0; f < sizeof fillers / sizeof *fillers; f++)
        for (size_t s = 0; s < 3; s++) {
            struct text text = {0};
            struct ta_quality quality;
            size_t n;
            text_add(&text, "%s", start);
            add_filler(&text, fillers[f]);
            text_add(&text, "%s", signs[s]);
            const size_t place = text.n;
            text_add(&text, "%s%s", object, end);
            char *bytes = read_bytes(&text, &quality, &n, f % 2 ? 7 : 100000);
            assert_int_equal(n, sizeof object - 1);
            assert_memory_equal(bytes, object, n);
            assert_int_equal(ta_quality_count(&quality, TA_Q_EMBEDDED), 1);
            struct ta_arena arena = {0};
            size_t n_findings;
            char expected[64];
            snprintf(expected, sizeof expected, "byte offset %zu on", place);
            assert_non_null(
                strstr(ta_quality_findings(&quality, &arena, &n_findings)->text, expected));
            ta_arena_free(&arena);
            ta_quality_free(&quality);
            text_free(&text);
            free(bytes);
        }
}

/* An object that does not end is read up to the end of the file. */
static void an_open_object_ends_with_the_file(void **state)
{
    (void)state;
    struct text text = {0};
    struct ta_quality quality;
    size_t n;
    text_add(&text, "%sjson_data = {\"traceEvents\": [{\"name\": \"%s", start, end);
    char *bytes = read_bytes(&text, &quality, &n, 1000);
    assert_int_equal(n, text.n - sizeof start + 1 - strlen("json_data = "));
    ta_quality_free(&quality);
    text_free(&text);
    free(bytes);
}

/* Pages without a trace, and pages that only speak of one, stay what they are. */
static void other_pages_have_no_object(void **state)
{
    (void)state;
    static const char *const pages[] = {
        "<html><body>viztracer: json_data = 5; json_data == {} json_data[{]</body></html>",
        "<!doctype html>trace_viewer",
        "<!doctype html><p>json_data = [{}]</p>",
        "<html>json_data                                                    = {}",
        "<html>trace_viewer json_data =",
    };
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct text text = {0};
        struct ta_quality quality;
        size_t n;
        text_add(&text, "%s", pages[i]);
        char *bytes = read_bytes(&text, &quality, &n, 10);
        assert_int_equal(n, text.n);
        assert_memory_equal(bytes, pages[i], n);
        assert_int_equal(ta_quality_count(&quality, TA_Q_EMBEDDED), 0);
        ta_quality_free(&quality);
        text_free(&text);
        free(bytes);
    }
}

/* What is no page is not searched. */
static void only_pages_are_searched(void **state)
{
    (void)state;
    assert_int_equal(ta_page_is(TA_LIT(" \n<!DocType HTML> viztracer")), TA_PAGE_TRACE);
    assert_int_equal(ta_page_is(TA_LIT("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                                       "<meta charset=\"utf-8\">\n<meta name=\"generator\" "
                                       "content=\"traceanalyze 0.1.0\">")),
                     TA_PAGE_REPORT);
    assert_int_equal(ta_page_is(TA_LIT("<!DOCTYPE html> Inferix Profiling Report")), TA_PAGE_NONE);
    assert_int_equal(ta_page_is(TA_LIT("{\"json_data\": \"<html>\"}")), TA_PAGE_NONE);
    assert_int_equal(ta_page_is(TA_LIT("")), TA_PAGE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_object_is_read),
        cmocka_unit_test(an_open_object_ends_with_the_file),
        cmocka_unit_test(other_pages_have_no_object),
        cmocka_unit_test(only_pages_are_searched),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
