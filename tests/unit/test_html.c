/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The HTML report of hostile data: strict markup, escaped text, a policy that fits. */
#include "base/context.h"
#include "report/report.h"
#include "traceanalyze/base.h"
#include "traceanalyze/chart.h"
#include "traceanalyze/output.h"
#include "traceanalyze/plugin.h"

#include <glib.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

extern const struct ta_plugin ta_builtin_output_html;

enum { KERNELS = 700, TOP = 30 };

static const char payload[] =
    "</script><script>alert(1)</script><img src=x onerror=\"alert(1)\">'`";

/* ---- a report whose every text is hostile ---------------------------------------------- */

static const struct ta_column columns[] = {
    {"name", "Kernel <b>", TA_TEXT, .doc = "Name \"as written\"."},
    {"class", "Class", TA_TEXT, .doc = "Class."},
    {"total_ns", "Total", TA_NS, .better = TA_LOWER, .doc = "Sum."},
    {"share", "Share", TA_RATIO, .doc = NULL},
    {"hot", "Hot", TA_FLAG, .doc = "Hot."},
};

static const struct ta_chart chart = {
    .id = "top-kernels",
    .title = "Kernels",
    .caption = "Of all ranks.",
    .kind = TA_CHART_PARETO,
    .label = {"name"},
    .y = {{"total_ns", "Total", TA_INK_COMPUTE}},
    .top = 8,
};

static void add_kernels(struct ta_report *report)
{
    struct ta_section_builder *section = ta_report_open_section(report, "kernels", "Kernels");
    struct ta_table_builder *table =
        ta_add_table(section, "kernels.by_name", "Kernels by name", columns, 5);
    for (int i = 0; i < KERNELS; i++) {
        char name[256];
        snprintf(name, sizeof name, "%d %s \xe2\x80\xae \xff\x01 a::b<c, d<e>>(int)", i, payload);
        TA_CELLS(table, ta_text(ta_slice_of(name)), ta_text(i % 7 ? TA_LIT("comm") : TA_LIT("")),
                 i % 5 ? ta_int(1000000 - i) : ta_null(), ta_num(1.0 / (i + 1)), ta_bool(i % 2));
    }
    ta_add_chart(table, &chart);
}

static void add_findings(struct ta_report *report, const char *cited)
{
    const struct ta_cell row = ta_text(ta_slice_of(cited));
    const struct ta_evidence evidence[] = {
        {"kernels.by_name", "total_ns", row, ta_int(999999), TA_UNIT_NS},
        {"kernels.by_name", "share", row, ta_num(0.25), TA_UNIT_RATIO},
        {"no.table", "share", row, ta_num(0.125), TA_UNIT_RATIO},
    };
    for (int severity = TA_INFO; severity <= TA_CRITICAL; severity++) {
        char id[32];
        snprintf(id, sizeof id, "f%d", severity);
        const struct ta_finding finding = {
            .id = id,
            .rule = "rule",
            .title = payload,
            .advice = payload,
            .severity = (enum ta_severity)severity,
            .evidence = evidence,
            .n_evidence = sizeof evidence / sizeof *evidence,
            .saving_low_ns = severity == TA_INFO ? TA_MISSING : 1000,
            .saving_high_ns = severity == TA_INFO ? TA_MISSING : 2000,
            .confidence = 0.5,
            .threshold = "a < b & c > \"d\"",
        };
        ta_add_finding(ta_report_open_section(report, "findings", "Findings"), &finding);
    }
}

static void add_accounts(struct ta_report *report)
{
    static const struct ta_quality_finding finding = {
        .code = TA_Q_SYNTAX,
        .severity = TA_QUALITY_LOSS,
        .count = 3,
        .byte_offset = 4096,
        .last_offset = 8192,
        .file_offset = TA_NO_OFFSET,
        .text = payload,
    };
    static const struct ta_file_account file = {
        .path = payload,
        .format = "chrome_json",
        .state = TA_FILE_REPAIRED,
        .rank_source = TA_RANK_CONTENT,
        .events_seen = 10,
        .events_kept = 7,
        .events_dropped = 3,
        .findings = &finding,
        .n_findings = 1,
    };
    const struct ta_accounts accounts = {
        .status = TA_QUALITY_LOSSY,
        .totals = {.files_seen = 1, .files_used = 1, .events_seen = 10, .events_kept = 7},
        .files = &file,
        .n_files = 1,
    };
    ta_report_set_accounts(report, &accounts);
}

