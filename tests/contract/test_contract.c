/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every plugin promises, asked of every plugin that is registered. */
#include "analyze/partial.h"
#include "plugin/registry.h"
#include "ranks/ranks.h"
#include "ranks/steps.h"
#include "read/reader.h"
#include "recommend/recommend.h"
#include "report/report.h"
#include "report/sections.h"
#include "report/tables.h"
#include "report/words.h"
#include "trace_fixture.h"
#include "traceanalyze/analysis.h"
#include "traceanalyze/output.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

/* Calls `each` for every plugin of a kind. */
static void for_each(enum ta_plugin_kind kind, void (*each)(const struct ta_entry *entry))
{
    const size_t n = ta_registry_count(fixture.registry, kind);
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++)
        each(ta_registry_at(fixture.registry, kind, i));
}

/* ---- descriptors -------------------------------------------------------------------------- */

/* One word, or several with points between them. */
static bool is_extension(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.") == strlen(text) &&
           isalpha((unsigned char)*text) && !strstr(text, "..") && text[strlen(text) - 1] != '.';
}

static bool is_word(const char *text)
{
    return *text && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(text) &&
           isalpha((unsigned char)*text);
}

static bool is_sentence(const char *text)
{
    return text && *text && text[0] != ' ' && text[strlen(text) - 1] != ' ' && !strchr(text, '\n');
}

static void check_options(const struct ta_entry *entry)
{
    const struct ta_option *option = entry->plugin.options;
    for (size_t i = 0; option && option[i].name; i++) {
        const struct ta_option *o = &option[i];
        if (!is_word(o->name) || !is_sentence(o->help) || !(o->least <= o->preset) ||
            !(o->preset <= o->most))
            fail_msg("%s: option %s", entry->plugin.id, o->name);
        if (o->type != TA_OPTION_NUMBER)
            assert_true(floor(o->preset) == o->preset);
        if (o->type == TA_OPTION_BOOLEAN || o->unit == TA_OPTION_RATIO)
            assert_true(o->least >= 0 && o->most <= 1);
        assert_true(entry->option_values[i] == o->preset);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(option[j].name, o->name);
    }
}

static void check_descriptor(const struct ta_entry *entry)
{
    const struct ta_plugin *p = &entry->plugin;
    if (!is_word(p->id) || !is_sentence(p->title) || !is_sentence(p->summary) ||
        !is_sentence(p->version))
        fail_msg("%s: incomplete descriptor", p->id);
    assert_true(p->magic == TA_PLUGIN_MAGIC);
    assert_true(p->headers == TA_HEADERS_HASH);
    assert_string_not_equal(p->title, p->summary);
    assert_non_null(p->ops);
    check_options(entry);
}

static void descriptors_are_complete(void **state)
{
    (void)state;
    for (int kind = 0; kind < TA_KIND_COUNT; kind++) {
        for_each((enum ta_plugin_kind)kind, check_descriptor);
        for (size_t i = 1; i < ta_registry_count(fixture.registry, (enum ta_plugin_kind)kind); i++)
            assert_true(
                strcmp(
                    ta_registry_at(fixture.registry, (enum ta_plugin_kind)kind, i - 1)->plugin.id,
                    ta_registry_at(fixture.registry, (enum ta_plugin_kind)kind, i)->plugin.id) < 0);
    }
}

/* Keys first, at most as many as a row can have, and names that tell fields apart. */
static void check_partials(const struct ta_entry *entry)
{
    const struct ta_analysis_ops *ops = entry->plugin.analysis;
    assert_non_null(ops->finish);
    assert_true(ops->section && is_word(ops->section));
    assert_int_equal(ops->map != NULL, ops->partials && ops->partials[0].name);
    for (const struct ta_partial_def *def = ops->partials; def && def->name; def++) {
        size_t n_keys = 0;
        assert_true(def->n_fields > 0);
        for (size_t i = 0; i < def->n_fields; i++) {
            if (!is_word(def->fields[i].name))
                fail_msg("%s: field %zu of %s", entry->plugin.id, i, def->name);
            if (ta_field_is_key(def->fields[i].kind))
                assert_int_equal(n_keys++, i);
            for (size_t j = 0; j < i; j++)
                assert_string_not_equal(def->fields[i].name, def->fields[j].name);
        }
        assert_true(n_keys <= 16);
    }
}

