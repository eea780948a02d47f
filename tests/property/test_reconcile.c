/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of dumps: the same bytes from any number of threads and any order of files and operands,
 * and a report from dumps alone. */
#include "pipeline.h"
#include "report_fixture.h"

#include <stdio.h>
#include <sys/stat.h>

/* ---- a folder of dumps --------------------------------------------------------------------- */

enum { RANKS = 3, FILES = 4 * RANKS + 3 };

static void make_report(struct text *text, size_t rank)
{
    text_add(text,
             "{\"timestamp\": 1700000010.5, \"timing_stats\": {\"denoise\": {\"count\": %zu,"
             " \"total\": 1.5, \"mean\": 0.75, \"min\": 0.5, \"max\": 1.0, \"last\": NaN}},"
             " \"memory_snapshots\": [{\"label\": \"start %zu\", \"timestamp\": 1700000000.25,"
             " \"allocated_mb\": 1.5, \"reserved_mb\": 2, \"max_allocated_mb\": 1.75}],"
             " \"iteration_stats\": {}}",
             rank + 2, rank);
}

static void make_log(struct text *text, size_t rank)
{
    text_add(text,
             "[{\"label\": \"start %zu\", \"timestamp\": 1700000000.25, \"allocated_mb\": 1.5,"
             " \"reserved_mb\": 2, \"max_allocated_mb\": 1.75}]",
             rank);
}

static void make_stages(struct text *text)
{
    text_add(text, "scope,rank,pid,step,stage,cpu_ms,cuda_ms,device,exception\n");
    for (int i = 0; i < 50; i++)
        text_add(text, "engine,%s,77,%d,forward,%d.25,%d.125,0,\n",
                 i % 3 == 2   ? ""
                 : i % 3 == 1 ? "5"
                              : "1",
                 i, i + 1, i);
}

/* The name and the content of a file. */
static void make_file(size_t i, char *name, size_t size, struct text *text)
{
    const size_t rank = i / 4;
    if (i == 4 * RANKS) {
        snprintf(name, size, "stage_timing.csv");
        make_stages(text);
    } else if (i == 4 * RANKS + 1) {
        snprintf(name, size, "notes.md");
        text_add(text, "# Notes\n\nNothing to read.\n");
    } else if (i == 4 * RANKS + 2) {
        snprintf(name, size, "page.html");
        text_add(text, "<!DOCTYPE html><html></html>\n");
    } else if (i % 4 == 0) {
        snprintf(name, size, "rank_%zu/profiling_report.json", rank);
        make_report(text, rank);
    } else if (i % 4 == 1) {
        snprintf(name, size, "rank_%zu/memory_log.json", rank);
        make_log(text, rank);
    } else if (i % 4 == 2) {
        snprintf(name, size, "rank_%zu/trace.json", rank);
        fixture_trace_text(text, rank, 100, 1, (int64_t)rank);
    } else {
        snprintf(name, size, "rank_%zu/dmon.txt", rank);
        text_add(text, "# gpu    sm   mem\n# Idx     %%     %%\n");
        for (size_t s = 0; s < 9 + rank; s++)
            text_add(text, "    0    %zu    %zu\n    1    7     9\n", 10 * s, s);
    }
}

