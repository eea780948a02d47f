/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One report with hostile names, written by the outputs made of text and read back. */
#include "traceanalyze/output.h"

#include "base/context.h"
#include "files.h"
#include "plugin/registry.h"
#include "report/report.h"
#include "traceanalyze/chart.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the report ---------------------------------------------------------------------- */

static const char *const names[] = {
    "<script>alert(1)</script>",
    "=HYPERLINK(\"http://x\",\"y\")",
    "\x1b]0;owned\x07\x1b[2J",
    "gnp\xe2\x80\xae.exe \xc2\x9b",
    "bad \xff\xc3 bytes",
    "pipe | `tick` \\| end",
    "%s%n %d",
    "日本語カーネル🔥",
    "line\nbreak\ttab\r",
    "",
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8>",
};
enum { NAMES = sizeof names / sizeof *names };

static const struct ta_column kernel_columns[] = {
    {"name", "Kernel", TA_TEXT, .doc = "Name as recorded."},
    {"class", "Class", TA_TEXT, .doc = "Class of the kernel."},
    {"calls", "Calls", TA_COUNT, .doc = "Number of launches."},
    {"total_ns", "Total time", TA_NS, .better = TA_LOWER, .doc = "Sum of durations."},
    {"mean_ns", "Mean", TA_NS_MEAN, .better = TA_LOWER, .doc = "Total by calls."},
    {"stddev_ns", "Std. dev.", TA_NS_MEAN, .better = TA_LOWER, .doc = "Of the sample."},
    {"hot", "Hot", TA_FLAG, .doc = "Whether it matters."},
};
enum { KERNEL_COLUMNS = sizeof kernel_columns / sizeof *kernel_columns };

static const struct ta_chart kernel_chart = {
    .id = "top-kernels",
    .title = "Top kernels",
    .caption = "By total time.",
    .kind = TA_CHART_PARETO,
    .label = {"name"},
    .y = {{"total_ns", "Total time", TA_INK_COMPUTE}},
};

static const struct ta_column gpu_columns[] = {
    {"rank", "Rank", TA_INTEGER, .doc = "Rank."},
    {"window_ns", "Window", TA_NS, .better = TA_LOWER, .doc = "First start to last end."},
    {"busy_ns", "Busy", TA_NS, .doc = "Any activity."},
    {"idle_ns", "Idle", TA_NS, .better = TA_LOWER, .doc = "Window less busy."},
};

static const struct ta_table_def gpu_table = {
    "gpu_time.by_rank", "GPU time per rank", TA_COLUMNS(gpu_columns),
    .brief = &(const struct ta_brief){.place = 1, .rows = 8, .largest = &gpu_columns[3]}};

static const struct ta_table_def kernel_table = {
    "kernels.by_name", "Kernels", TA_COLUMNS(kernel_columns),
    .brief = &(const struct ta_brief){.place = 2, .rows = 8, .largest = &kernel_columns[3]}};

static const struct ta_chart gpu_chart = {
    .id = "gpu-time-breakdown",
    .title = "GPU time",
    .caption = "Per rank.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {"rank"},
    .y = {{"busy_ns", "Busy", TA_INK_COMPUTE}, {"idle_ns", "Idle", TA_INK_IDLE}},
};

static void add_tables(struct ta_report *report)
{
    struct ta_section_builder *gpu = ta_report_open_section(report, "gpu_time", "GPU time");
    struct ta_table_builder *table =
        ta_add_table(gpu, "gpu_time.by_rank", "GPU time per rank", gpu_columns, 4);
    ta_table_set_def(table, &gpu_table);
    for (int64_t rank = 0; rank < 40; rank++)
        TA_CELLS(table, ta_int(rank), ta_int(1000000000), ta_int(10000000 * rank),
                 ta_int(1000000000 - 10000000 * rank));
    ta_add_chart(table, &gpu_chart);
    struct ta_section_builder *kernels = ta_report_open_section(report, "kernels", "Kernels");
    table = ta_add_table(kernels, "kernels.by_name", "Kernels", kernel_columns, KERNEL_COLUMNS);
    ta_table_set_def(table, &kernel_table);
    for (int64_t i = 0; i < NAMES; i++)
        TA_CELLS(table, ta_text(ta_slice_of(names[i])), ta_text(TA_LIT("compute")), ta_int(i + 1),
                 ta_int(i == 5 ? 10 : INT64_C(1000000000) / (i + 1)), ta_num(1e9 / (double)(i + 1)),
                 i ? ta_num(0.1) : ta_null(), ta_bool(i == 0));
    ta_add_chart(table, &kernel_chart);
}