static void analyses_declare_what_they_keep(void **state)
{
    (void)state;
    for_each(TA_KIND_analysis, check_partials);
}

/* ---- inputs --------------------------------------------------------------------------------- */

static const char *const odd_heads[] = {
    "",
    " ",
    "{",
    "[",
    "[]",
    "{}",
    "{\"traceEvents\":[]}",
    "[{\"ph\":\"X\"}]",
    "\xff\xfe",
    "PK\x03\x04",
    "<html>",
    "#!/bin/sh",
    "a,b,c\n1,2,3\n",
    "%PDF-1.7",
    "\x80\x04\x95",
    "hello",
};

static void check_sniffing(const struct ta_entry *entry)
{
    for (size_t i = 0; i < sizeof odd_heads / sizeof *odd_heads; i++) {
        for (int whole = 0; whole < 2; whole++) {
            const struct ta_probe probe = {ta_slice_of(odd_heads[i]), whole};
            const int score = entry->plugin.input->sniff(&probe);
            if (score < 0 || score > 100)
                fail_msg("%s says %d", entry->plugin.id, score);
            if (i == 0 && whole)
                assert_int_equal(score, 0); /* nothing belongs to nobody */
        }
    }
}

/* Whatever comes, an input reads it or refuses it with a reason. */
static void check_reading(const struct ta_entry *entry)
{
    for (size_t i = 0; i < sizeof odd_heads / sizeof *odd_heads; i++) {
        struct ta_quality quality;
        struct ta_builder builder;
        ta_quality_init(&quality);
        assert_true(ta_builder_init(&builder, &quality, UINT32_MAX, fixture.plan.keys,
                                    fixture.plan.n_keys, 1000));
        struct ta_reader *reader = ta_reader_open(
            &fixture.ctx, NULL, fixture_memory(odd_heads[i], strlen(odd_heads[i])), &quality);
        assert_non_null(reader);
        const enum ta_status status = entry->plugin.input->read(&fixture.ctx, reader, &builder);
        assert_true(status == TA_OK || status == TA_ERR_INPUT);
        if (status == TA_ERR_INPUT)
            assert_true(is_sentence(ta_ctx_causes(&fixture.ctx)));
        ta_reader_close(reader);
        ta_builder_free(&builder);
        ta_quality_free(&quality);
    }
}

static void inputs_take_anything(void **state)
{
    (void)state;
    for_each(TA_KIND_input, check_sniffing);
    for_each(TA_KIND_input, check_reading);
}

/* ---- traces of every poverty ---------------------------------------------------------------- */