static struct ta_report *hostile_report(void)
{
    struct ta_report *report = ta_report_new();
    assert_non_null(report);
    const int64_t ranks[] = {0, 1, 2, 5};
    const struct ta_run_info run = {
        .title = payload, .ranks = ranks, .n_ranks = 4, .world_size = 8, .devices = payload};
    ta_report_set_run(report, &run);
    ta_report_set_verdict(report, payload, "f4");
    char cited[256];
    snprintf(cited, sizeof cited, "%d %s \xe2\x80\xae \xff\x01 a::b<c, d<e>>(int)", 3, payload);
    add_findings(report, cited);
    const struct ta_scalar scalar = {.id = "busy",
                                     .title = payload,
                                     .value = ta_num(0.5),
                                     .unit = TA_UNIT_RATIO,
                                     .note = payload};
    ta_add_scalar(ta_report_open_section(report, "overview", "Overview"), &scalar);
    add_kernels(report);
    ta_add_missing(ta_report_open_section(report, "memory", "Memory"), "No events in %s", payload);
    add_accounts(report);
    assert_int_equal(ta_report_freeze(report), TA_OK);
    return report;
}

/* ---- writing the page -------------------------------------------------------------------- */

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    assert_true(size > 0);
    rewind(file);
    char *bytes = malloc((size_t)size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)size, file), (size_t)size);
    bytes[size] = '\0';
    fclose(file);
    return bytes;
}

static char *page_of(const struct ta_report *report, const char *theme)
{
    struct ta_shared shared;
    ta_shared_init(&shared);
    struct ta_ctx ctx;
    ta_ctx_init(&ctx, &shared);
    char path[] = "/tmp/ta-html-XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    unlink(path);
    struct ta_sink *sink = ta_sink_new(&ctx, TA_SINK_FILE, path);
    assert_non_null(sink);
    const struct ta_render_options options = {.top = TOP, .theme = theme, .version = "1.2.3<"};
    assert_int_equal(ta_builtin_output_html.output->write(&ctx, report, &options, sink), TA_OK);
    assert_int_equal(ta_sink_commit(&ctx, sink), TA_OK);
    ta_sink_free(sink);
    char *page = read_all(path);
    unlink(path);
    return page;
}

