/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is made of the states and histories of allocators: levels anchored at the end, what was
 * alive at the peak, fragmentation and churn. */
#include "trace_fixture.h"

#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- reports ------------------------------------------------------------------------------- */

/* A report on one snapshot; single quotes stand for double ones. */
static struct ta_report *report_on(const char *text)
{
    char *json = strdup(text);
    assert_non_null(json);
    for (char *c = json; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct reading r;
    fixture_read_as(&fixture, "torch_memory", json, strlen(json), &r);
    if (r.status != TA_OK)
        fail_msg("%s", ta_ctx_causes(&fixture.ctx));
    assert_no_finding(&r.quality);
    r.trace->view.file.path = "run/first.pickle";
    struct ta_report *report = fixture_report(&fixture, &r, 1);
    reading_free(&r);
    free(json);
    return report;
}

/* The rows of a table as text: the columns named, separated by blanks. */
static void assert_table(const struct ta_report *report, const char *id, const char *const *columns,
                         const char *expected)
{
    struct text out = {0};
    text_add(&out, "%s", "");
    const struct ta_table *table = ta_report_table(report, id);
    for (size_t row = 0; table && row < table->n_rows; row++) {
        for (size_t c = 0; columns[c]; c++) {
            const size_t column = ta_table_column(table, columns[c]);
            if (column == SIZE_MAX)
                fail_msg("%s lacks %s", id, columns[c]);
            const struct ta_cell *cell = ta_table_cell(table, row, column);
            text_add(&out, "%s", c ? " " : "");
            if (cell->kind == TA_CELL_TEXT)
                text_add(&out, "%.*s", (int)cell->text.len, cell->text.ptr);
            else if (cell->kind == TA_CELL_NULL)
                text_add(&out, "-");
            else
                text_add(&out, "%.6g", ta_cell_number(cell, 0));
        }
        text_add(&out, "\n");
    }
    assert_string_equal(out.at, expected);
    text_free(&out);
}

#define TABLE(report, id, expected, ...)                                                           \
    assert_table(report, id, (const char *const[]){__VA_ARGS__, NULL}, expected)

/* ---- pieces of snapshots ------------------------------------------------------------------- */

#define FRAME(name, file) "{'name':'" name "','filename':'" file "','line':1}"
#define STACK_A                                                                                    \
    "[" FRAME("empty", "?\?") "," FRAME("fwd", "/x/site-packages/torch/nn/m.py") "," FRAME(        \
        "a", "/p/a.py") "]"
#define STACK_B "[" FRAME("b", "/p/b.py") "," FRAME("a", "/p/a.py") "]"
#define AT(action, address, size, us)                                                              \
    "{'action':'" action "','addr':" #address ",'size':" #size ",'time_us':" #us "}"
#define BY(action, address, size, us, frames)                                                      \
    "{'action':'" action "','addr':" #address ",'size':" #size ",'time_us':" #us                   \
    ",'frames':" frames "}"
#define BLOCK(address, size, requested, state, frames)                                             \
    "{'address':" #address ",'size':" #size ",'requested_size':" #requested ",'state':'" state     \
    "','frames':" frames "}"
#define SEGMENT(device, address, total, blocks)                                                    \
    "{'device':" #device ",'address':" #address ",'total_size':" #total ",'blocks':[" blocks "]}"

/* ---- a whole history ----------------------------------------------------------------------- */

/* Each snapshot is put together from pieces of text, a line per block or entry.
 * clang-format would put them side by side. */
/* clang-format off */

/* Two blocks, then a third at the address of the first; the peak is with the second and third. */
static const char whole[] =
    "{'segments':["
    SEGMENT(0, 4096, 4096,
            BLOCK(4096, 2048, 2000, "active_allocated", STACK_B) ","
            BLOCK(6144, 512, 0, "inactive", "[]") ","
            BLOCK(6656, 1536, 0, "inactive", "[]")) ","
    SEGMENT(0, 90000, 1024, BLOCK(90000, 1024, 0, "inactive", "[]"))
    "],'device_traces':[["
    AT("segment_alloc", 4096, 4096, 10) ","
    BY("alloc", 4096, 500, 20, STACK_A) ","
    BY("alloc", 6144, 400, 30, STACK_A) ","
    AT("free_requested", 4096, 500, 40) ","
    AT("free_completed", 4096, 500, 40) ","
    AT("segment_alloc", 90000, 1024, 50) ","
    BY("alloc", 4096, 2000, 60, STACK_B) ","
    AT("free_requested", 6144, 400, 70) ","
    AT("free_completed", 6144, 400, 80) ","
    AT("snapshot", 0, 0, 90)
    "]]}";

/* The ring lost the allocations of three blocks: one freed before the peak, one after it, and one
 * that is still there and whose place the state knows. */
static const char ring[] =
    "{'segments':["
    SEGMENT(0, 0, 8192,
            BLOCK(0, 1024, 1000, "active_allocated", STACK_A) ","
            BLOCK(1024, 7168, 0, "inactive", "[]"))
    "],'device_traces':[["
    AT("free_requested", 4096, 300, 1) ","
    AT("free_completed", 4096, 300, 1) ","
    BY("alloc", 2048, 50, 2, STACK_B) ","
    AT("free_requested", 5120, 700, 3) ","
    AT("free_completed", 5120, 700, 3) ","
    AT("free_requested", 2048, 50, 4) ","
    AT("free_completed", 2048, 50, 4)
    "]]}";

static const char state_only[] =
    "{'segments':["
    SEGMENT(2, 0, 1024,
            BLOCK(0, 512, 100, "active_allocated", STACK_A) ","
            BLOCK(512, 512, 100, "active_pending_free", "[]"))
    "],'device_traces':[[],[],[]]}";

static const char history_only[] =
    "{'segments':[],'device_traces':[["
    AT("free_requested", 64, 300, 1) ","
    BY("alloc", 64, 100, 2, STACK_A) ","
    AT("segment_free", 0, 2048, 3)
    "]]}";

static const char two_devices[] =
    "{'segments':["
    SEGMENT(1, 0, 512, BLOCK(0, 512, 9, "active_allocated", STACK_B)) ","
    SEGMENT(0, 0, 512, BLOCK(0, 512, 5, "active_allocated", STACK_A))
    "],'device_traces':[["
    BY("alloc", 0, 5, 1, STACK_A) "],["
    BY("alloc", 0, 9, 7, STACK_B)
    "]]}";

static const char pending[] =
    "{'segments':["
    SEGMENT(0, 0, 1024,
            BLOCK(0, 512, 400, "active_pending_free", "[]") ","
            BLOCK(512, 512, 100, "active_allocated", "[]"))
    "],'device_traces':[["
    AT("alloc", 0, 400, 1) ","
    AT("free_requested", 0, 400, 2) ","
    AT("alloc", 512, 100, 3)
    "]]}";

static const char failing[] =
    "{'segments':[],'device_traces':[["
    AT("segment_alloc", 0, 100, 1) ","
    AT("segment_free", 0, 100, 5) ","
    AT("segment_alloc", 0, 60, 6) ","
    AT("segment_map", 64, 10, 7) ","
    AT("segment_unmap", 64, 10, 8) ","
    "{'action':'oom','device_free':33,'size':5000,'time_us':9,'frames':" STACK_B "}]]}";
/* clang-format on */

static void replays_a_whole_history(void **state)
{
    (void)state;
    struct ta_report *report = report_on(whole);
    TABLE(report, "memory.timeline",
          "0 0 0 0 0 4096\n1 10000 500 500 512 4096\n2 20000 900 900 1024 4096\n"
          "3 30000 900 900 1024 4096\n4 30000 400 900 512 4096\n5 40000 400 400 512 5120\n"
          "6 50000 2400 2400 2560 5120\n7 60000 2400 2400 2560 5120\n"
          "8 70000 2000 2400 2048 5120\n9 80000 2000 2000 2048 5120\n",
          "entry", "time_ns", "allocated_bytes", "active_bytes", "block_bytes", "reserved_bytes");
    TABLE(report, "memory.sites",
          "b (/p/b.py:1) 1 2000 2048 0.8 1 2048 1 2000 1 2000\n"
          "a (/p/a.py:1) 1 400 512 0.2 0 0 2 900 0 0\n",
          "site", "peak_blocks", "peak_bytes", "peak_block_bytes", "peak_share", "held_blocks",
          "held_bytes", "allocations", "total_bytes", "unfreed_blocks", "unfreed_bytes");
    TABLE(report, "memory.size_classes", "to 4 KiB 2 2400 1\n", "class", "peak_blocks",
          "peak_bytes", "peak_share");
    TABLE(report, "memory.fragmentation", "0 first 0 5120 2048 0 48 3072 2048 0.6 0.5\n", "rank",
          "label", "device", "reserved_bytes", "allocated_bytes", "pending_bytes", "internal_bytes",
          "free_bytes", "split_free_bytes", "gap_share", "peak_gap_share");
    TABLE(report, "memory.segments", "0 first 0 2 4 1536 0.5\n", "rank", "label", "device",
          "segments", "blocks", "largest_free_bytes", "largest_free_share");
    ta_report_free(report);
}

static void counts_the_work_of_the_allocator(void **state)
{
    (void)state;
    struct ta_report *report = report_on(whole);
    TABLE(report, "memory.churn", "10 80000 3 2 2900 900 37500 1 1 2000\n", "entries", "dur_ns",
          "allocations", "frees", "allocated_bytes", "freed_bytes", "allocations_per_s",
          "small_share", "unfreed_blocks", "unfreed_bytes");
    TABLE(report, "memory.peaks", "0 0 2400 2400 2560 5120 2 0 5120 0 0\n", "start_allocated_bytes",
          "start_block_bytes", "peak_allocated_bytes", "peak_active_bytes", "peak_block_bytes",
          "peak_reserved_bytes", "segment_allocations", "segment_frees", "segment_bytes", "retries",
          "ooms");
    assert_null(ta_report_table(report, "memory.failures"));
    ta_report_free(report);
}

/* ---- histories that are not whole ---------------------------------------------------------- */

static void anchors_a_ring_at_its_end(void **state)
{
    (void)state;
    struct ta_report *report = report_on(ring);
    TABLE(report, "memory.peaks", "2000 2560 2000 2560 8192\n", "start_allocated_bytes",
          "start_block_bytes", "peak_allocated_bytes", "peak_block_bytes", "peak_reserved_bytes");
    TABLE(report, "memory.sites",
          "(allocated before the history) 2 1000 1536\na (/p/a.py:1) 1 1000 1024\n"
          "b (/p/b.py:1) 0 0 0\n",
          "site", "peak_blocks", "peak_bytes", "peak_block_bytes");
    ta_report_free(report);
}

static void does_without_a_history(void **state)
{
    (void)state;
    struct ta_report *report = report_on(state_only);
    TABLE(report, "memory.sites", "2 a (/p/a.py:1) - - - 1 512 - - - -\n", "device", "site",
          "peak_blocks", "peak_bytes", "peak_share", "held_blocks", "held_bytes", "allocations",
          "total_bytes", "unfreed_blocks", "unfreed_bytes");
    TABLE(report, "memory.fragmentation", "512 512 824 0 0 0.5 -\n", "allocated_bytes",
          "pending_bytes", "internal_bytes", "free_bytes", "split_free_bytes", "gap_share",
          "peak_gap_share");
    TABLE(report, "memory.segments", "- -\n", "largest_free_bytes", "largest_free_share");
    assert_null(ta_report_table(report, "memory.timeline"));
    assert_null(ta_report_table(report, "memory.churn"));
    ta_report_free(report);
}

/* Without a state the end is not known, but nothing was ever below zero. */
static void does_without_a_state(void **state)
{
    (void)state;
    struct ta_report *report = report_on(history_only);
    TABLE(report, "memory.peaks", "300 300 2048\n", "start_allocated_bytes", "peak_allocated_bytes",
          "peak_reserved_bytes");
    TABLE(report, "memory.churn", "1\n", "unfreed_blocks");
    assert_null(ta_report_table(report, "memory.fragmentation"));
    ta_report_free(report);
}

/* roundup_power2_divisions: between 4 and 8 MiB there are two steps, below 2 MiB none; of a block
 * that is there at the end the size is known. */
static void rounds_as_the_allocator_is_set_to(void **state)
{
    (void)state;
    struct ta_report *report = report_on("{'segments':[" SEGMENT(
        0, 0, 20971520,
        BLOCK(0, 9437184, 8912896, "active_allocated",
              "[]")) "],"
                     "'allocator_settings':{'roundup_power2_divisions':{'1':0,'4':2,'8':0}},"
                     "'device_traces':[[" AT("alloc", 0, 8912896, 1) "," AT(
                         "alloc", 9437184, 4194305, 2) "," AT("free_requested", 9437184, 4194305,
                                                              3) "," AT("alloc", 16777216, 1048577,
                                                                        4) "," AT("free_requested",
                                                                                  16777216, 1048577,
                                                                                  5) "]]}");
    /* 9 MiB, then 6 MiB beside it, then 1 MiB and 512 B. */
    TABLE(report, "memory.timeline",
          "0 9.43718e+06\n1 1.57286e+07\n2 1.57286e+07\n3 1.04863e+07\n4 1.04863e+07\n", "entry",
          "block_bytes");
    ta_report_free(report);
}

/* ---- devices, streams, failures ------------------------------------------------------------ */

static void keeps_devices_apart(void **state)
{
    (void)state;
    struct ta_report *report = report_on(two_devices);
    TABLE(report, "memory.sites", "0 a (/p/a.py:1) 5 1\n1 b (/p/b.py:1) 9 1\n", "device", "site",
          "peak_bytes", "peak_share");
    TABLE(report, "memory.timeline", "0 rank 0 device 0 first 0 5\n1 rank 0 device 1 first 0 9\n",
          "device", "series", "time_ns", "allocated_bytes");
    ta_report_free(report);
}

/* What was let go is active until other streams have done with it. */
static void waits_for_other_streams(void **state)
{
    (void)state;
    struct ta_report *report = report_on(pending);
    TABLE(report, "memory.timeline", "0 400 400\n1 400 400\n2 100 500\n", "entry",
          "allocated_bytes", "active_bytes");
    TABLE(report, "memory.sites", "(no frames) 1 400 1 512 2 500\n", "site", "peak_blocks",
          "peak_bytes", "held_blocks", "held_bytes", "unfreed_blocks", "unfreed_bytes");
    ta_report_free(report);
}

static void lists_failures_and_retries(void **state)
{
    (void)state;
    struct ta_report *report = report_on(failing);
    TABLE(report, "memory.failures", "0 8000 b (/p/b.py:1) 5000 33 0 60\n", "index", "time_ns",
          "site", "wanted_bytes", "device_free_bytes", "allocated_bytes", "reserved_bytes");
    TABLE(report, "memory.peaks", "1 1 3 2 170\n", "retries", "ooms", "segment_allocations",
          "segment_frees", "segment_bytes");
    ta_report_free(report);
}

/* ---- call sites ---------------------------------------------------------------------------- */

static void finds_the_call_site(void **state)
{
    (void)state;
    static const struct {
        const char *file, *site;
    } files[] = {
        {"/p/torch/train.py", "f"},
        {"/usr/lib/python3/dist-packages/diffusers/x.py", "f"},
        {"torch/nn/modules/module.py", "last"},
        {"/opt/pytorch/torch/_dynamo/x.py", "last"},
        {"/v/site-packages/torch/library.py", "last"},
        {"/usr/lib/python3.11/threading.py", "last"},
        {"<frozen runpy>", "last"},
        {"?\?", "last"},
        {"", "last"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char text[1024], expected[256];
        snprintf(text, sizeof text,
                 "[{'total_size':512,'blocks':[{'size':512,'state':'active_allocated','frames':["
                 "{'name':'f','filename':'%s','line':3},"
                 "{'name':'last','filename':'/p/m.py','line':3}]}]}]",
                 files[i].file);
        snprintf(expected, sizeof expected, "%s (%s:3)\n", files[i].site,
                 strcmp(files[i].site, "f") == 0 ? files[i].file : "/p/m.py");
        struct ta_report *report = report_on(text);
        TABLE(report, "memory.sites", expected, "site");
        ta_report_free(report);
    }
}

#define NAMED(name, file, line) "{'name':'" name "','filename':'" file "','line':" #line "}"
#define RECORDER                                                                                   \
    NAMED("torch::unwind::unwind()", "?\?", 0)                                                     \
    "," NAMED("torch::CapturedTraceback::gather(bool, bool, bool)", "?\?", 0) "," NAMED(           \
        "torch::cuda::(anonymous namespace)::gather_with_cpp()", "memory_snapshot.cpp",            \
        0) "," NAMED("c10::cuda::CUDACachingAllocator::Native::malloc(void**)", "Cuda.cpp", 0)

/* The default of _record_memory_history() puts frames of C++ on top, and no thread of autograd has
 * any other. */
static void passes_over_native_frames(void **state)
{
    (void)state;
    static const struct {
        const char *frames, *site;
    } stacks[] = {
        {RECORDER "," NAMED("f", "/p/m.py", 3) "," NAMED("_PyEval_Vector", "?\?", 0),
         "f (/p/m.py:3)\n"},
        {RECORDER "," NAMED("g", "torch/nn/functional.py", 4), "g (torch/nn/functional.py:4)\n"},
        {RECORDER "," NAMED("at::native::empty_like(int)", "", 0) "," NAMED(
             "at::(anonymous namespace)::mm(int)", "RegisterCUDA.cpp",
             0) "," NAMED("torch::autograd::generated::MmBackward0::apply(int)", "?\?", 0),
         "torch::autograd::generated::MmBackward0::apply\n"},
        {RECORDER "," NAMED("at::(anonymous namespace)::mm(int)", "RegisterCUDA.cpp", 0),
         "at::(anonymous namespace)::mm\n"},
        {RECORDER, "(no Python frame)\n"},
        {RECORDER "," NAMED("call", "/tmp/torchinductor_root/ab/cab.py", 9) "," NAMED(
             "run", "C:\\\\py\\\\Lib\\\\site-packages\\\\torch\\\\nn\\\\m.py",
             5) "," NAMED("step", "<ipython-input-3-0a>", 2),
         "step (<ipython-input-3-0a>:2)\n"},
    };
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        char text[4096];
        snprintf(text, sizeof text,
                 "[{'total_size':512,'blocks':[{'size':512,'state':'active_allocated','frames':[%s]"
                 "}]}]",
                 stacks[i].frames);
        struct ta_report *report = report_on(text);
        TABLE(report, "memory.sites", stacks[i].site, "site");
        ta_report_free(report);
    }
}

/* ---- long histories ------------------------------------------------------------------------ */

/* However long a history is, the drawn one has few rows and the same peak. */
static void keeps_the_peak_of_a_long_history(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, "{'segments':[],'device_traces':[[");
    for (int i = 0; i < 5000; i++)
        text_add(&text, "%s{'action':'%s','addr':%d,'size':%d}", i ? "," : "",
                 i % 2 ? "free_requested" : "alloc", i / 2, i / 2 == 1234 ? 99 : 7);
    text_add(&text, "]]}");
    struct ta_report *report = report_on(text.at);
    const struct ta_table *table = ta_report_table(report, "memory.timeline");
    assert_non_null(table);
    assert_true(table->n_rows > 200 && table->n_rows <= 240);
    const size_t column = ta_table_column(table, "allocated_bytes");
    int64_t most = 0;
    for (size_t row = 0; row < table->n_rows; row++)
        ta_most(&most, ta_table_cell(table, row, column)->i);
    assert_int_equal(most, 99);
    ta_report_free(report);
    text_free(&text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(replays_a_whole_history),
        TEST(counts_the_work_of_the_allocator),
        TEST(anchors_a_ring_at_its_end),
        TEST(does_without_a_history),
        TEST(does_without_a_state),
        TEST(keeps_devices_apart),
        TEST(waits_for_other_streams),
        TEST(lists_failures_and_retries),
        TEST(finds_the_call_site),
        TEST(passes_over_native_frames),
        TEST(rounds_as_the_allocator_is_set_to),
        TEST(keeps_the_peak_of_a_long_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
