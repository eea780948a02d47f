/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The PDF report and chart files: valid, complete, the same bytes for the same report. */
#include "base/context.h"
#include "chart_fixture.h"
#include "render/chart/files.h"
#include "report/report.h"
#include "traceanalyze/base.h"
#include "traceanalyze/output.h"
#include "traceanalyze/plugin.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct ta_plugin ta_builtin_output_pdf;

enum { PATH = 256 };

struct place {
    char folder[PATH];
    struct ta_shared shared;
    struct ta_ctx ctx;
};

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    snprintf(place->folder, sizeof place->folder, "/tmp/ta-test-pdf-XXXXXX");
    if (!mkdtemp(place->folder))
        return 1;
    ta_shared_init(&place->shared);
    ta_ctx_init(&place->ctx, &place->shared);
    *state = place;
    return 0;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

static int tear_down(void **state)
{
    struct place *place = *state;
    nftw(place->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(place);
    return 0;
}

/* ---- a report with everything in it ------------------------------------------------------- */

static void add_findings(struct ta_report *report)
{
    const struct ta_evidence evidence[] = {
        {"gpu", "comm_ns", ta_int(2), ta_int(200000), TA_UNIT_NS},
        {"no.such.table", "x", ta_int(0), ta_null(), TA_UNIT_NONE},
    };
    struct ta_section_builder *section = ta_report_open_section(report, "findings", "Findings");
    ta_add_finding(section, &(struct ta_finding){.id = "comm.exposed",
                                                 .rule = "exposed",
                                                 .title = "Communication is not hidden",
                                                 .advice = "Overlap it (\xe2\x80\xae\x1b[31m).",
                                                 .severity = TA_HIGH,
                                                 .evidence = evidence,
                                                 .n_evidence = 2,
                                                 .saving_low_ns = 1000000,
                                                 .saving_high_ns = 2000000,
                                                 .confidence = 0.8,
                                                 .threshold = "share > 10 %"});
}

static struct ta_report *make_report(void)
{
    struct ta_report *report = ta_report_new();
    const int64_t ranks[] = {0, 1, 2, 3};
    ta_report_set_run(report,
                      &(struct ta_run_info){"A run of four", ranks, 4, 8, "4× H200", false});
    ta_report_set_verdict(report, "Communication bound.", "comm.exposed");
    struct ta_section_builder *section = ta_report_open_section(report, "overview", "Overview");
    ta_add_scalar(section, &(struct ta_scalar){"step", "Step time", ta_num(412e6), TA_UNIT_NS,
                                               TA_LOWER, "median"});
    add_findings(report);
    section = ta_report_open_section(report, "gpu_time", "GPU time");
    fixture_add_gpu(section, (struct fixture){4, 1e6, 0});
    section = ta_report_open_section(report, "kernels", "Kernels");
    fixture_add_kernels(section, (struct fixture){412, 1e3, 50});
    fixture_add_ecdf(section, (struct fixture){100, 1, 0}, 2);
    section = ta_report_open_section(report, "steps", "Steps");
    fixture_add_steps(section, (struct fixture){200, 1e3, 0}, 4, &fixture_step_chart);
    ta_add_missing(ta_report_open_section(report, "memory", "Memory"), "No file records memory.");
    assert_int_equal(ta_report_freeze(report), TA_OK);
    return report;
}

static void write_pdf_of(struct place *place, const struct ta_report *report, const char *folder,
                         bool letter, bool full)
{
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/%s", place->folder, folder);
    const struct ta_render_options options = {
        .top = 30, .letter = letter, .full_paper = full, .date_s = 1735689600, .version = "1.2.3"};
    struct ta_sink *sink = ta_sink_new(&place->ctx, TA_SINK_FOLDER, path);
    assert_non_null(sink);
    assert_int_equal(ta_builtin_output_pdf.output->write(&place->ctx, report, &options, sink),
                     TA_OK);
    assert_int_equal(ta_sink_commit(&place->ctx, sink), TA_OK);
    ta_sink_free(sink);
}

static void write_pdf(struct place *place, const struct ta_report *report, const char *folder,
                      bool letter)
{
    write_pdf_of(place, report, folder, letter, true);
}

static char *slurp(const struct place *place, const char *name, size_t *size)
{
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/%s", place->folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = calloc(1, 1 << 22);
    *size = fread(bytes, 1, (1 << 22) - 1, file);
    fclose(file);
    return bytes;
}

/* Output of a tool on a file; skips the test when the tool is not installed. */
static char *run_tool(const struct place *place, const char *tool, const char *arguments)
{
    char command[4 * PATH];
    snprintf(command, sizeof command, "command -v %s >/dev/null", tool);
    if (system(command) != 0)
        skip();
    snprintf(command, sizeof command, "cd %s && %s %s 2>&1", place->folder, tool, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char *text = calloc(1, 1 << 20);
    size_t n = fread(text, 1, (1 << 20) - 1, pipe);
    text[n] = '\0';
    assert_int_equal(pclose(pipe), 0);
    return text;
}

/* ---- tests -------------------------------------------------------------------------------- */

static void test_same_bytes(void **state)
{
    struct place *place = *state;
    struct ta_report *report = make_report();
    write_pdf(place, report, "a", false);
    write_pdf(place, report, "b", false);
    size_t n_a, n_b;
    char *a = slurp(place, "a/report.pdf", &n_a), *b = slurp(place, "b/report.pdf", &n_b);
    assert_int_equal(n_a, n_b);
    assert_memory_equal(a, b, n_a);
    /* The mark that lets a later run replace the file stands in its last bytes. */
    assert_true(memmem(a + n_a - 64, 64, "% traceanalyze", 14) != NULL);
    write_pdf_of(place, report, "a", true, false);
    write_pdf_of(place, report, "b", true, false);
    free(a);
    free(b);
    a = slurp(place, "a/report.pdf", &n_a);
    b = slurp(place, "b/report.pdf", &n_b);
    assert_int_equal(n_a, n_b);
    assert_memory_equal(a, b, n_a);
    free(a);
    free(b);
    ta_report_free(report);
}

static void test_structure_is_valid(void **state)
{
    struct place *place = *state;
    struct ta_report *report = make_report();
    write_pdf(place, report, "a", false);
    ta_report_free(report);
    char *text = run_tool(place, "qpdf", "--check a/report.pdf");
    assert_non_null(strstr(text, "No syntax or stream encoding errors"));
    assert_null(strstr(text, "WARNING"));
    free(text);
}

static void test_metadata(void **state)
{
    struct place *place = *state;
    struct ta_report *report = make_report();
    write_pdf(place, report, "a", false);
    write_pdf(place, report, "b", true);
    ta_report_free(report);
    char *text = run_tool(place, "pdfinfo", "-isodates a/report.pdf");
    assert_non_null(strstr(text, "A run of four"));
    assert_non_null(strstr(text, "traceanalyze 1.2.3"));
    assert_non_null(strstr(text, "2025-01-01T00:00:00"));
    assert_non_null(strstr(text, "(A4)"));
    assert_non_null(strstr(text, "Tagged:          yes"));
    assert_non_null(strstr(text, "JavaScript:      no"));
    free(text);
    text = run_tool(place, "pdfinfo", "b/report.pdf");
    assert_non_null(strstr(text, "(letter)"));
    free(text);
}

static void test_text_can_be_read(void **state)
{
    static const char *const expected[] = {
        "A run of four",
        "Communication bound.",
        "4 of 8 ranks",
        "HIGH",
        "\\u202e\\x1b[31m",
        "saves 1.00 ms to 2.00 ms",
        "30 of 412 rows",
        "Kernels by name",
        "No file records memory.",
        "Data quality",
        "Method",
        "share > 10 %",
        "Sum of durations.",
        "ProfilerStep#3",
    };
    struct place *place = *state;
    struct ta_report *report = make_report();
    write_pdf(place, report, "a", false);
    ta_report_free(report);
    char *text = run_tool(place, "pdftotext", "-layout a/report.pdf -");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!strstr(text, expected[i]))
            fail_msg("not in the text: %s", expected[i]);
    assert_null(strchr(text, '\x1b'));
    free(text);
}

/* A report of many ranks: one table that answers, one that goes into details, the same cited. */
static struct ta_report *make_long(bool cites)
{
    static const struct ta_column columns[] = {
        {"rank", "Rank", TA_INTEGER, .doc = "Rank of it."},
        {"total_ns", "Total", TA_NS, .better = TA_LOWER, .doc = "All of it."},
    };
    static const struct ta_table_def by_rank = {"gpu_idle.by_rank", "Idle by rank",
                                                TA_COLUMNS(columns)};
    static const struct ta_table_def by_cause = {"gpu_idle.by_cause", "gpu_idle.by_cause",
                                                 TA_COLUMNS(columns), .tier = TA_TIER_DETAIL};
    static const struct ta_table_def *const tables[] = {&by_rank, &by_cause, NULL};
    static const struct ta_evidence evidence[] = {{"gpu_idle.by_cause",
                                                   "total_ns",
                                                   {.kind = TA_CELL_INT, .i = 5},
                                                   {.kind = TA_CELL_NULL},
                                                   TA_UNIT_NS}};
    struct ta_report *report = ta_report_new();
    ta_report_set_run(report, &(struct ta_run_info){"Many", NULL, 0, 200, "", false});
    ta_report_set_verdict(report, "", NULL);
    struct ta_section_builder *section = ta_report_open_section(report, "findings", "Findings");
    if (cites)
        ta_add_finding(section, &(struct ta_finding){.id = "idle",
                                                     .rule = "idle",
                                                     .title = "Idle",
                                                     .advice = "Do more.",
                                                     .evidence = evidence,
                                                     .n_evidence = 1,
                                                     .saving_low_ns = TA_MISSING,
                                                     .saving_high_ns = TA_MISSING});
    section = ta_report_open_section(report, "launches", "Launch and idle");
    ta_declare_tables(section, tables);
    for (size_t t = 0; tables[t]; t++)
        for (int64_t i = 0; i < 200; i++)
            TA_CELLS(ta_rows(section, tables[t]), ta_int(i), ta_int(1000 * (i + 1)));
    ta_close_tables(section);
    assert_int_equal(ta_report_freeze(report), TA_OK);
    return report;
}

static void check_long(struct place *place, bool cites, bool full, const char *const *expected,
                       const char *lacks)
{
    struct ta_report *report = make_long(cites);
    write_pdf_of(place, report, "a", false, full);
    ta_report_free(report);
    char *text = run_tool(place, "pdftotext", "-layout a/report.pdf -");
    for (; *expected; expected++)
        if (!strstr(text, *expected))
            fail_msg("not in the text: %s", *expected);
    assert_null(strstr(text, lacks));
    free(text);
}

/* Few rows of what answers, those that stand out, and nothing to look things up in. */
static void test_short_paper_has_what_answers(void **state)
{
    static const char *const answers[] = {"8 of 200 rows, those with the largest “Total”",
                                          "200 µs",
                                          "193 µs",
                                          "Why the GPU is idle",
                                          "--paper-detail=full",
                                          NULL};
    check_long(*state, false, false, answers, "192 µs");
    check_long(*state, false, false, answers, "gpu_idle.by_cause");
    check_long(*state, false, false, answers, "Contents");
}

static void test_full_paper_has_every_table(void **state)
{
    static const char *const all[] = {"Contents", "16 of 200 rows", "185 µs", "gpu_idle.by_cause",
                                      NULL};
    check_long(*state, false, true, all, "184 µs");
    static const char *const cited[] = {"17 of 200 rows", "6.00 µs", NULL};
    check_long(*state, true, true, cited, "--paper-detail");
}

/* Pages that the contents name are those on which the headings stand. */
static void test_contents_have_the_right_pages(void **state)
{
    struct place *place = *state;
    struct ta_report *report = make_report();
    write_pdf(place, report, "a", false);
    ta_report_free(report);
    char *text = run_tool(place, "pdftotext", "-layout a/report.pdf -");
    int page = 1, method = 0, said = 0;
    for (char *line = text, *end; line && *line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        for (; *line == '\f'; line++)
            page++;
        const char *found = strstr(line, "Method");
        if (found && strlen(found) > 8)
            said = atoi(found + 6);
        else if (found && !strstr(line, "  "))
            method = page;
    }
    assert_int_not_equal(said, 0);
    assert_int_equal(said, method);
    free(text);
}

static void test_outline_names_the_sections(void **state)
{
    struct place *place = *state;
    struct ta_report *report = make_report();
    write_pdf(place, report, "a", false);
    ta_report_free(report);
    char *text = run_tool(place, "pdftohtml", "-xml -i -stdout a/report.pdf");
    static const char *const expected[] = {"<outline>", "Findings", "GPU time by rank",
                                           "Data quality", "Method"};
    const char *at = text;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        at = strstr(at, expected[i]);
        if (!at)
            fail_msg("not in the outline: %s", expected[i]);
    }
    free(text);
}