static int setup(void **state)
{
    struct ta_report *report = hostile_report();
    *state = page_of(report, "auto");
    ta_report_free(report);
    return 0;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

/* ---- a strict scanner of markup ------------------------------------------------------------ */

struct scan {
    const char *at;
    char open[64][24]; /* names of elements that are open */
    size_t depth;
};

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static void read_name(struct scan *scan, char name[24])
{
    size_t n = 0;
    while (g_ascii_isalnum(*scan->at) || *scan->at == '-') {
        assert_true(n < 23);
        name[n++] = *scan->at++;
    }
    name[n] = '\0';
    assert_true(n > 0);
}

/* name="value", with every value in double quotes and nothing that acts. */
static void read_attribute(struct scan *scan)
{
    char name[24];
    while (*scan->at == ' ' || *scan->at == '\n')
        scan->at++;
    if (*scan->at == '>' || *scan->at == '/')
        return;
    read_name(scan, name);
    assert_false(strncmp(name, "on", 2) == 0);
    assert_string_not_equal(name, "style");
    assert_int_equal(*scan->at++, '=');
    assert_int_equal(*scan->at++, '"');
    const char *end = strchr(scan->at, '"');
    assert_non_null(end);
    assert_true(strcmp(name, "href") != 0 || *scan->at == '#' ||
                strncmp(scan->at, "data:image/", 11) == 0);
    for (; scan->at < end; scan->at++)
        assert_true(*scan->at != '<' && *scan->at != '>');
    scan->at++;
}

static void read_tag(struct scan *scan)
{
    static const char *const known[] = {
        "html",   "head",       "meta",     "title",   "link", "style", "script",  "body",
        "a",      "div",        "svg",      "path",    "nav",  "ol",    "li",      "span",
        "main",   "header",     "h1",       "h2",      "h3",   "h4",    "p",       "dl",
        "dt",     "dd",         "section",  "article", "ul",   "b",     "code",    "strong",
        "figure", "desc",       "rect",     "circle",  "text", "defs",  "pattern", "g",
        "table",  "thead",      "tbody",    "tr",      "th",   "td",    "details", "summary",
        "footer", "figcaption", "noscript", NULL};
    static const char *const empty[] = {"meta", "link", NULL};
    char name[24];
    read_name(scan, name);
    assert_true(is_one_of(name, known));
    while (*scan->at != '>' && *scan->at != '/')
        read_attribute(scan);
    const bool closed = *scan->at == '/';
    scan->at += closed;
    assert_int_equal(*scan->at++, '>');
    if (closed || is_one_of(name, empty))
        return;
    assert_true(scan->depth < 64);
    strcpy(scan->open[scan->depth++], name);
    if (strcmp(name, "script") == 0 || strcmp(name, "style") == 0)
        scan->at = strstr(scan->at, "</");
    assert_non_null(scan->at);
}

static void read_end_tag(struct scan *scan)
{
    char name[24];
    read_name(scan, name);
    assert_int_equal(*scan->at++, '>');
    assert_true(scan->depth > 0);
    assert_string_equal(scan->open[--scan->depth], name);
}

static void markup_is_strict(void **state)
{
    struct scan scan = {.at = *state};
    assert_memory_equal(scan.at, "<!DOCTYPE html>", 15);
    scan.at += 15;
    while (*scan.at) {
        const unsigned char byte = (unsigned char)*scan.at++;
        assert_true(byte >= 0x20 || byte == '\n');
        assert_int_not_equal(byte, '>');
        if (byte != '<')
            continue;
        if (*scan.at == '/') {
            scan.at++;
            read_end_tag(&scan);
        } else {
            read_tag(&scan);
        }
    }
    assert_int_equal(scan.depth, 0);
}

static void hostile_text_is_inert(void **state)
{
    const char *page = *state;
    assert_null(strstr(page, "<img"));
    assert_null(strstr(page, "<script>alert"));
    assert_null(strstr(page, "\xe2\x80\xae"));
    assert_non_null(strstr(page, "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;"));
    assert_true(g_utf8_validate(page, -1, NULL));
}

/* ---- policy ---------------------------------------------------------------------------------- */

/* The text of the n-th inline element that begins with `tag`. */
static char *inline_text(const char *page, const char *tag, int n)
{
    const char *at = page;
    for (; n >= 0; n--) {
        at = strstr(at, tag);
        assert_non_null(at);
        at += strlen(tag);
    }
    const char *end = strstr(at, "</s");
    assert_non_null(end);
    return g_strndup(at, (gsize)(end - at));
}

static void assert_allowed(const char *page, char *source)
{
    guint8 digest[32];
    gsize size = sizeof digest;
    GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(checksum, (const guchar *)source, -1);
    g_checksum_get_digest(checksum, digest, &size);
    g_checksum_free(checksum);
    char *base64 = g_base64_encode(digest, size);
    char *wanted = g_strdup_printf("'sha256-%s'", base64);
    const char *policy = strstr(page, "Content-Security-Policy");
    assert_non_null(policy);
    const char *found = strstr(policy, wanted);
    assert_non_null(found);
    assert_true(found < strstr(policy, ">"));
    g_free(wanted);
    g_free(base64);
    g_free(source);
}

static void policy_allows_what_is_embedded(void **state)
{
    const char *page = *state;
    assert_allowed(page, inline_text(page, "<style>", 0));
    assert_allowed(page, inline_text(page, "<style>", 1));
    assert_allowed(page, inline_text(page, "<script>", 0));
    const char *policy = strstr(page, "content=\"default-src 'none'; script-src 'sha256-");
    assert_non_null(policy);
    assert_non_null(strstr(policy, "; img-src data:; base-uri 'none'; form-action 'none'\">"));
    assert_true(policy < strstr(page, "<style>"));
}

/* A browser that cannot look behind in an expression would run nothing of the script. */
static void the_script_looks_behind_nowhere(void **state)
{
    char *source = inline_text(*state, "<script>", 0);
    assert_null(strstr(source, "(?<="));
    assert_null(strstr(source, "(?<!"));
    g_free(source);
}

/* A page is opened over slow lines and by old machines, too.  A third of it is the timeline, which
 * sums up ranges and leads from slices to others. */
static void the_script_stays_small(void **state)
{
    char *source = inline_text(*state, "<script>", 0);
    const size_t size = strlen(source);
    assert_in_range(size, 1000, 100000);
    g_free(source);
}

static void signature_stands_early(void **state)
{
    const char *page = *state;
    const char *found = strstr(page, "<meta name=\"generator\" content=\"traceanalyze");
    assert_non_null(found);
    assert_true(found - page < 4096);
}

/* ---- content -------------------------------------------------------------------------------- */

static size_t count(const char *page, const char *text)
{
    size_t n = 0;
    for (const char *at = page; (at = strstr(at, text)); at += strlen(text))
        n++;
    return n;
}

static json_t *parse(char *text)
{
    json_error_t error;
    json_t *value = json_loads(text, 0, &error);
    assert_non_null(value);
    g_free(text);
    return value;
}

/* The rows that travel as data, deflated since they are many. */
static json_t *rows_of(const char *page)
{
    char *text = inline_text(page, "<script type=\"application/json\">\"", 0);
    gsize size;
    g_base64_decode_inplace(text, &size);
    uLongf room = 64 * (uLongf)size;
    char *rows = g_malloc(room + 1);
    assert_int_equal(uncompress((Bytef *)rows, &room, (const Bytef *)text, size), Z_OK);
    rows[room] = '\0';
    g_free(text);
    return parse(rows);
}

static void long_tables_go_on_as_data(void **state)
{
    const char *page = *state;
    assert_int_equal(count(page, "id=\"r-kernels.by_name-"), 500);
    assert_int_equal(count(page, "<tr class=\"x\""), 500 - TOP);
    json_t *rest = rows_of(page);
    assert_int_equal(json_array_size(rest), KERNELS - 500);
    json_t *row = json_array_get(rest, 1);
    assert_int_equal(json_array_size(row), 5);
    assert_true(json_is_object(json_array_get(row, 0)));
    assert_int_equal(json_integer_value(json_array_get(json_array_get(row, 2), 0)), 1000000 - 501);
    assert_true(json_is_null(json_array_get(json_array_get(rest, 0), 2)));
    json_decref(rest);
}

/* Of thousands of ranks the page has those that stand out, each with its number. */
static void of_many_ranks_the_worst_are_there(void **state)
{
    (void)state;
    enum { RANKS = 7000, CARRIED = 5000 };
    static const struct ta_column by_rank[] = {
        {"rank", "Rank", TA_INTEGER, .doc = "Rank."},
        {"size", "Size", TA_INTEGER, .doc = "Of no importance."},
        {"speed", "Speed", TA_INTEGER, .better = TA_HIGHER, .doc = "More is better."},
    };
    struct ta_report *report = ta_report_new();
    assert_non_null(report);
    struct ta_section_builder *section = ta_report_open_section(report, "ranks", "Ranks");
    struct ta_table_builder *table = ta_add_table(section, "ranks.by_rank", "Ranks", by_rank, 3);
    for (int64_t i = 0; i < RANKS; i++)
        TA_CELLS(table, ta_int(i), ta_int(RANKS - i), i == 17 ? ta_null() : ta_int(RANKS - i));
    assert_int_equal(ta_report_freeze(report), TA_OK);
    char *page = page_of(report, "auto");
    /* The last rank is the slowest; rank 17 has no speed. */
    const char *first = strstr(page, "id=\"r-ranks.by_rank-6999\"");
    const char *second = strstr(page, "id=\"r-ranks.by_rank-6998\"");
    assert_true(first && second && first < second);
    assert_null(strstr(page, "id=\"r-ranks.by_rank-17\""));
    assert_null(strstr(page, "id=\"r-ranks.by_rank-0\""));
    assert_non_null(strstr(page, "those with the smallest “Speed”. report.json holds all"));
    json_t *rest = rows_of(page);
    const size_t written = (size_t)count(page, "<tr id=\"r-ranks") +
                           (size_t)count(page, "<tr class=\"x\" id=\"r-ranks");
    assert_int_equal(json_array_size(rest) + written, CARRIED);
    const json_t *row = json_array_get(rest, 0);
    assert_int_equal(json_array_size(row), 4);
    assert_int_equal(json_integer_value(json_array_get(row, 3)), RANKS - 1 - (int64_t)written);
    json_decref(rest);
    free(page);
    ta_report_free(report);
}

static void programs_find_the_summary(void **state)
{
    json_t *summary = parse(
        inline_text(*state, "<script type=\"application/json\" id=\"traceanalyze-report\">", 0));
    assert_string_equal(json_string_value(json_object_get(summary, "schema")),
                        "traceanalyze.report/1");
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(summary, "run"), "title")), payload);
    json_t *sections = json_object_get(summary, "sections");
    json_t *kernels = json_array_get(json_object_get(json_array_get(sections, 2), "items"), 0);
    assert_int_equal(json_integer_value(json_object_get(kernels, "rows_total")), KERNELS);
    assert_int_equal(json_array_size(json_object_get(kernels, "rows")), TOP);
    json_decref(summary);
}