static const struct {
    const char *what, *text; /* NULL: a made one */
} traces[] = {
    {"empty", "{\"traceEvents\":[]}"},
    {"one event", "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}]"},
    {"one kernel",
     "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":1}]"},
    {"one kernel without length",
     "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":0}]"},
    {"metadata only",
     "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"python\"}}]"},
    {"nothing but phases", "[{\"ph\":\"X\",\"ts\":0},{\"ph\":\"B\",\"ts\":0},{\"ph\":\"E\",\"ts\":"
                           "0},{\"ph\":\"i\",\"ts\":0},{\"ph\":\"C\","
                           "\"ts\":0},{\"ph\":\"s\",\"ts\":0},{\"ph\":\"b\",\"ts\":0},{\"ph\":"
                           "\"X\",\"ts\":0,\"dur\":0}]"},
    {"huge times", "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":-"
                   "4539628424389459.967,"
                   "\"dur\":72057594037927.936},{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":"
                   "\"c\",\"pid\":1,\"tid\":1,"
                   "\"ts\":-4539628424389459.967,\"dur\":72057594037927.936,\"args\":{"
                   "\"correlation\":1}},{\"ph\":"
                   "\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":"
                   "4539628424389459.967,\"dur\":"
                   "72057594037927.936,\"args\":{\"correlation\":1}},{\"ph\":\"X\",\"cat\":\"gpu_"
                   "memcpy\",\"name\":\"m\","
                   "\"pid\":0,\"tid\":7,\"ts\":-4539628424389459.967,\"dur\":1,\"args\":{\"bytes\":"
                   "9223372036854775807,"
                   "\"correlation\":9223372036854775807}},{\"ph\":\"X\",\"name\":\"ProfilerStep#"
                   "1\",\"ts\":0,\"dur\":"
                   "72057594037927.936}]"},
    {"no arguments", "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":1,\"dur\":9},{\"ph\":"
                     "\"X\",\"cat\":\"cuda_runtime\","
                     "\"name\":\"c\",\"ts\":2,\"dur\":1},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":"
                     "\"k\",\"ts\":5,\"dur\":1},{\"ph\":"
                     "\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"\",\"ts\":6,\"dur\":1},{\"ph\":\"X\","
                     "\"cat\":\"gpu_memset\",\"ts\":7,"
                     "\"dur\":1},{\"ph\":\"X\",\"name\":\"ProfilerStep#0\",\"ts\":0,\"dur\":9}]"},
    {"arguments of odd types", "[{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"c\",\"ts\":2,"
                               "\"dur\":1,\"args\":{\"correlation\":\"x\"}},"
                               "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":5,\"dur\":1,"
                               "\"args\":{\"device\":-1,\"correlation\":-5}},"
                               "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"(\",\"ts\":6,"
                               "\"dur\":1,\"args\":{\"bytes\":-7}},{\"ph\":\"X\","
                               "\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pageable -> "
                               "Device)\",\"ts\":7,\"dur\":0,\"args\":{"
                               "\"bytes\":[1]}},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\","
                               "\"ts\":9,\"dur\":1,\"args\":[]}]"},
    {"steps that clash", "[{\"ph\":\"X\",\"name\":\"ProfilerStep#1\",\"tid\":1,\"ts\":0,\"dur\":5},"
                         "{\"ph\":\"X\",\"name\":"
                         "\"ProfilerStep#1\",\"tid\":2,\"ts\":0,\"dur\":5},{\"ph\":\"X\",\"name\":"
                         "\"ProfilerStep#1\",\"tid\":1,"
                         "\"ts\":9,\"dur\":5},{\"ph\":\"X\",\"name\":\"ProfilerStep#\",\"ts\":1,"
                         "\"dur\":1},{\"ph\":\"X\",\"name\":"
                         "\"ProfilerStep#1x\",\"ts\":2,\"dur\":1}]"},
    {"strange names", "[{\"ph\":\"X\",\"name\":\"\\u0000\\u202e<b>\",\"cat\":\"\\u0001\",\"pid\":"
                      "\"\\n\",\"tid\":null,\"ts\":1,"
                      "\"dur\":1},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"=cmd()\",\"pid\":"
                      "\"GPU\",\"ts\":1,\"dur\":1},"
                      "{\"ph\":\"X\",\"name\":{\"a\":1},\"cat\":[],\"ts\":1,\"dur\":1}]"},
    {"a whole one", NULL},
};

enum { TRACES = sizeof traces / sizeof *traces };

static void read_trace(size_t i, struct reading *r)
{
    struct text text = {0};
    if (traces[i].text)
        text_add(&text, "%s", traces[i].text);
    else
        fixture_trace_text(&text, 9, 600, 0, 0);
    fixture_read(&fixture, text.at, text.n, r);
    text_free(&text);
    if (!r->trace)
        fail_msg("%s: %s", traces[i].what, ta_ctx_causes(&fixture.ctx));
}

/* ---- tables --------------------------------------------------------------------------------- */

