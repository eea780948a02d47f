/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report that is read and written again gives the same bytes, in other formats too; one that is
 * cut or of which a byte is another is refused or is a report all the same. */
#include "ingest/inputs/saved.h"
#include "report/report.h"
#include "report/tables.h"
#include "report_fixture.h"

#include <stdio.h>

static char *write_report(const struct ta_report *report, const char *output, size_t *n)
{
    return fixture_render(&fixture, report, output, n);
}

/* The bytes as a file, read; NULL when they are refused. */
static struct ta_report *read_bytes(const char *bytes, size_t n)
{
    char root[64], path[128];
    struct ta_report *report = NULL;
    fixture_folder(root);
    snprintf(path, sizeof path, "%s/report", root);
    fixture_write(path, bytes, n);
    const enum ta_status status = ta_saved_read(&fixture.ctx, fixture.registry, path, &report);
    assert_int_equal(status, report ? TA_OK : TA_ERR_INPUT);
    fixture_remove(root);
    return report;
}

static void assert_comes_back(const struct ta_report *report)
{
    size_t n, m;
    char *bytes = write_report(report, "json", &n);
    struct ta_report *again = read_bytes(bytes, n);
    if (!again)
        fail_msg("%s", ta_ctx_causes(&fixture.ctx));
    char *copy = write_report(again, "json", &m);
    assert_same_bytes(bytes, n, copy, m);
    ta_report_free(again);
    free(bytes);
}

/* Roles, words and what the terminal and paper show are declared, and not in report.json. */
static void assert_looks_the_same(const struct ta_report *report)
{
    static const char *const outputs[] = {"text", "md", "csv", "pdf", "summary"};
    size_t n, m;
    char *bytes = write_report(report, "json", &n);
    struct ta_report *again = read_bytes(bytes, n);
    free(bytes);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        char *first = write_report(report, outputs[i], &n);
        char *second = write_report(again, outputs[i], &m);
        assert_same_bytes(first, n, second, m);
        free(first);
    }
    ta_report_free(again);
}

static void reports_on_samples_come_back(void **state)
{
    (void)state;
    static const char *const samples[] = {TA_SAMPLES "/inferix-4ranks", TA_SAMPLES "/diffulex",
                                          TA_SAMPLES "/framepack-pair/baseline",
                                          TA_SAMPLES "/video-4ranks"};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct ta_report *report = report_of_run(&samples[i], 1, 1);
        assert_comes_back(report);
        assert_looks_the_same(report);
        ta_report_free(report);
    }
}

/* ---- a report with every kind of value ---------------------------------------------------- */

enum { NAME, COUNT, SHARE, IS };

static const struct ta_column columns[] = {
    [NAME] = {"name", "Name", TA_TEXT, .doc = "A name"},
    [COUNT] = {"count", "Count", TA_COUNT, .better = TA_LOWER, .doc = "A count"},
    [SHARE] = {"share", "Share", TA_RATIO, .better = TA_HIGHER, .doc = "A share"},
    [IS] = {"is", "Is", TA_FLAG, .doc = "Whether"},
};

static void add_table(struct ta_section_builder *section)
{
    static const double numbers[] = {0,      -0.0,   0.1,   1.0 / 3, 1e15, 123456789012345680.0,
                                     1e-300, 5e-324, 1e308, -2.5,    7};
    struct ta_table_builder *table = ta_add_table(section, "all.values", "All", columns, 4);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        TA_CELLS(table, ta_text(TA_LIT("a \"b\" \0 <c> \xe2\x80\xae \n \xff")),
                 ta_int(i % 2 ? INT64_MAX : INT64_MIN + 1), ta_num(numbers[i]), ta_bool(i % 2));
    TA_CELLS(table, ta_null(), ta_null(), ta_null(), ta_null());
    static const struct ta_chart chart = {.id = "a-chart",
                                          .title = "A chart",
                                          .caption = "What",
                                          .kind = TA_CHART_PARETO,
                                          .label = {"name"},
                                          .y = {{"count", "Count", TA_INK_COMM}}};
    ta_add_chart(table, &chart);
}

static void add_finding(struct ta_section_builder *section)
{
    const struct ta_evidence evidence = {.table = "all.values",
                                         .column = "count",
                                         .row = ta_text(TA_LIT("a")),
                                         .value = ta_int(3),
                                         .unit = TA_UNIT_COUNT};
    struct ta_finding finding = {.id = "a_rule.x y",
                                 .rule = "a_rule",
                                 .title = "So it is",
                                 .severity = TA_CRITICAL,
                                 .evidence = &evidence,
                                 .n_evidence = 1,
                                 .saving_low_ns = 5,
                                 .saving_high_ns = TA_MISSING,
                                 .confidence = 0.3};
    ta_add_finding(section, &finding);
    finding.id = "a_rule.z";
    finding.saving_low_ns = TA_MISSING;
    finding.advice = "Do";
    finding.threshold = "x > 3";
    ta_add_finding(section, &finding);
}