static void add_findings(struct ta_report *report)
{
    struct ta_section_builder *section = ta_report_open_section(report, "findings", "Findings");
    const struct ta_evidence evidence[] = {
        {"kernels.by_name", "total_ns", ta_text(ta_slice_of(names[2])), ta_int(333333333),
         TA_UNIT_NS},
        {"gpu_time.by_rank", "idle_ns", ta_int(0), ta_int(1000000000), TA_UNIT_NS},
    };
    ta_add_finding(section, &(struct ta_finding){.id = "idle",
                                                 .rule = "gpu_idle",
                                                 .title = "The GPU waits for <b>\x1b[1m</b> | x",
                                                 .advice = "Use CUDA graphs.",
                                                 .severity = TA_HIGH,
                                                 .evidence = evidence,
                                                 .n_evidence = 2,
                                                 .saving_low_ns = 1000,
                                                 .saving_high_ns = 2000000,
                                                 .confidence = 0.8,
                                                 .threshold = "idle_ns / window_ns > 15 %"});
    ta_add_finding(section, &(struct ta_finding){.id = "copies",
                                                 .rule = "copies",
                                                 .title = "Copies are slow",
                                                 .severity = TA_LOW,
                                                 .evidence = evidence + 1,
                                                 .n_evidence = 1,
                                                 .saving_low_ns = TA_MISSING,
                                                 .saving_high_ns = TA_MISSING,
                                                 .confidence = 0.5});
}

static void add_accounts(struct ta_report *report)
{
    static const struct ta_quality_finding damage[] = {
        {TA_Q_TRUNCATED, TA_QUALITY_LOSS, 1, 77, 77, 42, "Ends in \x1b[31m mid-event."},
        {TA_Q_STRING_NUMBER, TA_QUALITY_INFO, 9, TA_NO_OFFSET, TA_NO_OFFSET, TA_NO_OFFSET, ""},
    };
    static const struct ta_file_account files[] = {
        {.path = "=rank0\x1b]0;x\x07|`.json",
         .format = "chrome_json",
         .state = TA_FILE_TRUNCATED,
         .rank = 0,
         .rank_source = TA_RANK_NAME,
         .bytes = 50,
         .raw_bytes = 90,
         .events_seen = 3,
         .events_kept = 2,
         .events_dropped = 1,
         .first_ts_ns = 0,
         .last_ts_ns = INT64_MAX,
         .findings = damage,
         .n_findings = 2},
        {.path = "not a trace",
         .format = "",
         .state = TA_FILE_REFUSED,
         .rank = TA_MISSING,
         .rank_source = TA_RANK_NONE,
         .first_ts_ns = TA_MISSING,
         .last_ts_ns = TA_MISSING},
    };
    static const struct ta_quality_finding job[] = {
        {TA_Q_RANK_MISSING, TA_QUALITY_NOTICE, 1, TA_NO_OFFSET, TA_NO_OFFSET, TA_NO_OFFSET,
         "Rank 1 has no trace."},
    };
    ta_report_set_accounts(report, &(struct ta_accounts){.status = TA_QUALITY_LOSSY,
                                                         .totals = {2, 1, 1, 3, 2, 0, 1, 13},
                                                         .files = files,
                                                         .n_files = 2,
                                                         .findings = job,
                                                         .n_findings = 1});
}