/* Fills a folder, its files made in an order that depends on `turn`. */
static void fill(const char *root, size_t turn)
{
    char path[256], name[64];
    for (size_t rank = 0; rank < RANKS; rank++) {
        snprintf(path, sizeof path, "%s/rank_%zu", root, rank);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    for (size_t i = 0; i < FILES; i++) {
        struct text text = {0};
        make_file((i * 4 + turn * 7) % FILES, name, sizeof name, &text);
        snprintf(path, sizeof path, "%s/%s", root, name);
        fixture_write(path, text.at, text.n);
        text_free(&text);
    }
}

static void make_folders(const char *path)
{
    char part[256];
    for (size_t i = 1; path[i]; i++)
        if (path[i] == '/') {
            snprintf(part, sizeof part, "%.*s", (int)i, path);
            (void)!mkdir(part, 0700);
        }
}

static void threads_and_folders(void **state)
{
    (void)state;
    assert_same_for_all_jobs(fill);
}

static void orders_of_operands(void **state)
{
    (void)state;
    char root[64], paths[RANKS + 1][128];
    const char *inputs[RANKS + 1];
    fixture_folder(root);
    fill(root, 0);
    for (size_t i = 0; i < RANKS; i++)
        snprintf(paths[i], sizeof paths[i], "%s/rank_%zu", root, i);
    snprintf(paths[RANKS], sizeof paths[RANKS], "%s/stage_timing.csv", root);
    size_t size = 0, again;
    char *expected = NULL;
    for (size_t turn = 0; turn < 4; turn++) {
        for (size_t i = 0; i <= RANKS; i++)
            inputs[i] = paths[(i * 3 + turn) % (RANKS + 1)];
        char *bytes = report_bytes(inputs, RANKS + 1, 1 + (unsigned)turn, &again);
        if (expected) {
            assert_same_bytes(expected, size, bytes, again);
        } else {
            expected = bytes;
            size = again;
        }
    }
    free(expected);
    fixture_remove(root);
}

/* ---- what becomes of the files ------------------------------------------------------------- */

static const struct ta_file_account *account_of(const struct ta_report *report, const char *path)
{
    const struct ta_accounts *accounts = ta_report_accounts(report);
    for (size_t i = 0; i < accounts->n_files; i++)
        if (strcmp(accounts->files[i].path, path) == 0)
            return &accounts->files[i];
    fail_msg("No account of \"%s\"", path);
    return NULL;
}

static const struct ta_quality_finding *finding_of(const struct ta_report *report,
                                                   enum ta_quality_code code)
{
    const struct ta_accounts *accounts = ta_report_accounts(report);
    for (size_t i = 0; i < accounts->n_findings; i++)
        if (accounts->findings[i].code == code)
            return &accounts->findings[i];
    return NULL;
}

static void files_of_a_rank_join(void **state)
{
    (void)state;
    char root[64];
    fixture_folder(root);
    fill(root, 0);
    const char *const inputs[] = {root};
    struct ta_report *report = report_of_run(inputs, 1, 2);
    assert_int_equal(ta_report_accounts(report)->n_files, FILES - 2);
    assert_int_equal(ta_report_accounts(report)->totals.files_refused, 0);
    assert_null(finding_of(report, TA_Q_RANK_DUPLICATE));
    assert_int_equal(finding_of(report, TA_Q_SKIPPED_FILE)->count, 2);
    assert_int_equal(finding_of(report, TA_Q_DUPLICATE_CONTENT)->count, RANKS);
    const struct ta_file_account *file = account_of(report, "rank_2/memory_log.json");
    assert_int_equal(file->rank, 2);
    assert_true(file->is_dump);
    assert_int_equal(file->events_kept, 1); /* whatever counts in the end */
    file = account_of(report, "stage_timing.csv");
    assert_true(file->rank == TA_MISSING);
    assert_int_equal(file->rank_source, TA_RANK_CONTENT);
    assert_false(account_of(report, "rank_0/trace.json")->is_dump);
    size_t size;
    char *bytes = fixture_render(&fixture, report, "json", &size);
    /* Ranks of rows are ranks of the run. */
    assert_non_null(memmem(bytes, size, "\"ranks\": [0, 1, 2, 5]", 21));
    free(bytes);
    ta_report_free(report);
    fixture_remove(root);
}

/* What is broken in the middle costs what is broken, and that is counted; what is cut is said. */
static void broken_dumps_are_mended(void **state)
{
    (void)state;
    static const char report[] =
        "{\"timestamp\": 1700000010.5, \"timing_stats\": {\"a\": {\"count\": 1,"
        " \"total\": 1.5}}, \"memory_snapshots\": [],"
        " \"iteration_stats\": {}";
    static const struct {
        const char *end;
        enum ta_file_state state;
        uint64_t skipped;
    } cases[] = {{"}", TA_FILE_OK, 0}, {" 5}", TA_FILE_REPAIRED, 1}, {"", TA_FILE_TRUNCATED, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char root[64], path[128];
        struct text text = {0};
        fixture_folder(root);
        snprintf(path, sizeof path, "%s/profiling_report.json", root);
        text_add(&text, "%s%s", report, cases[i].end);
        fixture_write(path, text.at, text.n);
        const char *const inputs[] = {root};
        struct ta_report *made = report_of_run(inputs, 1, 1);
        const struct ta_file_account *file = account_of(made, "profiling_report.json");
        assert_int_equal(file->state, cases[i].state);
        assert_int_equal(file->bytes_skipped, cases[i].skipped);
        assert_int_equal(file->events_kept, 1);
        ta_report_free(made);
        text_free(&text);
        fixture_remove(root);
    }
}

/* ---- all that one rank writes -------------------------------------------------------------- */

static void write_file(const char *root, const char *name, const char *content)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    make_folders(path);
    fixture_write(path, content, strlen(content));
}

/* A trace whose clock names its base, or not, a snapshot of the allocator, the report of a session
 * and samples of a device without stamps. */
static void fill_all_kinds(const char *root, bool dated)
{
    char trace[700];
    snprintf(trace, sizeof trace,
             "{\"distributedInfo\": {\"rank\": 2, \"world_size\": 4}, %s\"traceEvents\": ["
             "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, \"tid\": 1, "
             "\"ts\": 1000000, \"dur\": 5000}]}",
             dated ? "\"baseTimeNanoseconds\": 1700000000000000000, " : "");
    write_file(root, "run/rank_2/worker.trace.json", trace);
    write_file(
        root, "run/rank_2/memory.pickle",
        "{\"segments\": [{\"device\": 0, \"address\": 4096, \"total_size\": 2097152, \"blocks\": "
        "[{\"size\": 1048576, \"requested_size\": 1048576, \"state\": \"active_allocated\"},"
        "{\"size\": 1048576, \"state\": \"inactive\"}]}], \"device_traces\": [["
        "{\"action\": \"alloc\", \"addr\": 4096, \"size\": 1048576, \"time_us\": "
        "1700000001500000}]]}");
    write_file(
        root, "run/rank_2/profiling_report_x_20231114_221322.json",
        "{\"session_info\": {\"id\": \"x\", \"start_time\": 1700000000.5, \"end_time\": "
        "1700000002.5, \"duration\": 2.0, \"tags\": {\"rank\": 2}}, \"summary\": {}, "
        "\"stage_analysis\": {\"total_stages\": 1, \"total_time\": 1.0, \"stages\": {\"decode\": "
        "{\"total_time\": 1.0, \"call_count\": 1, \"avg_time\": 1.0, \"min_time\": 1.0, "
        "\"max_time\": 1.0}}, \"bottlenecks\": []}, \"events\": [], \"recommendations\": []}");
    write_file(root, "run/rank_2/dmon.txt",
               "# gpu    sm   pwr\n# Idx     %     W\n    0    50   300\n    0    60   310\n");
}

static size_t row_of(const struct ta_table *table, const char *column, const char *ending)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct ta_slice text = ta_table_cell(table, i, ta_table_column(table, column))->text;
        const size_t n = strlen(ending);
        if (text.len >= n && memcmp(text.ptr + text.len - n, ending, n) == 0)
            return i;
    }
    fail_msg("%s has no row %s", table->id, ending);
    return 0;
}