/* Columns that make a row unique: those that begin a table and measure nothing. */
static size_t count_keys(const struct ta_table *table)
{
    size_t n = 0;
    if (strcmp(table->id, "kernels.duration_ecdf") == 0 ||
        strcmp(table->id, "launch_queue.delays") == 0)
        return 2; /* a curve: class and duration */
    while (n < table->n_columns && table->columns[n].unit == TA_UNIT_NONE &&
           table->columns[n].type != TA_TYPE_NUMBER)
        n++;
    return n;
}

static bool same_cell(const struct ta_cell *a, const struct ta_cell *b)
{
    if (a->kind != b->kind)
        return false;
    return a->kind == TA_CELL_NULL ||
           (a->kind == TA_CELL_TEXT ? ta_slice_equal(a->text, b->text) : a->i == b->i);
}

static void check_keys(const struct ta_table *table)
{
    const size_t keys = count_keys(table);
    assert_true(keys > 0);
    for (size_t i = 0; i < table->n_rows; i++)
        for (size_t j = 0; j < i; j++) {
            size_t same = 0;
            while (same < keys &&
                   same_cell(ta_table_cell(table, i, same), ta_table_cell(table, j, same)))
                same++;
            if (same == keys)
                fail_msg("%s: rows %zu and %zu have one key", table->id, j, i);
        }
}

static void check_columns(const struct ta_table *table)
{
    for (size_t c = 0; c < table->n_columns; c++) {
        const struct ta_column *column = &table->columns[c];
        if (!is_word(column->key) || !is_sentence(column->title) || !is_sentence(column->doc))
            fail_msg("%s: column %zu is not documented", table->id, c);
        assert_int_equal(ta_table_column(table, column->key), c); /* and there once */
        if (column->unit == TA_UNIT_NS)
            assert_true(strlen(column->key) > 3 &&
                        strcmp(column->key + strlen(column->key) - 3, "_ns") == 0);
    }
}

static void check_cell(const struct ta_table *table, size_t row, size_t column)
{
    const struct ta_cell *cell = ta_table_cell(table, row, column);
    const struct ta_column *c = &table->columns[column];
    bool good = cell->kind == TA_CELL_NULL;
    if (strcmp(ta_type_name(c->type), "string") == 0)
        good |= cell->kind == TA_CELL_TEXT;
    else if (c->type == TA_TYPE_INTEGER)
        good |= cell->kind == TA_CELL_INT;
    else if (c->type == TA_TYPE_NUMBER)
        good |= cell->kind == TA_CELL_NUM && isfinite(cell->f);
    else
        good |= cell->kind == TA_CELL_BOOL;
    if (c->unit == TA_UNIT_RATIO && cell->kind == TA_CELL_NUM)
        good &= cell->f >= 0 && cell->f <= 1;
    if (c->unit == TA_UNIT_COUNT && cell->kind == TA_CELL_INT)
        good &= cell->i >= 0;
    if (!good)
        fail_msg("%s: row %zu, column %s", table->id, row, c->key);
}

static void check_chart(const struct ta_table *table, const struct ta_chart *chart)
{
    assert_true(chart->id && *chart->id);
    assert_true(is_sentence(chart->title) && is_sentence(chart->caption));
    for (size_t i = 0; i < 2; i++)
        if (chart->label[i])
            assert_true(ta_table_column(table, chart->label[i]) != SIZE_MAX);
    if (chart->x)
        assert_true(ta_table_column(table, chart->x) != SIZE_MAX);
    if (chart->group)
        assert_true(ta_table_column(table, chart->group) != SIZE_MAX);
    assert_non_null(chart->y[0].column);
    for (size_t i = 0; i < TA_CHART_SERIES_MAX && chart->y[i].column; i++) {
        assert_true(ta_table_column(table, chart->y[i].column) != SIZE_MAX);
        assert_true(is_sentence(chart->y[i].label));
    }
    struct ta_scene *scene = ta_scene_build(table, chart, 480, 0);
    assert_non_null(scene);
    assert_true(is_sentence(scene->summary));
    ta_scene_free(scene);
}