static struct ta_report *full_report(void)
{
    static const int64_t ranks[] = {-3, 0, 7};
    static const struct ta_quality_finding findings[] = {
        {TA_Q_SYNTAX, TA_QUALITY_LOSS, 3, 0, TA_NO_OFFSET, 12, "Broken"},
        {TA_Q_RANK_MISSING, TA_QUALITY_NOTICE, 1, TA_NO_OFFSET, TA_NO_OFFSET, TA_NO_OFFSET, ""}};
    static const struct ta_file_account file = {.path = "a\n.json",
                                                .format = "",
                                                .state = TA_FILE_REFUSED,
                                                .rank = TA_MISSING,
                                                .rank_source = TA_RANK_NONE,
                                                .first_ts_ns = TA_MISSING,
                                                .last_ts_ns = -5,
                                                .findings = findings,
                                                .n_findings = 2};
    static const struct ta_accounts accounts = {.status = TA_QUALITY_LOSSY,
                                                .totals = {1, 2, 3, 4, 5, 6, 7, 8},
                                                .files = &file,
                                                .n_files = 1,
                                                .findings = findings,
                                                .n_findings = 2};
    struct ta_report *report = ta_report_new();
    assert_non_null(report);
    ta_report_set_run(report, &(struct ta_run_info){.title = "t",
                                                    .ranks = ranks,
                                                    .n_ranks = 3,
                                                    .world_size = TA_MISSING,
                                                    .devices = "2× X"});
    ta_report_set_verdict(report, "It is so", "a_rule.z");
    ta_report_set_accounts(report, &accounts);
    struct ta_section_builder *section = ta_report_open_section(report, "all", "All kinds");
    ta_add_scalar(section, &(struct ta_scalar){.id = "one",
                                               .title = "One",
                                               .value = ta_num(2.5),
                                               .unit = TA_UNIT_NS,
                                               .polarity = TA_LOWER,
                                               .note = "so"});
    add_table(section);
    add_finding(section);
    char line[600];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    ta_section_set_missing(ta_report_open_section(report, "none", "Nothing"), line);
    assert_int_equal(ta_report_freeze(report), TA_OK);
    return report;
}

static void every_kind_of_value_comes_back(void **state)
{
    (void)state;
    struct ta_report *report = full_report();
    assert_comes_back(report);
    size_t n;
    char *bytes = write_report(report, "json", &n);
    struct ta_report *again = read_bytes(bytes, n);
    const struct ta_table *was = ta_report_table(report, "all.values");
    const struct ta_table *is = ta_report_table(again, "all.values");
    assert_int_equal(is->n_rows, was->n_rows);
    for (size_t i = 0; i < is->n_rows; i++)
        assert_true(ta_cell_number(ta_table_cell(is, i, SHARE), 42) ==
                    ta_cell_number(ta_table_cell(was, i, SHARE), 42));
    assert_int_equal(ta_table_cell(is, 0, NAME)->text.len, 21);
    assert_int_equal(ta_report_accounts(again)->files[0].last_ts_ns, -5);
    assert_int_equal(ta_report_finding(again, "a_rule.x y")->saving_high_ns, TA_MISSING);
    ta_report_free(again);
    ta_report_free(report);
    free(bytes);
}

/* What is read can be given to every output, though its charts are only names. */
static void a_read_report_can_be_shown(void **state)
{
    (void)state;
    static const char *const outputs[] = {"html", "pdf", "md", "csv", "text"};
    size_t n, m;
    struct ta_report *report = full_report();
    char *bytes = write_report(report, "json", &n);
    struct ta_report *again = read_bytes(bytes, n);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        free(write_report(again, outputs[i], &m));
        assert_true(m > 0);
    }
    ta_report_free(again);
    ta_report_free(report);
    free(bytes);
}

/* ---- pages -------------------------------------------------------------------------------- */

static void a_page_gives_its_report(void **state)
{
    (void)state;
    static const char *const sample[] = {TA_SAMPLES "/video-4ranks"};
    struct ta_report *report = report_of_run(sample, 1, 1);
    size_t n;
    char *page = write_report(report, "html", &n);
    struct ta_report *again = read_bytes(page, n);
    if (!again)
        fail_msg("%s", ta_ctx_causes(&fixture.ctx));
    const struct ta_table *was = ta_report_table(report, "kernels.by_name");
    const struct ta_table *is = ta_report_table(again, "kernels.by_name");
    assert_true(was->n_rows > 10);
    assert_int_equal(is->n_rows, 10); /* what the page has */
    assert_int_equal(is->n_left_out, was->n_rows - 10);
    assert_string_equal(ta_report_verdict(again)->headline, ta_report_verdict(report)->headline);
    assert_comes_back(again);
    ta_report_free(again);
    ta_report_free(report);
    free(page);
}

/* ---- what is refused ---------------------------------------------------------------------- */

