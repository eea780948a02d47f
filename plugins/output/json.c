/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.json: everything a report says, for programs.  The shape is that of
 * schemas/report-1.schema.json; a row of a table or an item of evidence takes one line. */
#include <traceanalyze/chart.h>
#include <traceanalyze/output.h>
#include <traceanalyze/plugin.h>

#include <inttypes.h>

#define SCHEMA "\"schema\": \"traceanalyze.report/1\""

/* ---- values -------------------------------------------------------------------------- */

static void put_text(struct ta_file *out, const char *text)
{
    if (text)
        ta_put_json(out, ta_slice_of(text), false);
    else
        ta_puts(out, "null");
}

/* `lead` holds the separator before the key. */
static void put_text_field(struct ta_file *out, const char *lead, const char *key, const char *text)
{
    ta_putf(out, "%s\"%s\": ", lead, key);
    put_text(out, text);
}

static void put_cell_field(struct ta_file *out, const char *lead, const char *key,
                           struct ta_cell cell)
{
    ta_putf(out, "%s\"%s\": ", lead, key);
    ta_put_json_cell(out, &cell, false);
}

static void put_count_field(struct ta_file *out, const char *lead, const char *key, uint64_t count)
{
    ta_putf(out, "%s\"%s\": %" PRIu64, lead, key, count);
}

static void put_offset_field(struct ta_file *out, const char *key, uint64_t offset)
{
    if (offset == TA_NO_OFFSET)
        ta_putf(out, ", \"%s\": null", key);
    else
        put_count_field(out, ", ", key, offset);
}

/* ---- items --------------------------------------------------------------------------- */

static const char *chart_name(enum ta_chart_kind kind)
{
    static const char *const names[] = {
        [TA_CHART_STACKED_BARS] = "stacked-bars",
        [TA_CHART_PARETO] = "pareto",
        [TA_CHART_BARS] = "bars",
        [TA_CHART_DOTS] = "dots",
        [TA_CHART_ECDF] = "ecdf",
    };
    return names[kind];
}

static void put_scalar(struct ta_file *out, const struct ta_scalar *scalar)
{
    put_text_field(out, "{\"kind\": \"scalar\", ", "id", scalar->id);
    put_text_field(out, ", ", "title", scalar->title);
    put_cell_field(out, ", ", "value", scalar->value);
    put_text_field(out, ", ", "unit", ta_unit_name(scalar->unit));
    put_text_field(out, ", ", "polarity", ta_polarity_name(scalar->polarity));
    put_text_field(out, ", ", "note", scalar->note);
    ta_putc(out, '}');
}

static void put_column(struct ta_file *out, const struct ta_column *column)
{
    put_text_field(out, "{", "key", column->key);
    put_text_field(out, ", ", "title", column->title);
    put_text_field(out, ", ", "type", ta_type_name(column->type));
    put_text_field(out, ", ", "unit", ta_unit_name(column->unit));
    put_text_field(out, ", ", "polarity", ta_polarity_name(column->polarity));
    put_text_field(out, ", ", "doc", column->doc);
    ta_putc(out, '}');
}

static void put_row(struct ta_file *out, const struct ta_table *table, size_t row)
{
    ta_putc(out, '[');
    for (size_t column = 0; column < table->n_columns; column++) {
        if (column)
            ta_puts(out, ", ");
        ta_put_json_cell(out, ta_table_cell(table, row, column), false);
    }
    ta_putc(out, ']');
}

static void put_chart(struct ta_file *out, const struct ta_chart *chart)
{
    if (!chart) {
        ta_puts(out, "null");
        return;
    }
    put_text_field(out, "{", "id", chart->id);
    put_text_field(out, ", ", "title", chart->title);
    put_text_field(out, ", ", "kind", chart_name(chart->kind));
    ta_putc(out, '}');
}

static void put_table(struct ta_file *out, const struct ta_table *table)
{
    put_text_field(out, "{\"kind\": \"table\", ", "id", table->id);
    put_text_field(out, ", ", "title", table->title);
    ta_puts(out, ",\n     \"columns\": [");
    for (size_t i = 0; i < table->n_columns; i++) {
        ta_puts(out, i ? ",\n       " : "\n       ");
        put_column(out, &table->columns[i]);
    }
    ta_puts(out, "],\n     \"rows\": [");
    for (size_t i = 0; i < table->n_rows; i++) {
        ta_puts(out, i ? ",\n       " : "\n       ");
        put_row(out, table, i);
    }
    ta_puts(out, "],\n     \"chart\": ");
    put_chart(out, table->chart);
    ta_putc(out, '}');
}

