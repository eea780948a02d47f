/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report out of JSON: sections and items.  What is read may be of anyone: each value is checked,
 * sizes are bounded, and ids, which name files and anchors, are words. */
#include "report/decode.h"

#include "base/hash.h"
#include "report/fields.h"
#include "report/report.h"
#include "report/words.h"
#include "traceanalyze/base.h"
#include "traceanalyze/output.h"

/* Far beyond what an analysis makes; items are found by going through all of them. */
enum { SECTIONS_MAX = 256, ITEMS_MAX = 1 << 16, COLUMNS_MAX = 1024 };

struct decoder {
    struct decode in;
    struct ta_report *report;
    struct ta_map ids; /* of items, by hash */
    size_t n_items;
};

/* ---- items ----------------------------------------------------------------------------- */

static void read_scalar(struct decode *in, struct ta_section_builder *section, const json_t *item)
{
    struct ta_scalar scalar = {.id = NULL};
    fields_read(in, &shape_scalar, item, &scalar);
    if (in->status == TA_OK)
        ta_add_scalar(section, &scalar);
}

static void read_columns(struct decode *in, const json_t *list)
{
    const size_t n = json_array_size(list);
    if (n == 0 || n > COLUMNS_MAX) {
        decode_fail(in, "A table has 1 to %d columns, not %zu", COLUMNS_MAX, n);
        return;
    }
    struct ta_column *columns = decode_alloc(in, n * sizeof *columns);
    for (size_t i = 0; columns && i < n && in->status == TA_OK; i++) {
        fields_read(in, &shape_column, json_array_get(list, i), &columns[i]);
        if (in->status != TA_OK)
            ta_cause(in->ctx, in->status, "In column %zu", i + 1);
    }
    in->columns = columns;
    in->n_columns = n;
}

/* What the file does not say of a column; names and descriptions come from its version. */
static void declare_columns(struct ta_column *columns, size_t n, const struct ta_table_def *def)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < def->n_columns; k++) {
            const struct ta_column *declared = &def->columns[k];
            if (strcmp(declared->key, columns[i].key) != 0 ||
                ta_type_name(declared->type) != ta_type_name(columns[i].type) ||
                ta_unit_name(declared->unit) != ta_unit_name(columns[i].unit))
                continue;
            columns[i].type = declared->type;
            columns[i].unit = declared->unit;
            columns[i].role = declared->role;
            columns[i].over_ranks = declared->over_ranks;
            columns[i].weight = declared->weight;
            columns[i].detail = declared->detail;
            columns[i].from = declared->from;
            columns[i].zero_of = declared->zero_of;
            columns[i].is_ratio_of_change = declared->is_ratio_of_change;
        }
}

static bool suits(const struct ta_cell *cell, enum ta_type type)
{
    switch (cell->kind) {
    case TA_CELL_UNSET:
        return false;
    case TA_CELL_NULL:
        return true;
    case TA_CELL_TEXT:
        return ta_type_name(type) == ta_type_name(TA_TYPE_STRING);
    case TA_CELL_INT:
        return type == TA_TYPE_INTEGER || type == TA_TYPE_NUMBER;
    case TA_CELL_NUM:
        return type == TA_TYPE_NUMBER;
    case TA_CELL_BOOL:
        return type == TA_TYPE_BOOLEAN;
    }
    return false;
}

static void read_row(struct decode *in, struct ta_table_builder *table, const json_t *row)
{
    const struct ta_column *const columns = in->columns;
    const size_t n = in->n_columns;
    struct ta_cell cells[COLUMNS_MAX];
    if (json_array_size(row) != n)
        decode_fail(in, "A row has %zu cells, expected one for each of %zu columns",
                    json_array_size(row), n);
    for (size_t i = 0; i < n && in->status == TA_OK; i++) {
        cells[i] = decode_cell(in, json_array_get(row, i));
        if (!suits(&cells[i], columns[i].type))
            decode_fail(in, "A cell of column \"%s\" is no %s", columns[i].key,
                        ta_type_name(columns[i].type));
    }
    if (in->status == TA_OK)
        ta_add_row(table, cells);
}

