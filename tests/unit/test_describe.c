/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a file that is no trace looks like. */
#include "discover/discover.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct {
    struct ta_slice head;
    const char *what;
} examples[] = {
    {{"", 0}, "an empty file"},
    {{"PK\x03\x04rest", 8}, "a zip archive"},
    {{"PK\x05\x06", 4}, "an empty zip archive"},
    {{"\x7f\x45LF\x02", 5}, "an ELF program or library"},
    {{"%PDF-1.7", 8}, "a PDF document"},
    {{"\x89PNG\r\n", 6}, "a PNG picture"},
    {{"\xff\xd8\xff\xe0", 4}, "a JPEG picture"},
    {{"\x28\xb5\x2f\xfd", 4}, "zstd data, which this build does not read"},
    {{"BZh91AY", 7}, "bzip2 data"},
    {{"\xfd\x37zXZ", 5}, "xz data"},
    {{"7z\xbc\xaf\x27\x1c\0", 7}, "a 7z archive"},
    {{"Rar!\x1a\x07\0", 7}, "a rar archive"},
    {{"\x04\x22\x4d\x18@", 5}, "lz4 data"},
    {{"\x78\x9c\xed\xbd", 4}, "zlib data without a header of gzip"},
    {{"\x78\x01\x01", 3}, "zlib data without a header of gzip"},
    {{"\x78\x02\x01", 3}, "binary data of unknown kind"},
    {{"x", 1}, "text that is no JSON"},
    {{"SQLite format 3\0", 16}, "an SQLite database"},
    {{"\x1f\x8b\x08", 3}, "gzip within gzip"},
    {{"#!/bin/sh\n", 10}, "a script"},
    {{"\x80\x04\x95", 3}, "a Python pickle"},
    {{"\x80\x09\x95", 3}, "text that is no JSON"},
    {{"  \n<!DOCTYPE html>", 18}, "an HTML page"},
    {{"<HTML>", 6}, "an HTML page"},
    {{"<?xml?>", 7}, "XML or HTML text"},
    {{" \t\r\n ", 5}, "white space"},
    {{"\0\0\0", 3}, "nothing but zero bytes"},
    {{"\0\0\1", 3}, "binary data of unknown kind"},
    {{"hello \x1b[1m", 9}, "text that is no JSON"},
    {{"a\x01", 2}, "binary data of unknown kind"},
    {{"a\0", 2}, "binary data of unknown kind"},
    {{"PK", 2}, "text that is no JSON"},
};

/* JSON, by the beginning of what it is called. */
static const struct {
    struct ta_slice head;
    const char *what;
} documents[] = {
    {TA_LIT("[[-1, 1, 512, 7]"), "a memory timeline of torch.profiler"},
    {TA_LIT(" [ [1719, 1720"), "a memory timeline of torch.profiler"},
    {TA_LIT("{\"rocprofiler-sdk-tool\": [{"), "a result of rocprofv3"},
    {TA_LIT("{\n \"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": 1, \"nodes\": ["),
     "an execution trace of PyTorch"},
    {TA_LIT("{\"schema\": \"1.1.1\", \"nodes"), NULL},
    {TA_LIT("{\"schemaVersion\": 1, \"nodes\": []"), NULL},
    {TA_LIT("[[\"ph\""), NULL},
    {TA_LIT("[["), NULL},
    {TA_LIT("[{\"ts\": 1}"), NULL},
    {TA_LIT("{"), NULL},
    {TA_LIT(""), NULL},
};

/* Views of a report, which count in folders, and what only resembles them. */
static const struct {
    struct ta_slice head;
    bool is_product;
} views[] = {
    {TA_LIT("host (traceanalyze);python;step 12\n"), true},
    {TA_LIT("device (traceanalyze) 0\n"), true},
    {TA_LIT("host (traceanalyz"), false},
    {TA_LIT("<!-- traceanalyze.report/1 -->\n# a\n"), true},
    {TA_LIT("<!-- a page -->"), false},
    {TA_LIT("[\n  {\"name\": \"traceanalyze/gpu_busy_share\", \"unit\": \"%\"}"), true},
    {TA_LIT("[{\"name\": \"aten::mm\", \"ph\": \"X\"}]"), false},
    {TA_LIT("{\n  \"traceanalyze/gpu_busy_share\": {\"ratio\": {}}"), true},
    {TA_LIT("{\"traceEvents\": []}"), false},
};

/* A copy without a byte behind it, so that reading beyond the head shows. */
static char *exact_copy(struct ta_slice head)
{
    char *copy = malloc(head.len + 1);
    assert_non_null(copy);
    memcpy(copy, head.ptr, head.len);
    char *exact = realloc(copy, head.len ? head.len : 1);
    assert_non_null(exact);
    return exact;
}

static void every_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char *exact = exact_copy(examples[i].head);
        assert_string_equal(ta_describe((struct ta_slice){exact, examples[i].head.len}),
                            examples[i].what);
        free(exact);
    }
}

static void tar_archives(void **state)
{
    (void)state;
    char block[262] = "trace.json";
    memcpy(block + 257, "ustar", 5);
    char *exact = exact_copy((struct ta_slice){block, sizeof block});
    assert_string_equal(ta_describe((struct ta_slice){exact, sizeof block}),
                        "a tar archive: unpack it first");
    assert_string_equal(ta_describe((struct ta_slice){exact, sizeof block - 1}),
                        "binary data of unknown kind");
    free(exact);
}

static void every_document(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        char *exact = exact_copy(documents[i].head);
        const char *what = ta_describe_document((struct ta_slice){exact, documents[i].head.len});
        if (documents[i].what) {
            assert_non_null(what);
            assert_memory_equal(what, documents[i].what, strlen(documents[i].what));
        } else {
            assert_null(what);
        }
        free(exact);
    }
}

static void every_view(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        char *exact = exact_copy(views[i].head);
        const struct ta_slice head = {exact, views[i].head.len};
        assert_int_equal(ta_describe_product(head, true) != NULL, views[i].is_product);
        assert_null(ta_describe_product(head, false));
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),
        cmocka_unit_test(tar_archives),
        cmocka_unit_test(every_document),
        cmocka_unit_test(every_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