static void evidence_leads_to_its_row(void **state)
{
    const char *page = *state;
    assert_int_equal(count(page, "href=\"#r-kernels.by_name-3\" data-column=\"total_ns,share\""),
                     5);
    assert_int_equal(count(page, "id=\"r-kernels.by_name-3\""), 1);
    assert_int_equal(count(page, " · comm</a> <div><span>"), 5); /* all keys of the row */
    assert_int_equal(count(page, " <b>25.0 %</b></span> <a class=\"chart-link\""), 5);
    assert_int_equal(count(page, " <b>12.5 %</b></span></div>"), 5); /* elsewhere */
    assert_non_null(strstr(page, "href=\"#f-f1\""));
    assert_non_null(strstr(page, "id=\"f-f1\""));
    assert_non_null(strstr(page, "href=\"#c-top-kernels\""));
    assert_non_null(strstr(page, "id=\"c-top-kernels\""));
}

static void pages_are_reproducible(void **state)
{
    struct ta_report *report = hostile_report();
    char *again = page_of(report, "auto");
    assert_string_equal(again, (const char *)*state);
    char *dark = page_of(report, "dark");
    assert_non_null(strstr(dark, "<html lang=\"en\" data-theme=\"dark\">"));
    free(dark);
    free(again);
    ta_report_free(report);
}

static void an_empty_report_is_a_page(void **state)
{
    (void)state;
    struct ta_report *report = ta_report_new();
    assert_non_null(report);
    assert_int_equal(ta_report_freeze(report), TA_OK);
    char *page = page_of(report, "auto");
    void *with = page;
    markup_is_strict(&with);
    free(page);
    ta_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markup_is_strict),
        cmocka_unit_test(hostile_text_is_inert),
        cmocka_unit_test(policy_allows_what_is_embedded),
        cmocka_unit_test(the_script_looks_behind_nowhere),
        cmocka_unit_test(the_script_stays_small),
        cmocka_unit_test(signature_stands_early),
        cmocka_unit_test(long_tables_go_on_as_data),
        cmocka_unit_test(of_many_ranks_the_worst_are_there),
        cmocka_unit_test(programs_find_the_summary),
        cmocka_unit_test(evidence_leads_to_its_row),
        cmocka_unit_test(pages_are_reproducible),
        cmocka_unit_test(an_empty_report_is_a_page),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