static void test_empty_report(void **state)
{
    struct place *place = *state;
    struct ta_report *report = ta_report_new();
    assert_int_equal(ta_report_freeze(report), TA_OK);
    write_pdf(place, report, "a", false);
    ta_report_free(report);
    size_t n;
    char *bytes = slurp(place, "a/report.pdf", &n);
    assert_memory_equal(bytes, "%PDF-", 5);
    free(bytes);
}

static void test_chart_files(void **state)
{
    struct place *place = *state;
    struct ta_report *report = make_report();
    const struct ta_table *table = ta_report_table(report, "kernels");
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    static const char *const formats[] = {"png", "svg", "pdf"};
    for (int run = 0; run < 2; run++) {
        char path[2 * PATH];
        snprintf(path, sizeof path, "%s/%d", place->folder, run);
        struct ta_sink *sink = ta_sink_new(&place->ctx, TA_SINK_FOLDER, path);
        for (size_t i = 0; i < 3; i++) {
            char name[32];
            snprintf(name, sizeof name, "charts/k.%s", formats[i]);
            assert_int_equal(ta_chart_write(&place->ctx, sink, scene, formats[i], 2, false, name),
                             TA_OK);
        }
        assert_int_equal(ta_sink_commit(&place->ctx, sink), TA_OK);
        ta_sink_free(sink);
    }
    for (size_t i = 0; i < 3; i++) {
        char name[32];
        size_t n[2];
        char *bytes[2];
        for (int run = 0; run < 2; run++) {
            snprintf(name, sizeof name, "%d/charts/k.%s", run, formats[i]);
            bytes[run] = slurp(place, name, &n[run]);
        }
        assert_int_equal(n[0], n[1]);
        assert_memory_equal(bytes[0], bytes[1], n[0]);
        assert_non_null(memmem(bytes[0], n[0], "traceanalyze", 12));
        free(bytes[0]);
        free(bytes[1]);
    }
    ta_scene_free(scene);
    ta_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_structure_is_valid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_metadata, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_text_can_be_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_short_paper_has_what_answers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_paper_has_every_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_contents_have_the_right_pages, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_outline_names_the_sections, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_empty_report, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chart_files, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