static void put_evidence(struct ta_file *out, const struct ta_evidence *evidence)
{
    put_text_field(out, "{", "table", evidence->table);
    put_cell_field(out, ", ", "row", evidence->row);
    put_text_field(out, ", ", "column", evidence->column);
    put_cell_field(out, ", ", "value", evidence->value);
    put_text_field(out, ", ", "unit", ta_unit_name(evidence->unit));
    ta_putc(out, '}');
}

static void put_finding(struct ta_file *out, const struct ta_finding *finding)
{
    put_text_field(out, "{\"kind\": \"finding\", ", "id", finding->id);
    put_text_field(out, ", ", "rule", finding->rule);
    put_text_field(out, ", ", "severity", ta_severity_name(finding->severity));
    put_text_field(out, ",\n     ", "title", finding->title);
    ta_puts(out, ",\n     \"evidence\": [");
    for (size_t i = 0; i < finding->n_evidence; i++) {
        ta_puts(out, i ? ",\n       " : "\n       ");
        put_evidence(out, &finding->evidence[i]);
    }
    ta_puts(out, "],\n     \"saving_ns\": ");
    if (finding->saving_low_ns == TA_MISSING && finding->saving_high_ns == TA_MISSING) {
        ta_puts(out, "null");
    } else {
        put_cell_field(out, "{", "low", ta_int(finding->saving_low_ns));
        put_cell_field(out, ", ", "high", ta_int(finding->saving_high_ns));
        ta_putc(out, '}');
    }
    put_cell_field(out, ", ", "confidence", ta_num(finding->confidence));
    put_text_field(out, ",\n     ", "advice", finding->advice);
    put_text_field(out, ",\n     ", "threshold", finding->threshold);
    ta_putc(out, '}');
}

static void put_item(struct ta_file *out, const struct ta_item *item)
{
    switch (item->kind) {
    case TA_ITEM_SCALAR:
        put_scalar(out, item->scalar);
        break;
    case TA_ITEM_TABLE:
        put_table(out, item->table);
        break;
    case TA_ITEM_FINDING:
        put_finding(out, item->finding);
        break;
    }
}

static void put_section(struct ta_file *out, const struct ta_section *section)
{
    put_text_field(out, "{", "id", section->id);
    put_text_field(out, ", ", "title", section->title);
    if (section->missing)
        put_text_field(out, ", ", "missing", section->missing);
    ta_puts(out, ", \"items\": [");
    for (size_t i = 0; i < section->n_items; i++) {
        ta_puts(out, i ? ",\n    " : "\n    ");
        put_item(out, &section->items[i]);
    }
    ta_puts(out, "]}");
}

/* ---- accounts ------------------------------------------------------------------------ */

static void put_quality_findings(struct ta_file *out, const struct ta_quality_finding *findings,
                                 size_t n, const char *lead)
{
    ta_puts(out, "\"findings\": [");
    for (size_t i = 0; i < n; i++) {
        ta_putf(out, "%s%s", i ? "," : "", lead);
        put_text_field(out, "{", "code", ta_quality_name(findings[i].code));
        put_text_field(out, ", ", "severity", ta_quality_severity_name(findings[i].severity));
        put_count_field(out, ", ", "count", findings[i].count);
        put_offset_field(out, "byte_offset", findings[i].byte_offset);
        put_offset_field(out, "last_offset", findings[i].last_offset);
        if (findings[i].file_offset != TA_NO_OFFSET)
            put_offset_field(out, "file_offset", findings[i].file_offset);
        put_text_field(out, ", ", "text", findings[i].text ? findings[i].text : "");
        ta_putc(out, '}');
    }
    ta_putc(out, ']');
}