static size_t rows_left_out(struct decode *in, const json_t *item, size_t n_rows)
{
    if (!json_object_get(item, "rows_total"))
        return 0;
    const uint64_t total = decode_count(in, item, "rows_total");
    if (in->status == TA_OK && total <= n_rows)
        decode_fail(in, "\"rows_total\" says that no row is left out");
    return (size_t)(total - n_rows);
}

static void read_table(struct decode *in, struct ta_section_builder *section, const json_t *item)
{
    const char *id = decode_id(in, item, "id"), *title = decode_text(in, item, "title");
    read_columns(in, decode_array(in, item, "columns"));
    const json_t *rows = decode_array(in, item, "rows");
    const json_t *chart = decode_member(in, item, "chart");
    if (in->status == TA_OK && json_array_size(rows) == 0)
        decode_fail(in, "\"rows\" is empty: a table without rows is left out");
    const size_t left_out = rows_left_out(in, item, json_array_size(rows));
    if (in->status != TA_OK)
        return;
    const struct ta_table_def *def = in->declared->table(in->declared->all, id);
    if (def)
        declare_columns(in->columns, in->n_columns, def);
    struct ta_table_builder *table = ta_add_table(section, id, title, in->columns, in->n_columns);
    ta_table_set_def(table, def);
    ta_table_left_out(table, left_out);
    for (size_t i = 0; i < json_array_size(rows) && in->status == TA_OK; i++) {
        read_row(in, table, json_array_get(rows, i));
        if (in->status != TA_OK)
            ta_cause(in->ctx, in->status, "In row %zu", i + 1);
    }
    decode_charts(in, table, chart);
}

static void read_finding(struct decode *in, struct ta_section_builder *section, const json_t *item)
{
    const json_t *list = decode_array(in, item, "evidence");
    const size_t n = json_array_size(list);
    struct ta_evidence *evidence = decode_alloc(in, (n + 1) * sizeof *evidence);
    if (in->status == TA_OK && n == 0)
        decode_fail(in, "A finding has no evidence");
    for (size_t i = 0; i < n && in->status == TA_OK; i++)
        fields_read(in, &shape_evidence, json_array_get(list, i), &evidence[i]);
    struct ta_finding finding = {.evidence = evidence,
                                 .n_evidence = n,
                                 .saving_low_ns = TA_MISSING,
                                 .saving_high_ns = TA_MISSING};
    fields_read(in, &shape_finding, item, &finding);
    fields_read(in, &shape_finding_words, item, &finding);
    const json_t *saving = decode_member(in, item, "saving_ns");
    if (saving && !json_is_null(saving)) {
        finding.saving_low_ns = decode_integer_or_null(in, saving, "low");
        finding.saving_high_ns = decode_integer_or_null(in, saving, "high");
        if (json_object_get(saving, "high_share"))
            fields_read(in, &shape_saving_of_run, saving, &finding);
    }
    if (in->status == TA_OK)
        ta_add_finding(section, &finding);
}

/* Ids are unique in a report. */
static void check_id(struct decoder *d, const json_t *item)
{
    const char *id = decode_text(&d->in, item, "id");
    if (d->in.status != TA_OK)
        return;
    uint64_t *seen = ta_map_at(&d->ids, ta_hash_bytes(id, strlen(id), 0), 0);
    if (!seen)
        decode_no_memory(&d->in);
    else if ((*seen)++)
        decode_fail(&d->in, "Another item has this id");
    else if (++d->n_items > ITEMS_MAX)
        decode_fail(&d->in, "More than %d items", ITEMS_MAX);
}