static struct ta_report *make_report(void)
{
    struct ta_report *report = ta_report_new();
    assert_non_null(report);
    const int64_t ranks[] = {0, 2};
    ta_report_set_run(report, &(struct ta_run_info){.title = "run \x1b[5m<i>`|",
                                                    .ranks = ranks,
                                                    .n_ranks = 2,
                                                    .world_size = 3,
                                                    .devices = "2× NVIDIA H200"});
    ta_report_set_verdict(report, "GPU busy 20 % \xe2\x80\xae of <time>", "idle");
    struct ta_section_builder *overview = ta_report_open_section(report, "overview", "Overview");
    ta_add_scalar(overview, &(struct ta_scalar){"busy", "GPU busy", ta_num(0.2), TA_UNIT_RATIO,
                                                TA_HIGHER, "busy / window"});
    ta_add_scalar(overview,
                  &(struct ta_scalar){"none", "Unknown", ta_null(), TA_UNIT_NS, TA_LOWER, NULL});
    add_findings(report);
    add_tables(report);
    ta_add_missing(ta_report_open_section(report, "memory", "Memory"), "No %s was found.",
                   "snapshot");
    add_accounts(report);
    assert_int_equal(ta_report_freeze(report), TA_OK);
    return report;
}

/* ---- writing and reading ------------------------------------------------------------- */

static struct fixture {
    struct ta_shared shared;
    struct ta_ctx ctx;
    struct ta_registry *registry;
    struct ta_report *report;
    char root[64];
} fixture;

static struct ta_render_options options = {
    .top = 8, .columns = 80, .theme = "auto", .version = "1.2.3"};

static char *read_product(const char *name, size_t *length)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", fixture.root, name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s is missing", name);
    const size_t most = 1 << 20;
    char *bytes = malloc(most);
    assert_non_null(bytes);
    *length = fread(bytes, 1, most - 1, file);
    bytes[*length] = '\0';
    fclose(file);
    return bytes;
}

static void write_with(const char *id, const struct ta_report *report, enum ta_sink_kind kind,
                       const char *place)
{
    const struct ta_entry *entry = ta_registry_find(fixture.registry, TA_KIND_output, id);
    assert_non_null(entry);
    char path[512];
    snprintf(path, sizeof path, "%s/%s", fixture.root, place);
    struct ta_sink *sink = ta_sink_new(&fixture.ctx, kind, path);
    assert_non_null(sink);
    enum ta_status status = entry->plugin.output->write(&fixture.ctx, report, &options, sink);
    if (status == TA_OK)
        status = ta_sink_commit(&fixture.ctx, sink);
    ta_sink_free(sink);
    if (status != TA_OK)
        fail_msg("%s: %s", id, ta_ctx_causes(&fixture.ctx));
}

/* Writes into the folder and hands back one product of it. */
static char *product_of(const char *id, const char *name, size_t *length)
{
    write_with(id, fixture.report, TA_SINK_FOLDER, "");
    return read_product(name, length);
}

/* No control but those given, no bidirectional control, nothing that is not UTF-8. */
static void assert_clean(const char *bytes, size_t length, const char *allowed)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        if ((c < 0x20 && !strchr(allowed, c)) || c == 0x7f)
            fail_msg("control character %02x at byte %zu", c, i);
        if (c == 0xc2 && (unsigned char)bytes[i + 1] < 0xa0)
            fail_msg("control character c2 %02x", (unsigned char)bytes[i + 1]);
        assert_int_not_equal(c, 0xff);
    }
    assert_null(strstr(bytes, "\xe2\x80\xae"));
}

/* ---- JSON ---------------------------------------------------------------------------- */

static json_t *find_item(const json_t *report, const char *id)
{
    size_t s, i;
    json_t *section, *item;
    json_array_foreach(json_object_get(report, "sections"), s, section) json_array_foreach(
        json_object_get(section, "items"), i,
        item) if (strcmp(json_string_value(json_object_get(item, "id")), id) == 0) return item;
    fail_msg("report.json has no item %s", id);
    return NULL;
}