static void check_table(const struct ta_report *report, const struct ta_table *table)
{
    assert_ptr_equal(ta_report_table(report, table->id), table); /* the only one of this id */
    assert_true(is_sentence(table->title));
    assert_true(table->n_rows > 0);
    check_columns(table);
    check_keys(table);
    for (size_t row = 0; row < table->n_rows; row++)
        for (size_t c = 0; c < table->n_columns; c++)
            check_cell(table, row, c);
    for (const struct ta_chart *chart = table->chart; chart; chart = chart->next)
        check_chart(table, chart);
}

static void check_scalar(const struct ta_report *report, const struct ta_scalar *scalar)
{
    assert_ptr_equal(ta_report_scalar(report, scalar->id), scalar);
    assert_true(is_word(scalar->id) && is_sentence(scalar->title));
    if (scalar->unit == TA_UNIT_RATIO && scalar->value.kind == TA_CELL_NUM)
        assert_true(scalar->value.f >= 0 && scalar->value.f <= 1);
}

/* What a finding rests on stands in the report. */
static void check_advice(const struct ta_report *report, const struct ta_finding *finding)
{
    assert_ptr_equal(ta_report_finding(report, finding->id), finding);
    assert_non_null(ta_registry_find(fixture.registry, TA_KIND_advice, finding->rule));
    assert_true(is_sentence(finding->title) && is_sentence(finding->advice));
    assert_true(is_sentence(finding->threshold));
    assert_true(finding->confidence > 0 && finding->confidence <= 1);
    assert_int_equal(finding->saving_low_ns == TA_MISSING, finding->saving_high_ns == TA_MISSING);
    assert_true(finding->saving_low_ns <= finding->saving_high_ns);
    assert_true(finding->n_evidence > 0);
    for (size_t i = 0; i < finding->n_evidence; i++) {
        const struct ta_evidence *e = &finding->evidence[i];
        const struct ta_table *table = ta_report_table(report, e->table);
        assert_non_null(table);
        const size_t column = ta_table_column(table, e->column);
        assert_true(column != SIZE_MAX);
        bool found = false;
        for (size_t row = 0; row < table->n_rows; row++)
            found |= same_cell(ta_table_cell(table, row, 0), &e->row) &&
                     same_cell(ta_table_cell(table, row, column), &e->value) &&
                     ta_table_unit(table, row, column) == e->unit;
        if (!found)
            fail_msg("%s: evidence %zu is not in %s", finding->id, i, e->table);
    }
}

static void check_report(const struct ta_report *report)
{
    for (size_t s = 0; s < ta_report_section_count(report); s++) {
        const struct ta_section *section = ta_report_section(report, s);
        assert_true(is_word(section->id) && is_sentence(section->title));
        for (size_t i = 0; i < section->n_items; i++) {
            const struct ta_item *item = &section->items[i];
            if (item->kind == TA_ITEM_TABLE)
                check_table(report, item->table);
            else if (item->kind == TA_ITEM_SCALAR)
                check_scalar(report, item->scalar);
            else
                check_advice(report, item->finding);
        }
    }
    assert_true(is_sentence(ta_report_verdict(report)->headline));
}

/* A report on one trace by all analyses. */
static struct ta_report *report_on(size_t i)
{
    struct reading r;
    read_trace(i, &r);
    struct ta_report *report = fixture_report(&fixture, &r, 1);
    reading_free(&r);
    return report;
}

static void every_trace_gives_a_sound_report(void **state)
{
    (void)state;
    for (size_t i = 0; i < TRACES; i++) {
        struct ta_report *report = report_on(i);
        check_report(report);
        assert_non_null(ta_report_table(report, "run.files"));
        ta_report_free(report);
    }
}

/* All of them together, each with a rank of its own. */
static void all_traces_together(void **state)
{
    (void)state;
    struct reading readings[TRACES];
    for (size_t i = 0; i < TRACES; i++)
        read_trace(i, &readings[i]);
    struct ta_report *report = fixture_report(&fixture, readings, TRACES);
    check_report(report);
    ta_report_free(report);
    for (size_t i = 0; i < TRACES; i++)
        reading_free(&readings[i]);
}