static void assert_clock(const struct ta_report *report, const char *file, const char *clock,
                         int64_t start_ns)
{
    const struct ta_table *table = ta_report_table(report, "run.clocks");
    assert_non_null(table);
    const size_t row = row_of(table, "path", file);
    const struct ta_cell *start = ta_table_cell(table, row, ta_table_column(table, "start_ns"));
    assert_true(ta_slice_equal(ta_table_cell(table, row, ta_table_column(table, "clock"))->text,
                               ta_slice_of(clock)));
    assert_int_equal(ta_table_cell(table, row, ta_table_column(table, "rank"))->i, 2);
    assert_int_equal(start->kind, start_ns == TA_MISSING ? TA_CELL_NULL : TA_CELL_INT);
    if (start_ns != TA_MISSING)
        assert_int_equal(start->i, start_ns);
}

/* All of them are of one rank and stand on one axis where their clocks have a date; what does not
 * is said. */
static void all_kinds_of_a_rank_join(void **state)
{
    (void)state;
    static const char *const tables[] = {"ops.by_name", "stages.by_name", "memory.by_rank",
                                         "telemetry.by_rank", "run.sessions"};
    const int64_t ms = 1000000;
    for (int dated = 0; dated < 2; dated++) {
        char root[64];
        fixture_folder(root);
        fill_all_kinds(root, dated);
        const char *const inputs[] = {root};
        struct ta_report *report = report_of_run(inputs, 1, 2);
        assert_int_equal(ta_report_accounts(report)->totals.files_used, 4);
        assert_int_equal(ta_report_run(report)->n_ranks, 1);
        assert_int_equal(ta_report_run(report)->ranks[0], 2);
        for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
            assert_non_null(ta_report_table(report, tables[i]));
        /* From the start of the session at 0.5 s on. */
        assert_clock(report, "x_20231114_221322.json", "date", 0);
        assert_clock(report, "memory.pickle", "date", 1000 * ms);
        assert_clock(report, "dmon.txt", "relative", TA_MISSING);
        assert_clock(report, "worker.trace.json", dated ? "date" : "own",
                     dated ? 500 * ms : TA_MISSING);
        /* The samples, and of the undated trace each dump with a date. */
        const struct ta_quality_finding *finding = finding_of(report, TA_Q_UNALIGNED);
        assert_non_null(finding);
        assert_int_equal(finding->count, dated ? 1 : 3);
        ta_report_free(report);
        fixture_remove(root);
    }
}