static const char *text_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void json_says_everything(void **state)
{
    (void)state;
    size_t length;
    char *bytes = product_of("json", "report.json", &length);
    assert_clean(bytes, length, "\n");
    json_t *report = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(report);
    assert_string_equal(text_at(report, "schema"), "traceanalyze.report/1");
    assert_string_equal(text_at(json_object_get(report, "generator"), "version"), "1.2.3");
    assert_string_equal(text_at(json_object_get(report, "verdict"), "bottleneck"), "idle");

    const json_t *table = find_item(report, "kernels.by_name");
    const json_t *rows = json_object_get(table, "rows");
    assert_int_equal(json_array_size(rows), NAMES); /* --top does not matter here */
    assert_int_equal(json_array_size(json_object_get(table, "columns")), KERNEL_COLUMNS);
    for (size_t i = 0; i < NAMES; i++) {
        const json_t *row = json_array_get(rows, i);
        const char *name = json_string_value(json_array_get(row, 0));
        if (i == 4)
            assert_string_equal(name, "bad \xef\xbf\xbd\xef\xbf\xbd bytes");
        else
            assert_string_equal(name, names[i]);
        assert_int_equal(json_integer_value(json_array_get(row, 2)), i + 1);
    }
    assert_true(json_is_null(json_array_get(json_array_get(rows, 0), 5)));
    assert_true(json_is_true(json_array_get(json_array_get(rows, 0), 6)));
    assert_string_equal(text_at(json_object_get(table, "chart"), "kind"), "pareto");

    const json_t *finding = find_item(report, "idle");
    assert_int_equal(json_array_size(json_object_get(finding, "evidence")), 2);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(finding, "saving_ns"), "high")),
        2000000);
    assert_true(json_is_null(json_object_get(find_item(report, "copies"), "saving_ns")));
    json_decref(report);
    free(bytes);
}

static void json_keeps_accounts(void **state)
{
    (void)state;
    size_t length;
    char *bytes = product_of("json", "report.json", &length);
    json_t *report = json_loadb(bytes, length, 0, NULL);
    const json_t *quality = json_object_get(report, "data_quality");
    assert_string_equal(text_at(quality, "status"), "lossy");
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(quality, "totals"), "bytes_skipped")),
        13);
    const json_t *file = json_array_get(json_object_get(quality, "files"), 0);
    assert_string_equal(text_at(file, "file"), "=rank0\x1b]0;x\x07|`.json");
    assert_string_equal(text_at(file, "rank_source"), "name");
    const json_t *damage = json_array_get(json_object_get(file, "findings"), 0);
    assert_string_equal(text_at(damage, "code"), "truncated");
    assert_int_equal(json_integer_value(json_object_get(damage, "byte_offset")), 77);
    assert_int_equal(json_integer_value(json_object_get(damage, "file_offset")), 42);
    const json_t *vague = json_array_get(json_object_get(file, "findings"), 1);
    assert_true(json_is_null(json_object_get(vague, "byte_offset")));
    assert_null(json_object_get(vague, "file_offset"));
    const json_t *refused = json_array_get(json_object_get(quality, "files"), 1);
    assert_true(json_is_null(json_object_get(refused, "rank")));
    assert_int_equal(json_array_size(json_object_get(quality, "findings")), 1);
    json_decref(report);
    free(bytes);
}

/* ---- CSV ----------------------------------------------------------------------------- */