static void read_item(struct decoder *d, struct ta_section_builder *section, const json_t *item)
{
    static const struct {
        struct ta_slice kind;
        void (*read)(struct decode *in, struct ta_section_builder *section, const json_t *item);
    } kinds[] = {{TA_LIT("scalar"), read_scalar},
                 {TA_LIT("table"), read_table},
                 {TA_LIT("finding"), read_finding}};
    const struct ta_slice kind = ta_document_text(decode_member(&d->in, item, "kind"));
    check_id(d, item);
    size_t i = 0;
    while (i < 3 && !ta_slice_equal(kind, kinds[i].kind))
        i++;
    if (d->in.status == TA_OK && i == 3)
        decode_fail(&d->in, "\"kind\" is none of scalar, table, finding");
    else if (d->in.status == TA_OK)
        kinds[i].read(&d->in, section, item);
    if (d->in.status != TA_OK)
        ta_cause(d->in.ctx, d->in.status, "In item \"%.100s\"",
                 decode_show(json_object_get(item, "id")));
}

static void read_section(struct decoder *d, const json_t *section)
{
    struct decode *in = &d->in;
    const char *id = decode_id(in, section, "id"), *title = decode_text(in, section, "title");
    const json_t *items = decode_array(in, section, "items");
    const char *summary =
        json_object_get(section, "summary") ? decode_text(in, section, "summary") : NULL;
    const char *missing =
        json_object_get(section, "missing") ? decode_text(in, section, "missing") : NULL;
    if (in->status != TA_OK)
        return;
    struct ta_section_builder *made = ta_report_open_section(d->report, id, title);
    if (summary)
        ta_section_set_summary(made, summary);
    if (missing)
        ta_section_set_missing(made, missing);
    for (size_t i = 0; i < json_array_size(items) && in->status == TA_OK; i++)
        read_item(d, made, json_array_get(items, i));
}

static void read_sections(struct decoder *d, const json_t *sections)
{
    const size_t n = json_array_size(sections);
    if (n > SECTIONS_MAX)
        decode_fail(&d->in, "More than %d sections", SECTIONS_MAX);
    for (size_t i = 0; i < n && d->in.status == TA_OK; i++) {
        const json_t *section = json_array_get(sections, i);
        for (size_t j = 0; j < i; j++)
            if (json_equal(json_object_get(section, "id"),
                           json_object_get(json_array_get(sections, j), "id")))
                decode_fail(&d->in, "Another section has this id");
        if (d->in.status == TA_OK)
            read_section(d, section);
        if (d->in.status != TA_OK)
            ta_cause(d->in.ctx, d->in.status, "In section \"%.100s\"",
                     decode_show(json_object_get(section, "id")));
    }
}

/* ---- accounts -------------------------------------------------------------------------- */

static const struct ta_quality_finding *read_findings(struct decode *in, const json_t *owner,
                                                      size_t *n)
{
    const json_t *list = decode_array(in, owner, "findings");
    *n = json_array_size(list);
    struct ta_quality_finding *findings = decode_alloc(in, (*n + 1) * sizeof *findings);
    for (size_t i = 0; i < *n && in->status == TA_OK; i++)
        fields_read(in, &shape_quality, json_array_get(list, i), &findings[i]);
    return findings;
}

static const struct ta_file_account *read_files(struct decode *in, const json_t *list, size_t *n)
{
    *n = json_array_size(list);
    struct ta_file_account *files = decode_alloc(in, (*n + 1) * sizeof *files);
    for (size_t i = 0; i < *n && in->status == TA_OK; i++) {
        const json_t *file = json_array_get(list, i);
        fields_read(in, &shape_file, file, &files[i]);
        files[i].is_dump =
            in->status == TA_OK && in->declared->is_dump(in->declared->all, files[i].format);
        files[i].findings = read_findings(in, file, &files[i].n_findings);
        if (in->status != TA_OK)
            ta_cause(in->ctx, in->status, "In file %zu", i + 1);
    }
    return files;
}

static void read_accounts(struct decode *in, struct ta_report *report, const json_t *quality)
{
    struct ta_accounts accounts = {
        .status = decode_word(in, quality, "status", TA_QUALITY_LOSSY + 1, ta_quality_status_name)};
    fields_read(in, &shape_totals, decode_member(in, quality, "totals"), &accounts.totals);
    accounts.files = read_files(in, decode_array(in, quality, "files"), &accounts.n_files);
    accounts.findings = read_findings(in, quality, &accounts.n_findings);
    if (in->status == TA_OK)
        ta_report_set_accounts(report, &accounts);
    else
        ta_cause(in->ctx, in->status, "In \"data_quality\"");
}

