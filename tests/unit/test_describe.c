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
    {{"PK\x03\x04rest", 8}, "a zip archive: "},
    {{"PK\x05\x06", 4}, "an empty zip archive"},
    {{"\x7f\x45LF\x02", 5}, "an ELF program or library"},
    {{"%PDF-1.7", 8}, "a PDF document: "},
    {{"\x89PNG\r\n", 6}, "a PNG picture: "},
    {{"\xff\xd8\xff\xe0", 4}, "a JPEG picture: "},
    {{"\x28\xb5\x2f\xfd", 4}, "zstd data: "},
    {{"BZh91AY", 7}, "bzip2 data: "},
    {{"\xfd\x37zXZ", 5}, "xz data: "},
    {{"7z\xbc\xaf\x27\x1c\0", 7}, "a 7z archive: "},
    {{"Rar!\x1a\x07\0", 7}, "a rar archive: "},
    {{"\x04\x22\x4d\x18@", 5}, "lz4 data: "},
    {{"\x78\x9c\xed\xbd", 4}, "zlib data without a header of gzip"},
    {{"\x78\x01\x01", 3}, "zlib data without a header of gzip"},
    {{"\x78\x02\x01", 3}, "binary data of unknown kind"},
    {{"x", 1}, "text without a figure"},
    {{"SQLite format 3\0", 16}, "an SQLite database.  "},
    {{"\x1f\x8b\x08", 3}, "gzip within gzip: "},
    {{"#!/bin/sh\n", 10}, "a script"},
    {{"\x80\x04\x95", 3}, "a Python pickle, but no snapshot"},
    {{"\x80\x09\x95", 3}, "text without a figure"},
    {{"  \n<!DOCTYPE html>", 18}, "an HTML page"},
    {{"<HTML>", 6}, "an HTML page"},
    {{"<?xml?>", 7}, "XML or HTML text"},
    {{" \t\r\n ", 5}, "white space"},
    {{"\0\0\0", 3}, "nothing but zero bytes"},
    {{"\0\0\1", 3}, "binary data of unknown kind"},
    {{"hello \x1b[1m", 9}, "text without a figure"},
    {{"a\x01", 2}, "binary data of unknown kind"},
    {{"a\0", 2}, "binary data of unknown kind"},
    {TA_LIT("PK\x03\x04 archive/data.pkl"), "a checkpoint of PyTorch"},
    {TA_LIT("PK\x03\x04 [Content_Types].xml"), "a spreadsheet: "},
    {TA_LIT("SQLite format 3\0CREATE TABLE rocpd_string"), "a database of rocprofv3"},
    {TA_LIT("NVR\0\1\2"), "a report of Nsight Compute"},
    {TA_LIT("\1\0\1QuadDCommon"), "a report of Nsight Systems"},
    {TA_LIT("\x80\x02}q\0X entries X pg_config"), "a dump of the NCCL Flight Recorder"},
    {TA_LIT("<?xml version=\"1.0\"?>\n<svg><style>flamegraph"), "a flame graph as a picture"},
    {TA_LIT("<html><title>GPU Memory Profile HTML"), "a memory timeline of torch.profiler as"},
    {TA_LIT("<script>import {x} from \"MemoryViz.js\""), "a page of PyTorch's memory viewer"},
    {TA_LIT("==PROF== x\n\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\""),
     "a table of Nsight Compute"},
    {TA_LIT("==1== NVPROF is profiling process 1"), "text of nvprof"},
    {TA_LIT("\x18\0\0\0\0\0\0\0crc1\x09\0\0brain.Event:2"), "events of TensorBoard"},
    {TA_LIT("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9"), "a checkpoint of PyTorch"},
    {TA_LIT("\x40\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F8\",\"data_offsets\":[0,1]}}"),
     "weights (safetensors)"},
    {TA_LIT("\0\0\0\x20" "ftypisom"), "a video (MP4)"},
    {TA_LIT("version https://git-lfs.github.com/spec/v1\noid sha256:1"), "a pointer of Git LFS"},
    {TA_LIT("\x0a\x02\x08\x01\x0a\x02\x08\x01\x0a\x02\x08\x01\x0a\x02\x08\x01"),
     "a trace of Perfetto"},
    {TA_LIT("\x0a\x05/host:CPU"), "a profile of JAX"},
    {TA_LIT("# a comment\n\"\"\"A docstring\n\nof lines\"\"\"\nfrom torch import nn\n"),
     "source of Python"},
    {TA_LIT("\"\"\"one\"\"\"\nimport torch\n"), "source of Python"},
    {TA_LIT("\"\"\"open\nimport torch\n"), "text without a figure"},
    {{"PK", 2}, "text without a figure"},
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
    {TA_LIT("{\"version\": \"2.4\", \"pg_config\": {}, \"entries\": ["),
     "a dump of the NCCL Flight Recorder"},
    {TA_LIT("{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\""),
     "a profile of speedscope"},
    {TA_LIT("{\n \"cells\": [\n  {\n   \"cell_type\": \"code\", \"metadata\": {}"),
     "a Jupyter notebook"},
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
        const char *what = ta_describe((struct ta_slice){exact, examples[i].head.len});
        assert_int_equal(strncmp(what, examples[i].what, strlen(examples[i].what)), 0);
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
                        "a tar archive: unpack it first (tar -xf FILE)");
    assert_string_equal(ta_describe((struct ta_slice){exact, sizeof block - 1}),
                        "binary data of unknown kind");
    free(exact);
}

static void every_document(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        char *exact = exact_copy(documents[i].head);
        const char *what = ta_describe_format((struct ta_slice){exact, documents[i].head.len});
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