static void csv_has_a_file_per_table(void **state)
{
    (void)state;
    size_t length;
    char *bytes = product_of("csv", "tables/kernels.by_name.csv", &length);
    assert_clean(bytes, length, "\r\n");
    static const char head[] = "name,class,calls,total_ns,mean_ns,stddev_ns,hot\r\n"
                               "<script>alert(1)</script>,compute,1,1000000000,1000000000,,true\r\n"
                               "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\",compute,2,";
    assert_memory_equal(bytes, head, sizeof head - 1);
    assert_non_null(strstr(bytes, "line\\x0abreak\\x09tab\\x0d,"));
    assert_non_null(strstr(bytes, "\r\n\"\",compute,10,"));
    free(bytes);
    bytes = read_product("tables/findings.csv", &length);
    assert_clean(bytes, length, "\r\n");
    assert_non_null(strstr(bytes, ",gpu_time.by_rank,0,idle_ns,1000000000,ns\r\n"));
    free(bytes);
    bytes = read_product("tables/data_quality.csv", &length);
    assert_clean(bytes, length, "\r\n");
    assert_non_null(strstr(bytes, "\r\ntruncated,loss,\"'=rank0"));
    assert_non_null(strstr(bytes, "\r\nrank-missing,notice,,1,,,,Rank 1 has no trace.\r\n"));
    free(bytes);
}

static void csv_fits_one_file(void **state)
{
    (void)state;
    size_t length;
    write_with("csv", fixture.report, TA_SINK_FILE, "all.csv");
    char *bytes = read_product("all.csv", &length);
    assert_clean(bytes, length, "\r\n");
    static const char head[] = "# traceanalyze.report/1\r\n\r\n# gpu_time.by_rank\r\nrank,";
    assert_memory_equal(bytes, head, sizeof head - 1);
    assert_non_null(strstr(bytes, "\r\n\r\n# kernels.by_name\r\nname,"));
    assert_non_null(strstr(bytes, "\r\n\r\n# data_quality\r\ncode,"));
    free(bytes);
}

/* ---- Markdown ------------------------------------------------------------------------ */

/* Pipes that end a cell of a Markdown table: those without a backslash before. */
static size_t count_cell_ends(const char *line, size_t length)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\\')
            i++;
        else
            n += line[i] == '|';
    }
    return n;
}

static void markdown_keeps_names_in_their_cells(void **state)
{
    (void)state;
    size_t length;
    char *bytes = product_of("md", "report.md", &length);
    assert_clean(bytes, length, "\n");
    assert_null(strstr(bytes, "# run \x1b"));
    assert_non_null(strstr(bytes, "`<script>alert(1)</script>`")); /* code, not markup */
    assert_null(strstr(bytes, "for <b>"));
    assert_non_null(strstr(bytes, "more rows are in table `gpu_time.by_rank`"));
    size_t expected = 0;
    for (const char *line = bytes; *line;) {
        const size_t n = strcspn(line, "\n");
        const bool in_table = line[0] == '|';
        const size_t ends = in_table ? count_cell_ends(line, n) : 0;
        if (in_table && expected)
            assert_int_equal(ends, expected);
        expected = ends;
        line += n + (line[n] != '\0');
    }
    free(bytes);
}

/* ---- terminal ------------------------------------------------------------------------ */

static void text_fits_every_width(void **state)
{
    (void)state;
    for (options.columns = 40; options.columns <= 200; options.columns += 5) {
        size_t length;
        char *bytes = product_of("text", "report.txt", &length);
        assert_clean(bytes, length, "\n");
        for (const char *line = bytes; *line;) {
            const struct ta_slice text = {line, strcspn(line, "\n")};
            if (ta_terminal_width(text) > options.columns)
                fail_msg("%u columns: %.*s", options.columns, (int)text.len, text.ptr);
            assert_false(text.len && text.ptr[text.len - 1] == ' ');
            line += text.len + (line[text.len] != '\0');
        }
        free(bytes);
    }
    options.columns = 80;
}