static void dumps_alone_make_a_report(void **state)
{
    (void)state;
    char root[64], path[128];
    struct text text = {0};
    fixture_folder(root);
    snprintf(path, sizeof path, "%s/profiling_report.json", root);
    make_report(&text, 0);
    fixture_write(path, text.at, text.n);
    text_free(&text);
    const char *const inputs[] = {root};
    struct ta_report *report = report_of_run(inputs, 1, 1);
    const struct ta_file_account *file = account_of(report, "profiling_report.json");
    assert_int_equal(file->rank, 0);
    assert_int_equal(file->rank_source, TA_RANK_DEFAULT);
    ta_report_free(report);
    fixture_remove(root);
}

/* ---- ranks that wrote the same ------------------------------------------------------------- */

/* Forms of names with a rank and a file of it. */
static const char *const homes[] = {"rank_%zu/%s", "rank%zu/%s", "out/rank-%zu/%s",
                                    "job/rank_%zu/x/%s", "a.rank%zu.%s"};

/* The same bytes for each of `n` ranks, and a copy beside that of the first. */
static void fill_equal(const char *root, size_t home, size_t n, bool trace)
{
    struct text text = {0};
    char path[256], name[128];
    if (trace)
        fixture_trace_text(&text, 100, 100, 1, 7);
    else
        make_report(&text, 0);
    for (size_t i = 0; i <= n; i++) {
        snprintf(name, sizeof name, homes[home], i < n ? i * 3 : 0,
                 i < n ? "profiling_report.json" : "zcopy.json");
        snprintf(path, sizeof path, "%s/%s", root, name);
        make_folders(path);
        fixture_write(path, text.at, text.n);
    }
    text_free(&text);
}

/* How many calls the stages of a rank have together. */
static int64_t calls_of(const struct ta_report *report, int64_t rank)
{
    const struct ta_table *stages = ta_report_table(report, "stages.by_name");
    assert_non_null(stages);
    int64_t calls = 0;
    for (size_t row = 0; row < stages->n_rows; row++)
        if (ta_table_cell(stages, row, ta_table_column(stages, "rank"))->i == rank)
            calls += ta_table_cell(stages, row, ta_table_column(stages, "calls"))->i;
    return calls;
}

/* No rank is lost because another wrote the same, and a copy of the same rank counts once. */
static void equal_dumps_of_ranks(void **state)
{
    (void)state;
    for (size_t home = 0; home < sizeof homes / sizeof *homes; home++)
        for (size_t n = 1; n <= 4; n++) {
            char root[64];
            fixture_folder(root);
            fill_equal(root, home, n, false);
            const char *const inputs[] = {root};
            struct ta_report *report = report_of_run(inputs, 1, 2);
            assert_int_equal(ta_report_accounts(report)->totals.files_used, n);
            assert_int_equal(ta_report_run(report)->n_ranks, n);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(calls_of(report, (int64_t)i * 3), 2);
            ta_report_free(report);
            fixture_remove(root);
        }
}

/* With time stamps, equal bytes are a copy. */
static void equal_traces_are_copies(void **state)
{
    (void)state;
    char root[64];
    fixture_folder(root);
    fill_equal(root, 0, 3, true);
    const char *const inputs[] = {root};
    struct ta_report *report = report_of_run(inputs, 1, 2);
    assert_int_equal(ta_report_accounts(report)->totals.files_used, 1);
    ta_report_free(report);
    fixture_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_folders),      cmocka_unit_test(orders_of_operands),
        cmocka_unit_test(files_of_a_rank_join),     cmocka_unit_test(broken_dumps_are_mended),
        cmocka_unit_test(all_kinds_of_a_rank_join), cmocka_unit_test(dumps_alone_make_a_report),
        cmocka_unit_test(equal_dumps_of_ranks),     cmocka_unit_test(equal_traces_are_copies),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