static void every_cut_is_refused(void **state)
{
    (void)state;
    size_t n;
    struct ta_report *report = full_report();
    char *bytes = write_report(report, "json", &n);
    for (size_t cut = 0; cut + 1 < n; cut++) /* the last byte ends the line */
        assert_null(read_bytes(bytes, cut));
    ta_report_free(report);
    free(bytes);
}

/* Any byte may be another one: the document is refused, or can be written and read. */
static void no_byte_does_harm(void **state)
{
    (void)state;
    static const char others[] = {'\0', '"', '\\', '{', ']', '-', '9', 'z', '\xff'};
    size_t n, m;
    struct ta_report *report = full_report();
    char *bytes = write_report(report, "json", &n);
    for (size_t i = 0; i < n; i++) {
        const char was = bytes[i];
        bytes[i] = others[i % sizeof others];
        struct ta_report *read = read_bytes(bytes, n);
        if (read)
            free(write_report(read, "json", &m));
        ta_report_free(read);
        bytes[i] = was;
    }
    ta_report_free(report);
    free(bytes);
}

struct change {
    const char *from, *to, *says;
};

static void faults_are_named_with_their_place(void **state)
{
    (void)state;
    static const struct change changes[] = {
        {"traceanalyze.report/1", "traceanalyze.report/2", "in version \"2\" of its format"},
        {"traceanalyze.report/1", "traceanalyze.diff/1", "No report of traceanalyze but"},
        {"\"unit\": \"ratio\"", "\"unit\": \"parsec\"",
         "In section \"all\": In item \"all.values\": In column 3: \"unit\" is unknown: "
         "\"parsec\""},
        {"\"kind\": \"scalar\"", "\"kind\": \"vector\"", "\"kind\" is none of"},
        {"\"id\": \"all.values\"", "\"id\": \"../all\"", "\"id\" is no name of letters"},
        {"\"id\": \"all.values\"", "\"id\": \"one\"", "Another item has this id"},
        {"\"id\": \"none\"", "\"id\": \"all\"", "Another section has this id"},
        {"[null, null, null, null]", "[null, null, null]", "In row 12: A row has 3 cells"},
        {"[null, null, null, null]", "[null, 1.5, null, null]",
         "A cell of column \"count\" is no integer"},
        {"[null, null, null, null]", "[null, null, null, []]", "a list or an object"},
        {"[null, null, null, null]", "[null, null, 1e999, null]", "out of range"},
        {"\"confidence\": 0.3", "\"confidence\": 3", "\"confidence\" is no number from 0 to 1"},
        {"\"headline\": \"It is so\", ", "", "In \"verdict\": There is no \"headline\""},
        {"\"ranks\": [-3, 0, 7]", "\"ranks\": [0, -3, 7]", "no ascending integers"},
        {"\"events_seen\": 0", "\"events_seen\": -1", "\"events_seen\" is no count"},
        {"\"state\": \"refused\"", "\"state\": null", "In file 1: \"state\" is no text"},
        {"\"headline\": ", "\"headline\": NaN, \"headline\": ", "The report is damaged"},
        {"\"a_rule.z\"}", "\"a_rule.z\"},", "The report is damaged"},
    };
    size_t n;
    struct ta_report *report = full_report();
    char *bytes = write_report(report, "json", &n);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const struct change *change = &changes[i];
        const char *at = strstr(bytes, change->from);
        assert_non_null(at);
        struct text text = {0};
        text_put(&text, bytes, (size_t)(at - bytes));
        text_put(&text, change->to, strlen(change->to));
        text_put(&text, at + strlen(change->from), strlen(at) - strlen(change->from));
        struct ta_report *read = read_bytes(text.at, text.n);
        if (read || !strstr(ta_ctx_causes(&fixture.ctx), change->says))
            fail_msg("%s: %s", change->to, read ? "read" : ta_ctx_causes(&fixture.ctx));
        text_free(&text);
    }
    ta_report_free(report);
    free(bytes);
}

static void only_reports_are_taken_for_reports(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is;
    } files[] = {{"{\"schema\": \"traceanalyze.report/1\"", true},
                 {" \n{ \"schema\" :\t\"traceanalyze.report/99\"}", true},
                 {"{\"a\": 1, \"schema\": \"traceanalyze.report/1\"}", false},
                 {"{\"traceEvents\": [{\"name\": \"traceanalyze.report/\"}]}", false},
                 {"", false}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_int_equal(ta_saved_is_head(ta_slice_of(files[i].text)), files[i].is);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_on_samples_come_back),
        cmocka_unit_test(every_kind_of_value_comes_back),
        cmocka_unit_test(a_read_report_can_be_shown),
        cmocka_unit_test(a_page_gives_its_report),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(no_byte_does_harm),
        cmocka_unit_test(faults_are_named_with_their_place),
        cmocka_unit_test(only_reports_are_taken_for_reports),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