static void text_shows_what_matters(void **state)
{
    (void)state;
    size_t length;
    options.full_text = true;
    char *bytes = product_of("text", "report.txt", &length);
    options.full_text = false;
    static const char *const parts[] = {"traceanalyze 1.2.3 · ",
                                        "2 of 3 ranks",
                                        "GPU busy",
                                        "20.0 %",
                                        "high",
                                        "Use CUDA graphs.",
                                        "saves 1.00 µs to 2.00 ms, confidence 80 %",
                                        "GPU time per rank · rank 0 · Idle: 1.00 s",
                                        "GPU time per rank",
                                        "8 of 40 rows, the largest by Idle",
                                        "█ Busy   · Idle",
                                        "Total time",
                                        "No snapshot was found.",
                                        "truncated × 1 from byte 77",
                                        "Rank 1 has no trace."};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(bytes, parts[i]))
            fail_msg("the summary lacks \"%s\"", parts[i]);
    assert_null(strstr(bytes, "Unknown")); /* a figure without a value */
    free(bytes);
}

/* With colors every escape is a color of ours, and all are ended. */
static void text_colors_are_our_own(void **state)
{
    (void)state;
    size_t length, open = 0;
    options.color = true;
    char *bytes = product_of("text", "report.txt", &length);
    options.color = false;
    assert_clean(bytes, length, "\n\x1b");
    for (const char *at = bytes; (at = strchr(at, '\x1b')); at++) {
        const size_t n = strspn(at + 2, "0123456789;");
        assert_int_equal(at[1], '[');
        assert_int_equal(at[2 + n], 'm');
        open = strncmp(at, "\x1b[0m", 4) == 0 ? 0 : open + 1;
    }
    assert_int_equal(open, 0);
    free(bytes);
}

/* ---- all of them --------------------------------------------------------------------- */

static const struct {
    const char *id, *product;
} outputs[] = {{"json", "report.json"},
               {"csv", "tables/kernels.by_name.csv"},
               {"md", "report.md"},
               {"text", "report.txt"}};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };

/* Also: each knows its own earlier product, and replaces it. */
static void the_same_report_gives_the_same_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < OUTPUTS; i++) {
        size_t first_length, second_length;
        char *first = product_of(outputs[i].id, outputs[i].product, &first_length);
        struct ta_report *again = make_report();
        write_with(outputs[i].id, again, TA_SINK_FOLDER, "");
        ta_report_free(again);
        char *second = read_product(outputs[i].product, &second_length);
        assert_int_equal(first_length, second_length);
        assert_memory_equal(first, second, first_length);
        free(first);
        free(second);
    }
}

static void an_empty_report_can_be_written(void **state)
{
    (void)state;
    struct ta_report *empty = ta_report_new();
    assert_int_equal(ta_report_freeze(empty), TA_OK);
    for (size_t i = 0; i < OUTPUTS; i++)
        write_with(outputs[i].id, empty, TA_SINK_FOLDER, "");
    size_t length;
    char *bytes = read_product("report.json", &length);
    json_t *report = json_loadb(bytes, length, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(report, "sections")), 0);
    json_decref(report);
    free(bytes);
    ta_report_free(empty);
}

static int set_up(void **state)
{
    (void)state;
    ta_shared_init(&fixture.shared);
    ta_ctx_init(&fixture.ctx, &fixture.shared);
    fixture.registry = ta_registry_new(&fixture.ctx);
    fixture.report = make_report();
    strcpy(fixture.root, "/tmp/ta-outputs-XXXXXX");
    return fixture.registry && mkdtemp(fixture.root) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_remove(fixture.root);
    ta_report_free(fixture.report);
    ta_registry_free(fixture.registry);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_says_everything),
        cmocka_unit_test(json_keeps_accounts),
        cmocka_unit_test(csv_has_a_file_per_table),
        cmocka_unit_test(csv_fits_one_file),
        cmocka_unit_test(markdown_keeps_names_in_their_cells),
        cmocka_unit_test(text_fits_every_width),
        cmocka_unit_test(text_shows_what_matters),
        cmocka_unit_test(text_colors_are_our_own),
        cmocka_unit_test(the_same_report_gives_the_same_bytes),
        cmocka_unit_test(an_empty_report_can_be_written),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