/* An analysis whose predecessors are not there says what it can. */
static void check_alone(const struct ta_entry *entry)
{
    const struct ta_entry *only[] = {entry, &ta_steps_entry, &ta_ranks_entry};
    const struct ta_plan all = fixture.plan;
    for (size_t i = 0; i < TRACES; i++) {
        struct reading r;
        read_trace(i, &r);
        fixture.plan.analyses = only;
        fixture.plan.n = 3;
        fixture.plan.steps = 1;
        fixture.plan.ranks = 2;
        struct ta_report *report = fixture_report(&fixture, &r, 1);
        fixture.plan = all;
        check_report(report);
        ta_report_free(report);
        reading_free(&r);
    }
}

static void each_analysis_alone(void **state)
{
    (void)state;
    for_each(TA_KIND_analysis, check_alone);
}

static int64_t cell_of(const struct ta_table *table, size_t row, const char *key)
{
    const size_t column = ta_table_column(table, key);
    assert_true(column != SIZE_MAX);
    assert_int_equal(ta_table_cell(table, row, column)->kind, TA_CELL_INT);
    return ta_table_cell(table, row, column)->i;
}

/* The identities of the report's definitions, on every trace that has devices. */
static void times_add_up(void **state)
{
    (void)state;
    size_t rows = 0;
    for (size_t i = 0; i < TRACES; i++) {
        struct ta_report *report = report_on(i);
        const struct ta_table *gpu = ta_report_table(report, "gpu_time.by_rank");
        for (size_t row = 0; gpu && row < gpu->n_rows; row++, rows++) {
            const int64_t busy = cell_of(gpu, row, "busy_ns");
            assert_int_equal(busy, cell_of(gpu, row, "compute_ns") +
                                       cell_of(gpu, row, "comm_exposed_ns") +
                                       cell_of(gpu, row, "memcpy_exposed_ns") +
                                       cell_of(gpu, row, "memset_exposed_ns"));
            assert_int_equal(cell_of(gpu, row, "idle_ns"), cell_of(gpu, row, "window_ns") - busy);
            assert_true(cell_of(gpu, row, "idle_ns") >= 0);
        }
        ta_report_free(report);
    }
    assert_true(rows > 4);
}

/* ---- advice
 * -------------------------------------------------------------------------------------- */

static struct ta_report *empty_report(void)
{
    struct ta_report *report = ta_report_new();
    assert_non_null(report);
    ta_sections_prepare(report);
    assert_int_equal(ta_recommend(&fixture.ctx, fixture.registry, report), TA_OK);
    assert_int_equal(ta_report_freeze(report), TA_OK);
    return report;
}

static void rules_are_silent_about_nothing(void **state)
{
    (void)state;
    struct ta_report *report = empty_report();
    for (size_t s = 0; s < ta_report_section_count(report); s++)
        for (size_t i = 0; i < ta_report_section(report, s)->n_items; i++)
            assert_int_equal(ta_report_section(report, s)->items[i].kind, TA_ITEM_TABLE);
    assert_non_null(ta_report_table(report, "findings.rules")); /* which says so */
    assert_null(ta_report_verdict(report)->bottleneck);
    assert_true(is_sentence(ta_report_verdict(report)->headline));
    ta_report_free(report);
}

/* The verdict names the first finding, and findings fall in what they are worth. */
static void findings_are_ranked(void **state)
{
    (void)state;
    struct ta_report *report = report_on(TRACES - 1);
    const struct ta_section *section = ta_report_section(report, 0);
    assert_string_equal(section->id, "findings");
    assert_true(section->n_items > 0);
    double before = INFINITY;
    for (size_t i = 0; i < section->n_items && section->items[i].kind == TA_ITEM_FINDING; i++) {
        const struct ta_finding *f = section->items[i].finding;
        const double worth =
            f->saving_high_ns == TA_MISSING
                ? 0
                : f->confidence * ((double)f->saving_low_ns + (double)f->saving_high_ns) / 2;
        assert_true(f->about_input || worth <= before);
        before = f->about_input ? before : worth;
    }
    assert_string_equal(ta_report_verdict(report)->bottleneck, section->items[0].finding->id);
    ta_report_free(report);
}