/* ---- the document ---------------------------------------------------------------------- */

static void check_schema(struct decode *in, const json_t *root)
{
    static const char family[] = "traceanalyze.report/", version[] = "1";
    const char *schema = decode_text(in, root, "schema");
    if (in->status != TA_OK)
        return;
    if (strncmp(schema, family, sizeof family - 1) != 0)
        decode_fail(in, "No report of traceanalyze but \"%.100s\"", schema);
    else if (strcmp(schema + sizeof family - 1, version) != 0)
        decode_fail(in, "A report in version \"%.20s\" of its format; this program reads %s",
                    schema + sizeof family - 1, version);
}

static void read_run(struct decode *in, struct ta_report *report, const json_t *run)
{
    const json_t *list = decode_array(in, run, "ranks");
    const size_t n = json_array_size(list);
    int64_t *ranks = decode_alloc(in, (n + 1) * sizeof *ranks);
    for (size_t i = 0; i < n && in->status == TA_OK; i++) {
        ranks[i] = ta_document_integer(json_array_get(list, i));
        if (ranks[i] == TA_MISSING || (i && ranks[i] <= ranks[i - 1]))
            decode_fail(in, "\"ranks\" are no ascending integers");
    }
    const struct ta_run_info info = {
        .title = decode_text(in, run, "title"),
        .ranks = ranks,
        .n_ranks = n,
        .world_size = decode_integer_or_null(in, run, "world_size"),
        .devices = json_object_get(run, "devices") ? decode_text(in, run, "devices") : "",
    };
    if (in->status == TA_OK)
        ta_report_set_run(report, &info);
    else
        ta_cause(in->ctx, in->status, "In \"run\"");
}

/* Ids of scalars; a report of an earlier version has none. */
static void read_figures(struct decode *in, struct ta_report *report, const json_t *verdict)
{
    const json_t *list = json_object_get(verdict, "figures");
    for (size_t i = 0; i < json_array_size(list) && in->status == TA_OK; i++)
        if (json_is_string(json_array_get(list, i)))
            ta_report_add_figure(report, json_string_value(json_array_get(list, i)));
        else
            decode_fail(in, "\"figures\" has a value that is no text");
}

static void read_verdict(struct decode *in, struct ta_report *report, const json_t *verdict)
{
    const char *headline = decode_text(in, verdict, "headline");
    const char *bottleneck = decode_text_or_null(in, verdict, "bottleneck");
    if (in->status == TA_OK)
        ta_report_set_verdict(report, headline, bottleneck);
    read_figures(in, report, verdict);
    if (in->status != TA_OK)
        ta_cause(in->ctx, in->status, "In \"verdict\"");
}

static void read_report(struct decoder *d, const json_t *root)
{
    struct decode *in = &d->in;
    check_schema(in, root);
    if (in->status == TA_OK)
        read_run(in, d->report, decode_member(in, root, "run"));
    if (in->status == TA_OK)
        read_verdict(in, d->report, decode_member(in, root, "verdict"));
    if (in->status == TA_OK)
        read_sections(d, decode_array(in, root, "sections"));
    if (in->status == TA_OK)
        read_accounts(in, d->report, decode_member(in, root, "data_quality"));
}

enum ta_status ta_report_decode(struct ta_ctx *ctx, const json_t *document,
                                const struct ta_declarations *declared, struct ta_report **report)
{
    struct decoder d = {.report = ta_report_new()};
    if (!d.report)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate a report");
    d.in = (struct decode){.ctx = ctx, .arena = ta_report_arena(d.report), .declared = declared};
    read_report(&d, document);
    ta_map_free(&d.ids);
    enum ta_status status = d.in.status;
    if (ta_report_freeze(d.report) != TA_OK)
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the report");
    if (status == TA_OK)
        *report = d.report;
    else
        ta_report_free(d.report);
    return status;
}