static void put_file_account(struct ta_file *out, const struct ta_file_account *file)
{
    put_text_field(out, "{", "file", file->path);
    put_cell_field(out, ", ", "rank", ta_int(file->rank));
    put_text_field(out, ", ", "rank_source", ta_rank_source_name(file->rank_source));
    put_text_field(out, ", ", "format", file->format);
    put_text_field(out, ", ", "state", ta_file_state_name(file->state));
    put_count_field(out, ",\n       ", "bytes", file->bytes);
    put_count_field(out, ", ", "raw_bytes", file->raw_bytes);
    put_count_field(out, ", ", "bytes_skipped", file->bytes_skipped);
    put_count_field(out, ",\n       ", "events_seen", file->events_seen);
    put_count_field(out, ", ", "events_kept", file->events_kept);
    put_count_field(out, ", ", "events_repaired", file->events_repaired);
    put_count_field(out, ", ", "events_dropped", file->events_dropped);
    put_cell_field(out, ",\n       ", "first_ts_ns", ta_int(file->first_ts_ns));
    put_cell_field(out, ", ", "last_ts_ns", ta_int(file->last_ts_ns));
    ta_puts(out, ",\n       ");
    put_quality_findings(out, file->findings, file->n_findings, "\n         ");
    ta_putc(out, '}');
}

static void put_accounts(struct ta_file *out, const struct ta_accounts *accounts)
{
    const struct ta_account_totals *totals = &accounts->totals;
    put_text_field(out, "{", "status", ta_quality_status_name(accounts->status));
    ta_puts(out, ",\n   \"totals\": {");
    put_count_field(out, "", "files_seen", totals->files_seen);
    put_count_field(out, ", ", "files_used", totals->files_used);
    put_count_field(out, ", ", "files_refused", totals->files_refused);
    put_count_field(out, ",\n     ", "events_seen", totals->events_seen);
    put_count_field(out, ", ", "events_kept", totals->events_kept);
    put_count_field(out, ", ", "events_repaired", totals->events_repaired);
    put_count_field(out, ", ", "events_dropped", totals->events_dropped);
    put_count_field(out, ", ", "bytes_skipped", totals->bytes_skipped);
    ta_puts(out, "},\n   \"files\": [");
    for (size_t i = 0; i < accounts->n_files; i++) {
        ta_puts(out, i ? ",\n     " : "\n     ");
        put_file_account(out, &accounts->files[i]);
    }
    ta_puts(out, "],\n   ");
    put_quality_findings(out, accounts->findings, accounts->n_findings, "\n     ");
    ta_putc(out, '}');
}

/* ---- the document -------------------------------------------------------------------- */

static void put_run(struct ta_file *out, const struct ta_run_info *run)
{
    put_text_field(out, "{", "title", run->title);
    ta_puts(out, ", \"ranks\": [");
    for (size_t i = 0; i < run->n_ranks; i++)
        ta_putf(out, "%s%" PRId64, i ? ", " : "", run->ranks[i]);
    put_cell_field(out, "], ", "world_size", ta_int(run->world_size));
    put_text_field(out, ", ", "devices", run->devices);
    ta_puts(out, ", \"tags\": {}}");
}

static enum ta_status write(struct ta_ctx *ctx, const struct ta_report *report,
                            const struct ta_render_options *options, struct ta_sink *sink)
{
    struct ta_file *out = ta_sink_open(ctx, sink, "report.json", SCHEMA);
    if (!out)
        return ta_cause(ctx, ta_ctx_status(ctx), "Cannot write the JSON report");
    const struct ta_verdict *verdict = ta_report_verdict(report);
    ta_puts(out, "{" SCHEMA ",\n");
    put_text_field(out, " \"generator\": {\"name\": \"traceanalyze\", ", "version",
                   options->version);
    ta_puts(out, "},\n \"run\": ");
    put_run(out, ta_report_run(report));
    put_text_field(out, ",\n \"verdict\": {", "headline", verdict->headline);
    put_text_field(out, ", ", "bottleneck", verdict->bottleneck);
    ta_puts(out, "},\n \"sections\": [");
    for (size_t i = 0; i < ta_report_section_count(report); i++) {
        ta_puts(out, i ? ",\n  " : "\n  ");
        put_section(out, ta_report_section(report, i));
    }
    ta_puts(out, "],\n \"data_quality\": ");
    put_accounts(out, ta_report_accounts(report));
    ta_puts(out, "}\n");
    return ta_file_close(ctx, out);
}

static const struct ta_output_ops ops = {
    .extension = "json",
    .by_default = true,
    .write = write,
};

TA_PLUGIN(output, json, &ops, .title = "JSON", .version = "1",
          .summary = "report.json: everything the report says, for programs");