/* ---- outputs
 * ------------------------------------------------------------------------------------- */

static const struct ta_report *written; /* the report that check_output() writes */

static void check_product(const char *extension, const char *bytes, size_t size)
{
    assert_true(size > 0);
    if (strcmp(extension, "json") == 0) { /* of the report; others have words before it */
        json_t *json = json_loadb(bytes, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
        assert_non_null(json);
        assert_string_equal(json_string_value(json_object_get(json, "schema")),
                            "traceanalyze.report/1");
        json_decref(json);
    } else if (strcmp(extension, "html") == 0) {
        assert_int_equal(strncasecmp(bytes, "<!doctype html>", 15), 0);
        assert_non_null(memmem(bytes, size, "</html>", 7));
    } else if (strcmp(extension, "pdf") == 0) {
        assert_memory_equal(bytes, "%PDF-", 5);
        assert_non_null(memmem(bytes + size - 64, 64, "%%EOF", 5));
    } else {
        for (size_t i = 0; i < size; i++) /* text: nothing that speaks to a terminal */
            assert_true((unsigned char)bytes[i] >= 0x20 || strchr("\r\n\t", bytes[i]));
    }
}

static size_t count_files(const char *path)
{
    size_t n = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    const struct dirent *entry;
    while ((entry = readdir(folder))) {
        char below[1024];
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        assert_true(entry->d_name[0] != '.'); /* nothing temporary stays */
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        assert_int_equal(stat(below, &st), 0);
        n += S_ISDIR(st.st_mode) ? count_files(below) : 1;
        if (S_ISREG(st.st_mode))
            assert_true(st.st_size > 0);
    }
    closedir(folder);
    return n;
}

static void check_output(const struct ta_entry *entry)
{
    static const struct ta_render_options options = {
        .top = 10, .columns = 80, .theme = "auto", .version = "1.2.3"};
    const struct ta_output_ops *ops = entry->plugin.output;
    assert_true(ops->extension && is_extension(ops->extension));
    size_t size;
    char *bytes = fixture_render(&fixture, written, entry->plugin.id, &size);
    check_product(ops->extension, bytes, size);
    size_t again;
    char *twice = fixture_render(&fixture, written, entry->plugin.id, &again);
    assert_int_equal(again, size);
    assert_memory_equal(twice, bytes, size);
    free(twice);
    free(bytes);

    char folder[64];
    fixture_folder(folder);
    struct ta_sink *sink = ta_sink_new(&fixture.ctx, TA_SINK_FOLDER, folder);
    assert_non_null(sink);
    fixture.ctx.option_values = entry->option_values;
    assert_int_equal(ops->write(&fixture.ctx, written, &options, sink), TA_OK);
    assert_int_equal(ta_sink_commit(&fixture.ctx, sink), TA_OK);
    ta_sink_free(sink);
    assert_true(count_files(folder) > 0);
    fixture_remove(folder);
}

static void outputs_write_an_empty_report(void **state)
{
    (void)state;
    struct ta_report *report = empty_report();
    written = report;
    for_each(TA_KIND_output, check_output);
    ta_report_free(report);
}

static void outputs_write_every_report(void **state)
{
    (void)state;
    for (size_t i = 0; i < TRACES; i++) {
        struct ta_report *report = report_on(i);
        written = report;
        for_each(TA_KIND_output, check_output);
        ta_report_free(report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_are_complete),
        cmocka_unit_test(analyses_declare_what_they_keep),
        cmocka_unit_test(inputs_take_anything),
        cmocka_unit_test(every_trace_gives_a_sound_report),
        cmocka_unit_test(all_traces_together),
        cmocka_unit_test(each_analysis_alone),
        cmocka_unit_test(times_add_up),
        cmocka_unit_test(rules_are_silent_about_nothing),
        cmocka_unit_test(findings_are_ranked),
        cmocka_unit_test(outputs_write_an_empty_report),
        cmocka_unit_test(outputs_write_every_report),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
